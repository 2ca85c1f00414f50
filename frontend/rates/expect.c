/* expect.c - seconds from rates and work, as text and as JSON. */
#include "expect.h"

#include "engine/base/clock.h"
#include "engine/run/devices.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const double MEGABYTE = 1e6;

static void reckon(myth_expectation *e, const myth_work *w)
{
    const myth_rates *r = &e->rates;
    const double most = (double)w->answer_most, mean = e->mean < 0 ? 0 : e->mean * w->n_part;
    const double each = w->n_part ? most / w->n_part : 0;
    const double expected = mean < most ? mean : most;
    e->prefill = myth_rates_seconds(r, MYTH_PREFILL, w->depth, (double)w->prompt_tokens);
    e->turns = myth_rates_seconds(r, MYTH_PREFILL, w->end, (double)w->turn_most);
    e->from = e->to = e->prefill;
    if (!w->answer_most)
        return;
    e->from += myth_rates_seconds(r, MYTH_DECODE, w->end, expected);
    e->to += e->turns + myth_rates_seconds(r, MYTH_DECODE, w->end + each / 2, most);
}

/* The kept or named rates of a key. */
static void read_rates(myth_rates *out, const myth_rate_key *key, const char *as)
{
    char path[PATH_MAX];
    memset(out, 0, sizeof(*out));
    if (as && myth_rates_named(out, as, key, NULL) != MYTH_OK)
        memset(out, 0, sizeof(*out));
    else if (!as && myth_rates_place(path, sizeof(path), NULL) == MYTH_OK)
        myth_rates_read(out, path, key);
}

/* Why there is no figure. The flags are named, because the rates without them may be there. */
static void say_unknown(myth_expectation *e, const myth_rate_key *key, const char *as)
{
    const char *flags = key->with + strspn(key->with, " ");
    if (*flags && as)
        snprintf(e->source, sizeof(e->source), "not predicted for %.90s: %.40s has no rate of this model as %s with it",
                 flags, as, key->type);
    else if (*flags)
        snprintf(e->source, sizeof(e->source),
                 "not predicted for %.90s: no rate of this model with it was measured on this machine yet; run mythos "
                 "bench with the same flags",
                 flags);
    else if (as)
        snprintf(e->source, sizeof(e->source), "no measured rate for this model as %s on %.100s", key->type, as);
    else
        snprintf(e->source, sizeof(e->source),
                 "no measured rate for this model on this machine yet; run mythos bench or any inspection once");
}

/* Takes the rate of answers at once in place of that of one. */
static void take_at_once(myth_expectation *out, const myth_rate_key *one, uint32_t n)
{
    static myth_rates rates;
    myth_rate_key key = *one;
    if (n <= 1)
        return;
    out->n_at_once = n;
    myth_rates_at_once_key(&key, n);
    read_rates(&rates, &key, NULL);
    out->is_one_by_one = rates.n_point[MYTH_DECODE] == 0;
    if (out->is_one_by_one)
        return;
    out->rates.n_point[MYTH_DECODE] = rates.n_point[MYTH_DECODE];
    memcpy(out->rates.point[MYTH_DECODE], rates.point[MYTH_DECODE], sizeof(rates.point[MYTH_DECODE]));
}

myth_status myth_expect(myth_expectation *out, myth_cli *cli, const myth_model *model, const myth_engine_opts *opts,
                        const char *as, const myth_work *work, myth_error *err)
{
    myth_rate_key key;
    char path[PATH_MAX];
    memset(out, 0, sizeof(*out));
    myth_rates_key(&key, cli->mem, model, opts, as ? "" : NULL);
    if (as) {
        myth_status st = myth_rates_named(&out->rates, as, &key, err);
        if (st != MYTH_OK)
            return st;
    } else if (myth_rates_place(path, sizeof(path), NULL) == MYTH_OK) {
        myth_rates_read(&out->rates, path, &key);
    }
    const myth_rates *r = &out->rates;
    if (work && !as)
        take_at_once(out, &key, work->n_at_once);
    out->mean = r->n_answer >= 1 ? r->answer_tokens / r->n_answer : -1;
    out->is_known = myth_rates_are_known(r) || (!work && (r->n_point[MYTH_PREFILL] || r->n_point[MYTH_DECODE])) ||
                    (work && !work->answer_most && r->n_point[MYTH_PREFILL]);
    if (work && !work->n_part && work->n_kept) {
        out->is_known = true;
        snprintf(out->source, sizeof(out->source), "every answer is kept from an earlier run");
        return MYTH_OK;
    }
    if (out->is_known && as)
        snprintf(out->source, sizeof(out->source), "measured on %.100s", as);
    else if (out->is_known)
        snprintf(out->source, sizeof(out->source), "measured on this machine (%.160s)", key.machine);
    else
        say_unknown(out, &key, as);
    if (out->is_known && work)
        reckon(out, work);
    return MYTH_OK;
}

myth_status myth_expect_offload(myth_expectation *out, myth_cli *cli, const myth_model *model,
                                const myth_engine_opts *opts, const char *as, uint32_t n_tok, double link_gb_s,
                                myth_error *err)
{
    myth_offload_expectation *e = &out->offload;
    myth_engine_opts alone = *opts;
    myth_rate_key key;
    static myth_rates rates;
    *e = (myth_offload_expectation){.n_tok = n_tok, .link_gb_s = link_gb_s, .source = "as given"};
    if (opts->offload == MYTH_OFFLOAD_NONE || model->config.is_bidirectional)
        return MYTH_OK; /* nothing moves, or nothing is decoded */
    alone.offload = MYTH_OFFLOAD_NONE;
    alone.n_offload = 0;
    myth_rates_key(&key, cli->mem, model, &alone, as ? "" : NULL);
    read_rates(&rates, &key, as);
    e->has_rate = rates.n_point[MYTH_DECODE] > 0;
    const double step_s = e->has_rate ? myth_rates_seconds(&rates, MYTH_DECODE, n_tok, 1) : 0;
    if (link_gb_s <= 0 && !as) {
        myth_rates_link_key(&key, opts);
        read_rates(&rates, &key, NULL);
        if (rates.n_point[MYTH_DECODE])
            e->link_gb_s = MEGABYTE / 1e9 / myth_rates_seconds(&rates, MYTH_DECODE, 0, 1);
        e->source = "measured on this machine";
    }
    const double link = e->link_gb_s > 0 ? e->link_gb_s * 1e9 : 1e9;
    const myth_status st = myth_offload_expect(&e->step, model, opts, n_tok, step_s, link, err);
    e->is_offloaded = st == MYTH_OK && e->step.in_bytes > 0; /* a CPU has it all */
    return st;
}

static void note_absent(myth_cli *cli, const myth_engine_opts *opts, const char *name)
{
    myth_device_info info;
    if (!myth_devices_find(&info, name, cli->mem, opts))
        myth_term_note(cli->term, "%s is not here: the plan lacks what its driver and its kernels take for themselves",
                       name);
}

void myth_expect_limits(myth_cli *cli, const myth_engine_opts *opts, const char *as)
{
    char one[64], kind[16];
    cli->is_elsewhere |= as != NULL;
    for (const char *at = opts->device; as && *at;) {
        const size_t n = strcspn(at, ","), n_kind = strcspn(at, ":,");
        myth_mem_limits limits = {0};
        snprintf(kind, sizeof(kind), "%.*s", (int)(n_kind < 15 ? n_kind : 15), at);
        const uint64_t bytes = myth_rates_memory(as, kind) / 100 * 98; /* the margin of devices.h */
        if (bytes && n < 32) {
            snprintf(one, sizeof(one), "%.*s%s=%llu", (int)n, at, n == n_kind ? ":0" : "", (unsigned long long)bytes);
            if (myth_devices_read_limits(&limits, one, NULL, myth_size_parse, NULL) == MYTH_OK)
                for (int i = 0; i < MYTH_MEM_DEVICE_MAX; i++)
                    if (limits.bytes[i] && i != MYTH_MEM_HOST && !myth_mem_limit(cli->mem, i))
                        myth_mem_set_limit(cli->mem, i, limits.bytes[i]);
            *strchr(one, '=') = '\0';
            note_absent(cli, opts, one);
        }
        at += n + (at[n] == ',');
    }
}

/* ---- output ---- */

const char *myth_seconds_text(char dst[32], double s)
{
    const unsigned long whole = s < 1e9 ? (unsigned long)(s + 0.5) : 1000000000;
    if (s < 1)
        snprintf(dst, 32, "%.2f s", s);
    else if (s < 100)
        snprintf(dst, 32, "%.1f s", s);
    else if (s < 7200)
        snprintf(dst, 32, "%lu min %02lu s", whole / 60, whole % 60);
    else
        snprintf(dst, 32, "%lu h %02lu min", whole / 3600, whole / 60 % 60);
    return dst;
}

/* The rate at a position; 0 = unknown. */
static double rate_at(const myth_rates *r, myth_rate_kind kind, double depth)
{
    return r->n_point[kind] ? 1 / myth_rates_seconds(r, kind, depth, 1) : 0;
}

static void print_rates(FILE *f, const myth_expectation *e)
{
    const double pp = rate_at(&e->rates, MYTH_PREFILL, 0), tg = rate_at(&e->rates, MYTH_DECODE, 0);
    fputs("rates           ", f);
    if (pp > 0)
        fprintf(f, " prompts %.4g tok/s", pp);
    if (tg > 0)
        fprintf(f, "%s answers %.4g tok/s", pp > 0 ? "," : "", tg);
    fprintf(f, ", %s\n", e->source);
}

static void print_offload(FILE *f, const myth_offload_expectation *o)
{
    char in[24], out[24];
    if (!o->is_offloaded)
        return;
    fprintf(f, "offload          %s to the device", myth_size_text(in, o->step.in_bytes));
    if (o->step.out_bytes)
        fprintf(f, " and %s back", myth_size_text(out, o->step.out_bytes));
    fprintf(f, " for a token at position %u\n", o->n_tok);
    if (o->link_gb_s > 0)
        fprintf(f, "  link           %.4g GB/s, %s\n  answers        %s%.4g tok/s%s\n", o->link_gb_s, o->source,
                o->has_rate ? "" : "at most ", 1 / o->step.seconds,
                o->has_rate ? "" : ": no rate of this model without --offload is known");
    else
        fputs("  link           unknown: give --link-gb-s to plan, or run the command once\n", f);
}

static void print_offload_json(myth_json_out *j, const myth_offload_expectation *o)
{
    if (!o->is_offloaded)
        return;
    myth_jout_key(j, "offload");
    myth_jout_object(j);
    myth_jout_key_u64(j, "position", o->n_tok);
    myth_jout_key_u64(j, "in_bytes", o->step.in_bytes);
    myth_jout_key_u64(j, "out_bytes", o->step.out_bytes);
    if (o->link_gb_s > 0) {
        myth_jout_key_f64(j, "link_gb_s", o->link_gb_s);
        myth_jout_key_f64(j, "copy_seconds", o->step.copy_s);
        myth_jout_key_bool(j, "is_bound", !o->has_rate);
        myth_jout_key_f64(j, "decode_tok_s", 1 / o->step.seconds);
    }
    myth_jout_end(j);
}

void myth_expect_print_text(FILE *f, const myth_expectation *e, const myth_work *w)
{
    char from[32], to[32];
    print_offload(f, &e->offload);
    if (w && !w->n_part && w->n_kept) {
        fprintf(f, "expected         no time of the model: %s\n", e->source);
        return;
    }
    if (!e->is_known) {
        fprintf(f, "expected         unknown: %s\n", e->source);
        return;
    }
    if (!w) {
        print_rates(f, e);
        return;
    }
    if (!w->answer_most) {
        fprintf(f, "expected         %s: %llu tokens at %.4g tok/s\n  rates          %s\n",
                myth_seconds_text(from, e->prefill), (unsigned long long)w->prompt_tokens,
                rate_at(&e->rates, MYTH_PREFILL, w->depth), e->source);
        return;
    }
    fprintf(f, "expected         %s to %s\n", myth_seconds_text(from, e->from), myth_seconds_text(to, e->to));
    fprintf(f, "  prompt         %s: %llu tokens at %.4g tok/s\n", myth_seconds_text(from, e->prefill),
            (unsigned long long)w->prompt_tokens, rate_at(&e->rates, MYTH_PREFILL, w->depth));
    fprintf(f, "  answer%s        %s to %s at %.4g tok/s: ", w->n_part == 1 ? " " : "s",
            myth_seconds_text(from, e->from - e->prefill), myth_seconds_text(to, e->to - e->prefill),
            rate_at(&e->rates, MYTH_DECODE, w->end));
    if (e->mean >= 0)
        fprintf(f, "from %.0f tokens a part (mean of %.0f measured)", e->mean, e->rates.n_answer);
    else
        fputs("from none (no answer of this model was measured)", f);
    fprintf(f, " to %.0f (the limit%s)\n", w->n_part ? (double)w->answer_most / w->n_part : 0,
            w->turn_most ? ", with rounds of context" : "");
    if (e->is_one_by_one)
        fprintf(
            f,
            "  at once        %u answers, which take less: not measured yet, the seconds are of one after the other\n",
            e->n_at_once);
    fprintf(f, "  rates          %s\n", e->source);
}

void myth_expect_print_json(myth_json_out *j, const myth_expectation *e, const myth_work *w)
{
    myth_jout_object(j);
    myth_jout_key_bool(j, "known", e->is_known);
    myth_jout_key_str(j, e->is_known ? "source" : "why", e->source);
    if (e->is_known) {
        if (w)
            myth_jout_key_u64(j, "prefill_tokens", w->prompt_tokens);
        myth_jout_key_f64(j, "prefill_tok_s", rate_at(&e->rates, MYTH_PREFILL, w ? w->depth : 0));
        myth_jout_key_f64(j, "decode_tok_s", rate_at(&e->rates, MYTH_DECODE, w ? w->end : 0));
    }
    if (e->is_known && w) {
        myth_jout_key_f64(j, "prefill_seconds", e->prefill);
        myth_jout_key_f64(j, "answers_measured", e->rates.n_answer);
        if (e->mean >= 0)
            myth_jout_key_f64(j, "answer_tokens_mean", e->mean);
        myth_jout_key_u64(j, "answer_tokens_most", w->answer_most);
        myth_jout_key_f64(j, "seconds_from", e->from);
        myth_jout_key_f64(j, "seconds_to", e->to);
        if (e->n_at_once) {
            myth_jout_key_u64(j, "answers_at_once", e->n_at_once);
            myth_jout_key_bool(j, "is_one_by_one", e->is_one_by_one);
        }
    }
    print_offload_json(j, &e->offload);
    myth_jout_end(j);
}

static void keep(myth_cli *cli, const myth_rate_key *key, const myth_pace *pace)
{
    char path[PATH_MAX];
    myth_error err = {0};
    myth_status st = myth_rates_place(path, sizeof(path), &err);
    if (st == MYTH_OK)
        st = myth_rates_add(path, key, pace, &err);
    if (st != MYTH_OK && cli->global->verbose)
        myth_term_note(cli->term, "the rates of this run are not kept: %s", err.msg);
}

void myth_expect_keep_at_once(myth_cli *cli, const myth_model *model, const myth_engine_opts *opts,
                              const myth_engine *engine, uint32_t n, double n_tok, double seconds)
{
    const myth_pace pace = {.n_tok[MYTH_DECODE][0] = n_tok, .seconds[MYTH_DECODE][0] = seconds};
    myth_rate_key key;
    if (n <= 1 || n_tok < MYTH_RATES_FEW)
        return;
    myth_rates_key(&key, cli->mem, model, opts, myth_engine_device(engine));
    myth_rates_at_once_key(&key, n);
    keep(cli, &key, &pace);
}

void myth_expect_keep(myth_cli *cli, const myth_model *model, const myth_engine_opts *opts, const myth_engine *engine,
                      const myth_pace *pace)
{
    const myth_offload_counts moved = myth_engine_offload_counts(engine);
    myth_rate_key key;
    double n_tok = 0;
    for (int k = 0; k < MYTH_RATE_N; k++)
        for (int b = 0; b < MYTH_RATE_POINTS; b++)
            n_tok += pace->n_tok[k][b];
    myth_rates_key(&key, cli->mem, model, opts, myth_engine_device(engine));
    if (n_tok >= MYTH_RATES_FEW)
        keep(cli, &key, pace);
    if (moved.in_s > 0 && (double)moved.in_bytes >= MYTH_RATES_FEW * MEGABYTE) {
        const myth_pace link = {
            .n_tok[MYTH_DECODE][0] = (double)moved.in_bytes / MEGABYTE,
            .seconds[MYTH_DECODE][0] = moved.in_s,
        };
        myth_rates_link_key(&key, opts);
        keep(cli, &key, &link);
    }
}
