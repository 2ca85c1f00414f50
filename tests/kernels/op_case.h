/* op_case.h - turns a row of cases.def into an argument struct, for the tests and the bench of the ops. op_rig.h has
 * the buffers and their data. */
#ifndef MYTH_TESTS_OP_CASE_H
#define MYTH_TESTS_OP_CASE_H

#include "op_rig.h"

/* ---- keys and values ---- */

/* The first position and the rows of a run. Later runs have more rows and fewer cached tokens; in decode every run has
 * one row. */
static inline void case_run(const struct kernel_case *c, uint32_t run, uint32_t *pos0, uint32_t *row0, uint32_t *n_rows)
{
    uint32_t n_run = c->n_run ? c->n_run : 1, share = n_run * (n_run + 1) / 2;
    *pos0 = c->depth > run * 13 ? c->depth - run * 13 : 0;
    if (c->is_decode) {
        *row0 = run;
        *n_rows = 1;
        return;
    }
    *row0 = c->rows * (run * (run + 1) / 2) / share;
    *n_rows = c->rows * ((run + 1) * (run + 2) / 2) / share - *row0;
}

struct case_gaps {
    uint32_t n, from[MYTH_GAP_MAX], to[MYTH_GAP_MAX];
};

/* The gaps of a run. The first run has gap0 .. gap1 - 1 and, up to n_gap in all, one gap_step further each, of
 * different widths. Those of later runs are a little further and wider; the last of three or more runs has none. */
static inline struct case_gaps case_gaps(const struct kernel_case *c, uint32_t run)
{
    struct case_gaps g = {0};
    uint32_t pos0, row0, n_rows;
    const bool has_gap = c->gap1 && !(run >= 2 && run + 1 == c->n_run);
    case_run(c, run, &pos0, &row0, &n_rows);
    for (uint32_t i = 0; has_gap && i < most_u32(c->n_gap, 1); i++) {
        const uint32_t from = c->gap0 + i * c->gap_step + run, to = c->gap1 + i * c->gap_step + 3 * run + i % 3 * 7;
        if (from >= pos0)
            break;
        rig_must(i == 0 || from > g.to[i - 1], "gaps that touch");
        g.from[i] = from;
        g.to[i] = to < pos0 ? to : pos0;
        g.n++;
    }
    return g;
}

/* Whether the positions from .. to - 1 are all in one gap. */
static inline bool in_gap(const struct case_gaps *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (from >= g->from[i] && to <= g->to[i])
            return true;
    return false;
}

/* Writes the stored row of a head at position pos of a run. It depends on the arguments only. */
static inline void kv_row(unsigned char *dst, myth_dtype t, uint32_t run, bool is_v, uint32_t head, uint32_t pos,
                          uint32_t head_dim)
{
    float row[1024];
    uint64_t key = mix64(((uint64_t)run << 40) ^ ((uint64_t)is_v << 39) ^ ((uint64_t)head << 32) ^ pos);
    rig_must(head_dim <= 1024, "head_dim");
    for (uint32_t i = 0; i < head_dim; i++)
        row[i] = noise(key + i);
    encode_row(dst, t, row, head_dim);
}

/* The index of pos's page in the table of a slot with those gaps, in which pages wholly in one have no entry. */
static inline uint32_t kv_entry(uint32_t pos, uint32_t page_tok, const struct case_gaps *g)
{
    uint32_t n = 0;
    for (uint32_t page = 0; page < pos / page_tok; page++)
        n += !in_gap(g, page * page_tok, (page + 1) * page_tok);
    return n;
}

/* The place of head 0's K or V for position pos of a slot; *step is the distance between heads. type_k MYTH_DTYPE_N
 * means that only V is stored. */
static inline unsigned char *kv_cached(const struct myth_kv_place *kv, uint32_t slot, uint32_t pos,
                                       const struct case_gaps *g, bool is_v, myth_dtype type_k, myth_dtype type_v,
                                       uint32_t n_head_kv, uint32_t head_dim, uint64_t *step)
{
    uint64_t bytes = myth_row_bytes(is_v ? type_v : type_k, head_dim),
             skip = is_v && type_k != MYTH_DTYPE_N
                      ? (uint64_t)n_head_kv * kv->page_tok * myth_row_bytes(type_k, head_dim)
                      : 0;
    const int32_t *entry = (int32_t *)view_host(kv->table) +
                           2 * ((uint64_t)slot * kv->n_entry + (kv->is_ring ? 0 : kv_entry(pos, kv->page_tok, g)));
    *step = kv->page_tok * bytes;
    return (unsigned char *)view_host(kv->pool) + (uint64_t)entry[0] * kv->page_bytes + kv->layer_off + skip +
           pos % kv->page_tok * bytes;
}

/* How many rows of an attention case have queries. */
static inline uint32_t case_rows(const struct kernel_case *c)
{
    return c->keep ? (c->rows + c->keep - 1) / c->keep : c->rows;
}

struct kv_setup {
    struct myth_kv_place kv;
    myth_view k_new, v_new, runs, row_run, pos;
    uint32_t cap_rows;
};

/* Makes the runs, a cache with the rows before each run, and scratch with the runs' own rows. Pages are numbered
 * backwards and have other bytes between them; slots are numbered backwards. Rows of gaps are NaN, except in rings. */
static inline struct kv_setup make_kv(struct rig *r, const struct kernel_case *c)
{
    struct kv_setup k = {.cap_rows = c->rows + 3};
    uint32_t n_run = c->n_run ? c->n_run : 1, hd = c->head_dim, ring = c->is_ring ? most_u32(c->window, 1) : 0;
    uint32_t page_tok = c->is_ring  ? ring
                      : c->page_tok ? c->page_tok
                                    : 64,
             n_entry = c->is_ring ? 1 : (c->depth + c->rows) / page_tok + 1;
    const bool has_k = c->form != FORM_FOLDED;
    const myth_dtype type_k = has_k ? c->type_k : MYTH_DTYPE_N;
    uint64_t k_row = has_k ? myth_row_bytes(c->type_k, hd) : 0, v_row = myth_row_bytes(c->type_v, hd);
    k.kv = (struct myth_kv_place){.page_tok = page_tok, .n_entry = n_entry, .is_ring = c->is_ring, .layer_off = 64};
    k.kv.page_bytes = (k.kv.layer_off + (uint64_t)c->n_head_kv * page_tok * (k_row + v_row) + 64 + 63) / 64 * 64;
    k.kv.table = rig_view(r, MYTH_I32, (uint64_t)n_run * n_entry, 2);
    k.kv.pool = rig_view(r, MYTH_F32, (uint64_t)n_run * n_entry, k.kv.page_bytes / 4);
    for (uint32_t i = 0; i < n_run * n_entry; i++) {
        int32_t *entry = (int32_t *)view_host(k.kv.table) + 2 * i;
        entry[0] = (int32_t)(n_run * n_entry - 1 - i);
        entry[1] = c->is_ring ? 0 : (int32_t)(i % n_entry * page_tok);
    }
    if (has_k)
        k.k_new = rig_view(r, c->type_k, (uint64_t)c->n_head_kv * k.cap_rows, hd);
    k.v_new = rig_view(r, c->type_v, (uint64_t)c->n_head_kv * k.cap_rows, hd);
    k.runs = rig_view(r, MYTH_I32, n_run, MYTH_RUN_WIDTH);
    k.row_run = rig_view(r, MYTH_I32, 1, c->rows);
    k.pos = rig_view(r, MYTH_I32, 1, c->rows);
    for (uint32_t run = 0; run < n_run; run++) {
        uint32_t pos0, row0, n_rows, slot = n_run - 1 - run;
        const struct case_gaps gaps = case_gaps(c, run), *g = &gaps;
        case_run(c, run, &pos0, &row0, &n_rows);
        int32_t *rec = (int32_t *)view_host(k.runs) + run * MYTH_RUN_WIDTH;
        memset(rec, 0, MYTH_RUN_WIDTH * 4);
        rec[MYTH_RUN_ROW0] = (int32_t)row0;
        rec[MYTH_RUN_N_ROWS] = (int32_t)n_rows;
        rec[MYTH_RUN_POS0] = (int32_t)pos0;
        rec[MYTH_RUN_SLOT] = (int32_t)slot;
        rec[MYTH_RUN_N_GAP] = (int32_t)g->n;
        for (uint32_t i = 0; i < g->n; i++) {
            int32_t *gap = rec + MYTH_RUN_GAPS + i * MYTH_GAP_WIDTH;
            gap[MYTH_GAP_FROM] = (int32_t)g->from[i];
            gap[MYTH_GAP_TO] = (int32_t)g->to[i];
            gap[MYTH_GAP_GONE] = (int32_t)(g->to[i] / page_tok - kv_entry(g->to[i], page_tok, g));
        }
        for (uint32_t pos = 0; pos < pos0 + n_rows && !c->is_ring; pos++)
            if (!in_gap(g, pos, pos + 1))
                ((int32_t *)view_host(k.kv.table))[2 * (slot * n_entry + kv_entry(pos, page_tok, g)) + 1] =
                    (int32_t)(pos / page_tok * page_tok);
        for (int is_v = !has_k; is_v < 2; is_v++) {
            myth_dtype t = is_v ? c->type_v : c->type_k;
            for (uint32_t pos = c->is_ring && pos0 > ring ? pos0 - ring : 0; pos < pos0; pos++) {
                uint64_t step;
                if (!c->is_ring && in_gap(g, pos, pos + 1))
                    continue;
                unsigned char *at = kv_cached(&k.kv, slot, pos, g, is_v, type_k, c->type_v, c->n_head_kv, hd, &step);
                for (uint32_t h = 0; h < c->n_head_kv; h++)
                    kv_row(at + h * step, t, run, is_v, h, pos, hd);
            }
            for (uint32_t i = 0; i < n_rows; i++)
                for (uint32_t h = 0; h < c->n_head_kv; h++)
                    kv_row((unsigned char *)view_host(is_v ? k.v_new : k.k_new) +
                               ((uint64_t)h * k.cap_rows + row0 + i) * myth_row_bytes(t, hd),
                           t, run, is_v, h, pos0 + i, hd);
        }
        for (uint32_t i = 0; i < n_rows; i++) {
            ((int32_t *)view_host(k.row_run))[row0 + i] = (int32_t)run;
            ((int32_t *)view_host(k.pos))[row0 + i] = (int32_t)(pos0 + i);
        }
    }
    for (uint32_t i = 0; i < case_rows(c) && c->keep; i++) {
        ((int32_t *)view_host(k.row_run))[i] = ((int32_t *)view_host(k.row_run))[i * c->keep];
        ((int32_t *)view_host(k.pos))[i] = ((int32_t *)view_host(k.pos))[i * c->keep];
    }
    return k;
}

/* The weights and rotations of folded keys. */
static inline struct myth_key_fold make_fold(struct rig *r, const struct kernel_case *c)
{
    struct myth_key_fold f = {.n_table = c->n_table, .n_pair = c->n_pair, .base = c->base, .factor = c->factor};
    if (c->form != FORM_FOLDED)
        return (struct myth_key_fold){0};
    f.w = rig_noise(r, MYTH_F32, 1, c->head_dim, 1.0f, 0.3f);
    f.table = rig_view(r, MYTH_F32, c->n_table, 2ull * c->n_pair);
    for (uint32_t i = 0; i < c->n_table * c->n_pair; i++) {
        const uint32_t row = i / c->n_pair;
        const double angle = row * (pow(c->base, -2.0 * (i % c->n_pair) / c->head_dim) / c->factor);
        ((float *)view_host(f.table))[2 * i] = (float)cos(angle);
        ((float *)view_host(f.table))[2 * i + 1] = (float)sin(angle);
    }
    return f;
}

/* ---- one builder per op ---- */

static inline myth_view none(void) { return (myth_view){NULL, 0, MYTH_F32}; }

static inline void make_rows(struct rig *r, const struct kernel_case *c, myth_view *x, myth_view *pend,
                             myth_view *w_post)
{
    *x = rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 2.0f);
    *pend = c->has_pend ? rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 0.7f) : none();
    *w_post = c->has_post ? rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f) : none();
}

static inline void make_head_topk(struct rig *r, const struct kernel_case *c, struct myth_head_topk_args *a)
{
    uint32_t n_word = (c->n_vocab + 31) / 32;
    *a = (struct myth_head_topk_args){
        .n_rows = c->rows,
        .dim = c->dim,
        .n_vocab = c->n_vocab,
        .n_total = c->n_out,
        .k = c->k,
        .softcap = c->softcap,
        .is_decode = c->is_decode,
    };
    a->x = rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 1.0f);
    a->w = rig_weight(r, c->type, myth_head_rows(a), c->dim, 0.0f, 0.3f);
    if (c->has_mask) { /* two masks: scattered bits, and a single id; rows from the third on have none */
        a->mask_idx = rig_view(r, MYTH_I32, 1, c->rows);
        a->masks = rig_view(r, MYTH_I32, 2, n_word);
        for (uint32_t i = 0; i < c->rows; i++)
            ((int32_t *)view_host(a->mask_idx))[i] = i < 2 ? (int32_t)i : -1;
        for (uint32_t i = 0; i < n_word; i++) {
            ((uint32_t *)view_host(a->masks))[i] = (uint32_t)(mix64(i) & mix64(i + 99));
            ((uint32_t *)view_host(a->masks))[n_word + i] = i == n_word / 2 ? 1u << 7 : 0;
        }
    }
    if (c->has_bias) { /* row i has 3 i biases, some of which forbid their id */
        uint32_t total = 3 * c->rows * (c->rows - 1) / 2;
        a->bias_off = rig_view(r, MYTH_I32, 1, c->rows + 1);
        a->bias_id = rig_ids(r, total + 1, c->n_vocab);
        a->bias = rig_noise(r, MYTH_F32, 1, total + 1, 0.0f, 4.0f);
        for (uint32_t i = 0; i <= c->rows; i++)
            ((int32_t *)view_host(a->bias_off))[i] = (int32_t)(i ? 3 * i * (i - 1) / 2 : 0);
        for (uint32_t i = 0; i < total; i += 4)
            ((float *)view_host(a->bias))[i] = -INFINITY;
    }
    if (c->n_ask) {
        a->n_ask = c->n_ask;
        a->ask_id = rig_ids(r, (uint64_t)c->rows * c->n_ask, c->n_vocab);
        a->ask_logit = rig_view(r, MYTH_F32, c->rows, c->n_ask);
    }
    a->top_id = rig_view(r, MYTH_I32, c->rows, c->k);
    a->top_logit = rig_view(r, MYTH_F32, c->rows, c->k);
    a->lse = rig_view(r, MYTH_F32, 1, c->rows);
    a->entropy = rig_view(r, MYTH_F32, 1, c->rows);
}

static inline void make_qkv(struct rig *r, const struct kernel_case *c, struct myth_norm_qkv_rope_store_args *a)
{
    uint32_t width = (c->n_head + 2 * c->n_head_kv) * c->head_dim;
    *a = (struct myth_norm_qkv_rope_store_args){
        .n_rows = c->rows,
        .cap_rows = c->rows + 3,
        .dim = c->dim,
        .n_head = c->n_head,
        .n_head_kv = c->n_head_kv,
        .head_dim = c->head_dim,
        .eps = 1e-6f,
        .q_scale = 0.0625f,
        .x_scale = c->x_scale,
        .is_decode = c->is_decode,
        .has_v_norm = c->form != FORM_PLAIN,
    };
    make_rows(r, c, &a->x, &a->pend, &a->w_post);
    a->w_in = rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f);
    a->w_q = rig_weight(r, c->type, (uint64_t)c->n_head * c->head_dim, c->dim, 0.0f, 0.05f);
    a->w_k = rig_weight(r, c->type, (uint64_t)c->n_head_kv * c->head_dim, c->dim, 0.0f, 0.05f);
    a->w_v = rig_weight(r, c->type, (uint64_t)c->n_head_kv * c->head_dim, c->dim, 0.0f, 0.05f);
    a->n_q = c->has_head_norm ? rig_noise(r, MYTH_F32, 1, c->head_dim, 1.0f, 0.3f) : none();
    a->n_k = c->has_head_norm ? rig_noise(r, MYTH_F32, 1, c->head_dim, 1.0f, 0.3f) : none();
    a->rope = rig_view(r, MYTH_F32, c->rows, c->head_dim);
    for (uint32_t i = 0; i < c->rows * c->head_dim / 2; i++) {
        float *pair = (float *)view_host(a->rope) + 2 * i;
        double angle = 6.0 * (double)noise(r->seed + i);
        pair[0] = (float)cos(angle);
        pair[1] = (float)sin(angle);
    }
    a->xn = rig_view(r, MYTH_F32, c->rows, c->dim);
    a->qkv = rig_view(r, MYTH_F32, c->rows, width);
    a->q = rig_view(r, MYTH_F32, (uint64_t)c->rows * c->n_head, c->head_dim);
    a->k_new = rig_view(r, c->type_k, (uint64_t)c->n_head_kv * a->cap_rows, c->head_dim);
    a->v_new = rig_view(r, c->type_v, (uint64_t)c->n_head_kv * a->cap_rows, c->head_dim);
    if (c->form >= FORM_V_IS_K)
        a->w_v = none();
    if (c->form >= FORM_FOLDED)
        a->k_new = a->n_k = none();
    if (c->form == FORM_NO_KEYS)
        a->w_k = a->v_new = none();
}

/* n_out entries over `rows` rows, some of them twice, with k labels; every fifth entry is left out. Sums start at small
 * numbers of both signs. */
static inline void make_capture_sum(struct rig *r, const struct kernel_case *c, struct myth_capture_sum_args *a)
{
    *a = (struct myth_capture_sum_args){
        .n_gather = c->n_out,
        .dim = c->dim,
        .n_label = c->k,
        .eps = 1e-6f,
        .x_scale = c->x_scale,
    };
    make_rows(r, c, &a->x, &a->pend, &a->w_post);
    a->rows = rig_ids(r, c->n_out, c->rows);
    a->label = rig_ids(r, c->n_out, c->k);
    a->sum = rig_view(r, MYTH_I32, c->k, 2ull * c->dim);
    a->bad = rig_view(r, MYTH_I32, 1, 1);
    memset(view_host(a->bad), 0, 4);
    for (uint32_t i = 4; i < c->n_out; i += 5)
        ((int32_t *)view_host(a->label))[i] = -1;
    for (uint64_t i = 0; i < (uint64_t)c->k * c->dim; i++) {
        int64_t start = (int64_t)mix64(r->seed + i) >> 38;
        memcpy((unsigned char *)view_host(a->sum) + 8 * i, &start, 8);
    }
}

/* Puts in values at every limit. No label has one of them twice in a column, so no order of additions leaves 64 bits.
 * The last label has only the last entry, which carries some of its sums exactly to the end of 64 bits and others past
 * it. */
static inline void put_odd_values(const struct kernel_case *c, const struct myth_capture_sum_args *a)
{
    static const float odd[] = {
        NAN,      INFINITY,   -INFINITY, 0x1p38f,     -0x1p38f,        0x1.fffffep37f, -0x1.fffffep37f,
        0x1p-25f, 0x1.8p-24f, -0x1p-25f, -0x1.8p-24f, 0x1.000002p-25f, 0x1p-140f,      3.4e38f};
    enum { ODD_N = sizeof(odd) / sizeof(odd[0]) };
    const int64_t one = 1 << MYTH_CAPTURE_FRACTION_BITS;
    const int64_t end[4] = {INT64_MAX - one, INT64_MAX - one + 1, INT64_MIN + one, INT64_MIN + one - 1};
    uint32_t last = c->n_out - 1;
    rig_must(c->rows >= c->n_out && c->n_out == ODD_N && c->dim >= ODD_N + 4 && c->k > 1, "a case of odd values");
    for (uint32_t i = 0; i <= last; i++) {
        float *x = (float *)view_host(a->x) + (size_t)i * c->dim;
        int32_t *label = (int32_t *)view_host(a->label) + i;
        ((int32_t *)view_host(a->rows))[i] = (int32_t)i;
        *label = i == last ? (int32_t)c->k - 1 : *label == (int32_t)c->k - 1 ? 0 : *label;
        for (uint32_t k = 0; k < ODD_N; k++)
            x[k] = odd[(i + k) % ODD_N];
        for (uint32_t k = 0; k < 4; k++)
            x[ODD_N + k] = k < 2 ? 1.0f : -1.0f;
    }
    memcpy((unsigned char *)view_host(a->sum) + 8 * ((size_t)(c->k - 1) * c->dim + ODD_N), end, sizeof(end));
}

/* Descending logits with ties. Of every five rows the third is done already, and the second chooses a stop id when
 * sampling is greedy. */
static inline void make_decode_next(struct rig *r, const struct kernel_case *c, struct myth_decode_next_args *a)
{
    *a = (struct myth_decode_next_args){
        .n_rows = c->rows,
        .k = c->k,
        .n_out = 4,
        .n_stop = 2,
        .seq_number = 7,
        .sample =
            {
                .temp = c->temp,
                .top_k = c->temp > 0.0f ? c->k : 0,
                .top_p = c->top_p,
                .min_p = c->min_p,
                .seed = 0x123456789abcdefull,
            },
    };
    a->top_id = rig_view(r, MYTH_I32, c->rows, c->k);
    a->top_logit = rig_view(r, MYTH_F32, c->rows, c->k);
    a->ids = rig_ids(r, c->rows, 1000);
    a->pos = rig_ids(r, c->rows, 1u << 30);
    a->runs = rig_view(r, MYTH_I32, c->rows, MYTH_RUN_WIDTH);
    a->out = rig_view(r, MYTH_I32, a->n_out, c->rows);
    a->step = rig_ids(r, 1, 100);
    a->stop_id = rig_view(r, MYTH_I32, 1, a->n_stop);
    for (uint32_t i = 0; i < c->rows * c->k; i++) {
        const uint32_t pair = i % c->k / 2; /* equal logits two by two */
        ((int32_t *)view_host(a->top_id))[i] = (int32_t)(i % c->k * 5 + i / c->k);
        ((float *)view_host(a->top_logit))[i] = 9.0f - 0.25f * (float)pair;
    }
    for (uint32_t i = 0; i < c->rows; i++) {
        int32_t *run = (int32_t *)view_host(a->runs) + i * MYTH_RUN_WIDTH;
        memset(run, 0, MYTH_RUN_WIDTH * 4);
        run[MYTH_RUN_ROW0] = (int32_t)i;
        run[MYTH_RUN_N_ROWS] = 1;
        run[MYTH_RUN_POS0] = ((int32_t *)view_host(a->pos))[i];
        run[MYTH_RUN_FLAGS] = i % 5 == 2 ? MYTH_RUN_EPHEMERAL : 0;
    }
    ((int32_t *)view_host(a->stop_id))[0] = 999983;
    ((int32_t *)view_host(a->stop_id))[1] = 1;
}

static inline void make_attn(struct rig *r, const struct kernel_case *c, struct myth_attn_args *a)
{
    const struct kv_setup kv = make_kv(r, c);
    *a = (struct myth_attn_args){
        .k_new = kv.k_new,
        .v_new = kv.v_new,
        .runs = kv.runs,
        .row_run = kv.row_run,
        .pos = kv.pos,
        .kv = kv.kv,
        .n_rows = case_rows(c),
        .cap_rows = kv.cap_rows,
        .n_head = c->n_head,
        .n_head_kv = c->n_head_kv,
        .head_dim = c->head_dim,
        .window = c->window,
        .softcap = c->softcap,
        .n_after = c->n_after,
    };
    a->q = rig_noise(r, MYTH_F32, (uint64_t)c->rows * c->n_head, c->head_dim, 0.0f, 2.0f / sqrtf((float)c->head_dim));
    a->o = rig_view(r, MYTH_F32, (uint64_t)c->rows * c->n_head, c->head_dim);
    a->fold = make_fold(r, c);
}

#include "op_case_gemma.h"

/* Makes the arguments of the case and fills its inputs from `number`. */
static inline void make_case(struct rig *r, const struct kernel_case *c, uint64_t number, union op_args *a)
{
    struct kv_setup kv;
    struct myth_norm_qkv_rope_store_args full;
    memset(a, 0, sizeof(*a));
    r->seed = mix64(number + 1);
    switch (c->op) {
    case MYTH_OP_embed_gather:
        a->embed_gather =
            (struct myth_embed_gather_args){.n_rows = c->rows, .dim = c->dim, .n_vocab = c->n_vocab, .scale = 25.25f};
        a->embed_gather.table = rig_weight(r, c->type, c->n_vocab, c->dim, 0.0f, 0.05f);
        a->embed_gather.ids = rig_ids(r, c->rows, c->n_vocab);
        a->embed_gather.y = rig_view(r, MYTH_F32, c->rows, c->dim);
        break;
    case MYTH_OP_rope_table:
        a->rope_table = (struct myth_rope_table_args){
            .n_rows = c->rows,
            .head_dim = c->head_dim,
            .n_pair = c->n_pair,
            .base = c->base,
            .factor = c->factor,
        };
        a->rope_table.table = rig_view(r, MYTH_F32, c->rows, c->head_dim);
        a->rope_table.pos = rig_ids(r, c->rows, 0x7fffffff);
        for (uint32_t i = 0; i < c->rows / 2; i++)
            ((int32_t *)view_host(a->rope_table.pos))[i] = (int32_t)i;
        break;
    case MYTH_OP_rms_norm:
        a->rms_norm =
            (struct myth_rms_norm_args){.n_rows = c->rows, .dim = c->dim, .eps = 1e-6f, .x_scale = c->x_scale};
        make_rows(r, c, &a->rms_norm.x, &a->rms_norm.pend, &a->rms_norm.w_post);
        a->rms_norm.w = rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f);
        a->rms_norm.y = rig_view(r, MYTH_F32, c->rows, c->dim);
        break;
    case MYTH_OP_proj:
        a->proj =
            (struct myth_proj_args){.n_rows = c->rows, .n_in = c->dim, .n_out = c->n_out, .is_decode = c->is_decode};
        a->proj.x = rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 1.0f);
        a->proj.w = rig_weight(r, c->type, c->n_out, c->dim, 0.0f, 0.05f);
        a->proj.y = rig_view(r, MYTH_F32, c->rows, c->n_out);
        break;
    case MYTH_OP_norm_qkv_rope_store: make_qkv(r, c, &a->norm_qkv_rope_store); break;
    case MYTH_OP_qkv_rope_store:
        make_qkv(r, c, &full);
        a->qkv_rope_store = (struct myth_qkv_rope_store_args){
            .n_q = full.n_q,
            .n_k = full.n_k,
            .rope = full.rope,
            .q = full.q,
            .k_new = full.k_new,
            .v_new = full.v_new,
            .n_rows = full.n_rows,
            .cap_rows = full.cap_rows,
            .n_head = full.n_head,
            .n_head_kv = full.n_head_kv,
            .head_dim = full.head_dim,
            .eps = full.eps,
            .q_scale = full.q_scale,
            .v_is_k = c->form == FORM_V_IS_K || c->form == FORM_FOLDED,
            .has_v_norm = full.has_v_norm && c->form != FORM_NO_KEYS,
        };
        a->qkv_rope_store.qkv =
            rig_noise(r, MYTH_F32, c->rows, (c->n_head + 2 * c->n_head_kv) * c->head_dim, 0.0f, 1.5f);
        break;
    case MYTH_OP_attn_prefill:
    case MYTH_OP_attn_decode: make_attn(r, c, &a->attn_prefill); break;
    case MYTH_OP_attn_mass:
        a->attn_mass = (struct myth_attn_mass_args){.first = c->n_out, .n_key = c->k, .scale = 0.625f};
        make_attn(r, c, &a->attn_mass.attn);
        a->attn_mass.mass = rig_noise(r, MYTH_F32, c->rows, c->k, 0.5f, 0.25f);
        a->attn_mass.part = rig_view(r, MYTH_F32, (uint64_t)c->rows * c->n_head, c->k);
        break;
    case MYTH_OP_kv_merge:
        kv = make_kv(r, c);
        a->kv_merge = (struct myth_kv_merge_args){
            .k_new = kv.k_new,
            .v_new = kv.v_new,
            .runs = kv.runs,
            .kv = kv.kv,
            .n_run = c->n_run ? c->n_run : 1,
            .cap_rows = kv.cap_rows,
            .n_head_kv = c->n_head_kv,
            .head_dim = c->head_dim,
        };
        if (a->kv_merge.n_run > 1)
            ((int32_t *)view_host(kv.runs))[MYTH_RUN_WIDTH + MYTH_RUN_FLAGS] = MYTH_RUN_EPHEMERAL;
        break;
    case MYTH_OP_norm_ffn_geglu:
        a->norm_ffn_geglu = (struct myth_norm_ffn_geglu_args){
            .n_rows = c->rows,
            .dim = c->dim,
            .d_ff = c->d_ff,
            .eps = 1e-6f,
            .x_scale = c->x_scale,
            .is_decode = c->is_decode,
        };
        make_rows(r, c, &a->norm_ffn_geglu.x, &a->norm_ffn_geglu.pend, &a->norm_ffn_geglu.w_post);
        a->norm_ffn_geglu.w = rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f);
        a->norm_ffn_geglu.w_gate = rig_weight(r, c->type, c->d_ff, c->dim, 0.0f, 0.05f);
        a->norm_ffn_geglu.w_up = rig_weight(r, c->type, c->d_ff, c->dim, 0.0f, 0.05f);
        a->norm_ffn_geglu.xn = rig_view(r, MYTH_F32, c->rows, c->dim);
        a->norm_ffn_geglu.up = rig_view(r, MYTH_F32, c->rows, c->d_ff);
        a->norm_ffn_geglu.h = rig_view(r, MYTH_F32, c->rows, c->d_ff);
        break;
    case MYTH_OP_add_low_rank:
        a->add_low_rank = (struct myth_add_low_rank_args){.n_rows = c->rows, .n_out = c->n_out, .rank = c->dim};
        a->add_low_rank.b = rig_noise(r, MYTH_F32, c->dim, c->n_out, 0.0f, 0.3f);
        a->add_low_rank.t = rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 1.0f);
        a->add_low_rank.y = rig_noise(r, MYTH_F32, c->rows, c->n_out, 0.0f, 1.0f);
        break;
    case MYTH_OP_geglu:
        a->geglu = (struct myth_geglu_args){.n_rows = c->rows, .d_ff = c->d_ff};
        a->geglu.g = rig_noise(r, MYTH_F32, c->rows, c->d_ff, 0.0f, 3.0f);
        a->geglu.up = rig_noise(r, MYTH_F32, c->rows, c->d_ff, 0.0f, 1.0f);
        a->geglu.h = rig_view(r, MYTH_F32, c->rows, c->d_ff);
        break;
    case MYTH_OP_gather_norm:
        a->gather_norm =
            (struct myth_gather_norm_args){.n_gather = c->n_out, .dim = c->dim, .eps = 1e-6f, .x_scale = c->x_scale};
        make_rows(r, c, &a->gather_norm.x, &a->gather_norm.pend, &a->gather_norm.w_post);
        a->gather_norm.w = c->has_head_norm ? rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f) : none();
        a->gather_norm.rows = rig_ids(r, c->n_out, c->rows);
        a->gather_norm.y = rig_view(r, MYTH_F32, c->n_out, c->dim);
        break;
    case MYTH_OP_head_topk: make_head_topk(r, c, &a->head_topk); break;
    case MYTH_OP_head_logits:
        a->head_logits = (struct myth_head_logits_args){.dim = c->dim, .n_vocab = c->n_vocab, .softcap = c->softcap};
        a->head_logits.x = rig_noise(r, MYTH_F32, 1, c->dim, 0.0f, 1.0f);
        a->head_logits.w = rig_weight(r, c->type, c->n_vocab, c->dim, 0.0f, 0.3f);
        a->head_logits.y = rig_view(r, MYTH_F32, 1, c->n_vocab);
        break;
    case MYTH_OP_decode_next: make_decode_next(r, c, &a->decode_next); break;
    case MYTH_OP_copy:
        a->copy.src = rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 1.0f);
        a->copy.dst = rig_view(r, MYTH_F32, c->rows, c->dim);
        a->copy.bytes = (uint64_t)c->rows * c->dim * 4;
        break;
    case MYTH_OP_capture_sum:
        make_capture_sum(r, c, &a->capture_sum);
        if (c->has_bad)
            put_odd_values(c, &a->capture_sum);
        break;
    case MYTH_OP_ple_merge: make_ple_merge(r, c, &a->ple_merge); break;
    case MYTH_OP_ple_gate: make_ple_gate(r, c, &a->ple_gate); break;
    case MYTH_OP_moe_route: make_moe_route(r, c, &a->moe_route); break;
    case MYTH_OP_moe_geglu: make_moe_geglu(r, c, &a->moe_geglu); break;
    case MYTH_OP_moe_down: make_moe_down(r, c, &a->moe_down); break;
    case MYTH_OP_altup_predict: make_altup_predict(r, c, &a->altup_predict); break;
    case MYTH_OP_altup_correct: make_altup_correct(r, c, &a->altup_correct); break;
    case MYTH_OP_altup_match: make_altup_match(r, c, &a->altup_match); break;
    case MYTH_OP_laurel_merge: make_laurel_merge(r, c, &a->laurel_merge); break;
    case MYTH_OP_geglu_sparse: make_geglu_sparse(r, c, &a->geglu_sparse); break;
    default: rig_must(false, "an op without a builder");
    }
}

/* Issues the op through its public call, which checks it. */
static inline void issue_op(myth_stream *s, myth_op op, const union op_args *a)
{
    switch (op) {
#define OP(name)                  \
    case MYTH_OP_##name:          \
        myth_##name(s, &a->name); \
        break;
#include "kernels/ops.def"
#undef OP
    default: break;
    }
}

/* "proj q8_0 rows=7 dim=640 ..." */
static inline void case_name(char *dst, size_t cap, const struct kernel_case *c)
{
    bool is_typed = c->op != MYTH_OP_rms_norm && c->op != MYTH_OP_geglu && c->op != MYTH_OP_add_low_rank &&
                    c->op != MYTH_OP_rope_table && c->op != MYTH_OP_capture_sum;
    const char *type = is_typed ? myth_dtype_get(c->type)->name : "";
    size_t len = (size_t)snprintf(dst, cap, "%s", myth_op_name(c->op));
    const struct {
        const char *key;
        uint32_t v;
    } part[] = {
        {"rows", c->rows},     {"dim", c->dim},        {"out", c->n_out},        {"ff", c->d_ff},
        {"vocab", c->n_vocab}, {"heads", c->n_head},   {"kv", c->n_head_kv},     {"hd", c->head_dim},
        {"depth", c->depth},   {"window", c->window},  {"runs", c->n_run},       {"page", c->page_tok},
        {"k", c->k},           {"gap0", c->gap0},      {"gap1", c->gap1},        {"gaps", c->n_gap},
        {"after", c->n_after}, {"layers", c->n_layer}, {"experts", c->n_expert}, {"streams", c->n_stream},
        {"form", c->form},     {"pairs", c->n_pair},   {"keep", c->keep},
    };
    if (c->n_head_kv)
        len += (size_t)snprintf(dst + len, cap - len, " %s/%s", myth_dtype_get(c->type_k)->name,
                                myth_dtype_get(c->type_v)->name);
    if (c->dim && *type)
        len += (size_t)snprintf(dst + len, cap - len, " %s", type);
    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]) && len < cap; i++)
        if (part[i].v)
            len += (size_t)snprintf(dst + len, cap - len, " %s=%u", part[i].key, part[i].v);
    if (len < cap)
        snprintf(dst + len, cap - len, "%s%s", c->is_decode ? " decode" : "", c->is_ring ? " ring" : "");
}

#endif
