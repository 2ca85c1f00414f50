/* tokenizer_gguf.c - the tokenizer in the metadata of a GGUF file, and the byte vocabulary of random: models.
 *
 *   tokenizer.ggml.model             "llama": SentencePiece BPE by scores; "gemma4": by merges, runs of white space
 *                                    among them
 *   tokenizer.ggml.tokens            strings, used in place: pieces lie in the mapped file
 *   tokenizer.ggml.scores            float32 each
 *   tokenizer.ggml.token_type        int32 each (myth_piece_type)
 *   tokenizer.ggml.merges            absent, or strings "left right" by rank: then these decide in place of the scores,
 *                                    as in the tokenizer.json that the file was made from
 *                                    (myth_tokenizer_needs_merges); "gemma4" must have them
 *   tokenizer.ggml.add_space_prefix  false or absent
 *   tokenizer.ggml.*_token_id        checked against the number of pieces; special ids are found by piece
 * Errors  MYTH_ENOTFOUND no tokens; MYTH_EUNSUPPORTED another model */
#include "tokenizer_impl.h"
#include "engine/base/bytes.h"
#include <stdio.h>

enum { GGUF_INT32 = 5, GGUF_FLOAT32 = 6 };

static bool is_array_of(const myth_meta_value *a, uint32_t raw_type, uint64_t count)
{
    return a && a->type == MYTH_META_ARRAY && a->raw && a->raw_type == raw_type && a->count == count &&
           a->raw_bytes / 4 >= count;
}

/* Element i of an array that is_array_of let through. */
static uint32_t item_u32(const myth_meta_value *a, uint32_t i)
{
    myth_reader r = {.base = a->raw, .size = a->raw_bytes, .pos = (uint64_t)i * 4};
    uint32_t v = 0;
    myth_reader_u32(&r, &v);
    return v;
}

static myth_status check_ids(const myth_meta *m, uint32_t n_vocab, const char *path, myth_error *err)
{
    static const char *const key[] = {"bos", "eos", "eot", "unknown", "padding", "mask", "prefix", "suffix", "middle"};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
        char name[64];
        snprintf(name, sizeof name, "tokenizer.ggml.%s_token_id", key[i]);
        const myth_meta_value *v = myth_meta_find(m, name);
        uint32_t id = 0;
        if (v && (!myth_meta_u32(&id, m, name) || id >= n_vocab))
            return myth_fail(err, MYTH_EFORMAT, "%s: %s: expected a whole number below %u", path, name, n_vocab);
    }
    return MYTH_OK;
}

/* The beginning of a text is the piece <bos>: a key that says otherwise belongs to another vocabulary. What ends a text
 * may be any piece, since models are trained on to end theirs with one of their own. */
static myth_status check_marks(const myth_tokenizer *t, const myth_meta *m, myth_error *err)
{
    static const char key[] = "tokenizer.ggml.bos_token_id";
    uint32_t id;
    if (!myth_meta_u32(&id, m, key) || id >= t->n_vocab || id == (uint32_t)t->special.bos)
        return MYTH_OK; /* one outside the vocabulary never comes */
    const myth_tok_piece *p = &t->piece[id];
    return myth_fail(err, MYTH_EFORMAT, "%s: %s: %u, which is the piece %.*s, not <bos>; convert the model again",
                     t->path, key, id, (int)(p->len < 40 ? p->len : 40), t->text + p->off);
}

static myth_status put_merges(myth_tokenizer *t, const myth_meta_value *merges, myth_error *err)
{
    uint64_t pos = 0;
    for (uint32_t rank = 0; rank < t->n_merge; rank++) {
        myth_str s;
        const char *space = NULL;
        if (myth_meta_next_str(&s, merges, &pos))
            space = memchr(s.text, ' ', s.len);
        if (!space || memchr(space + 1, ' ', s.len - (size_t)(space + 1 - s.text)))
            return myth_fail(err, MYTH_EFORMAT, "%s: merge %u: expected two pieces with one space between", t->path,
                             rank);
        size_t n = (size_t)(space - s.text);
        myth_status st = myth_tok_put_merge(t, rank, s.text, n, space + 1, s.len - n - 1, err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

myth_status myth_tok_open_gguf(myth_tokenizer **out, myth_mem *mem, const myth_meta *m, const char *path,
                               myth_error *err)
{
    const myth_meta_value *tokens = myth_meta_find(m, "tokenizer.ggml.tokens");
    const myth_meta_value *scores = myth_meta_find(m, "tokenizer.ggml.scores");
    const myth_meta_value *types = myth_meta_find(m, "tokenizer.ggml.token_type");
    const myth_meta_value *merges = myth_meta_find(m, "tokenizer.ggml.merges");
    myth_str model, s;
    bool prefix = false;
    myth_status st = MYTH_OK;
    myth_tokenizer *t = NULL;
    uint64_t pos = 0;
    if (!tokens)
        return myth_fail(err, MYTH_ENOTFOUND, "%s: no tokenizer in the file", path);
    if (!myth_meta_str(&model, m, "tokenizer.ggml.model"))
        return myth_fail(err, MYTH_EFORMAT, "%s: tokenizer.ggml.model: expected a string", path);
    const bool is_gemma4 = myth_str_is(model, "gemma4");
    if (!is_gemma4 && !myth_str_is(model, "llama"))
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s: tokenizer.ggml.model: got %.*s, expected llama or gemma4", path,
                         (int)(model.len < 40 ? model.len : 40), model.text);
    if (tokens->type != MYTH_META_ARRAY || tokens->elem != MYTH_META_STRING || !tokens->raw || tokens->count == 0 ||
        tokens->count > MYTH_TOK_VOCAB_MAX || tokens->raw_bytes > UINT32_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%s: tokenizer.ggml.tokens: expected 1 to %d strings", path,
                         MYTH_TOK_VOCAB_MAX);
    uint32_t n = (uint32_t)tokens->count;
    if (!is_array_of(scores, GGUF_FLOAT32, n))
        return myth_fail(err, MYTH_EFORMAT, "%s: tokenizer.ggml.scores: expected %u numbers of type float32", path, n);
    if (!is_array_of(types, GGUF_INT32, n))
        return myth_fail(err, MYTH_EFORMAT, "%s: tokenizer.ggml.token_type: expected %u numbers of type int32", path,
                         n);
    if (myth_meta_bool(&prefix, m, "tokenizer.ggml.add_space_prefix") && prefix)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s: tokenizer.ggml.add_space_prefix: got true, Gemma adds none",
                         path);
    if (merges &&
        (merges->type != MYTH_META_ARRAY || merges->elem != MYTH_META_STRING || merges->count > MYTH_TOK_MERGE_MAX))
        return myth_fail(err, MYTH_EFORMAT, "%s: tokenizer.ggml.merges: expected at most %d strings", path,
                         MYTH_TOK_MERGE_MAX);
    myth_tok_size size = {
        .n_vocab = n,
        .n_merge = merges ? (uint32_t)merges->count : 0,
        .lent_text = (const char *)tokens->raw,
    };
    size.by_rank = size.n_merge > 0;
    if (is_gemma4 && !size.by_rank)
        return myth_fail(err, MYTH_EFORMAT, "%s: tokenizer.ggml.merges: expected the merges of a gemma4 tokenizer",
                         path);
    MYTH_TRY(check_ids(m, n, path, err));
    MYTH_TRY(myth_tok_new(&t, mem, &size, path, err));
    t->runs_first = !is_gemma4; /* runs are user-defined pieces, spelled with spaces, as for scores */
    for (uint32_t id = 0; id < n; id++) {
        uint32_t bits = item_u32(scores, id);
        float score;
        memcpy(&score, &bits, 4);
        if (!myth_meta_next_str(&s, tokens, &pos)) {
            st = myth_tok_fail(t, err, id, "cut off");
            goto fail;
        }
        MYTH_TRY(myth_tok_put(t, id, s.text, s.len, item_u32(types, id), score, err));
    }
    MYTH_TRY(myth_tok_index(t, err));
    MYTH_TRY(put_merges(t, merges, err));
    MYTH_TRY(myth_tok_ready(t, err));
    MYTH_TRY(check_marks(t, m, err));
    *out = t;
    return MYTH_OK;
fail:
    myth_tokenizer_close(t);
    return st;
}

/* Gemma 4's marks and where its vocabulary has them. */
static const struct {
    uint32_t id;
    const char *piece;
} marks[] = {
    {46, "<|tool>"},          {47, "<tool|>"}, {48, "<|tool_call>"}, {49, "<tool_call|>"}, {50, "<|tool_response>"},
    {51, "<tool_response|>"}, {52, "<|\"|>"},  {98, "<|think|>"},    {100, "<|channel>"},  {101, "<channel|>"},
};
enum { N_MARKS = sizeof marks / sizeof *marks };

/* The mark at this id of a byte vocabulary; NULL = none. A small one has them behind its bytes, those of a thought
 * first. */
static const char *mark_at(uint32_t id, uint32_t n_vocab, uint32_t behind_bytes)
{
    for (uint32_t i = 0; i < N_MARKS; i++)
        if (id == (n_vocab < 494 ? behind_bytes + N_MARKS - 1 - i : marks[i].id))
            return marks[i].piece;
    return NULL;
}

myth_status myth_tok_open_bytes(myth_tokenizer **out, myth_mem *mem, uint32_t n_vocab, bool is_gemma4, const char *path,
                                myth_error *err)
{
    static const char *const head[] = {"<pad>", "<eos>", "<bos>", "<unk>", "<mask>"};
    enum { N_HEAD = sizeof head / sizeof *head, NAME_MAX_BYTES = 16, N_MIN = 7 + 256 };
    uint32_t first_byte = n_vocab < 494 ? 7 : 238, turn = n_vocab < 494 ? 5 : 105, n_unused = 0;
    myth_status st = MYTH_OK;
    myth_tokenizer *t = NULL;
    if (n_vocab < N_MIN || n_vocab > MYTH_TOK_VOCAB_MAX)
        return myth_fail(err, MYTH_EFORMAT,
                         "%s: rows of the embedding: got %u, expected %d to %d for a byte vocabulary", path, n_vocab,
                         N_MIN, MYTH_TOK_VOCAB_MAX);
    MYTH_TRY(myth_tok_new(
        &t, mem, &(myth_tok_size){.n_vocab = n_vocab, .text_bytes = (uint64_t)n_vocab * NAME_MAX_BYTES}, path, err));
    for (uint32_t id = 0; id < n_vocab; id++) {
        char name[NAME_MAX_BYTES + 1];
        myth_piece_type type = MYTH_PIECE_USER;
        if (id < N_HEAD) {
            snprintf(name, sizeof name, "%s", head[id]);
            type = id == 3 ? MYTH_PIECE_UNKNOWN : MYTH_PIECE_CONTROL;
        } else if (id == turn || id == turn + 1) {
            static const char *const turns[2][2] = {{"<start_of_turn>", "<end_of_turn>"}, {"<|turn>", "<turn|>"}};
            snprintf(name, sizeof name, "%s", turns[is_gemma4][id - turn]);
            type = MYTH_PIECE_CONTROL;
        } else if (is_gemma4 && mark_at(id, n_vocab, first_byte + 256)) {
            snprintf(name, sizeof name, "%s", mark_at(id, n_vocab, first_byte + 256));
            type = myth_tok_is_shown(name, strlen(name)) ? MYTH_PIECE_USER : MYTH_PIECE_CONTROL;
        } else if (id >= first_byte && id < first_byte + 256) {
            snprintf(name, sizeof name, "<0x%02X>", id - first_byte);
            type = MYTH_PIECE_BYTE;
        } else {
            snprintf(name, sizeof name, "<unused%u>", n_unused++ % 1000000);
        }
        MYTH_TRY(myth_tok_put(t, id, name, strlen(name), type, 0, err));
    }
    MYTH_TRY(myth_tok_index(t, err));
    MYTH_TRY(myth_tok_ready(t, err));
    *out = t;
    return MYTH_OK;
fail:
    myth_tokenizer_close(t);
    return st;
}
