/* test_similar.c - the similarity of random pairs of files, unrelated and edited, is git's own, to the percent; ends of
 * lines, long lines, zero bytes and empty files; files over the limit have none. */
#include "retrieval/git/similar.h"
#include "tests/support/files.h"

enum { FILE_BYTES = 1 << 16 };

static myth_mem *mem;

/* Lines of few kinds, so that both files have many of them and often unequally many times. The last has an end: git
 * before 2.44 does not count one that has none. */
static size_t random_text(char *out, uint64_t *rng)
{
    const uint32_t n_line = 1 + check_below(rng, 60), n_kind = 1 + check_below(rng, 30), kind0 = check_below(rng, 10);
    const bool has_cr = check_below(rng, 4) == 0, has_zero = check_below(rng, 8) == 0;
    size_t n = 0;
    for (uint32_t i = 0; i < n_line; i++) {
        const uint32_t kind = kind0 + check_below(rng, n_kind), len = kind * kind % 150;
        for (uint32_t k = 0; k < len; k++)
            out[n++] = (char)('a' + (kind * 7 + k * (kind % 5)) % 26);
        if (has_zero && check_below(rng, 5) == 0)
            out[n++] = 0;
        if (has_cr && check_below(rng, 2))
            out[n++] = '\r';
        out[n++] = '\n';
    }
    return n;
}

/* A line of its own, then most lines of `a`, here and there one twice. Never `a` itself: git and libgit2 find equal
 * files by their hash and do not measure them. */
static size_t edited(char *out, const char *a, size_t n_a, uint64_t *rng)
{
    size_t n = 4;
    memcpy(out, "new\n", 4);
    for (size_t at = 0, end; at < n_a; at = end) {
        end = (size_t)((const char *)memchr(a + at, '\n', n_a - at) - a) + 1;
        const uint32_t what = check_below(rng, 8);
        for (uint32_t k = 0; k < (what == 0 ? 0 : what == 1 ? 2 : 1); k++) {
            memcpy(out + n, a + at, end - at);
            n += end - at;
        }
    }
    return n;
}

static int score_of(const char *a, size_t n_a, const char *b, size_t n_b)
{
    myth_similar s;
    void *first, *second;
    int score = -1;
    myth_similar_init(&s, mem, FILE_BYTES);
    assert_int_equal(s.metric.buffer_signature(&first, NULL, a, n_a, s.metric.payload), 0);
    assert_int_equal(s.metric.buffer_signature(&second, NULL, b, n_b, s.metric.payload), 0);
    assert_int_equal(s.metric.similarity(&score, first, second, s.metric.payload), 0);
    s.metric.free_signature(first, s.metric.payload);
    s.metric.free_signature(second, s.metric.payload);
    return score;
}

/* git's figure, 0 when it sees no renaming at all. */
static int score_of_git(void)
{
    char line[2048], word[16];
    int score = 0;
    snprintf(line, sizeof(line), "cd '%s' && git diff --no-index --name-status -M1%% old now", files_dir());
    FILE *p = popen(line, "r");
    assert_non_null(p);
    while (fgets(line, sizeof(line), p))
        if (sscanf(line, "%15s", word) == 1 && word[0] == 'R')
            score = atoi(word + 1);
    pclose(p); /* 1: they differ */
    return score;
}

static void as_git_counts(void **state)
{
    static char a[FILE_BYTES], b[FILE_BYTES];
    uint64_t rng = check_seed();
    unsigned n_alike = 0;
    (void)state;
    files_mkdir("old");
    files_mkdir("now");
    for (unsigned round = 0; round < (check_is_full() ? 3000 : 150); round++) {
        const size_t n_a = random_text(a, &rng);
        const size_t n_b = round % 3 == 0 ? edited(b, a, n_a, &rng) : random_text(b, &rng);
        files_put("old/a", a, n_a);
        files_put("now/b", b, n_b);
        const int ours = score_of(a, n_a, b, n_b), git = score_of_git();
        if (ours != git)
            fail_msg("round %u, %zu and %zu bytes: %d, git has %d", round, n_a, n_b, ours, git);
        n_alike += ours >= 50;
    }
    printf("%u pairs have a half in common\n", n_alike);
    assert_true(n_alike > 20);
}

static void by_hand(void **state)
{
    myth_similar s;
    void *sig = &s;
    (void)state;
    assert_int_equal(score_of("", 0, "", 0), 0);
    assert_int_equal(score_of("a", 1, "a\nb", 3), 0);
    assert_int_equal(score_of("a\nb", 3, "c\nb", 3), 33);
    assert_int_equal(score_of("a\na\na\n", 6, "a\n", 2), 33);
    assert_int_equal(score_of("a\n", 2, "a\na\na\n", 6), 33);
    assert_int_equal(score_of("a\r\nb\r\n", 6, "a\nb\n", 4), 66);
    assert_int_equal(score_of("a\r\nb\0\r\n", 7, "a\nb\0\n", 5), 0);
    myth_similar_init(&s, mem, 4);
    assert_int_equal(s.metric.buffer_signature(&sig, NULL, "12345", 5, s.metric.payload), 0);
    assert_null(sig);
    files_text("five", "12345");
    sig = &s;
    assert_int_equal(s.metric.file_signature(&sig, NULL, files_path("five"), s.metric.payload), 0);
    assert_null(sig);
    files_text("four", "1234");
    assert_int_equal(s.metric.file_signature(&sig, NULL, files_path("four"), s.metric.payload), 0);
    assert_non_null(sig);
    s.metric.free_signature(sig, s.metric.payload);
}

static int begin(void **state)
{
    (void)state;
    files_git_alone();
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_git_counts),
        cmocka_unit_test(by_hand),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
