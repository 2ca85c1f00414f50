/* fts_tokenizer.c - see fts_tokenizer.h. Each word is found, split into parts, and handed to FTS5: the word and the
 * stems of its parts share one position. */
#include "fts_tokenizer.h"
#include "engine/base/hash.h"
#include "engine/base/utf8.h"

#include <string.h>

/* ---- letters ---- */

enum kind { SEPARATOR, LOWER, UPPER, DIGIT, JOINER, IDEOGRAPH };

/* Letters and digits of ASCII: a text is read byte by byte, and most bytes are ASCII. */
static const unsigned char kind_of_ascii[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0,
    0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 4,
    0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0,
};

/* Ranges of characters beyond ASCII that are not letters: spaces, punctuation, arrows, mathematics, boxes, byte
 * order marks. Both ends are included. */
static const struct {
    uint32_t first, last;
} separators[] = {
    {0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb9},     {0xbb, 0xbf},     {0xd7, 0xd7},       {0xf7, 0xf7},
    {0x1680, 0x1680}, {0x2000, 0x206f}, {0x20a0, 0x20cf}, {0x2190, 0x2bff}, {0x2e00, 0x2e7f},   {0x3000, 0x3004},
    {0x3008, 0x3020}, {0x3030, 0x3030}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe6f}, {0xfeff, 0xfeff},   {0xff00, 0xff0f},
    {0xff1a, 0xff20}, {0xff3b, 0xff40}, {0xff5b, 0xff65}, {0xfff0, 0xffff}, {0x1f000, 0x1faff},
};

/* Han and kana, which are written without spaces. */
static const struct {
    uint32_t first, last;
} ideographs[] = {
    {0x3005, 0x3007}, {0x3021, 0x302f}, {0x3031, 0x30ff},   {0x3400, 0x4dbf},
    {0x4e00, 0x9fff}, {0xf900, 0xfaff}, {0x20000, 0x3ffff},
};

/* Lower case for Latin 1, Latin Extended A, Greek and Cyrillic. Other alphabets keep their case. */
static uint32_t fold(uint32_t c)
{
    if (c < 0xc0)
        return c;
    if (c <= 0xde)
        return c + 0x20; /* 0xd7 (times) is a separator */
    if (c >= 0x100 && c <= 0x17e) {
        if (c == 0x130 || c == 0x131 || c == 0x138 || c == 0x149)
            return c;
        if (c == 0x178)
            return 0xff;
        bool odd_is_upper = (c >= 0x139 && c <= 0x148) || c >= 0x179;
        return (c & 1) == odd_is_upper ? c + 1 : c;
    }
    if (c >= 0x391 && c <= 0x3a9)
        return c + 0x20;
    if (c >= 0x400 && c <= 0x40f)
        return c + 0x50;
    if (c >= 0x410 && c <= 0x42f)
        return c + 0x20;
    return c;
}

typedef struct {
    enum kind kind;
    unsigned n; /* bytes in the text    */
    char lower[4];
    unsigned n_lower;
} letter;

static void read_wide_letter(letter *l, const char *s, size_t n)
{
    uint32_t cp = 0;
    l->n = l->n_lower = 1;
    l->lower[0] = *s;
    l->kind = LOWER; /* a byte of an older encoding */
    l->n = (unsigned)myth_utf8_decode((const unsigned char *)s, n, &cp);
    if (!l->n) {
        l->n = 1;
        return;
    }
    for (size_t i = 0; i < sizeof(separators) / sizeof(separators[0]); i++)
        if (cp >= separators[i].first && cp <= separators[i].last)
            l->kind = SEPARATOR;
    for (size_t i = 0; i < sizeof(ideographs) / sizeof(ideographs[0]); i++)
        if (cp >= ideographs[i].first && cp <= ideographs[i].last)
            l->kind = IDEOGRAPH;
    uint32_t lower = fold(cp);
    if (l->kind == LOWER && lower != cp)
        l->kind = UPPER;
    l->n_lower = (unsigned)myth_utf8_encode(l->lower, lower);
}

static inline void read_letter(letter *l, const char *s, size_t n)
{
    unsigned char c = (unsigned char)*s;
    if (c >= 0x80) {
        read_wide_letter(l, s, n);
        return;
    }
    l->kind = (enum kind)kind_of_ascii[c];
    l->lower[0] = (char)(l->kind == UPPER ? c | 0x20 : c);
    l->n = l->n_lower = 1;
}

/* ---- a word and its parts ---- */

typedef struct {
    myth_word *w;
    enum kind last;
    unsigned n_upper;  /* capitals at the end of the open part */
    unsigned last_off; /* offset of the last letter, in `whole` */
    bool is_open, is_full;
} cutter;

static void open_part(cutter *c, unsigned off)
{
    myth_word *w = c->w;
    c->is_open = w->n_part < MYTH_WORD_PARTS;
    if (c->is_open) {
        w->part[w->n_part].off = (unsigned char)off;
        w->part[w->n_part++].bytes = 0;
    }
    c->n_upper = 0;
}

/* A letter begins a part after a joiner ('_', '$'), where digits and letters meet, at a capital after a small
 * letter, and at the last of several capitals that a small letter follows (HTTPServer), unless that is a plural s
 * (URLs). */
static inline void put_letter(cutter *c, const letter *l, enum kind next)
{
    myth_word *w = c->w;
    unsigned off = w->n_whole;
    if (off + l->n_lower > MYTH_WORD_BYTES) {
        c->is_full = true;
        return;
    }
    if (l->n_lower == 1)
        w->whole[off] = l->lower[0];
    else
        memcpy(w->whole + off, l->lower, l->n_lower);
    w->n_whole += l->n_lower;
    if (l->kind == JOINER) {
        c->is_open = false;
    } else {
        bool is_word_end = l->kind == LOWER && c->last == UPPER && c->n_upper > 1;
        bool is_plural = is_word_end && l->n_lower == 1 && l->lower[0] == 's' && next != LOWER;
        if (!c->is_open || (l->kind == DIGIT) != (c->last == DIGIT) || (l->kind == UPPER && c->last == LOWER))
            open_part(c, off);
        if (is_word_end && !is_plural && w->n_part < MYTH_WORD_PARTS) {
            w->part[w->n_part - 1].bytes = (unsigned char)(c->last_off - w->part[w->n_part - 1].off);
            open_part(c, c->last_off);
        }
        if (c->is_open)
            w->part[w->n_part - 1].bytes = (unsigned char)(w->n_whole - w->part[w->n_part - 1].off);
        c->n_upper = l->kind == UPPER ? c->n_upper + 1 : 0;
    }
    c->last = l->kind;
    c->last_off = off;
}

bool myth_word_next(myth_word *w, const char *text, size_t n, size_t *pos)
{
    size_t i = *pos;
    letter l = {.kind = SEPARATOR};
    for (; i < n; i += l.n) {
        read_letter(&l, text + i, n - i);
        if (l.kind != SEPARATOR)
            break;
    }
    *pos = i;
    if (i >= n)
        return false;
    w->off = i;
    w->n_whole = w->n_part = 0;
    w->is_number = l.kind == DIGIT;
    cutter c = {.w = w, .last = JOINER};
    if (l.kind == IDEOGRAPH) {
        put_letter(&c, &l, SEPARATOR);
        i += l.n;
    } else {
        while (l.kind != SEPARATOR && l.kind != IDEOGRAPH) {
            letter next = {.kind = SEPARATOR};
            i += l.n;
            if (i < n)
                read_letter(&next, text + i, n - i);
            if (!c.is_full)
                put_letter(&c, &l, next.kind);
            if (i >= n)
                break;
            l = next;
        }
    }
    if (w->is_number) {
        w->part[0].off = 0;
        w->part[0].bytes = (unsigned char)w->n_whole;
        w->n_part = 1;
    }
    w->bytes = i - w->off;
    *pos = i;
    return true;
}

bool myth_word_is_compound(const myth_word *w) { return w->n_part != 1 || w->part[0].bytes != w->n_whole; }

/* ---- FTS5 ---- */

typedef int (*token_fn)(void *arg, int flags, const char *token, int n, int start, int end);

/* A cache of stems, one a slot: texts repeat their words. */
enum { CACHE_SLOTS = 4096, CACHE_BYTES = 15 };

typedef struct {
    struct {
        unsigned char n, n_stem;
        char word[CACHE_BYTES], stem[CACHE_BYTES];
    } slot[CACHE_SLOTS];
} tokenizer;

static size_t stem(tokenizer *t, char *dst, const char *word, size_t n)
{
    if (n > CACHE_BYTES)
        return myth_word_stem(dst, word, n);
    const uint32_t h = (uint32_t)myth_hash_bytes(word, n) % CACHE_SLOTS;
    if (t->slot[h].n != n || memcmp(t->slot[h].word, word, n) != 0) {
        t->slot[h].n = (unsigned char)n;
        memcpy(t->slot[h].word, word, n);
        t->slot[h].n_stem = (unsigned char)myth_word_stem(t->slot[h].stem, word, n);
    }
    memcpy(dst, t->slot[h].stem, t->slot[h].n_stem);
    return t->slot[h].n_stem;
}

/* The most common English words, by length. Most texts have them, so they add nothing to a score; in an index of
 * code with its comments they would be a thirtieth of the postings. */
static bool is_silent(const char *s, unsigned n)
{
    static const char two[] = "anasatbebyifinisitofonortowe", three[] = "andareforthewas", four[] = "fromthatthiswith";
    static const struct {
        const char *word;
        unsigned bytes;
    } list[] = {{two, sizeof(two) - 1}, {three, sizeof(three) - 1}, {four, sizeof(four) - 1}};
    if (n < 2 || n > 4)
        return false;
    for (unsigned i = 0; i < list[n - 2].bytes; i += n)
        if (memcmp(list[n - 2].word + i, s, n) == 0)
            return true;
    return false;
}

/* Names of one letter or digit are in every loop, so they tell nothing. */
static bool is_indexed(const myth_word *w) { return w->n_whole > 1 && !is_silent(w->whole, w->n_whole); }

/* Hands out the stems of the parts, each once, at the word's position. No stem is longer than its part, so they fit
 * where the word did. */
typedef struct {
    struct {
        unsigned char off, n;
    } token[MYTH_WORD_PARTS];
    char text[MYTH_WORD_BYTES];
    unsigned n_token, n_text;
} stems;

static bool has_stem(const stems *f, const char *s, size_t n)
{
    for (unsigned i = 0; i < f->n_token; i++)
        if (f->token[i].n == n && memcmp(f->text + f->token[i].off, s, n) == 0)
            return true;
    return false;
}

static int give_indexed(tokenizer *t, const myth_word *w, void *arg, token_fn give)
{
    stems f;
    f.n_token = f.n_text = 0;
    if (!is_indexed(w))
        return SQLITE_OK;
    int start = (int)w->off, end = (int)(w->off + w->bytes);
    if (!myth_word_is_compound(w)) {
        char text[MYTH_WORD_BYTES];
        return give(arg, 0, text, (int)stem(t, text, w->whole, w->n_whole), start, end);
    }
    int rc = give(arg, 0, w->whole, (int)w->n_whole, start, end);
    for (unsigned i = 0; i < w->n_part; i++) {
        char *s = f.text + f.n_text;
        if (w->part[i].bytes < 2)
            continue;
        size_t n = stem(t, s, w->whole + w->part[i].off, w->part[i].bytes);
        if ((n == w->n_whole && memcmp(s, w->whole, n) == 0) || has_stem(&f, s, n))
            continue;
        f.token[f.n_token].off = (unsigned char)f.n_text;
        f.token[f.n_token++].n = (unsigned char)n;
        f.n_text += (unsigned)n;
    }
    for (unsigned i = 0; i < f.n_token && rc == SQLITE_OK; i++)
        rc = give(arg, FTS5_TOKEN_COLOCATED, f.text + f.token[i].off, f.token[i].n, start, end);
    return rc;
}

/* A phrase leaves out words that are not indexed. Asked alone, such a word still finds compound words. */
static int give_asked(tokenizer *t, const myth_word *w, bool is_prefix, bool is_alone, void *arg, token_fn give)
{
    char text[MYTH_WORD_BYTES];
    int start = (int)w->off, end = (int)(w->off + w->bytes);
    if (w->n_whole < 2 || (!is_alone && !is_indexed(w)))
        return SQLITE_OK;
    if (is_prefix || myth_word_is_compound(w))
        return give(arg, 0, w->whole, (int)w->n_whole, start, end);
    return give(arg, 0, text, (int)stem(t, text, w->whole, w->n_whole), start, end);
}

static int tokenize(Fts5Tokenizer *tokenizer_, void *arg, int flags, const char *text, int n_text, token_fn give)
{
    tokenizer *t = (tokenizer *)(void *)tokenizer_;
    myth_word w;
    size_t pos = 0, n = n_text > 0 ? (size_t)n_text : 0;
    bool is_alone = false, is_query = (flags & FTS5_TOKENIZE_QUERY) != 0;
    bool is_prefix = (flags & FTS5_TOKENIZE_PREFIX) != 0;
    int rc = SQLITE_OK;
    if (is_query) {
        is_alone = myth_word_next(&w, text, n, &pos) && !myth_word_next(&w, text, n, &pos);
        pos = 0;
    }
    while (rc == SQLITE_OK && myth_word_next(&w, text, n, &pos))
        rc = is_query ? give_asked(t, &w, is_prefix, is_alone, arg, give) : give_indexed(t, &w, arg, give);
    return rc;
}

static int create(void *user, const char **arg, int n_arg, Fts5Tokenizer **out)
{
    (void)user;
    (void)arg;
    if (n_arg > 0)
        return SQLITE_ERROR;
    tokenizer *t = sqlite3_malloc(sizeof(*t));
    if (!t)
        return SQLITE_NOMEM;
    memset(t, 0, sizeof(*t));
    *out = (Fts5Tokenizer *)(void *)t;
    return SQLITE_OK;
}

static void destroy(Fts5Tokenizer *t) { sqlite3_free(t); }

myth_status myth_fts_register(sqlite3 *db, myth_error *err)
{
    static fts5_tokenizer methods = {create, destroy, tokenize};
    fts5_api *api = NULL;
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_pointer(q, 1, &api, "fts5_api_ptr", NULL);
        sqlite3_step(q);
        sqlite3_finalize(q);
    }
    if (!api)
        return myth_fail(err, MYTH_EUNSUPPORTED, "SQLite %s was built without FTS5; install one that has it",
                         sqlite3_libversion());
    rc = api->xCreateTokenizer(api, "mythos", NULL, &methods, NULL);
    return rc == SQLITE_OK ? MYTH_OK : myth_fail(err, MYTH_ENOMEM, "tokenizer: %s", sqlite3_errstr(rc));
}

size_t myth_fts_token(char *dst, const char *word, size_t n)
{
    myth_word w;
    size_t pos = 0;
    if (!myth_word_next(&w, word, n, &pos) || w.n_whole < 2)
        return 0;
    if (!myth_word_is_compound(&w))
        return myth_word_stem(dst, w.whole, w.n_whole);
    memcpy(dst, w.whole, w.n_whole);
    return w.n_whole;
}

size_t myth_fts_quote(char *dst, size_t cap, const char *text, size_t n)
{
    myth_word w;
    size_t pos = 0, at = 0, n_word = 0;
    bool has_word = false;
    for (; !has_word && myth_word_next(&w, text, n, &pos); n_word++)
        has_word = is_indexed(&w);
    if (n_word == 1 && !has_word)
        has_word = w.n_whole > 1;
    if (!has_word) {
        if (cap)
            dst[0] = '\0';
        return 0;
    }
#define PUT(c)                   \
    do {                         \
        if (at < cap)            \
            dst[at] = (char)(c); \
        at++;                    \
    } while (0)
    PUT('"');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            PUT('"');
        PUT(text[i] == '\0' ? ' ' : text[i]);
    }
    PUT('"');
    if (cap)
        dst[at < cap ? at : cap - 1] = '\0';
    return at;
#undef PUT
}
