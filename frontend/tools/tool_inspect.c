/* tool_inspect.c - inspect lets the model look at files and folders, and shows the findings.
 *
 * Apart     the command inspect runs in a process of its own, so that neither its memory nor its end are the server's.
 *           Its answers are kept: unchanged code is not asked about again
 * Paths     are checked as for every tool before that: a file must be one that may be shown, and a folder must hold one
 * Names     the report calls a file as its repository does, the tool by its path from the directory */
#include "shown.h"
#include "engine/base/program.h"
#include "frontend/cli/self.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ARGS = MYTH_SELF_ARGS, SECONDS = 600, TEXT_BYTES = 32 << 10 };

typedef struct {
    myth_tools *t;
    myth_opt_list paths; /* as the caller spells them */
    char path[MYTH_OPT_LIST_MAX][PATH_MAX];
    uint32_t n_path;
    const char *arg[ARGS + 1]; /* the words of the command, made in text */
    size_t n_arg;
    char text[TEXT_BYTES];
    size_t n_text;
    bool is_full;        /* a word did not fit */
    myth_place place;    /* of the directory in its repository */
    myth_scan_list list; /* of the directory */
} asked;

/* Whether the scan has the file, or a file below the folder. */
static bool is_listed(const asked *q, const char *path)
{
    for (uint32_t i = 0; i < q->list.n_file; i++)
        if (myth_tools_is_under(q->list.file[i].path, path))
            return true;
    return false;
}

static myth_status check_path(asked *q, const char *path, myth_error *err)
{
    myth_shown shown;
    struct stat is;
    char whole[2 * PATH_MAX], *own = q->path[q->n_path];
    myth_status st = myth_tools_path(own, PATH_MAX, path, err);
    if (st != MYTH_OK)
        return st;
    snprintf(whole, sizeof(whole), "%s/%s", q->t->dir, own);
    const bool has = is_listed(q, own);
    if (!own[0] || (lstat(whole, &is) == 0 && S_ISDIR(is.st_mode))) {
        st = has ? MYTH_OK
                 : myth_fail(err, MYTH_EARG, "%.160s: the scan of the directory has no file in it", own[0] ? own : ".");
    } else {
        myth_shown_start(&shown, q->t);
        st = has ? myth_shown_open_listed(&shown, own, err) : myth_shown_open(&shown, own, err);
        if (st == MYTH_OK)
            snprintf(own, PATH_MAX, "%s", shown.path);
        myth_shown_close(&shown);
    }
    q->n_path += st == MYTH_OK;
    return st;
}

static bool is_asked(const asked *q, const char *path)
{
    for (uint32_t i = 0; i < q->n_path; i++)
        if (myth_tools_is_under(path, q->path[i]))
            return true;
    return false;
}

/* The path from the directory of a file that the report names. In a repository, names begin with the directory's place
 * in it. Elsewhere they begin below the folder that all inspected files have in common, so the shortest path that ends
 * in the name is the file's. */
static const char *local_path(const asked *q, const char *name)
{
    const size_t n_place = strlen(q->place.path), n_name = strlen(name);
    const char *best = NULL;
    if (q->place.in_repository)
        return strncmp(name, q->place.path, n_place) == 0 ? name + n_place : name;
    for (uint32_t i = 0; i < q->list.n_file; i++) {
        const char *path = q->list.file[i].path;
        const size_t n = strlen(path);
        const bool ends_so =
            n >= n_name && strcmp(path + n - n_name, name) == 0 && (n == n_name || path[n - n_name - 1] == '/');
        if (ends_so && is_asked(q, path) && (!best || n < strlen(best)))
            best = path;
    }
    return best ? best : name;
}

static const char *text_of(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));
    return s ? s : "";
}

static void put_finding(myth_reply *a, const asked *q, const json_t *f)
{
    static const char *const texts[] = {"rule", "severity", "status", "issue", "evidence", "why", "fix", "fingerprint"};
    const json_t *lines = json_object_get(f, "lines");
    myth_json_out *j = &a->j;
    if (!myth_reply_begin(a))
        return;
    myth_jout_key_str(j, "path", local_path(q, text_of(f, "file")));
    myth_jout_key_u64(j, "start_line", (uint64_t)json_integer_value(json_array_get(lines, 0)));
    myth_jout_key_u64(j, "end_line", (uint64_t)json_integer_value(json_array_get(lines, 1)));
    myth_jout_key_u64(j, "evidence_line", (uint64_t)json_integer_value(json_object_get(f, "evidence_line")));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        myth_jout_key_str(j, texts[i], text_of(f, texts[i]));
    const json_t *probability = json_object_get(json_object_get(f, "candidate"), "probability");
    if (probability)
        myth_jout_key_f64(j, "probability", json_number_value(probability));
    myth_reply_end(a);
}

/* A place that was not inspected. */
static void put_missed(myth_reply *a, const asked *q, const json_t *m)
{
    static const char flag[] = "-m MODEL --find both";
    const json_t *lines = json_object_get(m, "lines");
    const char *why = text_of(m, "why"), *at = strstr(why, flag);
    myth_json_out *j = &a->j;
    if (!myth_reply_begin(a))
        return;
    myth_jout_key_str(j, "path", local_path(q, text_of(m, "path")));
    if (lines) {
        myth_jout_key_u64(j, "start_line", (uint64_t)json_integer_value(json_array_get(lines, 0)));
        myth_jout_key_u64(j, "end_line", (uint64_t)json_integer_value(json_array_get(lines, 1)));
    }
    myth_jout_key(j, "why");
    myth_jout_text_begin(j); /* the flags of the command are words of this tool's argument */
    myth_jout_text_part(j, why, at ? (size_t)(at - why) : strlen(why));
    if (at) {
        myth_jout_text_part(j, "find both", strlen("find both"));
        myth_jout_text_part(j, at + strlen(flag), strlen(at + strlen(flag)));
    }
    myth_jout_text_end(j);
    myth_reply_end(a);
}

/* Files that were looked at and hold no code that rules know. */
static size_t count_documents(const json_t *report)
{
    size_t i, n = 0;
    const json_t *f;
    json_array_foreach(json_object_get(report, "files"), i, f)
    {
        const char *path = text_of(f, "path");
        n += json_is_true(json_object_get(f, "subject")) && myth_detect_no_code(myth_detect_language(path, NULL, 0));
    }
    return n;
}

static void put_report(myth_reply *a, const asked *q, const json_t *report, bool is_late)
{
    const json_t *missed = json_object_get(report, "not_inspected"), *f;
    const bool is_whole = json_is_true(json_object_get(report, "complete"));
    const char *reason = is_late && !is_whole ? "max_seconds" : text_of(report, "finish_reason");
    const json_int_t parts = json_integer_value(json_object_get(report, "parts"));
    const size_t n_missed = json_array_size(missed), n_document = parts ? 0 : count_documents(report);
    myth_json_out *head = myth_reply_head(a);
    size_t i;
    myth_jout_key_str(head, "model", text_of(report, "model"));
    myth_jout_key_str(head, "finish_reason", reason);
    myth_jout_key_u64(head, "parts", (uint64_t)parts);
    myth_jout_key_u64(head, "prompt_tokens", (uint64_t)json_integer_value(json_object_get(report, "prompt_tokens")));
    myth_reply_head_end(a);
    json_array_foreach(json_object_get(report, "findings"), i, f) put_finding(a, q, f);
    myth_reply_more(a, "not_inspected");
    json_array_foreach(missed, i, f) put_missed(a, q, f);
    q->t->n_missed = is_whole ? 0 : 1;
    if (n_missed > 0)
        myth_reply_note(a, true, "%zu place%s not inspected (%.40s)", n_missed, n_missed == 1 ? " was" : "s were",
                        reason);
    else if (q->t->n_missed)
        myth_reply_note(a, true, "not everything was inspected (%.40s)", reason);
    if (n_document > 0) /* a model asks nothing of them only where rules find the places */
        myth_reply_note(a, false, "%zu file%s of documents or data, in which no rules look for code", n_document,
                        n_document == 1 ? "" : "s");
    myth_reply_note(a, false, "a quote exists where it is said to; whether a finding is true is the model's opinion");
}

/* Appends a flag with its value, if there is one, as one word: a value may begin with a dash. */
static void add(asked *q, const char *flag, const char *value)
{
    char *word = q->text + q->n_text;
    const size_t room = sizeof(q->text) - q->n_text;
    const int n = value ? snprintf(word, room, "%s=%s", flag, value) : 0;
    q->is_full = q->is_full || n < 0 || (size_t)n >= room || q->n_arg == ARGS;
    if (!value || q->is_full)
        return;
    q->n_text += (size_t)n + 1;
    q->arg[q->n_arg++] = word;
}

/* Appends a word that lives as long as the call. */
static void add_word(asked *q, const char *word)
{
    q->is_full = q->is_full || q->n_arg == ARGS;
    if (!q->is_full)
        q->arg[q->n_arg++] = word;
}

/* A copy in the call's text; "" when it is full. */
static const char *keep(asked *q, const char *word)
{
    char *copy = q->text + q->n_text;
    const size_t n = strlen(word) + 1;
    if (n > sizeof(q->text) - q->n_text) {
        q->is_full = true;
        return "";
    }
    memcpy(copy, word, n);
    q->n_text += n;
    return copy;
}

/* Appends a flag of this process as it is set. inspect runs in another folder, so that the path of something that is
 * there, also behind an @, goes as a whole one. */
static void add_flag(asked *q, const char *name, bool is_path)
{
    char flag[64], text[PATH_MAX], path[PATH_MAX + 1] = "@";
    const myth_opt_slot *s = myth_args_find(q->t->cli->parsed, name);
    if (!s || s->source == MYTH_FROM_DEFAULT)
        return;
    snprintf(flag, sizeof(flag), "--%s", name);
    if (s->opt->kind == MYTH_OPT_FLAG) {
        if (*(const bool *)s->field)
            add_word(q, keep(q, flag));
        return;
    }
    myth_args_text(s, text, sizeof(text));
    const int at = text[0] == '@';
    const bool is_there = (is_path || at) && text[at] != '/' && realpath(text + at, path + at);
    if (text[0])
        add(q, flag, is_there ? path : text);
}

static void add_flags(asked *q)
{
    static const char *const path[] = {"config", "model", "tokenizer"};
    static const char *const other[] = {"load-mode", "check-tensors", "mem-limit", "max-memory-gb",
                                        "mem-mode",  "device",        "threads",   "exact"};
    for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++)
        add_flag(q, path[i], true);
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        add_flag(q, other[i], false);
}

static myth_status run_inspect(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    const json_t *confidence = json_object_get(args, "confidence");
    char program[PATH_MAX], number[32];
    static const char *const words[] = {"inspect", "--format=json", "-q", "--fail-level=never"};
    int code;
    bool is_late = false;
    json_t *report = NULL;
    myth_status st = MYTH_OK;
    const myth_scan_opts so = {
        .root = t->dir, .names_only = true, .n_threads = t->cli->global->n_threads, .is_cancelled = t->cli->cancel};
    asked *q = myth_alloc(t->cli->mem, MYTH_MEM_OTHER, "paths", sizeof(*q)); /* some 100 KiB */
    if (!q)
        return myth_fail(err, MYTH_ENOMEM, "inspect: out of memory for the paths");
    q->t = t;
    myth_tool_texts(&q->paths, args, "paths");
    if (q->paths.n == 0) {
        st = myth_fail(err, MYTH_EARG, "inspect: no path is given; \".\" is the whole directory");
        goto fail;
    }
    MYTH_TRY(myth_scan(&q->list, t->cli->mem, &so, err));
    for (int i = 0; i < q->paths.n; i++)
        MYTH_TRY(check_path(q, q->paths.item[i], err));
    myth_place_find_folder(&q->place, t->dir, true);
    if (!myth_program_start(program, sizeof(program))) {
        st = myth_fail(err, MYTH_EIO, "inspect: the path of this program is not known");
        goto fail;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        add_word(q, words[i]);
    add_flags(q);
    add(q, "--rules", myth_tool_text(args, "rules"));
    add(q, "--min-severity", myth_tool_text(args, "min_severity"));
    add(q, "--task", myth_tool_text(args, "task"));
    add(q, "--find", myth_tool_text(args, "find"));
    add(q, "--since", myth_tool_text(args, "since"));
    snprintf(number, sizeof(number), "%.9g", json_number_value(confidence));
    add(q, "--confidence", confidence ? number : NULL);
    add_word(q, "--");
    for (uint32_t i = 0; i < q->n_path; i++)
        add_word(q, q->path[i][0] ? q->path[i] : ".");
    if (q->is_full) {
        st = myth_fail(err, MYTH_ELIMIT, "inspect: the arguments are longer than %d bytes", TEXT_BYTES);
        goto fail;
    }
    const myth_self self = {.program = program,
                            .cancel = t->cli->cancel,
                            .mem = t->cli->mem,
                            .is_late = &is_late,
                            .seconds = (uint32_t)myth_tool_number(t, args, "max_seconds")};
    MYTH_TRY(myth_self_json(&report, &code, &self, q->arg, t->dir, 1u << MYTH_EXIT_INCOMPLETE, err));
    put_report(a, q, report, is_late);
fail:
    json_decref(report);
    myth_scan_close(&q->list, t->cli->mem);
    myth_free(t->cli->mem, q);
    return st;
}

static const myth_tool_arg inspect_args[] = {
    {.name = "paths",
     .kind = MYTH_TOOL_TEXTS,
     .is_required = true,
     .help = "the files and folders to inspect; \".\" is the whole directory"},
    {.name = "rules", .kind = MYTH_TOOL_TEXT, .help = "only findings of these rules, separated by commas"},
    {.name = "min_severity",
     .kind = MYTH_TOOL_TEXT,
     .words = "high|medium|low|info",
     .help = "only findings of this severity and above"},
    {.name = "task", .kind = MYTH_TOOL_TEXT, .help = "what the model shall look for besides, in a sentence"},
    {.name = "find",
     .kind = MYTH_TOOL_TEXT,
     .words = "auto|model|candidates|both",
     .help = "who finds: rules, whose places a judge accepts or not by one word each (candidates); the model in its "
             "answers; or both. auto: the model where the server was given one, else candidates"},
    {.name = "confidence",
     .kind = MYTH_TOOL_SHARE,
     .help = "a place of the rules is a finding when the judge gives it at least this probability"},
    {.name = "since",
     .kind = MYTH_TOOL_TEXT,
     .help = "only findings about lines that changed since this git revision, such as HEAD or main"},
    {.name = "max_seconds",
     .kind = MYTH_TOOL_NUMBER,
     .def = SECONDS,
     .min = 1,
     .max = 86400,
     .help = "after this time what was found so far is the answer, and the rest counts as not inspected"},
};

const myth_tool myth_tool_inspect = {
    .name = "inspect",
    .title = "Inspect code",
    .help = "Let the local model look for defects in files or folders. Every finding cites lines that exist and quotes "
            "them; whether it is true is the model's opinion. Answers about unchanged code are kept.",
    .items = "findings",
    .arg = inspect_args,
    .n_arg = sizeof(inspect_args) / sizeof(inspect_args[0]),
    .may_last = true,
    .run = run_inspect,
};
