/* fuzz_spm.c - any bytes as a SentencePiece tokenizer.model. */
#include "fuzz_tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_open(myth_tok_open_spm, data, size);
    return 0;
}
