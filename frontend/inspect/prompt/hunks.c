/* hunks.c - see hunks.h. */
#include "hunks.h"

#include <stdlib.h>

enum { BYTES_OF_LINE = 80 };

static const uint32_t levels[] = {1 << 20, 512, 128, 32, MYTH_HUNK_LEAST};
enum { N_LEVEL = sizeof(levels) / sizeof(levels[0]) };

typedef struct {
    myth_hunks *out;
    const myth_material *m;
    const myth_hunk *place;
    uint32_t n;
    const bool *is_taken; /* [n]; NULL = all are */
} packing;

/* A place in the order in which places are taken when not all fit. */
typedef struct {
    uint32_t idx, nth; /* nth: which one of its file */
} turn;

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The lines of its piece that a place shows. */
static void lines_of(const packing *p, const myth_hunk *h, uint32_t most, uint32_t *first, uint32_t *last)
{
    const myth_piece *piece = myth_material_piece(p->m, h->piece);
    const uint32_t n = min_u32(h->last + 1 - h->first, most);
    const uint32_t from = h->first > MYTH_HUNK_BESIDE ? h->first - MYTH_HUNK_BESIDE : 1,
                   to = h->first + n + MYTH_HUNK_BESIDE - 1;
    *first = from > piece->first ? min_u32(from, piece->last) : piece->first;
    *last = min_u32(to, piece->last);
}

/* Makes the blocks of the places that are taken; false: they are more than a prompt can have. */
static bool make_blocks(const packing *p, uint32_t most)
{
    myth_hunks *out = p->out;
    out->n_block = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const myth_hunk *h = &p->place[i];
        const myth_piece *piece = myth_material_piece(p->m, h->piece);
        uint32_t first, last;
        if (p->is_taken && !p->is_taken[i])
            continue;
        lines_of(p, h, most, &first, &last);
        myth_block *before = out->n_block ? &out->block[out->n_block - 1] : NULL;
        if (before && out->piece[out->n_block - 1] == h->piece && first <= before->last + 1) {
            before->last = last > before->last ? last : before->last;
            continue;
        }
        if (out->n_block == MYTH_BLOCK_MAX)
            return false;
        out->piece[out->n_block] = h->piece;
        out->block[out->n_block++] = (myth_block){
            .src = myth_material_of(p->m, piece->source),
            .first = first,
            .last = last,
            .symbol = piece->symbol,
            .removed_most = most * BYTES_OF_LINE,
            .is_context = true, /* a summary finds nothing */
        };
    }
    return out->n_block > 0;
}

static myth_status try_level(const packing *p, uint32_t most, myth_hunks_fit fits, void *user, bool *is_done,
                             myth_error *err)
{
    *is_done = make_blocks(p, most);
    return *is_done ? fits(user, p->out->block, p->out->n_block, is_done, err) : MYTH_OK;
}

static int by_turn(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    return x->nth != y->nth ? (x->nth > y->nth) - (x->nth < y->nth) : (x->idx > y->idx) - (x->idx < y->idx);
}

static void order_turns(const packing *p, turn *t)
{
    uint32_t nth = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const uint32_t source = myth_material_piece(p->m, p->place[i].piece)->source;
        nth = i && myth_material_piece(p->m, p->place[i - 1].piece)->source == source ? nth + 1 : 0;
        t[i] = (turn){i, nth};
    }
    qsort(t, p->n, sizeof(*t), by_turn);
}

/* Takes as many places as fit, each with its fewest lines. */
static myth_status take_some(packing *p, myth_mem *mem, myth_hunks_fit fits, void *user, myth_error *err)
{
    uint32_t lo = 0, hi = p->n; /* lo places fit, hi do not */
    bool does_fit = false;
    myth_status st = MYTH_OK;
    turn *t = myth_alloc_n(mem, MYTH_MEM_STAGING, "summary", p->n, sizeof(*t));
    bool *taken = myth_alloc_n(mem, MYTH_MEM_STAGING, "summary", p->n, sizeof(*taken));
    if (!t || !taken)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "summary: out of memory for %u places", p->n));
    order_turns(p, t);
    p->is_taken = taken;
    while (lo + 1 < hi) {
        const uint32_t k = lo + (hi - lo) / 2;
        for (uint32_t i = 0; i < p->n; i++)
            taken[t[i].idx] = i < k;
        MYTH_TRY(try_level(p, MYTH_HUNK_LEAST, fits, user, &does_fit, err));
        lo = does_fit ? k : lo;
        hi = does_fit ? hi : k;
    }
    for (uint32_t i = 0; i < p->n; i++)
        taken[t[i].idx] = i < lo;
    make_blocks(p, MYTH_HUNK_LEAST);
fail:
    p->is_taken = NULL;
    myth_free(mem, taken);
    myth_free(mem, t);
    return st;
}

static void count_lines(const packing *p)
{
    myth_hunks *out = p->out;
    out->n_line = out->n_shown = 0;
    for (uint32_t i = 0; i < p->n; i++)
        out->n_line += p->place[i].last + 1 - p->place[i].first + p->place[i].n_removed;
    for (uint32_t k = 0; k < out->n_block; k++) {
        const myth_block *b = &out->block[k];
        uint32_t n_hidden;
        out->n_shown += myth_prompt_n_removed(b, &n_hidden);
        for (uint32_t i = 0; i < p->n; i++) {
            const myth_hunk *h = &p->place[i];
            const uint32_t first = h->first > b->first ? h->first : b->first, last = min_u32(h->last, b->last);
            out->n_shown += h->piece == out->piece[k] && first <= last ? last + 1 - first : 0;
        }
    }
}

myth_status myth_hunks_make(myth_hunks *out, myth_mem *mem, const myth_material *m, const myth_hunk *place, uint32_t n,
                            myth_hunks_fit fits, void *user, myth_error *err)
{
    packing p = {.out = out, .m = m, .place = place, .n = n};
    bool is_done = false;
    myth_status st = MYTH_OK;
    out->n_block = 0;
    for (int i = 0; i < N_LEVEL && !is_done && n; i++)
        MYTH_TRY(try_level(&p, levels[i], fits, user, &is_done, err));
    if (!is_done && n)
        MYTH_TRY(take_some(&p, mem, fits, user, err));
    count_lines(&p);
fail:
    return st;
}
