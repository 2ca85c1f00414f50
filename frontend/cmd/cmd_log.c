/* cmd_log.c - reads the run log: lists the runs, shows one, explains it (why), and repeats it (replay). */
#include "frontend/inspect/log/runlog_doc.h"
#include "frontend/inspect/log/runlog_file.h"
#include "frontend/inspect/log/runlog_repeat.h"
#include "frontend/inspect/log/runlog_replay.h"
#include "frontend/inspect/log/runlog_state.h"
#include "frontend/inspect/log/runlog_why.h"
#include "frontend/inspect/rules/rules.h"
#include "frontend/cli/json_out.h"
#include "frontend/cli/cli.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    const char *path;
    uint32_t n, keep, days;
    uint64_t max_size;
    bool json, prompts, dry_run;
} log_opts;

static const myth_option options[] = {
    {"log", NULL, MYTH_OPT_TEXT, "FILE", offsetof(log_opts, path), "($XDG_STATE_HOME/mythos/runs.db)", 0, 0,
     "the run log to read"},
    {"limit", "-n", MYTH_OPT_U32, "N", offsetof(log_opts, n), "20", 1, 1 << 20, "number of runs that list shows"},
    {"prompts", NULL, MYTH_OPT_FLAG, NULL, offsetof(log_opts, prompts), NULL, 0, 0,
     "also show prompts and answers; --json always has them"},
    {"keep", NULL, MYTH_OPT_U32, "N", offsetof(log_opts, keep), "(all)", 0, 0,
     "prune: keep at most N runs, the newest"},
    {"older-than", NULL, MYTH_OPT_U32, "DAYS", offsetof(log_opts, days), "(any age)", 0, 100000,
     "prune: delete runs that began more than DAYS days ago"},
    {"max-size", NULL, MYTH_OPT_SIZE, "SIZE", offsetof(log_opts, max_size), "(any size)", 0, 0,
     "prune: delete the oldest runs until the rest has at most SIZE bytes"},
    {"dry-run", NULL, MYTH_OPT_FLAG, NULL, offsetof(log_opts, dry_run), NULL, 0, 0,
     "prune: say what would be deleted, and delete nothing"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(log_opts, json), NULL, 0, 0,
     "print the record, the list or the answers as JSON"},
};
static const myth_option_group groups[] = {MYTH_GROUP("log", log_opts, options)};

/* ---- output; secrets were replaced when the log was written, so it is printed as it is ---- */

static void put_json(myth_json_out *j, const json_t *v)
{
    const char *key;
    const json_t *item;
    size_t i;
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        myth_jout_object(j);
        json_object_foreach((json_t *)v, key, item)
        {
            myth_jout_key(j, key);
            put_json(j, item);
        }
        myth_jout_end(j);
        break;
    case JSON_ARRAY:
        myth_jout_array(j);
        json_array_foreach(v, i, item) put_json(j, item);
        myth_jout_end(j);
        break;
    case JSON_STRING: myth_jout_text(j, json_string_value(v), json_string_length(v)); break;
    case JSON_INTEGER: myth_jout_i64(j, json_integer_value(v)); break;
    case JSON_REAL: myth_jout_f64(j, json_real_value(v)); break;
    case JSON_TRUE:
    case JSON_FALSE: myth_jout_bool(j, json_is_true(v)); break;
    case JSON_NULL: myth_jout_null(j); break;
    }
}

/* Whether v has at most `most` levels of nested containers. */
static bool is_within(const json_t *v, int most)
{
    const char *key;
    const json_t *item;
    size_t i;
    if (!json_is_object(v) && !json_is_array(v))
        return true;
    if (most == 0)
        return false;
    json_object_foreach((json_t *)v, key, item) if (!is_within(item, most - 1)) return false;
    json_array_foreach(v, i, item) if (!is_within(item, most - 1)) return false;
    return true;
}

static void print_json(const json_t *v)
{
    myth_json_out j;
    myth_jout_start(&j, stdout);
    put_json(&j, v);
}

/* Prints a field, which stays on its line: a newline in a record must not look like the next row. */
static void print_one(const char *text) { myth_term_line(stdout, text, strlen(text)); }
/* Prints a prompt or an answer, which have lines of their own. */
static void print_text(const char *text) { myth_term_safe(stdout, text, strlen(text)); }

/* Prints "name      ", to be followed by a value. */
static void print_key(const char *name)
{
    print_one(name);
    printf("%*s", (int)(strlen(name) < 11 ? 11 - strlen(name) : 0), "");
}

static void print_field(const char *name, const char *value)
{
    if (!value[0])
        return;
    print_key(name);
    print_one(value);
    putchar('\n');
}

static void time_text(char dst[32], int64_t ms)
{
    time_t t = (time_t)(ms / 1000);
    struct tm tm;
    if (!localtime_r(&t, &tm) || !strftime(dst, 32, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(dst, 32, "-");
}

/* ---- list ---- */

typedef struct {
    myth_json_out j;
    bool json;
    myth_runlog_file *file;
    myth_mem *mem;
} lister;

/* What became of the run of a row, whose record is read where it has not ended. */
static const char *state_of(const lister *l, const myth_runlog_row *r)
{
    char *record = NULL;
    size_t n = 0;
    const bool is_read = !r->has_ended && myth_runlog_file_record(l->file, r->id, &record, &n, NULL) == MYTH_OK;
    json_t *doc = is_read ? json_loadb(record, n, 0, NULL) : NULL;
    const char *name = myth_run_state_name(myth_runlog_state(r->has_ended, doc));
    json_decref(doc);
    myth_free(l->mem, record);
    return name;
}

static bool list_row(void *user, const myth_runlog_row *r)
{
    lister *l = user;
    char when[32], size[24], code[16];
    time_text(when, r->began_ms);
    if (!l->json) {
        snprintf(code, sizeof(code), "exit %d", r->exit_code);
        printf("%6lld  %s  %-8s %9s  ", (long long)r->id, when, r->has_ended ? code : state_of(l, r),
               myth_size_text(size, r->bytes));
        print_one(r->command);
        putchar(' ');
        print_one(r->subject);
        putchar('\n');
        return true;
    }
    myth_jout_object(&l->j);
    myth_jout_key(&l->j, "run");
    myth_jout_i64(&l->j, r->id);
    myth_jout_key(&l->j, "began_ms");
    myth_jout_i64(&l->j, r->began_ms);
    myth_jout_key(&l->j, "command");
    myth_jout_str(&l->j, r->command);
    myth_jout_key(&l->j, "subject");
    myth_jout_str(&l->j, r->subject);
    myth_jout_key_str(&l->j, "state", state_of(l, r));
    myth_jout_key(&l->j, "exit_code");
    if (r->has_ended)
        myth_jout_i64(&l->j, r->exit_code);
    else
        myth_jout_null(&l->j);
    myth_jout_key_u64(&l->j, "bytes", r->bytes);
    myth_jout_end(&l->j);
    return true;
}

static int run_list(myth_cli *cli, const log_opts *o, myth_runlog_file *f)
{
    myth_error err = {0};
    lister l = {.json = o->json, .file = f, .mem = cli->mem};
    if (o->json) {
        myth_jout_start(&l.j, stdout);
        myth_jout_array(&l.j);
    }
    myth_status st = myth_runlog_file_list(f, o->n, list_row, &l, &err);
    if (o->json)
        myth_jout_end(&l.j);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

/* ---- show ---- */

/* Replaces the name of a stored text by the text: "prompt" and "answer" of each exchange, and the printed report. */
static myth_status inline_text(myth_runlog_file *f, int64_t run, json_t *o, const char *key, const char *name,
                               myth_mem *mem, myth_error *err)
{
    char *text = NULL;
    size_t n = 0;
    if (!name[0])
        return MYTH_OK;
    myth_status st = myth_runlog_file_text(f, run, name, &text, &n, err);
    if (st == MYTH_OK) {
        json_t *s = json_stringn(text, n);
        for (size_t i = 0; !s && i < n; i++) /* the answer was cut inside a character: not UTF-8 */
            if ((unsigned char)text[i] >= 0x80)
                text[i] = '?';
        json_object_set_new(o, key, s ? s : json_stringn(text, n));
    }
    myth_free(mem, text);
    return st;
}

static myth_status inline_texts(myth_runlog_file *f, int64_t of, json_t *doc, myth_mem *mem, myth_error *err)
{
    const int64_t run = myth_runlog_texts_of(doc, of);
    myth_status st = MYTH_OK;
    json_t *x;
    char name[64];
    size_t i;
    json_array_foreach(json_object_get(doc, "exchanges"), i, x)
    {
        snprintf(name, sizeof(name), "%.60s", myth_doc_text(x, "prompt"));
        MYTH_TRY(inline_text(f, run, x, "prompt", name, mem, err));
        snprintf(name, sizeof(name), "%.60s", myth_doc_text(x, "answer"));
        MYTH_TRY(inline_text(f, run, x, "answer", name, mem, err));
        json_object_del(x, "ids");
    }
    if (json_object_get(doc, "report_hash") && !json_object_get(doc, "report_left_out"))
        MYTH_TRY(inline_text(f, run, doc, "printed", "report", mem, err));
fail:
    return st;
}

static void show_command(const json_t *doc)
{
    const json_t *v;
    size_t i;
    char text[4096];
    print_key("command");
    print_one(myth_doc_text(doc, "command"));
    json_array_foreach(json_object_get(doc, "options"), i, v)
    {
        const json_t *value = json_object_get(v, "value");
        if (strcmp(myth_doc_text(v, "from"), "default") == 0 || json_is_null(value))
            continue;
        printf(json_is_false(value) ? " --no-" : " --");
        print_one(myth_doc_text(v, "name"));
        if (myth_doc_exact(text, sizeof(text), value)) {
            putchar('=');
            print_one(text);
        } else if (json_is_array(value)) {
            printf("=... (%zu)", json_array_size(value));
        }
    }
    json_array_foreach(json_object_get(doc, "args"), i, v) if (myth_doc_exact(text, sizeof(text), v))
    {
        putchar(' ');
        print_one(text);
    }
    putchar('\n');
    if (myth_doc_exact(text, sizeof(text), json_object_get(doc, "cwd")))
        print_field("folder", text);
    snprintf(text, sizeof(text), "run %lld: nothing had changed since", (long long)myth_runlog_texts_of(doc, 0));
    print_field("repeats", myth_runlog_texts_of(doc, 0)       ? text
                           : myth_doc_is(doc, "repeats_lost") ? "a run that the log does not have any more"
                                                              : "");
}

/* A file by its path, size and hash, or why it could not be read; nothing without a path. */
static void show_file(const char *key, const json_t *file)
{
    char text[4096];
    if (!myth_doc_exact(text, sizeof(text), json_object_get(file, "path")))
        return;
    if (myth_doc_text(file, "error")[0]) {
        print_field(key, myth_doc_text(file, "error"));
        return;
    }
    print_key(key);
    print_one(text);
    printf(", %lld byte%s, ", (long long)myth_doc_int(file, "bytes"),
           myth_s((unsigned long long)myth_doc_int(file, "bytes")));
    print_one(myth_doc_text(file, "hash"));
    putchar('\n');
}

static void show_identity(const json_t *doc)
{
    const json_t *model = json_object_get(doc, "model"), *inputs = json_object_get(doc, "inputs"),
                 *binary = json_object_get(doc, "binary"), *index = json_object_get(doc, "index"), *f;
    size_t i;
    bool has_judge = false;
    json_array_foreach(inputs, i, f) has_judge |= strcmp(myth_doc_text(f, "role"), "judge") == 0;
    if (model) { /* where another one judged what rules found, it may have had nothing to do */
        print_key("model");
        print_one(myth_doc_text(model, "name"));
        puts(has_judge && !json_array_size(json_object_get(doc, "exchanges")) ? ", which was asked nothing" : "");
        json_array_foreach(json_object_get(model, "files"), i, f) show_file("", f);
    }
    json_array_foreach(inputs, i, f) show_file(myth_doc_text(f, "role"), f);
    print_field("device", myth_doc_text(doc, "device"));
    print_key("binary");
    print_one(myth_doc_text(binary, "version"));
    fputs(" (", stdout);
    print_one(myth_doc_text(binary, "commit"));
    fputs("), ", stdout);
    print_one(myth_doc_text(binary, "hash"));
    putchar('\n');
    print_field("weights", myth_doc_text(doc, "weights"));
    if (index) {
        print_key("index");
        const long long n_file = (long long)myth_doc_int(index, "files"),
                        n_chunk = (long long)myth_doc_int(index, "chunks");
        printf("%lld file%s, %lld chunk%s, ", n_file, myth_s((unsigned long long)n_file), n_chunk,
               myth_s((unsigned long long)n_chunk));
        print_one(myth_doc_text(index, "hash"));
        putchar('\n');
    }
}

static void print_place(const char *path, const json_t *o)
{
    print_one(path);
    printf(":%u-%u", myth_doc_line(o, 0), myth_doc_line(o, 1));
    if (myth_doc_text(o, "symbol")[0]) {
        putchar(' ');
        print_one(myth_doc_text(o, "symbol"));
    }
}

static void show_shown(const json_t *doc)
{
    enum { MOST = 20 };
    const json_t *v, *part, *files = json_object_get(doc, "files");
    const char *key;
    size_t i, n = json_array_size(json_object_get(doc, "candidates"));
    char text[4096];
    json_object_foreach(json_object_get((json_t *)doc, "texts"), key,
                        v) if (json_string_value(v) && strcmp(key, "map") != 0) print_field(key, json_string_value(v));
    json_array_foreach(json_object_get(doc, "candidates"), i, v)
    {
        if (i == MOST)
            break;
        print_key(i ? "" : "found");
        print_place(myth_doc_text(v, "path"), v);
        printf("  %.3f ", json_number_value(json_object_get(v, "score")));
        json_object_foreach(json_object_get((json_t *)v, "parts"), key, part)
        {
            putchar(' ');
            print_one(key);
            printf(" %.3f", json_number_value(part));
        }
        fputs("  ", stdout);
        print_one(myth_doc_text(v, "fate"));
        putchar('\n');
    }
    if (n > MOST)
        printf("%-11sand %zu more\n", "", n - MOST);
    json_array_foreach(files, i, v)
    {
        print_key(i ? "" : "files");
        if (myth_doc_exact(text, sizeof(text), json_object_get(v, "path")))
            print_one(text);
        printf(", %lld byte%s, %s, ", (long long)myth_doc_int(v, "bytes"),
               myth_s((unsigned long long)myth_doc_int(v, "bytes")),
               strcmp(myth_doc_text(v, "origin"), "disk") ? "given" : "from disk");
        print_one(myth_doc_text(v, "hash"));
        putchar('\n');
    }
    json_array_foreach(json_object_get(doc, "pieces"), i, v)
    {
        print_key(i ? "" : "pieces");
        print_place(myth_doc_text(json_array_get(files, (size_t)myth_doc_int(v, "file")), "path"), v);
        printf("  %s%s", myth_doc_is(v, "subject") ? "subject" : "context", myth_doc_text(v, "why")[0] ? ": " : "");
        print_one(myth_doc_text(v, "why"));
        printf(", score %.3f, %lld of its lines shown in %zu part%s\n", json_number_value(json_object_get(v, "score")),
               (long long)myth_doc_int(v, "shown_lines"), json_array_size(json_object_get(v, "parts")),
               myth_s(json_array_size(json_object_get(v, "parts"))));
    }
}

static void show_exchanges(const json_t *doc, bool prompts)
{
    const json_t *v;
    size_t i;
    json_array_foreach(json_object_get(doc, "exchanges"), i, v)
    {
        print_key(i ? "" : "answers");
        printf("part %lld, round %lld, ", (long long)myth_doc_int(v, "part") + 1, (long long)myth_doc_int(v, "round"));
        print_one(myth_doc_text(v, "kind"));
        printf(": %lld prompt token%s (%lld kept), %lld new, ", (long long)myth_doc_int(v, "prompt_tokens"),
               myth_s((unsigned long long)myth_doc_int(v, "prompt_tokens")), (long long)myth_doc_int(v, "kept_tokens"),
               (long long)myth_doc_int(v, "new_tokens"));
        print_one(myth_doc_text(v, "finish"));
        printf(", %.2f s\n", json_number_value(json_object_get(v, "seconds")));
        if (prompts) {
            print_text(myth_doc_text(v, "prompt"));
            printf("\n");
            print_text(myth_doc_text(v, "answer"));
            printf("\n");
        }
    }
    json_array_foreach(json_object_get(doc, "dropped"), i, v)
    {
        print_key(i ? "" : "dropped");
        print_place(myth_doc_text(v, "path"), v);
        putchar(' ');
        print_one(myth_doc_text(v, "rule"));
        fputs(": ", stdout);
        print_one(myth_doc_text(v, "why"));
        putchar('\n');
    }
}

/* Why a run has no exit code. */
static void show_no_end(const json_t *doc)
{
    const myth_run_state state = myth_runlog_state(false, doc);
    print_key("exit code");
    fputs(state == MYTH_RUN_RUNNING  ? "none: the run goes on"
          : state == MYTH_RUN_KILLED ? "none: the run was killed"
                                     : "none: the run could not be logged further: ",
          stdout);
    print_one(myth_doc_text(doc, "unlogged"));
    putchar('\n');
}

static void show_report(const json_t *doc)
{
    const json_t *report = json_object_get(doc, "report"), *v, *stages = json_object_get(doc, "stages"),
                 *code = json_object_get(doc, "exit_code");
    size_t i;
    json_array_foreach(json_object_get(report, "findings"), i, v)
    {
        print_key(i ? "" : "findings");
        printf("%zu  ", i + 1);
        print_place(myth_doc_text(v, "file"), v);
        static const char *const about[] = {"rule", "severity", "status"};
        for (int k = 0; k < 3; k++) {
            fputs(k ? " " : "  ", stdout);
            print_one(myth_doc_text(v, about[k]));
        }
        putchar('\n');
    }
    if (report) {
        print_key("report");
        print_one(myth_doc_text(report, "finish_reason"));
        printf(", %s, %lld dropped\n", myth_doc_is(report, "complete") ? "complete" : "incomplete",
               (long long)myth_doc_int(report, "dropped_findings"));
    }
    json_array_foreach(stages, i, v)
    {
        if (i == 0)
            print_key("stages");
        print_one(myth_doc_text(v, "name"));
        printf(" %.3f s%s", json_number_value(json_object_get(v, "seconds")),
               i + 1 == json_array_size(stages) ? "\n" : ", ");
    }
    if (json_is_integer(code))
        printf("%-11s%lld, after %.3f s\n", "exit code", (long long)json_integer_value(code),
               json_number_value(json_object_get(doc, "seconds")));
    else
        show_no_end(doc);
}

static int run_show(myth_cli *cli, const log_opts *o, myth_runlog_file *f, int64_t run, json_t *doc)
{
    myth_error err = {0};
    char when[32];
    if ((o->json || o->prompts) && inline_texts(f, run, doc, cli->mem, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    if (o->json) {
        print_json(doc);
        return MYTH_EXIT_CLEAN;
    }
    time_text(when, myth_doc_int(doc, "began_ms"));
    printf("%-11s%lld, begun %s\n", "run", (long long)run, when);
    show_command(doc);
    show_identity(doc);
    show_shown(doc);
    show_exchanges(doc, o->prompts);
    show_report(doc);
    return MYTH_EXIT_CLEAN;
}

/* ---- why ---- */

/* Writes the numbers of a record's findings of a rule, as many as have room; returns how many they are. */
static size_t findings_of(char dst[64], const json_t *list, const char *rule)
{
    enum { CAP = 64, ROOM = 16 };
    size_t n = 0, len = 0, i;
    const json_t *v;
    dst[0] = '\0';
    json_array_foreach(list, i, v)
    {
        if (strcmp(myth_doc_text(v, "rule"), rule) != 0)
            continue;
        if (len + ROOM < CAP)
            len += (size_t)snprintf(dst + len, CAP - len, n ? ", %zu" : "%zu", i + 1);
        else if (dst[len - 1] != '.')
            len += (size_t)snprintf(dst + len, CAP - len, ", ...");
        n++;
    }
    return n;
}

static int run_why(myth_cli *cli, const log_opts *o, myth_runlog_file *f, int64_t run, const json_t *doc,
                   const char *what)
{
    myth_error err = {0};
    myth_why_target target = {.finding = -1};
    char path[PATH_MAX], of_rule[64], *list = NULL;
    size_t n = 0;
    const json_t *v, *place, *all = json_object_get(json_object_get(doc, "report"), "findings");
    size_t i, k;
    const bool is_rule = what && myth_rule_find(what, strlen(what)) >= 0;
    const size_t n_of_rule = is_rule ? findings_of(of_rule, all, what) : 0;
    if (n_of_rule > 1)
        return myth_cli_failf(cli, MYTH_EARG, "log why: run %lld has %zu findings of %s: %s; name one by its number",
                              (long long)run, n_of_rule, what, of_rule);
    const char *one = n_of_rule ? of_rule : what;
    if ((is_rule && !n_of_rule) || (what && !myth_runlog_why_target(&target, path, sizeof(path), doc, one)))
        return myth_cli_failf(cli, MYTH_EARG,
                              "log why: run %lld has no finding %s%s; it has %zu, which mythos log show %lld lists",
                              (long long)run, is_rule ? "of " : "", what, json_array_size(all), (long long)run);
    if (json_object_get(doc, "index")) {
        myth_status st = myth_runlog_file_text(f, myth_runlog_texts_of(doc, run), "index_files", &list, &n, &err);
        if (st != MYTH_OK && st != MYTH_ENOTFOUND)
            return myth_cli_fail(cli, &err);
    }
    json_t *answers = myth_runlog_why(doc, &target, list ? &(myth_why_index){list, n} : NULL);
    myth_free(cli->mem, list);
    if (!answers)
        return myth_cli_failf(cli, MYTH_ENOMEM, "log why: out of memory");
    if (o->json) {
        print_json(answers);
    } else {
        json_array_foreach(answers, i, v)
        {
            printf("%zu. %s %s: ", i + 1, myth_doc_text(v, "asks"), myth_doc_text(v, "answer"));
            print_one(myth_doc_text(v, "says"));
            putchar('\n');
            json_array_foreach(json_object_get(v, "places"), k, place)
            {
                fputs("     ", stdout);
                print_one(json_string_value(place));
                putchar('\n');
            }
        }
    }
    json_decref(answers);
    return MYTH_EXIT_CLEAN;
}

/* ---- replay ---- */

static void print_lines(const json_t *list)
{
    const json_t *v;
    size_t i;
    json_array_foreach(list, i, v)
    {
        fputs("  ", stdout);
        print_one(json_string_value(v));
        putchar('\n');
    }
}

static void print_side(const char *name, const json_t *v)
{
    printf("  %-9s ", name);
    if (json_is_string(v))
        print_one(json_string_value(v));
    else if (json_is_integer(v))
        printf("%lld", (long long)json_integer_value(v));
    else
        putchar('-');
    putchar('\n');
}

static int run_replay(myth_cli *cli, const log_opts *o, myth_runlog_file *f, int64_t run, const json_t *doc)
{
    static const int code[] = {MYTH_EXIT_CLEAN, MYTH_EXIT_FINDINGS, MYTH_EXIT_INCOMPLETE};
    myth_error err = {0};
    json_t *said = NULL;
    myth_replay_result result;
    if (myth_runlog_replay(&result, &said, cli, f, run, doc, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    const json_t *diff = json_object_get(said, "difference");
    if (o->json) {
        print_json(said);
    } else {
        printf("run %lld: %s\n", (long long)run,
               result == MYTH_REPLAY_CANNOT ? "cannot be replayed" : myth_doc_text(said, "result"));
        print_lines(json_object_get(said, "reasons"));
        if (diff && result == MYTH_REPLAY_DIFFERENT) {
            fputs("  first difference: ", stdout);
            print_one(myth_doc_text(diff, "what"));
            putchar('\n');
            print_side("recorded", json_object_get(diff, "recorded"));
            print_side("now", json_object_get(diff, "now"));
        }
        print_lines(json_object_get(said, "notes"));
    }
    json_decref(said);
    return code[result];
}

/* ---- command ---- */

enum { VERB_LIST, VERB_SHOW, VERB_WHY, VERB_REPLAY, VERB_PRUNE, VERB_N };
static const char *const verbs[VERB_N] = {"list", "show", "why", "replay", "prune"};

static int verb_of(const char *word)
{
    for (int i = 0; i < VERB_N; i++)
        if (strcmp(verbs[i], word) == 0)
            return i;
    return -1;
}

/* Whether word is the number of a run, or "last". */
static bool is_run(int64_t *run, const char *word)
{
    char *end;
    if (strcmp(word, "last") == 0) {
        *run = 0;
        return true;
    }
    if (!isdigit((unsigned char)word[0]))
        return false;
    *run = strtoll(word, &end, 10);
    return !*end && *run > 0 && *run < INT64_MAX;
}

static int with_run(myth_cli *cli, const log_opts *o, myth_runlog_file *f, int verb)
{
    myth_error err = {0};
    int64_t run = 0;
    char *record = NULL;
    size_t n = 0;
    const char *what = NULL;
    myth_status st;
    if (cli->n_arg > 1 && !is_run(&run, cli->arg[1])) {
        if (verb != VERB_WHY || cli->n_arg > 2)
            return myth_cli_failf(
                cli, MYTH_EARG,
                "log %s: got '%.80s', expected the number of a run, or last; mythos log list shows the numbers",
                verbs[verb], cli->arg[1]);
        what = cli->arg[1];
    }
    if (cli->n_arg > 2)
        what = cli->arg[2];
    if (what && verb != VERB_WHY)
        return myth_cli_failf(cli, MYTH_EARG, "log %s: got '%.80s' after the run, expected nothing", verbs[verb], what);
    if (!run)
        MYTH_TRY(myth_runlog_file_newest(f, &run, &err));
    MYTH_TRY(myth_runlog_file_record(f, run, &record, &n, &err));
    json_t *doc = json_loadb(record, n, 0, NULL);
    myth_free(cli->mem, record);
    if (!doc)
        return myth_cli_failf(cli, MYTH_EFORMAT, "%.160s: the record of run %lld is not JSON; the log is damaged",
                              myth_runlog_file_path(f), (long long)run);
    if ((st = myth_runlog_follow(&doc, f, cli->mem, &err)) != MYTH_OK) {
        json_decref(doc);
        goto fail;
    }
    if (!is_within(doc, MYTH_JOUT_DEPTH)) {
        json_decref(doc);
        return myth_cli_failf(cli, MYTH_EFORMAT,
                              "%.160s: the record of run %lld is nested deeper than %d levels; mythos did not write it",
                              myth_runlog_file_path(f), (long long)run, MYTH_JOUT_DEPTH);
    }
    int code = verb == VERB_SHOW ? run_show(cli, o, f, run, doc)
             : verb == VERB_WHY  ? run_why(cli, o, f, run, doc, what)
                                 : run_replay(cli, o, f, run, doc);
    json_decref(doc);
    return code;
fail:
    return myth_cli_fail(cli, &err);
}

/* ---- prune ---- */

/* A flag of prune for which is_set holds, one that says what may go before --dry-run; NULL = none. */
static const char *prune_flag(const myth_cli *cli, bool (*is_set)(const myth_parsed *p, const char *name))
{
    static const char *const flag[] = {"keep", "older-than", "max-size", "dry-run"};
    for (size_t i = 0; i < sizeof(flag) / sizeof(flag[0]); i++)
        if (is_set(cli->parsed, flag[i]))
            return flag[i];
    return NULL;
}

static int run_prune(myth_cli *cli, const log_opts *o, myth_runlog_file *f)
{
    enum { DAY_S = 24 * 3600 };
    myth_error err = {0};
    uint64_t n = 0, bytes = 0;
    char size[24];
    const myth_runlog_prune what = {
        .max_runs = myth_args_is_given(cli->parsed, "keep") ? o->keep : UINT32_MAX,
        .max_bytes = myth_args_is_given(cli->parsed, "max-size") ? o->max_size : UINT64_MAX,
        .since_ms = myth_args_is_given(cli->parsed, "older-than")
                      ? ((int64_t)time(NULL) - (int64_t)o->days * DAY_S) * 1000
                      : INT64_MIN,
        .is_dry = o->dry_run,
    };
    if (myth_runlog_file_prune(f, &what, &n, &bytes, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    if (o->json) {
        myth_json_out j;
        myth_jout_start(&j, stdout);
        myth_jout_object(&j);
        myth_jout_key_u64(&j, "runs", n);
        myth_jout_key_u64(&j, "bytes", bytes);
        myth_jout_key_bool(&j, "dry_run", o->dry_run);
        myth_jout_end(&j);
    } else {
        printf("%llu run%s of %s %s\n", (unsigned long long)n, myth_s(n), myth_size_text(size, bytes),
               o->dry_run ? "would be deleted" : "deleted");
    }
    return MYTH_EXIT_CLEAN;
}

static int run_log(myth_cli *cli, const void *opts)
{
    const log_opts *o = opts;
    myth_error err = {0};
    myth_runlog_file *f = NULL;
    char path[PATH_MAX];
    int verb = verb_of(cli->arg[0]);
    if (verb < 0) {
        const char *near = myth_args_nearest(cli->arg[0], verbs, VERB_N);
        return myth_cli_failf(cli, MYTH_EARG, "log: got '%.80s', expected list, show, why, replay or prune%s%s%s",
                              cli->arg[0], near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    if ((verb == VERB_LIST || verb == VERB_PRUNE) && cli->n_arg > 1)
        return myth_cli_failf(cli, MYTH_EARG, "log %s: got '%.80s', expected no argument", verbs[verb], cli->arg[1]);
    const char *stray = prune_flag(cli, verb == VERB_PRUNE ? myth_args_is_given : myth_args_is_flag);
    if (stray && verb != VERB_PRUNE)
        return myth_cli_failf(cli, MYTH_EARG, "log %s: --%s belongs to log prune; leave it out", verbs[verb], stray);
    if (verb == VERB_PRUNE && (!stray || strcmp(stray, "dry-run") == 0))
        return myth_cli_failf(cli, MYTH_EARG,
                              "log prune: say what may go with --keep N, --older-than DAYS or --max-size SIZE");
    const bool is_writing = verb == VERB_PRUNE && !o->dry_run;
    if (myth_runlog_file_place(path, sizeof(path), o->path, &err) != MYTH_OK ||
        (is_writing && access(path, F_OK) != 0 && myth_fail(&err, MYTH_ENOTFOUND, "%.150s: no run log there", path)) ||
        myth_runlog_file_open(&f, cli->mem, path, &(myth_runlog_file_opts){.is_read_only = !is_writing}, &err) !=
            MYTH_OK)
        return myth_cli_fail(cli, &err);
    int code = verb == VERB_LIST  ? run_list(cli, o, f)
             : verb == VERB_PRUNE ? run_prune(cli, o, f)
                                  : with_run(cli, o, f, verb);
    myth_runlog_file_close(f);
    return code;
}

const myth_command myth_cmd_log = {
    .name = "log",
    .args = "list|show|why|replay|prune [RUN] [WHAT]",
    .help = "list earlier runs, show or explain one, run it again, or delete old ones",
    .detail = "list says of a run without exit code whether it is running (a process with its number is there), was "
              "killed, or "
              "could not be logged further. RUN is a number that list prints, or last (the default). show prints the "
              "record of a run. why answers seven "
              "questions about it: was evidence missed, "
              "was a file absent, was something truncated, was most of it noise, was a finding invented, was a "
              "definition split, or was it hidden among copies and tests; WHAT is a "
              "finding (its number, its fingerprint or its rule), PATH:LINE or PATH. replay runs the same inspection "
              "again and "
              "compares the bytes: exit 0 when they are equal, 1 with the first difference, 3 with every reason when "
              "it cannot be repeated. prune deletes the oldest runs, by number, age or size; --dry-run counts them. "
              "An inspection that ends does the same by --log-keep (1,000 runs) and --log-max-size (64 MiB).\n"
              "The log keeps texts as reports show them, with known secrets replaced by placeholders, and files as "
              "hashes. It does not recognise every secret: protect the log as you protect the code.",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(log_opts),
    .min_arg = 1,
    .max_arg = 3,
    .run = run_log,
};
