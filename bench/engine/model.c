/* model.c - opens a model and its engine on the device, names them for the rows, closes them, and compares memory as
 * the plan, the ledger and the driver report it. */
#include "bench/engine/bench.h"
#include "frontend/cli/environment.h"

#include <stdio.h>
#include <string.h>

void bench_name_subject(subject *s, const char *spec)
{
    uint64_t bytes[MYTH_DTYPE_N] = {0};
    const myth_weights *w = s->model.weights;
    const char *name = strncmp(spec, "random:", 7) == 0 ? spec + 7 : strrchr(spec, '/') ? strrchr(spec, '/') + 1 : spec;
    snprintf(s->model_name, sizeof(s->model_name), "%.*s",
             (int)(name == spec + 7 ? strcspn(name, ":") : strcspn(name, ",")), name);
    s->type = MYTH_F32;
    for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
        const myth_tensor *t = myth_weights_at(w, i);
        bytes[t->dtype] += t->bytes;
        if (bytes[t->dtype] > bytes[s->type])
            s->type = t->dtype;
        if (t->n_dim == 2)
            s->params += (double)t->dim[0] * (double)t->dim[1];
    }
    snprintf(s->type_name, sizeof(s->type_name), "%s", myth_dtype_get(s->type)->name);
    const myth_tensor *head = myth_weights_slot(w, "embed_tokens.weight", "token_embd.weight");
    s->weight_bytes = (double)myth_weights_bytes(w);
    s->head_bytes = head ? (double)head->bytes : 0.0;
    s->head_params = (double)s->model.config.n_vocab * s->model.config.d_model;
}

uint64_t bench_free_bytes(const bench *b)
{
    myth_device_caps caps;
    return b->ledger != MYTH_MEM_HOST && myth_device_find(&caps, b->name, &b->dev) ? caps.free_bytes : 0;
}

void bench_look_at_memory(subject *s)
{
    uint64_t is_free = bench_free_bytes(s->b);
    if (is_free < s->free_least)
        s->free_least = is_free;
}

myth_engine_opts bench_engine_opts(const bench *b, uint32_t n_seq, uint32_t n_ctx)
{
    uint32_t k = 1;
    for (uint32_t i = 0; i < b->k.n; i++)
        k = b->k.v[i] > k ? b->k.v[i] : k;
    return (myth_engine_opts){
        .device = b->name,
        .n_threads = b->dev.n_threads,
        .cpu_level = b->dev.cpu_level,
        .settings = b->dev.settings,
        .n_ctx = n_ctx,
        .n_seq = n_seq,
        .n_logit_rows = n_seq,
        .n_ubatch = b->n_ubatch,
        .top_k = k,
        .want_full_logits = true,
    };
}

myth_status bench_feed(subject *s, myth_seq *q, uint32_t n, uint8_t want_last, bool is_decode, const myth_batch *more,
                       myth_result *out, myth_error *err)
{
    const myth_batch_run run = {.seq = q, .token = s->ids, .n = n, .want_last = want_last};
    myth_batch batch = *more;
    batch.run = &run;
    batch.n_run = 1;
    batch.is_decode = is_decode;
    return myth_forward(s->e, &batch, out, err);
}

myth_status bench_open_engine(subject *s, const char *spec, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_result out;
    myth_batch batch = {.top_k = 1};
    const myth_engine_opts opts = bench_engine_opts(s->b, s->n_seq, s->n_ctx);
    MYTH_TRY(myth_model_open(&s->model, s->mem, spec,
                             &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA, .hub_dir = myth_env_hub_dir()}, err));
    MYTH_TRY(myth_engine_open(&s->e, &s->model, &opts, err));
    const uint32_t n = s->n_ctx;
    s->ids = myth_alloc_n(s->b->mem, MYTH_MEM_STAGING, "ids", n, sizeof(*s->ids));
    if (!s->ids) {
        st = myth_fail(err, MYTH_ENOMEM, "no room for %u tokens", n);
        goto fail;
    }
    for (uint32_t i = 0; i < n; i++)
        s->ids[i] = (int32_t)((i * 2654435761u >> 8) % s->model.config.n_vocab);
    MYTH_TRY(myth_seq_open(&s->seq[0], s->e, err));
    s->n_open = 1;
    MYTH_TRY(bench_feed(s, s->seq[0], PROMPT_COLD, MYTH_WANT_LOGITS, false, &batch, &out, err));
fail:
    return st;
}

void bench_close_sequences(subject *s)
{
    while (s->n_open)
        myth_seq_close(s->seq[--s->n_open]);
    myth_free(s->b->mem, s->saved);
    s->saved = NULL;
    s->saved_bytes = 0;
}

/* Closes the engine. Bytes that are still booked after it are reported as a failure. */
void bench_close_engine(subject *s)
{
    bench_close_sequences(s);
    myth_engine_close(s->e);
    myth_free(s->b->mem, s->ids);
    myth_model_close(&s->model);
    if (myth_mem_close(s->mem)) {
        fprintf(stderr, "bench_engine: bytes are booked after close\n");
        s->b->has_failed = true;
    }
}

/* ---- memory ---- */

void bench_put_memory(const subject *s)
{
    const bench *b = s->b;
    const myth_plan *plan = myth_engine_plan(s->e);
    uint64_t planned = 0, above = 0;
    for (uint32_t i = 0; i < plan->n_device; i++)
        for (int k = 0; k < MYTH_MEM_CLASS_N && plan->device[i].ledger == b->ledger; k++) {
            bool is_model = k == MYTH_MEM_WEIGHTS || k == MYTH_MEM_KV_GLOBAL || k == MYTH_MEM_KV_LOCAL;
            if (k == MYTH_MEM_WEIGHTS_MAPPED)
                continue;
            planned += plan->device[i].bytes[k];
            above += is_model ? 0 : plan->device[i].bytes[k];
        }
    bench_put_row(b, s, &(row){.test = "mem_plan", .batch = s->n_seq, .depth = s->n_ctx, .bytes = (double)planned},
                  "%llu bytes above weights, keys and values", (unsigned long long)above);
    bench_put_row(b, s,
                  &(row){
                      .test = "mem_ledger",
                      .batch = s->n_seq,
                      .depth = s->n_ctx,
                      .bytes = (double)myth_mem_total(s->mem, b->ledger).peak,
                  },
                  "peak");
    if (!s->free_before) {
        bench_put_row(b, s, &(row){.test = "mem_driver", .batch = s->n_seq, .depth = s->n_ctx},
                      "the driver does not say what is free");
        return;
    }
    double driver = (double)(s->free_before - s->free_least);
    bench_put_row(b, s,
                  &(row){
                      .test = "mem_driver",
                      .batch = s->n_seq,
                      .depth = s->n_ctx,
                      .bytes = driver,
                      .ratio = planned ? driver / (double)planned : 0,
                  },
                  driver > 0.0 ? "free before less the least free after" : "what the driver calls free did not change");
}
