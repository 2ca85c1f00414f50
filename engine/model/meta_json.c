/* meta_json.c - the facts of a JSON file: nested objects become dotted keys, arrays of scalars become arrays.
 *
 *   { "a": 1, "b": { "c": [1, 2] }, "d": [{}] }   ->   a = 1   b.c = [1, 2]   d = array without elements
 *
 * One walk serves both passes: without a table it counts, with one it fills. Key text is copied, string values too
 * (unescaped). */
#include "engine/base/bytes.h"
#include "engine/base/json.h"
#include "meta.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    myth_json json;
    const char *path;
    myth_meta_size *size; /* counting, or */
    myth_meta *meta;      /* filling      */
    char key[MYTH_META_KEY_MAX];
    size_t key_len;
} walk;

static myth_status too_large(walk *w, myth_error *err)
{
    return myth_fail(err, MYTH_EFORMAT, "%s: more keys and text than %d bytes can hold", w->path, MYTH_META_JSON_MAX);
}

/* Counts or takes room for n bytes (rounded to 8, as myth_meta_take aligns). */
static myth_status room(walk *w, void **out, uint64_t n, myth_error *err)
{
    uint64_t cost, sum;
    if (!w->size) {
        *out = myth_meta_take(w->meta, n);
        return *out ? MYTH_OK : too_large(w, err);
    }
    *out = NULL;
    if (!myth_align_u64(&cost, n, 8) || !myth_add_u64(&sum, w->size->n_byte, cost) || sum > 8u * MYTH_META_JSON_MAX)
        return too_large(w, err);
    w->size->n_byte = sum;
    return MYTH_OK;
}

/* A scalar token into v; strings are copied. */
static myth_status scalar(walk *w, myth_meta_value *v, const myth_json_token *tok, myth_error *err)
{
    void *p;
    myth_status st;
    switch (tok->type) {
    case MYTH_JSON_TRUE:
    case MYTH_JSON_FALSE:
        v->type = MYTH_META_BOOL;
        v->v.b = tok->type == MYTH_JSON_TRUE;
        return MYTH_OK;
    case MYTH_JSON_NUMBER:
        v->type = MYTH_META_INT;
        if (myth_json_i64(&v->v.i, tok))
            return MYTH_OK;
        v->type = MYTH_META_UINT;
        if (myth_json_u64(&v->v.u, tok))
            return MYTH_OK;
        v->type = MYTH_META_FLOAT;
        if (myth_json_f64(&v->v.f, tok))
            return MYTH_OK;
        return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: number out of range", w->path,
                         (unsigned long long)tok->off);
    case MYTH_JSON_STRING:
        st = room(w, &p, tok->len, err);
        v->type = MYTH_META_STRING;
        if (st == MYTH_OK && p)
            v->v.s = (myth_str){p, myth_json_text(p, tok)};
        return st;
    default: v->type = MYTH_META_NULL; return MYTH_OK;
    }
}

static myth_status put(walk *w, myth_meta_value *v, const myth_json_token *tok, myth_error *err)
{
    void *p;
    myth_status st = room(w, &p, w->key_len, err);
    if (st != MYTH_OK)
        return st;
    if (w->size) {
        if (++w->size->n_value > MYTH_META_MAX)
            return too_large(w, err);
        return MYTH_OK;
    }
    memcpy(p, w->key, w->key_len);
    v->key = (myth_str){p, w->key_len};
    if (!myth_meta_add(w->meta, v))
        return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: key \"%.*s\" appears twice", w->path,
                         (unsigned long long)tok->off, (int)w->key_len, w->key);
    return MYTH_OK;
}

/* Looks ahead over the array that starts after `tok`: how many elements, all scalars? */
static myth_status look(const walk *w, uint64_t *n, bool *is_flat, myth_error *err)
{
    myth_json ahead = w->json;
    myth_json_token tok;
    *n = 0;
    *is_flat = true;
    for (int depth = 1; depth > 0;) {
        myth_status st = myth_json_next(&ahead, &tok, err);
        if (st != MYTH_OK)
            return st;
        bool opens = tok.type == MYTH_JSON_OBJECT || tok.type == MYTH_JSON_ARRAY;
        bool closes = tok.type == MYTH_JSON_OBJECT_END || tok.type == MYTH_JSON_ARRAY_END;
        *n += depth == 1 && !closes;
        *is_flat = *is_flat && !opens;
        depth += (int)opens - (int)closes;
    }
    return MYTH_OK;
}

static myth_status array(walk *w, const myth_json_token *open, myth_error *err)
{
    myth_meta_value v = {.type = MYTH_META_ARRAY, .elem = MYTH_META_NULL}, *items = NULL;
    myth_json_token tok;
    bool is_flat;
    void *p;
    uint64_t bytes;
    myth_status st = look(w, &v.count, &is_flat, err);
    if (st != MYTH_OK)
        return st;
    if (is_flat && v.count) {
        if (!myth_mul_u64(&bytes, v.count, sizeof(myth_meta_value)))
            return too_large(w, err);
        if ((st = room(w, &p, bytes, err)) != MYTH_OK)
            return st;
        items = p;
        v.items = items;
    }
    for (uint64_t i = 0; i < v.count; i++) {
        if (!is_flat) {
            st = myth_json_skip(&w->json, err);
        } else if ((st = myth_json_next(&w->json, &tok, err)) == MYTH_OK) {
            myth_meta_value item = {0};
            st = scalar(w, &item, &tok, err);
            if (items)
                items[i] = item;
            v.elem = i == 0 || v.elem == item.type ? item.type : MYTH_META_NULL;
        }
        if (st != MYTH_OK)
            return st;
    }
    if ((st = myth_json_next(&w->json, &tok, err)) != MYTH_OK) /* the closing bracket */
        return st;
    return put(w, &v, open, err);
}

/* Appends ".name" to the path of keys. */
static myth_status enter(walk *w, const myth_json_token *tok, size_t stem, myth_error *err)
{
    if (tok->len > sizeof(w->key) - stem)
        return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: key longer than %d bytes", w->path,
                         (unsigned long long)tok->off, MYTH_META_KEY_MAX);
    w->key_len = stem + myth_json_text(w->key + stem, tok);
    return MYTH_OK;
}

static myth_status walk_file(walk *w, const void *json, uint64_t len, const char *prefix, myth_error *err)
{
    size_t stem[MYTH_JSON_DEPTH + 1] = {strlen(prefix)};
    int depth = 0;
    myth_json_token tok;
    myth_status st;
    if (len > MYTH_META_JSON_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%s: %llu bytes, at most %d", w->path, (unsigned long long)len,
                         MYTH_META_JSON_MAX);
    memcpy(w->key, prefix, stem[0]);
    myth_json_start(&w->json, json, len, w->path);
    if ((st = myth_json_next(&w->json, &tok, err)) != MYTH_OK)
        return st;
    if (tok.type != MYTH_JSON_OBJECT)
        return myth_fail(err, MYTH_EFORMAT, "%s: offset 0: got another value, expected an object", w->path);
    for (;;) {
        if ((st = myth_json_next(&w->json, &tok, err)) != MYTH_OK || tok.type == MYTH_JSON_END)
            return st;
        if (tok.type == MYTH_JSON_OBJECT_END) {
            depth--;
            continue;
        }
        if ((st = enter(w, &tok, stem[depth], err)) != MYTH_OK || (st = myth_json_next(&w->json, &tok, err)) != MYTH_OK)
            return st;
        if (tok.type == MYTH_JSON_OBJECT) {
            if (w->key_len == sizeof(w->key))
                return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: key too long", w->path,
                                 (unsigned long long)tok.off);
            if ((st = put(w, &(myth_meta_value){.type = MYTH_META_OBJECT}, &tok, err)) != MYTH_OK)
                return st;
            w->key[w->key_len++] = '.';
            stem[++depth] = w->key_len;
        } else if (tok.type == MYTH_JSON_ARRAY) {
            st = array(w, &tok, err);
        } else {
            myth_meta_value v = {0};
            st = scalar(w, &v, &tok, err);
            if (st == MYTH_OK)
                st = put(w, &v, &tok, err);
        }
        if (st != MYTH_OK)
            return st;
    }
}

myth_status myth_meta_json_measure(myth_meta_size *size, const void *json, uint64_t len, const char *path,
                                   const char *prefix, myth_error *err)
{
    walk w = {.path = path, .size = size};
    return walk_file(&w, json, len, prefix, err);
}

myth_status myth_meta_json_add(myth_meta *m, const void *json, uint64_t len, const char *path, const char *prefix,
                               myth_error *err)
{
    walk w = {.path = path, .meta = m};
    return walk_file(&w, json, len, prefix, err);
}
