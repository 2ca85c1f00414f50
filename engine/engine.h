/* engine.h - the public interface of the engine: plan, open, sequences, forward, capture, generate.
 *
 *   myth_model_open    (model.h) reads a model's files; enough to tokenize, to build prompts and to plan
 *   myth_plan_make     says how much memory an engine would take, and which changes would make it fit
 *   myth_engine_open   puts the model on its devices and takes all memory that the plan lists; nothing is taken later
 *   myth_seq_*         a sequence: its tokens on the host and their keys and values in the cache
 *   myth_forward       runs tokens of several sequences at once; returns logits or hidden rows for those that want them
 *   myth_capture_*     means of residual rows over any number of tokens, summed on the device
 *   myth_generate      repeats forward and choose until a stop token, a limit or a cancel
 *   myth_slots_*       the same for several answers at once
 *   myth_embed         (run/embed.h) vectors of whole texts, from models whose attention looks both ways
 *
 * Shapes   arrays are row-major; [n, m] has n rows of m values without gaps
 * Units    lengths and counts in tokens, positions from 0, sizes in bytes
 * Owner    whoever opens something closes it: sequences before their engine, the engine before its model, the model
 *          before its mem. "Lent" means that the library keeps ownership, for as long as the comment says
 * Errors   MYTH_ENOFIT: the plan exceeds a limit, and no memory was taken. MYTH_EFULL: the context or the page pool is
 *          full, and nothing changed. MYTH_ELOST: the device is gone; close the engine, open another, and feed it
 *          myth_seq_tokens
 * Threads  one thread at a time per engine; several engines may share a model, which never changes after open
 * Source   Gemma 1, 2 and 3 reports (2403.08295, 2408.00118, 2503.19786); for Gemma 3n and 4 the files in families/ */
#ifndef MYTH_ENGINE_H
#define MYTH_ENGINE_H

#include "engine/base/cancel.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"
#include "engine/base/sampler.h"
#include "engine/text/channel.h"
#include "engine/text/chat.h"
#include "engine/text/grammar.h"
#include "kernels/settings.h"
#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- plan ---- */

enum { MYTH_SPLIT_MAX = 8, MYTH_PLAN_DEVICE_MAX = 9 };

/* What stays in host memory and is copied to the device before each layer of each step: nothing, the layers' weights,
 * or their keys and values. */
typedef enum { MYTH_OFFLOAD_NONE, MYTH_OFFLOAD_WEIGHTS, MYTH_OFFLOAD_KV } myth_offload;

/* Where the table of per-layer embeddings is kept. A step reads only the rows of its own tokens. The CPU always reads
 * the mapped file. AUTO is HOST. */
typedef enum { MYTH_PLE_AUTO, MYTH_PLE_DISK, MYTH_PLE_HOST, MYTH_PLE_DEVICE } myth_ple_place;

typedef struct { /* zero = default */
    /* "auto", "cpu", "cuda:N", "vulkan:N", or several names separated by commas. The first layers go to the first
     * device named, and so on. */
    const char *device;
    /* true: the last n_gpu_layers layers and the head are on the devices named, the layers before them on the CPU.
     * false: all layers are on the devices named. */
    bool has_gpu_layers;
    uint32_t n_gpu_layers;
    float split[MYTH_SPLIT_MAX]; /* share of the layers for each device named; all 0 = equal shares */
    myth_offload offload;        /* for the first n_offload layers (0 = all) of each device but the CPU */
    uint32_t n_offload;
    /* The experts of the model's first n_cpu_moe layers stay in host memory, and GPUs read the chosen ones over the
     * bus. With offload as well, offload moves the other weights of such a layer. */
    uint32_t n_cpu_moe;
    /* The embedding and the head stay in host memory, and GPUs read there the rows of a step's tokens, and the whole
     * head for a step's logits. */
    bool host_head;
    /* The keys and values of the first n_host_kv global layers that are on GPUs stay in host memory, where the GPUs
     * read and write them over the bus, without a copy. Those of local layers, which a window bounds, stay on the GPU.
     * Not with offload of keys and values, nor without a cache. */
    uint32_t n_host_kv;
    myth_ple_place ple;
    /* Where Gemma 4 derives a global layer's keys and values from one projection, the cache holds the values alone,
     * half the bytes, and attention computes the keys. true: the cache holds both. */
    bool no_kv_fold;
    /* All runs are ephemeral: no keys and values are kept from step to step, those of a layer are in the step's scratch
     * until the layer that reads them last, and the cache takes no bytes. n_ubatch may then be more than n_ctx * n_seq.
     * A run that would be appended, or a decode step, is refused. Encoders never keep any. */
    bool no_cache;
    /* In the last layers of Gemma 3n and 4, which compute no keys and values, a prefill drops the rows that want
     * nothing. true: it keeps them; same results, slower. */
    bool no_kv_skip;
    int n_threads;         /* 0 = one per core, at most 64                                     */
    const char *cpu_level; /* NULL = the best that the CPU has                                  */
    bool is_exact;         /* float32 activations and cache, sums in the reference's order      */
    uint32_t n_ctx;        /* tokens held per sequence, at most the model's context; 0 = 4096   */
    uint32_t n_seq;        /* sequences open at once; 0 = 1                                     */
    uint32_t n_checkpoint; /* checkpoints of all sequences together                             */
    uint32_t n_ubatch;     /* rows (tokens) of a micro-batch; 0 = 512. With a cache at most n_ctx * n_seq */
    uint32_t n_logit_rows; /* rows that may want logits in one forward; 0 = n_seq               */
    uint32_t top_k;        /* largest top_k of a forward; 0 = 1                                 */
    uint32_t n_ask;        /* largest number of asked ids per logits row                        */
    uint32_t n_bias;       /* largest number of biases per forward                              */
    uint32_t n_mask;       /* largest number of masks per forward                               */
    bool want_full_logits; /* MYTH_WANT_FULL_LOGITS may be used                                 */
    bool want_hidden;      /* MYTH_WANT_HIDDEN and MYTH_WANT_FINAL may be used                  */
    /* Rows besides one a position that sets of tokens (myth_set_kind) may hold within the window of a local layer: its
     * ring is that much longer. 0 = no sets. Keys of folded layers are then stored (no_kv_fold). */
    uint32_t n_set_rows;
    uint32_t n_mass; /* rows of which a set may ask how much attention it gives them (n_mass of its run)       */
    /* Residuals to sum: 0 = the scaled embedding, i = after layer i, each at most once. [n_capture_layer], lent until
     * open returns. */
    const uint32_t *capture_layer;
    uint32_t n_capture_layer;
    uint32_t n_capture_label; /* separate sums for each of these residuals; 0 = 1                */
    uint32_t page_tok;        /* rows of a cache page; 0 = 64 or a number near it, from n_ctx    */
    /* Element types of cached keys and values, used when has_cache_type is true. false: f16, or f32 with is_exact. */
    myth_dtype type_k, type_v;
    bool has_cache_type;
    uint32_t fixed; /* bits of MYTH_CHANGE_*: what no suggestion of a plan may change, because the caller cannot */
    uint32_t n_ctx_least; /* a plan neither chooses nor suggests a smaller context: what is fed needs it; 0 = any */
    const myth_log *log;  /* lent until close */
    /* Told and asked while open makes the device's own form of the weights, or those of a random: model: bytes of all
     * of them. Told nothing where they are used in the file. */
    myth_watch watch;
    myth_device_settings settings;
} myth_engine_opts;

/* Bytes that may be taken of each device's memory, indexed by ledger (mem.h): 0 is the host. 0 bytes = no limit. */
typedef struct {
    uint64_t bytes[MYTH_MEM_DEVICE_MAX];
    /* Devices whose memory is the host's (integrated GPUs, drivers that compute on the CPU), a bit for each ledger, and
     * what the host and they may have together. 0 bytes = no limit. */
    uint32_t in_host;
    uint64_t host_and;
} myth_mem_limits;

typedef struct {
    char name[32]; /* "cpu" for the host */
    int ledger;
    uint64_t limit_bytes, total_bytes;
    uint64_t bytes[MYTH_MEM_CLASS_N];
} myth_plan_device;

/* A suggestion changes the options, or the host's limit, so that the plan fits. Bits of `changes` say which fields. */
enum {
    MYTH_CHANGE_DEVICE = 1,      /* device becomes "cpu", with all layers and without offload */
    MYTH_CHANGE_LIMIT = 2,       /* the limit of the host's ledger becomes limit_bytes        */
    MYTH_CHANGE_GPU_LAYERS = 4,  /* n_gpu_layers                                              */
    MYTH_CHANGE_CPU_MOE = 8,     /* n_cpu_moe                                                 */
    MYTH_CHANGE_OFFLOAD = 16,    /* offload the weights of all layers                         */
    MYTH_CHANGE_CACHE_TYPE = 32, /* type_k and type_v become cache_type                       */
    MYTH_CHANGE_UBATCH = 64,     /* n_ubatch                                                  */
    MYTH_CHANGE_CTX = 128,       /* n_ctx; page_tok is chosen again from it                   */
    MYTH_CHANGE_SEQ = 256,       /* n_seq                                                     */
    MYTH_CHANGE_HEAD = 512,      /* host_head                                                 */
    MYTH_CHANGE_SPLIT = 1024,    /* split: layers for each device named                       */
    MYTH_CHANGE_HOST_KV = 2048,  /* n_host_kv                                                 */
    MYTH_SUGGESTION_MAX = 10
};
typedef struct {
    uint32_t changes; /* bits above */
    uint32_t n_gpu_layers, n_cpu_moe, n_host_kv, n_ubatch, n_ctx, n_seq;
    float split[MYTH_SPLIT_MAX];
    myth_dtype cache_type;
    uint64_t limit_bytes;
    uint64_t total_bytes; /* of the plan with these changes */
} myth_suggestion;

typedef struct {
    bool fits;                                     /* on every device                                        */
    uint64_t limit_bytes;                          /* the host's limit; 0 = none                             */
    uint64_t total_bytes;                          /* peak of the limited classes, all devices together      */
    uint64_t bytes[MYTH_MEM_CLASS_N];              /* all devices together                                   */
    uint64_t expert_bytes;                         /* part of the host's weights: experts that GPUs read there */
    myth_plan_device device[MYTH_PLAN_DEVICE_MAX]; /* the host, then the others in the order of their layers */
    uint32_t n_device;
    uint32_t n_ctx, n_seq, n_ubatch, page_tok, n_page; /* the values in use, where the options left 0 */
    myth_dtype type_k, type_v;
    myth_suggestion suggestion[MYTH_SUGGESTION_MAX]; /* each was planned, and fits */
    uint32_t n_suggestion;
} myth_plan;

/* Bytes by class that the caller will take on the host besides the engine's: texts that it holds, files to write. */
typedef struct {
    uint64_t bytes[MYTH_MEM_CLASS_N];
    /* More bytes, of class STAGING, of a caller that holds as much as the context does: asked for with the tokens of
     * each context that the plan tries. NULL = none. user is lent for the call. */
    uint64_t (*of_context)(const void *user, uint32_t n_ctx);
    const void *user;
} myth_plan_extra;

/* Plans without opening a device. The result depends on the model's headers, the options and the limits alone (and on
 * what device "auto" is here). With can_shrink, the options n_ubatch and then n_ctx, where they are 0, are lowered
 * until the plan fits, n_ctx to the largest in steps of 64 that does; the cache type is not, because it changes
 * answers. A plan that does not fit is no error: out->fits is false and the suggestions say what would fit. extra and
 * limits may be NULL. MYTH_EARG: the model was opened with level CONFIG. */
myth_status myth_plan_make(myth_plan *out, const myth_model *model, const myth_engine_opts *opts,
                           const myth_plan_extra *extra, const myth_mem_limits *limits, bool can_shrink,
                           myth_error *err);
/* Applies the changes of s to opts and to limits (which may be NULL). */
void myth_suggestion_apply(const myth_suggestion *s, myth_engine_opts *opts, myth_mem_limits *limits);
/* One line about the first device whose limit is exceeded: "needs 1.2 GiB, limit 1.0 GiB". */
void myth_plan_refusal(const myth_plan *plan, char *dst, size_t cap);

/* What a plan has for one layer, or for what belongs to none. */
typedef struct {
    int ledger;              /* of the device that computes it                                       */
    uint64_t weight_bytes;   /* of class WEIGHTS, on that device or for it in host memory            */
    uint64_t in_place_bytes; /* matrices that are used where the file is mapped, or was read to      */
    uint64_t kv_bytes;       /* keys and values of all sequences and checkpoints; 0 = it keeps none  */
} myth_layer_bytes;
typedef struct {
    /* [n_layer], and behind them what belongs to no layer: embedding, head, the slots of offload, a file that was read
     * into memory. Over all of them weight_bytes and kv_bytes sum to the plan's classes WEIGHTS and KV_*. */
    myth_layer_bytes layer[MYTH_LAYER_MAX + 1];
    uint32_t n_layer;
    uint64_t sequence_bytes; /* keys and values that each of n_seq sequences may take */
} myth_layers;
/* Divides a plan with these options, which has filled in n_ctx, n_ubatch and page_tok, by layer. Errors as of
 * myth_plan_make. */
myth_status myth_plan_layers(myth_layers *out, const myth_model *model, const myth_engine_opts *opts, myth_error *err);

/* ---- engine ---- */

typedef struct myth_engine myth_engine;
typedef struct myth_seq myth_seq;

/* Plans with the limits of model->mem and takes all memory at once. MYTH_ENOFIT: the plan does not fit, and no memory
 * was taken. A device whose ledger has no limit may use what the driver says is free, less a margin; one with a limit
 * may use what open models leave of it (devices.h). The ledgers' limits are as before when open returns. When a device
 * fails to give memory that the plan allowed, open tries once more with a smaller n_ubatch (myth_engine_plan tells it);
 * answers do not depend on it. The model is borrowed until close; MYTH_EARG: it was not opened with level DATA. */
myth_status myth_engine_open(myth_engine **out, myth_model *model, const myth_engine_opts *opts, myth_error *err);
void myth_engine_close(myth_engine *e);
const myth_plan *myth_engine_plan(const myth_engine *e);
myth_model *myth_engine_model(const myth_engine *e);
/* A description of the device with the last layers: "AMD EPYC, 2 threads, avx512". */
const char *myth_engine_device(const myth_engine *e);

/* Bytes of weights, or of keys and values, that offload has moved since open. */
typedef struct {
    uint64_t in_bytes;    /* from host memory to a device                                                 */
    uint64_t ahead_bytes; /* of these, those copied while the device had an earlier layer of the step to compute */
    uint64_t out_bytes;   /* keys and values back to host memory                                          */
    double in_s;          /* seconds from the first byte of a layer to its last, over all layers          */
} myth_offload_counts;
myth_offload_counts myth_engine_offload_counts(const myth_engine *e);

/* What one decoded token takes where offload brings layers to their device. */
typedef struct {
    uint64_t in_bytes, out_bytes; /* as above, of this one step                           */
    double copy_s, seconds;       /* of copying in alone; of the step                     */
} myth_offload_step;
/* Reckons the decode step of one sequence that holds n_tok tokens, from the model's headers. link_bytes_s: bytes a
 * second between host memory and a device. step_s: seconds of the same step with everything on the device, which is
 * divided among layers by the bytes of their weights; 0 = unknown, and seconds is the least that the link allows. A
 * copy begins when the copy before it and the layer before the last are done, a layer when it has come and the layer
 * before is done. Errors as of myth_plan_make. */
myth_status myth_offload_expect(myth_offload_step *out, const myth_model *m, const myth_engine_opts *opts,
                                uint32_t n_tok, double step_s, double link_bytes_s, myth_error *err);

/* ---- sequences ---- */

myth_status myth_seq_open(myth_seq **out, myth_engine *e, myth_error *err); /* MYTH_EFULL past n_seq */
void myth_seq_close(myth_seq *s);
uint32_t myth_seq_len(const myth_seq *s);          /* tokens held                                       */
const int32_t *myth_seq_tokens(const myth_seq *s); /* the tokens held, until the next change            */
uint32_t myth_seq_pos(const myth_seq *s);          /* position of the next token: tokens held plus tokens evicted */
/* How many tokens s can still take: n_ctx less the tokens held. After an eviction it can be up to two pages less. */
uint32_t myth_seq_room(const myth_seq *s);
/* The cache rows of s in each layer, by kind of layer, and their limits. A global layer has the tokens held, a local
 * one the last of them, in a ring. Both limits are 0 without a cache, and one of them where no layer is of that kind.
 */
typedef struct {
    uint32_t global_rows, global_limit, local_rows, local_limit;
} myth_seq_use;
myth_seq_use myth_seq_used(const myth_seq *s);
/* A second sequence with the same tokens. Both share pages and ring until one of them writes. */
myth_status myth_seq_fork(myth_seq **out, myth_seq *s, myth_error *err);
/* Keeps the present end of s so that truncate can return to it. MYTH_EFULL: n_checkpoint are in use. */
myth_status myth_seq_checkpoint(myth_seq *s, myth_error *err);
/* Drops the checkpoints of s that hold more than n tokens, so that others can be taken. */
void myth_seq_forget(myth_seq *s, uint32_t n);
/* Cuts s to its first n tokens, or fewer: a local layer's ring keeps only the last rows, and once the rows that a token
 * at n would need are overwritten, s returns to its newest checkpoint of at most n tokens, else to 0. *at is the number
 * of tokens held afterwards: feed tokens *at .. n - 1 again. A gap at the end of what is held, or after it, is
 * closed: without gaps before it, the next token's position is *at. MYTH_EARG: s holds fewer than n tokens. */
myth_status myth_seq_truncate(myth_seq *s, uint32_t n, uint32_t *at, myth_error *err);
/* Rows that s holds besides one a position, because it holds sets of tokens. Such a sequence cannot be evicted from,
 * saved or extended by anything but sets. */
uint32_t myth_seq_extra(const myth_seq *s);
/* The position of token i of those held, which sets share: 0 <= i < myth_seq_len. */
uint32_t myth_seq_pos_of(const myth_seq *s, uint32_t i);
/* The most tokens that a set at the end of s may have when one token at each of n_after more positions is to have room
 * behind it; 0 = the context ends before. */
uint32_t myth_seq_set_room(const myth_seq *s, uint32_t n_after);
/* Removes these n rows (ascending indices of tokens held) of sets: the rows behind them move up in the cache, pages at
 * the end return to the pool, and what is left is what it was. Tokens behind a removed one were computed while they saw
 * it. MYTH_EARG: a position would lose its last token. MYTH_EUNSUPPORTED: a row that moves is shared with a fork or a
 * checkpoint, or s has gaps. */
myth_status myth_seq_remove(myth_seq *s, const uint32_t *row, uint32_t n, myth_error *err);
enum { MYTH_SEQ_GAPS = 8 }; /* of a sequence at most */
/* Drops the held tokens from .. from + n - 1 and leaves a gap: the other tokens keep their positions, and nothing is
 * moved or computed again. Global layers forget the dropped rows, and whole pages return to the pool (a shared page
 * when its last user drops it). Local layers keep theirs until new tokens overwrite them. Tokens after the gap were
 * computed while they saw the dropped ones, so the result differs from feeding the rest to a new sequence; where that
 * matters, truncate and feed again. Tokens that touch or enclose gaps make one gap of them. MYTH_EFULL: it would be one
 * more than MYTH_SEQ_GAPS. Checkpoints that hold a dropped token are dropped; forks are not affected. n_ctx limits the
 * tokens held; positions may go on to 2^31 - 1, and whether the model was trained for them is up to the caller. */
myth_status myth_seq_evict(myth_seq *s, uint32_t from, uint32_t n, myth_error *err);
/* Makes s hold exactly ids[0 .. n): truncates it to the longest prefix that both share, and feeds the missing tokens in
 * micro-batches. *n_fed (may be NULL) is how many tokens were fed. No logits are computed: to get those of the last
 * token, sync n - 1 tokens and feed the last one with myth_forward. Errors are those of truncate and myth_forward; s
 * then holds a prefix of ids. */
myth_status myth_seq_sync(myth_seq *s, const int32_t *ids, uint32_t n, uint32_t *n_fed, myth_error *err);
/* Save writes the tokens of s and their keys and values to dst, which has room for cap >= myth_seq_save_bytes bytes;
 * save_whole its checkpoints too, of which restore takes as many as are free: with all of them what follows, cuts
 * too, has the bits of a sequence that was never saved. Restore reads both into an empty sequence of an engine with the
 * same model and cache types. MYTH_EFORMAT: saved with another model (myth_model_hash), by an engine of another shape,
 * or damaged (they end in a sum of their bytes); s is then still empty. */
uint64_t myth_seq_save_bytes(const myth_seq *s);
myth_status myth_seq_save(const myth_seq *s, void *dst, uint64_t cap, myth_error *err);
uint64_t myth_seq_save_whole_bytes(const myth_seq *s);
myth_status myth_seq_save_whole(const myth_seq *s, void *dst, uint64_t cap, myth_error *err);
myth_status myth_seq_restore(myth_seq *s, const void *src, uint64_t bytes, myth_error *err);

/* ---- forward ---- */

enum {
    MYTH_WANT_LOGITS = 1,
    MYTH_WANT_FULL_LOGITS = 2,
    MYTH_WANT_HIDDEN = 4,
    MYTH_WANT_FINAL = 8
}; /* HIDDEN: the residual after the embedding and after each layer; FINAL: the output of the final norm */

/* What hidden rows and sums are taken of: the residual; the output of a layer's attention or feed-forward network as
 * its last matrix gives it, before the post norm and before it is added to the residual; or what either reads, the
 * residual behind its norm. Of a mixture of experts it is the dense network's. */
typedef enum {
    MYTH_HOOK_RESID,
    MYTH_HOOK_ATTN_OUT,
    MYTH_HOOK_MLP_OUT,
    MYTH_HOOK_ATTN_IN,
    MYTH_HOOK_MLP_IN,
    MYTH_HOOK_N
} myth_hook;

/* A set: the tokens of a run are alternatives at one position. All have the position of the sequence's next token, each
 * sees what the sequence holds, and each is appended as a row of its own, so that later tokens see all of them.
 * ISOLATED: a token sees none of its set but itself; its result has the bits of the token alone. VISIBLE: each sees the
 * others too. */
typedef enum { MYTH_SET_NONE, MYTH_SET_ISOLATED, MYTH_SET_VISIBLE } myth_set_kind;

/* Consecutive tokens of one sequence. */
typedef struct {
    myth_seq *seq;
    const int32_t *token; /* [n], n > 0 */
    uint32_t n;
    uint8_t want;      /* what every token wants, bits above */
    uint8_t want_last; /* what the last token wants besides */
    /* The run sees the sequence but is not appended: its keys and values are gone after the step. It must fit into one
     * micro-batch. Several such runs may follow the same sequence, which no other run of the batch may then extend. */
    bool is_ephemeral;
    /* Not NONE: the tokens are a set, and this is the batch's only run. It must fit into one micro-batch. With
     * is_decode it is a decode step of n rows, of a VISIBLE set of one token at most. A sequence that holds more rows
     * than positions (myth_seq_extra) is extended by sets alone. */
    myth_set_kind set;
    /* With a set, whose tokens all want logits: how much attention each gives to each of the last n_mass rows held
     * before it, in myth_result.mass. At most the engine's. 0 = not asked. */
    uint32_t n_mass;
} myth_batch_run;

/* Arrays per token have the tokens of all runs in order; "token i" is the i-th of them. */
typedef struct {
    const myth_batch_run *run; /* at most one that is not ephemeral for each sequence */
    uint32_t n_run;
    const uint8_t *want; /* what each token wants besides what its run wants; NULL = nothing */
    bool is_decode;      /* one token per sequence: kernels made for few rows. Bits differ from a prefill's */
    uint32_t top_k;      /* best ids to return per logits row, at most opts.top_k; 0 = 1 */
    /* For each token the label to whose sums its residuals are added, -1 = none. NULL = none at all. */
    const int32_t *capture_label;
    /* Of what MYTH_WANT_HIDDEN and capture_label take rows. But for RESID there are layers 1 to n_layer, and captured
     * layers must be among them. */
    myth_hook hook;
    /* Per logits row, in the order of the tokens; each may be NULL. A bias is added to the logit before the best ids
     * are chosen. Row r has biases bias_off[r] .. bias_off[r + 1] - 1. */
    const int32_t *mask_idx; /* which mask, -1 = none */
    const uint32_t *masks;   /* [n_masks, ceil(config.n_vocab / 32)] words; bit 1 = the id may be chosen */
    uint32_t n_masks;
    const int32_t *bias_off; /* [n_logit_rows + 1], starts at 0 and never falls */
    const int32_t *bias_id;  /* [bias_off[n_logit_rows]] */
    const float *bias;       /* [bias_off[n_logit_rows]] */
    const int32_t *ask_id;   /* [n_logit_rows, n_ask] ids whose logits are wanted, chosen or not */
    uint32_t n_ask;
    /* Called during the forward, in step order. tok_idx counts the batch's tokens. `row` is lent for the call. */
    void (*on_full_logits)(void *user, uint32_t tok_idx, const float *row, uint32_t n_vocab);
    /* layer: 0 = scaled embedding, i = after layer i, n_layer + 1 = FINAL */
    void (*on_hidden)(void *user, uint32_t tok_idx, uint32_t layer, const float *row, uint32_t d_model);
    void *user;
    const myth_cancel *cancel; /* read between the ops of the layers, but not between those of a GPU's graph; or NULL */
} myth_batch;

typedef struct { /* lent until the next forward */
    uint32_t n_rows, k, n_ask, n_mass;
    const int32_t *top_id;      /* [n_rows, k], best first; -1 where a mask allows fewer than k ids */
    const float *top_logit;     /* [n_rows, k] */
    const float *lse, *entropy; /* [n_rows] over the allowed ids, with biases: log-sum-exp, and entropy in nats */
    const float *ask_logit;     /* [n_rows, n_ask] */
    /* [n_rows, n_mass], oldest row first: the mean over heads of the weight that the row's token gives the key, added
     * up over the layers with shares that sum to 1 and rise evenly, the last layer's five times the first's. NULL = not
     * asked */
    const float *mass;
} myth_result;

/* Runs the batch and appends the tokens of all runs that are not ephemeral. out may be NULL. Everything is checked and
 * reserved before the first op, so these errors change nothing: MYTH_EFULL (no room in the context or in the cache, or
 * more rows, masks, biases or asked ids than the engine was opened for), MYTH_EARG (a token, an asked id or the id of a
 * bias outside the vocabulary, a mask that does not exist, rows wanted without a function that receives them),
 * MYTH_EUNSUPPORTED (a model with config.is_bidirectional has no logits and takes each text as one ephemeral run).
 * MYTH_ECANCEL: the micro-batches that were done stay appended, the one under way is taken back. MYTH_ENOMEM,
 * MYTH_EDEVICE: the device failed on the way. The sequences hold what they held before, and the forward can be done
 * again, or one of fewer rows. In all three cases a sequence of which more than the rings' slack was overwritten is cut
 * to its newest checkpoint or to 0, as by truncate. MYTH_EFORMAT: logits of a row are infinite or NaN, as a damaged
 * file makes them; the tokens stay appended, full rows were handed over, and out has every row. */
myth_status myth_forward(myth_engine *e, const myth_batch *b, myth_result *out, myth_error *err);
/* Reduces logits row `row` of the last forward again under this mask (NULL = all ids), with the biases that the row
 * had. The result is exact, however few ids the mask allows, and takes the place of the row's in the forward's result.
 * k is at most the forward's top_k. MYTH_EFORMAT as of a forward. */
myth_status myth_reduce_again(myth_engine *e, uint32_t row, const uint32_t *mask, uint32_t k, myth_result *out,
                              myth_error *err);

/* ---- capture ---- */

/* The residual row of a token with a capture_label is added to that label's sums after every captured layer. Each value
 * is first rounded to a multiple of 2^-24; the sums are then integers, so a mean has the same bits for any order, batch
 * and micro-batch. Memory does not grow with the tokens, and capturing does not change logits. After a cancel
 * between two micro-batches, counts and sums hold the tokens that were computed; where one with rows to sum was left in
 * the middle they cannot be read, as after a failure: reset or restore them. */

/* Fills dst [tokens of all runs] with labels. `at` labels token i of every run: i < 0 counts from the end, -1 is the
 * last token, and a run that is too short gets none. `every` labels all tokens. Run k gets run_label[k]; -1 leaves the
 * run out; run_label NULL = 0 for all. A prompt that is fed in several forwards is a run in each of them, so its last
 * token is in the last one. Returns how many tokens were labelled. */
uint32_t myth_capture_at(int32_t *dst, const myth_batch *b, int32_t i, const int32_t *run_label);
uint32_t myth_capture_every(int32_t *dst, const myth_batch *b, const int32_t *run_label);
/* Waits for the device and writes the mean of a label's rows after a layer to mean [d_model] (zeros when there were no
 * rows) and the number of rows to *n. On an error neither is written. MYTH_EARG: not a captured layer or label;
 * MYTH_EFORMAT: since the last reset a value of the layer was not finite or too large to sum; MYTH_ELOST: a forward
 * failed since then, so the sums may miss rows. */
myth_status myth_capture_read(myth_engine *e, uint32_t label, uint32_t layer, double *mean, uint64_t *n,
                              myth_error *err);
/* Sets all sums and counts to 0. */
myth_status myth_capture_reset(myth_engine *e, myth_error *err);
/* Save waits for the device and writes all sums, counts and marks of values that could not be summed to dst, which has
 * room for cap >= myth_capture_state_bytes bytes (0: nothing is captured). Restore sets those of another engine, with
 * the same model, captured layers and number of labels; devices, batch sizes and the order of opts.capture_layer may
 * differ. What is added then gives the bits of a run that was never interrupted. MYTH_EFORMAT: of another model or
 * shape, or damaged; nothing changed. MYTH_ELOST: a forward failed since the last reset. */
uint64_t myth_capture_state_bytes(const myth_engine *e);
myth_status myth_capture_save(myth_engine *e, void *dst, uint64_t cap, myth_error *err);
myth_status myth_capture_restore(myth_engine *e, const void *src, uint64_t bytes, myth_error *err);
/* Adds saved sums to others of the same model, layers and labels, both of `bytes` bytes: the bits are those of one run
 * over the rows of both, in any order. MYTH_EFORMAT: not of one shape, or damaged; nothing changed. A sum past 2^63
 * marks its layer, as a value that could not be summed does. */
myth_status myth_capture_add_saved(void *sums, const void *more, uint64_t bytes, myth_error *err);
/* The first layer of saved sums of which a value could not be summed; -1 = none, or no saved sums. */
int32_t myth_capture_saved_bad(const void *sums, uint64_t bytes);

/* ---- generate ---- */

typedef enum {
    MYTH_FINISH_NONE,
    MYTH_FINISH_STOP,
    MYTH_FINISH_LENGTH,
    MYTH_FINISH_CONTEXT,
    MYTH_FINISH_REFUSED,
    MYTH_FINISH_CANCELLED,
    MYTH_FINISH_GRAMMAR, /* the grammar allows no token, and the text may not end */
    MYTH_FINISH_LOGITS   /* in slots: the answer's logits are infinite or NaN; the others go on */
} myth_finish;
const char *myth_finish_name(myth_finish f); /* "stop", "length", "context", "refused", "cancelled", "grammar" */

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
    const myth_cancel *cancel; /* set at any time (cancel.h); may be NULL                  */
    uint32_t seq_number;       /* with the seed and the position it decides the random numbers */
    /* Where the model's thought begins and ends, with the state after the prompt; NULL = thoughts are not tracked. */
    const myth_channel *channel;
    /* Largest number of thought tokens: then the closing mark takes the place of the model's choice. 0 = no limit.
     * Needs a channel, and no grammar. */
    uint32_t n_think;
    /* Called for each new id and for the stop id, before on_token: its logit (NaN of a mark that took the place of the
     * model's choice), the best ids of its row, at least n_top (as many as the engine's top_k allows), best first, with
     * their logits, and the log-sum-exp of the row; all of the model's own distribution, whatever a grammar allows.
     * NULL = not wanted. Not with a repeat penalty, whose ids these lists lack. Lent for the call. */
    void (*on_top)(void *user, int32_t id, float own, const int32_t *best, const float *logit, uint32_t n, float lse);
    uint32_t n_top;
} myth_generate_opts;

/* Raises opts' top_k, n_ask, n_bias and n_mask where generating with these parameters (and a grammar) needs more: an
 * engine opened with its defaults chooses greedily. */
void myth_generate_needs(myth_engine_opts *opts, const myth_sample_params *sample, bool has_grammar);

/* Appends the prompt to s and writes the new ids, without the stop id, to ids [n_max]. *why says why generation ended;
 * the status is MYTH_OK unless something failed. A prompt for which s has no room gives MYTH_FINISH_REFUSED and changes
 * nothing. The last new id is not yet in the sequence: to go on, feed it first. MYTH_EFULL: the parameters need more
 * than the engine was opened for (myth_generate_needs); before the first token nothing changed. */
myth_status myth_generate(myth_engine *e, myth_seq *s, const myth_generate_opts *o, int32_t *ids, uint32_t *n_ids,
                          myth_finish *why, myth_error *err);

/* ---- several answers at once ---- */

/* A slot holds an answer that is being generated, and a step decodes one token of every slot in one forward, which
 * reads the weights once; prompts that join together are fed together. An answer has the same bits as from
 * myth_generate, whatever the other slots do. Between the calls the engine may be used for other sequences. */
typedef struct myth_slots myth_slots;

/* As myth_generate_needs, for n_slot answers at once; the caller sets n_seq. */
void myth_slots_needs(myth_engine_opts *opts, uint32_t n_slot, const myth_sample_params *sample, bool has_grammar);
/* Host bytes (class STAGING) that open takes; nothing is taken later. opts: the engine's, with what the slots need. */
uint64_t myth_slots_bytes(const myth_model *m, const myth_engine_opts *opts, uint32_t n_slot);
/* n_slot: at most the engine's n_seq and n_logit_rows. The slots are closed before the engine. */
myth_status myth_slots_open(myth_slots **out, myth_engine *e, uint32_t n_slot, myth_error *err);
void myth_slots_close(myth_slots *p); /* takes NULL */
/* Takes an answer into slot i, which is free: never started, or its answer has ended. Nothing is computed before join.
 * Sequence, ids [n_max] and what the options point to are lent until it has; each slot has its own grammar. A prompt
 * for which s has no room ends as MYTH_FINISH_REFUSED, one whose logits are infinite or NaN as MYTH_FINISH_LOGITS, with
 * the ids before them. MYTH_EFULL: as of myth_generate. */
myth_status myth_slots_start(myth_slots *p, uint32_t i, myth_seq *s, const myth_generate_opts *o, int32_t *ids,
                             myth_error *err);
/* The most rows that a forward of join and step takes: 0, as after open, is all that fit. Answers do not depend on it.
 */
void myth_slots_limit(myth_slots *p, uint32_t n_rows);
/* Feeds the prompts of all answers that were started since the last call, as many in one forward as it has rows, and
 * chooses their first tokens; nothing when there are none. MYTH_ENOMEM: the answers go on, and the call can be made
 * again, perhaps with a limit. After another error all answers have ended, as they have if a sequence could not be
 * taken back to what it held (myth_forward). */
myth_status myth_slots_join(myth_slots *p, myth_error *err);
/* Joins what was started, then decodes one token of every answer that goes on; nothing when none does. Errors are
 * join's; made again, answers that had their token get another one. */
myth_status myth_slots_step(myth_slots *p, myth_error *err);
/* Whether the slot's answer goes on; its ids so far, and why it ended (NONE: it goes on). */
bool myth_slots_get(const myth_slots *p, uint32_t slot, uint32_t *n_ids, myth_finish *why);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
