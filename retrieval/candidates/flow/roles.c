/* roles.c - see roles.h */
#include "roles.h"

#include "engine/base/text.h"

#include <string.h>

static const char *const types[MYTH_ROLE_N] = {
#define ROLE(role, types) [MYTH_ROLE_##role] = types,
#include "roles.def"
#undef ROLE
};

static const char *const field_name[MYTH_SLOT_N][MYTH_SLOT_NAMES] = {
    [MYTH_SLOT_CONDITION] = {"condition"},
    [MYTH_SLOT_THEN] = {"consequence", "body"},
    [MYTH_SLOT_ELSE] = {"alternative"},
    [MYTH_SLOT_LEFT] = {"left", "name", "pattern", "declarator"},
    [MYTH_SLOT_RIGHT] = {"right", "value"},
    [MYTH_SLOT_BASE] = {"argument", "object", "value", "operand", "array"},
    [MYTH_SLOT_FIELD] = {"field", "property", "attribute"},
    [MYTH_SLOT_INDEX] = {"index", "indices", "subscript"},
    [MYTH_SLOT_CALLEE] = {"function", "constructor", "name", "type"},
    [MYTH_SLOT_ARGUMENTS] = {"arguments"},
    [MYTH_SLOT_OPERATOR] = {"operator", "operators"},
    [MYTH_SLOT_BODY] = {"body"},
    [MYTH_SLOT_PARAMETERS] = {"parameters", "parameter"},
    [MYTH_SLOT_TYPE] = {"type"},
    [MYTH_SLOT_FIRST] = {"initializer", "init"},
    [MYTH_SLOT_NEXT] = {"update", "increment"},
    [MYTH_SLOT_LABEL] = {"label"},
};

bool myth_roles_open(myth_roles *r, myth_mem *mem, const TSLanguage *language)
{
    *r = (myth_roles){.mem = mem, .n_symbol = ts_language_symbol_count(language)};
    r->role = myth_alloc(mem, MYTH_MEM_OTHER, "roles of nodes", r->n_symbol);
    if (!r->role)
        return false;
    for (uint32_t s = 0; s < r->n_symbol; s++) {
        const char *name = ts_language_symbol_name(language, (TSSymbol)s);
        if (!name || ts_language_symbol_type(language, (TSSymbol)s) != TSSymbolTypeRegular)
            continue;
        for (int role = 1; role < MYTH_ROLE_N; role++)
            if (myth_text_lists(types[role], name))
                r->role[s] = (uint8_t)role;
        r->has_alternatives |= r->role[s] == MYTH_ROLE_ALTERNATIVE;
    }
    for (int s = 0; s < MYTH_SLOT_N; s++)
        for (int i = 0; i < MYTH_SLOT_NAMES && field_name[s][i]; i++)
            r->field[s][i] =
                ts_language_field_id_for_name(language, field_name[s][i], (uint32_t)strlen(field_name[s][i]));
    return true;
}

void myth_roles_close(myth_roles *r)
{
    myth_free(r->mem, r->role);
    *r = (myth_roles){0};
}

myth_role myth_roles_of(const myth_roles *r, TSNode node)
{
    const TSSymbol s = ts_node_symbol(node);
    return s < r->n_symbol ? (myth_role)r->role[s] : MYTH_ROLE_NONE; /* an error node has the symbol 65535 */
}

bool myth_roles_is_slot(const myth_roles *r, TSFieldId field, myth_slot slot)
{
    for (int i = 0; i < MYTH_SLOT_NAMES; i++)
        if (field != 0 && r->field[slot][i] == field)
            return true;
    return false;
}

TSNode myth_roles_child(const myth_roles *r, TSNode node, myth_slot slot)
{
    for (int i = 0; i < MYTH_SLOT_NAMES; i++) {
        if (r->field[slot][i] == 0)
            continue;
        const TSNode child = ts_node_child_by_field_id(node, r->field[slot][i]);
        if (!ts_node_is_null(child))
            return child;
    }
    return (TSNode){0};
}
