/* moved.c - finds the added lines of a diff that are removed lines of another place, byte for byte.
 *
 * Only whole places are compared: all lines that were added in one place with all lines that were removed in another,
 * without blank lines at both ends. A block that lost a line on its way is therefore new, and a check that got lost in
 * a move is seen. */
#include "diff.h"

#include "engine/base/hash.h"

#include <stdlib.h>
#include <string.h>

/* As few letters and digits as git needs to call a block moved: a brace that goes and comes is none. */
enum { ALNUM_MIN = 20 };

typedef struct {
    const char *text;
    size_t len;
    uint64_t hash;
    uint32_t file, before;
    bool is_used;
} block;

static bool is_blank(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] != ' ' && s[i] != '\t' && s[i] != '\n')
            return false;
    return true;
}

/* Cuts blank lines at both ends of a text in which every line ends with "\n". Returns false when too little is left to
 * know it again. */
static bool trim(block *b)
{
    uint32_t n_alnum = 0;
    for (const char *end; b->len && (end = memchr(b->text, '\n', b->len));) {
        size_t n = (size_t)(end - b->text) + 1;
        if (!is_blank(b->text, n))
            break;
        b->text += n;
        b->len -= n;
    }
    while (b->len) {
        size_t from = b->len - 1;
        while (from > 0 && b->text[from - 1] != '\n')
            from--;
        if (!is_blank(b->text + from, b->len - from))
            break;
        b->len = from;
    }
    for (size_t i = 0; i < b->len && n_alnum < ALNUM_MIN; i++) {
        const char c = b->text[i];
        n_alnum += (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    }
    b->hash = myth_fnv1a(MYTH_FNV1A, b->text, b->len);
    return n_alnum == ALNUM_MIN;
}

static int by_hash(const void *a, const void *b)
{
    const block *x = a, *y = b;
    if (x->hash != y->hash)
        return (x->hash > y->hash) - (x->hash < y->hash);
    return x->file != y->file ? (x->file > y->file) - (x->file < y->file)
                              : (x->before > y->before) - (x->before < y->before);
}

/* Takes a removed block with this text from another place; each is taken once. */
static bool take(block *list, size_t n, const block *added)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (list[mid].hash < added->hash)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < n && list[lo].hash == added->hash; lo++) {
        block *r = &list[lo];
        if (r->is_used || (r->file == added->file && r->before == added->before) || r->len != added->len ||
            memcmp(r->text, added->text, r->len) != 0)
            continue;
        r->is_used = true;
        return true;
    }
    return false;
}

static size_t lines_len(const char *text, size_t len, uint32_t n_line)
{
    size_t at = 0;
    for (const char *end; n_line > 0 && at < len && (end = memchr(text + at, '\n', len - at)); n_line--)
        at = (size_t)(end - text) + 1;
    return at;
}

/* Takes the moved ranges of a file out of its added ones. */
static void mark_file(myth_diff_file *f, uint32_t file, block *list, size_t n)
{
    size_t at = 0;
    uint32_t n_kept = 0, h = 0, n_before = 0, n_read = 0; /* lines before hunk h, lines before at */
    for (uint32_t i = 0; i < f->n_added; i++) {
        const uint32_t n_line = f->added[i].last - f->added[i].first + 1;
        for (; f->hunk[h].last < f->added[i].first; h++)
            n_before += f->hunk[h].last + 1 - f->hunk[h].first;
        const uint32_t n_skip = n_before + f->added[i].first - f->hunk[h].first - n_read;
        at += lines_len(f->new_text + at, f->n_new_text - at, n_skip);
        n_read += n_skip + n_line;
        block b = {.text = f->new_text + at, .file = file, .before = f->added[i].first};
        b.len = lines_len(b.text, f->n_new_text - at, n_line);
        at += b.len;
        if (trim(&b) && take(list, n, &b))
            f->lines_moved += n_line;
        else
            f->added[n_kept++] = f->added[i];
    }
    f->n_added = n_kept;
}

myth_status myth_diff_mark_moved(myth_diff *d, uint32_t *n_line, myth_error *err)
{
    size_t n = 0, n_all = 0;
    *n_line = 0;
    for (uint32_t i = 0; i < d->n_file; i++)
        n_all += d->file[i].n_removed;
    if (!n_all)
        return MYTH_OK;
    block *list = myth_alloc_n(d->mem, MYTH_MEM_STAGING, "diff", n_all, sizeof(*list));
    if (!list)
        return myth_fail(err, MYTH_ENOMEM, "diff: no memory");
    for (uint32_t i = 0; i < d->n_file; i++)
        for (uint32_t k = 0; k < d->file[i].n_removed; k++) {
            const myth_diff_removed *r = &d->file[i].removed[k];
            list[n] = (block){.text = d->file[i].old_text + r->off, .len = r->len, .file = i, .before = r->before};
            n += trim(&list[n]);
        }
    qsort(list, n, sizeof(*list), by_hash);
    for (uint32_t i = 0; i < d->n_file; i++) {
        mark_file(&d->file[i], i, list, n);
        *n_line += d->file[i].lines_moved;
    }
    myth_free(d->mem, list);
    return MYTH_OK;
}
