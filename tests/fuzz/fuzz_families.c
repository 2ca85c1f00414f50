/* fuzz_families.c - a config.json, a zero byte, and the model.safetensors beside it: experts, per-layer embeddings,
 * shared keys, streams. */
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    if (!end)
        return 0;
    const size_t n_config = (size_t)(end - data);
    fuzz_put("config.json", data, n_config);
    fuzz_put("model.safetensors", end + 1, size - n_config - 1);
    const bool has_data = fuzz_open("", MYTH_WEIGHTS_DATA, size);
    if (has_data && !fuzz_open("", MYTH_WEIGHTS_HEADER, size))
        abort();
    return 0;
}
