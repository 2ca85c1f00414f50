/* gbnf_program.h - the program that gbnf.c writes and pushdown.c runs: an automaton over bytes with a stack of places
 * to return to.
 *
 * Op      BYTE, SET   reads a byte that is `byte`, or in set[idx], and goes to next
 *         TOKEN       reads the id `other` as a whole, with byte 1 any id but that, and goes to next
 *         JOIN        goes to next; none is left in a whole program
 *         SPLIT       goes to next and to other
 *         CALL        puts next on the stack and goes to other
 *         RET         takes a place from the stack and goes there; with an empty stack the text may end
 *         LOOP        loop[idx] of the part at other, which ends in RET: the part is called with the LOOP itself on the
 *                     stack and one turn more counted there, while turns < max; goes to next when turns >= min
 * Ends    from every instruction a RET can be reached: whatever has begun can be finished
 * Calls   no rule calls itself before it has read a byte
 * Classes bytes that no instruction tells apart have one class: an automaton's table has n_class columns */
#ifndef MYTH_GBNF_PROGRAM_H
#define MYTH_GBNF_PROGRAM_H

#include "gbnf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MYTH_GBNF_NO_MAX UINT32_MAX

typedef enum {
    MYTH_GBNF_JOIN,
    MYTH_GBNF_BYTE,
    MYTH_GBNF_SET,
    MYTH_GBNF_TOKEN,
    MYTH_GBNF_SPLIT,
    MYTH_GBNF_CALL,
    MYTH_GBNF_RET,
    MYTH_GBNF_LOOP
} myth_gbnf_op;

typedef struct {
    uint8_t op, byte;
    uint16_t idx;
    uint32_t next, other;
} myth_gbnf_ins;

typedef struct {
    uint32_t bit[8];
} myth_gbnf_set;

typedef struct {
    uint32_t min, max; /* max: MYTH_GBNF_NO_MAX = any number; min is 0 where a turn may be empty */
} myth_gbnf_loop;

struct myth_gbnf {
    myth_mem *mem;
    myth_gbnf_ins *ins; /* [n_ins] */
    myth_gbnf_set *set; /* [n_set] */
    myth_gbnf_loop *loop;
    size_t n_ins, cap_ins, n_set, cap_set, n_loop, cap_loop;
    uint32_t start; /* of root */
    uint32_t n_class;
    bool has_tokens;
    uint8_t class_of[256], byte_of[256]; /* byte_of: a byte of each class */
};

/* ---- gbnf_set.c ---- */

typedef struct {
    uint32_t lo, hi;
} myth_gbnf_range;

enum { MYTH_GBNF_RANGES = 1024, MYTH_GBNF_SETS = 2048 };

/* A part of a program: entered at first; next of last is still open. */
typedef struct {
    uint32_t first, last;
} myth_gbnf_part;

typedef enum { MYTH_GBNF_ADDED, MYTH_GBNF_NO_MEMORY, MYTH_GBNF_TOO_LARGE } myth_gbnf_added;

/* Adds an instruction, whose number goes to *at. */
myth_gbnf_added myth_gbnf_add(myth_gbnf *g, myth_gbnf_ins ins, uint32_t *at);
/* Adds the part that reads one character of the ranges (sorted and merged here), or of all others. *is_empty: there is
 * none, and nothing was added. */
myth_gbnf_added myth_gbnf_add_class(myth_gbnf *g, myth_gbnf_range *range, size_t n, bool is_negated, bool *is_empty,
                                    myth_gbnf_part *out);
/* Sets n_class, class_of and byte_of. */
void myth_gbnf_classify(myth_gbnf *g);

/* ---- gbnf_check.c ---- */

typedef struct {
    const char *name;
    uint32_t n_name;
    uint32_t at, used_at; /* offsets of its definition and of its first use; UINT32_MAX = none */
    uint32_t start;
    uint32_t n_left; /* rules that it may call before it reads a byte, less those that are known to be in no circle */
    bool is_reached; /* from root */
} myth_gbnf_rule;

typedef enum {
    MYTH_GBNF_SOUND,
    MYTH_GBNF_UNCHECKED, /* out of memory */
    MYTH_GBNF_LEFT,      /* rule *idx can call itself before it has read a byte */
    MYTH_GBNF_ENDLESS    /* rule *idx, which root can come to, has no end */
} myth_gbnf_fault;

/* Checks a program without JOINs on any way from a start, whose CALLs have the number of their rule in `other`. In a
 * sound one they get the rule's start, and a LOOP whose turn may be empty gets min 0. */
myth_gbnf_fault myth_gbnf_check(myth_gbnf *g, myth_gbnf_rule *rule, uint32_t n_rule, uint32_t root, uint32_t *idx);

#ifdef __cplusplus
}
#endif
#endif
