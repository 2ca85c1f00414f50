/* json_tree.h - parses a small JSON text into a tree, for texts whose members are written in another order than they
 * came in: tool declarations, conversations.
 *
 * Order    members of an object are sorted by key without regard to ASCII case, equal keys in the order of the text, as
 *          dictsort does in the published chat templates. Items of an array keep their order
 * Limits   MYTH_JSON_TREE_MAX nodes; nesting as json.h
 * Owner    one block of `mem` for nodes and unescaped text; the JSON text is lent until close (literals of numbers lie
 *          in it)
 * Errors   MYTH_EFORMAT "path: offset N: what", a key given twice among them; MYTH_ENOMEM */
#ifndef MYTH_JSON_TREE_H
#define MYTH_JSON_TREE_H

#include "engine/base/json.h"
#include "engine/model/meta.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { MYTH_JSON_TREE_MAX = 1 << 20 };

typedef struct {
    myth_json_type type;
    uint32_t n;           /* members or items */
    uint32_t first, next; /* indices into the tree; 0 = none, since 0 is the root */
    myth_str key, text;   /* unescaped; text: of a string, the literal of a number */
    const char *span;     /* the value as it is written */
    size_t n_span;
} myth_json_node;

typedef struct {
    myth_mem *mem;
    myth_json_node *node;
    uint32_t n;
} myth_json_tree;

myth_status myth_json_tree_open(myth_json_tree *out, myth_mem *mem, const char *text, size_t len, const char *path,
                                myth_error *err);
void myth_json_tree_close(myth_json_tree *t); /* takes a zeroed tree */
/* The first member or item, the one behind n; NULL = none. */
const myth_json_node *myth_json_tree_first(const myth_json_tree *t, const myth_json_node *n);
const myth_json_node *myth_json_tree_next(const myth_json_tree *t, const myth_json_node *n);
/* The value of a key; NULL when n is NULL, no object, or has it not. */
const myth_json_node *myth_json_tree_get(const myth_json_tree *t, const myth_json_node *n, const char *key);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
