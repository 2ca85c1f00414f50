/* test_tokenizer_malformed.c - hostile tokenizer.model files and GGUF metadata, made here byte by byte. Each gives its
 * documented error and leaves nothing allocated.
 *
 * Unusual things that real files have are accepted: added tokens that reuse an id or are a prefix of another, a scalar
 * that occurs twice. */
#include "malformed.h"

/* ---- tokenizer.model ---- */

static void varint(buffer *b, uint64_t v)
{
    do {
        char c = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        put(b, &c, 1);
        v >>= 7;
    } while (v);
}

static void scalar(buffer *b, uint32_t field, uint64_t v)
{
    varint(b, field << 3);
    varint(b, v);
}

static void bytes(buffer *b, uint32_t field, const void *p, size_t n)
{
    varint(b, field << 3 | 2);
    varint(b, n);
    put(b, p, n);
}

static void sp_piece(buffer *b, const void *text, size_t n, float score, uint64_t type)
{
    buffer p = {0};
    bytes(&p, 1, text, n);
    put(&p, "\x15", 1);
    put(&p, &score, 4);
    scalar(&p, 3, type);
    bytes(b, 1, p.base, p.len);
    free(p.base);
}

/* The pieces every case starts from: specials, bytes (without `skip`), three letters. */
static void sp_pieces(buffer *b, int skip)
{
    static const char *const head[] = {"<pad>", "<eos>", "<bos>", "<unk>"};
    char name[8];
    for (unsigned i = 0; i < 4; i++)
        sp_piece(b, head[i], 5, 0, i == 3 ? 2 : 3);
    for (int i = 0; i < 256; i++) {
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        if (i != skip)
            sp_piece(b, name, 6, 0, 6);
    }
    sp_piece(b, "ab", 2, -1, 1);
    sp_piece(b, "a", 1, -2, 1);
    sp_piece(b, "b", 1, -3, 1);
}

static void sp_trainer(buffer *b, uint64_t model_type, uint64_t byte_fallback, uint64_t bos, uint64_t pad)
{
    buffer t = {0};
    scalar(&t, 3, model_type);
    scalar(&t, 35, byte_fallback);
    scalar(&t, 40, 3);
    scalar(&t, 41, bos);
    scalar(&t, 42, 1);
    scalar(&t, 43, pad);
    bytes(b, 2, t.base, t.len);
    free(t.base);
}

static void sp_normalizer(buffer *b, const void *map, size_t n_map)
{
    buffer n = {0};
    put(&n, "\x0a\x08identity", 10);
    if (map)
        bytes(&n, 2, map, n_map);
    scalar(&n, 3, 0);
    scalar(&n, 4, 0);
    bytes(b, 3, n.base, n.len);
    free(n.base);
}

/* A whole valid file with something more. */
static void sp_valid(buffer *b)
{
    b->len = 0;
    sp_pieces(b, -1);
    sp_trainer(b, 2, 1, 2, 0);
    sp_normalizer(b, NULL, 0);
}

static void expect_sp(const char *what, const buffer *b, myth_status want, const char *text)
{
    expect(myth_tok_open_spm, what, b, want, text);
}

/* A valid file followed by the raw bytes. */
static void expect_sp_raw(const char *what, const char *raw, size_t n, const char *text)
{
    buffer b = {0};
    sp_valid(&b);
    put(&b, raw, n);
    expect_sp(what, &b, text ? MYTH_EFORMAT : MYTH_OK, text);
    free(b.base);
}
#define SP_RAW(what, raw, text) expect_sp_raw(what, raw, sizeof(raw) - 1, text)

/* A valid file with one more piece. */
static void expect_sp_piece(const char *what, const char *text, size_t n, float score, uint64_t type,
                            const char *message)
{
    buffer b = {0};
    sp_valid(&b);
    sp_piece(&b, text, n, score, type);
    expect_sp(what, &b, message ? MYTH_EFORMAT : MYTH_OK, message);
    free(b.base);
}

static void model_wire(void **state)
{
    (void)state;
    buffer b = {0};
    expect_sp("1 empty", &b, MYTH_EFORMAT, "no pieces");
    sp_valid(&b);
    expect_sp("valid", &b, MYTH_OK, "");
    buffer cut = b;
    for (cut.len = 0; cut.len < b.len;
         cut.len += cut.len < 200 || cut.len + 60 > b.len ? 1 : 97) { /* 2: cut anywhere */
        myth_mem *mem;
        myth_tokenizer *t = NULL;
        assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
        myth_status st = myth_tok_open_spm(&t, mem, cut.base, cut.len, "file", NULL);
        assert_true(st == MYTH_EFORMAT || st == MYTH_EUNSUPPORTED);
        assert_int_equal(myth_mem_close(mem), 0);
    }
    SP_RAW("2 varint cut off", "\x20\x80\x80", "varint cut off");
    SP_RAW("3 varint of 11 bytes", "\x20\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "more than 64 bits");
    SP_RAW("3 varint of 65 bits", "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "more than 64 bits");
    SP_RAW("4 length beyond the file", "\x22\x05\x61", "beyond the end");
    SP_RAW("4 length of 2^63", "\x22\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "beyond the end");
    SP_RAW("5 nested length beyond its parent", "\x0a\x04\x0a\x09\x61\x62\x22\x00", "beyond the end");
    SP_RAW("6 group", "\x23\x24", "groups");
    SP_RAW("6 end of a group", "\x24", "groups");
    SP_RAW("6 wire type 6", "\x26", "groups");
    SP_RAW("6 wire type 7", "\x27", "groups");
    SP_RAW("7 field 0", "\x00\x00", "field number");
    SP_RAW("7 field 2^29", "\x80\x80\x80\x80\x10\x00", "field number");
    SP_RAW("8 piece list as a varint", "\x08\x01", "wrong wire type");
    SP_RAW("8 piece as a varint", "\x0a\x02\x08\x01", "wrong wire type");
    SP_RAW("8 score as a varint", "\x0a\x05\x0a\x01\x7a\x10\x01", "wrong wire type");
    SP_RAW("8 type as bytes", "\x0a\x06\x0a\x01\x7a\x1a\x01\x01", "wrong wire type");
    SP_RAW("8 model_type as bytes", "\x12\x03\x1a\x01\x02", "wrong wire type");
    SP_RAW("8 normalizer map as a varint", "\x1a\x02\x10\x01", "wrong wire type");
    SP_RAW("8 fixed cut off", "\x25\x01\x02", "cut off");
    SP_RAW("unknown fields of every kind",
           "\x20\x01\x2a\x02\x61\x62\x55\x01\x02\x03\x04\x59\x01\x02\x03\x04\x05\x06\x07\x08", NULL);
    SP_RAW("9 repeated scalar, the last wins", "\x12\x04\x18\x01\x18\x02", NULL);
    SP_RAW("9 repeated piece text, the last wins", "\x0a\x09\x0a\x02zy\x0a\x03zyx", NULL);
    free(b.base);
}

static void model_pieces(void **state)
{
    (void)state;
    enum { MANY = 10000000 };
    static char big[1 << 20];
    buffer b = {0};
    sp_trainer(&b, 2, 1, 2, 0);
    sp_normalizer(&b, NULL, 0);
    expect_sp("10 no pieces", &b, MYTH_EFORMAT, "no pieces");
    b.len = 0;
    for (int i = 0; i < MANY; i++)
        put(&b, "\x0a\x03\x0a\x01z", 5);
    expect_sp("10 ten million pieces", &b, MYTH_EFORMAT, "more than 1048576 pieces");
    free(b.base);
    memset(big, 'x', sizeof big);
    expect_sp_piece("11 empty piece", "", 0, 0, 1, "empty piece");
    SP_RAW("11 piece without text", "\x0a\x05\x15\x01\x02\x03\x04", "empty piece");
    expect_sp_piece("12 duplicate piece", "ab", 2, -9, 1, "same text as another");
    expect_sp_piece("13 score NaN", "zz", 2, (float)NAN, 1, "not finite");
    expect_sp_piece("13 score infinite", "zz", 2, -(float)INFINITY, 1, "not finite");
    expect_sp_piece("14 type 0", "zz", 2, 0, 0, "unknown piece type");
    expect_sp_piece("14 type 7", "zz", 2, 0, 7, "unknown piece type");
    expect_sp_piece("14 type 2^31", "zz", 2, 0, (uint64_t)1 << 31, "unknown piece type");
    expect_sp_piece("14 type 2^32 + 1", "zz", 2, 0, ((uint64_t)1 << 32) + 1, "unknown piece type");
    expect_sp_piece("15 two UNKNOWN", "zz", 2, 0, 2, "type UNKNOWN: got 2");
    expect_sp_piece("16 bad byte piece", "<0x-1>", 6, 0, 6, "byte piece must be");
    expect_sp_piece("16 bad byte piece", "<0xZZ>", 6, 0, 6, "byte piece must be");
    expect_sp_piece("16 bad byte piece", "<0x100>", 7, 0, 6, "byte piece must be");
    expect_sp_piece("16 bad byte piece", "a byte", 6, 0, 6, "byte piece must be");
    expect_sp_piece("17 not UTF-8", "a\xff", 2, 0, 1, "not UTF-8");
    expect_sp_piece("17 surrogate", "\xed\xa0\x80", 3, 0, 1, "not UTF-8");
    expect_sp_piece("18 a piece of 1 MB", big, sizeof big, 0, 1, "more than 4096 bytes");
    expect_sp_piece("18 a marker of 256 bytes", big, 256, 0, 3, "more than 255 bytes");
    expect_sp_piece("18 the longest piece", big, MYTH_TOK_PIECE_MAX, 0, 1, NULL);

    static const int missing[] = {0, 0x41, 0x80, 0xff};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        b = (buffer){0};
        sp_pieces(&b, missing[i]);
        sp_trainer(&b, 2, 1, 2, 0);
        sp_normalizer(&b, NULL, 0);
        expect_sp("16 a byte piece is missing", &b, MYTH_EFORMAT, "no piece for the byte 0x");
        free(b.base);
    }
    b = (buffer){0};
    sp_pieces(&b, 'a');
    sp_trainer(&b, 2, 1, 2, 0);
    sp_normalizer(&b, NULL, 0);
    expect_sp("a letter in the place of its byte piece", &b, MYTH_OK, "");
    b.len = 0;
    sp_piece(&b, "<eos>", 5, 0, 3);
    sp_trainer(&b, 2, 1, 0, 0);
    sp_normalizer(&b, NULL, 0);
    expect_sp("special ids out of range", &b, MYTH_EFORMAT, "unk_id");
    b.len = 0;
    sp_piece(&b, "<unk>", 5, 0, 3);
    for (int i = 0; i < 3; i++)
        sp_piece(&b, &"abc"[i], 1, 0, 1);
    sp_trainer(&b, 2, 1, 2, 0);
    sp_normalizer(&b, NULL, 0);
    expect_sp("15 no UNKNOWN", &b, MYTH_EFORMAT, "type UNKNOWN: got 0");
    free(b.base);
}

static void model_spec(void **state)
{
    (void)state;
    static const unsigned char beyond[] = {0xff, 0xff, 0xff, 0x7f,
                                           1,    2,    3,    4}; /* size of the double array, larger than the blob */
    static const unsigned char cycle[] = {8, 0, 0, 0, 0, 4,   0,
                                          0, 0, 4, 0, 0, 'x', 0}; /* two units that lead to each other */
    static const struct {
        const char *what;
        uint64_t type, fallback, bos, pad;
        myth_status st;
        const char *text;
    } spec[] = {
        {"20 unigram", 1, 1, 2, 0, MYTH_EUNSUPPORTED, "model_type: got 1"},
        {"20 words", 3, 1, 2, 0, MYTH_EUNSUPPORTED, "model_type"},
        {"20 type 99", 99, 1, 2, 0, MYTH_EUNSUPPORTED, "model_type"},
        {"no byte fallback", 2, 0, 2, 0, MYTH_EUNSUPPORTED, "byte_fallback"},
        {"21 bos_id = n", 2, 1, 263, 0, MYTH_EFORMAT, "bos_id: got 263"},
        {"21 bos_id -2", 2, 1, UINT64_MAX - 1, 0, MYTH_EFORMAT, "bos_id: got -2"},
        {"21 pad_id 2^31", 2, 1, 2, (uint64_t)1 << 31, MYTH_EFORMAT, "pad_id"},
        {"no pad", 2, 1, 2, UINT64_MAX, MYTH_OK, ""},
    };
    buffer b = {0};
    for (size_t i = 0; i < sizeof spec / sizeof *spec; i++) {
        b.len = 0;
        sp_pieces(&b, -1);
        sp_trainer(&b, spec[i].type, spec[i].fallback, spec[i].bos, spec[i].pad);
        sp_normalizer(&b, NULL, 0);
        expect_sp(spec[i].what, &b, spec[i].st, spec[i].text);
    }
    b.len = 0;
    sp_pieces(&b, -1);
    sp_trainer(&b, 2, 1, 2, 0);
    sp_normalizer(&b, beyond, sizeof beyond);
    expect_sp("19 map with an offset beyond its blob", &b, MYTH_EUNSUPPORTED, "no precompiled map");
    b.len = 0;
    sp_pieces(&b, -1);
    sp_trainer(&b, 2, 1, 2, 0);
    sp_normalizer(&b, cycle, sizeof cycle);
    expect_sp("19 map with a cycle", &b, MYTH_EUNSUPPORTED, "no precompiled map");
    b.len = 0;
    sp_pieces(&b, -1);
    sp_trainer(&b, 2, 1, 2, 0);
    expect_sp("normalizer left to its defaults: a dummy prefix", &b, MYTH_EUNSUPPORTED, "no dummy prefix");
    b.len = 0;
    sp_pieces(&b, -1);
    sp_normalizer(&b, NULL, 0);
    expect_sp("trainer left to its defaults: unigram", &b, MYTH_EUNSUPPORTED, "model_type");
    free(b.base);
}

/* A file may call a marker normal, or user-defined: content takes it apart all the same, the template entry finds it.
 */
static void types_are_not_trusted(void **state)
{
    (void)state;
    static const char *const marker[] = {"<start_of_turn>", "<end_of_turn>",  "<start_of_image>", "<|tool_response>",
                                         "<|turn>",         "<|fim_prefix|>", "<unused12>"};
    enum { N_MARKER = sizeof marker / sizeof *marker };
    for (uint64_t type = 1; type <= 4; type += 3) {
        buffer b = {0};
        myth_mem *mem;
        myth_tokenizer *t = NULL;
        int32_t ids[64];
        sp_valid(&b);
        for (int i = 0; i < N_MARKER; i++)
            sp_piece(&b, marker[i], strlen(marker[i]), -5, type);
        sp_piece(&b, "<", 1, -6, 1);
        sp_piece(&b, "<unused12", 9, -7, 1);
        assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
        assert_int_equal(myth_tok_open_spm(&t, mem, b.base, b.len, "file", NULL), MYTH_OK);
        for (int i = 0; i < N_MARKER; i++) {
            int32_t id = myth_tokenizer_find(t, marker[i], strlen(marker[i]));
            assert_true(id >= 0 && myth_tokenizer_is_control(t, id));
            assert_inert(t, mem, marker[i], strlen(marker[i]));
            assert_int_equal(encode(t, mem, MYTH_TOK_TEMPLATE, marker[i], strlen(marker[i]), ids), 1);
            assert_int_equal(ids[0], id);
        }
        const myth_special_ids *s = myth_tokenizer_special(t);
        assert_int_equal(myth_chat_stop_ids(t, ids),
                         4); /* Gemma 4: where a tool's answer begins; CodeGemma: the fill-in markers */
        assert_true(ids[1] == s->end_of_turn && ids[2] == s->tool_response && ids[3] == s->fim_prefix);
        myth_tokenizer_close(t);
        assert_int_equal(myth_mem_close(mem), 0);
        free(b.base);
    }
}

/* ---- GGUF metadata ---- */

typedef struct {
    const char *model;
    bool no_model, prefix;
    uint32_t score_type, type_type;
    uint64_t n_score, n_type;
    int drop_byte; /* this byte's piece is spelled drop_as instead */
    const char *drop_as;
    uint64_t n_token;  /* 0 = all */
    int64_t bos;       /* tokenizer.ggml.bos_token_id, -2 = absent */
    const char *merge; /* one merge, NULL = no list */
    uint64_t n_merge;  /* said to be in the list; 0 = 1 */
} gguf_case;

static void le64(buffer *b, uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        char c = (char)(v >> 8 * i);
        put(b, &c, 1);
    }
}

static void token(buffer *tokens, buffer *scores, buffer *types, const char *text, float score, int32_t type)
{
    le64(tokens, strlen(text));
    put_str(tokens, text);
    put(scores, &score, 4);
    put(types, &type, 4);
}

static myth_meta_value made_array(const char *key, myth_meta_type elem, uint32_t raw_type, uint64_t count,
                                  const buffer *raw)
{
    return (myth_meta_value){
        .key = {key, strlen(key)},
        .type = MYTH_META_ARRAY,
        .elem = elem,
        .count = count,
        .raw = (const unsigned char *)raw->base,
        .raw_type = raw_type,
        .raw_bytes = raw->len,
    };
}

static void expect_gguf(const char *what, const gguf_case *c, myth_status want, const char *text)
{
    enum { N = 4 + 256 + 2 };
    buffer tokens = {0}, scores = {0}, types = {0}, merges = {0};
    static const char *const head[] = {"<pad>", "<eos>", "<bos>", "<unk>"};
    for (int i = 0; i < 4; i++)
        token(&tokens, &scores, &types, head[i], 0, i == 3 ? 2 : 3);
    for (int i = 0; i < 256; i++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        token(&tokens, &scores, &types, c->drop_as && i == c->drop_byte ? c->drop_as : name, 0, 6);
    }
    token(&tokens, &scores, &types, "zz", -1, 1);
    token(&tokens, &scores, &types, "z", -2, 1);
    if (c->merge) {
        le64(&merges, strlen(c->merge));
        put_str(&merges, c->merge);
    }
    uint64_t n = c->n_token ? c->n_token : N;
    myth_mem *mem;
    myth_meta *m;
    myth_error err = {0};
    myth_tokenizer *t = NULL;
    const char *model = c->model ? c->model : "llama";
    const myth_meta_value v[] = {
        made_array("tokenizer.ggml.tokens", MYTH_META_STRING, 8, n, &tokens),
        made_array("tokenizer.ggml.scores", c->score_type == 6 ? MYTH_META_FLOAT : MYTH_META_UINT, c->score_type,
                   c->n_score ? c->n_score : n, &scores),
        made_array("tokenizer.ggml.token_type", MYTH_META_INT, c->type_type, c->n_type ? c->n_type : n, &types),
        {.key = {"tokenizer.ggml.add_space_prefix", 31}, .type = MYTH_META_BOOL, .v.b = c->prefix},
        {.key = {"tokenizer.ggml.model", 20}, .type = MYTH_META_STRING, .v.s = {model, strlen(model)}},
        {.key = {"tokenizer.ggml.bos_token_id", 27}, .type = MYTH_META_INT, .v.i = c->bos},
        made_array("tokenizer.ggml.merges", MYTH_META_STRING, 8, c->n_merge ? c->n_merge : 1, &merges),
    };
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_meta_open(&m, mem, &(myth_meta_size){.n_value = 7}, NULL), MYTH_OK);
    for (int i = 0; i < 7; i++)
        if (!(i == 4 && c->no_model) && !(i == 5 && c->bos == -2) && !(i == 6 && !c->merge))
            assert_true(myth_meta_add(m, &v[i]));
    myth_status st = myth_tok_open_gguf(&t, mem, m, "file", &err);
    if (st != want || (st != MYTH_OK && !strstr(err.msg, text)))
        fail_msg("%s: got %s (%s), expected %s and \"%s\"", what, myth_status_name(st), err.msg, myth_status_name(want),
                 text);
    myth_tokenizer_close(t);
    myth_meta_close(m);
    assert_int_equal(myth_mem_close(mem), 0);
    free(tokens.base);
    free(scores.base);
    free(types.base);
    free(merges.base);
}

static void gguf_metadata(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        gguf_case c;
        myth_status st;
        const char *text;
    } row[] = {
        {"valid", {.score_type = 6, .type_type = 5, .bos = 2}, MYTH_OK, ""},
        {"no special ids given", {.score_type = 6, .type_type = 5, .bos = -2}, MYTH_OK, ""},
        {"no model",
         {.no_model = true, .score_type = 6, .type_type = 5, .bos = -2},
         MYTH_EFORMAT,
         "tokenizer.ggml.model"},
        {"another model", {.model = "gpt2", .score_type = 6, .type_type = 5, .bos = -2}, MYTH_EUNSUPPORTED, "got gpt2"},
        {"a space prefix",
         {.prefix = true, .score_type = 6, .type_type = 5, .bos = -2},
         MYTH_EUNSUPPORTED,
         "add_space_prefix"},
        {"GG14 scores of bytes", {.score_type = 0, .type_type = 5, .bos = -2}, MYTH_EFORMAT, "scores"},
        {"GG14 types of floats", {.score_type = 6, .type_type = 6, .bos = -2}, MYTH_EFORMAT, "token_type"},
        {"GG15 scores short", {.score_type = 6, .type_type = 5, .n_score = 260, .bos = -2}, MYTH_EFORMAT, "scores"},
        {"GG15 types short", {.score_type = 6, .type_type = 5, .n_type = 1, .bos = -2}, MYTH_EFORMAT, "token_type"},
        {"GG31 one token",
         {.score_type = 6, .type_type = 5, .n_token = 1, .bos = -2},
         MYTH_EFORMAT,
         "no piece for the byte"},
        {"GG31 bos = n", {.score_type = 6, .type_type = 5, .bos = 262}, MYTH_EFORMAT, "bos_token_id"},
        {"GG31 bos negative", {.score_type = 6, .type_type = 5, .bos = -1}, MYTH_EFORMAT, "bos_token_id"},
        {"GG32 <0x-1>",
         {.score_type = 6, .type_type = 5, .drop_byte = 65, .drop_as = "<0x-1>", .bos = -2},
         MYTH_EFORMAT,
         "byte piece must be"},
        {"GG32 <0xZZ>",
         {.score_type = 6, .type_type = 5, .drop_byte = 65, .drop_as = "<0xZZ>", .bos = -2},
         MYTH_EFORMAT,
         "byte piece must be"},
        {"GG32 <0x100>",
         {.score_type = 6, .type_type = 5, .drop_byte = 65, .drop_as = "<0x100>", .bos = -2},
         MYTH_EFORMAT,
         "byte piece must be"},
        {"GG32 one of 256 missing",
         {.score_type = 6, .type_type = 5, .drop_byte = 65, .drop_as = "<0x42>", .bos = -2},
         MYTH_EFORMAT,
         "same text as another"},
        {"more tokens than strings",
         {.score_type = 6, .type_type = 5, .n_token = 263, .bos = -2},
         MYTH_EFORMAT,
         "scores"},
        {"a merge", {.score_type = 6, .type_type = 5, .bos = -2, .merge = "z z"}, MYTH_OK, ""},
        {"GG33 a merge without a space",
         {.score_type = 6, .type_type = 5, .bos = -2, .merge = "zz"},
         MYTH_EFORMAT,
         "merge 0: expected two pieces"},
        {"GG33 a merge with two spaces",
         {.score_type = 6, .type_type = 5, .bos = -2, .merge = "z  z"},
         MYTH_EFORMAT,
         "merge 0: expected two pieces"},
        {"GG33 a merge of unknown pieces",
         {.score_type = 6, .type_type = 5, .bos = -2, .merge = "z y"},
         MYTH_EFORMAT,
         "merge 0: its parts"},
        {"GG33 ten million merges",
         {.score_type = 6, .type_type = 5, .bos = -2, .merge = "z z", .n_merge = 10000000},
         MYTH_EFORMAT,
         "merges: expected"},
        {"more merges than strings",
         {.score_type = 6, .type_type = 5, .bos = -2, .merge = "z z", .n_merge = 2},
         MYTH_EFORMAT,
         "merge 1: expected"},
        {"an empty token",
         {.score_type = 6, .type_type = 5, .drop_byte = 65, .drop_as = "", .bos = -2},
         MYTH_EFORMAT,
         "empty piece"},
        {"a token that is not UTF-8",
         {.score_type = 6, .type_type = 5, .drop_byte = 65, .drop_as = "\xff", .bos = -2},
         MYTH_EFORMAT,
         "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        expect_gguf(row[i].what, &row[i].c, row[i].st, row[i].text);
}

/* ---- a fixed sample of damage to whole files ---- */

static void flipped_bytes(void **state)
{
    (void)state;
    static const char *const files[] = {"small_new.json", "small_old.json", "small.model"};
    uint64_t rng = check_seed();
    int count = check_is_full() ? 3000 : 100;
    for (int k = 0; k < 3; k++) {
        size_t len;
        char *text = read_golden(files[k], &len);
        myth_mem *mem;
        assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
        for (int i = 0; i < count; i++) {
            char *copy = malloc(len);
            myth_tokenizer *t = NULL;
            myth_error err = {0};
            assert_non_null(copy);
            memcpy(copy, text, len);
            for (uint32_t n = 1 + check_below(&rng, 4); n--;)
                copy[check_below(&rng, (uint32_t)len)] = (char)check_rand(&rng);
            myth_status st = (k < 2 ? myth_tok_open_json : myth_tok_open_spm)(&t, mem, copy, len, "file", &err);
            if (st == MYTH_OK) {
                int32_t ids[32];
                size_t n = 0;
                assert_int_equal(
                    myth_tokenizer_encode(t, mem, MYTH_TOK_SPECIAL, "<bos>int main (void)\n", 21, ids, 32, &n, NULL),
                    MYTH_OK);
                myth_tokenizer_close(t);
            } else {
                assert_true(st == MYTH_EFORMAT || st == MYTH_EUNSUPPORTED);
            }
            free(copy);
        }
        assert_int_equal(myth_mem_close(mem), 0);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_wire),    cmocka_unit_test(model_pieces),
        cmocka_unit_test(model_spec),    cmocka_unit_test(types_are_not_trusted),
        cmocka_unit_test(gguf_metadata), cmocka_unit_test(flipped_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
