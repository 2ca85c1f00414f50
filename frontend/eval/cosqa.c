/* cosqa.c - asks the web questions of CoSQA about its functions, with the batch mode of `search`. */
#include "eval.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static myth_status put_line(FILE *f, const char *id, const char *text)
{
    json_t *row = json_pack("{s:s, s:s}", "id", id, "text", text);
    int rc = row ? json_dumpf(row, f, JSON_COMPACT | JSON_ENSURE_ASCII) : -1;
    json_decref(row);
    return rc == 0 && putc('\n', f) != EOF ? MYTH_OK : MYTH_EIO;
}

/* Writes the corpus in the form that search reads. */
static myth_status write_corpus(const char *path, const char *from, myth_error *err)
{
    json_t *map, *id;
    const char *text;
    char number[24];
    myth_status st = myth_eval_json(&map, from, err);
    if (st != MYTH_OK)
        return st;
    FILE *f = fopen(path, "wb");
    if (!f)
        st = MYTH_ECREATE;
    json_object_foreach(map, text, id)
    {
        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(id));
        if (st == MYTH_OK)
            st = put_line(f, number, text);
    }
    if (f && fclose(f) != 0 && st == MYTH_OK)
        st = MYTH_EIO;
    json_decref(map);
    return st == MYTH_OK ? MYTH_OK : myth_fail(err, st, "%s: %s", path, strerror(errno));
}

static myth_status write_queries(const char *path, const myth_tasks *t, myth_error *err)
{
    FILE *f = fopen(path, "wb");
    myth_status st = f ? MYTH_OK : MYTH_ECREATE;
    for (uint32_t i = 0; i < t->n_task && st == MYTH_OK; i++)
        st = put_line(f, t->task[i].id, t->task[i].text);
    if (f && fclose(f) != 0 && st == MYTH_OK)
        st = MYTH_EIO;
    return st == MYTH_OK ? MYTH_OK : myth_fail(err, st, "%s: %s", path, strerror(errno));
}

static myth_status put_ids(myth_eval *ev, uint32_t config, uint32_t task, const json_t *ids, const char **seen,
                           uint32_t *item, myth_error *err)
{
    uint32_t n = (uint32_t)json_array_size(ids);
    if (n > ev->k)
        return myth_fail(err, MYTH_EFORMAT, "search gave %u ids, %u were asked for", n, ev->k);
    for (uint32_t i = 0; i < n; i++) {
        seen[i] = json_string_value(json_array_get(ids, i));
        if (!seen[i])
            return myth_fail(err, MYTH_EFORMAT, "search gave an id that is no text");
        item[i] = myth_eval_document(&ev->tasks.task[task], seen, i, seen[i]);
    }
    myth_eval_put(ev, config, task, item, n);
    return MYTH_OK;
}

myth_status myth_eval_cosqa(myth_eval *ev, myth_error *err)
{
    char code_map[MYTH_EVAL_PATH], corpus[96], queries[96], k[16];
    myth_mem *mem = ev->cli->mem;
    myth_status st = MYTH_OK;
    json_t *rows = NULL;
    const char **seen = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", ev->k, sizeof(*seen));
    uint32_t *item = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", ev->k, sizeof(*item));
    int code;
    snprintf(corpus, sizeof(corpus), "%s/corpus.jsonl", ev->dir);
    snprintf(queries, sizeof(queries), "%s/queries.jsonl", ev->dir);
    snprintf(k, sizeof(k), "%u", ev->k);
    if (!seen || !item || !myth_eval_path(code_map, ev->data, "cosqa/code_idx_map.txt")) {
        st = myth_fail(err, MYTH_ENOMEM, "eval: no memory for %u ids", ev->k);
        goto fail;
    }
    MYTH_TRY(write_corpus(corpus, code_map, err));
    MYTH_TRY(write_queries(queries, &ev->tasks, err));
    for (uint32_t c = 0; c < ev->n_config; c++) {
        const char *args[MYTH_SELF_ARGS] = {"search",   "--json", "--quiet",   "--top", k,
                                            "--corpus", corpus,   "--queries", queries};
        myth_eval_search_flags(args, 9, ev, &ev->config[c]);
        myth_term_progress(ev->cli->term, "configurations", c, ev->n_config);
        json_decref(rows);
        rows = NULL;
        MYTH_TRY(myth_self_json(&rows, &code, &ev->self, args, NULL, 0, err));
        if (json_array_size(rows) != ev->tasks.n_task)
            MYTH_TRY(myth_fail(err, MYTH_EFORMAT, "search answered %zu of %u questions", json_array_size(rows),
                               ev->tasks.n_task));
        for (uint32_t t = 0; t < ev->tasks.n_task; t++)
            MYTH_TRY(put_ids(ev, c, t, json_object_get(json_array_get(rows, t), "ids"), seen, item, err));
    }
fail:
    json_decref(rows);
    myth_free(mem, seen);
    myth_free(mem, item);
    return st;
}
