/* json_schema.c - one rule for each part of the schema that is referred to, written one after the other: a part that
 * refers to another names its rule, which is written later if it is not there yet. So a schema may refer to itself. */
#include "json_schema_digits.h"
#include "json_schema_impl.h"

#include "engine/base/array.h"

#include <stdlib.h>

enum { HOPS = 32 };

typedef myth_schema_writer writer;
typedef myth_schema_part part;

static const char primitives[] =
    "space ::= | \" \" | \"\\n\"{1,2} [ \\t]{0,20}\n"
    "char ::= [^\"\\\\\\x7F\\x00-\\x1F] | [\\\\] ([\"\\\\bfnrt] | \"u\" ([0-9a-cA-CefEF] hex{3} | [dD] [0-7] hex{2}))\n"
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

/* What "#/a/b/0" names. */
static const json_t *find(const json_t *root, const char *ref)
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

static bool is_annotation(const char *key)
{
    static const char *const name[] = {"title",      "description", "default",   "examples", "$schema",
                                       "$id",        "$comment",    "$defs",     "$anchor",  "definitions",
                                       "deprecated", "readOnly",    "writeOnly", "example"};
    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
        if (strcmp(key, name[i]) == 0)
            return true;
    return false;
}

/* Refuses keywords beside `only` that restrict; NULL: those that are not read at all. */
static myth_status check_keys(const writer *w, const part *p, const char *only, const char *also)
{
    static const char *const read[] = {"type",
                                       "enum",
                                       "const",
                                       "properties",
                                       "required",
                                       "additionalProperties",
                                       "items",
                                       "prefixItems",
                                       "minItems",
                                       "maxItems",
                                       "minLength",
                                       "maxLength",
                                       "minimum",
                                       "maximum",
                                       "exclusiveMinimum",
                                       "exclusiveMaximum",
                                       "format",
                                       "anyOf",
                                       "oneOf",
                                       "allOf",
                                       "$ref"};
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)p->schema, key, v)
    {
        bool is_read = is_annotation(key) || (only && (!strcmp(key, only) || (also && !strcmp(key, also)))) ||
                       (!strcmp(key, "uniqueItems") && json_is_false(v));
        for (size_t i = 0; i < sizeof(read) / sizeof(read[0]) && !only; i++)
            is_read |= strcmp(key, read[i]) == 0;
        if (!is_read && only)
            return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "\"%.24s\" beside \"%.12s\" is not supported", key, only);
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

/* Two counts, of which the second is not less. */
static myth_status get_counts(const writer *w, const part *p, const char *least, const char *most, uint32_t *min,
                              uint32_t *max)
{
    myth_status st = get_count(w, p, least, min);
    if (st == MYTH_OK)
        st = get_count(w, p, most, max);
    return st == MYTH_OK && *max < *min ? myth_schema_fail(w, p, MYTH_EFORMAT, "%s is more than %s", least, most) : st;
}

#define ANY UINT32_MAX

static void put_repeat(writer *w, uint32_t min, uint32_t max)
{
    if (max == ANY)
        myth_schema_putf(w, "{%u,}", min);
    else
        myth_schema_putf(w, "{%u,%u}", min, max);
}

/* Puts the rule of schema i of a list under this key. */
static myth_status put_nth(writer *w, const part *p, const json_t *list, size_t i, const char *key)
{
    char number[24];
    snprintf(number, sizeof(number), "%zu", i);
    return myth_schema_put_part(w, p, json_array_get(list, i), NULL, key, number);
}

/* ---- kinds of values ---- */

static myth_status put_string(writer *w, const part *p)
{
    static const char *const form[] = {"date", "time", "date-time", "uuid"};
    const json_t *format = json_object_get(p->schema, "format");
    const char *quote = w->quote ? w->quote : "\"\\\"\"";
    uint32_t min = 0, max = ANY;
    myth_status st;
    MYTH_TRY(get_counts(w, p, "minLength", "maxLength", &min, &max));
    if (format) {
        const char *name = json_is_string(format) ? json_string_value(format) : "";
        size_t i = 0;
        while (i < 4 && strcmp(form[i], name) != 0)
            i++;
        if (i == 4)
            return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                    "format \"%.24s\": date, time, date-time and uuid are supported", name);
        if (min || max != ANY)
            return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                    "minLength and maxLength beside \"format\" are not supported");
        myth_schema_putf(w, "%s %s %s space", quote, form[i], quote);
        return MYTH_OK;
    }
    myth_schema_putf(w, "%s char", quote);
    put_repeat(w, min, max);
    myth_schema_putf(w, " %s space", quote);
fail:
    return st;
}

/* A bound of an integer, rounded to the whole number inside it; outside of what is written it is none. */
static myth_status get_bound(const writer *w, const part *p, const char *key, bool is_low, int step, int64_t *out)
{
    const json_t *v = json_object_get(p->schema, key);
    if (!v)
        return MYTH_OK;
    if (!json_is_integer(v))
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "\"%.18s\": expected a whole number", key);
    int64_t n = json_integer_value(v);
    n = n > MYTH_DIGITS_MOST ? MYTH_DIGITS_MOST + 1 : n < -MYTH_DIGITS_MOST ? -MYTH_DIGITS_MOST - 1 : n;
    n += step;
    if (is_low ? n > *out : n < *out)
        *out = n;
    return MYTH_OK;
}

static myth_status put_integer(writer *w, const part *p)
{
    int64_t lo = -MYTH_DIGITS_MOST, hi = MYTH_DIGITS_MOST;
    char text[MYTH_DIGITS_TEXT];
    myth_status st;
    MYTH_TRY(get_bound(w, p, "minimum", true, 0, &lo));
    MYTH_TRY(get_bound(w, p, "exclusiveMinimum", true, 1, &lo));
    MYTH_TRY(get_bound(w, p, "maximum", false, 0, &hi));
    MYTH_TRY(get_bound(w, p, "exclusiveMaximum", false, -1, &hi));
    if (lo > hi)
        return myth_schema_fail(w, p, MYTH_EFORMAT, "no integer of at most 16 digits is between the bounds");
    if (lo == -MYTH_DIGITS_MOST && hi == MYTH_DIGITS_MOST) {
        myth_schema_put(w, "integer");
        return MYTH_OK;
    }
    myth_digits_between(text, lo, hi);
    myth_schema_putf(w, "(");
    myth_schema_put(w, text);
    myth_schema_put(w, ") space");
fail:
    return st;
}

static myth_status put_number(writer *w, const part *p)
{
    static const char *const bound[] = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"};
    for (size_t i = 0; i < 4; i++)
        if (json_object_get(p->schema, bound[i]))
            return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                    "\"%.18s\" of a number is not supported; of an integer it is", bound[i]);
    myth_schema_put(w, "number");
    return MYTH_OK;
}

static myth_status put_array(writer *w, const part *p)
{
    const json_t *items = json_object_get(p->schema, "items"), *prefix = json_object_get(p->schema, "prefixItems");
    const size_t n_prefix = json_array_size(prefix);
    uint32_t min = 0, max = ANY;
    myth_status st;
    MYTH_TRY(get_counts(w, p, "minItems", "maxItems", &min, &max));
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
        put_repeat(w, min ? min - 1 : 0, max == ANY ? ANY : max - 1);
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
 * follow: the pairs from the k-th on, each behind a comma. */
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
        myth_schema_put(w, k ? " | " : "");
        MYTH_TRY(put_pair(w, p, name, schema));
        myth_schema_putf(w, " s%zu-%zu", idx, ++k);
        must = is_required(required, name);
    }
    myth_schema_put(w, must ? ") \"}\" space" : ")? \"}\" space");
    k = 0;
    json_object_foreach(properties, name, schema)
    {
        if (k) {
            must = is_required(required, name);
            myth_schema_putf(w, "\ns%zu-%zu ::= %s\",\" space ", idx, k, must ? "" : "(");
            MYTH_TRY(put_pair(w, p, name, schema));
            myth_schema_put(w, must ? "" : ")?");
            myth_schema_putf(w, " s%zu-%zu", idx, k + 1);
        }
        k++;
    }
    myth_schema_putf(w, "\ns%zu-%zu ::= \"\"", idx, k);
fail:
    return st;
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
        if (!name || !json_object_get(properties, name))
            return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "required \"%.40s\" is none of the properties",
                                    name ? name : "");
    }
    if (json_object_size(properties))
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

static bool is_of(const json_t *v, const char *type)
{
    if (!strcmp(type, "integer"))
        return json_is_integer(v);
    return !strcmp(type, "string")  ? json_is_string(v)
         : !strcmp(type, "number")  ? json_is_number(v)
         : !strcmp(type, "boolean") ? json_is_boolean(v)
         : !strcmp(type, "null")    ? json_is_null(v)
         : !strcmp(type, "array")   ? json_is_array(v)
                                    : !strcmp(type, "object") && json_is_object(v);
}

/* Whether the schema's "type" (or its absence) allows the value. */
static bool has_type_of(const json_t *schema, const json_t *v)
{
    const json_t *type = json_object_get(schema, "type");
    if (json_is_string(type))
        return is_of(v, json_string_value(type));
    for (size_t i = 0; i < json_array_size(type); i++)
        if (json_is_string(json_array_get(type, i)) && is_of(v, json_string_value(json_array_get(type, i))))
            return true;
    return type == NULL;
}

static myth_status put_values(writer *w, const part *p, const json_t *list)
{
    size_t n = 0;
    myth_status st = MYTH_OK;
    if (!json_is_array(list))
        return myth_schema_fail(w, p, MYTH_EFORMAT, "\"enum\": expected an array");
    myth_schema_put(w, "(");
    for (size_t i = 0; i < json_array_size(list) && st == MYTH_OK; i++)
        if (has_type_of(p->schema, json_array_get(list, i))) {
            myth_schema_put(w, n++ ? " | " : "");
            st = put_json(w, p, json_array_get(list, i));
        }
    myth_schema_put(w, ") space");
    return st == MYTH_OK && n == 0 ? myth_schema_fail(w, p, MYTH_EFORMAT, "\"enum\" has no value of the type") : st;
}

static myth_status put_any_of(writer *w, const part *p, const char *key)
{
    const json_t *list = json_object_get(p->schema, key);
    myth_status st = check_keys(w, p, key, NULL);
    if (st == MYTH_OK && json_array_size(list) == 0)
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
    const json_t *to = ref ? find(w->root, ref) : NULL;
    const myth_status st = check_keys(w, p, "$ref", NULL);
    if (st == MYTH_OK && !to)
        return myth_schema_fail(w, p, MYTH_EFORMAT, "$ref \"%.48s\" is no place of this schema", ref ? ref : "");
    return st == MYTH_OK ? myth_schema_put_part(w, p, to, NULL, "", "") : st;
}

/* ---- allOf ---- */

static myth_status merge(writer *w, const part *p, json_t *into, const json_t *from, int depth)
{
    const char *key, *name;
    json_t *v, *one;
    size_t i;
    if (!json_is_object(from) || depth > HOPS || ++w->n_merge > MYTH_SCHEMA_PARTS)
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "\"allOf\": only objects with properties can be put together");
    json_object_foreach((json_t *)(uintptr_t)from, key, v)
    {
        myth_status st = MYTH_OK;
        json_t *have = json_object_get(into, key);
        if (!strcmp(key, "allOf")) {
            for (i = 0; i < json_array_size(v) && st == MYTH_OK; i++)
                st = merge(w, p, into, json_array_get(v, i), depth + 1);
        } else if (!strcmp(key, "$ref")) {
            st = merge(w, p, into, json_is_string(v) ? find(w->root, json_string_value(v)) : NULL, depth + 1);
        } else if (!strcmp(key, "properties") && json_is_object(v)) {
            json_object_foreach(v, name, one)
            {
                const json_t *other = json_object_get(have, name);
                if (other && !json_equal(other, one))
                    return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "\"allOf\": property \"%.32s\" has two schemas",
                                            name);
                json_object_set(have, name, one);
            }
        } else if (!strcmp(key, "required") && json_is_array(v)) {
            json_array_extend(have, v);
        } else if (strcmp(key, "type") != 0 ? !is_annotation(key)
                                            : !json_is_string(v) || strcmp(json_string_value(v), "object")) {
            return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "\"allOf\": \"%.24s\" in it is not supported", key);
        }
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

static myth_status put_all_of(writer *w, const part *p)
{
    const json_t *list = json_object_get(p->schema, "allOf");
    if (json_array_size(list) == 1 && check_keys(w, p, "allOf", NULL) == MYTH_OK)
        return myth_schema_put_part(w, p, json_array_get(list, 0), NULL, "allOf", "0");
    if (w->n_merged == MYTH_SCHEMA_MERGED)
        return myth_schema_fail(w, p, MYTH_ELIMIT, "more than %d \"allOf\"", MYTH_SCHEMA_MERGED);
    json_t *all = json_pack("{s:s,s:{},s:[]}", "type", "object", "properties", "required");
    if (!all)
        return myth_schema_no_memory(w);
    w->merged[w->n_merged++] = all;
    const myth_status st = merge(w, p, all, p->schema, 0);
    return st == MYTH_OK ? myth_schema_put_part(w, p, all, NULL, "allOf", "") : st;
}

/* ---- a part ---- */

/* The type that a schema without one has by its keywords; NULL = any. */
static const char *type_by_keys(const json_t *s)
{
    static const char *const key[][2] = {{"properties", "object"},
                                         {"required", "object"},
                                         {"additionalProperties", "object"},
                                         {"items", "array"},
                                         {"prefixItems", "array"},
                                         {"minItems", "array"},
                                         {"maxItems", "array"},
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
        return put_string(w, p);
    if (!strcmp(type, "integer"))
        return put_integer(w, p);
    if (!strcmp(type, "number"))
        return put_number(w, p);
    if (!strcmp(type, "array"))
        return put_array(w, p);
    if (!strcmp(type, "object"))
        return put_object(w, p, idx);
    if (strcmp(type, "boolean") != 0 && strcmp(type, "null") != 0)
        return myth_schema_fail(w, p, MYTH_EFORMAT, "type \"%.24s\" does not exist", type);
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
        if (k == 7)
            return myth_schema_fail(w, p, MYTH_EFORMAT, "type \"%.24s\" does not exist", name ? name : "");
        myth_schema_put(w, i ? " | " : "");
        st = myth_schema_put_part(w, p, p->schema, all[k], "", "");
    }
    return st == MYTH_OK && json_array_size(types) == 0 ? myth_schema_fail(w, p, MYTH_EFORMAT, "\"type\" names none")
                                                        : st;
}

/* Of any type: arguments are then none. */
static void put_any(writer *w, const part *p)
{
    myth_schema_put(w, w->quote && p->depth == 1 ? "\"{\" \"}\"" : "value");
}

static myth_status put_schema(writer *w, size_t idx)
{
    const part own = w->part[idx], *p = &own; /* the array may grow */
    const json_t *type = json_object_get(p->schema, "type"), *values = json_object_get(p->schema, "enum"),
                 *value = json_object_get(p->schema, "const");
    const char *by_keys = type_by_keys(p->schema);
    myth_status st;
    myth_schema_putf(w, "s%zu ::= ", idx);
    if (json_is_true(p->schema)) {
        put_any(w, p);
        return MYTH_OK;
    }
    if (!json_is_object(p->schema))
        return myth_schema_fail(w, p, MYTH_EFORMAT,
                                json_is_false(p->schema) ? "no value is allowed here" : "expected a schema");
    if (json_object_get(p->schema, "$ref") && !json_object_get(p->schema, "allOf"))
        return put_ref(w, p);
    if (json_object_get(p->schema, "allOf"))
        return put_all_of(w, p);
    MYTH_TRY(check_keys(w, p, NULL, NULL));
    if (json_object_get(p->schema, "anyOf"))
        return put_any_of(w, p, "anyOf");
    if (json_object_get(p->schema, "oneOf"))
        return put_any_of(w, p, "oneOf");
    if (values || value) {
        MYTH_TRY(check_keys(w, p, values ? "enum" : "const", "type"));
        if (values)
            return put_values(w, p, values);
        st = put_json(w, p, value);
        myth_schema_put(w, " space");
        return st == MYTH_OK && !has_type_of(p->schema, value)
                 ? myth_schema_fail(w, p, MYTH_EFORMAT, "\"const\" is not of the type")
                 : st;
    }
    if (p->type)
        return put_typed(w, p, idx, p->type);
    if (json_is_array(type))
        return put_types(w, p, type);
    if (type && !json_is_string(type))
        return myth_schema_fail(w, p, MYTH_EFORMAT, "\"type\": expected a name or an array of names");
    if (type || by_keys)
        return put_typed(w, p, idx, type ? json_string_value(type) : by_keys);
    put_any(w, p);
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

myth_status myth_schema_end(writer *w, myth_status st, char **out, size_t *n)
{
    myth_schema_put(w, common);
    if (st == MYTH_OK && w->is_large)
        st = myth_fail(w->err, MYTH_ELIMIT, "%.60s: the schema's grammar is larger than %d bytes", w->name,
                       MYTH_GBNF_BYTES);
    else if (st == MYTH_OK && w->is_short)
        st = myth_schema_no_memory(w);
    while (w->n_merged)
        json_decref(w->merged[--w->n_merged]);
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
    myth_schema_put(&w, "root ::= ");
    myth_status st = myth_schema_put_part(&w, &top, root, NULL, "", "");
    myth_schema_put(&w, "\n");
    if (st == MYTH_OK)
        st = myth_schema_put_rules(&w);
    myth_schema_put(&w, primitives);
    st = myth_schema_end(&w, st, out, n);
    json_decref(root);
    return st;
}
