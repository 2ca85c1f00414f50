/* gemma3n.c - Gemma 3n text: several residual streams (AltUp), Laurel, per-layer embeddings, a sparse gate, layers that
 * read other layers' keys and values.
 *
 *   h[0] = embedding;  h[i] = A_i h[0], brought to the magnitude of h[0]
 *   p    = h + C m(h[a]) h  m(x) = tanh(R (N_route(x) / d)); a: the active stream, 0 in what was published
 *   y    = N_attn(p[a]) + N_laurel(W_right(W_left N_attn(p[a])))
 *   u    = (p[a] + N_post_attn(Attn(N_attn(p[a]))) + y) / sqrt(2);  scores not scaled, v normed without a weight
 *   v    = u + N_post_ffn(MLP(N_ffn(u)))  first layers: a gate keeps what exceeds mean + z deviations of its row
 *   h[i] = p[i] + (1 + (D m(v))[i]) (v - p[a])
 *   h[i] += N_post_ple(W_proj(gelu(W_gate(h[a] * s)) * P_l)) for i > 0
 *   at the end x = (h[0] + U_1 h[1] + ..) / n, with each U_i h[i] scaled to the magnitude of h[0]
 *
 * Streams  one after the other in the step's x, [n_altup][n_rows, d]. The last sum of a layer (N_post_ple) stays
 *          pending until the next op that reads the streams. Captured rows are those of the active stream
 * Source   transformers modeling_gemma3n.py; google-deepmind/gemma gm/nn/gemma3n                                    */
#include "engine/run/step.h"

#define AT(field)    offsetof(myth_layer_weights, field)
#define MODEL(field) offsetof(myth_bound_weights, field)

const myth_slot myth_gemma3n_model_slots[] = {
    {MYTH_SLOT("embed_tokens_per_layer.weight", "per_layer_token_embd.weight", MODEL(ple_table), MYTH_DIM_PLE_VOCAB,
               MYTH_DIM_PLE_ALL),
     .form = MYTH_FORM_ROWS, .place = MYTH_AT_FIRST},
    {MYTH_SLOT("per_layer_model_projection.weight", "per_layer_model_proj.weight", MODEL(ple_model_proj),
               MYTH_DIM_PLE_ALL, MYTH_DIM_D),
     .place = MYTH_AT_FIRST},
    {MYTH_SLOT("per_layer_projection_norm.weight", "per_layer_proj_norm.weight", MODEL(ple_proj_norm), MYTH_DIM_PLE,
               MYTH_DIM_ONE),
     .place = MYTH_AT_FIRST},
#define ALTUP(i)                                                                                                      \
    {MYTH_SLOT("altup_projections." #i ".weight", "altup_proj.weight", MODEL(altup_proj[i]), MYTH_DIM_D, MYTH_DIM_D), \
     .when = MYTH_WHEN_ALTUP, .place = MYTH_AT_FIRST, .is_part = true, .part = i},                                    \
        {MYTH_SLOT("altup_unembed_projections." #i ".weight", "altup_unembd_proj.weight", MODEL(altup_unembed[i]),    \
                   MYTH_DIM_D, MYTH_DIM_D),                                                                           \
         .when = MYTH_WHEN_ALTUP, .place = MYTH_AT_LAST, .is_part = true, .part = i},
    ALTUP(0) ALTUP(1) ALTUP(2)
#undef ALTUP
        {0},
};

const myth_slot myth_gemma3n_slots[] = {
    {MYTH_SLOT("input_layernorm.weight", "attn_norm.weight", AT(attn_norm), MYTH_DIM_D, MYTH_DIM_ONE)},
    {MYTH_SLOT("self_attn.q_proj.weight", "attn_q.weight", AT(w_q), MYTH_DIM_Q, MYTH_DIM_D)},
    {MYTH_SLOT("self_attn.k_proj.weight", "attn_k.weight", AT(w_k), MYTH_DIM_KV, MYTH_DIM_D), .when = MYTH_WHEN_KV},
    {MYTH_SLOT("self_attn.v_proj.weight", "attn_v.weight", AT(w_v), MYTH_DIM_KV, MYTH_DIM_D), .when = MYTH_WHEN_V},
    {MYTH_SLOT("self_attn.q_norm.weight", "attn_q_norm.weight", AT(q_norm), MYTH_DIM_HEAD, MYTH_DIM_ONE)},
    {MYTH_SLOT("self_attn.k_norm.weight", "attn_k_norm.weight", AT(k_norm), MYTH_DIM_HEAD, MYTH_DIM_ONE),
     .when = MYTH_WHEN_KV},
    {MYTH_SLOT("self_attn.o_proj.weight", "attn_output.weight", AT(w_o), MYTH_DIM_D, MYTH_DIM_Q)},
    {MYTH_SLOT("post_attention_layernorm.weight", "post_attention_norm.weight", AT(post_attn_norm), MYTH_DIM_D,
               MYTH_DIM_ONE)},
    {MYTH_SLOT("pre_feedforward_layernorm.weight", "ffn_norm.weight", AT(ffn_norm), MYTH_DIM_D, MYTH_DIM_ONE)},
    {MYTH_SLOT("mlp.gate_proj.weight", "ffn_gate.weight", AT(w_gate), MYTH_DIM_FF, MYTH_DIM_D)},
    {MYTH_SLOT("mlp.up_proj.weight", "ffn_up.weight", AT(w_up), MYTH_DIM_FF, MYTH_DIM_D)},
    {MYTH_SLOT("mlp.down_proj.weight", "ffn_down.weight", AT(w_down), MYTH_DIM_D, MYTH_DIM_FF)},
    {MYTH_SLOT("post_feedforward_layernorm.weight", "post_ffw_norm.weight", AT(post_ffn_norm), MYTH_DIM_D,
               MYTH_DIM_ONE)},
    {MYTH_SLOT("per_layer_input_gate.weight", "inp_gate.weight", AT(ple_gate), MYTH_DIM_PLE, MYTH_DIM_D)},
    {MYTH_SLOT("per_layer_projection.weight", "proj.weight", AT(ple_proj), MYTH_DIM_D, MYTH_DIM_PLE)},
    {MYTH_SLOT("post_per_layer_input_norm.weight", "post_norm.weight", AT(post_ple_norm), MYTH_DIM_D, MYTH_DIM_ONE)},
    {MYTH_SLOT("altup.router_norm.weight", "altup_router_norm.weight", AT(altup_router_norm), MYTH_DIM_D,
               MYTH_DIM_ONE)},
    {MYTH_SLOT("altup.modality_router.weight", "altup_router.weight", AT(altup_router), MYTH_DIM_ALTUP, MYTH_DIM_D),
     .form = MYTH_FORM_F32},
    {MYTH_SLOT("altup.prediction_coefs.weight", "altup_predict_coef.weight", AT(altup_predict), MYTH_DIM_ALTUP2,
               MYTH_DIM_ALTUP),
     .form = MYTH_FORM_CLIPPED},
    {MYTH_SLOT("altup.correction_coefs.weight", "altup_correct_coef.weight", AT(altup_correct), MYTH_DIM_ALTUP,
               MYTH_DIM_ALTUP),
     .form = MYTH_FORM_CLIPPED},
    {MYTH_SLOT("altup.correct_output_scale", "altup_correct_scale.weight", AT(altup_scale), MYTH_DIM_D, MYTH_DIM_ONE)},
    {MYTH_SLOT("laurel.linear_left.weight", "laurel_l.weight", AT(laurel_left), MYTH_DIM_LAUREL, MYTH_DIM_D)},
    {MYTH_SLOT("laurel.linear_right.weight", "laurel_r.weight", AT(laurel_right), MYTH_DIM_D, MYTH_DIM_LAUREL)},
    {MYTH_SLOT("laurel.post_laurel_norm.weight", "laurel_post_norm.weight", AT(laurel_norm), MYTH_DIM_D, MYTH_DIM_ONE)},
    {0},
};

static myth_view stream_at(const myth_step *st, myth_view base, uint32_t i)
{
    base.off += 4 * (uint64_t)i * st->n_rows * st->c->d_model;
    return base;
}

static void project(myth_step *st, myth_view y, myth_view x, myth_view w, const struct myth_low_rank *low,
                    uint32_t n_in, uint32_t n_out)
{
    myth_proj(st->s, &(struct myth_proj_args){
                         .y = y,
                         .x = x,
                         .w = w,
                         .low = low,
                         .n_rows = st->n_rows,
                         .n_in = n_in,
                         .n_out = n_out,
                         .is_decode = st->is_decode,
                     });
}

/* Computes the other streams from the first. */
static void make_streams(myth_step *st, myth_view h)
{
    const uint32_t d = st->c->d_model, n_u = st->c->n_altup - 1;
    for (uint32_t i = 0; i < n_u; i++)
        project(st, stream_at(st, h, i + 1), h, st->w->altup_proj[i], NULL, d, d);
    myth_altup_match(st->s, &(struct myth_altup_match_args){
                                .x = h,
                                .u = stream_at(st, h, 1),
                                .n_rows = st->n_rows,
                                .dim = d,
                                .n_u = n_u,
                            });
}

/* Averages all streams into the first. */
static void merge_streams(myth_step *st, myth_view h)
{
    const uint32_t d = st->c->d_model, n_u = st->c->n_altup - 1;
    for (uint32_t i = 0; i < n_u; i++)
        project(st, stream_at(st, st->altup, i), stream_at(st, h, i + 1), st->w->altup_unembed[i], NULL, d, d);
    myth_altup_match(st->s, &(struct myth_altup_match_args){
                                .y = h,
                                .x = h,
                                .u = st->altup,
                                .n_rows = st->n_rows,
                                .dim = d,
                                .n_u = n_u,
                            });
}

/* Adds the pending branch to the streams. With w also replaces the streams h by their prediction p in that layer, and
 * computes xn = N_attn(p[active]). */
static void predict(myth_step *st, myth_view h, const myth_layer_weights *w)
{
    const myth_config *c = st->c;
    struct myth_altup_predict_args a = {
        .x = h,
        .pend = st->pend,
        .w_post = st->w_post,
        .n_rows = st->n_rows,
        .dim = c->d_model,
        .n_stream = c->n_altup,
        .active = c->altup_active,
        .eps = c->eps,
    };
    if (w) {
        a.w_route = w->altup_router_norm;
        a.router = w->altup_router;
        a.coef = w->altup_predict;
        a.w_in = w->attn_norm;
        a.xn = st->xn;
    }
    myth_altup_predict(st->s, &a);
    st->pend = st->w_post = (myth_view){0};
}

static void sparse_ffn(myth_step *st, uint32_t l)
{
    const myth_config *c = st->c;
    const myth_layer_config *lc = &c->layer[l];
    const myth_layer_weights *w = &st->w->layer[l];
    myth_rms_norm(st->s, &(struct myth_rms_norm_args){
                             .y = st->xn,
                             .x = st->x,
                             .w = w->ffn_norm,
                             .n_rows = st->n_rows,
                             .dim = c->d_model,
                             .eps = c->eps,
                         });
    project(st, st->h, st->xn, w->w_gate, myth_step_low(st, l, MYTH_LOW_GATE), c->d_model, lc->d_ff);
    project(st, st->up, st->xn, w->w_up, myth_step_low(st, l, MYTH_LOW_UP), c->d_model, lc->d_ff);
    myth_geglu_sparse(st->s, &(struct myth_geglu_sparse_args){
                                 .h = st->h,
                                 .g = st->h,
                                 .up = st->up,
                                 .n_rows = st->n_rows,
                                 .d_ff = lc->d_ff,
                                 .z = lc->gate_z,
                             });
    myth_step_hook_input(st, MYTH_HOOK_MLP_IN, w->ffn_norm, l);
    project(st, st->branch, st->h, w->w_down, myth_step_low(st, l, MYTH_LOW_DOWN), lc->d_ff, c->d_model);
    myth_step_hooked(st, MYTH_HOOK_MLP_OUT, l);
}

static void run_layer(myth_step *st, myth_view h, uint32_t l)
{
    const myth_config *c = st->c;
    const myth_layer_config *lc = &c->layer[l];
    const myth_layer_weights *w = &st->w->layer[l];
    const myth_view u = st->altup, laurel = stream_at(st, u, 1), low = stream_at(st, u, 2),
                    own = stream_at(st, h, c->altup_active);

    predict(st, h, w);
    project(st, low, st->xn, w->laurel_left, myth_step_low(st, l, MYTH_LOW_LAUREL_LEFT), c->d_model, c->laurel_rank);
    project(st, laurel, low, w->laurel_right, myth_step_low(st, l, MYTH_LOW_LAUREL_RIGHT), c->laurel_rank, c->d_model);
    st->x = own;
    myth_step_attention(st, l, 0.0f); /* writes the same xn again, or leaves it as it is */
    myth_laurel_merge(st->s, &(struct myth_laurel_merge_args){
                                 .u = u,
                                 .x = own,
                                 .xn = st->xn,
                                 .attn = st->branch,
                                 .laurel = laurel,
                                 .w_attn = w->post_attn_norm,
                                 .w_laurel = w->laurel_norm,
                                 .n_rows = st->n_rows,
                                 .dim = c->d_model,
                                 .eps = c->eps,
                             });

    st->x = u;
    if (lc->is_sparse)
        sparse_ffn(st, l);
    else
        myth_step_ffn(st, l);
    myth_altup_correct(st->s, &(struct myth_altup_correct_args){
                                  .x = h,
                                  .u = u,
                                  .pend = st->branch,
                                  .w_post = w->post_ffn_norm,
                                  .w_route = w->altup_router_norm,
                                  .router = w->altup_router,
                                  .coef = w->altup_correct,
                                  .gate = st->xn,
                                  .w_gate = c->altup_correct_scale ? w->altup_scale : (myth_view){0},
                                  .n_rows = st->n_rows,
                                  .dim = c->d_model,
                                  .n_stream = c->n_altup,
                                  .active = c->altup_active,
                                  .eps = c->eps,
                              });

    st->x = st->xn; /* the gate reads the corrected stream, scaled */
    myth_step_ple(st, l);
    st->x = own;
    const myth_view pend = st->pend, w_post = st->w_post;
    if (c->altup_active == 0) /* the per-layer branch is added to the streams after the first only */
        st->pend = st->w_post = (myth_view){0};
    myth_step_captured(st, l + 1);
    st->pend = pend;
    st->w_post = w_post;
    st->x = h;
}

void myth_gemma3n_layers(myth_step *st)
{
    const myth_view h = st->x;
    if (st->layer0 == 0)
        make_streams(st, h);
    for (uint32_t l = st->layer0; l < st->layer1; l++) {
        /* laurel_merge and altup_correct add the branches of attention and feed-forward with their post norms. The
         * per-layer branch stays pending: predict adds it at the start of the next layer. */
        if (l == st->c->first_shared && st->n_keep < st->n_rows)
            predict(st, h, NULL); /* dropping rows adds a pending branch to one stream only */
        if (!myth_step_begin_layer(st, l))
            return;
        run_layer(st, h, l);
    }
    predict(st, h, NULL);
    if (st->layer1 == st->c->n_layer)
        merge_streams(st, h);
}
