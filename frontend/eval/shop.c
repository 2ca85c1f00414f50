/* shop.c - asks the questions about the shipped repository: runs `search` as a user would, rates its answers, and
 * counts the tokens that they would take in a prompt.
 *
 * Evidence  a chunk of an expected file; when the expected answer names a symbol, the chunk must contain its name
 * Tokens    the length of the prompt with the question and the chunks, counted by the model's tokenizer. The tokens of
 *           the evidence are the difference to the prompt without the chunks that are evidence */
#include "eval.h"
#include "frontend/inspect/prompt/prompt.h"
#include "frontend/inspect/select/select.h"

#include <stdio.h>
#include <string.h>

enum { HITS_MAX = 256 };

typedef struct {
    const char *path, *text;
    size_t n_text;
    bool is_evidence;
} hit;

typedef struct {
    hit hit[HITS_MAX];
    uint32_t n_hit;
    json_t *rows; /* owns the strings of the hits */
} answer;

static bool has_text(const char *text, size_t n, const char *what)
{
    size_t m = strlen(what);
    for (size_t i = 0; i + m <= n; i++)
        if (memcmp(text + i, what, m) == 0)
            return true;
    return false;
}

static bool is_evidence(const myth_task *t, const hit *h)
{
    for (uint32_t g = 0; g < t->n_gold; g++)
        if (strcmp(t->gold[g].path, h->path) == 0)
            return !t->gold[g].symbol || has_text(h->text, h->n_text, t->gold[g].symbol);
    return false;
}

/* Runs `search` for the task's question and lists its hits: chunks, of which a prompt would be made. */
static myth_status ask_search(answer *a, const myth_eval *ev, const myth_eval_config *c, const myth_task *t,
                              const char *tree, myth_error *err)
{
    char k[16];
    const char *args[MYTH_SELF_ARGS] = {"search", "--json", "--quiet", "--chunks", "--top", k};
    int n = myth_eval_search_flags(args, 6, ev, c), code;
    size_t i;
    json_t *row;
    snprintf(k, sizeof(k), "%u", ev->k);
    args[n++] = "--";
    args[n++] = t->text;
    args[n++] = tree;
    *a = (answer){0};
    myth_status st = myth_self_json(&a->rows, &code, &ev->self, args, NULL, 1u << MYTH_EXIT_FINDINGS, err);
    if (st != MYTH_OK)
        return st;
    json_array_foreach(a->rows, i, row)
    {
        const json_t *text = json_object_get(row, "text");
        hit *h = &a->hit[a->n_hit];
        *h = (hit){json_string_value(json_object_get(row, "path")), json_string_value(text), json_string_length(text),
                   false};
        if (!h->path || !h->text)
            return myth_fail(err, MYTH_EFORMAT, "%s: search gave a row without path and text", t->id);
        h->is_evidence = is_evidence(t, h);
        if (++a->n_hit == HITS_MAX)
            break;
    }
    return MYTH_OK;
}

/* Lists the blocks that inspect-topic would show; consecutive blocks of a file count as one. When the command fails,
 * the evaluation fails, except for the message that no chunk answers, which is an answer without hits. */
static myth_status ask_topic(answer *a, const myth_eval *ev, const myth_task *t, const char *tree, myth_error *err)
{
    char threads[16];
    const char *args[MYTH_SELF_ARGS] = {"inspect-topic", "--findings", "--find", "model", "--quiet",
                                        "--dry-run",     "--format",   "json",   "-C",    tree};
    int n = myth_eval_model_flags(args, 10, ev, threads), code;
    size_t p, b;
    json_t *part, *block;
    json_int_t last = 0;
    args[n++] = "--";
    args[n++] = t->text;
    *a = (answer){0};
    myth_status st = myth_self_json(&a->rows, &code, &ev->self, args, NULL, 0, err);
    if (st == MYTH_ENOTFOUND && strstr(err->msg, MYTH_TOPIC_NOTHING)) {
        *err = (myth_error){0}; /* nothing was found; a missing model, index or file has another message */
        return MYTH_OK;
    }
    if (st != MYTH_OK)
        return st;
    json_array_foreach(json_object_get(a->rows, "parts"), p, part)
        json_array_foreach(json_object_get(part, "blocks"), b, block)
    {
        const char *path = myth_eval_in_tree(tree, json_string_value(json_object_get(block, "file")));
        bool goes_on = a->n_hit && path && strcmp(a->hit[a->n_hit - 1].path, path) == 0 &&
                       json_integer_value(json_object_get(block, "first")) == last + 1;
        last = json_integer_value(json_object_get(block, "last"));
        if (!path)
            return myth_fail(err, MYTH_EFORMAT, "%s: inspect-topic gave a block without a file", t->id);
        if (!goes_on && a->n_hit < HITS_MAX)
            a->hit[a->n_hit++] = (hit){.path = path, .text = ""};
    }
    return MYTH_OK;
}

static void put_answer(myth_eval *ev, uint32_t config, uint32_t task, const answer *a)
{
    const char *seen[HITS_MAX];
    uint32_t item[HITS_MAX];
    for (uint32_t i = 0; i < a->n_hit; i++) {
        item[i] = myth_eval_document(&ev->tasks.task[task], seen, i, a->hit[i].path);
        seen[i] = a->hit[i].path;
    }
    myth_eval_put(ev, config, task, item, a->n_hit);
}

/* ---- tokens ---- */

/* Counts the tokens of a prompt with the answer's chunks. Without with_evidence the chunks that are evidence are left
 * out. */
static myth_status count_prompt(double *n_tok, const myth_model *m, myth_prompt_style style, const myth_task *t,
                                const answer *a, bool with_evidence, myth_error *err)
{
    myth_mem *mem = m->mem;
    myth_status st = MYTH_OK;
    myth_source *src = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", HITS_MAX, sizeof(*src));
    myth_block *block = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", HITS_MAX, sizeof(*block));
    int32_t *ids = NULL;
    uint32_t n = 0;
    size_t n_ids = 0;
    if (!src || !block) {
        st = myth_fail(err, MYTH_ENOMEM, "eval: no memory for a prompt");
        goto fail;
    }
    for (uint32_t i = 0; i < a->n_hit; i++) {
        const hit *h = &a->hit[i];
        if (h->is_evidence && !with_evidence)
            continue;
        MYTH_TRY(myth_source_open(&src[n], mem, h->path, (const unsigned char *)h->text, h->n_text, err));
        block[n] = (myth_block){.src = &src[n], .first = 1, .last = src[n].n_line};
        n++;
    }
    if (n == 0) {
        MYTH_TRY(myth_source_open(&src[0], mem, "", (const unsigned char *)"", 0, err));
        block[0] = (myth_block){.src = &src[0], .first = 1, .last = 0};
        n = 1;
    }
    const myth_prompt p = {.style = style, .block = block, .n_block = n, .task = t->text};
    size_t bound = myth_prompt_bound(&p);
    if (!(ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "ids", bound, sizeof(*ids)))) {
        st = myth_fail(err, MYTH_ENOMEM, "eval: no memory for %zu ids", bound);
        goto fail;
    }
    MYTH_TRY(myth_prompt_encode(m->tokenizer, mem, myth_chat_form_of(&m->config, m->tokenizer), &p, ids, bound, &n_ids,
                                err));
    *n_tok = (double)n_ids;
fail:
    for (uint32_t i = 0; src && i < n; i++)
        myth_source_close(&src[i]);
    myth_free(mem, src);
    myth_free(mem, block);
    myth_free(mem, ids);
    return st;
}

static myth_status count_tokens(myth_eval *ev, const myth_model *m, myth_prompt_style style, uint32_t task,
                                const answer *a, myth_error *err)
{
    double whole = 0, rest = 0;
    const myth_task *t = &ev->tasks.task[task];
    myth_status st = count_prompt(&whole, m, style, t, a, true, err);
    if (st == MYTH_OK)
        st = count_prompt(&rest, m, style, t, a, false, err);
    ev->prompt_tokens[task] = whole;
    ev->evidence_tokens[task] = whole - rest;
    return st;
}

/* Opens the model for its tokenizer. Without --model and without a shipped model, tokens are not counted. */
static myth_status open_tokenizer(myth_eval *ev, myth_model *m, myth_prompt_style *style, myth_error *err)
{
    myth_model_flags f = {.model = ev->model};
    myth_status st = myth_cli_model_open(ev->cli, m, &f, NULL, MYTH_WEIGHTS_HEADER, err);
    if (st == MYTH_ENOTFOUND && !f.model)
        return MYTH_OK;
    if (st == MYTH_OK)
        st = myth_prompt_style_of(style, myth_weights_meta(m->weights), err);
    ev->has_tokens = st == MYTH_OK && m->tokenizer;
    return st;
}

myth_status myth_eval_shop(myth_eval *ev, myth_error *err)
{
    char tree[MYTH_EVAL_PATH];
    myth_status st = MYTH_OK;
    myth_model m = {0};
    myth_prompt_style style = MYTH_PROMPT_FULL;
    answer a = {0};
    if (ev->k > HITS_MAX)
        return myth_fail(err, MYTH_EARG, "--top: at most %d chunks of the shop are looked at", HITS_MAX);
    snprintf(tree, sizeof(tree), "%s/questions", ev->dir);
    MYTH_TRY(myth_eval_copy_tree(ev, tree, err));
    MYTH_TRY(myth_eval_index(ev, tree, err));
    MYTH_TRY(open_tokenizer(ev, &m, &style, err));
    for (uint32_t c = 0; c < ev->n_config; c++)
        for (uint32_t t = 0; t < ev->tasks.n_task; t++) {
            myth_term_progress(ev->cli->term, "questions", (unsigned long long)c * ev->tasks.n_task + t,
                               (unsigned long long)ev->n_config * ev->tasks.n_task);
            MYTH_TRY(ev->config[c].is_topic ? ask_topic(&a, ev, &ev->tasks.task[t], tree, err)
                                            : ask_search(&a, ev, &ev->config[c], &ev->tasks.task[t], tree, err));
            put_answer(ev, c, t, &a);
            if (c == 0 && ev->has_tokens)
                MYTH_TRY(count_tokens(ev, &m, style, t, &a, err));
            json_decref(a.rows);
            a.rows = NULL;
        }
fail:
    json_decref(a.rows);
    myth_model_close(&m);
    return st;
}
