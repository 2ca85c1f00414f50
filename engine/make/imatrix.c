/* imatrix.c - see imatrix.h. Both forms end in one table of entries that point into the file. */
#include "imatrix.h"

#include "engine/base/bytes.h"
#include "engine/base/map.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    myth_str name;
    const unsigned char *sum, *count; /* f32, anywhere; count NULL = one call */
    uint64_t n_sum, n_count;
} entry;

struct myth_imatrix {
    myth_mem *mem;
    myth_weights *gguf; /* the new form */
    myth_map map;       /* the old one  */
    entry *entry;
    uint32_t n_entry, n_chunk;
    char path[PATH_MAX];
};

static float value_at(const unsigned char *p, uint64_t i)
{
    float v;
    memcpy(&v, p + 4 * i, 4);
    return v;
}

static myth_status take_entries(myth_imatrix *im, uint64_t n, myth_error *err)
{
    im->entry = myth_alloc_n(im->mem, MYTH_MEM_STAGING, "imatrix", n, sizeof(*im->entry));
    return im->entry ? MYTH_OK
                     : myth_fail(err, MYTH_ENOMEM, "%s: no room for %llu entries", im->path, (unsigned long long)n);
}

static myth_status check_entry(const myth_imatrix *im, const entry *e, myth_error *err)
{
    for (uint64_t i = 0; i < e->n_sum + e->n_count; i++) {
        const float v = i < e->n_sum ? value_at(e->sum, i) : value_at(e->count, i - e->n_sum);
        if (!(v >= 0.0f) || !isfinite(v))
            return myth_fail(err, MYTH_EFORMAT, "%s: %.*s: value %llu is %g, expected a sum of squares or a count",
                             im->path, (int)e->name.len, e->name.text, (unsigned long long)i, (double)v);
    }
    return MYTH_OK;
}

/* ---- the new form ---- */

static bool ends_with(myth_str s, const char *tail)
{
    const size_t n = strlen(tail);
    return s.len > n && memcmp(s.text + s.len - n, tail, n) == 0;
}

static myth_status read_gguf(myth_imatrix *im, myth_error *err)
{
    static const char SUM[] = ".in_sum2", COUNT[] = ".counts";
    const myth_weights_opts opts = {.level = MYTH_WEIGHTS_DATA, .is_piece = true};
    myth_status st = MYTH_OK;
    myth_str type;
    MYTH_TRY(myth_weights_open(&im->gguf, im->mem, im->path, &opts, err));
    const myth_meta *meta = myth_weights_meta(im->gguf);
    if (myth_meta_str(&type, meta, "general.type") && !myth_str_is(type, "imatrix"))
        MYTH_TRY(myth_fail(err, MYTH_EFORMAT, "%s: general.type is %.*s, expected imatrix", im->path,
                           (int)(type.len < 40 ? type.len : 40), type.text));
    if (!myth_meta_u32(&im->n_chunk, meta, "imatrix.chunk_count"))
        im->n_chunk = 0;
    MYTH_TRY(take_entries(im, myth_weights_n_tensor(im->gguf), err));
    for (uint32_t i = 0; i < myth_weights_n_tensor(im->gguf); i++) {
        const myth_tensor *t = myth_weights_at(im->gguf, i);
        char name[128];
        if (!ends_with(t->name, SUM))
            continue;
        entry *e = &im->entry[im->n_entry++];
        e->name = (myth_str){t->name.text, t->name.len - strlen(SUM)};
        const int len = snprintf(name, sizeof(name), "%.*s%s", (int)e->name.len, e->name.text, COUNT);
        const myth_tensor *count = len > 0 && (size_t)len < sizeof(name) ? myth_weights_find(im->gguf, name) : NULL;
        if (!count || t->dtype != MYTH_F32 || count->dtype != MYTH_F32)
            MYTH_TRY(myth_fail(err, MYTH_EFORMAT, "%s: %.*s: expected f32 sums and counts", im->path, (int)e->name.len,
                               e->name.text));
        e->sum = t->data;
        e->n_sum = t->bytes / 4;
        e->count = count->data;
        e->n_count = count->bytes / 4;
        if (!e->n_sum || !e->n_count || e->n_sum % e->n_count)
            MYTH_TRY(myth_fail(err, MYTH_EFORMAT, "%s: %.*s: %llu sums for %llu counts", im->path, (int)e->name.len,
                               e->name.text, (unsigned long long)e->n_sum, (unsigned long long)e->n_count));
    }
fail:
    return st;
}

/* ---- the old form ---- */

static bool read_old_entry(myth_reader *r, entry *e)
{
    uint32_t len, calls, n;
    const unsigned char *name;
    if (!myth_reader_u32(r, &len) || len == 0 || len > 255 || !(name = myth_reader_take(r, len)))
        return false;
    if (!myth_reader_u32(r, &calls) || !myth_reader_u32(r, &n) || n == 0 || n > INT32_MAX)
        return false;
    *e = (entry){.name = {(const char *)name, len}, .sum = myth_reader_take(r, 4 * (uint64_t)n), .n_sum = n};
    return e->sum != NULL;
}

static myth_status read_old(myth_imatrix *im, myth_error *err)
{
    myth_reader r = {im->map.base, im->map.size, 0};
    uint32_t n;
    if (!myth_reader_u32(&r, &n) || n == 0 || n > myth_reader_left(&r) / 16)
        return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_MAKE_IMATRIX,
                                "%s: neither a GGUF file nor an importance matrix", im->path);
    myth_status st = take_entries(im, n, err);
    if (st != MYTH_OK)
        return st;
    for (; im->n_entry < n; im->n_entry++)
        if (!read_old_entry(&r, &im->entry[im->n_entry]))
            return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: entry %u of %u is cut off or no entry", im->path,
                             (unsigned long long)r.pos, im->n_entry + 1, n);
    if (!myth_reader_u32(&r, &im->n_chunk)) /* may be missing */
        im->n_chunk = 0;
    return MYTH_OK;
}

/* ---- open ---- */

void myth_imatrix_close(myth_imatrix *im)
{
    if (!im)
        return;
    myth_weights_close(im->gguf);
    myth_map_close(&im->map);
    myth_free(im->mem, im->entry);
    myth_free(im->mem, im);
}

myth_status myth_imatrix_open(myth_imatrix **out, myth_mem *mem, const char *path, myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = NULL;
    myth_imatrix *im = myth_alloc(mem, MYTH_MEM_STAGING, "imatrix", sizeof(*im));
    if (!im)
        return myth_fail(err, MYTH_ENOMEM, "%s: no room for %zu bytes", path, sizeof(*im));
    im->mem = mem;
    if (strlen(path) >= sizeof(im->path))
        MYTH_TRY(myth_fail(err, MYTH_EARG, "imatrix: path longer than %d bytes", PATH_MAX - 1));
    memcpy(im->path, path, strlen(path) + 1);
    MYTH_TRY(myth_map_open(&im->map, mem, path, 0, MYTH_MEM_STAGING, err));
    if (im->map.size >= 4 && memcmp(im->map.base, "GGUF", 4) == 0) {
        myth_map_close(&im->map);
        im->map = (myth_map){0};
        MYTH_TRY(read_gguf(im, err));
    } else {
        MYTH_TRY(read_old(im, err));
    }
    if (!im->n_entry)
        MYTH_TRY(myth_fail(err, MYTH_EFORMAT, "%s: no sums of a matrix", path));
    for (uint32_t i = 0; i < im->n_entry; i++)
        MYTH_TRY(check_entry(im, &im->entry[i], err));
    *out = im;
    return MYTH_OK;
fail:
    myth_imatrix_close(im);
    return st;
}

/* ---- get ---- */

uint32_t myth_imatrix_n_entry(const myth_imatrix *im) { return im->n_entry; }
uint32_t myth_imatrix_n_chunk(const myth_imatrix *im) { return im->n_chunk; }
const char *myth_imatrix_path(const myth_imatrix *im) { return im->path; }

myth_status myth_imatrix_get(const myth_imatrix *im, const char *name, uint32_t expert, uint32_t n_expert,
                             uint64_t cols, float *dst, bool *found, myth_error *err)
{
    *found = false;
    for (uint32_t i = 0; i < im->n_entry; i++) {
        const entry *e = &im->entry[i];
        if (!myth_str_is(e->name, name))
            continue;
        if (e->n_sum != cols * n_expert || (e->count && e->n_count != n_expert && e->n_count != 1))
            return myth_fail(err, MYTH_EFORMAT, "%s: %s: %llu columns, the model has %llu", im->path, name,
                             (unsigned long long)e->n_sum, (unsigned long long)(cols * n_expert));
        const float count = e->count ? value_at(e->count, e->n_count == 1 ? 0 : expert) : 1.0f;
        for (uint64_t c = 0; c < cols && count > 0.0f; c++) {
            dst[c] = value_at(e->sum, expert * cols + c) / count;
            *found = *found || dst[c] > 0.0f;
        }
        return MYTH_OK;
    }
    return MYTH_OK;
}
