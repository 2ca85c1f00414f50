/* json_schema_string.c - strings of a schema: lengths, formats, characters, and all strings but some. */
#include "json_schema_pattern.h"

#include "engine/base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define ANY MYTH_SCHEMA_ANY

typedef myth_schema_writer writer;
typedef myth_schema_part part;
typedef myth_regex_chars chars;

enum { OTHER_CHARS = 512 };

/* ---- characters ---- */

static void put_class_char(writer *w, uint32_t cp)
{
    if (cp > 0x20 && cp < 0x7f && !strchr("\\]^-[\"", (int)cp))
        myth_schema_putf(w, "%c", (int)cp);
    else if (cp < 0x10000)
        myth_schema_putf(w, "\\u%04X", (unsigned)cp);
    else
        myth_schema_putf(w, "\\U%08X", (unsigned)cp);
}

static bool has(const chars *r, size_t n, uint32_t cp)
{
    for (size_t i = 0; i < n; i++)
        if (cp >= r[i].lo && cp <= r[i].hi)
            return true;
    return false;
}

/* Puts what may stand behind a \ for those of the characters that need one; whether there are any. */
static bool put_escapes(writer *w, const chars *r, size_t n, bool has_before)
{
    static const char needs[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    uint32_t n_put = 0;
    for (uint32_t k = 0; k < 7; k++)
        if (has(r, n, (unsigned char)needs[k]))
            myth_schema_putf(w, "%s%s%c",
                             n_put++      ? ""
                             : has_before ? " | \"\\\\\" (["
                                          : "\"\\\\\" ([",
                             k < 2 ? "\\" : "", letter[k]);
    myth_schema_put(w, n_put ? "]" : "");
    for (uint32_t cp = 0; cp < 0x20; cp++) {
        if (!has(r, n, cp) || (cp && strchr(needs, (int)cp)))
            continue;
        myth_schema_put(w, n_put++ ? " | " : has_before ? " | \"\\\\\" (" : "\"\\\\\" (");
        if (cp == 0 && r[0].hi >= 0x1f) { /* the sorted ranges begin with all of them */
            myth_schema_put(w, "control");
            break;
        }
        if ((cp & 15) < 10)
            myth_schema_putf(w, "\"u00%02x\"", (unsigned)cp);
        else
            myth_schema_putf(w, "\"u00%u\" [%c%c]", (unsigned)cp >> 4, 'a' + (int)(cp & 15) - 10,
                             'A' + (int)(cp & 15) - 10);
    }
    myth_schema_put(w, n_put ? ")" : "");
    return n_put > 0;
}

bool myth_schema_put_chars(writer *w, const chars *r, size_t n)
{
    static const chars plain[] = {{0x20, 0x21}, {0x23, 0x5b}, {0x5d, 0x10ffff}}, in_call[] = {{1, 0x10ffff}};
    const chars *const may = w->quote ? in_call : plain;
    const size_t n_may = w->quote ? 1 : 3;
    bool has_plain = false;
    if (n == 2 && r[0].lo == 0 && r[0].hi == 0xd7ff && r[1].lo == 0xe000 && r[1].hi == 0x10ffff) {
        myth_schema_put(w, "any");
        return true;
    }
    myth_schema_put(w, "(");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_may; k++) {
            const uint32_t lo = r[i].lo > may[k].lo ? r[i].lo : may[k].lo,
                           hi = r[i].hi < may[k].hi ? r[i].hi : may[k].hi;
            if (lo > hi)
                continue;
            myth_schema_put(w, has_plain ? "" : "[");
            has_plain = true;
            put_class_char(w, lo);
            if (hi > lo) {
                myth_schema_put(w, "-");
                put_class_char(w, hi);
            }
        }
    myth_schema_put(w, has_plain ? "]" : "");
    const bool has_escape = !w->quote && put_escapes(w, r, n, has_plain);
    myth_schema_put(w, ")");
    return has_plain || has_escape;
}

/* ---- all strings but some ---- */

typedef struct {
    uint32_t *cp;
    size_t n;
} other_text;

typedef struct {
    writer *w;
    size_t idx, n_rule, n_pool, n_text;
    uint32_t min, max;
    uint32_t pool[OTHER_CHARS];
    other_text text[OTHER_CHARS];
    chars own[2 * OTHER_CHARS], rest[OTHER_CHARS + 2]; /* of the rule that is being written */
} other_texts;

static int by_chars(const void *a, const void *b)
{
    const other_text *x = a, *y = b;
    size_t i = 0;
    while (i < x->n && i < y->n && x->cp[i] == y->cp[i])
        i++;
    if (i < x->n && i < y->n)
        return x->cp[i] < y->cp[i] ? -1 : 1;
    return (x->n > y->n) - (x->n < y->n);
}

static bool is_first_of_char(const other_texts *o, size_t i, size_t first, size_t depth)
{
    return i == first || o->text[i].cp[depth] != o->text[i - 1].cp[depth];
}

/* What may follow the first `depth` characters of the sorted texts from..to, which share them: the end, a character of
 * one of them and what may follow then, or another one and any text. The rules of what may follow come behind. */
static void put_behind(other_texts *o, size_t from, size_t to, size_t depth)
{
    const bool is_one = o->text[from].n == depth; /* the shortest comes first */
    const size_t first = from + is_one;
    size_t n_own = 0, rule = o->n_rule;
    myth_schema_put(o->w, !is_one && depth >= o->min ? "\"\" | " : "");
    for (size_t i = first; i < to; i++)
        if (is_first_of_char(o, i, first, depth))
            o->own[n_own++] = (chars){o->text[i].cp[depth], o->text[i].cp[depth]};
    const bool goes_on = depth + 1 < o->max; /* else those with one more character are the texts themselves */
    for (size_t i = 0; i < n_own && goes_on; i++) {
        myth_schema_put_chars(o->w, &o->own[i], 1);
        myth_schema_putf(o->w, " s%zu-n%zu | ", o->idx, rule + i);
    }
    o->n_rule += goes_on ? n_own : 0;
    myth_schema_put_chars(o->w, o->rest, myth_regex_others(o->rest, o->own, myth_regex_sort(o->own, n_own)));
    myth_schema_put(o->w, " any");
    myth_schema_put_repeat(o->w, o->min > depth + 1 ? o->min - (uint32_t)depth - 1 : 0,
                           o->max == ANY ? ANY : o->max - (uint32_t)depth - 1);
    for (size_t i = first, k; i < to && goes_on; i = k, rule++) {
        for (k = i + 1; k < to && !is_first_of_char(o, k, first, depth);)
            k++;
        myth_schema_putf(o->w, "\ns%zu-n%zu ::= ", o->idx, rule);
        put_behind(o, i, k, depth + 1);
    }
}

/* Keeps a text, unless the lengths or one before it leave it out; false: there are too many. */
static bool add_other(other_texts *o, const char *s, size_t n)
{
    other_text one = {o->pool + o->n_pool, 0};
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        const int step = myth_utf8_decode((const unsigned char *)s + i, n - i, &cp);
        if (!step || o->n_pool + one.n == OTHER_CHARS)
            return false;
        one.cp[one.n++] = cp;
        i += (size_t)step;
    }
    if (one.n < o->min || (o->max != ANY && one.n > o->max))
        return true;
    for (size_t i = 0; i < o->n_text; i++)
        if (by_chars(&o->text[i], &one) == 0)
            return true;
    if (o->n_text == OTHER_CHARS)
        return false;
    o->text[o->n_text++] = one;
    o->n_pool += one.n;
    return true;
}

/* All strings of min to max characters but those of the list, between these quotes. */
static myth_status put_others(writer *w, const part *p, size_t idx, const json_t *list, const char *quote, uint32_t min,
                              uint32_t max)
{
    other_texts *o = myth_alloc(w->mem, MYTH_MEM_STAGING, "schema's strings", sizeof(*o));
    myth_status st = MYTH_OK;
    if (!o)
        return myth_schema_no_memory(w);
    *o = (other_texts){.w = w, .idx = idx, .n_rule = 1, .min = min, .max = max};
    for (size_t i = 0; i < json_array_size(list) && st == MYTH_OK; i++) {
        const json_t *v = json_array_get(list, i);
        if (json_is_string(v) && !add_other(o, json_string_value(v), json_string_length(v)))
            st = myth_schema_fail(w, p, MYTH_ELIMIT, "\"not\" of strings with more than %d characters", OTHER_CHARS);
    }
    if (st == MYTH_OK && o->n_text == 0) {
        myth_schema_putf(w, "%s any", quote);
        myth_schema_put_repeat(w, min, max);
        myth_schema_putf(w, " %s space", quote);
    } else if (st == MYTH_OK && max == 0) {
        st = myth_schema_fail(w, p, MYTH_EFORMAT, "no value is allowed here");
    } else if (st == MYTH_OK) {
        qsort(o->text, o->n_text, sizeof(o->text[0]), by_chars);
        myth_schema_putf(w, "%s s%zu-n0 %s space\ns%zu-n0 ::= ", quote, idx, quote, idx);
        put_behind(o, 0, o->n_text, 0);
    }
    myth_free(w->mem, o);
    return st;
}

/* ---- */

static myth_status put_format(writer *w, const part *p, const char *name, const char *quote)
{
    static const char *const form[] = {"date", "time", "date-time", "uuid"};
    size_t i = 0;
    while (i < 4 && strcmp(form[i], name) != 0)
        i++;
    if (i == 4)
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                "format \"%.24s\": date, time, date-time and uuid are supported", name);
    myth_schema_putf(w, "%s %s %s space", quote, form[i], quote);
    return MYTH_OK;
}

myth_status myth_schema_put_string(writer *w, const part *p, size_t idx)
{
    const json_t *format = json_object_get(p->schema, "format"), *text = json_object_get(p->schema, "pattern"),
                 *others = json_object_get(p->schema, MYTH_SCHEMA_OTHERS);
    const char *quote = w->quote ? w->quote : "\"\\\"\"";
    uint32_t min = 0, max = ANY;
    bool has_other = false;
    myth_status st;
    MYTH_TRY(myth_schema_get_counts(w, p, "minLength", "maxLength", &min, &max));
    for (size_t i = 0; i < json_array_size(others); i++)
        has_other |= json_is_string(json_array_get(others, i));
    const char *other = has_other         ? "\"not\""
                      : text              ? "\"pattern\""
                      : min || max != ANY ? "minLength or maxLength"
                                          : NULL;
    if (format && other)
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "%s beside \"format\" is not supported", other);
    if (text && has_other)
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "\"not\" beside \"pattern\" is not supported");
    if (format)
        return put_format(w, p, json_is_string(format) ? json_string_value(format) : "", quote);
    if (has_other)
        return put_others(w, p, idx, others, quote, min, max);
    if (text)
        return myth_schema_put_pattern(w, p, idx, text, quote, min, max);
    myth_schema_putf(w, "%s char", quote);
    myth_schema_put_repeat(w, min, max);
    myth_schema_putf(w, " %s space", quote);
fail:
    return st;
}
