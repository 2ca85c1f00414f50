/* meta.c - the table of facts: one block holding values, a hash index of their keys, and copied text.
 *
 * Block    [myth_meta][values: n_value][slots: u32, power of two >= 2 n_value][bytes: n_byte]
 * Index    open addressing on FNV-1a of the key; a slot holds value index + 1 */
#include "meta.h"

#include "engine/base/table.h"
#include "engine/base/bytes.h"
#include "engine/base/half.h"

#include <math.h>
#include <string.h>

struct myth_meta {
    myth_mem *mem;
    myth_meta_value *value;
    uint32_t *slot;
    unsigned char *text;
    uint32_t n_value, cap_value, n_slot;
    uint64_t used, cap, booked;
};

myth_status myth_meta_open(myth_meta **out, myth_mem *mem, const myth_meta_size *size, myth_error *err)
{
    uint64_t values, slots, bytes = sizeof(myth_meta);
    if (size->n_value > MYTH_META_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%llu keys, at most %d", (unsigned long long)size->n_value, MYTH_META_MAX);
    const uint32_t n_slot = myth_table_slots(size->n_value); /* n_value is at most MYTH_META_MAX */
    if (!myth_mul_u64(&values, size->n_value, sizeof(myth_meta_value)) ||
        !myth_mul_u64(&slots, n_slot, sizeof(uint32_t)) || !myth_align_u64(&bytes, bytes, 16) ||
        !myth_add_u64(&bytes, bytes, values) || !myth_add_u64(&bytes, bytes, slots) ||
        !myth_add_u64(&bytes, bytes, size->n_byte) || bytes > PTRDIFF_MAX)
        return myth_fail(err, MYTH_EFORMAT, "metadata does not fit memory");
    unsigned char *p = myth_alloc(mem, MYTH_MEM_OTHER, "metadata", (size_t)bytes);
    if (!p)
        return myth_fail(err, MYTH_ENOMEM, "no room for %llu bytes of metadata", (unsigned long long)bytes);
    myth_meta *m = (myth_meta *)p;
    myth_reader r = {p, bytes, 0};
    uint64_t head;
    myth_align_u64(&head, sizeof(myth_meta), 16);
    myth_reader_take(&r, head);
    m->value = (myth_meta_value *)(uintptr_t)myth_reader_take(&r, values);
    m->slot = (uint32_t *)(uintptr_t)myth_reader_take(&r, slots);
    m->cap = myth_reader_left(&r);
    m->text = (unsigned char *)(uintptr_t)myth_reader_take(&r, m->cap);
    m->mem = mem;
    m->cap_value = (uint32_t)size->n_value;
    m->n_slot = n_slot;
    m->booked = bytes;
    *out = m;
    return MYTH_OK;
}

void myth_meta_close(myth_meta *m)
{
    if (m)
        myth_free(m->mem, m);
}

uint64_t myth_meta_booked(const myth_meta *m) { return m->booked; }

static bool is_key(const void *m, uint32_t idx, const void *key)
{
    const myth_str *k = &((const myth_meta *)m)->value[idx].key, *wanted = key;
    return k->len == wanted->len && memcmp(k->text, wanted->text, wanted->len) == 0;
}

static uint32_t *slot_of(const myth_meta *m, const char *key, size_t len)
{
    return myth_table_find(m->slot, m->n_slot, myth_hash_bytes(key, len), is_key, m, &(myth_str){key, len});
}

bool myth_meta_add(myth_meta *m, const myth_meta_value *v)
{
    uint32_t *s = slot_of(m, v->key.text, v->key.len);
    if (*s != 0 || m->n_value == m->cap_value)
        return false;
    m->value[m->n_value] = *v;
    *s = ++m->n_value;
    return true;
}

void *myth_meta_take(myth_meta *m, uint64_t bytes)
{
    uint64_t from;
    if (!myth_align_u64(&from, m->used, 8) || from > m->cap || bytes > m->cap - from)
        return NULL;
    m->used = from + bytes;
    return m->text + from;
}

uint32_t myth_meta_count(const myth_meta *m) { return m->n_value; }
const myth_meta_value *myth_meta_at(const myth_meta *m, uint32_t idx) { return &m->value[idx]; }

const myth_meta_value *myth_meta_find(const myth_meta *m, const char *key)
{
    uint32_t s = *slot_of(m, key, strlen(key));
    return s && m->value[s - 1].type != MYTH_META_NULL ? &m->value[s - 1] : NULL;
}

bool myth_meta_has(const myth_meta *m, const char *key) { return *slot_of(m, key, strlen(key)) != 0; }

/* ---- scalars ---- */

static bool as_i64(int64_t *out, const myth_meta_value *v)
{
    if (v->type == MYTH_META_INT)
        *out = v->v.i;
    else if (v->type == MYTH_META_UINT && v->v.u <= INT64_MAX)
        *out = (int64_t)v->v.u;
    else
        return false;
    return true;
}

static bool as_f64(double *out, const myth_meta_value *v)
{
    switch (v->type) {
    case MYTH_META_INT: *out = (double)v->v.i; return true;
    case MYTH_META_UINT: *out = (double)v->v.u; return true;
    case MYTH_META_FLOAT: *out = v->v.f; return isfinite(v->v.f);
    default: return false;
    }
}

bool myth_meta_u32(uint32_t *out, const myth_meta *m, const char *key)
{
    const myth_meta_value *v = myth_meta_find(m, key);
    int64_t i;
    if (!v || !as_i64(&i, v) || i < 0 || i > UINT32_MAX)
        return false;
    *out = (uint32_t)i;
    return true;
}

bool myth_meta_f64(double *out, const myth_meta *m, const char *key)
{
    const myth_meta_value *v = myth_meta_find(m, key);
    return v && as_f64(out, v);
}

bool myth_meta_bool(bool *out, const myth_meta *m, const char *key)
{
    const myth_meta_value *v = myth_meta_find(m, key);
    if (!v || v->type != MYTH_META_BOOL)
        return false;
    *out = v->v.b;
    return true;
}

bool myth_meta_str(myth_str *out, const myth_meta *m, const char *key)
{
    const myth_meta_value *v = myth_meta_find(m, key);
    if (!v || v->type != MYTH_META_STRING)
        return false;
    *out = v->v.s;
    return true;
}

/* ---- GGUF values ---- */

enum {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64
};

uint32_t myth_meta_gguf_size(uint32_t raw_type)
{
    static const uint8_t size[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return raw_type < sizeof(size) ? size[raw_type] : 0;
}

void myth_meta_gguf_scalar(myth_meta_value *v, uint32_t raw_type, const unsigned char *p)
{
    myth_reader r = {p, myth_meta_gguf_size(raw_type), 0};
    uint8_t u8 = 0;
    uint16_t u16 = 0;
    uint32_t u32 = 0;
    uint64_t u64 = 0;
    switch (r.size) {
    case 1: myth_reader_u8(&r, &u8); break;
    case 2: myth_reader_u16(&r, &u16); break;
    case 4: myth_reader_u32(&r, &u32); break;
    default: myth_reader_u64(&r, &u64); break;
    }
    v->raw_type = raw_type;
    switch (raw_type) {
    case GGUF_U8:
        v->type = MYTH_META_UINT;
        v->v.u = u8;
        break;
    case GGUF_I8:
        v->type = MYTH_META_INT;
        v->v.i = (int8_t)u8;
        break;
    case GGUF_U16:
        v->type = MYTH_META_UINT;
        v->v.u = u16;
        break;
    case GGUF_I16:
        v->type = MYTH_META_INT;
        v->v.i = (int16_t)u16;
        break;
    case GGUF_U32:
        v->type = MYTH_META_UINT;
        v->v.u = u32;
        break;
    case GGUF_I32:
        v->type = MYTH_META_INT;
        v->v.i = (int32_t)u32;
        break;
    case GGUF_F32:
        v->type = MYTH_META_FLOAT;
        v->v.f = (double)myth_bits_f32(u32);
        break;
    case GGUF_BOOL:
        v->type = MYTH_META_BOOL;
        v->v.b = u8 != 0;
        break;
    case GGUF_U64:
        v->type = MYTH_META_UINT;
        v->v.u = u64;
        break;
    case GGUF_I64:
        v->type = MYTH_META_INT;
        v->v.i = (int64_t)u64;
        break;
    case GGUF_F64:
        v->type = MYTH_META_FLOAT;
        memcpy(&v->v.f, &u64, 8);
        break;
    default: v->type = MYTH_META_NULL; break;
    }
}

/* ---- arrays ---- */

static bool item_of(myth_meta_value *out, const myth_meta_value *a, uint64_t idx)
{
    if (a->type != MYTH_META_ARRAY || idx >= a->count)
        return false;
    uint32_t size = a->raw ? myth_meta_gguf_size(a->raw_type) : 0;
    if (size)
        myth_meta_gguf_scalar(out, a->raw_type, a->raw + idx * size);
    else if (a->items)
        *out = a->items[idx];
    else
        return false;
    return true;
}

bool myth_meta_item_i64(int64_t *out, const myth_meta_value *a, uint64_t idx)
{
    myth_meta_value v;
    return item_of(&v, a, idx) && as_i64(out, &v);
}

bool myth_meta_item_f64(double *out, const myth_meta_value *a, uint64_t idx)
{
    myth_meta_value v;
    return item_of(&v, a, idx) && as_f64(out, &v);
}

bool myth_meta_item_bool(bool *out, const myth_meta_value *a, uint64_t idx)
{
    myth_meta_value v;
    if (!item_of(&v, a, idx) || v.type != MYTH_META_BOOL)
        return false;
    *out = v.v.b;
    return true;
}

/* A GGUF string at byte *off of the array's elements. */
static bool raw_str(myth_str *out, const myth_meta_value *a, uint64_t *off)
{
    myth_reader r = {a->raw, a->raw_bytes, *off};
    uint64_t len;
    const unsigned char *p;
    if (!myth_reader_u64(&r, &len) || !(p = myth_reader_take(&r, len)))
        return false;
    *out = (myth_str){(const char *)p, (size_t)len};
    *off = r.pos;
    return true;
}

bool myth_meta_next_str(myth_str *out, const myth_meta_value *a, uint64_t *pos)
{
    if (a->type != MYTH_META_ARRAY || a->elem != MYTH_META_STRING)
        return false;
    if (a->raw)
        return raw_str(out, a, pos);
    if (!a->items || *pos >= a->count)
        return false;
    *out = a->items[(*pos)++].v.s;
    return true;
}

bool myth_meta_item_str(myth_str *out, const myth_meta_value *a, uint64_t idx)
{
    if (a->type != MYTH_META_ARRAY || a->elem != MYTH_META_STRING || idx >= a->count)
        return false;
    uint64_t off = 0;
    if (!a->raw)
        return myth_meta_next_str(out, a, &idx);
    if (a->str_off) {
        off = a->str_off[idx];
        return raw_str(out, a, &off);
    }
    for (uint64_t i = 0; i <= idx; i++)
        if (!raw_str(out, a, &off))
            return false;
    return true;
}
