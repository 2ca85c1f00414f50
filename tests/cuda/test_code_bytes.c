/* test_code_bytes.c - bytes of CUDA code in the command, per architecture, as they are stored and as the device gets
 * them: at most 4 MiB.
 *
 * Reads    the section .nv_fatbin of the command: containers (magic 0xba55ed50, u16 version, u16 header bytes, u64
 *          bytes of what follows) of entries (u16 kind: 1 PTX, 2 ELF; u16; u32 header bytes; u64 stored bytes; u32
 *          compressed bytes, u32, u16 minor, u16 major, u32 architecture; u32 x 2; u64 flags; u64; u64 bytes
 *          uncompressed)
 * Source   the containers that nvcc writes; NVIDIA does not document them, so an unknown form fails here rather than
 *          passing */
#include "tests/support/check.h"

#include <elf.h>

enum { LIMIT = 4 << 20, ARCH_MAX = 16 };

static unsigned char *read_all(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *len = (size_t)ftell(f);
    rewind(f);
    unsigned char *p = malloc(*len);
    assert_non_null(p);
    assert_int_equal(fread(p, 1, *len, f), *len);
    fclose(f);
    return p;
}

static uint64_t get(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    memcpy(&v, p, (size_t)bytes);
    return v;
}

/* The section, or NULL. */
static const unsigned char *find_section(const unsigned char *file, size_t len, const char *name, size_t *bytes)
{
    Elf64_Ehdr h;
    assert_true(len > sizeof(h) && memcmp(file, ELFMAG, SELFMAG) == 0 && file[EI_CLASS] == ELFCLASS64);
    memcpy(&h, file, sizeof(h));
    for (int i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr s, names;
        assert_true(h.e_shoff + (size_t)(i + 1) * sizeof(s) <= len);
        memcpy(&s, file + h.e_shoff + (size_t)i * sizeof(s), sizeof(s));
        memcpy(&names, file + h.e_shoff + (size_t)h.e_shstrndx * sizeof(names), sizeof(names));
        if (strcmp((const char *)file + names.sh_offset + s.sh_name, name) == 0) {
            assert_true(s.sh_offset <= len && s.sh_size <= len - s.sh_offset);
            *bytes = s.sh_size;
            return file + s.sh_offset;
        }
    }
    return NULL;
}

static void each_architecture_is_small(void **state)
{
    (void)state;
    size_t len = 0, n = 0;
    unsigned char *file = read_all(getenv("MYTHOS_BIN"), &len);
    assert_non_null(file);
    const unsigned char *fat = find_section(file, len, ".nv_fatbin", &n);
    struct {
        unsigned kind, arch;
        uint64_t stored, whole;
    } sum[ARCH_MAX];
    int n_sum = 0;
    if (!fat) {
        free(file);
        check_skip("the command holds no CUDA code");
    }
    for (size_t at = 0; at + 16 <= n;) {
        if (get(fat + at, 4) != 0xba55ed50u) { /* containers are aligned to 8 */
            assert_int_equal(get(fat + at, 4), 0);
            at += 4;
            continue;
        }
        size_t head = (size_t)get(fat + at + 6, 2), bytes = (size_t)get(fat + at + 8, 8);
        assert_true(head >= 16 && bytes <= n - at - head);
        for (size_t e = at + head; e < at + head + bytes;) {
            unsigned kind = (unsigned)get(fat + e, 2), arch = (unsigned)get(fat + e + 28, 4);
            size_t entry_head = (size_t)get(fat + e + 4, 4), stored = (size_t)get(fat + e + 8, 8);
            uint64_t whole = get(fat + e + 16, 4) && entry_head >= 64 ? get(fat + e + 56, 8) : stored;
            assert_true((kind == 1 || kind == 2) && entry_head >= 32 && arch >= 50 && arch < 1000 &&
                        stored <= at + head + bytes - e - entry_head);
            int i = 0;
            while (i < n_sum && (sum[i].kind != kind || sum[i].arch != arch))
                i++;
            assert_true(i < ARCH_MAX);
            if (i == n_sum) {
                memset(&sum[n_sum], 0, sizeof(sum[0]));
                sum[n_sum].kind = kind;
                sum[n_sum++].arch = arch;
            }
            sum[i].stored += stored;
            sum[i].whole += whole > stored ? whole : stored;
            e += entry_head + stored;
        }
        at += head + bytes;
    }
    assert_true(n_sum > 0);
    for (int i = 0; i < n_sum; i++)
        printf("%s_%u: %llu bytes stored, %llu as code\n", sum[i].kind == 1 ? "compute" : "sm", sum[i].arch,
               (unsigned long long)sum[i].stored, (unsigned long long)sum[i].whole);
    for (int i = 0; i < n_sum; i++)
        assert_true(sum[i].kind == 1 || sum[i].whole <= LIMIT);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_architecture_is_small)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
