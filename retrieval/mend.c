/* mend.c - see mend.h. Looks through the index's words with the same first letter: they stand together in the pages, and their rows are not read. */
#include "mend.h"

#include <string.h>

enum { NEAR_MAX = 16 };

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
        return same + 1 < n && a[same] == b[same + 1] && a[same + 1] == b[same] && memcmp(a + same + 2, b + same + 2, n - same - 2) == 0;
    }
    return n_a > n_b ? memcmp(a + same + 1, b + same, n_b - same) == 0 : memcmp(a + same, b + same + 1, n_a - same) == 0;
}

typedef struct {
    const char *word;
    size_t n_word;
    char token[NEAR_MAX][MYTH_WORD_BYTES];
    size_t n_token[NEAR_MAX];
    uint32_t n;
} near_words;

static void keep_near(void *arg, const char *token, size_t n)
{
    near_words *f = arg;
    if (f->n == NEAR_MAX || n >= MYTH_WORD_BYTES || !myth_mend_is_slip(f->word, f->n_word, token, n))
        return;
    for (size_t i = 0; i < n; i++)
        if (token[i] < 'a' || token[i] > 'z')
            return;
    memcpy(f->token[f->n], token, n);
    f->n_token[f->n++] = n;
}

myth_status myth_mend_word(myth_postings *p, const char *word, size_t n_word, char *dst, size_t *n, myth_postings_word *where, int64_t *n_row, myth_error *err)
{
    myth_status st = MYTH_OK;
    near_words f = { .word = word, .n_word = n_word };
    *n = 0;
    *n_row = 0;
    if (n_word < MYTH_MEND_BYTES)
        return MYTH_OK;
    MYTH_TRY(myth_postings_tokens(p, word, 1, keep_near, &f, err));
    for (uint32_t i = 0; i < f.n; i++) {
        char token[MYTH_WORD_BYTES];
        myth_postings_word at;
        int64_t rows;
        size_t n_token = myth_fts_token(token, f.token[i], f.n_token[i]);       /* its stem has the rows of all its forms */
        MYTH_TRY(myth_postings_find(p, token, n_token, &at, err));
        MYTH_TRY(myth_postings_count(p, &at, &rows, err));
        if (rows == 0 || rows < *n_row || (rows == *n_row && f.n_token[i] <= *n))      /* a stem stands among the words too */
            continue;
        *n_row = rows;
        *where = at;
        *n = f.n_token[i];
        memcpy(dst, f.token[i], *n);
    }
fail:
    return st;
}
