/* fts_tokenizer.h - splits code into words for FTS5: the tokenizer `mythos`.
 *
 * Word      a run of letters, digits, '_' and '$'. Everything else separates words, so a dotted or qualified name
 *           is several words, and a quoted query finds it as a phrase. Letters are those of ASCII, all letters
 *           beyond it in UTF-8, and bytes that are not UTF-8. A CJK character is a word by itself
 * Indexed   a word takes one position. In lower case, and cut to MYTH_WORD_BYTES, it is indexed by these tokens: a
 *           word of one part by its Porter stem; a compound word as a whole and by the stem of each part of at
 *           least two bytes. Parts are separated by camel case, '_', '$' and digits; a number is a part. The
 *           unstemmed form of a simple word is not indexed, which saves a tenth of the table: who needs it reads
 *           the text. Words of one byte and the most common English words ("of", "the") are not indexed and take no
 *           position
 * Asked     a query uses one token a word: the stem of a word of one part (which finds all its forms, and compound
 *           words with that part), or the whole compound word. A prefix query uses the word as written. Phrases
 *           leave out the words that are not indexed
 * Source    Porter, An algorithm for suffix stripping (1980); SQLite's FTS5 documentation, "Custom Tokenizers" and
 *           "Synonym Support"
 * Threads   any; registering is per connection */
#ifndef MYTH_FTS_TOKENIZER_H
#define MYTH_FTS_TOKENIZER_H

#include "engine/base/status.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

enum { MYTH_WORD_BYTES = 128, MYTH_WORD_PARTS = 64 };

/* The full-text table. The body is the first column because a posting there needs no mark of its column, which saves
 * a quarter of the table. FTS5's weights and counts come in this order. */
enum { MYTH_FTS_BODY, MYTH_FTS_PATH, MYTH_FTS_NAMES, MYTH_FTS_COLUMN_N };
#define MYTH_FTS_TABLE "CREATE VIRTUAL TABLE fts USING fts5(body, path, names, content='', tokenize='mythos')"

/* Registers `tokenize='mythos'` on a connection. MYTH_EUNSUPPORTED: this SQLite has no FTS5. */
myth_status myth_fts_register(sqlite3 *db, myth_error *err);

/* One word of a text, with its parts. */
typedef struct {
    size_t off, bytes;           /* place in the text, with all bytes of a word that was cut */
    char whole[MYTH_WORD_BYTES]; /* lower case, not terminated                    */
    unsigned n_whole;
    struct {
        unsigned char off, bytes;
    } part[MYTH_WORD_PARTS]; /* places in `whole`; parts of any length */
    unsigned n_part;
    bool is_number; /* begins with a digit                           */
} myth_word;

/* Finds the next word at or after *pos and moves *pos past it; false at the end. Any bytes are accepted. */
bool myth_word_next(myth_word *w, const char *text, size_t n, size_t *pos);
/* Whether a query asks for the whole word: it has several parts, or '_' or '$' beside its only one. */
bool myth_word_is_compound(const myth_word *w);
/* Writes Porter's stem of a lower-case word to dst (n bytes are enough) and returns its length. A word shorter than
 * 3, or with bytes other than a-z, is unchanged. */
size_t myth_word_stem(char *dst, const char *word, size_t n);

/* Writes the token that a query for this word looks up to dst (MYTH_WORD_BYTES) and returns its bytes; 0 for a word
 * that is not indexed. */
size_t myth_fts_token(char *dst, const char *word, size_t n);

/* Quotes a text as one string of an FTS5 query: quotes are doubled and NUL becomes a space, so nothing in it is an
 * operator, and several words are a phrase. Returns the bytes without the final zero. Nothing is written past cap,
 * so cap 0 asks for the size. 0: no word of the text is indexed, and FTS5 would find nothing. */
size_t myth_fts_quote(char *dst, size_t cap, const char *text, size_t n);

#endif
