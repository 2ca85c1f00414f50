/* fts_tokenizer.h - the words of code, for FTS5: the tokenizer `mythos`.
 *
 * Word      a run of letters, digits, '_' and '$'; everything else separates, so a dotted or qualified name is a run of
 *           words, which a quoted query finds as a phrase. Letters are ASCII, what is one beyond it in UTF-8, and bytes
 *           that are not UTF-8. A CJK character is a word of its own
 * Indexed   one position a word, in lower case (at most MYTH_WORD_BYTES, the rest is dropped): a word of one part by
 *           its porter stem; a compound one whole, and by the stem of each of its parts of two bytes or more. Parts are
 *           by camel case, '_', '$' and digits; a number is one. A plain word as it is written is left to those who
 *           read the text: it would be a tenth of the table. A word of one byte and those few that hold sentences
 *           together ("of", "the") are left out and have no position
 * Asked     one token a word: a word of one part by its stem (so it finds all forms, and compound words with it), a
 *           compound one whole; as it is written when a prefix is asked. A phrase leaves out what texts leave out
 * Source    Porter, An algorithm for suffix stripping (1980); SQLite's FTS5 documentation, "Custom Tokenizers",
 *           "Synonym Support" */
#ifndef MYTH_FTS_TOKENIZER_H
#define MYTH_FTS_TOKENIZER_H

#include "engine/base/status.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

enum { MYTH_WORD_BYTES = 128, MYTH_WORD_PARTS = 64 };

/* The table of every index of words. The body stands first: a posting in the first column has no mark of its column,
 * which is a quarter of the table. Weights and counts of FTS5 come in this order. */
enum { MYTH_FTS_BODY, MYTH_FTS_PATH, MYTH_FTS_NAMES, MYTH_FTS_COLUMN_N };
#define MYTH_FTS_TABLE "CREATE VIRTUAL TABLE fts USING fts5(body, path, names, content='', tokenize='mythos')"

/* Makes `tokenize='mythos'` known to a connection. MYTH_EUNSUPPORTED: this SQLite has no FTS5. */
myth_status myth_fts_register(sqlite3 *db, myth_error *err);

/* One word of a text, taken apart. */
typedef struct {
    size_t off, bytes;           /* in the text, also of a word that was cut      */
    char whole[MYTH_WORD_BYTES]; /* lower case, not terminated                    */
    unsigned n_whole;
    struct {
        unsigned char off, bytes;
    } part[MYTH_WORD_PARTS]; /* in `whole`; of every length  */
    unsigned n_part;
    bool is_number; /* begins with a digit                           */
} myth_word;

/* The next word at or behind *pos; false at the end. *pos moves behind it. Any bytes. */
bool myth_word_next(myth_word *w, const char *text, size_t n, size_t *pos);
/* Whether a query for this word asks for it whole: it has several parts, or marks around its only one. */
bool myth_word_is_compound(const myth_word *w);
/* Porter's stem of a word in lower case, written to dst (n bytes are enough); returns its length. Not only a-z, or
 * shorter than 3: unchanged. */
size_t myth_word_stem(char *dst, const char *word, size_t n);

/* What a query for this one word asks the index for, written to dst (MYTH_WORD_BYTES); returns its bytes, 0 for what is
 * not indexed. */
size_t myth_fts_token(char *dst, const char *word, size_t n);

/* A text as one string of an FTS5 query: in quotes, quotes doubled, NUL a space, so that nothing in it is an operator;
 * words in it become a phrase. Returns the bytes of the whole, without the final zero that is written; nothing is
 * written past cap, so ask with cap 0. 0: the text has no indexed word, and FTS5 would find nothing. */
size_t myth_fts_quote(char *dst, size_t cap, const char *text, size_t n);

#endif
