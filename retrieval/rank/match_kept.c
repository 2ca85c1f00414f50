/* match_kept.c - see match_kept.h. A function of SQL that hands out a pointer ties the cache to its connection. */
#include "match_kept.h"
#include "engine/base/table.h"

#include <string.h>

static void clear_kept(myth_match_kept *k)
{
    myth_free(k->mem, k->length);
    myth_free(k->mem, k->row);
    myth_free(k->mem, k->word);
    *k = (myth_match_kept){.mem = k->mem, .version = k->version};
}

static void free_kept(void *arg)
{
    myth_mem *mem = ((myth_match_kept *)arg)->mem;
    clear_kept(arg);
    myth_free(mem, arg);
}

/* SQL function myth_match_kept(): returns the connection's cache as a pointer. */
static void kept_function(sqlite3_context *ctx, int n_arg, sqlite3_value **arg)
{
    (void)n_arg;
    (void)arg;
    sqlite3_result_pointer(ctx, sqlite3_user_data(ctx), "myth_kept", NULL);
}

myth_match_kept *myth_match_kept_of(sqlite3 *db)
{
    sqlite3_stmt *s = NULL;
    myth_match_kept *k = NULL;
    if (sqlite3_prepare_v2(db, "SELECT myth_match_kept()", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        k = sqlite3_value_pointer(sqlite3_column_value(s, 0), "myth_kept");
    sqlite3_finalize(s);
    unsigned version = 0;
    if (k &&
        (sqlite3_file_control(db, "main", SQLITE_FCNTL_DATA_VERSION, &version) != SQLITE_OK || version != k->version)) {
        clear_kept(k);
        k->version = version;
    }
    if (k && (k->n_row > MYTH_MATCH_KEPT_ROWS || k->n_word > MYTH_MATCH_KEPT_WORDS / 2)) {
        k->n_row = k->n_word = 0;
        memset(k->word, 0, MYTH_MATCH_KEPT_WORDS * sizeof(*k->word));
    }
    return k;
}

myth_match_kept_word *myth_match_kept_find_word(myth_match_kept *k, const char *token, size_t n)
{
    if (!k || n == 0 || n > sizeof(k->word->token))
        return NULL;
    if (!k->word)
        k->word = myth_alloc_n(k->mem, MYTH_MEM_OTHER, "match", MYTH_MATCH_KEPT_WORDS, sizeof(*k->word));
    if (!k->word || k->n_word >= MYTH_MATCH_KEPT_WORDS - 1)
        return NULL;
    uint32_t at = (uint32_t)myth_hash_bytes(token, n) % MYTH_MATCH_KEPT_WORDS;
    while (k->word[at].n && (k->word[at].n != n || memcmp(k->word[at].token, token, n) != 0))
        at = (at + 1) % MYTH_MATCH_KEPT_WORDS;
    return &k->word[at];
}

myth_status myth_match_kept_add(void *kept_, const myth_posting *one)
{
    myth_match_kept *k = kept_;
    if (k->n_row == k->cap_row) {
        const uint32_t cap = 2 * k->cap_row + 4096;
        myth_posting *grown = myth_realloc(k->mem, MYTH_MEM_OTHER, "match", k->row, cap * sizeof(*grown));
        if (!grown)
            return MYTH_ENOMEM;
        k->row = grown;
        k->cap_row = cap;
    }
    k->row[k->n_row++] = *one;
    return MYTH_OK;
}

myth_status myth_match_kept_open(sqlite3 *db, myth_mem *mem, myth_error *err)
{
    myth_match_kept *k = myth_alloc(mem, MYTH_MEM_OTHER, "match", sizeof(*k));
    if (!k)
        return myth_fail(err, MYTH_ENOMEM, "search: no memory");
    *k = (myth_match_kept){.mem = mem};
    if (sqlite3_create_function_v2(db, "myth_match_kept", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, k, kept_function, NULL,
                                   NULL, free_kept) != SQLITE_OK)
        return myth_fail(err, MYTH_ENOMEM, "search: %s", sqlite3_errmsg(db));
    return MYTH_OK;
}
