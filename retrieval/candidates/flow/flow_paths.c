/* flow_paths.c - names, paths and values of nodes (flow.h). */
#include "flow_impl.h"

#include "engine/base/array.h"
#include "engine/base/table.h"

#include <stdio.h>
#include <string.h>

/* Functions that measure: their result is a size. */
static const char *const size_name[] = {"strlen", "len", "size", "length", "count", "wcslen", "cap", "strnlen"};

/* ---- names and paths ---- */

uint32_t myth_flow_put_name(myth_flow *f, const char *name, uint32_t n)
{
    const uint32_t at = f->n_names;
    if (!MYTH_ARRAY_MORE(f->mem, MYTH_MEM_OTHER, "names of a flow", &f->names, f->n_names, n + 1, &f->cap_names)) {
        f->is_failed = true;
        return 0;
    }
    memcpy(f->names + at, name, n);
    f->names[at + n] = '\0';
    f->n_names += n + 1;
    return at;
}

typedef struct {
    const char *text;
    uint32_t n;
} piece;

static bool is_path(const void *of, uint32_t i, const void *key)
{
    const myth_flow *f = of;
    const piece *k = key;
    return f->path[i].n == k->n && memcmp(f->names + f->path[i].text, k->text, k->n) == 0;
}

static bool more_slots(myth_flow *f)
{
    const uint32_t n_slot = f->n_slot ? 2 * f->n_slot : 256;
    uint32_t *slot = myth_alloc_n(f->mem, MYTH_MEM_OTHER, "paths of a flow", n_slot, sizeof(*slot));
    if (!slot)
        return false;
    myth_free(f->mem, f->slot);
    f->slot = slot;
    f->n_slot = n_slot;
    for (uint32_t i = 1; i < f->n_path; i++) {
        const piece k = {f->names + f->path[i].text, f->path[i].n};
        *myth_table_find(slot, n_slot, myth_hash_bytes(k.text, k.n), is_path, f, &k) = i + 1;
    }
    return true;
}

/* The path of a text; `base`: the path that it is a part of; `last`: bytes before its last word. */
static uint32_t put_path(myth_flow *f, const char *text, uint32_t n, uint32_t base, uint32_t last)
{
    const piece k = {text, n};
    if (f->is_failed || n == 0 || n > MYTH_FLOW_PATH_BYTES)
        return 0;
    if (f->n_path * 2 >= f->n_slot && !more_slots(f)) {
        f->is_failed = true;
        return 0;
    }
    uint32_t *slot = myth_table_find(f->slot, f->n_slot, myth_hash_bytes(text, n), is_path, f, &k);
    if (*slot)
        return *slot - 1;
    if (!MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "paths of a flow", &f->path, f->n_path, &f->cap_path)) {
        f->is_failed = true;
        return 0;
    }
    const uint32_t name = myth_flow_put_name(f, text, n);
    if (f->is_failed)
        return 0;
    f->path[f->n_path] = (myth_path){.text = name, .n = n, .base = base, .last = name + last};
    *slot = f->n_path + 1;
    return f->n_path++;
}

char myth_flow_first_byte(const myth_flow *f, TSNode node)
{
    const uint32_t off = ts_node_start_byte(node);
    return off < f->n_text ? f->text[off] : '\0';
}

static const char *behind_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

bool myth_flow_is_directive(const char *p, const char *end, const char *word)
{
    const size_t n = strlen(word);
    p = behind_blanks(p, end);
    if (p == end || *p != '#')
        return false;
    p = behind_blanks(p + 1, end);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

bool myth_flow_text_is(const myth_flow *f, TSNode node, const char *want)
{
    const uint32_t off = ts_node_start_byte(node), n = ts_node_end_byte(node) - off;
    return n == strlen(want) && off + n <= f->n_text && memcmp(f->text + off, want, n) == 0;
}

/* What is inside of brackets, casts and waits. */
TSNode myth_flow_inner(const myth_flow *f, TSNode node)
{
    for (int i = 0; i < 32 && !is_null(node); i++) {
        const myth_role role = role_of(f, node);
        TSNode in = {0};
        if (role == MYTH_ROLE_CAST) {
            in = child_of(f, node, MYTH_SLOT_RIGHT);
            if (is_null(in))
                in = child_of(f, node, MYTH_SLOT_BASE);
            if (is_null(in))
                in = ts_node_named_child(node, 0);
        } else if (role == MYTH_ROLE_GROUP) {
            if (ts_node_named_child_count(node) != 1)
                return node;
            in = ts_node_named_child(node, 0);
        }
        if (is_null(in))
            return node;
        node = in;
    }
    return node;
}

/* The text of a path into dst, from its first word on; 0 = it is none. *base_n gets the bytes of the path that it is a
 * part of, *last_at where its last word begins. */
static uint32_t path_text(myth_flow *f, TSNode node, char *dst, uint32_t at, uint32_t *base_n, uint32_t *last_at,
                          int deep)
{
    enum { CAP = MYTH_FLOW_PATH_BYTES };
    node = myth_flow_inner(f, node);
    if (is_null(node) || deep > 12)
        return 0;
    const myth_role role = role_of(f, node);
    const uint32_t off = ts_node_start_byte(node), end = ts_node_end_byte(node);
    if (role == MYTH_ROLE_NAME) {
        if (end - off > CAP - at || end > f->n_text)
            return 0;
        memcpy(dst + at, f->text + off, end - off);
        *base_n = 0;
        *last_at = at;
        return at + end - off;
    }
    const TSNode base = role == MYTH_ROLE_INDEX ? base_of(f, node) : child_of(f, node, MYTH_SLOT_BASE);
    if (is_null(base))
        return 0;
    if (role == MYTH_ROLE_MEMBER) {
        const TSNode field = child_of(f, node, MYTH_SLOT_FIELD);
        const uint32_t n = path_text(f, base, dst, at, base_n, last_at, deep + 1);
        if (n == 0 || is_null(field))
            return 0;
        const uint32_t b = ts_node_start_byte(field), e = ts_node_end_byte(field);
        const bool is_arrow = b >= 2 && f->text[b - 1] == '>' && f->text[b - 2] == '-';
        if (e > f->n_text || e - b + 2 > CAP - n)
            return 0;
        *base_n = n;
        memcpy(dst + n, is_arrow ? "->" : ".", is_arrow ? 2 : 1);
        *last_at = n + (is_arrow ? 2 : 1);
        memcpy(dst + *last_at, f->text + b, e - b);
        return *last_at + e - b;
    }
    if (role == MYTH_ROLE_INDEX) {
        const TSNode index = index_of(f, node);
        uint32_t unused_base, unused_last;
        uint32_t n = path_text(f, base, dst, at, base_n, last_at, deep + 1);
        if (n == 0 || is_null(index) || n + 2 >= CAP)
            return 0;
        const uint32_t before = n, last = *last_at;
        const myth_role index_role = role_of(f, myth_flow_inner(f, index));
        dst[n++] = '[';
        if (index_role == MYTH_ROLE_NUMBER || index_role == MYTH_ROLE_TEXT) {
            const uint32_t b = ts_node_start_byte(index), e = ts_node_end_byte(index);
            if (e > f->n_text || e - b + 1 > CAP - n)
                return 0;
            memcpy(dst + n, f->text + b, e - b);
            n += e - b;
        } else if ((n = path_text(f, index, dst, n, &unused_base, &unused_last, deep + 1)) == 0 || n + 1 > CAP)
            return 0;
        dst[n++] = ']';
        *base_n = before;
        *last_at = last;
        return n;
    }
    if (role == MYTH_ROLE_POINTER && myth_flow_first_byte(f, node) == '*') {
        if (at + 1 >= CAP)
            return 0;
        dst[at] = '*';
        const uint32_t n = path_text(f, base, dst, at + 1, base_n, last_at, deep + 1);
        *base_n = 0; /* its base is found by its text without the star */
        return n;
    }
    return 0;
}

static uint32_t path_of_text(myth_flow *f, const char *text, uint32_t n, uint32_t base_n, uint32_t last_at)
{
    uint32_t base = 0;
    if (n > 1 && text[0] == '*')
        base = path_of_text(f, text + 1, n - 1, 0, last_at ? last_at - 1 : 0);
    else if (base_n > 0 && base_n < n) {
        uint32_t cut = base_n; /* the base's own base: cut at its last part */
        while (cut > 0 && text[cut - 1] != '.' && text[cut - 1] != '>' && text[cut - 1] != '[')
            cut--;
        const uint32_t own = cut == 0 ? 0 : text[cut - 1] == '>' ? cut - 2 : cut - 1;
        base = path_of_text(f, text, base_n, own, text[base_n - 1] == ']' ? 0 : cut);
    }
    return put_path(f, text, n, base, last_at);
}

uint32_t myth_flow_path(myth_flow *f, TSNode node)
{
    char text[MYTH_FLOW_PATH_BYTES + 8];
    uint32_t base_n = 0, last_at = 0;
    const uint32_t n = path_text(f, node, text, 0, &base_n, &last_at, 0);
    return n ? path_of_text(f, text, n, base_n, last_at) : 0;
}

uint32_t myth_flow_path_of_word(myth_flow *f, uint32_t off, uint32_t n) { return put_path(f, f->text + off, n, 0, 0); }

bool myth_flow_is_part(const myth_flow *f, uint32_t p, uint32_t q)
{
    for (int i = 0; p && i < 16; i++, p = f->path[p].base)
        if (p == q)
            return true;
    return false;
}

/* The name of a function that is called: its whole path without blanks, or its last word. */
uint32_t myth_flow_callee_name(myth_flow *f, TSNode call, TSNode callee)
{
    char text[MYTH_FLOW_PATH_BYTES + 8];
    uint32_t base_n = 0, last_at = 0, n;
    if (is_null(callee))
        return 0;
    n = path_text(f, callee, text, 0, &base_n, &last_at, 0);
    if (n == 0) {
        const TSNode field = child_of(f, callee, MYTH_SLOT_FIELD);
        const bool is_method = role_of(f, callee) == MYTH_ROLE_MEMBER && !is_null(field);
        const TSNode last = is_method ? field : callee;
        const uint32_t off = ts_node_start_byte(last), end = ts_node_end_byte(last);
        if (!is_method && ts_node_named_child_count(callee) > 4)
            return 0;
        if (is_method)
            text[n++] = '.'; /* a method of something that has no name */
        for (uint32_t i = off; i < end && i < f->n_text && n < MYTH_FLOW_PATH_BYTES; i++)
            if (f->text[i] > ' ')
                text[n++] = f->text[i];
    }
    const TSNode object = role_of(f, call) == MYTH_ROLE_CALL ? child_of(f, call, MYTH_SLOT_BASE) : (TSNode){0};
    if (!is_null(object) && role_of(f, callee) == MYTH_ROLE_NAME && !ts_node_eq(object, callee)) {
        char whole[2 * MYTH_FLOW_PATH_BYTES + 16];
        char base[MYTH_FLOW_PATH_BYTES + 8];
        const uint32_t m = path_text(f, object, base, 0, &base_n, &last_at, 0);
        const int all = snprintf(whole, sizeof(whole), "%.*s.%.*s", (int)m, base, (int)n, text);
        n = all < MYTH_FLOW_PATH_BYTES ? (uint32_t)all : 0;
        memcpy(text, whole, n);
    }
    return n ? myth_flow_put_name(f, text, n) : 0;
}

bool myth_flow_is_one_of(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

bool myth_flow_has_one_of(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(name, list[i]))
            return true;
    return false;
}

bool myth_flow_begins_with(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

bool myth_flow_is_constant_name(const char *name)
{
    bool has_letter = false;
    for (; *name; name++) {
        if ((*name >= 'a' && *name <= 'z') || *name == '.' || *name == '-')
            return false;
        has_letter |= *name >= 'A' && *name <= 'Z';
    }
    return has_letter;
}

const char *myth_flow_last_word(const char *name)
{
    const char *dot = strrchr(name, '.'), *arrow = strrchr(name, '>'), *colon = strrchr(name, ':');
    const char *last = dot > arrow ? dot : arrow;
    last = colon > last ? colon : last;
    return last ? last + 1 : name;
}

/* ---- values ---- */

bool myth_flow_is_operator(const myth_flow *f, TSNode node, const char *want)
{
    const TSNode op = child_of(f, node, MYTH_SLOT_OPERATOR);
    return !is_null(op) && myth_flow_text_is(f, op, want);
}

/* Whether a text holds something that is not constant: a substitution, an interpolation. */
bool myth_flow_is_filled(TSNode text)
{
    for (uint32_t i = 0; i < ts_node_named_child_count(text) && i < 64; i++) {
        const TSNode part = ts_node_named_child(text, i);
        const char *type = ts_node_type(part);
        if (strcmp(type, "interpolation") == 0 || strcmp(type, "template_substitution") == 0)
            return true;
        if (strcmp(type, "string") == 0 && myth_flow_is_filled(part)) /* Python: "a" f"{b}" */
            return true;
    }
    return false;
}

static bool is_constant(myth_value v) { return v == MYTH_VALUE_NUMBER || v == MYTH_VALUE_TEXT || v == MYTH_VALUE_NULL; }

static myth_value value_of_binary(myth_flow *f, TSNode node, int deep);

static myth_value value_of(myth_flow *f, TSNode node, uint32_t *path, uint32_t *name, int deep)
{
    *path = *name = 0;
    node = myth_flow_inner(f, node);
    if (is_null(node) || deep > 8)
        return MYTH_VALUE_UNKNOWN;
    switch (role_of(f, node)) {
    case MYTH_ROLE_TEXT: return myth_flow_is_filled(node) ? MYTH_VALUE_JOINED : MYTH_VALUE_TEXT;
    case MYTH_ROLE_NUMBER:
    case MYTH_ROLE_CONSTANT: return MYTH_VALUE_NUMBER;
    case MYTH_ROLE_NOTHING: return MYTH_VALUE_NULL;
    case MYTH_ROLE_NEW: return MYTH_VALUE_NEW;
    case MYTH_ROLE_SKIP: return strstr(ts_node_type(node), "sizeof") ? MYTH_VALUE_SIZE : MYTH_VALUE_UNKNOWN;
    case MYTH_ROLE_CALL: {
        *name = myth_flow_callee_name(f, node, child_of(f, node, MYTH_SLOT_CALLEE));
        const char *word = myth_flow_last_word(f->names + *name);
        if (myth_flow_is_one_of(word, size_name, sizeof(size_name) / sizeof(*size_name)))
            return MYTH_VALUE_SIZE;
        return MYTH_VALUE_CALL;
    }
    case MYTH_ROLE_ASSIGN: /* a = b = f() */
        return value_of(f, child_of(f, node, MYTH_SLOT_RIGHT), path, name, deep + 1);
    case MYTH_ROLE_BINARY: return value_of_binary(f, node, deep);
    case MYTH_ROLE_UNARY:
        if (myth_flow_first_byte(f, node) == '-') {
            uint32_t p, n;
            return value_of(f, child_of(f, node, MYTH_SLOT_BASE), &p, &n, deep + 1) == MYTH_VALUE_NUMBER
                     ? MYTH_VALUE_NUMBER
                     : MYTH_VALUE_SUM;
        }
        return MYTH_VALUE_UNKNOWN;
    case MYTH_ROLE_NAME:
        if (myth_flow_text_is(f, node, "NULL") || myth_flow_text_is(f, node, "nullptr"))
            return MYTH_VALUE_NULL;
        *path = myth_flow_path(f, node);
        return MYTH_VALUE_PATH;
    case MYTH_ROLE_INDEX: *path = myth_flow_path(f, node); return MYTH_VALUE_ELEMENT;
    case MYTH_ROLE_MEMBER:
    case MYTH_ROLE_POINTER: *path = myth_flow_path(f, node); return *path ? MYTH_VALUE_PATH : MYTH_VALUE_UNKNOWN;
    default: return MYTH_VALUE_UNKNOWN;
    }
}

static myth_value value_of_binary(myth_flow *f, TSNode node, int deep)
{
    uint32_t path, name;
    const myth_value left = value_of(f, child_of(f, node, MYTH_SLOT_LEFT), &path, &name, deep + 1);
    const myth_value right = value_of(f, child_of(f, node, MYTH_SLOT_RIGHT), &path, &name, deep + 1);
    const TSNode op = child_of(f, node, MYTH_SLOT_OPERATOR);
    const char c = is_null(op) ? '\0' : myth_flow_first_byte(f, op);
    const bool has_text =
        left == MYTH_VALUE_TEXT || right == MYTH_VALUE_TEXT || left == MYTH_VALUE_JOINED || right == MYTH_VALUE_JOINED;
    if (has_text && (c == '+' || c == '%' || c == '.'))
        return is_constant(left) && is_constant(right) ? MYTH_VALUE_TEXT : MYTH_VALUE_JOINED;
    if ((is_constant(left) || left == MYTH_VALUE_SIZE) && (is_constant(right) || right == MYTH_VALUE_SIZE))
        return left == MYTH_VALUE_SIZE || right == MYTH_VALUE_SIZE ? MYTH_VALUE_SIZE : MYTH_VALUE_NUMBER;
    if (c == '*' || (c == '<' && myth_flow_is_operator(f, node, "<<")))
        return MYTH_VALUE_PRODUCT;
    if (left == MYTH_VALUE_PRODUCT || right == MYTH_VALUE_PRODUCT)
        return MYTH_VALUE_PRODUCT;
    return c == '+' || c == '-' ? MYTH_VALUE_SUM : MYTH_VALUE_UNKNOWN;
}

myth_value myth_flow_value(myth_flow *f, TSNode node, uint32_t *path, uint32_t *name)
{
    return value_of(f, node, path, name, 0);
}
