/* convert.c - see convert.h. Facts, then the directory, then tensor after tensor in pieces of MYTH_CONVERT_ROWS
 * elements.
 *
 * Source   key names and their order: llama.cpp conversion of Gemma, gguf-py constants */
#include "convert.h"

#include "engine/run/dense.h"
#include "engine/run/lora.h"
#include "engine/model/family.h"
#include "gguf_write.h"
#include "quant.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { UNUSED = 5, THREADS_MAX = 64 };

typedef struct {
    const myth_model *m;
    const myth_convert_opts *o;
    const myth_config *c;
    myth_gguf_writer *g;
    uint32_t n_rows;      /* of the embedding in the new file */
    uint64_t done, total; /* bytes of the source */
    myth_mix_file mix;
    const myth_mix *kind;
    float *x; /* [piece] elements */
    void *y;  /* the same, as in the new file */
    uint64_t piece;
    float *importance; /* [widest] of the matrix under way */
    myth_dense dense;
} job;

/* One tensor of the new file: a slot's, those of several slots on top of each other, or made from the config. */
typedef struct {
    myth_slot_src src[MYTH_ALTUP_MAX];
    uint32_t n_src; /* 0: rope_freqs */
    char name[MYTH_SLOT_NAME_MAX];
    myth_dtype type;
    uint32_t n_dim;
    uint64_t dim[3];
    bool plus_one;
} target;

/* Goes over the tensors of the new file. Starts from zero. */
typedef struct {
    myth_slot_iter slot;
    bool has_freqs;
    uint32_t n_dense;
} walk;

static myth_str str(const char *text) { return (myth_str){text, strlen(text)}; }

/* ---- facts ---- */

static bool is_overridden(const job *j, myth_str key)
{
    for (uint32_t i = 0; i < j->o->n_kv; i++)
        if (myth_str_is(key, j->o->kv[i].key))
            return true;
    return false;
}

static bool is_ours(const job *j, const char *key) { return !is_overridden(j, str(key)); }

static void fact_u32(job *j, const char *key, uint32_t v)
{
    char full[96];
    snprintf(full, sizeof(full), "%s.%s", myth_config_gguf_name(j->c), key);
    if (is_ours(j, full))
        myth_gguf_put_u32(j->g, full, v);
}

static void fact_f32(job *j, const char *key, double v)
{
    char full[96];
    snprintf(full, sizeof(full), "%s.%s", myth_config_gguf_name(j->c), key);
    if (is_ours(j, full))
        myth_gguf_put_f32(j->g, full, (float)v);
}

static void put_file_type(job *j)
{
    const myth_imatrix *im = j->o->imatrix;
    if (is_ours(j, "general.file_type"))
        myth_gguf_put_u32(j->g, "general.file_type", j->kind->file_type);
    if (myth_dtype_is_quant(j->kind->type) && is_ours(j, "general.quantization_version"))
        myth_gguf_put_u32(j->g, "general.quantization_version", 2);
    if (!im || !myth_dtype_is_quant(j->kind->type))
        return;
    myth_gguf_put_str(j->g, "quantize.imatrix.file", str(myth_imatrix_path(im)));
    myth_gguf_put_u32(j->g, "quantize.imatrix.entries_count", myth_imatrix_n_entry(im));
    myth_gguf_put_u32(j->g, "quantize.imatrix.chunks_count", myth_imatrix_n_chunk(im));
}

/* Would a reader of the new file infer other layer kinds from the family's period? */
static bool is_odd_pattern(const myth_config *c)
{
    const myth_family *family = myth_family_get(c->family);
    if (family->shares_kv)
        return true; /* always written for these */
    const uint32_t period = family->no_window_is_global && !c->window ? 0 : family->absent.period;
    for (uint32_t l = 0; l < c->n_layer; l++)
        if (c->layer[l].is_global != (period == 0 || (l + 1) % period == 0))
            return true;
    return false;
}

static uint32_t layer_u32(const myth_config *c, uint32_t l, size_t field)
{
    uint32_t v;
    memcpy(&v, (const char *)&c->layer[l] + field, sizeof v);
    return v;
}

/* One number where all layers agree, else one for each. */
static void fact_per_layer(job *j, const char *key, size_t field)
{
    const myth_config *c = j->c;
    char full[96];
    bool is_same = true;
    for (uint32_t l = 1; l < c->n_layer; l++)
        is_same = is_same && layer_u32(c, l, field) == layer_u32(c, 0, field);
    if (is_same) {
        fact_u32(j, key, layer_u32(c, 0, field));
        return;
    }
    snprintf(full, sizeof(full), "%s.%s", myth_config_gguf_name(c), key);
    if (!is_ours(j, full))
        return;
    myth_gguf_put_array(j->g, full, MYTH_GGUF_I32, c->n_layer);
    for (uint32_t l = 0; l < c->n_layer; l++)
        myth_gguf_item_i32(j->g, (int32_t)layer_u32(c, l, field));
}

static void put_gemma3n_4(job *j)
{
    const myth_config *c = j->c;
    const myth_family *family = myth_family_get(c->family);
    fact_u32(j, "attention.shared_kv_layers", c->n_layer - c->first_shared);
    fact_u32(j, "embedding_length_per_layer_input", c->n_ple);
    if (c->n_expert) {
        fact_u32(j, "expert_count", c->n_expert);
        fact_u32(j, "expert_used_count", c->n_expert_used);
        fact_u32(j, "expert_feed_forward_length", c->d_ff_expert);
    }
    if (family->has_two_widths) {
        const uint32_t wide = c->head_dim_global ? c->head_dim_global : c->head_dim_local,
                       narrow = c->head_dim_local ? c->head_dim_local : wide;
        fact_u32(j, "attention.key_length_swa", narrow);
        fact_u32(j, "attention.value_length_swa", narrow);
        fact_u32(j, "rope.dimension_count", wide);
        fact_u32(j, "rope.dimension_count_swa", narrow);
    }
    if (c->n_altup) {
        fact_u32(j, "altup.active_idx", c->altup_active);
        fact_u32(j, "altup.num_inputs", c->n_altup);
    }
    if (family->has_sparse_gates && is_ours(j, "gemma3n.activation_sparsity_scale")) {
        myth_gguf_put_array(j->g, "gemma3n.activation_sparsity_scale", MYTH_GGUF_F32, c->n_layer);
        for (uint32_t l = 0; l < c->n_layer; l++)
            myth_gguf_item_f32(j->g, c->layer[l].is_sparse ? c->layer[l].gate_z : -INFINITY);
    }
}

static void put_config(job *j)
{
    const myth_config *c = j->c;
    const myth_family *family = myth_family_get(c->family);
    char key[96];
    if (is_ours(j, "general.architecture"))
        myth_gguf_put_str(j->g, "general.architecture", str(myth_config_gguf_name(c)));
    if (is_ours(j, "general.type"))
        myth_gguf_put_str(j->g, "general.type", str("model"));
    if (is_ours(j, "general.name"))
        myth_gguf_put_str(j->g, "general.name", str(myth_weights_name(j->m->weights)));
    fact_u32(j, "context_length", c->n_ctx_train);
    fact_u32(j, "embedding_length", c->d_model);
    fact_u32(j, "block_count", c->n_layer);
    fact_per_layer(j, "feed_forward_length", offsetof(myth_layer_config, d_ff));
    fact_u32(j, "attention.head_count", c->n_head);
    fact_per_layer(j, "attention.head_count_kv", offsetof(myth_layer_config, n_head_kv));
    fact_f32(j, "attention.layer_norm_rms_epsilon", (double)c->eps);
    fact_u32(j, "attention.key_length", c->head_dim_global ? c->head_dim_global : c->head_dim_local);
    fact_u32(j, "attention.value_length", c->head_dim_global ? c->head_dim_global : c->head_dim_local);
    if (!j->m->tokenizer)
        fact_u32(j, "vocab_size", j->n_rows);
    if (family->has_attn_softcap)
        fact_f32(j, "attn_logit_softcapping", (double)c->attn_softcap);
    if (family->absent.final_softcap > 0 || c->final_softcap > 0)
        fact_f32(j, "final_logit_softcapping", (double)c->final_softcap);
    if (c->window) /* of an encoder that of both sides; where it looks to neither, 1 says so as 0 would */
        fact_u32(j, "attention.sliding_window", c->is_bidirectional && c->window > 1 ? 2 * (c->window - 1) : c->window);
    if (c->is_bidirectional)
        fact_u32(j, "pooling_type", 1); /* the mean */
    snprintf(key, sizeof(key), "%s.attention.sliding_window_pattern", myth_config_gguf_name(c));
    if (is_odd_pattern(c) && is_ours(j, key)) {
        myth_gguf_put_array(j->g, key, MYTH_GGUF_BOOL, c->n_layer);
        for (uint32_t i = 0; i < c->n_layer; i++)
            myth_gguf_item_bool(j->g, !c->layer[i].is_global);
    }
    if (family->shares_kv)
        put_gemma3n_4(j);
    if (family->has_two_ropes || c->rope_base_global != 1e4)
        fact_f32(j, "rope.freq_base", c->rope_base_global);
    if (family->has_two_widths || (family->has_two_ropes && c->rope_base_local != 1e4))
        fact_f32(j, "rope.freq_base_swa", c->rope_base_local);
    if (c->rope_factor_global != 1) {
        snprintf(key, sizeof(key), "%s.rope.scaling.type", myth_config_gguf_name(c));
        if (is_ours(j, key))
            myth_gguf_put_str(j->g, key, str("linear"));
        fact_f32(j, "rope.scaling.factor", c->rope_factor_global);
    }
    if (c->attn_scale != myth_config_gguf_scale(c))
        fact_f32(j, "attention.scale", (double)c->attn_scale);
}

/* ---- tokenizer ---- */

/* User-defined pieces stand in the text as they are typed, so with spaces: "▁▁" becomes two of them. */
static myth_str plain_spaces(char *dst, size_t cap, myth_str s)
{
    size_t n = 0;
    if (s.len > cap)
        return s;
    for (size_t i = 0; i < s.len;) {
        bool is_mark = s.len - i >= 3 && memcmp(s.text + i, "\xe2\x96\x81", 3) == 0;
        dst[n++] = is_mark ? ' ' : s.text[i];
        i += is_mark ? 3 : 1;
    }
    return (myth_str){dst, n};
}

static void put_id(job *j, const char *key, int32_t id)
{
    if (id >= 0 && (uint32_t)id < j->n_rows && is_ours(j, key))
        myth_gguf_put_u32(j->g, key, (uint32_t)id);
}

/* Scores order the merges: ids of ordinary pieces follow their ranks, counted from behind the byte pieces. */
static float score_of(const myth_tokenizer *t, uint32_t id, uint32_t first_ranked)
{
    switch (myth_tokenizer_type(t, (int32_t)id)) {
    case MYTH_PIECE_BYTE: return 0.0f;
    case MYTH_PIECE_NORMAL: return id < first_ranked ? 0.0f : -(float)(id - first_ranked);
    default: return -1000.0f;
    }
}

/* Where merges decide, runs of ▁ come out of them: pieces like any other. */
static bool is_merged_run(const myth_tokenizer *t, uint32_t id)
{
    const myth_str s = myth_tokenizer_piece(t, (int32_t)id);
    return myth_tokenizer_is_gemma4(t) && s.len >= 3 && memcmp(s.text, "\xe2\x96\x81", 3) == 0;
}

static myth_piece_type type_of(const myth_tokenizer *t, uint32_t id)
{
    return is_merged_run(t, id) ? MYTH_PIECE_NORMAL : myth_tokenizer_type(t, (int32_t)id);
}

static void put_pieces(job *j)
{
    const myth_tokenizer *t = j->m->tokenizer;
    const uint32_t n = j->n_rows, n_piece = myth_tokenizer_n_vocab(t);
    char text[1024];
    uint32_t first_ranked = 0;
    for (uint32_t i = 0; i < n_piece; i++)
        if (myth_tokenizer_type(t, (int32_t)i) == MYTH_PIECE_BYTE)
            first_ranked = i + 1;
    myth_gguf_put_array(j->g, "tokenizer.ggml.tokens", MYTH_GGUF_STRING, n);
    for (uint32_t i = 0; i < n; i++) {
        myth_str s = {text, (size_t)snprintf(text, sizeof(text), "[PAD%u]", i)};
        if (i < n_piece)
            s = myth_tokenizer_piece(t, (int32_t)i);
        bool is_user = i < n_piece && type_of(t, i) == MYTH_PIECE_USER;
        myth_gguf_item_str(j->g, is_user ? plain_spaces(text, sizeof(text), s) : s);
    }
    myth_gguf_put_array(j->g, "tokenizer.ggml.scores", MYTH_GGUF_F32, n);
    for (uint32_t i = 0; i < n; i++)
        myth_gguf_item_f32(j->g, i < n_piece ? score_of(t, i, first_ranked) : -10000.0f);
    myth_gguf_put_array(j->g, "tokenizer.ggml.token_type", MYTH_GGUF_I32, n);
    for (uint32_t i = 0; i < n; i++)
        myth_gguf_item_i32(j->g, i < n_piece ? (int32_t)type_of(t, i) : UNUSED);
}

/* Where ids by score would differ from the source's, its merges go along; Gemma 4's always. */
static void put_merges(job *j)
{
    const myth_tokenizer *t = j->m->tokenizer;
    char text[2 * 4096 + 1]; /* two pieces of the greatest length */
    uint64_t count = 0;
    int32_t l = 0, r = 0;
    if (!myth_tokenizer_needs_merges(t) && !myth_tokenizer_is_gemma4(t))
        return;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            myth_gguf_put_array(j->g, "tokenizer.ggml.merges", MYTH_GGUF_STRING, count);
        for (uint32_t rank = 0; rank < myth_tokenizer_n_merge(t); rank++) {
            if (!myth_tokenizer_merge(t, rank, &l, &r))
                continue;
            myth_str a = myth_tokenizer_piece(t, l), b = myth_tokenizer_piece(t, r);
            if ((uint32_t)l >= j->n_rows || (uint32_t)r >= j->n_rows || a.len + b.len >= sizeof(text))
                continue;
            if (pass == 0) {
                count++;
                continue;
            }
            memcpy(text, a.text, a.len);
            text[a.len] = ' ';
            memcpy(text + a.len + 1, b.text, b.len);
            myth_gguf_item_str(j->g, (myth_str){text, a.len + 1 + b.len});
        }
    }
}

/* The chat template is carried for other readers; nothing of ours runs it. */
static myth_status put_template(job *j, myth_error *err)
{
    myth_str text;
    if (!is_ours(j, "tokenizer.chat_template"))
        return MYTH_OK;
    const myth_status st =
        myth_chat_template_copy(&text, j->m->mem, j->m->weights, (char *)j->x, (size_t)j->piece * sizeof(float), err);
    if (st == MYTH_OK && text.text)
        myth_gguf_put_str(j->g, "tokenizer.chat_template", text);
    return st;
}

/* GGUF has three keys for what ends a text. Readers know the family's marks by name; an id that only the model's files
 * name takes a key before the end of turn does. */
static myth_status put_ends(job *j, const myth_special_ids *s, myth_error *err)
{
    int32_t end[MYTH_TOK_END_MAX], more[MYTH_TOK_END_MAX + 1];
    const uint32_t n_end = myth_tokenizer_ends(j->m->tokenizer, end);
    uint32_t n_more = 0;
    bool has_eos = n_end == 0;
    for (uint32_t i = 0; i < n_end; i++) {
        has_eos = has_eos || end[i] == s->eos;
        if (end[i] != s->eos && end[i] != s->end_of_turn && end[i] != s->tool_response)
            more[n_more++] = end[i];
    }
    const uint32_t first = !has_eos && n_more > 0; /* the place of eos */
    if (n_more - first > 2)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s: eos_token_id has %u ids, and GGUF has keys for three",
                         myth_weights_name(j->m->weights), n_end);
    more[n_more] = s->end_of_turn;
    put_id(j, "tokenizer.ggml.eos_token_id", first ? more[0] : s->eos);
    put_id(j, "tokenizer.ggml.eot_token_id", more[first]);
    if (n_more - first > 1)
        put_id(j, "tokenizer.ggml.eom_token_id", more[first + 1]);
    return MYTH_OK;
}

static myth_status put_tokenizer(job *j, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (!j->m->tokenizer)
        return MYTH_OK;
    const myth_special_ids *s = myth_tokenizer_special(j->m->tokenizer);
    const bool is_gemma4 = myth_tokenizer_is_gemma4(j->m->tokenizer);
    myth_gguf_put_str(j->g, "tokenizer.ggml.model", str(is_gemma4 ? "gemma4" : "llama"));
    if (!is_gemma4)
        myth_gguf_put_str(j->g, "tokenizer.ggml.pre", str("default"));
    put_pieces(j);
    put_merges(j);
    put_id(j, "tokenizer.ggml.bos_token_id", s->bos);
    MYTH_TRY(put_ends(j, s, err));
    put_id(j, "tokenizer.ggml.unknown_token_id", s->unk);
    put_id(j, "tokenizer.ggml.padding_token_id", s->pad);
    put_id(j, "tokenizer.ggml.fim_pre_token_id", s->fim_prefix);
    put_id(j, "tokenizer.ggml.fim_mid_token_id", s->fim_middle);
    put_id(j, "tokenizer.ggml.fim_suf_token_id", s->fim_suffix);
    put_id(j, "tokenizer.ggml.fim_sep_token_id", s->file_separator);
    myth_gguf_put_bool(j->g, "tokenizer.ggml.add_bos_token", true);
    myth_gguf_put_bool(j->g, "tokenizer.ggml.add_eos_token", j->c->is_bidirectional);
    myth_gguf_put_bool(j->g, "tokenizer.ggml.add_space_prefix", false);
    st = put_template(j, err);
fail:
    return st;
}

/* ---- all facts ---- */

static void copy_facts(job *j)
{
    static const char *const rewritten[] = {"general.file_type",
                                            "general.quantization_version",
                                            "general.alignment",
                                            "quantize.imatrix.file",
                                            "quantize.imatrix.entries_count",
                                            "quantize.imatrix.chunks_count",
                                            "quantize.imatrix.dataset",
                                            "split.no",
                                            "split.count",
                                            "split.tensors.count"};
    const myth_meta *m = myth_weights_meta(j->m->weights);
    for (uint32_t i = 0; i < myth_meta_count(m); i++) {
        const myth_meta_value *v = myth_meta_at(m, i);
        bool is_rewritten = is_overridden(j, v->key);
        for (size_t k = 0; k < sizeof(rewritten) / sizeof(rewritten[0]); k++)
            is_rewritten = is_rewritten || myth_str_is(v->key, rewritten[k]);
        if (!is_rewritten)
            myth_gguf_put_value(j->g, v);
    }
}

static myth_status put_facts(job *j, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (myth_weights_get_format(j->m->weights) == MYTH_FORMAT_GGUF) {
        copy_facts(j);
    } else {
        put_config(j);
        st = put_tokenizer(j, err);
    }
    put_file_type(j);
    for (uint32_t i = 0; i < j->o->n_kv; i++) {
        const myth_convert_kv *kv = &j->o->kv[i];
        if (kv->text)
            myth_gguf_put_str(j->g, kv->key, str(kv->text));
        else
            myth_gguf_put_u32(j->g, kv->key, kv->number);
    }
    return st;
}

/* ---- tensors ---- */

/* Layers before `layer` that have a matrix of values of their own. */
static uint32_t count_values(const job *j, uint32_t layer)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < layer; l++)
        for (const myth_slot *s = myth_family_get(j->c->family)->slots; s->hf; s++)
            n += strcmp(s->gguf, "attn_v.weight") == 0 && myth_slot_is_there(j->c, s, l);
    return n;
}

/* A matrix's type in the new file: what the mix makes of it. */
static myth_dtype type_for(const job *j, const target *t, myth_dtype source, uint64_t cols, uint32_t layer)
{
    return myth_mix_type(j->kind, &j->mix,
                         &(myth_mix_tensor){
                             .name = t->name,
                             .n_dim = 2,
                             .cols = cols,
                             .source = source,
                             .layer = layer,
                             .value_idx = count_values(j, layer),
                         });
}

/* Slot s of a layer; false when the source has none, or it went with an earlier one. */
static bool target_of(target *t, const job *j, const myth_slot *s, uint32_t layer)
{
    const myth_config *c = j->c;
    const bool has_words = s == &myth_slots_model[MYTH_SLOT_EMBED] || s == &myth_slots_model[MYTH_SLOT_HEAD],
               is_vector = s->cols == MYTH_DIM_ONE;
    char hf[MYTH_SLOT_NAME_MAX];
    *t = (target){.n_src = 0};
    myth_slot_names(hf, t->name, s, layer);
    t->src[t->n_src++] = myth_slot_find(j->m->weights, c, s, layer);
    if (!t->src[0].t || (s->is_part && s->part > 0))
        return false;
    for (const myth_slot *o = s->is_part ? myth_family_get(c->family)->model_slots : NULL; o && o->hf; o++)
        if (o->part == t->n_src && strcmp(o->gguf, s->gguf) == 0 && myth_slot_is_there(c, o, layer))
            t->src[t->n_src++] = myth_slot_find(j->m->weights, c, o, layer);
    if (s->is_part || s->stack != MYTH_DIM_ONE)
        t->dim[t->n_dim++] = s->is_part ? t->n_src : myth_slot_size(c, layer, s->stack);
    t->dim[t->n_dim++] = has_words ? j->n_rows : myth_slot_size(c, layer, s->rows);
    if (!is_vector)
        t->dim[t->n_dim++] = t->src[0].cols;
    if (has_words)
        t->src[0].rows = j->n_rows;
    t->type = is_vector || myth_slot_is_f32(s) ? MYTH_F32 : type_for(j, t, t->src[0].t->dtype, t->src[0].cols, layer);
    t->plus_one = c->norm_plus_one && is_vector;
    return true;
}

/* The next tensor, in the order of the converter: embedding, the model's, layers, final norm; what the config says;
 * dense layers. */
static bool next_target(target *t, const job *j, walk *w)
{
    while (w->slot.at == 0 || w->slot.slot)
        if (myth_slot_next(&w->slot, j->c) && target_of(t, j, w->slot.slot, w->slot.layer))
            return true;
    *t = (target){.type = MYTH_F32, .n_dim = 1, .dim = {j->c->head_dim_global / 2}};
    if (!w->has_freqs && myth_family_get(j->c->family)->has_rope_freqs && j->c->head_dim_global) {
        snprintf(t->name, sizeof(t->name), "rope_freqs.weight");
        return w->has_freqs = true;
    }
    if (!myth_dense_has(j->m) || w->n_dense == MYTH_DENSE_N)
        return false;
    const myth_tensor *dense = j->dense.layer[w->n_dense];
    snprintf(t->name, sizeof(t->name), "dense_%u.weight", 2 + w->n_dense++);
    if (!dense)
        return true; /* counted before they are open */
    t->src[t->n_src++] = (myth_slot_src){.t = dense, .data = dense->data, .rows = dense->dim[0], .cols = dense->dim[1]};
    t->n_dim = 2;
    t->dim[0] = dense->dim[0];
    t->dim[1] = dense->dim[1];
    t->type = type_for(j, t, dense->dtype, dense->dim[1], 0);
    return true;
}

static uint32_t count_tensors(const job *j)
{
    target t;
    uint32_t n = 0;
    for (walk w = {.n_dense = 0}; next_target(&t, j, &w);)
        n++;
    return n;
}

/* Elements first .. first + n of a source, as floats. */
static myth_status load(job *j, const myth_slot_src *s, uint64_t first, uint64_t n, myth_error *err)
{
    if (myth_weights_get_format(j->m->weights) == MYTH_FORMAT_RANDOM) {
        myth_status st = myth_weights_random_fill(j->m->weights, s->t, s->first + first, n, j->y, err);
        if (st != MYTH_OK)
            return st;
        myth_dequant_row(s->t->dtype, j->x, j->y, n);
    } else {
        myth_dequant_row(s->t->dtype, j->x, s->data + myth_row_bytes(s->t->dtype, first), n);
    }
    return MYTH_OK;
}

/* ---- rows shared out ---- */

static uint64_t widest_of(const myth_config *c)
{
    uint64_t widest = 0;
    for (myth_slot_iter it = {.at = 0}; myth_slot_next(&it, c);) {
        const bool is_vector = it.slot->cols == MYTH_DIM_ONE;
        const uint64_t row = myth_slot_size(c, it.layer, is_vector ? it.slot->rows : it.slot->cols);
        widest = row > widest ? row : widest;
    }
    return widest;
}

typedef struct {
    myth_dtype type;
    unsigned char *dst;
    const float *src, *importance;
    uint64_t n_row, cols;
} row_share;

static void *quantise_rows(void *arg)
{
    const row_share *r = arg;
    const uint64_t bytes = myth_row_bytes(r->type, r->cols);
    for (uint64_t i = 0; i < r->n_row; i++) {
        if (r->importance)
            myth_quant_fit_row(r->type, r->dst + i * bytes, r->src + i * r->cols, r->importance, r->cols);
        else
            myth_quant_row(r->type, r->dst + i * bytes, r->src + i * r->cols, r->cols);
    }
    return NULL;
}

/* n elements of j->x, whole rows, to j->y. A thread that does not start leaves its share to this one. */
static void quantise(job *j, myth_dtype type, uint64_t n, uint64_t cols, const float *importance)
{
    row_share share[THREADS_MAX];
    pthread_t thread[THREADS_MAX];
    bool is_started[THREADS_MAX];
    const uint64_t n_row = n / cols, wish = j->o->n_threads < THREADS_MAX ? j->o->n_threads : THREADS_MAX;
    uint64_t n_share = myth_quant_is_fitted(type) && wish > 1 ? wish : 1, row = 0;
    n_share = n_share < n_row ? n_share : n_row;
    for (uint64_t i = 0; i < n_share; i++) {
        const uint64_t end = n_row * (i + 1) / n_share;
        share[i] = (row_share){
            type, (unsigned char *)j->y + row * myth_row_bytes(type, cols), j->x + row * cols, importance, end - row,
            cols};
        row = end;
        is_started[i] = i > 0 && pthread_create(&thread[i], NULL, quantise_rows, &share[i]) == 0;
    }
    for (uint64_t i = 0; i < n_share; i++)
        if (!is_started[i])
            quantise_rows(&share[i]);
    for (uint64_t i = 0; i < n_share; i++)
        if (is_started[i])
            pthread_join(thread[i], NULL);
}

/* What the importance matrix has of one of the matrices of t, NULL = nothing. */
static myth_status importance_of(job *j, const target *t, uint32_t expert, uint32_t n_expert, uint64_t cols,
                                 const float **out, myth_error *err)
{
    bool found = false;
    *out = NULL;
    if (!j->o->imatrix || t->n_dim < 2 || !myth_quant_is_fitted(t->type) ||
        cols > widest_of(j->c)) /* not a layer's: none was gathered */
        return MYTH_OK;
    myth_status st = myth_imatrix_get(j->o->imatrix, t->name, expert, n_expert, cols, j->importance, &found, err);
    *out = found ? j->importance : NULL;
    return st;
}

static bool is_adapted_by_any(const job *j, const target *t)
{
    bool is_adapted = false;
    for (uint32_t i = 0; i < j->m->n_lora; i++)
        is_adapted |= myth_lora_has(j->m->lora[i], t->name);
    return is_adapted;
}

/* A value that is not finite is refused: of the source it would be hidden by types that cannot hold it, and one that
 * the new type cannot hold would make a file that nothing can run. */
static myth_status check_finite(const job *j, const target *t, myth_dtype type, const void *data, uint64_t bytes,
                                bool is_source, myth_error *err)
{
    const myth_tensor piece = {.dtype = type, .data = data, .bytes = bytes};
    if (myth_tensor_is_finite(&piece))
        return MYTH_OK;
    return myth_fail(err, is_source ? MYTH_EFORMAT : MYTH_EUNSUPPORTED,
                     is_source ? "%s: tensor %s holds a value that is not finite: the file is damaged"
                               : "%s: tensor %s has values too large for type %s; bf16 and f32 hold them",
                     myth_weights_path(j->m->weights), t->name, myth_dtype_get(type)->name);
}

/* Elements from .. end - 1 of a source. */
static myth_status write_rows(job *j, const target *t, const myth_slot_src *s, uint64_t from, uint64_t end,
                              uint64_t cols, const float *importance, myth_error *err)
{
    const bool is_random = myth_weights_get_format(j->m->weights) == MYTH_FORMAT_RANDOM;
    const uint64_t step = j->piece / cols * cols;
    const bool is_adapted = is_adapted_by_any(j, t);
    myth_status st;
    for (uint64_t at = from; at < end; at += step) {
        const uint64_t k = end - at < step ? end - at : step;
        const uint64_t bytes = myth_row_bytes(t->type, k);
        if (myth_cancelled(j->o->cancel))
            return myth_fail(err, MYTH_ECANCEL, "%s: stopped", j->o->path);
        if (t->type == s->t->dtype && !t->plus_one && !is_random && !is_adapted) {
            if ((st = check_finite(j, t, t->type, s->data + myth_row_bytes(t->type, at), bytes, true, err)) != MYTH_OK)
                return st;
            myth_gguf_data(j->g, s->data + myth_row_bytes(t->type, at), bytes);
        } else {
            if ((st = load(j, s, at, k, err)) != MYTH_OK)
                return st;
            for (uint64_t i = 0; t->plus_one && i < k; i++)
                j->x[i] += 1.0f;
            for (uint32_t i = 0; is_adapted && i < j->m->n_lora; i++)
                myth_lora_add(j->m->lora[i], t->name, at / cols, k / cols, j->x);
            if ((st = check_finite(j, t, MYTH_F32, j->x, k * sizeof(float), true, err)) != MYTH_OK)
                return st;
            quantise(j, t->type, k, cols, importance);
            if ((st = check_finite(j, t, t->type, j->y, bytes, false, err)) != MYTH_OK)
                return st;
            myth_gguf_data(j->g, j->y, bytes);
        }
        j->done += myth_row_bytes(s->t->dtype, k);
        if (j->o->on_progress)
            j->o->on_progress(j->o->user, j->done, j->total);
        if (myth_gguf_status(j->g) != MYTH_OK)
            return MYTH_OK; /* close reports it */
    }
    return MYTH_OK;
}

/* Experts are stacked, each with an importance of its own. */
static myth_status write_source(job *j, const target *t, const myth_slot_src *s, myth_error *err)
{
    const uint64_t cols = s->cols == 1 ? s->rows : s->cols, n = s->rows * s->cols;
    const uint32_t n_expert = t->n_dim == 3 && t->n_src == 1 ? (uint32_t)t->dim[0] : 1;
    const float *importance;
    myth_status st = MYTH_OK;
    for (uint32_t e = 0; e < n_expert && st == MYTH_OK; e++)
        if ((st = importance_of(j, t, e, n_expert, cols, &importance, err)) == MYTH_OK)
            st = write_rows(j, t, s, n / n_expert * e, n / n_expert * (e + 1), cols, importance, err);
    return st;
}

static myth_status write_tensor(job *j, const target *t, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < t->n_src && st == MYTH_OK; i++)
        st = write_source(j, t, &t->src[i], err);
    for (uint64_t i = 0; t->n_src == 0 && i < t->dim[0]; i++) { /* what the frequency of pair i is divided by */
        const float v = i < j->c->rope_pairs_global ? 1.0f : 1e30f;
        myth_gguf_data(j->g, &v, sizeof v);
    }
    return st;
}

/* ---- the whole ---- */

static uint32_t rows_of(const myth_model *m)
{
    uint32_t n = m->config.n_vocab, n_piece = m->tokenizer ? myth_tokenizer_n_vocab(m->tokenizer) : n;
    const uint32_t n_text = myth_family_get(m->config.family)->n_vocab_text;
    if (myth_weights_get_format(m->weights) != MYTH_FORMAT_SAFETENSORS || !n_text)
        return n;
    if (n_piece == n_text + 1) /* <image_soft_token>, which text never meets */
        n_piece = n_text;
    return n_piece < n ? n_piece : n;
}

static uint64_t piece_of(const myth_config *c)
{
    return widest_of(c) > MYTH_CONVERT_ROWS ? widest_of(c) : MYTH_CONVERT_ROWS;
}

myth_status myth_convert(const myth_model *m, const myth_convert_opts *opts, myth_error *err)
{
    job j = {
        .m = m,
        .o = opts,
        .c = &m->config,
        .n_rows = rows_of(m),
        .piece = piece_of(&m->config),
        .total = myth_weights_bytes(m->weights),
    };
    const uint32_t n_head_kv = m->config.layer[0].n_head_kv;
    uint32_t n_tensor = 0;
    target t;
    myth_status st = MYTH_OK;
    if (j.c->n_altup && !j.c->altup_correct_scale)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s: altup_correct_scale is false, and GGUF has no key that says so",
                         myth_weights_name(m->weights));
    if (m->tokenizer && myth_tokenizer_has_options(m->tokenizer))
        return myth_fail(
            err, MYTH_EUNSUPPORTED,
            "%s: added tokens of its tokenizer.json strip white space, are single words or are normalized, "
            "and GGUF has no key that says so; use the model as it is",
            myth_weights_name(m->weights));
    if (myth_weights_get_level(m->weights) < MYTH_WEIGHTS_DATA)
        return myth_fail_option(err, MYTH_EARG, "level", "level CONFIG or HEADER: open the model with level DATA");
    j.kind = opts->mix ? opts->mix : myth_mix_of(opts->type);
    if (!j.kind)
        return myth_fail(err, MYTH_EARG, "type %s cannot be written; known: %s", myth_dtype_get(opts->type)->name,
                         myth_mix_names());
    j.mix = (myth_mix_file){
        .n_layer = m->config.n_layer,
        .n_value = count_values(&j, m->config.n_layer),
        .n_group = n_head_kv ? m->config.n_head / n_head_kv : 1,
        .has_importance = opts->imatrix != NULL,
    };
    MYTH_TRY(myth_dense_open(&j.dense, m, MYTH_WEIGHTS_DATA, err));
    for (uint32_t i = 0; i < MYTH_DENSE_N; i++)
        j.total += j.dense.own[i] ? myth_weights_bytes(j.dense.own[i]) : 0;
    n_tensor = count_tensors(&j);
    MYTH_TRY(myth_gguf_open(&j.g, m->mem, opts->path, n_tensor, err));
    j.x = myth_alloc_n(m->mem, MYTH_MEM_STAGING, "convert", j.piece, sizeof(float));
    j.y = myth_alloc_n(m->mem, MYTH_MEM_STAGING, "convert", j.piece, sizeof(float));
    j.importance = myth_alloc_n(m->mem, MYTH_MEM_STAGING, "convert", widest_of(j.c), sizeof(float));
    if (!j.x || !j.y || !j.importance)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "%s: no room for %llu bytes", opts->path,
                           (unsigned long long)(j.piece * 2 * sizeof(float))));
    MYTH_TRY(put_facts(&j, err));
    for (walk w = {.n_dense = 0}; next_target(&t, &j, &w);)
        myth_gguf_declare(j.g, str(t.name), t.type, t.n_dim, t.dim);
    for (walk w = {.n_dense = 0}; myth_gguf_status(j.g) == MYTH_OK && next_target(&t, &j, &w);)
        MYTH_TRY(write_tensor(&j, &t, err));
    MYTH_TRY(myth_weights_check(m->weights, err));
fail:
    myth_dense_close(&j.dense);
    myth_free(m->mem, j.x);
    myth_free(m->mem, j.y);
    myth_free(m->mem, j.importance);
    if (st != MYTH_OK) {
        myth_gguf_close(j.g, false, NULL);
        return st;
    }
    return myth_gguf_close(j.g, true, err);
}

uint64_t myth_convert_bytes(const myth_model *m)
{
    static const myth_convert_opts any = {.type = MYTH_F32};
    myth_dense none = {0};
    const job j = {.m = m, .o = &any, .c = &m->config, .dense = none, .kind = myth_mix_of(MYTH_F32)};
    return myth_gguf_bytes(count_tensors(&j)) + (2 * piece_of(&m->config) + widest_of(&m->config)) * sizeof(float);
}
