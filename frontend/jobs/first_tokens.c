/* first_tokens.c - see first_tokens.h. */
#include "first_tokens.h"

#include "engine/base/hash.h"
#include "engine/text/json_tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_logq = -100.0, least_tail = 1e-6;

double myth_first_token_tail(const double *logp, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++)
        sum += exp(logp[i]);
    return fmax(1.0 - sum, 0.0); /* below it only by rounding */
}

double myth_first_token_kl(const myth_first_token *p, const double *logq)
{
    double kl = 0.0, sum = 0.0;
    for (uint32_t i = 0; i < p->n; i++) {
        const double q = logq[i] > least_logq ? logq[i] : least_logq; /* also of a NaN */
        kl += exp(p->logp[i]) * (p->logp[i] - q);
        sum += exp(q);
    }
    const double q_tail = fmax(1.0 - sum, least_tail), p_tail = fmax(p->tail, least_tail);
    kl += p_tail * (log(p_tail) - log(q_tail));
    return kl > 0.0 ? kl : 0.0; /* below it only by rounding */
}

uint64_t myth_first_tokens_prompt(const int32_t *ids, uint32_t n)
{
    return myth_fnv1a(MYTH_FNV1A, ids, n * sizeof(*ids));
}

/* ---- reading ---- */

static bool read_number(const myth_json_node *n, double *out)
{
    char text[40];
    if (!n || n->type != MYTH_JSON_NUMBER || n->text.len >= sizeof(text))
        return false;
    memcpy(text, n->text.text, n->text.len);
    text[n->text.len] = '\0';
    *out = strtod(text, NULL);
    return isfinite(*out);
}

static bool read_count(const myth_json_node *n, uint64_t *out, double most)
{
    double v;
    if (!read_number(n, &v) || v < 0 || v > most || v != floor(v))
        return false;
    *out = (uint64_t)v;
    return true;
}

static myth_status next_line(myth_first_tokens *b, myth_json_tree *t, const char **line, myth_error *err)
{
    size_t n = 0;
    myth_status st = myth_lines_next(&b->lines, line, &n, err);
    if (st != MYTH_OK || !*line)
        return st;
    if (myth_json_tree_open(t, b->mem, *line, n, "", NULL) != MYTH_OK)
        return myth_lines_fail(&b->lines, MYTH_EFORMAT, "no JSON; give a file of --save-baseline", err);
    return MYTH_OK;
}

myth_status myth_first_tokens_open(myth_first_tokens *b, myth_cli *cli, const char *path, myth_error *err)
{
    myth_json_tree t = {0};
    const char *line = NULL;
    uint64_t version = 0, k = 0;
    *b = (myth_first_tokens){.mem = cli->mem};
    myth_status st = myth_lines_open(&b->lines, cli, path, &(myth_lines_opts){.is_copied = true}, err);
    if (st != MYTH_OK)
        return st;
    st = next_line(b, &t, &line, err);
    if (st == MYTH_OK &&
        (!line || !read_count(myth_json_tree_get(&t, t.node, "mythos_baseline"), &version, 1) || version != 1 ||
         !read_count(myth_json_tree_get(&t, t.node, "top_k"), &k, MYTH_FIRST_TOKENS_TOP)))
        st = myth_fail(err, MYTH_EFORMAT, "%.200s: no baseline; give a file of --save-baseline", path);
    myth_json_tree_close(&t);
    b->top_k = (uint32_t)k;
    if (st == MYTH_OK) {
        b->id = myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "baseline", k + 1, sizeof(*b->id));
        b->logp = myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "baseline", k + 1, sizeof(*b->logp));
        if (!b->id || !b->logp)
            st = myth_fail(err, MYTH_ENOMEM, "out of memory for a baseline of %u ids", b->top_k);
    }
    if (st != MYTH_OK)
        myth_first_tokens_close(b);
    return st;
}

void myth_first_tokens_close(myth_first_tokens *b)
{
    if (!b->mem)
        return;
    myth_free(b->mem, b->logp);
    myth_free(b->mem, b->id);
    myth_lines_close(&b->lines);
    *b = (myth_first_tokens){0};
}

/* Reads the members of a line; false when one is not as it was written. */
static bool read_line(myth_first_tokens *b, const myth_json_tree *t, uint64_t *prompt, myth_first_token *out)
{
    const myth_json_node *hash = myth_json_tree_get(t, t->node, "prompt"), *ids = myth_json_tree_get(t, t->node, "ids"),
                         *logp = myth_json_tree_get(t, t->node, "logprobs");
    char hex[20];
    *out = (myth_first_token){.id = b->id, .logp = b->logp};
    if (!hash)
        return true; /* a fault */
    if (hash->type != MYTH_JSON_STRING || hash->text.len != 16 || !ids || !logp || ids->type != MYTH_JSON_ARRAY ||
        logp->type != MYTH_JSON_ARRAY || ids->n != logp->n || ids->n > b->top_k ||
        !read_number(myth_json_tree_get(t, t->node, "tail"), &out->tail) || out->tail < 0.0 || out->tail > 1.0)
        return false;
    memcpy(hex, hash->text.text, 16);
    hex[16] = '\0';
    *prompt = strtoull(hex, NULL, 16);
    const myth_json_node *i = myth_json_tree_first(t, ids), *l = myth_json_tree_first(t, logp);
    for (uint64_t id; i && l; i = myth_json_tree_next(t, i), l = myth_json_tree_next(t, l)) {
        if (!read_count(i, &id, INT32_MAX) || !read_number(l, &b->logp[out->n]) || b->logp[out->n] > 0.0)
            return false;
        b->id[out->n++] = (int32_t)id;
    }
    return true;
}

myth_status myth_first_tokens_find(myth_first_tokens *b, uint64_t index, uint64_t prompt, myth_first_token *out,
                                   myth_error *err)
{
    for (;;) {
        myth_json_tree t = {0};
        const char *line = NULL;
        uint64_t at = 0, was = 0;
        myth_status st = next_line(b, &t, &line, err);
        if (st != MYTH_OK)
            return st;
        if (!line)
            return myth_fail(err, MYTH_EFORMAT, "%.200s: ends before prompt %" PRIu64 "; make it from the same prompts",
                             b->lines.path, index);
        const bool is_index = read_count(myth_json_tree_get(&t, t.node, "index"), &at, 1e15);
        const bool is_right = is_index && (at < index || (at == index && read_line(b, &t, &was, out)));
        myth_json_tree_close(&t);
        if (!is_right)
            return myth_lines_fail(&b->lines, MYTH_EFORMAT,
                                   is_index && at > index ? "the prompt before it is missing" : "no line of a baseline",
                                   err);
        if (at < index)
            continue;
        if (out->n && was != prompt)
            return myth_lines_fail(&b->lines, MYTH_EFORMAT, "another prompt; make it from the same prompts", err);
        return MYTH_OK;
    }
}

void myth_first_tokens_write(myth_json_out *j, uint64_t index, uint64_t prompt, const myth_first_token *p)
{
    char hex[20];
    myth_jout_key_u64(j, "index", index);
    if (!p)
        return;
    snprintf(hex, sizeof(hex), "%016" PRIx64, prompt);
    myth_jout_key_str(j, "prompt", hex);
    myth_jout_key(j, "ids");
    myth_jout_ids(j, p->id, p->n);
    myth_jout_key(j, "logprobs");
    myth_jout_array(j);
    for (uint32_t i = 0; i < p->n; i++)
        myth_jout_f64(j, p->logp[i]);
    myth_jout_end(j);
    myth_jout_key_f64(j, "tail", p->tail);
}
