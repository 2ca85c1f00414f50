/* tokenizer.c - the tables of a tokenizer: taken as one arena, filled by a reader, then queried. See tokenizer_impl.h
 * for the order. */
#include "tokenizer_impl.h"
#include "engine/base/utf8.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>

static const unsigned char run_char[3] = {' ', '\n', '\t'};

myth_status myth_tok_fail(const myth_tokenizer *t, myth_error *err, uint32_t id, const char *what)
{
    return myth_fail(err, MYTH_EFORMAT, "%s: piece %u: %s", t->path, id, what);
}

/* ---- building ---- */

static void add_to_hash(myth_tokenizer *t, uint64_t a, uint64_t b) { t->hash = myth_tok_mix(t->hash ^ a, b); }

myth_status myth_tok_new(myth_tokenizer **out, myth_mem *mem, const myth_tok_size *size, const char *path,
                         myth_error *err)
{
    if (size->n_vocab == 0 || size->n_vocab > MYTH_TOK_VOCAB_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%s: pieces: got %u, expected 1 to %d", path, size->n_vocab,
                         MYTH_TOK_VOCAB_MAX);
    if (size->n_merge > MYTH_TOK_MERGE_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%s: merges: got %u, expected at most %d", path, size->n_merge,
                         MYTH_TOK_MERGE_MAX);
    if (size->text_bytes > MYTH_TOK_TEXT_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%s: text of the pieces: got %llu bytes, expected at most %d", path,
                         (unsigned long long)size->text_bytes, MYTH_TOK_TEXT_MAX);
    /* Every product below is bounded by the limits above. A slot array twice (1.5 times) as long as its content keeps
     * probes short. */
    size_t n = size->n_vocab, n_slot = 2 * n, n_merge_slot = size->n_merge ? size->n_merge + size->n_merge / 2 + 1 : 0;
    size_t at_piece = myth_arena_cost(sizeof(myth_tokenizer));
    size_t at_prio = at_piece + myth_arena_cost(n * sizeof(myth_tok_piece));
    size_t at_slot = at_prio + (size->by_rank ? 0 : myth_arena_cost(n * sizeof(uint32_t)));
    size_t at_merge = at_slot + myth_arena_cost(n_slot * sizeof(uint64_t));
    size_t at_rank = at_merge + myth_arena_cost(n_merge_slot * sizeof(myth_tok_merge));
    size_t at_text = at_rank + myth_arena_cost(size->n_merge * sizeof(uint32_t));
    size_t total = at_text + myth_arena_cost((size_t)size->text_bytes);

    char *base = myth_alloc(mem, MYTH_MEM_TOKENIZER, "tokenizer", total);
    if (!base)
        return myth_fail(err, MYTH_ENOMEM, "%s: tokenizer: %zu bytes", path, total);
    myth_tokenizer *t = (myth_tokenizer *)(void *)base;
    t->mem = mem;
    t->arena_bytes = total;
    t->n_vocab = size->n_vocab;
    t->by_rank = size->by_rank;
    t->piece = (myth_tok_piece *)(void *)(base + at_piece);
    t->prio = size->by_rank ? NULL : (uint32_t *)(void *)(base + at_prio);
    t->slot = (uint64_t *)(void *)(base + at_slot);
    t->n_slot = (uint32_t)n_slot;
    t->merge = n_merge_slot ? (myth_tok_merge *)(void *)(base + at_merge) : NULL;
    t->n_merge_slot = (uint32_t)n_merge_slot;
    t->merge_at = (uint32_t *)(void *)(base + at_rank);
    t->n_merge = size->n_merge;
    t->own_text = size->lent_text ? NULL : base + at_text;
    t->text = size->lent_text ? size->lent_text : t->own_text;
    t->text_cap = size->text_bytes;
    t->rank_of_other = UINT32_MAX;
    snprintf(t->path, sizeof t->path, "%s", path);
    *out = t;
    return MYTH_OK;
}

/* Orders as the score does, turned: the largest score is the smallest number. */
static uint32_t prio_of_score(float score)
{
    uint32_t b;
    score += 0.0f; /* -0 and 0 are the same score */
    memcpy(&b, &score, 4);
    return b >> 31 ? b : ~(b | 0x80000000u);
}

myth_status myth_tok_put(myth_tokenizer *t, uint32_t id, const char *text, size_t len, unsigned type, float score,
                         myth_error *err)
{
    if (id >= t->n_vocab)
        return myth_tok_fail(t, err, id, "id beyond the number of pieces");
    myth_tok_piece *p = &t->piece[id];
    if (p->len)
        return myth_tok_fail(t, err, id, "id given twice");
    if (len == 0 || len > MYTH_TOK_PIECE_MAX)
        return myth_tok_fail(t, err, id, "got an empty piece or one of more than 4096 bytes");
    if (!myth_utf8_is_valid((const unsigned char *)text, len))
        return myth_tok_fail(t, err, id, "not UTF-8");
    if (type < MYTH_PIECE_NORMAL || type > MYTH_PIECE_BYTE)
        return myth_tok_fail(t, err, id, "unknown piece type");
    if (!isfinite(score))
        return myth_tok_fail(t, err, id, "score is not finite");
    if (t->own_text) {
        if (len > t->text_cap - t->text_used) /* the reader counted the pieces before, in the same file */
            return myth_tok_fail(t, err, id, "the pieces are longer than they were when they were counted");
        memcpy(t->own_text + t->text_used, text, len);
        p->off = (uint32_t)t->text_used;
        t->text_used += len;
    } else {
        p->off = (uint32_t)(text - t->text);
    }
    p->len = (uint16_t)len;
    p->type = (uint8_t)type;
    if (t->prio)
        t->prio[id] = prio_of_score(score);
    if (len > t->max_len)
        t->max_len = (uint32_t)len;
    return MYTH_OK;
}

static const char *text_of(const myth_tokenizer *t, const myth_tok_piece *p) { return t->text + p->off; }

/* Inner form of a piece: ▁ as one space. dst holds len bytes. */
static size_t inner_text(char *dst, const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; n++) {
        if ((unsigned char)s[i] == 0xe2 && len - i >= 3 && memcmp(s + i, "\xe2\x96\x81", 3) == 0) {
            dst[n] = ' ';
            i += 3;
        } else {
            dst[n] = s[i++];
        }
    }
    return n;
}

static bool holds_space(const char *s, size_t len)
{
    const char *end = s + len;
    for (; (s = memchr(s, 0xe2, (size_t)(end - s))) != NULL; s++)
        if (end - s >= 3 && memcmp(s, "\xe2\x96\x81", 3) == 0)
            return true;
    return false;
}

static void set_flags(const myth_tokenizer *t, myth_tok_piece *p)
{
    const char *s = text_of(t, p);
    bool spaced = holds_space(s, p->len);
    bool control = p->type == MYTH_PIECE_UNKNOWN || p->type == MYTH_PIECE_CONTROL || p->type == MYTH_PIECE_UNUSED ||
                   myth_tok_is_unused(s, p->len) || myth_tok_is_marker(s, p->len);
    unsigned f = spaced ? MYTH_TOK_HAS_SPACE : 0;
    if (control)
        f |= MYTH_TOK_CONTROL;
    if (p->type != MYTH_PIECE_BYTE && p->type != MYTH_PIECE_UNUSED && (control || p->type == MYTH_PIECE_USER))
        f |= MYTH_TOK_MATCHED;
    if ((p->type == MYTH_PIECE_NORMAL || p->type == MYTH_PIECE_USER) && !control)
        f |= MYTH_TOK_MERGES;
    /* Added tokens alone are looked for, in the raw text: one with ▁ matches U+2581, not a space, and Gemma 4's
     * <unusedN> are none. */
    if (t->by_rank && !t->runs_first && (spaced || p->type == MYTH_PIECE_NORMAL))
        f &= ~(unsigned)MYTH_TOK_MATCHED;
    p->flags = (uint8_t)f;
}

/* Inner form of piece p: the piece itself, or a copy in buf (MYTH_TOK_PIECE_MAX) when it holds ▁. */
static myth_str inner_of(const myth_tokenizer *t, const myth_tok_piece *p, char *buf)
{
    if (!(p->flags & MYTH_TOK_HAS_SPACE))
        return (myth_str){text_of(t, p), p->len};
    return (myth_str){buf, inner_text(buf, text_of(t, p), p->len)};
}

/* Adds id, whose inner form has hash h, to the text index. Two spellings that differ in ▁ and space only share the
 * first one's place. */
static myth_status index_piece(myth_tokenizer *t, uint32_t id, uint64_t h, uint64_t *n_probe, myth_error *err)
{
    const myth_tok_piece *p = &t->piece[id];
    char buf[MYTH_TOK_PIECE_MAX];
    for (uint32_t i = myth_tok_slot_of(t->n_slot, h);; i = i + 1 == t->n_slot ? 0 : i + 1) {
        if (!t->slot[i]) {
            t->slot[i] = h << 32 | (id + 1);
            return MYTH_OK;
        }
        uint32_t other = (uint32_t)t->slot[i] - 1;
        if (t->slot[i] >> 32 == (h & UINT32_MAX)) {
            const myth_tok_piece *q = &t->piece[other];
            myth_str s = inner_of(t, p, buf);
            if (q->len == p->len && memcmp(text_of(t, q), text_of(t, p), p->len) == 0)
                return myth_tok_fail(t, err, id, "the same text as another piece");
            if (myth_tok_equal(t, other, s.text, s.len))
                return MYTH_OK;
        }
        /* Random text needs 1.5 probes on average; a file made to collide is not worth its time. */
        if (++*n_probe > 16 * (uint64_t)t->n_vocab + 4096)
            return myth_tok_fail(t, err, id, "too many pieces collide in the index");
    }
}

/* Each byte needs a piece: <0xNN>, or for ASCII the character itself (tokenizer.json of Gemma 1 and 2 has a tab in the
 * place of <0x09>). */
static myth_status index_bytes(myth_tokenizer *t, myth_error *err)
{
    for (int b = 0; b < 256; b++) {
        char c = (char)b;
        t->byte_id[b] = -1;
        if (b < 128) {
            int32_t id = myth_tok_lookup(t, &c, 1);
            t->ascii_id[b] = id >= 0 && (t->piece[id].flags & MYTH_TOK_MERGES) ? id : -1;
        }
    }
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        if (t->piece[id].type != MYTH_PIECE_BYTE)
            continue;
        int b = myth_tok_byte_of(text_of(t, &t->piece[id]), t->piece[id].len);
        if (b < 0)
            return myth_tok_fail(t, err, id, "a byte piece must be spelled <0x00> to <0xFF>");
        t->byte_id[b] = (int32_t)id;
    }
    for (int b = 0; b < 256; b++) {
        if (t->byte_id[b] < 0 && b < 128)
            t->byte_id[b] = t->ascii_id[b];
        if (t->byte_id[b] < 0)
            return myth_fail(err, MYTH_EFORMAT, "%s: no piece for the byte 0x%02X", t->path, (unsigned)b);
    }
    return MYTH_OK;
}

myth_status myth_tok_index(myth_tokenizer *t, myth_error *err)
{
    enum { AHEAD = 16 }; /* slots are fetched this many pieces early: the index is larger than the cache */
    char buf[MYTH_TOK_PIECE_MAX];
    uint64_t hash[AHEAD], n_probe = 0;
    for (uint32_t id = 0; id < t->n_vocab + AHEAD; id++) {
        if (id >= AHEAD) {
            myth_status st = index_piece(t, id - AHEAD, hash[id % AHEAD], &n_probe, err);
            if (st != MYTH_OK)
                return st;
        }
        if (id < t->n_vocab) {
            myth_tok_piece *p = &t->piece[id];
            if (!p->len)
                return myth_tok_fail(t, err, id, "id missing");
            set_flags(t, p);
            myth_str s = inner_of(t, p, buf);
            hash[id % AHEAD] = myth_tok_hash(s.text, s.len);
            add_to_hash(t, hash[id % AHEAD], t->prio ? t->prio[id] : 0);
            __builtin_prefetch(&t->slot[myth_tok_slot_of(t->n_slot, hash[id % AHEAD])], 1);
        }
    }
    return index_bytes(t, err);
}

/* Which run character s consists of, -1 when it is no run. */
static int run_index(const char *s, size_t n)
{
    for (int k = 0; k < 3; k++) {
        size_t i = 0;
        while (i < n && (unsigned char)s[i] == run_char[k])
            i++;
        if (i == n)
            return k;
    }
    return -1;
}

myth_status myth_tok_put_merge(myth_tokenizer *t, uint32_t rank, const char *left, size_t n_left, const char *right,
                               size_t n_right, myth_error *err)
{
    char inner[2 * MYTH_TOK_PIECE_MAX];
    if (n_left == 0 || n_right == 0 || n_left > MYTH_TOK_PIECE_MAX || n_right > MYTH_TOK_PIECE_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%s: merge %u: empty or more than 4096 bytes", t->path, rank);
    size_t a = inner_text(inner, left, n_left), b = inner_text(inner + a, right, n_right);
    int32_t l = myth_tok_lookup(t, inner, a), r = myth_tok_lookup(t, inner + a, b),
            res = myth_tok_lookup(t, inner, a + b);
    if (l < 0 || r < 0 || res < 0)
        return myth_fail(err, MYTH_EFORMAT, "%s: merge %u: its parts or its result are no pieces", t->path, rank);
    add_to_hash(t, rank, (uint64_t)l << 32 | (uint32_t)r);

    int k = run_index(inner, a + b);
    if (k == 0 && b == 1) {
        t->grow.falls = t->grow.n == 0 || (t->grow.falls && a < t->grow.last_k);
        t->grow.n++;
        t->grow.last_k = (uint32_t)a;
        t->grow.last_rank = rank;
    } else if (k < 0 && rank < t->rank_of_other) {
        t->rank_of_other = rank;
    }
    if (!(t->piece[res].flags & MYTH_TOK_MERGES))
        return MYTH_OK;

    uint64_t h = myth_tok_mix((uint32_t)l, (uint32_t)r);
    uint32_t n_probe = 0;
    for (uint32_t i = myth_tok_slot_of(t->n_merge_slot, h);; i = i + 1 == t->n_merge_slot ? 0 : i + 1) {
        myth_tok_merge *m = &t->merge[i];
        if (!m->result1) {
            *m = (myth_tok_merge){(uint32_t)l, (uint32_t)r, rank, (uint32_t)res + 1};
            t->merge_at[rank] = i + 1;
            return MYTH_OK;
        }
        if (m->left == (uint32_t)l && m->right == (uint32_t)r)
            return myth_fail(err, MYTH_EFORMAT, "%s: merge %u: given twice", t->path, rank);
        if (++n_probe > 4096)
            return myth_fail(err, MYTH_EFORMAT, "%s: merge %u: too many merges collide in the index", t->path, rank);
    }
}

/* ---- what encoding looks up ---- */

static int32_t find(const myth_tokenizer *t, const char *piece) { return myth_tokenizer_find(t, piece, strlen(piece)); }

static int32_t find_either(const myth_tokenizer *t, const char *one, const char *other)
{
    int32_t id = find(t, one);
    return id >= 0 ? id : find(t, other);
}

static myth_status find_special(myth_tokenizer *t, myth_error *err)
{
    int32_t newline = find(t, "\n");
    t->special = (myth_special_ids){
        .pad = find(t, "<pad>"),
        .eos = find(t, "<eos>"),
        .bos = find(t, "<bos>"),
        .unk = find(t, "<unk>"),
        .start_of_turn = find_either(t, "<start_of_turn>", "<|turn>"),
        .end_of_turn = find_either(t, "<end_of_turn>", "<turn|>"),
        .newline = newline >= 0 ? newline : t->byte_id['\n'],
        .fim_prefix = find(t, "<|fim_prefix|>"),
        .fim_middle = find(t, "<|fim_middle|>"),
        .fim_suffix = find(t, "<|fim_suffix|>"),
        .file_separator = find(t, "<|file_separator|>"),
        .think = find(t, "<|think|>"),
        .channel_open = find(t, "<|channel>"),
        .channel_close = find(t, "<channel|>"),
        .tool = find_either(t, "<|tool>", "<start_function_declaration>"),
        .tool_end = find_either(t, "<tool|>", "<end_function_declaration>"),
        .tool_call = find_either(t, "<|tool_call>", "<start_function_call>"),
        .tool_call_end = find_either(t, "<tool_call|>", "<end_function_call>"),
        .tool_response = find_either(t, "<|tool_response>", "<start_function_response>"),
        .tool_response_end = find_either(t, "<tool_response|>", "<end_function_response>"),
        .tool_quote = find_either(t, "<|\"|>", "<escape>"),
    };
    if (t->special.bos < 0 || t->special.eos < 0)
        return myth_fail(err, MYTH_EFORMAT, "%s: pieces: expected <bos> and <eos>", t->path);
    return MYTH_OK;
}

/* Fills run[k] when pieces of 2, 3, ... of the character exist and are matched before merging, or the merges amount to
 * the same. */
static void find_runs(myth_tokenizer *t, int k)
{
    char text[MYTH_TOK_RUN_MAX];
    myth_tok_run *r = &t->run[k];
    bool by_merge = t->by_rank && !t->runs_first && run_char[k] == ' ';
    memset(text, run_char[k], sizeof text);
    r->min = 2;
    for (int n = 1; n <= MYTH_TOK_RUN_MAX; n++) {
        int32_t id = myth_tok_lookup(t, text, (size_t)n);
        bool whole = id >= 0 && (t->piece[id].flags & (by_merge ? MYTH_TOK_MERGES : MYTH_TOK_MATCHED));
        if (n == 1 && whole && !by_merge)
            r->min = 1;
        if (n > 1 && !whole)
            break;
        r->id[n] = id;
        r->max = n;
    }
    /* With merges alone a run is its longest pieces from the left when "k spaces + space" ranks before "k - 1 spaces +
     * space" for every k, and all of them before anything that takes a space elsewhere. */
    if (by_merge && !(t->grow.falls && t->grow.n == (uint32_t)r->max - 1 && t->grow.last_rank < t->rank_of_other))
        r->max = 0;
    if (r->max < 2 && r->min == 2)
        r->max = 0;
}

/* Filters of the matcher for one piece; runs that find_runs took are left out. A character that starts another matched
 * piece is no run. */
static void add_match(myth_tokenizer *t, const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0];
    if (n == 1)
        memset(&t->match_second[c], 0xff, sizeof t->match_second[c]);
    else
        myth_tok_add(&t->match_second[c], (unsigned char)s[1]);
    myth_tok_add(&t->match_len[c], (unsigned char)n);
    myth_tok_add(&t->match_last, (unsigned char)s[n - 1]);
}

static void set_run_of(myth_tokenizer *t, const bool other_match[3])
{
    for (int k = 0; k < 3; k++) {
        find_runs(t, k);
        if (other_match[k])
            t->run[k].max = 0;
        if (t->run[k].max)
            t->run_of[run_char[k]] = (uint8_t)(k + 1);
    }
}

myth_status myth_tok_ready(myth_tokenizer *t, myth_error *err)
{
    char inner[MYTH_TOK_PIECE_MAX];
    bool other_match[3] = {false};
    myth_status st = find_special(t, err);
    if (st != MYTH_OK)
        return st;
    for (uint32_t id = 0; id < t->n_vocab; id++) { /* matched pieces first: they decide what is a run */
        const myth_tok_piece *p = &t->piece[id];
        if (!(p->flags & MYTH_TOK_MATCHED))
            continue;
        size_t n = inner_text(inner, text_of(t, p), p->len);
        if (n > MYTH_TOK_MATCH_MAX)
            return myth_tok_fail(t, err, id, "a control or user-defined piece of more than 255 bytes");
        for (int k = t->has_options ? 1 : 0; k < 3; k++) /* with options, runs of spaces are seen after all of them */
            if ((unsigned char)inner[0] == run_char[k] && run_index(inner, n) != k)
                other_match[k] = true;
    }
    set_run_of(t, other_match);
    add_to_hash(t, t->n_vocab, (uint64_t)t->by_rank << 2 | (uint64_t)t->runs_first << 1 | t->has_options);
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        const myth_tok_piece *p = &t->piece[id];
        const char *s = text_of(t, p);
        size_t n = p->len;
        add_to_hash(t, id, (uint64_t)p->type << 32 | (uint64_t)p->flags << 16 | p->len);
        if (p->flags & MYTH_TOK_HAS_SPACE) {
            n = inner_text(inner, s, n);
            if (t->by_rank && !t->runs_first && p->type == MYTH_PIECE_USER && n > 1 && run_index(inner, n) == 0)
                t->has_raw_runs = true;
            s = inner;
        }
        if (p->flags & MYTH_TOK_MERGES)
            for (size_t i = 1; i < n; i++)
                myth_tok_add(&t->joins[(unsigned char)s[i - 1]], (unsigned char)s[i]);
        size_t n_out = p->type == MYTH_PIECE_BYTE ? 1 : n;
        if (n_out > t->max_out)
            t->max_out = (uint32_t)n_out;
        if (p->flags & MYTH_TOK_MATCHED) {
            int k = run_index(s, n);
            if (k < 0 || !t->run[k].max || n > (size_t)t->run[k].max)
                add_match(t, s, n);
        }
    }
    return MYTH_OK;
}

/* ---- queries ---- */

uint64_t myth_tokenizer_bytes(const myth_tokenizer *t) { return t->arena_bytes; }
uint32_t myth_tokenizer_n_vocab(const myth_tokenizer *t) { return t->n_vocab; }
uint64_t myth_tokenizer_hash(const myth_tokenizer *t) { return t->hash; }
const myth_special_ids *myth_tokenizer_special(const myth_tokenizer *t) { return &t->special; }
bool myth_tokenizer_has_options(const myth_tokenizer *t) { return t->has_options; }
size_t myth_tokenizer_max_piece(const myth_tokenizer *t) { return t->max_out; }

static const myth_tok_piece *piece_at(const myth_tokenizer *t, int32_t id)
{
    assert(id >= 0 && (uint32_t)id < t->n_vocab);
    return &t->piece[id];
}

myth_str myth_tokenizer_piece(const myth_tokenizer *t, int32_t id)
{
    const myth_tok_piece *p = piece_at(t, id);
    return (myth_str){text_of(t, p), p->len};
}

myth_piece_type myth_tokenizer_type(const myth_tokenizer *t, int32_t id)
{
    return (myth_piece_type)piece_at(t, id)->type;
}
bool myth_tokenizer_is_control(const myth_tokenizer *t, int32_t id)
{
    return piece_at(t, id)->flags & MYTH_TOK_CONTROL;
}

bool myth_tokenizer_is_gemma4(const myth_tokenizer *t)
{
    return t->by_rank && t->special.channel_open >= 0 && t->special.channel_close >= 0;
}

int32_t myth_tokenizer_find(const myth_tokenizer *t, const char *piece, size_t len)
{
    char inner[MYTH_TOK_PIECE_MAX];
    if (len == 0 || len > MYTH_TOK_PIECE_MAX)
        return -1;
    return myth_tok_lookup(t, inner, inner_text(inner, piece, len));
}

/* ---- merges, for writers ---- */

uint32_t myth_tokenizer_n_merge(const myth_tokenizer *t) { return t->n_merge; }

bool myth_tokenizer_merge(const myth_tokenizer *t, uint32_t rank, int32_t *left, int32_t *right)
{
    assert(rank < t->n_merge);
    if (!t->merge_at[rank])
        return false;
    const myth_tok_merge *m = &t->merge[t->merge_at[rank] - 1];
    *left = (int32_t)m->left;
    *right = (int32_t)m->right;
    return true;
}

bool myth_tokenizer_needs_merges(const myth_tokenizer *t)
{
    char buf[MYTH_TOK_PIECE_MAX];
    uint64_t last = 0; /* ranks of the pieces before this one are below it */
    if (!t->by_rank)
        return false;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        const myth_tok_piece *p = &t->piece[id];
        if (p->type != MYTH_PIECE_NORMAL || !(p->flags & MYTH_TOK_MERGES))
            continue;
        myth_str s = inner_of(t, p, buf);
        uint64_t worst = last;
        for (size_t k = 1; k < s.len; k++) {
            int32_t l = myth_tok_lookup(t, s.text, k), r = myth_tok_lookup(t, s.text + k, s.len - k);
            if (l < 0 || r < 0 || !(t->piece[l].flags & t->piece[r].flags & MYTH_TOK_MERGES))
                continue;
            const myth_tok_merge *m = t->merge ? myth_tok_merge_of(t, (uint32_t)l, (uint32_t)r) : NULL;
            if (!m || m->rank < last)
                return true;
            if (m->rank >= worst)
                worst = (uint64_t)m->rank + 1;
        }
        last = worst;
    }
    return false;
}

void myth_tokenizer_close(myth_tokenizer *t)
{
    if (t)
        myth_free(t->mem, t);
}
