/* before.c - see before.h. */
#include "before.h"

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

static bool is_blank(unsigned char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* The line that a place begins in, without the blanks at its ends. */
static myth_str line_of(const unsigned char *text, size_t n, const myth_candidate_place *c)
{
    size_t at = c->off < n ? c->off : n, end = at;
    while (at > 0 && text[at - 1] != '\n')
        at--;
    while (end < n && text[end] != '\n')
        end++;
    while (at < end && is_blank(text[at]))
        at++;
    while (end > at && is_blank(text[end - 1]))
        end--;
    return (myth_str){(const char *)text + at, end - at};
}

/* How many of the first n places are of this rule and in such a line. */
static uint32_t count(const myth_candidates *k, uint32_t n, const unsigned char *text, size_t n_text, const char *rule,
                      myth_str line)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(k->names + k->candidate[i].rule, rule) != 0)
            continue;
        const myth_str other = line_of(text, n_text, &k->candidate[i]);
        same += line.len == other.len && memcmp(line.text, other.text, line.len) == 0;
    }
    return same;
}

myth_status myth_before_mark(bool *is_brought, myth_finder *f, myth_chunker *chunker, myth_mem *mem,
                             const char *language, const myth_source *src, const myth_candidates *found,
                             myth_error *err)
{
    size_t most = src->len + 1u;
    myth_candidates old = {0};
    for (uint32_t i = 0; i < src->n_removed && is_own(&src->removed[i]); i++)
        most += src->removed[i].len + 1;
    unsigned char *text = myth_alloc(mem, MYTH_MEM_OTHER, "places", most);
    if (!text)
        return myth_fail(err, MYTH_ENOMEM, "places: no room for %zu bytes of a text before its change", most);
    const size_t n = put_together(text, src);
    const myth_status st = myth_finder_find(&old, NULL, f, chunker, language, src->path, text, n, err);
    for (uint32_t i = 0; i < found->n && st == MYTH_OK; i++) {
        const char *rule = found->names + found->candidate[i].rule;
        const myth_str line = line_of(src->bytes, src->len, &found->candidate[i]);
        is_brought[i] = count(found, i + 1, src->bytes, src->len, rule, line) > count(&old, old.n, text, n, rule, line);
    }
    myth_candidates_free(&old, mem);
    myth_free(mem, text);
    return st;
}
