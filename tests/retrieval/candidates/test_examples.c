/* test_examples.c - what the rules find in the files of tests/corpus/candidates, against the marks in them: a line that
 * ends in "FIRES rule/row" has that place, and no other line has one. Every row finds something, and every rule has a
 * function quiet_<rule> in which it finds nothing. Where NAME.before.END stands beside NAME.END, the places are those
 * of the change from one to the other: those of the rows about what a change took away, and no others. */
#include "retrieval/candidates/candidates.h"
#include "tests/support/check.h"
#include "tests/support/chunks.h"

#include <ctype.h>

enum { MOST_PLACES = 512, KEY = 2 * MYTH_CANDIDATES_NAME + 2 };

typedef struct {
    uint32_t line;
    char key[KEY]; /* rule/row */
} place;

typedef struct {
    place place[MOST_PLACES];
    uint32_t n;
} places;

typedef struct {
    const char *language, *end; /* of its files' names */
    bool is_whole;              /* every row of the grammar finds something, every rule has a quiet function */
} example;

static const example examples[] = {
    {"c", ".c", true},           {"cpp", ".cpp", true},       {"python", ".py", true},
    {"javascript", ".js", true}, {"typescript", ".ts", true}, {"tsx", ".tsx", false},
    {"go", ".go", true},         {"java", ".java", true},     {"rust", ".rs", true},
};

/* Files of one name hold examples of the same rules; a language has those that it needs. */
static const char *const file_name[] = {"examples", "contrary", "requests", "settings", "habits",  "input",  "sizes",
                                        "shared",   "readers",  "leaks",    "built",    "settled", "policy", "doubles",
                                        "browser",  "ends",     "old",      "change",   "alone"};

enum { FILES = sizeof(file_name) / sizeof(*file_name) };

static myth_mem *mem;
static myth_chunker *chunker;
static places found, marked, of_language; /* of a file; of all files of a language */
static int n_wrong;

static int set_up(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) != MYTH_OK ||
           myth_chunker_open(&chunker, mem, chunks_worker(), NULL) != MYTH_OK;
}

static int tear_down(void **state)
{
    (void)state;
    myth_chunker_close(chunker);
    return myth_mem_close(mem) != 0;
}

static bool has(const places *p, uint32_t line, const char *key)
{
    for (uint32_t i = 0; i < p->n; i++)
        if ((line == 0 || p->place[i].line == line) && strcmp(p->place[i].key, key) == 0)
            return true;
    return false;
}

static void put(places *p, uint32_t line, const char *key)
{
    if (has(p, line, key))
        return;
    assert_true(p->n < MOST_PLACES);
    p->place[p->n].line = line;
    snprintf(p->place[p->n++].key, KEY, "%s", key);
}

static void read_marks(const char *text, uint64_t n)
{
    static const char mark[] = "FIRES ";
    uint32_t line = 1;
    for (const char *p = text; p < text + n; line++) {
        const char *end = memchr(p, '\n', (size_t)(text + n - p));
        end = end ? end : text + n;
        const char *at = p;
        while (at + sizeof(mark) - 1 < end && memcmp(at, mark, sizeof(mark) - 1) != 0)
            at++;
        for (at += sizeof(mark) - 1; at < end;) {
            char key[KEY];
            int len = 0;
            while (at + len < end && !isspace((unsigned char)at[len]))
                len++;
            if (memchr(at, '/', (size_t)len) && isalpha((unsigned char)*at)) {
                snprintf(key, sizeof(key), "%.*s", len, at);
                put(&marked, line, key);
            }
            at += len + 1;
        }
        p = end + 1;
    }
}

/* Whether a function's name is quiet_ and the rule's id with what may follow it. */
static bool is_quiet(const char *name, const char *rule)
{
    char want[MYTH_CANDIDATES_NAME + 8];
    const char *last = strstr(name, "quiet_");
    snprintf(want, sizeof(want), "quiet_%s", rule);
    for (char *p = want; *p; p++)
        *p = *p == '-' ? '_' : *p;
    return last && strncmp(last, want, strlen(want)) == 0 && !islower((unsigned char)last[strlen(want)]);
}

static void wrong(const char *file, uint32_t line, const char *key, const char *what)
{
    printf("%s:%u: %s %s\n", file, line, key, what);
    n_wrong++;
}

static void check_places(const char *file, const myth_candidates *k, bool is_change)
{
    for (uint32_t i = 0; i < k->n; i++) {
        const myth_candidate_place *c = &k->candidate[i];
        char key[KEY];
        snprintf(key, sizeof(key), "%s/%s", k->names + c->rule, k->names + c->row);
        if ((c->is_lost == 1) != is_change)
            wrong(file, c->line0, key, is_change ? "is no row of a change" : "is found without a change");
        put(&found, c->line0, key);
        put(&of_language, 1, key);
        if (!has(&marked, c->line0, key)) {
            wrong(file, c->line0, key, "is found, but not marked; its facts:");
            printf("    %s\n", k->names + c->facts);
        }
        if (is_quiet(k->names + c->function, k->names + c->rule))
            wrong(file, c->line0, key, "is in a function that is quiet about the rule");
    }
    for (uint32_t i = 0; i < marked.n; i++)
        if (!has(&found, marked.place[i].line, marked.place[i].key))
            wrong(file, marked.place[i].line, marked.place[i].key, "is marked, but not found");
}

static bool has_quiet(char *const *text, const char *rule)
{
    for (int i = 0; i < FILES; i++)
        for (const char *p = text[i] ? strstr(text[i], "quiet_") : NULL; p; p = strstr(p + 1, "quiet_"))
            if (is_quiet(p, rule))
                return true;
    return false;
}

typedef struct {
    const char *language;
    char *const *text; /* of its files */
} texts;

static void check_row(void *user, const char *id, const char *row)
{
    const texts *of = user;
    char key[KEY];
    snprintf(key, sizeof(key), "%s/%s", id, row);
    if (!has(&of_language, 1, key))
        wrong(of->language, 0, key, "finds nothing in the files: add a function with a mark");
    if (!has_quiet(of->text, id))
        wrong(of->language, 0, id, "has no function quiet_ in the files");
}

static void check_rows(const example *x, char *const text[FILES])
{
    uint32_t line;
    if (myth_candidates_rows(mem, x->language, &line, check_row, &(texts){x->language, text}) == 0)
        fail_msg("%s: line %u of the rules is wrong", x->language, line);
}

/* Finds the places of a file, or of the change that made it where the text before it is there. */
static void find(myth_candidates *k, bool *is_change, const char *path, const example *x, const unsigned char *text,
                 uint64_t n)
{
    char before[1024];
    uint64_t n_before = 0;
    myth_candidates_bytes bytes = {0};
    snprintf(before, sizeof(before), "%.*s.before%s", (int)(strlen(path) - strlen(x->end)), path, x->end);
    unsigned char *old = chunks_read(before, &n_before);
    *is_change = n_before > 0;
    const myth_status st =
        old ? myth_candidates_change(k, &bytes, chunker, x->language, path, text, n, old, n_before, NULL)
            : myth_candidates_find(k, chunker, x->language, path, text, n, NULL);
    free(old);
    assert_int_equal(st, MYTH_OK);
    myth_free(mem, bytes.byte);
}

/* Returns the file's text, which is freed by the caller; NULL = there is no such file. */
static char *check_file(const char *file, const example *x)
{
    char path[1024];
    uint64_t n = 0;
    const char *source = getenv("MYTHOS_SOURCE_DIR");
    snprintf(path, sizeof(path), "%s/tests/corpus/candidates/%s", source ? source : ".", file);
    unsigned char *text = chunks_read(path, &n);
    if (!text)
        return NULL;
    char *ended = malloc(n + 1);
    assert_non_null(ended);
    memcpy(ended, text, n);
    ended[n] = '\0';
    myth_candidates k;
    bool is_change;
    find(&k, &is_change, path, x, text, n);
    if (k.note[0])
        fail_msg("%s: %s", file, k.note);
    found.n = marked.n = 0;
    read_marks(ended, n);
    assert_true(marked.n > 0);
    check_places(file, &k, is_change);
    printf("%s: %u places in %u functions\n", file, k.n, k.n_function);
    myth_candidates_free(&k, mem);
    free(text);
    return ended;
}

static void check_language(const example *x)
{
    char *text[FILES] = {NULL};
    int n_file = 0;
    of_language.n = 0;
    for (int i = 0; i < FILES; i++) {
        char file[64];
        snprintf(file, sizeof(file), "%s%s", file_name[i], x->end);
        text[i] = check_file(file, x);
        n_file += text[i] != NULL;
    }
    assert_true(n_file > 0);
    if (x->is_whole)
        check_rows(x, text);
    for (int i = 0; i < FILES; i++)
        free(text[i]);
}

/* A change that leaves a text as it was takes nothing away, and of a text alone no change is known. */
static void no_change_takes_nothing(void **state)
{
    uint64_t n = 0;
    char path[1024];
    const char *source = getenv("MYTHOS_SOURCE_DIR");
    myth_candidates k;
    myth_candidates_bytes bytes;
    (void)state;
    snprintf(path, sizeof(path), "%s/tests/corpus/candidates/change.before.c", source ? source : ".");
    unsigned char *text = chunks_read(path, &n);
    assert_non_null(text);
    assert_int_equal(myth_candidates_change(&k, &bytes, chunker, "c", "a.c", text, n, text, n, NULL), MYTH_OK);
    assert_int_equal(k.n, 0);
    myth_free(mem, bytes.byte);
    myth_candidates_free(&k, mem);
    free(text);
}

static void places_are_those_marked(void **state)
{
    (void)state;
    n_wrong = 0;
    for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
        if (!myth_candidates_has(examples[i].language)) {
            check_left_out(examples[i].language, "no grammar was built for %s", examples[i].language);
            continue;
        }
        check_language(&examples[i]);
    }
    assert_int_equal(n_wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_are_those_marked),
                                       cmocka_unit_test(no_change_takes_nothing)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
