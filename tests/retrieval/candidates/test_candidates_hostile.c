/* test_candidates_hostile.c - candidates of files that nobody wrote: sources with bytes that were changed, lost and
 * doubled, and shapes that make a walk deep or wide. The parsers' process must survive all of them, and its answer must
 * be right in form: places in the file, in order, with texts. */
#include "tests/support/chunks.h"
#include "retrieval/candidates/candidates.h"

#include <dirent.h>

static myth_mem *mem;
static myth_chunker *chunker;
static uint64_t state;

static int set_up(void **st)
{
    (void)st;
    state = check_seed() | 1;
    return myth_mem_open(&mem, 0, NULL) != MYTH_OK ||
           myth_chunker_open(&chunker, mem, chunks_worker(), NULL) != MYTH_OK;
}

static int tear_down(void **st)
{
    (void)st;
    myth_chunker_close(chunker);
    return myth_mem_close(mem) != 0;
}

/* The candidates of a text; the process that found them must be there afterwards. Returns how many there are. */
static uint32_t look(const char *language, const char *what, const unsigned char *text, uint64_t n)
{
    myth_candidates k;
    assert_int_equal(myth_candidates_find(&k, chunker, language, what, text, n, NULL), MYTH_OK);
    if (strstr(k.note, "steps") || strstr(k.note, "killed") || strstr(k.note, "exited") || strstr(k.note, "invalid") ||
        strstr(k.note, "memory"))
        fail_msg("%s (%s): %s", what, language, k.note);
    for (uint32_t i = 0; i < k.n; i++) {
        const myth_candidate_place *c = &k.candidate[i];
        assert_true(c->off + c->bytes <= n);
        assert_true(k.names[c->rule] != '\0' && k.names[c->say] != '\0' && k.names[c->row] != '\0');
        assert_true(i == 0 || c[-1].off <= c->off);
    }
    const uint32_t found = k.n;
    myth_candidates_free(&k, mem);
    return found;
}

/* Changes a text here and there: a byte, a piece lost, a piece from elsewhere in it. */
static uint64_t change(unsigned char *text, uint64_t n, uint64_t cap)
{
    for (uint32_t times = 1 + (uint32_t)(check_rand(&state) % 6); times > 0 && n > 8; times--) {
        const uint64_t at = check_rand(&state) % n, from = check_rand(&state) % n;
        uint64_t len = 1 + check_rand(&state) % 60;
        switch (check_rand(&state) % 4) {
        case 0: text[at] = (unsigned char)check_rand(&state); break;
        case 1: text[at] = (unsigned char)"(){}[];,*&.->=!<>\"'\n \\#"[check_rand(&state) % 24]; break;
        case 2:
            len = len < n - at ? len : n - at;
            memmove(text + at, text + at + len, n - at - len);
            n -= len;
            break;
        default:
            len = len < n - from ? len : n - from;
            if (n + len > cap)
                break;
            memmove(text + at + len, text + at, n - at);
            memmove(text + at, text + (from < at || from + len >= n ? from : from + len), len);
            n += len;
        }
    }
    return n;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static void changed_sources(void **st)
{
    static const char folder[] = "tests/corpus/candidates", other[] = "tests/corpus/chunks";
    static char name[256][1024];
    char path[512];
    uint32_t n_file = 0;
    uint64_t n_found = 0;
    (void)st;
    for (int f = 0; f < 2; f++) {
        check_path(path, sizeof(path), f ? other : folder);
        DIR *d = opendir(path);
        for (struct dirent *e; d && (e = readdir(d)) != NULL;)
            if (myth_candidates_has(chunks_language(e->d_name))) {
                assert_true(n_file < sizeof(name) / sizeof(name[0]));
                snprintf(name[n_file++], sizeof(name[0]), "%s/%s", path, e->d_name);
            }
        if (d)
            closedir(d);
    }
    assert_true(n_file > 0);
    qsort(name, n_file, sizeof(name[0]), by_name); /* a folder's own order differs between machines */
    const uint32_t n = check_sample(10000);
    for (uint32_t i = 0; i < n; i++) {
        const char *file = name[check_rand(&state) % n_file];
        uint64_t len = 0;
        unsigned char *text = chunks_read(file, &len);
        assert_non_null(text);
        unsigned char *work = malloc(len + 1024);
        memcpy(work, text, len);
        n_found += look(chunks_language(file), file, work, change(work, len, len + 1024));
        free(work);
        free(text);
    }
    printf("%u changed files, %llu places\n", n, (unsigned long long)n_found);
}

/* n times a piece between a head and a tail; `open` and `shut` around each other when they are given. */
static void shape(const char *language, const char *head, const char *open, const char *shut, const char *tail,
                  uint32_t n)
{
    const size_t n_open = strlen(open), n_shut = strlen(shut), n_head = strlen(head), n_tail = strlen(tail);
    char *text = malloc(n_head + n_tail + n * (n_open + n_shut) + 1), *p = text;
    memcpy(p, head, n_head);
    p += n_head;
    for (uint32_t i = 0; i < n; i++, p += n_open)
        memcpy(p, open, n_open);
    for (uint32_t i = 0; i < n; i++, p += n_shut)
        memcpy(p, shut, n_shut);
    memcpy(p, tail, n_tail);
    p += n_tail;
    look(language, open, (const unsigned char *)text, (uint64_t)(p - text));
    free(text);
}

static void deep_and_wide(void **st)
{
    (void)st;
    shape("c", "int f(int a) { return ", "(", ")", "; }", 900);
    shape("c", "int f(struct s *p) {\n", "if (p) {\n", "}\n", "return p->n; }", 900);
    shape("c", "int f(struct s *p) {\n", "if (p->a) g(p); else\n", "", "return p->n; }", 900);
    shape("c", "int f(struct s *p) { return p", "->next", "", "->n; }", 900);
    shape("c", "int f(int a) { return a", " + a / a", "", "; }", 5000);
    shape("c", "int f(char *q) {\n", "free(q); q[0] = *q / q[1];\n", "", "return 0; }", 4000);
    shape("c", "int f(char *q) {\n", "a: if (q) goto a; free(q);\n", "", "return 0; }", 800);
    shape("c", "int f(int x) { switch (x) {\n", "case 1: g(x); break;\n", "", "} return 0; }", 4000);
    shape("c", "void f(", "int *a, ", "", "int b) { *a = b; }", 2000);
    shape("c", "", "int f(int a) { return g(a)[a] / a; }\n", "", "", 4000);
    shape("python", "def f(a):\n    return ", "(", ")", "\n", 150);
    shape("python", "def f(a):\n    return a", ".b", "", "\n", 900);
    shape("javascript", "const f = ", "(a) => { g(a.b); return ", "}", "", 400);
    shape("javascript", "f(", "[", "]", ");", 900);
    shape("go", "package p\nfunc f(a *T) {\n", "if a != nil {\n", "}\n", "}\n", 900);
    shape("java", "class A { void f(B b) { b", ".g()", "", "; } }", 900);
    shape("rust", "fn f(a: &T) {\n", "if let Some(x) = a.b {\n", "}\n", "}\n", 400);
    shape("c", "", "\x80\xff{(", "", "", 500);
}

/* A worker that dies or gives a wrong answer: only one file is not read, and its note says why. */
static void faults(void **st)
{
    static const char good[] = "int first(int *p)\n{\n    return *p;\n}\n";
    static const char *const fault[] = {"abort:bad", "exit:bad", "short:bad", "garbage:bad"};
    (void)st;
    for (size_t i = 0; i < sizeof(fault) / sizeof(*fault); i++)
        for (int is_bad = 0; is_bad < 2; is_bad++) {
            myth_candidates k;
            myth_chunker *own;
            setenv("MYTHOS_CHUNK_FAULT", fault[i], 1);
            assert_int_equal(myth_chunker_open(&own, mem, chunks_worker(), NULL), MYTH_OK);
            for (int times = 0; times < 2; times++) {
                assert_int_equal(myth_candidates_find(&k, own, "c", is_bad ? "bad.c" : "good.c",
                                                      (const unsigned char *)good, sizeof(good) - 1, NULL),
                                 MYTH_OK);
                if (is_bad)
                    assert_true(k.n == 0 && k.note[0] != '\0');
                else
                    assert_true(k.n == 1 && k.n_function == 1 && k.note[0] == '\0');
                myth_candidates_free(&k, mem);
            }
            myth_chunker_close(own);
            unsetenv("MYTHOS_CHUNK_FAULT");
        }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(changed_sources), cmocka_unit_test(deep_and_wide),
                                              cmocka_unit_test(faults)};
    if (!myth_chunk_has_grammar("c")) {
        printf("this build has no parsers\n");
        return CHECK_SKIP;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
