/* fuzz_tokenizer_json.c - any bytes as a tokenizer.json. */
#include "fuzz_tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_open(myth_tok_open_json, data, size);
    return 0;
}
