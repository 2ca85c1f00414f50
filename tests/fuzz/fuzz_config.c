/* fuzz_config.c - any bytes as a config.json: read once, or refused with a message. */
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_put("config.json", data, size);
    fuzz_open("", MYTH_WEIGHTS_CONFIG, size);
    return 0;
}
