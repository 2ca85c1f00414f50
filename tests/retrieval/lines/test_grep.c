/* test_grep.c - literal and regular-expression search gives the rows of LC_ALL=C grep -anF and -anP over the files of a
 * scan, as far as bytes and characters are the same; what they are not is in test_grep_text.c.
 *
 * Oracle   grep itself, one run a query, its output compared byte for byte: path, line number, line. Lines that are
 *          not ASCII are compared where a literal is searched for as it is. test_ripgrep.sh compares the others
 * Trees    generated ones with every kind of line (empty, without an end, NUL bytes, invalid UTF-8, longer than a
 *          piece), and this repository
 * Queries  pieces of the files; for expressions, pieces put into forms that anchor, repeat, look around, negate, cross
 *          lines if they could */
#define _GNU_SOURCE
#include "tests/support/files.h"
#include "retrieval/lines/find.h"
#include "retrieval/lines/grep.h"
#include "retrieval/lines/regex.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static myth_mem *mem;
static uint64_t n_asked, n_with_rows, n_rows, n_context, n_refused, n_way[3];
static uint32_t n_before, n_after; /* lines around a match, of both */

/* ---- both answers ---- */

typedef struct {
    bytes out;
    bool is_in_order;
    uint64_t last_off;
    char last_path[4096];
} answer;

static bool add_row(void *arg, const myth_grep_row *row)
{
    answer *a = arg;
    char number[32];
    a->is_in_order &= strcmp(a->last_path, row->path) != 0 || row->off > a->last_off;
    snprintf(a->last_path, sizeof(a->last_path), "%s", row->path);
    a->last_off = row->off;
    assert_true(row->match_off + row->n_match <= row->n_text);
    bytes_put(&a->out, row->path, strlen(row->path) + 1);
    bytes_put(&a->out, number,
              (size_t)snprintf(number, sizeof(number), "%u%c", row->line, row->is_context ? '-' : ':'));
    bytes_put(&a->out, row->text, row->n_text);
    bytes_text(&a->out, "\n");
    n_rows++;
    n_context += row->is_context;
    return true;
}

/* grep's exit status; its output in *out. Over exactly the files of the list. */
static int run_grep(bytes *out, const char *root, const myth_scan_list *l, const char *flags, const char *query)
{
    char **argv = calloc(l->n_file + 12, sizeof(*argv)), buf[65536], flag[16], before[16], after[16];
    static char name[] = "grep", e[] = "-e", end[] = "--", no_sign[] = "--no-group-separator";
    int pipe_fd[2], status, n = 0;
    pid_t pid;
    posix_spawn_file_actions_t fa;
    snprintf(flag, sizeof(flag), "-anHZ%s", flags);
    assert_non_null(argv);
    argv[n++] = name;
    argv[n++] = flag;
    if (n_before + n_after) {
        snprintf(before, sizeof(before), "-B%u", n_before);
        snprintf(after, sizeof(after), "-A%u", n_after);
        argv[n++] = before;
        argv[n++] = after;
        argv[n++] = no_sign;
    }
    argv[n++] = e;
    argv[n++] = (char *)query;
    argv[n++] = end;
    for (uint32_t i = 0; i < l->n_file; i++)
        argv[n++] = (char *)l->file[i].path;
    assert_int_equal(pipe2(pipe_fd, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addchdir_np(&fa, root);
    posix_spawn_file_actions_adddup2(&fa, pipe_fd[1], 1);
    posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
    assert_int_equal(posix_spawnp(&pid, "grep", &fa, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&fa);
    close(pipe_fd[1]);
    for (ssize_t got; (got = read(pipe_fd[0], buf, sizeof(buf))) > 0;)
        bytes_put(out, buf, (size_t)got);
    close(pipe_fd[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    free(argv);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool is_ascii(const unsigned char *p, size_t n)
{
    while (n && p[n - 1] < 0x80)
        n--;
    return n == 0;
}

/* Leaves out the rows whose line is not ASCII. */
static void keep_ascii(bytes *b)
{
    unsigned char *p = b->data, *end = p + b->len, *to = p;
    while (p < end) {
        unsigned char *text = memchr(p, 0, (size_t)(end - p)), *stop = memchr(text, '\n', (size_t)(end - text));
        const size_t n = (size_t)(stop + 1 - p);
        if (is_ascii(text, (size_t)(stop - text))) {
            memmove(to, p, n);
            to += n;
        }
        p += n;
    }
    b->len = (size_t)(to - b->data);
}

/* grep reads the files of l; the list of names, where there is one, is what is searched here. */
static void compare(const char *root, const myth_scan_list *l, const myth_scan_list *names, const char *query,
                    bool is_regex, bool ignore_case, bool is_word, uint32_t threads)
{
    answer a = {.is_in_order = true};
    bytes want = {0};
    myth_error err = {0};
    char flags[8];
    uint64_t n_unread = 0;
    snprintf(flags, sizeof(flags), "%s%s%s", is_regex ? "P" : "F", ignore_case ? "i" : "", is_word ? "w" : "");
    myth_grep_opts o = {
        .root = root,
        .pattern = (const unsigned char *)query,
        .n_pattern = strlen(query),
        .is_regex = is_regex,
        .ignore_case = ignore_case,
        .is_word = is_word,
        .n_threads = threads,
        .n_before = n_before,
        .n_after = n_after,
    };
    int code = run_grep(&want, root, l, flags, query);
    myth_status st = myth_grep(mem, names ? names : l, &o, add_row, &a, &n_unread, &err);
    n_asked++;
    if (code == 2 || st != MYTH_OK) {
        if ((code == 2) != (st == MYTH_EARG || st == MYTH_ELIMIT))
            fail_msg("-%s '%s': grep ends with %d; here: %s", flags, query, code, st ? err.msg : "no error");
        n_refused++;
    } else {
        assert_int_equal(n_unread, 0);
        assert_true(a.is_in_order);
        if ((is_regex || ignore_case || is_word) && a.out.len)
            keep_ascii(&a.out);
        if ((is_regex || ignore_case || is_word) && want.len)
            keep_ascii(&want);
        n_with_rows += a.out.len > 0;
        if (a.out.len != want.len || (want.len && memcmp(a.out.data, want.data, want.len) != 0)) {
            size_t i = 0;
            while (i < a.out.len && i < want.len && a.out.data[i] == want.data[i])
                i++;
            i = i > 60 ? i - 60 : 0;
            fail_msg("%s: -%s '%s': %zu bytes, expected %zu; from %zu: '%.200s' expected '%.200s'", root, flags, query,
                     a.out.len, want.len, i, i < a.out.len ? (char *)a.out.data + i : "",
                     i < want.len ? (char *)want.data + i : "");
        }
    }
    bytes_free(&a.out);
    bytes_free(&want);
}

/* ---- queries ---- */

/* A piece of a random file of the list, without line ends and NULs. */
static void random_piece(char *dst, size_t cap, const char *root, const myth_scan_list *l, uint64_t *r)
{
    char path[4096];
    dst[0] = 0;
    for (int k = 0; k < 20 && !dst[0]; k++) {
        const myth_scan_file *f = &l->file[check_below(r, l->n_file)];
        snprintf(path, sizeof(path), "%s/%s", root, f->path);
        int fd = open(path, O_RDONLY);
        size_t want = 1 + check_below(r, check_below(r, 3) ? 6 : (uint32_t)cap - 1);
        ssize_t got = pread(
            fd, dst, want, f->bytes ? (off_t)check_below(r, (uint32_t)(f->bytes < 1u << 30 ? f->bytes : 1u << 30)) : 0);
        dst[got > 0 ? got : 0] = 0;
        dst[strcspn(dst, "\n")] = 0;
        close(fd);
    }
}

/* Only ASCII: what other bytes of an expression mean is not what grep finds here. */
static void escape(char *dst, const char *s)
{
    for (; *s; s++) {
        if ((unsigned char)*s >= 0x80)
            continue;
        if (strchr("\\^$.[]|()?*+{}", *s))
            *dst++ = '\\';
        *dst++ = *s;
    }
    *dst = 0;
}

/* %1 and %2 are pieces, escaped. */
static const char *const form[] = {
    "%1",
    "^%1",
    "%1$",
    "^%1$",
    "%1.*%2",
    "%1|%2",
    "(%1|%2)",
    "%1\\s*%2",
    "%1\\s+",
    "\\s%1",
    "[^%1]",
    "[^a]%1",
    "%1[^a]*%2",
    "\\b%1\\b",
    "\\B%1",
    "(?<=%1)%2",
    "(?<!%1)%2",
    "%1(?=%2)",
    "%1(?!%2)",
    "(?>%1*)%2",
    "%1?%2",
    "%1{0,2}%2",
    "%1{2}",
    "(?:%1)+",
    "(%1)\\1",
    "%1\\n%2",
    "[\\s\\S]%1",
    "%1[\\s\\S]*?%2",
    "\\W%1",
    "%1\\W",
    "\\D{3}%1",
    "%1\\z",
    "\\A%1",
    "%1\\Z",
    "\\G%1",
    "(?i)%1",
    "(?s)%1.%2",
    "(?m)^%1",
    "(?x) %1",
    "[[:space:]]%1",
    "[[:^alpha:]]%1",
    "[\\t-\\r]%1",
    "%1[^\\S]",
    "^$",
    "^\\s*$",
    "",
    ".",
    "$",
    "\\s",
    "\\S\\s", /* classes without a literal: a literal chooses the lines before they are matched */
    "\\W",
    "\\w\\W",
    "\\D",
    "\\w\\D",
    "\\H",
    "\\w\\H",
    "\\w[^x]",
    "\\w[\\s,]",
    "\\w[[:space:]]",
    "\\w[[:^alpha:]]",
    "\\w+\\(",
    "^\\s*%1",
    "%1\\K%2",
    "\\Q%1\\E",
    "%1\\R",
    "%1\\x0a?",
    "%1\\012?",
    "(?<n>%1)\\k<n>",
    "(?|%1|%2)",
    "%1++%2",
    "%1*?%2",
    "a*",
    "(*ACCEPT)%1",
    "%1(*COMMIT)%2",
    "(?<!\\W)%1",
    "(?<=\\s)%1",
    "(?<![\\s])%1",
    "[]%1]",
    "[^]%1]",
    "[%1",
    "(%1",
    "%1)",
    "%1{1",
    "%1{,3}",
    "x{3,1}",
    "%1[\\d\\-z]",
    "\\x{41}%1",
    "%1\\h+%2",
    "\\H%1",
    "\\V%1",
    "\\v%1",
    "\\N%1",
    "(?(?=%1)%1|%2)",
    "(?#c)%1",
    "((%1)|%2)$",
    "^(?!.*%1)",
    "^(?=.*%1)(?=.*%2)",
    "(?:^|%1)%2",
    "%1(?:$|%2)",
    "[a-f%1]+$",
    "%1\\t",
    "\\.%1",
    "(?<=^)%1",
    "%1(?<=%1)$",
    "\\d+",
    "[0-9]{3,}",
    "%1|^$",
    "|%1",
    "(?:)%1",
    "(^%1|%2$)",
    "\\$",
    "%1[^\\n]",
    "%1[^\\r]",
    "[!-~]+%1",
    "%1?+%2",
    "\\w*%1\\w*",
    "(?P<q>%1)(?P=q)",
    "%1)|(?:%2",
    ")%1(?:",
};

static void random_regex(char *dst, const char *root, const myth_scan_list *l, uint64_t *r)
{
    char piece[24], escaped[2][64];
    for (int i = 0; i < 2; i++) {
        random_piece(piece, i ? 4 : 16, root, l, r);
        escape(escaped[i], piece);
    }
    for (const char *f = form[check_below(r, sizeof(form) / sizeof(form[0]))]; *f; f++) {
        if (f[0] == '%' && (f[1] == '1' || f[1] == '2'))
            dst += sprintf(dst, "%s", escaped[*++f - '1']);
        else
            *dst++ = *f;
    }
    *dst = 0;
}

/* Which way the expression goes: all three must have been compared. */
static void count_way(const char *query, bool ignore_case, bool is_word)
{
    static const char *const name[] = {"literal", "buffer", "lines"};
    myth_regex *x;
    if (myth_regex_open(&x, mem, (const unsigned char *)query, strlen(query), ignore_case, is_word, NULL) != MYTH_OK)
        return;
    for (int i = 0; i < 3; i++)
        n_way[i] += strcmp(myth_regex_way(x), name[i]) == 0;
    myth_regex_close(x);
}

static void random_queries(const char *root, uint32_t n, uint64_t *r)
{
    char query[600];
    myth_scan_list l, names;
    assert_int_equal(myth_scan(&l, mem, &(myth_scan_opts){.root = root}, NULL), MYTH_OK);
    assert_int_equal(myth_scan(&names, mem, &(myth_scan_opts){.root = root, .names_only = true}, NULL), MYTH_OK);
    assert_true(l.n_file > 0 && names.n_file >= l.n_file);
    for (uint32_t i = 0; i < n; i++) {
        bool is_regex = i % 2, ignore_case = check_below(r, 4) == 0, is_word = check_below(r, 4) == 0;
        if (is_regex) {
            random_regex(query, root, &l, r);
            count_way(query, ignore_case, is_word);
        } else {
            random_piece(query, 40, root, &l, r);
        }
        if (!is_regex && !ignore_case && !is_word && check_below(r, 4)) { /* both have the lines of all bytes */
            n_before = check_below(r, 5);
            n_after = check_below(r, 5);
        }
        compare(root, &l, i % 4 < 2 ? &names : NULL, query, is_regex, ignore_case, is_word, check_below(r, 4));
        n_before = n_after = 0;
    }
    myth_scan_close(&names, mem);
    myth_scan_close(&l, mem);
}

/* ---- trees ---- */

static void make_tree(uint64_t *r)
{
    static const char *const word[] = {"int", "return", " ",    "  ",       "\t", "(",  ")",   "foo",      "Foo",
                                       "bar", "_x",     "x1",   "a.b",      "==", "\r", "",    "\xc3\xa9", "\xff",
                                       "#",   "aaa",    "\x0b", "\x0c",     "$",  "^",  "[a]", "\\",       "ab",
                                       "ba",  "0",      "42",   "\xc2\x85", "-",  "\""};
    files_mkdir("tree");
    for (int k = 0; k < 12; k++) {
        char name[32];
        bytes b = {0};
        uint32_t n_line = check_below(r, 400);
        for (uint32_t i = 0; i < n_line; i++) {
            uint32_t n_word = check_below(r, 9);
            for (uint32_t j = 0; j < n_word; j++)
                bytes_text(&b, word[check_below(r, sizeof(word) / sizeof(word[0]))]);
            bytes_text(&b, "\n");
        }
        if (k == 1 && b.len)
            b.len--;  /* no end of the last line */
        if (k == 2) { /* far behind what the scan looks at: NULs; and a line longer than a piece */
            while (b.len < 10000)
                bytes_text(&b, "foo bar\n");
            bytes_put(&b, "a\0b\nint\0\n\0", 10);
            for (int i = 0; i < 200000; i++)
                bytes_text(&b, i % 1000 == 999 ? "foo_" : "ab ");
            bytes_text(&b, "\nend\n");
        }
        if (k == 3)
            b.len = 0;
        if (k == 4)
            for (int i = 0; i < 40000; i++)
                bytes_text(&b, i % 3 ? "int return(foo);\n" : "\n");
        snprintf(name, sizeof(name), k % 3 ? "tree/f%d.c" : "tree/-f %d", k);
        files_put(name, b.data ? b.data : (unsigned char *)"", b.len);
        bytes_free(&b);
    }
}

static void generated_trees(void **state)
{
    (void)state;
    uint64_t r = check_seed();
    uint32_t n_tree = check_is_full() ? 8 : 2, n_query = 60;
    for (uint32_t i = 0; i < n_tree; i++) {
        make_tree(&r);
        random_queries(files_path("tree"), n_query, &r);
        files_clear("tree");
        assert_int_equal(rmdir(files_path("tree")), 0);
    }
}

/* Copies files of a tree, evenly drawn from all of them: a copy does not change between the two answers. */
static void copy_tree(const char *root, const char *into, uint32_t n_most)
{
    myth_scan_list l;
    assert_int_equal(myth_scan(&l, mem, &(myth_scan_opts){.root = root, .names_only = true}, NULL), MYTH_OK);
    const int from = open(root, O_RDONLY | O_DIRECTORY);
    const uint32_t step = l.n_file / n_most + 1;
    for (uint32_t i = 0; i < l.n_file; i += step) {
        char path[4200];
        bytes b = {0};
        char buf[65536];
        int fd = myth_scan_open(from, l.file[i].path, false);
        assert_true(fd >= 0);
        for (ssize_t got; (got = read(fd, buf, sizeof(buf))) > 0;)
            bytes_put(&b, buf, (size_t)got);
        close(fd);
        snprintf(path, sizeof(path), "%s/%s", into, l.file[i].path);
        if (b.len < 2 || is_ascii(b.data, 2)) /* grep does not know byte order marks */
            files_put_deep(path, b.data ? b.data : (unsigned char *)"", b.len);
        bytes_free(&b);
    }
    close(from);
    myth_scan_close(&l, mem);
}

/* This repository; of a full run the system's headers and Python's library too. */
static void real_trees(void **state)
{
    (void)state;
    uint64_t r = check_seed() + 1;
    const char *own = getenv("MYTHOS_SOURCE_DIR") ? getenv("MYTHOS_SOURCE_DIR") : ".";
    const char *const root[] = {own, "/usr/include", "/usr/lib/python3.11"}, *const into[] = {"copy", "headers",
                                                                                              "library"};
    for (int i = 0; i < (check_is_full() ? 3 : 1); i++) {
        if (access(root[i], R_OK) != 0) {
            check_left_out(root[i], "not on this machine");
            continue;
        }
        copy_tree(root[i], into[i], 2000);
        random_queries(files_path(into[i]), check_is_full() ? 400 : 50, &r);
    }
}

/* Every form once, over lines where crossing one would show. */
static void every_form(void **state)
{
    (void)state;
    static const char lines[] = "ab\n  b\n\nfoo\r\nx\vy\nfoo_bar foo\n\n\nb\na\nabab\n aa\n$x\nlast";
    char query[200];
    myth_scan_list l;
    files_mkdir("forms");
    files_put("forms/a", lines, sizeof(lines) - 1);
    files_put("forms/b", lines, sizeof(lines) - 4);
    files_text("forms/c", "\n");
    files_text("forms/d", "\n\nab");
    assert_int_equal(myth_scan(&l, mem, &(myth_scan_opts){.root = files_path("forms")}, NULL), MYTH_OK);
    for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++)
        for (int k = 0; k < 8; k++) {
            char *d = query;
            for (const char *f = form[i]; *f; f++) {
                if (f[0] == '%' && (f[1] == '1' || f[1] == '2'))
                    d += sprintf(d, "%s", (k & 4 ? *++f == '1' : *++f == '2') ? "b" : "foo");
                else
                    *d++ = *f;
            }
            *d = 0;
            count_way(query, k & 1, (k & 2) != 0);
            n_before = (uint32_t)k % 3;
            n_after = (uint32_t)k % 2;
            compare(files_path("forms"), &l, NULL, query, true, k & 1, (k & 2) != 0, 1);
        }
    n_before = n_after = 0;
    static const char *const literal[] = {"",     "a", "foo", "foo\nb",        "a\n", "\n",
                                          "foo_", "_", "\r",  "nothing of it", "aa"};
    for (size_t i = 0; i < sizeof(literal) / sizeof(literal[0]); i++)
        for (int k = 0; k < 4; k++)
            compare(files_path("forms"), &l, NULL, literal[i], false, k & 1, (k & 2) != 0, 1);
    myth_scan_close(&l, mem);
}

/* Lines around matches that are in another piece than the match, few and more than a piece has. */
static void context_over_pieces(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        uint32_t before, after;
    } row[] = {
        {"line 5000 ", 2, 2},
        {"line 5000 ", 20000, 20000},
        {"00 ", 3, 0},
        {"00 ", 0, 3},
        {"00 ", 1, 1},
        {"000 ", 700, 20},
        {"7", 1, 2},
        {"0", 5, 5},
        {"line 13999", 9000, 1},
        {"line 0 ", 3, 9000},
        {"5", 4000, 4000},
    };
    myth_scan_list l;
    bytes b = {0};
    char line[128];
    files_mkdir("pieces");
    for (int i = 0; i < 14000; i++)
        bytes_put(&b, line, (size_t)snprintf(line, sizeof(line), "%*sline %d %s\n", i % 37, "", i, "of a long file"));
    files_put("pieces/a.txt", b.data, b.len);
    bytes_text(&b, "and an end without its line end");
    files_put("pieces/b.txt", b.data, b.len);
    bytes_free(&b);
    assert_int_equal(myth_scan(&l, mem, &(myth_scan_opts){.root = files_path("pieces")}, NULL), MYTH_OK);
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        n_before = row[i].before;
        n_after = row[i].after;
        compare(files_path("pieces"), &l, NULL, row[i].query, i % 2, false, false, 2);
    }
    n_before = n_after = 0;
    myth_scan_close(&l, mem);
}

static void all_ways_were_taken(void **state)
{
    (void)state;
    print_message("%llu queries, %llu with rows, %llu rows, %llu refused by both; %llu by a literal, %llu by buffer, "
                  "%llu by line\n",
                  (unsigned long long)n_asked, (unsigned long long)n_with_rows, (unsigned long long)n_rows,
                  (unsigned long long)n_refused, (unsigned long long)n_way[0], (unsigned long long)n_way[1],
                  (unsigned long long)n_way[2]);
    assert_true(n_context > 1000);
    assert_true(n_way[0] > 20 && n_way[1] > 20 && n_way[2] > 20 && n_with_rows > n_asked / 4);
}

/* ---- what grep does not have ---- */

static bool count_to_three(void *arg, const myth_grep_row *row)
{
    (void)row;
    return ++*(int *)arg < 3;
}

static bool note_match(void *arg, const myth_grep_row *row)
{
    *(myth_grep_row *)arg = *row;
    return true;
}

static void limits(void **state)
{
    (void)state;
    myth_scan_list l;
    myth_error err = {0};
    myth_grep_row row = {0};
    int n = 0;
    uint64_t n_unread = 0;
    static const myth_cancel yes = 1;
    char evil[40000];
    memset(evil, 'a', sizeof(evil));
    evil[sizeof(evil) - 1] = '\n';
    files_mkdir("limits");
    files_text("limits/a.c", "foo\nfoo\nfoo\nfoo\n");
    files_put("limits/b.c", evil, sizeof(evil));
    files_text("limits/c.c", "x\nthe foo_bar of foo\n");
    char root[4096];
    snprintf(root, sizeof(root), "%s", files_path("limits"));
    assert_int_equal(myth_scan(&l, mem, &(myth_scan_opts){.root = root}, NULL), MYTH_OK);
    myth_grep_opts o = {.root = root, .pattern = (const unsigned char *)"foo", .n_pattern = 3};
    assert_int_equal(myth_grep(mem, &l, &o, count_to_three, &n, NULL, &err), MYTH_OK);
    assert_int_equal(n, 3);
    n = -100;
    o.max_rows = 2;
    assert_int_equal(myth_grep(mem, &l, &o, count_to_three, &n, NULL, &err), MYTH_OK);
    assert_int_equal(n, -98);
    n = -100;
    o.n_before = o.n_after = 1; /* the last match has its lines behind it, and nothing of the next one */
    assert_int_equal(myth_grep(mem, &l, &o, count_to_three, &n, NULL, &err), MYTH_OK);
    assert_int_equal(n, -98);
    files_text("limits/d.c", "1\nbar\n3\n4\n5\nbar\n");
    myth_scan_list one = {.file = &(myth_scan_file){.path = "d.c"}, .n_file = 1};
    o.pattern = (const unsigned char *)"bar";
    o.max_rows = 1;
    o.n_before = 3;
    n = -100;
    assert_int_equal(myth_grep(mem, &one, &o, count_to_three, &n, NULL, &err), MYTH_OK);
    assert_int_equal(n, -97); /* lines 1, 2 and 3 */
    o.pattern = (const unsigned char *)"foo";
    o.n_before = o.n_after = 0;
    o.max_rows = 0;
    o.is_word = true;
    assert_int_equal(myth_grep(mem, &l, &o, note_match, &row, NULL, &err), MYTH_OK);
    assert_string_equal(row.path, "c.c");
    assert_true(row.line == 2 && row.off == 2 && row.match_off == 15 && row.n_match == 3);
    o.is_cancelled = &yes;
    assert_int_equal(myth_grep(mem, &l, &o, note_match, &row, NULL, &err), MYTH_ECANCEL);
    o = (myth_grep_opts){
        .root = root,
        .pattern = (const unsigned char *)"^(a|aa)+$b",
        .n_pattern = 10,
        .is_regex = true,
    };
    assert_int_equal(myth_grep(mem, &l, &o, note_match, &row, NULL, &err), MYTH_OK);
    o.pattern = (const unsigned char *)"(a|aa)+[^a-z]";
    o.n_pattern = 13;
    assert_int_equal(myth_grep(mem, &l, &o, note_match, &row, NULL, &err), MYTH_ELIMIT);
    assert_non_null(strstr(err.msg, "b.c"));
    o.pattern = (const unsigned char *)"(a";
    o.n_pattern = 2;
    assert_int_equal(myth_grep(mem, &l, &o, note_match, &row, NULL, &err), MYTH_EARG);
    assert_non_null(strstr(err.msg, "byte 2"));

    /* Files that are gone, or have become a link, are counted. */
    assert_int_equal(unlink(files_path("limits/a.c")), 0);
    assert_int_equal(unlink(files_path("limits/b.c")), 0);
    assert_int_equal(symlink("c.c", files_path("limits/b.c")), 0);
    o = (myth_grep_opts){.root = root, .pattern = (const unsigned char *)"bar", .n_pattern = 3};
    assert_int_equal(myth_grep(mem, &l, &o, note_match, &row, &n_unread, &err), MYTH_OK);
    assert_int_equal(n_unread, 2);
    assert_true(row.match_off == 8);

    /* Every allocation refused in turn. */
    for (uint64_t nth = 1;; nth++) {
        for (int k = 0; k < 2; k++) {
            myth_mem *m;
            assert_int_equal(myth_mem_open(&m, 0, NULL), MYTH_OK);
            myth_mem_set_fault(m, &(myth_fault){.fail_nth = nth, .forever = true});
            o.is_regex = k;
            myth_status st = myth_grep(m, &l, &o, note_match, &row, NULL, &err);
            bool is_past = myth_mem_n_alloc(m) < nth;
            assert_int_equal(st, is_past ? MYTH_OK : MYTH_ENOMEM);
            assert_int_equal(myth_mem_close(m), 0);
        }
        if (nth > 30)
            break;
    }
    myth_scan_close(&l, mem);
}

/* The finder alone, at every distance from both ends. */
static void literals(void **state)
{
    (void)state;
    uint64_t r = check_seed();
    for (uint32_t i = 0; i < (check_is_full() ? 100000u : 30000u); i++) {
        unsigned char text[200], needle[12];
        size_t n = check_below(&r, 160), m = check_below(&r, 8);
        bool fold = check_below(&r, 2);
        for (size_t k = 0; k < n; k++)
            text[k] = (unsigned char)"abAB\n@`{\xe1\xc1"[check_below(&r, 10)];
        for (size_t k = 0; k < m; k++)
            needle[k] = (unsigned char)"abab@`{\xe1"[check_below(&r, 8)];
        const unsigned char *want = NULL;
        for (size_t at = 0; at + m <= n && !want; at++) {
            size_t k = 0;
            while (k < m && (fold ? myth_lower(text[at + k]) : text[at + k]) == needle[k])
                k++;
            want = k == m ? text + at : NULL;
        }
        myth_find f;
        myth_find_open(&f, needle, m, fold);
        unsigned char *exact = malloc(n + 1); /* so that a byte read too far is seen */
        memcpy(exact, text, n);
        const unsigned char *got = myth_find_next(&f, exact, exact + n);
        assert_true((got ? got - exact : -1) == (want ? want - text : -1));
        uint64_t lines = 0;
        for (size_t k = 0; k < n; k++)
            lines += text[k] == '\n';
        assert_int_equal(myth_count_newlines(exact, exact + n), lines);
        size_t high = 0;
        while (high < n && exact[high] < 0x80)
            high++;
        assert_int_equal(myth_find_high(exact, exact + n) - exact, high);
        free(exact);
    }
}

static int open_mem(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int close_mem(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals),
        cmocka_unit_test_setup_teardown(every_form, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(context_over_pieces, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(generated_trees, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(real_trees, open_mem, close_mem),
        cmocka_unit_test(all_ways_were_taken),
        cmocka_unit_test_setup_teardown(limits, open_mem, close_mem),
    };
    setenv("LC_ALL", "C", 1);
    setenv("HOME", files_dir(), 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
