/* embedding.c - runs an embedding model for the retriever, in groups of texts. */
#include "embedding.h"
#include "engine/run/dense.h"
#include "engine/run/embed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    DIM_MOST = 256,
    GROUP = 64,
    TOKENS_MOST = 1024,   /* most tokens of a text; a chunk has 400 to 600, longer texts are cut */
    TEXT_BYTES = 16 << 10 /* most bytes of a text that are encoded: TOKENS_MOST tokens of code are fewer */
};

struct myth_embedding {
    myth_cli *cli;
    myth_model model;
    myth_engine *engine;
    myth_embedder *embedder;
    char name[PATH_MAX], use[2][MYTH_VECTORS_PROMPT]; /* of a query, of a document */
    const char *prompt[2];
    char *plain;              /* prompt and text */
    int32_t *ids, *group_ids; /* of one text; [GROUP][n_most] */
    size_t n_bound;
    uint64_t n_cut, before_mapped; /* of the ledger before the model was opened */
    uint32_t n_most, dim_all;
    bool has_dense;
    myth_text_embedder face;
};

const myth_text_embedder *myth_embedding_face(const myth_embedding *x) { return &x->face; }
bool myth_embedding_has_dense(const myth_embedding *x) { return x->has_dense; }
uint64_t myth_embedding_n_cut(const myth_embedding *x) { return x->n_cut; }

/* ---- the model ---- */

static void hash_tensor(XXH3_state_t *s, const myth_tensor *t)
{
    const uint64_t shape[] = {(uint64_t)t->dtype, t->dim[0], t->dim[1], t->dim[2], t->dim[3], t->bytes};
    XXH3_128bits_update(s, t->name.text, t->name.len);
    XXH3_128bits_update(s, shape, sizeof(shape));
    if (t->data)
        XXH3_128bits_update(s, t->data, (size_t)t->bytes);
}

static myth_status hash_model(myth_embedding *x, const myth_dense *dense, myth_error *err)
{
    const myth_weights *w = x->model.weights;
    const uint32_t dims[] = {x->face.dim, x->dim_all, TOKENS_MOST};
    XXH128_canonical_t sum;
    XXH3_state_t *s = XXH3_createState();
    if (!s)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for hashing the model");
    XXH3_128bits_reset(s);
    for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++)
        hash_tensor(s, myth_weights_at(w, i));
    for (int i = 0; i < MYTH_DENSE_N; i++)
        if (dense->layer[i])
            hash_tensor(s, dense->layer[i]);
    const uint64_t config =
        myth_model_hash(&x->model); /* and, of a random model, the name that its bytes follow from */
    XXH3_128bits_update(s, &config, sizeof(config));
    XXH3_128bits_update(s, dims, sizeof(dims));
    for (int i = 0; i < 2; i++)
        XXH3_128bits_update(s, x->prompt[i], strlen(x->prompt[i]) + 1);
    XXH128_canonicalFromHash(&sum, XXH3_128bits_digest(s));
    XXH3_freeState(s);
    memcpy(x->face.model, sum.digest, sizeof(x->face.model));
    return MYTH_OK;
}

/* Reads the prompts' names, "query,document", from the model's metadata; an unknown name means the default. */
static void choose_prompts(myth_embedding *x)
{
    myth_str s = {0};
    strcpy(x->use[0], "code");
    strcpy(x->use[1], "document");
    const char *comma = myth_meta_str(&s, myth_weights_meta(x->model.weights), "mythos.embed_prompts")
                          ? memchr(s.text, ',', s.len)
                          : NULL;
    for (int i = 0; i < 2; i++) {
        const char *from = i == 0 ? s.text : comma + 1;
        const size_t n = !comma ? 0 : (size_t)(i == 0 ? comma - s.text : s.text + s.len - comma - 1);
        char use[MYTH_VECTORS_PROMPT] = "";
        if (n > 0 && n < sizeof(use))
            memcpy(use, from, n);
        if (myth_embed_prompt(use))
            strcpy(x->use[i], use);
        x->prompt[i] = myth_embed_prompt(x->use[i]);
    }
}

static myth_status embed(void *arg, float *out, const myth_embedder_text *text, uint32_t n_text, bool is_query,
                         myth_error *err);

/* Keeps an absolute path, because the next run may have another current directory. */
static void set_name(myth_embedding *x, const char *spec)
{
    char whole[PATH_MAX];
    snprintf(x->name, sizeof(x->name), "%s", realpath(spec, whole) ? whole : spec);
}

myth_status myth_embedding_open(myth_embedding **out, myth_cli *cli, const char *spec, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_dense dense = {0};
    *out = NULL;
    myth_embedding *x = myth_alloc(cli->mem, MYTH_MEM_STAGING, "embedding", sizeof(*x));
    if (!x)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for an embedding model");
    *x = (myth_embedding){
        .cli = cli,
        .before_mapped = myth_mem_get(cli->mem, MYTH_MEM_HOST, MYTH_MEM_WEIGHTS_MAPPED).live,
    };
    set_name(x, spec);
    MYTH_TRY(myth_cli_model_open(cli, &x->model, &(myth_model_flags){.model = spec}, NULL, MYTH_WEIGHTS_DATA, err));
    if (!x->model.config.is_bidirectional || !x->model.tokenizer) {
        st = myth_fail(err, MYTH_EUNSUPPORTED, "%s makes no vectors; give an EmbeddingGemma model with --embed-model",
                       myth_weights_name(x->model.weights));
        goto fail;
    }
    MYTH_TRY(myth_dense_open(&dense, &x->model, MYTH_WEIGHTS_DATA, err));
    choose_prompts(x);
    x->has_dense = dense.layer[1] != NULL;
    x->dim_all = x->has_dense ? (uint32_t)dense.layer[1]->dim[0] : x->model.config.d_model;
    x->face = (myth_text_embedder){
        .dim = x->dim_all < DIM_MOST ? x->dim_all : DIM_MOST,
        .name = x->name,
        .prompt = x->use[1],
        .embed = embed,
        .arg = x,
    };
    MYTH_TRY(hash_model(x, &dense, err));
    myth_dense_close(&dense);
    *out = x;
    return MYTH_OK;
fail:
    myth_dense_close(&dense);
    myth_embedding_close(x);
    return st;
}

void myth_embedding_close(myth_embedding *x)
{
    if (!x)
        return;
    const myth_cli *cli = x->cli;
    myth_embedder_close(x->embedder);
    myth_engine_close(x->engine);
    myth_free(cli->mem, x->group_ids);
    myth_free(cli->mem, x->ids);
    myth_free(cli->mem, x->plain);
    myth_model_close(&x->model);
    myth_free(cli->mem, x);
}

/* ---- the engine ---- */

/* Encodes <bos> prompt text <eos> into dst, at most n_most ids. */
static myth_status encode(myth_embedding *x, int32_t *dst, uint32_t *n_ids, const char *prompt, const char *text,
                          size_t n_text, myth_error *err)
{
    const myth_special_ids *s = myth_tokenizer_special(x->model.tokenizer);
    const size_t n_prompt = strlen(prompt);
    size_t n;
    n_text = n_text < TEXT_BYTES ? n_text : TEXT_BYTES;
    memcpy(x->plain, prompt, n_prompt);
    memcpy(x->plain + n_prompt, text, n_text);
    myth_status st = myth_tokenizer_encode(x->model.tokenizer, x->cli->mem, MYTH_TOK_CONTENT, x->plain,
                                           n_prompt + n_text, x->ids, x->n_bound, &n, err);
    if (st != MYTH_OK)
        return st;
    const bool is_cut = n + 2 > x->n_most;
    n = is_cut ? x->n_most - 2 : n;
    x->n_cut += is_cut;
    dst[0] = s->bos;
    memcpy(dst + 1, x->ids, n * sizeof(*dst));
    dst[n + 1] = s->eos;
    *n_ids = (uint32_t)n + 2;
    return MYTH_OK;
}

static myth_status embed(void *arg, float *out, const myth_embedder_text *text, uint32_t n_text, bool is_query,
                         myth_error *err)
{
    myth_embedding *x = arg;
    const char *prompt = x->prompt[is_query ? 0 : 1];
    myth_embed_text group[GROUP];
    if (!x->embedder)
        return myth_fail(err, MYTH_EARG, "internal error: myth_embedding_start was not called");
    for (uint32_t first = 0; first < n_text; first += GROUP) {
        const uint32_t n = n_text - first < GROUP ? n_text - first : GROUP;
        myth_status st = MYTH_OK;
        for (uint32_t i = 0; i < n && st == MYTH_OK; i++) {
            int32_t *ids = x->group_ids + (size_t)i * x->n_most;
            st = encode(x, ids, &group[i].n, prompt, text[first + i].text, text[first + i].n_text, err);
            group[i].ids = ids;
        }
        if (st == MYTH_OK)
            st = myth_embed(x->embedder, group, n, x->face.dim, out + (size_t)first * x->face.dim, x->cli->cancel, err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

/* Allocates the buffers of a group, and encodes one text of the greatest length, so that the ledger has the peak
 * of encoding before the plan is made. */
static myth_status alloc_group(myth_embedding *x, uint32_t n_most, myth_error *err)
{
    myth_mem *mem = x->cli->mem;
    size_t n_prompt = strlen(x->prompt[0]), n;
    n_prompt = strlen(x->prompt[1]) > n_prompt ? strlen(x->prompt[1]) : n_prompt;
    x->n_bound = myth_tokenizer_bound(n_prompt + TEXT_BYTES);
    x->plain = myth_alloc(mem, MYTH_MEM_STAGING, "text", n_prompt + TEXT_BYTES);
    x->ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "ids", x->n_bound, sizeof(*x->ids));
    x->group_ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "ids", (size_t)GROUP * n_most, sizeof(*x->group_ids));
    if (!x->plain || !x->ids || !x->group_ids)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %d texts", GROUP);
    memset(x->plain, 'a', n_prompt + TEXT_BYTES);
    return myth_tokenizer_encode(x->model.tokenizer, mem, MYTH_TOK_CONTENT, x->plain, n_prompt + TEXT_BYTES, x->ids,
                                 x->n_bound, &n, err);
}

/* The command's own peak of class OTHER: the peak so far, or the bytes now plus other_bytes. */
static uint64_t own_bytes(const myth_embedding *x, uint64_t other_bytes)
{
    const myth_mem_count other = myth_mem_get(x->cli->mem, MYTH_MEM_HOST, MYTH_MEM_OTHER);
    const uint64_t model = myth_weights_booked(x->model.weights), live = other.live > model ? other.live - model : 0;
    return other.peak > live + other_bytes ? other.peak : live + other_bytes;
}

/* Raises the ledger's peak of a class to its plan, because the command may allocate that much later. */
static void reach_plan(myth_cli *cli, myth_mem_class cls)
{
    const uint64_t live = myth_mem_get(cli->mem, MYTH_MEM_HOST, cls).live, planned = cli->plan.device[0].bytes[cls];
    if (planned > live && myth_mem_book(cli->mem, MYTH_MEM_HOST, cls, "planned", planned - live))
        myth_mem_unbook(cli->mem, MYTH_MEM_HOST, cls, planned - live);
}

myth_status myth_embedding_start(myth_embedding *x, uint64_t other_bytes, myth_error *err)
{
    myth_cli *cli = x->cli;
    const uint32_t n_train = x->model.config.n_ctx_train;
    myth_engine_opts eo;
    myth_plan_extra extra = {0};
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &(myth_engine_flags){0}, err));
    myth_embedder_opts(&eo, &x->model, n_train < TOKENS_MOST ? n_train : TOKENS_MOST);
    MYTH_TRY(alloc_group(x, eo.n_ubatch, err));
    MYTH_TRY(myth_embedder_needs(&extra, &x->model, err));
    extra.bytes[MYTH_MEM_OTHER] += own_bytes(x, other_bytes);
    extra.bytes[MYTH_MEM_STAGING] += myth_mem_get(cli->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).peak;
    extra.bytes[MYTH_MEM_WEIGHTS_MAPPED] += x->before_mapped;
    MYTH_TRY(myth_cli_plan(cli, &x->model, &eo, &extra, err));
    MYTH_TRY(myth_cli_engine_open(x->cli, &x->engine, &x->model, &eo, err));
    MYTH_TRY(myth_embedder_open(&x->embedder, x->engine, err));
    x->n_most = eo.n_ubatch < eo.n_ctx ? eo.n_ubatch : eo.n_ctx;
    x->n_most = x->n_most < n_train ? x->n_most : n_train;
    if (x->n_most < 3)
        return myth_fail(
            err, MYTH_ENOFIT,
            "the memory limit leaves %u tokens for a text, but a text has at least three; raise --mem-limit",
            x->n_most);
    reach_plan(cli, MYTH_MEM_OTHER);
    reach_plan(cli, MYTH_MEM_STAGING);
fail:
    return st;
}

/* ---- of a search ---- */

myth_status myth_semantic_model(myth_embedding **out, myth_cli *cli, const unsigned char model[16], const char *name,
                                const char *given, myth_error *err)
{
    char shipped[PATH_MAX];
    myth_error unused;
    const char *spec[2] = {given ? given : name, NULL};
    if (!given && myth_cli_embedder_spec(NULL, shipped, sizeof(shipped), &unused) == MYTH_OK &&
        strcmp(shipped, name) != 0)
        spec[1] = shipped;
    myth_status st = MYTH_ENOTFOUND;
    for (int i = 0; i < 2 && spec[i]; i++) {
        st = myth_embedding_open(out, cli, spec[i], i == 0 ? err : &unused);
        if (st == MYTH_OK && memcmp(myth_embedding_face(*out)->model, model, 16) == 0)
            return MYTH_OK;
        if (st == MYTH_OK) {
            myth_embedding_close(*out);
            st = myth_fail(i == 0 ? err : &unused, MYTH_ENOTFOUND, "its vectors were made with another model, %.120s",
                           name);
        }
        *out = NULL;
    }
    return st;
}

static myth_status embed_query(myth_semantic *s, myth_cli *cli, myth_embedding *model, const myth_search_opts *so,
                               myth_error *err)
{
    enum { SEARCH_BYTES = 8 << 20 }; /* class OTHER of a search: candidates, rows, texts of hits */
    const myth_text_embedder *face = myth_embedding_face(model);
    const myth_embedder_text text = {so->query, so->n_query ? so->n_query : strlen(so->query)};
    myth_status st = myth_embedding_start(model, SEARCH_BYTES, err);
    if (st != MYTH_OK)
        return st;
    if (!(s->query = myth_alloc_n(cli->mem, MYTH_MEM_OTHER, "query", face->dim, sizeof(*s->query))))
        return myth_fail(err, MYTH_ENOMEM, "out of memory for the query's vector");
    return face->embed(face->arg, s->query, &text, 1, true, err);
}

myth_status myth_semantic_open(myth_semantic *s, myth_cli *cli, myth_index *x, const char *embed_model,
                               myth_search_opts *so, myth_error *err)
{
    myth_embedding *model = NULL;
    myth_error why = {0};
    myth_status st = MYTH_OK;
    *s = (myth_semantic){0};
    if (!myth_search_wants_vectors(so, cli->mem))
        return MYTH_OK;
    if (!myth_vectors_is_built())
        MYTH_TRY(myth_fail(&why, MYTH_EUNSUPPORTED, "this build has no FAISS"));
    MYTH_TRY(myth_vectors_open(&s->vectors, x, &why));
    const myth_vectors_info *about = myth_vectors_about(s->vectors);
    MYTH_TRY(myth_semantic_model(&model, cli, about->model, about->name, embed_model, &why));
    MYTH_TRY(embed_query(s, cli, model, so, &why));
    if (about->is_behind)
        myth_term_note(cli->term,
                       "semantic: chunks that changed after their vectors were made are found by their words only; "
                       "mythos index updates the vectors");
    so->vectors = s->vectors;
    so->query_vector = s->query;
fail:
    myth_embedding_close(model);
    if (st == MYTH_OK)
        return MYTH_OK;
    myth_semantic_close(s, cli);
    myth_cli_spell(s->off, sizeof(s->off), &why);
    return st == MYTH_ECANCEL || st == MYTH_ENOMEM ? myth_fail_as(err, &why) : MYTH_OK;
}

void myth_semantic_close(myth_semantic *s, myth_cli *cli)
{
    myth_free(cli->mem, s->query);
    myth_vectors_close(s->vectors);
    *s = (myth_semantic){0};
}
