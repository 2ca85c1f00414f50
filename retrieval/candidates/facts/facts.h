/* facts.h - small facts about an event of a flow. Rules ask for them; a candidate's report shows some.
 *
 * File      what the other functions of the file do with a function's result or a field, counted by a first pass
 * Calls     what a function of the file does with a parameter counts where it is called: it gives it to functions of a
 *           list, always or perhaps, keeps it where it outlives the call, or only reads it
 * Lists     `released`, `release_later` and `leaves` are about the functions of the list that a row names by `with`
 * Cost      a fact looks at most MYTH_FACTS_NEAR events back or ahead
 * Threads   one at a time */
#ifndef MYTH_FACTS_H
#define MYTH_FACTS_H

#include "retrieval/candidates/flow/flow.h"

enum { MYTH_FACTS_NEAR = 4096, MYTH_FACTS_LISTS = 512, MYTH_FACTS_PARAMETERS = 16 };

/* Lists of the pack, a bit each. */
typedef struct {
    uint64_t bits[MYTH_FACTS_LISTS / 64];
} myth_fact_lists;

/* list -1: none, which has nothing. */
static inline bool myth_fact_lists_has(const myth_fact_lists *l, int list)
{
    return list >= 0 && l->bits[list / 64] >> list % 64 & 1;
}

typedef enum {
#define FACT(name, values, meaning) MYTH_FACT_##name,
#include "facts.def"
#undef FACT
    MYTH_FACT_N
} myth_fact_kind;

/* What the file says about a name that has a colon before it, a bit each. */
typedef enum {
    MYTH_MARK_ASYNC = 1 << 0,    /* a function of this name gives a promise or a coroutine */
    MYTH_MARK_SYNC = 1 << 1,     /* one does not, or it is something else */
    MYTH_MARK_AWAITED = 1 << 2,  /* a call of it is awaited somewhere */
    MYTH_MARK_PATTERN = 1 << 3,  /* it is made by re.compile */
    MYTH_MARK_VALUE = 1 << 4,    /* it is something else */
    MYTH_MARK_TEXT = 1 << 5,     /* Java: declared as a String */
    MYTH_MARK_BOXED = 1 << 6,    /* as an Integer or another number that is an object */
    MYTH_MARK_OTHER = 1 << 7,    /* as something else */
    MYTH_MARK_SAFE = 1 << 8,     /* its type or value may be changed while a loop goes over it */
    MYTH_MARK_NUMBERS = 1 << 9,  /* TypeScript: declared as number[] */
    MYTH_MARK_CATCHES = 1 << 10, /* a function of this name does all in a try whose handler throws nothing */
    MYTH_MARK_FAILS = 1 << 11,   /* one does not */
} myth_mark;

/* A function or a field of the file: how often its result or value is tested, and how often not. */
typedef struct {
    uint64_t hash;
    uint32_t n_tested, n_used;
    uint32_t n_kept, n_asked; /* results that a variable keeps, and those whose presence is asked for first */
    uint32_t parameters;      /* 1 + offset of its parameters' names in `names`, of a function that the file defines */
    uint32_t first; /* 1 + the first of its `n_parameter` parameters, of a function that the file defines once */
    uint8_t n_parameter;
    uint16_t marks;                          /* myth_mark: forms/habits.c */
    bool is_imported, is_many, is_ambiguous; /* many: defined twice; ambiguous: with other parameters */
    uint32_t n_ended;                        /* calls behind which the process ends where they gave one value */
    uint64_t ended_on;                       /* the hash of that value's text; of two values 0 */
    bool is_releasing; /* a macro for the attribute that releases a variable where its block ends */
    bool is_keeper;    /* a function that gives what a variable keeps that outlives it */
    bool is_ending;    /* one that is declared as such that never returns */
} myth_file_name;

/* What a function of the file does with a parameter. */
typedef struct {
    myth_fact_lists may, sure; /* lists of the functions that it gives it to: in some case, in every case */
    bool is_kept;              /* stored in what outlives the call, or returned */
    bool is_shared;            /* given to a function of which nothing is known */
    bool is_asked;             /* the first thing that is done with it is to ask whether it is there */
    uint8_t request;           /* what a caller in the file gives it of a request: myth_request_part of facts_impl.h */
} myth_file_parameter;

/* A parameter that is given to another function. */
typedef struct {
    uint32_t parameter, name; /* an offset into `names` */
    uint8_t index;            /* of the argument; UINT8_MAX = the receiver */
    bool is_sure;             /* in every case */
} myth_file_hand;

typedef struct {
    myth_mem *mem;
    myth_file_name *name;
    uint32_t n_name, cap_name, *slot, n_slot;
    char *names;
    uint32_t n_names, cap_names;
    myth_file_parameter *parameter;
    uint32_t n_parameter, cap_parameter;
    myth_file_hand *hand;
    uint32_t n_hand, cap_hand;
    uint32_t n_memory, n_memory_asked; /* calls that take memory, and those whose result is asked for */
    uint32_t tests_off;                /* from which byte on the file is one of tests; UINT32_MAX = nowhere */
    bool has_maps;                     /* something in it may be a map, by its words */
    bool is_failed;
} myth_file_facts;

void myth_file_facts_close(myth_file_facts *ff); /* takes a zeroed one with its mem */
/* Counts one function. */
void myth_file_facts_add(myth_file_facts *ff, const myth_flow *f);
/* Follows parameters from function to function, when all were counted. */
void myth_file_facts_settle(myth_file_facts *ff, myth_fact_lists (*lists_of)(const void *arg, const char *name),
                            const void *arg);
/* Whether something in a function may come from a request, by the names in it. */
bool myth_facts_has_request(const myth_file_facts *ff, const myth_flow *f);
typedef struct myth_facts myth_facts;
/* Notes for which parameters of the file's functions this function gives something of a request; `ff` is k->file.
 * Returns whether one was not known before. */
bool myth_facts_hand_requests(const myth_facts *k, myth_file_facts *ff);
/* Adds events of arguments in the places of others; after myth_flow_read. */
void myth_facts_swapped(const myth_file_facts *ff, myth_flow *f);
/* Adds events of names that stayed where a statement was copied; after myth_flow_read of the same function. */
void myth_facts_copied(myth_flow *f, TSNode function);
/* Adds events of code that contradicts itself; after myth_flow_read of the same function or file. */
void myth_facts_contrary(myth_flow *f, TSNode function);
/* Marks the names of a whole file, once; then adds events of forms that are nearly always a mistake. */
void myth_facts_habits_file(myth_file_facts *ff, const myth_roles *roles, const char *text, uint32_t n, TSNode root);
void myth_facts_habits(const myth_file_facts *ff, myth_flow *f, TSNode function, TSNode root);
/* Behind them: they find out the file's language. */
void myth_facts_shown(myth_flow *f, TSNode function, TSNode root);

struct myth_facts {
    myth_flow *flow;
    const myth_file_facts *file;
    /* whether a function releases what it is given */
    bool (*is_release)(const void *arg, const char *name);
    const void *arg;
    int list; /* the list of the pack that is_release is about; -1 = none */
    struct {
        int list, how;                  /* 1 + the list; 0 = nothing is remembered */
        uint32_t event, from, to, line; /* the last question about a way out, and its answer */
    } left;
    uint32_t at_line; /* out: the line that a fact is about (of a test, a release, a way out); 0 = none */
};

/* The fact's value, a number of its values in facts.def. */
int myth_fact(myth_facts *k, myth_fact_kind fact, uint32_t event);
/* Of a fact without values: its text, at most cap - 1 bytes. */
void myth_fact_text(myth_facts *k, myth_fact_kind fact, uint32_t event, char *dst, size_t cap);

/* The offset of the call that event e is, or whose result its path is; UINT32_MAX = none. */
uint32_t myth_facts_call_off(const myth_facts *k, uint32_t e);

const char *myth_fact_name(myth_fact_kind fact);
const char *myth_fact_values(myth_fact_kind fact);                       /* NULL = it is a name */
bool myth_fact_value_name(myth_fact_kind fact, int value, char dst[16]); /* false: no such value */

#endif
