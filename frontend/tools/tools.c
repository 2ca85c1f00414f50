/* tools.c - the table of tools: checks the arguments of a call against their rows, opens what tools share, and writes
 * the rows as JSON schemas. */
#include "tools_impl.h"

#include "frontend/cli/hints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOOL(name) extern const myth_tool myth_tool_##name;
#include "tools.def"
#undef TOOL

static const myth_tool *const tools[] = {
#define TOOL(name) &myth_tool_##name,
#include "tools.def"
#undef TOOL
};
enum { N_TOOL = sizeof(tools) / sizeof(tools[0]) };

/* The arguments that every tool takes. */
static const myth_tool_arg common[] = {
    {.name = "max_bytes",
     .kind = MYTH_TOOL_NUMBER,
     .def = 16384,
     .min = 1024,
     .max = 1 << 20,
     .help = "most bytes of the answer, all of it counted"},
    {.name = "max_tokens",
     .kind = MYTH_TOOL_NUMBER,
     .def = 0,
     .min = 256,
     .max = 1 << 18,
     .help = "most tokens of the answer, counted by the model's tokenizer; not given: only bytes are counted"},
    {.name = "skip",
     .kind = MYTH_TOOL_NUMBER,
     .max = 1 << 30,
     .help = "leave out the first items, which an answer before had: as many as it skipped and showed"},
};
enum { N_COMMON = sizeof(common) / sizeof(common[0]), ARGS_MAX = 16 };

static const myth_tool_arg *arg_at(const myth_tool *tool, size_t i)
{
    const size_t n = tool->items ? N_COMMON : N_COMMON - 1; /* an answer without a list skips nothing */
    return i < tool->n_arg ? &tool->arg[i] : i < tool->n_arg + n ? &common[i - tool->n_arg] : NULL;
}

static const myth_tool *find_tool(const char *name)
{
    for (int i = 0; i < N_TOOL; i++)
        if (strcmp(tools[i]->name, name) == 0)
            return tools[i];
    return NULL;
}

bool myth_tools_has(const char *name, const char **hint)
{
    const char *known[N_TOOL];
    for (int i = 0; i < N_TOOL; i++)
        known[i] = tools[i]->name;
    *hint = myth_args_nearest(name, known, N_TOOL);
    return find_tool(name) != NULL;
}

bool myth_tools_may_last(const char *name)
{
    const myth_tool *tool = find_tool(name);
    return tool && tool->may_last;
}

/* ---- checking a call ---- */

static const char *type_name(const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER:
    case JSON_REAL: return "a number";
    case JSON_TRUE:
    case JSON_FALSE: return "a boolean";
    case JSON_NULL: break;
    }
    return "null";
}

static bool is_word_of(const char *words, const char *text)
{
    const size_t n = strlen(text);
    for (const char *p = words; *p;) {
        const size_t len = strcspn(p, "|");
        if (len == n && memcmp(p, text, n) == 0)
            return true;
        p += len + (p[len] == '|');
    }
    return false;
}

static myth_status check_text(const char *name, const myth_tool_arg *a, const json_t *v, myth_error *err)
{
    const size_t n = json_string_length(v);
    if (!json_is_string(v))
        return myth_fail(err, MYTH_EARG, "%s: %s: expected a string, got %s", name, a->name, type_name(v));
    if (n > MYTH_TOOL_TEXT_MAX)
        return myth_fail(err, MYTH_EARG, "%s: %s: %zu bytes are too long, the most are %d", name, a->name, n,
                         MYTH_TOOL_TEXT_MAX);
    if (n == 0)
        return myth_fail(err, MYTH_EARG, "%s: %s: the text is empty", name, a->name);
    if (strlen(json_string_value(v)) != n)
        return myth_fail(err, MYTH_EARG, "%s: %s: the text has a zero byte", name, a->name);
    if (a->words && !is_word_of(a->words, json_string_value(v)))
        return myth_fail(err, MYTH_EARG, "%s: %s: got '%.40s', expected %s", name, a->name, json_string_value(v),
                         a->words);
    return MYTH_OK;
}

static myth_status check_texts(const char *name, const myth_tool_arg *a, const json_t *v, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (!json_is_array(v))
        return myth_fail(err, MYTH_EARG, "%s: %s: expected an array of strings, got %s", name, a->name, type_name(v));
    if (json_array_size(v) > MYTH_TOOL_TEXTS_MAX)
        return myth_fail(err, MYTH_EARG, "%s: %s: %zu texts are too many, the most are %d", name, a->name,
                         json_array_size(v), MYTH_TOOL_TEXTS_MAX);
    for (size_t i = 0; st == MYTH_OK && i < json_array_size(v); i++)
        st = check_text(name, a, json_array_get(v, i), err);
    return st;
}

/* A whole number may be written as 10 or as 10.0, which JSON Schema takes for the same. */
static bool whole(int64_t *out, const json_t *v)
{
    if (json_is_integer(v)) {
        *out = json_integer_value(v);
        return true;
    }
    const double d = json_real_value(v);
    if (!json_is_real(v) || !(fabs(d) < 9e15) || floor(d) != d)
        return false;
    *out = (int64_t)d;
    return true;
}

static myth_status check_arg(const char *name, const myth_tool_arg *a, const json_t *v, myth_error *err)
{
    int64_t number = 0;
    switch (a->kind) {
    case MYTH_TOOL_TEXT: return check_text(name, a, v, err);
    case MYTH_TOOL_TEXTS: return check_texts(name, a, v, err);
    case MYTH_TOOL_BOOL:
        return json_is_boolean(v)
                 ? MYTH_OK
                 : myth_fail(err, MYTH_EARG, "%s: %s: expected true or false, got %s", name, a->name, type_name(v));
    case MYTH_TOOL_SHARE:
        return json_is_number(v) && json_number_value(v) >= 0 && json_number_value(v) <= 1
                 ? MYTH_OK
                 : myth_fail(err, MYTH_EARG, "%s: %s: expected a number from 0 to 1", name, a->name);
    case MYTH_TOOL_NUMBER: break;
    }
    if (!json_is_number(v))
        return myth_fail(err, MYTH_EARG, "%s: %s: expected a whole number, got %s", name, a->name, type_name(v));
    if (!whole(&number, v) || number < a->min || number > a->max)
        return myth_fail(err, MYTH_EARG, "%s: %s: expected a whole number from %lld to %lld", name, a->name,
                         (long long)a->min, (long long)a->max);
    return MYTH_OK;
}

/* "a, b, c" */
static void join(char *dst, size_t cap, const char *const *word, size_t n)
{
    size_t at = 0;
    dst[0] = '\0';
    for (size_t i = 0; i < n && at + strlen(word[i]) + 3 < cap; i++)
        at += (size_t)snprintf(dst + at, cap - at, "%s%s", i ? ", " : "", word[i]);
}

static myth_status check_args(const myth_tool *tool, json_t *args, myth_error *err)
{
    const char *key, *known[ARGS_MAX];
    json_t *v;
    size_t n = 0;
    const myth_tool_arg *a;
    while (n < ARGS_MAX && (a = arg_at(tool, n)) != NULL)
        known[n++] = a->name;
    json_object_foreach(args, key, v)
    {
        size_t i = 0;
        while (i < n && strcmp(known[i], key) != 0)
            i++;
        if (i == n) {
            const char *near = myth_args_nearest(key, known, n);
            char list[160];
            join(list, sizeof(list), known, n);
            return near
                     ? myth_fail(err, MYTH_EARG, "%s: unknown argument '%.60s'; did you mean %s?", tool->name, key,
                                 near)
                     : myth_fail(err, MYTH_EARG, "%s: unknown argument '%.60s'; there are %s", tool->name, key, list);
        }
        if (check_arg(tool->name, arg_at(tool, i), v, err) != MYTH_OK)
            return err->code;
    }
    for (size_t i = 0; i < tool->n_arg; i++)
        if (tool->arg[i].is_required && !json_object_get(args, tool->arg[i].name))
            return myth_fail(err, MYTH_EARG, "%s: the argument %s is missing: %s", tool->name, tool->arg[i].name,
                             tool->arg[i].help);
    return MYTH_OK;
}

const char *myth_tool_text(const json_t *args, const char *name)
{
    return json_string_value(json_object_get(args, name));
}

bool myth_tool_bool(const json_t *args, const char *name) { return json_is_true(json_object_get(args, name)); }

void myth_tool_texts(myth_opt_list *out, const json_t *args, const char *name)
{
    const json_t *v = json_object_get(args, name);
    out->n = 0;
    for (size_t i = 0; i < json_array_size(v) && out->n < MYTH_TOOL_TEXTS_MAX; i++)
        out->item[out->n++] = json_string_value(json_array_get(v, i));
}

int64_t myth_tool_number(const myth_tools *t, const json_t *args, const char *name)
{
    int64_t number = 0;
    const myth_tool_arg *a;
    if (whole(&number, json_object_get(args, name)))
        return number;
    for (size_t i = 0; (a = arg_at(t->tool, i)) != NULL; i++)
        if (strcmp(a->name, name) == 0)
            return a->def;
    return 0;
}

/* ---- what tools share ---- */

static bool is_empty(myth_status st, const myth_error *err)
{
    return st == MYTH_ENOTFOUND && err && err->remedy == MYTH_REMEDY_EXPLAIN_SCAN;
}

/* Where no folder of caches can be made, the index is in a temporary one. */
static myth_status open_index(myth_tools *t, myth_error *err)
{
    if (!t->place[0]) {
        const myth_status st = myth_cli_index(&t->index, t->cli, t->cli->mem, t->dir, NULL, err);
        if (st != MYTH_ECREATE || myth_tempdir_make(t->place, "tools", NULL) != MYTH_OK)
            return st;
        myth_term_note(t->cli->term, "no folder for the index: it is in %s until the end of this process", t->place);
    }
    return myth_cli_index_in(&t->index, t->cli, t->cli->mem, t->dir, t->place, NULL, err);
}

myth_status myth_tools_index(myth_index **out, myth_tools *t, myth_error *err)
{
    const bool was_open = t->index != NULL;
    myth_status st = was_open ? myth_cli_index_update(t->index, t->cli, NULL, err) : open_index(t, err);
    if (st != MYTH_OK) {
        myth_index_close(t->index);
        t->index = NULL;
        t->is_empty = is_empty(st, err);
    }
    if (st != MYTH_OK && st != MYTH_ECANCEL && was_open && !t->is_empty) { /* its files may have been deleted */
        t->cli->n_unread = 0;
        st = open_index(t, err);
        t->is_empty = st != MYTH_OK && is_empty(st, err);
    }
    *out = t->index;
    return st;
}

void myth_tools_note_unread(const myth_tools *t, myth_reply *a)
{
    if (t->cli->n_unread)
        myth_reply_note(a, true, "%llu files or directories could not be read, and what they hold is missing here",
                        (unsigned long long)t->cli->n_unread);
}

myth_status myth_tools_path(char *dst, size_t cap, const char *path, myth_error *err)
{
    size_t n = 0;
    if (path[0] == '/')
        return myth_fail(err, MYTH_EARG, "%.160s: expected a path relative to the root, as the other tools print it",
                         path);
    for (const char *p = path; *p;) {
        const size_t len = strcspn(p, "/");
        if (len == 2 && p[0] == '.' && p[1] == '.')
            return myth_fail(err, MYTH_EARG, "%.160s: a path with '..' may be outside of the root", path);
        if (len > 0 && !(len == 1 && p[0] == '.')) {
            if (n + len + 2 > cap)
                return myth_fail(err, MYTH_EARG, "%.100s...: the path is longer than %zu bytes", path, cap - 1);
            if (n)
                dst[n++] = '/';
            memcpy(dst + n, p, len);
            n += len;
        }
        p += len + (p[len] == '/');
    }
    dst[n] = '\0';
    return MYTH_OK;
}

bool myth_tools_is_under(const char *path, const char *under)
{
    const size_t n = strlen(under);
    return n == 0 || (strncmp(path, under, n) == 0 && (path[n] == '\0' || path[n] == '/'));
}

static myth_status count_tokens(void *arg, const char *text, size_t n, uint64_t *n_token, myth_error *err)
{
    myth_tools *t = arg;
    myth_mem *mem = t->cli->mem;
    const size_t need = myth_tokenizer_bound(n);
    size_t got = 0;
    if (need > t->cap_ids) {
        myth_free(mem, t->ids);
        t->cap_ids = 0;
        if (!(t->ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "ids", need, sizeof(*t->ids))))
            return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu ids", need);
        t->cap_ids = need;
    }
    myth_status st =
        myth_tokenizer_encode(t->tokenizer.t, mem, MYTH_TOK_CONTENT, text, n, t->ids, t->cap_ids, &got, err);
    *n_token = got;
    return st;
}

/* ---- errors ---- */

/* How a tool's caller does what an error of the libraries advises. NULL: that is for the command line; "": nothing. */
static const char *const remedy_text[MYTH_REMEDY_N] = {
    [MYTH_REMEDY_MAKE_INDEX] = "call the tool again, which makes it",
    [MYTH_REMEDY_EXPLAIN_SCAN] = "open_file says why a file is left out",
    [MYTH_REMEDY_GIVE_PATCH] = "",
    [MYTH_REMEDY_NARROW_CHANGE] = "ask for one path, or for fewer commits",
    [MYTH_REMEDY_SEARCH_LINES] = "search_text finds signs in lines",
};

/* Words the advice of an error, and the flags of the command line in it, for who calls tools. */
static void speak(myth_error *err)
{
    static const char flag[] = "--glob: ";
    const myth_error e = *err;
    const char *remedy = (unsigned)e.remedy < MYTH_REMEDY_N ? remedy_text[e.remedy] : NULL;
    const bool has_flag = strncmp(e.msg, flag, strlen(flag)) == 0;
    if (!remedy && !has_flag)
        return;
    myth_fail(err, e.code, "%s%.220s%s%s", has_flag ? "globs: " : "", e.msg + (has_flag ? strlen(flag) : 0),
              remedy && remedy[0] ? "; " : "", remedy ? remedy : "");
    if (!remedy)
        err->remedy = e.remedy;
}

/* ---- a call ---- */

myth_status myth_tools_open(myth_tools **out, myth_cli *cli, const char *dir, const myth_model_flags *model,
                            myth_error *err)
{
    *out = NULL;
    if (myth_hint_check_dir(dir, err) != MYTH_OK)
        return err->code;
    myth_tools *t = myth_alloc(cli->mem, MYTH_MEM_OTHER, "tools", sizeof(*t));
    if (!t)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for the tools");
    *t = (myth_tools){.cli = cli, .dir = dir, .model = model};
    *out = t;
    return MYTH_OK;
}

void myth_tools_close(myth_tools *t)
{
    if (!t)
        return;
    myth_index_close(t->index);
    myth_free(t->cli->mem, t->ids);
    myth_cli_tokenizer_close(&t->tokenizer);
    myth_tempdir_remove(t->place);
    myth_free(t->cli->mem, t);
}

static myth_status run_tool(myth_tools *t, const json_t *args, char **text, size_t *n, bool *is_found, myth_error *err)
{
    myth_reply a = {0};
    myth_status st = MYTH_OK;
    const myth_budget budget = {
        .max_bytes = (uint64_t)myth_tool_number(t, args, "max_bytes"),
        .max_tokens = (uint64_t)myth_tool_number(t, args, "max_tokens"),
        .count = count_tokens,
        .arg = t,
    };
    if (budget.max_tokens && !t->tokenizer.t)
        MYTH_TRY(myth_cli_tokenizer_open(&t->tokenizer, t->cli, t->model, err));
    MYTH_TRY(myth_reply_open(&a, t->cli->mem, t->tool->items, &budget, err));
    a.skip = (uint64_t)myth_tool_number(t, args, "skip");
    t->cli->n_unread = 0;
    t->n_missed = 0;
    t->is_empty = false;
    st = t->tool->run(t, args, &a, err);
    if (st != MYTH_OK && !t->is_empty)
        goto fail;
    if (t->is_empty)
        myth_reply_note(&a, false, "there is no file to read in the directory, or the scan leaves them all out");
    myth_tools_note_unread(t, &a);
    t->cli->n_unread += t->n_missed;
    st = myth_reply_finish(&a, text, n, is_found, err);
    if (st == MYTH_OK && a.items && a.is_found && a.left_out + a.n_end && a.n_shown == 0)
        t->cli->n_unread++; /* the budget holds none of what was found */
fail:
    myth_reply_close(&a);
    return st;
}

myth_status myth_tools_call(myth_tools *t, const char *name, const json_t *args, char **text, size_t *n, bool *is_found,
                            myth_error *err)
{
    const char *hint;
    *text = NULL;
    *n = 0;
    *is_found = false;
    if (!myth_tools_has(name, &hint))
        return hint ? myth_fail(err, MYTH_EARG, "unknown tool '%.60s'; did you mean %s?", name, hint)
                    : myth_fail(err, MYTH_EARG, "unknown tool '%.60s'; mythos tool lists the tools", name);
    json_t *given = args ? json_deep_copy(args) : json_object();
    if (!given)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for the arguments");
    t->tool = find_tool(name);
    myth_status st = json_is_object(given) ? check_args(t->tool, given, err)
                                           : myth_fail(err, MYTH_EARG, "%s: the arguments: expected an object, got %s",
                                                       name, type_name(given));
    if (st == MYTH_OK)
        st = run_tool(t, given, text, n, is_found, err);
    if (st != MYTH_OK && err)
        speak(err);
    json_decref(given);
    return st;
}

/* ---- the list ---- */

static void put_schema_type(myth_json_out *j, const myth_tool_arg *a)
{
    static const char *const type[] = {
        [MYTH_TOOL_TEXT] = "string", [MYTH_TOOL_NUMBER] = "integer", [MYTH_TOOL_BOOL] = "boolean",
        [MYTH_TOOL_TEXTS] = "array", [MYTH_TOOL_SHARE] = "number",
    };
    myth_jout_key_str(j, "type", type[a->kind]);
    myth_jout_key_str(j, "description", a->help);
    if (a->kind == MYTH_TOOL_NUMBER) {
        myth_jout_key_u64(j, "minimum", (uint64_t)a->min);
        myth_jout_key_u64(j, "maximum", (uint64_t)a->max);
        if (a->def)
            myth_jout_key_u64(j, "default", (uint64_t)a->def);
    } else if (a->kind == MYTH_TOOL_SHARE) {
        myth_jout_key_u64(j, "minimum", 0);
        myth_jout_key_u64(j, "maximum", 1);
    } else if (a->kind == MYTH_TOOL_TEXTS) {
        myth_jout_key_u64(j, "maxItems", MYTH_TOOL_TEXTS_MAX);
        myth_jout_key(j, "items");
        myth_jout_object(j);
        myth_jout_key_str(j, "type", "string");
        myth_jout_end(j);
    } else if (a->words) {
        myth_jout_key(j, "enum");
        myth_jout_array(j);
        for (const char *p = a->words; *p;) {
            const size_t len = strcspn(p, "|");
            myth_jout_text(j, p, len);
            p += len + (p[len] == '|');
        }
        myth_jout_end(j);
    }
}

static void put_schema(myth_json_out *j, const myth_tool *tool)
{
    const myth_tool_arg *a;
    myth_jout_object(j);
    myth_jout_key_str(j, "type", "object");
    myth_jout_key(j, "properties");
    myth_jout_object(j);
    for (size_t i = 0; (a = arg_at(tool, i)) != NULL; i++) {
        myth_jout_key(j, a->name);
        myth_jout_object(j);
        put_schema_type(j, a);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    myth_jout_key(j, "required");
    myth_jout_array(j);
    for (size_t i = 0; i < tool->n_arg; i++)
        if (tool->arg[i].is_required)
            myth_jout_str(j, tool->arg[i].name);
    myth_jout_end(j);
    myth_jout_key_bool(j, "additionalProperties", false);
    myth_jout_end(j);
}

static void put_type(myth_json_out *j, const char *key, const char *type)
{
    myth_jout_key(j, key);
    myth_jout_object(j);
    myth_jout_key_str(j, "type", type);
    myth_jout_end(j);
}

static void put_array_type(myth_json_out *j, const char *key, const char *type)
{
    myth_jout_key(j, key);
    myth_jout_object(j);
    myth_jout_key_str(j, "type", "array");
    put_type(j, "items", type);
    myth_jout_end(j);
}

/* What holds for every answer (reply.h); a tool may have more keys. */
static void put_output_schema(myth_json_out *j, const myth_tool *tool)
{
    const char *const required[] = {"left_out", "complete", "notes", tool->items};
    myth_jout_object(j);
    myth_jout_key_str(j, "type", "object");
    myth_jout_key(j, "properties");
    myth_jout_object(j);
    if (tool->items)
        put_array_type(j, tool->items, "object");
    put_type(j, "left_out", "integer");
    put_type(j, "complete", "boolean");
    put_array_type(j, "notes", "string");
    myth_jout_end(j);
    myth_jout_key(j, "required");
    myth_jout_array(j);
    for (int i = 0; i < 3 + (tool->items != NULL); i++)
        myth_jout_str(j, required[i]);
    myth_jout_end(j);
    myth_jout_end(j);
}

void myth_tools_list_json(myth_json_out *j, bool has_output)
{
    myth_jout_array(j);
    for (int i = 0; i < N_TOOL; i++) {
        myth_jout_object(j);
        myth_jout_key_str(j, "name", tools[i]->name);
        myth_jout_key_str(j, "title", tools[i]->title);
        myth_jout_key_str(j, "description", tools[i]->help);
        myth_jout_key(j, "inputSchema");
        put_schema(j, tools[i]);
        if (has_output) {
            myth_jout_key(j, "outputSchema");
            put_output_schema(j, tools[i]);
        }
        myth_jout_key(j, "annotations");
        myth_jout_object(j);
        myth_jout_key_bool(j, "readOnlyHint", true);
        myth_jout_key_bool(j, "openWorldHint", false);
        myth_jout_end(j);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

void myth_tools_list_text(FILE *f)
{
    const myth_tool_arg *a;
    for (int i = 0; i < N_TOOL; i++) {
        fprintf(f, "%s%s\n    %s\n", i ? "\n" : "", tools[i]->name, tools[i]->help);
        for (size_t k = 0; (a = arg_at(tools[i], k)) != NULL; k++) {
            fprintf(f, "    %-12s %s%s", a->name, a->is_required ? "(required) " : "", a->help);
            if (a->words)
                fprintf(f, " (%s)", a->words);
            if (a->kind == MYTH_TOOL_NUMBER && a->def)
                fprintf(f, " (%lld)", (long long)a->def);
            fputc('\n', f);
        }
    }
}
