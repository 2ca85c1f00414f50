/* runlog_replay.c - checks that a recorded run can be repeated, runs it again, and compares the two. runlog_replay.h
 * has the rules. */
#include "runlog_replay.h"

#include "runlog_doc.h"
#include "runlog_repeat.h"
#include "engine/base/program.h"
#include "frontend/cli/tempdir.h"
#include "frontend/inspect/prompt/source.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    const myth_cli *cli;
    const json_t *doc; /* the record */
    json_t *reasons;   /* lines that say why the run cannot be repeated, or why its results differ */
    json_t *notes;     /* lines that say what else is worth knowing */
    char cwd[PATH_MAX], root[PATH_MAX];
} replay;

static void add_line(json_t *list, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void add_line(json_t *list, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    json_t *s = json_string(line);
    /* json_string refuses the line when its end was cut off inside a character; it is shortened until it is accepted */
    for (size_t n = strlen(line); !s && n > 0;) {
        line[--n] = '\0';
        s = json_string(line);
    }
    json_array_append_new(list, s);
}

/* ---- before ---- */

/* Finds where a path of the record is now. A relative path is below `folder`, or below the run's folder when that is
 * empty; a relative `folder` is below the run's folder. Returns false when the path is damaged or too long. */
static bool place_of(char dst[PATH_MAX], const replay *r, const char *folder, const json_t *path)
{
    char own[PATH_MAX];
    int n;
    if (!myth_doc_exact(own, sizeof(own), path))
        return false;
    if (own[0] == '/')
        n = snprintf(dst, PATH_MAX, "%s", own);
    else if (!folder || !*folder)
        n = snprintf(dst, PATH_MAX, "%s/%s", r->cwd, own);
    else if (folder[0] == '/')
        n = snprintf(dst, PATH_MAX, "%s/%s", folder, own);
    else
        n = snprintf(dst, PATH_MAX, "%s/%s/%s", r->cwd, folder, own);
    return n > 0 && n < PATH_MAX;
}

/* Adds a reason when a file does not have the hash of the record any more. Inspected files have a SHA-256 of the bytes
 * that were read; models, baselines and the like have the hash of myth_runlog_hash_file. No log is passed to it, so
 * that it reads the bytes and does not answer from memory. */
static void check_file(replay *r, const char *what, const char *folder, const json_t *f)
{
    char path[PATH_MAX], shown[PATH_MAX], now[72];
    const char *was = myth_doc_text(f, "hash");
    myth_error err = {0};
    if (!place_of(path, r, folder, json_object_get(f, "path")) ||
        !myth_doc_exact(shown, sizeof(shown), json_object_get(f, "path"))) {
        add_line(r->reasons, "%s: its path cannot be read from the record", what);
        return;
    }
    if (strncmp(was, "sha256:", 7) == 0) {
        unsigned char *bytes = NULL;
        size_t n = 0;
        if (myth_cli_read(&bytes, &n, r->cli->mem, path, MYTH_SOURCE_MAX, &err) == MYTH_OK)
            myth_runlog_hash_bytes(now, bytes, n);
        myth_free(r->cli->mem, bytes);
    } else {
        myth_runlog_hash h;
        if (myth_runlog_hash_file(&h, path, NULL, &err) == MYTH_OK)
            snprintf(now, sizeof(now), "%s", h.hash);
    }
    if (err.code != MYTH_OK)
        add_line(r->reasons, "%s: %.300s", what, err.msg);
    else if (strcmp(now, was) != 0)
        add_line(r->reasons, "%s %.200s has changed: it was %.24s, it is %.24s", what, shown,
                 was[0] ? was : "not hashed", now);
}

/* Adds a reason for everything in the record that forbids a replay: a reason that the run itself gave, no end, no
 * report to compare with. */
static void check_record(replay *r)
{
    const json_t *report = json_object_get(r->doc, "report"), *v;
    const char *finish = myth_doc_text(report, "finish_reason");
    size_t i;
    json_array_foreach(json_object_get(r->doc, "no_replay"), i, v)
        add_line(r->reasons, "%.400s", json_string_value(v) ? json_string_value(v) : "");
    if (!json_is_integer(json_object_get(r->doc, "exit_code")))
        add_line(r->reasons, "the run did not end");
    else if (!report)
        add_line(r->reasons, "the run ended with exit code %lld before it had a report",
                 (long long)myth_doc_int(r->doc, "exit_code"));
    if (strcmp(finish, "cancelled") == 0)
        add_line(r->reasons, "the run was interrupted");
    if (json_object_get(r->doc, "report_left_out"))
        add_line(r->reasons, "its report was too long for the log");
}

static void check_inputs(replay *r)
{
    const json_t *f;
    size_t i;
    if (access(r->cwd, X_OK) != 0) {
        add_line(r->reasons, "the folder %.200s: %s", r->cwd, strerror(errno));
        return;
    }
    json_array_foreach(json_object_get(r->doc, "files"), i, f) if (strcmp(myth_doc_text(f, "origin"), "disk") == 0)
        check_file(r, "file", r->root, f);
    json_array_foreach(json_object_get(json_object_get(r->doc, "model"), "files"), i, f)
        check_file(r, "model", NULL, f);
    json_array_foreach(json_object_get(r->doc, "inputs"), i,
                       f) if (json_object_get(f, "path")) /* the run makes the others, such as a diff, itself */
        check_file(r, myth_doc_text(f, "role"), NULL, f);
}

/* ---- again ---- */

enum { WORDS_MAX = 256 };

typedef struct {
    myth_mem *mem;
    char *word[WORDS_MAX + 1];
    int n;
    bool has_failed;
} words;

/* Adds one word that is a, b and c joined. */
static void add_word(words *w, const char *a, const char *b, const char *c)
{
    size_t n = strlen(a) + strlen(b) + strlen(c) + 1;
    char *s = w->n < WORDS_MAX ? myth_alloc(w->mem, MYTH_MEM_OTHER, "replay", n) : NULL;
    if (!s) {
        w->has_failed = true;
        return;
    }
    snprintf(s, n, "%s%s%s", a, b, c);
    w->word[w->n++] = s;
}

static void free_words(words *w)
{
    for (int i = 0; i < w->n; i++)
        myth_free(w->mem, w->word[i]);
}

static void add_value(words *w, const char *name, const json_t *v)
{
    char flag[96], value[PATH_MAX];
    snprintf(flag, sizeof(flag), "--%.80s=", name);
    if (json_is_boolean(v))
        add_word(w, flag, json_is_true(v) ? "on" : "off", "");
    else if (myth_doc_exact(value, sizeof(value), v))
        add_word(w, flag, value, "");
    else
        w->has_failed = true;
}

/* Whether the option says how places are judged, of a run in which the model found. Such a setting of the environment
 * had no effect, and would be refused as a flag. */
static bool is_of_no_place(const char *name, const json_t *doc)
{
    static const char *const list[] = {"confidence", "judge-model", "explain"};
    const char *find = myth_doc_text(json_object_get(doc, "chosen"), "find");
    for (size_t i = 0; strcmp(find, "model") == 0 && i < sizeof(list) / sizeof(list[0]); i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

/* Adds an option of the record as a flag, a list once for each item. Without a value it is omitted. */
static void add_option(words *w, const json_t *o, const json_t *doc)
{
    const char *name = myth_doc_text(o, "name");
    const json_t *v = json_object_get(o, "value"), *item;
    size_t i;
    const json_t *spec = json_object_get(json_object_get(doc, "model"), "spec"),
                 *device = json_object_get(doc, "device"),
                 *chosen = json_object_get(json_object_get(doc, "chosen"), name);
    if (json_is_false(json_object_get(o, "repeated")) || is_of_no_place(name, doc))
        return;
    if (strcmp(name, "model") == 0 && spec) /* the model that the run found: the default may be another one now */
        v = spec;
    if (strcmp(name, "device") == 0 && json_is_string(device))
        v = device;
    if (chosen)
        v = chosen;
    if (strcmp(name, "cache") == 0) { /* an answer that was kept would be compared with itself */
        add_word(w, "--no-cache", "", "");
    } else if (json_is_array(v)) {
        json_array_foreach(v, i, item) add_value(w, name, item);
    } else if (v && !json_is_null(v)) {
        add_value(w, name, v);
    }
}

static bool make_words(words *w, const replay *r, const char *log_path)
{
    const json_t *v;
    size_t i;
    char arg[PATH_MAX];
    add_word(w, "mythos", "", "");
    add_word(w, myth_doc_text(r->doc, "command"), "", "");
    json_array_foreach(json_object_get(r->doc, "options"), i, v) add_option(w, v, r->doc);
    add_word(w, "--log=", log_path, "");
    add_word(w, "--quiet", "", "");
    add_word(w, "--no-log-prompts", "", ""); /* prompts and answers are compared by their hashes */
    add_word(w, "--", "", "");
    json_array_foreach(json_object_get(r->doc, "args"), i, v)
    {
        if (myth_doc_exact(arg, sizeof(arg), v))
            add_word(w, arg, "", "");
        else
            w->has_failed = true;
    }
    return !w->has_failed;
}

/* Clears the settings of the environment and of the configuration file: they may have changed since, and the flags
 * already name the recorded values. */
static void clear_environment(const json_t *options)
{
    const json_t *o;
    size_t i;
    char name[96];
    setenv("MYTHOS_CONFIG", "", 1);
    json_array_foreach(options, i, o)
    {
        int n = snprintf(name, sizeof(name), "MYTHOS_%.80s", myth_doc_text(o, "name"));
        for (int k = 0; k < n; k++)
            name[k] = name[k] == '-' ? '_' : (char)toupper((unsigned char)name[k]);
        unsetenv(name);
    }
}

/* Runs the command in another process, without input and standard output. Returns its exit code, 128 + the number of
 * the signal that ended it, or -1 with *err when it could not begin. */
static int run_again(const replay *r, words *w, myth_error *err)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        clear_environment(json_object_get(r->doc, "options"));
        if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 || chdir(r->cwd) != 0)
            _exit(MYTH_EXIT_INTERNAL);
        execv(MYTH_PROGRAM_LINK, w->word);
        _exit(MYTH_EXIT_INTERNAL);
    }
    if (pid < 0) {
        myth_fail(err, MYTH_EIO, "a second process: %s", strerror(errno));
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- after ---- */

static json_t *difference(const char *what, json_t *recorded, json_t *now)
{
    return json_pack("{s:s, s:o, s:o}", "what", what, "recorded", recorded, "now", now);
}

/* Describes the first byte in which two texts differ, with the text around it. */
static json_t *text_difference(const char *what, const char *a, size_t n_a, const char *b, size_t n_b)
{
    enum { AROUND = 60 };
    char place[96];
    size_t i = 0, line = 1;
    for (; i < n_a && i < n_b && a[i] == b[i]; i++)
        line += a[i] == '\n';
    snprintf(place, sizeof(place), "%s, byte %zu (line %zu)", what, i, line);
    size_t from = i > AROUND / 2 ? i - AROUND / 2 : 0;
    char shown[2][4 * AROUND];
    const char *text[2] = {a, b};
    const size_t len[2] = {n_a, n_b};
    for (int k = 0; k < 2; k++)
        shown[k][myth_spell_lossy(shown[k], sizeof(shown[k]) - 1, text[k] + from,
                                  len[k] - from < AROUND ? len[k] - from : AROUND)] = '\0';
    return difference(place, json_string(shown[0]), json_string(shown[1]));
}

/* Adds a reason for each role, such as "baseline" or "diff", whose input has another hash in the second run. */
static void compare_roles(replay *r, const json_t *a, const json_t *b)
{
    const json_t *f, *g;
    size_t i, k;
    json_array_foreach(a, i, f)
        json_array_foreach(b, k, g) if (strcmp(myth_doc_text(f, "role"), myth_doc_text(g, "role")) == 0 &&
                                        strcmp(myth_doc_text(f, "hash"), myth_doc_text(g, "hash")) != 0)
            add_line(r->reasons, "the %.80s has changed: it was %.24s, it is %.24s", myth_doc_text(f, "role"),
                     myth_doc_text(f, "hash"), myth_doc_text(g, "hash"));
}

/* Called when the results differ: adds a reason for each input of the run that changed (files, baseline, diff, vectors,
 * index). A file that the second run did not show is only noted, because that is a result, too. */
static void compare_inputs(replay *r, const json_t *now)
{
    const json_t *a = json_object_get(r->doc, "files"), *b = json_object_get(now, "files"), *f, *g;
    size_t i, k;
    json_array_foreach(a, i, f)
    {
        bool found = false;
        json_array_foreach(b, k, g) if (json_equal(json_object_get(f, "path"), json_object_get(g, "path")))
        {
            found = true;
            if (strcmp(myth_doc_text(f, "hash"), myth_doc_text(g, "hash")) != 0)
                add_line(r->reasons, "%.200s was read with other bytes: it was %.24s, it is %.24s",
                         myth_doc_text(f, "path"), myth_doc_text(f, "hash"), myth_doc_text(g, "hash"));
        }
        if (!found)
            add_line(r->notes, "%.200s was shown and is not shown now", myth_doc_text(f, "path"));
    }
    compare_roles(r, json_object_get(r->doc, "inputs"), json_object_get(now, "inputs"));
    const json_t *v = json_object_get(r->doc, "vectors"), *w = json_object_get(now, "vectors");
    if (strcmp(myth_doc_text(v, "hash"), myth_doc_text(w, "hash")) != 0)
        add_line(r->reasons,
                 "the index's vectors are of another model, or there are none now: it was %.60s, it is %.60s",
                 v ? myth_doc_text(v, "model") : "none", w ? myth_doc_text(w, "model") : "none");
    const char *was = myth_doc_text(json_object_get(r->doc, "texts"), "semantic"),
               *is = myth_doc_text(json_object_get(now, "texts"), "semantic");
    if (strcmp(was, is) != 0)
        add_line(r->reasons, "the search by vectors was %.20s, it is %.20s", was, is);
    const json_t *x = json_object_get(r->doc, "index"), *y = json_object_get(now, "index");
    if (strcmp(myth_doc_text(x, "hash"), myth_doc_text(y, "hash")) != 0)
        add_line(r->reasons, "the index has changed: other files of the folder are not as they were");
}

/* Returns the first difference between the prompts and answers of the two runs, NULL when there is none. */
static json_t *compare_exchanges(const replay *r, const json_t *now)
{
    static const char *const key[] = {"part", "round", "kind", "ids_hash", "answer_hash", "finish"};
    static const char *const what[] = {"part", "round", "kind", "prompt", "answer", "end"};
    const json_t *a = json_object_get(r->doc, "exchanges"), *b = json_object_get(now, "exchanges"), *x;
    size_t i;
    char name[96];
    json_array_foreach(a, i, x)
    {
        const json_t *y = json_array_get(b, i);
        for (size_t k = 0; k < sizeof(key) / sizeof(key[0]); k++) {
            const json_t *was = json_object_get(x, key[k]), *is = json_object_get(y, key[k]);
            if (was && is && json_equal(was, is))
                continue;
            snprintf(name, sizeof(name), "the %s of answer %zu (part %lld, round %lld)", what[k], i + 1,
                     (long long)myth_doc_int(x, "part") + 1, (long long)myth_doc_int(x, "round"));
            return difference(name, was ? json_incref((json_t *)was) : json_null(),
                              is ? json_incref((json_t *)is) : json_null());
        }
    }
    if (json_array_size(b) > json_array_size(a))
        return difference("the number of answers", json_integer((json_int_t)json_array_size(a)),
                          json_integer((json_int_t)json_array_size(b)));
    return NULL;
}

/* The same of the places that rules found and a model judged. */
static json_t *compare_judged(const replay *r, const json_t *now)
{
    const json_t *a = json_object_get(r->doc, "judged"), *b = json_object_get(now, "judged");
    const size_t n_a = json_array_size(a), n_b = json_array_size(b);
    for (size_t i = 0; i < n_a && i < n_b; i++)
        if (!json_equal(json_array_get(a, i), json_array_get(b, i)))
            return difference("a place that was judged", json_incref(json_array_get(a, i)),
                              json_incref(json_array_get(b, i)));
    if (n_a != n_b)
        return difference("the number of judged places", json_integer((json_int_t)n_a), json_integer((json_int_t)n_b));
    return NULL;
}

/* Sets *diff to the first difference between the two runs, NULL when they are the same. Prompts and answers are
 * compared before the report, because they show where the runs began to differ. The exit codes come last. They are not
 * compared when the run updated its baseline: its findings did not count then, but in the replay they do. */
static myth_status compare(replay *r, json_t **diff, myth_runlog_file *file, int64_t run, myth_runlog_file *other,
                           const json_t *now, int64_t other_run, myth_error *err)
{
    char *a = NULL, *b = NULL;
    size_t n_a = 0, n_b = 0;
    myth_status st;
    MYTH_TRY(myth_runlog_file_text(file, myth_runlog_texts_of(r->doc, run), "report", &a, &n_a, err));
    MYTH_TRY(myth_runlog_file_text(other, other_run, "report", &b, &n_b, err));
    *diff = compare_exchanges(r, now);
    if (!*diff)
        *diff = compare_judged(r, now);
    if (!*diff && (n_a != n_b || memcmp(a, b, n_a) != 0))
        *diff = text_difference("the report", a, n_a, b, n_b);
    if (!*diff && myth_doc_int(r->doc, "exit_code") != myth_doc_int(now, "exit_code") &&
        !myth_doc_is(r->doc, "updated_baseline"))
        *diff = difference("the exit code", json_integer(myth_doc_int(r->doc, "exit_code")),
                           json_integer(myth_doc_int(now, "exit_code")));
    if (!*diff)
        add_line(r->notes, "the same: %zu byte%s of %s, %zu answer%s", n_a, myth_s(n_a), myth_doc_text(r->doc, "form"),
                 json_array_size(json_object_get(r->doc, "exchanges")),
                 myth_s(json_array_size(json_object_get(r->doc, "exchanges"))));
fail:
    myth_free(r->cli->mem, a);
    myth_free(r->cli->mem, b);
    return st;
}

/* ---- all ---- */

/* Runs the command with a log of its own in the folder dir and compares the two runs. Afterwards r->reasons is empty or
 * says why they cannot be compared, or *diff is their difference, whose causes are then in r->reasons. */
static myth_status repeat(replay *r, json_t **diff, myth_runlog_file *file, int64_t run, const char *dir,
                          myth_error *err)
{
    char path[PATH_MAX + 16];
    words w = {.mem = r->cli->mem};
    myth_runlog_file *other = NULL;
    char *record = NULL;
    size_t n = 0;
    int64_t other_run = 0;
    json_t *now = NULL;
    myth_status st = MYTH_OK;
    myth_error own = {0};
    snprintf(path, sizeof(path), "%s/runs.db", dir);
    if (!make_words(&w, r, path)) {
        add_line(r->reasons, "its command line is too long, or damaged");
        goto fail;
    }
    int code = run_again(r, &w, err);
    if (code < 0) {
        st = MYTH_EIO;
        goto fail;
    }
    st = myth_runlog_file_open(&other, r->cli->mem, path, &(myth_runlog_file_opts){.is_read_only = true}, &own);
    if (st == MYTH_OK)
        st = myth_runlog_file_newest(other, &other_run, &own);
    if (st == MYTH_OK)
        st = myth_runlog_file_record(other, other_run, &record, &n, &own);
    if (st == MYTH_OK)
        now = json_loadb(record, n, 0, NULL);
    if (st == MYTH_OK && (!now || !json_object_get(now, "report"))) {
        add_line(r->reasons, "the second run ended with exit code %d and without a report", code);
        goto fail;
    }
    if (st != MYTH_OK) {
        add_line(r->reasons, "the second run ended with exit code %d and left no record: %.200s", code, own.msg);
        st = MYTH_OK;
        goto fail;
    }
    if (strcmp(myth_doc_text(json_object_get(now, "report"), "finish_reason"), "cancelled") == 0) {
        add_line(r->reasons, "the second run was interrupted");
        goto fail;
    }
    const json_t *was = json_object_get(r->doc, "binary"), *is = json_object_get(now, "binary");
    if (strcmp(myth_doc_text(was, "hash"), myth_doc_text(is, "hash")) != 0)
        add_line(r->notes, "another build: it was %.40s (%.40s), this is %.40s (%.40s)", myth_doc_text(was, "version"),
                 myth_doc_text(was, "commit"), myth_doc_text(is, "version"), myth_doc_text(is, "commit"));
    MYTH_TRY(compare(r, diff, file, run, other, now, other_run, err));
    if (*diff)
        compare_inputs(r, now);
fail:
    free_words(&w);
    json_decref(now);
    myth_free(r->cli->mem, record);
    myth_runlog_file_close(other);
    return st;
}

myth_status myth_runlog_replay(myth_replay_result *out, json_t **said, const myth_cli *cli, myth_runlog_file *file,
                               int64_t run, const json_t *record, myth_error *err)
{
    replay r = {.cli = cli, .doc = record, .reasons = json_array(), .notes = json_array()};
    json_t *diff = NULL;
    myth_status st = MYTH_OK;
    char dir[MYTH_TEMPDIR_BYTES];
    *said = NULL;
    *out = MYTH_REPLAY_CANNOT;
    check_record(&r);
    if (!myth_doc_exact(r.cwd, sizeof(r.cwd), json_object_get(record, "cwd")))
        add_line(r.reasons, "the record does not say in which folder the run was");
    if (!myth_doc_exact(r.root, sizeof(r.root), json_object_get(record, "root")))
        r.root[0] = '\0';
    if (!json_array_size(r.reasons))
        check_inputs(&r);
    if (!json_array_size(r.reasons)) {
        if ((st = myth_tempdir_make(dir, "replay", err)) != MYTH_OK)
            goto done;
        st = repeat(&r, &diff, file, run, dir, err);
        myth_tempdir_remove(dir);
    }
    if (st != MYTH_OK)
        goto done;
    *out = json_array_size(r.reasons) ? MYTH_REPLAY_CANNOT : diff ? MYTH_REPLAY_DIFFERENT : MYTH_REPLAY_EQUAL;
    static const char *const name[] = {"equal", "different", "cannot"};
    *said = json_pack("{s:I, s:s, s:O, s:O, s:O?}", "run", (json_int_t)run, "result", name[*out], "reasons", r.reasons,
                      "notes", r.notes, "difference", diff);
    if (!*said)
        st = myth_fail(err, MYTH_ENOMEM, "replay: no memory");
done:
    json_decref(diff);
    json_decref(r.reasons);
    json_decref(r.notes);
    return st;
}
