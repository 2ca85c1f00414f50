/* roles.h - what the nodes of a grammar mean for the flow of a function, and which child of a node is what.
 *
 * Owner    a myth_roles is opened for one grammar and closed; the grammar's tables must outlive it
 * Threads  any may read
 * Errors   open returns false without memory */
#ifndef MYTH_ROLES_H
#define MYTH_ROLES_H

#include "engine/base/mem.h"

#include <stdbool.h>
#include <tree_sitter/api.h>

typedef enum {
    MYTH_ROLE_NONE,
#define ROLE(role, types) MYTH_ROLE_##role,
#include "roles.def"
#undef ROLE
    MYTH_ROLE_N
} myth_role;

/* Children that several kinds of nodes have, under the names that the grammars give them. */
typedef enum {
    MYTH_SLOT_CONDITION,
    MYTH_SLOT_THEN, /* what is done where the condition holds, or again and again */
    MYTH_SLOT_ELSE,
    MYTH_SLOT_LEFT, /* what gets a value, or is compared */
    MYTH_SLOT_RIGHT,
    MYTH_SLOT_BASE, /* x of x.field, x[i], *x, !x */
    MYTH_SLOT_FIELD,
    MYTH_SLOT_INDEX,
    MYTH_SLOT_CALLEE,
    MYTH_SLOT_ARGUMENTS,
    MYTH_SLOT_OPERATOR,
    MYTH_SLOT_BODY,
    MYTH_SLOT_PARAMETERS,
    MYTH_SLOT_TYPE,
    MYTH_SLOT_FIRST, /* what a loop does before its first round */
    MYTH_SLOT_NEXT,  /* and between rounds */
    MYTH_SLOT_LABEL,
    MYTH_SLOT_N
} myth_slot;

enum { MYTH_SLOT_NAMES = 7 };

typedef struct {
    myth_mem *mem;
    uint8_t *role; /* by symbol of the grammar */
    uint32_t n_symbol;
    bool has_alternatives;                         /* #if and #else are nodes of it */
    TSFieldId field[MYTH_SLOT_N][MYTH_SLOT_NAMES]; /* 0 = the grammar has no such field */
} myth_roles;

bool myth_roles_open(myth_roles *r, myth_mem *mem, const TSLanguage *language);
void myth_roles_close(myth_roles *r); /* takes a zeroed one */

myth_role myth_roles_of(const myth_roles *r, TSNode node);
/* Whether a child of this field is in the slot. */
bool myth_roles_is_slot(const myth_roles *r, TSFieldId field, myth_slot slot);
/* The child in a slot; a null node when the node has none. */
TSNode myth_roles_child(const myth_roles *r, TSNode node, myth_slot slot);

#endif
