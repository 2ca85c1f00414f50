/* tokenizer_impl.h - what the parts of the tokenizer share: the tables, the builder that the readers fill, the piece
 * index.
 *
 * Text     everywhere inside, ▁ (U+2581) and space are one byte, 0x20: text is searched as the caller gave it, without
 *          the threefold growth of the escaped form. Pieces are stored as the file has them and compared through this
 *          rule (myth_tok_equal).
 * Priority lower merges first. Files with scores: the score's bits, turned so that they order as unsigned; equal scores
 * stay equal, then
 *          the leftmost pair wins. Files with merges: the rank of the pair.
 * Reading  a reader counts first (myth_tok_new takes one arena for the counts), then puts every piece, then calls
 *          myth_tok_index, puts the merges if it has some, and calls myth_tok_ready.
 * Errors   MYTH_EFORMAT "path: piece N: what"; MYTH_ENOMEM */
#ifndef MYTH_TOKENIZER_IMPL_H
#define MYTH_TOKENIZER_IMPL_H

#include "tokenizer.h"
#include <string.h>

enum {
    MYTH_TOK_VOCAB_MAX = 1 << 20, /* pieces; Gemma has 2^18                                   */
    MYTH_TOK_MERGE_MAX = 1 << 20, /* Gemma 1 has 580,604                                      */
    MYTH_TOK_PIECE_MAX = 4096,    /* bytes of a piece; Gemma's longest has 93                 */
    MYTH_TOK_MATCH_MAX = 255,     /* bytes of a piece that is matched whole                   */
    MYTH_TOK_TEXT_MAX = 32 << 20, /* bytes of all pieces; Gemma 3 has 2.3 MB                  */
    MYTH_TOK_RUN_MAX = 63         /* longest run piece of one white-space character           */
};

enum {                         /* myth_tok_piece.flags */
       MYTH_TOK_HAS_SPACE = 1, /* holds ▁                                                  */
       MYTH_TOK_CONTROL = 2,   /* may not come from content                                */
       MYTH_TOK_MATCHED = 4,   /* matched whole, before any merge                          */
       MYTH_TOK_MERGES = 8,    /* may be the result of a merge                             */
       /* options of added tokens; only where has_options is set */
       MYTH_TOK_LSTRIP = 16,     /* takes the white space in front of it                     */
       MYTH_TOK_RSTRIP = 32,     /* takes the white space after it                           */
       MYTH_TOK_WORD = 64,       /* not beside a character of a word                         */
       MYTH_TOK_NORMALIZED = 128 /* looked for after the normalizer, between the others      */
};

typedef struct {
    uint32_t off; /* in text */
    uint16_t len; /* 0 = not put yet */
    uint8_t type, flags;
} myth_tok_piece;

typedef struct {
    uint32_t left, right, rank, result1; /* result1: id + 1; 0 = empty slot */
} myth_tok_merge;

typedef struct { /* one bit per byte value */
    uint32_t w[8];
} myth_tok_set;

typedef struct {                      /* runs of one white-space character that are pieces */
    int32_t id[MYTH_TOK_RUN_MAX + 1]; /* by length; [0] unused */
    int min, max; /* max 0 = runs of this character are nothing special; min 2 = a single one is ordinary text */
} myth_tok_run;

struct myth_tokenizer {
    myth_mem *mem;
    uint64_t arena_bytes, file_bytes; /* file_bytes: mapped while it was read */
    uint64_t hash;                    /* of pieces, priorities, merges, as they come; whole when it is ready */
    uint32_t n_vocab, n_slot, n_merge, n_merge_slot;
    bool by_rank;      /* merges decide, else scores */
    bool has_raw_runs; /* two or more literal U+2581 are an added token of their own */
    bool has_options;  /* some added token strips, stands alone, or is looked for after the normalizer */
    const char *text;
    uint64_t text_cap, text_used; /* of the arena's own text; cap 0 = text is lent by the file */
    char *own_text;
    myth_tok_piece *piece;
    uint32_t *prio;            /* by id; NULL when by_rank */
    uint64_t *slot;            /* index by text: fingerprint << 32 | id + 1; 0 = empty */
    myth_tok_merge *merge;     /* index by (left, right) */
    uint32_t *merge_at;        /* by rank: slot + 1; 0 = dropped, its result may not come from a merge */
    uint32_t max_len, max_out; /* longest piece, longest result of bytes_of */
    bool runs_first; /* by_rank: white-space runs are matched before anything merges (Gemma 1 and 2, GGUF "llama") */
    struct {         /* by_rank: merges "run of k spaces" + "space" seen so far */
        uint32_t n, last_k, last_rank;
        bool falls; /* k fell from each to the next, so the leftmost run grows to the longest piece first */
    } grow;
    uint32_t rank_of_other; /* by_rank: best rank of a merge whose result is no white-space run */
    myth_special_ids special;
    int32_t end[MYTH_TOK_END_MAX]; /* ids that end a text, as the model's files say */
    uint32_t n_end;
    int32_t byte_id[256], ascii_id[128];
    myth_tok_run run[3];            /* space, newline, tab */
    uint8_t run_of[256];            /* 1 + index into run; 0 = none */
    myth_tok_set match_second[256]; /* by first byte: second bytes of matched pieces (all, when one is a single byte) */
    myth_tok_set match_len[256];    /* by first byte: their lengths */
    myth_tok_set match_last;        /* their last bytes */
    myth_tok_set joins[256];        /* [a] holds b: some piece has the bytes a b inside, so a merge may cross there */
    char path[96];                  /* for messages while reading */
};

/* ---- builder (tokenizer.c) ---- */

typedef struct {
    uint32_t n_vocab, n_merge;
    uint64_t text_bytes;   /* to copy; 0 = pieces are lent */
    const char *lent_text; /* what lent pieces are inside of */
    bool by_rank;
} myth_tok_size;

myth_status myth_tok_new(myth_tokenizer **out, myth_mem *mem, const myth_tok_size *size, const char *path,
                         myth_error *err);
myth_status myth_tok_put(myth_tokenizer *t, uint32_t id, const char *text, size_t len, unsigned type, float score,
                         myth_error *err);
/* All pieces are there: finds byte pieces and flags, builds the index. */
myth_status myth_tok_index(myth_tokenizer *t, myth_error *err);
/* The merge of a rank below size.n_merge. */
myth_status myth_tok_put_merge(myth_tokenizer *t, uint32_t rank, const char *left, size_t n_left, const char *right,
                               size_t n_right, myth_error *err);
/* Special ids, runs, matcher, places where no merge can cross. */
myth_status myth_tok_ready(myth_tokenizer *t, myth_error *err);
myth_status myth_tok_fail(const myth_tokenizer *t, myth_error *err, uint32_t id, const char *what);

/* ---- readers of bytes in memory ---- */

myth_status myth_tok_open_json(myth_tokenizer **out, myth_mem *mem, const void *base, uint64_t size, const char *path,
                               myth_error *err);
myth_status myth_tok_open_spm(myth_tokenizer **out, myth_mem *mem, const void *base, uint64_t size, const char *path,
                              myth_error *err);
myth_status myth_tok_open_gguf(myth_tokenizer **out, myth_mem *mem, const myth_meta *m, const char *path,
                               myth_error *err);
/* The byte vocabulary: 0-4 <pad> <eos> <bos> <unk> <mask>; turns at 105, 106 and bytes at 238 (below 494 rows: 5, 6 and
 * 7); <unusedN>. is_gemma4: the marks of Gemma 4 at their places (below 494 rows: behind the bytes, as many as there is
 * room for). */
myth_status myth_tok_open_bytes(myth_tokenizer **out, myth_mem *mem, uint32_t n_vocab, bool is_gemma4, const char *path,
                                myth_error *err);

/* ---- spelling (tokenizer_names.c) ---- */

int myth_tok_byte_of(const char *s, size_t n);    /* 0..255 for "<0x00>".."<0xFF>", else -1 */
bool myth_tok_is_unused(const char *s, size_t n); /* "<unused" digits ">" */
bool myth_tok_is_marker(const char *s,
                        size_t n); /* control, turn, tool, channel, image, fill-in markers of every Gemma */
bool myth_tok_is_shown(const char *s,
                       size_t n); /* markers of Gemma 4 that decoding prints: readers of calls and thoughts need them */

/* ---- characters (tokenizer_chars.c): \w and \s of Unicode, as the options of added tokens mean them ---- */

bool myth_tok_is_word(uint32_t cp);
bool myth_tok_is_space(uint32_t cp);

/* ---- index ---- */

static inline bool myth_tok_has(const myth_tok_set *s, unsigned char c) { return s->w[c >> 5] >> (c & 31) & 1; }
static inline void myth_tok_add(myth_tok_set *s, unsigned char c) { s->w[c >> 5] |= (uint32_t)1 << (c & 31); }

__extension__ typedef unsigned __int128 myth_tok_u128;

static inline uint64_t myth_tok_mix(uint64_t a, uint64_t b)
{
    myth_tok_u128 p = (myth_tok_u128)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD1342543DE82EF95u);
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Of n >= 1 bytes; reads nothing outside them. */
static inline uint64_t myth_tok_hash(const char *s, size_t n)
{
    uint64_t a, b, h = n;
    uint32_t x, y;
    if (n < 4) {
        a = (uint64_t)(unsigned char)s[0] | (uint64_t)(unsigned char)s[n >> 1] << 8 |
            (uint64_t)(unsigned char)s[n - 1] << 16;
        return myth_tok_mix(a, h);
    }
    if (n < 8) {
        memcpy(&x, s, 4);
        memcpy(&y, s + n - 4, 4);
        return myth_tok_mix((uint64_t)y << 32 | x, h);
    }
    for (; n > 16; s += 8, n -= 8) {
        memcpy(&a, s, 8);
        h = myth_tok_mix(a, h);
    }
    memcpy(&a, s, 8);
    memcpy(&b, s + n - 8, 8);
    return myth_tok_mix(a ^ h, b);
}

/* Piece id equals the inner text s. */
static inline bool myth_tok_equal(const myth_tokenizer *t, uint32_t id, const char *s, size_t n)
{
    const myth_tok_piece *p = &t->piece[id];
    const char *q = t->text + p->off, *end = q + p->len;
    if (!(p->flags & MYTH_TOK_HAS_SPACE))
        return p->len == n && memcmp(q, s, n) == 0;
    size_t i = 0;
    for (; q < end && i < n; i++) {
        if (s[i] != ' ') {
            if (*q != s[i])
                return false;
            q++;
        } else if (*q == ' ') {
            q++;
        } else if (end - q >= 3 && memcmp(q, "\xe2\x96\x81", 3) == 0) {
            q += 3;
        } else {
            return false;
        }
    }
    return q == end && i == n;
}

static inline uint32_t myth_tok_slot_of(uint32_t n_slot, uint64_t h) { return (uint32_t)((h >> 32) * n_slot >> 32); }

/* Id of inner text, -1 when it is no piece. */
static inline int32_t myth_tok_lookup(const myth_tokenizer *t, const char *s, size_t n)
{
    uint64_t h = myth_tok_hash(s, n);
    for (uint32_t i = myth_tok_slot_of(t->n_slot, h);; i = i + 1 == t->n_slot ? 0 : i + 1) {
        uint64_t v = t->slot[i];
        if (!v)
            return -1;
        if (v >> 32 == (h & UINT32_MAX) && myth_tok_equal(t, (uint32_t)v - 1, s, n))
            return (int32_t)((uint32_t)v - 1);
    }
}

static inline const myth_tok_merge *myth_tok_merge_of(const myth_tokenizer *t, uint32_t left, uint32_t right)
{
    uint64_t h = myth_tok_mix(left, right);
    for (uint32_t i = myth_tok_slot_of(t->n_merge_slot, h);; i = i + 1 == t->n_merge_slot ? 0 : i + 1) {
        const myth_tok_merge *m = &t->merge[i];
        if (!m->result1)
            return NULL;
        if (m->left == left && m->right == right)
            return m;
    }
}

#endif
