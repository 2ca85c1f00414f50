/* chat_tools.c - declarations and calls of tools in the syntax of Gemma 4's template, which is FunctionGemma's too,
 * from JSON:
 *
 *   declaration:NAME{description:<|"|>TEXT<|"|>,
 *       parameters:{properties:{...},required:[<|"|>a<|"|>],type:<|"|>OBJECT<|"|>}}      (without the line break)
 *   call:NAME{city:<|"|>Paris<|"|>,days:3}
 *
 * Strings   between two <|"|> (FunctionGemma: <escape>), which are control ids: nothing in a string ends it
 * Order     keys without regard to case (json_tree.h); of a property: description, enum or items, nullable, properties,
 *           required, type
 * Keys      bare in arguments and in the structure of a schema, quoted inside free values such as those of an enum
 * Oddities  of the published template are kept, since the models were trained on them: the brace that closes
 *           `parameters` comes with its type; an object without properties lists its other members as if they were
 *           properties
 * Source    chat_template of Gemma 4, July 2026: macros format_parameters, format_function_declaration, format_argument
 */
#include "chat_impl.h"
#include "engine/base/text.h"
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    myth_chat_writer *w;
    const myth_json_tree *t;
} printer;

static const myth_str no_name = {"", 0};

static void put_quote(myth_chat_writer *w) { myth_chat_put_id(w, myth_tokenizer_special(w->t)->tool_quote, "<|\"|>"); }

void myth_chat_put_quoted(myth_chat_writer *w, myth_str s)
{
    put_quote(w);
    myth_chat_put(w, s.text, s.len);
    put_quote(w);
}

/* ---- values ---- */

/* Neither null, false nor empty: what the template's `if` lets through of the types that have a place here. */
static bool is_true(const myth_json_node *n)
{
    if (!n)
        return false;
    switch (n->type) {
    case MYTH_JSON_NULL:
    case MYTH_JSON_FALSE: return false;
    case MYTH_JSON_STRING: return n->text.len > 0;
    case MYTH_JSON_OBJECT:
    case MYTH_JSON_ARRAY: return n->n > 0;
    default: return true;
    }
}

static void put_upper(myth_chat_writer *w, myth_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        const char c = s.text[i] >= 'a' && s.text[i] <= 'z' ? (char)(s.text[i] - 32) : s.text[i];
        myth_chat_put(w, &c, 1);
    }
}

static bool is_upper(const myth_json_node *n, const char *word)
{
    if (!n || n->type != MYTH_JSON_STRING || n->text.len != strlen(word))
        return false;
    for (size_t i = 0; i < n->text.len; i++)
        if ((n->text.text[i] & ~0x20) != word[i])
            return false;
    return true;
}

/* As Python prints it: whole numbers as they are, others by the fewest digits that read back, with an exponent from
 * 1e16 and below 1e-4. */
static void put_number(myth_chat_writer *w, myth_str s)
{
    char text[64], digits[32];
    int n = 0, exponent = 0;
    if (s.len == 2 && memcmp(s.text, "-0", 2) == 0)
        s = (myth_str){"0", 1};
    if (!memchr(s.text, '.', s.len) && !memchr(s.text, 'e', s.len) && !memchr(s.text, 'E', s.len)) {
        myth_chat_put(w, s.text, s.len);
        return;
    }
    if (s.len >= sizeof(text)) {
        myth_chat_refuse(w, "a number of more than 63 characters", s);
        return;
    }
    memcpy(text, s.text, s.len);
    text[s.len] = '\0';
    const char *end;
    const double v = myth_text_number(text, &end);
    if (v > DBL_MAX || v < -DBL_MAX) {
        myth_chat_put_str(w, v > 0 ? "inf" : "-inf");
        return;
    }
    for (int most = 0; most < 17; most++) {
        snprintf(text, sizeof(text), "%.*e", most, v);
        if (strtod(text, NULL) == v)
            break;
    }
    const char *p = text;
    if (*p == '-')
        myth_chat_put(w, p++, 1);
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    exponent = (int)strtol(p + 1, NULL, 10);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    if (exponent < -4 || exponent >= 16) {
        myth_chat_put(w, digits, 1);
        if (n > 1) {
            myth_chat_put_str(w, ".");
            myth_chat_put(w, digits + 1, (size_t)n - 1);
        }
        snprintf(text, sizeof(text), "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        myth_chat_put_str(w, text);
        return;
    }
    if (exponent < 0) {
        myth_chat_put(w, "0.000", (size_t)(1 - exponent));
        myth_chat_put(w, digits, (size_t)n);
        return;
    }
    for (int i = 0; i < n || i <= exponent + 1; i++) {
        if (i == exponent + 1)
            myth_chat_put_str(w, ".");
        myth_chat_put(w, i < n ? &digits[i] : "0", 1);
    }
}

static void put_value(const printer *p, const myth_json_node *n, bool quotes_keys)
{
    const char *between = "";
    switch (n->type) {
    case MYTH_JSON_NULL: myth_chat_put_str(p->w, "null"); break;
    case MYTH_JSON_TRUE: myth_chat_put_str(p->w, "true"); break;
    case MYTH_JSON_FALSE: myth_chat_put_str(p->w, "false"); break;
    case MYTH_JSON_STRING: myth_chat_put_quoted(p->w, n->text); break;
    case MYTH_JSON_NUMBER: put_number(p->w, n->text); break;
    default:
        myth_chat_put_str(p->w, n->type == MYTH_JSON_OBJECT ? "{" : "[");
        for (const myth_json_node *m = myth_json_tree_first(p->t, n); m;
             m = myth_json_tree_next(p->t, m), between = ",") {
            myth_chat_put_str(p->w, between);
            if (n->type == MYTH_JSON_OBJECT) {
                if (quotes_keys)
                    myth_chat_put_quoted(p->w, m->key);
                else
                    myth_chat_put(p->w, m->key.text, m->key.len);
                myth_chat_put_str(p->w, ":");
            }
            put_value(p, m, quotes_keys);
        }
        myth_chat_put_str(p->w, n->type == MYTH_JSON_OBJECT ? "}" : "]");
    }
}

/* ---- schemas ---- */

/* The string of n between quotes; what is no string has no place here. */
static void put_text(const printer *p, const myth_json_node *n, const char *what)
{
    if (n && n->type != MYTH_JSON_STRING)
        myth_chat_refuse(p->w, "tools: expected a string", (myth_str){what, strlen(what)});
    myth_chat_put_quoted(p->w, n ? n->text : no_name);
}

static void put_required(const printer *p, const myth_json_node *n)
{
    const char *between = "";
    myth_chat_put_str(p->w, "required:[");
    if (n->type != MYTH_JSON_ARRAY)
        myth_chat_refuse(p->w, "tools: expected a list: required", no_name);
    for (n = myth_json_tree_first(p->t, n); n; n = myth_json_tree_next(p->t, n), between = ",") {
        myth_chat_put_str(p->w, between);
        put_text(p, n, "required");
    }
    myth_chat_put_str(p->w, "]");
}

/* type|upper: of a list its Python form. */
static void put_type(const printer *p, const myth_json_node *n)
{
    const char *between = "";
    put_quote(p->w);
    if (n && n->type == MYTH_JSON_STRING) {
        put_upper(p->w, n->text);
    } else if (n && n->type == MYTH_JSON_ARRAY) {
        myth_chat_put_str(p->w, "[");
        for (n = myth_json_tree_first(p->t, n); n; n = myth_json_tree_next(p->t, n), between = ", ") {
            if (n->type != MYTH_JSON_STRING)
                myth_chat_refuse(p->w, "tools: expected a string: type", no_name);
            myth_chat_put_str(p->w, between);
            myth_chat_put_str(p->w, "'");
            put_upper(p->w, n->text);
            myth_chat_put_str(p->w, "'");
        }
        myth_chat_put_str(p->w, "]");
    } else if (n) {
        myth_chat_refuse(p->w, "tools: expected a string: type", no_name);
    }
    put_quote(p->w);
}

static void put_properties(const printer *p, const myth_json_node *n, bool others_only);

static void put_items(const printer *p, const myth_json_node *items)
{
    const char *between = "";
    myth_chat_put_str(p->w, "items:{");
    for (const myth_json_node *n = myth_json_tree_first(p->t, items); n; n = myth_json_tree_next(p->t, n)) {
        if (n->type == MYTH_JSON_NULL)
            continue;
        myth_chat_put_str(p->w, between);
        between = ",";
        if (myth_str_is(n->key, "properties")) {
            myth_chat_put_str(p->w, "properties:{");
            if (n->type == MYTH_JSON_OBJECT)
                put_properties(p, n, false);
            myth_chat_put_str(p->w, "}");
        } else if (myth_str_is(n->key, "required")) {
            put_required(p, n);
        } else if (myth_str_is(n->key, "type") && n->type == MYTH_JSON_ARRAY) {
            const char *comma = "";
            myth_chat_put_str(p->w, "type:[");
            for (const myth_json_node *m = myth_json_tree_first(p->t, n); m;
                 m = myth_json_tree_next(p->t, m), comma = ",") {
                myth_chat_put_str(p->w, comma);
                put_type(p, m);
            }
            myth_chat_put_str(p->w, "]");
        } else if (myth_str_is(n->key, "type")) {
            myth_chat_put_str(p->w, "type:");
            put_type(p, n);
        } else {
            myth_chat_put(p->w, n->key.text, n->key.len);
            myth_chat_put_str(p->w, ":");
            put_value(p, n, true);
        }
    }
    myth_chat_put_str(p->w, "}");
}

static void put_property(const printer *p, const myth_json_node *n)
{
    const myth_json_node *type = myth_json_tree_get(p->t, n, "type"),
                         *text = myth_json_tree_get(p->t, n, "description");
    const myth_json_node *list = myth_json_tree_get(p->t, n, "enum"), *items = myth_json_tree_get(p->t, n, "items");
    const myth_json_node *inner = myth_json_tree_get(p->t, n, "properties"),
                         *required = myth_json_tree_get(p->t, n, "required");
    const char *between = "";
#define NEXT (myth_chat_put_str(p->w, between), between = ",")
    myth_chat_put(p->w, n->key.text, n->key.len);
    myth_chat_put_str(p->w, ":{");
    if (is_true(text)) {
        NEXT;
        myth_chat_put_str(p->w, "description:");
        put_text(p, text, "description");
    }
    if (is_upper(type, "STRING") && is_true(list)) {
        NEXT;
        myth_chat_put_str(p->w, "enum:");
        put_value(p, list, true);
    } else if (is_upper(type, "ARRAY") && items && items->type == MYTH_JSON_OBJECT && items->n) {
        NEXT;
        put_items(p, items);
    }
    if (is_true(myth_json_tree_get(p->t, n, "nullable"))) {
        NEXT;
        myth_chat_put_str(p->w, "nullable:true");
    }
    if (is_upper(type, "OBJECT")) {
        const bool has_inner = inner && inner->type == MYTH_JSON_OBJECT;
        NEXT;
        myth_chat_put_str(p->w, "properties:{");
        put_properties(p, has_inner ? inner : n, !has_inner);
        myth_chat_put_str(p->w, "}");
        if (is_true(required)) {
            NEXT;
            put_required(p, required);
        }
    }
    NEXT;
#undef NEXT
    myth_chat_put_str(p->w, "type:");
    put_type(p, type);
    myth_chat_put_str(p->w, "}");
}

/* others_only: the object is a schema, and the members that say what it is are no properties. */
static void put_properties(const printer *p, const myth_json_node *n, bool others_only)
{
    static const char *const standard[] = {"description", "type", "properties", "required", "nullable"};
    const char *between = "";
    for (n = myth_json_tree_first(p->t, n); n && p->w->st == MYTH_OK; n = myth_json_tree_next(p->t, n)) {
        bool is_standard = false;
        for (size_t i = 0; i < sizeof(standard) / sizeof(*standard); i++)
            is_standard = is_standard || myth_str_is(n->key, standard[i]);
        if (others_only && is_standard)
            continue;
        myth_chat_put_str(p->w, between);
        between = ",";
        put_property(p, n);
    }
}

/* ---- declarations and calls ---- */

const myth_json_node *myth_chat_function(myth_chat_writer *w, const myth_json_tree *t, const myth_json_node *n,
                                         myth_str *name)
{
    const myth_json_node *f = myth_json_tree_get(t, n, "function"), *called = myth_json_tree_get(t, f, "name");
    if (!called || called->type != MYTH_JSON_STRING) {
        myth_chat_refuse(w, "a tool or call: expected {\"function\": {\"name\": ...}}", no_name);
        return NULL;
    }
    *name = called->text;
    return f;
}

static void put_declaration(const printer *p, const myth_json_node *tool)
{
    myth_chat_writer *w = p->w;
    myth_str name;
    const myth_json_node *f = myth_chat_function(w, p->t, tool, &name);
    if (!f)
        return;
    const myth_json_node *params = myth_json_tree_get(p->t, f, "parameters"),
                         *reply = myth_json_tree_get(p->t, f, "response");
    myth_chat_put_str(w, "declaration:");
    myth_chat_put(w, name.text, name.len);
    myth_chat_put_str(w, "{description:");
    put_text(p, myth_json_tree_get(p->t, f, "description"), "description");
    if (is_true(params)) {
        const myth_json_node *inner = myth_json_tree_get(p->t, params, "properties"),
                             *required = myth_json_tree_get(p->t, params, "required");
        const myth_json_node *type = myth_json_tree_get(p->t, params, "type");
        myth_chat_put_str(w, ",parameters:{");
        if (is_true(inner)) {
            myth_chat_put_str(w, "properties:{");
            put_properties(p, inner, false);
            myth_chat_put_str(w, "},");
        }
        if (is_true(required)) {
            put_required(p, required);
            myth_chat_put_str(w, ",");
        }
        if (is_true(type)) {
            myth_chat_put_str(w, "type:");
            put_type(p, type);
            myth_chat_put_str(w, "}");
        }
    }
    if (reply) {
        const myth_json_node *text = myth_json_tree_get(p->t, reply, "description"),
                             *type = myth_json_tree_get(p->t, reply, "type");
        myth_chat_put_str(w, ",response:{");
        if (is_true(text)) {
            myth_chat_put_str(w, "description:");
            put_text(p, text, "description");
            myth_chat_put_str(w, ",");
        }
        if (is_upper(type, "OBJECT")) {
            myth_chat_put_str(w, "type:");
            put_type(p, type);
            myth_chat_put_str(w, "}");
        }
    }
    myth_chat_put_str(w, "}");
}

void myth_chat_put_members(myth_chat_writer *w, const myth_json_tree *t, const myth_json_node *object)
{
    put_value(&(printer){w, t}, object, false);
}

void myth_chat_put_tools(myth_chat_writer *w, const myth_json_tree *tools)
{
    const myth_special_ids *id = myth_tokenizer_special(w->t);
    const printer p = {w, tools};
    if (tools->node->type != MYTH_JSON_ARRAY)
        myth_chat_refuse(w, "tools: expected a list", no_name);
    for (const myth_json_node *n = myth_json_tree_first(tools, tools->node); n && w->st == MYTH_OK;
         n = myth_json_tree_next(tools, n)) {
        myth_chat_put_id(w, id->tool, "<|tool>");
        put_declaration(&p, n);
        myth_chat_put_id(w, id->tool_end, "<tool|>");
    }
}

void myth_chat_put_call(myth_chat_writer *w, const myth_json_tree *calls, const myth_json_node *call)
{
    const myth_special_ids *id = myth_tokenizer_special(w->t);
    myth_str name;
    const myth_json_node *f = myth_chat_function(w, calls, call, &name),
                         *args = myth_json_tree_get(calls, f, "arguments");
    if (!f)
        return;
    if (args && args->type != MYTH_JSON_OBJECT && args->type != MYTH_JSON_NULL)
        myth_chat_refuse(w, "a call's arguments: expected an object, not its text", name);
    myth_chat_put_id(w, id->tool_call, "<|tool_call>");
    myth_chat_put_str(w, "call:");
    myth_chat_put(w, name.text, name.len);
    if (args && args->type == MYTH_JSON_OBJECT)
        myth_chat_put_members(w, calls, args);
    else
        myth_chat_put_str(w, "{}");
    myth_chat_put_id(w, id->tool_call_end, "<tool_call|>");
}
