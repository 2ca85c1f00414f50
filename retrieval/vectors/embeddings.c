/* embeddings.c - see embeddings.h. Only the keys are in memory, in a hash table; vectors are read when they are
 * asked for. */
#include "embeddings.h"
#include "engine/base/half.h"
#include "engine/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum {
    VERSION = 1,
    HEADER = 512,
    SUMMED = 504,
    AT_MODEL = 16,
    AT_PROMPT = 32,
    AT_NAME = 48,
    DIM_MAX = 4096,
    BLOCK = 256, /* records read or written at once */
    FEW = 4096   /* dead records that are not worth a compaction */
};

typedef struct {
    uint64_t key;
    uint32_t record; /* the record's number plus 1; 0 = free; WANTED */
} slot;
#define WANTED UINT32_MAX

struct myth_embeddings {
    myth_mem *mem;
    char *path;
    slot *slot;
    unsigned char *block; /* [BLOCK][record_bytes] */
    uint64_t n_slot, n_record, n_key, most;
    uint32_t dim, record_bytes;
    int fd;
    bool is_read_only;
};

static uint32_t record_bytes(uint32_t dim) { return 16 + 2 * dim; }

static uint64_t slots_for(uint64_t n)
{
    uint64_t slots = 64;
    while (slots < 2 * n)
        slots *= 2;
    return slots;
}

uint64_t myth_embeddings_bytes(uint64_t n_record, uint32_t dim)
{
    return sizeof(myth_embeddings) + PATH_MAX + slots_for(n_record) * sizeof(slot) +
           (uint64_t)BLOCK * record_bytes(dim);
}

static myth_status failed(const myth_embeddings *e, const char *what, myth_error *err)
{
    return myth_fail(err, MYTH_EIO, "%.150s: %s: %s", e->path, what, errno ? strerror(errno) : "it became shorter");
}

/* Reads n bytes at off. False: errno says why, 0 = the file ends before. */
static bool read_at(int fd, void *dst, size_t n, uint64_t off)
{
    for (size_t at = 0; at < n;) {
        ssize_t got = pread(fd, (char *)dst + at, n - at, (off_t)(off + at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? 0 : errno;
            return false;
        }
        at += (size_t)got;
    }
    return true;
}

static slot *slot_of(const myth_embeddings *e, uint64_t key)
{
    uint64_t at = (key * 0x9e3779b97f4a7c15u >> 20) & (e->n_slot - 1);
    while (e->slot[at].record && e->slot[at].key != key)
        at = (at + 1) & (e->n_slot - 1);
    return &e->slot[at];
}

static void put_header(unsigned char h[HEADER], const myth_embeddings_model *m)
{
    const uint32_t number[2] = {VERSION, m->dim};
    memset(h, 0, HEADER);
    memcpy(h, "MYTHEMB\n", 8);
    memcpy(h + 8, number, sizeof(number));
    memcpy(h + AT_MODEL, m->model, sizeof(m->model));
    memcpy(h + AT_PROMPT, m->prompt, sizeof(m->prompt));
    memcpy(h + AT_NAME, m->name, sizeof(m->name));
    const uint64_t sum = XXH3_64bits(h, SUMMED);
    memcpy(h + SUMMED, &sum, sizeof(sum));
}

static bool get_header(myth_embeddings_model *m, const unsigned char h[HEADER])
{
    uint32_t number[2];
    uint64_t sum;
    memcpy(number, h + 8, sizeof(number));
    memcpy(&sum, h + SUMMED, sizeof(sum));
    if (memcmp(h, "MYTHEMB\n", 8) != 0 || number[0] != VERSION || sum != XXH3_64bits(h, SUMMED))
        return false;
    m->dim = number[1];
    memcpy(m->model, h + AT_MODEL, sizeof(m->model));
    memcpy(m->prompt, h + AT_PROMPT, sizeof(m->prompt));
    memcpy(m->name, h + AT_NAME, sizeof(m->name));
    return m->dim > 0 && m->dim <= DIM_MAX && !m->prompt[sizeof(m->prompt) - 1] && !m->name[sizeof(m->name) - 1];
}

static bool is_whole(const unsigned char *record, uint32_t bytes)
{
    uint64_t sum;
    memcpy(&sum, record + bytes - 8, 8);
    return sum == XXH3_64bits(record, bytes - 8);
}

/* ---- open ---- */

/* Enters the keys of all undamaged records; the first of two with the same key. */
static myth_status read_keys(myth_embeddings *e, uint64_t n_record, myth_error *err)
{
    for (uint64_t first = 0; first < n_record; first += BLOCK) {
        const uint64_t n = n_record - first < BLOCK ? n_record - first : BLOCK;
        errno = 0;
        if (!read_at(e->fd, e->block, (size_t)(n * e->record_bytes), HEADER + first * e->record_bytes))
            return failed(e, "cannot be read", err);
        for (uint64_t i = 0; i < n; i++) {
            const unsigned char *r = e->block + i * e->record_bytes;
            uint64_t key;
            memcpy(&key, r, 8);
            if (!is_whole(r, e->record_bytes))
                continue; /* its text is embedded again */
            slot *s = slot_of(e, key);
            if (s->record)
                continue;
            *s = (slot){key, (uint32_t)(first + i + 1)};
            e->n_key++;
        }
    }
    e->n_record = n_record;
    return MYTH_OK;
}

myth_status myth_embeddings_whose(myth_embeddings_model *out, const char *path, myth_error *err)
{
    unsigned char h[HEADER];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_there = fd >= 0 && read_at(fd, h, HEADER, 0) && get_header(out, h);
    if (fd >= 0)
        close(fd);
    return is_there ? MYTH_OK
                    : myth_fail_remedy(err, MYTH_ENOTFOUND, MYTH_REMEDY_MAKE_VECTORS, "the index has no embeddings");
}

/* The model may have moved since, so its name is written again. */
static myth_status open_file(myth_embeddings *e, const myth_embeddings_model *model, uint64_t *n_record,
                             myth_error *err)
{
    unsigned char want[HEADER], got[HEADER];
    struct stat st;
    myth_embeddings_model is = {0};
    put_header(want, model);
    e->fd = open(e->path, (e->is_read_only ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (e->fd < 0 && e->is_read_only && errno == ENOENT)
        return myth_fail(err, MYTH_ENOTFOUND, "%.150s: no embeddings", e->path);
    if (e->fd < 0)
        return myth_fail(err, e->is_read_only ? MYTH_EIO : MYTH_ECREATE, "%.150s: %s", e->path, strerror(errno));
    if (fstat(e->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return myth_fail(err, MYTH_EIO, "%.150s: not a regular file", e->path);
    const bool is_ours = st.st_size >= HEADER && read_at(e->fd, got, HEADER, 0) && get_header(&is, got) &&
                         is.dim == model->dim && memcmp(is.model, model->model, sizeof(is.model)) == 0 &&
                         strcmp(is.prompt, model->prompt) == 0;
    if (!is_ours && e->is_read_only)
        return myth_fail(err, MYTH_ENOTFOUND, "%.150s: no embeddings of this model", e->path);
    *n_record = is_ours ? ((uint64_t)st.st_size - HEADER) / e->record_bytes : 0;
    if (*n_record >= WANTED)
        return myth_fail(err, MYTH_ELIMIT, "%.150s: more than %u records", e->path, WANTED - 1);
    if (e->is_read_only)
        return MYTH_OK;
    /* Cuts off an incomplete record at the end, so that the next one begins at a border. */
    if (ftruncate(e->fd, is_ours ? (off_t)(HEADER + *n_record * e->record_bytes) : 0) != 0 ||
        ((!is_ours || memcmp(want, got, HEADER) != 0) && !myth_out_write_at(e->fd, want, HEADER, 0)))
        return failed(e, "cannot be written", err);
    return MYTH_OK;
}

myth_status myth_embeddings_open(myth_embeddings **out, myth_mem *mem, const char *path,
                                 const myth_embeddings_model *model, uint64_t n_more, bool is_read_only,
                                 myth_error *err)
{
    myth_status st = MYTH_OK;
    uint64_t n_record;
    *out = NULL;
    myth_embeddings *e = myth_alloc(mem, MYTH_MEM_OTHER, "embeddings", sizeof(*e));
    if (!e)
        return myth_fail(err, MYTH_ENOMEM, "no memory for embeddings");
    *e = (myth_embeddings){
        .mem = mem,
        .dim = model->dim,
        .record_bytes = record_bytes(model->dim),
        .fd = -1,
        .is_read_only = is_read_only,
    };
    if (!(e->path = myth_alloc(mem, MYTH_MEM_OTHER, "embeddings", PATH_MAX))) {
        st = myth_fail(err, MYTH_ENOMEM, "no memory for embeddings");
        goto fail;
    }
    snprintf(e->path, PATH_MAX, "%s", path);
    MYTH_TRY(open_file(e, model, &n_record, err));
    e->most = n_record + n_more;
    e->n_slot = slots_for(e->most);
    e->slot = myth_alloc_n(mem, MYTH_MEM_OTHER, "embeddings", e->n_slot, sizeof(*e->slot));
    e->block = myth_alloc_n(mem, MYTH_MEM_OTHER, "embeddings", BLOCK, e->record_bytes);
    if (!e->slot || !e->block) {
        st = myth_fail(err, MYTH_ENOMEM, "no memory for the keys of %llu embeddings", (unsigned long long)e->most);
        goto fail;
    }
    MYTH_TRY(read_keys(e, n_record, err));
    *out = e;
    return MYTH_OK;
fail:
    myth_embeddings_close(e);
    return st;
}

void myth_embeddings_close(myth_embeddings *e)
{
    if (!e)
        return;
    if (e->fd >= 0)
        close(e->fd);
    myth_free(e->mem, e->block);
    myth_free(e->mem, e->slot);
    myth_free(e->mem, e->path);
    myth_free(e->mem, e);
}

/* ---- records ---- */

uint64_t myth_embeddings_n(const myth_embeddings *e) { return e->n_record; }

int64_t myth_embeddings_find(const myth_embeddings *e, uint64_t key)
{
    const slot *s = slot_of(e, key);
    return s->record == WANTED ? MYTH_EMBEDDINGS_WANTED : (int64_t)s->record - 1;
}

myth_status myth_embeddings_want(myth_embeddings *e, uint64_t key, myth_error *err)
{
    slot *s = slot_of(e, key);
    if (s->record)
        return MYTH_OK;
    if (e->n_key == e->most)
        return myth_fail(err, MYTH_EFULL, "room for %llu embeddings", (unsigned long long)e->most);
    *s = (slot){key, WANTED};
    e->n_key++;
    return MYTH_OK;
}

myth_status myth_embeddings_get(const myth_embeddings *e, int64_t record, float *vector, myth_error *err)
{
    errno = 0;
    if (!read_at(e->fd, e->block, e->record_bytes, HEADER + (uint64_t)record * e->record_bytes))
        return failed(e, "cannot be read", err);
    if (!is_whole(e->block, e->record_bytes))
        return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_MAKE_INDEX, "%.150s: record %lld is damaged", e->path,
                                (long long)record);
    for (uint32_t i = 0; i < e->dim; i++) {
        uint16_t h;
        memcpy(&h, e->block + 8 + 2 * (size_t)i, 2);
        vector[i] = myth_f16_to_f32(h);
    }
    return MYTH_OK;
}

static void make_record(unsigned char *r, uint64_t key, const float *vector, uint32_t dim)
{
    memcpy(r, &key, 8);
    for (uint32_t i = 0; i < dim; i++) {
        const uint16_t h = myth_f32_to_f16(vector[i]);
        memcpy(r + 8 + 2 * (size_t)i, &h, 2);
    }
    const uint64_t sum = XXH3_64bits(r, 8 + 2 * (size_t)dim);
    memcpy(r + 8 + 2 * (size_t)dim, &sum, 8);
}

myth_status myth_embeddings_put(myth_embeddings *e, const uint64_t *key, const float *vector, uint32_t n,
                                myth_error *err)
{
    for (uint32_t done = 0; done < n;) {
        const uint32_t now = n - done < BLOCK ? n - done : BLOCK;
        for (uint32_t i = 0; i < now; i++)
            make_record(e->block + (size_t)i * e->record_bytes, key[done + i], vector + (size_t)(done + i) * e->dim,
                        e->dim);
        errno = 0;
        if (!myth_out_write_at(e->fd, e->block, (size_t)now * e->record_bytes, HEADER + e->n_record * e->record_bytes))
            return failed(e, "cannot be written", err);
        for (uint32_t i = 0; i < now; i++) {
            slot *s = slot_of(e, key[done + i]);
            if (!s->record && e->n_key++ >= e->most)
                return myth_fail(err, MYTH_EFULL, "room for %llu embeddings", (unsigned long long)e->most);
            *s = (slot){key[done + i], (uint32_t)++e->n_record};
        }
        done += now;
    }
    return fdatasync(e->fd) == 0 ? MYTH_OK : failed(e, "cannot be synced", err);
}

/* ---- fewer ---- */

static myth_status copy_live(myth_embeddings *e, int fd, const unsigned char *is_live, myth_error *err)
{
    unsigned char header[HEADER];
    errno = 0;
    if (!read_at(e->fd, header, HEADER, 0))
        return failed(e, "cannot be read", err);
    if (!myth_out_write(fd, header, HEADER))
        return failed(e, "cannot be written", err);
    for (uint64_t i = 0; i < e->n_record; i++) {
        if (!is_live[i])
            continue;
        if (!read_at(e->fd, e->block, e->record_bytes, HEADER + i * e->record_bytes))
            return failed(e, "cannot be read", err);
        if (!myth_out_write(fd, e->block, e->record_bytes))
            return failed(e, "cannot be written", err);
    }
    return MYTH_OK;
}

myth_status myth_embeddings_compact(myth_embeddings *e, const unsigned char *is_live, myth_error *err)
{
    uint64_t n_live = 0;
    myth_out o;
    for (uint64_t i = 0; i < e->n_record; i++)
        n_live += is_live[i] != 0;
    if (e->n_record - n_live <= FEW || e->n_record - n_live <= n_live)
        return MYTH_OK;
    myth_status st = myth_out_open(&o, e->path, MYTH_OUT_PRIVATE, err);
    if (st != MYTH_OK)
        return st;
    st = copy_live(e, o.fd, is_live, err);
    if (st == MYTH_OK)
        return myth_out_finish(&o, err);
    myth_out_abandon(&o);
    return st;
}
