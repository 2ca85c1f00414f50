/* tasks.c - see tasks.h. */
#include "tasks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4 << 20 };

static myth_status open_file(FILE **out, const char *path, myth_error *err)
{
    *out = fopen(path, "rb");
    if (*out)
        return MYTH_OK;
    return errno == ENOENT || errno == ENOTDIR ? myth_fail(err, MYTH_ENOTFOUND, "%s: no such file", path)
                                               : myth_fail(err, MYTH_EIO, "%s: cannot open: %s", path, strerror(errno));
}

myth_status myth_eval_json(json_t **out, const char *path, myth_error *err)
{
    FILE *f;
    json_error_t e;
    *out = NULL;
    myth_status st = open_file(&f, path, err);
    if (st != MYTH_OK)
        return st;
    *out = json_loadf(f, JSON_ALLOW_NUL, &e);
    fclose(f);
    return *out ? MYTH_OK : myth_fail(err, MYTH_EFORMAT, "%s:%d: %.120s", path, e.line, e.text);
}

/* Reads the lines of a file, or every `every`-th of them, into an array; blank lines do not count. */
static myth_status read_lines(json_t **out, const char *path, uint32_t every, myth_error *err)
{
    FILE *f;
    char *line = NULL;
    size_t cap = 0;
    uint32_t n_row = 0, line_no = 0;
    *out = NULL;
    myth_status st = open_file(&f, path, err);
    if (st != MYTH_OK)
        return st;
    json_t *rows = json_array();
    for (ssize_t n; st == MYTH_OK && (n = getline(&line, &cap, f)) >= 0;) {
        json_error_t e;
        line_no++;
        if (n > LINE_MAX_BYTES)
            st = myth_fail(err, MYTH_ELIMIT, "%s:%u: longer than %d bytes", path, line_no, LINE_MAX_BYTES);
        if (st != MYTH_OK || strspn(line, " \t\r\n") == (size_t)n || (every > 1 && n_row++ % every != 0))
            continue;
        json_t *row = json_loadb(line, (size_t)n, JSON_ALLOW_NUL, &e);
        if (!row)
            st = myth_fail(err, MYTH_EFORMAT, "%s:%u: %.120s", path, line_no, e.text);
        else if (!json_is_object(row))
            st = myth_fail(err, MYTH_EFORMAT, "%s:%u: not an object", path, line_no);
        else if (json_object_set_new(row, "", json_integer(line_no)) != 0 || json_array_append(rows, row) != 0)
            st = myth_fail(err, MYTH_ENOMEM, "%s:%u: no memory", path, line_no);
        json_decref(row);
    }
    free(line);
    if (st == MYTH_OK && ferror(f))
        st = myth_fail(err, MYTH_EIO, "%s: cannot be read", path);
    if (st == MYTH_OK && json_array_size(rows) == 0)
        st = myth_fail(err, MYTH_EFORMAT, "%s: no rows", path);
    fclose(f);
    if (st != MYTH_OK) {
        json_decref(rows);
        return st;
    }
    *out = rows;
    return MYTH_OK;
}

static myth_status wrong(const char *path, const json_t *row, myth_error *err, const char *what)
{
    return myth_fail(err, MYTH_EFORMAT, "%s:%d: %s", path, (int)json_integer_value(json_object_get(row, "")), what);
}

static const char *text_of(const json_t *row, const char *key, const char *or_key)
{
    const json_t *v = json_object_get(row, key);
    if (!v && or_key)
        v = json_object_get(row, or_key);
    return json_string_value(v);
}

/* ---- questions ---- */

static const json_t *gold_of(const json_t *row)
{
    const json_t *v = json_object_get(row, "expect");
    return v ? v : json_object_get(row, "gold");
}

static myth_status take_gold(myth_task *t, const char *path, const json_t *row, myth_error *err)
{
    size_t i;
    json_t *g;
    json_array_foreach(gold_of(row), i, g)
    {
        myth_gold gold = {text_of(g, "path", "file"), text_of(g, "symbol", NULL)};
        bool is_new = true;
        if (!gold.path)
            return wrong(path, row, err, "an expected place without a path");
        for (uint32_t k = 0; k < t->n_gold; k++)
            is_new = is_new && strcmp(t->gold[k].path, gold.path) != 0;
        if (is_new)
            t->gold[t->n_gold++] = gold;
    }
    return MYTH_OK;
}

static myth_status take_task(myth_task *t, const char *path, const json_t *row, myth_error *err)
{
    size_t i;
    json_t *tag;
    t->id = text_of(row, "id", NULL);
    t->text = text_of(row, "text", "query");
    t->repo = text_of(row, "repo", NULL);
    t->commit = text_of(row, "base_commit", NULL);
    if (!t->id || !t->text || !t->text[0])
        return wrong(path, row, err, "expected an id and a text or query");
    if (json_array_size(gold_of(row)) == 0 || json_array_size(gold_of(row)) > MYTH_TASK_GOLD)
        return wrong(path, row, err, "expected between 1 and 256 places that would be right");
    if (text_of(row, "kind", NULL))
        t->tag[t->n_tag++] = text_of(row, "kind", NULL);
    json_array_foreach(json_object_get(row, "tags"), i, tag)
    {
        if (!json_is_string(tag) || t->n_tag == MYTH_TASK_TAGS)
            return wrong(path, row, err, "more tags than three, or one that is not a text");
        t->tag[t->n_tag++] = json_string_value(tag);
    }
    return take_gold(t, path, row, err);
}

static myth_status alloc_tasks(myth_tasks *out, myth_mem *mem, size_t n_task, size_t n_gold, myth_error *err)
{
    out->mem = mem;
    out->task = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", n_task, sizeof(*out->task));
    out->gold = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", n_gold, sizeof(*out->gold));
    return out->task && out->gold ? MYTH_OK : myth_fail(err, MYTH_ENOMEM, "eval: no memory for %zu tasks", n_task);
}

myth_status myth_tasks_read(myth_tasks *out, myth_mem *mem, const char *path, uint32_t every, myth_error *err)
{
    myth_status st = MYTH_OK;
    size_t n_gold = 0, i;
    json_t *row;
    *out = (myth_tasks){.mem = mem};
    MYTH_TRY(read_lines(&out->rows, path, every, err));
    json_array_foreach(out->rows, i, row) n_gold += json_array_size(gold_of(row));
    MYTH_TRY(alloc_tasks(out, mem, json_array_size(out->rows), n_gold + 1, err));
    n_gold = 0;
    json_array_foreach(out->rows, i, row)
    {
        out->task[i].gold = out->gold + n_gold;
        n_gold += json_array_size(gold_of(row));
        MYTH_TRY(take_task(&out->task[i], path, row, err));
        out->n_task++;
    }
    return MYTH_OK;
fail:
    myth_tasks_close(out);
    return st;
}

/* Ids of tasks and of functions become texts in the rows, so that they are lent as all others are. */
static const char *keep_number(json_t *row, const char *key, json_int_t v)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)v);
    json_object_set_new(row, key, json_string(text));
    return json_string_value(json_object_get(row, key));
}

myth_status myth_tasks_read_cosqa(myth_tasks *out, myth_mem *mem, const char *path, uint32_t every, myth_error *err)
{
    myth_status st = MYTH_OK;
    size_t n, i;
    json_t *row;
    *out = (myth_tasks){.mem = mem};
    MYTH_TRY(myth_eval_json(&out->rows, path, err));
    if ((n = json_array_size(out->rows)) == 0) {
        st = myth_fail(err, MYTH_EFORMAT, "%s: not an array of questions", path);
        goto fail;
    }
    MYTH_TRY(alloc_tasks(out, mem, n, n, err));
    json_array_foreach(out->rows, i, row)
    {
        const json_t *right = json_object_get(row, "retrieval_idx");
        if (every > 1 && i % every != 0)
            continue;
        if (!text_of(row, "doc", NULL) || !json_is_integer(right)) {
            st = myth_fail(err, MYTH_EFORMAT, "%s: question %zu: expected doc and retrieval_idx", path, i);
            goto fail;
        }
        myth_task *t = &out->task[out->n_task];
        t->gold = &out->gold[out->n_task++];
        t->text = text_of(row, "doc", NULL);
        t->gold->path = keep_number(row, "id of the function", json_integer_value(right));
        t->id = keep_number(row, "id of the task", (json_int_t)i);
        t->n_gold = 1;
    }
    return MYTH_OK;
fail:
    myth_tasks_close(out);
    return st;
}

void myth_tasks_close(myth_tasks *t)
{
    if (t->mem) {
        myth_free(t->mem, t->task);
        myth_free(t->mem, t->gold);
    }
    json_decref(t->rows);
    *t = (myth_tasks){0};
}

/* ---- planted defects ---- */

myth_status myth_plants_read(myth_plants *out, myth_mem *mem, const char *path, myth_error *err)
{
    myth_status st = MYTH_OK;
    size_t i;
    json_t *row;
    *out = (myth_plants){.mem = mem};
    MYTH_TRY(read_lines(&out->rows, path, 1, err));
    if (!(out->defect = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", json_array_size(out->rows), sizeof(*out->defect)))) {
        st = myth_fail(err, MYTH_ENOMEM, "%s: no memory for its rows", path);
        goto fail;
    }
    json_array_foreach(out->rows, i, row)
    {
        myth_planted d = {
            .path = text_of(row, "path", NULL),
            .rule = text_of(row, "rule", NULL),
            .text = text_of(row, "text", NULL),
            .line = (uint32_t)json_integer_value(json_object_get(row, "line")),
            .also = json_object_get(row, "also"),
        };
        if (!d.path || !d.rule || !d.text || d.line == 0) {
            st = wrong(path, row, err, "expected path, line, rule and text");
            goto fail;
        }
        out->defect[out->n_defect++] = d;
    }
    return MYTH_OK;
fail:
    myth_plants_close(out);
    return st;
}

void myth_plants_close(myth_plants *p)
{
    if (p->mem)
        myth_free(p->mem, p->defect);
    json_decref(p->rows);
    *p = (myth_plants){0};
}
