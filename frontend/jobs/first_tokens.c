/* first_tokens.c - see first_tokens.h. */
#include "first_tokens.h"

#include "engine/base/hash.h"
#include "engine/text/json_tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_logq = -100.0;
static const double no_share = -60.0; /* e to it changes no double, not even 2^20 times */

/* ---- a row of logits ---- */

/* Puts v where the least of the heap is, which goes. */
static void replace_least(float *heap, uint32_t k, float v)
{
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < k; at = child) {
        child += child + 1 < k && heap[child + 1] < heap[child];
        if (heap[child] >= v)
            break;
        heap[at] = heap[child];
    }
    heap[at] = v;
}

uint32_t myth_first_token_best(const float *row, uint32_t n, uint32_t k, float *heap, int32_t *ids)
{
    uint32_t n_above = 0, n_id = 0;
    k = k < n ? k : n;
    if (k == 0)
        return 0;
    for (uint32_t i = 0; i < k; i++)
        heap[i] = -INFINITY;
    for (uint32_t v = 0; v < n; v++)
        if (row[v] > heap[0])
            replace_least(heap, k, row[v]);
    const float least = heap[0];
    for (uint32_t i = 0; i < k; i++)
        n_above += heap[i] > least;
    for (uint32_t v = 0, n_equal = k - n_above; v < n && n_id < k; v++) {
        if (row[v] > least || (row[v] == least && n_equal))
            ids[n_id++] = (int32_t)v;
        n_equal -= row[v] == least && n_equal;
    }
    return n_id;
}

/* Moves to the next of the parts that the ids leave of a row: *from .. *to - 1, perhaps none. False behind the last. */
static bool next_part(const int32_t *ids, uint32_t n_out, uint32_t n, uint32_t *i, uint32_t *from, uint32_t *to)
{
    if (*i > n_out)
        return false;
    *from = *i ? (uint32_t)ids[*i - 1] + 1 : 0;
    *to = *i < n_out && (uint32_t)ids[*i] < n ? (uint32_t)ids[*i] : n;
    ++*i;
    return true;
}

static int compare_ids(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

double myth_first_token_rest(const float *row, uint32_t n, int32_t *ids, uint32_t n_out)
{
    float most = -INFINITY;
    double sum = 0.0;
    uint32_t from = 0, to = 0;
    qsort(ids, n_out, sizeof(*ids), compare_ids);
    for (uint32_t i = 0; next_part(ids, n_out, n, &i, &from, &to);)
        for (uint32_t v = from; v < to; v++)
            most = row[v] > most ? row[v] : most;
    if (most == -INFINITY)
        return -INFINITY;
    from = 0;
    for (uint32_t i = 0; next_part(ids, n_out, n, &i, &from, &to);)
        for (uint32_t v = from; v < to; v++) {
            const double less = (double)row[v] - (double)most;
            sum += less > no_share ? exp(less) : 0.0;
        }
    return (double)most + log(sum);
}

double myth_first_token_lse(const float *row, const int32_t *ids, uint32_t n_in, double rest)
{
    double most = rest, sum = 0.0;
    for (uint32_t i = 0; i < n_in; i++)
        most = fmax(most, (double)row[ids[i]]);
    if (most == -INFINITY)
        return most;
    sum = exp(rest - most);
    for (uint32_t i = 0; i < n_in; i++)
        sum += exp((double)row[ids[i]] - most);
    return most + log(sum);
}

/* p (log p - log q) + q - p, at least 0. */
static double divergence(double logp, double logq)
{
    const double q = logq > least_logq ? logq : least_logq, d = logp - q; /* also of a NaN */
    return logp > -INFINITY ? exp(logp) * (d + expm1(-d)) : logq > least_logq ? exp(q) : 0.0;
}

double myth_first_token_kl(const myth_first_token *p, const double *logq, double log_tail)
{
    double kl = divergence(log(p->tail), log_tail);
    for (uint32_t i = 0; i < p->n; i++)
        kl += divergence(p->logp[i], logq[i]);
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
