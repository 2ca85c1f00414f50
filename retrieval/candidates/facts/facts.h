/* facts.h - facts: short answers to questions about one event of a flow (facts.def). Rules ask for them, and the report
 * of a candidate shows some.
 *
 * File      a first pass over the file counts how its functions treat each function's result and each field: tested or
 *           not. Facts compare an event with these counts
 * Calls     where a function of the same file is called, its body is known: for each parameter, whether it is given to
 *           functions of a list (in every case or in some), stored where it outlives the call, or only read
 * Lists     `released`, `release_later` and `leaves` are about the functions of the list that a row names by `with`
 * Cost      a fact looks at most MYTH_FACTS_NEAR events back or ahead
 * Threads   one at a time */
#ifndef MYTH_FACTS_H
#define MYTH_FACTS_H

#include "retrieval/candidates/flow/flow.h"

enum { MYTH_FACTS_NEAR = 4096, MYTH_FACTS_LISTS = 512, MYTH_FACTS_PARAMETERS = 16 };

/* A set of lists of the pack: a bit for each list. */
typedef struct {
    uint64_t bits[MYTH_FACTS_LISTS / 64];
} myth_fact_lists;

/* Whether the set has the list; -1 stands for no list. */
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

/* What the file says about a name that is stored with a colon before it (":load"): a bit each. */
typedef enum {
    MYTH_MARK_ASYNC = 1 << 0,    /* a function of this name returns a promise or a coroutine */
    MYTH_MARK_SYNC = 1 << 1,     /* a function of this name does not, or the name is not a function's */
    MYTH_MARK_AWAITED = 1 << 2,  /* a call of it is awaited somewhere */
    MYTH_MARK_PATTERN = 1 << 3,  /* a variable of this name is made by re.compile */
    MYTH_MARK_VALUE = 1 << 4,    /* a variable of this name is made in another way */
    MYTH_MARK_TEXT = 1 << 5,     /* Java: declared as a String */
    MYTH_MARK_BOXED = 1 << 6,    /* Java: declared as an Integer or another number that is an object */
    MYTH_MARK_OTHER = 1 << 7,    /* Java: declared as something else */
    MYTH_MARK_SAFE = 1 << 8,     /* a container that may be changed while a loop goes over it, by its type or value */
    MYTH_MARK_NUMBERS = 1 << 9,  /* TypeScript: declared as number[] */
    MYTH_MARK_CATCHES = 1 << 10, /* the body of a function of this name is a try whose handler throws nothing */
    MYTH_MARK_FAILS = 1 << 11,   /* the body of a function of this name is not */
} myth_mark;

/* A name of the file, of a function or a field: how often its result or value is tested, and how often not. */
typedef struct {
    uint64_t hash;
    uint32_t n_tested, n_used;
    uint32_t n_kept, n_asked; /* results that a variable gets; those of them that are first tested for being there */
    uint32_t parameters;      /* 1 + offset of its parameters' names in `names`, of a function that the file defines */
    uint32_t first; /* 1 + the first of its `n_parameter` parameters, of a function that the file defines once */
    uint8_t n_parameter;
    uint16_t marks;                          /* myth_mark: forms/habits.c */
    bool is_imported, is_many, is_ambiguous; /* many: defined twice; ambiguous: with other parameters */
    uint32_t n_ended;                        /* calls after which the process ends if they returned a certain value */
    uint64_t ended_on;                       /* the hash of that value's text; 0 = not all the calls agree on it */
    bool is_releasing; /* a macro for the attribute that releases a variable where its block ends */
    bool is_keeper;    /* a function that returns what a variable that outlives it keeps */
    bool is_ending;    /* a function that is declared never to return */
} myth_file_name;

/* What a function of the file does with a parameter. */
typedef struct {
    myth_fact_lists may, sure; /* the lists of the functions that it is given to: in some cases, in every case */
    bool is_kept;              /* stored in what outlives the call, or returned */
    bool is_shared;            /* given to a function of which nothing is known */
    bool is_asked;             /* before any other use it is tested for being there */
    uint8_t request;           /* the part of a request that a caller in the file gives it: myth_request_part */
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
    uint32_t n_memory, n_memory_asked; /* calls that take memory; those of them whose result is tested */
    uint32_t tests_off;                /* the file has tests from this byte on; UINT32_MAX = it has none */
    bool has_maps;                     /* by its words, something in the file may be a map */
    bool is_failed;
} myth_file_facts;

void myth_file_facts_close(myth_file_facts *ff); /* takes a zeroed one with its mem */
/* Counts one function. */
void myth_file_facts_add(myth_file_facts *ff, const myth_flow *f);
/* After all functions were counted: where a function gives a parameter on to another function of the file, what that
 * one does with it counts for the first one too. */
void myth_file_facts_settle(myth_file_facts *ff, myth_fact_lists (*lists_of)(const void *arg, const char *name),
                            const void *arg);
/* Whether something in a function may come from a request, by the names in it. */
bool myth_facts_has_request(const myth_file_facts *ff, const myth_flow *f);
typedef struct myth_facts myth_facts;
/* Notes for which parameters of the file's functions this function gives something of a request; `ff` is k->file.
 * Returns whether one was not known before. */
bool myth_facts_hand_requests(const myth_facts *k, myth_file_facts *ff);
/* Adds events of arguments that look exchanged; after myth_flow_read. */
void myth_facts_swapped(const myth_file_facts *ff, myth_flow *f);
/* Adds events of names that were not changed in a copied statement; after myth_flow_read of the same function. */
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
        int list, how; /* list: 1 + the list; 0 = nothing is remembered */
        uint32_t event, from, to, line;
    } left;           /* the last question whether control leaves while something is held, and its answer */
    uint32_t at_line; /* result: the line that a fact is about (of a test, a release, a way out); 0 = none */
};

/* The fact's value about event number `event`: the index into its values in facts.def. */
int myth_fact(myth_facts *k, myth_fact_kind fact, uint32_t event);
/* The text of a fact that has no values, at most cap - 1 bytes. */
void myth_fact_text(myth_facts *k, myth_fact_kind fact, uint32_t event, char *dst, size_t cap);

/* The offset of the call that event e is, or whose result its path is; UINT32_MAX = none. */
uint32_t myth_facts_call_off(const myth_facts *k, uint32_t e);

const char *myth_fact_name(myth_fact_kind fact);
const char *myth_fact_values(myth_fact_kind fact);                       /* NULL = it is a name */
bool myth_fact_value_name(myth_fact_kind fact, int value, char dst[16]); /* false: no such value */

#endif
