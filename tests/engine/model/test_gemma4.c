/* test_gemma4.c - what Gemma 4 adds to the engine: layers that read another layer's keys, rows that leave a prefill
 * at those layers, tables of which only some rows are loaded, experts, keys computed from values; equal bits on
 * every path. Gemma 3n shares the first two. A file whose metadata contradicts its tensors is refused by the
 * tensor's name. */
#include "engine/make/convert.h"
#include "engine/run/engine_impl.h"
#include "engine/make/gguf_write.h"
#include "tests/support/files.h"
#include "tests/support/rig.h"

#include <math.h>

enum { CTX = 96, N_TOK = 61, N_DECODE = 6 };

static const char *model_path(char dst[1024], const char *name)
{
    char rest[128];
    if (strncmp(name, "random:", 7) == 0)
        return name;
    snprintf(rest, sizeof(rest), "tests/golden/models/%s", name);
    return check_path(dst, 1024, rest);
}

static void make_ids(int32_t *ids, uint32_t n, uint32_t n_vocab, uint64_t seed)
{
    uint64_t rng = seed;
    for (uint32_t i = 0; i < n; i++)
        ids[i] = (int32_t)check_below(&rng, n_vocab);
}

/* Logits of the tokens that ask for them: after a prompt in chunks, every `every`-th of it (0 = only the last), then
 * decode steps. */
static uint32_t run_prompt(rig *r, const int32_t *ids, uint32_t chunk, uint32_t every, rows *w)
{
    uint8_t want[N_TOK];
    myth_seq *s = rig_seq(r), *seq[N_TOK];
    uint32_t n_asked = 0;
    for (uint32_t i = 0; i < N_TOK; i++) {
        bool asks = i + 1 == N_TOK || (every && i % every == 2);
        want[i] = asks ? MYTH_WANT_FULL_LOGITS : 0;
        n_asked += asks;
        seq[i] = s;
    }
    w->base = 0;
    for (uint32_t at = 0, n; at < N_TOK; at += n, w->base += n) {
        n = chunk && chunk < N_TOK - at ? chunk : N_TOK - at;
        rig_tokens b = {
            .n_tok = n,
            .token = ids + at,
            .seq = seq,
            .want = want + at,
            .user = w,
            .on_full_logits = rows_on_logits,
        };
        myth_result out;
        assert_ok(rig_forward(r->engine, &b, &out, &rig_err));
    }
    for (uint32_t i = 0; i < N_DECODE; i++)
        rig_decode(r, s, ids[i], w);
    myth_seq_close(s);
    return n_asked + N_DECODE;
}

static myth_engine_opts opts_at(const char *level)
{
    return (myth_engine_opts){
        .device = "cpu",
        .cpu_level = level,
        .n_threads = 2,
        .n_ctx = CTX,
        .n_ubatch = 24,
        .n_logit_rows = 1,
        .want_full_logits = true,
    };
}

static void assert_same_rows(const rows *a, const rows *b, uint32_t n_asked, const char *what)
{
    assert_int_equal(a->n_logits, n_asked);
    assert_int_equal(b->n_logits, n_asked);
    assert_same_bits(a->logits, b->logits, (size_t)a->n_tok * a->n_vocab, what);
}

static void rows_that_nothing_is_asked_of_may_leave(void **state)
{
    (void)state;
    static const char *const name[] = {
        "gemma4-e", "gemma4-e-new", "gemma4-shared",           "random:gemma4-e-tiny:q8_0",
        "gemma3n",  "gemma3n-mm",   "random:gemma3n-tiny:q8_0"};
    const char *level[8];
    uint32_t n_level = rig_levels(level);
    for (size_t m = 0; m < sizeof(name) / sizeof(name[0]); m++)
        for (uint32_t v = 0; v < n_level; v++) {
            char path[1024], what[128];
            rig r[2];
            rows w[2];
            int32_t ids[N_TOK];
            if (!check_is_case((uint32_t)m + v, sizeof(name) / sizeof(name[0]) * n_level))
                continue;
            for (int i = 0; i < 2; i++) {
                myth_engine_opts o = opts_at(level[v]);
                o.no_kv_skip = i == 1;
                rig_open(&r[i], model_path(path, name[m]), &o);
                rows_open(&w[i], &r[i], N_TOK + N_DECODE, false);
            }
            assert_true(r[0].model.config.first_shared < r[0].model.config.n_layer);
            make_ids(ids, N_TOK, r[0].model.config.n_vocab, 7 + m);
            static const uint32_t chunk[] = {1, 7, 0}, every[] = {0, 5};
            for (uint32_t k = 0; k < 6; k++) {
                uint32_t n = 0;
                for (int i = 0; i < 2; i++) {
                    rows_clear(&w[i]);
                    n = run_prompt(&r[i], ids, chunk[k % 3], every[k / 3], &w[i]);
                }
                snprintf(what, sizeof what, "%s %s chunk %u every %u", name[m], level[v], chunk[k % 3], every[k / 3]);
                assert_same_rows(&w[0], &w[1], n, what);
            }
            for (int i = 0; i < 2; i++) {
                rows_close(&w[i]);
                rig_close(&r[i]);
            }
        }
}

/* Two sequences in one forward, of which a few rows are asked for: the rows that go on past the shared layers look at
 * the keys of their own sequence. */
static void rows_that_go_on_look_at_their_own_sequence(void **state)
{
    (void)state;
    static const char *const name[] = {"random:gemma4-e-tiny:q8_0", "random:gemma3n-tiny:q8_0"};
    enum { EACH = 9 };
    for (size_t m = 0; m < sizeof(name) / sizeof(name[0]); m++) {
        char path[1024];
        int32_t ids[2 * EACH];
        rows w[2];
        for (int i = 0; i < 2; i++) {
            rig r;
            myth_result out;
            myth_seq *s[2], *seq[2 * EACH];
            uint8_t want[2 * EACH] = {0};
            myth_engine_opts o = opts_at("ref");
            o.n_seq = 2;
            o.no_kv_skip = i == 1;
            rig_open(&r, model_path(path, name[m]), &o);
            assert_true(r.model.config.first_shared < r.model.config.n_layer);
            rows_open(&w[i], &r, 2 * EACH, false);
            make_ids(ids, 2 * EACH, r.model.config.n_vocab, 17 + m);
            for (int k = 0; k < 2; k++)
                s[k] = rig_seq(&r);
            for (int k = 0; k < 2 * EACH; k++) {
                seq[k] = s[k / EACH];
                want[k] = k % 4 == 0 ? MYTH_WANT_FULL_LOGITS : 0;
            }
            const rig_tokens b = {
                .n_tok = 2 * EACH,
                .token = ids,
                .seq = seq,
                .want = want,
                .user = &w[i],
                .on_full_logits = rows_on_logits,
            };
            assert_ok(rig_forward(r.engine, &b, &out, &rig_err));
            myth_seq_close(s[0]);
            myth_seq_close(s[1]);
            rig_close(&r);
        }
        assert_same_rows(&w[0], &w[1], 5, name[m]);
        rows_close(&w[0]);
        rows_close(&w[1]);
    }
}

/* Published sizes and a small one: the cache is that of the layers with keys of their own. */
static void shared_layers_hold_no_cache(void **state)
{
    (void)state;
    static const char *const name[] = {"random:gemma4-e2b:q8_0", "random:gemma4-e4b:q4_0", "random:gemma4-e-tiny:f32",
                                       "random:gemma3n-e2b:q8_0", "random:gemma3n-e4b:bf16"};
    for (size_t m = 0; m < sizeof(name) / sizeof(name[0]); m++) {
        myth_mem *mem;
        myth_model model = {0};
        myth_plan p;
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_ok(myth_model_open(&model, mem, name[m], &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
        const myth_config *c = &model.config;
        myth_engine_opts o = {.device = "cpu", .n_ctx = 4096};
        assert_ok(myth_plan_make(&p, &model, &o, NULL, NULL, false, &rig_err));
        uint64_t sum = 0;
        for (uint32_t l = 0; l < c->first_shared; l++)
            sum += 2ull * 2 * (c->layer[l].is_global ? 4096 : c->window) * c->layer[l].n_head_kv * c->layer[l].head_dim;
        assert_true(p.bytes[MYTH_MEM_KV_GLOBAL] + p.bytes[MYTH_MEM_KV_LOCAL] == sum);
        for (uint32_t l = c->first_shared; l < c->n_layer; l++)
            assert_true(c->layer[l].kv_source < c->first_shared &&
                        c->layer[c->layer[l].kv_source].is_global == c->layer[l].is_global);
        myth_model_close(&model);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

/* The table on the device or its rows brought by the host: the same bits, and the plan differs by what is held. */
static void per_layer_embeddings_anywhere(void **state)
{
    (void)state;
    static const myth_ple_place place[] = {MYTH_PLE_HOST, MYTH_PLE_DISK, MYTH_PLE_DEVICE};
    rig r[3];
    rows w[3];
    int32_t ids[N_TOK];
    uint64_t weights[3];
    for (int i = 0; i < 3; i++) {
        myth_engine_opts o = opts_at(NULL);
        o.ple = place[i];
        rig_open(&r[i], "random:gemma4-e-tiny:q8_0", &o);
        rows_open(&w[i], &r[i], N_TOK + N_DECODE, false);
        make_ids(ids, N_TOK, r[i].model.config.n_vocab, 3);
        run_prompt(&r[i], ids, 7, 3, &w[i]);
        weights[i] = myth_engine_plan(r[i].engine)->bytes[MYTH_MEM_WEIGHTS];
        assert_same_bits(w[i].logits, w[0].logits, (size_t)w[i].n_tok * w[i].n_vocab, "place of the table");
    }
    const myth_config *c = &r[0].model.config;
    assert_true(weights[0] == weights[1] &&
                weights[2] - weights[0] == myth_row_bytes(MYTH_Q8_0, (uint64_t)c->n_ple_vocab * c->n_layer * c->n_ple));
    for (int i = 0; i < 3; i++) {
        rows_close(&w[i]);
        rig_close(&r[i]);
    }
}

/* Rows of logits: the largest part of a row's own largest that any is apart. */
static float most_apart(const rows *a, const rows *b)
{
    float most = 0.0f;
    for (size_t i = 0; i < a->n_tok; i++)
        if (!isnan(b->logits[i * b->n_vocab]))
            most = fmaxf(most, share_apart(a->logits + i * a->n_vocab, b->logits + i * b->n_vocab, a->n_vocab));
    return most;
}

/* A conversation that loses its middle goes on at positions that the context does not have, past the table of
 * rotations. */
static void run_past_context(rig *r, const int32_t *ids, rows *w)
{
    myth_seq *s = rig_seq(r);
    for (uint32_t turn = 0; turn < 4; turn++) {
        w->base = 0;
        rig_feed(r, s, ids, 40, 0, w);
        if (myth_seq_len(s) > 60)
            assert_ok(myth_seq_evict(s, 10, myth_seq_len(s) - 40, &rig_err));
    }
    assert_true(myth_seq_pos(s) > CTX);
    w->base = 40;
    rig_decode(r, s, ids[1], w);
    myth_seq_close(s);
}

/* Keys that are made from the stored values: half the bytes of the global layers. With a cache of floats they have the
 * bits of stored keys; with one of f16, where either is rounded on its own, values alone are no further from floats
 * than both. */
static void values_alone_hold_the_keys(void **state)
{
    (void)state;
    enum { FOLDED, BOTH, FLOATS };
    static const char *const name[] = {"gemma4-unified", "gemma4-even", "gemma4-mm",
                                       "gemma4-shared",  "gemma4-moe",  "random:gemma4-tiny:q8_0"};
    const char *level[8];
    const uint32_t n_level = rig_levels(level);
    for (size_t m = 0; m < sizeof(name) / sizeof(name[0]); m++)
        for (uint32_t v = 0; v <= n_level; v++) {
            char path[1024];
            rig r[3];
            rows w[3];
            int32_t ids[N_TOK];
            uint64_t global[3];
            const bool is_exact = v == n_level;
            if (!check_is_case((uint32_t)m + v, sizeof(name) / sizeof(name[0]) * (n_level + 1)))
                continue;
            if (!is_exact && strncmp(name[m], "random:", 7) == 0)
                continue; /* quantised activations step: a last bit of the cache shows in full */
            for (int i = 0; i < 3; i++) {
                myth_engine_opts o = opts_at(is_exact ? "ref" : level[v]);
                o.is_exact = is_exact;
                o.page_tok = 8;
                o.no_kv_fold = i != FOLDED;
                o.has_cache_type = i == FLOATS;
                rig_open(&r[i], model_path(path, name[m]), &o);
                rows_open(&w[i], &r[i], N_TOK + N_DECODE, false);
                make_ids(ids, N_TOK, r[i].model.config.n_vocab, 5 + m);
                run_prompt(&r[i], ids, 9, 3, &w[i]);
                global[i] = myth_engine_plan(r[i].engine)->bytes[MYTH_MEM_KV_GLOBAL];
            }
            const float folded = most_apart(&w[FOLDED], &w[FLOATS]), both = most_apart(&w[BOTH], &w[FLOATS]);
            assert_true(global[FOLDED] > 0 && 2 * global[FOLDED] == global[BOTH]);
            if (is_exact) {
                assert_same_bits(w[FOLDED].logits, w[BOTH].logits, (size_t)w[0].n_tok * w[0].n_vocab, name[m]);
                for (int i = 0; i < 2; i++) {
                    rows_clear(&w[i]);
                    run_past_context(&r[i], ids, &w[i]);
                }
                assert_same_bits(w[FOLDED].logits, w[BOTH].logits, 41 * (size_t)w[0].n_vocab, "past the context");
            } else {
                printf("%-16s %-8s from a cache of floats: values alone %.2e, both %.2e\n", name[m], level[v],
                       (double)folded, (double)both);
                assert_true(folded <= 1.5f * both);
            }
            for (int i = 0; i < 3; i++) {
                rows_close(&w[i]);
                rig_close(&r[i]);
            }
        }
}

static void convert_to(const char *from, myth_dtype type, const myth_convert_kv *kv, uint32_t n_kv)
{
    myth_mem *mem;
    myth_model m = {0};
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, from, NULL, &rig_err));
    myth_convert_opts opts = {.path = files_path("twin.gguf"), .type = type, .kv = kv, .n_kv = n_kv};
    assert_ok(myth_convert(&m, &opts, &rig_err));
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* The same weights in GGUF: facts and tensors in their other spelling give the same bits. */
static void gguf_twins_give_the_same_logits(void **state)
{
    (void)state;
    static const char *const name[] = {"gemma4-unified", "gemma4-even", "gemma4-e", "gemma4-shared", "gemma4-moe"};
    for (size_t m = 0; m < sizeof(name) / sizeof(name[0]); m++) {
        char path[1024];
        rig r[2];
        rows w[2];
        int32_t ids[N_TOK];
        const bool is_even = strcmp(name[m], "gemma4-even") == 0;
        convert_to(model_path(path, name[m]), MYTH_F32, NULL, 0);
        for (int i = 0; i < 2; i++) {
            myth_engine_opts o = opts_at("ref");
            o.is_exact = true;
            rig_open(&r[i], i ? files_path("twin.gguf") : path, &o);
            rows_open(&w[i], &r[i], N_TOK + N_DECODE, false);
            make_ids(ids, N_TOK, r[i].model.config.n_vocab, 11);
            run_prompt(&r[i], ids, 0, 4, &w[i]);
        }
        assert_int_equal(r[1].model.config.rope_pairs_global, is_even ? 8 : r[1].model.config.head_dim_global / 8);
        assert_same_bits(w[0].logits, w[1].logits, (size_t)w[0].n_tok * w[0].n_vocab, name[m]);
        for (int i = 0; i < 2; i++) {
            rows_close(&w[i]);
            rig_close(&r[i]);
        }
    }
}

/* A fact changed in a good file: what does not fit it any more is refused, and named. */
static void facts_against_tensors(void **state)
{
    (void)state;
    static const struct {
        const char *model, *key;
        uint32_t value;
        const char *named;
    } bad[] = {
        {"gemma4-moe", "gemma4.expert_count", 7, "blk.0.ffn_gate_inp.weight"},
        {"gemma4-moe", "gemma4.expert_count", 0, "blk.0.ffn_gate_inp.weight"},
        {"gemma4-moe", "gemma4.expert_count", 5000, "expert_count"},
        {"gemma4-moe", "gemma4.expert_used_count", 9, "expert_used_count"},
        {"gemma4-moe", "gemma4.expert_feed_forward_length", 24, "ffn_gate_up_exps.weight"},
        {"gemma4-unified", "gemma4.expert_count", 8, "expert_used_count"},
        {"gemma4-e", "gemma4.attention.shared_kv_layers", 2, "blk.4.attn_k.weight"},
        {"gemma4-shared", "gemma4.attention.shared_kv_layers", 7, "shared_kv_layers"},
        {"gemma4-shared", "gemma4.attention.shared_kv_layers", 6, "shared_kv_layers"},
        {"gemma4-shared", "gemma4.attention.shared_kv_layers", 2, "blk.4.attn_k.weight"},
        {"gemma4-e", "gemma4.embedding_length_per_layer_input", 4, "per_layer_token_embd.weight"},
        {"gemma4-e", "gemma4.embedding_length_per_layer_input", 0, "per_layer_"},
        {"gemma4-unified", "gemma4.attention.key_length_swa", 8, "value_length_swa"},
        {"gemma4-unified", "gemma4.feed_forward_length", 32, "ffn_gate.weight"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char path[1024];
        const myth_convert_kv kv = {bad[i].key, NULL, bad[i].value};
        myth_mem *mem;
        myth_model m = {0};
        convert_to(model_path(path, bad[i].model), MYTH_F32, &kv, 1);
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        myth_status st = myth_model_open(&m, mem, files_path("twin.gguf"), NULL, &rig_err);
        if (st != MYTH_EFORMAT || !strstr(rig_err.msg, bad[i].named))
            fail_msg("%s with %s = %u: %s (%s), expected one that names %s", bad[i].model, bad[i].key, bad[i].value,
                     myth_status_name(st), rig_err.msg, bad[i].named);
        myth_model_close(&m);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

/* ---- experts whose gate and up lie apart ---- */

/* What is written in place of a layer's fused tensor. */
typedef struct {
    uint32_t one_layer; /* this layer alone, 0 = all                          */
    bool no_gate, no_up, keeps_fused, has_other_type;
    int more_experts, more_rows; /* of the up part                                     */
} split_how;

static bool is_fused(const myth_tensor *t) { return strstr(t->name.text, "ffn_gate_up_exps.weight") != NULL; }

static bool is_split_here(const myth_tensor *t, const split_how *how)
{
    char prefix[32];
    snprintf(prefix, sizeof(prefix), "blk.%u.", how->one_layer);
    return is_fused(t) && (how->one_layer == 0 || strncmp(t->name.text, prefix, strlen(prefix)) == 0);
}

/* Declares (g) or writes the part of t: `up` of every expert's rows, with what is to be wrong about it. */
static void put_part(myth_gguf_writer *g, const myth_tensor *t, const split_how *how, bool up, bool is_data)
{
    char name[64];
    const uint64_t ff = t->dim[1] / 2, cols = t->dim[2];
    const uint64_t dim[3] = {t->dim[0] + (uint64_t)(up ? how->more_experts : 0),
                             ff + (uint64_t)(up ? how->more_rows : 0), cols};
    const myth_dtype type = up && how->has_other_type ? MYTH_F16 : t->dtype;
    snprintf(name, sizeof(name), "%.*sffn_%s_exps.weight", (int)(strstr(t->name.text, "ffn_") - t->name.text),
             t->name.text, up ? "up" : "gate");
    if ((up && how->no_up) || (!up && how->no_gate))
        return;
    if (!is_data) {
        myth_gguf_declare(g, (myth_str){name, strlen(name)}, type, 3, dim);
        return;
    }
    for (uint64_t e = 0; e < dim[0]; e++)
        for (uint64_t row = 0; row < dim[1]; row++) {
            const uint64_t from = (e % t->dim[0]) * 2 * ff + (up ? ff : 0) + row % ff;
            myth_gguf_data(g, (const unsigned char *)t->data + from * myth_row_bytes(t->dtype, cols),
                           myth_row_bytes(type, cols));
        }
}

/* twin.gguf as split.gguf. */
static void split_experts(const split_how *how)
{
    myth_mem *mem;
    myth_weights *w = NULL;
    myth_gguf_writer *g = NULL;
    uint32_t n = 0;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_weights_open(&w, mem, files_path("twin.gguf"), &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA},
                                &rig_err));
    for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++)
        n += is_split_here(myth_weights_at(w, i), how) ? (uint32_t)(how->keeps_fused + !how->no_gate + !how->no_up) : 1;
    assert_ok(myth_gguf_open(&g, mem, files_path("split.gguf"), n, &rig_err));
    for (uint32_t i = 0; i < myth_meta_count(myth_weights_meta(w)); i++)
        myth_gguf_put_value(g, myth_meta_at(myth_weights_meta(w), i));
    for (int is_data = 0; is_data < 2; is_data++)
        for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
            const myth_tensor *t = myth_weights_at(w, i);
            const bool splits = is_split_here(t, how);
            if (splits) {
                put_part(g, t, how, false, is_data);
                put_part(g, t, how, true, is_data);
            }
            if (splits && !how->keeps_fused)
                continue;
            if (is_data)
                myth_gguf_data(g, t->data, t->bytes);
            else
                myth_gguf_declare(g, t->name, t->dtype, t->n_dim, t->dim);
        }
    assert_ok(myth_gguf_close(g, true, &rig_err));
    myth_weights_close(w);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* The same numbers at every level; a file converted from either says the same again. */
static void experts_in_two_tensors_give_the_same_logits(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        myth_dtype type;
        split_how how;
    } c[] = {
        {"gemma4-moe", MYTH_F32, {0}},
        {"gemma4-moe", MYTH_F32, {.one_layer = 2}},
        {"random:gemma4-moe-tiny:bf16", MYTH_BF16, {0}},
        {"random:gemma4-moe-tiny:f32", MYTH_Q8_0, {0}},
        {"random:gemma4-moe-tiny:f32", MYTH_Q4_0, {.one_layer = 1}},
    };
    const char *level[8];
    const uint32_t n_level = rig_levels(level);
    for (size_t m = 0; m < sizeof(c) / sizeof(c[0]); m++)
        for (uint32_t v = 0; v <= n_level; v++) {
            char path[1024], again[1024];
            rig r[3];
            rows w[3];
            int32_t ids[N_TOK];
            convert_to(model_path(path, c[m].model), c[m].type, NULL, 0);
            split_experts(&c[m].how);
            snprintf(path, sizeof(path), "%s", files_path("split.gguf"));
            snprintf(again, sizeof(again), "%s", files_path("fused.gguf"));
            assert_int_equal(rename(files_path("twin.gguf"), again), 0);
            convert_to(path, c[m].type, NULL, 0); /* of the split file: names and bytes stay */
            const char *const file[3] = {again, path, files_path("twin.gguf")};
            for (int i = 0; i < 3; i++) {
                myth_engine_opts o = opts_at(v == n_level ? "ref" : level[v]);
                o.is_exact = v == n_level;
                rig_open(&r[i], file[i], &o);
                assert_int_equal(r[i].model.config.layer[c[m].how.one_layer].has_split_experts, i > 0);
                rows_open(&w[i], &r[i], N_TOK + N_DECODE, false);
                make_ids(ids, N_TOK, r[i].model.config.n_vocab, 17);
                run_prompt(&r[i], ids, 9, 4, &w[i]);
            }
            assert_int_equal(myth_weights_n_tensor(r[1].model.weights), myth_weights_n_tensor(r[2].model.weights));
            for (int i = 1; i < 3; i++)
                assert_same_bits(w[0].logits, w[i].logits, (size_t)w[0].n_tok * w[0].n_vocab, c[m].model);
            for (int i = 0; i < 3; i++) {
                rows_close(&w[i]);
                rig_close(&r[i]);
            }
        }
}

static void malformed_pairs_are_named(void **state)
{
    (void)state;
    static const struct {
        split_how how;
        myth_status st;
        const char *named;
    } bad[] = {
        {{.no_up = true}, MYTH_EFORMAT, "blk.0.ffn_up_exps.weight is missing"},
        {{.no_gate = true}, MYTH_EFORMAT, "blk.0.ffn_gate_exps.weight is missing"},
        {{.no_up = true, .one_layer = 3}, MYTH_EFORMAT, "blk.3.ffn_up_exps.weight is missing"},
        {{.no_gate = true, .no_up = true}, MYTH_EFORMAT, "blk.0.ffn_gate_up_exps.weight is missing"},
        {{.keeps_fused = true}, MYTH_EFORMAT, "blk.0.ffn_gate_exps.weight is not part"},
        {{.keeps_fused = true, .no_gate = true}, MYTH_EFORMAT, "blk.0.ffn_up_exps.weight is not part"},
        {{.more_experts = 1}, MYTH_EFORMAT, "blk.0.ffn_up_exps.weight: shape"},
        {{.more_experts = -1}, MYTH_EFORMAT, "blk.0.ffn_up_exps.weight: shape"},
        {{.more_rows = 8, .one_layer = 1}, MYTH_EFORMAT, "blk.1.ffn_up_exps.weight: shape"},
        {{.has_other_type = true}, MYTH_EUNSUPPORTED, "blk.0.ffn_up_exps.weight: of type f16"},
    };
    char path[1024];
    convert_to(model_path(path, "gemma4-moe"), MYTH_F32, NULL, 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        myth_error err = {0};
        split_experts(&bad[i].how);
        const myth_status st = files_try(bad[i].named, files_path("split.gguf"), MYTH_WEIGHTS_HEADER, &err);
        if (st != bad[i].st || !strstr(err.msg, bad[i].named))
            fail_msg("%s: %s (%s)", bad[i].named, myth_status_name(st), err.msg);
    }
    const myth_convert_kv no_experts = {"gemma4.expert_count", NULL,
                                        0}; /* the pair is in a model that does not use it */
    convert_to(model_path(path, "gemma4-moe"), MYTH_F32, &no_experts, 1);
    split_experts(&(split_how){0});
    files_expect("a pair without experts", files_path("split.gguf"), MYTH_WEIGHTS_HEADER, MYTH_EFORMAT);
}

/* The fuzzers start from these: a seed that is refused would reach nothing. */
static void seeds_of_the_fuzzers_are_models(void **state)
{
    (void)state;
    static const char *const gguf[] = {"shared", "experts", "split", "streams"}, *const folder[] = {"shared", "experts",
                                                                                                    "streams"};
    char path[1024], rest[64], data[1 << 15];
    for (int i = 0; i < 4; i++) {
        snprintf(rest, sizeof(rest), "tests/fuzz/corpus/gguf/%s", gguf[i]);
        FILE *f = fopen(check_path(path, sizeof(path), rest), "rb");
        assert_non_null(f);
        static unsigned char whole[1 << 17];
        const size_t n = fread(whole, 1, sizeof(whole), f);
        fclose(f);
        files_put("seed.gguf", whole, n); /* the reader goes by the name's end */
        files_expect(gguf[i], files_path("seed.gguf"), MYTH_WEIGHTS_DATA, MYTH_OK);
    }
    files_mkdir("seed");
    for (int i = 0; i < 3; i++) {
        snprintf(rest, sizeof(rest), "tests/fuzz/corpus/families/%s", folder[i]);
        FILE *f = fopen(check_path(path, sizeof(path), rest), "rb");
        assert_non_null(f);
        const size_t n = fread(data, 1, sizeof(data), f), n_config = strnlen(data, sizeof(data));
        fclose(f);
        assert_true(n_config < n);
        files_put("seed/config.json", data, n_config);
        files_put("seed/model.safetensors", data + n_config + 1, n - n_config - 1);
        files_expect(folder[i], files_path("seed"), MYTH_WEIGHTS_DATA, MYTH_OK);
    }
}

/* A decode step reads the matrices of the chosen experts and no others. */
static void decode_reads_the_chosen_experts_only(void **state)
{
    (void)state;
    rig r;
    myth_engine_opts o = opts_at(NULL);
    rig_open(&r, "random:gemma4-moe-tiny:q8_0", &o);
    const myth_config *c = &r.model.config;
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, (int32_t[]){1, 2, 3}, 3, 0, NULL);
    const uint64_t before = myth_device_get_counts(r.engine->part->dev).expert_bytes;
    for (uint32_t i = 0; i < 5; i++)
        rig_decode(&r, s, (int32_t)(7 * i), NULL);
    const uint64_t one = 3 * myth_row_bytes(MYTH_Q8_0, (uint64_t)c->d_model * c->d_ff_expert);
    assert_true(myth_device_get_counts(r.engine->part->dev).expert_bytes - before ==
                5ull * c->n_layer * c->n_expert_used * one);
    myth_seq_close(s);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_nothing_is_asked_of_may_leave),
        cmocka_unit_test(rows_that_go_on_look_at_their_own_sequence),
        cmocka_unit_test(shared_layers_hold_no_cache),
        cmocka_unit_test(per_layer_embeddings_anywhere),
        cmocka_unit_test(gguf_twins_give_the_same_logits),
        cmocka_unit_test(facts_against_tensors),
        cmocka_unit_test(decode_reads_the_chosen_experts_only),
        cmocka_unit_test(values_alone_hold_the_keys),
        cmocka_unit_test(experts_in_two_tensors_give_the_same_logits),
        cmocka_unit_test(malformed_pairs_are_named),
        cmocka_unit_test(seeds_of_the_fuzzers_are_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
