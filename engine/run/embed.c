/* embed.c - texts in groups that fill a micro-batch, each an ephemeral run of one empty sequence; sums on the host, in
 * double.
 *
 * Dense     a row of weights is widened once and multiplied with every text of the group; 16 partial sums, then in
 *           order: a text's bits are its own */
#include "embed.h"

#include "dense.h"
#include "engine/base/blocks.h"

#include <math.h>
#include <string.h>

enum { TEXTS = 64, LANES = 16 }; /* texts of a group; partial sums of a product */

struct myth_embedder {
    myth_engine *engine;
    myth_model *model;
    myth_seq *seq;
    myth_dense dense;
    uint32_t n_ubatch, d_model, width; /* n_ubatch: tokens at once; width: of the widest vector on the way */
    myth_batch_run run[TEXTS];         /* a text each */
    uint8_t *text_of;                  /* [n_ctx_train] of each token of a group */
    double *sum;                       /* [TEXTS][d_model] */
    float *in, *between, *row;         /* [TEXTS][width], [TEXTS][width], [width] */
};

static uint32_t width_of(const myth_dense *dense, uint32_t d_model)
{
    uint64_t w = d_model;
    for (int i = 0; i < MYTH_DENSE_N; i++)
        if (dense->layer[i])
            w = dense->layer[i]->dim[0] > w ? dense->layer[i]->dim[0] : w;
    return (uint32_t)w;
}

/* ---- dense layers ---- */

static float dot(const float *a, const float *b, uint64_t n)
{
    float part[LANES] = {0}, sum = 0.0f;
    uint64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            part[l] += a[i + (uint64_t)l] * b[i + (uint64_t)l];
    for (int l = 0; l < LANES; l++)
        sum += part[l];
    for (; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* to[t] = W from[t] for n_text rows of `width` floats. */
static void multiply(const myth_embedder *x, const myth_tensor *l, float *to, const float *from, uint32_t n_text)
{
    const uint64_t n_in = l->dim[1], row_bytes = myth_row_bytes(l->dtype, n_in);
    for (uint64_t o = 0; o < l->dim[0]; o++) {
        myth_dequant_row(l->dtype, x->row, (const unsigned char *)l->data + o * row_bytes, n_in);
        for (uint32_t t = 0; t < n_text; t++)
            to[(uint64_t)t * x->width + o] = dot(x->row, from + (uint64_t)t * x->width, n_in);
    }
}

/* ---- open ---- */

static uint64_t host_bytes(uint64_t n_tok, uint64_t d_model, uint64_t width)
{
    return n_tok + TEXTS * (d_model * sizeof(double) + 2 * width * sizeof(float)) + width * sizeof(float);
}

myth_status myth_embedder_needs(myth_plan_extra *extra, const myth_model *m, myth_error *err)
{
    const myth_config *c = &m->config;
    const bool is_read = myth_weights_is_read(m->weights);
    const myth_mem_class files = is_read ? MYTH_MEM_WEIGHTS : MYTH_MEM_WEIGHTS_MAPPED;
    const myth_mem_count now = myth_mem_get(m->mem, MYTH_MEM_HOST, files);
    uint64_t bytes = 0;
    myth_dense dense;
    myth_status st = myth_dense_open(&dense, m, MYTH_WEIGHTS_HEADER, err);
    for (int i = 0; i < MYTH_DENSE_N && st == MYTH_OK; i++)
        if (dense.own[i]) {
            extra->bytes[MYTH_MEM_OTHER] += myth_weights_booked(dense.own[i]);
            bytes += myth_weights_mapped(dense.own[i]);
        }
    /* A plan counts the file of a tokenizer, which was read and let go by the time these are mapped. */
    extra->bytes[files] += is_read ? bytes : now.live + bytes > now.peak ? now.live + bytes - now.peak : 0;
    extra->bytes[MYTH_MEM_OTHER] +=
        sizeof(myth_embedder) + host_bytes(c->n_ctx_train, c->d_model, width_of(&dense, c->d_model));
    myth_dense_close(&dense);
    return st;
}

void myth_embedder_opts(myth_engine_opts *o, const myth_model *m, uint32_t n_tok)
{
    const uint32_t most = m->config.n_ctx_train;
    o->want_hidden = true;
    o->n_seq = 1;
    o->n_ctx = o->n_ctx ? o->n_ctx : n_tok < most ? n_tok : most;
    o->n_ubatch = o->n_ubatch ? o->n_ubatch : o->n_ctx;
}

void myth_embedder_close(myth_embedder *x)
{
    if (!x)
        return;
    myth_mem *mem = x->model->mem;
    if (x->seq)
        myth_seq_close(x->seq);
    myth_dense_close(&x->dense);
    myth_free(mem, x->sum); /* one block; the others lie in it */
    myth_free(mem, x);
}

static myth_status take_rows(myth_embedder *x, myth_error *err)
{
    const uint64_t n = x->model->config.n_ctx_train, d = x->d_model, w = x->width;
    unsigned char *p = myth_alloc(x->model->mem, MYTH_MEM_OTHER, "embedder", host_bytes(n, d, w));
    if (!p)
        return myth_fail(err, MYTH_ENOMEM, "no room for %llu bytes of an embedder",
                         (unsigned long long)host_bytes(n, d, w));
    x->sum = (double *)(void *)p; /* by falling alignment */
    x->in = (float *)(void *)(p + TEXTS * d * sizeof(double));
    x->between = x->in + TEXTS * w;
    x->row = x->between + TEXTS * w;
    x->text_of = (uint8_t *)(void *)(x->row + w);
    return MYTH_OK;
}

myth_status myth_embedder_open(myth_embedder **out, myth_engine *e, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_model *m = myth_engine_model(e);
    *out = NULL;
    if (!m->config.is_bidirectional)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s generates text; embeddings come from an EmbeddingGemma model",
                         myth_weights_name(m->weights));
    myth_embedder *x = myth_alloc(m->mem, MYTH_MEM_OTHER, "embedder", sizeof(*x));
    if (!x)
        return myth_fail(err, MYTH_ENOMEM, "no room for an embedder");
    x->engine = e;
    x->model = m;
    x->n_ubatch =
        myth_engine_plan(e)->n_ubatch < m->config.n_ctx_train ? myth_engine_plan(e)->n_ubatch : m->config.n_ctx_train;
    x->d_model = m->config.d_model;
    MYTH_TRY(myth_dense_open(&x->dense, m, MYTH_WEIGHTS_DATA, err));
    x->width = width_of(&x->dense, x->d_model);
    MYTH_TRY(myth_seq_open(&x->seq, e, err));
    MYTH_TRY(take_rows(x, err));
    *out = x;
    return MYTH_OK;
fail:
    myth_embedder_close(x);
    return st;
}

static uint32_t dim_of(const myth_dense *dense, uint32_t d_model)
{
    return dense->layer[1] ? (uint32_t)dense->layer[1]->dim[0] : d_model;
}

uint32_t myth_embedder_dim(const myth_embedder *x) { return dim_of(&x->dense, x->d_model); }

myth_status myth_embedder_dim_of(uint32_t *dim, const myth_model *m, myth_error *err)
{
    myth_dense dense;
    const myth_status st = myth_dense_open(&dense, m, MYTH_WEIGHTS_HEADER, err);
    *dim = st == MYTH_OK ? dim_of(&dense, m->config.d_model) : 0;
    myth_dense_close(&dense);
    return st;
}

bool myth_embedder_has_dense(const myth_embedder *x) { return x->dense.layer[1] != NULL; }

/* ---- texts ---- */

static void on_row(void *user, uint32_t tok, uint32_t layer, const float *row, uint32_t d)
{
    myth_embedder *x = user;
    double *sum = x->sum + (uint64_t)x->text_of[tok] * d;
    (void)layer;
    for (uint32_t i = 0; i < d; i++)
        sum[i] += (double)row[i];
}

/* The first dim values at length 1; a vector of zeros stays one. */
static void put_normed(float *out, const float *v, uint32_t dim)
{
    double ss = 0.0;
    for (uint32_t i = 0; i < dim; i++)
        ss += (double)v[i] * (double)v[i];
    const double scale = ss > 0.0 ? 1.0 / sqrt(ss) : 0.0;
    for (uint32_t i = 0; i < dim; i++)
        out[i] = (float)((double)v[i] * scale);
}

/* As many texts as fill a micro-batch. */
static uint32_t gather(myth_embedder *x, const myth_embed_text *text, uint32_t n_text, uint32_t *n_tok)
{
    uint32_t n = 0;
    for (*n_tok = 0; n < n_text && n < TEXTS && text[n].n <= x->n_ubatch - *n_tok; n++) {
        x->run[n] = (myth_batch_run){
            .seq = x->seq,
            .token = text[n].ids,
            .n = text[n].n,
            .want = MYTH_WANT_FINAL,
            .is_ephemeral = true,
        };
        memset(x->text_of + *n_tok, (int)n, text[n].n);
        *n_tok += text[n].n;
    }
    return n;
}

static myth_status embed_group(myth_embedder *x, const myth_embed_text *text, uint32_t n_text, uint32_t dim, float *out,
                               const myth_cancel *cancel, myth_error *err)
{
    const uint32_t d = x->d_model;
    const myth_batch b = {
        .run = x->run,
        .n_run = n_text,
        .on_hidden = on_row,
        .user = x,
        .cancel = cancel,
    };
    memset(x->sum, 0, (uint64_t)n_text * d * sizeof(double));
    myth_status st = myth_forward(x->engine, &b, NULL, err);
    if (st != MYTH_OK)
        return st;
    for (uint32_t t = 0; t < n_text; t++)
        for (uint32_t i = 0; i < d; i++)
            x->in[(uint64_t)t * x->width + i] = (float)(x->sum[(uint64_t)t * d + i] / (double)text[t].n);
    if (x->dense.layer[1]) {
        multiply(x, x->dense.layer[0], x->between, x->in, n_text);
        multiply(x, x->dense.layer[1], x->in, x->between, n_text);
    }
    for (uint32_t t = 0; t < n_text; t++)
        put_normed(out + (uint64_t)t * dim, x->in + (uint64_t)t * x->width, dim);
    return MYTH_OK;
}

myth_status myth_embed(myth_embedder *x, const myth_embed_text *text, uint32_t n_text, uint32_t dim, float *out,
                       const myth_cancel *cancel, myth_error *err)
{
    const uint32_t all = myth_embedder_dim(x);
    dim = dim ? dim : all;
    if (dim > all)
        return myth_fail(err, MYTH_EARG, "%u dimensions wanted, the model has %u", dim, all);
    for (uint32_t t = 0; t < n_text; t++) {
        if (!text[t].n)
            return myth_fail(err, MYTH_EARG, "text %u has no tokens", t);
        if (text[t].n > x->n_ubatch)
            return myth_fail_option(err, MYTH_ELIMIT, "n_ubatch",
                                    "text %u has %u tokens; a micro-batch has %u: raise n_ubatch, or cut the text", t,
                                    text[t].n, x->n_ubatch);
    }
    for (uint32_t t = 0, n, n_tok; t < n_text; t += n) {
        n = gather(x, text + t, n_text - t, &n_tok);
        myth_status st = embed_group(x, text + t, n, dim, out + (uint64_t)t * dim, cancel, err);
        if (st != MYTH_OK)
            return st;
        if (myth_cancelled(cancel) && t + n < n_text)
            return myth_fail(err, MYTH_ECANCEL, "cancelled after %u of %u texts", t + n, n_text);
    }
    return MYTH_OK;
}

/* ---- prompts ---- */

static const struct {
    const char *use, *prompt;
} prompts[] = {
    {"none", ""},
    {"query", "task: search result | query: "},
    {"document", "title: none | text: "},
    {"code", "task: code retrieval | query: "},
    {"question", "task: question answering | query: "},
    {"fact", "task: fact checking | query: "},
    {"classification", "task: classification | query: "},
    {"clustering", "task: clustering | query: "},
    {"similarity", "task: sentence similarity | query: "},
    {"summary", "task: summarization | query: "},
};

const char *myth_embed_prompt(const char *use)
{
    for (size_t i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++)
        if (strcmp(use, prompts[i].use) == 0)
            return prompts[i].prompt;
    return NULL;
}

const char *myth_embed_prompt_names(void)
{
    return "none, query, document, code, question, fact, classification, clustering, similarity, summary";
}
