/* context.c - see context.h. A file is cut as for an index, which gives its definitions and uses; an index is asked by
 * name. */
#include "context.h"

#include "frontend/inspect/prompt/comments.h"
#include "frontend/inspect/prompt/material.h"

#include <ctype.h>
#include <string.h>

enum {
    BEFORE = 2, /* lines of code before a call */
    BEHIND = 1,
    CALLS = 64,       /* calls of a function whose definitions are looked for */
    OTHER_FILES = 64, /* most that are held */
};

/* A definition or a call: lines of a file. */
typedef struct {
    const myth_source *src;
    const unsigned char *bare;
    uint32_t first, last;
} span;

struct myth_context {
    myth_mem *mem;
    myth_context_opts o;
    myth_chunker *chunker;
    myth_material *others; /* files that the index led to */
    const myth_source *src;
    const unsigned char *bare;
    const char *language;
    myth_chunks chunks; /* of src */
    bool is_cut;
    myth_context_list list;
    char *text[MYTH_CONTEXT_ITEMS]; /* the bytes of the items, and behind them their symbols */
    /* the function that is asked about */
    const char *name;
    uint32_t line0, line1;
    bool is_bare;
};

static myth_status no_room(const char *what, myth_error *err)
{
    return myth_fail(err, MYTH_ENOMEM, "context: no room for %s", what);
}

/* ---- names ---- */

/* The last name of an expression: "get" of "s->get" and of "A::get". */
static const char *last_name(const char *s)
{
    const char *at = s;
    for (const char *p = s; *p; p++)
        if (*p == '.' || *p == ':' || *p == '>' || *p == '#')
            at = p + 1;
    return at;
}

static const char *name_at(const myth_context *c, uint32_t off) { return c->chunks.names + off; }

static bool is_callable(myth_symbol_kind kind)
{
    return kind == MYTH_SYMBOL_FUNCTION || kind == MYTH_SYMBOL_METHOD || kind == MYTH_SYMBOL_MACRO;
}

static bool is_inside(const myth_context *c, uint32_t line) { return line >= c->line0 && line <= c->line1; }

/* The function that is asked about; NULL: the parser names none. */
static const myth_symbol *own_symbol(const myth_context *c)
{
    for (uint32_t i = 0; i < c->chunks.n_symbol; i++) {
        const myth_symbol *s = &c->chunks.symbol[i];
        if (is_callable(s->kind) && is_inside(c, s->name_line) && strcmp(name_at(c, s->name), c->name) == 0)
            return s;
    }
    return NULL;
}

/* Whether a line names something of an object or a module: "get" in "s->get(s)". */
static bool has_receiver(const myth_context *c, uint32_t line, const char *name)
{
    const size_t n_name = strlen(name);
    if (line < 1 || line > c->src->n_line)
        return false;
    const unsigned char *text = c->src->bytes + c->src->line[line - 1].off;
    for (uint32_t i = 1; i + n_name <= c->src->line[line - 1].len; i++)
        if (memcmp(text + i, name, n_name) == 0 && (text[i - 1] == '.' || text[i - 1] == '>' || text[i - 1] == ':'))
            return true;
    return false;
}

/* What the file defines under a name: the one of the same type as the function, else the only one. of_object: a
 * function that belongs to no type is not meant. */
static const myth_symbol *defined_here(const myth_context *c, const char *name, bool of_object, bool *is_any)
{
    const myth_symbol *own = own_symbol(c), *found = NULL;
    uint32_t n = 0;
    *is_any = false;
    for (uint32_t i = 0; i < c->chunks.n_symbol; i++) {
        const myth_symbol *s = &c->chunks.symbol[i];
        if (!is_callable(s->kind) || strcmp(name_at(c, s->name), name) != 0)
            continue;
        *is_any = true;
        if (is_inside(c, s->name_line) || (of_object && !s->parent))
            continue;
        if (own && own->parent && strcmp(name_at(c, s->parent), name_at(c, own->parent)) == 0)
            return s;
        found = s;
        n++;
    }
    return n == 1 ? found : NULL;
}

/* ---- lines ---- */

static uint32_t len_of(const unsigned char *bytes, const myth_line *line)
{
    return myth_comments_line(bytes + line->off, line->len);
}

/* Whether a line says something: more than comments, blanks and braces. */
static bool has_code(const span *s, uint32_t number)
{
    const myth_line *line = &s->src->line[number - 1];
    for (uint32_t i = 0; i < line->len; i++)
        if (isalnum(s->bare[line->off + i]))
            return true;
    return false;
}

/* Adds lines of code before and behind the span, none of them outside of low .. high. */
static void widen(span *s, uint32_t low, uint32_t high)
{
    for (uint32_t n = 0, at = s->first; n < BEFORE && at > low;)
        if (has_code(s, --at)) {
            s->first = at;
            n++;
        }
    for (uint32_t n = 0, at = s->last; n < BEHIND && at < high;)
        if (has_code(s, ++at)) {
            s->last = at;
            n++;
        }
}

/* Copies the span's lines to dst, which has room for its bytes; returns how many were written. */
static size_t copy_lines(char *dst, const myth_context *c, const span *s, bool *has_comments)
{
    const unsigned char *from = c->is_bare ? s->bare : s->src->bytes;
    size_t n = 0;
    uint32_t n_line = 0;
    for (uint32_t i = s->first; i <= s->last && n_line < MYTH_CONTEXT_LINES; i++) {
        const myth_line *line = &s->src->line[i - 1];
        const uint32_t len = len_of(from, line);
        if (c->is_bare && !len && len_of(s->src->bytes, line)) /* there was a comment alone */
            continue;
        *has_comments |= memcmp(s->src->bytes + line->off, s->bare + line->off, line->len) != 0;
        memcpy(dst + n, from + line->off, len);
        dst[n + len] = '\n';
        n += len + 1;
        n_line++;
    }
    return n;
}

/* Appends the span's lines to the list. */
static myth_status add(myth_context *c, const span *s, const char *symbol, bool is_caller, myth_error *err)
{
    if (s->first < 1 || s->first > s->last || s->last > s->src->n_line || c->list.n == MYTH_CONTEXT_ITEMS)
        return MYTH_OK;
    const myth_line *from = &s->src->line[s->first - 1], *to = &s->src->line[s->last - 1];
    const size_t most = to->off + to->len - from->off + (s->last - s->first) + 2, n_symbol = strlen(symbol) + 1;
    char *text = myth_alloc(c->mem, MYTH_MEM_OTHER, "context", most + n_symbol);
    myth_context_item *item = &c->list.item[c->list.n];
    if (!text)
        return no_room("lines", err);
    const size_t n = copy_lines(text, c, s, &c->list.has_comments);
    memcpy(text + most, symbol, n_symbol);
    *item = (myth_context_item){.symbol = text + most, .is_caller = is_caller};
    const myth_status st = myth_source_open(&item->src, c->mem, s->src->path, (const unsigned char *)text, n, err);
    if (st != MYTH_OK || !n) {
        myth_source_close(&item->src);
        myth_free(c->mem, text);
        return st;
    }
    c->text[c->list.n++] = text;
    return MYTH_OK;
}

static span in_file(const myth_context *c, uint32_t first, uint32_t last)
{
    return (span){.src = c->src, .bare = c->bare, .first = first, .last = last};
}

/* Appends lines of a file of the index, in the range low .. high around a call. */
static myth_status add_other(myth_context *c, const char *path, const char *symbol, uint32_t first, uint32_t last,
                             const uint32_t *around, myth_error *err)
{
    uint32_t source;
    if (myth_material_source(c->others, &source, path, NULL) != MYTH_OK)
        return MYTH_OK;
    const myth_source *src = myth_material_of(c->others, source);
    if (first < 1 || last > src->n_line || (around && (around[0] < 1 || around[1] > src->n_line)))
        return MYTH_OK;
    unsigned char *bare = myth_alloc(c->mem, MYTH_MEM_OTHER, "context", src->len + 1u);
    if (!bare)
        return no_room("a file", err);
    memcpy(bare, src->bytes, src->len);
    myth_comments_blank(bare, src->len, myth_language_get(myth_detect_language(path, src->bytes, src->len)));
    span s = {.src = src, .bare = bare, .first = first, .last = last};
    if (around)
        widen(&s, around[0], around[1]);
    const myth_status st = add(c, &s, symbol, around != NULL, err);
    myth_free(c->mem, bare);
    return st;
}

/* ---- definitions ---- */

static bool is_listed(const myth_context *c, const char *name)
{
    for (uint32_t i = 0; i < c->list.n; i++)
        if (!c->list.item[i].is_caller && strcmp(c->list.item[i].symbol, name) == 0)
            return true;
    return false;
}

/* The strongest reason for which the function uses the definition; MYTH_WHY_NAME where it is the name alone. */
static myth_why reason(const myth_context *c, const myth_usage_definition *d)
{
    for (uint32_t i = 0; i < d->callers.n; i++) {
        const myth_usage_place *p = &d->callers.place[i];
        if (is_inside(c, p->line) && strcmp(p->path, c->src->path) == 0)
            return p->strength;
    }
    return MYTH_WHY_NAME;
}

static myth_status add_defined_elsewhere(myth_context *c, const char *name, myth_error *err)
{
    myth_usage u = {0};
    const myth_usage_definition *best = NULL;
    myth_status st = myth_usage_find_uses(&u, c->o.index, name, c->o.cancel, err);
    for (uint32_t i = 0; i < u.n_definition && st == MYTH_OK; i++) {
        const myth_usage_definition *d = &u.definition[i];
        const myth_why why = reason(c, d);
        if (is_callable(d->kind) && !d->is_test && why > (best ? reason(c, best) : MYTH_WHY_NAME))
            best = d;
    }
    if (st == MYTH_OK && best && strcmp(best->path, c->src->path) != 0)
        st = add_other(c, best->path, name, best->line0, best->line1, NULL, err);
    myth_usage_free(&u);
    return st;
}

/* Appends the definition of what is called by this name, where it is known which one is meant. */
static myth_status add_definition(myth_context *c, const char *name, bool of_object, myth_error *err)
{
    bool is_any;
    if (!*name || strcmp(name, c->name) == 0 || is_listed(c, name) || c->list.n == MYTH_CONTEXT_ITEMS)
        return MYTH_OK;
    const myth_symbol *s = defined_here(c, name, of_object, &is_any);
    if (s) {
        const span lines = in_file(c, s->line0, s->line1);
        return add(c, &lines, name, false, err);
    }
    return is_any || !c->o.index ? MYTH_OK : add_defined_elsewhere(c, name, err);
}

static myth_status add_other_definitions(myth_context *c, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->chunks.n_ref && st == MYTH_OK && n < CALLS; i++) {
        const myth_ref *r = &c->chunks.ref[i];
        if (r->kind != MYTH_REF_CALL || !is_inside(c, r->line))
            continue;
        const char *name = name_at(c, r->name);
        st = add_definition(c, name, has_receiver(c, r->line, name), err);
        n++;
    }
    return st;
}

/* ---- calls ---- */

/* The lines of the innermost definition around a line; the line's own where none is. */
static void lines_around(const myth_context *c, uint32_t line, uint32_t *low, uint32_t *high)
{
    *low = *high = line;
    for (uint32_t i = 0; i < c->chunks.n_symbol; i++) {
        const myth_symbol *s = &c->chunks.symbol[i];
        if (is_callable(s->kind) && s->line0 <= line && line <= s->line1 && s->line1 <= c->src->n_line &&
            (*low == *high || s->line1 - s->line0 < *high - *low)) {
            *low = s->line0;
            *high = s->line1;
        }
    }
}

static myth_status add_callers_here(myth_context *c, uint32_t *n, myth_error *err)
{
    const myth_symbol *own = own_symbol(c);
    bool is_any;
    uint32_t last = 0;
    myth_status st = MYTH_OK;
    /* a second definition of the name may be the one that is called */
    if (!own || (!own->parent && defined_here(c, c->name, false, &is_any)))
        return MYTH_OK;
    for (uint32_t i = 0; i < c->chunks.n_ref && st == MYTH_OK && *n < MYTH_CONTEXT_CALLERS; i++) {
        const myth_ref *r = &c->chunks.ref[i];
        uint32_t low, high;
        if (r->kind != MYTH_REF_CALL || is_inside(c, r->line) || strcmp(name_at(c, r->name), c->name) != 0 ||
            r->line <= last || r->line > c->src->n_line)
            continue;
        lines_around(c, r->line, &low, &high);
        span s = in_file(c, r->line, r->line);
        widen(&s, low, high);
        last = s.last;
        st = add(c, &s, name_at(c, r->within), true, err);
        ++*n;
    }
    return st;
}

static myth_status add_callers_elsewhere(myth_context *c, uint32_t *n, myth_error *err)
{
    myth_usage u = {0};
    myth_status st = myth_usage_find_uses(&u, c->o.index, c->name, c->o.cancel, err);
    for (uint32_t i = 0; i < u.n_definition && st == MYTH_OK; i++) {
        const myth_usage_definition *d = &u.definition[i];
        if (!is_inside(c, d->line) || strcmp(d->path, c->src->path) != 0)
            continue;
        for (uint32_t k = 0; k < d->callers.n && st == MYTH_OK && *n < MYTH_CONTEXT_CALLERS; k++) {
            const myth_usage_place *p = &d->callers.place[k];
            const uint32_t around[2] = {p->line0, p->line1};
            if (p->kind != MYTH_REF_CALL || p->strength == MYTH_WHY_NAME || strcmp(p->path, c->src->path) == 0)
                continue;
            st = add_other(c, p->path, p->name, p->line, p->line, around, err);
            ++*n;
        }
    }
    myth_usage_free(&u);
    return st;
}

/* ---- life ---- */

static void clear_list(myth_context *c)
{
    for (uint32_t i = 0; i < c->list.n; i++) {
        myth_source_close(&c->list.item[i].src);
        myth_free(c->mem, c->text[i]);
    }
    c->list.n = 0;
    c->list.has_comments = false;
}

myth_status myth_context_open(myth_context **out, const myth_context_opts *opts, myth_error *err)
{
    myth_mem *mem;
    *out = NULL;
    myth_status st = myth_mem_open(&mem, 0, err);
    if (st != MYTH_OK)
        return st;
    myth_context *c = myth_alloc(mem, MYTH_MEM_OTHER, "context", sizeof(*c));
    if (!c) {
        myth_mem_close(mem);
        return no_room("its state", err);
    }
    c->mem = mem;
    c->o = *opts;
    *out = c;
    return MYTH_OK;
}

static void drop_file(myth_context *c)
{
    clear_list(c);
    if (c->is_cut)
        myth_chunks_free(&c->chunks, c->mem);
    c->is_cut = false;
    if (c->others && myth_material_n_source(c->others) > OTHER_FILES) {
        myth_material_close(c->others);
        c->others = NULL;
    }
}

void myth_context_close(myth_context *c)
{
    if (!c)
        return;
    myth_mem *mem = c->mem;
    drop_file(c);
    myth_material_close(c->others);
    myth_chunker_close(c->chunker);
    myth_free(mem, c);
    myth_mem_close(mem);
}

myth_status myth_context_file(myth_context *c, const myth_source *src, const unsigned char *bare, const char *language,
                              myth_error *err)
{
    myth_status st = MYTH_OK;
    drop_file(c);
    c->src = src;
    c->bare = bare;
    c->language = language;
    if (!c->o.worker_path)
        return MYTH_OK;
    if (!c->chunker)
        MYTH_TRY(myth_chunker_open(&c->chunker, c->mem, c->o.worker_path, err));
    if (c->o.index && !c->others)
        MYTH_TRY(myth_material_open(&c->others, c->mem, myth_index_root(c->o.index), err));
    MYTH_TRY(myth_chunk_file(&c->chunks, c->chunker, language, src->path, src->bytes, src->len, err));
    c->is_cut = true;
fail:
    return st;
}

myth_status myth_context_find(const myth_context_list **out, myth_context *c, const char *function, uint32_t line0,
                              uint32_t line1, const char *const *about, uint32_t n_about, bool is_bare, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t n_caller = 0;
    clear_list(c);
    *out = &c->list;
    c->name = last_name(function);
    c->line0 = line0;
    c->line1 = line1;
    c->is_bare = is_bare;
    if (!c->is_cut || !c->chunks.is_structured)
        return MYTH_OK;
    for (uint32_t i = 0; i < n_about; i++)
        MYTH_TRY(add_definition(c, last_name(about[i]), last_name(about[i]) != about[i], err));
    if (*c->name) {
        MYTH_TRY(add_callers_here(c, &n_caller, err));
        if (c->o.index && n_caller < MYTH_CONTEXT_CALLERS)
            MYTH_TRY(add_callers_elsewhere(c, &n_caller, err));
    }
    MYTH_TRY(add_other_definitions(c, err));
fail:
    return st;
}
