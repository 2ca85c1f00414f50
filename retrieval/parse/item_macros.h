/* item_macros.h - macros that stand among the items of a Rust file and hold items themselves, as in
 * cfg_rt! { pub struct A; }. The grammar sees only tokens between the braces of a macro. Where they are items, the
 * text without `cfg_rt! {` and its closing brace is the same file with these items in it, and a second parse finds
 * them.
 *
 * Round   one look at a tree: macros that were opened and whose inside is no list of items are closed again, the last
 *         ones first, and those seen for the first time are opened. Macros inside of opened ones are seen in the next
 *         round
 * Units   offsets in bytes of the text
 * Owner   whoever holds a myth_item_macros; it has no memory of its own, and zeroed it is ready
 * Stop    asked once every few nodes; when it says so the round ends early, as if nothing had changed
 * Limits  MYTH_ITEM_MACROS of one file and MYTH_ITEM_ROUNDS rounds; what is beyond stays closed
 * Threads one at a time */
#ifndef MYTH_ITEM_MACROS_H
#define MYTH_ITEM_MACROS_H

#include <stdbool.h>
#include <stdint.h>
#include <tree_sitter/api.h>

enum { MYTH_ITEM_MACROS = 128, MYTH_ITEM_ROUNDS = 5 };

typedef struct {
    uint32_t off, open, close; /* its name, its opening and its closing brace */
    bool is_closed;            /* what is inside is no list of items */
} myth_item_macro;

typedef struct {
    myth_item_macro macro[MYTH_ITEM_MACROS];
    uint32_t n, n_old; /* n_old: those that were opened before the last ones */
} myth_item_macros;

/* One round: changes `out`, the text that the tree was made from, to what is to be parsed next; `text` is the file's
 * own. may_open: macros seen for the first time are opened. False: nothing changed, so the tree is the last one. */
bool myth_item_macros_round(myth_item_macros *m, unsigned char *out, const unsigned char *text, TSNode root,
                            bool may_open, bool (*stop)(void *arg), void *arg);

#endif
