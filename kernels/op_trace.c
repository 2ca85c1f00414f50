/* op_trace.c - the trace: one line for each op that runs, with its name, shape and microseconds, then the mean, rms,
 * largest magnitude and FNV-1a hash of its main output. The first line in which the traces of two devices differ names
 * the op that computes something else. */
#define _GNU_SOURCE
#include "op_impl.h"

#include "engine/base/half.h"

#include <math.h>
#include <stdio.h>

#define TRACE(name, view, count, ...)                                                   \
    void myth_trace_##name(struct myth_op_trace *t, const struct myth_##name##_args *a) \
    {                                                                                   \
        snprintf(t->shape, sizeof(t->shape), __VA_ARGS__);                              \
        t->out = (view);                                                                \
        t->n = (count);                                                                 \
    }

TRACE(embed_gather, a->y, (uint64_t)a->n_rows * a->dim, "rows=%u dim=%u", a->n_rows, a->dim)
TRACE(rope_table, a->table, (uint64_t)a->n_rows * a->head_dim, "rows=%u head_dim=%u", a->n_rows, a->head_dim)
TRACE(rms_norm, a->y, (uint64_t)a->n_rows * a->dim, "rows=%u dim=%u", a->n_rows, a->dim)
TRACE(proj, a->y, (uint64_t)a->n_rows * a->n_out, "rows=%u in=%u out=%u", a->n_rows, a->n_in, a->n_out)
TRACE(add_low_rank, a->y, (uint64_t)a->n_rows * a->n_out, "rows=%u out=%u rank=%u", a->n_rows, a->n_out, a->rank)
TRACE(norm_qkv_rope_store, a->q, (uint64_t)a->n_rows * a->n_head * a->head_dim,
      "rows=%u dim=%u heads=%u/%u head_dim=%u", a->n_rows, a->dim, a->n_head, a->n_head_kv, a->head_dim)
TRACE(qkv_rope_store, a->q, (uint64_t)a->n_rows * a->n_head * a->head_dim, "rows=%u heads=%u/%u head_dim=%u", a->n_rows,
      a->n_head, a->n_head_kv, a->head_dim)
TRACE(attn_prefill, a->o, (uint64_t)a->n_rows * a->n_head * a->head_dim, "rows=%u heads=%u/%u head_dim=%u window=%u",
      a->n_rows, a->n_head, a->n_head_kv, a->head_dim, a->window)
TRACE(attn_decode, a->o, (uint64_t)a->n_rows * a->n_head * a->head_dim, "rows=%u heads=%u/%u head_dim=%u window=%u",
      a->n_rows, a->n_head, a->n_head_kv, a->head_dim, a->window)
TRACE(attn_mass, a->mass, (uint64_t)a->attn.n_rows * a->n_key, "rows=%u heads=%u/%u head_dim=%u window=%u keys=%u",
      a->attn.n_rows, a->attn.n_head, a->attn.n_head_kv, a->attn.head_dim, a->attn.window, a->n_key)
TRACE(kv_merge, a->k_new, 0, "runs=%u kv_heads=%u head_dim=%u", a->n_run, a->n_head_kv, a->head_dim)
TRACE(norm_ffn_geglu, a->h, (uint64_t)a->n_rows * a->d_ff, "rows=%u dim=%u d_ff=%u", a->n_rows, a->dim, a->d_ff)
TRACE(geglu, a->h, (uint64_t)a->n_rows * a->d_ff, "rows=%u d_ff=%u", a->n_rows, a->d_ff)
TRACE(gather_norm, a->y, (uint64_t)a->n_gather * a->dim, "rows=%u dim=%u", a->n_gather, a->dim)
TRACE(head_topk, a->top_logit, (uint64_t)a->n_rows * a->k, "rows=%u dim=%u vocab=%u k=%u", a->n_rows, a->dim,
      a->n_vocab, a->k)
TRACE(head_logits, a->y, a->n_vocab, "dim=%u vocab=%u", a->dim, a->n_vocab)
TRACE(decode_next, a->ids, 0, "rows=%u k=%u", a->n_rows, a->k)
TRACE(copy, a->dst, 0, "bytes=%llu", (unsigned long long)a->bytes)
TRACE(capture_sum, a->sum, 0, "rows=%u dim=%u labels=%u", a->n_gather, a->dim, a->n_label)
TRACE(ple_merge, a->p, (uint64_t)a->n_rows * a->n_layer * a->n_ple, "rows=%u layers=%u width=%u", a->n_rows, a->n_layer,
      a->n_ple)
TRACE(ple_gate, a->h, (uint64_t)a->n_rows * a->n_ple, "rows=%u dim=%u width=%u", a->n_rows, a->dim, a->n_ple)
TRACE(moe_route, a->weight, (uint64_t)a->n_rows * a->k, "rows=%u experts=%u k=%u", a->n_rows, a->n_expert, a->k)
TRACE(moe_geglu, a->h, (uint64_t)a->n_rows * a->k * a->d_ff, "rows=%u experts=%u k=%u dim=%u d_ff=%u", a->n_rows,
      a->n_expert, a->k, a->dim, a->d_ff)
TRACE(moe_down, a->y, (uint64_t)a->n_rows * a->dim, "rows=%u experts=%u k=%u dim=%u d_ff=%u", a->n_rows, a->n_expert,
      a->k, a->dim, a->d_ff)
TRACE(altup_predict, a->x, (uint64_t)a->n_stream * a->n_rows * a->dim, "rows=%u dim=%u streams=%u", a->n_rows, a->dim,
      a->n_stream)
TRACE(altup_correct, a->x, (uint64_t)a->n_stream * a->n_rows * a->dim, "rows=%u dim=%u streams=%u", a->n_rows, a->dim,
      a->n_stream)
TRACE(altup_match, a->y.buf ? a->y : a->u, (uint64_t)(a->y.buf ? 1 : a->n_u) * a->n_rows * a->dim,
      "rows=%u dim=%u streams=%u", a->n_rows, a->dim, a->n_u + 1)
TRACE(laurel_merge, a->u, (uint64_t)a->n_rows * a->dim, "rows=%u dim=%u", a->n_rows, a->dim)
TRACE(geglu_sparse, a->h, (uint64_t)a->n_rows * a->d_ff, "rows=%u d_ff=%u", a->n_rows, a->d_ff)

/* Reads the f32 output back in pieces, so that a device without host-visible memory needs no buffer for it. */
void myth_trace_log(myth_stream *s, const char *name, double us, const struct myth_op_trace *t)
{
    enum { PIECE = 512 };
    float piece[PIECE];
    double sum = 0.0, sum_sq = 0.0, largest = 0.0;
    uint64_t hash = 14695981039346656037ull, n = t->out.dtype == MYTH_F32 ? t->n : 0;
    for (uint64_t at = 0; at < n; at += PIECE) {
        uint64_t count = n - at < PIECE ? n - at : PIECE;
        s->dev->vt->read(s, piece, myth_view_at(t->out.buf, t->out.off + at * 4, MYTH_F32), count * 4);
        myth_error late;
        if (s->dev->vt->sync(s, &late) != MYTH_OK)
            return;
        for (uint64_t i = 0; i < count; i++) {
            double v = (double)piece[i];
            sum += v;
            sum_sq += v * v;
            largest = fabs(v) > largest ? fabs(v) : largest;
            hash = (hash ^ myth_f32_bits(piece[i])) * 1099511628211ull;
        }
    }
    double count = n ? (double)n : 1.0;
    char line[256];
    snprintf(line, sizeof(line), "%-20s %-52s %9.1f us  mean %+.6e rms %.6e max %.6e hash %016llx", name, t->shape, us,
             sum / count, sqrt(sum_sq / count), largest, (unsigned long long)hash);
    /* Written whatever the log's level is, because the user asked for the trace itself. */
    s->dev->log->write(s->dev->log->user, MYTH_LOG_INFO, "ops", line);
}
