/* cli_run.h - runs the built program, with a new folder for its files, and gives a test its exit code and what it
 * printed. */
#ifndef MYTH_TESTS_CLI_RUN_H
#define MYTH_TESTS_CLI_RUN_H

#include "tests/support/check.h"

#include "engine/base/asan.h"

#include <jansson.h>
#include <sys/wait.h>
#include <unistd.h>

#define TINY "-m random:gemma3-tiny:f32 "

typedef struct {
    int code;                        /* exit code; 128 + n when a signal ended it */
    char out[1 << 19], err[1 << 14]; /* cut when longer; all places of the examples fit */
} cli_result;

static char cli_dir[48]; /* in TMPDIR, else in /tmp */

static inline const char *cli_bin(void)
{
    const char *bin = getenv("MYTHOS_BIN");
    return bin ? bin : "build/mythos";
}

static inline int cli_begin(void **state)
{
    const char *tmp = getenv("TMPDIR");
    (void)state;
    unsetenv("MYTHOS_MODEL");
    snprintf(cli_dir, sizeof(cli_dir), "%s/mythos-cli-XXXXXX", tmp && strlen(tmp) < 30 ? tmp : "/tmp");
    return mkdtemp(cli_dir) ? 0 : -1;
}

/* Gives the program a cache and a state directory in the test's folder: $D/cache and $D/state. */
static inline void cli_own_home(void)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/cache", cli_dir);
    setenv("XDG_CACHE_HOME", path, 1);
    snprintf(path, sizeof(path), "%s/state", cli_dir);
    setenv("XDG_STATE_HOME", path, 1);
}

static inline int cli_end(void **state)
{
    char line[128];
    (void)state;
    snprintf(line, sizeof(line), "rm -rf '%s'", cli_dir);
    return system(line);
}

static inline void cli_slurp(char *dst, size_t cap, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(dst, 1, cap - 1, f) : 0;
    dst[n] = '\0';
    if (f)
        fclose(f);
}

/* Runs a shell line, in which $M is the program and $D the test's folder. It runs in the source tree, without input. */
static inline void cli_shell(cli_result *r, const char *line)
{
    static char whole[8192];
    snprintf(whole, sizeof(whole), "M='%s'; D='%s'; { %s ; } >'%s/out' 2>'%s/err' </dev/null", cli_bin(), cli_dir, line,
             cli_dir, cli_dir);
    int st = system(whole);
    r->code = WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
    cli_slurp(r->out, sizeof(r->out), "out");
    cli_slurp(r->err, sizeof(r->err), "err");
}

/* The lines of a job that is to last a while: under AddressSanitizer the command takes about three times as long, and
 * lasts as long with a third of the n lines that it has without. */
static inline uint32_t cli_lines(uint32_t n) { return MYTH_HAS_ASAN ? n / 3 : n; }

/* Runs the program with these arguments, which the shell expands. */
static inline void cli_run(cli_result *r, const char *args)
{
    char line[4096];
    snprintf(line, sizeof(line), "$M %s", args);
    cli_shell(r, line);
}

static inline void cli_expect(cli_result *r, const char *args, int code)
{
    cli_run(r, args);
    if (r->code != code)
        print_error("mythos %s\n  exit %d, expected %d\n  %s\n", args, r->code, code, r->err);
    assert_int_equal(r->code, code);
}

/* Interrupts a job that keeps a journal, later each time, until it has finished something: a journal without anything
 * takes other flags. The job must be long. */
static inline void cli_interrupt(cli_result *r, const char *args)
{
    int done = 0;
    for (uint32_t ms = 150; done == 0; ms += ms / 2) {
        char line[4096];
        snprintf(line, sizeof(line), "(sleep %u.%03u; kill -TERM $$) & exec $M %s", ms / 1000, ms % 1000, args);
        cli_shell(r, line);
        const char *said = strstr(r->err, "interrupted after ");
        if (r->code != 3 && r->code != 128 + 15) /* 15: before it looks at signals */
            fail_msg("mythos %s\n  exit %d, not interrupted\n  %s\n", args, r->code, r->err);
        done = said ? atoi(said + strlen("interrupted after ")) : 0;
    }
}

/* Runs the program, which must end with 0, and returns its standard output as one JSON document. */
static inline json_t *cli_json(cli_result *r, const char *args)
{
    json_error_t e;
    cli_expect(r, args, 0);
    json_t *j = json_loads(r->out, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
    if (!j)
        print_error("mythos %s\n  not JSON: %s\n  %.300s\n", args, e.text, r->out);
    assert_non_null(j);
    return j;
}

/* Checks the --mem-report that a run wrote to $D/mem.json; `what` names the run in a failure. Every class must have
 * used exactly what was planned, except STAGING, which may have used less but not nothing. None may be left. */
static inline void cli_expect_planned(const char *what)
{
    char path[256];
    json_error_t e;
    const char *name;
    json_t *c;
    snprintf(path, sizeof(path), "%s/mem.json", cli_dir);
    json_t *j = json_load_file(path, 0, &e);
    assert_non_null(j);
    json_object_foreach(json_object_get(j, "classes"), name, c)
    {
        const json_int_t planned = json_integer_value(json_object_get(c, "planned")),
                         peak = json_integer_value(json_object_get(c, "peak"));
        if (strcmp(name, "staging") != 0 ? peak != planned : peak <= 0 || peak > planned)
            fail_msg("%s: class %s: %s", what, name, json_dumps(c, 0));
        assert_int_equal(json_integer_value(json_object_get(c, "live")), 0);
    }
    json_decref(j);
}

/* Returns the number at a path of keys with dots between them, such as "classes.kv_global"; it must be there. */
static inline double cli_number(const json_t *j, const char *path)
{
    char key[64];
    while (*path) {
        size_t n = strcspn(path, ".");
        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        j = json_object_get(j, key);
        path += n + (path[n] == '.');
    }
    assert_true(json_is_number(j));
    return json_number_value(j);
}

#endif
