/* split.c - chooses the last line of a part of a file: a border that the parser knows, or, without one, the line that
 * looks best by open brackets, blank lines and indentation. */
#include "split.h"

#include "engine/base/hash.h"
#include "retrieval/retrieval.h"

#include <string.h>

/* ---- borders from the parser ---- */

/* When several definitions end at one line, the outermost counts. */
static void mark_border(uint32_t *border, const myth_source *src, uint32_t n, uint32_t kind, uint64_t rank)
{
    const uint32_t value = kind << MYTH_BORDER_KIND | (uint32_t)(rank & ((1u << MYTH_BORDER_KIND) - 1));
    if (n >= 1 && n < src->n_line && border[n] >> MYTH_BORDER_KIND < kind)
        border[n] = value;
}

static void mark_borders(uint32_t *border, const myth_source *src, const myth_chunks *c)
{
    for (uint32_t i = 0; i < c->n_symbol; i++)
        mark_border(border, src, c->symbol[i].line1, c->symbol[i].parent ? MYTH_BORDER_INNER : MYTH_BORDER_OUTER, 0);
    for (uint32_t i = 1; i < c->n_chunk; i++)
        if (!c->chunk[i].is_part && c->chunk[i].line0 > c->chunk[i - 1].line1)
            mark_border(border, src, c->chunk[i].line0 - 1, c->chunk[i].parent ? MYTH_BORDER_INNER : MYTH_BORDER_OUTER,
                        0);
}

/* Chunks do not count here, because where one ends depends on the sizes of those before it. */
static void mark_names(uint32_t *border, const myth_source *src, const myth_chunks *c)
{
    for (uint32_t i = 0; i < c->n_symbol; i++) {
        const myth_symbol *s = &c->symbol[i];
        const char *name = c->names + s->name, *parent = c->names + s->parent;
        mark_border(border, src, s->line1, s->parent ? MYTH_BORDER_INNER : MYTH_BORDER_OUTER,
                    myth_hash_bytes(name, strlen(name)) + 3 * myth_hash_bytes(parent, strlen(parent)));
    }
    for (uint32_t i = 0; i < c->n_symbol; i++) /* what is before a definition ends there, too */
        mark_border(border, src, c->symbol[i].line0 - 1, MYTH_BORDER_INNER, 0);
}

static bool is_blank(const myth_source *src, uint32_t n) { return src->line[n - 1].text_len == 0; }

static void mark_paragraphs(uint32_t *border, const myth_source *src)
{
    for (uint32_t n = 1; n < src->n_line; n++) {
        const myth_line *next = &src->line[n];
        const unsigned char *p = src->bytes + next->off;
        if (is_blank(src, n) && next->len && !strchr(" \t})]", *p))
            mark_border(border, src, n, MYTH_BORDER_OUTER, myth_hash_bytes(p, next->len));
    }
}

uint32_t myth_split_foremost(const uint32_t *border, const myth_source *src, uint32_t first, uint32_t last)
{
    uint32_t best = 0;
    for (uint32_t n = first; n < last; n++)
        if (border[n] > (best ? border[best] : 0) && src->line[first - 1].next < n && src->line[n].next < last)
            best = n;
    return best;
}

myth_status myth_split_borders(uint32_t **out, myth_mem *mem, const char *worker_path, const myth_source *src,
                               bool by_name, myth_error *err)
{
    myth_chunker *chunker = NULL;
    myth_chunks chunks = {0};
    myth_status st = MYTH_OK;
    const char *language = myth_detect_language(src->path, src->bytes, src->len);
    const bool is_parsed = worker_path && language && myth_chunk_has_grammar(language);
    *out = NULL;
    if (!src->n_line || (!is_parsed && !by_name))
        return MYTH_OK;
    if (is_parsed) {
        MYTH_TRY(myth_chunker_open(&chunker, mem, worker_path, err));
        MYTH_TRY(myth_chunk_file(&chunks, chunker, language, src->path, src->bytes, src->len, err));
    }
    if (chunks.is_structured || by_name) {
        *out = myth_alloc_n(mem, MYTH_MEM_STAGING, "borders", (size_t)src->n_line + 1, sizeof(**out));
        if (!*out)
            MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "%s: no room for %u borders", src->path, src->n_line));
        if (!chunks.is_structured)
            mark_paragraphs(*out, src);
        else if (by_name)
            mark_names(*out, src, &chunks);
        else
            mark_borders(*out, src, &chunks);
    }
fail:
    myth_chunks_free(&chunks, mem);
    myth_chunker_close(chunker);
    return st;
}

/* ---- borders from the text alone ---- */

/* Brackets that a line opens minus those that it closes. Brackets in quotes do not count. A quote that is not closed in
 * the line is taken for an apostrophe, as in a comment, and skipped. */
static int line_balance(const unsigned char *p, uint32_t len)
{
    int balance = 0;
    for (uint32_t i = 0; i < len; i++) {
        unsigned char c = p[i];
        if (c == '"' || c == '\'') {
            uint32_t end = i + 1;
            while (end < len && p[end] != c)
                end += p[end] == '\\' ? 2 : 1;
            if (end < len)
                i = end;
        } else if (c == '{' || c == '(' || c == '[') {
            balance++;
        } else if (c == '}' || c == ')' || c == ']') {
            balance--;
        }
    }
    return balance;
}

/* How good it is to cut between lines n and n + 1, with depth brackets open after n; the largest value is best. That no
 * bracket is open (4) outweighs the rest together: line n is blank (2), line n + 1 is not indented and closes no
 * bracket (1). */
static int border_value(const myth_source *src, uint32_t n, int depth)
{
    const myth_line *next = &src->line[n];
    unsigned char c = next->len ? src->bytes[next->off] : ' ';
    int value = depth <= 0 ? 4 : 0;
    value += is_blank(src, n) ? 2 : 0;
    value += c != ' ' && c != '\t' && c != '}' && c != ')' ? 1 : 0;
    return value;
}

/* The best line in the last half of first .. last; of equally good ones the last. The first half is read too, because a
 * bracket may be opened there. */
static uint32_t best_border(const myth_source *src, uint32_t first, uint32_t last)
{
    uint32_t from = first + (last - first) / 2, best = last;
    int depth = 0, most = -1;
    for (uint32_t n = first; n <= last; n++) {
        depth += line_balance(src->bytes + src->line[n - 1].off, src->line[n - 1].len);
        if (depth < 0)
            depth = 0; /* a block that was opened before the part ends here */
        int value = n < from ? -1 : border_value(src, n, depth);
        if (value >= most) {
            most = value;
            best = n;
        }
    }
    return best;
}

/* The last of the best borders in the last three quarters of first .. last; 0 when there is none. */
static uint32_t last_border(const uint32_t *border, uint32_t first, uint32_t last)
{
    uint32_t best = 0, from = first + (last - first) / 4;
    for (uint32_t n = last + 1; n-- > from;)
        if (border[n] >> MYTH_BORDER_KIND > (best ? border[best] >> MYTH_BORDER_KIND : MYTH_BORDER_NONE))
            best = n;
    return best;
}

myth_status myth_split_next(uint32_t *last, const myth_source *src, uint32_t first, uint32_t end, uint32_t guess,
                            const uint32_t *border, myth_split_fits *fits, void *user, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t yes = first - 1, no = end + 1, step = guess;
    /* Lines first .. yes fit, first .. no do not. The step is doubled until some lines do not fit; then the range
     * between yes and no is halved. */
    while (yes + 1 < no) {
        uint32_t n = no <= end ? yes + (no - yes) / 2 : step < end - yes ? yes + step : end;
        bool does = false;
        if ((st = fits(user, first, n, &does, err)) != MYTH_OK)
            return st;
        if (does)
            yes = n;
        else
            no = n;
        step = step < end ? 2 * step : step;
    }
    if (yes < first)
        return myth_fail(err, MYTH_ELIMIT, "%s: line %u alone does not fit a prompt", src->path, first);
    uint32_t at = yes < end && border ? last_border(border, first, yes) : 0;
    *last = yes == end ? yes : at ? at : best_border(src, first, yes);
    return MYTH_OK;
}
