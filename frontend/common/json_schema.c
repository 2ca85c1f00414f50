/* json_schema.c - one rule for each part of the schema that is referred to, written one after the other: a part that
 * refers to another names its rule, which is written later if it is not there yet. So a schema may refer to itself. */
#include "json_schema_impl.h"

#include "engine/base/array.h"

#include <stdlib.h>

enum { UNIQUE_MOST = 8 };

typedef myth_schema_writer writer;
typedef myth_schema_part part;

static const char primitives[] =
    "space ::= | \" \" | \"\\n\"{1,2} [ \\t]{0,20}\n"
    "char ::= [^\"\\\\\\x7F\\x00-\\x1F] | [\\\\] ([\"\\\\bfnrt] | \"u\" ([0-9a-cA-CefEF] hex{3} | [dD] [0-7] hex{2}))\n"
    "any ::= char | [\\x7F]\n"
    "control ::= \"u00\" (\"0\" [0-7bBeEfF] | \"1\" hex)\n"
    "string ::= \"\\\"\" char* \"\\\"\" space\n"
    "value ::= object | array | string | number | boolean | null\n"
    "object ::= \"{\" space (string \":\" space value (\",\" space string \":\" space value)*)? \"}\" space\n"
    "array ::= \"[\" space (value (\",\" space value)*)? \"]\" space\n";
static const char common[] =
    "hex ::= [0-9a-fA-F]\n"
    "integral ::= \"0\" | [1-9] [0-9]{0,15}\n"
    "integer ::= \"-\"? integral space\n"
    "number ::= \"-\"? integral (\".\" [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})? space\n"
    "boolean ::= (\"true\" | \"false\") space\n"
    "null ::= \"null\" space\n"
    "date ::= [0-9]{4} \"-\" (\"0\" [1-9] | \"1\" [0-2]) \"-\" (\"0\" [1-9] | [12] [0-9] | \"3\" "
    "[01])\n"
    "time ::= ([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9] \":\" [0-5] [0-9] (\".\" [0-9]{3})? "
    "(\"Z\" | [-+] ([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9])\n"
    "date-time ::= date \"T\" time\n"
    "uuid ::= hex{8} \"-\" hex{4} \"-\" hex{4} \"-\" hex{4} \"-\" hex{12}\n";

/* A value of a schema, as a text of the grammar. */
static myth_status put_json(writer *w, const part *p, const json_t *v)
{
    if (w->quote)
        return myth_schema_call_value(w, p, v);
    char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
    if (!text)
        return myth_schema_no_memory(w);
    myth_schema_put_text(w, text);
    free(text);
    return MYTH_OK;
}

/* ---- parts ---- */

static bool is_same(const part *a, const part *b)
{
    return a->schema == b->schema && a->type == b->type && a->depth == b->depth && a->n_keys == b->n_keys;
}

myth_status myth_schema_put_part(writer *w, const part *in, const json_t *schema, const char *type, const char *way,
                                 const char *name)
{
    part one = {.schema = schema, .type = type};
    const myth_status st = w->quote ? myth_schema_call_part(w, in, way, &one) : MYTH_OK;
    size_t i = 0;
    if (st != MYTH_OK)
        return st;
    while (i < w->n_part && !is_same(&w->part[i], &one))
        i++;
    if (i == w->n_part) {
        if (i == MYTH_SCHEMA_PARTS)
            return myth_schema_fail(w, in, MYTH_ELIMIT, "the schema has more than %d parts", MYTH_SCHEMA_PARTS);
        snprintf(one.place, sizeof(one.place), "%.60s/%.12s%s%.20s", in->place, way, *name ? "/" : "", name);
        if (!*way)
            memcpy(one.place, in->place, sizeof(one.place));
        if (!MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_STAGING, "schema's parts", &w->part, w->n_part, &w->cap_part))
            return myth_schema_no_memory(w);
        w->part[w->n_part++] = one;
    }
    myth_schema_putf(w, "s%zu", i);
    return MYTH_OK;
}

const json_t *myth_schema_find(const json_t *root, const char *ref)
{
    char key[128];
    if (*ref++ != '#')
        return NULL;
    while (root && *ref == '/') {
        size_t n = 0;
        for (ref++; *ref && *ref != '/'; ref++) {
            char c = *ref;
            if (c == '~' && (ref[1] == '0' || ref[1] == '1'))
                c = *++ref == '0' ? '~' : '/';
            if (n + 1 == sizeof(key))
                return NULL;
            key[n++] = c;
        }
        key[n] = '\0';
        root = json_is_array(root) ? json_array_get(root, strtoul(key, NULL, 10)) : json_object_get(root, key);
    }
    return *ref ? NULL : root;
}

bool myth_schema_is_annotation(const char *key)
{
    static const char *const name[] = {"title",      "description", "default",   "examples", "$schema",
                                       "$id",        "$comment",    "$defs",     "$anchor",  "definitions",
                                       "deprecated", "readOnly",    "writeOnly", "example"};
    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
        if (strcmp(key, name[i]) == 0)
            return true;
    return false;
}

bool myth_schema_is_read(const char *key)
{
    static const char *const read[] = {"type",
                                       "enum",
                                       "const",
                                       "properties",
                                       "required",
                                       "items",
                                       "minItems",
                                       "maxItems",
                                       "minLength",
                                       "maxLength",
                                       "minimum",
                                       "maximum",
                                       "format",
                                       "pattern",
                                       "prefixItems",
                                       "uniqueItems",
                                       "exclusiveMinimum",
                                       "exclusiveMaximum",
                                       "additionalProperties"};
    for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
        if (strcmp(key, read[i]) == 0)
            return true;
    return false;
}

/* Refuses keywords that restrict and are not read. */
static myth_status check_keys(const writer *w, const part *p)
{
    static const char *const more[] = {"anyOf",          "oneOf", "allOf", "$ref", "then", "else", MYTH_SCHEMA_OTHERS,
                                       MYTH_SCHEMA_NAMED};
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)p->schema, key, v)
    {
        bool is_read = myth_schema_is_annotation(key) || myth_schema_is_read(key);
        for (size_t i = 0; i < sizeof(more) / sizeof(more[0]) && !is_read; i++)
            is_read = strcmp(key, more[i]) == 0;
        if (!is_read)
            return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "\"%.24s\" is not supported", key);
    }
    return MYTH_OK;
}

/* A count of the schema; *out stays when it has none. */
static myth_status get_count(const writer *w, const part *p, const char *key, uint32_t *out)
{
    const json_t *v = json_object_get(p->schema, key);
    if (!v)
        return MYTH_OK;
    const double n = json_number_value(v);
    if (!json_is_number(v) || n < 0 || n > MYTH_GBNF_REPEAT || n != (double)(uint32_t)n)
        return myth_schema_fail(w, p, MYTH_EFORMAT, "\"%.16s\": expected a whole number from 0 to %d", key,
                                MYTH_GBNF_REPEAT);
    *out = (uint32_t)n;
    return MYTH_OK;
}

myth_status myth_schema_get_counts(const writer *w, const part *p, const char *least, const char *most, uint32_t *min,
                                   uint32_t *max)
{
    myth_status st = get_count(w, p, least, min);
    if (st == MYTH_OK)
        st = get_count(w, p, most, max);
    return st == MYTH_OK && *max < *min ? myth_schema_fail(w, p, MYTH_EFORMAT, "%s is more than %s", least, most) : st;
}

#define ANY MYTH_SCHEMA_ANY

/* Puts the rule of schema i of a list under this key. */
static myth_status put_nth(writer *w, const part *p, const json_t *list, size_t i, const char *key)
{
    char number[24];
    snprintf(number, sizeof(number), "%zu", i);
    return myth_schema_put_part(w, p, json_array_get(list, i), NULL, key, number);
}

/* ---- kinds of values ---- */

/* Values of a list that are allowed nowhere in the part, and are of the type. */
static bool is_left_out(const part *p, const char *type)
{
    const json_t *list = json_object_get(p->schema, MYTH_SCHEMA_OTHERS);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (myth_schema_is_of(json_array_get(list, i), type))
            return true;
    return false;
}

static bool is_value_left_out(const part *p, const json_t *v)
{
    const json_t *list = json_object_get(p->schema, MYTH_SCHEMA_OTHERS);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (myth_schema_is_equal(json_array_get(list, i), v))
            return true;
    return false;
}

/* ---- arrays without repeats ---- */

/* The values that items may have, each once, or none when they are not known. */
static myth_status get_values(writer *w, const part *p, const json_t *items, const json_t **value, size_t *n)
{
    const json_t *const own[] = {json_true(), json_false(), json_null()};
    json_t *flat;
    const myth_status st = myth_schema_flatten(w, p, items, &flat);
    *n = 0;
    for (size_t i = 0; i < json_array_size(flat) && st == MYTH_OK; i++) {
        const json_t *one = json_array_get(flat, i), *values = json_object_get(one, "enum"),
                     *type = json_object_get(one, "type");
        bool is_known = values && json_object_size(one) == 1;
        for (size_t k = 0; k < json_array_size(type) && !values; k++) {
            const char *name = json_string_value(json_array_get(type, k));
            is_known = !strcmp(name, "boolean") || !strcmp(name, "null");
            if (!is_known)
                break;
        }
        for (size_t k = 0; k < (values ? json_array_size(values) : 3) && is_known; k++) {
            const json_t *v = values ? json_array_get(values, k) : own[k];
            size_t at = 0;
            if (!values && myth_schema_holds(w, one, v, 0) != MYTH_SCHEMA_YES)
                continue;
            while (at < *n && !myth_schema_is_equal(value[at], v))
                at++;
            is_known = at < UNIQUE_MOST;
            if (is_known && at == *n)
                value[(*n)++] = v;
        }
        if (!is_known)
            return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                    "\"uniqueItems\" of items that are not a list of at most %d values", UNIQUE_MOST);
    }
    return st;
}

static uint32_t n_bits(uint32_t m)
{
    uint32_t n = 0;
    for (; m; m &= m - 1)
        n++;
    return n;
}

/* Rule s<idx>-u<m> is what may follow the values whose bits are in m. */
static myth_status put_unique(writer *w, const part *p, size_t idx, const json_t *items, uint32_t min, uint32_t max)
{
    const json_t *value[UNIQUE_MOST];
    size_t n;
    myth_status st;
    MYTH_TRY(get_values(w, p, items, value, &n));
    max = max > n ? (uint32_t)n : max;
    if (min > max)
        return myth_schema_fail(w, p, MYTH_EFORMAT, "minItems of more items than can differ");
    myth_schema_putf(w, "\"[\" space s%zu-u0", idx);
    for (uint32_t m = 0; m < 1u << n; m++) {
        const uint32_t have = n_bits(m);
        if (have > max)
            continue;
        myth_schema_putf(w, "\ns%zu-u%u ::= ", idx, (unsigned)m);
        myth_schema_put(w, have >= min ? "\"]\" space" : "");
        for (size_t i = 0, n_put = have >= min; i < n && have < max; i++) {
            if (m >> i & 1)
                continue;
            myth_schema_put(w, n_put++ ? " | " : "");
            myth_schema_put(w, have ? "\",\" space " : "");
            MYTH_TRY(put_json(w, p, value[i]));
            myth_schema_putf(w, " space s%zu-u%u", idx, (unsigned)(m | 1u << i));
        }
    }
fail:
    return st;
}

static myth_status put_array(writer *w, const part *p, size_t idx)
{
    const json_t *items = json_object_get(p->schema, "items"), *prefix = json_object_get(p->schema, "prefixItems");
    const size_t n_prefix = json_array_size(prefix);
    uint32_t min = 0, max = ANY;
    myth_status st;
    MYTH_TRY(myth_schema_get_counts(w, p, "minItems", "maxItems", &min, &max));
    if (is_left_out(p, "array"))
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "\"not\" of an array is not supported");
    if (json_is_true(json_object_get(p->schema, "uniqueItems")) && (prefix || (max > 1 && !json_is_false(items))))
        return prefix
                 ? myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "\"uniqueItems\" beside \"prefixItems\" is not supported")
                 : put_unique(w, p, idx, items ? items : json_true(), min, max);
    if (prefix && (!json_is_array(prefix) || n_prefix == 0))
        return myth_schema_fail(w, p, MYTH_EFORMAT, "\"prefixItems\": expected an array of schemas");
    if (prefix && (json_object_get(p->schema, "minItems") || json_object_get(p->schema, "maxItems")))
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                "minItems and maxItems beside \"prefixItems\" are not supported");
    myth_schema_put(w, "\"[\" space ");
    for (size_t i = 0; i < n_prefix; i++) {
        myth_schema_put(w, i ? " \",\" space " : "");
        MYTH_TRY(put_nth(w, p, prefix, i, "prefixItems"));
    }
    if (prefix && items && !json_is_false(items)) {
        myth_schema_put(w, " (\",\" space ");
        MYTH_TRY(myth_schema_put_part(w, p, items, NULL, "items", ""));
        myth_schema_put(w, ")*");
    } else if (!prefix && max > 0 && !json_is_false(items)) {
        myth_schema_put(w, min ? "" : "(");
        for (int k = 0; k < 2; k++) { /* one, and those behind it */
            myth_schema_put(w, k ? " (\",\" space " : "");
            MYTH_TRY(myth_schema_put_part(w, p, items ? items : json_true(), NULL, "items", ""));
        }
        myth_schema_put(w, ")");
        myth_schema_put_repeat(w, min ? min - 1 : 0, max == ANY ? ANY : max - 1);
        myth_schema_put(w, min ? "" : ")?");
    } else if (min) {
        return myth_schema_fail(w, p, MYTH_EFORMAT, "minItems of an array without items");
    }
    myth_schema_put(w, " \"]\" space");
fail:
    return st;
}

static bool is_required(const json_t *required, const char *name)
{
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *one = json_string_value(json_array_get(required, i));
        if (one && strcmp(one, name) == 0)
            return true;
    }
    return false;
}

static myth_status put_pair(writer *w, const part *p, const char *name, const json_t *schema)
{
    json_t *key = json_string(name);
    myth_status st = !key     ? myth_schema_no_memory(w)
                   : w->quote ? myth_schema_call_key(w, p, name)
                              : put_json(w, p, key);
    json_decref(key);
    myth_schema_put(w, " space \":\" space ");
    return st == MYTH_OK ? myth_schema_put_part(w, p, schema, NULL, "properties", name) : st;
}

/* Pairs in order. The first that is there is one of those up to the first that must be there; rule s<i>-<k> is what may
 * follow: the pairs from the k-th on, each behind a comma. A property that may not be there has no pair. */
static myth_status put_pairs(writer *w, const part *p, size_t idx, json_t *properties, const json_t *required)
{
    const char *name;
    json_t *schema;
    size_t k = 0;
    bool must = false;
    myth_status st = MYTH_OK;
    myth_schema_put(w, "\"{\" space (");
    json_object_foreach(properties, name, schema)
    {
        if (must)
            break;
        if (json_is_false(schema))
            continue;
        myth_schema_put(w, k ? " | " : "");
        MYTH_TRY(put_pair(w, p, name, schema));
        myth_schema_putf(w, " s%zu-%zu", idx, ++k);
        must = is_required(required, name);
    }
    myth_schema_put(w, must ? ") \"}\" space" : ")? \"}\" space");
    k = 0;
    json_object_foreach(properties, name, schema)
    {
        if (json_is_false(schema))
            continue;
        if (k) {
            must = is_required(required, name);
            myth_schema_putf(w, "\ns%zu-%zu ::= %s\",\" space ", idx, k, must ? "" : "(");
            MYTH_TRY(put_pair(w, p, name, schema));
            myth_schema_put(w, must ? "" : ")?");
            myth_schema_putf(w, " s%zu-%zu", idx, k + 1);
        }
        k++;
    }
    if (k)
        myth_schema_putf(w, "\ns%zu-%zu ::= \"\"", idx, k);
fail:
    return st;
}

static bool has_some(const json_t *properties)
{
    const char *name;
    json_t *schema;
    json_object_foreach((json_t *)(uintptr_t)properties, name, schema) if (!json_is_false(schema)) return true;
    return false;
}

static myth_status put_object(writer *w, const part *p, size_t idx)
{
    json_t *properties = json_object_get(p->schema, "properties");
    const json_t *required = json_object_get(p->schema, "required"),
                 *more = json_object_get(p->schema, "additionalProperties");
    if ((properties && !json_is_object(properties)) || (required && !json_is_array(required)))
        return myth_schema_fail(w, p, MYTH_EFORMAT,
                                "expected \"properties\" to be an object and \"required\" an array");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        if (!name || !json_object_get(properties, name) || json_is_false(json_object_get(properties, name)))
            return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "required \"%.40s\" is none of the properties",
                                    name ? name : "");
    }
    if (is_left_out(p, "object"))
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "\"not\" of an object as a value is not supported");
    if (json_object_size(properties) && !json_is_false(more) && !has_some(properties) &&
        !json_object_get(p->schema, MYTH_SCHEMA_NAMED))
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                "an object of which only is said what it has not; list its \"properties\"");
    if (has_some(properties))
        return put_pairs(w, p, idx, properties, required);
    if (json_is_false(more) || (properties && !more) || (w->quote && p->depth == 1)) {
        myth_schema_put(w, "\"{\" space \"}\" space");
        return MYTH_OK;
    }
    if (w->quote)
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                "an object in a call whose keys are not known; name them in \"properties\"");
    if (!more || json_is_true(more)) {
        myth_schema_put(w, "object");
        return MYTH_OK;
    }
    myth_status st;
    myth_schema_put(w, "\"{\" space (string \":\" space ");
    MYTH_TRY(myth_schema_put_part(w, p, more, NULL, "additionalProperties", ""));
    myth_schema_put(w, " (\",\" space string \":\" space ");
    MYTH_TRY(myth_schema_put_part(w, p, more, NULL, "additionalProperties", ""));
    myth_schema_put(w, ")*)? \"}\" space");
fail:
    return st;
}

/* ---- choices ---- */

static myth_status put_values(writer *w, const part *p, const json_t *list)
{
    size_t n = 0;
    myth_status st = MYTH_OK;
    if (!json_is_array(list))
        return myth_schema_fail(w, p, MYTH_EFORMAT, "\"enum\": expected an array");
    myth_schema_put(w, "(");
    for (size_t i = 0; i < json_array_size(list) && st == MYTH_OK; i++)
        if (myth_schema_has_type_of(p->schema, json_array_get(list, i))) {
            myth_schema_put(w, n++ ? " | " : "");
            st = put_json(w, p, json_array_get(list, i));
        }
    myth_schema_put(w, ") space");
    return st == MYTH_OK && n == 0 ? myth_schema_fail(w, p, MYTH_EFORMAT, "\"enum\" has no value of the type") : st;
}

static myth_status put_any_of(writer *w, const part *p, const char *key)
{
    const json_t *list = json_object_get(p->schema, key);
    myth_status st = MYTH_OK;
    if (json_array_size(list) == 0)
        return myth_schema_fail(w, p, MYTH_EFORMAT, "\"%.8s\": expected an array of schemas", key);
    for (size_t i = 0; i < json_array_size(list) && st == MYTH_OK; i++) {
        myth_schema_put(w, i ? " | " : "");
        st = put_nth(w, p, list, i, key);
    }
    return st;
}

static myth_status put_ref(writer *w, const part *p)
{
    const char *ref = json_string_value(json_object_get(p->schema, "$ref"));
    const json_t *to = ref ? myth_schema_find(w->root, ref) : NULL;
    if (!to)
        return myth_schema_fail(w, p, MYTH_EFORMAT, "$ref \"%.48s\" is no place of this schema", ref ? ref : "");
    return myth_schema_put_part(w, p, to, NULL, "", "");
}

/* A choice between schemas without choices. */
static myth_status put_flat(writer *w, const part *p)
{
    json_t *list;
    myth_status st = myth_schema_flatten(w, p, p->schema, &list);
    if (st == MYTH_OK && json_array_size(list) == 0)
        return myth_schema_fail(w, p, MYTH_EFORMAT, "no value is allowed here");
    for (size_t i = 0; i < json_array_size(list) && st == MYTH_OK; i++) {
        json_t *one = json_array_get(list, i), *v;
        const char *key;
        json_object_foreach(one, key,
                            v) if (json_object_get(one, "enum") &&
                                   strcmp(key, "enum") !=
                                       0) return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                                                  "\"%.24s\" beside \"enum\" is not supported",
                                                                  key[0] == '\xff' ? "not" : key);
        myth_schema_put(w, i ? " | " : "");
        st = myth_schema_put_part(w, p, one, NULL, "", "");
    }
    return st;
}

/* ---- a part ---- */

const char *myth_schema_type_by_keys(const json_t *s)
{
    static const char *const key[][2] = {{"properties", "object"},
                                         {"required", "object"},
                                         {"additionalProperties", "object"},
                                         {"items", "array"},
                                         {"prefixItems", "array"},
                                         {"minItems", "array"},
                                         {"maxItems", "array"},
                                         {"uniqueItems", "array"},
                                         {"pattern", "string"},
                                         {"minLength", "string"},
                                         {"maxLength", "string"},
                                         {"format", "string"},
                                         {"minimum", "number"},
                                         {"maximum", "number"},
                                         {"exclusiveMinimum", "number"},
                                         {"exclusiveMaximum", "number"}};
    for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++)
        if (json_object_get(s, key[i][0]))
            return key[i][1];
    return NULL;
}

static myth_status put_typed(writer *w, const part *p, size_t idx, const char *type)
{
    if (w->quote && p->depth == 1 && strcmp(type, "object") != 0)
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "the arguments of a call are an object, not of type \"%.24s\"",
                                type);
    if (!strcmp(type, "string"))
        return myth_schema_put_string(w, p, idx);
    if (!strcmp(type, "integer"))
        return myth_schema_put_integer(w, p);
    if (!strcmp(type, "number"))
        return myth_schema_put_number(w, p);
    if (!strcmp(type, "array"))
        return put_array(w, p, idx);
    if (!strcmp(type, "object"))
        return put_object(w, p, idx);
    if (strcmp(type, "boolean") != 0 && strcmp(type, "null") != 0)
        return myth_schema_fail(w, p, MYTH_EFORMAT, "type \"%.24s\" does not exist", type);
    if (is_left_out(p, type)) /* then it is a boolean, and one is left */
        myth_schema_putf(w, "\"%s\" space", is_value_left_out(p, json_true()) ? "false" : "true");
    else
        myth_schema_put(w, type);
    return MYTH_OK;
}

static myth_status put_types(writer *w, const part *p, const json_t *types)
{
    static const char *const all[] = {"string", "integer", "number", "array", "object", "boolean", "null"};
    myth_status st = MYTH_OK;
    for (size_t i = 0; i < json_array_size(types) && st == MYTH_OK; i++) {
        const char *name = json_string_value(json_array_get(types, i));
        size_t k = 0;
        while (k < 7 && (!name || strcmp(name, all[k]) != 0))
            k++;
        if (k == 7 && name && !strcmp(name, MYTH_SCHEMA_FRACTION))
            return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "numbers, but no integers, are not supported");
        if (k == 7)
            return myth_schema_fail(w, p, MYTH_EFORMAT, "type \"%.24s\" does not exist", name ? name : "");
        myth_schema_put(w, i ? " | " : "");
        st = myth_schema_put_part(w, p, p->schema, all[k], "", "");
    }
    return st == MYTH_OK && json_array_size(types) == 0 ? myth_schema_fail(w, p, MYTH_EFORMAT, "\"type\" names none")
                                                        : st;
}

/* Of any type: arguments are then none. */
static myth_status put_any(writer *w, const part *p)
{
    static const char *const all[] = {"string", "number", "boolean", "null", "array", "object"};
    const bool is_call = w->quote != NULL;
    myth_status st = MYTH_OK;
    if (!json_object_get(p->schema, MYTH_SCHEMA_OTHERS) || (is_call && p->depth == 1)) {
        myth_schema_put(w, is_call && p->depth == 1 ? "\"{\" \"}\"" : "value");
        return MYTH_OK;
    }
    for (size_t i = 0; i < (is_call ? 4 : 6) && st == MYTH_OK; i++) {
        myth_schema_put(w, i ? " | " : "");
        st = myth_schema_put_part(w, p, p->schema, all[i], "", "");
    }
    return st;
}

static myth_status put_const(writer *w, const part *p, const json_t *value)
{
    const myth_status st = put_json(w, p, value);
    myth_schema_put(w, " space");
    return st == MYTH_OK && !myth_schema_has_type_of(p->schema, value)
             ? myth_schema_fail(w, p, MYTH_EFORMAT, "\"const\" is not of the type")
             : st;
}

static myth_status put_schema(writer *w, size_t idx)
{
    const part own = w->part[idx], *p = &own; /* the array may grow */
    const json_t *s = p->schema, *type = json_object_get(s, "type");
    const char *by_keys = myth_schema_type_by_keys(s);
    myth_status st;
    myth_schema_putf(w, "s%zu ::= ", idx);
    if (json_is_true(s))
        return put_any(w, p);
    if (!json_is_object(s))
        return myth_schema_fail(w, p, MYTH_EFORMAT,
                                json_is_false(s) ? "no value is allowed here" : "expected a schema");
    if (myth_schema_is_compound(s))
        return put_flat(w, p);
    MYTH_TRY(check_keys(w, p));
    if (json_object_get(s, "$ref"))
        return put_ref(w, p);
    if (json_object_get(s, "allOf")) /* of one schema */
        return put_nth(w, p, json_object_get(s, "allOf"), 0, "allOf");
    if (json_object_get(s, "anyOf"))
        return put_any_of(w, p, "anyOf");
    if (json_object_get(s, "oneOf")) {
        bool are_apart = w->is_loose;
        if (!are_apart)
            MYTH_TRY(myth_schema_are_apart(w, p, json_object_get(s, "oneOf"), &are_apart));
        return are_apart ? put_any_of(w, p, "oneOf") : put_flat(w, p);
    }
    if (json_object_get(s, "enum"))
        return put_values(w, p, json_object_get(s, "enum"));
    if (json_object_get(s, "const"))
        return put_const(w, p, json_object_get(s, "const"));
    if (p->type)
        return put_typed(w, p, idx, p->type);
    if (json_is_array(type))
        return put_types(w, p, type);
    if (type && !json_is_string(type))
        return myth_schema_fail(w, p, MYTH_EFORMAT, "\"type\": expected a name or an array of names");
    if (type || by_keys)
        return put_typed(w, p, idx, type ? json_string_value(type) : by_keys);
    return put_any(w, p);
fail:
    return st;
}

myth_status myth_schema_put_rules(writer *w)
{
    myth_status st = MYTH_OK;
    for (; w->n_written < w->n_part && st == MYTH_OK; w->n_written++) {
        st = put_schema(w, w->n_written);
        myth_schema_put(w, "\n");
    }
    return st;
}

bool myth_schema_again(writer *w, myth_status st, myth_error *err)
{
    if (st == MYTH_OK && w->is_large)
        st = MYTH_ELIMIT;
    if ((st != MYTH_EUNSUPPORTED && st != MYTH_ELIMIT) || w->is_short || !w->has_one_of || w->is_loose)
        return false;
    json_decref(w->kept);
    w->kept = NULL;
    w->n_part = w->n_written = w->n = 0;
    w->n_merge = 0;
    w->n_work = 0;
    w->is_large = w->has_one_of = false;
    w->is_loose = true;
    if (err)
        *err = (myth_error){0};
    return true;
}

myth_status myth_schema_end(writer *w, myth_status st, char **out, size_t *n)
{
    myth_schema_put(w, common);
    if (st == MYTH_OK && w->is_large)
        st = myth_fail(w->err, MYTH_ELIMIT, "%.60s: the schema's grammar is larger than %d bytes", w->name,
                       MYTH_GBNF_BYTES);
    else if (st == MYTH_OK && w->is_short)
        st = myth_schema_no_memory(w);
    json_decref(w->kept);
    myth_free(w->mem, w->part);
    if (st != MYTH_OK) {
        myth_free(w->mem, w->out);
        return st;
    }
    *out = w->out;
    *n = w->n;
    return MYTH_OK;
}

myth_status myth_json_schema_to_gbnf(char **out, size_t *n, myth_mem *mem, const char *schema, size_t len,
                                     const char *name, myth_error *err)
{
    json_error_t e;
    writer w = {.mem = mem, .name = name, .err = err};
    const part top = {.schema = NULL};
    *out = NULL;
    if (len > MYTH_JSON_SCHEMA_BYTES)
        return myth_fail(err, MYTH_ELIMIT, "%.60s: a schema of %zu bytes; at most %d are read", name, len,
                         MYTH_JSON_SCHEMA_BYTES);
    json_t *root = json_loadb(schema, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (!root)
        return myth_fail(err, MYTH_EFORMAT, "%.60s:%d:%d: %.120s", name, e.line, e.column, e.text);
    w.root = root;
    myth_status st;
    do {
        myth_schema_put(&w, "root ::= ");
        st = myth_schema_put_part(&w, &top, root, NULL, "", "");
        myth_schema_put(&w, "\n");
        if (st == MYTH_OK)
            st = myth_schema_put_rules(&w);
        myth_schema_put(&w, primitives);
    } while (myth_schema_again(&w, st, err));
    st = myth_schema_end(&w, st, out, n);
    json_decref(root);
    return st;
}
