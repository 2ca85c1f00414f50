/* engine_impl.h - the engine's own structs, for engine.c, seq.c, forward.c.
 *
 * Parts    every part has the same pages and rings by number, each with the rows of its own layers, and copies of the
 *          page tables and of a step's index arrays; the residual goes from part to part through the host */
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
    uint32_t slot;       /* row of the page tables on the device                     */
    int32_t *token;      /* [n_ctx], of the rows held                                */
    uint32_t n_new;      /* tokens that the forward under way appends                */
    myth_kv_needs need;  /* of the same forward                                      */
    bool has_ephemeral;  /* the forward under way branches off it                    */
    bool is_table_stale; /* its pages or ring changed since they were written to the device: the next forward does */
    myth_kv_rows *kv;
};

typedef struct {
    uint32_t slot; /* of its sequence; UINT32_MAX = free                        */
    myth_kv_rows *kv;
} myth_checkpoint;

/* Index arrays of a micro-batch (layout.h) on the host, and how much of them the micro-batch fills. */
typedef struct {
#define INDEX(name) int32_t *name;
    MYTH_INDEX_ARRAYS(INDEX)
#undef INDEX
    uint32_t n_rows, n_run, n_keep;
} myth_step_index;

/* The same arrays in a part's index buffer, at the same offsets. */
typedef struct {
#define INDEX(name) myth_view name;
    MYTH_INDEX_ARRAYS(INDEX)
#undef INDEX
} myth_index_views;

/* Consecutive layers on one device. */
typedef struct {
    const myth_layout_part *y;
    myth_device *dev;
    myth_stream *stream;
    myth_buf *buf[MYTH_BUF_N];
    myth_buf **wrapped; /* [n_shard]; NULL = the part has copies */
    myth_engine *e;
    myth_index_views index;
    myth_stream *copier; /* brings offloaded weights */
    myth_buf *slot[2];
    uint64_t slot_mark[2]; /* in `stream`: what used the slot last is done */
    void *held[2];
    myth_step step;
    myth_graph *graph; /* its decode step of graph_rows rows */
    uint32_t graph_rows;
    struct {
        myth_view pend, w_post;
        float x_scale;
    } graph_end;       /* the branch that its layers left pending */
    bool graph_is_run; /* with the choice of the next token: run.c; run_key says how it is chosen */
} myth_part;

struct myth_engine {
    myth_model *model;
    myth_mem *mem;
    myth_layout y;
    myth_plan plan;
    myth_part *part; /* [n_part], inside the engine block, as are the next two */
    uint32_t n_part;
    void *host[MYTH_HOST_N];
    myth_buf **wrapped; /* [n_wrapped]: the files, once for each part that reads them in place */
    myth_buf **matrix;  /* [n_layer + 2]: copies of each layer's matrices, of the embedding, of the head */
    myth_buf **expert;  /* [n_layer]: experts in host memory; NULL = no layer has them there */
    myth_bound_weights *w;
    myth_kvcache kv;
    myth_kv_rows *rows;          /* of the sequences, then of the checkpoints */
    myth_seq *seq;               /* [n_seq]        */
    myth_checkpoint *checkpoint; /* [n_checkpoint] */
    myth_step_index idx;
    struct {
        myth_sample_params sample;
        uint32_t k, n_stop, seq_number;
    } run_key;
    float embed_scale;           /* of a float32 run in exact mode: sqrt(d) not rounded      */
    uint32_t n_vocab_choice;     /* rows of the head that may be chosen: those with a piece */
    uint32_t n_result, k_result; /* of the last forward */
    bool has_result_bias;        /* its biases lie on the device */
    myth_error first_failure;    /* of the forward under way, when it had to synchronise early */
    float *result_logit, *result_lse, *result_entropy, *result_ask;
    int32_t *result_id;
    uint64_t *n_captured; /* [n_capture_label] rows in the sums */
    bool is_capture_torn; /* a forward failed: counted rows may be missing in the sums */
};

/* Engine block: the struct, the parts, the sequences, the checkpoints, their cache rows, the buffers of weights. */
uint64_t myth_engine_block_bytes(const myth_layout *y, uint32_t n_layer);
/* Writes slot's row of the page tables to every device, before a step reads it. */
void myth_engine_write_table(myth_engine *e, const myth_seq *s);
/* All streams; the first failure, in the order of the parts. */
myth_status myth_engine_sync(myth_engine *e, myth_error *err);
/* The parts of a forward that run.c shares. Of a step, e->idx and the part's step say the rows. */
myth_status myth_forward_reserve(myth_engine *e,
                                 myth_error *err); /* pages, rings and copies for every sequence's n_new */
void myth_forward_put_run(myth_engine *e, const myth_seq *s, const int32_t *token, uint32_t n,
                          bool is_ephemeral); /* into e->idx */
void myth_forward_write_index(const myth_engine *e, const myth_part *p);
/* Behind all layers but the last part's the pending branch is folded in, so that x alone goes on to the next part. */
void myth_forward_run_layers(const myth_engine *e, myth_part *p);
/* y = rows of the residual that the index names, with the step's pending branch; normed when w is given. */
void myth_forward_gather(const myth_engine *e, const myth_part *p, myth_view y, myth_view w, uint32_t n);
/* The table's rows of the micro-batch's ids to the first part, where the host gathers them; a failure is
 * e->first_failure. */
void myth_ple_bring(myth_engine *e, const myth_part *p);
/* Counts the micro-batch's rows that have a label (label[r] is row r's) and puts them into e->idx; returns how many. */
uint32_t myth_capture_choose(myth_engine *e, const int32_t *label);
/* The n chosen rows to a part's index, then to the sums of residual `layer` when that is captured. */
void myth_capture_write_index(const myth_engine *e, const myth_part *p, uint32_t n);
void myth_capture_add(const myth_engine *e, const myth_part *p, uint32_t layer, uint32_t n);
/* Part i: its device and stream, then (once every part is open) its buffers, then the views that each step uses. Close
 * takes a part that was opened in part. */
myth_status myth_part_open(myth_engine *e, uint32_t i, myth_error *err);
myth_status myth_part_open_buffers(myth_engine *e, uint32_t i, myth_error *err);
void myth_part_prepare_step(myth_engine *e, myth_part *p);
void myth_part_close(myth_engine *e, myth_part *p);
/* The first n values of an index array to the device; dst is one of p->index. */
static inline void myth_index_write(const myth_part *p, myth_view dst, const int32_t *src, uint32_t n)
{
    myth_stream_write(p->stream, dst, src, 4 * (uint64_t)n);
}
static inline myth_part *myth_engine_last(const myth_engine *e) { return &e->part[e->n_part - 1]; }
static inline myth_view myth_part_view(const myth_part *p, int buf, uint64_t off, myth_dtype t)
{
    return p->buf[buf] ? myth_view_at(p->buf[buf], off, t) : (myth_view){0};
}

#ifdef __cplusplus
}
#endif
#endif
