/* engine_impl.h - the engine's own structs, and the functions that the files of engine/run share. Tests may include it;
 * other rooms may not.
 *
 * Parts    every part uses the same page and ring numbers, with the rows of its own layers in them. Each has copies of
 *          the page tables and of a step's index arrays. The residual goes from part to part through host memory
 * Owner    the engine owns everything here; close frees it
 * Threads  as in engine.h: one thread at a time */
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
    uint32_t slot;       /* this sequence's row of the page tables on the device     */
    int32_t *token;      /* [n_ctx], the tokens held                                 */
    int32_t *place;      /* [n_ctx], the position of each, when n_extra > 0; NULL = the engine has no sets */
    uint32_t n_extra;    /* rows besides one a position                              */
    uint32_t n_new;      /* tokens that the present forward appends                  */
    uint32_t n_wrote;    /* those of them whose micro-batch was issued               */
    uint32_t n_last;     /* those of the micro-batch that was issued last            */
    myth_kv_needs need;  /* pages and rings that the present forward takes           */
    bool has_ephemeral;  /* the present forward has an ephemeral run after it        */
    bool is_table_stale; /* pages or ring changed; the next forward must write its row of the table to the device */
    myth_kv_rows *kv;
};

typedef struct {
    uint32_t slot; /* the slot of its sequence; UINT32_MAX = free */
    myth_kv_rows *kv;
} myth_checkpoint;

/* The index arrays of a micro-batch (layout.h) on the host; only their first n_rows, n_run and n_keep items are set. */
typedef struct {
#define INDEX(name) int32_t *name;
    MYTH_INDEX_ARRAYS(INDEX)
#undef INDEX
    uint32_t n_rows, n_run, n_keep;
    myth_set_kind set; /* the rows are a set; NONE = they are not */
    uint32_t window;   /* rows that local layers see, of a set */
    uint32_t n_mass;   /* rows before the set whose attention is wanted */
} myth_step_index;

/* The same arrays in a part's index buffer, at the same offsets. */
typedef struct {
#define INDEX(name) myth_view name;
    MYTH_INDEX_ARRAYS(INDEX)
#undef INDEX
} myth_index_views;

/* Consecutive layers on one device. */
typedef struct {
    const myth_layout_part *layout;
    myth_device *dev;
    myth_stream *stream;
    myth_buf *buf[MYTH_BUF_N];
    myth_buf **wrapped; /* [n_shard]; NULL = the part has copies */
    myth_engine *e;
    myth_index_views index;
    myth_stream *copier;   /* a second stream that fills the slots */
    myth_buf *slot[2];     /* offload.h */
    uint64_t slot_mark[2]; /* mark in `stream`: once passed, the slot may be overwritten */
    bool is_ahead;         /* the layer before the one whose slot is filled may still be computed */
    myth_offload_counts moved;
    void *held[2]; /* host memory: offloaded weights of a random: model, or offloaded pages and rings */
    myth_step step;
    myth_graph *graph; /* the recorded decode step of graph_rows rows; NULL = none */
    uint32_t graph_rows;
    struct {
        myth_view pend, w_post;
        float x_scale;
    } graph_end;       /* the prologue (step.h) that the recorded layers leave for the next op */
    bool graph_is_run; /* the graph also chooses the next token (run.c), in the way that run_key says */
} myth_part;

struct myth_engine {
    myth_model *model;
    myth_mem *mem;
    myth_layout layout;
    myth_plan plan;
    myth_part *part; /* [n_part], inside the engine block, as are the next two */
    uint32_t n_part;
    void *host[MYTH_HOST_N];
    myth_buf **wrapped; /* [n_wrapped]: the files, once for each part that reads them in place */
    myth_buf **matrix;  /* [n_layer + 2]: copies of each layer's matrices, of the embedding, of the head */
    myth_buf **expert;  /* [n_layer]: experts in host memory; NULL = no layer has them there */
    myth_bound_weights *w;
    myth_layer_low *low; /* [n_layer + 1], the last the model's own; NULL = no adapter */
    myth_kvcache kv;
    myth_kv_rows *rows;          /* of the sequences, then of the checkpoints */
    myth_seq *seq;               /* [n_seq]        */
    myth_checkpoint *checkpoint; /* [n_checkpoint] */
    myth_step_index idx;
    struct {
        myth_sample_params sample;
        uint32_t k, n_stop, seq_number;
    } run_key;
    float embed_scale;           /* sqrt(d_model); rounded as the config says, except in exact mode    */
    uint32_t n_vocab_choice;     /* ids that may be chosen: the head may have more rows than the tokenizer has pieces */
    uint32_t n_result, k_result; /* logits rows of the last forward, and its top_k */
    bool has_result_bias;        /* the biases of the last forward are on the device */
    myth_error first_failure;    /* first error inside the present forward; later micro-batches are then skipped */
    float *result_logit, *result_lse, *result_entropy, *result_ask;
    float *result_mass; /* [2, n_logit_rows, n_mass]: the sum over the parts; one part's */
    int32_t *result_id;
    uint64_t *n_captured; /* [n_capture_label] rows in the sums */
    bool is_capture_torn; /* a forward failed, so rows that were counted may be missing in the sums */
};

/* Bytes of the engine block: the struct, the parts, the sequences, the checkpoints, their cache rows, the buffers of
 * weights. */
uint64_t myth_engine_block_bytes(const myth_layout *layout, uint32_t n_layer);
/* Writes the row of s in the page tables to every device, before a step reads it. */
void myth_engine_write_table(myth_engine *e, const myth_seq *s);
/* Copies a page (or ring) on every part, because a sequence is about to write to one that it shares. */
void myth_engine_copy_page(myth_engine *e, bool is_ring, myth_kv_copy c);
/* Waits for the streams of all parts. Returns the first failure, in the order of the parts; a cancel is none where a
 * part has failed. */
myth_status myth_engine_sync(myth_engine *e, myth_error *err);
/* Says that logits are infinite or NaN, and returns MYTH_EFORMAT. */
myth_status myth_engine_bad_logits(const myth_engine *e, myth_error *err);
/* The same where rows first .. first + n - 1 of the result have such logits. may_forbid_all: masks or biases may forbid
 * every id of a row, which is no fault of the model. */
myth_status myth_engine_check_logits(const myth_engine *e, uint32_t first, uint32_t n, bool may_forbid_all,
                                     myth_error *err);
/* Whether a cancel has ended the layers of the present micro-batch before their end. */
bool myth_engine_is_cut(const myth_engine *e);

/* The position in the text of the next token of s; the first row that a local layer must hold when s holds n rows and a
 * token is next. */
static inline uint32_t myth_seq_next_place(const myth_seq *s) { return myth_kv_len(s->kv) - s->n_extra; }
uint32_t myth_seq_first_needed(const myth_seq *s, uint32_t n);
/* Keeps `place` and n_extra: a set of n tokens is written behind the first len ones, or, with n 0, s was cut to len. */
void myth_seq_place(myth_seq *s, uint32_t len, uint32_t n);
/* Whether a set run may extend its sequence: MYTH_EARG, MYTH_EFULL, MYTH_EUNSUPPORTED. */
myth_status myth_seq_check_set(const myth_seq *s, const myth_batch *b, myth_error *err);
/* Adds the rows of a set to e->idx. */
void myth_forward_put_set(myth_engine *e, const myth_batch_run *run);
/* Clears the sums of attention of all parts before the layers of a set; waits for the layers and adds them up. */
void myth_forward_clear_mass(myth_engine *e);
void myth_forward_take_mass(myth_engine *e);
/* Whether a batch is a set that has to be treated as one: a set of one token is a token. */
bool myth_batch_is_set(const myth_batch *b);

/* Gives up the last n tokens of s, which a forward appended and nobody knows: s stands where it stood before them,
 * behind a gap too, or holds less where its rings were overwritten. */
void myth_seq_take_back(myth_seq *s, uint32_t n);
/* Takes back what the present forward appended to every sequence, or its last micro-batch alone, and gives back pages
 * that hold no row. */
void myth_engine_take_back(myth_engine *e, bool is_last);

/* The steps of a forward that run.c uses too. e->idx and the part's step say which rows the micro-batch has. */

/* Takes pages and rings for the n_new tokens of every sequence, and copies those that are shared. MYTH_EFULL: there are
 * not enough; nothing was taken. */
myth_status myth_forward_reserve(myth_engine *e, myth_error *err);
/* Adds a run of n tokens of s to e->idx. */
void myth_forward_put_run(myth_engine *e, const myth_seq *s, const int32_t *token, uint32_t n, bool is_ephemeral);
void myth_forward_write_index(const myth_engine *e, const myth_part *p); /* e->idx to the part's device */
/* Issues the part's layers, on the first part after the embedding. After the layers of every part but the last it adds
 * the pending branch to x, so that only x has to go to the next part. */
void myth_forward_run_layers(const myth_engine *e, myth_part *p);
/* y [n, d_model] = the rows of x that the index array `rows` names, with the pending branch added; normed with w unless
 * w is empty. */
void myth_forward_gather(const myth_engine *e, const myth_part *p, myth_view y, myth_view w, uint32_t n);
/* Where the host gathers rows of the per-layer embeddings: writes those of the micro-batch's ids to the first part. A
 * failure goes to e->first_failure. */
void myth_ple_bring(myth_engine *e, const myth_part *p);
/* Adds the rows that have a label (label[r] is that of row r) to e->idx and to the counts. Returns how many. */
uint32_t myth_capture_choose(myth_engine *e, const int32_t *label);
/* Writes these n rows' numbers and labels to the part's device. */
void myth_capture_write_index(const myth_engine *e, const myth_part *p, uint32_t n);
/* Adds these n rows of residual `layer` to the sums when that residual is captured. */
void myth_capture_add(const myth_engine *e, const myth_part *p, uint32_t layer, uint32_t n);
/* Opens part i in three steps: its device and stream; once all parts have those, its buffers; then the views that each
 * step uses. Close accepts a part at any stage. */
myth_status myth_part_open(myth_engine *e, uint32_t i, myth_error *err);
myth_status myth_part_open_buffers(myth_engine *e, uint32_t i, myth_error *err);
void myth_part_prepare_step(myth_engine *e, myth_part *p);
void myth_part_close(myth_engine *e, myth_part *p);
/* Writes the first n values of an index array to the device; dst is one of p->index. */
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
