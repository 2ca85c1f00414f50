/* pushdown.h - the automaton of a grammar (gbnf.h) for grammar.h: which byte may come next, with rules inside each
 * other to any depth that fits.
 *
 * State     a number. It stands for the set of stacks that the text so far can have led to, each a place in the
 *           grammar and the places to return to. A set's steps are computed when they are first asked for, and kept
 * Sharing   equal stacks, ends of stacks and sets are kept once; a call at the end of a rule leaves nothing on the
 *           stack. So the state of a list, however long, is one of few
 * Keys      a counted repetition that is further from its bounds than the longest token is as if it had no bounds: the
 *           states of "[a-z]{0,500}" share one mask until the end comes near
 * Memory    fixed, taken at open: MYTH_PUSHDOWN_* below. When half of it is used, what the text so far does not need is
 *           forgotten (settle). A text that needs more than there is (brackets MYTH_PUSHDOWN_NODES / 2 deep, a grammar
 *           that reads one text in very many ways) cannot go on: no byte steps, the text may not end, and is_full says
 *           why
 * Exact     a byte steps when the text with it is a beginning of a text of the grammar; the text may end when it is one
 * Threads   one user at a time; the program may be shared */
#ifndef MYTH_PUSHDOWN_H
#define MYTH_PUSHDOWN_H

#include "gbnf.h"
#include "grammar.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
    MYTH_PUSHDOWN_NODES = 1 << 15,   /* stacks, and ends of stacks that several share */
    MYTH_PUSHDOWN_SETS = 1 << 12,    /* sets of stacks */
    MYTH_PUSHDOWN_MEMBERS = 1 << 16, /* stacks in all sets */
    MYTH_PUSHDOWN_CELLS = 1 << 18    /* steps that are kept: sets times classes of bytes */
};

typedef struct myth_pushdown myth_pushdown;

/* Bytes (class OTHER) that open takes. */
uint64_t myth_pushdown_bytes(void);
myth_status myth_pushdown_open(myth_pushdown **out, myth_mem *mem, myth_error *err);
void myth_pushdown_close(myth_pushdown *p); /* takes NULL */
/* Fills *out with the automaton of g, which is lent until the next call or close; so is p, whose states of the program
 * before are gone. */
void myth_pushdown_use(myth_pushdown *p, const myth_gbnf *g, myth_automaton *out);
/* Whether the text since the start needed more than the fixed memory. */
bool myth_pushdown_is_full(const myth_pushdown *p);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
