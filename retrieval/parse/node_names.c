/* node_names.c - see node_names.h. */
#include "node_names.h"

#include <string.h>

enum {
    BODY,
    SCOPE,
    NAME,
    DECLARATOR,
    FIELD,
    PROPERTY,
    ATTRIBUTE,
    METHOD,
    TYPE,
    FUNCTION,
    DEFINITION,
    DECLARATION,
    VALUE,
    RIGHT,
    TRAIT,
    TYPE_PARAMETERS,
    FIELD_N
};
_Static_assert((int)FIELD_N == MYTH_NODE_FIELDS, "as node_names.h has it");
static const char *const field_names[] = {"body",      "scope",  "name",  "declarator",     "field",      "property",
                                          "attribute", "method", "type",  "function",       "definition", "declaration",
                                          "value",     "right",  "trait", "type_parameters"};

enum { DEEP = 32 }; /* declarators, qualifiers or wrappers around a name; what has more is data */

void myth_node_fields_open(TSFieldId field[MYTH_NODE_FIELDS], const TSLanguage *language)
{
    for (int i = 0; i < FIELD_N; i++)
        field[i] = ts_language_field_id_for_name(language, field_names[i], (uint32_t)strlen(field_names[i]));
}

static bool get(const TSFieldId *field, TSNode node, int which, TSNode *out)
{
    TSNode child = field[which] ? ts_node_child_by_field_id(node, field[which]) : (TSNode){0};
    if (ts_node_is_null(child))
        return false;
    *out = child;
    return true;
}

/* The part of a declarator that has the name, where no field says which: its neighbours are attributes and calling
 * conventions. */
static bool inner_declarator(TSNode node, TSNode *out)
{
    const uint32_t n = strstr(ts_node_type(node), "declarator") ? ts_node_named_child_count(node) : 0;
    for (uint32_t i = 0; i < n && i < DEEP; i++) {
        *out = ts_node_named_child(node, i);
        const char *type = ts_node_type(*out);
        if (strstr(type, "declarator") || strstr(type, "identifier") || strcmp(type, "operator_name") == 0)
            return true;
    }
    return false;
}

/* The name inside of a macro: no function returns a function, so CALLBACK(name)(int a) declares the name, although it
 * looks like a function that returns one. */
static bool inside_macro(TSNode outer, TSNode inner, TSNode *out)
{
    static const char type[] = "function_declarator";
    if (strcmp(ts_node_type(outer), type) != 0 || strcmp(ts_node_type(inner), type) != 0)
        return false;
    TSNode list = ts_node_named_child(inner, ts_node_named_child_count(inner) - 1), last = list;
    for (int i = 0; i < DEEP && ts_node_named_child_count(last) > 0; i++)
        last = ts_node_named_child(last, ts_node_named_child_count(last) - 1);
    if (strcmp(ts_node_type(list), "parameter_list") != 0 || !strstr(ts_node_type(last), "identifier"))
        return false;
    *out = last;
    return true;
}

static const char conversion[] = "operator_cast"; /* operator char *(): its name is what comes before the parameters */

uint32_t myth_node_name_end(const TSFieldId *field, TSNode name)
{
    TSNode node = name;
    if (strcmp(ts_node_type(name), conversion) != 0)
        return ts_node_end_byte(name);
    for (int i = 0; i < DEEP; i++) {
        TSNode next;
        if (!get(field, node, DECLARATOR, &next) && !inner_declarator(node, &next))
            break;
        node = next;
    }
    for (uint32_t i = 0; i < ts_node_child_count(node) && i < DEEP; i++)
        if (strcmp(ts_node_type(ts_node_child(node, i)), "parameter_list") == 0)
            return ts_node_start_byte(ts_node_child(node, i));
    return ts_node_end_byte(name);
}

TSNode myth_node_name(const TSFieldId *field, TSNode node, TSNode *parent)
{
    for (int i = 0; i < DEEP; i++) {
        TSNode scope, next;
        if (strcmp(ts_node_type(node), conversion) == 0)
            break;
        if (get(field, node, SCOPE, &scope) && get(field, node, NAME, &next))
            *parent = scope;
        else if (get(field, node, DECLARATOR, &next) && inside_macro(node, next, &next))
            return next;
        else if (!get(field, node, DECLARATOR, &next) && !get(field, node, NAME, &next) &&
                 !inner_declarator(node, &next))
            break;
        node = next;
    }
    return node;
}

TSNode myth_node_type_name(const TSFieldId *field, TSNode node)
{
    for (int i = 0; i < DEEP && ts_node_named_child_count(node) > 0; i++) {
        const char *type = ts_node_type(node);
        bool is_around = strcmp(type, "pointer_type") == 0 || strcmp(type, "bounded_type") == 0 ||
                         strcmp(type, "parenthesized_type") == 0; /* their fields do not say which child it is */
        if (!get(field, node, NAME, &node) && !get(field, node, TYPE, &node) && !get(field, node, TRAIT, &node)) {
            if (!is_around)
                break;
            node = ts_node_named_child(node, 0);
        }
    }
    return strstr(ts_node_type(node), "identifier") || strcmp(ts_node_type(node), "primitive_type") == 0 ? node
                                                                                                         : (TSNode){0};
}

/* Whether the block has a type parameter of this name. */
static bool is_parameter(const TSFieldId *field, TSNode block, TSNode name, const char *text)
{
    TSNode list;
    const uint32_t off = ts_node_start_byte(name), n = ts_node_end_byte(name) - off;
    if (!get(field, block, TYPE_PARAMETERS, &list))
        return false;
    for (uint32_t i = 0; i < ts_node_named_child_count(list) && i < DEEP; i++) {
        TSNode one = ts_node_named_child(list, i);
        get(field, one, NAME, &one);
        const uint32_t at = ts_node_start_byte(one);
        if (ts_node_end_byte(one) - at == n && memcmp(text + at, text + off, n) == 0)
            return true;
    }
    return false;
}

TSNode myth_node_owner_name(const TSFieldId *field, TSNode block, TSNode type, const char *text)
{
    TSNode name = myth_node_type_name(field, type), trait;
    const bool is_named = !ts_node_is_null(name) && !is_parameter(field, block, name, text);
    return !is_named && get(field, block, TRAIT, &trait) ? myth_node_type_name(field, trait) : name;
}

TSNode myth_node_last_name(const TSFieldId *field, TSNode node)
{
    static const int member[] = {FIELD, PROPERTY, ATTRIBUTE, METHOD, NAME, TYPE, FUNCTION};
    enum { N_MEMBER = sizeof(member) / sizeof(*member) };
    for (int i = 0; i < DEEP && ts_node_child_count(node) > 0; i++) {
        int k = 0;
        while (k < N_MEMBER && !get(field, node, member[k], &node))
            k++;
        if (k == N_MEMBER && strcmp(ts_node_type(node), "dotted_name") == 0)
            node = ts_node_named_child(node, ts_node_named_child_count(node) - 1);
        else if (k == N_MEMBER)
            break;
    }
    return ts_node_named_child_count(node) == 0 ? node : (TSNode){0};
}

uint32_t myth_node_body(const TSFieldId *field, TSNode node)
{
    static const int wrap[] = {DEFINITION, DECLARATION, VALUE, RIGHT};
    for (int i = 0; i < 6; i++) {
        TSNode next;
        if (get(field, node, BODY, &next))
            return ts_node_start_byte(next);
        bool is_found = false;
        for (int k = 0; k < 4 && !is_found; k++)
            is_found = get(field, node, wrap[k], &next);
        uint32_t n = ts_node_named_child_count(node);
        if (!is_found && n == 0)
            return 0;
        if (!is_found)
            next = ts_node_named_child(node, n - 1);
        const char *type = ts_node_type(next);
        if (strstr(type, "body") || strstr(type, "block") || strcmp(type, "declaration_list") == 0)
            return ts_node_start_byte(next);
        node = next;
    }
    return 0;
}

bool myth_node_is_statement_word(TSNode name, const char *text)
{
    static const char *const words[] = {"if", "for", "while", "switch", "return", "sizeof", "else", "do"};
    const uint32_t off = ts_node_start_byte(name), n = ts_node_end_byte(name) - off;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (n == strlen(words[i]) && memcmp(text + off, words[i], n) == 0)
            return true;
    return false;
}
