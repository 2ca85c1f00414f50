/* shown.h - what shown.c and shown_loop.c share: faults that the text of one function shows, whatever its callers do.
 * See shown.c. */
#ifndef MYTH_SHOWN_H
#define MYTH_SHOWN_H

#include "habits.h"

/* In the order of the values of the fact `shown`. An event's `how` has MYTH_SHOWN_FIRST added. */
typedef enum {
    MYTH_SHOWN_NONE,
    MYTH_SHOWN_STEP,     /* for (p = head; p; p = p->next) free(p); */
    MYTH_SHOWN_BEHIND,   /* int a[N]; for (i = 0; i <= N; i++) a[i] = 0; */
    MYTH_SHOWN_LOCAL,    /* char text[9]; return text; */
    MYTH_SHOWN_ADDED,    /* int sum; sum += n; */
    MYTH_SHOWN_BARE,     /* p = malloc(strlen(s)); strcpy(p, s); */
    MYTH_SHOWN_LINE,     /* gets(line) */
    MYTH_SHOWN_NAMED,    /* mktemp(): a name for a file that somebody else may make first */
    MYTH_SHOWN_NULL,     /* if (p == NULL) return p->n; */
    MYTH_SHOWN_NIL_MAP,  /* var m map[string]int; m["a"] = 1 */
    MYTH_SHOWN_DEFERRED, /* f, err := os.Open(name); defer f.Close(); if err != nil ... */
    MYTH_SHOWN_AGAIN,    /* if (bad) { free(p); } free(p); */
    MYTH_SHOWN_FREED,    /* if (bad) { free(p); } p->n = 0; */
    MYTH_SHOWN_DELETE,   /* p = new int[9]; delete p; */
    MYTH_SHOWN_PAGE,     /* e.innerHTML = location.hash */
} myth_shown;

enum { MYTH_SHOWN_DEEP = 120 };

static inline void myth_shown_put(myth_flow *f, myth_shown how, TSNode at, TSNode about, uint32_t line)
{
    myth_flow_put_form(f, MYTH_EVENT_HABIT, MYTH_SHOWN_FIRST + (int)how, at, about, line);
}

/* A mention of a name, with the nodes around it. */
typedef struct {
    TSNode node, up, above; /* null = there is none */
} myth_mention;

/* The first mention of a variable in a node, in the order of the text, from byte `from` on; false = there is none. */
bool myth_shown_mention(const myth_flow *f, TSNode in, const char *name, uint32_t from, myth_mention *out);
/* Whether a node is a statement that leaves, or a call that ends the process. */
bool myth_shown_leaves(const myth_flow *f, TSNode statement);
/* The argument of a statement that releases one variable: free(p); or delete p; - null where it does something else. */
TSNode myth_shown_released(const myth_flow *f, TSNode statement);

/* ---- shown_loop.c ---- */

/* Looks at a loop; `root` is the whole file's, for the declarations of arrays. */
void myth_shown_loop(myth_flow *f, TSNode loop, TSNode root);

#endif
