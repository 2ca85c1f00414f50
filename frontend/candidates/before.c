/* before.c - see before.h. */
#include "before.h"

#include "engine/base/chars.h"

#include <string.h>

static bool is_own(const myth_removed *r) { return !r->path; }

bool myth_before_is_changed(const myth_source *src)
{
    return src->n_added || (src->n_removed && is_own(&src->removed[0]));
}

/* The bytes from p to behind the next line end, at most n. */
static size_t line_bytes(const unsigned char *p, size_t n)
{
    const unsigned char *end = memchr(p, '\n', n);
    return end ? (size_t)(end - p) + 1 : n;
}

/* Writes the text before the change to dst, which has room for both; returns its length. */
static size_t put_together(unsigned char *dst, const myth_source *src)
{
    size_t n = 0, at = 0;
    uint32_t k = 0, a = 0;
    for (uint32_t line = 1; at < src->len || (k < src->n_removed && is_own(&src->removed[k])); line++) {
        for (; k < src->n_removed && is_own(&src->removed[k]) && (src->removed[k].before <= line || at >= src->len);
             k++) {
            if (n && dst[n - 1] != '\n')
                dst[n++] = '\n';
            memcpy(dst + n, src->removed[k].text, src->removed[k].len);
            n += src->removed[k].len;
        }
        const size_t len = line_bytes(src->bytes + at, src->len - at);
        while (a < src->n_added && src->added[a].last < line)
            a++;
        if (a == src->n_added || src->added[a].first > line) {
            memcpy(dst + n, src->bytes + at, len);
            n += len;
        }
        at += len;
    }
    return n;
}

/* The line that a place begins in, without the blanks at its ends. */
static myth_str line_of(const unsigned char *text, size_t n, const myth_candidate_place *c)
{
    size_t at = c->off < n ? c->off : n, end = at;
    while (at > 0 && text[at - 1] != '\n')
        at--;
    while (end < n && text[end] != '\n')
        end++;
    while (at < end && myth_is_white(text[at]))
        at++;
    while (end > at && myth_is_white(text[end - 1]))
        end--;
    return (myth_str){(const char *)text + at, end - at};
}

/* A text with its places. */
typedef struct {
    const myth_candidates *k;
    const unsigned char *text;
    size_t n_text;
} looked;

/* How many of the first n places are the same as place c of `of`. */
static uint32_t count(const looked *l, uint32_t n, const looked *of, const myth_candidate_place *c)
{
    const myth_str line = line_of(of->text, of->n_text, c);
    uint32_t same = 0;
    for (uint32_t i = 0; i < n; i++) {
        const myth_candidate_place *p = &l->k->candidate[i];
        if (p->is_lost || strcmp(l->k->names + p->rule, of->k->names + c->rule) != 0 ||
            strcmp(l->k->names + p->path, of->k->names + c->path) != 0)
            continue;
        const myth_str other = line_of(l->text, l->n_text, p);
        same += line.len == other.len && memcmp(line.text, other.text, line.len) == 0;
    }
    return same;
}

static bool is_touched(const myth_source *src, const myth_candidate_place *c)
{
    for (uint32_t a = 0; a < src->n_added; a++)
        if (src->added[a].first <= c->line1 && src->added[a].last >= c->line0)
            return true;
    return false;
}

static bool is_of_row(const looked *a, const myth_candidate_place *p, const looked *b, const myth_candidate_place *q)
{
    return strcmp(a->k->names + p->rule, b->k->names + q->rule) == 0 &&
           strcmp(a->k->names + p->row, b->k->names + q->row) == 0 &&
           strcmp(a->k->names + p->function, b->k->names + q->function) == 0;
}

/* Of the places that the text before did not have in this form, those that stand for one of the same row and function
 * that is gone are not new: what they say was said before, of the line as it was written then, or of another one, as
 * a row finds few places in a function. Those in lines that the change left alone are counted first. */
static void mark_old(uint8_t *before, const looked *now, const looked *old)
{
    for (uint32_t o = 0; o < old->k->n; o++) {
        const myth_candidate_place *p = &old->k->candidate[o];
        uint32_t at = now->k->n;
        if (count(old, o + 1, old, p) <= count(now, now->k->n, old, p))
            continue;
        for (uint32_t i = 0; i < now->k->n; i++)
            if ((before[i] == MYTH_BEFORE_NEW || before[i] == MYTH_BEFORE_EXPOSED) &&
                is_of_row(old, p, now, &now->k->candidate[i]) &&
                (at == now->k->n || (before[at] == MYTH_BEFORE_NEW && before[i] == MYTH_BEFORE_EXPOSED)))
                at = i;
        if (at < now->k->n)
            before[at] = before[at] == MYTH_BEFORE_NEW ? MYTH_BEFORE_WRITTEN : MYTH_BEFORE_OLD;
    }
}

myth_status myth_before_open(myth_before_text *t, myth_mem *mem, const myth_source *src, myth_error *err)
{
    size_t most = src->len + 1u;
    for (uint32_t i = 0; i < src->n_removed && is_own(&src->removed[i]); i++)
        most += src->removed[i].len + 1;
    *t = (myth_before_text){.text = myth_alloc(mem, MYTH_MEM_OTHER, "places", most)};
    if (!t->text)
        return myth_fail(err, MYTH_ENOMEM, "places: no room for %zu bytes of a text before its change", most);
    t->n = put_together(t->text, src);
    return MYTH_OK;
}

void myth_before_close(myth_before_text *t, myth_mem *mem)
{
    myth_free(mem, t->text);
    *t = (myth_before_text){0};
}

/* Puts the places and names of `more` behind those of `found`, in the order of places. False: no memory. */
static bool join(myth_candidates *found, const myth_candidates *more, myth_mem *mem)
{
    const uint32_t n = found->n + more->n, shift = found->n_names;
    myth_candidate_place *place = myth_alloc_n(mem, MYTH_MEM_OTHER, "candidates", n, sizeof(*place));
    char *names = myth_alloc(mem, MYTH_MEM_OTHER, "candidates", (size_t)shift + more->n_names);
    if (!place || !names) {
        myth_free(mem, place);
        myth_free(mem, names);
        return false;
    }
    if (shift)
        memcpy(names, found->names, shift);
    memcpy(names + shift, more->names, more->n_names);
    for (uint32_t i = 0, a = 0, b = 0; i < n; i++) {
        if (b == more->n || (a < found->n && found->candidate[a].off <= more->candidate[b].off)) {
            place[i] = found->candidate[a++];
            continue;
        }
        place[i] = more->candidate[b++];
        uint32_t *name[] = {&place[i].rule,   &place[i].row, &place[i].function, &place[i].path,
                            &place[i].callee, &place[i].say, &place[i].facts};
        for (size_t j = 0; j < sizeof(name) / sizeof(*name); j++)
            *name[j] += shift;
    }
    myth_free(mem, found->candidate);
    myth_free(mem, found->names);
    found->candidate = place;
    found->names = names;
    found->n = n;
    found->n_names = shift + more->n_names;
    return true;
}

myth_status myth_before_lost(myth_candidates *found, char note[96], myth_finder *f, myth_chunker *chunker,
                             myth_mem *mem, const char *language, const myth_source *src, const myth_before_text *text,
                             myth_error *err)
{
    myth_candidates lost = {0};
    note[0] = '\0';
    myth_status st =
        myth_finder_change(&lost, f, chunker, language, src->path, src->bytes, src->len, text->text, text->n, err);
    if (!lost.cut_line) /* else the text itself has such a function, which its own places say */
        memcpy(note, lost.note, sizeof(lost.note));
    if (st == MYTH_OK && lost.n && !join(found, &lost, mem))
        st = myth_fail(err, MYTH_ENOMEM, "places: no room for %u places of a change", lost.n);
    myth_candidates_free(&lost, mem);
    return st;
}

myth_status myth_before_mark(uint8_t *before, myth_finder *f, myth_chunker *chunker, myth_mem *mem,
                             const char *language, const myth_source *src, const myth_before_text *text,
                             const myth_candidates *found, myth_error *err)
{
    myth_candidates then = {0};
    const looked now = {found, src->bytes, src->len}, old = {&then, text->text, text->n};
    const myth_status st = myth_finder_find(&then, NULL, f, chunker, language, src->path, text->text, text->n, err);
    for (uint32_t i = 0; i < found->n && st == MYTH_OK; i++) {
        const myth_candidate_place *c = &found->candidate[i];
        const bool was_there = count(&now, i + 1, &now, c) <= count(&old, then.n, &now, c);
        before[i] = c->is_lost         ? MYTH_BEFORE_LOST
                  : was_there          ? MYTH_BEFORE_OLD
                  : is_touched(src, c) ? MYTH_BEFORE_NEW
                                       : MYTH_BEFORE_EXPOSED;
    }
    if (st == MYTH_OK)
        mark_old(before, &now, &old);
    myth_candidates_free(&then, mem);
    return st;
}

const char *myth_before_says(myth_before before)
{
    return before == MYTH_BEFORE_NEW     ? "; the text before the change had no such place"
         : before == MYTH_BEFORE_EXPOSED ? "; the line is old, and the change took away what spoke against it"
                                         : "";
}
