/* family.h - describes a family of models: the slots of its tensors, its defaults and its layer loop.
 *
 * To add one   write a file with slots and loop in families/, and a row in families.c
 * Slots        one table row per tensor: its names in safetensors and in GGUF, its shape as a function of the config,
 *              which layers have it, in which form it is kept
 * Loop         issues the ops of a step on the stream; should read like the paper
 * Owner        tables are constant; views in myth_bound_weights are valid while the engine is open */
#ifndef MYTH_FAMILY_H
#define MYTH_FAMILY_H

#include "kernels/ops.h"
#include "config.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_view attn_norm, w_q, w_k, w_v, q_norm, k_norm, w_o, post_attn_norm;
    myth_view ffn_norm, w_gate, w_up, w_down, post_ffn_norm;
    float scale;                                  /* of the whole residual behind the layer; 1 = none          */
    myth_view ple_gate, ple_proj, post_ple_norm;  /* [n_ple, d], [d, n_ple], [d]                                */
    myth_view router, router_scale, expert_scale; /* f32 [n_expert, d], [d], [n_expert]                         */
    myth_view expert_gate_up,
        expert_down;                  /* [n_expert][2 d_ff_expert, d] (gate, then up), [n_expert][d, d_ff_expert] */
    myth_view expert_gate, expert_up; /* or [n_expert][d_ff_expert, d] each                          */
    myth_view expert_norm, post_dense_norm, post_expert_norm;
    myth_view altup_router_norm, altup_router; /* [d], f32 [n_altup, d]                                      */
    myth_view altup_predict,
        altup_correct;     /* f32 [n_altup^2, n_altup] (row n_altup k + j), [n_altup, n_altup]; clipped */
    myth_view altup_scale; /* [d], of the corrected active stream in front of the PLE gate */
    myth_view laurel_left, laurel_right, laurel_norm; /* [rank, d], [d, rank], [d]                                  */
} myth_layer_weights;

typedef struct {
    /* embed and head: the same table, on the first and on the last device, unless the config has a head of its own */
    myth_view embed, head, output_norm;
    myth_view ple_table; /* [n_ple_vocab, n_layer * n_ple]; not given where the host gathers its rows */
    myth_view ple_model_proj, ple_proj_norm;     /* [n_layer * n_ple, d], [n_ple]; first device               */
    myth_view altup_proj[MYTH_ALTUP_MAX - 1];    /* [d, d] each; first device                                 */
    myth_view altup_unembed[MYTH_ALTUP_MAX - 1]; /* last device                                               */
    myth_layer_weights layer[MYTH_LAYER_MAX];
} myth_bound_weights;

typedef enum {
    MYTH_DIM_ONE,
    MYTH_DIM_D,
    MYTH_DIM_Q,
    MYTH_DIM_KV,
    MYTH_DIM_FF,
    MYTH_DIM_HEAD,
    MYTH_DIM_VOCAB,
    MYTH_DIM_PLE,
    MYTH_DIM_PLE_ALL,
    MYTH_DIM_PLE_VOCAB, /* n_ple, n_layer * n_ple, n_ple_vocab */
    MYTH_DIM_EXPERT,
    MYTH_DIM_EXPERT_FF,
    MYTH_DIM_EXPERT_FF2, /* n_expert, d_ff_expert, twice that   */
    MYTH_DIM_ALTUP,
    MYTH_DIM_ALTUP2,
    MYTH_DIM_LAUREL /* n_altup, n_altup^2, laurel_rank     */
} myth_slot_dim;

/* Which layers (or models) have a slot. */
typedef enum {
    MYTH_WHEN_ALWAYS,
    /* layers with keys and values of their own; in other layers the file may hold the tensor, and it is not used */
    MYTH_WHEN_KV,
    /* of these, layers with a value projection; where values are made from keys the file must have none */
    MYTH_WHEN_V,
    MYTH_WHEN_PLE,
    MYTH_WHEN_EXPERTS,
    MYTH_WHEN_ALTUP,
    MYTH_WHEN_HEAD, /* models whose head is a matrix of its own */
    MYTH_WHEN_FUSED,
    MYTH_WHEN_SPLIT, /* of layers with experts, those with gate and up in one tensor, or in two                     */
    /* may be missing */
    MYTH_WHEN_GIVEN
} myth_slot_when;

/* What becomes of the tensor. */
typedef enum {
    /* a matrix as stored, on the device in its own form; a vector (cols MYTH_DIM_ONE) in f32, as the effective norm
     * weight */
    MYTH_FORM_AUTO,
    /* small matrices with a large effect: f32, in file order */
    MYTH_FORM_F32,
    /* the same, with values clipped to +-altup_clip */
    MYTH_FORM_CLIPPED,
    /* one number: `off` is the offset of a float, which is 1 when the tensor is missing */
    MYTH_FORM_SCALAR,
    /* a table from which only single rows are read: kept where the option `ple` says */
    MYTH_FORM_ROWS
} myth_slot_form;

/* Where a slot belongs. */
typedef enum {
    MYTH_AT_LAYER,
    MYTH_AT_FIRST,
    MYTH_AT_LAST
} myth_slot_place; /* each layer; the model itself, on the first or the last device */

typedef struct {
    const char *hf, *gguf;    /* behind "layers.N." and "blk.N."; tensors of the model itself have full names */
    size_t off;               /* of the myth_view in myth_layer_weights or myth_bound_weights                         */
    myth_slot_dim rows, cols; /* cols MYTH_DIM_ONE: a vector                                                          */
    /* The number of matrices in a tensor of three dimensions; it is bound as one matrix of stack * rows rows.
     * MYTH_DIM_ONE: two dimensions. */
    myth_slot_dim stack;
    myth_slot_when when;
    myth_slot_form form;
    myth_slot_place place;
    bool is_part; /* in GGUF this is matrix `part` of one tensor [n_altup - 1, rows, cols]                 */
    uint32_t part;
} myth_slot;

#define MYTH_SLOT(hf_, gguf_, off_, rows_, cols_) \
    .hf = (hf_), .gguf = (gguf_), .off = (off_), .rows = (rows_), .cols = (cols_)

typedef struct myth_step myth_step;

/* What config.json may leave out: the defaults of the class in transformers. */
typedef struct {
    uint32_t n_vocab, d_model, d_ff, n_layer, n_head, n_head_kv, n_ctx, window, period;
    double attn_softcap, final_softcap, rope_global;
    double
        rope_part; /* of the pairs of a global layer's head, the part that turns; 0: all, and no key says otherwise */
} myth_defaults;

/* How config.json names a family: a class of transformers. */
typedef struct {
    const char *model_type, *architecture;
    const char *text_type; /* model_type of text_config, where the facts of a multimodal model are; NULL = at the top */
    uint32_t n_ctx,
        window;      /* the class's own defaults; 0 = the family's                                              */
    bool has_no_ple; /* no per-layer embeddings unless config.json gives their width                            */
    bool has_no_final_softcap; /* caps no logits, whatever config.json says */
} myth_family_class;

typedef struct myth_facts myth_facts; /* of a file (config_impl.h) */

/* By what attention scores are multiplied: 1 / sqrt of the head's width, of a number that the config gives, or 1. */
typedef enum { MYTH_SCALE_BY_WIDTH, MYTH_SCALE_GIVEN, MYTH_SCALE_ONE } myth_score_scale;

/* A row of families.c: all in which the families differ, beside what their layer loops show. */
typedef struct {
    const char *name;                 /* "gemma3": general.architecture of GGUF */
    const char *encoder_name;         /* the same of its text encoders; NULL: it has none */
    const myth_family_class *classes; /* ends with a row of zeros */
    const myth_slot *slots;           /* of a layer; ends with a row of zeros   */
    void (*layers)(myth_step *st);    /* NULL: known, not supported             */
    uint32_t n_layer_ops;             /* that a layer of a decode step issues at most */
    const myth_slot *model_slots;     /* of the model itself, after embedding and final norm; ends with a row of zeros;
                                    * NULL = none */
    myth_defaults absent;
    /* Read the keys that this family alone has, from config.json and from GGUF; NULL: it has none. */
    myth_status (*read_json)(const myth_facts *f, myth_config *c, const myth_family_class *as);
    myth_status (*read_gguf)(const myth_facts *f, myth_config *c);
    myth_score_scale score_scale; /* as config.json has it */
    /* GGUF has no key for the scale of attention scores. The model with this many layers has 1 / sqrt(width). */
    struct {
        uint32_t n_layer, width;
    } odd_scale;
    uint32_t n_vocab_text; /* rows of the embedding in checkpoints without those of image tokens; 0 = there are none */
    bool has_post_norm;    /* a norm after each branch as well */
    bool has_qk_norm, has_v_norm;
    bool norm_plus_one; /* checkpoints keep norm weights less 1 */
    bool has_attn_softcap, has_final_softcap;
    bool has_two_ropes;       /* local layers turn their keys at a base of their own, only global ones are scaled */
    bool has_rope_freqs;      /* GGUF keeps the rotations of global layers in a tensor */
    bool shares_kv;           /* later layers may read the keys and values of earlier ones; GGUF names every
                                    * layer's kind */
    bool has_pattern_key;     /* config.json may say the period of global layers in a number */
    bool has_absent_window;   /* a GGUF without a window has the default one */
    bool no_window_is_global; /* a GGUF without a window has global layers only */
    bool last_is_global;      /* whatever the list of layer kinds says */
    bool has_width_list;      /* config.json may give each layer's width of its feed-forward */
    bool has_two_widths;      /* heads of local layers may be narrower */
    bool has_sparse_gates;    /* layers may keep only the largest gates */
    bool has_bf16_constants;  /* transformers rounds the scales of per-layer inputs to bf16, as the embedding's */
    bool has_system_turn;     /* its chat template has a turn for the system's text */
} myth_family;

const myth_family *myth_family_get(myth_family_id id);
enum { MYTH_SLOT_EMBED, MYTH_SLOT_OUTPUT_NORM, MYTH_SLOT_HEAD, MYTH_SLOT_MODEL_N };
extern const myth_slot myth_slots_model[MYTH_SLOT_MODEL_N];
uint64_t myth_slot_size(const myth_config *c, uint32_t layer, myth_slot_dim dim);
/* Rows of what is bound: stack * rows. */
uint64_t myth_slot_rows(const myth_config *c, const myth_slot *s, uint32_t layer);
/* Whether layer `layer` of c has the slot. Of MYTH_WHEN_GIVEN it says yes: the weights know. */
bool myth_slot_is_there(const myth_config *c, const myth_slot *s, uint32_t layer);
/* Kept in f32 among the norms, by value, or neither: a matrix or table as stored. */
bool myth_slot_is_f32(const myth_slot *s);
bool myth_slot_is_matrix(const myth_slot *s);
/* One of the matrices of which a token reads its experts' rows only. */
bool myth_slot_is_expert(const myth_slot *s);
enum { MYTH_SLOT_NAME_MAX = 128 };
/* The full names of the tensor in safetensors and in GGUF. */
void myth_slot_names(char hf[MYTH_SLOT_NAME_MAX], char gguf[MYTH_SLOT_NAME_MAX], const myth_slot *s, uint32_t layer);

/* The slots that a model has, one after the other: embedding, the model's others, those of each layer, final norm,
 * head. Starts from zero. */
typedef struct {
    const myth_slot *slot;
    uint32_t layer, at; /* layer: 0 for slots of the model itself */
} myth_slot_iter;
bool myth_slot_next(myth_slot_iter *it, const myth_config *c);

/* Where the bytes of a slot are: the tensor, and the element of it that the slot's matrix begins with. */
typedef struct {
    const myth_tensor *t;      /* NULL = not there            */
    const unsigned char *data; /* NULL without the data       */
    uint64_t first, bytes;
    uint64_t rows, cols; /* a vector is rows x 1        */
} myth_slot_src;
myth_slot_src myth_slot_find(const myth_weights *w, const myth_config *c, const myth_slot *s, uint32_t layer);

void myth_gemma1_layers(myth_step *st);
void myth_gemma2_layers(myth_step *st);
void myth_gemma3_layers(myth_step *st);
void myth_gemma3n_layers(myth_step *st);
void myth_gemma4_layers(myth_step *st);
extern const myth_slot myth_gemma1_slots[], myth_gemma2_slots[], myth_gemma3_slots[];
extern const myth_slot myth_gemma3n_slots[], myth_gemma3n_model_slots[], myth_gemma4_slots[], myth_gemma4_model_slots[];

#ifdef __cplusplus
}
#endif
#endif
