/* bench_engine.c - the engine alone on one device, as CSV: decode, prefill, top-k, first token and memory, beside the
 * limits of the machine.
 *
 *   bench_engine [options] MODEL ...            a MODEL is random:FAMILY-SIZE:TYPE, a .gguf or a directory
 *   bench_engine --cold MODEL                   a fresh process: from its start to the first token
 *   bench_engine --write FILE MODEL             the model as GGUF, to be given to another engine
 *
 * Tests      decode       steps chosen on the device (run.h), the host reads ids behind
 *            decode_peer  one forward a token, a full row of logits read back each time, nothing chosen: llama-bench's
 *                         tg
 *            prefill      a prompt into an empty sequence, the last row's best token: llama-bench's pp
 *            topk         one row of logits reduced to its k best; note: microseconds beyond the product alone
 *            cold_start   model, engine and a prompt of four tokens; of a random: model the weights are made meanwhile
 *            mem_*        bytes by plan, by ledger, by what the driver said was free before and after; ratio: driver
 *                         over plan
 *            limit_*      read and copy bandwidth, tensor peaks, latencies: bytes and flops a second, or note:
 *                         microseconds
 * Lists      --depth, --batch, --prompt, --topk: numbers behind commas, or "none"
 * Depth      tokens held before the first step. Every sequence of a batch has keys and values of its own: one is fed,
 *            saved, and restored into the others
 * Time       one warm-up, then --repeat runs, the median; an engine is opened for as many tests as fit beside each
 *            other
 * Bytes      and flops are those of one token: weights once a step (once a micro-batch for prompts), keys and values of
 *            the positions seen; limit_tok_s is the smaller of bandwidth / bytes and peak / flops, both measured in
 *            this run
 * Budget     --budget SECONDS: what would begin later is a row that says so. What the device has no room for is a row
 *            "does not fit"
 * Exit       1 when a test failed, 2 usage, 75 when the device was lost */
#include "bench/engine/bench.h"
#include "engine/make/convert.h"
#include "engine/run/devices.h"
#include "frontend/cli/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the other two uses ---- */

static myth_status run_cold(bench *b, const char *spec, myth_error *err)
{
    subject s = {.b = b, .n_seq = 1, .n_ctx = 512};
    myth_status st = myth_mem_open(&s.mem, 0, err);
    if (st != MYTH_OK)
        return st;
    st = bench_open_engine(&s, spec, err);
    double seconds = myth_seconds() - b->begin;
    if (st == MYTH_OK) {
        myth_device_caps caps;
        bench_name_subject(&s, spec);
        if (myth_device_find(&caps, b->name, &b->dev))
            memcpy(b->description, caps.description, sizeof(b->description));
        if (b->has_limits)
            st = bench_measure_limits(b, err);
        if (st == MYTH_OK)
            bench_put_cold(&s, spec, seconds, true);
    }
    bench_close_engine(&s);
    return st;
}

static myth_status write_model(bench *b, const char *spec, myth_error *err)
{
    subject s = {.b = b};
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_model_open(&s.model, b->mem, spec,
                             &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA, .hub_dir = myth_env_hub_dir()}, err));
    bench_name_subject(&s, spec);
    st = myth_convert(&s.model, &(myth_convert_opts){.path = b->write_path, .type = s.type}, err);
fail:
    myth_model_close(&s.model);
    return st;
}

/* ---- arguments ---- */

static bool read_list(list *out, const char *text)
{
    out->n = 0;
    if (strcmp(text, "none") == 0)
        return true;
    while (*text) {
        char *end;
        unsigned long v = strtoul(text, &end, 10);
        if (end == text || v > 1u << 20 || out->n == LIST_MAX || (*end && *end != ','))
            return false;
        out->v[out->n++] = (uint32_t)v;
        text = *end ? end + 1 : end;
    }
    return true;
}

static bool read_u32(uint32_t *out, const char *text, uint32_t lo, uint32_t hi)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    *out = (uint32_t)v;
    return end != text && !*end && v >= lo && v <= hi;
}

static bool read_option(bench *b, const char *name, const char *value)
{
    if (strcmp(name, "--device") == 0)
        b->device = value;
    else if (strcmp(name, "--write") == 0)
        b->write_path = value;
    else if (strcmp(name, "--depth") == 0)
        return read_list(&b->depth, value);
    else if (strcmp(name, "--batch") == 0)
        return read_list(&b->batch, value);
    else if (strcmp(name, "--prompt") == 0)
        return read_list(&b->prompt, value);
    else if (strcmp(name, "--topk") == 0)
        return read_list(&b->k, value);
    else if (strcmp(name, "--gen") == 0)
        return read_u32(&b->n_gen, value, 1, 4096);
    else if (strcmp(name, "--repeat") == 0)
        return read_u32(&b->n_repeat, value, 1, REPEAT_MAX);
    else if (strcmp(name, "--ubatch") == 0)
        return read_u32(&b->n_ubatch, value, 1, 1u << 16);
    else if (strcmp(name, "--budget") == 0)
        b->budget = strtod(value, NULL);
    else
        return false;
    return true;
}

static bool are_lists_right(const bench *b)
{
    for (uint32_t i = 0; i < b->batch.n; i++)
        if (b->batch.v[i] < 1 || b->batch.v[i] > MYTH_RUN_SEQ_MAX)
            return false;
    for (uint32_t i = 0; i < b->prompt.n; i++)
        if (b->prompt.v[i] < 1)
            return false;
    for (uint32_t i = 0; i < b->k.n; i++)
        if (b->k.v[i] < 1 || b->k.v[i] > MYTH_TOPK_MAX)
            return false;
    return b->depth.n * (b->batch.n + 1) + b->prompt.n + b->k.n <= CELL_MAX;
}

int main(int argc, char **argv)
{
    bench b = {
        .depth = {{0, 8192, 32768}, 3},
        .batch = {{1, 8, 32}, 3},
        .prompt = {{512, 8192}, 2},
        .k = {{1, 40, 1024}, 3},
        .n_gen = 64,
        .n_repeat = 3,
        .has_header = true,
        .has_limits = true,
        .begin = myth_seconds(),
    };
    myth_error err = {0};
    myth_status st = MYTH_OK;
    int at = 1;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        if (strcmp(argv[at], "--cold") == 0)
            b.is_cold = true;
        else if (strcmp(argv[at], "--quick") == 0)
            b.is_quick = true;
        else if (strcmp(argv[at], "--no-header") == 0)
            b.has_header = false;
        else if (strcmp(argv[at], "--no-limits") == 0)
            b.has_limits = false;
        else if (at + 1 < argc && read_option(&b, argv[at], argv[at + 1]))
            at++;
        else
            break;
    }
    bool is_single = b.is_cold || b.write_path;
    if ((at < argc && argv[at][0] == '-') || (is_single && argc - at != 1) || !are_lists_right(&b)) {
        fprintf(stderr,
                "usage: bench_engine [--device D] [--depth N,...] [--batch N,...] [--prompt N,...] [--topk N,...] "
                "[--gen N] [--repeat N]\n"
                "                    [--ubatch N] [--budget SECONDS] [--quick] [--no-header] [--no-limits] MODEL ...\n"
                "       bench_engine [--device D] --cold MODEL\n"
                "       bench_engine --write FILE MODEL\n");
        return 2;
    }
    if ((st = myth_mem_open(&b.mem, 0, &err)) != MYTH_OK)
        goto done;
    if (b.write_path) {
        st = write_model(&b, argv[at], &err);
        goto done;
    }
    myth_device_caps caps;
    b.dev.name = b.name;
    if ((st = myth_devices_choose(b.name, b.device, &err)) != MYTH_OK ||
        (st = myth_env_device(&b.dev.cpu_level, &b.dev.n_threads, &b.dev.settings, &err)) != MYTH_OK)
        goto done;
    if (!b.is_cold && !myth_device_find(&caps, b.name, &b.dev)) {
        st = myth_fail(&err, MYTH_EDEVICE, "%s: this build or this machine has no such device", b.name);
        goto done;
    }
    b.ledger = myth_device_ledger(b.name);
    if (!b.is_cold)
        memcpy(b.description, caps.description, sizeof(b.description));
    if (b.has_header)
        printf("device,description,model,type,test,batch,depth,tok_s,bytes,flops,limit_tok_s,ratio,note\n");
    if (b.is_cold) {
        st = run_cold(&b, argv[at], &err);
        goto done;
    }
    if (b.has_limits && (st = bench_measure_limits(&b, &err)) != MYTH_OK)
        goto done;
    for (; at < argc && st != MYTH_ELOST; at++)
        st = bench_run_model(&b, argv[at]);
    st = st == MYTH_ELOST ? st : MYTH_OK; /* others are in the rows */
done:
    if (st != MYTH_OK)
        fprintf(stderr, "bench_engine: %s: %s\n", myth_status_name(st), err.msg);
    if (b.mem && myth_mem_close(b.mem))
        b.has_failed = true;
    return st == MYTH_ELOST ? 75 : st != MYTH_OK || b.has_failed ? 1 : 0;
}
