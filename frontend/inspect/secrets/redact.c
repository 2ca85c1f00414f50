/* redact.c - remembers the secrets of files, and passes on texts with their secrets replaced. */
#include "redact.h"
#include "engine/base/table.h"

#include <string.h>

/* GRAM: bytes of the pieces in which the filter remembers a long secret. SHORT_MIN: the shortest secret that is
 * remembered. N_PROBE: bits of the filter for each piece. LOOK_MAX: at most so many secrets are compared with a run. */
enum { GRAM = 8, SHORT_MIN = 6, N_PROBE = 4, LOOK_MAX = 1024 };

/* ---- the filter ---- */

static uint64_t hash_bytes(const char *p, size_t n)
{
    uint64_t h = myth_fnv1a(MYTH_FNV1A ^ n, p, n);
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static void remember(myth_redactor *r, const char *p, size_t n)
{
    uint64_t h = hash_bytes(p, n);
    for (int i = 0; i < N_PROBE; i++, h >>= 16)
        r->seen[(h & 0xffff) / 32] |= 1u << (h & 31);
    r->has_seen = true;
}

static bool is_seen(const myth_redactor *r, const char *p, size_t n)
{
    uint64_t h = hash_bytes(p, n);
    for (int i = 0; i < N_PROBE; i++, h >>= 16)
        if (!(r->seen[(h & 0xffff) / 32] >> (h & 31) & 1))
            return false;
    return true;
}

/* ---- files ---- */

void myth_redactor_start(myth_redactor *r, myth_mem *mem)
{
    memset(r, 0, sizeof(*r));
    r->mem = mem;
}

static bool has_path(const void *of, uint32_t idx, const void *path)
{
    return !strcmp(((const myth_redactor_file *)of)[idx].src->path, path);
}

/* The slot of the first file with that path, or the free one where it would be. */
static uint32_t *slot_of(const myth_redactor *r, const char *path)
{
    return myth_table_find(r->slot, r->n_slot, myth_hash_bytes(path, strlen(path)), has_path, r->file, path);
}

/* Lets the newest file be found by its path; the first of several keeps it. */
static void index_file(myth_redactor *r, uint32_t idx)
{
    uint32_t *slot = slot_of(r, r->file[idx].src->path);
    *slot = *slot ? *slot : idx + 1;
}

const myth_redactor_file *myth_redactor_find_path(const myth_redactor *r, const char *path)
{
    const uint32_t at = r && r->n_slot ? *slot_of(r, path) : 0;
    return at ? &r->file[at - 1] : NULL;
}

const myth_redactor_file *myth_redactor_find(const myth_redactor *r, const myth_source *src)
{
    const myth_redactor_file *first = myth_redactor_find_path(r, src->path);
    for (uint32_t i = first ? (uint32_t)(first - r->file) : UINT32_MAX; i < (r ? r->n_file : 0); i++)
        if (r->file[i].src == src) /* else another source with the same path */
            return &r->file[i];
    return NULL;
}

myth_status myth_redactor_reserve(myth_redactor *r, uint32_t n, myth_error *err)
{
    if (r->n_file + n <= r->cap_file)
        return MYTH_OK;
    const uint32_t cap = r->n_file + n, n_slot = myth_table_slots(cap);
    myth_redactor_file *to = myth_realloc(r->mem, MYTH_MEM_STAGING, "secrets", r->file, cap * sizeof(*to));
    if (!to)
        return myth_fail(err, MYTH_ENOMEM, "secrets: no room for %zu bytes", cap * sizeof(*to));
    r->file = to;
    if (n_slot > r->n_slot) {
        uint32_t *slot = myth_alloc_n(r->mem, MYTH_MEM_STAGING, "secrets", n_slot, sizeof(*slot));
        if (!slot)
            return myth_fail(err, MYTH_ENOMEM, "secrets: no room for %zu bytes", n_slot * sizeof(*slot));
        memset(slot, 0, n_slot * sizeof(*slot));
        myth_free(r->mem, r->slot);
        r->slot = slot;
        r->n_slot = n_slot;
        for (uint32_t i = 0; i < r->n_file; i++)
            index_file(r, i);
    }
    r->cap_file = cap;
    return MYTH_OK;
}

myth_status myth_redactor_add_reserved(myth_redactor *r, myth_mem *mem, const myth_source *src, myth_error *err)
{
    const char *text = (const char *)src->bytes;
    myth_secret s;
    uint32_t n = 0;
    if (myth_redactor_find(r, src))
        return MYTH_OK;
    if (r->n_file == r->cap_file)
        return myth_fail(err, MYTH_EFULL, "%s: no room for its secrets", src->path);
    for (size_t at = 0; myth_secret_next(&s, text, src->len, at); at = s.off + s.len)
        n++;
    myth_secret *list = n ? myth_alloc_n(mem, MYTH_MEM_STAGING, "secrets", n, sizeof(*list)) : NULL;
    if (n && !list)
        return myth_fail(err, MYTH_ENOMEM, "%s: %u secrets: no room for %zu bytes", src->path, n, n * sizeof(*list));
    size_t at = 0;
    for (uint32_t i = 0; i < n && myth_secret_next(&s, text, src->len, at); i++, at = s.off + s.len) {
        list[i] = s;
        /* a short secret is recognised only as a whole, a longer one also by a part of it */
        if (s.len >= SHORT_MIN && s.len < MYTH_REDACT_RUN)
            remember(r, text + s.off, s.len);
        for (uint32_t k = 0; s.len >= MYTH_REDACT_RUN && k + GRAM <= s.len; k++)
            remember(r, text + s.off + k, GRAM);
    }
    r->file[r->n_file++] = (myth_redactor_file){.src = src, .secret = list, .n_secret = n, .mem = mem};
    index_file(r, r->n_file - 1);
    return MYTH_OK;
}

myth_status myth_redactor_add(myth_redactor *r, const myth_source *src, myth_error *err)
{
    uint32_t n = r->n_file == r->cap_file ? 1 + r->n_file : 1;
    myth_status st = myth_redactor_reserve(r, n, err);
    return st == MYTH_OK ? myth_redactor_add_reserved(r, r->mem, src, err) : st;
}

void myth_redactor_close(myth_redactor *r)
{
    for (uint32_t i = 0; i < r->n_file; i++)
        myth_free(r->file[i].mem, r->file[i].secret);
    if (r->mem) {
        myth_free(r->mem, r->file);
        myth_free(r->mem, r->slot);
    }
    memset(r, 0, sizeof(*r));
}

uint32_t myth_redactor_count(const myth_redactor *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_file; i++)
        n += r->file[i].n_secret;
    return n;
}

/* ---- texts ---- */

static void put_placeholder(myth_put put, void *user, myth_secret_kind kind, const char *secret, size_t len)
{
    char name[MYTH_PLACEHOLDER_CAP];
    put(user, name, myth_secret_placeholder(name, kind, secret, len), true);
}

/* Whether a short run is, as a whole, a secret of one of the files. The filter alone says yes too often, so the run is
 * compared with the secrets. After LOOK_MAX of them the filter is believed: this bounds the time, and hiding too much
 * does less harm than showing a secret. */
static bool is_secret(const myth_redactor *r, const char *run, size_t len)
{
    uint32_t looked = 0;
    if (!is_seen(r, run, len))
        return false;
    for (uint32_t i = 0; i < r->n_file; i++)
        for (uint32_t k = 0; k < r->file[i].n_secret; k++) {
            const myth_secret *s = &r->file[i].secret[k];
            if (looked++ == LOOK_MAX || (s->len == len && !memcmp(r->file[i].src->bytes + s->off, run, len)))
                return true;
        }
    return false;
}

/* Finds the next run of bytes, from `from` on, that is part of a secret of the files. Bytes all of whose pieces of GRAM
 * bytes are in the filter are believed to be part of one from MYTH_REDACT_RUN bytes on. */
static bool next_known(myth_secret *out, const myth_redactor *r, const char *text, size_t len, size_t from)
{
    if (!r || !r->has_seen)
        return false;
    for (size_t i = from; i < len; i++) {
        size_t n = 0;
        while (i + n + GRAM <= len && is_seen(r, text + i + n, GRAM))
            n++;
        n = n ? n + GRAM - 1 : 0;
        /* no long run begins here: a short secret may, and the longest that fits is taken */
        for (size_t m = MYTH_REDACT_RUN - 1; n < MYTH_REDACT_RUN && m >= SHORT_MIN; m--)
            if (i + m <= len && is_secret(r, text + i, m)) {
                n = m;
                break;
            }
        if (n >= MYTH_REDACT_RUN || (n >= SHORT_MIN && is_secret(r, text + i, n))) {
            *out = (myth_secret){.off = (uint32_t)i, .len = (uint32_t)n, .kind = MYTH_SECRET_SECRET};
            return true;
        }
    }
    return false;
}

/* Replaces the run by the placeholder of the whole secret that it is a piece of, so that a secret has the same
 * placeholder wherever a piece of it appears. When that secret is not found, the run gets a placeholder of its own. */
static void put_known(const myth_redactor *r, const char *run, size_t len, myth_put put, void *user)
{
    uint32_t looked = 0;
    for (uint32_t i = 0; i < r->n_file; i++)
        for (uint32_t k = 0; k < r->file[i].n_secret && looked++ < LOOK_MAX; k++) {
            const myth_secret *s = &r->file[i].secret[k];
            const char *text = (const char *)r->file[i].src->bytes + s->off;
            for (uint32_t at = 0; at + len <= s->len; at++)
                if (!memcmp(text + at, run, len)) {
                    put_placeholder(put, user, s->kind, text, s->len);
                    return;
                }
        }
    put_placeholder(put, user, MYTH_SECRET_SECRET, run, len);
}

/* Passes on the text between two secrets of a file. The detectors found nothing in it, but a secret that is known from
 * another place may be repeated there without the name by which they would find it. */
static void put_between(const myth_redactor *r, const char *text, size_t len, myth_put put, void *user)
{
    size_t at = 0;
    myth_secret k;
    for (; next_known(&k, r, text, len, at); at = k.off + k.len) {
        if (k.off > at)
            put(user, text + at, k.off - at, false);
        put_known(r, text + k.off, k.len, put, user);
    }
    if (len > at)
        put(user, text + at, len - at, false);
}

void myth_redact_text(const myth_redactor *r, const char *text, size_t len, myth_put put, void *user)
{
    size_t at = 0;
    myth_secret d = {0}, k = {0}; /* the next secret that the detectors find; the next that is known from a file */
    bool has_d = myth_secret_next(&d, text, len, 0), has_k = next_known(&k, r, text, len, 0);
    while (has_d || has_k) {
        bool is_known = has_k && (!has_d || k.off < d.off || (k.off == d.off && k.len >= d.len));
        myth_secret s = is_known ? k : d;
        size_t end = s.off + s.len;
        /* when the two overlap, both are hidden by the placeholder of the first */
        if (has_d && d.off < end && d.off + d.len > end)
            end = d.off + d.len;
        if (has_k && k.off < end && k.off + k.len > end)
            end = k.off + k.len;
        if (s.off > at)
            put(user, text + at, s.off - at, false);
        if (is_known)
            put_known(r, text + s.off, s.len, put, user);
        else
            put_placeholder(put, user, s.kind, text + s.off, s.len);
        at = end;
        has_d = has_d && (d.off >= at || myth_secret_next(&d, text, len, at));
        has_k = has_k && (k.off >= at || next_known(&k, r, text, len, at));
    }
    if (len > at)
        put(user, text + at, len - at, false);
}

typedef struct {
    char *dst;
    size_t cap, n;
} line_sink;

static void put_to_line(void *user, const char *text, size_t n, bool is_placeholder)
{
    line_sink *s = user;
    (void)is_placeholder;
    n = n < s->cap - 1 - s->n ? n : s->cap - 1 - s->n;
    memcpy(s->dst + s->n, text, n);
    s->n += n;
}

size_t myth_redact_line(void *user, char *dst, size_t cap, const char *text, size_t n)
{
    line_sink s = {dst, cap, 0};
    (void)user;
    myth_redact_text(NULL, text, n, put_to_line, &s);
    dst[s.n] = '\0';
    return s.n;
}

void myth_redact_bytes(const myth_redactor *r, const myth_source *src, uint32_t off, uint32_t len, myth_put put,
                       void *user)
{
    const char *text = (const char *)src->bytes;
    const myth_redactor_file *file = myth_redactor_find(r, src);
    if (!file) {
        myth_redact_text(r, text + off, len, put, user);
        return;
    }
    uint32_t at = off, end = off + len, lo = 0, hi = file->n_secret;
    const myth_secret *list = file->secret;
    while (lo < hi) { /* find the first secret that ends after off; off may be inside it */
        uint32_t mid = (lo + hi) / 2;
        if (list[mid].off + list[mid].len <= off)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < file->n_secret && list[lo].off < end; lo++) {
        const myth_secret *s = &list[lo];
        if (s->off > at)
            put_between(r, text + at, s->off - at, put, user);
        put_placeholder(put, user, s->kind, text + s->off, s->len);
        at = s->off + s->len < end ? s->off + s->len : end;
    }
    if (end > at)
        put_between(r, text + at, end - at, put, user);
}
