/* flow.h - the flow of one function: a list of events in the order of its text. An event says that a variable gets a
 * value, is used or is tested, that a function is called, or that control leaves. The list is made from the syntax tree
 * and has the same form for all languages, so that the rules (pack.h) never look at trees.
 *
 * Path      a variable, or a part of one that is named by constants and variables: p, p->next, self.items[i], *p. Its
 *           text is kept without blanks, casts and the parentheses around it. Number 0 = no path
 * Scope     a block that is not always run: a branch, a loop's body, a case, a handler. Scope 0 is the function
 * Test      a condition and what depends on it: its branches, or the rest of an expression (p && p->n)
 * Nested    a function inside of a function is a scope of the outer one, and a return in it does not leave the outer
 *           one. The statements outside of all functions are one more flow, named ""
 * Branches  #if, #elif and #else are found in the text and not in the tree: a file that is hard to parse is parsed
 *           again with these lines blanked
 * Units     offsets in bytes of the file, lines from 1, events and paths by number
 * Limits    MYTH_FLOW_EVENTS events a function. For a function with more, only its own statements are read, and each
 *           function inside of it gets a flow of its own (is_outer). If its own statements are still too many, reading
 *           stops at the line `cut_line`. A path has at most MYTH_FLOW_PATH_BYTES bytes
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
    MYTH_EVENT_DEFINE,   /* the path gets a value; path 0: an element without a path gets the value of `other` */
    MYTH_EVENT_USE,      /* the path is read as a value */
    MYTH_EVENT_DEREF,    /* what the path refers to is read or written: *p, p->x, p[i], p.method() */
    MYTH_EVENT_INDEX,    /* the path is the index that chooses an element of the array `other` */
    MYTH_EVENT_TEST,     /* a condition depends on the path */
    MYTH_EVENT_CALL,     /* a call: `path` is its receiver, `name` the function */
    MYTH_EVENT_ARG,      /* the path is argument number `index` of the call `call` */
    MYTH_EVENT_RETURN,   /* the path is returned or thrown */
    MYTH_EVENT_LEAVE,    /* control leaves: return, throw, break, continue, goto, exit() */
    MYTH_EVENT_DIVIDE,   /* a division: by the path, by the result of the function `name`, or by the path's length */
    MYTH_EVENT_FIELD,    /* a member of a literal, or an argument given by name, gets a value: `name` is that name */
    MYTH_EVENT_CATCH,    /* a handler of errors */
    MYTH_EVENT_SWAPPED,  /* an argument whose name is that of another parameter of the called function */
    MYTH_EVENT_COPIED,   /* in a copied line, the one name that was not changed as all its other occurrences were */
    MYTH_EVENT_CONTRARY, /* code that contradicts itself: contrary.c */
    MYTH_EVENT_HABIT,    /* a form of code that is nearly always a mistake in its language: habits.c */
    MYTH_EVENT_LOST,     /* a change took away something that this place relied on: ../change */
    MYTH_EVENT_N
} myth_event_kind;

/* What a value is. */
typedef enum {
    MYTH_VALUE_UNKNOWN,
    MYTH_VALUE_PARAMETER,
    MYTH_VALUE_CALL, /* the result of the function `name` */
    MYTH_VALUE_NUMBER,
    MYTH_VALUE_TEXT,   /* a text that is written there */
    MYTH_VALUE_JOINED, /* a text that is put together from parts, not all of them constant */
    MYTH_VALUE_NULL,
    MYTH_VALUE_SUM, /* + or - of something that is not constant */
    MYTH_VALUE_PRODUCT,
    MYTH_VALUE_PATH, /* another path, `other` */
    MYTH_VALUE_ELEMENT,
    MYTH_VALUE_NEW,
    MYTH_VALUE_LOOP,    /* each of several, one after the other */
    MYTH_VALUE_OUT,     /* whatever the function `name` wrote through its address */
    MYTH_VALUE_NOTHING, /* declared without a value */
    MYTH_VALUE_SIZE,    /* sizeof, or a call that measures a length */
    MYTH_VALUE_IMPORT,  /* an imported module, or an imported name of a module */
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
    MYTH_TEST_IN,   /* p in set, p instanceof T */
    MYTH_TEST_PART, /* p is a part of the condition, for instance an argument of a call: is_good(p) */
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

/* The `how` of an event of a form (forms/): a value of the fact `habit`, or MYTH_MISUSE_FIRST plus a value of the fact
 * `misuse`, or MYTH_SHOWN_FIRST plus one of the fact `shown`. */
enum { MYTH_MISUSE_FIRST = 64, MYTH_SHOWN_FIRST = 128 };

typedef struct {
    uint32_t off, end, line;
    uint32_t path, other;            /* paths; 0 = none */
    uint32_t name;                   /* of a function: an offset into names; 0 = none */
    uint32_t scope, test;            /* test: 1 + its number, 0 = none */
    uint32_t call;                   /* of an argument: the number of the call's event; of a goto: the label's offset */
    uint32_t statement;              /* the number of the statement that it is in */
    uint8_t kind, value, index, how; /* myth_event_kind, myth_value, number of an argument, myth_test_kind or a form */
    bool is_dropped;                 /* of a call: its result is not used */
    bool is_through;                 /* a definition through a pointer or a field; an argument that is an address: &x */
    bool is_guarded;                 /* the language closes it at the end of a block: with, try (...), defer */
    TSNode node;
} myth_event;

typedef struct {
    uint32_t parent, off, end;
    uint32_t test;       /* 1 + the test that decides whether the block is run; 0 = none */
    uint32_t loop;       /* the scope of the innermost loop or switch around it, which break leaves; 0 = none */
    uint32_t label_off;  /* of MYTH_LEAVES_TO_LABEL: the label's offset, once it is known; 0 = unknown */
    uint32_t switch_end; /* of a case: where the switch ends */
    uint8_t kind, leaves;
} myth_scope;

typedef struct {
    uint32_t off, end;       /* of the condition */
    uint32_t next, next_end; /* of a for loop: its step (i++), which is run between two rounds; 0 bytes = none */
    uint32_t then, other;    /* scopes of the branches; 0 = none */
    uint32_t outer;          /* 1 + the test that this is a part of: of a in a && b, that of the whole; 0 = none */
    bool is_assert;          /* an assertion: what follows is only reached where it holds */
    bool is_loop;
    bool is_or;    /* of a chain: it is joined by ||, so a later part is reached where the earlier ones do not hold */
    bool is_chain; /* parts joined by && or || */
} myth_test;

typedef struct {
    uint32_t text, n;            /* offset into names, bytes */
    uint32_t base, last;         /* the path that it is a part of, 0 = none; where in its text the last word begins */
    uint32_t type_off, type_end; /* the type in its declaration in this function; 0 bytes = none is known */
    bool is_pointer, is_array;
    bool is_declared; /* this function declares it, in a language where a declaration makes a variable local */
} myth_path;

/* The text between two of #if, #elif, #else and #endif. At most one branch of a group is compiled into a program. */
typedef struct {
    uint32_t off, end, group;
} myth_branch;

/* A line of the function before a change. */
typedef struct {
    uint32_t line, text; /* text: an offset into names */
    uint32_t stays;      /* the line after the change that relied on it */
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
    myth_branch *branch;  /* [n_branch] in the order in which they begin; none in the flow of a file's outside */
    myth_lost_line *lost; /* [n_lost] the `call` of an event MYTH_EVENT_LOST is an index into it */
    char *names;          /* zero-terminated, the empty one first; kept from function to function */
    uint32_t n_event, n_scope, n_test, n_path, n_names;
    uint32_t cap_event, cap_scope, cap_test, cap_path, cap_names;
    uint32_t n_branch, cap_branch, n_lost, cap_lost;
    uint32_t *slot, n_slot;                    /* a table of paths by their text */
    uint32_t label[MYTH_FLOW_LABELS], n_label; /* offsets of the labels that a goto can jump to */
    uint32_t name;                             /* of the function */
    uint32_t off, end;                         /* of the function */
    uint32_t line0, line1;

    /* while a function is read */
    uint32_t n_statement, n_visit, now_scope, now_test;
    const void *dropped, *deferred; /* ids of nodes: the expression that is a whole statement; what is deferred */
    bool is_file, is_failed;
    bool has_nested;   /* it has functions inside of it */
    bool is_outer;     /* those functions have flows of their own */
    uint32_t cut_line; /* the first line that was not read; 0 = it was read to its end */
} myth_flow;

void myth_flow_open(myth_flow *f, myth_mem *mem, const myth_roles *roles, const char *text, uint32_t n);
void myth_flow_close(myth_flow *f);

/* Reads a function; with is_file, `function` is the root of a file, and what is outside of all functions is read. */
bool myth_flow_read(myth_flow *f, TSNode function, bool is_file);

/* The last line of a node, from 1. A node that ends at the first byte of a line, as a whole file does, ends in the line
 * before. */
static inline uint32_t myth_flow_last_line(TSNode node)
{
    const TSPoint from = ts_node_start_point(node), to = ts_node_end_point(node);
    return to.column == 0 && to.row > from.row ? to.row : to.row + 1;
}

/* Calls `on` for each function of a file that is not inside of another function, in the order of the text. */
bool myth_flow_each(const myth_roles *roles, TSNode root, bool (*on)(void *arg, TSNode function), void *arg);

/* The path that a node names; 0 = none. */
uint32_t myth_flow_path(myth_flow *f, TSNode node);
/* The kind of a node's value; *path gets the path of MYTH_VALUE_PATH, *name the function of MYTH_VALUE_CALL. */
myth_value myth_flow_value(myth_flow *f, TSNode node, uint32_t *path, uint32_t *name);

/* Whether path p is q or a part of q. */
bool myth_flow_is_part(const myth_flow *f, uint32_t p, uint32_t q);
/* Whether control that has passed event a can come to event b, which is later in the text. */
bool myth_flow_reaches(const myth_flow *f, uint32_t a, uint32_t b);
/* Whether a goto between event a and event b jumps back to a label before a, and the path gets a value again between
 * that label and a. */
bool myth_flow_defines_again(const myth_flow *f, uint32_t a, uint32_t b, uint32_t path);
/* Whether two offsets are in different branches of one #if, so that no program has both. */
bool myth_flow_is_alternative(const myth_flow *f, uint32_t a, uint32_t b);
/* Whether scope s is `in` or inside of it. */
bool myth_flow_is_inside(const myth_flow *f, uint32_t s, uint32_t in);
/* Whether the text from offset `from` to offset `to` has a label. Code after a label is also reached by a goto or from
 * inside a macro, so that what was true before the label may not be true after it. */
bool myth_flow_has_label(const myth_flow *f, uint32_t from, uint32_t to);

#endif
