/* tracked.c - see tracked.h. Numbers are big-endian:
 *
 *   "DIRC"  version u32  number of entries u32  entries  extensions  checksum of the whole
 *   entry      times, device, inode (24 bytes)  mode u32  owner, size (12 bytes)  object id  flags u16
 *              [more flags u16, in versions 3 and 4 where bit 14 of the flags is set]  name
 *   name       versions 2 and 3: bytes, then at least one NUL, up to a multiple of 8 from the start of the entry
 *              version 4: how many bytes to drop from the end of the name before, what to add, a NUL
 *   extension  four letters, size u32, bytes. Small letters say that a reader must know it: "link" names the shared
 *              part of a split index by its checksum, "sdir" says that an entry may be a folder
 *
 * The length of the ids is written nowhere in the index, so both lengths are tried: the flags hold the length of the
 * name, which fits all entries of one layout only. */
#define _GNU_SOURCE
#include "tracked.h"
#include "engine/base/array.h"
#include "engine/base/map.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    HEAD_BYTES = 12,
    STAT_BYTES = 40,
    MODE_AT = 24,
    ID_MAX = 32,
    NAME_LENGTH = 0xfff,
    HAS_MORE = 0x4000,
    SUBMODULE = 0160000
};

struct myth_tracked {
    myth_mem *mem;
    char *text; /* the names, a NUL behind each */
    size_t n_text, cap_text;
    uint32_t *at; /* where each name begins, sorted by the bytes of the names */
    size_t n, cap;
};

typedef struct {
    const unsigned char *p, *end; /* what is left, without the checksum at the end */
    uint32_t version;
    size_t n_id, before, n_before; /* bytes of an id; where the last name begins in the text, and its length */
    unsigned char shared[ID_MAX];  /* checksum of the shared part; all zero = none */
} reader;

static uint32_t number(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---- one entry ---- */

/* The number in front of a name of version 4. False: it does not end, or is longer than any name. */
static bool read_dropped(reader *r, size_t *dropped)
{
    size_t value = 0;
    for (int i = 0; i < 4 && r->p < r->end; i++) {
        const unsigned char c = *r->p++;
        value = (value << 7) + (c & 127);
        if (!(c & 128)) {
            *dropped = value;
            return true;
        }
        value++;
    }
    return false;
}

/* Reads the name of the entry at `entry` and lists it when it is a file's. */
static myth_status read_name(myth_tracked *t, reader *r, const unsigned char *entry, size_t *n_name)
{
    size_t n_kept = 0, dropped;
    if (r->version == 4) {
        n_kept = r->n_before;
        if (!read_dropped(r, &dropped) || dropped > n_kept)
            return MYTH_EFORMAT;
        n_kept -= dropped;
    }
    const unsigned char *nul = memchr(r->p, 0, (size_t)(r->end - r->p));
    if (!nul)
        return MYTH_EFORMAT;
    const size_t n_new = (size_t)(nul - r->p);
    *n_name = n_kept + n_new;
    if (t->n_text + *n_name + 1 > 2u * MYTH_TRACKED_BYTES)
        return MYTH_EFORMAT; /* few bytes that stand for more names than a work tree can have */
    if (!MYTH_ARRAY_MORE(t->mem, MYTH_MEM_OTHER, "tracked", &t->text, t->n_text, *n_name + 1, &t->cap_text))
        return MYTH_ENOMEM;
    if (n_kept)
        memcpy(t->text + t->n_text, t->text + r->before, n_kept);
    memcpy(t->text + t->n_text + n_kept, r->p, n_new + 1);
    r->before = t->n_text;
    r->n_before = *n_name;
    t->n_text += *n_name + 1;
    if (r->version == 4) {
        r->p = nul + 1;
        return MYTH_OK;
    }
    const size_t n_entry = ((size_t)(nul - entry) + 8) & ~(size_t)7;
    if (n_entry > (size_t)(r->end - entry))
        return MYTH_EFORMAT;
    for (r->p = nul; r->p < entry + n_entry; r->p++)
        if (*r->p)
            return MYTH_EFORMAT;
    return MYTH_OK;
}

static myth_status read_entry(myth_tracked *t, reader *r)
{
    const unsigned char *entry = r->p;
    size_t n_name;
    if ((size_t)(r->end - r->p) < STAT_BYTES + r->n_id + 2)
        return MYTH_EFORMAT;
    const uint32_t mode = number(entry + MODE_AT);
    r->p += STAT_BYTES + r->n_id;
    const unsigned flags = (unsigned)r->p[0] << 8 | r->p[1];
    r->p += 2;
    if (flags & HAS_MORE) {
        if (r->version < 3 || r->end - r->p < 2)
            return MYTH_EFORMAT;
        r->p += 2;
    }
    const myth_status st = read_name(t, r, entry, &n_name);
    if (st != MYTH_OK)
        return st;
    if ((flags & NAME_LENGTH) != (n_name < NAME_LENGTH ? n_name : NAME_LENGTH))
        return MYTH_EFORMAT;
    /* In the second part of a split index, an entry without a name stands for one of the shared part. */
    if (n_name == 0 || (!S_ISREG(mode) && !S_ISLNK(mode) && mode != SUBMODULE))
        return MYTH_OK;
    if (!MYTH_ARRAY_ROOM(t->mem, MYTH_MEM_OTHER, "tracked", &t->at, t->n, &t->cap))
        return MYTH_ENOMEM;
    t->at[t->n++] = (uint32_t)r->before;
    return MYTH_OK;
}

/* ---- one file ---- */

static myth_status read_extensions(reader *r)
{
    while (r->p < r->end) {
        if (r->end - r->p < 8)
            return MYTH_EFORMAT;
        const unsigned char *name = r->p, *data = r->p + 8;
        const uint32_t n = number(r->p + 4);
        if (n > (size_t)(r->end - data))
            return MYTH_EFORMAT;
        if (memcmp(name, "link", 4) == 0) {
            if (n < r->n_id)
                return MYTH_EFORMAT;
            memcpy(r->shared, data, r->n_id);
        } else if ((name[0] < 'A' || name[0] > 'Z') && memcmp(name, "sdir", 4) != 0) {
            return MYTH_EFORMAT;
        }
        r->p = data + n;
    }
    return MYTH_OK;
}

/* Adds the files of an index whose ids have n_id bytes; after a failure t has what it had before. */
static myth_status add_names(myth_tracked *t, reader *r, const unsigned char *data, size_t n, size_t n_id)
{
    const size_t n_before = t->n, n_text = t->n_text;
    *r = (reader){.n_id = n_id};
    if (n < HEAD_BYTES + n_id || memcmp(data, "DIRC", 4) != 0)
        return MYTH_EFORMAT;
    r->version = number(data + 4);
    if (r->version < 2 || r->version > 4)
        return MYTH_EFORMAT;
    r->p = data + HEAD_BYTES;
    r->end = data + n - n_id;
    myth_status st = MYTH_OK;
    for (uint32_t i = number(data + 8); i > 0 && st == MYTH_OK; i--)
        st = read_entry(t, r);
    if (st == MYTH_OK)
        st = read_extensions(r);
    if (st != MYTH_OK) {
        t->n = n_before;
        t->n_text = n_text;
    }
    return st;
}

static myth_status add_file(myth_tracked *t, reader *r, const char *path, myth_error *err)
{
    unsigned char *data = NULL;
    size_t n = 0;
    myth_status st = myth_file_read(&data, &n, t->mem, path, MYTH_TRACKED_BYTES, err);
    if (st != MYTH_OK)
        return st;
    st = add_names(t, r, data, n, 20);
    if (st == MYTH_EFORMAT)
        st = add_names(t, r, data, n, 32);
    myth_free(t->mem, data);
    return st == MYTH_EFORMAT ? myth_fail(err, st, "%.200s: no index that can be read", path)
         : st != MYTH_OK      ? myth_fail(err, st, "%.200s: no room for its names", path)
                              : MYTH_OK;
}

static int compare_names(const void *a, const void *b, void *text)
{
    return strcmp((char *)text + *(const uint32_t *)a, (char *)text + *(const uint32_t *)b);
}

/* git keeps names in this order already, but those of a split index come from two files. */
static void sort_names(myth_tracked *t)
{
    for (size_t i = 1; i < t->n; i++)
        if (compare_names(&t->at[i - 1], &t->at[i], t->text) > 0) {
            qsort_r(t->at, t->n, sizeof(t->at[0]), compare_names, t->text);
            return;
        }
}

myth_status myth_tracked_open(myth_tracked **out, myth_mem *mem, const char *git_dir, myth_error *err)
{
    static const unsigned char none[ID_MAX];
    char path[PATH_MAX], id[2 * ID_MAX + 1];
    reader r, shared;
    myth_status st = MYTH_OK;
    myth_tracked *t = myth_alloc(mem, MYTH_MEM_OTHER, "tracked", sizeof(*t));
    if (!t)
        return myth_fail(err, MYTH_ENOMEM, "%.200s: no room for what git tracks", git_dir);
    t->mem = mem;
    if (snprintf(path, sizeof(path), "%s/index", git_dir) >= (int)sizeof(path)) {
        st = myth_fail(err, MYTH_EIO, "%.200s: a path of %zu bytes", git_dir, strlen(git_dir));
        goto fail;
    }
    st = add_file(t, &r, path, err);
    if (st == MYTH_ENOTFOUND)
        st = MYTH_OK;
    else if (st == MYTH_OK && memcmp(r.shared, none, sizeof(none)) != 0) {
        for (size_t i = 0; i < r.n_id; i++)
            sprintf(id + 2 * i, "%02x", r.shared[i]);
        if (snprintf(path, sizeof(path), "%s/sharedindex.%s", git_dir, id) >= (int)sizeof(path)) {
            st = myth_fail(err, MYTH_EIO, "%.200s: a path of %zu bytes", git_dir, strlen(git_dir));
            goto fail;
        }
        st = add_file(t, &shared, path, err);
        if (st == MYTH_ENOTFOUND)
            st = myth_fail(err, MYTH_EFORMAT, "%.200s: the part of the index that all share is missing", path);
    }
    if (st != MYTH_OK)
        goto fail;
    sort_names(t);
    *out = t;
    return MYTH_OK;
fail:
    myth_tracked_close(t);
    return st;
}

void myth_tracked_close(myth_tracked *t)
{
    if (!t)
        return;
    myth_free(t->mem, t->text);
    myth_free(t->mem, t->at);
    myth_free(t->mem, t);
}

/* ---- questions ---- */

/* The first name that is not before the n bytes of `path`. */
static const char *first_from(const myth_tracked *t, const char *path, size_t n)
{
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (strncmp(t->text + t->at[mid], path, n) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < t->n ? t->text + t->at[lo] : "";
}

bool myth_tracked_has(const myth_tracked *t, const char *path)
{
    return strcmp(first_from(t, path, strlen(path) + 1), path) == 0;
}

bool myth_tracked_has_below(const myth_tracked *t, const char *dir)
{
    char below[PATH_MAX + 1];
    const size_t n = strlen(dir);
    if (n + 1 >= sizeof(below))
        return false;
    memcpy(below, dir, n);
    below[n] = '/';
    return strncmp(first_from(t, below, n + 1), below, n + 1) == 0;
}
