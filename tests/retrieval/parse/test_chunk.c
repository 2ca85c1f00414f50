/* test_chunk.c - cutting: the chunks of fixtures are as expected, every byte of any input is in exactly one chunk,
 * and the caller survives. */
#define _GNU_SOURCE /* nftw */
#include "tests/support/chunks.h"
#include "retrieval/limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static myth_mem *mem;
static myth_chunker *chunker;

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

static myth_chunks cut(const char *language, const char *path, const void *text, uint64_t n)
{
    myth_chunks k;
    myth_error err = {0};
    if (myth_chunk_file(&k, chunker, language, path, text, n, &err) != MYTH_OK)
        fail_msg("%s: %s", path, err.msg);
    return k;
}

static void release(myth_chunks *k) { myth_chunks_free(k, mem); }

/* ---- fixtures: NAME.EXT and its table NAME.want ---- */

/* What the cut says, a line each, as the tables have it. */
static char *describe(const myth_chunks *k)
{
    char *out = NULL;
    size_t n;
    FILE *f = open_memstream(&out, &n);
    for (uint32_t i = 0; i < k->n_chunk; i++) {
        const myth_chunk *c = &k->chunk[i];
        fprintf(f, "chunk %u-%u %s [%s] in [%s]%s%s\n", c->line0, c->line1, myth_chunk_kind_name(c->kind),
                k->names + c->symbol, k->names + c->parent, c->doc_bytes ? " documented" : "",
                c->is_part ? " part" : "");
    }
    for (uint32_t i = 0; i < k->n_symbol; i++) {
        const myth_symbol *s = &k->symbol[i];
        fprintf(f, "symbol %u-%u %s [%s] in [%s] at %u%s\n", s->line0, s->line1, myth_symbol_kind_name(s->kind),
                k->names + s->name, k->names + s->parent, s->name_line, s->is_exported ? " exported" : "");
    }
    for (uint32_t i = 0; i < k->n_ref; i++)
        fprintf(f, "ref %u %s [%s] in [%s]\n", k->ref[i].line, myth_ref_kind_name(k->ref[i].kind),
                k->names + k->ref[i].name, k->names + k->ref[i].within);
    fclose(f);
    return out;
}

static bool is_fixture(const char *name) { return name[0] != '.' && !strstr(name, ".want"); }

static void fixtures(void **state)
{
    char dir[512], path[1024], want_path[1024], language[64];
    uint32_t n_done = 0;
    struct dirent *e;
    DIR *d = opendir(check_path(dir, sizeof(dir), "tests/corpus/chunks"));
    (void)state;
    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        if (!is_fixture(e->d_name))
            continue;
        snprintf(language, sizeof(language), "%.*s", (int)strcspn(e->d_name, "."), e->d_name);
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        snprintf(want_path, sizeof(want_path), "%s/%s.want", dir, language);
        if (!myth_chunk_has_grammar(language)) {
            printf("%s: no grammar in this build\n", language);
            continue;
        }
        uint64_t n = 0, n_want = 0;
        unsigned char *text = chunks_read(path, &n), *want = chunks_read(want_path, &n_want);
        assert_non_null(text);
        myth_chunks k = cut(language, path, text, n);
        chunks_check(path, &k, text, n);
        chunks_check_whole(path, &k, text);
        if (k.note[0] || !k.is_structured)
            fail_msg("%s: %s", path, k.note);
        char *got = describe(&k);
        if (getenv("MYTHOS_WRITE_WANT")) {
            FILE *f = fopen(want_path, "wb");
            assert_non_null(f);
            fputs(got, f);
            fclose(f);
        } else if (!want || strlen(got) != n_want || memcmp(got, want, n_want) != 0)
            fail_msg("%s: other than %s (MYTHOS_WRITE_WANT=1 writes what it is):\n%s", path, want_path, got);
        free(got);
        free(text);
        free(want);
        release(&k);
        n_done++;
    }
    closedir(d);
    printf("%u languages\n", n_done);
    assert_true(n_done >= 14);
}

/* ---- real trees ---- */

typedef struct {
    uint32_t n_file, n_noted;
    uint64_t bytes, error_bytes, n_chunk, n_symbol, n_ref;
} looked_at;

static looked_at own, elsewhere;

static void look_at(looked_at *all, const char *path)
{
    uint64_t n = 0;
    unsigned char *text = chunks_read(path, &n);
    if (!text)
        return;
    myth_chunks k = cut(chunks_language(path), path, text, n);
    chunks_check(path, &k, text, n);
    if (k.is_structured)
        chunks_check_whole(path, &k, text);
    all->n_file++;
    all->n_noted += k.note[0] != '\0';
    all->bytes += n;
    all->error_bytes += k.error_bytes;
    all->n_chunk += k.n_chunk;
    all->n_symbol += k.n_symbol;
    all->n_ref += k.n_ref;
    if (k.note[0] && all == &own)
        printf("%s: %s\n", path, k.note);
    free(text);
    release(&k);
}

static void show_looked_at(const char *of, const looked_at *all)
{
    printf("%s: %u files, %llu bytes (%llu in errors), %llu chunks, %llu symbols, %llu references, %u with a note\n",
           of, all->n_file, (unsigned long long)all->bytes, (unsigned long long)all->error_bytes,
           (unsigned long long)all->n_chunk, (unsigned long long)all->n_symbol, (unsigned long long)all->n_ref,
           all->n_noted);
}

static int own_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)at;
    if (type == FTW_F && st->st_size <= 4 << 20)
        look_at(&own, path);
    return 0;
}

/* The same over trees of others: the system's headers, Python's library. */
static int other_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)at;
    if (type != FTW_F || st->st_size > 4 << 20 || elsewhere.n_file == 5000)
        return 0;
    look_at(&elsewhere, path);
    return 0;
}

static void other_files(void **state)
{
    static const char *const tree[] = {"/usr/include", "/usr/lib/python3.11"};
    (void)state;
    for (size_t i = 0; i < 2 && check_is_full(); i++) {
        elsewhere = (looked_at){.n_file = 0};
        if (nftw(tree[i], other_file, 16, FTW_PHYS) != 0)
            check_left_out(tree[i], "not on this machine");
        else
            show_looked_at(tree[i], &elsewhere);
    }
}

static void own_files(void **state)
{
    static const char *const rooms[] = {"engine",       "retrieval",      "frontend",     "kernels",
                                        "shaders",      "cmake",          "tests/engine", "tests/support",
                                        "tests/corpus", "tests/frontend", "tests/fuzz"};
    char path[512];
    (void)state;
    for (size_t i = 0; i < (check_is_full() ? sizeof(rooms) / sizeof(*rooms) : 3); i++)
        assert_int_equal(nftw(check_path(path, sizeof(path), rooms[i]), own_file, 16, FTW_PHYS), 0);
    show_looked_at("this repository", &own);
    assert_true(own.n_file > 20 && own.n_symbol > 100);
}

/* ---- mutations ---- */

enum { SEED_FILES = 64, MUTANT_BYTES = 64 << 10 };

typedef struct {
    char language[32];
    unsigned char *text;
    uint64_t n;
} seed_file;

static uint32_t read_seeds(seed_file *seed)
{
    static const char *const places[] = {"tests/corpus/chunks", "tests/corpus/inspect", "retrieval"};
    uint32_t n_seed = 0;
    for (size_t i = 0; i < 3; i++) {
        char dir[512], path[1024];
        struct dirent *e;
        DIR *d = opendir(check_path(dir, sizeof(dir), places[i]));
        assert_non_null(d);
        while ((e = readdir(d)) != NULL && n_seed < SEED_FILES) {
            seed_file *s = &seed[n_seed];
            if (!is_fixture(e->d_name) || e->d_type == DT_DIR)
                continue;
            snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
            snprintf(s->language, sizeof(s->language), "%s", chunks_language(path));
            if ((s->text = chunks_read(path, &s->n)) == NULL)
                continue;
            if (s->n > MUTANT_BYTES / 2)
                s->n = MUTANT_BYTES / 2;
            n_seed += s->n > 0;
        }
        closedir(d);
    }
    return n_seed;
}

static uint64_t mutate(unsigned char *dst, const seed_file *a, const seed_file *b, uint64_t *rand)
{
    static const char *const open[] = {"(",   "[", "{",       "if (x) {", "f(",   "\"", "/*",
                                       "'''", "<", "#if 1\n", "\\\n",     "do\n", "- ", "    if x:\n"};
    uint64_t n = a->n;
    memcpy(dst, a->text, n);
    for (uint32_t i = 1 + check_below(rand, 4); i > 0; i--) {
        uint64_t at = check_below(rand, (uint32_t)n + 1), len = 1 + check_below(rand, 200);
        switch (check_below(rand, 6)) {
        case 0: /* flips */
            for (uint32_t f = 1 + check_below(rand, 8); f > 0 && n > 0; f--)
                dst[check_below(rand, (uint32_t)n)] ^= (unsigned char)(1u << check_below(rand, 8));
            break;
        case 1: /* an end cut off */ n = at; break;
        case 2: /* a piece taken out */
            len = len < n - at ? len : n - at;
            memmove(dst + at, dst + at + len, n - at - len);
            n -= len;
            break;
        case 3: { /* a piece of another file, maybe of another language */
            uint64_t from = check_below(rand, (uint32_t)b->n);
            len = len * 8 < b->n - from ? len * 8 : b->n - from;
            if (n + len > MUTANT_BYTES)
                break;
            memmove(dst + at + len, dst + at, n - at);
            memcpy(dst + at, b->text + from, len);
            n += len;
            break;
        }
        case 4: { /* nesting */
            const char *piece = open[check_below(rand, (uint32_t)(sizeof(open) / sizeof(*open)))];
            uint32_t n_piece = (uint32_t)strlen(piece),
                     times = 1 + check_below(rand, check_below(rand, 8) == 0 ? 3000 : 40);
            if (n + (uint64_t)n_piece * times > MUTANT_BYTES)
                break;
            memmove(dst + at + (uint64_t)n_piece * times, dst + at, n - at);
            for (uint32_t t = 0; t < times; t++)
                memcpy(dst + at + (uint64_t)t * n_piece, piece, n_piece);
            n += (uint64_t)n_piece * times;
            break;
        }
        default: /* one byte over a stretch: NUL, 0xff, blanks, line ends */
            len = len < n - at ? len : n - at;
            memset(dst + at, "\0\xff \n\t\"\\a"[check_below(rand, 8)], len);
        }
    }
    return n;
}

static void mutations(void **state)
{
    static seed_file seed[SEED_FILES];
    static unsigned char text[MUTANT_BYTES];
    uint32_t n_seed = read_seeds(seed), n_file = check_is_full() ? 100000 : check_sample(2000), n_structured = 0,
             n_failed = 0, n_restart = 0;
    uint64_t rand = check_seed();
    int pid = 0;
    (void)state;
    assert_true(n_seed > 30);
    for (uint32_t i = 0; i < n_file; i++) {
        const seed_file *a = &seed[check_below(&rand, n_seed)], *b = &seed[check_below(&rand, n_seed)];
        uint64_t n = mutate(text, a, b, &rand);
        char what[64];
        snprintf(what, sizeof(what), "mutant %u (%s)", i, a->language);
        myth_chunks k = cut(a->language, what, text, n);
        chunks_check(what, &k, text, n);
        if (k.is_structured && k.error_bytes == 0)
            chunks_check_whole(what, &k, text);
        n_structured += k.is_structured;
        n_failed += k.is_failed;
        if (k.is_failed && n_failed <= 10)
            printf("%s: %s\n", what, k.note);
        n_restart += pid != 0 && myth_chunker_worker_pid(chunker) != pid;
        pid = myth_chunker_worker_pid(chunker);
        release(&k);
    }
    printf("%u mutants: %u by their tree, %u failed, the worker was made new or ended %u times\n", n_file, n_structured,
           n_failed, n_restart);
    assert_true(n_structured > n_file / 4);
    for (uint32_t i = 0; i < n_seed; i++)
        free(seed[i].text);
}

/* ---- hostile files ---- */

static unsigned char *repeat(const char *piece, uint64_t times, uint64_t *n)
{
    size_t len = strlen(piece);
    unsigned char *text = malloc(len * times + 1);
    assert_non_null(text);
    for (uint64_t i = 0; i < times; i++)
        memcpy(text + i * len, piece, len);
    *n = len * times;
    return text;
}

static void hostile(void **state)
{
    static const struct {
        const char *what, *language, *piece;
        uint64_t times;
        bool has_note;
    } rows[] = {
        {"50,000 open parentheses", "c", "(", 50000, true},
        {"200,000 open parentheses, a line each", "c", "(\n", 200000, true},
        {"66,000 open braces", "c", "{\n", 66000, true},
        {"66,000 comments", "c", "/* x */\n", 66000, false},
        {"7 MB in one line", "c", "123,", 1800000, true},
        {"a line of 30 kB", "javascript", "a=1;", 8000, true},
        {"5 MB of NUL", "python", "\x01", 5 << 20, true},
        {"1 MB of blanks", "python", " \n", 1 << 19, false},
        {"1 MB of line ends", "c", "\n", 1 << 20, false},
        {"100,000 minus signs", "c", "-\n", 100000, false},
        {"1,990 open brackets", "c", "f(\n", 1990, false},
        {"1,990 open braces of Rust", "rust", "{(\n", 990, false},
        {"open quotes", "ruby", "<<\"A\" \"\n", 5000, false},
        {"nested indents", "python", "if x:\n ", 3000, false},
        {"open templates", "cpp", "a<b<\n", 50000, false},
        {"half a string", "javascript", "`${\n", 1900, false},
        {"labels", "c", "a:\n", 60000, false},
        {"else if", "c", "else if (x) ;\n", 30000, false},
        {"unclosed tables", "toml", "[[a.\n", 900, false},
        {"dashes", "yaml", "- ", 5000, false},
        {"keys", "yaml", "a:\n ", 5000, false},
        {"operators", "kotlin", "a?.b ?: \n", 20000, false},
        {"generics of Kotlin", "kotlin", "a<\n", 20000, false},
        {"here documents", "bash", "<<A\n", 5000, false},
        {"dollars", "bash", "$(\n", 1900, false},
        {"closing tags", "php", "<?php ?>\n", 10000, false},
        {"arrows", "typescript", "(a) => \n", 1900, false},
        {"macros", "c", "#if X\n", 30000, false},
        {"continued lines", "c", "#define \\\n", 30000, false},
        {"lone macros", "c", "X_ONE\n", 60000, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint64_t n;
        unsigned char *text = repeat(rows[i].piece, rows[i].times, &n);
        struct timespec a, z;
        for (uint64_t p = 0; rows[i].piece[0] == '\x01' && p < n; p++)
            text[p] = 0;
        myth_chunks first =
            cut(rows[i].language, "first.x", "x\n", 2); /* starts the worker: that is not the file's time */
        release(&first);
        clock_gettime(CLOCK_MONOTONIC, &a);
        myth_chunks k = cut(rows[i].language, rows[i].what, text, n);
        clock_gettime(CLOCK_MONOTONIC, &z);
        chunks_check(rows[i].what, &k, text, n);
        printf("%-40s %8llu bytes %6.1f ms %s\n", rows[i].what, (unsigned long long)n,
               1e3 * (double)(z.tv_sec - a.tv_sec) + 1e-6 * (double)(z.tv_nsec - a.tv_nsec),
               k.note[0]         ? k.note
               : k.is_structured ? "tree"
                                 : "text");
        if (rows[i].has_note && !k.note[0])
            fail_msg("%s: cut by a tree, expected a note that says why not", rows[i].what);
        assert_int_equal(k.note[0] == '\0', k.is_structured || !myth_chunk_has_grammar(rows[i].language));
        free(text);
        release(&k);
    }
}

/* ---- text, directives, repetition, memory ---- */

static void text_borders(void **state)
{
    static const char part[] = "int a;\n\n\nint f(void)\n{\n    return 1;\n}\n";
    char text[9000];
    size_t n = 0;
    (void)state;
    while (n + sizeof(part) < sizeof(text)) {
        memcpy(text + n, part, sizeof(part) - 1);
        n += sizeof(part) - 1;
    }
    myth_chunks k = cut("text", "x.txt", text, n);
    chunks_check("borders", &k, (unsigned char *)text, n);
    assert_true(k.n_chunk >= 3 && !k.is_structured && k.note[0] == '\0');
    for (uint32_t i = 1; i < k.n_chunk; i++)
        assert_memory_equal(text + k.chunk[i].off, "int ", 4);
    release(&k);
    for (n = 0; n + 3 <= sizeof(text); n += 3)
        memcpy(text + n, "\xe2\x82\xac", 3);
    k = cut("text", "x.txt", text, n);
    chunks_check("euros", &k, (unsigned char *)text, n);
    assert_true(k.n_chunk > 3);
    for (uint32_t i = 0; i < k.n_chunk; i++)
        assert_int_equal(k.chunk[i].off % 3, 0);
    release(&k);
    k = cut("c", "empty.c", text, 0);
    assert_int_equal(k.n_chunk, 0);
    release(&k);
}

static void oversized_function(void **state)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    (void)state;
    fputs("/* Many steps. */\nint big(int x)\n{\n", f);
    for (int i = 0; i < 400; i++)
        fprintf(f, "    x = step_%d(x);\n", i);
    fputs("    return x;\n}\n\nint small(void) { return 1; }\n", f);
    fclose(f);
    myth_chunks k = cut("c", "big.c", text, n);
    chunks_check("big.c", &k, (unsigned char *)text, n);
    assert_true(k.n_chunk >= 4);
    for (uint32_t i = 0; i + 1 < k.n_chunk; i++) {
        assert_int_equal(k.chunk[i].kind, MYTH_CHUNK_FUNCTION);
        assert_string_equal(k.names + k.chunk[i].symbol, "big");
        assert_int_equal(k.chunk[i].is_part, i > 0);
        assert_true(k.chunk[i].off == 0 || text[k.chunk[i].off - 1] == '\n');
    }
    assert_true(k.chunk[0].doc_bytes > 0);
    assert_string_equal(k.names + k.chunk[k.n_chunk - 1].symbol, "small");
    assert_false(k.chunk[k.n_chunk - 1].is_part);
    release(&k);
    free(text);
}

/* Conditionals inside expressions, and macros that are no statement, break the syntax; blanked, they do not. */
/* One bracket more than walks of a tree may be deep is one too many. */
static void nests_too_deep(void **state)
{
    (void)state;
    enum { MOST = MYTH_PARSE_DEPTH + 1 };
    for (int depth = MYTH_PARSE_DEPTH; depth <= MOST; depth++) {
        char text[2 * MOST + 32];
        size_t n = (size_t)snprintf(text, sizeof(text), "int x = ");
        memset(text + n, '(', (size_t)depth);
        n += (size_t)depth;
        text[n++] = '1';
        memset(text + n, ')', (size_t)depth);
        n += (size_t)depth;
        text[n++] = ';';
        text[n++] = '\n';
        myth_chunks k;
        assert_int_equal(myth_chunk_file(&k, chunker, "c", "deep.c", (const unsigned char *)text, n, NULL), MYTH_OK);
        const bool is_too_deep = strstr(k.note, "nests deeper than") != NULL;
        if (is_too_deep != (depth > MYTH_PARSE_DEPTH))
            fail_msg("%d brackets: '%s'", depth, k.note);
        release(&k);
    }
}

/* A text that is not read for its form alone: the note says what of it, and what helps. */
static void what_is_not_read_says_what_helps(void **state)
{
    (void)state;
    enum { MOST = MYTH_PARSE_LINE_BYTES };
    static unsigned char text[MOST + 32];
    static const unsigned char wide[] = "\xff\xfei\0n\0t\0";
    myth_chunks k;
    for (int more = 0; more < 2; more++) {
        const size_t n = (size_t)MOST + (size_t)more;
        memcpy(text, "int a;\n", 7);
        memset(text + 7, ' ', n);
        memcpy(text + 7, "int b;", 6);
        assert_int_equal(myth_chunk_file(&k, chunker, "c", "long.c", text, 7 + n, NULL), MYTH_OK);
        assert_string_equal(k.note,
                            more ? "parse: line 2 is longer than 20480 bytes; break it to have the file read" : "");
        release(&k);
    }
    assert_int_equal(myth_chunk_file(&k, chunker, "c", "wide.c", wide, 8, NULL), MYTH_OK);
    assert_string_equal(k.note, "parse: UTF-16; save it as UTF-8 to have it read");
    release(&k);
}

static void directives(void **state)
{
    static const char text[] = "#include \"a.h\"\nX_BEGIN_DECLS\n\nint f(int a)\n{\n    return g(a,\n#ifdef A\n        "
                               "     1)\n             + h(2,\n#endif\n"
                               "             3);\n}\n\n"
                               "int after(void)\n{\n    return f(1);\n}\n";
    (void)state;
    myth_chunks k = cut("c", "if.c", text, sizeof(text) - 1);
    bool has_after = false;
    chunks_check("directives", &k, (const unsigned char *)text, sizeof(text) - 1);
    assert_true(k.is_structured);
    assert_int_equal(k.error_bytes, 0);
    for (uint32_t i = 0; i < k.n_symbol; i++)
        has_after = has_after || strcmp(k.names + k.symbol[i].name, "after") == 0;
    assert_true(has_after);
    release(&k);
}

/* One brace that two branches open, in a file that is right otherwise. */
static void a_brace_of_two_branches(void **state)
{
    enum { N = 200 };
    static char text[N * 64];
    size_t n = (size_t)snprintf(text, sizeof(text),
                                "static void\nadd_range(const char *s)\n{\n    int wide;\n\n"
                                "#ifdef A\n    if (one(&wide, s) <= 0) {\n#else\n    if (other(&wide, s) <= 0) {\n"
                                "#endif\n        release(s);\n        return;\n    }\n    insert(wide);\n}\n\n");
    (void)state;
    for (int i = 0; i < N; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "int plain_%d(int n)\n{\n    return n;\n}\n\n", i);
    myth_chunks k = cut("c", "brace.c", text, n);
    assert_int_equal(k.error_bytes, 0);
    assert_int_equal(k.n_symbol, 1 + N);
    assert_string_equal(k.names + k.symbol[0].name, "add_range");
    assert_int_equal(k.symbol[0].line1, 15);
    release(&k);
}

/* Macros before a type or a name are no part of the language; where they are errors, they are read as blanks. A type in
 * capitals stays. */
static void macros_of_declarations(void **state)
{
    static const struct {
        const char *line, *name;
    } rows[] = {
        {"X_API int (*hook)(X_CTX *ctx, const char *name) X_ATTR;", "hook"},
        {"X_API X_TYPE * (*copy)(const X_TYPE *from) X_ATTR;", "copy"},
        {"X_EXPORT DWORD X_CALL entry(void *p) { return 0; }", "entry"},
        {"X_API const char *const names[] = {0};", "names"},
        {"typedef DWORD (X_CALL *fn_type)\n (int n);", "fn_type"},
        {"static X_INLINE unsigned long hash(int n) { return 0; }", "hash"},
        {"DWORD WORD2;", "WORD2"},
        {"struct X_TYPE table = {0};", "table"},
        {"X_API struct X_TYPE *last(void) { return 0; }", "last"},
        {"X_ATTR(malloc) X_SIZE(1)\nvoid X_NOTHROW *take(int n) { return 0; }", "take"},
        {"typedef X_PLAIN(int) plain;", "plain"},
        {"int guarded(int n) X_GUARDED(lock) { return n; }", "guarded"},
        {"enum state {\n    STATE_ONE,\n#define XX(a) a,\n    X_STATES(XX)\n#undef XX\n    STATE_LAST\n};",
         "state STATE_ONE STATE_LAST"},
        {"struct item {\n    X_ITEM_FIELDS\n    X_MORE_FIELDS\n};", "item"},
        {"enum one {\n    X_ONE_ONLY\n};", "one X_ONE_ONLY"},
        {"#define X_LONG(a)  \\\n    f(a); /* why */ \\\n    g(a)\nint behind(void) { return 0; }", "X_LONG behind"},
        {"static const int chosen =\n#ifdef A\n    1\n#else\n    2\n#endif\n    ;", "chosen"},
        {"#if A\n#define X_LEFT 1\n#else\n#define X_LEFT 2\n#endif", "X_LEFT X_LEFT"},
        {"class X_API Money : Base { X_CONST Money(int n) : n_(n) {} };", "Money Money"},
        {"X_EXPORT template <typename T> class Box {};", "Box"},
        {"struct Sum {\n    X_CONST auto operator|(int n) -> Sum { return *this; }\n    X_INLINE ~Sum() {}\n};",
         "Sum operator| ~Sum"},
        {"void Sum::add(int n) const\n    X_GUARDED(lock) { n_ += n; }", "add"},
        {"static void printflike(1, 2)\nlogged(const char *format, ...) { return; }", "logged"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[512];
        const bool is_cpp =
            strstr(rows[i].line, "class") || strstr(rows[i].line, "operator") || strstr(rows[i].line, "::");
        int n = snprintf(text, sizeof(text), "X_API int first(int a);\n\n%s\nint after(void) { return 1; }\n",
                         rows[i].line);
        myth_chunks k = cut(is_cpp ? "cpp" : "c", "macros.c", text, (uint64_t)n);
        char want[64];
        int n_want = snprintf(want, sizeof(want), "%s after", rows[i].name), n_got = 0;
        char got[512] = "";
        for (uint32_t j = 0; j < k.n_symbol; j++)
            n_got +=
                snprintf(got + n_got, sizeof(got) - (size_t)n_got, "%s%s", j ? " " : "", k.names + k.symbol[j].name);
        if (n_got != n_want || strcmp(got, want) != 0 || k.error_bytes != 0)
            fail_msg("'%s': names '%s', expected '%s'; %llu bytes of errors", rows[i].line, got, want,
                     (unsigned long long)k.error_bytes);
        release(&k);
    }
}

/* What the grammar of Kotlin does not know is read as blanks, so it does not hide the definitions around it. */
static void newer_kotlin(void **state)
{
    static const char *const rows[] = {
        "fun first(v: Any): Int = when (v) {\n    is String if v.isEmpty() -> 0\n    is Int -> 1\n    else -> 2\n}",
        "class first {\n    val size\n        @OptIn(Internal::class)\n        get() = 1\n}",
        "fun first(where: String?): Int {\n    where?.let { run(where = it) }\n    return 1\n}",
        "fun first() {\n    val id = Users.insert {\n        it[name] = 1\n    } get Users.id\n}",
        "context(_: Scope)\nfun first() = 1",
        "fun first() = $$\"?(@.name == $name)\" to \"a\"",
        ("fun first(v: Any): Int = when (v) {\n    is String if (\n        v.isEmpty()\n        ) -> 0\n"
         "    else -> 2\n}"),
        ("class first<\n    T : Any\n    >\n@Inject internal actual constructor(val a: T) {\n    private constructor() "
         ": "
         "this(1)\n}"),
        ("class first {\n    var size: Int = 0\n        @Deprecated(\n            \"use more\",\n            level = "
         "of(1)\n        )\n        set\n}"),
        "fun first() {\n    val all = listOf(1)\n\n    get(\"/a\") {\n        call(all)\n    }\n    set(1, all)\n}",
        "class first {\n    var size: Int\n        get() = 1\n        set(value) { field = value }\n}",
        "fun first() {\n    var final = 1\n    if (!final) final = 2\n}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && myth_chunk_has_grammar("kotlin"); i++) {
        char text[512];
        int n = snprintf(text, sizeof(text), "%s\n\nfun after(): Int = 1\n", rows[i]);
        myth_chunks k = cut("kotlin", "newer.kt", text, (uint64_t)n);
        if (k.error_bytes != 0 || k.n_symbol < 2 || strcmp(k.names + k.symbol[0].name, "first") != 0 ||
            strcmp(k.names + k.symbol[k.n_symbol - 1].name, "after") != 0)
            fail_msg("%s: %u definitions, %llu bytes of errors; expected first and after, and no error", rows[i],
                     k.n_symbol, (unsigned long long)k.error_bytes);
        release(&k);
    }
}

/* Macros among items are opened where they hold items, and only there; a file with more of them than are looked at
 * keeps what is around them. */
static void item_macros(void **state)
{
    static const struct {
        const char *text, *names;
    } rows[] = {
        {"cfg! { fn a() {} }\nfn z() {}", "a z"},
        {"cfg! { cfg! { cfg! { fn a() {} } } }\nfn z() {}", "a z"},
        {"a::b! { pub mod m { x! { fn a() {} } } }\nfn z() {}", "m a z"},
        {"bits! { struct A: u8 { const B = 1; } }\nfn z() {}", "z"},
        {"list! { one, two }\nlist! [ fn a() {} ]\nlist! {}\nfn z() {}", "z"},
        {"outer! { fn a() {} inner! { = } }\nfn z() {}", "a z"},
        {"outer! { fn a() {} } }\nfn z() {}", "z"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && myth_chunk_has_grammar("rust"); i++) {
        char found[256] = "";
        myth_chunks k = cut("rust", "macros.rs", rows[i].text, strlen(rows[i].text));
        for (uint32_t j = 0; j < k.n_symbol; j++)
            snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", j ? " " : "",
                     k.names + k.symbol[j].name);
        if (strcmp(found, rows[i].names) != 0)
            fail_msg("%s: definitions %s; expected %s", rows[i].text, found, rows[i].names);
        release(&k);
    }
    enum { MANY = 4000 };
    static char many[MANY * 24];
    size_t n = 0;
    for (int i = 0; i < MANY; i++)
        n += (size_t)snprintf(many + n, sizeof(many) - n, "m! { fn a%d() {} }\n", i);
    myth_chunks k = cut("rust", "many.rs", many, n);
    if (myth_chunk_has_grammar("rust")) {
        assert_true(k.is_structured);
        assert_true(k.n_symbol > 0 && k.n_symbol <= MANY);
    }
    release(&k);
}

static void same_twice(void **state)
{
    char path[512];
    uint64_t n = 0;
    unsigned char *text = chunks_read(check_path(path, sizeof(path), "retrieval/parse/chunk.c"), &n);
    myth_chunker *other = NULL;
    myth_chunks b;
    (void)state;
    assert_non_null(text);
    myth_chunks a = cut("c", path, text, n);
    assert_int_equal(myth_chunker_open(&other, mem, chunks_worker(), NULL), MYTH_OK);
    assert_int_equal(myth_chunk_file(&b, other, "c", path, text, n, NULL), MYTH_OK);
    assert_int_equal(a.n_chunk, b.n_chunk);
    assert_int_equal(a.n_symbol, b.n_symbol);
    assert_int_equal(a.n_ref, b.n_ref);
    assert_int_equal(a.n_names, b.n_names);
    assert_memory_equal(a.chunk, b.chunk, a.n_chunk * sizeof(*a.chunk));
    assert_memory_equal(a.symbol, b.symbol, a.n_symbol * sizeof(*a.symbol));
    assert_memory_equal(a.ref, b.ref, a.n_ref * sizeof(*a.ref));
    assert_memory_equal(a.names, b.names, a.n_names);
    release(&a);
    release(&b);
    myth_chunker_close(other);
    free(text);
}

/* Whatever allocation fails: the documented error, nothing left, and the next file is cut. */
static void failing_memory(void **state)
{
    char path[512];
    uint64_t n = 0, n_failed = 0;
    unsigned char *text = chunks_read(check_path(path, sizeof(path), "retrieval/parse/symbols.c"), &n);
    static const char *const languages[] = {"c", "text"};
    (void)state;
    assert_non_null(text);
    for (int l = 0; l < 2; l++) {
        bool is_through = false;
        for (uint64_t nth = 1; !is_through; nth++) {
            myth_chunks k;
            uint64_t live = myth_mem_total(mem, MYTH_MEM_HOST).live;
            myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
            myth_status st = myth_chunk_file(&k, chunker, languages[l], path, text, n, NULL);
            myth_mem_set_fault(mem, NULL);
            is_through = st == MYTH_OK;
            n_failed += !is_through;
            if (is_through) {
                chunks_check(path, &k, text, n);
                release(&k);
            } else
                assert_int_equal(st, MYTH_ENOMEM);
            assert_int_equal(myth_mem_total(mem, MYTH_MEM_HOST).live, live);
            assert_true(nth < 1000);
        }
    }
    assert_true(n_failed >= 6);
    free(text);
}

int main(void)
{
    if (!myth_chunk_has_grammar("c")) {
        printf("this build has no parsers\n");
        return CHECK_SKIP;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures),
        cmocka_unit_test(own_files),
        cmocka_unit_test(other_files),
        cmocka_unit_test(mutations),
        cmocka_unit_test(hostile),
        cmocka_unit_test(text_borders),
        cmocka_unit_test(directives),
        cmocka_unit_test(a_brace_of_two_branches),
        cmocka_unit_test(same_twice),
        cmocka_unit_test(failing_memory),
        cmocka_unit_test(oversized_function),
        cmocka_unit_test(nests_too_deep),
        cmocka_unit_test(what_is_not_read_says_what_helps),
        cmocka_unit_test(macros_of_declarations),
        cmocka_unit_test(newer_kotlin),
        cmocka_unit_test(item_macros),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
