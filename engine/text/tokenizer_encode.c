/* tokenizer_encode.c - text to ids.
 *
 * Pieces   white-space runs and matched pieces are cut out first, from the left, the longest at each place. What lies
 *          between is cut once more wherever no piece holds the two bytes on both sides of the cut, because no merge
 *          can cross there (a character cut so is in no piece, its bytes come out one by one either way). Each segment
 *          is then merged alone: best pair first, the leftmost of equals.
 * Added    where added tokens have options (strip, word by itself, after the normalizer), all of them are cut out
 *          before that, in the library's order (encode_added).
 * Short    segments of at most SHORT characters (nearly all) live in arrays on the stack and look for the best pair in
 *          a row; segments of at most KEY bytes are remembered in a table for the call, because text repeats its words.
 * Long     segments use a heap of (priority, position) with stale entries: O(n log n). Symbols live at the offset of
 *          their first byte; the length stands at the first and at the last byte, so both neighbours are found without
 *          links.
 * Scratch  one block: the text with ▁ as one byte, the arrays of a long segment of the whole text, the table. Short
 *          texts need none. */
#include "tokenizer_impl.h"
#include "engine/base/utf8.h"
#include <assert.h>

enum {
    SHORT = 32,
    KEY = 15,
    CACHE_FROM = 2048, /* bytes of text from which the table pays */
    CACHE_SLOTS = 4096,
    LONG_BYTES = 32 /* of scratch per byte of a long segment: id, prio, result, two lengths, two heap entries */
};

#define NONE UINT32_MAX /* no merge */

typedef struct {     /* one remembered segment */
    uint64_t lo, hi; /* its bytes, zero-padded; the length in the top byte of hi */
    int32_t id[3];
    uint32_t n;
} cached;

typedef struct {
    const myth_tokenizer *t;
    bool content;
    bool is_cut;         /* the text holds no added token any more */
    unsigned normalized; /* which added tokens match_at finds where they have options: those with this */
    int32_t *ids;
    size_t n, cap; /* n may pass cap: then only counted */
    char *scratch_text;
    char *scratch_long;
    size_t long_cap; /* bytes of text that scratch_long is for */
    cached *cache;   /* NULL = none */
} encoder;

static size_t long_bytes(size_t len) { return len > SHORT ? myth_arena_cost(len * LONG_BYTES) : 0; }
static size_t text_bytes(size_t len) { return len > SHORT ? myth_arena_cost(len) : 0; }

uint64_t myth_tokenizer_scratch(size_t len)
{
    return text_bytes(len) + long_bytes(len) + (len >= CACHE_FROM ? CACHE_SLOTS * sizeof(cached) : 0);
}

size_t myth_tokenizer_bound(size_t len) { return len; }

static inline void emit(encoder *e, int32_t id)
{
    if (e->n < e->cap)
        e->ids[e->n] = id;
    e->n++;
}

static void emit_bytes(encoder *e, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        emit(e, e->t->byte_id[(unsigned char)s[i]]);
}

/* Bytes of the character at s; a byte that is not UTF-8 stands alone. */
static inline size_t char_len(const char *s, size_t n)
{
    uint32_t cp;
    int k = myth_utf8_decode((const unsigned char *)s, n, &cp);
    return k ? (size_t)k : 1;
}

static inline int32_t char_id(const myth_tokenizer *t, const char *s, size_t n)
{
    unsigned char c = (unsigned char)*s;
    if (c < 0x80)
        return t->ascii_id[c];
    int32_t id = myth_tok_lookup(t, s, n);
    return id >= 0 && (t->piece[id].flags & MYTH_TOK_MERGES) ? id : -1;
}

/* Priority and result of merging two neighbours; s is the text of both. */
static inline uint32_t pair(const myth_tokenizer *t, const char *s, size_t n, int32_t left, int32_t right,
                            int32_t *result)
{
    if (t->by_rank) {
        if (left < 0 || right < 0 || !t->merge)
            return NONE;
        const myth_tok_merge *m = myth_tok_merge_of(t, (uint32_t)left, (uint32_t)right);
        if (!m)
            return NONE;
        *result = (int32_t)(m->result1 - 1);
        return m->rank;
    }
    if (n > t->max_len)
        return NONE;
    int32_t id = myth_tok_lookup(t, s, n);
    if (id < 0 || !(t->piece[id].flags & MYTH_TOK_MERGES))
        return NONE;
    *result = id;
    return t->prio[id];
}

/* ---- long segments ---- */

typedef struct { /* views into the scratch, each by byte offset */
    const char *s;
    size_t n;
    int32_t *id, *result;
    uint32_t *prio;       /* of the symbol that starts here with the next one */
    uint16_t *len, *back; /* len at a symbol's first byte, back at its last */
    uint64_t *heap;
    size_t n_heap;
} merger;

static void heap_push(merger *m, uint64_t key)
{
    size_t i = m->n_heap++;
    while (i > 0 && m->heap[(i - 1) / 4] > key) {
        m->heap[i] = m->heap[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    m->heap[i] = key;
}

static uint64_t heap_pop(merger *m)
{
    uint64_t top = m->heap[0], key = m->heap[--m->n_heap];
    size_t i = 0, n = m->n_heap;
    for (;;) {
        size_t c = 4 * i + 1, best = c;
        if (c >= n)
            break;
        for (size_t k = c + 1; k < c + 4 && k < n; k++)
            if (m->heap[k] < m->heap[best])
                best = k;
        if (m->heap[best] >= key)
            break;
        m->heap[i] = m->heap[best];
        i = best;
    }
    m->heap[i] = key;
    return top;
}

static void look_at_pair(const myth_tokenizer *t, merger *m, size_t at)
{
    size_t next = at + m->len[at];
    m->prio[at] = NONE;
    if (next >= m->n)
        return;
    m->prio[at] = pair(t, m->s + at, m->len[at] + (size_t)m->len[next], m->id[at], m->id[next], &m->result[at]);
    if (m->prio[at] != NONE)
        heap_push(m, (uint64_t)m->prio[at] << 32 | at);
}

static void encode_long(encoder *e, const char *s, size_t n)
{
    assert(n <= e->long_cap);
    char *p = e->scratch_long;
    merger m = {.s = s, .n = n};
    /* A merge takes one live entry and pushes at most two, so 2 * n entries are enough. */
    m.heap = (uint64_t *)(void *)p;
    m.id = (int32_t *)(void *)(p + 16 * n);
    m.result = (int32_t *)(void *)(p + 20 * n);
    m.prio = (uint32_t *)(void *)(p + 24 * n);
    m.len = (uint16_t *)(void *)(p + 28 * n);
    m.back = (uint16_t *)(void *)(p + 30 * n);

    for (size_t i = 0, k; i < n; i += k) {
        k = char_len(s + i, n - i);
        m.id[i] = char_id(e->t, s + i, k);
        m.len[i] = m.back[i + k - 1] = (uint16_t)k;
    }
    for (size_t i = 0; i < n; i += m.len[i])
        look_at_pair(e->t, &m, i);
    while (m.n_heap) {
        uint64_t key = heap_pop(&m);
        size_t at = key & UINT32_MAX, next;
        if (m.prio[at] != key >> 32)
            continue; /* stale: one side has grown or gone since */
        next = at + m.len[at];
        m.prio[next] = NONE;
        m.id[at] = m.result[at];
        m.len[at] = (uint16_t)(m.len[at] + m.len[next]);
        m.back[at + m.len[at] - 1] = m.len[at];
        look_at_pair(e->t, &m, at);
        if (at > 0)
            look_at_pair(e->t, &m, at - m.back[at - 1]);
    }
    for (size_t i = 0; i < n; i += m.len[i]) {
        if (m.id[i] >= 0)
            emit(e, m.id[i]);
        else
            emit_bytes(e, s + i, m.len[i]);
    }
}

/* ---- short segments ---- */

static void encode_short(encoder *e, const char *s, const uint8_t *start, int n)
{
    const myth_tokenizer *t = e->t;
    uint8_t at[SHORT + 1];
    int32_t id[SHORT], result[SHORT];
    uint32_t prio[SHORT];
    memcpy(at, start, (size_t)n + 1);
    for (int i = 0; i < n; i++)
        id[i] = char_id(t, s + at[i], (size_t)(at[i + 1] - at[i]));
    for (int i = 0; i + 1 < n; i++)
        prio[i] = pair(t, s + at[i], (size_t)(at[i + 2] - at[i]), id[i], id[i + 1], &result[i]);
    prio[n - 1] = NONE;
    result[n - 1] = -1;
    while (n > 1) {
        int best = 0;
        for (int i = 1; i + 1 < n; i++)
            if (prio[i] < prio[best])
                best = i;
        if (prio[best] == NONE)
            break;
        id[best] = result[best];
        n--;
        for (int i = best + 1; i < n; i++) {
            id[i] = id[i + 1];
            at[i] = at[i + 1];
            prio[i] = prio[i + 1];
            result[i] = result[i + 1];
        }
        at[n] = at[n + 1]; /* the end of the segment */
        for (int i = best ? best - 1 : 0; i <= best && i + 1 < n; i++)
            prio[i] = pair(t, s + at[i], (size_t)(at[i + 2] - at[i]), id[i], id[i + 1], &result[i]);
    }
    for (int i = 0; i < n; i++) {
        if (id[i] >= 0)
            emit(e, id[i]);
        else
            emit_bytes(e, s + at[i], (size_t)(at[i + 1] - at[i]));
    }
}

static void merge_segment(encoder *e, const char *s, size_t n)
{
    uint8_t start[SHORT + 1];
    int n_char = 0;
    size_t i = 0;
    while (i < n && n_char < SHORT) {
        start[n_char++] = (uint8_t)i;
        i += char_len(s + i, n - i);
    }
    if (i < n) {
        encode_long(e, s, n);
        return;
    }
    start[n_char] = (uint8_t)n;
    encode_short(e, s, start, n_char);
}

/* left: bytes of text from s on, at least n. */
static void encode_segment(encoder *e, const char *s, size_t n, size_t left)
{
    uint64_t lo = 0, hi = 0;
    if (n == 1 && (unsigned char)*s < 0x80) {
        int32_t id = e->t->ascii_id[(unsigned char)*s];
        emit(e, id >= 0 ? id : e->t->byte_id[(unsigned char)*s]);
        return;
    }
    if (!e->cache || n > KEY) {
        merge_segment(e, s, n);
        return;
    }
    if (left >= 16) { /* load a fixed size and cut: cheaper than a copy of n bytes */
        memcpy(&lo, s, 8);
        memcpy(&hi, s + 8, 8);
        if (n < 8)
            lo &= ((uint64_t)1 << 8 * n) - 1;
        hi &= n <= 8 ? 0 : ((uint64_t)1 << 8 * (n - 8)) - 1;
    } else {
        char key[16] = {0};
        memcpy(key, s, n);
        memcpy(&lo, key, 8);
        memcpy(&hi, key + 8, 8);
    }
    hi |= (uint64_t)n << 56;
    cached *c = &e->cache[myth_tok_mix(lo, hi) % CACHE_SLOTS];
    if (c->lo == lo && c->hi == hi) {
        for (uint32_t i = 0; i < c->n; i++)
            emit(e, c->id[i]);
        return;
    }
    size_t first = e->n;
    merge_segment(e, s, n);
    if (e->n - first > 3 || e->n > e->cap)
        return;
    c->lo = lo;
    c->hi = hi;
    c->n = (uint32_t)(e->n - first);
    memcpy(c->id, e->ids + first, c->n * sizeof *c->id);
}

/* ---- cutting ---- */

/* Longest matched piece at s: its id, and its length in *len; -1 when there is none. */
static int32_t match_at(const encoder *e, const char *s, size_t n, size_t *len)
{
    const myth_tokenizer *t = e->t;
    const myth_tok_set *lens = &t->match_len[(unsigned char)*s];
    for (int w = 7; w >= 0; w--) {
        for (uint32_t bits = lens->w[w]; bits;) {
            int b = 31 - __builtin_clz(bits);
            size_t k = (size_t)(w * 32 + b);
            bits ^= (uint32_t)1 << b;
            if (k > n || !myth_tok_has(&t->match_last, (unsigned char)s[k - 1]))
                continue;
            int32_t id = myth_tok_lookup(t, s, k);
            if (id >= 0 && (t->piece[id].flags & MYTH_TOK_MATCHED) &&
                (t->piece[id].flags & MYTH_TOK_NORMALIZED) == e->normalized &&
                !(e->content && (t->piece[id].flags & MYTH_TOK_CONTROL))) {
                *len = k;
                return id;
            }
        }
    }
    return -1;
}

/* Emits the run of n equal characters; returns how many are left for ordinary text (0 or 1). */
static size_t emit_run(encoder *e, const myth_tok_run *r, size_t n)
{
    while (n >= (size_t)r->min) {
        size_t k = n < (size_t)r->max ? n : (size_t)r->max;
        emit(e, r->id[k]);
        n -= k;
    }
    return n;
}

/* Inner text without raw runs. */
static void encode_text(encoder *e, const char *s, size_t n)
{
    const myth_tokenizer *t = e->t;
    size_t first = 0; /* of the segment being collected */
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)s[i];
        size_t run = 0, len = 0;
        int32_t id = -1;
        if (t->run_of[c]) {
            const myth_tok_run *r = &t->run[t->run_of[c] - 1];
            for (run = 1; i + run < n && (unsigned char)s[i + run] == c;)
                run++;
            if (run >= (size_t)r->min) {
                if (i > first)
                    encode_segment(e, s + first, i - first, n - first);
                first = i + run - emit_run(e, r, run);
                i += run;
                continue;
            }
        }
        if (!e->is_cut && myth_tok_has(&t->match_second[c], i + 1 < n ? (unsigned char)s[i + 1] : 0) &&
            (id = match_at(e, s + i, n - i, &len)) >= 0) {
            if (i > first)
                encode_segment(e, s + first, i - first, n - first);
            emit(e, id);
            first = i += len;
            continue;
        }
        if (i > first && !myth_tok_has(&t->joins[(unsigned char)s[i - 1]], c)) {
            encode_segment(e, s + first, i - first, n - first);
            first = i;
        }
        i++;
    }
    if (n > first)
        encode_segment(e, s + first, n - first, n - first);
}

static bool is_mark(const char *s, const char *end) { return end - s >= 3 && memcmp(s, "\xe2\x96\x81", 3) == 0; }

/* Next U+2581 from s on, or end. */
static const char *next_mark(const char *s, const char *end)
{
    for (; s < end && (s = memchr(s, 0xe2, (size_t)(end - s))) != NULL; s++)
        if (is_mark(s, end))
            return s;
    return end;
}

/* Text that holds U+2581: copied to dst with one byte for each. Where literal runs are tokens of their own, the text is
 * cut at them. */
static void encode_marked(encoder *e, const char *s, const char *end, char *dst)
{
    size_t n = 0;
    while (s < end) {
        const char *mark = next_mark(s, end);
        size_t run = 0;
        memcpy(dst + n, s, (size_t)(mark - s));
        n += (size_t)(mark - s);
        for (s = mark; is_mark(s, end); s += 3)
            run++;
        if (run >= 2 && e->t->has_raw_runs && e->t->run[0].max) {
            encode_text(e, dst, n);
            n = 0;
            run = emit_run(e, &e->t->run[0], run);
        }
        memset(dst + n, ' ', run);
        n += run;
    }
    encode_text(e, dst, n);
}

/* ---- added tokens with options ----
 *
 * As the `tokenizers` library does it: added tokens that are not normalized are looked for in the text as it came, the
 * leftmost first, the longest of those. One that wants to be a word by itself and is not is passed over. What it strips
 * on its left ends at the token before. The text between them is normalized, and the others are looked for there; then
 * merges have what is left. In the inner form a space is ▁, which is no white space. */

/* Bytes of white space that s begins with. */
static size_t space_after(const char *s, size_t n, bool is_inner)
{
    size_t i = 0;
    uint32_t cp;
    for (int k; i < n; i += (size_t)k) {
        k = myth_utf8_decode((const unsigned char *)s + i, n - i, &cp);
        if (k == 0 || !myth_tok_is_space(cp) || (is_inner && cp == ' '))
            break;
    }
    return i;
}

/* The last character of s, 0 when there is none; its bytes in *len. */
static uint32_t last_char(const char *s, size_t n, size_t *len)
{
    uint32_t cp;
    for (*len = 1; *len <= 4 && *len <= n; ++*len)
        if ((size_t)myth_utf8_decode((const unsigned char *)s + n - *len, *len, &cp) == *len)
            return cp;
    return 0;
}

static size_t space_before(const char *s, size_t n, bool is_inner)
{
    size_t end = n, len;
    for (; n > 0; n -= len) {
        uint32_t cp = last_char(s, n, &len);
        if (!myth_tok_is_space(cp) || (is_inner && cp == ' '))
            break;
    }
    return end - n;
}

static bool is_beside_word(const char *s, size_t start, size_t stop, size_t n)
{
    size_t len;
    uint32_t cp;
    return (start > 0 && myth_tok_is_word(last_char(s, start, &len))) ||
           (stop < n && myth_utf8_decode((const unsigned char *)s + stop, n - stop, &cp) && myth_tok_is_word(cp));
}

/* The longest added token at s, or a run that is one; -1 = none. */
static int32_t added_at(const encoder *e, const char *s, size_t n, bool is_inner, size_t *len)
{
    const myth_tokenizer *t = e->t;
    unsigned char c = (unsigned char)*s;
    bool is_raw_mark = !is_inner && is_mark(s, s + n) && t->has_raw_runs;
    if (!is_inner && (is_raw_mark || (t->run_of[c] && c != ' '))) {
        const myth_tok_run *r = is_raw_mark ? &t->run[0] : &t->run[t->run_of[c] - 1];
        size_t width = is_raw_mark ? 3 : 1, run = 1;
        while (run < (size_t)r->max && (run + 1) * width <= n && memcmp(s, s + run * width, width) == 0)
            run++;
        if (r->max && run >= (is_raw_mark ? 2 : (size_t)r->min)) {
            *len = run * width;
            return r->id[run];
        }
    }
    return myth_tok_has(&t->match_second[c], n > 1 ? (unsigned char)s[1] : 0) ? match_at(e, s, n, len) : -1;
}

static void encode_added(encoder *e, const char *s, size_t n, bool is_inner);

/* The text between two added tokens: normalized, or ready for merges. */
static void encode_between(encoder *e, const char *s, size_t n, bool is_inner)
{
    size_t n_inner = 0;
    if (is_inner) {
        e->is_cut = true;
        encode_text(e, s, n);
        e->is_cut = false;
        return;
    }
    for (size_t i = 0; i < n;) {
        bool mark = is_mark(s + i, s + n);
        e->scratch_text[n_inner++] = mark ? ' ' : s[i];
        i += mark ? 3 : 1;
    }
    encode_added(e, e->scratch_text, n_inner, true);
}

static void encode_added(encoder *e, const char *s, size_t n, bool is_inner)
{
    size_t first = 0; /* after the last token */
    size_t space_from = 0,
           space_to = 0; /* white space that was seen: a token of white space that strips sees it once */
    for (size_t i = 0, len; i < n;) {
        e->normalized = is_inner ? MYTH_TOK_NORMALIZED : 0;
        int32_t id = added_at(e, s + i, n - i, is_inner, &len);
        if (id < 0) {
            i++;
            continue;
        }
        size_t start = i, stop = i + len;
        unsigned flags = e->t->piece[id].flags;
        i = stop;
        if (flags & MYTH_TOK_WORD && is_beside_word(s, start, stop, n))
            continue;
        if (flags & MYTH_TOK_LSTRIP) /* not what the token before has taken */
            start = start > first ? start - space_before(s + first, start - first, is_inner) : first;
        if (flags & MYTH_TOK_RSTRIP) {
            if (stop < space_from || stop > space_to) {
                space_from = stop;
                space_to = stop + space_after(s + stop, n - stop, is_inner);
            }
            stop = space_to;
        }
        if (start > first)
            encode_between(e, s + first, start - first, is_inner);
        if (stop > start) /* else the one before it has taken all of it */
            emit(e, id);
        first = stop;
    }
    if (n > first)
        encode_between(e, s + first, n - first, is_inner);
}

myth_status myth_tokenizer_encode(const myth_tokenizer *t, myth_mem *mem, myth_tok_entry entry, const char *text,
                                  size_t len, int32_t *ids, size_t cap, size_t *n_ids, myth_error *err)
{
    char small[SHORT], *scratch = NULL;
    encoder e = {.t = t, .content = entry == MYTH_TOK_CONTENT, .ids = ids, .cap = cap, .scratch_text = small};
    uint64_t bytes = myth_tokenizer_scratch(len);
    *n_ids = 0;
    if (len >> 30)
        return myth_fail(err, MYTH_ELIMIT, "text to tokenize: got %zu bytes, expected less than 1 GiB", len);
    if (bytes) {
        scratch = myth_alloc(mem, MYTH_MEM_STAGING, "tokenize", (size_t)bytes);
        if (!scratch)
            return myth_fail(err, MYTH_ENOMEM, "text to tokenize: %llu bytes for %zu", (unsigned long long)bytes, len);
        e.scratch_text = scratch;
        e.scratch_long = scratch + text_bytes(len);
        e.long_cap = len;
        if (len >= CACHE_FROM)
            e.cache = (cached *)(void *)(scratch + text_bytes(len) + long_bytes(len));
    }
    if (t->has_options)
        encode_added(&e, text, len, false);
    else if (len && next_mark(text, text + len) < text + len)
        encode_marked(&e, text, text + len, e.scratch_text);
    else if (len)
        encode_text(&e, text, len);
    myth_free(mem, scratch);
    *n_ids = e.n;
    if (e.n > cap)
        return myth_fail(err, MYTH_EFULL, "text to tokenize: %zu ids, room for %zu", e.n, cap);
    return MYTH_OK;
}
