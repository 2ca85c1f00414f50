/* tokenizer_json.c - reads a tokenizer.json of the `tokenizers` library: the two generations that Gemma has.
 *
 *   { "added_tokens": [{ "id", "content", "single_word", "lstrip", "rstrip", "normalized", "special" }, ...],
 *     "normalizer":    Replace " " by "▁",
 *     "pre_tokenizer": null, or Split on " " (which does nothing after the normalizer),
 *     "model": { "type": "BPE", "byte_fallback": true, "vocab": { piece: id, ... },
 *                "merges": ["left right", ...] or [["left", "right"], ...] }, ... }
 *
 * Added   tokens with single_word, lstrip, rstrip or normalized are found as the library finds them
 *         (tokenizer_encode.c).
 * Trees   what changes ids must be exactly one of the trees above: nothing in the file is interpreted. Decoder,
 *         post-processor, padding and truncation do not change ids of plain text and are skipped.
 * Passes  the first counts, checks ids against the count of entries (an id is never a size) and marks where the three
 *         lists begin; the second fills the tables.
 * Bare    files of Gemma 1 and 2 name only pad, eos, bos and unk as added tokens; markers, runs and HTML tags are then
 *         made what the SentencePiece model has them as (fix_bare), so that both give the same ids.
 * Errors  MYTH_EFORMAT "path: offset N: what"; MYTH_EUNSUPPORTED a tree or an option that is not Gemma's */
#include "tokenizer_impl.h"
#include "engine/base/json.h"
#include <stdio.h>

enum { SPAN_MAX = 6 * MYTH_TOK_PIECE_MAX }; /* every byte of a piece may be written as \u00XX */

typedef struct {
    const char *key;
    const char *allowed[3]; /* values as JSON; NULL ends */
} expectation;

static const expectation expect_top[] = {
    {"normalizer", {"{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\xe2\x96\x81\"}"}},
    {"pre_tokenizer",
     {"null",
      "{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":\"MergedWithPrevious\",\"invert\":false}"}},
};
static const expectation expect_model[] = {
    {"type", {"\"BPE\""}},
    {"byte_fallback", {"true"}},
    {"unk_token", {"\"<unk>\""}},
    {"dropout", {"null"}},
    {"continuing_subword_prefix", {"null", "\"\""}},
    {"end_of_word_suffix", {"null", "\"\""}},
    {"ignore_merges", {"false"}},
};
enum { N_TOP = sizeof expect_top / sizeof *expect_top, N_MODEL = sizeof expect_model / sizeof *expect_model };

typedef struct {
    const char *path;
    myth_json vocab, merges, added; /* readers that stand before the list */
    bool has_vocab, has_merges, has_added;
    uint32_t n_vocab, n_merge, n_added;
    uint64_t max_id, text_bytes;
} survey;

typedef struct {
    uint32_t id;
    bool special, has_option; /* has_option: it matters in which order the added tokens are looked for */
    unsigned options;         /* MYTH_TOK_LSTRIP and what follows it */
    myth_json_token content;
} added_token;

/* The next token must be of this type. */
static myth_status take(myth_json *j, myth_json_type type, myth_json_token *tok, const char *what, myth_error *err)
{
    myth_status st = myth_json_next(j, tok, err);
    return st == MYTH_OK && tok->type != type ? myth_json_fail(j, tok, err, what) : st;
}

static bool same_token(const myth_json_token *a, const myth_json_token *b)
{
    char text[64]; /* longer than any string in the expected trees */
    if (a->type != b->type)
        return false;
    if (b->type != MYTH_JSON_KEY && b->type != MYTH_JSON_STRING)
        return b->type != MYTH_JSON_NUMBER;
    text[myth_json_text(text, b)] = 0;
    return myth_json_is(a, text);
}

/* Reads one value: it must be one of the allowed trees, members in the order shown. */
static myth_status check_tree(myth_json *j, const expectation *e, myth_error *err)
{
    myth_json after = *j;
    myth_json_token got, want;
    myth_status st = myth_json_skip(&after, err);
    if (st != MYTH_OK)
        return st;
    for (int i = 0; i < 3 && e->allowed[i]; i++) {
        myth_json a = *j, b;
        myth_json_start(&b, e->allowed[i], strlen(e->allowed[i]), "expected");
        do {
            if (myth_json_next(&a, &got, NULL) != MYTH_OK || myth_json_next(&b, &want, NULL) != MYTH_OK ||
                !same_token(&got, &want))
                break;
            if (b.depth == 0) {
                *j = after;
                return MYTH_OK;
            }
        } while (true);
    }
    return myth_fail(err, MYTH_EUNSUPPORTED, "%s: offset %llu: %s is not the one that Gemma has", j->path,
                     (unsigned long long)j->pos, e->key);
}

/* Marks key idx as seen; a second time is an error. */
static myth_status once(uint32_t *seen, int idx, const myth_json *j, const myth_json_token *key, myth_error *err)
{
    if (*seen >> idx & 1)
        return myth_json_fail(j, key, err, "key given twice");
    *seen |= (uint32_t)1 << idx;
    return MYTH_OK;
}

static myth_status take_bool(myth_json *j, bool *out, myth_error *err)
{
    myth_json_token tok;
    myth_status st = myth_json_next(j, &tok, err);
    if (st != MYTH_OK)
        return st;
    if (tok.type != MYTH_JSON_TRUE && tok.type != MYTH_JSON_FALSE)
        return myth_json_fail(j, &tok, err, "expected true or false");
    *out = tok.type == MYTH_JSON_TRUE;
    return MYTH_OK;
}

static myth_status take_id(myth_json *j, uint64_t *out, myth_error *err)
{
    myth_json_token tok;
    myth_status st = myth_json_next(j, &tok, err);
    if (st != MYTH_OK)
        return st;
    if (!myth_json_u64(out, &tok) || *out > INT32_MAX)
        return myth_json_fail(j, &tok, err, "expected an id: a whole number from 0 to 2147483647");
    return MYTH_OK;
}

/* Next of the added tokens; *more is false at the end of the list. */
static myth_status next_added(myth_json *j, added_token *out, bool *more, myth_error *err)
{
    enum { ID, CONTENT, SPECIAL, NORMALIZED, STRIP };
    static const char *const strip[] = {"single_word", "lstrip", "rstrip"};
    static const unsigned option[] = {MYTH_TOK_WORD, MYTH_TOK_LSTRIP, MYTH_TOK_RSTRIP};
    myth_status st;
    myth_json_token tok;
    uint32_t seen = 0;
    bool normalized = false;
    *out = (added_token){0};
    if ((st = myth_json_next(j, &tok, err)) != MYTH_OK)
        return st;
    *more = tok.type != MYTH_JSON_ARRAY_END;
    if (!*more)
        return MYTH_OK;
    if (tok.type != MYTH_JSON_OBJECT)
        return myth_json_fail(j, &tok, err, "expected an added token: an object");
    for (;;) {
        myth_json_token key;
        if ((st = myth_json_next(j, &key, err)) != MYTH_OK)
            return st;
        if (key.type == MYTH_JSON_OBJECT_END)
            break;
        uint64_t id = 0;
        if (myth_json_is(&key, "id")) {
            if ((st = once(&seen, ID, j, &key, err)) != MYTH_OK || (st = take_id(j, &id, err)) != MYTH_OK)
                return st;
            out->id = (uint32_t)id;
        } else if (myth_json_is(&key, "content")) {
            if ((st = once(&seen, CONTENT, j, &key, err)) != MYTH_OK ||
                (st = take(j, MYTH_JSON_STRING, &out->content, "expected a string", err)) != MYTH_OK)
                return st;
        } else if (myth_json_is(&key, "special")) {
            if ((st = once(&seen, SPECIAL, j, &key, err)) != MYTH_OK ||
                (st = take_bool(j, &out->special, err)) != MYTH_OK)
                return st;
        } else if (myth_json_is(&key, "normalized")) {
            if ((st = once(&seen, NORMALIZED, j, &key, err)) != MYTH_OK ||
                (st = take_bool(j, &normalized, err)) != MYTH_OK)
                return st;
        } else {
            int k = 0;
            bool on = false;
            while (k < 3 && !myth_json_is(&key, strip[k]))
                k++;
            if (k == 3)
                st = myth_json_skip(j, err);
            else if ((st = once(&seen, STRIP + k, j, &key, err)) == MYTH_OK)
                st = take_bool(j, &on, err);
            if (st != MYTH_OK)
                return st;
            out->options |= on ? option[k] : 0;
        }
    }
    if (!(seen >> ID & 1) || !(seen >> CONTENT & 1))
        return myth_json_fail(j, &tok, err, "an added token needs id and content");
    if (out->content.len == 0 || out->content.len > SPAN_MAX)
        return myth_json_fail(j, &out->content, err, "got an empty piece or one of more than 4096 bytes");
    bool spaced = memchr(out->content.span, ' ', out->content.len) || memchr(out->content.span, 0xe2, out->content.len);
    out->has_option = out->options || (normalized && (spaced || out->content.has_escape));
    out->options |= normalized ? MYTH_TOK_NORMALIZED : 0;
    return MYTH_OK;
}

/* ---- first pass ---- */

static myth_status count_added(myth_json *j, survey *v, myth_error *err)
{
    myth_status st;
    myth_json_token tok;
    added_token a;
    bool more = true;
    if ((st = take(j, MYTH_JSON_ARRAY, &tok, "expected a list of added tokens", err)) != MYTH_OK)
        return st;
    v->added = *j;
    v->has_added = true;
    while ((st = next_added(j, &a, &more, err)) == MYTH_OK && more) {
        if (++v->n_added > MYTH_TOK_VOCAB_MAX)
            return myth_json_fail(j, &a.content, err, "more than 1048576 added tokens");
        v->text_bytes += a.content.len;
        v->max_id = a.id > v->max_id ? a.id : v->max_id;
    }
    return st;
}

static myth_status count_vocab(myth_json *j, survey *v, myth_error *err)
{
    myth_status st;
    myth_json_token tok;
    uint64_t id = 0;
    if ((st = take(j, MYTH_JSON_OBJECT, &tok, "expected the vocabulary: an object", err)) != MYTH_OK)
        return st;
    v->vocab = *j;
    v->has_vocab = true;
    for (;;) {
        if ((st = myth_json_next(j, &tok, err)) != MYTH_OK || tok.type == MYTH_JSON_OBJECT_END)
            return st;
        if (tok.len == 0 || tok.len > SPAN_MAX)
            return myth_json_fail(j, &tok, err, "got an empty piece or one of more than 4096 bytes");
        if (++v->n_vocab > MYTH_TOK_VOCAB_MAX)
            return myth_json_fail(j, &tok, err, "more than 1048576 pieces");
        if ((st = take_id(j, &id, err)) != MYTH_OK)
            return st;
        v->text_bytes += tok.len;
        v->max_id = id > v->max_id ? id : v->max_id;
    }
}

static myth_status count_merges(myth_json *j, survey *v, myth_error *err)
{
    myth_status st;
    myth_json_token tok;
    if ((st = take(j, MYTH_JSON_ARRAY, &tok, "expected the list of merges", err)) != MYTH_OK)
        return st;
    v->merges = *j;
    v->has_merges = true;
    for (int depth = j->depth;;) {
        if ((st = myth_json_next(j, &tok, err)) != MYTH_OK)
            return st;
        if (j->depth < depth)
            return MYTH_OK;
        if (tok.depth == depth && tok.type != MYTH_JSON_ARRAY_END && ++v->n_merge > MYTH_TOK_MERGE_MAX)
            return myth_json_fail(j, &tok, err, "more than 1048576 merges");
    }
}

static int find_key(const expectation *e, int n, const myth_json_token *key)
{
    int i = 0;
    while (i < n && !myth_json_is(key, e[i].key))
        i++;
    return i;
}

static myth_status survey_model(myth_json *j, survey *v, myth_error *err)
{
    enum { VOCAB = N_MODEL, MERGES };
    myth_status st;
    myth_json_token tok;
    uint32_t seen = 0;
    if ((st = take(j, MYTH_JSON_OBJECT, &tok, "expected the model: an object", err)) != MYTH_OK)
        return st;
    for (;;) {
        myth_json_token key;
        if ((st = myth_json_next(j, &key, err)) != MYTH_OK)
            return st;
        if (key.type == MYTH_JSON_OBJECT_END)
            break;
        int k = find_key(expect_model, N_MODEL, &key);
        if (k == N_MODEL)
            k = myth_json_is(&key, "vocab") ? VOCAB : myth_json_is(&key, "merges") ? MERGES : -1;
        if (k >= 0 && (st = once(&seen, k, j, &key, err)) != MYTH_OK)
            return st;
        if (k < 0)
            st = myth_json_skip(j, err);
        else if (k == VOCAB)
            st = count_vocab(j, v, err);
        else if (k == MERGES)
            st = count_merges(j, v, err);
        else
            st = check_tree(j, &expect_model[k], err);
        if (st != MYTH_OK)
            return st;
    }
    if (!(seen & 1) || !(seen >> 1 & 1) || !v->has_vocab || !v->has_merges)
        return myth_json_fail(j, &tok, err, "the model needs type, byte_fallback, vocab and merges");
    return MYTH_OK;
}

static myth_status survey_file(myth_json *j, survey *v, myth_error *err)
{
    enum { ADDED = N_TOP, MODEL };
    myth_status st;
    myth_json_token tok;
    uint32_t seen = 0;
    if ((st = take(j, MYTH_JSON_OBJECT, &tok, "expected an object", err)) != MYTH_OK)
        return st;
    for (;;) {
        myth_json_token key;
        if ((st = myth_json_next(j, &key, err)) != MYTH_OK)
            return st;
        if (key.type == MYTH_JSON_OBJECT_END)
            break;
        int k = find_key(expect_top, N_TOP, &key);
        if (k == N_TOP)
            k = myth_json_is(&key, "added_tokens") ? ADDED : myth_json_is(&key, "model") ? MODEL : -1;
        if (k >= 0 && (st = once(&seen, k, j, &key, err)) != MYTH_OK)
            return st;
        if (k < 0)
            st = myth_json_skip(j, err);
        else if (k == ADDED)
            st = count_added(j, v, err);
        else if (k == MODEL)
            st = survey_model(j, v, err);
        else
            st = check_tree(j, &expect_top[k], err);
        if (st != MYTH_OK)
            return st;
    }
    if (!(seen & 1) || !v->has_vocab)
        return myth_json_fail(j, &tok, err, "the file needs a normalizer and a model");
    if ((st = take(j, MYTH_JSON_END, &tok, "expected the end", err)) != MYTH_OK)
        return st;
    if (v->max_id >= (uint64_t)v->n_vocab + v->n_added)
        return myth_fail(err, MYTH_EFORMAT, "%s: pieces: got id %llu in a vocabulary of %u and %u added", v->path,
                         (unsigned long long)v->max_id, v->n_vocab, v->n_added);
    return MYTH_OK;
}

/* ---- second pass ---- */

static myth_status put_vocab(myth_tokenizer *t, myth_json j, char *text, myth_error *err)
{
    myth_status st;
    myth_json_token tok;
    uint64_t id = 0;
    for (;;) {
        if ((st = myth_json_next(&j, &tok, err)) != MYTH_OK || tok.type == MYTH_JSON_OBJECT_END)
            return st;
        if ((st = take_id(&j, &id, err)) != MYTH_OK)
            return st;
        size_t n = myth_json_text(text, &tok);
        unsigned type = myth_tok_byte_of(text, n) >= 0 ? MYTH_PIECE_BYTE : MYTH_PIECE_NORMAL;
        if ((st = myth_tok_put(t, (uint32_t)id, text, n, type, 0, err)) != MYTH_OK)
            return st;
    }
}

/* An added token is a new piece, or says what a piece of the vocabulary is, or takes the place of an <unusedN>. */
static myth_status put_added(myth_tokenizer *t, myth_json j, char *text, bool *has_user, myth_error *err)
{
    myth_status st;
    added_token a;
    bool more = true;
    while ((st = next_added(&j, &a, &more, err)) == MYTH_OK && more) {
        size_t n = myth_json_text(text, &a.content);
        unsigned type = n == 5 && memcmp(text, "<unk>", 5) == 0  ? MYTH_PIECE_UNKNOWN
                      : a.special && !myth_tok_is_shown(text, n) ? MYTH_PIECE_CONTROL
                                                                 : MYTH_PIECE_USER;
        myth_tok_piece *p = &t->piece[a.id];
        if (p->len) {
            myth_str old = {t->text + p->off, p->len};
            bool same = old.len == n && memcmp(old.text, text, n) == 0;
            if (p->type != MYTH_PIECE_NORMAL || (!same && !myth_tok_is_unused(old.text, old.len)))
                return myth_json_fail(&j, &a.content, err, "an added token with the id of another piece");
            p->type = (uint8_t)type;
            if (!same)
                p->len = 0;
        }
        if (!p->len && (st = myth_tok_put(t, a.id, text, n, type, 0, err)) != MYTH_OK)
            return st;
        *has_user = *has_user || !a.special;
    }
    return st;
}

/* The options of the added tokens, when one of them has any; the pieces have their other flags. The first vocab_bytes
 * of the text are the vocabulary's: a piece of it that is passed over because it is no word by itself is made by merges
 * again, unless it is a control piece, which text must not make. */
static myth_status put_options(myth_tokenizer *t, myth_json j, uint64_t vocab_bytes, myth_error *err)
{
    added_token a;
    myth_json again = j;
    bool more = true;
    myth_status st;
    while ((st = next_added(&j, &a, &more, err)) == MYTH_OK && more)
        t->has_options = t->has_options || a.has_option;
    more = st == MYTH_OK && t->has_options;
    while (more && (st = next_added(&again, &a, &more, err)) == MYTH_OK && more) {
        myth_tok_piece *p = &t->piece[a.id];
        p->flags |= (uint8_t)a.options;
        if (!(p->flags & MYTH_TOK_CONTROL) && p->off >= vocab_bytes)
            p->flags &= (uint8_t)~MYTH_TOK_MERGES;
        if (a.options & MYTH_TOK_NORMALIZED)
            p->flags |= MYTH_TOK_MATCHED; /* one with a space too: spaces are what its own were made */
    }
    return st;
}

static bool is_tab_run(const char *s, size_t n)
{
    while (n && s[n - 1] == '\t')
        n--;
    return n == 0;
}

/* Gemma 1 and 2: the pieces between <mask> and the byte pieces, those behind the last normal piece, and the tab in the
 * place of <0x09> are user-defined in the SentencePiece model; this file calls them normal. A file is bare when it has
 * a turn marker and does not add it. */
static void fix_bare(myth_tokenizer *t)
{
    uint32_t first_byte = 0, turn = 0;
    for (uint32_t id = 0; id < t->n_vocab && !(turn && first_byte); id++) {
        myth_str s = {t->text + t->piece[id].off, t->piece[id].len};
        if (t->piece[id].type == MYTH_PIECE_NORMAL && myth_str_is(s, "<start_of_turn>"))
            turn = id;
        if (t->piece[id].type == MYTH_PIECE_BYTE && myth_str_is(s, "<0x00>"))
            first_byte = id;
    }
    if (!turn || turn > first_byte)
        return;
    t->runs_first = true;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        myth_tok_piece *p = &t->piece[id];
        const char *s = t->text + p->off;
        myth_str text = {s, p->len};
        bool is_turn = myth_str_is(text, "<start_of_turn>") || myth_str_is(text, "<end_of_turn>");
        bool tab_of_bytes = id == first_byte + '\t' && p->len == 1 && *s == '\t';
        if (p->type == MYTH_PIECE_NORMAL && (id < first_byte || tab_of_bytes))
            p->type = is_turn ? MYTH_PIECE_CONTROL : MYTH_PIECE_USER;
    }
    for (uint32_t id = t->n_vocab; id-- > first_byte + 256;) {
        myth_tok_piece *p = &t->piece[id];
        const char *s = t->text + p->off;
        if (p->type != MYTH_PIECE_NORMAL ||
            !(is_tab_run(s, p->len) || myth_tok_is_unused(s, p->len) || myth_tok_is_marker(s, p->len)))
            break;
        p->type = MYTH_PIECE_USER;
    }
}

static myth_status put_merges(myth_tokenizer *t, myth_json j, char *left, char *right, myth_error *err)
{
    myth_status st;
    myth_json_token tok, other;
    for (uint32_t rank = 0;; rank++) {
        size_t n, m;
        const char *r = right;
        if ((st = myth_json_next(&j, &tok, err)) != MYTH_OK || tok.type == MYTH_JSON_ARRAY_END)
            return st;
        if (tok.type == MYTH_JSON_ARRAY) {
            if ((st = take(&j, MYTH_JSON_STRING, &tok, "expected a pair of strings", err)) != MYTH_OK ||
                (st = take(&j, MYTH_JSON_STRING, &other, "expected a pair of strings", err)) != MYTH_OK)
                return st;
            if (tok.len > SPAN_MAX || other.len > SPAN_MAX)
                return myth_json_fail(&j, &tok, err, "a merge of more than 4096 bytes");
            n = myth_json_text(left, &tok);
            m = myth_json_text(right, &other);
            if ((st = take(&j, MYTH_JSON_ARRAY_END, &other, "expected a pair of strings", err)) != MYTH_OK)
                return st;
        } else if (tok.type == MYTH_JSON_STRING) {
            if (tok.len > SPAN_MAX)
                return myth_json_fail(&j, &tok, err, "a merge of more than 4096 bytes");
            size_t all = myth_json_text(left, &tok);
            const char *space = memchr(left, ' ', all);
            if (!space || memchr(space + 1, ' ', all - (size_t)(space + 1 - left)))
                return myth_json_fail(&j, &tok, err, "expected two pieces with one space between");
            n = (size_t)(space - left);
            m = all - n - 1;
            r = space + 1;
        } else {
            return myth_json_fail(&j, &tok, err, "expected a merge: a string or a pair of strings");
        }
        if ((st = myth_tok_put_merge(t, rank, left, n, r, m, err)) != MYTH_OK)
            return st;
    }
}

myth_status myth_tok_open_json(myth_tokenizer **out, myth_mem *mem, const void *base, uint64_t size, const char *path,
                               myth_error *err)
{
    char text[SPAN_MAX], right[SPAN_MAX];
    myth_status st = MYTH_OK;
    myth_tokenizer *t = NULL;
    myth_json j;
    survey v = {.path = path};
    bool has_user = false;
    uint64_t vocab_bytes;
    myth_json_start(&j, base, size, path);
    MYTH_TRY(survey_file(&j, &v, err));
    MYTH_TRY(myth_tok_new(&t, mem,
                          &(myth_tok_size){
                              .n_vocab = (uint32_t)v.max_id + 1,
                              .n_merge = v.n_merge,
                              .text_bytes = v.text_bytes,
                              .by_rank = true,
                          },
                          path, err));
    MYTH_TRY(put_vocab(t, v.vocab, text, err));
    vocab_bytes = t->text_used;
    if (v.has_added)
        MYTH_TRY(put_added(t, v.added, text, &has_user, err));
    if (!has_user)
        fix_bare(t);
    MYTH_TRY(myth_tok_index(t, err));
    if (v.has_added)
        MYTH_TRY(put_options(t, v.added, vocab_bytes, err));
    MYTH_TRY(put_merges(t, v.merges, text, right, err));
    MYTH_TRY(myth_tok_ready(t, err));
    *out = t;
    return MYTH_OK;
fail:
    myth_tokenizer_close(t);
    return st;
}
