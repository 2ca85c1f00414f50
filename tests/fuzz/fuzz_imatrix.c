/* fuzz_imatrix.c - any bytes as an importance matrix, in both forms; what is accepted is read. */
#include "fuzz_model.h"

#include "engine/make/imatrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static float mean[1 << 16];
    char path[512];
    myth_mem *mem;
    myth_imatrix *im = NULL;
    fuzz_put("x.gguf", data, size);
    snprintf(path, sizeof(path), "%s/x.gguf", fuzz_dir);
    if (myth_mem_open(&mem, 64 * (uint64_t)size + (17u << 20), NULL) != MYTH_OK)
        abort();
    if (myth_imatrix_open(&im, mem, path, NULL) == MYTH_OK)
        for (uint32_t n_expert = 1; n_expert <= 2; n_expert++)
            for (uint64_t cols = 1; cols <= 8; cols++) {
                bool found;
                if (myth_imatrix_get(im, "a", n_expert - 1, n_expert, cols, mean, &found, NULL) == MYTH_OK && found)
                    fuzz_sink += (unsigned)(mean[cols - 1] > 0.0f);
            }
    myth_imatrix_close(im);
    if (myth_mem_close(mem) != 0)
        abort();
    return 0;
}
