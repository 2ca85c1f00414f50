/* layout.h - every block an engine takes, with its class, bytes and device: the one list that the plan adds up and open
 * walks through.
 *
 * Purpose  plan and ledger agree because both read this list; a block that is not in it cannot be taken
 * Parts    consecutive layers on one device each; the first part holds the embedding, the last the head. A device
 *          without host-visible memory holds copies of its matrices, one buffer per layer; the CPU reads the mapped
 *          file in place
 * Units    bytes as booked                                                                                           */
#ifndef MYTH_LAYOUT_H
#define MYTH_LAYOUT_H

#include "kernels/device.h"
#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device buffers. BUF(name, class) */
/* clang-format off */
#define MYTH_BUFFERS(BUF) \
    BUF(norms,        MYTH_MEM_WEIGHTS)       /* effective norm weights, f32 */ \
    BUF(adapter,      MYTH_MEM_WEIGHTS)       /* f32: what adapters add (low_rank.h) */ \
    BUF(kv_global,    MYTH_MEM_KV_GLOBAL)     /* [n_page] pages */ \
    BUF(kv_host,      MYTH_MEM_KV_GLOBAL)     /* [n_page] pages of n_host_kv layers, in host memory */ \
    BUF(kv_local,     MYTH_MEM_KV_LOCAL)      /* [n_ring] rings */ \
    BUF(x,            MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, d], of 3n one behind the other for each stream */ \
    BUF(branch,       MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, d] */ \
    BUF(xn,           MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, d] */ \
    BUF(qkv,          MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, H * hd + 2 KV * hd] */ \
    BUF(q,            MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, H * hd] */ \
    BUF(o,            MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, H * hd] */ \
    BUF(up,           MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, ff] */ \
    BUF(h,            MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, ff] */ \
    BUF(low,          MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, rank]: A x of an adapter */ \
    BUF(k_new,        MYTH_MEM_ACTIVATIONS)   /* [KV, n_ubatch, hd] cache type */ \
    BUF(v_new,        MYTH_MEM_ACTIVATIONS)   \
    BUF(k_shared,     MYTH_MEM_ACTIVATIONS)   /* [2] of k_new: local and global layers whose rows others read */ \
    BUF(v_shared,     MYTH_MEM_ACTIVATIONS)   \
    BUF(key_table,    MYTH_MEM_ACTIVATIONS)   /* [n_ctx, rope_pairs_global, 2]: rotations of folded keys */ \
    BUF(ple,          MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, n_layer * n_ple]: per-layer inputs */ \
    BUF(ple_rows,     MYTH_MEM_ACTIVATIONS)   /* the same: rows of the table, where the host brings them */ \
    BUF(altup,        MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, 3 d + laurel_rank]: 3n's scratch */ \
    BUF(moe_logits,   MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, n_expert] */ \
    BUF(moe_weight,   MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, n_expert_used] */ \
    BUF(moe_index,    MYTH_MEM_ACTIVATIONS)   /* i32: experts chosen, rows in their order, offsets */ \
    BUF(moe_h,        MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, n_expert_used, d_ff_expert] */ \
    BUF(moe_part,     MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, n_expert_used, d] */ \
    BUF(moe_y,        MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, d] */ \
    BUF(rope_local,   MYTH_MEM_ACTIVATIONS)   /* [n_ubatch, hd / 2, 2] of the local layers' hd */ \
    BUF(rope_global,  MYTH_MEM_ACTIVATIONS)   \
    BUF(index,        MYTH_MEM_ACTIVATIONS)   /* i32: the index arrays of a step (forward.c) */ \
    BUF(table,        MYTH_MEM_ACTIVATIONS)   /* i32: page table, then ring table */ \
    BUF(head_x,       MYTH_MEM_ACTIVATIONS)   /* [n_logit_rows, d]: rows that want logits, normed */ \
    BUF(top_id,       MYTH_MEM_LOGITS)        /* [n_logit_rows, k] */ \
    BUF(top_logit,    MYTH_MEM_LOGITS)        \
    BUF(row_stat,     MYTH_MEM_LOGITS)        /* [2, n_logit_rows]: lse, entropy */ \
    BUF(ask,          MYTH_MEM_LOGITS)        /* [2, n_logit_rows, n_ask]: ids, logits */ \
    BUF(mask,         MYTH_MEM_LOGITS)        /* [n_mask, words], then i32 [n_logit_rows] */ \
    BUF(bias,         MYTH_MEM_LOGITS)        /* i32 [n_logit_rows + 1], [n_bias], f32 [n_bias] */ \
    BUF(run,          MYTH_MEM_LOGITS)        /* i32: step [16], stop ids [16], tokens (run.c) */ \
    BUF(full,         MYTH_MEM_LOGITS)        /* [n_vocab] */ \
    BUF(mass,         MYTH_MEM_LOGITS)        /* [n_logit_rows, n_mass], then the same for every head (attn_mass) */ \
    BUF(hidden,       MYTH_MEM_CAPTURE)       /* [n_ubatch, d] */ \
    BUF(capture,      MYTH_MEM_CAPTURE)       /* i64 [n_capture, n_capture_label, d], i32 [n_capture] */
/* clang-format on */

/* Host blocks. HOST(name, class) */
/* clang-format off */
#define MYTH_HOST_BLOCKS(HOST)                                                                                    \
    HOST(engine, MYTH_MEM_OTHER)     /* the engine with its sequences */                                          \
    HOST(bound, MYTH_MEM_OTHER)      /* views of the weights */                                                   \
    HOST(low, MYTH_MEM_OTHER)        /* myth_layer_low [n_layer + 1]: views of what adapters add */               \
    HOST(tokens, MYTH_MEM_OTHER)     /* i32 [n_seq, n_ctx] */                                                     \
    HOST(places, MYTH_MEM_OTHER)     /* i32 [n_seq, n_ctx], with sets only: the position of each token */        \
    HOST(pages, MYTH_MEM_OTHER)      /* page tables of sequences and checkpoints, reference counts, free lists */ \
    HOST(step, MYTH_MEM_OTHER)       /* index arrays of a step */                                                 \
    HOST(result, MYTH_MEM_STAGING)   /* what myth_result lends */                                                 \
    HOST(run, MYTH_MEM_STAGING)      /* i32 [MYTH_RUN_STEPS, n_seq] */                                            \
    HOST(row, MYTH_MEM_STAGING)      /* a full row of logits or the hidden rows of a step */                      \
    HOST(cross, MYTH_MEM_STAGING)    /* [n_ubatch, d + n_layer * n_ple]: all streams and per-layer inputs */      \
    HOST(ple, MYTH_MEM_STAGING)      /* f32 [n_ubatch, n_layer * n_ple]: rows of the table on their way */        \
    HOST(load, MYTH_MEM_STAGING)     /* rows of a random: model on their way to a device */                       \
    HOST(captured, MYTH_MEM_CAPTURE) /* u64 [n_capture_label]: rows in the sums */
/* clang-format on */

enum { MYTH_RUN_STEPS = 64, MYTH_RUN_STOP_MAX = 16 }; /* steps a run may be ahead; stop ids that the device looks for */

enum {
#define BUF(name, cls) MYTH_BUF_##name,
    MYTH_BUFFERS(BUF)
#undef BUF
        MYTH_BUF_N
};
enum {
#define HOST(name, cls) MYTH_HOST_##name,
    MYTH_HOST_BLOCKS(HOST)
#undef HOST
        MYTH_HOST_N
};

extern const myth_mem_class myth_buf_class[MYTH_BUF_N], myth_host_class[MYTH_HOST_N];
extern const char *const myth_buf_name[MYTH_BUF_N], *const myth_host_name[MYTH_HOST_N];

/* Arrays of i32 that say what the rows of a micro-batch are. The host fills them in the block `step`; every part's
 * device has a copy in its buffer `index`, at the same offsets. INDEX(name) */
/* clang-format off */
#define MYTH_INDEX_ARRAYS(INDEX) \
    INDEX(id)            /* [n_ubatch]: token of each row */ \
    INDEX(pos)           /* [n_ubatch]: its position in the cache */ \
    INDEX(place)         /* [n_ubatch], with sets only: its position in the text */ \
    INDEX(row_run)       /* [n_ubatch]: its run */ \
    INDEX(rows)          /* [n_ubatch]: rows of which something is asked */ \
    INDEX(runs)          /* [n_run, MYTH_RUN_WIDTH]: kernels/ops.h; with sets one more, for a set's rows as one run */ \
    INDEX(capture_rows)  /* [n_ubatch], with captured layers only: rows that are summed */ \
    INDEX(capture_label) /* [n_ubatch], likewise: the label of each */ \
    INDEX(keep)          /* [n_ubatch], with layers that share K/V only: rows that go on past first_shared */ \
    INDEX(keep_pos)      /* [n_ubatch], likewise: their positions */ \
    INDEX(keep_row_run)  /* [n_ubatch], likewise: their runs */
/* clang-format on */
enum {
#define INDEX(name) MYTH_INDEX_##name,
    MYTH_INDEX_ARRAYS(INDEX)
#undef INDEX
        MYTH_INDEX_N
};

enum { MYTH_PART_MAX = 9 };

typedef struct {
    char device[MYTH_DEVICE_NAME_MAX]; /* resolved                                 */
    int ledger;
    bool is_host;            /* the CPU: its bytes are the host's        */
    bool copies;             /* its matrices are buffers of its own, not the mapped file */
    uint32_t layer0, layer1; /* layers layer0 .. layer1 - 1              */
    myth_work_shape work;
    uint64_t buf[MYTH_BUF_N];        /* 0 = not taken                            */
    uint64_t page_bytes, ring_bytes; /* of its layers, on the device             */
    uint64_t host_page_bytes; /* of its global layers below host_kv1: in host memory, where the device's ops use them */
    uint32_t host_kv1;
    uint32_t offload1; /* layers layer0 .. offload1 - 1 have their weights, or keys and values, on the host */
    uint32_t n_slot;   /* 1 or 2 buffers on the device that such layers take turns in */
    uint64_t slot_bytes[2];
    uint64_t held_page_bytes, held_ring_bytes; /* of these layers, on the host             */
    uint64_t held[2];                          /* host blocks: matrices of a random: model, or pages and rings */
    uint32_t n_capture;                        /* residuals that it sums                   */
    uint64_t own_class[MYTH_MEM_CLASS_N];      /* on its ledger; of the CPU 0              */
} myth_layout_part;

typedef struct {
    myth_engine_opts opts;                             /* every default filled in; the device is resolved           */
    char device[MYTH_PART_MAX * MYTH_DEVICE_NAME_MAX]; /* what opts.device points at               */
    myth_layout_part part[MYTH_PART_MAX];
    uint32_t n_part;
    uint64_t host[MYTH_HOST_N];      /* 0 = not taken                            */
    uint64_t matrix[MYTH_LAYER_MAX]; /* buffers of a layer's matrices; 0 = used in place */
    uint64_t expert[MYTH_LAYER_MAX]; /* buffers of a layer's experts in host memory, that its device reads there */
    uint64_t expert_bytes;           /* of all layers                            */
    uint64_t first_bytes,
        last_bytes;   /* of the embedding and the model's others on the first part, of the head's on the last */
    bool ple_by_host; /* rows of the per-layer embeddings are gathered by the host */
    uint64_t offloaded[MYTH_LAYER_MAX]; /* matrices that are brought to a slot       */
    uint64_t page_bytes, ring_bytes;    /* of all parts together                    */
    uint64_t layer_off[MYTH_LAYER_MAX]; /* of a layer's K inside its part's page or ring */
    uint32_t page_tok, ring_tok, n_page, n_ring, n_entry;
    uint32_t
        window; /* tokens that a local layer sees: the model's, or a shorter context. A ring has as many rows, and those
                      * of n_set_rows */
    uint32_t n_shard, n_wrapped;         /* files whose tensors are used in place; times the parts that do */
    uint32_t n_run;                      /* runs in a step at most                   */
    uint64_t index_at[MYTH_INDEX_N + 1]; /* where each index array begins, in i32; the last entry is their end. An
                                          * array that the engine does not need has no length */
    uint32_t mask_words;
    uint32_t n_capture;                      /* captured residuals of all parts          */
    int32_t capture_idx[MYTH_LAYER_MAX + 1]; /* of residual l (0 = embedding) in its part, -1 = not captured */
    uint64_t host_class[MYTH_MEM_CLASS_N];   /* engine and devices on the host's ledger  */
} myth_layout;

/* Fills in the defaults and computes every size. MYTH_EARG: an option out of range for this model; MYTH_EDEVICE: no
 * such device name. *out points into itself: it is made where it stays. */
myth_status myth_layout_make(myth_layout *out, const myth_model *m, const myth_engine_opts *opts, myth_error *err);
/* The part that makes residual l: layer l - 1 is its own, of the embedding it is the first. */
uint32_t myth_layout_part_of_residual(const myth_layout *layout, uint32_t l);
/* What part i's device is opened with; lent as long as layout. */
myth_device_opts myth_layout_device(const myth_layout *layout, uint32_t i);
/* Classes of the slots and of held[i]. */
myth_mem_class myth_layout_slot_class(const myth_layout *layout);
myth_mem_class myth_layout_held_class(const myth_layout *layout, int i);
/* Whether layer l, or the layer whose rows it reads, keeps values only (kernels/ops.h, myth_key_fold). */
bool myth_layout_folds(const myth_layout *layout, const myth_config *c, uint32_t l);
/* The buffers that the device's ops use which hold pages ([0]), those of a part's first layers before the others, and
 * which hold rings ([1]); MYTH_BUF_N = no other. */
enum { MYTH_KV_BUFS = 2 };
extern const int myth_layout_kv_bufs[2][MYTH_KV_BUFS];
/* The one of layer l's rows, and the bytes of a page (or ring) in it: 0 = the part has none. */
int myth_layout_kv_buf(const myth_layout_part *p, const myth_config *c, uint32_t l);
uint64_t myth_layout_kv_bytes(const myth_layout_part *p, int buf);
/* Bytes of layer l in a page of its kind (a page or a ring). */
uint64_t myth_layout_layer_bytes(const myth_layout *layout, const myth_config *c, uint32_t l);
/* Divides weights, keys and values by layer (engine.h), without what the model itself books. */
void myth_layout_layers(myth_layers *out, const myth_layout *layout, const myth_model *m);
/* The first devices of the list `names` (NULL = auto), resolved, at most cap; *n says how many there are. MYTH_EDEVICE,
 * MYTH_EARG. */
myth_status myth_layout_devices(char out[][MYTH_DEVICE_NAME_MAX], uint32_t cap, uint32_t *n, const char *names,
                                myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
