/* op_case_gemma.h - builds the arguments of the ops of Gemma 3n and 4: per-layer inputs, experts, streams. op_case.h
 * includes it.
 *
 * Cases    per-layer inputs have n_layer layers of width d_ff and a table of n_vocab rows, 0 = rows that the host has
 *          fetched. Experts have n_expert, k and d_ff; has_bias gives them scales, is_split puts gate and up into two
 *          stacks. Gemma 3n's streams have n_stream and active; n_out says what is left out
 * Experts  rows choose unevenly, so that some experts have many entries, some one and some none. id is not an input of
 *          moe_geglu and moe_down, so the oracle reads order and offset */
#ifndef MYTH_TESTS_OP_CASE_GEMMA_H
#define MYTH_TESTS_OP_CASE_GEMMA_H

static inline void make_ple_merge(struct rig *r, const struct kernel_case *c, struct myth_ple_merge_args *a)
{
    uint64_t width = (uint64_t)c->n_layer * c->d_ff;
    *a = (struct myth_ple_merge_args){
        .n_rows = c->rows,
        .n_layer = c->n_layer,
        .n_ple = c->d_ff,
        .n_table = c->n_vocab ? c->n_vocab : 1,
        .p_scale = 0.0221f,
        .table_scale = 16.0f,
        .out_scale = 0.70710678f,
        .eps = 1e-6f,
    };
    a->p = rig_noise(r, MYTH_F32, c->rows, width, 0.0f, 3.0f);
    a->w = rig_noise(r, MYTH_F32, 1, c->d_ff, 1.0f, 0.3f);
    a->table = c->n_vocab ? rig_weight(r, c->type, c->n_vocab, width, 0.0f, 0.05f)
                          : rig_noise(r, c->type, c->rows, width, 0.0f, 0.05f);
    a->ids = c->n_vocab ? rig_ids(r, c->rows, c->n_vocab) : none();
    for (uint32_t i = 1; i < c->rows && c->n_vocab; i += 3) /* outside the table */
        ((int32_t *)view_host(a->ids))[i] = i % 2 ? -1 : (int32_t)c->n_vocab;
}

static inline void make_ple_gate(struct rig *r, const struct kernel_case *c, struct myth_ple_gate_args *a)
{
    *a = (struct myth_ple_gate_args){
        .n_rows = c->rows,
        .dim = c->dim,
        .n_ple = c->d_ff,
        .p_stride = c->n_layer * c->d_ff,
        .eps = 1e-6f,
        .is_decode = c->is_decode,
    };
    make_rows(r, c, &a->x, &a->pend, &a->w_post);
    a->w = rig_weight(r, c->type, c->d_ff, c->dim, 0.0f, 0.05f);
    a->p = rig_noise(r, MYTH_F32, c->rows, a->p_stride, 0.0f, 1.0f);
    a->p.off += (uint64_t)(c->n_layer - 1) / 2 * c->d_ff * 4; /* a layer in the middle */
    a->xn = rig_view(r, MYTH_F32, c->rows, c->dim);
    a->h = rig_view(r, MYTH_F32, c->rows, c->d_ff);
}

/* Chooses the experts of a row, all different, low numbers more often. */
static inline void case_experts(const struct kernel_case *c, uint64_t seed, uint32_t row, uint32_t *expert)
{
    for (uint32_t slot = 0, n = 0; slot < c->k; slot++) {
        bool is_new;
        do {
            uint64_t v = mix64(seed + row * 1000003ull + n++);
            expert[slot] = (uint32_t)(v % (n % 2 ? c->n_expert : (c->n_expert + 3) / 4));
            is_new = true;
            for (uint32_t i = 0; i < slot; i++)
                is_new &= expert[i] != expert[slot];
        } while (!is_new);
    }
}

/* Writes offset and order as moe_route does, for the rows [row0, row0 + n_rows) of the case. */
static inline void put_entries(const struct kernel_case *c, uint64_t seed, uint32_t row0, uint32_t n_rows,
                               int32_t *offset, int32_t *order)
{
    uint32_t n = 0, expert[MYTH_EXPERT_USED_MAX];
    for (uint32_t e = 0; e < c->n_expert; e++) {
        offset[e] = (int32_t)n;
        for (uint32_t r = 0; r < n_rows; r++) {
            case_experts(c, seed, row0 + r, expert);
            for (uint32_t slot = 0; slot < c->k; slot++)
                if (expert[slot] == e)
                    order[n++] = (int32_t)(r * c->k + slot);
        }
    }
    offset[c->n_expert] = (int32_t)n;
}

static inline uint64_t entry_seed(const struct kernel_case *c)
{
    return mix64(c->rows * 131ull + c->n_expert * 17ull + c->k);
}

static inline void make_entries(struct rig *r, const struct kernel_case *c, myth_view *offset, myth_view *order)
{
    *offset = rig_view(r, MYTH_I32, 1, c->n_expert + 1);
    *order = rig_view(r, MYTH_I32, c->rows, c->k);
    put_entries(c, entry_seed(c), 0, c->rows, view_host(*offset), view_host(*order));
}

static inline void make_moe_route(struct rig *r, const struct kernel_case *c, struct myth_moe_route_args *a)
{
    *a = (struct myth_moe_route_args){.n_rows = c->rows, .n_expert = c->n_expert, .k = c->k, .logit_scale = 0.3f};
    a->logits = rig_noise(r, MYTH_F32, c->rows, c->n_expert, 0.0f, 5.0f);
    a->expert_scale = c->has_bias ? rig_noise(r, MYTH_F32, 1, c->n_expert, 1.0f, 0.3f) : none();
    for (uint32_t i = 0; i < c->rows * c->n_expert;
         i++) { /* ties; and, where the case wants them, values that no model should give */
        float *z = (float *)view_host(a->logits) + i;
        *z = i % 5 == 0 ? floorf(*z) : *z;
        if (c->has_bad && i % 7 == 3)
            *z = i % 2 ? NAN : -INFINITY;
    }
    a->id = rig_view(r, MYTH_I32, c->rows, c->k);
    a->weight = rig_view(r, MYTH_F32, c->rows, c->k);
    a->offset = rig_view(r, MYTH_I32, 1, c->n_expert + 1);
    a->order = rig_view(r, MYTH_I32, c->rows, c->k);
}

static inline void make_moe_geglu(struct rig *r, const struct kernel_case *c, struct myth_moe_geglu_args *a)
{
    *a = (struct myth_moe_geglu_args){
        .n_rows = c->rows,
        .k = c->k,
        .n_expert = c->n_expert,
        .dim = c->dim,
        .d_ff = c->d_ff,
        .expert_rows = c->is_split ? c->d_ff : 2 * c->d_ff,
        .up_row = c->is_split ? 0 : c->d_ff,
        .is_decode = c->is_decode,
    };
    a->x = rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 1.0f);
    a->w_gate = rig_weight(r, c->type, (uint64_t)c->n_expert * a->expert_rows, c->dim, 0.0f, 0.05f);
    a->w_up =
        c->is_split ? rig_weight(r, c->type, (uint64_t)c->n_expert * a->expert_rows, c->dim, 0.0f, 0.05f) : a->w_gate;
    a->h = rig_view(r, MYTH_F32, (uint64_t)c->rows * c->k, c->d_ff);
    make_entries(r, c, &a->offset, &a->order);
}

static inline void make_moe_down(struct rig *r, const struct kernel_case *c, struct myth_moe_down_args *a)
{
    *a = (struct myth_moe_down_args){
        .n_rows = c->rows,
        .k = c->k,
        .n_expert = c->n_expert,
        .dim = c->dim,
        .d_ff = c->d_ff,
        .is_decode = c->is_decode,
    };
    a->h = rig_noise(r, MYTH_F32, (uint64_t)c->rows * c->k, c->d_ff, 0.0f, 1.0f);
    a->w = rig_weight(r, c->type, (uint64_t)c->n_expert * c->dim, c->d_ff, 0.0f, 0.05f);
    a->weight = rig_noise(r, MYTH_F32, c->rows, c->k, 0.3f, 0.2f);
    a->part = rig_view(r, MYTH_F32, (uint64_t)c->rows * c->k, c->dim);
    a->y = rig_view(r, MYTH_F32, c->rows, c->dim);
    make_entries(r, c, &a->offset, &a->order);
}

static inline void make_altup_predict(struct rig *r, const struct kernel_case *c, struct myth_altup_predict_args *a)
{
    uint32_t n = c->n_stream;
    *a = (struct myth_altup_predict_args){
        .n_rows = c->rows,
        .dim = c->dim,
        .n_stream = n,
        .active = c->active,
        .eps = 1e-6f,
    };
    a->x = rig_noise(r, MYTH_F32, (uint64_t)n * c->rows, c->dim, 0.0f, 2.0f);
    a->pend = c->has_pend ? rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 0.7f) : none();
    a->w_post = c->has_post ? rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f) : none();
    if (c->n_out) /* the prologue alone */
        return;
    a->w_route = rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f);
    a->router = rig_noise(r, MYTH_F32, n, c->dim, 0.0f, 3.0f);
    a->coef = rig_noise(r, MYTH_F32, n * n, n, 0.0f, 0.3f);
    a->w_in = rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f);
    a->xn = rig_view(r, MYTH_F32, c->rows, c->dim);
}

static inline void make_altup_correct(struct rig *r, const struct kernel_case *c, struct myth_altup_correct_args *a)
{
    uint32_t n = c->n_stream;
    *a = (struct myth_altup_correct_args){
        .n_rows = c->rows,
        .dim = c->dim,
        .n_stream = n,
        .active = c->active,
        .eps = 1e-6f,
    };
    a->x = rig_noise(r, MYTH_F32, (uint64_t)n * c->rows, c->dim, 0.0f, 2.0f);
    make_rows(r, c, &a->u, &a->pend, &a->w_post);
    a->w_route = rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f);
    a->router = rig_noise(r, MYTH_F32, n, c->dim, 0.0f, 3.0f);
    a->coef = rig_noise(r, MYTH_F32, n, n, 0.0f, 0.3f);
    a->w_gate = c->n_out ? none() : rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f);
    a->gate = rig_view(r, MYTH_F32, c->rows, c->dim);
}

static inline void make_altup_match(struct rig *r, const struct kernel_case *c, struct myth_altup_match_args *a)
{
    *a = (struct myth_altup_match_args){.n_rows = c->rows, .dim = c->dim, .n_u = c->n_stream - 1};
    a->x = rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 2.0f);
    a->u = rig_noise(r, MYTH_F32, (uint64_t)a->n_u * c->rows, c->dim, 0.0f, 0.4f);
    for (uint32_t i = 0; i < c->dim; i++) /* a row that is nearly zero */
        ((float *)view_host(a->u))[i] *= 1e-4f;
    a->y = c->n_out ? rig_view(r, MYTH_F32, c->rows, c->dim) : none();
}

static inline void make_laurel_merge(struct rig *r, const struct kernel_case *c, struct myth_laurel_merge_args *a)
{
    *a = (struct myth_laurel_merge_args){.n_rows = c->rows, .dim = c->dim, .eps = 1e-6f};
    a->x = rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 2.0f);
    a->xn = rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 1.0f);
    a->attn = rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 0.7f);
    a->laurel = rig_noise(r, MYTH_F32, c->rows, c->dim, 0.0f, 0.1f);
    a->w_attn = rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f);
    a->w_laurel = rig_noise(r, MYTH_F32, 1, c->dim, 1.0f, 0.3f);
    a->u = rig_view(r, MYTH_F32, c->rows, c->dim);
}

static inline void make_geglu_sparse(struct rig *r, const struct kernel_case *c, struct myth_geglu_sparse_args *a)
{
    *a = (struct myth_geglu_sparse_args){.n_rows = c->rows, .d_ff = c->d_ff, .z = c->z};
    a->g = rig_noise(r, MYTH_F32, c->rows, c->d_ff, 0.4f, 3.0f);
    a->up = rig_noise(r, MYTH_F32, c->rows, c->d_ff, 0.0f, 1.0f);
    a->h = rig_view(r, MYTH_F32, c->rows, c->d_ff);
}

#endif
