/* cut.c - see cut.h. */
#include "cut.h"
#include "engine/base/array.h"
#include "engine/base/hash.h"

#include <string.h>

static inline void count(myth_cut_mark *now, const unsigned char *text, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        now->lines += text[i] == '\n';
        now->solid += !myth_is_blank(text[i]);
    }
}

void myth_cut_open(myth_cut *cut, myth_mem *mem, const unsigned char *text, uint64_t n)
{
    *cut = (myth_cut){.mem = mem, .text = text, .n = n};
    cut->mark = myth_alloc_n(mem, MYTH_MEM_OTHER, "line marks", n / CUT_MARK + 1, sizeof(*cut->mark));
    if (!cut->mark) {
        cut->is_out_of_memory = true;
        return;
    }
    myth_cut_mark now = {0, 0};
    uint64_t at = 0;
    for (; n - at >= CUT_MARK; at += CUT_MARK) {
        cut->mark[at / CUT_MARK] = now;
        count(&now, text + at, CUT_MARK); /* a constant length lets the compiler unroll the loop */
    }
    cut->mark[at / CUT_MARK] = now;
    count(&now, text + at, n - at);
}

void myth_cut_close(myth_cut *cut)
{
    if (!cut->mem)
        return;
    myth_chunks_free(&cut->out, cut->mem);
    myth_free(cut->mem, cut->mark);
    myth_free(cut->mem, cut->slot);
    *cut = (myth_cut){0};
}

myth_status myth_cut_take(myth_cut *cut, myth_chunks *out, myth_error *err)
{
    myth_cut_name(cut, "", 0); /* offset 0 is the empty name */
    if (cut->is_out_of_memory)
        return myth_fail(err, MYTH_ENOMEM, "chunks of a file of %llu bytes", (unsigned long long)cut->n);
    *out = cut->out;
    cut->out = (myth_chunks){0};
    cut->cap_chunk = cut->cap_symbol = cut->cap_ref = cut->cap_names = 0;
    return MYTH_OK;
}

bool myth_cut_grow(myth_cut *cut, void *list, uint32_t *cap, uint32_t n, size_t bytes)
{
    if (cut->is_out_of_memory)
        return false;
    if (!myth_array_more32(cut->mem, MYTH_MEM_OTHER, "chunks", list, n, 1, cap, bytes)) {
        cut->is_out_of_memory = true;
        return false;
    }
    return true;
}

uint32_t myth_cut_line(const myth_cut *cut, uint64_t off)
{
    uint32_t line = cut->mark[off / CUT_MARK].lines + 1;
    for (uint64_t i = off - off % CUT_MARK; i < off; i++)
        line += cut->text[i] == '\n';
    return line;
}

static uint32_t solid_before(const myth_cut *cut, uint64_t off)
{
    uint32_t solid = cut->mark[off / CUT_MARK].solid;
    for (uint64_t i = off - off % CUT_MARK; i < off; i++)
        solid += !myth_is_blank(cut->text[i]);
    return solid;
}

uint64_t myth_cut_solid(const myth_cut *cut, uint64_t from, uint64_t to)
{
    return solid_before(cut, to) - solid_before(cut, from);
}

bool myth_cut_fits(const myth_cut *cut, uint64_t from, uint64_t to)
{
    return to - from <= MYTH_CHUNK_BYTES ||
           (to - from <= CUT_RAW_BYTES && myth_cut_solid(cut, from, to) <= MYTH_CHUNK_BYTES);
}

uint64_t myth_cut_line_start(const myth_cut *cut, uint64_t off)
{
    while (off > 0 && cut->text[off - 1] != '\n')
        off--;
    return off;
}

bool myth_cut_begins_line(const myth_cut *cut, uint64_t off)
{
    while (off > 0 && myth_is_blank(cut->text[off - 1]) && cut->text[off - 1] != '\n')
        off--;
    return off == 0 || cut->text[off - 1] == '\n';
}

/* ---- names: open addressing ---- */

static uint32_t *find_slot(myth_cut *cut, const unsigned char *name, uint64_t n)
{
    uint32_t i = (uint32_t)myth_hash_bytes(name, n) & (cut->n_slot - 1);
    for (; cut->slot[i]; i = (i + 1) & (cut->n_slot - 1)) {
        const char *have = cut->out.names + cut->slot[i];
        if (strncmp(have, (const char *)name, n) == 0 && have[n] == '\0')
            break;
    }
    return &cut->slot[i];
}

static bool grow_slots(myth_cut *cut)
{
    uint32_t n = cut->n_slot ? cut->n_slot * 2 : 256;
    uint32_t *slot = myth_alloc_n(cut->mem, MYTH_MEM_OTHER, "names", n, sizeof(*slot));
    if (!slot) {
        cut->is_out_of_memory = true;
        return false;
    }
    myth_free(cut->mem, cut->slot);
    cut->slot = slot;
    cut->n_slot = n;
    for (uint32_t at = 1; at < cut->out.n_names; at += (uint32_t)strlen(cut->out.names + at) + 1)
        *find_slot(cut, (const unsigned char *)cut->out.names + at, strlen(cut->out.names + at)) = at;
    return true;
}

uint32_t myth_cut_name(myth_cut *cut, const void *name, uint64_t n)
{
    myth_chunks *out = &cut->out;
    const unsigned char *end = n ? memchr(name, 0, n) : NULL;
    if (end)
        n = (uint64_t)(end - (const unsigned char *)name);
    if (n > 255)
        n = 255; /* a longer name is data */
    while (out->n_names + n + 2 > cut->cap_names)
        if (!myth_cut_grow(cut, &out->names, &cut->cap_names, cut->cap_names, 1))
            return 0;
    if (out->n_names == 0)
        out->names[out->n_names++] = '\0';
    if (n == 0 || cut->is_out_of_memory || (cut->n_name * 2 >= cut->n_slot && !grow_slots(cut)))
        return 0;
    uint32_t *slot = find_slot(cut, name, n);
    if (*slot == 0) {
        *slot = out->n_names;
        memcpy(out->names + out->n_names, name, n);
        out->names[out->n_names + n] = '\0';
        out->n_names += (uint32_t)n + 1;
        cut->n_name++;
    }
    return *slot;
}

/* ---- lists ---- */

myth_chunk *myth_cut_add_chunk(myth_cut *cut, uint64_t off, uint64_t end, myth_chunk_kind kind)
{
    myth_chunks *out = &cut->out;
    if (off == end || !myth_cut_grow(cut, &out->chunk, &cut->cap_chunk, out->n_chunk, sizeof(*out->chunk)))
        return NULL;
    myth_chunk *c = &out->chunk[out->n_chunk++];
    memset(c, 0, sizeof(*c)); /* padding too: answers are compared and sent as bytes */
    c->off = off;
    c->bytes = end - off;
    c->line0 = myth_cut_line(cut, off);
    c->line1 = myth_cut_line(cut, end - 1);
    c->kind = kind;
    return c;
}

myth_symbol *myth_cut_add_symbol(myth_cut *cut, uint64_t off, uint64_t end, myth_symbol_kind kind)
{
    myth_chunks *out = &cut->out;
    if (off == end || !myth_cut_grow(cut, &out->symbol, &cut->cap_symbol, out->n_symbol, sizeof(*out->symbol)))
        return NULL;
    myth_symbol *s = &out->symbol[out->n_symbol++];
    memset(s, 0, sizeof(*s));
    s->off = off;
    s->bytes = end - off;
    s->line0 = s->name_line = myth_cut_line(cut, off);
    s->line1 = myth_cut_line(cut, end - 1);
    s->kind = kind;
    return s;
}

void myth_cut_add_ref(myth_cut *cut, uint32_t name, uint32_t within, uint32_t line, myth_ref_kind kind)
{
    myth_chunks *out = &cut->out;
    if (name == 0 || !myth_cut_grow(cut, &out->ref, &cut->cap_ref, out->n_ref, sizeof(*out->ref)))
        return;
    out->ref[out->n_ref++] = (myth_ref){.name = name, .within = within, .line = line, .kind = kind};
}
