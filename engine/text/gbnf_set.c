/* gbnf_set.c - characters to bytes: a class becomes the byte sequences of its characters, those with the same end
 * sharing it; and which bytes a program tells apart.   Source: RE2, UTF-8 ranges */
#include "gbnf_program.h"

#include "engine/base/array.h"
#include "engine/base/utf8.h"

#include <stdlib.h>

enum { N_HEAD = MYTH_GBNF_RANGES, LAST_CHAR = 0x10ffff, SURROGATE = 0xd800, SURROGATE_END = 0xdfff };

myth_gbnf_added myth_gbnf_add(myth_gbnf *g, myth_gbnf_ins ins, uint32_t *at)
{
    if (g->n_ins >= MYTH_GBNF_SIZE)
        return MYTH_GBNF_TOO_LARGE;
    if (!MYTH_ARRAY_ROOM(g->mem, MYTH_MEM_STAGING, "grammar rules", &g->ins, g->n_ins, &g->cap_ins))
        return MYTH_GBNF_NO_MEMORY;
    *at = (uint32_t)g->n_ins;
    g->ins[g->n_ins++] = ins;
    return MYTH_GBNF_ADDED;
}

/* ---- one class ---- */

/* A class that is being written. Each head is the first byte of characters whose other bytes are read from `next`. */
typedef struct {
    myth_gbnf *g;
    uint32_t from, end; /* instructions of this class begin at from; all characters end at end */
    uint32_t n_head;
    struct {
        myth_gbnf_set set;
        uint32_t next;
    } * head; /* [N_HEAD] */
} writer;

static void fill(myth_gbnf_set *s, unsigned lo, unsigned hi)
{
    for (unsigned b = lo; b <= hi; b++)
        s->bit[b >> 5] |= 1u << (b & 31);
}

static bool has(const myth_gbnf_set *s, unsigned b) { return s->bit[b >> 5] >> (b & 31) & 1; }

/* The instruction that reads a byte of the set, without its next. */
static myth_gbnf_added reading(myth_gbnf *g, const myth_gbnf_set *s, myth_gbnf_ins *out)
{
    unsigned n = 0, only = 0;
    for (unsigned b = 0; b < 256; b++)
        if (has(s, b)) {
            n++;
            only = b;
        }
    *out = (myth_gbnf_ins){.op = MYTH_GBNF_BYTE, .byte = (uint8_t)only};
    if (n == 1)
        return MYTH_GBNF_ADDED;
    size_t i = 0;
    while (i < g->n_set && memcmp(&g->set[i], s, sizeof(*s)) != 0)
        i++;
    if (i == MYTH_GBNF_SETS)
        return MYTH_GBNF_TOO_LARGE;
    if (i == g->n_set) {
        if (!MYTH_ARRAY_ROOM(g->mem, MYTH_MEM_STAGING, "grammar rules", &g->set, g->n_set, &g->cap_set))
            return MYTH_GBNF_NO_MEMORY;
        g->set[g->n_set++] = *s;
    }
    *out = (myth_gbnf_ins){.op = MYTH_GBNF_SET, .idx = (uint16_t)i};
    return MYTH_GBNF_ADDED;
}

/* The instruction that reads lo..hi and goes to next; one that the class already has is taken again. */
static myth_gbnf_added add_tail(writer *w, unsigned lo, unsigned hi, uint32_t *next)
{
    myth_gbnf_set s = {{0}};
    myth_gbnf_ins ins;
    fill(&s, lo, hi);
    const myth_gbnf_added a = reading(w->g, &s, &ins);
    if (a != MYTH_GBNF_ADDED)
        return a;
    ins.next = *next;
    for (uint32_t i = w->from; i < w->g->n_ins; i++) {
        const myth_gbnf_ins *have = &w->g->ins[i];
        if (have->op == ins.op && have->byte == ins.byte && have->idx == ins.idx && have->next == ins.next) {
            *next = i;
            return MYTH_GBNF_ADDED;
        }
    }
    return myth_gbnf_add(w->g, ins, next);
}

static myth_gbnf_added add_head(writer *w, unsigned lo, unsigned hi, uint32_t next)
{
    uint32_t i = 0;
    while (i < w->n_head && w->head[i].next != next)
        i++;
    if (i == N_HEAD)
        return MYTH_GBNF_TOO_LARGE;
    if (i == w->n_head)
        w->head[w->n_head++].next = next;
    fill(&w->head[i].set, lo, hi);
    return MYTH_GBNF_ADDED;
}

/* Characters lo..hi, all of n_more bytes behind the first. Cuts the range until every byte of it goes from that of lo
 * to that of hi, whatever the others are. */
static myth_gbnf_added add_range(writer *w, uint32_t lo, uint32_t hi, int n_more)
{
    for (int i = 1; i <= n_more; i++) {
        const uint32_t low = (1u << 6 * i) - 1;
        if ((lo & ~low) == (hi & ~low))
            continue;
        const uint32_t cut = (lo & low) != 0 ? lo | low : (hi & low) != low ? (hi & ~low) - 1 : hi;
        if (cut == hi)
            continue;
        const myth_gbnf_added a = add_range(w, lo, cut, n_more);
        return a != MYTH_GBNF_ADDED ? a : add_range(w, cut + 1, hi, n_more);
    }
    unsigned char first[4] = {0}, last[4] = {0};
    uint32_t next = w->end;
    myth_utf8_encode((char *)first, lo);
    myth_utf8_encode((char *)last, hi);
    for (int i = n_more; i > 0; i--) {
        const myth_gbnf_added a = add_tail(w, first[i], last[i], &next);
        if (a != MYTH_GBNF_ADDED)
            return a;
    }
    return add_head(w, first[0], last[0], next);
}

static myth_gbnf_added add_chars(writer *w, uint32_t lo, uint32_t hi)
{
    static const struct {
        uint32_t lo, hi;
        int n_more;
    } form[] = {{0, 0x7f, 0},
                {0x80, 0x7ff, 1},
                {0x800, SURROGATE - 1, 2},
                {SURROGATE_END + 1, 0xffff, 2},
                {0x10000, LAST_CHAR, 3}};
    for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
        const uint32_t a = lo > form[i].lo ? lo : form[i].lo, b = hi < form[i].hi ? hi : form[i].hi;
        if (a > b)
            continue;
        const myth_gbnf_added added = add_range(w, a, b, form[i].n_more);
        if (added != MYTH_GBNF_ADDED)
            return added;
    }
    return MYTH_GBNF_ADDED;
}

static int by_lo(const void *a, const void *b)
{
    const myth_gbnf_range *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

/* A choice between the heads, the last of which needs no split. */
static myth_gbnf_added add_choice(writer *w, uint32_t *first)
{
    for (uint32_t i = w->n_head; i-- > 0;) {
        myth_gbnf_ins ins;
        uint32_t at;
        myth_gbnf_added a = reading(w->g, &w->head[i].set, &ins);
        ins.next = w->head[i].next;
        if (a == MYTH_GBNF_ADDED)
            a = myth_gbnf_add(w->g, ins, &at);
        if (a == MYTH_GBNF_ADDED && i + 1 < w->n_head)
            a = myth_gbnf_add(w->g, (myth_gbnf_ins){.op = MYTH_GBNF_SPLIT, .next = at, .other = *first}, &at);
        if (a != MYTH_GBNF_ADDED)
            return a;
        *first = at;
    }
    return MYTH_GBNF_ADDED;
}

myth_gbnf_added myth_gbnf_add_class(myth_gbnf *g, myth_gbnf_range *range, size_t n, bool is_negated, bool *is_empty,
                                    myth_gbnf_part *out)
{
    writer w = {.g = g};
    uint32_t free_from = 0; /* no character before it is in a range that was seen */
    if (n)
        qsort(range, n, sizeof(*range), by_lo);
    w.head = myth_alloc_n(g->mem, MYTH_MEM_STAGING, "grammar rules", N_HEAD, sizeof(*w.head));
    if (!w.head)
        return MYTH_GBNF_NO_MEMORY;
    myth_gbnf_added a = myth_gbnf_add(g, (myth_gbnf_ins){.op = MYTH_GBNF_JOIN}, &w.end);
    w.from = (uint32_t)g->n_ins;
    for (size_t i = 0; i < n && a == MYTH_GBNF_ADDED; i++) {
        const uint32_t lo = range[i].lo > free_from ? range[i].lo : free_from;
        if (is_negated && lo > free_from)
            a = add_chars(&w, free_from, lo - 1);
        else if (!is_negated && range[i].hi >= lo)
            a = add_chars(&w, lo, range[i].hi);
        free_from = range[i].hi + 1 > free_from ? range[i].hi + 1 : free_from;
    }
    if (a == MYTH_GBNF_ADDED && is_negated && free_from <= LAST_CHAR)
        a = add_chars(&w, free_from, LAST_CHAR);
    *is_empty = w.n_head == 0;
    out->last = w.end;
    if (a == MYTH_GBNF_ADDED)
        a = add_choice(&w, &out->first);
    myth_free(g->mem, w.head);
    return a;
}

/* ---- bytes ---- */

/* Parts the bytes of a class that are in the set from those that are not. */
static void part(myth_gbnf *g, const myth_gbnf_set *s)
{
    uint32_t moved[256] = {0}; /* the class that those in the set get, + 1 */
    bool has_other[256] = {false};
    for (unsigned b = 0; b < 256; b++)
        has_other[g->class_of[b]] |= !has(s, b);
    for (unsigned b = 0; b < 256; b++) {
        const unsigned c = g->class_of[b];
        if (!has(s, b) || !has_other[c])
            continue;
        if (!moved[c])
            moved[c] = ++g->n_class;
        g->class_of[b] = (uint8_t)(moved[c] - 1);
    }
}

void myth_gbnf_classify(myth_gbnf *g)
{
    bool is_seen[256] = {false};
    memset(g->class_of, 0, sizeof(g->class_of));
    g->n_class = 1;
    for (size_t i = 0; i < g->n_set; i++)
        part(g, &g->set[i]);
    for (size_t i = 0; i < g->n_ins; i++) {
        myth_gbnf_set one = {{0}};
        if (g->ins[i].op != MYTH_GBNF_BYTE || is_seen[g->ins[i].byte])
            continue;
        is_seen[g->ins[i].byte] = true;
        fill(&one, g->ins[i].byte, g->ins[i].byte);
        part(g, &one);
    }
    for (unsigned b = 0; b < 256; b++)
        g->byte_of[g->class_of[b]] = (uint8_t)b;
}
