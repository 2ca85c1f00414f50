/* engine_impl.h - the engine's own structs, for engine.c, seq.c, forward.c. */
#ifndef MYTH_ENGINE_IMPL_H
#define MYTH_ENGINE_IMPL_H

#include "kvcache.h"
#include "step.h"

#ifdef __cplusplus
extern "C" {
#endif

struct myth_seq {
    myth_engine *e;
    bool is_open;
    uint32_t slot;                    /* row of the page tables on the device                     */
    int32_t *token;                   /* [n_ctx], of the rows held                                */
    uint32_t n_new;                   /* tokens that the forward under way appends                */
    myth_kv_needs need;               /* of the same forward                                      */
    bool has_ephemeral;               /* the forward under way branches off it                    */
    bool is_table_stale;              /* its pages or ring changed since they were written to the device: the next forward does */
    myth_kv_rows *kv;
};

typedef struct {
    uint32_t slot;                    /* of its sequence; UINT32_MAX = free                        */
    myth_kv_rows *kv;
} myth_checkpoint;

/* Index arrays of a micro-batch, on the host; the same offsets (in i32) in the index buffer. */
typedef struct {
    int32_t *block;
    int32_t *id, *pos, *row_run, *rows, *runs;
    uint32_t n_rows, n_run;
} myth_step_index;

struct myth_engine {
    myth_model *model;
    myth_mem *mem;
    myth_layout y;
    myth_plan plan;
    myth_device *dev;
    myth_stream *stream;
    myth_buf *buf[MYTH_BUF_N];
    void *host[MYTH_HOST_N];
    myth_buf **wrapped;               /* [n_shard], inside the engine block */
    uint32_t n_wrapped;
    myth_bound_weights *w;
    myth_kvcache kv;
    myth_seq *seq;                    /* [n_seq]        */
    myth_checkpoint *checkpoint;      /* [n_checkpoint] */
    myth_step_index idx;
    myth_step step;
    myth_graph *graph;                /* a decode step of graph_rows rows */
    uint32_t graph_rows;
    bool graph_is_run;                /* with the choice of the next token: run.c; run_key says how it is chosen */
    struct { myth_sample_params sample; uint32_t k, n_stop, seq_number; } run_key;
    float embed_scale;                /* of a float32 run in exact mode: sqrt(d) not rounded      */
    uint32_t n_vocab_choice;          /* rows of the head that may be chosen: those with a piece */
    uint32_t n_result, k_result;      /* of the last forward */
    myth_error first_failure;         /* of the forward under way, when it had to synchronise early */
    float *result_logit, *result_lse, *result_entropy, *result_ask;
    int32_t *result_id;
};

/* Engine block: the struct, the sequences, the checkpoints, their cache rows, the wrapped buffers. */
uint64_t myth_engine_block_bytes(const myth_layout *y, uint32_t n_shard);
/* Writes slot's row of the page tables to the device, before a step reads it. */
void myth_engine_write_table(myth_engine *e, const myth_seq *s);
/* The parts of a forward that run.c shares. */
myth_status myth_forward_reserve(myth_engine *e, myth_error *err);            /* pages, rings and copies for every sequence's n_new */
void myth_forward_put_run(myth_engine *e, const myth_seq *s, const int32_t *token, uint32_t n, bool is_ephemeral);      /* into e->idx */
void myth_forward_write_index(myth_engine *e);
void myth_forward_run_layers(myth_engine *e);
/* y = rows of the residual that the index names, with the pending branch; normed when w is given. */
void myth_forward_gather(myth_engine *e, myth_view y, myth_view w, myth_view pend, myth_view w_post, uint32_t n);
uint32_t myth_model_n_shard(const myth_model *m);
static inline myth_view myth_engine_view(const myth_engine *e, int buf, uint64_t off, myth_dtype t)
{
    return e->buf[buf] ? myth_view_at(e->buf[buf], off, t) : (myth_view){ 0 };
}

#ifdef __cplusplus
}
#endif
#endif
