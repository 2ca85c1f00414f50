/* runlog.c - a run's record as it grows: sections in one JSON document, texts straight to the file. Form: runlog.h. */
#include "runlog.h"

#include "runlog_file.h"
#include "runlog_redact.h"
#include "version.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

const myth_option myth_options_runlog[MYTH_N_OPTIONS_RUNLOG] = {
    {"log", NULL, MYTH_OPT_TEXT, "FILE", offsetof(myth_runlog_flags, path), "($XDG_STATE_HOME/mythos/runs.db)", 0, 0,
     "where the run is recorded; mythos log reads it"},
    {"no-log", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_runlog_flags, is_off), NULL, 0, 0, "do not record the run"},
    {"log-prompts", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_runlog_flags, prompts), "on", 0, 0,
     "record prompts and answers, secrets named; --no-log-prompts records their hashes and counts"},
};

enum { SAVE_SECONDS = 1 }; /* what a run that is killed may miss in its record */

struct myth_runlog {
    myth_mem *mem;
    myth_runlog_file *file; /* NULL: given up */
    int64_t run;
    json_t *doc; /* raw; what is saved is a redacted copy */
    const myth_cli *cli;
    bool prompts;
    struct timespec began, stage, saved;
    uint32_t n_exchange;
    /* lent */
    const myth_inspection *in;
    const myth_material *material;
    const myth_inspect_opts *io;
    const myth_model *model;
    const char *root;
};

/* ---- life ---- */

static const myth_redactor *redactor_of(const myth_runlog *log)
{
    return log->in ? myth_inspect_report(log->in)->redactor : NULL;
}

/* Said once: from then on there is no file. */
static void give_up(myth_runlog *log, const myth_error *err)
{
    myth_term_progress_end(log->cli->term);
    myth_term_note(log->cli->term, "%s; this run is not logged", err->msg);
    myth_runlog_file_close(log->file);
    log->file = NULL;
}

static void out_of_memory(myth_runlog *log)
{
    myth_error err;
    myth_fail(&err, MYTH_ENOMEM, "the run log: no memory");
    give_up(log, &err);
}

static bool is_on(const myth_runlog *log) { return log && log->file; }

/* Takes v; gives up when there is no memory for it or for its place. */
static void set(myth_runlog *log, json_t *object, const char *key, json_t *v)
{
    if (is_on(log) && json_object_set_new(object, key, v) != 0)
        out_of_memory(log);
    else if (!is_on(log))
        json_decref(v);
}

static void append(myth_runlog *log, json_t *array, json_t *v)
{
    if (is_on(log) && json_array_append_new(array, v) != 0)
        out_of_memory(log);
    else if (!is_on(log))
        json_decref(v);
}

static json_t *text(const myth_runlog *log, const char *s)
{
    return s ? myth_json_lossy(log->mem, s, strlen(s)) : json_null();
}
static void set_text(myth_runlog *log, json_t *o, const char *key, const char *s) { set(log, o, key, text(log, s)); }
static void set_number(myth_runlog *log, json_t *o, const char *key, uint64_t v)
{
    set(log, o, key, json_integer((json_int_t)v));
}
/* What is no number has no place in JSON. */
static void set_real(myth_runlog *log, json_t *o, const char *key, double v)
{
    set(log, o, key, v - v == 0 ? json_real(v) : json_null());
}

/* A string that must be given back byte for byte: {"hex"} when it is not UTF-8. */
static json_t *exact(const char *s)
{
    json_t *j = json_string(s);
    if (j)
        return j;
    size_t n = strlen(s);
    char *hex = malloc(2 * n + 1);
    for (size_t i = 0; hex && i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)s[i]);
    j = hex ? json_pack("{s:s}", "hex", hex) : NULL;
    free(hex);
    return j;
}

/* The object or array of that name in the document, made when it is not there; NULL when that fails. */
static json_t *section(myth_runlog *log, const char *name, bool is_array)
{
    json_t *s = json_object_get(log->doc, name);
    if (!s) {
        set(log, log->doc, name, is_array ? json_array() : json_object());
        s = is_on(log) ? json_object_get(log->doc, name) : NULL;
    }
    return s;
}

static double seconds_since(const struct timespec *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) * 1e-9;
}

/* ---- command line ---- */

/* Flags that say where to write or what to say: a replay writes and says nothing, so they are no part of what it
 * repeats. */
static bool is_silent(const char *name)
{
    static const char *const list[] = {"output", "patch",   "update-baseline", "mem-report",
                                       "quiet",  "verbose", "log-format",      "show-config",
                                       "log",    "no-log",  "log-prompts"};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static json_t *option_value(const myth_opt_slot *s)
{
    char value[256];
    if (s->opt->kind == MYTH_OPT_LIST) {
        const myth_opt_list *list = s->field;
        json_t *j = json_array();
        for (int i = 0; i < list->n; i++)
            json_array_append_new(j, exact(list->item[i]));
        return j;
    }
    if (s->opt->kind == MYTH_OPT_TEXT)
        return *(const char **)s->field ? exact(*(const char **)s->field) : json_null();
    if (s->opt->kind == MYTH_OPT_FLAG)
        return json_boolean(*(bool *)s->field);
    if (s->source != MYTH_FROM_DEFAULT && s->text)
        return exact(s->text); /* all the digits that were given */
    myth_args_text(s, value, sizeof(value));
    return exact(value);
}

static void put_options(myth_runlog *log)
{
    json_t *options = section(log, "options", true);
    for (int i = 0; is_on(log) && i < log->cli->parsed->n_slot; i++) {
        const myth_opt_slot *s = &log->cli->parsed->slot[i];
        /* "(all cores)": what a zero stands for is the command's to say, then and later */
        bool is_unset =
            s->source == MYTH_FROM_DEFAULT && (!s->opt->def || s->opt->def[0] == '(') && s->opt->kind != MYTH_OPT_FLAG;
        json_t *o = json_pack("{s:s, s:s, s:o}", "name", s->opt->name, "from", myth_opt_source_name[s->source], "value",
                              is_unset ? json_null() : option_value(s));
        if (o && is_silent(s->opt->name))
            json_object_set_new(o, "repeated", json_false());
        append(log, options, o);
        if (strcmp(s->opt->name, "update-baseline") == 0 && *(bool *)s->field)
            set(log, log->doc, "updated_baseline", json_true());
    }
}

static void put_command(myth_runlog *log)
{
    char cwd[PATH_MAX];
    json_t *args = NULL;
    set_text(log, log->doc, "command", log->cli->command->name);
    args = section(log, "args", true);
    for (int i = 0; is_on(log) && i < log->cli->n_arg; i++)
        append(log, args, exact(log->cli->arg[i]));
    set(log, log->doc, "cwd", getcwd(cwd, sizeof(cwd)) ? exact(cwd) : json_null());
    if (is_on(log))
        put_options(log);
}

/* ---- what runs ---- */

static json_t *file_identity(myth_runlog *log, const char *path)
{
    myth_runlog_hash h;
    myth_error err = {0};
    if (myth_runlog_hash_file(&h, path, log->file, &err) != MYTH_OK)
        return json_pack("{s:o, s:s}", "path", exact(path), "error", err.msg);
    return json_pack("{s:o, s:I, s:I, s:I, s:s}", "path", exact(path), "bytes", (json_int_t)h.bytes, "mtime_ns",
                     (json_int_t)h.mtime_ns, "inode", (json_int_t)h.inode, "hash", h.hash);
}

static void put_binary(myth_runlog *log)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    json_t *b = n > 0 ? file_identity(log, path) : json_object();
    if (b) {
        json_object_set_new(b, "version", json_string(MYTHOS_VERSION));
        json_object_set_new(b, "commit", json_string(MYTHOS_COMMIT));
    }
    set(log, log->doc, "binary", b);
    set_text(log, log->doc, "weights", MYTHOS_WEIGHTS_HASH);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static myth_status open_file(myth_runlog *log, const myth_runlog_flags *f, myth_error *err)
{
    char path[PATH_MAX];
    myth_status st;
    int64_t ms = now_ms();
    MYTH_TRY(myth_runlog_file_place(path, sizeof(path), f->path, err));
    MYTH_TRY(myth_runlog_file_open(&log->file, log->mem, path, &(myth_runlog_file_opts){0}, err));
    MYTH_TRY(myth_runlog_file_begin(log->file, &log->run, ms, log->cli->command->name, err));
    set_number(log, log->doc, "format", MYTH_RUNLOG_FORMAT);
    set_number(log, log->doc, "run", (uint64_t)log->run);
    set_number(log, log->doc, "began_ms", (uint64_t)ms);
fail:
    return st;
}

myth_runlog *myth_runlog_begin(const myth_runlog_flags *f, const myth_cli *cli)
{
    myth_mem *mem;
    myth_error err = {0};
    if (f->is_off || myth_mem_open(&mem, MYTH_RUNLOG_MEM_BYTES, NULL) != MYTH_OK)
        return NULL;
    myth_runlog *log = myth_alloc(mem, MYTH_MEM_OTHER, "run log", sizeof(*log));
    if (!log) {
        myth_mem_close(mem);
        return NULL;
    }
    log->mem = mem;
    log->cli = cli;
    log->prompts = f->prompts;
    clock_gettime(CLOCK_MONOTONIC, &log->began);
    log->stage = log->began;
    log->doc = json_object();
    if (!log->doc || open_file(log, f, &err) != MYTH_OK) {
        if (!log->doc)
            myth_fail(&err, MYTH_ENOMEM, "the run log: no memory");
        give_up(log, &err);
    }
    if (is_on(log))
        put_command(log);
    if (is_on(log))
        put_binary(log);
    return log;
}

static void put_inspection(myth_runlog *log);
static void save(myth_runlog *log, const int *exit_code);

void myth_runlog_end(myth_runlog *log, int exit_code)
{
    if (!log)
        return;
    myth_mem *mem = log->mem;
    if (is_on(log)) {
        set_real(log, log->doc, "seconds", seconds_since(&log->began));
        set(log, log->doc, "exit_code", json_integer(exit_code));
        put_inspection(log); /* rounds may have added to it */
        save(log, &exit_code);
    }
    myth_runlog_file_close(log->file);
    json_decref(log->doc);
    myth_free(mem, log);
    myth_mem_close(mem);
}

/* ---- sections ---- */

void myth_runlog_say(myth_runlog *log, const char *name, const char *s)
{
    json_t *texts;
    if (is_on(log) && s && (texts = section(log, "texts", false)) != NULL)
        set_text(log, texts, name, s);
}

void myth_runlog_count(myth_runlog *log, const char *section_name, const char *name, double value)
{
    json_t *counts = is_on(log) ? section(log, "counts", false) : NULL, *s;
    if (!counts)
        return;
    if (!(s = json_object_get(counts, section_name))) {
        set(log, counts, section_name, json_object());
        s = is_on(log) ? json_object_get(counts, section_name) : NULL;
    }
    if (s)
        set_real(log, s, name, value);
}

void myth_runlog_stage(myth_runlog *log, const char *name)
{
    json_t *stages = is_on(log) ? section(log, "stages", true) : NULL;
    if (!stages)
        return;
    append(log, stages, json_pack("{s:s, s:f}", "name", name, "seconds", seconds_since(&log->stage)));
    clock_gettime(CLOCK_MONOTONIC, &log->stage);
}

void myth_runlog_input(myth_runlog *log, const char *role, const char *path)
{
    json_t *inputs = is_on(log) && path ? section(log, "inputs", true) : NULL;
    if (!inputs)
        return;
    json_t *j = file_identity(log, path);
    if (j)
        json_object_set_new(j, "role", json_string(role));
    append(log, inputs, j);
}

/* The files of a model that is a folder: weights, facts, tokenizer. */
static void put_folder(myth_runlog *log, json_t *files, const char *dir)
{
    static const char *const suffix[] = {".safetensors", ".json", ".gguf", ".model"};
    struct dirent **entry = NULL;
    int n = scandir(dir, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        const char *name = entry[i]->d_name;
        bool wanted = false;
        for (size_t k = 0; k < sizeof(suffix) / sizeof(suffix[0]); k++)
            wanted = wanted || (strlen(name) > strlen(suffix[k]) &&
                                strcmp(name + strlen(name) - strlen(suffix[k]), suffix[k]) == 0);
        if (wanted && snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path))
            append(log, files, file_identity(log, path));
        free(entry[i]);
    }
    free(entry);
}

void myth_runlog_model(myth_runlog *log, const myth_model *m, const char *spec)
{
    struct stat info;
    if (!is_on(log))
        return;
    const char *path = myth_weights_path(m->weights);
    json_t *files = json_array();
    json_t *j = json_pack("{s:o, s:o, s:O}", "spec", exact(spec), "name", text(log, myth_weights_name(m->weights)),
                          "files", files);
    if (j && myth_weights_get_format(m->weights) != MYTH_FORMAT_RANDOM && path && stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            put_folder(log, files, path);
        else
            append(log, files, file_identity(log, path));
    }
    json_decref(files);
    set(log, log->doc, "model", j);
}

void myth_runlog_input_bytes(myth_runlog *log, const char *role, const void *data, size_t n)
{
    char hash[72];
    json_t *inputs = is_on(log) ? section(log, "inputs", true) : NULL;
    if (!inputs)
        return;
    myth_runlog_hash_bytes(hash, data, n);
    append(log, inputs, json_pack("{s:s, s:I, s:s}", "role", role, "bytes", (json_int_t)n, "hash", hash));
}

/* The model that made the index's vectors, when it has some. */
static void put_vectors(myth_runlog *log, myth_index *x)
{
    unsigned char model[16];
    char name[MYTH_VECTORS_NAME], hex[33];
    if (!is_on(log) || myth_vectors_model(x, model, name, NULL) != MYTH_OK)
        return;
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", model[i]);
    set(log, log->doc, "vectors", json_pack("{s:o, s:s}", "model", text(log, name), "hash", hex));
}

void myth_runlog_index(myth_runlog *log, myth_index *x)
{
    myth_index_stats stats;
    sqlite3_stmt *q = NULL;
    char hex[40];
    char *list = NULL;
    size_t n_list = 0;
    int rc = 0;
    myth_error err = {0};
    if (!is_on(log) || myth_index_last(x, &stats, NULL) != MYTH_OK)
        return;
    XXH3_state_t *h = XXH3_createState();
    FILE *f = open_memstream(&list, &n_list);
    bool ok = h && f && XXH3_128bits_reset(h) == XXH_OK &&
              sqlite3_prepare_v2(myth_store_db(myth_index_store(x)), "SELECT path, hash FROM files ORDER BY path", -1,
                                 &q, NULL) == SQLITE_OK;
    while (ok && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        for (int i = 0; i < 2; i++) /* the hash has one length, so nothing need part them */
            XXH3_128bits_update(h, sqlite3_column_blob(q, i), (size_t)sqlite3_column_bytes(q, i));
        fwrite(sqlite3_column_blob(q, 0), 1, (size_t)sqlite3_column_bytes(q, 0), f);
        putc('\0', f);
    }
    if (ok && rc == SQLITE_DONE && f && fflush(f) == 0) {
        XXH128_canonical_t c;
        XXH128_canonicalFromHash(&c, XXH3_128bits_digest(h));
        strcpy(hex, "xxh3:");
        for (int i = 0; i < 16; i++)
            snprintf(hex + 5 + 2 * i, 3, "%02x", c.digest[i]);
        json_t *out = json_object();
        for (int r = 1; out && r < MYTH_SCAN_REASON_N; r++)
            if (stats.n_out[r])
                json_object_set_new(out, myth_scan_reason_name((myth_scan_reason)r),
                                    json_integer((json_int_t)stats.n_out[r]));
        set(log, log->doc, "index",
            json_pack("{s:o, s:o, s:s, s:I, s:I, s:I, s:o}", "path", text(log, myth_index_path(x)), "root",
                      exact(myth_index_root(x)), "hash", hex, "files", (json_int_t)stats.n_file, "chunks",
                      (json_int_t)stats.n_chunk, "bytes", (json_int_t)stats.bytes, "out", out));
        put_vectors(log, x);
        if (is_on(log) && n_list <= MYTH_RUNLOG_TEXT_BYTES &&
            myth_runlog_file_put(log->file, log->run, "index_files", list, n_list, &err) != MYTH_OK)
            give_up(log, &err);
    }
    sqlite3_finalize(q);
    XXH3_freeState(h);
    if (f)
        fclose(f);
    free(list);
}

void myth_runlog_found(myth_runlog *log, const myth_runlog_candidate *c)
{
    json_t *list = is_on(log) ? section(log, "candidates", true) : NULL;
    if (!list || json_array_size(list) >= MYTH_RUNLOG_CANDIDATES)
        return;
    json_t *parts = json_object();
    json_t *j = json_pack("{s:o, s:[I, I], s:o, s:o, s:o, s:O}", "path", text(log, c->path), "lines",
                          (json_int_t)c->first, (json_int_t)c->last, "symbol", text(log, c->symbol), "kind",
                          text(log, c->kind), "fate", text(log, c->fate), "parts", parts);
    if (j)
        set_real(log, j, "score", c->score);
    for (uint32_t i = 0; j && i < c->n_part; i++)
        set_real(log, parts, c->part[i].name, c->part[i].value);
    json_decref(parts);
    append(log, list, j);
}

static void put_hit(myth_runlog *log, const myth_hit *h, const char *fate)
{
    myth_runlog_found(log, &(myth_runlog_candidate){
                               .path = h->path,
                               .symbol = h->symbol,
                               .kind = myth_chunk_kind_name(h->kind),
                               .fate = fate,
                               .first = h->line0,
                               .last = h->line1,
                               .score = h->score,
                               .part = h->part,
                               .n_part = h->n_part,
                           });
}

static bool is_among(const myth_hits *hits, const myth_hit *h)
{
    for (uint32_t i = 0; i < hits->n_hit; i++)
        if (hits->hit[i].chunk_id == h->chunk_id)
            return true;
    return false;
}

void myth_runlog_search(myth_runlog *log, myth_index *x, const myth_search_opts *asked, const myth_hits *hits,
                        const uint32_t *order, uint32_t n_taken)
{
    myth_hits more = {0};
    myth_search_opts o = *asked;
    if (!is_on(log))
        return;
    myth_runlog_say(log, "query", asked->query);
    myth_runlog_say(log, "query_kind", hits->query_kind);
    myth_runlog_say(log, "ranking", asked->weights);
    myth_runlog_say(log, "semantic", asked->vectors ? "on" : "off");
    myth_runlog_count(log, "search", "chunks_seen", (double)hits->n_seen);
    myth_runlog_count(log, "search", "terms", hits->n_term);
    myth_runlog_count(log, "search", "terms_dropped", hits->n_dropped);
    for (uint32_t i = 0; i < hits->n_hit; i++)
        put_hit(log, &hits->hit[order ? order[i] : i], i < n_taken ? "taken" : "below the cut");
    o.k = MYTH_RUNLOG_BELOW;
    o.with_text = false;
    if (hits->n_hit >= asked->k && o.k > asked->k && myth_search(&more, x, &o, NULL) == MYTH_OK) {
        for (uint32_t i = 0; i < more.n_hit; i++)
            if (!is_among(hits, &more.hit[i]))
                put_hit(log, &more.hit[i], "below the cut");
        myth_hits_free(&more);
    }
}

void myth_runlog_rerank(myth_runlog *log, const char *question, const myth_candidate *c, const float *score,
                        const uint32_t *order, uint32_t n)
{
    json_t *lists = is_on(log) ? section(log, "reranks", true) : NULL, *list = json_array();
    for (uint32_t i = 0; lists && i < n && i < MYTH_RUNLOG_CANDIDATES; i++) {
        const myth_candidate *w = &c[order[i]];
        json_t *j = json_pack("{s:o, s:I, s:o}", "path", text(log, w->path), "line", (json_int_t)w->line, "symbol",
                              text(log, w->symbol));
        if (j)
            set_real(log, j, "score", (double)score[order[i]]);
        append(log, list, j);
    }
    if (lists && is_on(log))
        append(log, lists,
               json_pack("{s:o, s:I, s:O}", "question", text(log, question), "pieces", (json_int_t)n, "order", list));
    json_decref(list);
}

/* ---- what is shown ---- */

/* "disk" when the file under root is still what was read: then a replay can read it there. */
static const char *origin_of(const myth_runlog *log, const myth_source *src, const char *hash)
{
    char path[PATH_MAX], now[72];
    unsigned char *bytes = NULL;
    size_t n = 0;
    const char *origin = "given";
    int k = snprintf(path, sizeof(path), "%s%s%s", log->root ? log->root : "", log->root ? "/" : "", src->path);
    if (k > 0 && k < (int)sizeof(path) && strcmp(src->path, "-") != 0 &&
        myth_cli_read(&bytes, &n, log->mem, path, MYTH_SOURCE_MAX, NULL) == MYTH_OK) {
        myth_runlog_hash_bytes(now, bytes, n);
        if (strcmp(now, hash) == 0)
            origin = "disk";
    }
    myth_free(log->mem, bytes);
    return origin;
}

static void put_files(myth_runlog *log)
{
    json_t *files = json_array();
    for (uint32_t i = 0; i < myth_material_n_source(log->material); i++) {
        const myth_source *src = myth_material_of(log->material, i);
        char hash[72];
        myth_runlog_hash_bytes(hash, src->bytes, src->len);
        json_t *kinds = json_array();
        uint32_t bits = myth_file_kinds(src->path, false, false);
        for (int k = 0; k < MYTH_KIND_KIND_N; k++)
            if (bits >> k & 1)
                json_array_append_new(kinds, json_string(myth_file_kind_name((myth_file_kind)k)));
        append(log, files,
               json_pack("{s:o, s:I, s:I, s:s, s:s, s:o}", "path", exact(src->path), "bytes", (json_int_t)src->len,
                         "lines", (json_int_t)src->n_line, "hash", hash, "origin", origin_of(log, src, hash), "kinds",
                         kinds));
    }
    set(log, log->doc, "files", files);
}

/* Columns before the text of a line that is not blank. */
static uint32_t indent_of(const myth_source *src, uint32_t idx)
{
    uint32_t n = 0;
    for (const myth_line *l = &src->line[idx]; n < l->len && strchr(" \t", src->bytes[l->off + n]); n++) {}
    return n;
}

static bool closes(const myth_source *src, uint32_t idx)
{
    return strchr("})]", src->bytes[src->line[idx].off + indent_of(src, idx)]) != NULL;
}

/* Whether what follows line `last` goes on inside the definition that it is in, as the indentation tells: what begins
 * at the margin does not, nor what comes behind a blank line and further out, or behind the end of a block. */
static bool is_cut_inside(const myth_source *src, uint32_t last)
{
    uint32_t before = last, next = last;
    if (last == 0 || last >= src->n_line || (next = src->line[last].next) >= src->n_line)
        return false;
    while (before > 0 && !src->line[before - 1].text_len)
        before--;
    if (before == 0)
        return false;
    bool has_blank = next - before > 0;
    if (closes(src, next))
        return true;
    if (indent_of(src, next) == 0)
        return false;
    return !has_blank || !(closes(src, before - 1) || indent_of(src, next) < indent_of(src, before - 1));
}

/* Lines of a piece that stand in the blocks of each part; whether a part ends inside the piece. */
static json_t *shown_in(myth_runlog *log, const myth_piece *p, uint32_t *n_line, bool *is_cut)
{
    json_t *parts = json_array();
    const myth_source *src = myth_material_of(log->material, p->source);
    *n_line = 0;
    *is_cut = false;
    for (uint32_t i = 0; i < myth_inspect_n_part(log->in); i++) {
        uint32_t n_block, n_tok, here = 0;
        const myth_block *b = myth_inspect_part(log->in, i, &n_block, &n_tok);
        for (uint32_t k = 0; k < n_block; k++) {
            uint32_t first = b[k].first > p->first ? b[k].first : p->first,
                     last = b[k].last < p->last ? b[k].last : p->last;
            if (b[k].src != src || first > last)
                continue;
            here += last - first + 1;
            *is_cut = *is_cut || (last < p->last && is_cut_inside(src, last));
        }
        if (here)
            append(log, parts, json_integer(i));
        *n_line += here;
    }
    return parts;
}

static void put_pieces(myth_runlog *log)
{
    json_t *pieces = json_array();
    for (uint32_t i = 0; i < myth_material_n_piece(log->material); i++) {
        const myth_piece *p = myth_material_piece(log->material, i);
        uint32_t n_line;
        bool is_cut;
        json_t *parts = shown_in(log, p, &n_line, &is_cut);
        json_t *j =
            json_pack("{s:I, s:[I, I], s:o, s:o, s:b, s:I, s:o, s:I, s:b}", "file", (json_int_t)p->source, "lines",
                      (json_int_t)p->first, (json_int_t)p->last, "symbol", text(log, p->symbol), "why",
                      text(log, p->why), "subject", p->is_subject, "of", (json_int_t)(p->is_subject ? i : p->of),
                      "parts", parts, "shown_lines", (json_int_t)n_line, "cut_inside", is_cut);
        if (j)
            set_real(log, j, "score", p->score);
        append(log, pieces, j);
    }
    set(log, log->doc, "pieces", pieces);
}

static void put_prompt(myth_runlog *log)
{
    char hash[MYTH_PROMPT_HASH_LEN + 1];
    json_t *parts = json_array();
    myth_prompt_hash(hash, log->io->style);
    for (uint32_t i = 0; i < myth_inspect_n_part(log->in); i++) {
        uint32_t n_block, n_tok;
        const myth_block *b = myth_inspect_part(log->in, i, &n_block, &n_tok);
        json_t *blocks = json_array();
        for (uint32_t k = 0; k < n_block; k++)
            append(log, blocks,
                   json_pack("{s:o, s:[I, I]}", "path", text(log, b[k].src->path), "lines", (json_int_t)b[k].first,
                             (json_int_t)b[k].last));
        append(log, parts, json_pack("{s:I, s:o}", "prompt_tokens", (json_int_t)n_tok, "blocks", blocks));
    }
    set(log, log->doc, "prompt",
        json_pack("{s:s, s:s, s:o}", "style", myth_prompt_style_name(log->io->style), "hash", hash, "parts", parts));
}

void myth_runlog_inspection(myth_runlog *log, const myth_inspection *in, const myth_material *m,
                            const myth_inspect_opts *io, const myth_model *model, const char *root)
{
    if (!is_on(log))
        return;
    log->in = in;
    log->material = m;
    log->io = io;
    log->model = model;
    log->root = root;
    set(log, log->doc, "root", root ? exact(root) : json_null());
    put_inspection(log);
    save(log, NULL);
}

/* ---- exchanges ---- */

static void put_text(myth_runlog *log, json_t *exchange, const char *kind, const char *name, const void *data, size_t n)
{
    myth_error err = {0};
    char whole[64];
    snprintf(whole, sizeof(whole), "%s/%s", kind, name);
    myth_status st = is_on(log) ? myth_runlog_file_put(log->file, log->run, whole, data, n, &err) : MYTH_OK;
    if (st == MYTH_ELIMIT)
        set_text(log, exchange, "left_out", err.msg);
    else if (st != MYTH_OK)
        give_up(log, &err);
    else
        set_text(log, exchange, kind, whole);
}

/* The prompt as the model sees it. Of a later turn of the same sequence what is new: the rest is in the exchange
 * before. */
static void put_prompt_text(myth_runlog *log, json_t *exchange, const char *name, const myth_exchange *x)
{
    uint32_t from = x->kind == MYTH_EXCHANGE_FIRST ? 0 : x->n_kept, n_block, n_tok;
    size_t n = myth_prompt_text(NULL, 0, log->model->tokenizer, x->ids + from, x->n_ids - from);
    const myth_block *block = myth_inspect_part(log->in, x->part, &n_block, &n_tok);
    char *raw = myth_alloc(log->mem, MYTH_MEM_OTHER, "run log", n + 1);
    myth_redacted b = {.mem = log->mem};
    if (!raw) {
        set_text(log, exchange, "left_out", "the prompt: no memory");
        return;
    }
    myth_prompt_text(raw, n, log->model->tokenizer, x->ids + from, x->n_ids - from);
    myth_redacted_add_prompt(&b, redactor_of(log), raw, n, block, n_block);
    myth_free(log->mem, raw);
    if (b.has_failed) {
        set_text(log, exchange, "left_out", "the prompt: no memory");
    } else {
        set_number(log, exchange, "from_token", from);
        put_text(log, exchange, "prompt", name, b.n ? b.text : "", b.n);
        if (!b.has_placeholder && is_on(log))
            put_text(log, exchange, "ids", name, x->ids + from, (x->n_ids - from) * sizeof(int32_t));
    }
    myth_redacted_free(&b);
}

void myth_runlog_exchange(myth_runlog *log, const myth_exchange *x)
{
    char name[48], hash[72];
    json_t *list = is_on(log) && log->in ? section(log, "exchanges", true) : NULL;
    if (!list || log->n_exchange++ >= MYTH_RUNLOG_EXCHANGES)
        return;
    snprintf(name, sizeof(name), "%u/%u/%s", x->part, x->round, myth_exchange_name(x->kind));
    myth_runlog_hash_bytes(hash, x->ids, x->n_ids * sizeof(int32_t));
    json_t *j =
        json_pack("{s:I, s:I, s:s, s:I, s:I, s:I, s:s, s:s, s:f}", "part", (json_int_t)x->part, "round",
                  (json_int_t)x->round, "kind", myth_exchange_name(x->kind), "prompt_tokens", (json_int_t)x->n_ids,
                  "kept_tokens", (json_int_t)x->n_kept, "new_tokens", (json_int_t)x->n_new, "finish",
                  myth_finish_name(x->finish), "ids_hash", hash, "seconds", x->seconds);
    if (!j) {
        out_of_memory(log);
        return;
    }
    myth_runlog_hash_bytes(hash, x->text, x->n);
    set_text(log, j, "answer_hash", hash);
    if (log->prompts) {
        myth_redacted b = {.mem = log->mem};
        put_prompt_text(log, j, name, x);
        myth_redacted_add_answer(&b, redactor_of(log), x->text, x->n);
        if (!b.has_failed)
            put_text(log, j, "answer", name, b.n ? b.text : "", b.n);
        myth_redacted_free(&b);
    }
    append(log, list, j);
    if (is_on(log) && seconds_since(&log->saved) > SAVE_SECONDS)
        save(log, NULL);
}

/* ---- report ---- */

/* Findings that were not kept, and why. */
static void put_dropped(myth_runlog *log, const myth_report *r)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < r->n_drop; i++) {
        const myth_drop *d = &r->drop[i];
        append(log, list,
               json_pack("{s:I, s:o, s:[I, I], s:s, s:s}", "part", (json_int_t)d->part, "path",
                         text(log, d->block < r->n_block ? r->block[d->block].src->path : NULL), "lines",
                         (json_int_t)d->first, (json_int_t)d->last, "rule",
                         d->rule >= 0 && (uint32_t)d->rule < myth_rule_count() ? myth_rules[d->rule].id : "", "why",
                         d->why));
    }
    set(log, log->doc, "dropped", list);
}

/* The bytes of a form; free them. NULL when there is no memory. */
static char *rendered(const myth_report *r, myth_form form, size_t *n)
{
    const myth_term plain = {0};
    char *bytes = NULL;
    FILE *f = open_memstream(&bytes, n);
    if (!f)
        return NULL;
    myth_output_render(f, form, r, &plain);
    if (fclose(f) != 0) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

void myth_runlog_report(myth_runlog *log, const myth_report *r, myth_form form)
{
    myth_error err = {0};
    char hash[72];
    size_t n = 0, n_json = 0;
    if (!is_on(log))
        return;
    char *bytes = rendered(r, form, &n), *json = rendered(r, MYTH_FORM_JSON, &n_json);
    json_t *j = json ? json_loadb(json, n_json, 0, NULL) : NULL;
    if (bytes && j) {
        put_dropped(log, r);
        set(log, log->doc, "report", j);
        set_text(log, log->doc, "form", myth_form_name(form));
        myth_runlog_hash_bytes(hash, bytes, n);
        set_text(log, log->doc, "report_hash", hash);
        myth_status st = is_on(log) ? myth_runlog_file_put(log->file, log->run, "report", bytes, n, &err) : MYTH_OK;
        if (st == MYTH_ELIMIT)
            set_text(log, log->doc, "report_left_out", err.msg);
        else if (st != MYTH_OK)
            give_up(log, &err);
    } else {
        json_decref(j);
    }
    free(bytes);
    free(json);
}

/* ---- save ---- */

/* A command line that was redacted says something else than the one that ran. */
static bool has_secret_in_command(const myth_runlog *log)
{
    static const char *const key[] = {"args", "options"};
    bool changed = false;
    for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
        const json_t *j = json_object_get(log->doc, key[i]);
        if (j)
            json_decref(myth_redacted_json(j, redactor_of(log), log->mem, &changed));
    }
    return changed;
}

/* The arguments, for lists. */
static void subject_of(myth_redacted *b, const myth_runlog *log)
{
    for (int i = 0; i < log->cli->n_arg; i++) {
        if (i)
            myth_redacted_add(b, NULL, " ", 1);
        const char *arg = log->cli->arg[i];
        if (myth_redacted_is_path(redactor_of(log), arg))
            myth_redacted_add_path(b, arg);
        else
            myth_redacted_add(b, redactor_of(log), arg, strlen(arg));
    }
}

static bool reads_standard_input(const myth_cli *cli)
{
    for (int i = 0; i < cli->n_arg; i++)
        if (strcmp(cli->arg[i], "-") == 0)
            return true;
    for (int i = 0; i < cli->parsed->n_slot; i++) {
        const myth_opt_slot *s = &cli->parsed->slot[i];
        if (s->opt->kind == MYTH_OPT_TEXT && *(const char **)s->field && strcmp(*(const char **)s->field, "-") == 0)
            return true;
    }
    return false;
}

static void put_inspection(myth_runlog *log)
{
    if (!log->in)
        return;
    put_files(log);
    put_pieces(log);
    put_prompt(log);
}

static void save(myth_runlog *log, const int *exit_code)
{
    myth_error err = {0};
    bool changed = false;
    if (log->cli->device[0])
        set_text(log, log->doc, "device", log->cli->device);
    json_t *why = json_array();
    if (has_secret_in_command(log))
        json_array_append_new(why,
                              json_string("a secret stands in the command line, and the log does not keep secrets"));
    if (reads_standard_input(log->cli))
        json_array_append_new(why, json_string("the text came from standard input, which the log does not keep"));
    set(log, log->doc, "no_replay", why);
    if (!is_on(log))
        return;
    json_t *out = myth_redacted_json(log->doc, redactor_of(log), log->mem, &changed);
    myth_redacted subject = {.mem = log->mem};
    subject_of(&subject, log);
    char *record = out && !subject.has_failed ? json_dumps(out, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    if (!record)
        out_of_memory(log);
    else if (myth_runlog_file_save(log->file, log->run, subject.n ? subject.text : "", record, strlen(record),
                                   exit_code, &err) != MYTH_OK)
        give_up(log, &err);
    free(record);
    myth_redacted_free(&subject);
    json_decref(out);
    clock_gettime(CLOCK_MONOTONIC, &log->saved);
}
