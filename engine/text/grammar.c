/* grammar.c - tokens sorted by their bytes stand for the trie: a token shares lcp[i] bytes with the one before, so a
 * walk in this order steps the automaton once per node of the trie, and a byte that fails skips all tokens below its
 * node. The walk reads what lies in its order: of each token the bytes that it does not share (tail), and of the first
 * byte where its tokens begin, so that those of a byte that fails are not looked at. */
#include "grammar.h"

#include <assert.h>
#include <string.h>

enum { N_STOP = 12, STATE_WORDS = MYTH_AUTOMATON_STATE_MAX / 8 };

typedef struct {
    uint64_t w[STATE_WORDS];
} state;

typedef struct {
    state key;
    uint64_t hash;
    bool is_set;
} slot;

struct myth_grammar {
    myth_mem *mem;
    const myth_tokenizer *tok;
    uint32_t n_vocab, n_id, n_word; /* logits of a row; ids that have bytes lie below n_id; words of a mask */
    uint32_t n_order;               /* tokens that can be allowed                                           */
    uint32_t *off;                  /* [n_id + 1] into bytes                                                */
    unsigned char *bytes;
    uint32_t *order;     /* [n_id] ids by their bytes                                            */
    uint16_t *lcp;       /* [n_id] bytes shared with the token before                            */
    unsigned char *tail; /* the other bytes of the tokens, in this order                         */
    uint32_t *tail_off;  /* [n_id + 1] into tail                                                 */
    uint32_t first[257]; /* where in the order the tokens that begin with a byte begin           */
    state *stack;        /* [longest + 1] states along the current token                         */
    uint32_t (*may)[8];  /* [longest + 1] bytes that the state accepts, when has_may             */
    bool *has_may;
    slot *slots;     /* [n_slot] */
    uint32_t *masks; /* [n_slot, n_word] */
    uint32_t n_slot, next_slot, longest;
    int32_t stop[N_STOP];
    int n_stop;
    bool is_done, is_second; /* is_second: off, bytes, order, lcp and tails belong to another grammar */
    myth_automaton a;
    state now;
};

/* ---- sizes ---- */

typedef struct {
    uint32_t n_id, longest;
    uint64_t pool;
    uint64_t off, bytes, order, lcp, tail_off, stack, may, has_may, slots, masks;
} sizes;

/* Bytes of id in a generated text; 0 = never allowed. */
static size_t len_of(const myth_tokenizer *t, uint32_t id)
{
    if (myth_tokenizer_is_control(t, (int32_t)id))
        return 0;
    size_t n = myth_tokenizer_bytes_of(t, (int32_t)id, NULL, 0);
    return n > MYTH_GRAMMAR_PIECE_MAX ? 0 : n;
}

/* What a grammar has of its own: a state, and masks. */
static void measure_state(sizes *z, uint32_t longest, uint32_t n_vocab, uint32_t n_slot)
{
    z->stack = ((uint64_t)longest + 1) * sizeof(state);
    z->may = ((uint64_t)longest + 1) * 8 * sizeof(uint32_t);
    z->has_may = (uint64_t)longest + 1;
    z->slots = (uint64_t)n_slot * sizeof(slot);
    z->masks = (uint64_t)n_slot * ((n_vocab + 31) / 32) * sizeof(uint32_t);
}

static uint64_t sum_state(const sizes *z)
{
    return sizeof(myth_grammar) + z->stack + z->may + z->has_may + z->slots + z->masks;
}

static uint64_t sum_all(const sizes *z)
{
    return z->off + 2 * z->bytes + z->order + z->lcp + z->tail_off + sum_state(z);
}

/* Goes through the whole vocabulary. */
static void measure(sizes *z, const myth_tokenizer *t, uint32_t n_vocab, uint32_t n_slot)
{
    uint32_t n_tok = myth_tokenizer_n_vocab(t);
    memset(z, 0, sizeof(*z));
    z->n_id = n_tok < n_vocab ? n_tok : n_vocab;
    for (uint32_t id = 0; id < z->n_id; id++) {
        size_t n = len_of(t, id);
        z->pool += n;
        if (n > z->longest)
            z->longest = (uint32_t)n;
    }
    z->off = ((uint64_t)z->n_id + 1) * sizeof(uint32_t);
    z->bytes = z->pool ? z->pool : 1;
    z->order = (uint64_t)(z->n_id ? z->n_id : 1) * sizeof(uint32_t);
    z->lcp = (uint64_t)(z->n_id ? z->n_id : 1) * sizeof(uint16_t);
    z->tail_off = z->off;
    measure_state(z, z->longest, n_vocab, n_slot);
}

uint64_t myth_grammar_plan_second(const myth_tokenizer *t, uint32_t n_vocab, uint32_t n_cached_masks)
{
    sizes z;
    measure(&z, t, n_vocab, n_cached_masks);
    return sum_state(&z);
}

uint64_t myth_grammar_plan(const myth_tokenizer *t, uint32_t n_vocab, uint32_t n_cached_masks)
{
    sizes z;
    measure(&z, t, n_vocab, n_cached_masks);
    return sum_all(&z);
}

/* ---- order ---- */

/* Byte of a token at a depth, from 1 on; 0 = the token ends before it. */
static unsigned rank_at(const myth_grammar *g, uint32_t id, uint32_t depth)
{
    uint32_t at = g->off[id] + depth;
    return at < g->off[id + 1] ? g->bytes[at] + 1u : 0;
}

static int compare(const myth_grammar *g, uint32_t a, uint32_t b, uint32_t depth)
{
    uint32_t na = g->off[a + 1] - g->off[a] - depth, nb = g->off[b + 1] - g->off[b] - depth;
    int c = memcmp(g->bytes + g->off[a] + depth, g->bytes + g->off[b] + depth, na < nb ? na : nb);
    return c ? c : (na > nb) - (na < nb);
}

static void insertion_sort(const myth_grammar *g, uint32_t *ids, uint32_t n, uint32_t depth)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t id = ids[i], j = i;
        for (; j && compare(g, ids[j - 1], id, depth) > 0; j--)
            ids[j] = ids[j - 1];
        ids[j] = id;
    }
}

/* In-place radix sort, most significant byte first, of tokens that share depth bytes. The largest part is done by the
 * loop and only the others by recursion, so that the stack is at most log2(n) deep for any vocabulary. */
static void sort(const myth_grammar *g, uint32_t *ids, uint32_t n, uint32_t depth)
{
    while (n > 16) {
        uint32_t count[257] = {0}, from[257], to[257], largest = 1;
        for (uint32_t i = 0; i < n; i++)
            count[rank_at(g, ids[i], depth)]++;
        for (uint32_t r = 0, sum = 0; r < 257; r++) {
            from[r] = sum;
            sum += count[r];
            to[r] = sum;
            if (r && count[r] > count[largest])
                largest = r;
        }
        for (uint32_t r = 0; r < 257; r++)
            while (from[r] < to[r]) { /* each swap puts one token into its part */
                uint32_t id = ids[from[r]];
                for (uint32_t own = rank_at(g, id, depth); own != r; own = rank_at(g, id, depth)) {
                    uint32_t other = ids[from[own]];
                    ids[from[own]++] = id;
                    id = other;
                }
                ids[from[r]++] = id;
            }
        depth++;
        for (uint32_t r = 1; r < 257; r++)
            if (r != largest && count[r] > 1)
                sort(g, ids + to[r] - count[r], count[r], depth);
        ids += to[largest] - count[largest];
        n = count[largest];
    }
    insertion_sort(g, ids, n, depth);
}

static uint16_t shared(const myth_grammar *g, uint32_t a, uint32_t b)
{
    const unsigned char *pa = g->bytes + g->off[a], *pb = g->bytes + g->off[b];
    uint32_t na = g->off[a + 1] - g->off[a], nb = g->off[b + 1] - g->off[b], n = 0;
    while (n < na && n < nb && pa[n] == pb[n])
        n++;
    return (uint16_t)n;
}

static void index_tokens(myth_grammar *g)
{
    uint32_t at = 0;
    for (uint32_t id = 0; id < g->n_id; id++) {
        uint32_t n = (uint32_t)len_of(g->tok, id);
        g->off[id] = at;
        if (n) {
            myth_tokenizer_bytes_of(g->tok, (int32_t)id, (char *)g->bytes + at, n);
            g->order[g->n_order++] = id;
        }
        at += n;
    }
    g->off[g->n_id] = at;
    sort(g, g->order, g->n_order, 0);
    for (uint32_t i = 1; i < g->n_order; i++)
        g->lcp[i] = shared(g, g->order[i - 1], g->order[i]);
    at = 0;
    for (uint32_t i = 0; i < g->n_order; i++) {
        const uint32_t from = g->off[g->order[i]] + g->lcp[i], n = g->off[g->order[i] + 1] - from;
        memcpy(g->tail + at, g->bytes + from, n);
        g->tail_off[i] = at;
        at += n;
    }
    g->tail_off[g->n_order] = at;
    for (uint32_t b = 0, i = 0; b <= 256; b++) {
        g->first[b] = i;
        while (b < 256 && i < g->n_order && g->bytes[g->off[g->order[i]]] == b)
            i++;
    }
}

/* ---- life ---- */

static void take_state(myth_grammar *g, const sizes *z)
{
    g->stack = myth_alloc(g->mem, MYTH_MEM_OTHER, "grammar stack", z->stack);
    g->may = myth_alloc(g->mem, MYTH_MEM_OTHER, "grammar bits", z->may);
    g->has_may = myth_alloc(g->mem, MYTH_MEM_OTHER, "grammar bits", z->has_may);
    g->slots = myth_alloc(g->mem, MYTH_MEM_OTHER, "grammar keys", z->slots);
    g->masks = myth_alloc(g->mem, MYTH_MEM_OTHER, "grammar masks", z->masks);
}

static bool has_state(const myth_grammar *g) { return g->stack && g->may && g->has_may && g->slots && g->masks; }

myth_status myth_grammar_open_second(myth_grammar **out, const myth_grammar *of, uint32_t n_cached_masks,
                                     myth_error *err)
{
    assert(n_cached_masks >= 1);
    sizes z = {0};
    measure_state(&z, of->longest, of->n_vocab, n_cached_masks);
    myth_grammar *g = myth_alloc(of->mem, MYTH_MEM_OTHER, "grammar", sizeof(*g));
    if (g) {
        *g = *of;
        g->is_second = true;
        g->n_slot = n_cached_masks;
        g->next_slot = 0;
        take_state(g, &z);
    }
    if (!g || !has_state(g)) {
        myth_grammar_close(g);
        return myth_fail(err, MYTH_ENOMEM, "grammar: %llu bytes", (unsigned long long)sum_state(&z));
    }
    *out = g;
    return MYTH_OK;
}

myth_status myth_grammar_open(myth_grammar **out, myth_mem *mem, const myth_tokenizer *t, uint32_t n_vocab,
                              const int32_t *stop_ids, int n_stop, uint32_t n_cached_masks, myth_error *err)
{
    assert(n_cached_masks >= 1);
    sizes z;
    measure(&z, t, n_vocab, n_cached_masks);
    const uint64_t need = sum_all(&z);
    myth_grammar *g = myth_alloc(mem, MYTH_MEM_OTHER, "grammar", sizeof(*g));
    if (!g)
        return myth_fail(err, MYTH_ENOMEM, "grammar: %llu bytes", (unsigned long long)need);
    g->mem = mem;
    g->tok = t;
    g->n_vocab = n_vocab;
    g->n_id = z.n_id;
    g->n_word = (n_vocab + 31) / 32;
    g->longest = z.longest;
    g->n_slot = n_cached_masks;
    for (int i = 0; i < n_stop && g->n_stop < N_STOP; i++)
        if (stop_ids[i] >= 0 && (uint32_t)stop_ids[i] < n_vocab)
            g->stop[g->n_stop++] = stop_ids[i];
    g->off = myth_alloc(mem, MYTH_MEM_OTHER, "grammar offsets", z.off);
    g->bytes = myth_alloc(mem, MYTH_MEM_OTHER, "grammar bytes", z.bytes);
    g->order = myth_alloc(mem, MYTH_MEM_OTHER, "grammar order", z.order);
    g->lcp = myth_alloc(mem, MYTH_MEM_OTHER, "grammar prefixes", z.lcp);
    g->tail = myth_alloc(mem, MYTH_MEM_OTHER, "grammar bytes", z.bytes);
    g->tail_off = myth_alloc(mem, MYTH_MEM_OTHER, "grammar offsets", z.tail_off);
    take_state(g, &z);
    if (z.pool > UINT32_MAX || !g->off || !g->bytes || !g->order || !g->lcp || !g->tail || !g->tail_off ||
        !has_state(g)) {
        myth_grammar_close(g);
        return myth_fail(err, MYTH_ENOMEM, "grammar: %llu bytes", (unsigned long long)need);
    }
    index_tokens(g);
    *out = g;
    return MYTH_OK;
}

void myth_grammar_close(myth_grammar *g)
{
    if (!g)
        return;
    myth_mem *mem = g->mem;
    myth_free(mem, g->masks);
    myth_free(mem, g->slots);
    myth_free(mem, g->has_may);
    myth_free(mem, g->may);
    myth_free(mem, g->stack);
    if (!g->is_second) {
        myth_free(mem, g->tail_off);
        myth_free(mem, g->tail);
        myth_free(mem, g->lcp);
        myth_free(mem, g->order);
        myth_free(mem, g->bytes);
        myth_free(mem, g->off);
    }
    myth_free(mem, g);
}

static void forget_masks(myth_grammar *g)
{
    for (uint32_t i = 0; i < g->n_slot; i++)
        g->slots[i].is_set = false;
}

void myth_grammar_start(myth_grammar *g, const myth_automaton *a)
{
    assert(a->state_bytes <= MYTH_AUTOMATON_STATE_MAX);
    g->a = *a;
    g->is_done = false;
    memset(&g->now, 0, sizeof(g->now));
    a->start(a->self, &g->now);
    forget_masks(g);
}

/* ---- one token ---- */

static bool is_stop(const myth_grammar *g, int32_t id)
{
    for (int i = 0; i < g->n_stop; i++)
        if (g->stop[i] == id)
            return true;
    return false;
}

static bool walk(const myth_grammar *g, int32_t id, state *s)
{
    if (g->is_done || id < 0 || (uint32_t)id >= g->n_id || g->off[id] == g->off[id + 1])
        return false;
    *s = g->now;
    for (uint32_t i = g->off[id]; i < g->off[id + 1]; i++)
        if (!g->a.step(g->a.self, s, g->bytes[i]))
            return false;
    return true;
}

/* Whether this id, a stop id or not, may come as it is, and the state behind it. */
static bool take(const myth_grammar *g, int32_t id, bool by_name, bool has_next, state *s)
{
    if (!g->a.take || g->is_done || id < 0 || (uint32_t)id >= g->n_id)
        return has_next;
    if (s && !has_next)
        *s = g->now;
    return g->a.take(g->a.self, &g->now, id, by_name, has_next, s) || has_next;
}

/* A stop id ends the answer, so the text must be whole before it, or with it where it is named. */
static bool may_stop(const myth_grammar *g, int32_t id)
{
    state s;
    return myth_grammar_may_end(g) || (take(g, id, true, false, &s) && g->a.may_end(g->a.self, &s));
}

bool myth_grammar_may_end(const myth_grammar *g) { return !g->is_done && g->a.may_end(g->a.self, &g->now); }
bool myth_grammar_is_done(const myth_grammar *g) { return g->is_done; }

bool myth_grammar_allows(const myth_grammar *g, int32_t id)
{
    state s;
    return is_stop(g, id) ? may_stop(g, id) : take(g, id, false, false, NULL) || walk(g, id, &s);
}

bool myth_grammar_accept(myth_grammar *g, int32_t id)
{
    if (is_stop(g, id)) {
        if (!may_stop(g, id))
            return false;
        g->is_done = true;
        return true;
    }
    state s;
    if (!take(g, id, false, walk(g, id, &s), &s))
        return false;
    g->now = s;
    if (g->a.settle && g->a.settle(g->a.self, &g->now))
        forget_masks(g);
    return true;
}

/* ---- masks ---- */

static bool node_steps(myth_grammar *g, uint32_t depth, unsigned char byte)
{
    const myth_step_table *t = &g->a.table;
    if (t->next) {
        uint32_t at;
        memcpy(&at, &g->stack[depth], sizeof(at));
        at = t->next[(size_t)at * t->n_class + t->class_of[byte]];
        if (at == MYTH_STEP_NONE)
            return false;
        if (at != MYTH_STEP_ASK) {
            memcpy(&g->stack[depth + 1], &at, sizeof(at));
            return true;
        }
    }
    if (g->a.allowed) {
        if (!g->has_may[depth]) {
            g->a.allowed(g->a.self, &g->stack[depth], g->may[depth]);
            g->has_may[depth] = true;
        }
        if (!(g->may[depth][byte >> 5] >> (byte & 31) & 1))
            return false;
    }
    if (g->a.state_bytes <= sizeof(uint64_t))
        g->stack[depth + 1].w[0] = g->stack[depth].w[0];
    else
        memcpy(&g->stack[depth + 1], &g->stack[depth], g->a.state_bytes);
    g->has_may[depth + 1] = false;
    return g->a.step(g->a.self, &g->stack[depth + 1], byte);
}

/* Tokens that begin with this byte, which steps: stack[1] is the state behind it. */
static void fill_below(myth_grammar *g, uint32_t first, uint32_t *mask)
{
    const uint32_t end = g->first[first + 1];
    for (uint32_t i = g->first[first]; i < end;) {
        const unsigned char *p = g->tail + g->tail_off[i];
        const uint32_t len = g->lcp[i] + g->tail_off[i + 1] - g->tail_off[i];
        uint32_t depth = g->lcp[i];
        if (depth == 0) { /* its first byte has stepped */
            depth = 1;
            p++;
        }
        while (depth < len && node_steps(g, depth, *p)) {
            depth++;
            p++;
        }
        if (depth == len) {
            const uint32_t id = g->order[i++];
            mask[id / 32] |= 1u << (id % 32);
            continue;
        }
        for (i++; i < end && g->lcp[i] > depth;) /* they share the byte that failed */
            i++;
    }
}

static void fill_mask(myth_grammar *g, uint32_t *mask)
{
    memset(mask, 0, g->n_word * sizeof(uint32_t));
    if (g->is_done)
        return;
    g->stack[0] = g->now;
    g->has_may[0] = false;
    for (uint32_t b = 0; b < 256; b++)
        if (g->first[b] < g->first[b + 1] && node_steps(g, 0, (unsigned char)b))
            fill_below(g, b, mask);
    if (g->a.mark)
        g->a.mark(g->a.self, &g->now, g->n_id, mask);
    for (int k = 0; k < g->n_stop; k++) {
        const uint32_t bit = 1u << (g->stop[k] % 32);
        mask[g->stop[k] / 32] = may_stop(g, g->stop[k]) ? mask[g->stop[k] / 32] | bit : mask[g->stop[k] / 32] & ~bit;
    }
}

static uint64_t hash_state(const state *s)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (int i = 0; i < STATE_WORDS; i++) {
        h = (h ^ s->w[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

const uint32_t *myth_grammar_mask(myth_grammar *g)
{
    state key = g->now;
    if (g->a.key) {
        memset(&key, 0, sizeof(key));
        g->a.key(g->a.self, &g->now, g->longest, &key);
    }
    if (g->is_done)
        memset(&key, 0xff, sizeof(key));
    uint64_t h = hash_state(&key);
    for (uint32_t i = 0; i < g->n_slot; i++)
        if (g->slots[i].is_set && g->slots[i].hash == h && !memcmp(&g->slots[i].key, &key, sizeof(key)))
            return g->masks + (size_t)i * g->n_word;
    uint32_t i = g->next_slot;
    g->next_slot = (i + 1) % g->n_slot;
    g->slots[i] = (slot){.key = key, .hash = h, .is_set = true};
    fill_mask(g, g->masks + (size_t)i * g->n_word);
    return g->masks + (size_t)i * g->n_word;
}
