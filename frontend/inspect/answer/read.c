/* read.c - see read.h. */
#include "read.h"

#include <string.h>

myth_status myth_read_next(myth_reader *r, myth_json_type want, const char *what)
{
    myth_status st = myth_json_next(&r->j, &r->t, r->err);
    if (st == MYTH_OK && r->t.type != want)
        st = myth_fail(r->err, MYTH_EFORMAT, "answer: offset %llu: expected %s", (unsigned long long)r->t.off, what);
    return st;
}

myth_status myth_read_key(myth_reader *r, const char *name)
{
    myth_status st = myth_read_next(r, MYTH_JSON_KEY, name);
    if (st == MYTH_OK && !myth_json_is(&r->t, name))
        st = myth_fail(r->err, MYTH_EFORMAT, "answer: offset %llu: expected %s", (unsigned long long)r->t.off, name);
    return st;
}

void myth_read_take(myth_reader *r, myth_str *out)
{
    *out = (myth_str){r->room, myth_json_text(r->room, &r->t)};
    r->room += out->len;
}

myth_status myth_read_text(myth_reader *r, const char *name, myth_str *out)
{
    myth_status st = myth_read_key(r, name);
    if (st == MYTH_OK)
        st = myth_read_next(r, MYTH_JSON_STRING, "a string");
    if (st == MYTH_OK)
        myth_read_take(r, out);
    return st;
}

static myth_status number(myth_reader *r, uint32_t *out)
{
    uint64_t v = 0;
    myth_status st = myth_read_next(r, MYTH_JSON_NUMBER, "a line number");
    if (st == MYTH_OK && (!myth_json_u64(&v, &r->t) || v > UINT32_MAX))
        st = myth_fail(r->err, MYTH_EFORMAT, "answer: offset %llu: not a line number", (unsigned long long)r->t.off);
    *out = (uint32_t)v;
    return st;
}

myth_status myth_read_place(myth_reader *r, const myth_block *block, uint32_t n_block, uint32_t *at, uint32_t *first,
                            uint32_t *last)
{
    myth_status st;
    MYTH_TRY(myth_read_key(r, "file"));
    MYTH_TRY(myth_read_next(r, MYTH_JSON_STRING, "a path"));
    const char *path = r->t.span; /* compared in the JSON spelling of the answer */
    const size_t len = r->t.len;
    MYTH_TRY(myth_read_key(r, "lines"));
    MYTH_TRY(myth_read_next(r, MYTH_JSON_ARRAY, "two line numbers"));
    MYTH_TRY(number(r, first));
    MYTH_TRY(number(r, last));
    MYTH_TRY(myth_read_next(r, MYTH_JSON_ARRAY_END, "two line numbers"));
    for (uint32_t i = 0; i < n_block; i++) {
        const myth_block *b = &block[i];
        const int64_t lo = (int64_t)*first + b->skip, hi = (int64_t)*last + b->skip;
        if (b->src->path_len != len || memcmp(b->src->path_text, path, len) != 0 || lo < b->first || hi > b->last ||
            lo > hi)
            continue;
        *at = i;
        *first = (uint32_t)lo;
        *last = (uint32_t)hi;
        return MYTH_OK;
    }
    st = myth_fail(r->err, MYTH_EFORMAT, "answer: lines %u-%u are in no block", *first, *last);
fail:
    return st;
}

myth_status myth_read_context(myth_reader *r, myth_str context[MYTH_CONTEXT_MAX], uint32_t *n_context)
{
    myth_status st;
    MYTH_TRY(myth_read_key(r, "missing_context"));
    MYTH_TRY(myth_read_next(r, MYTH_JSON_ARRAY, "a list"));
    for (;;) {
        MYTH_TRY(myth_json_next(&r->j, &r->t, r->err));
        if (r->t.type == MYTH_JSON_ARRAY_END)
            break;
        if (r->t.type != MYTH_JSON_STRING || *n_context == MYTH_CONTEXT_MAX)
            return myth_fail(r->err, MYTH_EFORMAT, "answer: expected at most %d names", (int)MYTH_CONTEXT_MAX);
        myth_read_take(r, &context[(*n_context)++]);
    }
    MYTH_TRY(myth_read_next(r, MYTH_JSON_OBJECT_END, "the end"));
    MYTH_TRY(myth_read_next(r, MYTH_JSON_END, "nothing after the answer"));
fail:
    return st;
}
