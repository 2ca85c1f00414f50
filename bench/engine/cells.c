/* cells.c - runs all tests of a model. It opens one engine after the other, each in a shape that serves as many of the
 * tests as possible. */
#include "bench/engine/bench.h"
#include "engine/run/devices.h"
#include "frontend/cli/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_late(const bench *b) { return b->budget > 0.0 && myth_seconds() - b->begin > b->budget; }

/* Orders tests by shape, smallest first, so that a larger batch can use the sequences of a smaller one. */
static int by_shape(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    bool x_is_long = x->kind < TEST_PREFILL, y_is_long = y->kind < TEST_PREFILL;
    if (x_is_long != y_is_long)
        return x_is_long - y_is_long;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->batch != y->batch)
        return x->batch < y->batch ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

static uint32_t list_cells(const bench *b, const myth_config *c, cell cells[CELL_MAX])
{
    uint32_t n = 0, most = c->n_ctx_train;
    uint64_t extra = (uint64_t)(b->batch.n + 1) * (b->n_repeat + 1) * b->n_gen + PROMPT_COLD;
    for (uint32_t d = 0; d < b->depth.n; d++)
        for (uint32_t i = 0; i < b->batch.n; i++) {
            uint64_t need = (b->depth.v[d] + extra + 63) / 64 * 64;
            need = need > most ? most : need;
            cell x = {.kind = TEST_DECODE, .batch = b->batch.v[i], .n_ctx = (uint32_t)need};
            x.depth = need < extra ? 0 : need - extra < b->depth.v[d] ? (uint32_t)(need - extra) : b->depth.v[d];
            cells[n++] = x;
            if (x.batch == 1) {
                x.kind = TEST_PEER;
                cells[n++] = x;
            }
        }
    for (uint32_t i = 0; i < b->prompt.n; i++) {
        uint32_t prompt = b->prompt.v[i] < most ? b->prompt.v[i] : most;
        cell x = {.kind = TEST_PREFILL, .batch = 1, .depth = prompt, .n_ctx = prompt < 64 ? 64 : prompt};
        cells[n++] = x;
        x.kind = TEST_RESTORE;
        cells[n++] = x;
    }
    for (uint32_t i = 0; i < b->k.n; i++)
        if (b->k.v[i] <= c->n_vocab)
            cells[n++] = (cell){.kind = TEST_TOPK, .batch = 1, .depth = b->k.v[i], .n_ctx = 64};
    qsort(cells, n, sizeof(*cells), by_shape);
    return n;
}

static bool is_covered(const cell *c, uint32_t n_seq, uint32_t n_ctx)
{
    return !c->is_done && c->batch <= n_seq && c->n_ctx <= n_ctx;
}

static bool is_fitting(const bench *b, const myth_model *m, uint32_t n_seq, uint32_t n_ctx, char *why, size_t cap)
{
    const myth_engine_opts opts = bench_engine_opts(b, n_seq, n_ctx);
    myth_mem_limits limits;
    myth_plan plan;
    myth_error err = {0};
    if (myth_devices_limits(&limits, m->mem, b->name, &err) != MYTH_OK ||
        myth_plan_make(&plan, m, &opts, NULL, &limits, false, &err) != MYTH_OK) {
        snprintf(why, cap, "%s", err.msg);
        return false;
    }
    char line[400];
    myth_plan_refusal(&plan, line, sizeof(line));
    snprintf(why, cap, "does not fit: %s", line);
    return plan.fits;
}

/* Chooses the shape of the engine that serves most of the tests that are left; false when none of them fits. */
static bool choose_shape(const bench *b, const myth_model *m, const cell *cells, uint32_t n, uint32_t *n_seq,
                         uint32_t *n_ctx)
{
    uint32_t most = 0;
    char why[512];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            uint32_t n_covered = 0;
            if (cells[i].is_done || cells[j].is_done)
                continue;
            for (uint32_t k = 0; k < n; k++)
                n_covered += is_covered(&cells[k], cells[i].batch, cells[j].n_ctx);
            if (n_covered > most && is_fitting(b, m, cells[i].batch, cells[j].n_ctx, why, sizeof(why))) {
                most = n_covered;
                *n_seq = cells[i].batch;
                *n_ctx = cells[j].n_ctx;
            }
        }
    return most > 0;
}

static myth_status run_cells(subject *s, cell *cells, uint32_t n, myth_error *err)
{
    bench *b = s->b;
    for (uint32_t i = 0; i < n; i++) {
        cell *c = &cells[i];
        if (!is_covered(c, s->n_seq, s->n_ctx))
            continue;
        c->is_done = true;
        if (c->kind >= TEST_PREFILL || s->depth != c->depth)
            bench_close_sequences(s);
        s->depth = c->depth;
        if (is_late(b)) {
            bench_put_cell_note(b, s, c, "not run: time budget");
            continue;
        }
        bool is_saved = false;
        for (uint32_t k = i; k < n; k++)
            is_saved |= cells[k].kind == TEST_DECODE && cells[k].depth == c->depth && cells[k].batch > 1 &&
                        cells[k].batch <= s->n_seq && cells[k].n_ctx <= s->n_ctx;
        myth_status st = bench_run_cell(s, c, is_saved, err);
        bench_look_at_memory(s);
        if (st == MYTH_OK)
            continue;
        bench_put_cell_note(b, s, c, err->msg);
        b->has_failed = true;
        bench_close_sequences(s);
        if (st == MYTH_ELOST)
            return st;
    }
    return MYTH_OK;
}

/* Opens one engine and runs its tests. */
static myth_status run_engine(bench *b, const char *spec, cell *cells, uint32_t n, uint32_t n_seq, uint32_t n_ctx,
                              bool is_first, myth_error *err)
{
    subject s = {.b = b, .n_seq = n_seq, .n_ctx = n_ctx};
    myth_status st = myth_mem_open(&s.mem, 0, err);
    if (st != MYTH_OK)
        return st;
    s.free_before = s.free_least = bench_free_bytes(b);
    double start = myth_seconds();
    st = bench_open_engine(&s, spec, err);
    double seconds = myth_seconds() - start;
    if (s.model.weights)
        bench_name_subject(&s, spec);
    bench_look_at_memory(&s);
    bench_close_sequences(&s);
    if (st == MYTH_OK) {
        b->fill_bytes = s.weight_bytes / seconds;
        if (is_first)
            bench_put_cold(&s, spec, seconds, false);
        st = run_cells(&s, cells, n, err);
        bench_put_memory(&s);
    } else {
        for (uint32_t i = 0; i < n; i++)
            if (is_covered(&cells[i], n_seq, n_ctx)) {
                cells[i].is_done = true;
                bench_put_cell_note(b, &s, &cells[i], err->msg);
            }
        b->has_failed = true;
    }
    bench_close_engine(&s);
    return st;
}

myth_status bench_run_model(bench *b, const char *spec)
{
    cell cells[CELL_MAX];
    myth_error err = {0};
    subject s = {.b = b}; /* for planning, which reads only the headers of the model's files */
    myth_status st = myth_mem_open(&s.mem, 0, &err);
    if (st == MYTH_OK)
        st = myth_model_open(&s.model, s.mem, spec,
                             &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER, .hub_dir = myth_env_hub_dir()}, &err);
    if (st != MYTH_OK) {
        snprintf(s.model_name, sizeof(s.model_name), "%.90s", spec);
        bench_put_row(b, &s, &(row){.test = "open"}, "%s", err.msg);
        b->has_failed = true;
        myth_mem_close(s.mem);
        return st;
    }
    bench_name_subject(&s, spec);
    const uint32_t n = list_cells(b, &s.model.config, cells);
    uint32_t n_seq = 0, n_ctx = 0;
    bool is_first = true;
    while (st != MYTH_ELOST && choose_shape(b, &s.model, cells, n, &n_seq, &n_ctx)) {
        double ready = b->fill_bytes > 0.0 ? myth_seconds() - b->begin + s.weight_bytes / b->fill_bytes
                                           : myth_seconds() - b->begin;
        if (b->budget > 0.0 && ready > b->budget)
            break;
        st = run_engine(b, spec, cells, n, n_seq, n_ctx, is_first, &err);
        is_first = false;
    }
    for (uint32_t i = 0; i < n && st != MYTH_ELOST; i++) {
        char why[512];
        if (cells[i].is_done)
            continue;
        bool fits = is_fitting(b, &s.model, cells[i].batch, cells[i].n_ctx, why, sizeof(why));
        bench_put_cell_note(b, &s, &cells[i], fits ? "not run: time budget" : why);
    }
    myth_model_close(&s.model);
    if (myth_mem_close(s.mem))
        b->has_failed = true;
    return st;
}
