/* devices.c - what each device says of itself, and the limits that follow. */
#include "devices.h"

#include "engine/base/text.h"
#include "host_memory.h"
#include "layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_levels(myth_device_info *info, myth_mem *mem, const myth_device_opts *opts)
{
    static const char *const level[] = {"ref", "avx2", "avx512", "amx", "neon"};
    for (size_t i = 0; i < sizeof(level) / sizeof(level[0]) && info->n_present < MYTH_LEVELS_MAX; i++) {
        myth_device_opts at_level = *opts;
        myth_device *dev;
        at_level.cpu_level = level[i];
        if (myth_device_open(&dev, mem, &at_level, NULL) != MYTH_OK)
            continue;
        myth_device_close(dev);
        snprintf(info->present[info->n_present++], sizeof(info->present[0]), "%s", level[i]);
    }
}

static myth_device_opts opts_of(const myth_engine_opts *opts)
{
    return (myth_device_opts){
        .n_threads = opts->n_threads,
        .cpu_level = opts->cpu_level,
        .settings = opts->settings,
    };
}

static myth_status make_info(myth_device_info *info, myth_device_caps *c, myth_mem *mem, myth_device_opts *dev_opts,
                             myth_error *err)
{
    if (c->ledger == MYTH_MEM_HOST) { /* threads and level are known to an open device only */
        myth_device *dev;
        dev_opts->name = "cpu";
        const myth_status st = myth_device_open(&dev, mem, dev_opts, err);
        if (st != MYTH_OK)
            return st;
        *c = *myth_device_get_caps(dev);
        myth_device_close(dev);
    }
    *info = (myth_device_info){
        .n_threads = c->n_threads,
        .is_gpu = c->is_gpu,
        .total_bytes = c->total_bytes,
        .free_bytes = c->free_bytes,
        .budget_bytes = c->budget_bytes,
    };
    memcpy(info->name, c->name, sizeof(info->name));
    memcpy(info->description, c->description, sizeof(info->description));
    memcpy(info->level, c->level, sizeof(info->level));
    memcpy(info->variants, c->variants, sizeof(info->variants));
    if (c->ledger == MYTH_MEM_HOST)
        add_levels(info, mem, dev_opts);
    return MYTH_OK;
}

myth_status myth_devices_list(myth_device_info *out, size_t cap, size_t *n, myth_mem *mem, const myth_engine_opts *opts,
                              myth_error *err)
{
    myth_device_caps caps[MYTH_DEVICES_MAX];
    myth_device_opts dev_opts = opts_of(opts);
    uint32_t n_caps = myth_device_list(caps, cap < MYTH_DEVICES_MAX ? (uint32_t)cap : MYTH_DEVICES_MAX, &dev_opts);
    for (*n = 0; *n < n_caps; ++*n) {
        const myth_status st = make_info(&out[*n], &caps[*n], mem, &dev_opts, err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

bool myth_devices_find(myth_device_info *out, const char *name, myth_mem *mem, const myth_engine_opts *opts)
{
    myth_device_caps caps;
    myth_device_opts dev_opts = opts_of(opts);
    return myth_device_find(&caps, name, &dev_opts) && make_info(out, &caps, mem, &dev_opts, NULL) == MYTH_OK;
}

const char *myth_devices_kind(uint32_t i) { return myth_device_kind_at(i); }

myth_status myth_devices_choose(char out[32], const char *name, myth_error *err)
{
    if (!name || !*name || strcmp(name, "auto") == 0)
        return myth_device_resolve(out, NULL, err);
    return snprintf(out, 32, "%s", name) < 32 ? MYTH_OK : myth_fail(err, MYTH_EARG, "device \"%.64s\": too long", name);
}

/* What a driver may take for itself, beside what is booked. */
static uint64_t margin_of(const myth_device_caps *c)
{
    static const uint64_t LEAST = 16 << 20;
    const uint64_t share = c->total_bytes / 50;
    return share < LEAST ? LEAST : share;
}

static uint64_t less_margin(const myth_device_caps *c, uint64_t all)
{
    const uint64_t margin = margin_of(c);
    return all > margin ? all - margin : 1;
}

/* 0 = nothing known. */
static uint64_t can_spare(const myth_device_caps *c)
{
    uint64_t all = c->free_bytes;
    if (c->budget_bytes && (all == 0 || c->budget_bytes < all))
        all = c->budget_bytes;
    return all == 0 ? 0 : less_margin(c, all);
}

/* Adds a device whose memory is the host's to those that have it together. */
static void share_host(myth_mem_limits *out, const myth_mem *mem, const myth_device_caps *c)
{
    const uint64_t live = myth_mem_total(mem, MYTH_MEM_HOST).live, left = myth_host_left();
    if (left > UINT64_MAX - live)
        return;
    const uint64_t both = less_margin(c, live + left);
    out->in_host |= 1u << c->ledger;
    out->host_and = out->host_and && out->host_and < both ? out->host_and : both;
}

myth_status myth_devices_limits(myth_mem_limits *out, const myth_mem *mem, const char *device, myth_error *err)
{
    char name[MYTH_PART_MAX - 1][MYTH_DEVICE_NAME_MAX];
    uint32_t n;
    *out = (myth_mem_limits){.in_host = 0};
    for (int i = 0; i < MYTH_MEM_DEVICE_MAX; i++)
        out->bytes[i] = myth_mem_limit(mem, i);
    myth_status st = myth_layout_devices(name, MYTH_PART_MAX - 1, &n, device, err);
    for (uint32_t i = 0; i < n && st == MYTH_OK; i++) {
        myth_device_caps caps;
        int ledger = myth_device_ledger(name[i]);
        if (ledger == MYTH_MEM_HOST)
            continue;
        const bool is_here = myth_device_find(&caps, name[i], &(myth_device_opts){0});
        uint64_t *limit = &out->bytes[ledger];
        if (is_here && caps.is_in_host && *limit <= caps.total_bytes)
            share_host(out, mem, &caps);
        if (*limit) {
            const uint64_t live = myth_mem_total(mem, ledger).live;
            *limit = *limit > live ? *limit - live : 1; /* 0 would be no limit */
            continue;
        }
        if (!is_here)
            return myth_fail(err, MYTH_EDEVICE, "%s: this build or this machine has no such device", name[i]);
        *limit = can_spare(&caps);
    }
    return st;
}

/* ---- limits as text ---- */

typedef bool size_parser(uint64_t *out, const char *text);

/* A limit as it is written: bytes, or what of a device's memory it is. */
typedef struct {
    uint64_t bytes; /* with is_rest: what is left over */
    double share;   /* of the memory; 0 = it is no share */
    bool is_rest;
} limit;

static bool read_limit(limit *l, const char *text, size_parser *parse_size)
{
    static const char all[] = "all-";
    const char *end;
    *l = (limit){0};
    if (parse_size(&l->bytes, text) || strcmp(text, "none") == 0)
        return true;
    if (strncmp(text, all, sizeof(all) - 1) == 0) {
        l->is_rest = true;
        return parse_size(&l->bytes, text + sizeof(all) - 1);
    }
    l->share = myth_text_number(text, &end) / 100;
    return end == text + strspn(text, "0123456789.") && strcmp(end, "%") == 0 && l->share > 0 && l->share <= 1;
}

/* Sets the limit of a device that has so many bytes; 0 = unknown. */
static myth_status set_limit(myth_mem_limits *out, int ledger, const limit *l, uint64_t has, myth_error *err)
{
    const char *name = ledger == MYTH_MEM_HOST ? "the host" : "the device";
    if (l->share == 0 && !l->is_rest) {
        out->bytes[ledger] = l->bytes;
        return MYTH_OK;
    }
    if (!has)
        return myth_fail(err, MYTH_EARG, "how much memory %s has is not known; give a size", name);
    if (l->is_rest && l->bytes >= has)
        return myth_fail(err, MYTH_EARG, "nothing is left: %s has %llu MiB", name, (unsigned long long)(has >> 20));
    out->bytes[ledger] = l->is_rest ? has - l->bytes : (uint64_t)((double)has * l->share);
    out->bytes[ledger] = out->bytes[ledger] ? out->bytes[ledger] : 1; /* 0 would be no limit */
    return MYTH_OK;
}

static uint64_t memory_of(const myth_device_caps *c)
{
    return c->ledger == MYTH_MEM_HOST ? myth_host_memory(c->total_bytes) : c->total_bytes;
}

static myth_status set_one(myth_mem_limits *out, int ledger, const char *name, const limit *l, myth_error *err)
{
    myth_device_caps caps = {0};
    const bool is_relative = l->share > 0 || l->is_rest;
    if (is_relative && !myth_device_find(&caps, ledger == MYTH_MEM_HOST ? "cpu" : name, &(myth_device_opts){0}))
        return myth_fail(err, MYTH_EDEVICE, "%s: this build or this machine has no such device", name);
    return set_limit(out, ledger, l, is_relative ? memory_of(&caps) : 0, err);
}

/* Sets a share as the limit of the host, and of those of the devices named that are there. No other device is looked
 * for, since its driver would take memory for that. Of one that has less than is to be left over, or does not say what
 * it has, nothing is wrong as long as nobody uses it: it may have nothing. */
static myth_status set_share(myth_mem_limits *out, const limit *l, const char *devices, myth_error *err)
{
    myth_status st = set_one(out, MYTH_MEM_HOST, "cpu", l, err);
    for (const char *at = devices; st == MYTH_OK && at && *at; at += strcspn(at, ","), at += *at == ',') {
        char word[MYTH_DEVICE_NAME_MAX], name[MYTH_DEVICE_NAME_MAX];
        myth_device_caps caps;
        const size_t n = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word), at);
        if (n >= sizeof word || myth_device_resolve(name, word, NULL) != MYTH_OK)
            continue; /* whoever opens it says what is wrong */
        const int ledger = myth_device_ledger(name);
        if (ledger == MYTH_MEM_HOST || !myth_device_find(&caps, name, &(myth_device_opts){0}))
            continue;
        const uint64_t has = memory_of(&caps);
        if (!has || (l->is_rest && l->bytes >= has))
            out->bytes[ledger] = 1;
        else
            st = set_limit(out, ledger, l, has, err);
    }
    return st;
}

myth_status myth_devices_read_limits(myth_mem_limits *out, const char *text, const char *devices,
                                     size_parser *parse_size, myth_error *err)
{
    limit l;
    const char *end;
    if (read_limit(&l, text, parse_size)) {
        if (l.share > 0 || l.is_rest)
            return set_share(out, &l, devices, err);
        for (int i = 0; i < MYTH_MEM_DEVICE_MAX; i++)
            out->bytes[i] = l.bytes;
        return MYTH_OK;
    }
    const double number = myth_text_number(text, &end);
    if (number > 0 && number < 1 && !*end)
        return myth_fail(err, MYTH_EARG, "%.16s is less than one byte; for a share of the memory write %.4g%%", text,
                         100 * number);
    bool is_named[MYTH_MEM_DEVICE_MAX] = {false};
    for (const char *at = text; *at;) {
        char item[64], *size;
        size_t len = strcspn(at, ",");
        if (len < sizeof item) {
            memcpy(item, at, len);
            item[len] = '\0';
        }
        if (len >= sizeof item || !(size = strchr(item, '=')) || !read_limit(&l, size + 1, parse_size))
            break;
        *size = '\0';
        int ledger = strcmp(item, "host") == 0 ? MYTH_MEM_HOST : myth_device_ledger(item);
        if (ledger < 0)
            break;
        if (is_named[ledger])
            return myth_fail(err, MYTH_EARG, "%.64s: %s is named twice; give it one size", text, item);
        is_named[ledger] = true;
        const myth_status st = set_one(out, ledger, item, &l, err);
        if (st != MYTH_OK)
            return st;
        at += len + (at[len] == ',');
        if (!*at)
            return MYTH_OK;
    }
    return myth_fail(
        err, MYTH_EARG,
        "got '%.64s', expected a size such as 512M, 2GiB, 80%%, all-2GiB or none, or device=size,device=size", text);
}
