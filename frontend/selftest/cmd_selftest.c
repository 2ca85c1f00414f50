/* cmd_selftest.c - runs the checks of a table and prints a line for each. */
#include "selftest.h"

#include "engine/base/program.h"
#include "frontend/cli/json_out.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    bool json;
} selftest_opts;

static const myth_option options[] = {
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(selftest_opts, json), NULL, 0, 0,
     "print {\"passed\",\"failed\",\"checks\":[{\"flag\",\"promise\",\"holds\",\"found\"}]}"},
};
static const myth_option_group groups[] = {MYTH_GROUP("selftest", selftest_opts, options)};

bool myth_selftest_say(myth_selftest *t, bool is, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(t->say, sizeof(t->say), fmt, ap);
    va_end(ap);
    return is;
}

json_t *myth_selftest_file(const myth_selftest *t, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", t->dir, name);
    return json_load_file(path, 0, NULL);
}

/* Copies a word, with the folder in the place of "~". Returns the bytes it needs. */
static size_t put_word(char *dst, size_t cap, const char *word, size_t n, const char *dir)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const char one[2] = {word[i], '\0'}, *put = word[i] == '~' ? dir : one;
        const size_t len = strlen(put);
        if (at + len < cap)
            memcpy(dst + at, put, len);
        at += len;
    }
    if (at < cap)
        dst[at] = '\0';
    return at + 1;
}

int myth_selftest_run(myth_selftest *t, json_t **out, const char *fmt, ...)
{
    char line[1024], text[4096];
    const char *word[MYTH_SELFTEST_WORDS + 1];
    char *printed = NULL;
    size_t n_word = 0, n_text = 0, n_printed = 0;
    int code = -1;
    myth_error err = {0};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    for (const char *p = line; *p && n_word < MYTH_SELFTEST_WORDS;) {
        const size_t n = strcspn(p, " ");
        word[n_word] = text + n_text;
        n_text += put_word(text + n_text, n_text < sizeof(text) ? sizeof(text) - n_text : 0, p, n, t->dir);
        n_word += n > 0;
        p += n + (p[n] == ' ');
        if (n_text >= sizeof(text))
            return -1;
    }
    word[n_word] = NULL;
    if (out)
        *out = NULL;
    if (myth_self_run(&printed, &n_printed, &code, &t->self, word, NULL, ~1u, &err) != MYTH_OK)
        return myth_exit_of(err.code);
    if (out)
        *out = json_loadb(printed, n_printed, 0, NULL);
    myth_free(t->cli->mem, printed);
    return code;
}

/* Makes the folder with a small model and some prompts. */
static myth_status begin(myth_selftest *t, myth_cli *cli, myth_error *err)
{
    char path[PATH_MAX];
    *t = (myth_selftest){.cli = cli};
    if (!myth_program_start(t->program, sizeof(t->program)))
        return myth_fail(err, MYTH_ECREATE, "selftest: this program's path is not known; call it by its path");
    if (myth_tempdir_make(t->dir, "selftest", err) != MYTH_OK)
        return err->code;
    t->self =
        (myth_self){.program = t->program, .cache = t->dir, .cancel = cli->cancel, .seconds = 60, .mem = cli->mem};
    snprintf(path, sizeof(path), "%s/prompts.jsonl", t->dir);
    FILE *f = fopen(path, "we");
    for (int i = 0; i < 300 && f; i++)
        fprintf(f, "{\"text\":\"prompt %d of a self-test, with some words behind it to read %d\"}\n", i, i * i);
    if (!f || fclose(f) != 0)
        return myth_fail(err, MYTH_ECREATE, "selftest: %s cannot be written", path);
    if (myth_selftest_run(t, NULL, "convert -m random:gemma3-tiny:q8_0 -o ~/m.gguf --type q8_0 -q") != 0)
        return myth_fail(err, MYTH_EIO, "selftest: a small model cannot be made in %s", t->dir);
    return MYTH_OK;
}

static void end(const myth_selftest *t)
{
    if (!myth_tempdir_remove(t->dir))
        myth_term_note(t->cli->term, "%s stays: it could not be removed", t->dir);
}

static int run(myth_cli *cli, const void *opts)
{
    const selftest_opts *o = opts;
    myth_selftest t;
    myth_error err = {0};
    myth_json_out j;
    unsigned n_failed = 0;
    if (strcmp(cli->arg[0], "memory") != 0)
        return myth_cli_failf(cli, MYTH_EARG, "selftest: got '%.40s', expected memory", cli->arg[0]);
    myth_status st = begin(&t, cli, &err);
    if (o->json) {
        myth_jout_start(&j, stdout);
        myth_jout_object(&j);
        myth_jout_key(&j, "checks");
        myth_jout_array(&j);
    }
    for (size_t i = 0; i < myth_selftest_n_memory && st == MYTH_OK && !myth_cancelled(cli->cancel); i++) {
        const myth_selftest_check *c = &myth_selftest_memory[i];
        t.say[0] = '\0';
        const bool holds = c->holds(&t);
        n_failed += !holds;
        if (o->json) {
            myth_jout_object(&j);
            myth_jout_key_str(&j, "flag", c->flag);
            myth_jout_key_str(&j, "promise", c->promise);
            myth_jout_key_bool(&j, "holds", holds);
            myth_jout_key_str(&j, "found", t.say);
            myth_jout_end(&j);
        } else {
            printf("%s %-16s %s (%s)\n", holds ? "ok  " : "FAIL", c->flag, c->promise, t.say);
            fflush(stdout);
        }
    }
    if (st == MYTH_OK && myth_cancelled(cli->cancel))
        st = myth_fail(&err, MYTH_ECANCEL, "interrupted");
    if (o->json) {
        myth_jout_end(&j);
        myth_jout_key_u64(&j, "passed", myth_selftest_n_memory - n_failed);
        myth_jout_key_u64(&j, "failed", n_failed);
        myth_jout_end(&j);
    }
    end(&t);
    if (st != MYTH_OK)
        return myth_cli_fail(cli, &err);
    if (n_failed)
        myth_term_note(cli->term, "%u of %zu checks failed; please report it with this output", n_failed,
                       myth_selftest_n_memory);
    return n_failed ? MYTH_EXIT_FINDINGS : MYTH_EXIT_CLEAN;
}

const myth_command myth_cmd_selftest = {
    .name = "selftest",
    .args = "memory",
    .help = "check that this build keeps on this machine what its memory flags promise",
    .detail =
        "Runs commands of this program on a small random model, some seconds in all, and compares what they plan, "
        "use and refuse. Needs no model and no GPU. Exit code 1: a check failed.",
    .group = groups,
    .n_group = 1,
    .opts_bytes = sizeof(selftest_opts),
    .min_arg = 1,
    .max_arg = 1,
    .run = run,
};
