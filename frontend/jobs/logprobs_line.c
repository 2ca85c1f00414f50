/* logprobs_line.c - see logprobs_line.h. */
#include "logprobs_line.h"

#include <math.h>
#include <string.h>

const myth_json_node *myth_logprobs_member(const myth_job_prompt *it, const char *key)
{
    const myth_json_node *n = it->object ? myth_json_tree_get(it->tree, it->object, key) : NULL;
    return n && n->type != MYTH_JSON_NULL ? n : NULL;
}

uint32_t myth_logprobs_n_choice(const myth_model *m)
{
    const uint32_t n = m->tokenizer ? myth_tokenizer_n_vocab(m->tokenizer) : m->config.n_vocab;
    return n < m->config.n_vocab ? n : m->config.n_vocab;
}

bool myth_logprobs_fault(char why[MYTH_PROMPT_FAULT_BYTES], const char *what)
{
    snprintf(why, MYTH_PROMPT_FAULT_BYTES, "%.180s", what);
    return false;
}

/* A node of a number as an id of the vocabulary; -1 = it is none. */
static int32_t id_of(const myth_model *m, const myth_json_node *n)
{
    uint64_t id = 0;
    bool is_id = n->type == MYTH_JSON_NUMBER && n->text.len > 0 && n->text.len < 11;
    for (size_t i = 0; i < n->text.len && is_id; i++) {
        is_id = n->text.text[i] >= '0' && n->text.text[i] <= '9';
        id = 10 * id + (uint64_t)(n->text.text[i] - '0');
    }
    return is_id && id < myth_logprobs_n_choice(m) ? (int32_t)id : -1;
}

/* The ids of a text into dst [cap], dst NULL = their number alone. MYTH_OK with *n > cap: they do not fit. */
static myth_status encode(const myth_model *m, myth_str text, int32_t *dst, size_t cap, size_t *n, myth_error *err)
{
    const size_t bound = myth_tokenizer_bound(text.len) + 1;
    myth_mem *mem = m->mem;
    int32_t *ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "completion", bound, sizeof(*ids));
    if (!ids)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a completion of %zu bytes", text.len);
    myth_status st =
        myth_tokenizer_encode(m->tokenizer, mem, MYTH_TOK_CONTENT, text.text, text.len, ids, bound, n, err);
    if (st == MYTH_OK && dst && *n <= cap)
        memcpy(dst, ids, *n * sizeof(*ids));
    myth_free(mem, ids);
    return st;
}

myth_status myth_logprobs_token(const myth_model *m, const myth_job_prompt *it, int32_t *token, bool *is_right,
                                char why[MYTH_PROMPT_FAULT_BYTES], myth_error *err)
{
    const myth_json_node *n = myth_logprobs_member(it, "token");
    size_t n_ids = 0;
    *token = -1;
    *is_right = true;
    if (!n)
        return MYTH_OK;
    if (n->type == MYTH_JSON_STRING && m->tokenizer) {
        int32_t id = -1;
        const myth_status st = encode(m, n->text, &id, 1, &n_ids, err);
        *token = n_ids == 1 ? id : -1;
        if (st != MYTH_OK)
            return st;
    } else {
        *token = id_of(m, n);
    }
    if (*token < 0)
        *is_right = myth_logprobs_fault(why, "\"token\": expected an id of the vocabulary or a text of one token");
    return MYTH_OK;
}

myth_status myth_logprobs_completion(const myth_model *m, const myth_job_prompt *it, const myth_json_node *c,
                                     int32_t *dst, size_t cap, size_t *n, bool *is_right,
                                     char why[MYTH_PROMPT_FAULT_BYTES], myth_error *err)
{
    *n = 0;
    *is_right = true;
    if (c->type == MYTH_JSON_STRING && m->tokenizer) {
        const myth_status st = encode(m, c->text, dst, cap, n, err);
        if (st != MYTH_OK)
            return st;
    } else if (c->type == MYTH_JSON_ARRAY) {
        for (const myth_json_node *i = myth_json_tree_first(it->tree, c); i; i = myth_json_tree_next(it->tree, i)) {
            const int32_t id = id_of(m, i);
            if (id < 0) {
                *is_right = myth_logprobs_fault(why, "\"completions\": not an id of the vocabulary");
                return MYTH_OK;
            }
            if (dst && *n < cap)
                dst[*n] = id;
            ++*n;
        }
    }
    if (*n == 0)
        *is_right = myth_logprobs_fault(why, "\"completions\": expected texts or lists of ids, none of them empty");
    return MYTH_OK;
}

/* ---- what is written of it ---- */

void myth_logprobs_print(myth_json_out *j, const char *key, double v)
{
    if (key)
        myth_jout_key(j, key);
    myth_jout_f64(j, v); /* null when it is not finite */
}

void myth_logprobs_print_completions(myth_json_out *j, const uint32_t *length, const float *score, uint32_t n)
{
    uint32_t best = 0, best_mean = 0;
    double most = -INFINITY, most_mean = -INFINITY;
    myth_jout_key(j, "completions");
    myth_jout_array(j);
    for (uint32_t k = 0, at = 0; k < n; at += length[k++]) {
        double sum = 0.0;
        for (uint32_t i = 0; i < length[k]; i++)
            sum += (double)score[at + i];
        const double mean = sum / length[k];
        best = sum > most ? k : best;
        best_mean = mean > most_mean ? k : best_mean;
        most = sum > most ? sum : most;
        most_mean = mean > most_mean ? mean : most_mean;
        myth_jout_object(j);
        myth_jout_key_u64(j, "tokens", length[k]);
        myth_logprobs_print(j, "sum", sum);
        myth_logprobs_print(j, "mean", mean);
        myth_jout_key(j, "logprobs");
        myth_jout_array(j);
        for (uint32_t i = 0; i < length[k]; i++)
            myth_logprobs_print(j, NULL, (double)score[at + i]);
        myth_jout_end(j);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    myth_jout_key_u64(j, "best", best);
    myth_jout_key_u64(j, "best_mean", best_mean);
}
