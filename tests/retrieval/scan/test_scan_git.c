/* test_scan_git.c - random trees with random ignore files: scan must list the same files as git, for the same
 * reasons.
 *
 * Tree    a repository made without git (HEAD, objects, refs). Directories, files and patterns use the same few
 *         letters, so that most patterns match something; .gitignore at any depth, .git/info/exclude,
 *         core.excludesFile from the user's settings, the repository's, or by default; core.ignorecase in either,
 *         and then names with capitals
 * Index   in many trees git tracks some of the files, whatever the patterns say; the index is of any version, in one
 *         part or two
 * Oracle  one git command per tree, in turn: ls-files --cached --others (which files), the same inside of a directory,
 *         check-ignore -v (which pattern, of which file, in which line) */
#define _GNU_SOURCE
#include "tests/support/files.h"
#include "retrieval/scan/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_PATHS = 64, NAME_CAP = 24, PATH_CAP = 160 };

typedef struct {
    uint64_t r;
    char dir[MOST_PATHS][PATH_CAP];  /* "" or with a slash at its end */
    char path[MOST_PATHS][PATH_CAP]; /* files and directories, without */
    bool is_dir[MOST_PATHS];
    uint32_t n_dir, n_path, n_pattern;
    bool ignore_case;
} tree;

/* What the comparison saw: n_folded out by letters of another case, n_kept in because git tracks them. */
static uint64_t n_ignored, n_back, n_in, n_folded, n_kept;

/* ---- making one ---- */

static void random_name(tree *t, char *dst)
{
    static const char *const odd[] = {
        "a b", " a",       "a ",   "#a", "!a",  "[a]", "a]", "a*",   "a?b",  "a\\b",
        "\\",  "\xc3\xa9", "\xff", "-a", "a.c", "b.o", ".a", "a\tb", "a\nb",
    };
    if (check_below(&t->r, 5) == 0) {
        strcpy(dst, odd[check_below(&t->r, sizeof(odd) / sizeof(odd[0]))]);
        return;
    }
    uint32_t n = 1 + check_below(&t->r, 3);
    for (uint32_t i = 0; i < n; i++)
        dst[i] = t->ignore_case ? "abABc"[check_below(&t->r, 5)] : "abc"[check_below(&t->r, 3)];
    dst[n] = 0;
}

/* A name with some of its bytes made wild. */
static size_t random_piece(tree *t, char *dst)
{
    char name[NAME_CAP];
    size_t n = 0;
    random_name(t, name);
    for (const char *s = name; *s; s++) {
        switch (check_below(&t->r, 16)) {
        case 0: n += (size_t)sprintf(dst + n, "*"); break;
        case 1: n += (size_t)sprintf(dst + n, "?"); break;
        case 2: n += (size_t)sprintf(dst + n, "[%c%c]", "ab!^-"[check_below(&t->r, 5)], *s == '\n' ? 'a' : *s); break;
        case 3:
            n += (size_t)sprintf(dst + n, "[%c-%c]", t->ignore_case && check_below(&t->r, 2) ? 'A' : 'a',
                                 *s == '\n' ? 'a' : *s);
            break;
        case 4: n += (size_t)sprintf(dst + n, "\\%c", *s); break;
        case 5: n += (size_t)sprintf(dst + n, "*%c", *s); break;
        case 6: n += (size_t)sprintf(dst + n, "%c**", *s); break;
        case 7:
            n += check_below(&t->r, 6) ? 0
                                       : (size_t)sprintf(dst + n, "[[:%s:]%c", t->ignore_case ? "upper" : "alpha",
                                                         check_below(&t->r, 4) ? ']' : 'a');
            break;
        default: dst[n++] = *s; break;
        }
    }
    return n;
}

static void random_patterns(tree *t, bytes *b)
{
    uint32_t n_line = check_below(&t->r, 7);
    if (check_below(&t->r, 12) == 0)
        bytes_text(b, "\xef\xbb\xbf");
    for (uint32_t i = 0; i < n_line; i++) {
        char line[400];
        size_t n = 0;
        uint32_t n_piece = 1 + (check_below(&t->r, 3) == 0) + (check_below(&t->r, 6) == 0);
        if (check_below(&t->r, 10) == 0)
            n += (size_t)sprintf(line + n, "#");
        if (check_below(&t->r, 4) == 0)
            n += (size_t)sprintf(line + n, "!");
        if (check_below(&t->r, 4) == 0)
            n += (size_t)sprintf(line + n, "/");
        if (check_below(&t->r, 8) == 0)
            n += (size_t)sprintf(line + n, "**/");
        for (uint32_t k = 0; k < n_piece; k++) {
            if (k)
                n += (size_t)sprintf(line + n, "%s", check_below(&t->r, 4) ? "/" : "/**/");
            n += random_piece(t, line + n);
        }
        static const char *const end[] = {"",   "",    "",  "",    "",   "",   "/",   "/",
                                          "/*", "/**", " ", "\\ ", "\t", "\r", " \\", "//"};
        n += (size_t)sprintf(line + n, "%s", end[check_below(&t->r, sizeof(end) / sizeof(end[0]))]);
        bytes_put(b, line, n);
        bytes_text(b, check_below(&t->r, 12) ? "\n" : "\r\n");
        t->n_pattern++;
    }
    if (b->len && check_below(&t->r, 4) == 0)
        b->len--; /* no end of the last line */
}

static void put(const char *root, const char *path, const void *data, size_t n)
{
    char full[600];
    snprintf(full, sizeof(full), "%s/%s", root, path);
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, n), (ssize_t)n);
    close(fd);
}

static void make_dir(const char *root, const char *path)
{
    char full[600];
    snprintf(full, sizeof(full), "%s/%s", root, path);
    assert_int_equal(mkdir(full, 0700), 0);
}

static bool is_there(const tree *t, const char *path)
{
    for (uint32_t i = 0; i < t->n_path; i++)
        if (strcmp(t->path[i], path) == 0)
            return true;
    return false;
}

static void put_patterns(tree *t, const char *root, const char *path)
{
    bytes b = {0};
    random_patterns(t, &b);
    put(root, path, b.data ? b.data : (unsigned char *)"", b.len);
    bytes_free(&b);
}

static void add_path(tree *t, const char *path, bool is_dir)
{
    snprintf(t->path[t->n_path], PATH_CAP, "%s", path);
    t->is_dir[t->n_path++] = is_dir;
}

static void make_tree(tree *t, const char *root, const char *home)
{
    char path[PATH_CAP + 16], name[NAME_CAP];
    uint32_t n_want = 8 + check_below(&t->r, 30);
    make_dir("", root);
    make_dir(root, ".git");
    make_dir(root, ".git/objects");
    make_dir(root, ".git/refs");
    make_dir(root, ".git/info");
    put(root, ".git/HEAD", "ref: refs/heads/main\n", 21);
    strcpy(t->dir[t->n_dir++], "");
    for (uint32_t i = 0; i < n_want && t->n_path < MOST_PATHS - 24; i++) {
        const char *dir = t->dir[check_below(&t->r, t->n_dir)];
        random_name(t, name);
        snprintf(path, sizeof(path), "%s%s", dir, name);
        if (strlen(path) > 100 || is_there(t, path))
            continue;
        if (check_below(&t->r, 3) == 0 && t->n_dir < 16) {
            make_dir(root, path);
            add_path(t, path, true);
            snprintf(t->dir[t->n_dir++], PATH_CAP, "%.100s/", path);
        } else {
            put(root, path, "x\n", 2);
            add_path(t, path, false);
        }
    }
    for (uint32_t i = 0; i < t->n_dir; i++)
        if (check_below(&t->r, i == 0 ? 4 : 3) != 0 || i == 1) {
            snprintf(path, sizeof(path), "%s.gitignore", t->dir[i]);
            put_patterns(t, root, path);
            add_path(t, path, false);
        }
    if (check_below(&t->r, 2))
        put_patterns(t, root, ".git/info/exclude");
    /* core.excludesFile: by default, of the user, of the repository, of a file that the user's includes */
    char config[700] = "[core]\n\trepositoryformatversion = 0\n";
    uint32_t which = check_below(&t->r, 5);
    bool is_of_user = t->ignore_case && (which == 0 || which == 2) && check_below(&t->r, 2);
    if (t->ignore_case && !is_of_user)
        strcat(config, check_below(&t->r, 2) ? "\tignorecase = true\n" : "\tignoreCase\n");
    else if (is_of_user && check_below(&t->r, 3) == 0) {
        strcat(config, "\tignorecase = no\n");
        t->ignore_case = false;
    }
    put(home, ".gitconfig", "[core]\n\tignorecase = 1\n", is_of_user ? 23 : 0);
    put(home, ".config/git/ignore", "", 0);
    if (which == 1) {
        put_patterns(t, home, ".config/git/ignore");
    } else if (which == 2) {
        put(home, ".gitconfig", "[core]\n\texcludesFile = ~/mine\n\tignorecase = on\n", is_of_user ? 46 : 29);
        put_patterns(t, home, "mine");
        put_patterns(t, home, ".config/git/ignore"); /* not read then */
    } else if (which == 3) {
        put(home, ".gitconfig", "[core]\n\texcludesFile = ~/mine\n", 29);
        put_patterns(t, home, "mine");
        put_patterns(t, home, "other");
        snprintf(config + strlen(config), sizeof(config) - strlen(config), "\texcludesfile = \"%s/other\"\n", home);
    } else if (which == 4) {
        put(home, ".gitconfig", "[Include]\n\tpath = more\n", 23);
        put(home, "more", "[core]\n\tExcludesFile = ~/mine\n", 30);
        put_patterns(t, home, "mine");
    }
    put(root, ".git/config", config, strlen(config));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

/* ---- asking git ---- */

/* Runs git in `root` with the file `in` as its input; what it says is in *out, a NUL behind it. */
static void run_git(bytes *out, const char *root, const char *const *args, const char *in)
{
    char git[] = "git", cd[] = "-C", *argv[16] = {git, cd, (char *)root}, buf[65536];
    int pipe_fd[2], status, n = 3;
    pid_t pid;
    posix_spawn_file_actions_t fa;
    while (*args)
        argv[n++] = (char *)*args++;
    assert_int_equal(pipe2(pipe_fd, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 0, in ? in : "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&fa, pipe_fd[1], 1);
    if (posix_spawnp(&pid, "git", &fa, NULL, argv, environ) != 0) {
        print_message("skipped: no git\n");
        exit(CHECK_SKIP);
    }
    posix_spawn_file_actions_destroy(&fa);
    close(pipe_fd[1]);
    for (ssize_t got; (got = read(pipe_fd[0], buf, sizeof(buf))) > 0;)
        bytes_put(out, buf, (size_t)got);
    close(pipe_fd[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        fail_msg("git: %s ended with %d", argv[3], status);
    bytes_put(out, "", 1);
}

static int compare_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The parts of a text between NULs. */
static uint32_t split(const bytes *b, const char **part, uint32_t cap)
{
    uint32_t n = 0;
    for (size_t at = 0; at + 1 < b->len; at += strlen((char *)b->data + at) + 1) {
        assert_true(n < cap);
        part[n++] = (char *)b->data + at;
    }
    return n;
}

/* Puts some of the files into the index. */
static void track_some(tree *t, const char *root)
{
    static const char *const version[] = {"index.version=2", "index.version=3", "index.version=4"};
    const char *const args[] = {
        "-c",           version[check_below(&t->r, 3)],
        "-c",           check_below(&t->r, 4) ? "core.splitIndex=false" : "core.splitIndex=true",
        "update-index", "-z",
        "--add",        "--stdin",
        NULL,
    };
    bytes in = {0}, out = {0};
    for (uint32_t half = 0; half < 2; half++) { /* the second write makes the second part of a split index */
        in.len = 0;
        for (uint32_t i = 0; i < t->n_path; i++)
            if (!t->is_dir[i] && check_below(&t->r, 4) == 0)
                bytes_put(&in, t->path[i], strlen(t->path[i]) + 1);
        files_put("tracked", in.data ? in.data : (unsigned char *)"", in.len);
        run_git(&out, root, args, files_path("tracked"));
    }
    bytes_free(&in);
    bytes_free(&out);
}

/* The same files, from the top or from a directory inside. */
static void check_list(tree *t, const char *root, myth_mem *mem, const char *sub)
{
    char full[700];
    const char *want[MOST_PATHS + 1], *got[MOST_PATHS + 1];
    static const char *const args[] = {"ls-files", "-c", "-o", "-z", "--exclude-standard", NULL};
    bytes b = {0};
    myth_scan_list l;
    myth_error err = {0};
    uint32_t n_got = 0, n_want;
    snprintf(full, sizeof(full), "%s%s%s", root, *sub ? "/" : "", sub);
    run_git(&b, full, args, NULL);
    n_want = split(&b, want, MOST_PATHS);
    const myth_scan_opts o = {.root = full, .hidden = true, .explain = true, .n_threads = 1 + check_below(&t->r, 3)};
    if (myth_scan(&l, mem, &o, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    for (uint32_t i = 0; i < l.n_file; i++) {
        if (l.file[i].reason != MYTH_SCAN_IN)
            continue;
        got[n_got++] = l.file[i].path;
        n_kept += strstr(l.file[i].why, "tracked by git, so ") != NULL;
    }
    qsort(got, n_got, sizeof(got[0]), compare_text);
    qsort(want, n_want, sizeof(want[0]), compare_text);
    n_in += n_got;
    n_ignored += t->n_path - n_got;
    for (uint32_t i = 0; i < n_got || i < n_want; i++) {
        int c = i == n_got ? 1 : i == n_want ? -1 : strcmp(got[i], want[i]);
        if (c)
            fail_msg("%s: '%s' is %s", full, c < 0 ? got[i] : want[i], c < 0 ? "out for git" : "in for git");
    }
    myth_scan_close(&l, mem);
    bytes_free(&b);
}

/* Whether git ignores the directory `sub`, or one above it: from there it lists nothing, and scan begins there because
 * it was told so. */
static bool is_ignored_by_git(const char *root, const char *sub)
{
    static const char *const args[] = {"check-ignore", "--no-index", "-z", "--stdin", NULL};
    bytes in = {0}, out = {0};
    bytes_put(&in, sub, strlen(sub) + 1);
    files_put("asked", in.data, in.len);
    run_git(&out, root, args, files_path("asked"));
    bool is = out.len > 1;
    bytes_free(&in);
    bytes_free(&out);
    return is;
}

/* What scan says of a path: its row, or that of the directory above that is out. */
static const myth_scan_file *row_of(const myth_scan_list *l, const char *path)
{
    for (uint32_t i = 0; i < l->n_file; i++) {
        size_t n = strlen(l->file[i].path);
        if (strncmp(l->file[i].path, path, n) == 0 && (path[n] == 0 || (path[n] == '/' && l->file[i].is_dir)))
            return &l->file[i];
    }
    return NULL;
}

static bool has_capital(const char *s) { return strpbrk(s, "AB") != NULL; }

/* The same pattern of the same line of the same file, for every path. */
static void check_reasons(tree *t, const char *root, myth_mem *mem)
{
    static const char *const args[] = {"check-ignore", "--no-index", "-v", "-n", "-z", "--stdin", NULL};
    const char *part[4 * MOST_PATHS];
    bytes in = {0}, out = {0};
    myth_scan_list l;
    myth_error err = {0};
    for (uint32_t i = 0; i < t->n_path; i++)
        bytes_put(&in, t->path[i], strlen(t->path[i]) + 1);
    files_put("asked", in.data ? in.data : (unsigned char *)"", in.len);
    bytes_free(&in);
    run_git(&out, root, args, files_path("asked"));
    /* Empty fields: split by hand. */
    uint32_t n = 0;
    for (size_t at = 0; at + 1 < out.len; at += strlen((char *)out.data + at) + 1)
        part[n++] = (char *)out.data + at;
    assert_int_equal(n, 4 * t->n_path);
    if (myth_scan(&l, mem, &(myth_scan_opts){.root = root, .hidden = true, .explain = true}, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    for (uint32_t i = 0; i < t->n_path; i++) {
        const char *source = part[4 * i], *line = part[4 * i + 1], *pattern = part[4 * i + 2], *path = part[4 * i + 3];
        const myth_scan_file *f = row_of(&l, path);
        bool want_out = *source && *pattern != '!', is_out = f && f->reason != MYTH_SCAN_IN;
        char why[600];
        if (want_out != is_out)
            fail_msg("%s: '%s' is %s (%s:%s: %s)", root, path, want_out ? "out for git" : "in for git", source, line,
                     pattern);
        n_ignored += is_out;
        n_folded += is_out && t->ignore_case && has_capital(path) != has_capital(pattern);
        n_back += *source && *pattern == '!';
        n_in += !is_out;
        if (!f) {
            if (!t->is_dir[i])
                fail_msg("%s: '%s' is not listed", root, path);
            continue;
        }
        /* git names files of the work tree from the top, its own by the path it has for them; so does scan, but for its
         * own whole ones. */
        snprintf(why, sizeof(why), "pattern '%s' in ", pattern);
        if (*source && !f->is_dir && !is_out && !strstr(f->why, why))
            fail_msg("'%s' is taken back by '%s', scan says: %s", path, pattern, f->why);
        snprintf(why, sizeof(why), "%s:%s", source, line);
        size_t n_why = strlen(f->why), n_tail = strlen(why);
        if (is_out && (strncmp(f->why, "pattern '", 9) != 0 || strncmp(f->why + 9, pattern, strlen(pattern)) != 0 ||
                       n_why < n_tail || strcmp(f->why + n_why - n_tail, why) != 0))
            fail_msg("%s: '%s': scan says: %s; git says: pattern '%s' in %s:%s", root, path, f->why, pattern, source,
                     line);
    }
    myth_scan_close(&l, mem);
    bytes_free(&out);
}

static void random_trees(void **state)
{
    (void)state;
    char root[400], home[400];
    uint32_t n = check_is_full() ? 10000 : check_sample(200), i = 0;
    uint64_t r = check_seed(), n_pattern = 0;
    myth_mem *mem;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    snprintf(home, sizeof(home), "%s", files_path("home"));
    make_dir("", home);
    make_dir(home, ".config");
    make_dir(home, ".config/git");
    setenv("HOME", home, 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    setenv("LC_ALL", "C", 1);
    static const char *const other[] = {
        "XDG_CONFIG_HOME",   "GIT_DIR",          "GIT_WORK_TREE",           "GIT_INDEX_FILE",
        "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CEILING_DIRECTORIES",
    };
    for (size_t k = 0; k < sizeof(other) / sizeof(other[0]); k++)
        unsetenv(other[k]);
    for (; check_goes_on(i, n, n_back > i / 16 && n_folded > i / 16 && n_kept > i / 16); i++) {
        static tree t;
        t = (tree){.r = check_rand(&r)};
        t.ignore_case = check_below(&t.r, 3) == 0;
        snprintf(root, sizeof(root), "%s", files_path("tree"));
        make_tree(&t, root, home);
        n_pattern += t.n_pattern;
        if (i % 2 && !t.ignore_case) /* else git takes a name for tracked that differs in case */
            track_some(&t, root);
        if (i % 8 == 7 && t.n_dir > 1) {
            char sub[PATH_CAP];
            const char *dir = t.dir[1 + check_below(&t.r, t.n_dir - 1)];
            snprintf(sub, sizeof(sub), "%.*s", (int)strlen(dir) - 1, dir);
            if (!is_ignored_by_git(root, sub))
                check_list(&t, root, mem, sub);
        } else if (i % 2) {
            check_list(&t, root, mem, "");
        } else {
            check_reasons(&t, root, mem);
        }
        assert_int_equal(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    }
    assert_int_equal(myth_mem_close(mem), 0);
    print_message(
        "%u trees, %llu patterns: %llu paths in, %llu out, %llu taken back, %llu by letters of another case, %llu in "
        "because they are tracked\n",
        i, (unsigned long long)n_pattern, (unsigned long long)n_in, (unsigned long long)n_ignored,
        (unsigned long long)n_back, (unsigned long long)n_folded, (unsigned long long)n_kept);
    assert_true(n_in > i && n_ignored > i && n_back > i / 16 && n_folded > i / 16 &&
                n_kept > i / 16); /* patterns that decide nothing would prove nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
