/* test_patterns.c - the queries of every language against tree-sitter's own cursor, on fixtures and mutations of
 * them; and patterns that are refused. */
#include "retrieval/parse/grammars.h"
#include "retrieval/parse/patterns.h"
#include "tests/support/check.h"
#include "tests/support/chunks.h"

#include <dirent.h>

/* A match: its pattern, and of each capture its number, its place and the node it is. The nodes themselves are not
 * compared. */
typedef struct {
    uint32_t pattern, n;
    struct {
        uint32_t number, off, end;
        const void *id;
    } capture[16];
    TSNode node[16];
} match;

typedef struct {
    match *match;
    uint32_t n, cap;
} matches;

typedef struct {
    const char *name;
    const TSLanguage *language;
    TSQuery *query;
    TSParser *parser;
    myth_patterns patterns;
} grammar;

static myth_mem *mem;
static grammar grammars[64];

static int set_up(void **state)
{
    (void)state;
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return 1;
    for (int i = 0; i < myth_n_grammar; i++) {
        const myth_grammar g = myth_grammar_get(i);
        grammar *x = &grammars[i];
        TSQueryError error;
        uint32_t at = 0;
        x->name = g.name;
        x->language = (const TSLanguage *)g.language();
        x->parser = ts_parser_new();
        x->query = ts_query_new(x->language, (const char *)g.query, g.n_query, &at, &error);
        if (!x->query || !ts_parser_set_language(x->parser, x->language)) {
            printf("%s: tree-sitter does not take its query: error %d at byte %u\n", g.name, (int)error, at);
            return 1;
        }
        if (!myth_patterns_open(&x->patterns, mem, x->language, (const char *)g.query, g.n_query, &at)) {
            printf("%s: its query is not read from byte %u on\n", g.name, at);
            return 1;
        }
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < myth_n_grammar; i++) {
        ts_query_delete(grammars[i].query);
        ts_parser_delete(grammars[i].parser);
        myth_patterns_close(&grammars[i].patterns);
    }
    return myth_mem_close(mem) != 0;
}

static void take(void *arg, const TSQueryMatch *found)
{
    matches *m = arg;
    match one;
    memset(&one, 0, sizeof(one)); /* matches are compared as bytes, up to the nodes */
    one.pattern = found->pattern_index;
    one.n = found->capture_count;
    assert_true(one.n <= 16);
    for (uint32_t i = 0; i < one.n; i++) {
        const TSQueryCapture *c = &found->captures[i];
        one.capture[i].number = c->index;
        one.capture[i].off = ts_node_start_byte(c->node);
        one.capture[i].end = ts_node_end_byte(c->node);
        one.capture[i].id = c->node.id;
        one.node[i] = c->node;
    }
    if (m->n == m->cap) {
        m->cap = 2 * m->cap + 64;
        m->match = realloc(m->match, m->cap * sizeof(*m->match));
        assert_non_null(m->match);
    }
    m->match[m->n++] = one;
}

static int by_bytes(const void *a, const void *b) { return memcmp(a, b, offsetof(match, node)); }

/* In an order that both sides have, each once. */
static void settle(matches *m)
{
    uint32_t n = 0;
    if (m->n)
        qsort(m->match, m->n, sizeof(*m->match), by_bytes);
    for (uint32_t i = 0; i < m->n; i++)
        if (n == 0 || by_bytes(&m->match[n - 1], &m->match[i]) != 0)
            m->match[n++] = m->match[i];
    m->n = n;
}

static void show(const grammar *g, const char *who, const match *m)
{
    printf("%s: pattern %u", who, m->pattern);
    for (uint32_t i = 0; i < m->n; i++)
        printf(", @%s %u-%u", g->patterns.capture[m->capture[i].number], m->capture[i].off, m->capture[i].end);
    printf("\n");
}

static const char *field_of(TSNode node)
{
    const TSNode parent = ts_node_parent(node);
    for (uint32_t i = 0; i < ts_node_child_count(parent); i++)
        if (ts_node_eq(ts_node_child(parent, i), node))
            return ts_node_field_name_for_child(parent, i);
    return NULL;
}

/* b stands behind a in the same field of the same node. */
static bool is_later(TSNode a, TSNode b)
{
    const char *field = field_of(a), *other = field_of(b);
    return field && other && strcmp(field, other) == 0 && ts_node_eq(ts_node_parent(a), ts_node_parent(b)) &&
           ts_node_start_byte(a) < ts_node_start_byte(b);
}

/* Whether `one` is a match of the same pattern but for nodes of a field that its parent has several times. The cursor
 * of tree-sitter 0.25 tells only the first of them where a grammar has one field around a whole list: of Go's `const a,
 * b = 1, 2` it tells a. */
static bool is_later_of_field(const match *one, const matches *told)
{
    for (const match *t = told->match; t < told->match + told->n; t++) {
        uint32_t k = 0;
        if (t->pattern != one->pattern || t->n != one->n)
            continue;
        while (k < t->n && t->capture[k].number == one->capture[k].number &&
               (t->capture[k].id == one->capture[k].id || is_later(t->node[k], one->node[k])))
            k++;
        if (k == t->n)
            return true;
    }
    return false;
}

static uint64_t n_all, n_later;

static void compare(const char *what, const grammar *g, const unsigned char *text, uint64_t n)
{
    matches want = {0}, got = {0};
    TSTree *tree = ts_parser_parse_string(g->parser, NULL, (const char *)text, (uint32_t)n);
    assert_non_null(tree);
    TSNode root = ts_tree_root_node(tree);
    TSQueryCursor *cursor = ts_query_cursor_new();
    TSQueryMatch found;
    ts_query_cursor_exec(cursor, g->query, root);
    while (ts_query_cursor_next_match(cursor, &found))
        take(&want, &found);
    const bool is_whole = !ts_query_cursor_did_exceed_match_limit(cursor);
    ts_query_cursor_delete(cursor);
    assert_true(myth_patterns_find(&g->patterns, root, &(myth_pattern_asker){.on_match = take, .arg = &got}));
    settle(&want);
    settle(&got);
    for (uint32_t i = 0, k = 0; is_whole && (i < want.n || k < got.n);) {
        const int order = i == want.n ? 1 : k == got.n ? -1 : by_bytes(&want.match[i], &got.match[k]);
        if (order > 0 && is_later_of_field(&got.match[k], &want)) {
            k++;
            n_later++;
            continue;
        }
        if (order != 0) {
            show(g, order < 0 ? "tree-sitter alone" : "patterns alone", order < 0 ? &want.match[i] : &got.match[k]);
            fail_msg("%s: match %u of %u, %u found", what, i, want.n, got.n);
        }
        i++;
        k++;
    }
    n_all += got.n;
    free(want.match);
    free(got.match);
    ts_tree_delete(tree);
}

static const grammar *grammar_of(const char *path)
{
    const int i = myth_grammar_find(chunks_language(path));
    return i < 0 ? NULL : &grammars[i];
}

/* ---- files, and what is made of them ---- */

enum { MUTANT_BYTES = 32 << 10 };

/* Pieces taken out, doubled, put elsewhere; bytes and words of syntax put in. */
static uint64_t mutate(unsigned char *dst, const unsigned char *text, uint64_t n, uint64_t *rand)
{
    static const char *const words[] = {
        "(",       ")",   "{",        "}",    "[",         "]",    ";",       ",",     ":",      "\"",
        "'",       "\n",  " ",        "=",    "#[test]\n", "@x\n", "/* c */", "# c\n", "// c\n", "f(A_b, \"s\")",
        "static ", "if ", "class X ", "\xff", "<",         ">",    ".",       "!",     "(a)(b)", "\\"};
    memcpy(dst, text, n);
    for (uint32_t i = 1 + check_below(rand, 6); i > 0; i--) {
        uint64_t at = check_below(rand, (uint32_t)n + 1), len = 1 + check_below(rand, 120),
                 to = check_below(rand, (uint32_t)n + 1);
        const char *word = words[check_below(rand, (uint32_t)(sizeof(words) / sizeof(*words)))];
        unsigned char piece[128];
        len = len < n - at ? len : n - at;
        memcpy(piece, dst + at, len);
        if (check_below(rand, 3) == 0) {
            memmove(dst + at, dst + at + len, n - at - len);
            n -= len;
            continue;
        }
        if (check_below(rand, 2)) {
            len = strlen(word);
            memcpy(piece, word, len);
        }
        if (n + len > MUTANT_BYTES)
            break;
        memmove(dst + to + len, dst + to, n - to);
        memcpy(dst + to, piece, len);
        n += len;
    }
    return n;
}

static void same_matches(void **state)
{
    static const char *const places[] = {"tests/corpus/chunks", "retrieval", "engine",
                                         "tests/retrieval",     "bench",     "tests/corpus/inspect"};
    static unsigned char mutant[MUTANT_BYTES];
    const uint32_t n_mutant = check_is_full() ? 2000 : check_sample(40);
    uint64_t rand = check_seed();
    uint32_t n_file = 0, n_made = 0;
    bool is_seen[64] = {false};
    (void)state;
    for (size_t p = 0; p < sizeof(places) / sizeof(*places); p++) {
        char dir[512], path[1024], what[1100];
        struct dirent *e;
        DIR *d = opendir(check_path(dir, sizeof(dir), places[p]));
        assert_non_null(d);
        while ((e = readdir(d)) != NULL) {
            uint64_t n = 0;
            const grammar *g = grammar_of(e->d_name);
            snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
            unsigned char *text = g && e->d_name[0] != '.' ? chunks_read(path, &n) : NULL;
            if (!text)
                continue;
            compare(path, g, text, n);
            is_seen[g - grammars] = true;
            n_file++;
            n = n > MUTANT_BYTES / 2 ? MUTANT_BYTES / 2 : n;
            for (uint32_t i = 0; p == 0 && i < n_mutant; i++, n_made++) {
                snprintf(what, sizeof(what), "mutant %u of %s", i, path);
                compare(what, g, mutant, mutate(mutant, text, n, &rand));
            }
            free(text);
        }
        closedir(d);
    }
    printf("%u files and %u made of them, %llu matches, %llu of them of a field's later nodes\n", n_file, n_made,
           (unsigned long long)n_all, (unsigned long long)n_later);
    for (int i = 0; i < myth_n_grammar; i++)
        if (!is_seen[i])
            fail_msg("%s: no file of it was read", grammars[i].name);
    assert_true(n_all > 10000);
}

/* Every node of a field, each by itself, which the cursor has not everywhere. */
static void all_of_a_field(void **state)
{
    static const char text[] = "package p\n\nconst a, b = 1, 2\n\nvar c, d int\n";
    const grammar *g = grammar_of("x.go");
    matches got = {0};
    char names[64] = "";
    (void)state;
    TSTree *tree = ts_parser_parse_string(g->parser, NULL, text, sizeof(text) - 1);
    assert_true(myth_patterns_find(&g->patterns, ts_tree_root_node(tree),
                                   &(myth_pattern_asker){.on_match = take, .arg = &got}));
    settle(&got);
    for (uint32_t i = 0; i < got.n; i++)
        for (uint32_t c = 0; c < got.match[i].n; c++)
            if (strcmp(g->patterns.capture[got.match[i].capture[c].number], "name") == 0)
                snprintf(names + strlen(names), sizeof(names) - strlen(names), "%c", text[got.match[i].capture[c].off]);
    assert_string_equal(names, "abcd");
    free(got.match);
    ts_tree_delete(tree);
}

/* Depth and width that no source has, and what a node's place in the tree takes from both. */
static void deep_and_wide(void **state)
{
    static const struct {
        const char *path, *piece;
        uint32_t times;
    } rows[] = {
        {"a.c", "f(A_B, C_D);\n", 20000}, {"a.c", "a_b +\n", 20000},   {"a.c", "f(\n", 1500},
        {"a.json", "{\"a\": ", 1000},     {"a.rs", "#[test]\n", 5000}, {"a.py", "x = [a_b, f(c_d)]\n", 5000},
        {"a.js", "((a) => \n", 900},      {"a.c", "/* c */\n", 20000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const grammar *g = grammar_of(rows[i].path);
        const size_t n_piece = strlen(rows[i].piece);
        unsigned char *text = malloc(n_piece * rows[i].times);
        if (!g) {
            free(text);
            continue;
        }
        assert_non_null(text);
        for (uint32_t k = 0; k < rows[i].times; k++)
            memcpy(text + k * n_piece, rows[i].piece, n_piece);
        compare(rows[i].piece, g, text, n_piece * rows[i].times);
        free(text);
    }
}

/* ---- what is said of them ---- */

static bool is_stopped(void *arg)
{
    ++*(int *)arg;
    return true;
}

static void stops(void **state)
{
    const grammar *g = grammar_of("a.c");
    matches got = {0};
    int n_asked = 0;
    (void)state;
    if (!g)
        check_skip("this build has no grammar for C");
    enum { TIMES = 20000 };
    char *text = malloc(TIMES * 5);
    assert_non_null(text);
    for (int i = 0; i < TIMES; i++)
        memcpy(text + i * 5, "f();\n", 5);
    TSTree *tree = ts_parser_parse_string(g->parser, NULL, text, TIMES * 5);
    assert_true(myth_patterns_find(
        &g->patterns, ts_tree_root_node(tree),
        &(myth_pattern_asker){.on_match = take, .arg = &got, .stop = is_stopped, .stop_arg = &n_asked}));
    assert_int_equal(n_asked, 1);
    assert_true(got.n > 0 && got.n < TIMES);
    free(got.match);
    ts_tree_delete(tree);
    free(text);
}

static void refused(void **state)
{
    static const char *const rows[] = {
        "(comment",
        "comment) @comment",
        "(comment) @",
        "(no_such_node) @comment",
        "(function_definition no_such_field: (_) @name)",
        "(_) @comment",
        "(comment)+ @comment",
        "((comment) @comment (#eq? @comment \"x\"))",
        "\"if\" @comment",
        "(function_definition !no_such_field)",
        "[(comment) (identifier)] @comment",
        "(argument_list .)",
        "(MISSING) @comment",
        "(MISSING \"no such\") @comment",
        "(comment)? @comment",
        "(comment) (",
        "()",
        "(statement) @comment",
        "(comment) @a_name_of_a_capture_that_is_much_too_long",
        "(comment) @a @b @c @d",
    };
    const grammar *g = grammar_of("a.c");
    (void)state;
    if (!g)
        check_skip("this build has no grammar for C");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        myth_patterns p;
        uint32_t at = UINT32_MAX;
        if (myth_patterns_open(&p, mem, g->language, rows[i], (uint32_t)strlen(rows[i]), &at))
            fail_msg("taken: %s", rows[i]);
        assert_true(at <= strlen(rows[i]));
        myth_patterns_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_matches), cmocka_unit_test(all_of_a_field), cmocka_unit_test(deep_and_wide),
        cmocka_unit_test(stops),        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
