/* fuzz_gguf.c - any bytes as a GGUF file, at every level: what DATA accepts the levels before accept too. */
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_put("x.gguf", data, size);
    bool has_data = fuzz_open("x.gguf", MYTH_WEIGHTS_DATA, size);
    if (has_data && !fuzz_open("x.gguf", MYTH_WEIGHTS_HEADER, size))
        abort();
    fuzz_open("x.gguf", MYTH_WEIGHTS_CONFIG, size);
    return 0;
}
