/* habits.h - what habits.c and the files beside it share. A habit is a form of code that is nearly always a mistake in
 * its language; the files find such forms in the syntax tree. */
#ifndef MYTH_HABITS_H
#define MYTH_HABITS_H

#include "retrieval/candidates/facts/facts_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include <string.h>

/* In the order of the fact's values. */
typedef enum {
    MYTH_HABIT_NONE,
    MYTH_HABIT_AWAIT_TESTED,    /* if (isOpen()) of an async isOpen */
    MYTH_HABIT_AWAIT_USED,      /* load().size */
    MYTH_HABIT_AWAIT_DROPPED,   /* save(); */
    MYTH_HABIT_AWAIT_EACH,      /* xs.forEach(async x => ...) */
    MYTH_HABIT_AWAIT_CLOSED,    /* try { return load(file); } finally { file.close(); } */
    MYTH_HABIT_AWAIT_CAUGHT,    /* try { return load(); } catch ... */
    MYTH_HABIT_LOOP_CHANGE,     /* for x in xs: xs.remove(x) */
    MYTH_HABIT_LOOP_ERASE,      /* for (...; ++i) xs.erase(i); */
    MYTH_HABIT_DEFAULT_CHANGED, /* def f(x=[]): x.append(1) */
    MYTH_HABIT_DEFAULT_KEPT,    /* def f(self, x=[]): self.x = x */
    MYTH_HABIT_RUNS_ON,         /* a case that runs on into the next one */
    MYTH_HABIT_SECONDS,         /* (a - b).seconds */
    MYTH_HABIT_SORT,            /* [2, 10].sort() */
    MYTH_HABIT_PARSE,           /* xs.map(parseInt) */
    MYTH_HABIT_NAN,             /* x == NaN */
    MYTH_HABIT_BOXED,           /* a == b of texts or of numbers that are objects */
    MYTH_HABIT_LITERAL,         /* x is 5 */
    MYTH_HABIT_DROPPED,         /* s.strip(), and nothing is done with the result */
    MYTH_HABIT_ERROR,           /* ValueError('...'), without raise */
    MYTH_HABIT_PATTERN,         /* PATTERN.search(s)[1] */
    MYTH_HABIT_UNLOCK,          /* lock.acquire(); work(); lock.release() */
    MYTH_HABIT_ONE_WAY,         /* lock(a); if (b) return; unlock(a); */
} myth_habit;

/* In the order of the values of the fact `misuse`: something that is shared without a lock, lost on a way out, or used
 * after its end. The event's `how` is MYTH_MISUSE_FIRST plus this. */
typedef enum {
    MYTH_MISUSE_NONE,
    MYTH_MISUSE_UNLOCKED, /* a member that others use under a lock */
    MYTH_MISUSE_ROUTINE,  /* for ... { go func() { m[k] = v }() } */
    MYTH_MISUSE_FORMAT,   /* static final SimpleDateFormat F = ... */
    MYTH_MISUSE_WAY,      /* if (a) return; b(); lock.release() of Python */
    MYTH_MISUSE_LOST,     /* f = open(); if (bad) raise; return File(f) */
    MYTH_MISUSE_CLOSED,   /* f = open(); if (bad) return; f.close() */
    MYTH_MISUSE_BODY,     /* r = http.Get(); return r.StatusCode */
    MYTH_MISUSE_STREAM,   /* Files.list(d).toList() */
    MYTH_MISUSE_CLIENT,   /* async with pool.acquire() as c: c.execute(...) */
    MYTH_MISUSE_FUTURE,   /* let _ = self.save(); of an async save */
    MYTH_MISUSE_SHADOWED, /* for { x, err := f(); if err != nil { break } } if err != nil ... */
    MYTH_MISUSE_VIEW,     /* string s; return string_view of it */
    MYTH_MISUSE_ELEMENT,  /* T &e = v[i]; v.push_back(...); e.x */
} myth_misuse;

enum { MYTH_HABIT_TEXT = 96 };

static inline bool is_type(TSNode node, const char *type)
{
    return !is_null(node) && strcmp(ts_node_type(node), type) == 0;
}
static inline bool is_call(TSNode n)
{
    return is_type(n, "call") || is_type(n, "call_expression") || is_type(n, "method_invocation");
}
static inline TSNode field_of(TSNode node, const char *name)
{
    return is_null(node) ? node : ts_node_child_by_field_name(node, name, (uint32_t)strlen(name));
}
/* Whether the node has exactly this text. */
static inline bool is_named(const myth_flow *f, TSNode node, const char *name)
{
    return !is_null(node) && myth_flow_text_is(f, node, name);
}
static inline uint32_t line_of(TSNode node) { return ts_node_start_point(node).row + 1; }

/* ---- habits.c ---- */

static inline void myth_habit_put(myth_flow *f, myth_habit how, TSNode at, TSNode about, uint32_t line)
{
    myth_flow_put_form(f, MYTH_EVENT_HABIT, how, at, about, line);
}
/* Copies a node's text without its blanks; false = there is no node, or its text is too long. */
bool myth_habit_text(const myth_flow *f, TSNode node, char *dst, size_t cap);
/* Whether a node's text has the word. */
bool myth_habit_has_word(const myth_flow *f, TSNode node, const char *word);
/* Whether the bytes [from, end) contain a text, also as a part of a longer word. */
bool myth_habit_has_text(const myth_flow *f, uint32_t from, uint32_t end, const char *text);
/* The marks (myth_mark) of a name: the last word of a path. For Java, "name()" asks for a method's result and "name."
 * for a field. */
uint32_t myth_habit_marks(const char *name);
/* The language of the file that is read, by its grammar. */
bool myth_habit_is_python(void);
bool myth_habit_is_java(void);
bool myth_habit_is_go(void);
bool myth_habit_is_script(void); /* JavaScript and TypeScript */
/* Returns the receiver of a call (null when it is no call of a method), and gives the method's name and its
 * arguments. */
TSNode myth_habit_receiver(TSNode call, TSNode *method, TSNode *arguments);
/* The innermost function around a node; if there is none inside of it, the function that is read. */
TSNode myth_habit_function(const myth_flow *f, const myth_around *around);
bool myth_habit_is_async(TSNode function);

static inline void myth_misuse_put(myth_flow *f, myth_misuse how, TSNode at, TSNode about, uint32_t line)
{
    myth_habit_put(f, (myth_habit)(MYTH_MISUSE_FIRST + how), at, about, line);
}

/* ---- habits_shared.c ---- */

/* Reads the file once, before its functions. */
void myth_habit_shared_file(const myth_roles *roles, const char *text, uint32_t n, TSNode root, bool is_cpp);
/* Adds what was found in a function. */
void myth_habit_shared(myth_flow *f);

/* ---- habits_lost.c ---- */

void myth_habit_lost(myth_flow *f, TSNode node, const myth_around *around, bool is_cpp, bool is_rust);

/* ---- habits_gone.c ---- */

void myth_habit_view(myth_flow *f, TSNode node, const myth_around *around);
void myth_habit_element(myth_flow *f, TSNode block);

/* ---- habits_*.c: what each kind of node may be ---- */

void myth_habit_await_call(myth_flow *f, TSNode call, const myth_around *around);
void myth_habit_await_return(myth_flow *f, TSNode node, const myth_around *around);
void myth_habit_loop(myth_flow *f, TSNode loop);
void myth_habit_switch(myth_flow *f, TSNode node);
void myth_habit_default(myth_flow *f, TSNode function);
void myth_habit_locked(myth_flow *f, TSNode block);
void myth_habit_call(myth_flow *f, TSNode call, const myth_around *around);
void myth_habit_member(myth_flow *f, TSNode node);
void myth_habit_binary(myth_flow *f, TSNode node, const myth_around *around);

#endif
