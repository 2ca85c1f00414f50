/* facts_span.h - pieces of a file's text, for facts that read what the flow has no path for (facts_bounds.c,
 * facts_input.c, facts_ends.c, facts_sizes.c, facts_readers.c, facts_layout.c). */
#ifndef MYTH_FACTS_SPAN_H
#define MYTH_FACTS_SPAN_H

#include "facts_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <string.h>

enum { MYTH_SPAN_TEXT = 200, MYTH_SPAN_WORD = 64 };

typedef struct {
    const char *p;
    uint32_t n;
} span;

static inline span span_of(const myth_flow *f, uint32_t off, uint32_t end)
{
    return off < end && end <= f->n_text ? (span){f->text + off, end - off} : (span){"", 0};
}

/* Argument i of call e without the parentheses and casts around it; null where the call has no such argument. */
static inline TSNode inner_argument(const myth_facts *k, uint32_t e, uint32_t i)
{
    const TSNode a = myth_facts_argument(k, e, i);
    return is_null(a) ? a : myth_flow_inner(k->flow, a);
}

/* The first bytes of a span, at most `most`: a text that is searched for each event must not be as long as a function,
 * or a file would take quadratic time. */
static inline span begin_of(span s, uint32_t most) { return (span){s.p, s.n < most ? s.n : most}; }

static inline span node_span(const myth_flow *f, TSNode node)
{
    return is_null(node) ? (span){"", 0} : span_of(f, ts_node_start_byte(node), ts_node_end_byte(node));
}

/* Whether a text has the word, and no letter, digit or _ beside it. */
static inline bool has_word(span s, const char *word)
{
    const size_t n = strlen(word);
    for (uint32_t i = 0; n > 0 && i + n <= s.n; i++)
        if (memcmp(s.p + i, word, n) == 0 && (i == 0 || !myth_is_word(s.p[i - 1])) &&
            (i + n == s.n || !myth_is_word(s.p[i + n])))
            return true;
    return false;
}

static inline bool has_text(span s, const char *text)
{
    const size_t n = strlen(text);
    for (const char *p = s.p, *const end = s.p + s.n; p + n <= end; p++) {
        p = memchr(p, text[0], (size_t)(end - p));
        if (!p || p + n > end)
            return false;
        if (memcmp(p, text, n) == 0)
            return true;
    }
    return false;
}

/* Whether a text has one of the texts in a list. */
static inline bool has_one(span s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (has_text(s, list[i]))
            return true;
    return false;
}

/* Copies the word that begins at byte i of a text and returns its length; 0 = no word begins there. */
static inline uint32_t word_at(span s, uint32_t i, char word[MYTH_SPAN_WORD])
{
    uint32_t n = 0;
    if (i > 0 && myth_is_word(s.p[i - 1]))
        return 0;
    while (i + n < s.n && myth_is_word(s.p[i + n]) && n + 1 < MYTH_SPAN_WORD)
        n++;
    memcpy(word, s.p + i, n);
    word[n] = '\0';
    return n > 0 && !isdigit((unsigned char)word[0]) ? n : 0;
}

/* Copies a text without its blanks; the copy is empty when it does not fit. */
static inline void put_tight(char dst[MYTH_SPAN_TEXT], span s)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s.n && n + 1 < MYTH_SPAN_TEXT; i++)
        if (s.p[i] > ' ')
            dst[n++] = s.p[i];
    dst[n + 1 < MYTH_SPAN_TEXT ? n : 0] = '\0';
}

/* Python: whether `as name` follows the call that ends at a byte: with open(path) as name. */
static inline bool named_behind(const myth_flow *f, uint32_t end, char name[MYTH_SPAN_WORD])
{
    const span rest = begin_of(span_of(f, end, f->end), 40);
    return rest.n > 4 && memcmp(rest.p, " as ", 4) == 0 && word_at(rest, 4, name) > 0;
}

static inline const char *last_word(const myth_flow *f, uint32_t path) { return f->names + f->path[path].last; }

/* The variable that a path begins with: p of p->next[3]. */
static inline uint32_t root_of(const myth_flow *f, uint32_t path)
{
    while (path && f->path[path].base)
        path = f->path[path].base;
    return path;
}

/* The text of the value that a definition gives. */
static inline span definition_span(const myth_flow *f, const myth_event *d)
{
    TSNode n = d->node;
    for (int i = 0; i < 4 && !is_null(n); i++, n = ts_node_parent(n))
        if (!is_null(child_of(f, n, MYTH_SLOT_RIGHT)))
            return node_span(f, child_of(f, n, MYTH_SLOT_RIGHT));
    return (span){"", 0};
}

enum { MYTH_CALL_ARGUMENTS = 12 };
/* Finds the next call of a function after byte *at in the text of the whole file; definitions and declarations of it
 * are passed over. *at becomes the place of its arguments, *n their number. It reads the text, not the tree:
 * facts_text.c. */
bool myth_facts_next_call(const myth_flow *f, const char *name, uint32_t *at, span argument[MYTH_CALL_ARGUMENTS],
                          uint32_t *n);
/* `made` splits a parameter at a text: s.split(":"). Whether all calls of this function in the file come after a
 * condition that asks whether the argument contains that text. */
bool myth_facts_is_split_asked(const myth_flow *f, span made);
/* The text between the brackets of an array's declaration in this function: its size, constant or not. */
bool myth_facts_array_size(const myth_flow *f, uint32_t path, span *out);
/* Whether this function declares a variable of that name with a type whose name says that it is unsigned. */
bool myth_facts_is_declared_unsigned(const myth_flow *f, const char *name);
/* Whether a container is a map, to which an unknown key adds an element: by its type, by other calls on it in the file,
 * or because the function looks the same key up in a map. */
bool myth_facts_is_keyed(const myth_facts *k, uint32_t path, uint32_t key);
/* Whether the path is an array that this function declares with a constant size. */
bool myth_facts_is_fixed(const myth_flow *f, uint32_t path);
/* Whether a size is that of the whole array: sizeof(array), or the size in its declaration. */
bool myth_facts_is_whole(const myth_flow *f, uint32_t array, TSNode size);
/* Whether a function of the library reads its argument up to the byte that ends a text. */
bool myth_facts_takes_text(const char *name);

#endif
