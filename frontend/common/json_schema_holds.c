/* json_schema_holds.c - whether one value is of a schema, as far as can be said without patterns and formats. */
#include "json_schema_impl.h"

#include <math.h>
#include <string.h>

typedef myth_schema_writer writer;
typedef myth_schema_verdict verdict;

enum { HOPS = 24 };
#define NO      MYTH_SCHEMA_NO
#define YES     MYTH_SCHEMA_YES
#define UNKNOWN MYTH_SCHEMA_UNKNOWN

static int compare(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b))
        return (json_integer_value(a) > json_integer_value(b)) - (json_integer_value(a) < json_integer_value(b));
    return (json_number_value(a) > json_number_value(b)) - (json_number_value(a) < json_number_value(b));
}

bool myth_schema_is_equal(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *v;
    bool is = true;
    if (json_is_number(a) && json_is_number(b))
        return compare(a, b) == 0;
    if (json_typeof(a) != json_typeof(b) || json_array_size(a) != json_array_size(b) ||
        json_object_size(a) != json_object_size(b))
        return false;
    if (!json_is_array(a) && !json_is_object(a))
        return json_equal((json_t *)(uintptr_t)a, (json_t *)(uintptr_t)b);
    for (size_t i = 0; i < json_array_size(a) && is; i++)
        is = myth_schema_is_equal(json_array_get(a, i), json_array_get(b, i));
    json_object_foreach((json_t *)(uintptr_t)a, key, v)
    {
        const json_t *other = json_object_get(b, key);
        is = is && other && myth_schema_is_equal(v, other);
    }
    return is;
}

bool myth_schema_has_value(const json_t *list, const json_t *v)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (myth_schema_is_equal(json_array_get(list, i), v))
            return true;
    return false;
}

bool myth_schema_is_of(const json_t *v, const char *type)
{
    const bool is_whole = json_is_integer(v) || (json_is_real(v) && json_real_value(v) == floor(json_real_value(v)));
    return !strcmp(type, "integer") ? is_whole
         : !strcmp(type, "string")  ? json_is_string(v)
         : !strcmp(type, "number")  ? json_is_number(v)
         : !strcmp(type, "boolean") ? json_is_boolean(v)
         : !strcmp(type, "null")    ? json_is_null(v)
         : !strcmp(type, "array")   ? json_is_array(v)
         : !strcmp(type, "object")  ? json_is_object(v)
                                    : !strcmp(type, MYTH_SCHEMA_FRACTION) && json_is_real(v) && !is_whole;
}

bool myth_schema_has_type_of(const json_t *schema, const json_t *v)
{
    const json_t *type = json_object_get(schema, "type");
    if (json_is_string(type))
        return myth_schema_is_of(v, json_string_value(type));
    for (size_t i = 0; i < json_array_size(type); i++)
        if (json_is_string(json_array_get(type, i)) && myth_schema_is_of(v, json_string_value(json_array_get(type, i))))
            return true;
    return type == NULL;
}

/* ---- */

static verdict both(verdict a, verdict b) { return a == NO || b == NO ? NO : a == YES && b == YES ? YES : UNKNOWN; }
static verdict either(verdict a, verdict b) { return a == YES || b == YES ? YES : a == NO && b == NO ? NO : UNKNOWN; }
static verdict opposite(verdict a) { return a == YES ? NO : a == NO ? YES : UNKNOWN; }
static verdict is(bool b) { return b ? YES : NO; }

static size_t n_chars(const json_t *v)
{
    const char *s = json_string_value(v);
    size_t n = 0;
    for (size_t i = 0; i < json_string_length(v); i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

/* A bound of a number, or of the size of a string or array. */
static verdict in_bound(const char *key, const json_t *bound, const json_t *v)
{
    static const struct {
        const char *key;
        int order; /* that v must not have to the bound */
        bool is_open;
    } way[] = {{"minimum", -1, false},        {"exclusiveMinimum", -1, true}, {"maximum", 1, false},
               {"exclusiveMaximum", 1, true}, {"minLength", -1, false},       {"maxLength", 1, false},
               {"minItems", -1, false},       {"maxItems", 1, false}};
    size_t i = 0;
    while (i < 8 && strcmp(key, way[i].key) != 0)
        i++;
    if (i == 8 || !json_is_number(bound))
        return UNKNOWN;
    if (i < 4 ? !json_is_number(v) : i < 6 ? !json_is_string(v) : !json_is_array(v))
        return YES;
    const double size = i < 6 ? (double)(json_is_string(v) ? n_chars(v) : 0) : (double)json_array_size(v),
                 most = json_number_value(bound);
    const int order = i < 4 ? compare(v, bound) : (size > most) - (size < most);
    return is(order != way[i].order && !(order == 0 && way[i].is_open));
}

static verdict of_object(writer *w, const json_t *schema, const json_t *v, int depth)
{
    const json_t *properties = json_object_get(schema, "properties"), *required = json_object_get(schema, "required"),
                 *more = json_object_get(schema, "additionalProperties");
    const char *name;
    json_t *one;
    verdict all = YES;
    for (size_t i = 0; i < json_array_size(required); i++)
        if (!json_object_get(v, json_string_value(json_array_get(required, i))))
            return NO;
    json_object_foreach((json_t *)(uintptr_t)v, name, one)
    {
        const json_t *own = json_object_get(properties, name);
        own = own ? own : more;
        all = own ? both(all, myth_schema_holds(w, own, one, depth + 1)) : all;
    }
    return all;
}

static verdict of_array(writer *w, const json_t *schema, const json_t *v, int depth)
{
    const json_t *prefix = json_object_get(schema, "prefixItems"), *items = json_object_get(schema, "items");
    const size_t n = json_array_size(v);
    verdict all = YES;
    if (json_is_true(json_object_get(schema, "uniqueItems")) && !myth_schema_work(w, n * n / 2))
        return UNKNOWN;
    for (size_t i = 0; i < n; i++) {
        const json_t *own = i < json_array_size(prefix) ? json_array_get(prefix, i) : items;
        all = own ? both(all, myth_schema_holds(w, own, json_array_get(v, i), depth + 1)) : all;
        for (size_t k = 0; k < i && json_is_true(json_object_get(schema, "uniqueItems")); k++)
            all = myth_schema_is_equal(json_array_get(v, i), json_array_get(v, k)) ? NO : all;
    }
    return all;
}

static verdict of_key(writer *w, const json_t *schema, const char *key, const json_t *k, const json_t *v, int depth)
{
    static const char *const with_others[] = {
        "properties", "required", "additionalProperties", "items", "prefixItems", "uniqueItems", "then", "else"};
    verdict all;
    for (size_t i = 0; i < sizeof(with_others) / sizeof(with_others[0]); i++)
        if (strcmp(key, with_others[i]) == 0)
            return YES;
    if (myth_schema_is_annotation(key) || !strcmp(key, MYTH_SCHEMA_NAMED))
        return YES;
    if (!strcmp(key, "type"))
        return is(myth_schema_has_type_of(schema, v));
    if (!strcmp(key, "enum") || !strcmp(key, MYTH_SCHEMA_OTHERS))
        return is(myth_schema_has_value(k, v) == !strcmp(key, "enum"));
    if (!strcmp(key, "const"))
        return is(myth_schema_is_equal(k, v));
    if (!strcmp(key, "not"))
        return opposite(myth_schema_holds(w, k, v, depth + 1));
    if (!strcmp(key, "$ref"))
        return json_is_string(k) ? myth_schema_holds(w, myth_schema_find(w->root, json_string_value(k)), v, depth + 1)
                                 : UNKNOWN;
    if (!strcmp(key, "if")) {
        const verdict condition = myth_schema_holds(w, k, v, depth + 1);
        const json_t *then = json_object_get(schema, "then"), *other = json_object_get(schema, "else");
        return both(either(opposite(condition), then ? myth_schema_holds(w, then, v, depth + 1) : YES),
                    either(condition, other ? myth_schema_holds(w, other, v, depth + 1) : YES));
    }
    if (!strcmp(key, "allOf") || !strcmp(key, "anyOf")) {
        const bool is_all = key[1] == 'l';
        all = is_all ? YES : NO;
        for (size_t i = 0; i < json_array_size(k); i++) {
            const verdict one = myth_schema_holds(w, json_array_get(k, i), v, depth + 1);
            all = is_all ? both(all, one) : either(all, one);
        }
        return all;
    }
    if ((!strcmp(key, "pattern") || !strcmp(key, "format")) && !json_is_string(v))
        return YES;
    return in_bound(key, k, v);
}

myth_schema_verdict myth_schema_holds(writer *w, const json_t *schema, const json_t *v, int depth)
{
    const char *key;
    json_t *k;
    verdict all = YES;
    if (json_is_boolean(schema))
        return is(json_is_true(schema));
    if (!json_is_object(schema) || depth > HOPS || !myth_schema_work(w, json_object_size(schema)))
        return UNKNOWN;
    json_object_foreach((json_t *)(uintptr_t)schema, key, k) if (all != NO) all =
        both(all, of_key(w, schema, key, k, v, depth));
    if (json_is_object(v) && all != NO)
        all = both(all, of_object(w, schema, v, depth));
    if (json_is_array(v) && all != NO)
        all = both(all, of_array(w, schema, v, depth));
    return all;
}
