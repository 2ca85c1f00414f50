/* contrary.h - what contrary.c and contrary_forms.c share: the kinds of contradictions in code, and the question
 * whether two pieces of code are the same. */
#ifndef MYTH_CONTRARY_H
#define MYTH_CONTRARY_H

#include "retrieval/candidates/facts/facts_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

/* In the order of the fact's values. */
typedef enum {
    MYTH_CONTRARY_NONE,
    MYTH_CONTRARY_OPERANDS,     /* a < a, a || b || a */
    MYTH_CONTRARY_EQUAL,        /* x.a == x.a */
    MYTH_CONTRARY_AGAIN,        /* if (a) ... else if (a) */
    MYTH_CONTRARY_BRANCHES,     /* if (c) the same else the same */
    MYTH_CONTRARY_ITSELF,       /* a = a of a parameter */
    MYTH_CONTRARY_ITSELF_OWN,   /* this.a = this.a */
    MYTH_CONTRARY_ITSELF_OTHER, /* p->a = p->a */
    MYTH_CONTRARY_UP,           /* for (...; i > n; i++) */
    MYTH_CONTRARY_DOWN,         /* for (...; i < n; i--) */
    MYTH_CONTRARY_VARIABLE,     /* for (i = 0; i < n; j++) */
    MYTH_CONTRARY_ALWAYS,       /* a != 1 || a != 2 */
    MYTH_CONTRARY_NEVER,        /* a == 1 && a == 2 */
    MYTH_CONTRARY_NEGATED,      /* !a & b, !a < b */
    MYTH_CONTRARY_NEGATED_IN,   /* !a in b */
    MYTH_CONTRARY_IDENTITY,     /* a == "text" where that compares addresses */
    MYTH_CONTRARY_DROPPED,      /* a == b; */
    MYTH_CONTRARY_ASSIGNED,     /* if (a = 1) */
    MYTH_CONTRARY_POINTER_SIZE, /* memset(p, 0, sizeof(p)) */
    MYTH_CONTRARY_PART_LENGTH,  /* a[:2] == "abc" */
    MYTH_CONTRARY_LITERAL,      /* c ? 1 : 1 */
    MYTH_CONTRARY_CHAIN,        /* a && b && a */
    MYTH_CONTRARY_TWICE,        /* if (a && a), where nothing else needs a condition */
    MYTH_CONTRARY_AGAIN_PART,   /* if (a || b) ... else if (a) */
} myth_contrary;

typedef enum { MYTH_CHAIN_NONE, MYTH_CHAIN_AND, MYTH_CHAIN_OR, MYTH_CHAIN_BIT_AND, MYTH_CHAIN_BIT_OR } myth_chain;

enum { MYTH_PARTS = 16, MYTH_CODE_DEEPEST = 24 };

typedef struct {
    TSNode node[MYTH_PARTS];
    uint32_t n;
} myth_parts;

/* ---- same_code.c ---- */

/* Whether two nodes have the same words; blanks and comments between them do not count. */
bool myth_code_same(const myth_flow *f, TSNode a, TSNode b);
/* The number of letters and digits in a node's text, comments left out. */
uint32_t myth_code_letters(const myth_flow *f, TSNode node);
/* Whether a node is short and has no effects: no assignment, and no call but of functions that only read. */
bool myth_code_is_pure(myth_flow *f, TSNode node);
/* Whether two nodes have the same words and no effects, so that both have the same value. */
bool myth_code_is_same(myth_flow *f, TSNode a, TSNode b);
/* Whether a node has the same value each time: a number, a text, or a name in capitals. */
bool myth_code_is_constant(const myth_flow *f, TSNode node);
/* The last word of the called function's name. */
const char *myth_code_called(myth_flow *f, TSNode call);
bool myth_code_operands(const myth_flow *f, TSNode node, TSNode *a, TSNode *b);
bool myth_code_has_operator(const myth_flow *f, TSNode node, const char *const *list, size_t n);
/* Which operator joins the parts of a node: ||, &&, | or &. */
myth_chain myth_code_chain(const myth_flow *f, TSNode node);
/* Collects the parts of a chain, a, b and c of a || b || c, in their order; a node that is no such chain is one
 * part. */
void myth_code_parts(const myth_flow *f, TSNode node, myth_chain of, myth_parts *out);

static inline uint32_t myth_code_line(TSNode node) { return ts_node_start_point(node).row + 1; }

/* ---- contrary.c ---- */

/* Adds an event at a node. `line`: the line that the node contradicts; 0 = none. */
static inline void myth_contrary_put(myth_flow *f, myth_contrary how, TSNode at, TSNode about, uint32_t line)
{
    myth_flow_put_form(f, MYTH_EVENT_CONTRARY, how, at, about, line);
}

/* ---- contrary_forms.c: what each kind of node may contradict ---- */

void myth_contrary_if(myth_flow *f, TSNode node, const myth_around *around);
void myth_contrary_choice(myth_flow *f, TSNode node);
void myth_contrary_assignment(myth_flow *f, TSNode node);
void myth_contrary_condition(myth_flow *f, TSNode cond);
void myth_contrary_statement(myth_flow *f, TSNode node);
void myth_contrary_loop(myth_flow *f, TSNode node);
void myth_contrary_call(myth_flow *f, TSNode node);
/* Checks a part of a text that is compared with a text of another length: a[:2] == "abc". */
void myth_contrary_part(myth_flow *f, TSNode node, TSNode part, TSNode text);

#endif
