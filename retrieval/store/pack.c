/* pack.c - the text, the uses and the symbols of a file, compressed for the store.
 *
 * Text     blocks of MYTH_BLOCK_BYTES (the last is shorter), each one zstd frame, split into pieces of
 *          MYTH_PIECE_BYTES
 * Frames   name the dictionary that they need: meta's `dictionary`, trained once. It saves a sixth of the space of
 *          the text, measured on 12 MB of C
 * Uses     one zstd frame for all uses of a file. For each: its kind, plus 0x80 when `within` equals that of the
 *          use before; the difference of its line to that of the use before, as a zigzag number (buffer.h); the
 *          name and a zero; `within` and a zero, unless it equals the one before */
#include "store_impl.h"
#include "symbol_rows.h"

#include <string.h>
#include <zdict.h>

enum {
    LEVEL = 6,
    SAME_WITHIN = 0x80,
    LINE_BYTES = 5,
    DICTIONARY_MIN = 8 << 10,
    DICTIONARY_MAX = 110 << 10,
    DICTIONARY_SHARE = 12
};

struct myth_packer {
    myth_mem *mem;
    ZSTD_CCtx *c;
    const ZSTD_CDict *dictionary;
};

myth_status myth_packer_open(myth_packer **out, myth_mem *mem, const struct ZSTD_CDict_s *dictionary, myth_error *err)
{
    myth_packer *p = myth_alloc(mem, MYTH_MEM_OTHER, "index", sizeof(*p));
    *out = p;
    if (p) {
        p->mem = mem;
        p->dictionary = dictionary;
        p->c = ZSTD_createCCtx();
    }
    if (p && p->c)
        return MYTH_OK;
    myth_packer_close(p);
    *out = NULL;
    return myth_fail(err, MYTH_ENOMEM, "no memory to compress");
}

void myth_packer_close(myth_packer *p)
{
    if (!p)
        return;
    ZSTD_freeCCtx(p->c);
    myth_free(p->mem, p);
}

static size_t put_line(unsigned char *dst, uint32_t line, uint32_t last)
{
    uint32_t d = line - last, z = d << 1 ^ (d & 0x80000000u ? 0xffffffffu : 0);
    size_t n = 0;
    for (; z >= 0x80; z >>= 7)
        dst[n++] = (unsigned char)(z | 0x80);
    dst[n++] = (unsigned char)z;
    return n;
}

static size_t uses_bound(const myth_chunks *c)
{
    size_t n = 0;
    for (uint32_t i = 0; i < c->n_ref; i++)
        n += 3 + LINE_BYTES + strlen(c->names + c->ref[i].name) + strlen(c->names + c->ref[i].within);
    return n;
}

static size_t put_uses(unsigned char *dst, const myth_chunks *c)
{
    unsigned char *p = dst;
    const char *last_within = "";
    uint32_t last_line = 0;
    for (uint32_t i = 0; i < c->n_ref; i++) {
        const myth_ref *r = &c->ref[i];
        const char *name = c->names + r->name, *within = c->names + r->within;
        bool is_same = strcmp(within, last_within) == 0;
        *p++ = (unsigned char)((unsigned)r->kind | (is_same ? SAME_WITHIN : 0));
        p += put_line(p, r->line, last_line);
        size_t n = strlen(name) + 1;
        memcpy(p, name, n);
        p += n;
        if (!is_same) {
            n = strlen(within) + 1;
            memcpy(p, within, n);
            p += n;
        }
        last_within = within;
        last_line = r->line;
    }
    return (size_t)(p - dst);
}

/* Compresses n bytes into one frame at dst; returns its size, 0 when there is no memory. */
static size_t squeeze(myth_packer *p, unsigned char *dst, size_t cap, const unsigned char *src, size_t n)
{
    size_t got = p->dictionary ? ZSTD_compress_usingCDict(p->c, dst, cap, src, n, p->dictionary)
                               : ZSTD_compressCCtx(p->c, dst, cap, src, n, LEVEL);
    return ZSTD_isError(got) ? 0 : got;
}

myth_status myth_pack(myth_packed *out, myth_packer *p, const unsigned char *text, uint64_t n,
                      const myth_chunks *chunks, myth_error *err)
{
    size_t n_uses = uses_bound(chunks), at = 0;
    myth_buffer symbols = {.mem = p->mem};
    uint32_t n_block = (uint32_t)((n + MYTH_BLOCK_BYTES - 1) / MYTH_BLOCK_BYTES);
    *out = (myth_packed){
        .n_block = n_block,
        .n_symbol = chunks->n_symbol < MYTH_SYMBOL_IDS ? chunks->n_symbol : MYTH_SYMBOL_IDS,
    };
    myth_symbol_rows_encode(&symbols, chunks, out->n_symbol);
    size_t cap =
        n_block * ZSTD_compressBound(MYTH_BLOCK_BYTES) + ZSTD_compressBound(n_uses) + ZSTD_compressBound(symbols.n);
    unsigned char *uses = myth_alloc(p->mem, MYTH_MEM_OTHER, "index", n_uses), *data = NULL;
    out->data = myth_alloc(p->mem, MYTH_MEM_OTHER, "index", cap);
    out->end = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "index", n_block + 2, sizeof(*out->end));
    if (symbols.is_out_of_memory || !uses || !out->data || !out->end)
        goto fail;
    for (uint32_t i = 0; i < n_block; i++) {
        uint64_t off = (uint64_t)i * MYTH_BLOCK_BYTES, len = n - off < MYTH_BLOCK_BYTES ? n - off : MYTH_BLOCK_BYTES;
        size_t got = squeeze(p, out->data + at, cap - at, text + off, len);
        if (!got)
            goto fail;
        at += got;
        out->end[i] = at;
    }
    if (chunks->n_ref) {
        size_t got = squeeze(p, out->data + at, cap - at, uses, put_uses(uses, chunks));
        if (!got)
            goto fail;
        at += got;
    }
    out->end[n_block] = at;
    if (out->n_symbol) {
        size_t got = squeeze(p, out->data + at, cap - at, symbols.data, symbols.n);
        if (!got)
            goto fail;
        at += got;
    }
    out->end[n_block + 1] = at;
    myth_free(p->mem, uses);
    myth_buffer_close(&symbols);
    data = myth_realloc(p->mem, MYTH_MEM_OTHER, "index", out->data,
                        at); /* packed files wait for the writer, so they keep only the memory that they need */
    if (data)
        out->data = data;
    return MYTH_OK;
fail:
    myth_free(p->mem, uses);
    myth_buffer_close(&symbols);
    myth_packed_free(out, p->mem);
    return myth_fail(err, MYTH_ENOMEM, "no memory to compress %llu bytes", (unsigned long long)n);
}

void myth_packed_free(myth_packed *packed, myth_mem *mem)
{
    myth_free(mem, packed->data);
    myth_free(mem, packed->end);
    *packed = (myth_packed){0};
}

/* ---- back again ---- */

static myth_status torn(const myth_store *s, const char *what, myth_error *err)
{
    return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX, "%.120s: the index is damaged (%s)", s->path,
                            what);
}

/* ---- dictionary ---- */

/* Loads the dictionary to compress or to decompress. Most runs only decompress, and preparing it for compression
 * takes as long as looking over a small directory. */
static myth_status load_dictionary(myth_store *s, bool is_to_pack, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT value FROM meta WHERE key='dictionary'", -1, &q, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const void *data = sqlite3_column_blob(q, 0);
        size_t n = (size_t)sqlite3_column_bytes(q, 0);
        if (is_to_pack) {
            ZSTD_freeCDict(s->pack_dictionary);
            s->pack_dictionary = ZSTD_createCDict(data, n, LEVEL);
        } else {
            ZSTD_freeDDict(s->unpack_dictionary);
            s->unpack_dictionary = ZSTD_createDDict(data, n);
            s->unpack_id = s->unpack_dictionary ? ZSTD_getDictID_fromDict(data, n) : 0;
        }
        if (is_to_pack ? !s->pack_dictionary : !s->unpack_dictionary)
            rc = SQLITE_NOMEM;
    }
    myth_status st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    return st;
}

const struct ZSTD_CDict_s *myth_store_dictionary(myth_store *s)
{
    if (!s->pack_dictionary)
        load_dictionary(s, true, NULL);
    return s->pack_dictionary;
}

myth_status myth_store_learn(myth_store *s, const unsigned char *piece, const size_t *n_piece, uint32_t n,
                             myth_error *err)
{
    size_t all = 0;
    for (uint32_t i = 0; i < n; i++)
        all += n_piece[i];
    size_t cap = all / DICTIONARY_SHARE < DICTIONARY_MAX ? all / DICTIONARY_SHARE : DICTIONARY_MAX;
    if (cap < DICTIONARY_MIN)
        return MYTH_OK;
    unsigned char *dictionary = myth_alloc(s->mem, MYTH_MEM_OTHER, "index", cap);
    if (!dictionary)
        return myth_fail(err, MYTH_ENOMEM, "no memory for %zu bytes", cap);
    size_t got = ZDICT_trainFromBuffer(dictionary, cap, piece, n_piece, n);
    myth_status st = MYTH_OK;
    if (!ZDICT_isError(got)) { /* no dictionary is trained from pieces that have nothing in common */
        sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_SET_NUMBER, err);
        if (!q)
            st = err ? err->code : MYTH_EFORMAT;
        else {
            sqlite3_bind_text(q, 1, "dictionary", -1, SQLITE_STATIC);
            sqlite3_bind_blob64(q, 2, dictionary, got, SQLITE_STATIC);
            st = myth_store_run(s, q, err);
        }
    }
    myth_free(s->mem, dictionary);
    return st == MYTH_OK ? load_dictionary(s, true, err) : st;
}

/* Decompresses a frame; (size_t)-1 when it is damaged. */
static myth_status unpack(myth_store *s, size_t *got, unsigned char *dst, size_t cap, const void *frame, size_t n,
                          myth_error *err)
{
    unsigned id = ZSTD_getDictID_fromFrame(frame, n);
    if (id && id != s->unpack_id) {
        myth_status st = load_dictionary(s, false, err);
        if (st != MYTH_OK)
            return st;
    }
    size_t r = id ? ZSTD_decompress_usingDDict(s->unpack, dst, cap, frame, n, s->unpack_dictionary)
                  : ZSTD_decompressDCtx(s->unpack, dst, cap, frame, n);
    *got = ZSTD_isError(r) ? (size_t)-1 : r;
    return MYTH_OK;
}

myth_status myth_store_unpack(myth_store *s, unsigned char **out, size_t *n_out, const void *frame, size_t n,
                              myth_error *err)
{
    unsigned long long size = ZSTD_getFrameContentSize(frame, n);
    size_t got = 0;
    *out = NULL;
    if (size >= 1u << 30)
        return torn(s, "a frame of no size", err);
    if (!(*out = myth_alloc(s->mem, MYTH_MEM_OTHER, "index", size)))
        return myth_fail(err, MYTH_ENOMEM, "no memory for %llu bytes", size);
    myth_status st = unpack(s, &got, *out, size, frame, n, err);
    if (st == MYTH_OK && got != size)
        st = torn(s, "a frame of another size", err);
    if (st != MYTH_OK) {
        myth_free(s->mem, *out);
        *out = NULL;
    }
    *n_out = got;
    return st;
}

static myth_status load_block(myth_store *s, int64_t id, myth_error *err)
{
    uint32_t version = 0;
    size_t at = 0, got = (size_t)-1;
    int rc;
    sqlite3_file_control(s->db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    if (s->block_id == id && s->block_version == version)
        return MYTH_OK;
    s->block_id = -1;
    sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_GET_BLOCK, err);
    if (!q)
        return err ? err->code : MYTH_EFORMAT;
    sqlite3_bind_int64(q, 1, id);
    sqlite3_bind_int64(q, 2, id + (1 << MYTH_PIECE_BITS) - 1);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        size_t n = (size_t)sqlite3_column_bytes(q, 0);
        if (n == 0 || n > MYTH_PIECE_BYTES)
            break;
        memcpy(s->packed + at, sqlite3_column_blob(q, 0), n);
        at += n;
    }
    myth_status st = myth_store_fail(s, rc, err);
    sqlite3_reset(q);
    if (st == MYTH_OK && rc == SQLITE_DONE && at)
        st = unpack(s, &got, s->block, MYTH_BLOCK_BYTES, s->packed, at, err);
    if (st != MYTH_OK)
        return st;
    if (got == (size_t)-1)
        return torn(s, "text is missing", err);
    s->n_block = got;
    s->block_id = id;
    s->block_version = version;
    return MYTH_OK;
}

myth_status myth_store_text(myth_store *s, unsigned char *dst, int64_t file_id, uint64_t off, uint64_t n,
                            myth_error *err)
{
    if (n > 0 && (file_id < 1 || file_id > MYTH_FILE_ID_MAX))
        return torn(s, "text of no file", err);
    while (n > 0) {
        uint64_t no = off / MYTH_BLOCK_BYTES, in = off % MYTH_BLOCK_BYTES;
        if (no >> MYTH_BLOCK_BITS)
            return torn(s, "text is missing", err);
        myth_status st = load_block(s, file_id * (1 << MYTH_FILE_BITS) + (int64_t)(no << MYTH_PIECE_BITS), err);
        if (st != MYTH_OK)
            return st;
        if (in >= s->n_block)
            return torn(s, "text is missing", err);
        uint64_t part = s->n_block - in < n ? s->n_block - in : n;
        memcpy(dst, s->block + in, part);
        dst += part;
        off += part;
        n -= part;
    }
    return MYTH_OK;
}

/* ---- uses ---- */

typedef bool (*ref_fn)(void *arg, const myth_store_ref *ref);

/* Reads the next use. False: the bytes do not have the form that put_uses writes. */
static bool walk_uses(const unsigned char *p, const unsigned char *end, uint32_t n, int64_t file_id, ref_fn on_ref,
                      void *arg)
{
    myth_store_ref r = {.file_id = file_id, .within = ""};
    bool go_on = true;
    for (uint32_t i = 0; i < n && go_on; i++) {
        uint32_t z = 0;
        if (p >= end)
            return false;
        unsigned kind = *p & 0x7fu;
        bool is_same = (*p++ & SAME_WITHIN) != 0;
        for (unsigned shift = 0;; shift += 7) {
            if (p >= end || shift > 28)
                return false;
            z |= (uint32_t)(*p & 0x7fu) << shift;
            if (!(*p++ & 0x80))
                break;
        }
        r.line += z >> 1 ^ (z & 1 ? 0xffffffffu : 0);
        for (int k = 0; k < (is_same ? 1 : 2); k++) {
            const unsigned char *zero = memchr(p, 0, (size_t)(end - p));
            if (!zero)
                return false;
            *(k ? &r.within : &r.name) = (const char *)p;
            p = zero + 1;
        }
        if (kind >= MYTH_REF_KIND_N)
            return false;
        r.kind = (myth_ref_kind)kind;
        go_on = on_ref(arg, &r);
    }
    return p == end || !go_on;
}

myth_status myth_store_refs(myth_store *s, int64_t file_id, ref_fn on_ref, void *arg, myth_error *err)
{
    sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_GET_REFS, err);
    if (!q)
        return err ? err->code : MYTH_EFORMAT;
    sqlite3_bind_int64(q, 1, file_id);
    int rc = sqlite3_step(q);
    myth_status st = myth_store_fail(s, rc, err);
    if (rc == SQLITE_ROW) {
        uint32_t n = (uint32_t)sqlite3_column_int64(q, 0);
        unsigned char *uses = NULL;
        size_t size = 0;
        st = myth_store_unpack(s, &uses, &size, sqlite3_column_blob(q, 1), (size_t)sqlite3_column_bytes(q, 1), err);
        if (st == MYTH_OK && !walk_uses(uses, uses + size, n, file_id, on_ref, arg))
            st = torn(s, "uses are missing", err);
        myth_free(s->mem, uses);
    }
    sqlite3_reset(q);
    return st;
}
