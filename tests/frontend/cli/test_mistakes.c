/* test_mistakes.c - mistakes that people make, at least ten for each command. The answer to each must name the mistake
 * and the next step and have the documented exit code; most are one line on standard error (answer_kind has the rest).
 * No file may be made, changed or removed. The rows are in mistakes_code.def and mistakes_model.def. */
#include "tests/support/check.h"

#include "frontend/cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEAST = 10, ARGS_MAX = 24, LINE_MAX_BYTES = 400 };

/* Where the answer must be, and what may be printed besides it. */
typedef enum {
    ANSWER, /* one line that begins with "mythos: "; nothing on standard output */
    NOTED,  /* such a line after notes: the run had begun before the mistake was found */
    NOTE,   /* notes without an error: the command did what was asked, and a note says what was probably not meant */
    REPORT  /* the answer is in the report on standard output */
} answer_kind;

/* One mistake. In args, $T is a tiny model and $E a tiny embedder. Spaces separate the words; '...' is one word that
 * may have spaces. NAME=value before the others sets an environment variable; <FILE or >FILE at the end is standard
 * input or output. `mistake` and `next` must be in the answer: they say what was wrong and what to do. */
typedef struct {
    const char *command;
    int code;
    answer_kind kind;
    const char *args, *mistake, *next;
} row;

static const row rows[] = {
#define MISTAKE(command, code, kind, args, mistake, next) {command, code, kind, args, mistake, next},
#include "mistakes_code.def"
#include "mistakes_model.def"
#undef MISTAKE
};
enum { N_ROW = sizeof(rows) / sizeof(rows[0]) };

static char dir[48], binary[4096];
static char out[1 << 16], err[1 << 14];
static uint32_t n_run; /* as many of the rows are run */

static void put(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

static void put_text(const char *name, const char *text) { put(name, text, strlen(text)); }

static void run_git(const char *const *argv)
{
    int st;
    const pid_t pid = fork();
    if (pid == 0) {
        if (chdir("repo") == 0)
            execvp("git", (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &st, 0), pid);
    assert_true(WIFEXITED(st) && WEXITSTATUS(st) == 0);
}

/* Makes the files and folders that the rows name. */
static void make_files(void)
{
    static const char *const folder[] = {
        "src",   "repo",  "empty",        "no_model",           "org", "org/name", "home",
        "state", "cache", "home/.config", "home/.config/mythos"};
    for (size_t i = 0; i < sizeof(folder) / sizeof(folder[0]); i++)
        assert_int_equal(mkdir(folder[i], 0700), 0);
    put_text("src/a.c", "int add(int a, int b)\n{\n    return a + b;\n}\n\nint twice(int x) { return add(x, x); }\n");
    put_text("src/b.py", "def area(w, h):\n    return w * h\n");
    put_text("repo/a.c", "int one(void) { return 1; }\n");
    put_text("empty.txt", "");
    put_text("text.txt", "a few words of text\n");
    put_text("words.txt", "two words\n");
    put_text("bad.json", "{\"a\":");
    put_text("list.json", "[1]");
    put_text("object.json", "{}");
    put_text("rows.jsonl", "{\"text\": 3}\n");
    put_text("not.gguf", "hello, this is no model\n");
    put("cut.gguf", "GGUF\3\0\0\0", 8);
    put_text("bad.diff", "no diff at all\n");
    put_text("cut.diff", "--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,3 @@\n int a;\n");
    put_text("not.db", "this is no database, but a text of some length that says so\n");
    put_text("org/name/README", "no model\n");
    put_text("bad.config", "no value here\n");
    put_text("kept.gguf", "");
    char many[2048];
    memset(many, 0, sizeof(many));
    for (int i = 0; i < 150; i++)
        strcat(many, "some words ");
    put_text("long.txt", many);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(symlink("nowhere.c", "dangling.c"), 0);
    run_git((const char *const[]){"git", "init", "-q", NULL});
    run_git((const char *const[]){"git", "add", "a.c", NULL});
    run_git(
        (const char *const[]){"git", "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "one", NULL});
}

static int begin(void **state)
{
    (void)state;
    const char *bin = getenv("MYTHOS_BIN");
    n_run = (N_ROW + check_quick() - 1) / check_quick(); /* asked here: the commands see no MYTHOS_TEST_QUICK */
    assert_non_null(realpath(bin ? bin : "build/mythos", binary));
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof(dir), "%s/mythos-mistakes-XXXXXX", tmp && strlen(tmp) < 24 ? tmp : "/tmp");
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chdir(dir), 0);
    static const char *const gone[] = {"MYTHOS_MODEL", "HF_HUB_CACHE", "HF_HOME", "MYTHOS_TEST_QUICK", "COLUMNS"};
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        unsetenv(gone[i]);
    char path[4][64];
    static const char *const name[] = {"HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"},
                             *const place[] = {"home", "cache", "state", "home/.config"};
    for (int i = 0; i < 4; i++) {
        snprintf(path[i], sizeof(path[i]), "%s/%s", dir, place[i]);
        setenv(name[i], path[i], 1);
    }
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    make_files();
    return 0;
}

static int end(void **state)
{
    (void)state;
    int st;
    const pid_t pid = fork();
    if (pid == 0) {
        execlp("rm", "rm", "-rf", dir, (char *)NULL);
        _exit(127);
    }
    return waitpid(pid, &st, 0) == pid && st == 0 && chdir("/") == 0 ? 0 : -1;
}

/* ---- a run ---- */

/* Cuts the text into words in place; '...' is one word. */
static int cut(char **word, char *text)
{
    int n = 0;
    while (*(text += strspn(text, " "))) {
        const char stop = *text == '\'' ? '\'' : ' ';
        text += stop == '\'';
        assert_true(n < ARGS_MAX - 1);
        word[n++] = text;
        text += strcspn(text, stop == '\'' ? "'" : " ");
        if (*text)
            *text++ = '\0';
    }
    word[n] = NULL;
    return n;
}

static bool is_variable(const char *word) { return strncmp(word, "MYTHOS_", 7) == 0 || strncmp(word, "XDG_", 4) == 0; }

/* Writes the variables, then the command, then the other arguments with the models' names in place of $T and $E. */
static void expand(char *dst, size_t cap, const char *command, const char *args)
{
    size_t n = 0;
    const char *tail = args;
    while (is_variable(tail))
        tail += strcspn(tail, " ") + strspn(tail + strcspn(tail, " "), " ");
    n = (size_t)snprintf(dst, cap, "%.*s%s ", (int)(tail - args), args, command);
    for (; *tail && n + 64 < cap; tail++) {
        const bool is_model = tail[0] == '$' && (tail[1] == 'T' || tail[1] == 'E');
        if (is_model)
            n += (size_t)snprintf(dst + n, cap - n, "-m random:%s-tiny:f32",
                                  *++tail == 'T' ? "gemma3" : "embeddinggemma");
        else
            dst[n++] = *tail;
    }
    dst[n] = '\0';
}

static void read_back(char *dst, size_t cap, const char *path)
{
    const int fd = open(path, O_RDONLY);
    const ssize_t n = fd < 0 ? 0 : read(fd, dst, cap - 1);
    dst[n > 0 ? n : 0] = '\0';
    close(fd);
}

/* In the child process: sets the variables and the three streams, and becomes the command. */
static _Noreturn void become(char **word, const char *in, const char *to)
{
    while (is_variable(*word))
        putenv(*word++);
    const int from = open(in, O_RDONLY), fo = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600),
              fe = open("run.err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    static char name[] = "mythos";
    char *argv[ARGS_MAX + 2] = {name};
    for (int i = 0; i < ARGS_MAX && word[i]; i++)
        argv[i + 1] = word[i];
    if (from >= 0 && fo >= 0 && fe >= 0 && dup2(from, 0) == 0 && dup2(fo, 1) == 1 && dup2(fe, 2) == 2)
        execv(binary, argv);
    _exit(127);
}

static int run(const row *r)
{
    static char text[4096];
    char *word[ARGS_MAX + 1];
    const char *in = "/dev/null", *to = "run.out";
    int st;
    expand(text, sizeof(text), r->command, r->args);
    int n = cut(word, text);
    if (n > 1 && (word[n - 1][0] == '<' || word[n - 1][0] == '>')) {
        *(word[n - 1][0] == '<' ? &in : &to) = word[n - 1] + 1;
        word[--n] = NULL;
    }
    const pid_t pid = fork();
    if (pid == 0)
        become(word, in, to);
    assert_int_equal(waitpid(pid, &st, 0), pid);
    read_back(out, sizeof(out), strcmp(to, "run.out") == 0 ? to : "/dev/null");
    read_back(err, sizeof(err), "run.err");
    return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

/* ---- what holds for every answer ---- */

static int count_lines(const char *text, const char *beginning)
{
    int n = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : line + strlen(line))
        n += strncmp(line, beginning, strlen(beginning)) == 0;
    return n;
}

/* Says what is wrong with the answer; NULL = nothing. */
static const char *fault_of(const row *r, int code)
{
    const char *said = r->kind == REPORT ? out : err;
    const size_t n = strlen(err);
    if (code != r->code)
        return "another exit code";
    if (!strstr(said, r->mistake))
        return "the mistake is not named";
    if (!strstr(said, r->next))
        return "the next step is not named";
    if (r->kind == REPORT)
        return NULL;
    if (n == 0 || err[n - 1] != '\n')
        return "no whole line";
    if (r->kind == NOTE)
        return count_lines(err, "mythos: ") ? "an error beside the note" : NULL;
    if (count_lines(err, "mythos: ") != 1)
        return "not one error";
    if (r->kind == ANSWER && count_lines(err, "") != 1)
        return "more than one line";
    if (r->kind == ANSWER && out[0])
        return "something on standard output";
    return n > LINE_MAX_BYTES ? "a very long line" : NULL;
}

/* A hash over the names, sizes and times of the files in a folder and below, except hidden ones, the runs' own output,
 * the cache and the run log, which every run may write. */
static uint64_t fingerprint(const char *folder)
{
    uint64_t sum = 0;
    char path[600];
    struct stat st;
    const struct dirent *e;
    DIR *d = opendir(folder);
    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.' || strncmp(e->d_name, "run.", 4) == 0 || strcmp(e->d_name, "cache") == 0 ||
            strcmp(e->d_name, "state") == 0)
            continue;
        snprintf(path, sizeof(path), "%s/%.255s", folder, e->d_name);
        assert_int_equal(lstat(path, &st), 0);
        uint64_t one = 1469598103934665603u ^ (uint64_t)st.st_size;
        for (const char *s = path; *s; s++)
            one = (one ^ (unsigned char)*s) * 1099511628211u;
        sum += S_ISDIR(st.st_mode) ? one ^ fingerprint(path) : one ^ (uint64_t)st.st_mtim.tv_nsec;
    }
    closedir(d);
    return sum;
}

static void every_answer_names_the_mistake_and_the_next_step(void **state)
{
    (void)state;
    int n_bad = 0;
    const uint64_t before = fingerprint(".");
    for (uint32_t i = 0; i < N_ROW; i++) {
        if (!check_is_among(i, N_ROW, n_run))
            continue;
        const int code = run(&rows[i]);
        const char *fault = fault_of(&rows[i], code);
        if (fault) {
            print_error("mythos %s %s\n  %s: exit %d, expected %d with \"%s\" and \"%s\"\n  %s%.300s\n",
                        rows[i].command, rows[i].args, fault, code, rows[i].code, rows[i].mistake, rows[i].next, err,
                        out);
            n_bad++;
        }
    }
    assert_int_equal(n_bad, 0);
    if (fingerprint(".") != before)
        fail_msg("a mistake has changed, made or removed a file");
}

static void every_command_has_ten(void **state)
{
    (void)state;
    for (int c = 0; myth_commands[c]; c++) {
        int n = 0;
        for (size_t i = 0; i < N_ROW; i++)
            n += strcmp(rows[i].command, myth_commands[c]->name) == 0;
        if (n < LEAST)
            fail_msg("%s has %d mistakes, expected at least %d", myth_commands[c]->name, n, LEAST);
    }
    for (size_t i = 0; i < N_ROW; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(rows[i].command, rows[k].command) == 0 && strcmp(rows[i].args, rows[k].args) == 0)
                fail_msg("%s %s is there twice", rows[i].command, rows[i].args);
    print_message("%d mistakes\n", (int)N_ROW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_names_the_mistake_and_the_next_step),
        cmocka_unit_test(every_command_has_ten),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
