/* flow.h - what happens in one function, in the order of its text: which variables get which values, where they are
 * used and tested, what is called with what, and where control leaves. Read off the syntax tree, the same way for all
 * languages; the rules (pack.h) are about this list and not about trees.
 *
 * Path      a variable, or a part of one that is named by constants and variables: p, p->next, self.items[i], *p.
 *           Blanks are left out, brackets around it and casts too. Number 0 = no path
 * Scope     a block that is not always run: a branch, a loop's body, a case, a handler. Scope 0 is the function
 * Test      a condition and what depends on it: its branches, or the rest of an expression (p && p->n)
 * Nested    a function inside of a function is a scope of the outer one; what it returns does not leave the outer one.
 *           What is outside of all functions is one more flow, named ""
 * Branches  #if, #elif and #else are read off the text: where a file was hard to parse, its tree is made without them
 * Units     offsets in bytes of the file, lines from 1, events and paths by number
 * Limits    MYTH_FLOW_EVENTS of one function. Of one that has more, only its own statements are read, and the functions
 *           inside of it have flows of their own (is_outer); what follows if that is too much is not read (cut_line).
 *           Paths of up to MYTH_FLOW_PATH_BYTES
 * Owner     open and close a myth_flow; it is used for one function after the other
 * Errors    false without memory, or when asked to stop
 * Threads   one at a time */
#ifndef MYTH_FLOW_H
#define MYTH_FLOW_H

#include "roles.h"

enum {
    MYTH_FLOW_EVENTS = 1 << 15,
    MYTH_FLOW_PATH_BYTES = 96,
    MYTH_FLOW_DEPTH = 1500,
    MYTH_FLOW_LABELS = 64,
    MYTH_FLOW_BRANCHES = 128
};

typedef enum {
    MYTH_EVENT_DEFINE,   /* a path gets a value; path 0: an element that has no path gets that of `other` */
    MYTH_EVENT_USE,      /* it is read as a value */
    MYTH_EVENT_DEREF,    /* something behind it is read or written: *p, p->x, p[i], p.method() */
    MYTH_EVENT_INDEX,    /* it is what an element is chosen by: `other` is the array */
    MYTH_EVENT_TEST,     /* a condition depends on it */
    MYTH_EVENT_CALL,     /* a call: `path` is its receiver, `name` the function */
    MYTH_EVENT_ARG,      /* it is an argument of the call `call`, number `index` */
    MYTH_EVENT_RETURN,   /* it is returned or thrown */
    MYTH_EVENT_LEAVE,    /* control leaves: return, throw, break, continue, goto, exit() */
    MYTH_EVENT_DIVIDE,   /* it is a divisor; of a call `name` gives it, and of a length `path` is what is measured */
    MYTH_EVENT_FIELD,    /* a member of a literal, or an argument by name, `name`, gets a value */
    MYTH_EVENT_CATCH,    /* a handler of errors */
    MYTH_EVENT_SWAPPED,  /* an argument that has the name of another parameter of the function that is called */
    MYTH_EVENT_COPIED,   /* a name that stayed where a line was copied and all others were changed */
    MYTH_EVENT_CONTRARY, /* code that contradicts itself: contrary.c */
    MYTH_EVENT_HABIT,    /* a form that is nearly always a mistake in its language: habits.c */
    MYTH_EVENT_LOST,     /* what a change took from it: ../change */
    MYTH_EVENT_N
} myth_event_kind;

/* What a value is. */
typedef enum {
    MYTH_VALUE_UNKNOWN,
    MYTH_VALUE_PARAMETER,
    MYTH_VALUE_CALL, /* the result of the function `name` */
    MYTH_VALUE_NUMBER,
    MYTH_VALUE_TEXT,   /* a text that is written there */
    MYTH_VALUE_JOINED, /* a text that is put together with something that is not constant */
    MYTH_VALUE_NULL,
    MYTH_VALUE_SUM, /* + or - of something that is not constant */
    MYTH_VALUE_PRODUCT,
    MYTH_VALUE_PATH, /* another path, `other` */
    MYTH_VALUE_ELEMENT,
    MYTH_VALUE_NEW,
    MYTH_VALUE_LOOP,    /* each of several, one after the other */
    MYTH_VALUE_OUT,     /* whatever the function `name` wrote through its address */
    MYTH_VALUE_NOTHING, /* declared without a value */
    MYTH_VALUE_SIZE,    /* sizeof, or a call that measures */
    MYTH_VALUE_IMPORT,  /* a module, or what one has under that name */
    MYTH_VALUE_N
} myth_value;

typedef enum {
    MYTH_TEST_TRUE,     /* p */
    MYTH_TEST_FALSE,    /* !p */
    MYTH_TEST_NULL,     /* p == NULL */
    MYTH_TEST_NOT_NULL, /* p != NULL */
    MYTH_TEST_EQUAL,
    MYTH_TEST_NOT_EQUAL,
    MYTH_TEST_LESS,
    MYTH_TEST_AT_MOST,
    MYTH_TEST_MORE,
    MYTH_TEST_AT_LEAST,
    MYTH_TEST_IN,   /* is a member, is an instance */
    MYTH_TEST_PART, /* is somewhere in a condition, as an argument of a call */
    MYTH_TEST_N
} myth_test_kind;

/* Where control goes when a scope ends by leaving. */
typedef enum { MYTH_LEAVES_NOT, MYTH_LEAVES_FUNCTION, MYTH_LEAVES_LOOP, MYTH_LEAVES_TO_LABEL } myth_leaves;

typedef enum {
    MYTH_SCOPE_FUNCTION,
    MYTH_SCOPE_THEN,
    MYTH_SCOPE_ELSE,
    MYTH_SCOPE_LOOP,
    MYTH_SCOPE_CASE,
    MYTH_SCOPE_CATCH,
    MYTH_SCOPE_FINALLY,
    MYTH_SCOPE_TRY,
    MYTH_SCOPE_NESTED
} myth_scope_kind;

/* A form of code that forms/ found is an event whose `how` is a value of the fact `habit`, or one of these and a value
 * of the facts `misuse` and `shown`. */
enum { MYTH_MISUSE_FIRST = 64, MYTH_SHOWN_FIRST = 128 };

typedef struct {
    uint32_t off, end, line;
    uint32_t path, other;            /* paths; 0 = none */
    uint32_t name;                   /* of a function: an offset into names; 0 = none */
    uint32_t scope, test;            /* test: 1 + its number, 0 = none */
    uint32_t call;                   /* of an argument: the number of the call's event; of a goto: the label's offset */
    uint32_t statement;              /* counts statements */
    uint8_t kind, value, index, how; /* myth_event_kind, myth_value, number of an argument, myth_test_kind or a form */
    bool is_dropped;                 /* of a call: its value is not used */
    bool is_through;                 /* of a definition: through a pointer or a field; of an argument: its address */
    bool is_guarded;                 /* inside of something that closes it by itself: with, try (...), defer */
    TSNode node;
} myth_event;

typedef struct {
    uint32_t parent, off, end;
    uint32_t test;       /* 1 + the test that decides whether it is run; 0 = none */
    uint32_t loop;       /* the scope of the innermost loop or switch that break and continue leave; 0 = none */
    uint32_t label_off;  /* of MYTH_LEAVES_TO_LABEL, once it is known; 0 = unknown */
    uint32_t switch_end; /* of a case: where the switch ends */
    uint8_t kind, leaves;
} myth_scope;

typedef struct {
    uint32_t off, end;       /* of the condition */
    uint32_t next, next_end; /* of a loop: what is run after its body, where the condition held; 0 bytes = nothing */
    uint32_t then, other;    /* scopes; 0 = none */
    uint32_t outer;          /* 1 + the test that this is a part of: a of a && b in a condition; 0 = none */
    bool is_assert;          /* what follows is only reached where it holds */
    bool is_loop;
    bool is_or; /* of a chain: the rest is reached where its parts do not hold */
    bool is_chain;
} myth_test;

typedef struct {
    uint32_t text, n;            /* offset into names, bytes */
    uint32_t base, last;         /* the path that it is a part of, 0 = none; offset of its last word */
    uint32_t type_off, type_end; /* of its declaration in this function; 0 bytes = none is known */
    bool is_pointer, is_array;
    bool is_declared; /* by a word or type in this function, in a language in which that makes a variable of it */
} myth_path;

/* What stands between two of #if, #elif, #else and #endif. Of the branches of one group at most one is in a program. */
typedef struct {
    uint32_t off, end, group;
} myth_branch;

/* A line of the function before a change. */
typedef struct {
    uint32_t line, text; /* text: an offset into names */
} myth_lost_line;

typedef struct {
    const myth_roles *roles;
    myth_mem *mem;
    const char *text;
    uint32_t n_text;
    bool (*stop)(void *arg);
    void *stop_arg;

    myth_event *event;
    myth_scope *scope;
    myth_test *test;
    myth_path *path;
    myth_branch *branch;  /* [n_branch] in the order in which they begin; of a whole file none */
    myth_lost_line *lost; /* [n_lost] which event of MYTH_EVENT_LOST has by its number `call` */
    char *names;          /* zero-terminated, the empty one first; kept from function to function */
    uint32_t n_event, n_scope, n_test, n_path, n_names;
    uint32_t cap_event, cap_scope, cap_test, cap_path, cap_names;
    uint32_t n_branch, cap_branch, n_lost, cap_lost;
    uint32_t *slot, n_slot;                    /* a table of paths by their text */
    uint32_t label[MYTH_FLOW_LABELS], n_label; /* offsets of labels, which a goto comes to */
    uint32_t name;                             /* of the function */
    uint32_t off, end;                         /* of the function */
    uint32_t line0, line1;

    /* while a function is read */
    uint32_t n_statement, n_visit, now_scope, now_test;
    const void *dropped, *deferred; /* nodes: the whole of a statement, what is put off */
    bool is_file, is_failed;
    bool has_nested;   /* functions inside of it */
    bool is_outer;     /* those functions have flows of their own */
    uint32_t cut_line; /* from which on it was not read; 0 = it was read to its end */
} myth_flow;

void myth_flow_open(myth_flow *f, myth_mem *mem, const myth_roles *roles, const char *text, uint32_t n);
void myth_flow_close(myth_flow *f);

/* Reads a function, or with the root of a file what is outside of all functions. */
bool myth_flow_read(myth_flow *f, TSNode function, bool is_file);

/* The last line of a node, from 1: one that ends at the begin of a line, as a whole file does, has nothing of it. */
static inline uint32_t myth_flow_last_line(TSNode node)
{
    const TSPoint from = ts_node_start_point(node), to = ts_node_end_point(node);
    return to.column == 0 && to.row > from.row ? to.row : to.row + 1;
}

/* Calls `on` for each function of a file that is in no other, from the first on. */
bool myth_flow_each(const myth_roles *roles, TSNode root, bool (*on)(void *arg, TSNode function), void *arg);

/* The path that a node names; 0 = none. */
uint32_t myth_flow_path(myth_flow *f, TSNode node);
/* What the value of a node is; *path gets the path of MYTH_VALUE_PATH, *name the function of MYTH_VALUE_CALL. */
myth_value myth_flow_value(myth_flow *f, TSNode node, uint32_t *path, uint32_t *name);

/* Whether path p is q or a part of q. */
bool myth_flow_is_part(const myth_flow *f, uint32_t p, uint32_t q);
/* Whether control that has passed event a can come to event b, which is behind it in the text. */
bool myth_flow_reaches(const myth_flow *f, uint32_t a, uint32_t b);
/* Whether it comes there only by a goto back to a label, and over a definition of the path behind that. */
bool myth_flow_defines_again(const myth_flow *f, uint32_t a, uint32_t b, uint32_t path);
/* Whether two offsets are in branches of one #if, of which a program has only one. */
bool myth_flow_is_alternative(const myth_flow *f, uint32_t a, uint32_t b);
/* Whether scope s is `in` or inside of it. */
bool myth_flow_is_inside(const myth_flow *f, uint32_t s, uint32_t in);
/* Whether the text from offset `from` to offset `to` has a label. Code after a label is also reached by a goto or from
 * inside a macro, so that what was true before the label may not be true after it. */
bool myth_flow_has_label(const myth_flow *f, uint32_t from, uint32_t to);

#endif
