/* mend.c - see mend.h. It looks through the words of the index with the same first letter. Those are together in the
 * pages, and their rows are not read.
 *
 * Stems    the index has only the stem of a plain word, and the slip may be in the ending that stemming takes off
 *          (findngs, find). So every word that is one slip away from the misspelt one, some hundred, is stemmed first,
 *          and the words of the index are looked up among these stems */
#include "mend.h"
#include "engine/base/hash.h"

#include <string.h>

enum { NEAR_MAX = 16, EDIT_BYTES = 32, SLOTS = 4096 }; /* words longer than EDIT_BYTES are compared without stems */

/* The kinds of slips, the most likely first. */
typedef enum { NO_EDIT, SWAPPED, LOST, DOUBLED, WRONG, EDIT_N } edit_kind;

typedef struct {
    uint32_t hash; /* of the stem of the edited word */
    unsigned char kind, at, letter;
} edit;

bool myth_mend_is_slip(const char *a, size_t n_a, const char *b, size_t n_b)
{
    if (n_a > n_b + 1 || n_b > n_a + 1)
        return false;
    size_t same = 0, n = n_a < n_b ? n_a : n_b;
    while (same < n && a[same] == b[same])
        same++;
    if (n_a == n_b) {
        if (same == n)
            return false;
        if (memcmp(a + same + 1, b + same + 1, n - same - 1) == 0)
            return true;
        return same + 1 < n && a[same] == b[same + 1] && a[same + 1] == b[same] &&
               memcmp(a + same + 2, b + same + 2, n - same - 2) == 0;
    }
    return n_a > n_b ? memcmp(a + same + 1, b + same, n_b - same) == 0
                     : memcmp(a + same, b + same + 1, n_a - same) == 0;
}

typedef struct {
    const char *word;
    size_t n_word;
    char token[NEAR_MAX][MYTH_WORD_BYTES];
    size_t n_token[NEAR_MAX];
    edit by[NEAR_MAX];
    uint32_t n;
    edit slot[SLOTS]; /* open addressing by hash */
} near_words;

/* ---- the words that are one slip away ---- */

static size_t apply(char *dst, const char *word, size_t n, edit e)
{
    const size_t behind = n - e.at;
    memcpy(dst, word, n);
    switch ((edit_kind)e.kind) {
    case SWAPPED:
        dst[e.at] = word[e.at + 1];
        dst[e.at + 1] = word[e.at];
        return n;
    case LOST:
        memcpy(dst + e.at + 1, word + e.at, behind);
        dst[e.at] = (char)e.letter;
        return n + 1;
    case DOUBLED: memmove(dst + e.at, word + e.at + 1, behind - 1); return n - 1;
    case WRONG: dst[e.at] = (char)e.letter; return n;
    default: return n;
    }
}

static edit *find_slot(near_words *f, uint32_t hash)
{
    uint32_t at = hash % SLOTS;
    while (f->slot[at].kind && f->slot[at].hash != hash)
        at = (at + 1) % SLOTS;
    return &f->slot[at];
}

/* Puts all edits into the table by the hash of the stem. The first letter stays as it is. Of two edits with the same
 * stem the first counts. */
static void list_edits(near_words *f)
{
    char made[EDIT_BYTES + 1], stem[EDIT_BYTES + 1];
    _Static_assert((EDIT_BYTES + 1) * (1 + 1 + 26 + 26) < SLOTS / 2, "slots for every edit");
    for (int kind = SWAPPED; kind < EDIT_N && f->n_word <= EDIT_BYTES; kind++)
        for (size_t at = 1; at < f->n_word + (kind == LOST) - (kind == SWAPPED); at++)
            for (int letter = 'a'; letter <= (kind == LOST || kind == WRONG ? 'z' : 'a'); letter++) {
                edit e = {.kind = (unsigned char)kind, .at = (unsigned char)at, .letter = (unsigned char)letter};
                const size_t n_made = apply(made, f->word, f->n_word, e), n = myth_word_stem(stem, made, n_made);
                e.hash = (uint32_t)myth_hash_bytes(stem, n);
                edit *slot = find_slot(f, e.hash);
                if (!slot->kind)
                    *slot = e;
            }
}

/* Returns the edit after which the misspelt word has this stem; its kind is NO_EDIT when there is none. */
static edit find_edit(near_words *f, const char *token, size_t n)
{
    char made[EDIT_BYTES + 1], stem[EDIT_BYTES + 1];
    const edit e = *find_slot(f, (uint32_t)myth_hash_bytes(token, n));
    if (!e.kind)
        return e;
    const size_t n_made = apply(made, f->word, f->n_word, e), n_stem = myth_word_stem(stem, made, n_made);
    return n_stem == n && memcmp(stem, token, n) == 0 ? e : (edit){.kind = NO_EDIT};
}

/* ---- the words of the index ---- */

static void keep_near(void *arg, const char *token, size_t n)
{
    near_words *f = arg;
    if (f->n == NEAR_MAX || n >= MYTH_WORD_BYTES)
        return;
    const edit by = find_edit(f, token, n);
    if (!by.kind && !myth_mend_is_slip(f->word, f->n_word, token, n))
        return;
    for (size_t i = 0; i < n; i++)
        if (token[i] < 'a' || token[i] > 'z')
            return;
    memcpy(f->token[f->n], token, n);
    f->by[f->n] = by;
    f->n_token[f->n++] = n;
}

myth_status myth_mend_word(myth_postings *p, const char *word, size_t n_word, char *dst, size_t *n,
                           myth_postings_word *where, int64_t *n_row, myth_error *err)
{
    myth_status st = MYTH_OK;
    near_words f = {.word = word, .n_word = n_word};
    *n = 0;
    *n_row = 0;
    if (n_word < MYTH_MEND_BYTES || n_word > MYTH_WORD_BYTES)
        return MYTH_OK;
    list_edits(&f);
    MYTH_TRY(myth_postings_tokens(p, word, 1, keep_near, &f, err));
    for (uint32_t i = 0; i < f.n; i++) {
        char meant[MYTH_WORD_BYTES];
        myth_postings_word at;
        int64_t rows;
        MYTH_TRY(myth_postings_find(p, f.token[i], f.n_token[i], &at, err));
        MYTH_TRY(myth_postings_count(p, &at, &rows, err));
        const size_t n_meant = f.by[i].kind ? apply(meant, word, n_word, f.by[i]) : f.n_token[i];
        if (!f.by[i].kind)
            memcpy(meant, f.token[i], n_meant);
        if (rows == 0 || rows < *n_row || (rows == *n_row && n_meant <= *n))
            continue;
        *n_row = rows;
        *where = at;
        *n = n_meant;
        memcpy(dst, meant, *n);
    }
fail:
    return st;
}
