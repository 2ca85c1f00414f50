/* rcfile_tokens.c - see rcfile_tokens.h. */
#include "rcfile_tokens.h"

#include "rcfile.h"

#include <stdlib.h>
#include <string.h>

enum { OPEN_MAX_DEPTH = 32 };

/* Keys and values with a zero byte behind each. In JSON each has a byte more in the file than here; an escape of YAML
 * may become one byte longer. */
static char pool[2 * MYTH_RCFILE_BYTES + 1];

static myth_status wrong(const myth_rcfile_tokens *t, uint32_t line, const char *what, myth_error *err)
{
    return myth_fail(err, MYTH_EFORMAT, "%.140s:%u: %s", t->path, line, what);
}

/* Keeps the text of n bytes that was written to the end of the pool. */
static char *keep(myth_rcfile_tokens *t, size_t n)
{
    char *at = pool + t->n_pool;
    at[n] = '\0';
    t->n_pool += n + 1;
    return strlen(at) == n ? at : NULL;
}

/* ---- JSON ---- */

static uint32_t line_of(const myth_rcfile_tokens *t, uint64_t off)
{
    uint32_t line = 1;
    for (uint64_t i = 0; i < off; i++)
        line += t->text[i] == '\n';
    return line;
}

static myth_status next_of_json(myth_rcfile_tokens *t, myth_json_token *j, myth_error *err)
{
    myth_error bad = {0};
    if (myth_json_next(&t->json, j, &bad) == MYTH_OK)
        return MYTH_OK;
    static const char sign[] = ": offset "; /* "path: offset N: what" */
    const char *at = strstr(bad.msg, sign), *what = at ? strstr(at + sizeof(sign) - 1, ": ") : NULL;
    const uint64_t off = at ? strtoull(at + sizeof(sign) - 1, NULL, 10) : t->json.pos;
    return myth_fail(err, MYTH_EFORMAT, "%.140s:%u: this is not JSON%.120s", t->path,
                     line_of(t, off < t->json.size ? off : t->json.size), what ? what : "");
}

static myth_status json_token(myth_rcfile_tokens *t, myth_rcfile_token *out, myth_error *err)
{
    myth_json_token j;
    const myth_status st = next_of_json(t, &j, err);
    if (st != MYTH_OK)
        return st;
    *out = (myth_rcfile_token){.kind = MYTH_RCFILE_VALUE, .line = line_of(t, j.off)};
    char *const at = pool + t->n_pool;
    switch (j.type) {
    case MYTH_JSON_OBJECT: out->kind = MYTH_RCFILE_OBJECT; break;
    case MYTH_JSON_OBJECT_END: out->kind = MYTH_RCFILE_OBJECT_END; break;
    case MYTH_JSON_ARRAY: out->kind = MYTH_RCFILE_LIST; break;
    case MYTH_JSON_ARRAY_END: out->kind = MYTH_RCFILE_LIST_END; break;
    case MYTH_JSON_END: out->kind = MYTH_RCFILE_END; break;
    case MYTH_JSON_NULL: out->kind = MYTH_RCFILE_NOTHING; break;
    case MYTH_JSON_KEY: out->kind = MYTH_RCFILE_KEY; /* fall through */
    case MYTH_JSON_STRING: out->text = keep(t, myth_json_text(at, &j)); break;
    case MYTH_JSON_NUMBER:
        memcpy(at, j.span, j.len);
        out->text = keep(t, j.len);
        break;
    case MYTH_JSON_TRUE:
    case MYTH_JSON_FALSE:
        out->text = keep(t, (size_t)sprintf(at, "%s", j.type == MYTH_JSON_TRUE ? "true" : "false"));
        break;
    }
    return MYTH_OK;
}

/* ---- YAML ---- */

static bool is_one_of(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(text, *list) == 0)
            return true;
    return false;
}

/* A plain scalar that YAML gives a meaning besides its letters; others are left to the flag. */
static void read_plain(myth_rcfile_token *out)
{
    static const char *const null[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const truth[] = {"True", "TRUE", "False", "FALSE", NULL};
    if (!out->text || out->kind == MYTH_RCFILE_KEY)
        return;
    if (is_one_of(out->text, null))
        out->kind = MYTH_RCFILE_NOTHING;
    else if (is_one_of(out->text, truth))
        memcpy(out->text, out->text[0] == 'T' ? "true" : "false", strlen(out->text));
}

static myth_status scalar(myth_rcfile_tokens *t, const yaml_event_t *e, myth_rcfile_token *out, myth_error *err)
{
    const size_t n = e->data.scalar.length;
    if (t->n_pool + n + 1 > sizeof(pool))
        return myth_fail(err, MYTH_ELIMIT, "%.140s:%u: more than %zu bytes of names and values", t->path, out->line,
                         sizeof(pool));
    memcpy(pool + t->n_pool, e->data.scalar.value, n);
    out->text = keep(t, n);
    out->kind = t->is_key ? MYTH_RCFILE_KEY : MYTH_RCFILE_VALUE;
    if (e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        read_plain(out);
    t->is_key = t->n_open && !(t->is_list & 1) && !t->is_key;
    return MYTH_OK;
}

static myth_status begin_or_end(myth_rcfile_tokens *t, yaml_event_type_t type, myth_rcfile_token *out, myth_error *err)
{
    const bool is_list = type == YAML_SEQUENCE_START_EVENT || type == YAML_SEQUENCE_END_EVENT;
    if (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) {
        if (t->is_key)
            return wrong(t, out->line, "a name is a text, not a list or names with values", err);
        if (t->n_open == OPEN_MAX_DEPTH)
            return wrong(t, out->line, "too many lists and names within each other", err);
        t->n_open++;
        t->is_list = t->is_list << 1 | is_list;
        out->kind = is_list ? MYTH_RCFILE_LIST : MYTH_RCFILE_OBJECT;
        t->is_key = !is_list;
        return MYTH_OK;
    }
    t->n_open--;
    t->is_list >>= 1;
    out->kind = is_list ? MYTH_RCFILE_LIST_END : MYTH_RCFILE_OBJECT_END;
    t->is_key = t->n_open && !(t->is_list & 1);
    return MYTH_OK;
}

static bool has_extras(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_ALIAS_EVENT: return true;
    case YAML_SCALAR_EVENT: return e->data.scalar.anchor || e->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT: return e->data.sequence_start.anchor || e->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT: return e->data.mapping_start.anchor || e->data.mapping_start.tag;
    default: return false;
    }
}

/* The token of an event; *is_none: the event is none. */
static myth_status token_of(myth_rcfile_tokens *t, const yaml_event_t *e, myth_rcfile_token *out, bool *is_none,
                            myth_error *err)
{
    *out = (myth_rcfile_token){.kind = MYTH_RCFILE_END, .line = (uint32_t)e->start_mark.line + 1};
    *is_none = false;
    if (has_extras(e))
        return wrong(t, out->line, "anchors, aliases and tags of YAML are not read here; write the value out", err);
    switch (e->type) {
    case YAML_STREAM_END_EVENT: return MYTH_OK;
    case YAML_DOCUMENT_START_EVENT:
        if (t->n_document++)
            return wrong(t, out->line, "a second document of YAML; a configuration file has one", err);
        *is_none = true;
        return MYTH_OK;
    case YAML_SCALAR_EVENT: return scalar(t, e, out, err);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_START_EVENT:
    case YAML_MAPPING_END_EVENT: return begin_or_end(t, e->type, out, err);
    default: *is_none = true; return MYTH_OK;
    }
}

static myth_status yaml_token(myth_rcfile_tokens *t, myth_rcfile_token *out, myth_error *err)
{
    bool is_none = true;
    while (is_none) {
        yaml_event_t e;
        if (!yaml_parser_parse(&t->yaml, &e))
            return myth_fail(err, MYTH_EFORMAT, "%.140s:%zu: this is not YAML: %.80s", t->path,
                             t->yaml.problem_mark.line + 1, t->yaml.problem ? t->yaml.problem : "it cannot be read");
        const myth_status st = token_of(t, &e, out, &is_none, err);
        yaml_event_delete(&e);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

/* ---- both ---- */

myth_status myth_rcfile_tokens_open(myth_rcfile_tokens *t, const char *text, size_t size, const char *path,
                                    bool is_yaml, myth_error *err)
{
    *t = (myth_rcfile_tokens){.text = text, .path = path};
    if (!is_yaml) {
        myth_json_start(&t->json, text, size, path);
        return MYTH_OK;
    }
    if (!yaml_parser_initialize(&t->yaml))
        return myth_fail(err, MYTH_ENOMEM, "%.140s: no memory to read YAML", path);
    t->is_yaml = true;
    yaml_parser_set_encoding(&t->yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&t->yaml, (const unsigned char *)text, size);
    return MYTH_OK;
}

myth_status myth_rcfile_tokens_next(myth_rcfile_tokens *t, myth_rcfile_token *out, myth_error *err)
{
    return t->is_yaml ? yaml_token(t, out, err) : json_token(t, out, err);
}

void myth_rcfile_tokens_close(myth_rcfile_tokens *t)
{
    if (t->is_yaml)
        yaml_parser_delete(&t->yaml);
    t->is_yaml = false;
}
