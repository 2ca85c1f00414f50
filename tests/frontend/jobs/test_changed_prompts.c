/* test_changed_prompts.c - a file that is written to while a job reads it the second time: the job ends and names it,
 * whatever was written, and keeps nothing of it; when the file is put back, the same command goes on, and the output is
 * that of a run that nothing happened to.
 *
 * How       the command runs in a child of this program, whose read() writes to the file itself as soon as the
 *           command has read so many bytes of it */
#define _GNU_SOURCE
#include "tests/frontend/cli/cli_run.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

int mythos_main(int argc, char **argv);
#define main mythos_main
#include "frontend/main.c"
#undef main

/* Lines of one length, of which just two are read at once (lines.c: the longest line and 64 KiB): the third is written
 * over before the command has any of it. */
enum { N_LINE = 6, AT = 2, LINE = (1 << 16) - 1, TEXT_MOST = LINE * (N_LINE + 1), MANY = 400 };

/* ---- what happens ---- */

static struct {
    uint64_t left; /* bytes of the prompts until it happens; 0 = it has, or will not */
    ino_t inode;   /* of the prompts */
    char path[64]; /* where something is written then */
    off_t at;
    const char *bytes;
    size_t n;
} plan;

ssize_t read(int fd, void *dst, size_t n)
{
    struct stat info;
    const bool is_own = plan.left && fstat(fd, &info) == 0 && info.st_ino == plan.inode;
    if (is_own && plan.left == 1) {
        plan.left = 0;
        const int out = open(plan.path, O_WRONLY);
        if (out < 0 || pwrite(out, plan.bytes, plan.n, plan.at) != (ssize_t)plan.n || close(out) != 0)
            abort();
    }
    const long got = syscall(SYS_read, fd, dst, n);
    if (is_own && plan.left && got > 0)
        plan.left = plan.left > (uint64_t)got ? plan.left - (uint64_t)got : 1;
    return got;
}

/* Runs words separated by spaces, in which @ is the test's folder, and returns how the command ended; what it said is
 * in the file `said`. */
static int run_it(const char *line)
{
    char text[1024], *argv[64], *rest = NULL;
    int argc = 0, status;
    FILE *words = fmemopen(text, sizeof(text), "w");
    assert_non_null(words);
    for (const char *c = line; *c; c++)
        if (*c == '@')
            fputs(cli_dir, words);
        else
            fputc(*c, words);
    fputc('\0', words);
    fclose(words);
    argv[argc++] = (char[]){"mythos"};
    for (char *word = strtok_r(text, " ", &rest); word && argc < 63; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    argv[argc] = NULL;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char err[256];
        snprintf(err, sizeof(err), "%s/said", cli_dir);
        const int fd = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600), null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        const int code = mythos_main(argc, argv);
        fflush(NULL);
        _exit(code);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- the jobs ---- */

/* n times a text, with commas. */
static const char *many(const char *text, uint32_t n)
{
    static char list[2][MANY * 8];
    static int turn;
    char *at = list[turn = !turn];
    for (uint32_t i = 0; i < n; i++)
        at += sprintf(at, "%s%s", i ? "," : "", text);
    return list[turn];
}

/* A line of LINE bytes: an object with these members. */
static void put_line(char *dst, const char *members)
{
    const int n = snprintf(dst, LINE + 1, "{%s,\"pad\":\"", members);
    assert_true(n > 0 && n + 3 < LINE);
    memset(dst + n, '.', LINE - 3 - (size_t)n);
    memcpy(dst + LINE - 3, "\"}\n", 3);
}

#define GENERATE  "generate -m random:gemma3-tiny:f32 -q --ignore-eos --jsonl @/p -o @/"
#define LOGPROBS  "logprobs -m random:gemma3-tiny:f32 -q @/p -o @/"
#define RESIDUALS "residuals -m random:gemma3-tiny:f32 -q @/p -o @/"
#define EMBED     "embed -m random:embeddinggemma-tiny:f32 -q --jsonl @/p -o @/"
#define IDS       "\"ids\":[2,3,4,5,6]"
#define OTHER_IDS "\"ids\":[2,9,9,9,9]"

typedef struct {
    const char *name, *args, *more;
    int n_before;                     /* how often the prompts are read before they are answered */
    const char *line, *third, *other; /* members of a line; of line AT, NULL = those; of what is written over it */
} change;

static const change changes[] = {
    {"other ids", GENERATE, " -np 1", 2, IDS ",\"max_tokens\":4", NULL, OTHER_IDS ",\"max_tokens\":4"},
    {"other ids, none kept", GENERATE, " -np 6", 2, IDS ",\"max_tokens\":4", NULL, OTHER_IDS ",\"max_tokens\":4"},
    {"an id", GENERATE, " -np 1", 2, IDS ",\"max_tokens\":4,\"id\":\"x\"", NULL, IDS ",\"max_tokens\":4,\"id\":%s"},
    {"more tokens", GENERATE, " -np 1 -c 20000", 2, IDS ",\"max_tokens\":4", NULL, IDS ",\"max_tokens\":9000"},
    {"a grammar", GENERATE, " -np 1", 2, IDS ",\"max_tokens\":4", NULL,
     IDS ",\"max_tokens\":4,\"grammar\":\"root ::= \\\"a\\\"\""},
    {"other ids", LOGPROBS, "", 2, IDS, NULL, OTHER_IDS},
    {"an id", LOGPROBS, "", 2, IDS, NULL, IDS ",\"id\":%s"},
    {"more ids", LOGPROBS, "", 2, IDS, NULL, "\"ids\":[%s]"},
    {"a token", LOGPROBS, "", 2, IDS ",\"completions\":[[5]]", NULL, IDS ",\"completions\":[[5]],\"token\":7"},
    {"completions", LOGPROBS, "", 2, IDS, IDS ",\"completions\":[[%s]]", IDS ",\"completions\":[%s]"},
    {"other ids", RESIDUALS, " --batch 1", 2, IDS, NULL, OTHER_IDS},
    {"more ids", RESIDUALS, "", 2, IDS, NULL, "\"ids\":[%s]"},
    {"a label", RESIDUALS, "", 2, IDS ",\"label\":\"a\"", NULL, IDS ",\"label\":\"b\""},
    {"no label", RESIDUALS, "", 2, IDS ",\"label\":\"a\"", NULL, IDS},
    {"no prompt", RESIDUALS, " --batch 1 --rows @/rows", 2, IDS, NULL, "\"ids\":7"},
    {"another text", EMBED, "", 1, "\"text\":\"one\"", NULL, "\"text\":\"two\""},
    {"another text", EMBED, " --format npy", 1, "\"text\":\"one\"", NULL, "\"text\":\"two\""},
};

/* The members that a %s stands for: many of what the text before it asks for. */
static const char *filled(const char *members)
{
    static char text[2][LINE];
    static int turn;
    const char *hole = strstr(members, "%s");
    if (!hole)
        return members;
    turn = !turn;
    const char *list = hole[-1] == '[' && hole[-2] == '[' ? many("5", MANY)
                     : strstr(members, "completions")     ? many("[5]", MANY)
                     : hole[-1] == '['                    ? many("7", MANY)
                                                          : NULL;
    if (list) {
        snprintf(text[turn], LINE, "%.*s%s%s", (int)(hole - members), members, list, hole + 2);
        return text[turn];
    }
    char *at = text[turn] + snprintf(text[turn], LINE, "%.*s\"", (int)(hole - members), members);
    memset(at, 'x', 50000);
    snprintf(at + 50000, LINE - 50100, "\"%s", hole + 2);
    return text[turn];
}

static char prompts[TEXT_MOST];

static void write_prompts(const change *c)
{
    char path[64];
    for (int i = 0; i < N_LINE; i++)
        put_line(prompts + (size_t)i * LINE, filled(i == AT && c->third ? c->third : c->line));
    snprintf(path, sizeof(path), "%s/p", cli_dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(prompts, 1, (size_t)N_LINE * LINE, f), N_LINE * LINE);
    fclose(f);
}

/* Plans to write n bytes at a place of a file, when the command has read its first piece of the prompts for the last
 * time. */
static void plan_it(const change *c, const char *name, off_t at, const char *bytes, size_t n)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof(path), "%s/p", cli_dir);
    assert_int_equal(stat(path, &info), 0);
    plan.inode = info.st_ino;
    plan.left = (uint64_t)c->n_before * N_LINE * LINE + 2;
    snprintf(plan.path, sizeof(plan.path), "%s/%s", cli_dir, name);
    plan.at = at;
    plan.bytes = bytes;
    plan.n = n;
}

static int run_change(const change *c, const char *output)
{
    char line[512];
    snprintf(line, sizeof(line), "%s%s%s", c->args, output, c->more);
    return run_it(line);
}

static void expect_changed(const change *c, const char *name)
{
    cli_result r;
    char line[200];
    const int code = run_change(c, "o");
    plan.left = 0;
    cli_slurp(r.err, sizeof(r.err), "said");
    snprintf(line, sizeof(line), "%s/%s: changed while it was read", cli_dir, name);
    if (code != MYTH_EXIT_INCOMPLETE || !strstr(r.err, line))
        fail_msg("%s%s: exit %d: %s", c->args, c->name, code, r.err);
    cli_shell(&r, "test -e $D/o");
    assert_int_equal(r.code, 1);
}

/* The same command again, now that all is as it was. */
static void expect_whole(const change *c)
{
    cli_result r;
    int code = run_change(c, "o");
    assert_int_equal(code, 0);
    cli_shell(&r, "test ! -e $D/rows || mv $D/rows $D/rows.of-o");
    code = run_change(c, "whole");
    assert_int_equal(code, 0);
    cli_shell(&r, "cmp $D/o $D/whole && { ! test -e $D/rows || diff -r $D/rows $D/rows.of-o; }");
    if (r.code)
        fail_msg("%s%s: %s %s", c->args, c->name, r.out, r.err);
    cli_shell(&r, "rm -rf $D/o* $D/whole* $D/rows*");
}

static void what_is_written_over_is_found(void **state)
{
    static char other[LINE + 1];
    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        const change *c = &changes[i];
        write_prompts(c);
        put_line(other, filled(c->other));
        plan_it(c, "p", (off_t)AT * LINE, other, LINE);
        expect_changed(c, "p");
        write_prompts(c);
        expect_whole(c);
    }
}

/* What is added while a job runs is not of it. */
static void what_is_added_is_left_out(void **state)
{
    static const size_t which[] = {0, 5, 10, 15};
    static char more[LINE + 1];
    cli_result r;
    (void)state;
    for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++) {
        change c = changes[which[i]];
        char args[200];
        snprintf(args, sizeof(args), "%s", c.args);
        memset(strstr(args, "-q"), ' ', 2); /* it says so */
        c.args = args;
        write_prompts(&c);
        put_line(more, c.line);
        plan_it(&c, "p", (off_t)N_LINE * LINE, more, LINE);
        const int code = run_change(&c, "o");
        plan.left = 0;
        assert_int_equal(code, 0);
        cli_slurp(r.err, sizeof(r.err), "said");
        if (!strstr(r.err, "has grown"))
            fail_msg("%s", r.err);
        cli_shell(&r, "mv $D/o $D/o.grown");
        write_prompts(&c);
        expect_whole(&c);
    }
}

/* A baseline that is written anew. */
static void a_baseline_is_an_input_too(void **state)
{
    static const change first = {"", LOGPROBS, " --save-baseline @/b", 2, IDS, NULL, NULL},
                        c = {"baseline", LOGPROBS, " --baseline @/b", 2, IDS, NULL, NULL};
    cli_result r;
    (void)state;
    write_prompts(&first);
    assert_int_equal(run_change(&first, "first"), 0);
    cli_shell(&r, "cp $D/b $D/b.old");
    plan_it(&c, "b", 0, " ", 1);
    expect_changed(&c, "b");
    cli_shell(&r, "cp $D/b.old $D/b");
    expect_whole(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_over_is_found),
        cmocka_unit_test(what_is_added_is_left_out),
        cmocka_unit_test(a_baseline_is_an_input_too),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
