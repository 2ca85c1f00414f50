/* engine.h - the one public face: model, engine, sequence, forward, generate.
 *
 *   myth_model_open    model.h: a model's facts, tokenizer and (level DATA) tensors; enough for tokenize, prompt, plan
 *   myth_engine_open   the model on a device, with its cache and workspaces: every byte as the plan said, nothing later
 *   myth_seq_*         a sequence is its tokens (host) plus its rows in the cache; what is evicted leaves both
 *   myth_forward       tokens of any number of sequences at once; logits or hidden rows where asked
 *   myth_capture_*     means of residual rows over any number of tokens, summed on the device
 *   myth_generate      the loop: forward, reduce, (grammar,) choose, until a stop token, a limit or a cancel
 *
 * Units    tokens, positions from 0, bytes
 * Owner    openers close: sequences before their engine, the engine before its model, the model before its mem
 * Errors   MYTH_ENOFIT the plan exceeds the limit (nothing was taken), MYTH_EFULL context or pool exhausted (nothing
 *          changed), MYTH_ELOST device lost: close and rebuild from myth_seq_tokens
 * Threads  one thread per engine; models are immutable after open
 *   embed.h            vectors of whole texts, by models that see both ways
 *
 * Source   Gemma 1-3 reports */
#ifndef MYTH_ENGINE_H
#define MYTH_ENGINE_H

#include "engine/base/cancel.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"
#include "engine/base/sampler.h"
#include "engine/text/channel.h"
#include "engine/text/chat.h"
#include "engine/text/grammar.h"
#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- plan ---- */

enum { MYTH_SPLIT_MAX = 8, MYTH_PLAN_DEVICE_MAX = 9 };

/* What of a device's layers stays in host memory and is brought to it layer by layer, step by step. */
typedef enum { MYTH_OFFLOAD_NONE, MYTH_OFFLOAD_WEIGHTS, MYTH_OFFLOAD_KV } myth_offload;

/* Where the table of per-layer embeddings stays; only rows of it are ever read. On the CPU the mapped file is the
 * table. */
typedef enum { MYTH_PLE_AUTO, MYTH_PLE_DISK, MYTH_PLE_HOST, MYTH_PLE_DEVICE } myth_ple_place;

typedef struct { /* zero = default */
    const char
        *device; /* "auto", "cpu", "cuda:N", "vulkan:N", or several behind commas: their layers follow in this order */
    bool
        /* the last n_gpu_layers layers and the head on the devices, the rest on the CPU; false = all on them */
        has_gpu_layers;
    uint32_t n_gpu_layers;
    float split[MYTH_SPLIT_MAX]; /* share of the layers that each device gets; all 0 = equal       */
    myth_offload offload;        /* of the first n_offload layers of every device but the CPU (0 = of all) */
    uint32_t n_offload;
    uint32_t
        /* the experts of the model's first so many layers stay in host memory, and devices but the CPU, which has them
         * there anyway, read those that are chosen over the bus. With offload too: what is offloaded is the rest */
        n_cpu_moe;
    myth_ple_place
        ple;         /* auto = host: rows are gathered by the host where the device does not read the file in place */
    bool no_kv_fold; /* layers whose values are their keys' norm store both; else values only: half the bytes */
    bool
        /* rows that nothing is asked of run through layers without K/V of their own too: the same results, slower */
        no_kv_skip;
    int n_threads;         /* 0 = all                                                        */
    const char *cpu_level; /* NULL = environment, then best                                  */
    bool is_exact;         /* float32 activations, f32 cache, reference order                */
    uint32_t n_ctx;        /* tokens held per sequence; 0 = 4096, at most the model's         */
    uint32_t n_seq;        /* sequences alive at once; 0 = 1                                  */
    uint32_t n_checkpoint; /* checkpoints and forks whose rings may differ, beyond n_seq      */
    uint32_t n_ubatch;     /* rows of a step; 0 = 512, at most n_ctx * n_seq                  */
    uint32_t n_logit_rows; /* rows that may want logits in one forward; 0 = n_seq              */
    uint32_t top_k;        /* largest k asked of the reduction; 0 = 1                          */
    uint32_t n_ask;        /* asked ids per row                                               */
    uint32_t n_bias;       /* sparse biases per forward                                        */
    uint32_t n_mask;       /* masks per forward                                                */
    bool want_full_logits; /* a full row may be asked for                                      */
    bool want_hidden;      /* hidden or final rows may be asked for                            */
    const uint32_t *
        /* residuals to sum: 0 = scaled embedding, i = after layer i; each once; lent until open returns */
        capture_layer;
    uint32_t n_capture_layer;
    uint32_t n_capture_label;  /* sums of each; 0 = 1                                              */
    uint32_t page_tok;         /* rows of a cache page; 0 = chosen from n_ctx, 64 or near it        */
    myth_dtype type_k, type_v; /* cache types; both 0 (MYTH_F32) with has_cache_type false = f16, f32 when is_exact */
    bool has_cache_type;
    const myth_log *log; /* lent until close */
} myth_engine_opts;

/* By index of the ledger (mem.h, device.h); 0 = none. */
typedef struct {
    uint64_t bytes[MYTH_MEM_DEVICE_MAX];
} myth_mem_limits;

typedef struct {
    char name[32]; /* "cpu" is the host                                  */
    int ledger;
    uint64_t limit_bytes, total_bytes;
    uint64_t bytes[MYTH_MEM_CLASS_N];
} myth_plan_device;

/* Changes of the options and of the host's limit with which a plan fits: the fields whose bits are set. */
enum {
    MYTH_CHANGE_DEVICE = 1,      /* device becomes "cpu", all layers there, nothing offloaded */
    MYTH_CHANGE_LIMIT = 2,       /* the limit of the host's ledger becomes limit_bytes        */
    MYTH_CHANGE_GPU_LAYERS = 4,  /* n_gpu_layers                                              */
    MYTH_CHANGE_CPU_MOE = 8,     /* n_cpu_moe                                                 */
    MYTH_CHANGE_OFFLOAD = 16,    /* the weights of all layers                                 */
    MYTH_CHANGE_CACHE_TYPE = 32, /* type_k and type_v become cache_type                       */
    MYTH_CHANGE_UBATCH = 64,     /* n_ubatch                                                  */
    MYTH_CHANGE_CTX = 128,       /* n_ctx, and page_tok is chosen anew                        */
    MYTH_CHANGE_SEQ = 256,       /* n_seq                                                     */
    MYTH_SUGGESTION_MAX = 8
};
typedef struct {
    uint32_t changes; /* bits above */
    uint32_t n_gpu_layers, n_cpu_moe, n_ubatch, n_ctx, n_seq;
    myth_dtype cache_type;
    uint64_t limit_bytes;
    uint64_t total_bytes; /* what the plan adds up to with them */
} myth_suggestion;

typedef struct {
    bool fits;                                     /* every device                                      */
    uint64_t limit_bytes;                          /* of the host; 0 = none                             */
    uint64_t total_bytes;                          /* peak of the limited classes, all devices together */
    uint64_t bytes[MYTH_MEM_CLASS_N];              /* all devices together                              */
    uint64_t expert_bytes;                         /* of the host's weights: experts that other devices read there */
    myth_plan_device device[MYTH_PLAN_DEVICE_MAX]; /* the host, then the others in the order of their layers */
    uint32_t n_device;
    uint32_t n_ctx, n_seq, n_ubatch, page_tok, n_page; /* as chosen                                        */
    myth_dtype type_k, type_v;
    myth_suggestion suggestion[MYTH_SUGGESTION_MAX]; /* changes that were planned and fit */
    uint32_t n_suggestion;
} myth_plan;

/* Bytes the caller itself will book, by class, on top of the engine's (the inspector's texts, files to write). */
typedef struct {
    uint64_t bytes[MYTH_MEM_CLASS_N];
} myth_plan_extra;

/* A pure function of the model's headers, the options and the limits ("auto" once resolved). With can_shrink, options
 * left at 0 (n_ubatch, then n_ctx) are lowered until it fits; the cache type never is, since it changes answers. Always
 * answers; *out says whether it fits and what would. extra (on the host) and limits may be NULL. */
myth_status myth_plan_make(myth_plan *out, const myth_model *model, const myth_engine_opts *opts,
                           const myth_plan_extra *extra, const myth_mem_limits *limits, bool can_shrink,
                           myth_error *err);
/* Makes the changes of s in opts and in limits (which may be NULL). */
void myth_suggestion_apply(const myth_suggestion *s, myth_engine_opts *opts, myth_mem_limits *limits);
/* One line about the first device whose limit is exceeded: "needs 1.2 GiB, limit 1.0 GiB". */
void myth_plan_refusal(const myth_plan *plan, char *dst, size_t cap);

/* ---- engine ---- */

typedef struct myth_engine myth_engine;
typedef struct myth_seq myth_seq;

/* Plans with the limits of model->mem, refuses (MYTH_ENOFIT) or takes everything. A device whose ledger has no limit
 * may take what it can spare, one whose ledger has a limit what that leaves beside the models that are open
 * (devices.h); the ledgers' limits are the caller's again afterwards. A device that then refuses what fits is asked
 * once more for as many rows a step as fit into what it gave (the plan says how many they are); the answers are the
 * same. The model was opened with level DATA. */
myth_status myth_engine_open(myth_engine **out, myth_model *model, const myth_engine_opts *opts, myth_error *err);
void myth_engine_close(myth_engine *e);
const myth_plan *myth_engine_plan(const myth_engine *e);
myth_model *myth_engine_model(const myth_engine *e);
const char *myth_engine_device(const myth_engine *e); /* of the last layers: "AMD EPYC, 2 threads, avx512" */

/* ---- sequences ---- */

myth_status myth_seq_open(myth_seq **out, myth_engine *e, myth_error *err); /* MYTH_EFULL past n_seq */
void myth_seq_close(myth_seq *s);
uint32_t myth_seq_len(const myth_seq *s);          /* tokens held                                       */
const int32_t *myth_seq_tokens(const myth_seq *s); /* the tokens held, until the next change            */
uint32_t myth_seq_pos(const myth_seq *s);          /* of the next token: the length and all evicted ones */
/* Tokens that s can take before the context is full: n_ctx less the tokens held, after an eviction up to two pages of
 * rows less. */
uint32_t myth_seq_room(const myth_seq *s);
/* A second sequence with the same tokens, sharing pages and ring until one of them writes. */
myth_status myth_seq_fork(myth_seq **out, myth_seq *s, myth_error *err);
/* Remembers the end of s, so that truncate can come back to it. Takes one of n_checkpoint. */
myth_status myth_seq_checkpoint(myth_seq *s, myth_error *err);
/* Cuts to n tokens. Exact while every ring still holds what the next token's position needs; otherwise returns to the
 * newest checkpoint <= n (or to 0). Back at the gap or before it, the gap is gone and positions go on from n; with n =
 * 0 from 0. *at says where it stands: the caller feeds tokens[*at .. n) again. */
myth_status myth_seq_truncate(myth_seq *s, uint32_t n, uint32_t *at, myth_error *err);
/* Drops tokens from .. from + n - 1 of those held: from the list and from the global layers. The others keep their
 * positions, so nothing is moved or computed; the host's tables change and whole pages return to the pool, those that
 * are shared by reference count. Local layers keep what they hold: it ages out. Later tokens were computed with the
 * dropped ones in sight, so this is "drop", not "recompute"; a rolling chat that must equal a fresh one truncates and
 * feeds the rest again. A sequence has one gap: MYTH_EARG unless the first eviction, or one that touches or encloses
 * what went before. Checkpoints that hold a dropped token are gone; forks stay as they are. What is held is limited
 * (n_ctx), positions are not, up to 2^31 - 1; past those that the model was trained on is the caller's business. */
myth_status myth_seq_evict(myth_seq *s, uint32_t from, uint32_t n, myth_error *err);
/* Makes s hold the tokens ids[0 .. n): goes back to the longest prefix that it shares with them, or as near before it
 * as truncate gets, and feeds what is missing in micro-batches. *n_fed (may be NULL) says how many those were. Nothing
 * is asked of any row: whoever wants the last row's logits syncs n - 1 tokens and feeds the last one. Fails as truncate
 * and myth_forward do; s then holds a prefix of ids. */
myth_status myth_seq_sync(myth_seq *s, const int32_t *ids, uint32_t n, uint32_t *n_fed, myth_error *err);
/* Bytes of s (tokens and its rows in the cache) into dst / back into an empty sequence of an engine with the same model
 * and cache types. MYTH_EFORMAT: of another model (myth_model_hash), another shape, or damaged; s is still empty then.
 */
uint64_t myth_seq_save_bytes(const myth_seq *s);
myth_status myth_seq_save(const myth_seq *s, void *dst, uint64_t cap, myth_error *err);
myth_status myth_seq_restore(myth_seq *s, const void *src, uint64_t bytes, myth_error *err);

/* ---- forward ---- */

enum {
    MYTH_WANT_LOGITS = 1,
    MYTH_WANT_FULL_LOGITS = 2,
    MYTH_WANT_HIDDEN = 4,
    MYTH_WANT_FINAL = 8
}; /* FINAL: behind the final norm */

/* Consecutive tokens of one sequence. */
typedef struct {
    myth_seq *seq;
    const int32_t *token; /* [n], n > 0 */
    uint32_t n;
    uint8_t want;      /* of every token, bits above */
    uint8_t want_last; /* of the last token, as well as want */
    bool
        /* K and V live in this step only. Such a run fits one micro-batch; several may branch off the same sequence,
         * which is not extended in the same forward */
        is_ephemeral;
} myth_batch_run;

/* Arrays per token have the tokens of all runs in order; "token i" is the i-th of them. */
typedef struct {
    const myth_batch_run *run; /* at most one that is not ephemeral for each sequence */
    uint32_t n_run;
    const uint8_t *want; /* per token, as well as what its run wants; NULL = nothing */
    bool is_decode;      /* kind of step: one token per sequence, latency path                                 */
    uint32_t top_k;      /* 0 = 1; at most opts.top_k                                                          */
    const int32_t
        *capture_label; /* per token, the label whose sums its residuals are added to, -1 = none; NULL = none */
    /* per logits row (in token order), all optional */
    const int32_t *mask_idx; /* which mask, -1 = none                                                              */
    const uint32_t *masks;   /* [n_masks, ceil(config.n_vocab / 32)] words, bit = 1: the id may be chosen; lent    */
    uint32_t n_masks;
    const int32_t *bias_off; /* [n_logit_rows + 1], from 0, never falling */
    const int32_t *bias_id;
    const float *bias;
    const int32_t *ask_id;
    uint32_t n_ask; /* [n_logit_rows, n_ask] */
    /* rows that are handed over as they are made; float rows are lent for the call */
    void (*on_full_logits)(void *user, uint32_t tok_idx, const float *row, uint32_t n_vocab);
    void (*on_hidden)(void *user, uint32_t tok_idx, uint32_t layer, const float *row,
                      uint32_t d_model); /* layer 0 = scaled embedding, n_layer + 1 = FINAL */
    void *user;
    const myth_cancel *cancel; /* looked at between micro-batches; may be NULL */
} myth_batch;

typedef struct { /* lent until the next forward */
    uint32_t n_rows, k, n_ask;
    const int32_t *top_id; /* [n_rows, k], -1 past the allowed ones */
    const float *top_logit;
    const float *lse, *entropy; /* [n_rows]                              */
    const float *ask_logit;     /* [n_rows, n_ask]                       */
} myth_result;

/* Models that see both ways (config.is_bidirectional) take whole texts, each an ephemeral run, and have no logits:
 * MYTH_EUNSUPPORTED. Appends the tokens of all non-ephemeral runs. Everything is checked and reserved before the first
 * op: MYTH_EFULL (context, pages, or more rows, masks, biases and asked ids than the engine was opened for) and
 * MYTH_EARG (a token outside the vocabulary, a mask that is not there, rows to hand over without a function that takes
 * them) change nothing. Cancelled between micro-batches: what was computed stays, MYTH_ECANCEL. */
myth_status myth_forward(myth_engine *e, const myth_batch *b, myth_result *out, myth_error *err);
/* Reduces the last forward's logit row `row` again, with the biases that it had there and under this mask instead of
 * its own: exact best allowed tokens. */
myth_status myth_reduce_again(myth_engine *e, uint32_t row, const uint32_t *mask, uint32_t k, myth_result *out,
                              myth_error *err);

/* ---- capture ---- */

/* A token with a capture_label is added, after every captured layer, to that label's sums: each value rounded once to a
 * multiple of 2^-24, then whole numbers. So a mean has the same bits for every order, batch and chunk, memory does not
 * grow with the tokens, and logits are those of a forward without. After a cancel the counts are of the tokens that
 * were summed. */

/* Labels for b's tokens into dst [tokens of all runs] by the usual rules: token i of every run (negative from its end,
 * -1 = the last; a run too short has none), or every token. The k-th run gets run_label[k], -1 leaves it out, NULL =
 * all 0. A run is what this forward holds of a prompt: one fed in pieces has its last token in the last of them.
 * Returns how many tokens got one. */
uint32_t myth_capture_at(int32_t *dst, const myth_batch *b, int32_t i, const int32_t *run_label);
uint32_t myth_capture_every(int32_t *dst, const myth_batch *b, const int32_t *run_label);
/* The mean of a label's rows after a layer into mean [d_model] (zeros when there were none) and how many they were;
 * waits for the device. MYTH_EARG: not a captured layer or label; MYTH_EFORMAT: since the last reset a value of the
 * layer was not finite or too large to sum; MYTH_ELOST: a forward failed on the way. Then mean and n are not written.
 */
myth_status myth_capture_read(myth_engine *e, uint32_t label, uint32_t layer, double *mean, uint64_t *n,
                              myth_error *err);
/* All sums and counts back to nothing, as after open. */
myth_status myth_capture_reset(myth_engine *e, myth_error *err);

/* ---- generate ---- */

typedef enum {
    MYTH_FINISH_NONE,
    MYTH_FINISH_STOP,
    MYTH_FINISH_LENGTH,
    MYTH_FINISH_CONTEXT,
    MYTH_FINISH_REFUSED,
    MYTH_FINISH_CANCELLED
} myth_finish;
const char *myth_finish_name(myth_finish f); /* "stop", "length", "context", "refused", "cancelled" */

typedef struct {
    const int32_t *prompt;
    uint32_t n_prompt; /* appended to the sequence first                        */
    uint32_t n_max;    /* new tokens at most                                    */
    myth_sample_params sample;
    const int32_t *stop_ids;
    int n_stop;
    myth_grammar *grammar; /* started by the caller; NULL = free                     */
    void (*on_prefill)(void *user, uint32_t done, uint32_t total);
    bool (*on_token)(void *user, int32_t id); /* false = cancel after this token; may be NULL            */
    void *user;
    const myth_cancel *cancel;   /* set by a signal handler; may be NULL                    */
    uint32_t seq_number;         /* counter of the random numbers                            */
    const myth_channel *channel; /* as it stands behind the prompt; NULL = none is followed   */
    uint32_t
        n_think; /* thought ids at most, then the channel is closed for the model; 0 = no limit. Not with a grammar */
} myth_generate_opts;

/* Raises opts' top_k, n_ask, n_bias and n_mask to what generating with these parameters (and a grammar) asks of the
 * engine. */
void myth_generate_needs(myth_engine_opts *opts, const myth_sample_params *sample, bool has_grammar);

/* New ids (without the stop id) into ids[n_max]. The reason is always set; MYTH_OK for every reason but failures. A
 * prompt longer than the context is refused (MYTH_FINISH_REFUSED, nothing changed). The last new id is not in the
 * sequence yet: who goes on feeds it first. */
myth_status myth_generate(myth_engine *e, myth_seq *s, const myth_generate_opts *o, int32_t *ids, uint32_t *n_ids,
                          myth_finish *why, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
