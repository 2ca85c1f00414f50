/* plan_out.c - prints plans as text and as JSON. */
#include "plan_out.h"

#include <string.h>

static void print_classes(myth_json_out *j, const uint64_t bytes[MYTH_MEM_CLASS_N])
{
    myth_jout_key(j, "classes");
    myth_jout_object(j);
    for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
        myth_jout_key_u64(j, myth_mem_class_name((myth_mem_class)c), bytes[c]);
    myth_jout_end(j);
}

void myth_suggestion_print(char *dst, size_t cap, const myth_suggestion *s)
{
    char text[MYTH_SUGGESTION_TEXT] = "";
    size_t n = 0;
#define ADD(bit, ...)                           \
    if (s->changes & (bit) && n < sizeof(text)) \
        n += (size_t)snprintf(text + n, sizeof(text) - n, __VA_ARGS__);
    ADD(MYTH_CHANGE_DEVICE, " --device cpu")
    ADD(MYTH_CHANGE_LIMIT, " --mem-limit %lluMiB", (unsigned long long)(s->limit_bytes >> 20))
    ADD(MYTH_CHANGE_GPU_LAYERS, " -ngl %u", s->n_gpu_layers)
    ADD(MYTH_CHANGE_CPU_MOE, " --n-cpu-moe %u", s->n_cpu_moe)
    ADD(MYTH_CHANGE_HEAD, " --head host")
    ADD(MYTH_CHANGE_HOST_KV, " --n-host-kv %u", s->n_host_kv)
    ADD(MYTH_CHANGE_OFFLOAD, " --offload weights")
    ADD(MYTH_CHANGE_UBATCH, " -ub %u", s->n_ubatch)
    ADD(MYTH_CHANGE_CTX, " -c %u", s->n_ctx)
    ADD(MYTH_CHANGE_SEQ, " --parallel %u", s->n_seq)
    ADD(MYTH_CHANGE_CACHE_TYPE, " -ctk %s -ctv %s", myth_dtype_get(s->cache_type)->name,
        myth_dtype_get(s->cache_type)->name)
#undef ADD
    for (uint32_t i = 0, more = 1; i < MYTH_SPLIT_MAX && more && s->changes & MYTH_CHANGE_SPLIT && n < sizeof(text);
         i++) {
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%g", i ? "," : " -ts ", (double)s->split[i]);
        more = 0;
        for (uint32_t k = i + 1; k < MYTH_SPLIT_MAX; k++)
            more |= s->split[k] > 0.0f;
    }
    snprintf(dst, cap, "%s", text[0] ? text + 1 : text);
}

#define NOTHING_FITS "no change of flags was found that fits: take a smaller model, or weights of a smaller type"

/* Appends the suggestions that fit whole into cap bytes; false: not all do. */
static bool append_suggestions(char *dst, size_t n, size_t cap, const myth_plan *p)
{
    char change[MYTH_SUGGESTION_TEXT];
    bool is_first = true, has_all = true;
    for (uint32_t i = 0; i < p->n_suggestion; i++) {
        myth_suggestion_print(change, sizeof(change), &p->suggestion[i]);
        const char *between = is_first ? "; fits with: " : ", ";
        if (n + strlen(between) + strlen(change) >= cap) {
            has_all = false;
            continue;
        }
        n += (size_t)snprintf(dst + n, cap - n, "%s%s", between, change);
        is_first = false;
    }
    return has_all;
}

void myth_plan_refusal_print(char *dst, size_t cap, const myth_plan *p, const char *more)
{
    myth_plan_refusal(p, dst, cap);
    const size_t n = strlen(dst), n_more = strlen(more);
    if (!p->n_suggestion)
        snprintf(dst + n, cap - n, "; " NOTHING_FITS);
    else if (!append_suggestions(dst, n, cap, p)) {
        dst[n] = '\0';
        append_suggestions(dst, n, n + n_more < cap ? cap - n_more : cap, p);
        snprintf(dst + strlen(dst), cap - strlen(dst), "%s", more);
    }
}

void myth_plan_begin_json(myth_json_out *j, const myth_plan *p)
{
    myth_jout_object(j);
    myth_jout_key_u64(j, "schema", 1);
    myth_jout_key_bool(j, "fits", p->fits);
    myth_jout_key_u64(j, "total_bytes", p->total_bytes);
    print_classes(j, p->bytes);
    myth_jout_key_u64(j, "host_expert_bytes", p->expert_bytes);
    myth_jout_key(j, "devices");
    myth_jout_array(j);
    for (uint32_t i = 0; i < p->n_device; i++) {
        const myth_plan_device *d = &p->device[i];
        myth_jout_object(j);
        myth_jout_key_str(j, "device", d->name);
        myth_jout_key_u64(j, "limit", d->limit_bytes);
        myth_jout_key_u64(j, "total_bytes", d->total_bytes);
        print_classes(j, d->bytes);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    myth_jout_key(j, "suggestions");
    myth_jout_array(j);
    for (uint32_t i = 0; i < p->n_suggestion; i++) {
        char change[MYTH_SUGGESTION_TEXT];
        myth_jout_object(j);
        myth_suggestion_print(change, sizeof(change), &p->suggestion[i]);
        myth_jout_key_str(j, "change", change);
        myth_jout_key_u64(j, "total_bytes", p->suggestion[i].total_bytes);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    myth_jout_key_u64(j, "n_ctx", p->n_ctx);
    myth_jout_key_u64(j, "n_seq", p->n_seq);
    myth_jout_key_u64(j, "n_ubatch", p->n_ubatch);
    myth_jout_key_str(j, "cache_type_k", myth_dtype_get(p->type_k)->name);
    myth_jout_key_str(j, "cache_type_v", myth_dtype_get(p->type_v)->name);
}

void myth_plan_print_json(myth_json_out *j, const myth_plan *p)
{
    myth_plan_begin_json(j, p);
    myth_jout_end(j);
}

void myth_plan_print_text(FILE *f, const myth_plan *p)
{
    char size[24], limit[24];
    for (uint32_t i = 0; i < p->n_device; i++) {
        const myth_plan_device *d = &p->device[i];
        if (p->n_device > 1)
            fprintf(f, "%s%s\n", i ? "\n" : "", d->name);
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
            if (d->bytes[c])
                fprintf(f, "%-16s %12s%s\n", myth_mem_class_name((myth_mem_class)c), myth_size_text(size, d->bytes[c]),
                        c == MYTH_MEM_WEIGHTS_MAPPED ? "  (page cache, not limited)" : "");
        if (i == 0 && p->expert_bytes)
            fprintf(f, "%-16s %12s  (part of the weights; other devices read it from here)\n", "experts",
                    myth_size_text(size, p->expert_bytes));
        fprintf(f, "%-16s %12s", "total", myth_size_text(size, d->total_bytes));
        if (d->limit_bytes)
            fprintf(f, "  limit %s: %s", myth_size_text(limit, d->limit_bytes),
                    d->total_bytes <= d->limit_bytes ? "fits" : "does not fit");
        fputc('\n', f);
    }
    fprintf(f, "%u sequence%s of %u tokens, %u rows per step, cache %s/%s\n", p->n_seq, myth_s(p->n_seq), p->n_ctx,
            p->n_ubatch, myth_dtype_get(p->type_k)->name, myth_dtype_get(p->type_v)->name);
    if (!p->fits && !p->n_suggestion)
        fputs(NOTHING_FITS "\n", f);
    for (uint32_t i = 0; i < p->n_suggestion; i++) {
        char change[MYTH_SUGGESTION_TEXT];
        myth_suggestion_print(change, sizeof(change), &p->suggestion[i]);
        fprintf(f, "fits with %s: %s\n", change, myth_size_text(size, p->suggestion[i].total_bytes));
    }
}

/* ---- one of many ---- */

static uint64_t scratch_of(const myth_plan *p)
{
    return p->total_bytes - p->bytes[MYTH_MEM_WEIGHTS] - p->bytes[MYTH_MEM_KV_GLOBAL] - p->bytes[MYTH_MEM_KV_LOCAL];
}

void myth_plan_row_print_json(myth_json_out *j, const myth_plan_row *r)
{
    const myth_plan *p = r->plan;
    myth_jout_object(j);
    myth_jout_key_str(j, "model", r->model);
    myth_jout_key_str(j, "type", r->type);
    myth_jout_key_u64(j, "n_ctx", r->n_ctx);
    if (r->refused) {
        myth_jout_key_str(j, "refused", r->refused);
        myth_jout_end(j);
        return;
    }
    myth_jout_key_u64(j, "n_ubatch", p->n_ubatch);
    myth_jout_key_u64(j, "weights_bytes", p->bytes[MYTH_MEM_WEIGHTS]);
    myth_jout_key_u64(j, "kv_global_bytes", p->bytes[MYTH_MEM_KV_GLOBAL]);
    myth_jout_key_u64(j, "kv_ring_bytes", p->bytes[MYTH_MEM_KV_LOCAL]);
    myth_jout_key_u64(j, "scratch_bytes", scratch_of(p));
    myth_jout_key_u64(j, "total_bytes", p->total_bytes);
    myth_jout_key_u64(j, "ple_table_bytes", r->table_bytes);
    print_classes(j, p->bytes);
    myth_jout_end(j);
}

void myth_plan_row_print_text(FILE *f, const myth_plan_row *r)
{
    char size[6][24];
    if (!r) {
        fprintf(f, "%-20s %-5s %7s %10s %10s %10s %10s %10s %10s\n", "model", "type", "context", "weights",
                "K/V global", "K/V ring", "scratch", "total", "PLE table");
        return;
    }
    fprintf(f, "%-20s %-5s %7u", r->model, r->type, r->n_ctx);
    if (r->refused) {
        fprintf(f, "  %s\n", r->refused);
        return;
    }
    const myth_plan *p = r->plan;
    const uint64_t bytes[6] = {p->bytes[MYTH_MEM_WEIGHTS],
                               p->bytes[MYTH_MEM_KV_GLOBAL],
                               p->bytes[MYTH_MEM_KV_LOCAL],
                               scratch_of(p),
                               p->total_bytes,
                               r->table_bytes};
    for (int i = 0; i < 6; i++)
        fprintf(f, " %10s", bytes[i] ? myth_size_text(size[i], bytes[i]) : "-");
    fputc('\n', f);
}
