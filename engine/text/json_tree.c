/* json_tree.c - counts the nodes, takes one block, reads again into it, sorts every object's members. */
#include "json_tree.h"

#include <string.h>

static myth_status count(uint32_t *n, const char *text, size_t len, const char *path, myth_error *err)
{
    myth_json j;
    myth_json_token tok;
    myth_status st;
    *n = 0;
    myth_json_start(&j, text, len, path);
    do {
        st = myth_json_next(&j, &tok, err);
        if (st != MYTH_OK)
            return st;
        *n += tok.type != MYTH_JSON_END && tok.type != MYTH_JSON_KEY && tok.type != MYTH_JSON_OBJECT_END &&
              tok.type != MYTH_JSON_ARRAY_END;
        if (*n > MYTH_JSON_TREE_MAX)
            return myth_json_fail(&j, &tok, err, "more than 1048576 values");
    } while (tok.type != MYTH_JSON_END);
    return MYTH_OK;
}

/* ---- order of members ---- */

static unsigned char lower(char c) { return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c); }

static int compare(myth_str a, myth_str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++)
        if (lower(a.text[i]) != lower(b.text[i]))
            return lower(a.text[i]) < lower(b.text[i]) ? -1 : 1;
    return a.len == b.len ? 0 : a.len < b.len ? -1 : 1;
}

static uint32_t merge(myth_json_node *node, uint32_t a, uint32_t b)
{
    uint32_t head = 0, *link = &head;
    while (a && b) {
        uint32_t *least = compare(node[b].key, node[a].key) < 0 ? &b : &a;
        *link = *least;
        link = &node[*least].next;
        *least = *link;
    }
    *link = a ? a : b;
    return head;
}

/* The first n of a list, in order; what is behind them stays in *rest. */
static uint32_t sort(myth_json_node *node, uint32_t at, uint32_t n, uint32_t *rest)
{
    if (n == 1) {
        *rest = node[at].next;
        node[at].next = 0;
        return at;
    }
    uint32_t behind, a = sort(node, at, n / 2, &behind), b = sort(node, behind, n - n / 2, rest);
    return merge(node, a, b);
}

/* Equal keys are neighbours among those that differ in case alone. */
static bool has_twice(const myth_json_node *node, uint32_t at)
{
    for (; at; at = node[at].next)
        for (uint32_t k = node[at].next; k && compare(node[at].key, node[k].key) == 0; k = node[k].next)
            if (memcmp(node[at].key.text, node[k].key.text, node[k].key.len) == 0)
                return true;
    return false;
}

/* ---- reading ---- */

typedef struct {
    uint32_t node, last; /* an open container and its last child */
} level;

static myth_status fill(myth_json_tree *t, char *space, const char *text, size_t len, const char *path, myth_error *err)
{
    level open[MYTH_JSON_DEPTH + 1];
    int depth = 0;
    myth_json j;
    myth_json_token tok;
    myth_str key = {"", 0};
    uint32_t rest;
    myth_json_start(&j, text, len, path);
    for (;;) {
        myth_status st = myth_json_next(&j, &tok, err);
        if (st != MYTH_OK)
            return st;
        if (tok.type == MYTH_JSON_END)
            return MYTH_OK;
        if (tok.type == MYTH_JSON_KEY) {
            key = (myth_str){space, myth_json_text(space, &tok)};
            space += key.len;
            continue;
        }
        if (tok.type == MYTH_JSON_OBJECT_END || tok.type == MYTH_JSON_ARRAY_END) {
            myth_json_node *n = &t->node[open[--depth].node];
            n->n_span = (size_t)(text + j.pos - n->span);
            if (tok.type == MYTH_JSON_OBJECT_END && n->n) {
                n->first = sort(t->node, n->first, n->n, &rest);
                if (has_twice(t->node, n->first))
                    return myth_json_fail(&j, &tok, err, "an object with a key given twice");
            }
            continue;
        }
        const uint32_t at = t->n++;
        myth_json_node *n = &t->node[at];
        *n = (myth_json_node){.type = tok.type, .key = key, .text = {"", 0}, .span = text + tok.off};
        n->n_span = (size_t)(text + j.pos - n->span);
        key = (myth_str){"", 0};
        if (depth) {
            level *up = &open[depth - 1];
            if (up->last)
                t->node[up->last].next = at;
            else
                t->node[up->node].first = at;
            up->last = at;
            t->node[up->node].n++;
        }
        if (tok.type == MYTH_JSON_STRING) {
            n->text = (myth_str){space, myth_json_text(space, &tok)};
            space += n->text.len;
        } else if (tok.type == MYTH_JSON_NUMBER) {
            n->text = (myth_str){tok.span, tok.len};
        } else if (tok.type == MYTH_JSON_OBJECT || tok.type == MYTH_JSON_ARRAY) {
            open[depth++] = (level){at, 0};
        }
    }
}

myth_status myth_json_tree_open(myth_json_tree *out, myth_mem *mem, const char *text, size_t len, const char *path,
                                myth_error *err)
{
    uint32_t n = 0;
    *out = (myth_json_tree){.mem = mem};
    myth_status st = count(&n, text, len, path, err);
    if (st != MYTH_OK)
        return st;
    const size_t at_text = (size_t)n * sizeof(*out->node);
    out->node = myth_alloc(mem, MYTH_MEM_STAGING, "json", at_text + len); /* unescaping never grows */
    if (!out->node)
        return myth_fail(err, MYTH_ENOMEM, "%s: %zu bytes", path, at_text + len);
    st = fill(out, (char *)out->node + at_text, text, len, path, err);
    if (st != MYTH_OK)
        myth_json_tree_close(out);
    return st;
}

void myth_json_tree_close(myth_json_tree *t)
{
    if (t->node)
        myth_free(t->mem, t->node);
    *t = (myth_json_tree){0};
}

const myth_json_node *myth_json_tree_first(const myth_json_tree *t, const myth_json_node *n)
{
    return n->first ? &t->node[n->first] : NULL;
}
const myth_json_node *myth_json_tree_next(const myth_json_tree *t, const myth_json_node *n)
{
    return n->next ? &t->node[n->next] : NULL;
}

const myth_json_node *myth_json_tree_get(const myth_json_tree *t, const myth_json_node *n, const char *key)
{
    const size_t len = strlen(key);
    if (!n || n->type != MYTH_JSON_OBJECT)
        return NULL;
    for (n = myth_json_tree_first(t, n); n; n = myth_json_tree_next(t, n))
        if (n->key.len == len && memcmp(n->key.text, key, len) == 0)
            return n;
    return NULL;
}
