/* replay.c - runs a fuzz target over the files of its stored corpus, for builds without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak)); /* few targets have it */

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    uint8_t *data = NULL;
    size_t n = 0, cap = 0, k;
    do {
        cap = cap ? cap * 2 : 4096;
        uint8_t *more = realloc(data, cap);
        if (!more) {
            free(data);
            fclose(f);
            return 0;
        }
        data = more;
        k = fread(data + n, 1, cap - n, f);
        n += k;
    } while (n == cap);
    fclose(f);
    uint8_t *exact = realloc(data, n ? n : 1); /* so that a read past the end is seen */
    LLVMFuzzerTestOneInput(exact ? exact : data, n);
    free(exact ? exact : data);
    return 1;
}

int main(int argc, char **argv)
{
    int n = 0;
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
    if (!dir) {
        fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
        return 2;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        char path[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name);
        n += replay(path);
    }
    closedir(dir);
    printf("%d files replayed\n", n);
    return n > 0 ? 0 : 1;
}
