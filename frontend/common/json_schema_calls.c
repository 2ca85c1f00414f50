/* json_schema_calls.c - a grammar for the calls of tools: the form that calls.h reads, around the rules that
 * json_schema.c writes for the parameters of each tool. */
#include "calls.h"
#include "json_schema_impl.h"

#include <stdlib.h>
#include <string.h>

static const char not_of_json[] = "space ::= \"\"\n"
                                  "char ::= [^\\x00]\n"
                                  "any ::= char\n"
                                  "value ::= string | number | boolean | null\n";

/* ---- values ---- */

static bool is_deeper(const char *way)
{
    static const char *const ways[] = {"properties", "items", "prefixItems"};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(way, ways[i]) == 0)
            return true;
    return false;
}

static size_t bytes_of_keys(const json_t *object)
{
    const char *key;
    json_t *v;
    size_t n = 0;
    json_object_foreach((json_t *)(uintptr_t)object, key, v) n += strlen(key) + 1;
    return n;
}

static myth_status check_bounds(const myth_schema_writer *w, const myth_schema_part *in, uint32_t depth, size_t n_keys)
{
    if (depth > MYTH_CALL_DEPTH)
        return myth_schema_fail(w, in, MYTH_ELIMIT,
                                "arguments nest deeper than %d here, or without an end; calls are read so deep",
                                MYTH_CALL_DEPTH);
    if (n_keys > MYTH_CALL_KEYS_MAX)
        return myth_schema_fail(w, in, MYTH_ELIMIT, "names of arguments of more than %d bytes, in all that are open",
                                MYTH_CALL_KEYS_MAX);
    return MYTH_OK;
}

myth_status myth_schema_call_part(const myth_schema_writer *w, const myth_schema_part *in, const char *way,
                                  myth_schema_part *out)
{
    out->depth = in->depth + is_deeper(way);
    out->n_keys = in->n_keys;
    if (strcmp(way, "properties") == 0)
        out->n_keys += bytes_of_keys(json_object_get(in->schema, "properties"));
    return check_bounds(w, in, out->depth, out->n_keys);
}

/* Whether the reader takes these bytes as they are: it cuts blanks, and ends at what has a meaning. */
static bool is_bare(const char *s)
{
    const size_t n = strlen(s);
    return n > 0 && !strchr(" \t\n\r", s[0]) && !strchr(" \t\n\r", s[n - 1]) && !strpbrk(s, ":{}[],");
}

myth_status myth_schema_call_key(myth_schema_writer *w, const myth_schema_part *p, const char *key)
{
    const char *quote = is_bare(key) ? "" : w->quote;
    if (strlen(key) >= MYTH_CALL_NAME_MAX)
        return myth_schema_fail(w, p, MYTH_ELIMIT,
                                "the name of an argument has %zu bytes, at most %d are read in a call", strlen(key),
                                MYTH_CALL_NAME_MAX - 1);
    myth_schema_putf(w, "%s ", quote);
    myth_schema_put_text(w, key);
    myth_schema_putf(w, " %s", quote);
    return MYTH_OK;
}

static myth_status put_value(myth_schema_writer *w, const myth_schema_part *p, const json_t *v, uint32_t depth,
                             size_t n_keys)
{
    const char *key, *between = "\"{\" ";
    json_t *one;
    myth_status st = check_bounds(w, p, depth, n_keys += json_is_object(v) ? bytes_of_keys(v) : 0);
    if (st == MYTH_OK && json_is_object(v)) {
        json_object_foreach((json_t *)(uintptr_t)v, key, one)
        {
            myth_schema_put(w, between);
            MYTH_TRY(myth_schema_call_key(w, p, key));
            myth_schema_put(w, " \":\" ");
            MYTH_TRY(put_value(w, p, one, depth + 1, n_keys));
            between = " \",\" ";
        }
        myth_schema_put(w, json_object_size(v) ? " \"}\"" : "\"{}\"");
    } else if (st == MYTH_OK && json_is_array(v)) {
        myth_schema_put(w, "\"[\" ");
        for (size_t i = 0; i < json_array_size(v); i++) {
            myth_schema_put(w, i ? " \",\" " : "");
            MYTH_TRY(put_value(w, p, json_array_get(v, i), depth + 1, n_keys));
        }
        myth_schema_put(w, " \"]\"");
    } else if (st == MYTH_OK && json_is_string(v)) {
        myth_schema_putf(w, "%s ", w->quote);
        myth_schema_put_text(w, json_string_value(v));
        myth_schema_putf(w, " %s", w->quote);
    } else if (st == MYTH_OK) {
        char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
        if (!text)
            return myth_schema_no_memory(w);
        myth_schema_put_text(w, text);
        free(text);
    }
fail:
    return st;
}

myth_status myth_schema_call_value(myth_schema_writer *w, const myth_schema_part *p, const json_t *v)
{
    if (p->depth == 1 && !json_is_object(v))
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "the arguments of a call are an object");
    return put_value(w, p, v, p->depth, p->n_keys);
}

/* ---- tools ---- */

typedef struct {
    const char *name;
    const json_t *parameters; /* NULL = it has none */
} tool;

static myth_status read_tool(tool *out, const json_t *list, size_t i, myth_error *err)
{
    const json_t *f = json_object_get(json_array_get(list, i), "function");
    out->name = json_string_value(json_object_get(f, "name"));
    out->parameters = json_object_get(f, "parameters");
    if (json_is_null(out->parameters))
        out->parameters = NULL;
    if (!out->name)
        return myth_fail(err, MYTH_EFORMAT, "tools: item %zu: expected {\"function\": {\"name\": ...}}", i);
    if (!is_bare(out->name) || strlen(out->name) >= MYTH_CALL_NAME_MAX)
        return myth_fail(err, MYTH_EUNSUPPORTED,
                         "tools: \"%.40s\": a call cannot have this name; take letters, digits and _", out->name);
    for (size_t k = 0; k < i; k++) {
        const char *other =
            json_string_value(json_object_get(json_object_get(json_array_get(list, k), "function"), "name"));
        if (other && strcmp(other, out->name) == 0)
            return myth_fail(err, MYTH_EFORMAT, "tools: \"%.40s\" is declared twice; give each tool its name", other);
    }
    return MYTH_OK;
}

/* Rule f<i>, and those that it needs: the name and arguments of a call of a tool. */
static myth_status put_tool(myth_schema_writer *w, const tool *t, size_t i)
{
    const myth_schema_part top = {.depth = 1};
    char name[64];
    myth_status st = MYTH_OK;
    snprintf(name, sizeof(name), "tools: %.40s", t->name);
    w->name = name;
    w->root = t->parameters;
    myth_schema_putf(w, "f%zu ::= ", i);
    myth_schema_put_text(w, t->name);
    if (t->parameters) {
        myth_schema_put(w, " ");
        st = myth_schema_put_part(w, &top, t->parameters, NULL, "", "");
    } else {
        myth_schema_put(w, " \"{}\"");
    }
    myth_schema_put(w, "\n");
    if (st == MYTH_OK)
        st = myth_schema_put_rules(w);
    w->name = "tools";
    return st;
}

/* The rules root and call. */
static void put_root(myth_schema_writer *w, const myth_calls_form *form, size_t n_tool)
{
    if (form->only)
        myth_schema_put(w, "root ::= call\n");
    else if (form->must)
        myth_schema_put(w, "root ::= call+\n");
    else
        myth_schema_putf(w, "root ::= (!<[%d]>%s)*\n", form->call, n_tool ? " | call" : "");
    if (!n_tool)
        return;
    myth_schema_putf(w, "call ::= <[%d]> \"call:\" (", form->call);
    for (size_t i = 0; i < n_tool; i++)
        myth_schema_putf(w, "%sf%zu", i ? " | " : "", i);
    myth_schema_putf(w, ") <[%d]>\n", form->call_end);
}

static myth_status put_tools(myth_schema_writer *w, const json_t *list, const myth_calls_form *form)
{
    size_t n = 0;
    myth_status st = MYTH_OK;
    if (list && !json_is_array(list))
        return myth_fail(w->err, MYTH_EFORMAT, "tools: expected a list");
    for (size_t i = 0; i < json_array_size(list) && st == MYTH_OK; i++) {
        tool t;
        st = read_tool(&t, list, i, w->err);
        if (st == MYTH_OK && (!form->only || strcmp(form->only, t.name) == 0))
            st = put_tool(w, &t, n++);
    }
    if (st == MYTH_OK && n == 0 && form->only)
        return myth_fail(w->err, MYTH_EARG, "\"%.60s\" is none of the tools; give one of them, auto, required or none",
                         form->only);
    if (st == MYTH_OK && n == 0 && form->must)
        return myth_fail(w->err, MYTH_EARG, "the chat has no tools to call; declare them in \"tools\"");
    put_root(w, form, n);
    return st;
}

myth_status myth_json_schema_calls_to_gbnf(char **out, size_t *n, myth_mem *mem, const char *tools, size_t len,
                                           const myth_calls_form *form, myth_error *err)
{
    char quote[24];
    json_error_t e;
    json_t *list = NULL;
    myth_schema_writer w = {.mem = mem, .name = "tools", .quote = quote, .err = err};
    *out = NULL;
    snprintf(quote, sizeof(quote), "<[%d]>", form->quote);
    if (len > MYTH_JSON_SCHEMA_BYTES)
        return myth_fail(err, MYTH_ELIMIT, "tools: %zu bytes; calls of at most %d are held to their form", len,
                         MYTH_JSON_SCHEMA_BYTES);
    if (len && !(list = json_loadb(tools, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e)))
        return myth_fail(err, MYTH_EFORMAT, "tools:%d:%d: %.120s", e.line, e.column, e.text);
    myth_status st;
    do {
        st = put_tools(&w, list, form);
        myth_schema_put(&w, not_of_json);
        myth_schema_putf(&w, "string ::= %s char* %s\n", quote, quote);
    } while (myth_schema_again(&w, st, err));
    st = myth_schema_end(&w, st, out, n);
    json_decref(list);
    return st;
}
