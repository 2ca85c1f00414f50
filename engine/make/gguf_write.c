/* gguf_write.c - the format is written out in weights_gguf.c; the counts in the head are set when the file is complete.
 *
 * States   facts -> directory (first declare) -> data (first byte) */
#include "gguf_write.h"

#include "engine/base/bytes.h"
#include "engine/base/half.h"
#include "engine/base/outfile.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { HEAD_BYTES = 24, VERSION = 3 };

struct myth_gguf_writer {
    myth_mem *mem;
    myth_out out;
    char path[PATH_MAX];
    myth_error err; /* the first failure */
    uint64_t pos;   /* bytes put so far, buffered ones included */
    uint64_t n_kv;
    uint64_t data_at;          /* where the data starts; 0 before */
    uint64_t off, tensor_left; /* next offset; bytes that the current tensor still wants */
    uint32_t n_tensor, cap_tensor, at_tensor;
    size_t used;
    uint64_t *bytes; /* of each declared tensor */
    unsigned char buffer[MYTH_GGUF_BUFFER];
};

myth_status myth_gguf_open(myth_gguf_writer **out, myth_mem *mem, const char *path, uint32_t n_tensor, myth_error *err)
{
    myth_gguf_writer *g = myth_alloc(mem, MYTH_MEM_STAGING, "gguf writer", sizeof(*g));
    uint64_t *bytes = myth_alloc_n(mem, MYTH_MEM_STAGING, "gguf writer", n_tensor + 1, sizeof(*bytes));
    if (!g || !bytes) {
        myth_free(mem, g);
        myth_free(mem, bytes);
        return myth_fail(err, MYTH_ENOMEM, "%s: no room for %zu bytes", path, sizeof(*g));
    }
    g->mem = mem;
    g->bytes = bytes;
    g->cap_tensor = n_tensor;
    int n = snprintf(g->path, sizeof(g->path), "%s", path);
    if (n < 0 || n >= PATH_MAX)
        myth_fail(&g->err, MYTH_ECREATE, "%s: path too long", path);
    else if (myth_out_is_special(path)) /* the head is written last, at the front */
        myth_fail(&g->err, MYTH_ECREATE, "%s: a model needs a regular file", path);
    else
        myth_out_open(&g->out, g->path, MYTH_OUT_SHARED, &g->err);
    if (g->err.code != MYTH_OK) {
        myth_status st = myth_fail(err, g->err.code, "%s", g->err.msg);
        myth_gguf_close(g, false, NULL);
        return st;
    }
    g->used = HEAD_BYTES; /* zeros for now */
    g->pos = HEAD_BYTES;
    *out = g;
    return MYTH_OK;
}

uint64_t myth_gguf_bytes(uint32_t n_tensor)
{
    return sizeof(myth_gguf_writer) + ((uint64_t)n_tensor + 1) * sizeof(uint64_t);
}

myth_status myth_gguf_status(const myth_gguf_writer *g) { return g->err.code; }

static void flush(myth_gguf_writer *g)
{
    if (g->err.code == MYTH_OK && !myth_out_write(g->out.fd, g->buffer, g->used))
        myth_fail(&g->err, MYTH_EIO, "%s: cannot write: %s", g->path, strerror(errno));
    g->used = 0;
}

static void put(myth_gguf_writer *g, const void *src, uint64_t n)
{
    const unsigned char *p = src;
    g->pos += n;
    while (n > 0 && g->err.code == MYTH_OK) {
        size_t room = MYTH_GGUF_BUFFER - g->used, k = n < room ? (size_t)n : room;
        memcpy(g->buffer + g->used, p, k);
        g->used += k;
        p += k;
        n -= k;
        if (g->used == MYTH_GGUF_BUFFER)
            flush(g);
    }
}

static void put_uint(myth_gguf_writer *g, uint64_t v, int n)
{
    unsigned char b[8];
    for (int i = 0; i < n; i++)
        b[i] = (unsigned char)(v >> 8 * i);
    put(g, b, (uint64_t)n);
}

static void put_text(myth_gguf_writer *g, const char *text, size_t len)
{
    put_uint(g, len, 8);
    put(g, text, len);
}

static void put_key(myth_gguf_writer *g, const char *key, size_t len, uint32_t type)
{
    assert(g->n_tensor == 0);
    g->n_kv++;
    put_text(g, key, len);
    put_uint(g, type, 4);
}

/* ---- facts ---- */

void myth_gguf_put_u32(myth_gguf_writer *g, const char *key, uint32_t v)
{
    put_key(g, key, strlen(key), MYTH_GGUF_U32);
    put_uint(g, v, 4);
}

void myth_gguf_put_f32(myth_gguf_writer *g, const char *key, float v)
{
    put_key(g, key, strlen(key), MYTH_GGUF_F32);
    put_uint(g, myth_f32_bits(v), 4);
}

void myth_gguf_put_bool(myth_gguf_writer *g, const char *key, bool v)
{
    put_key(g, key, strlen(key), MYTH_GGUF_BOOL);
    put_uint(g, v, 1);
}

void myth_gguf_put_str(myth_gguf_writer *g, const char *key, myth_str v)
{
    put_key(g, key, strlen(key), MYTH_GGUF_STRING);
    put_text(g, v.text, v.len);
}

void myth_gguf_put_array(myth_gguf_writer *g, const char *key, uint32_t elem_type, uint64_t count)
{
    put_key(g, key, strlen(key), MYTH_GGUF_ARRAY);
    put_uint(g, elem_type, 4);
    put_uint(g, count, 8);
}

void myth_gguf_item_str(myth_gguf_writer *g, myth_str v) { put_text(g, v.text, v.len); }
void myth_gguf_item_f32(myth_gguf_writer *g, float v) { put_uint(g, myth_f32_bits(v), 4); }
void myth_gguf_item_i32(myth_gguf_writer *g, int32_t v) { put_uint(g, (uint32_t)v, 4); }
void myth_gguf_item_bool(myth_gguf_writer *g, bool v) { put_uint(g, v, 1); }

void myth_gguf_put_value(myth_gguf_writer *g, const myth_meta_value *v)
{
    uint64_t bits = v->v.u;
    switch (v->type) {
    case MYTH_META_STRING:
        put_key(g, v->key.text, v->key.len, MYTH_GGUF_STRING);
        put_text(g, v->v.s.text, v->v.s.len);
        return;
    case MYTH_META_ARRAY:
        put_key(g, v->key.text, v->key.len, MYTH_GGUF_ARRAY);
        put_uint(g, v->raw_type, 4);
        put_uint(g, v->count, 8);
        put(g, v->raw, v->raw_bytes);
        return;
    case MYTH_META_BOOL: bits = v->v.b; break;
    case MYTH_META_FLOAT:
        if (v->raw_type == MYTH_GGUF_F32)
            bits = myth_f32_bits((float)v->v.f);
        break;
    default: break;
    }
    put_key(g, v->key.text, v->key.len, v->raw_type);
    put_uint(g, bits, (int)myth_meta_gguf_size(v->raw_type));
}

/* ---- tensors ---- */

void myth_gguf_declare(myth_gguf_writer *g, myth_str name, myth_dtype type, uint32_t n_dim, const uint64_t *dim)
{
    assert(g->data_at == 0);
    uint64_t rows = 1;
    if (g->n_tensor == g->cap_tensor) {
        if (g->err.code == MYTH_OK)
            myth_fail(&g->err, MYTH_EFULL, "%s: more than the %u tensors that were announced", g->path, g->cap_tensor);
        return;
    }
    put_text(g, name.text, name.len);
    put_uint(g, n_dim, 4);
    for (uint32_t i = n_dim; i-- > 0;)
        put_uint(g, dim[i], 8);
    put_uint(g, (uint64_t)myth_dtype_get(type)->gguf, 4);
    put_uint(g, g->off, 8);
    for (uint32_t i = 0; i + 1 < n_dim; i++)
        rows *= dim[i];
    uint64_t bytes = rows * myth_row_bytes(type, dim[n_dim - 1]);
    g->bytes[g->n_tensor++] = bytes;
    myth_align_u64(&g->off, g->off + bytes, MYTH_GGUF_ALIGN);
}

/* To the start of the next tensor that has bytes to come. */
static void next_tensor(myth_gguf_writer *g)
{
    static const unsigned char zero[MYTH_GGUF_ALIGN];
    put(g, zero, (0 - g->pos) % MYTH_GGUF_ALIGN);
    g->tensor_left = g->bytes[g->at_tensor]; /* one more than declared: 0 */
}

void myth_gguf_data(myth_gguf_writer *g, const void *src, uint64_t bytes)
{
    const unsigned char *p = src;
    if (g->data_at == 0) {
        next_tensor(g);
        g->data_at = g->pos;
    }
    while (bytes > 0) {
        uint64_t k = bytes < g->tensor_left ? bytes : g->tensor_left;
        assert(k > 0);
        put(g, p, k);
        p += k;
        bytes -= k;
        g->tensor_left -= k;
        if (g->tensor_left == 0) {
            g->at_tensor++;
            next_tensor(g);
        }
    }
}

/* ---- end ---- */

static void finish(myth_gguf_writer *g)
{
    flush(g);
    unsigned char head[HEAD_BYTES] = {'G', 'G', 'U', 'F', VERSION};
    for (int i = 0; i < 8; i++) {
        head[8 + i] = (unsigned char)((uint64_t)g->n_tensor >> 8 * i);
        head[16 + i] = (unsigned char)(g->n_kv >> 8 * i);
    }
    if (g->err.code != MYTH_OK)
        return;
    if (!myth_out_write_at(g->out.fd, head, sizeof(head), 0))
        myth_fail(&g->err, MYTH_EIO, "%s: cannot write: %s", g->path, strerror(errno));
}

myth_status myth_gguf_close(myth_gguf_writer *g, bool is_complete, myth_error *err)
{
    if (!g)
        return MYTH_OK;
    if (is_complete) {
        assert(g->err.code != MYTH_OK || (g->at_tensor == g->n_tensor && g->n_tensor == g->cap_tensor));
        finish(g);
    }
    if (is_complete && g->err.code == MYTH_OK)
        myth_out_finish(&g->out, &g->err);
    else
        myth_out_abandon(&g->out);
    myth_status st = g->err.code == MYTH_OK ? MYTH_OK : myth_fail(err, g->err.code, "%s", g->err.msg);
    myth_free(g->mem, g->bytes);
    myth_free(g->mem, g);
    return st;
}
