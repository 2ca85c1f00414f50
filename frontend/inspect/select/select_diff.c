/* select_diff.c - selects the definitions that a diff changes; their type's first lines, the file's imports, callers,
 * callees and tests become context.
 *
 * Around    a changed line selects the innermost function, method or test around it; without one, the innermost short
 *           type or variable; without that, BESIDE lines on each side, up to the definitions that are selected. Where
 *           lines were removed, the definition must hold both the line before the gap and the line after it
 * New       a file that is new, or of which four fifths are new, is selected whole: prompts cut it at its definitions
 * Removed   the removed lines go with the file into the material; a prompt shows them beside the definition that they
 *           stood in
 * Text      definitions are found in the text of the new side, because the index knows only the working tree, and the
 *           staged or committed text may differ from it */
#include "select_impl.h"
#include "engine/base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BESIDE = 3, HEAD_LINES = 12, SIGNATURE_LINES = 16, IMPORT_LINES = 30, HEAD_BYTES = 8 << 10 };

static myth_status no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "diff: no memory"); }

void myth_changes_free(myth_changes *c)
{
    for (uint32_t i = 0; i < c->n_file; i++)
        myth_free(c->mem, c->file[i].subject);
    myth_free(c->mem, c->file);
    myth_free(c->mem, c->place);
    *c = (myth_changes){0};
}

/* ---- which definitions ---- */

/* Lines that will become a subject, and the index of the symbol that they define; UINT32_MAX = no symbol. core0..core1:
 * without a symbol, those of the lines that changed; core1 = core0 - 1 when lines were only removed before core0. */
typedef struct {
    uint32_t first, last, symbol, core0, core1;
} span;

typedef struct {
    myth_mem *mem;
    const myth_chunks *chunks;
    uint32_t n_line;
    span *span;
    uint32_t n, cap;
} spans;

static bool runs(const myth_symbol *y)
{
    return y->kind == MYTH_SYMBOL_FUNCTION || y->kind == MYTH_SYMBOL_METHOD || y->kind == MYTH_SYMBOL_TEST ||
           y->kind == MYTH_SYMBOL_ROUTE || (y->kind == MYTH_SYMBOL_MACRO && y->line1 > y->line0);
}

static bool encloses(const myth_symbol *y)
{
    return (y->kind == MYTH_SYMBOL_CLASS || y->kind == MYTH_SYMBOL_TYPE || y->kind == MYTH_SYMBOL_VARIABLE ||
            y->kind == MYTH_SYMBOL_CONSTANT) &&
           y->line1 - y->line0 < MYTH_SELECT_WHOLE;
}

/* Returns the innermost symbol accepted by is_one that holds all lines first..last; UINT32_MAX = none. */
static uint32_t innermost(const myth_chunks *c, uint32_t first, uint32_t last, bool (*is_one)(const myth_symbol *y))
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < c->n_symbol; i++) {
        const myth_symbol *y = &c->symbol[i];
        if (!is_one(y) || y->line0 > first || y->line1 < last)
            continue;
        if (best == UINT32_MAX || y->line1 - y->line0 < c->symbol[best].line1 - c->symbol[best].line0)
            best = i;
    }
    return best;
}

static bool add_span(spans *s, uint32_t first, uint32_t last, uint32_t symbol)
{
    for (uint32_t i = 0; i < s->n && symbol != UINT32_MAX; i++)
        if (s->span[i].symbol == symbol)
            return true;
    if (!MYTH_ARRAY_ROOM(s->mem, MYTH_MEM_OTHER, "diff", &s->span, s->n, &s->cap))
        return false;
    s->span[s->n++] = (span){first, last, symbol, first, last};
    return true;
}

/* Selects the definition that holds first..last, or, without one, these lines and BESIDE lines on each side. */
static bool add_around(spans *s, uint32_t first, uint32_t last)
{
    uint32_t y = innermost(s->chunks, first, last, runs);
    if (y == UINT32_MAX)
        y = innermost(s->chunks, first, last, encloses);
    if (y != UINT32_MAX)
        return add_span(s, s->chunks->symbol[y].line0, s->chunks->symbol[y].line1, y);
    uint32_t from = first > BESIDE ? first - BESIDE : 1, to = last + BESIDE < s->n_line ? last + BESIDE : s->n_line;
    if (!add_span(s, from, to, UINT32_MAX))
        return false;
    s->span[s->n - 1].core0 = first;
    s->span[s->n - 1].core1 = last;
    return true;
}

/* Selects every definition that a changed range touches. Changed lines outside of definitions are selected with the
 * lines beside them. */
static bool add_range(spans *s, uint32_t first, uint32_t last)
{
    for (uint32_t line = first; line <= last;) {
        uint32_t y = innermost(s->chunks, line, line, runs), next = last + 1;
        if (y == UINT32_MAX)
            y = innermost(s->chunks, line, line, encloses);
        /* This step covers the lines up to the beginning of the next function or to the end of this definition. */
        for (uint32_t i = 0; i < s->chunks->n_symbol; i++) {
            const myth_symbol *k = &s->chunks->symbol[i];
            if (runs(k) && k->line0 > line && k->line0 < next)
                next = k->line0;
        }
        if (y != UINT32_MAX && s->chunks->symbol[y].line1 < next)
            next = s->chunks->symbol[y].line1 + 1;
        if (y != UINT32_MAX ? !add_span(s, s->chunks->symbol[y].line0, s->chunks->symbol[y].line1, y)
                            : !add_around(s, line, next - 1))
            return false;
        line = next;
    }
    return true;
}

static bool add_removed(spans *s, uint32_t before)
{
    const uint32_t line = before > s->n_line ? s->n_line : before, n = s->n;
    if (!(line > 1 ? add_around(s, line - 1, line) : add_around(s, 1, 1)))
        return false;
    if (s->n > n && before <= s->n_line) { /* the lines on both sides of the gap did not change */
        s->span[n].core0 = line;
        s->span[n].core1 = line - 1;
    }
    return true;
}

/* Takes the lines that selected definitions have out of those beside a change outside of definitions, so that each
 * definition stays a piece of its own, with its name. */
static void leave_definitions(spans *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        span *x = &s->span[i];
        for (uint32_t k = 0; k < s->n && x->symbol == UINT32_MAX; k++) {
            const span *y = &s->span[k];
            if (y->symbol == UINT32_MAX || y->last < x->first || y->first > x->last)
                continue;
            if (y->last < x->core0)
                x->first = y->last + 1;
            else if (y->first > x->core1)
                x->last = y->first - 1;
        }
    }
    for (uint32_t i = 0; i < s->n; i++)
        if (s->span[i].first <= s->span[i].last)
            s->span[n++] = s->span[i];
    s->n = n;
}

static int by_place(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->last < y->last) - (x->last > y->last);
}

static bool is_mostly_new(const myth_diff_file *f, uint32_t n_line)
{
    const uint32_t n_new = f->lines_added - f->lines_moved;
    return n_new && (f->kind == MYTH_DIFF_ADDED || (uint64_t)n_new * 5 >= (uint64_t)n_line * 4);
}

static myth_status find_spans(spans *s, const myth_diff_file *f, myth_error *err)
{
    bool ok = true;
    if (is_mostly_new(f, s->n_line))
        return add_span(s, 1, s->n_line, UINT32_MAX) ? MYTH_OK : no_memory(err);
    for (uint32_t i = 0; i < f->n_added && ok; i++)
        ok = add_range(s, f->added[i].first < s->n_line ? f->added[i].first : s->n_line,
                       f->added[i].last < s->n_line ? f->added[i].last : s->n_line);
    for (uint32_t i = 0; i < f->n_removed && ok; i++) {
        bool is_change = false; /* added lines replace the removed ones: add_range selected the place */
        for (uint32_t k = 0; k < f->n_added && !is_change; k++)
            is_change = f->added[k].first == f->removed[i].before;
        ok = is_change || add_removed(s, f->removed[i].before);
    }
    leave_definitions(s);
    if (ok && s->n)
        qsort(s->span, s->n, sizeof(*s->span), by_place);
    return ok ? MYTH_OK : no_memory(err);
}

/* ---- one file ---- */

typedef struct {
    myth_changes *out;
    myth_select *s;
    myth_material *m;
    myth_select_counts *counts;
    uint32_t n_lookup;
    bool with_gone;
} selection;

static myth_status skip_file(selection *x, myth_changed_file *c, const char *why, bool is_missed, myth_error *err)
{
    snprintf(c->reason, sizeof(c->reason), "%s", why);
    c->skipped = c->reason;
    c->is_missed = is_missed;
    x->out->n_skipped++;
    x->out->n_missed += is_missed;
    return is_missed ? myth_missed_add(&x->s->missed, c->path, 0, 0, why, err) : MYTH_OK;
}

static bool keep_lines(selection *x, myth_changed_file *c, uint32_t first, uint32_t last)
{
    if (!MYTH_ARRAY_ROOM(x->out->mem, MYTH_MEM_OTHER, "diff", &c->subject, c->n_subject, &c->cap_subject))
        return false;
    c->subject[c->n_subject++] = (myth_diff_lines){first, last};
    return true;
}

/* Adds as context the first lines of the type around a definition, and the file's imports. */
static myth_status add_surroundings(selection *x, const char *path, const myth_chunks *c, const myth_symbol *y,
                                    uint32_t of, myth_error *err)
{
    bool is_new;
    myth_status st = MYTH_OK;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < c->n_symbol; i++) {
        const myth_symbol *k = &c->symbol[i];
        bool is_type = k->kind == MYTH_SYMBOL_CLASS || k->kind == MYTH_SYMBOL_TYPE || k->kind == MYTH_SYMBOL_MODULE;
        if (is_type && k != y && k->line0 <= y->line0 && k->line1 >= y->line1 &&
            (best == UINT32_MAX || k->line0 > c->symbol[best].line0))
            best = i;
    }
    if (best != UINT32_MAX) {
        const myth_symbol *k = &c->symbol[best];
        uint32_t last = k->line0 + HEAD_LINES < y->line0 ? k->line0 + HEAD_LINES
                      : y->line0 > k->line0              ? y->line0 - 1
                                                         : k->line0;
        myth_wanted w = {
            .path = path,
            .name = "",
            .parent = "",
            .why = "the type around it",
            .line = k->line0,
            .line0 = k->line0,
            .line1 = last,
            .of = of,
        };
        w.line = w.line0 + MYTH_SELECT_TOP <= last ? w.line0 + MYTH_SELECT_TOP : last;
        st = myth_select_add(x->s, NULL, &is_new, x->m, &w, err);
        x->counts->n_context += st == MYTH_OK && is_new;
    }
    for (uint32_t i = 0; i < c->n_chunk && st == MYTH_OK; i++) {
        const myth_chunk *k = &c->chunk[i];
        if (k->kind != MYTH_CHUNK_IMPORTS || k->line1 - k->line0 >= IMPORT_LINES)
            continue;
        myth_wanted w = {
            .path = path,
            .name = "",
            .parent = "",
            .why = "imports of the file",
            .line = k->line0,
            .line0 = k->line0,
            .line1 = k->line1,
            .of = of,
        };
        st = myth_select_add(x->s, NULL, &is_new, x->m, &w, err);
        x->counts->n_context += st == MYTH_OK && is_new;
        break;
    }
    return st;
}

/* Adds callers, callees and tests, if the index has the definition under this path. */
static myth_status add_usage(selection *x, const char *path, const myth_chunks *c, const myth_symbol *y, uint32_t of,
                             myth_error *err)
{
    static const myth_select_most most = {MYTH_SELECT_CALLERS / 2, MYTH_SELECT_CALLEES / 2, MYTH_SELECT_TESTS / 2, 0,
                                          false};
    const char *name = c->names + y->name, *parent = c->names + y->parent;
    char asked[2048];
    myth_usage u = {0};
    if (!x->s->index)
        return MYTH_OK;
    if (x->n_lookup++ >= MYTH_SELECT_LOOKUPS) {
        x->counts->n_more++;
        return MYTH_OK;
    }
    int n = parent[0] ? snprintf(asked, sizeof(asked), "%s::%s.%s", path, parent, name)
                      : snprintf(asked, sizeof(asked), "%s::%s", path, name);
    myth_status st =
        n < (int)sizeof(asked) ? myth_usage_find(&u, x->s->index, asked, x->s->is_cancelled, err) : MYTH_OK;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < u.n_definition; i++) { /* among overloads, the one nearest by line */
        const myth_usage_definition *d = &u.definition[i];
        if (strcmp(d->path, path) == 0 &&
            (best == UINT32_MAX ||
             labs((long)d->line0 - (long)y->line0) < labs((long)u.definition[best].line0 - (long)y->line0)))
            best = i;
    }
    if (st == MYTH_OK && best != UINT32_MAX)
        st = myth_select_usage(x->s, x->m, &u.definition[best], of, &most, x->counts, err);
    myth_usage_free(&u);
    return st;
}

/* The last line of a definition's head: the line that its signature ends in, or that has its name. */
static uint32_t head_of(const myth_source *src, const myth_symbol *y)
{
    uint32_t line = y->line0;
    const uint64_t end = y->signature_off + y->signature_bytes;
    while (line < y->line1 && line < src->n_line && src->line[line].off < end)
        line++;
    line = line > y->name_line ? line : y->name_line;
    return line - y->line0 < SIGNATURE_LINES ? line : y->line0 + SIGNATURE_LINES - 1;
}

static myth_status show_span(selection *x, myth_changed_file *c, uint32_t source, const myth_chunks *chunks,
                             const span *s, myth_error *err)
{
    const myth_symbol *y = s->symbol != UINT32_MAX ? &chunks->symbol[s->symbol] : NULL;
    char symbol[512] = "", why[96];
    uint32_t index;
    if (y)
        snprintf(symbol, sizeof(symbol), "%.250s%s%.250s", chunks->names + y->parent, y->parent ? "." : "",
                 chunks->names + y->name);
    snprintf(why, sizeof(why), "%s", c->file->kind == MYTH_DIFF_ADDED ? "new" : "changed");
    const uint32_t head = y ? head_of(myth_material_of(x->m, source), y) : 0;
    myth_piece p = {
        .source = source,
        .first = s->first,
        .last = s->last,
        .symbol = y ? symbol : NULL,
        .why = why,
        .is_subject = true,
        .head_first = y ? y->line0 : 0,
        .head_last = head,
    };
    uint32_t n = myth_material_n_piece(x->m);
    myth_status st = myth_material_add(x->m, &index, &p, err);
    if (st != MYTH_OK)
        return st;
    x->counts->n_subject += myth_material_n_piece(x->m) - n;
    x->out->n_definition += y != NULL;
    if (!keep_lines(x, c, s->first, s->last))
        return no_memory(err);
    if (!y)
        return MYTH_OK;
    st = add_surroundings(x, c->path, chunks, y, index, err);
    return st == MYTH_OK && runs(y) ? add_usage(x, c->path, chunks, y, index, err) : st;
}

/* Gives the added lines of a file to the material. */
static myth_status give_added(selection *x, uint32_t source, const myth_diff_file *f, myth_error *err)
{
    if (!f->n_added)
        return MYTH_OK;
    myth_added *list = myth_alloc_n(x->out->mem, MYTH_MEM_OTHER, "diff", f->n_added, sizeof(*list));
    if (!list)
        return no_memory(err);
    for (uint32_t i = 0; i < f->n_added; i++)
        list[i] = (myth_added){f->added[i].first, f->added[i].last};
    const myth_status st = myth_material_added(x->m, source, list, f->n_added, err);
    myth_free(x->out->mem, list);
    return st;
}

/* Gives the removed lines of a file to the material. */
static myth_status give_removed(selection *x, uint32_t source, const myth_diff_file *f, myth_error *err)
{
    if (!f->n_removed)
        return MYTH_OK;
    myth_removed *list = myth_diff_removed_list(f, x->out->mem);
    if (!list)
        return no_memory(err);
    myth_status st = myth_material_removed(x->m, source, list, f->n_removed, err);
    myth_free(x->out->mem, list);
    return st;
}

/* Whether a file with zero bytes is code by its name or its first line. A zero byte may have been put into code to hide
 * it from inspection, so such a file counts as missed. */
static bool is_code(const myth_source *src)
{
    const char *language = myth_detect_language(src->path, src->bytes, src->len);
    return !myth_detect_media(src->bytes, src->len) && strcmp(language, "text") != 0;
}

/* Says why a file is taken for generated or minified; false: it is not, or such files are wanted. */
static bool is_generated(const selection *x, const char *path, const void *bytes, size_t n, char says[96])
{
    char why[64];
    const uint64_t n_head = n < HEAD_BYTES ? n : HEAD_BYTES;
    if (x->s->with_generated)
        return false;
    const char *generated = myth_detect_generated(path, bytes, n_head, why),
               *minified = generated ? NULL : myth_detect_minified(path, NULL, bytes, n_head);
    if (generated)
        snprintf(says, 96, "generated, by %.50s; --generated inspects it", generated);
    if (minified)
        snprintf(says, 96, "%.60s; --generated inspects it", minified);
    return generated || minified;
}

/* Says why the lines of a diff are not those of the file. A patch that somebody brings may be of any version, or of
 * several one after the other; what is compared here comes from the files. */
static bool is_of_another(const selection *x, const myth_diff_file *f, const myth_source *src, char says[96])
{
    const bool is_patch = myth_revision_is_patch(x->s->side);
    const uint32_t line = is_patch                                                  ? myth_diff_differs(f, src)
                        : f->n_added && f->added[f->n_added - 1].last > src->n_line ? src->n_line + 1
                                                                                    : 0;
    if (is_patch && f->is_twice)
        snprintf(says, 96, "the patch changes it more than once, as several commits do; git diff A...B does so once");
    else if (line)
        snprintf(says, 96, "line %u differs: the diff is of another version; check that out, or give A..B", line);
    return line || (is_patch && f->is_twice);
}

/* Whether a file is changed in its lines. One that only lost some, as a guard, is to be inspected like any other. */
static bool has_lines(const myth_diff_file *f) { return f->n_added || (f->n_removed && f->kind != MYTH_DIFF_DELETED); }

/* Whether an earlier entry of the diff has the path. */
static bool is_said(const selection *x, const myth_changed_file *c)
{
    bool is = false;
    for (const myth_changed_file *b = x->out->file; b < c && c->file->is_twice && !is; b++)
        is = b->is_missed && strcmp(b->path, c->path) == 0;
    return is;
}

static myth_status show_file(selection *x, myth_changed_file *c, myth_error *err)
{
    const myth_diff_file *f = c->file;
    myth_chunks chunks = {0};
    spans s = {.mem = x->out->mem, .chunks = &chunks};
    myth_error local = {0};
    uint32_t source;
    myth_status st = myth_select_source(x->s, &source, x->m, c->path, &local);
    if (myth_select_unread(st))
        return skip_file(x, c, myth_select_unread(st), st != MYTH_EUNSUPPORTED || has_lines(f), err);
    if (st != MYTH_OK) {
        if (err)
            *err = local;
        return st;
    }
    const myth_source *src = myth_material_of(x->m, source);
    if (myth_detect_binary(src->bytes, src->len))
        return skip_file(x, c, "it is binary, its bytes hold a zero", is_code(src), err);
    if (myth_detect_pointer(src->bytes, src->len))
        return skip_file(x, c, MYTH_DETECT_POINTER, myth_detect_code(src->path), err);
    if (f->is_binary)
        return skip_file(x, c, "the diff calls it binary and has none of its lines", true, err);
    char says[sizeof(c->reason)];
    if (is_generated(x, src->path, src->bytes, src->len, says))
        return skip_file(x, c, says, false, err);
    if (is_of_another(x, f, src, says))
        return skip_file(x, c, says, !is_said(x, c), err);
    if (src->n_line == 0)
        return skip_file(x, c, "it is empty", false, err);
    s.n_line = src->n_line;
    MYTH_TRY(myth_chunk_file(&chunks, x->s->chunker, myth_detect_language(src->path, src->bytes, src->len), src->path,
                             src->bytes, src->len, err));
    MYTH_TRY(find_spans(&s, f, err));
    MYTH_TRY(give_removed(x, source, f, err));
    MYTH_TRY(give_added(x, source, f, err));
    if (myth_detect_test(src->path))
        myth_material_is_test(x->m, source);
    for (uint32_t i = 0; i < s.n; i++) {
        if (myth_cancelled(x->s->is_cancelled))
            MYTH_TRY(myth_fail(err, MYTH_ECANCEL, "inspect-diff: stopped"));
        MYTH_TRY(show_span(x, c, source, &chunks, &s.span[i], err));
    }
    if (x->with_gone && f->n_removed) {
        const myth_gone g = {x->s, x->m, x->counts, &x->n_lookup, 0};
        MYTH_TRY(myth_gone_lines(&g, f, source, &chunks, err));
    }
    if (s.n) {
        x->out->n_shown++;
        x->out->lines_added += f->lines_added;
        x->out->lines_removed += f->lines_removed;
    } else {
        st = skip_file(x, c,
                       f->lines_moved       ? "its lines were moved here, none is new"
                       : f->is_mode_changed ? "only its mode changed"
                                            : "only its name changed",
                       false, err);
    }
fail:
    myth_free(x->out->mem, s.span);
    myth_chunks_free(&chunks, x->s->mem);
    return st;
}

/* Shows the lines of deleted files, when everything that changed is there. */
static myth_status show_gone(selection *x, myth_error *err)
{
    myth_gone g = {x->s, x->m, x->counts, &x->n_lookup, 0};
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < x->out->n_file && x->with_gone && st == MYTH_OK; i++) {
        myth_changed_file *c = &x->out->file[i];
        char says[96];
        if (c->file->kind != MYTH_DIFF_DELETED || !myth_select_is_below(x->s, c->path) ||
            is_generated(x, c->path, c->file->old_text, c->file->n_old_text, says))
            continue;
        st = myth_gone_file(&g, c->file, &c->n_gone_use, &c->is_gone, err);
        x->out->n_gone += c->is_gone;
    }
    return st;
}

myth_status myth_select_diff(myth_changes *out, myth_select *s, myth_material *m, const myth_diff *diff, bool with_gone,
                             myth_select_counts *counts, myth_error *err)
{
    myth_status st = MYTH_OK;
    *counts = (myth_select_counts){0};
    *out = (myth_changes){.mem = s->mem};
    selection x = {.out = out, .s = s, .m = m, .counts = counts, .with_gone = with_gone && s->index};
    if (!(out->file = myth_alloc_n(s->mem, MYTH_MEM_OTHER, "diff", diff->n_file + 1u, sizeof(*out->file))))
        return no_memory(err);
    for (uint32_t i = 0; i < diff->n_file; i++) {
        const myth_diff_file *f = &diff->file[i];
        myth_changed_file *c = &out->file[out->n_file++];
        bool is_below = myth_select_is_below(s, f->path);
        *c = (myth_changed_file){.path = f->path, .file = f};
        if (f->kind == MYTH_DIFF_DELETED) {
            out->n_deleted++;
            out->lines_deleted += f->lines_removed;
        }
        if (f->skipped || !is_below)
            MYTH_TRY(skip_file(&x, c, f->skipped ? f->skipped : "it is outside of the directory",
                               has_lines(f) && f->skipped && !f->is_link && !f->is_module, err));
        else
            MYTH_TRY(show_file(&x, c, err));
    }
    st = show_gone(&x, err);
fail:
    return st;
}

/* ---- which findings ---- */

bool myth_changes_want(const myth_changes *c, myth_filter filter, bool is_of_change, const char *path, uint32_t first,
                       uint32_t last)
{
    if (filter == MYTH_FILTER_NONE || (filter == MYTH_FILTER_CHANGED && is_of_change))
        return true;
    for (uint32_t i = 0; i < c->n_file; i++) {
        const myth_changed_file *f = &c->file[i];
        if (f->skipped || strcmp(f->path, path) != 0)
            continue;
        if (filter == MYTH_FILTER_FILE)
            return true;
        if (filter == MYTH_FILTER_CHANGED) {
            if (myth_diff_touches(f->file, first, last))
                return true;
            continue;
        }
        if (filter == MYTH_FILTER_ADDED) {
            for (uint32_t k = 0; k < f->file->n_added; k++)
                if (f->file->added[k].first <= last && f->file->added[k].last >= first)
                    return true;
            continue;
        }
        if (myth_diff_shows(f->file, first, last))
            return true;
        for (uint32_t k = 0; k < f->n_subject; k++)
            if (f->subject[k].first <= last && f->subject[k].last >= first)
                return true;
    }
    return false;
}

/* ---- the task ---- */

typedef struct {
    char *dst;
    size_t cap, n;
} text;

static void put_text(text *t, const char *s, size_t n)
{
    if (t->n < t->cap)
        memcpy(t->dst + t->n, s, n < t->cap - t->n ? n : t->cap - t->n);
    t->n += n;
}

static void put_str(text *t, const char *s) { put_text(t, s, strlen(s)); }

static void put_u32(text *t, uint32_t v)
{
    char d[16];
    put_text(t, d, (size_t)snprintf(d, sizeof(d), "%u", v));
}

/* Writes a path with its control characters escaped, so that it stays on one line. */
static void put_path(text *t, const char *path)
{
    char spelled[256];
    size_t n = myth_spell(spelled, sizeof(spelled), path, strlen(path));
    put_text(t, spelled, n < sizeof(spelled) ? n : sizeof(spelled));
}

static void put_file(text *t, const myth_changed_file *f, uint32_t *left, uint32_t *n_hidden)
{
    uint32_t n = f->file->n_added + f->file->n_removed;
    if (*left == 0) {
        *n_hidden += n;
        return;
    }
    put_path(t, f->path);
    if (f->is_gone) {
        --*left;
        put_str(t, ": deleted\n");
        return;
    }
    put_str(t, ": ");
    bool is_first = true;
    for (uint32_t i = 0; i < f->file->n_added; i++) {
        if (*left == 0) {
            ++*n_hidden;
            continue;
        }
        --*left;
        put_str(t, is_first ? "changed " : ", ");
        is_first = false;
        put_u32(t, f->file->added[i].first);
        if (f->file->added[i].last > f->file->added[i].first) {
            put_str(t, "-");
            put_u32(t, f->file->added[i].last);
        }
    }
    for (uint32_t i = 0; i < f->file->n_removed; i++) {
        if (*left == 0) {
            ++*n_hidden;
            continue;
        }
        --*left;
        put_str(t, is_first ? "" : "; ");
        is_first = false;
        put_u32(t, f->file->removed[i].n);
        put_str(t, f->file->removed[i].n == 1 ? " line removed before " : " lines removed before ");
        put_u32(t, f->file->removed[i].before);
    }
    put_str(t, "\n");
}

size_t myth_changes_task(char *dst, size_t cap, const myth_changes *c, bool is_summary, uint32_t max_ranges)
{
    static const char review[] =
        "Review a change. Report what it breaks (regression: a check that is gone, behaviour that callers or "
        "tests rely on; cite the change, or the code that relied on it) and what it makes unsafe (security "
        "risks). The changed definitions come first; callers and tests are context. Line numbers are those "
        "of the new files.\n",
                      summary[] = "Say what this change does. Line numbers are those of the new files.\n";
    text t = {dst, cap ? cap - 1 : 0, 0};
    uint32_t left = max_ranges, n_hidden = 0;
    put_str(&t, is_summary ? summary : review);
    if (c->lines_removed || c->n_gone)
        put_str(&t, "Removed blocks show lines that are gone; cite what is there now.\n");
    for (uint32_t i = 0; i < c->n_file; i++)
        if (!c->file[i].skipped || c->file[i].is_gone)
            put_file(&t, &c->file[i], &left, &n_hidden);
    if (n_hidden) {
        put_str(&t, "and ");
        put_u32(&t, n_hidden);
        put_str(&t, " more changed ranges\n");
    }
    if (c->lines_removed + c->lines_deleted) {
        put_str(&t, "Removed in all: ");
        put_u32(&t, c->lines_removed + c->lines_deleted);
        put_str(&t, " lines");
        if (c->n_deleted) {
            put_str(&t, ", with ");
            put_u32(&t, c->n_deleted);
            put_str(&t, c->n_deleted == 1 ? " whole file" : " whole files");
        }
        put_str(&t, c->n_deleted > c->n_gone ? ", not all shown.\n" : ".\n");
    }
    if (cap)
        dst[t.n < cap - 1 ? t.n : cap - 1] = '\0';
    return t.n;
}

/* ---- the summary ---- */

/* The file at a path; the search begins at *at, because files and pieces have one order. */
static const myth_diff_file *file_at(const myth_changes *c, const char *path, uint32_t *at)
{
    for (uint32_t i = 0; i < c->n_file; i++) {
        const uint32_t k = (*at + i) % c->n_file;
        if (strcmp(c->file[k].path, path) == 0 && !c->file[k].skipped) {
            *at = k;
            return c->file[k].file;
        }
    }
    return NULL;
}

static bool add_place(myth_changes *c, const myth_hunk *h)
{
    if (!MYTH_ARRAY_ROOM(c->mem, MYTH_MEM_OTHER, "diff", &c->place, c->n_place, &c->cap_place))
        return false;
    c->place[c->n_place++] = *h;
    return true;
}

/* Adds the changed lines that a piece has. */
static bool add_changed(myth_changes *c, const myth_piece *p, uint32_t piece, const myth_diff_file *f)
{
    bool ok = true;
    for (uint32_t i = 0; i < f->n_added && ok; i++) {
        const uint32_t first = f->added[i].first > p->first ? f->added[i].first : p->first,
                       last = f->added[i].last < p->last ? f->added[i].last : p->last;
        ok = first > last || add_place(c, &(myth_hunk){piece, first, last, 0});
    }
    return ok;
}

/* Adds the lines that were removed within a piece: to the changed lines that stand in their place, or as a place of
 * their own. */
static bool add_gone(myth_changes *c, const myth_piece *p, uint32_t piece, const myth_source *src, uint32_t from)
{
    bool ok = true;
    const uint32_t n = c->n_place;
    for (uint32_t i = 0; i < src->n_removed && ok; i++) {
        const myth_removed *r = &src->removed[i];
        uint32_t k = from;
        if (r->before < p->first || (r->before > p->last && !(p->last == src->n_line && r->before == p->last + 1)))
            continue;
        while (k < n && c->place[k].first != r->before)
            k++;
        if (k < n)
            c->place[k].n_removed += r->n_line;
        else
            ok = add_place(c, &(myth_hunk){piece, r->before, r->before - 1, r->n_line});
    }
    return ok;
}

static int by_line(const void *a, const void *b)
{
    const myth_hunk *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->last > y->last) - (x->last < y->last);
}

myth_status myth_changes_places(myth_changes *c, const myth_material *m, myth_error *err)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < myth_material_n_piece(m); i++) {
        const myth_piece *p = myth_material_piece(m, i);
        const uint32_t from = c->n_place;
        if (!p->is_subject || p->last < p->first)
            continue;
        const myth_source *src = myth_material_of(m, p->source);
        const myth_diff_file *f = file_at(c, src->path, &at);
        if ((f && !add_changed(c, p, i, f)) || !add_gone(c, p, i, src, from))
            return no_memory(err);
        if (c->n_place > from)
            qsort(c->place + from, c->n_place - from, sizeof(*c->place), by_line);
    }
    return MYTH_OK;
}
