/* json_schema_logic.c - allOf, not, if, and keywords beside anyOf, $ref and enum: a schema as a choice between flat
 * ones, which have none of these.
 *
 * Flat      the keywords of values and containers; const as an enum; an enum has only values that all of the schema
 *           allows, and nothing beside it where that can be said. Two keys that no text of JSON can have:
 *           OTHERS, values that are not allowed, and NAMED: some property was listed with what it may be
 * Not       a schema restricts by all of its keywords, so its negation is a choice: one of them does not hold. What a
 *           keyword says of one type only, another type keeps
 * Sizes     MYTH_SCHEMA_CHOICES flat schemas, MYTH_SCHEMA_MERGES of two put together in all, HOPS inside each other */
#include "json_schema_impl.h"

#include <string.h>

typedef myth_schema_writer writer;
typedef myth_schema_part part;

enum { HOPS = 24 };

#define OTHERS MYTH_SCHEMA_OTHERS
#define NAMED  MYTH_SCHEMA_NAMED

typedef struct {
    writer *w;
    const part *p;
    int depth;
    bool is_short; /* of memory */
} logic;

static myth_status flatten(logic *l, const json_t *schema, json_t *out);
static myth_status negate(logic *l, const json_t *schema, json_t *out);

static json_t *open_(const json_t *j) { return (json_t *)(uintptr_t)j; }

static void set(logic *l, json_t *object, const char *key, json_t *owned)
{
    l->is_short |= json_object_set_new_nocheck(object, key, owned) != 0;
}

static void append(logic *l, json_t *list, json_t *owned) { l->is_short |= json_array_append_new(list, owned) != 0; }

static myth_status checked(const logic *l) { return l->is_short ? myth_schema_no_memory(l->w) : MYTH_OK; }

static myth_status has_worked(const logic *l, size_t n)
{
    return myth_schema_work(l->w, n)
             ? MYTH_OK
             : myth_schema_fail(l->w, l->p, MYTH_ELIMIT, "\"allOf\", \"not\", \"if\" and \"enum\" take too long here");
}

static bool is_anything(const json_t *s) { return json_is_true(s) || (json_is_object(s) && !json_object_size(s)); }

/* ---- types ---- */

enum { INT = 1, FRACTION = 2, STRING = 4, ARRAY = 8, OBJECT = 16, BOOLEAN = 32, NONE = 64, ALL = 127 };

static const struct {
    const char *name;
    int bits;
} types[] = {{"string", STRING}, {"number", INT | FRACTION}, {"integer", INT}, {"array", ARRAY},
             {"object", OBJECT}, {"boolean", BOOLEAN},       {"null", NONE},   {MYTH_SCHEMA_FRACTION, FRACTION}};

enum { N_TYPE = sizeof(types) / sizeof(types[0]) };

/* The bits of a name or a list of names. */
static myth_status get_types(const logic *l, const json_t *v, int *out)
{
    *out = 0;
    for (size_t i = 0; i < (json_is_array(v) ? json_array_size(v) : 1); i++) {
        const char *name = json_string_value(json_is_array(v) ? json_array_get(v, i) : v);
        size_t k = 0;
        while (k < N_TYPE && (!name || strcmp(name, types[k].name) != 0))
            k++;
        if (k == N_TYPE)
            return myth_schema_fail(l->w, l->p, MYTH_EFORMAT, "type \"%.24s\" does not exist", name ? name : "");
        *out |= types[k].bits;
    }
    return MYTH_OK;
}

/* A list of names. Fractions alone have one that is refused when it is written. */
static json_t *names_of(logic *l, int bits)
{
    json_t *list = json_array();
    for (size_t k = 0; k < N_TYPE; k++)
        if ((bits & types[k].bits) == types[k].bits && !(types[k].bits == INT && (bits & FRACTION)) &&
            !(types[k].bits == FRACTION && (bits & INT)))
            append(l, list, json_string_nocheck(types[k].name));
    return list;
}

static int bits_of(const char *name)
{
    size_t k = 0;
    while (k < N_TYPE && strcmp(name, types[k].name) != 0)
        k++;
    return k < N_TYPE ? types[k].bits : 0;
}

/* Of a flat schema: any when it names none. */
static int types_of(const json_t *flat)
{
    const json_t *list = json_object_get(flat, "type");
    int bits = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        bits |= bits_of(json_string_value(json_array_get(list, i)));
    return list ? bits : ALL;
}

/* ---- two flat schemas at once ---- */

/* One schema for a value that both allow; *out is false where there is none. */
static myth_status both(logic *l, const json_t *a, const json_t *b, json_t **out)
{
    json_t *list;
    *out = NULL;
    if (is_anything(b) || json_equal(a, b))
        *out = json_incref(open_(a));
    else if (is_anything(a))
        *out = json_incref(open_(b));
    else if (json_is_false(a) || json_is_false(b))
        *out = json_false();
    if (*out)
        return MYTH_OK;
    json_t *two = json_pack("{s:[O,O]}", "allOf", a, b);
    list = json_array();
    l->is_short |= !two || !list;
    myth_status st = checked(l);
    if (st == MYTH_OK)
        st = flatten(l, two, list);
    if (st == MYTH_OK && json_array_size(list) == 0)
        *out = json_false();
    else if (st == MYTH_OK && json_array_size(list) == 1)
        *out = json_incref(json_array_get(list, 0));
    else if (st == MYTH_OK)
        *out = json_pack("{s:O}", "anyOf", list);
    json_decref(list);
    json_decref(two);
    return st == MYTH_OK && !*out ? myth_schema_no_memory(l->w) : st;
}

/* What a flat schema says of a property: that of its name, or of those it does not list. */
static const json_t *of_property(const json_t *flat, const char *name)
{
    const json_t *own = json_object_get(json_object_get(flat, "properties"), name),
                 *more = json_object_get(flat, "additionalProperties");
    return own ? own : more ? more : json_true();
}

static myth_status join_properties(logic *l, json_t *into, const json_t *b)
{
    const json_t *const side[2] = {into, b};
    json_t *all = json_object(), *v, *one = NULL;
    const char *name;
    myth_status st = MYTH_OK;
    for (int k = 0; k < 2 && st == MYTH_OK; k++)
        json_object_foreach(json_object_get(side[k], "properties"), name, v)
        {
            if (json_object_get(all, name))
                continue;
            if ((st = has_worked(l, 1)) != MYTH_OK)
                break;
            if ((st = both(l, of_property(into, name), of_property(b, name), &one)) != MYTH_OK)
                break;
            set(l, all, name, one);
        }
    if (st == MYTH_OK && json_object_get(b, "additionalProperties")) {
        const json_t *have = json_object_get(into, "additionalProperties");
        if ((st = both(l, have ? have : json_true(), json_object_get(b, "additionalProperties"), &one)) == MYTH_OK)
            set(l, into, "additionalProperties", one);
    }
    if (json_object_size(all) || json_object_get(into, "properties"))
        set(l, into, "properties", all);
    else
        json_decref(all);
    return st;
}

static bool is_one_of(const char *key, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(key, list[i]) == 0)
            return true;
    return false;
}

static const char *const low_keys[] = {"minimum", "exclusiveMinimum", "minLength", "minItems"}, *const high_keys[] = {
                                                                                                    "maximum",
                                                                                                    "exclusiveMaximum",
                                                                                                    "maxLength",
                                                                                                    "maxItems"};

/* Takes a keyword of b, which a has too. */
static myth_status join_key(logic *l, json_t *a, const char *key, json_t *v)
{
    json_t *have = json_object_get(a, key), *all = NULL;
    int x = 0, y = 0;
    myth_status st = MYTH_OK;
    const bool is_low = is_one_of(key, low_keys, 4);
    if (is_low || is_one_of(key, high_keys, 4)) {
        if (is_low == (json_number_value(v) > json_number_value(have)))
            set(l, a, key, json_incref(v));
    } else if (!strcmp(key, "type")) {
        MYTH_TRY(get_types(l, v, &x));
        y = types_of(a);
        set(l, a, key, names_of(l, x & y));
    } else if (!strcmp(key, "enum")) {
        MYTH_TRY(has_worked(l, json_array_size(have) * json_array_size(v)));
        all = json_array();
        for (size_t i = 0; i < json_array_size(have); i++)
            if (myth_schema_has_value(v, json_array_get(have, i)))
                append(l, all, json_incref(json_array_get(have, i)));
        set(l, a, key, all);
    } else if (!strcmp(key, "required") || !strcmp(key, OTHERS)) {
        all = json_copy(have);
        l->is_short |= json_array_extend(all, v) != 0;
        set(l, a, key, all);
    } else if (!strcmp(key, "items")) {
        MYTH_TRY(both(l, have, v, &all));
        set(l, a, key, all);
    } else if (!strcmp(key, "uniqueItems")) {
        set(l, a, key, json_boolean(json_is_true(have) || json_is_true(v)));
    } else if (!json_equal(have, v)) {
        return myth_schema_fail(l->w, l->p, MYTH_EUNSUPPORTED, "two different \"%.24s\" at once are not supported",
                                key);
    }
fail:
    return st;
}

/* ---- what is left of a flat schema ---- */

static void drop_types(logic *l, json_t *flat, int bits)
{
    const int have = types_of(flat);
    if (have & bits)
        set(l, flat, "type", names_of(l, have & ~bits));
}

static bool is_more(const json_t *flat, const char *low, const char *high, bool or_same)
{
    const json_t *a = json_object_get(flat, low), *b = json_object_get(flat, high);
    const double x = json_number_value(a), y = json_number_value(b);
    return a && b && (or_same ? x >= y : x > y);
}

/* Takes away values of an enum that the rest does not allow, and types that have no value; false: nothing is left. */
static bool settle(logic *l, json_t **flat)
{
    json_t *f = *flat, *values = json_object_get(f, "enum"), *properties = json_object_get(f, "properties");
    const json_t *others = json_object_get(f, OTHERS), *required = json_object_get(f, "required");
    if (values) {
        json_t *rest = json_copy(f), *kept = json_array();
        bool is_known = json_object_del(rest, "enum") == 0;
        for (size_t i = 0; i < json_array_size(values); i++) {
            const myth_schema_verdict is = myth_schema_holds(l->w, rest, json_array_get(values, i), 0);
            is_known &= is != MYTH_SCHEMA_UNKNOWN;
            if (is != MYTH_SCHEMA_NO)
                append(l, kept, json_incref(json_array_get(values, i)));
        }
        json_decref(rest);
        if (json_array_size(kept) == 0) {
            json_decref(kept);
            return false;
        }
        if (is_known) {
            json_decref(f);
            *flat = f = json_object();
        }
        set(l, f, "enum", kept);
        return true;
    }
    if (is_more(f, "minLength", "maxLength", false))
        drop_types(l, f, STRING);
    if (is_more(f, "minItems", "maxItems", false))
        drop_types(l, f, ARRAY);
    if (is_more(f, "minimum", "maximum", false) || is_more(f, "exclusiveMinimum", "maximum", true) ||
        is_more(f, "minimum", "exclusiveMaximum", true) || is_more(f, "exclusiveMinimum", "exclusiveMaximum", true))
        drop_types(l, f, INT | FRACTION);
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        if (name && json_is_false(json_object_get(properties, name))) {
            drop_types(l, f, OBJECT);
            break;
        }
    }
    if (others && myth_schema_has_value(others, json_null()))
        drop_types(l, f, NONE);
    if (others && myth_schema_has_value(others, json_true()) && myth_schema_has_value(others, json_false()))
        drop_types(l, f, BOOLEAN);
    return types_of(f) != 0;
}

/* ---- lists of flat schemas ---- */

static myth_status too_many(const logic *l)
{
    return myth_schema_fail(l->w, l->p, MYTH_ELIMIT, "too many choices of \"anyOf\", \"not\" and \"if\" at once");
}

static myth_status count_merge(const logic *l) { return ++l->w->n_merge > MYTH_SCHEMA_MERGES ? too_many(l) : MYTH_OK; }

static myth_status join(logic *l, const json_t *a, const json_t *b, json_t *out)
{
    json_t *all = json_copy(open_(a)), *v;
    const char *key;
    myth_status st = MYTH_OK;
    if (!all)
        return myth_schema_no_memory(l->w);
    MYTH_TRY(count_merge(l));
    if (json_array_size(out) == MYTH_SCHEMA_CHOICES)
        MYTH_TRY(too_many(l));
    if (json_object_get(a, "prefixItems") ? json_object_get(b, "items") && !json_object_get(b, "prefixItems")
                                          : json_object_get(a, "items") && json_object_get(b, "prefixItems"))
        MYTH_TRY(myth_schema_fail(l->w, l->p, MYTH_EUNSUPPORTED,
                                  "\"prefixItems\" and \"items\" of another schema at once are not supported"));
    MYTH_TRY(
        has_worked(l, json_array_size(json_object_get(a, "enum")) * (1 + json_array_size(json_object_get(b, OTHERS)))));
    MYTH_TRY(
        has_worked(l, json_array_size(json_object_get(b, "enum")) * (1 + json_array_size(json_object_get(a, OTHERS)))));
    MYTH_TRY(join_properties(l, all, b));
    json_object_foreach(open_(b), key, v)
    {
        if (!strcmp(key, "properties") || !strcmp(key, "additionalProperties"))
            continue;
        if (json_object_get(all, key))
            MYTH_TRY(join_key(l, all, key, v));
        else
            set(l, all, key, json_incref(v));
    }
    MYTH_TRY(checked(l));
    if (settle(l, &all))
        append(l, out, json_incref(all));
    st = checked(l);
fail:
    json_decref(all);
    return st;
}

/* Makes *list those of it and of `more` at once. Takes `more`. */
static myth_status cross(logic *l, json_t **list, json_t *more, myth_status st)
{
    json_t *all = json_array();
    l->is_short |= !all || !more;
    if (st == MYTH_OK)
        st = checked(l);
    for (size_t i = 0; i < json_array_size(*list) && st == MYTH_OK; i++)
        for (size_t k = 0; k < json_array_size(more) && st == MYTH_OK; k++)
            st = join(l, json_array_get(*list, i), json_array_get(more, k), all);
    json_decref(more);
    json_decref(*list);
    *list = all;
    return st;
}

static json_t *anything(logic *l)
{
    json_t *list = json_array();
    append(l, list, json_object());
    return list;
}

static myth_status expect_list(const logic *l, const json_t *v, const char *key)
{
    return json_array_size(v)
             ? MYTH_OK
             : myth_schema_fail(l->w, l->p, MYTH_EFORMAT, "\"%.8s\": expected an array of schemas", key);
}

static myth_status refer(const logic *l, const json_t *ref, const json_t **to)
{
    *to = json_is_string(ref) ? myth_schema_find(l->w->root, json_string_value(ref)) : NULL;
    return *to ? MYTH_OK
               : myth_schema_fail(l->w, l->p, MYTH_EFORMAT, "$ref \"%.48s\" is no place of this schema",
                                  json_is_string(ref) ? json_string_value(ref) : "");
}

/* One schema inside another that is being put together. */
static myth_status enter(logic *l, const json_t *schema)
{
    if (l->depth++ == HOPS)
        return myth_schema_fail(l->w, l->p, MYTH_ELIMIT,
                                "\"allOf\", \"not\", \"if\" or \"$ref\" refer to themselves, or more than %d deep",
                                HOPS);
    if (count_merge(l) != MYTH_OK)
        return MYTH_ELIMIT;
    return json_is_object(schema) || json_is_boolean(schema)
             ? MYTH_OK
             : myth_schema_fail(l->w, l->p, MYTH_EFORMAT, "expected a schema");
}

/* ---- not ---- */

/* Any value but those of the list. */
static json_t *without(logic *l, json_t *list)
{
    json_t *one = json_object();
    set(l, one, OTHERS, list);
    return one;
}

/* An object with this property, or without it. */
static json_t *object_with(logic *l, const char *name, const json_t * not )
{
    json_t *one = not ? json_pack("{s:[s],s:[s],s:{s:{s:O}}}", "type", "object", "required", name, "properties", name,
                                  "not", not )
                      : json_pack("{s:[s],s:{s:b}}", "type", "object", "properties", name, 0);
    l->is_short |= !one;
    return one;
}

static myth_status negate_object(logic *l, const char *key, const json_t *v, json_t *out)
{
    const char *name;
    json_t *one;
    if (!strcmp(key, "properties")) {
        if (!json_is_object(v))
            return myth_schema_fail(l->w, l->p, MYTH_EFORMAT, "expected \"properties\" to be an object");
        json_object_foreach(open_(v), name, one) if (!is_anything(one)) append(l, out, object_with(l, name, one));
        return checked(l);
    }
    for (size_t i = 0; i < json_array_size(v); i++)
        if (json_is_string(json_array_get(v, i)))
            append(l, out, object_with(l, json_string_value(json_array_get(v, i)), NULL));
    return checked(l);
}

/* Not within a bound: beyond the other side of it. */
static myth_status negate_bound(logic *l, const char *key, const json_t *v, json_t *out)
{
    static const struct {
        const char *key, *beyond, *type;
        int step; /* of counts; what is beyond nothing is nothing */
    } way[] = {{"minimum", "exclusiveMaximum", "number", 0}, {"exclusiveMinimum", "maximum", "number", 0},
               {"maximum", "exclusiveMinimum", "number", 0}, {"exclusiveMaximum", "minimum", "number", 0},
               {"minLength", "maxLength", "string", -1},     {"maxLength", "minLength", "string", 1},
               {"minItems", "maxItems", "array", -1},        {"maxItems", "minItems", "array", 1}};
    size_t i = 0;
    while (i < 8 && strcmp(key, way[i].key) != 0)
        i++;
    if (i == 8)
        return myth_schema_fail(l->w, l->p, MYTH_EUNSUPPORTED, "\"%.24s\" in \"not\" or \"if\" is not supported", key);
    if (!json_is_number(v) || (way[i].step && (!json_is_integer(v) || json_integer_value(v) < 0)))
        return myth_schema_fail(l->w, l->p, MYTH_EFORMAT, "\"%.18s\": expected a number", key);
    if (way[i].step == 0)
        append(l, out, json_pack("{s:[s],s:O}", "type", way[i].type, way[i].beyond, v));
    else if (way[i].step > 0 || json_integer_value(v) > 0)
        append(l, out,
               json_pack("{s:[s],s:I}", "type", way[i].type, way[i].beyond,
                         (json_int_t)(json_integer_value(v) + way[i].step)));
    return checked(l);
}

static myth_status negate_key(logic *l, const char *key, const json_t *v, json_t *out)
{
    myth_status st = MYTH_OK;
    int bits;
    const json_t *to;
    if (myth_schema_is_annotation(key) ||
        ((!strcmp(key, "items") || !strcmp(key, "additionalProperties")) && is_anything(v)) ||
        (!strcmp(key, "uniqueItems") && json_is_false(v)))
        return MYTH_OK;
    if (!strcmp(key, "type")) {
        MYTH_TRY(get_types(l, v, &bits));
        if (bits != ALL)
            append(l, out, json_pack("{s:o}", "type", names_of(l, ALL & ~bits)));
    } else if (!strcmp(key, "const")) {
        append(l, out, without(l, json_pack("[O]", v)));
    } else if (!strcmp(key, "enum")) {
        if (!json_is_array(v))
            return myth_schema_fail(l->w, l->p, MYTH_EFORMAT, "\"enum\": expected an array");
        append(l, out, without(l, json_incref(open_(v))));
    } else if (!strcmp(key, "not")) {
        return flatten(l, v, out);
    } else if (!strcmp(key, "$ref")) {
        MYTH_TRY(refer(l, v, &to));
        return negate(l, to, out);
    } else if (!strcmp(key, "required") || !strcmp(key, "properties")) {
        return negate_object(l, key, v, out);
    } else if (!strcmp(key, "allOf") || !strcmp(key, "anyOf")) {
        MYTH_TRY(expect_list(l, v, key));
        if (!strcmp(key, "allOf")) {
            for (size_t i = 0; i < json_array_size(v) && st == MYTH_OK; i++)
                st = negate(l, json_array_get(v, i), out);
            return st;
        }
        json_t *all = anything(l);
        for (size_t i = 0; i < json_array_size(v) && st == MYTH_OK; i++) {
            json_t *one = json_array();
            st = negate(l, json_array_get(v, i), one);
            st = cross(l, &all, one, st);
        }
        l->is_short |= json_array_extend(out, all) != 0;
        json_decref(all);
        return st == MYTH_OK ? checked(l) : st;
    } else {
        return negate_bound(l, key, v, out);
    }
    st = checked(l);
fail:
    return st;
}

/* Appends flat schemas that together allow what the schema does not. */
static myth_status negate(logic *l, const json_t *schema, json_t *out)
{
    const char *key;
    json_t *v;
    myth_status st;
    MYTH_TRY(enter(l, schema));
    if (json_is_false(schema))
        append(l, out, json_object());
    json_object_foreach(open_(schema), key, v) MYTH_TRY(negate_key(l, key, v, out));
    if (json_array_size(out) > MYTH_SCHEMA_CHOICES)
        MYTH_TRY(myth_schema_fail(l->w, l->p, MYTH_ELIMIT, "\"not\" of more than %d keywords", MYTH_SCHEMA_CHOICES));
    l->depth--;
    return checked(l);
fail:
    return st;
}

/* ---- all of a schema ---- */

/* Appends a schema of the keywords of this one that are flat. */
static myth_status flat_keys(logic *l, const json_t *schema, json_t *out)
{
    static const char *const compound[] = {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref"};
    json_t *flat = json_object(), *v, *one = NULL;
    const char *key, *name;
    int bits;
    myth_status st = MYTH_OK;
    json_object_foreach(open_(schema), key, v)
    {
        if (myth_schema_is_annotation(key) || is_one_of(key, compound, sizeof(compound) / sizeof(compound[0])))
            continue;
        if (!myth_schema_is_read(key) && strcmp(key, OTHERS) != 0 && strcmp(key, NAMED) != 0)
            MYTH_TRY(myth_schema_fail(l->w, l->p, MYTH_EUNSUPPORTED, "\"%.24s\" is not supported", key));
        if ((is_one_of(key, low_keys, 4) || is_one_of(key, high_keys, 4)) && !json_is_number(v))
            MYTH_TRY(myth_schema_fail(l->w, l->p, MYTH_EFORMAT, "\"%.18s\": expected a number", key));
        if ((!strcmp(key, "enum") || !strcmp(key, "required")) && !json_is_array(v))
            MYTH_TRY(myth_schema_fail(l->w, l->p, MYTH_EFORMAT, "\"%.8s\": expected an array", key));
        if (!strcmp(key, "properties") && !json_is_object(v))
            MYTH_TRY(myth_schema_fail(l->w, l->p, MYTH_EFORMAT, "expected \"properties\" to be an object"));
        if (!strcmp(key, "properties"))
            json_object_foreach(v, name, one) if (!json_is_false(one)) set(l, flat, NAMED, json_true());
        if (!strcmp(key, "type")) {
            MYTH_TRY(get_types(l, v, &bits));
            set(l, flat, key, names_of(l, bits));
        } else if (!strcmp(key, "const")) {
            const bool is_other = json_is_array(json_object_get(schema, "enum")) &&
                                  !myth_schema_has_value(json_object_get(schema, "enum"), v);
            set(l, flat, "enum", is_other ? json_array() : json_pack("[O]", v));
        } else if (strcmp(key, "enum") != 0 || !json_object_get(schema, "const")) {
            set(l, flat, key, json_incref(v));
        }
    }
fail:
    append(l, out, flat);
    return st == MYTH_OK ? checked(l) : st;
}

/* Makes *list those that any schema of `of` allows, too. */
static myth_status cross_any(logic *l, json_t **list, const json_t *of, const char *key)
{
    json_t *more = json_array();
    myth_status st = expect_list(l, of, key);
    for (size_t i = 0; i < json_array_size(of) && st == MYTH_OK; i++)
        st = flatten(l, json_array_get(of, i), more);
    return cross(l, list, more, st);
}

/* Whether some value is of both, as far as the flat schemas of two say. */
static myth_status are_apart(logic *l, const json_t *a, const json_t *b, bool *out)
{
    json_t *both_of = json_copy(open_(a));
    const myth_status st = cross(l, &both_of, json_incref(open_(b)), MYTH_OK);
    *out = json_array_size(both_of) == 0;
    json_decref(both_of);
    return st;
}

/* The flat schemas of each schema of a list. */
static myth_status flatten_each(logic *l, const json_t *list, json_t *out)
{
    myth_status st = MYTH_OK;
    for (size_t i = 0; i < json_array_size(list) && st == MYTH_OK; i++) {
        json_t *one = json_array();
        st = flatten(l, json_array_get(list, i), one);
        append(l, out, one);
    }
    return st == MYTH_OK ? checked(l) : st;
}

/* Makes *list those that one schema of `of` allows, too, and none of the others does. */
static myth_status cross_one_of(logic *l, json_t **list, const json_t *of)
{
    json_t *more = json_array(), *each = json_array();
    myth_status st = flatten_each(l, of, each);
    l->w->has_one_of = true;
    for (size_t i = 0; i < json_array_size(of) && st == MYTH_OK; i++) {
        json_t *one = json_incref(json_array_get(each, i));
        for (size_t k = 0; k < json_array_size(of) && st == MYTH_OK; k++) {
            bool is_apart = k == i;
            if (!is_apart)
                st = are_apart(l, one, json_array_get(each, k), &is_apart);
            if (is_apart || st != MYTH_OK)
                continue;
            json_t *not = json_array();
            st = negate(l, json_array_get(of, k), not );
            st = cross(l, &one, not, st);
        }
        l->is_short |= json_array_extend(more, one) != 0;
        json_decref(one);
    }
    json_decref(each);
    return cross(l, list, more, st);
}

static myth_status cross_one(logic *l, json_t **list, const json_t *schema, bool is_not)
{
    json_t *more = json_array();
    const myth_status st = is_not ? negate(l, schema, more) : flatten(l, schema, more);
    return cross(l, list, more, st);
}

/* What "if" allows and "then" does, and what it does not and "else" does. */
static myth_status cross_if(logic *l, json_t **list, const json_t *schema)
{
    static const char *const way[] = {"then", "else"};
    const json_t *condition = json_object_get(schema, "if");
    json_t *all = json_array();
    myth_status st = MYTH_OK;
    for (int k = 0; k < 2 && st == MYTH_OK; k++) {
        const json_t *then = json_object_get(schema, way[k]);
        json_t *one = anything(l);
        st = cross_one(l, &one, condition, k == 1);
        if (st == MYTH_OK && then)
            st = cross_one(l, &one, then, false);
        l->is_short |= json_array_extend(all, one) != 0;
        json_decref(one);
    }
    return cross(l, list, all, st);
}

/* Appends flat schemas that together allow what the schema does. */
static myth_status flatten(logic *l, const json_t *schema, json_t *out)
{
    json_t *list = anything(l), *own = json_array();
    const json_t *all_of = json_object_get(schema, "allOf"), *ref = json_object_get(schema, "$ref"), *to;
    myth_status st;
    MYTH_TRY(enter(l, schema));
    if (json_is_false(schema))
        json_array_clear(list);
    if (json_is_object(schema)) {
        MYTH_TRY(flat_keys(l, schema, own));
        st = cross(l, &list, own, MYTH_OK);
        own = NULL;
        if (st == MYTH_OK && ref && (st = refer(l, ref, &to)) == MYTH_OK)
            st = cross_one(l, &list, to, false);
        if (st == MYTH_OK && all_of)
            st = expect_list(l, all_of, "allOf");
        for (size_t i = 0; i < json_array_size(all_of) && st == MYTH_OK; i++)
            st = cross_one(l, &list, json_array_get(all_of, i), false);
        if (st == MYTH_OK && json_object_get(schema, "anyOf"))
            st = cross_any(l, &list, json_object_get(schema, "anyOf"), "anyOf");
        if (st == MYTH_OK && json_object_get(schema, "oneOf"))
            st = expect_list(l, json_object_get(schema, "oneOf"), "oneOf");
        if (st == MYTH_OK && json_object_get(schema, "oneOf"))
            st = l->w->is_loose ? cross_any(l, &list, json_object_get(schema, "oneOf"), "oneOf")
                                : cross_one_of(l, &list, json_object_get(schema, "oneOf"));
        if (st == MYTH_OK && json_object_get(schema, "not"))
            st = cross_one(l, &list, json_object_get(schema, "not"), true);
        if (st == MYTH_OK && json_object_get(schema, "if"))
            st = cross_if(l, &list, schema);
    }
    if (st == MYTH_OK)
        l->is_short |= json_array_extend(out, list) != 0;
    l->depth--;
    if (st == MYTH_OK)
        st = checked(l);
fail:
    json_decref(list);
    json_decref(own);
    return st;
}

myth_status myth_schema_flatten(writer *w, const part *p, const json_t *schema, json_t **out)
{
    logic l = {.w = w, .p = p};
    json_t *list = json_array();
    *out = list;
    if (!w->kept)
        w->kept = json_array();
    if (!list || json_array_append_new(w->kept, list) != 0) { /* which lets go of the list */
        *out = NULL;
        return myth_schema_no_memory(w);
    }
    return flatten(&l, schema, list);
}

myth_status myth_schema_are_apart(writer *w, const part *p, const json_t *list, bool *out)
{
    logic l = {.w = w, .p = p};
    json_t *each = json_array();
    myth_status st = flatten_each(&l, list, each);
    w->has_one_of = *out = true;
    for (size_t i = 0; i < json_array_size(each) && st == MYTH_OK && *out; i++)
        for (size_t k = 0; k < i && st == MYTH_OK && *out; k++)
            st = are_apart(&l, json_array_get(each, i), json_array_get(each, k), out);
    json_decref(each);
    return st;
}

bool myth_schema_is_compound(const json_t *s)
{
    static const char *const choice[] = {"anyOf", "oneOf", "$ref", "enum", "const"};
    if (json_object_get(s, "not") || json_object_get(s, "if"))
        return true;
    if (json_object_get(s, "allOf") && json_array_size(json_object_get(s, "allOf")) != 1)
        return true;
    const char *key;
    json_t *v;
    size_t n_choice = json_object_get(s, "allOf") != NULL, n = 0, n_type = 0;
    json_object_foreach(open_(s), key, v)
    {
        n_choice += is_one_of(key, choice, 5);
        n += !myth_schema_is_annotation(key);
        n_type += !strcmp(key, "type");
    }
    const bool has_values = json_object_get(s, "enum") || json_object_get(s, "const");
    return n_choice && n > 1 + (has_values ? n_type : 0);
}
