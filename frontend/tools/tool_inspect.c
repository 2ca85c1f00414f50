/* tool_inspect.c - inspect lets the model look at files and folders, and shows the findings.
 *
 * Apart     the command inspect runs in a process of its own, so that neither its memory nor its end are the server's.
 *           Its answers are kept: unchanged code is not asked about again
 * Paths     are checked as for every tool before that: a file must be one that may be shown, and a folder must hold one
 * Names     the report calls a file as its repository does, the tool by its path from the directory */
#include "shown.h"
#include "frontend/cli/self.h"

#include <limits.h>
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
    myth_reply_end(a);
}

static void put_report(myth_reply *a, const asked *q, const json_t *report)
{
    const json_t *missed = json_object_get(report, "not_inspected"), *f;
    myth_json_out *head = myth_reply_head(a);
    size_t i;
    myth_jout_key_str(head, "model", text_of(report, "model"));
    myth_jout_key_str(head, "finish_reason", text_of(report, "finish_reason"));
    myth_jout_key_u64(head, "parts", (uint64_t)json_integer_value(json_object_get(report, "parts")));
    myth_jout_key_u64(head, "prompt_tokens", (uint64_t)json_integer_value(json_object_get(report, "prompt_tokens")));
    myth_reply_head_end(a);
    json_array_foreach(json_object_get(report, "findings"), i, f) put_finding(a, q, f);
    q->t->n_missed = json_is_true(json_object_get(report, "complete")) ? 0 : 1;
    if (q->t->n_missed)
        myth_reply_note(a, true, "not everything was inspected (%.40s)", text_of(report, "finish_reason"));
    if (json_array_size(missed) > 0) {
        const json_t *first = json_array_get(missed, 0);
        myth_reply_note(a, true, "%zu places were not inspected; the first: %.60s: %.60s", json_array_size(missed),
                        local_path(q, text_of(first, "path")), text_of(first, "why"));
    }
    myth_reply_note(a, false, "a quote exists where it is said to; whether a finding is true is the model's opinion");
}

/* Appends a flag with its value, if there is one, as one word: a value may begin with a dash. */
static void add(asked *q, const char *flag, const char *value)
{
    if (!value)
        return;
    char *word = q->text + q->n_text;
    const int n = snprintf(word, sizeof(q->text) - q->n_text, "%s=%s", flag, value);
    if (n < 0 || (size_t)n >= sizeof(q->text) - q->n_text) {
        q->is_full = true;
        return;
    }
    q->n_text += (size_t)n + 1;
    q->arg[q->n_arg++] = word;
}

static myth_status run_inspect(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    const myth_global *g = t->cli->global;
    char program[PATH_MAX], threads[16];
    static const char *const words[] = {"inspect", "--format=json", "-q", "--fail-level=never"};
    int code;
    json_t *report = NULL;
    myth_status st = MYTH_OK;
    const myth_scan_opts so = {
        .root = t->dir, .names_only = true, .n_threads = g->n_threads, .is_cancelled = t->cli->cancel};
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
    myth_place_find_folder(&q->place, t->dir, false);
    if (!myth_cli_self(program, sizeof(program))) {
        st = myth_fail(err, MYTH_EIO, "inspect: the path of this program is not known");
        goto fail;
    }
    for (; q->n_arg < sizeof(words) / sizeof(words[0]); q->n_arg++)
        q->arg[q->n_arg] = words[q->n_arg];
    add(q, "--model", t->model->model);
    add(q, "--tokenizer", t->model->tokenizer);
    add(q, "--load-mode", t->model->load_mode ? "pread" : NULL);
    add(q, "--device", g->device);
    add(q, "--mem-limit", g->mem_limit);
    add(q, "--rules", myth_tool_text(args, "rules"));
    add(q, "--min-severity", myth_tool_text(args, "min_severity"));
    add(q, "--task", myth_tool_text(args, "task"));
    snprintf(threads, sizeof(threads), "%u", g->n_threads);
    add(q, "--threads", g->n_threads ? threads : NULL);
    if (t->model->check_tensors)
        q->arg[q->n_arg++] = "--check-tensors";
    if (g->is_exact)
        q->arg[q->n_arg++] = "--exact";
    q->arg[q->n_arg++] = "--";
    for (uint32_t i = 0; i < q->n_path; i++)
        q->arg[q->n_arg++] = q->path[i][0] ? q->path[i] : ".";
    if (q->is_full) {
        st = myth_fail(err, MYTH_ELIMIT, "inspect: the arguments are longer than %d bytes", TEXT_BYTES);
        goto fail;
    }
    const myth_self self = {.program = program,
                            .cancel = t->cli->cancel,
                            .mem = t->cli->mem,
                            .seconds = (uint32_t)myth_tool_number(t, args, "max_seconds")};
    MYTH_TRY(myth_self_json(&report, &code, &self, q->arg, t->dir, 1u << MYTH_EXIT_INCOMPLETE, err));
    put_report(a, q, report);
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
