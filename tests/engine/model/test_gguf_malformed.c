/* test_gguf_malformed.c - malformed GGUF files are refused, each with its documented status. Unusual but correct files
 * are read. */
#include "tests/support/files.h"

#include "engine/engine.h"
#include "engine/make/gguf_write.h"

#include <math.h>

/* Gemma 1 with one layer, all f32: d 8, H 2, KV 1, hd 4, ff 16, V 300. */
enum { KV_MAX = 32, INFO_MAX = 16, VOCAB = 300 };

typedef struct {
    const char *key;
    size_t key_len;
    uint32_t type;
    bytes value;
} kv;

typedef struct {
    const char *name;
    size_t name_len;
    uint32_t n_dim, type;
    uint64_t dim[4], off;
} info;

typedef struct {
    uint32_t magic, version;
    uint64_t n_tensor, n_kv, align;
    kv fact[KV_MAX];
    info tensor[INFO_MAX];
    size_t facts, tensors;
    uint64_t data; /* bytes after the directory */
    bool no_padding;
} model;

static kv *find(model *m, const char *key)
{
    for (size_t i = 0; i < m->facts; i++)
        if (strcmp(m->fact[i].key, key) == 0)
            return &m->fact[i];
    fail_msg("no key %s", key);
    return NULL;
}

static kv *add(model *m, const char *key, uint32_t type)
{
    assert_true(m->facts < KV_MAX);
    kv *f = &m->fact[m->facts++];
    *f = (kv){.key = key, .key_len = strlen(key), .type = type};
    m->n_kv = m->facts;
    return f;
}

static void set_uint(kv *f, uint32_t type, uint64_t v, int n)
{
    bytes_free(&f->value);
    f->type = type;
    bytes_uint(&f->value, v, n);
}

static void set_f32(kv *f, float v)
{
    uint32_t u;
    memcpy(&u, &v, 4);
    set_uint(f, MYTH_GGUF_F32, u, 4);
}

static void set_str(kv *f, const char *text)
{
    bytes_free(&f->value);
    f->type = MYTH_GGUF_STRING;
    bytes_uint(&f->value, strlen(text), 8);
    bytes_text(&f->value, text);
}

static void set_array(kv *f, uint32_t elem, uint64_t count)
{
    bytes_free(&f->value);
    f->type = MYTH_GGUF_ARRAY;
    bytes_uint(&f->value, elem, 4);
    bytes_uint(&f->value, count, 8);
}

static void set_string_item(kv *f, const char *text)
{
    bytes_uint(&f->value, strlen(text), 8);
    bytes_text(&f->value, text);
}

static void set_tokens(model *m, uint32_t n)
{
    static const char *const special[] = {"<pad>", "<eos>", "<bos>", "<unk>"};
    char text[32];
    kv *f = find(m, "tokenizer.ggml.tokens");
    set_array(f, MYTH_GGUF_STRING, n);
    for (uint32_t i = 0; i < n; i++) {
        if (i < 260)
            snprintf(text, sizeof(text), "<0x%02X>", (i - 4) & 255);
        else
            snprintf(text, sizeof(text), "t%u", i);
        set_string_item(f, i < 4 ? special[i] : text);
    }
    f = find(m, "tokenizer.ggml.scores");
    set_array(f, MYTH_GGUF_F32, n);
    for (uint32_t i = 0; i < n; i++)
        bytes_uint(&f->value, 0, 4);
    f = find(m, "tokenizer.ggml.token_type");
    set_array(f, MYTH_GGUF_I32, n);
    for (uint32_t i = 0; i < n; i++)
        bytes_uint(&f->value, i == 3 ? 2 : i < 4 ? 3 : i < 260 ? 6 : 1, 4);
}

static void add_tensor(model *m, const char *name, uint64_t d0, uint64_t d1)
{
    info *t = &m->tensor[m->tensors++];
    *t = (info){
        .name = name,
        .name_len = strlen(name),
        .n_dim = d1 ? 2 : 1,
        .dim = {d1 ? d1 : d0, d1 ? d0 : 0},
        .off = m->data,
    };
    m->data += (d0 * (d1 ? d1 : 1) * 4 + 31) / 32 * 32;
    m->n_tensor = m->tensors;
}

static void make(model *m)
{
    static const struct {
        const char *key;
        uint32_t v;
    } number[] = {
        {"gemma.block_count", 1},          {"gemma.context_length", 64},        {"gemma.embedding_length", 8},
        {"gemma.feed_forward_length", 16}, {"gemma.attention.head_count", 2},   {"gemma.attention.head_count_kv", 1},
        {"gemma.attention.key_length", 4}, {"gemma.attention.value_length", 4}, {"tokenizer.ggml.bos_token_id", 2},
    };
    *m = (model){.magic = 0x46554747, .version = 3, .align = 32};
    set_str(add(m, "general.architecture", 0), "gemma");
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
        set_uint(add(m, number[i].key, 0), MYTH_GGUF_U32, number[i].v, 4);
    set_f32(add(m, "gemma.attention.layer_norm_rms_epsilon", 0), 1e-6f);
    add(m, "tokenizer.ggml.tokens", 0);
    add(m, "tokenizer.ggml.scores", 0);
    add(m, "tokenizer.ggml.token_type", 0);
    set_tokens(m, VOCAB);
    set_str(add(m, "tokenizer.ggml.model", 0), "llama");
    add_tensor(m, "token_embd.weight", VOCAB, 8);
    add_tensor(m, "blk.0.attn_norm.weight", 8, 0);
    add_tensor(m, "blk.0.attn_q.weight", 8, 8);
    add_tensor(m, "blk.0.attn_k.weight", 4, 8);
    add_tensor(m, "blk.0.attn_v.weight", 4, 8);
    add_tensor(m, "blk.0.attn_output.weight", 8, 8);
    add_tensor(m, "blk.0.ffn_norm.weight", 8, 0);
    add_tensor(m, "blk.0.ffn_gate.weight", 16, 8);
    add_tensor(m, "blk.0.ffn_up.weight", 16, 8);
    add_tensor(m, "blk.0.ffn_down.weight", 8, 16);
    add_tensor(m, "output_norm.weight", 8, 0);
}

static void render(bytes *b, const model *m)
{
    bytes_uint(b, m->magic, 4);
    bytes_uint(b, m->version, 4);
    bytes_uint(b, m->n_tensor, 8);
    bytes_uint(b, m->n_kv, 8);
    for (size_t i = 0; i < m->facts; i++) {
        bytes_uint(b, m->fact[i].key_len, 8);
        bytes_put(b, m->fact[i].key,
                  strlen(m->fact[i].key) < m->fact[i].key_len ? strlen(m->fact[i].key) + 1 : m->fact[i].key_len);
        bytes_uint(b, m->fact[i].type, 4);
        bytes_put(b, m->fact[i].value.data, m->fact[i].value.len);
    }
    for (size_t i = 0; i < m->tensors; i++) {
        const info *t = &m->tensor[i];
        bytes_uint(b, t->name_len, 8);
        bytes_put(b, t->name, t->name_len);
        bytes_uint(b, t->n_dim, 4);
        for (uint32_t k = 0; k < t->n_dim && k < 4; k++)
            bytes_uint(b, t->dim[k], 8);
        bytes_uint(b, t->type, 4);
        bytes_uint(b, t->off, 8);
    }
    while (!m->no_padding && b->len % m->align)
        bytes_uint(b, 0, 1);
    for (uint64_t i = 0; i < m->data; i++)
        bytes_uint(b, 0, 1);
}

static void release(model *m)
{
    for (size_t i = 0; i < m->facts; i++)
        bytes_free(&m->fact[i].value);
}

static int n_case;

static void put(model *m)
{
    bytes b = {0};
    render(&b, m);
    files_put("m.gguf", b.data, b.len);
    bytes_free(&b);
    release(m);
}

static void expect_at(const char *what, model *m, myth_weights_level level, myth_status wanted)
{
    put(m);
    files_expect(what, files_path("m.gguf"), level, wanted);
    n_case++;
}

static void refuse(const char *what, model *m) { expect_at(what, m, MYTH_WEIGHTS_DATA, MYTH_EFORMAT); }
static void unsupported(const char *what, model *m) { expect_at(what, m, MYTH_WEIGHTS_DATA, MYTH_EUNSUPPORTED); }
static void accept(const char *what, model *m) { expect_at(what, m, MYTH_WEIGHTS_DATA, MYTH_OK); }

/* A fresh model m, then statements on it, then a verdict. */
#define CASE(verdict, what, ...) \
    do {                         \
        model m;                 \
        make(&m);                \
        __VA_ARGS__;             \
        verdict(what, &m);       \
    } while (0)

/* ---- head ---- */

static void test_head(void **state)
{
    (void)state;
    bytes b = {0};
    model whole;
    make(&whole);
    render(&b, &whole);
    release(&whole);
    for (size_t n = 0; n < 24; n++) {
        files_put("m.gguf", b.data, n);
        files_expect("1 short file", files_path("m.gguf"), MYTH_WEIGHTS_CONFIG, MYTH_EFORMAT);
    }
    for (size_t n = 24; n < b.len; n += 7) {
        files_put("m.gguf", b.data, n);
        files_expect("25 cut off anywhere", files_path("m.gguf"), MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    }
    bytes_free(&b);
    CASE(refuse, "1 magic", m.magic = 0x46554746);
    CASE(refuse, "2 byte-swapped", m.magic = 0x47475546);
    CASE(refuse, "3 version 0", m.version = 0);
    CASE(unsupported, "3 version 1", m.version = 1);
    CASE(unsupported, "3 version 4", m.version = 4);
    CASE(unsupported, "3 big endian", m.version = 0x03000000);
    CASE(accept, "version 2", m.version = 2);
    CASE(refuse, "4 n_tensors 2^63", m.n_tensor = (uint64_t)1 << 63);
    CASE(refuse, "4 n_tensors 2^64 - 1", m.n_tensor = UINT64_MAX);
    CASE(refuse, "4 n_tensors one more", m.n_tensor++);
    CASE(refuse, "4 n_tensors one less", m.n_tensor--);
    CASE(refuse, "4 no tensors", m.n_tensor = m.tensors = 0; m.data = 0);
    CASE(refuse, "4 n_kv 2^63", m.n_kv = (uint64_t)1 << 63);
    CASE(refuse, "4 n_kv 2^64 - 1", m.n_kv = UINT64_MAX);
    CASE(refuse, "4 n_kv above what the bytes hold", m.n_kv = 2000);
    CASE(refuse, "4 n_kv one more", m.n_kv++);
    CASE(refuse, "4 n_kv one less", m.n_kv--);
}

/* ---- facts ---- */

static void test_facts(void **state)
{
    (void)state;
    CASE(refuse, "5 key length 0", add(&m, "", MYTH_GGUF_U8)->value = (bytes){0};
         bytes_uint(&m.fact[m.facts - 1].value, 1, 1));
    CASE(refuse, "5 key length 2^63", m.fact[0].key_len = (size_t)1 << 63);
    char *key = calloc(1, 65537);
    memset(key, 'k', 65536);
    CASE(refuse, "5 key length 65,536", set_uint(add(&m, key, 0), MYTH_GGUF_U8, 1, 1));
    free(key);
    CASE(refuse, "6 NUL in a key", set_uint(add(&m, "a\0b", 0), MYTH_GGUF_U8, 1, 1); m.fact[m.facts - 1].key_len = 2);
    CASE(refuse, "6 key not UTF-8", set_uint(add(&m, "a\xff", 0), MYTH_GGUF_U8, 1, 1));
    CASE(refuse, "6 control byte in a key", set_uint(add(&m, "a\x1b[2J", 0), MYTH_GGUF_U8, 1, 1));
    CASE(refuse, "7 key twice", set_uint(add(&m, "gemma.block_count", 0), MYTH_GGUF_U32, 1, 4));
    CASE(refuse, "8 value type 13", set_uint(add(&m, "a", 0), 13, 0, 8));
    CASE(refuse, "8 value type 255", set_uint(add(&m, "a", 0), 255, 0, 8));
    CASE(refuse, "8 value type -1", set_uint(add(&m, "a", 0), UINT32_MAX, 0, 8));
    CASE(refuse, "9 bool of 2", set_uint(add(&m, "a", 0), MYTH_GGUF_BOOL, 2, 1));
    CASE(refuse, "9 bool of 2 in an array", kv *f = add(&m, "a", 0); set_array(f, MYTH_GGUF_BOOL, 2);
         bytes_uint(&f->value, 0x0201, 2));
    CASE(refuse, "10 string past the end", set_uint(add(&m, "a", 0), MYTH_GGUF_STRING, 1u << 30, 8));
    CASE(refuse, "10 string of 2^64 - 1", set_uint(add(&m, "a", 0), MYTH_GGUF_STRING, UINT64_MAX, 8));
    CASE(refuse, "11 array of arrays", set_array(add(&m, "a", 0), MYTH_GGUF_ARRAY, 0));
    CASE(refuse, "11 array of type 13", set_array(add(&m, "a", 0), 13, 0));
    CASE(refuse, "12 array of 2^63 bytes", set_array(add(&m, "a", 0), MYTH_GGUF_U8, (uint64_t)1 << 63));
    CASE(refuse, "12 length times size overflows", set_array(add(&m, "a", 0), MYTH_GGUF_F64, ((uint64_t)1 << 61) + 1));
    CASE(refuse, "12 length times size overflows to fit",
         set_array(add(&m, "a", 0), MYTH_GGUF_U32, ((uint64_t)1 << 62) + 1));
    CASE(refuse, "13 10^9 empty strings declared", set_array(add(&m, "a", 0), MYTH_GGUF_STRING, 1000000000));
    CASE(accept, "strings of length 0", kv *f = add(&m, "a", 0); set_array(f, MYTH_GGUF_STRING, 1000);
         for (int i = 0; i < 1000; i++) bytes_uint(&f->value, 0, 8));
    CASE(refuse, "14 scores of bytes", kv *f = find(&m, "tokenizer.ggml.scores"); set_array(f, MYTH_GGUF_U8, VOCAB);
         for (int i = 0; i < VOCAB; i++) bytes_uint(&f->value, 0, 1));
    CASE(refuse, "14 types of floats", kv *f = find(&m, "tokenizer.ggml.token_type");
         set_array(f, MYTH_GGUF_F32, VOCAB); for (int i = 0; i < VOCAB; i++) bytes_uint(&f->value, 0, 4));
    CASE(refuse, "14 tokens of numbers", kv *f = find(&m, "tokenizer.ggml.tokens"); set_array(f, MYTH_GGUF_U32, VOCAB);
         for (int i = 0; i < VOCAB; i++) bytes_uint(&f->value, 0, 4));
    CASE(refuse, "14 tokens a string", set_str(find(&m, "tokenizer.ggml.tokens"), "abc"));
    CASE(refuse, "15 scores shorter than tokens", kv *f = find(&m, "tokenizer.ggml.scores");
         set_array(f, MYTH_GGUF_F32, 3); bytes_uint(&f->value, 0, 8); bytes_uint(&f->value, 0, 4));
    CASE(refuse, "16 alignment 0", set_uint(add(&m, "general.alignment", 0), MYTH_GGUF_U32, 0, 4));
    CASE(refuse, "16 alignment 3", set_uint(add(&m, "general.alignment", 0), MYTH_GGUF_U32, 3, 4));
    CASE(refuse, "16 alignment 2^30", set_uint(add(&m, "general.alignment", 0), MYTH_GGUF_U32, 1u << 30, 4));
    CASE(refuse, "16 alignment 2^31", set_uint(add(&m, "general.alignment", 0), MYTH_GGUF_U32, 1u << 31, 4));
    CASE(refuse, "16 alignment of another type", set_uint(add(&m, "general.alignment", 0), MYTH_GGUF_I32, 32, 4));
    CASE(refuse, "16 alignment text", set_str(add(&m, "general.alignment", 0), "32"));
    CASE(accept, "16 alignment 32 said", set_uint(add(&m, "general.alignment", 0), MYTH_GGUF_U32, 32, 4));
    CASE(refuse, "36 part of a split file without its number",
         set_uint(add(&m, "split.count", 0), MYTH_GGUF_U16, 2, 2));
    CASE(refuse, "36 split count of a wrong type", set_str(add(&m, "split.count", 0), "2"));
    /* of another kind these would be passed over, with their default in place of what the file says */
    CASE(refuse, "a chat template that is a number",
         set_uint(add(&m, "tokenizer.chat_template", 0), MYTH_GGUF_U32, 1, 4));
    CASE(refuse, "a prefix that is a number",
         set_uint(add(&m, "tokenizer.ggml.add_space_prefix", 0), MYTH_GGUF_U32, 1, 4));
    CASE(refuse, "a kind that is a number", set_uint(add(&m, "general.type", 0), MYTH_GGUF_U8, 1, 1));
    CASE(refuse, "a calibration that is a number", set_f32(add(&m, "mythos.judge", 0), 1));
    CASE(refuse, "a prompt that is an array", set_array(add(&m, "mythos.prompt", 0), MYTH_GGUF_U8, 0));
    CASE(refuse, "trained tokens below 0", set_uint(add(&m, "mythos.trained_tokens", 0), MYTH_GGUF_I32, UINT32_MAX, 4));
    CASE(refuse, "trained tokens of 2^32", set_uint(add(&m, "mythos.trained_tokens", 0), MYTH_GGUF_U64, 1ull << 32, 8));
    CASE(refuse, "trained tokens that are text", set_str(add(&m, "mythos.trained_tokens", 0), "224"));
    CASE(refuse, "trained tokens with a point", set_f32(add(&m, "mythos.trained_tokens", 0), 224));
    CASE(accept, "trained tokens", set_uint(add(&m, "mythos.trained_tokens", 0), MYTH_GGUF_I16, 224, 2));
    CASE(refuse, "alpha NaN", set_f32(add(&m, "adapter.lora.alpha", 0), NAN));
    CASE(refuse, "alpha infinite", set_f32(add(&m, "adapter.lora.alpha", 0), INFINITY));
    CASE(refuse, "alpha true", set_uint(add(&m, "adapter.lora.alpha", 0), MYTH_GGUF_BOOL, 1, 1));
    CASE(accept, "34 a chat template is stored, never run",
         set_str(add(&m, "tokenizer.chat_template", 0), "{% raw %}{{ x }}{% for a in b"));
}

/* ---- directory ---- */

static void test_directory(void **state)
{
    (void)state;
    static const char name64[] = "blk.0.attn_norm.weightxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    char *long_name = calloc(1, (size_t)1 << 20);
    CASE(refuse, "17 name of 64 bytes", m.tensor[1].name = name64; m.tensor[1].name_len = 64);
    CASE(refuse, "17 name length 2^20", m.tensor[10].name_len = (size_t)1 << 20; m.tensor[10].name = long_name);
    CASE(refuse, "17 empty name", m.tensor[1].name_len = 0);
    CASE(refuse, "17 name twice", m.tensor[1].name = m.tensor[6].name; m.tensor[1].name_len = m.tensor[6].name_len);
    CASE(refuse, "17 name with a space", m.tensor[1].name = "blk.0.attn norm.weight");
    CASE(refuse, "18 no dims", m.tensor[1].n_dim = 0);
    CASE(refuse, "18 five dims", m.tensor[1].n_dim = 5);
    CASE(refuse, "18 2^32 - 1 dims", m.tensor[1].n_dim = UINT32_MAX);
    CASE(refuse, "19 dim 0", m.tensor[1].dim[0] = 0);
    CASE(refuse, "19 dim -1", m.tensor[1].dim[0] = UINT64_MAX);
    CASE(refuse, "19 dims INT64_MAX and 2", m.tensor[2].dim[0] = INT64_MAX; m.tensor[2].dim[1] = 2);
    CASE(refuse, "20 dims 2^32 and 2^32", m.tensor[2].dim[0] = m.tensor[2].dim[1] = (uint64_t)1 << 32);
    CASE(refuse, "20 bytes overflow", m.tensor[2].dim[0] = ((uint64_t)1 << 42) + 1;
         m.tensor[2].dim[1] = (uint64_t)1 << 20);
    CASE(
        refuse, "21 sum of sizes overflows",
        for (int i = 1; i < 3; i++) {
            m.tensor[i].n_dim = 1;
            m.tensor[i].dim[0] = ((uint64_t)1 << 61) - 16;
        } m.tensor[2]
            .off = m.tensor[1].off + (((uint64_t)1 << 63) - 64));
    CASE(refuse, "21 padding overflows", m.tensor[0].n_dim = 1; m.tensor[0].dim[0] = ((uint64_t)1 << 61) - 1);
    CASE(unsupported, "22 type 4, removed", m.tensor[2].type = 4);
    CASE(unsupported, "22 type 5, removed", m.tensor[2].type = 5);
    CASE(unsupported, "22 type 16, iq2_xxs", m.tensor[2].type = 16);
    CASE(unsupported, "22 type 40, nvfp4", m.tensor[2].type = 40);
    CASE(unsupported, "22 type 2^31", m.tensor[2].type = 1u << 31);
    CASE(unsupported, "22 integers", m.tensor[2].type = 26);
    for (int t = 0; t < MYTH_DTYPE_N; t++)
        if (myth_dtype_is_quant((myth_dtype)t))
            CASE(refuse, "23 row is not a multiple of the block",
                 m.tensor[2].type = (uint32_t)myth_dtype_get((myth_dtype)t)->gguf);
    CASE(refuse, "24 offset not aligned", m.tensor[2].off += 4);
    CASE(refuse, "24 overlap", m.tensor[2].off -= 32);
    CASE(refuse, "24 hole", m.tensor[2].off += 32);
    CASE(refuse, "24 hole that the file has room for", for (int i = 2; i < 11; i++) m.tensor[i].off += 32;
         m.data += 32);
    CASE(refuse, "24 out of order", m.tensor[2].off = m.tensor[3].off; m.tensor[3].off = m.tensor[2].off - 256);
    CASE(refuse, "24 beyond the file", m.tensor[10].off = (uint64_t)1 << 40);
    CASE(refuse, "24 offset 2^64 - 32", m.tensor[10].off = UINT64_MAX - 31);
    CASE(refuse, "24 one byte short", m.data--);
    CASE(refuse, "25 no data section", m.data = 0);
    CASE(refuse, "26 longer than declared", m.data += 1);
    CASE(refuse, "26 much longer than declared", m.data += 4096);

    free(long_name);
    model m;
    make(&m);
    m.data = 0;
    expect_at("25 no data section, header wanted", &m, MYTH_WEIGHTS_HEADER, MYTH_OK);
    make(&m);
    m.data = 0;
    m.no_padding = true;
    expect_at("25 cut off before the padding", &m, MYTH_WEIGHTS_HEADER, MYTH_OK);
    make(&m);
    m.data++;
    expect_at("26 longer, header wanted", &m, MYTH_WEIGHTS_HEADER, MYTH_EFORMAT);
    make(&m);
    m.tensors = 3;
    m.data = 0;
    expect_at("directory cut off, facts wanted", &m, MYTH_WEIGHTS_CONFIG, MYTH_OK);
}

/* ---- hyper-parameters ---- */

static void set_key(model *m, const char *key, uint64_t v) { set_uint(find(m, key), MYTH_GGUF_U32, v, 4); }

static void test_config(void **state)
{
    (void)state;
    CASE(refuse, "27 block_count 0", set_key(&m, "gemma.block_count", 0));
    CASE(refuse, "27 block_count 513", set_key(&m, "gemma.block_count", 513));
    CASE(refuse, "27 block_count 2", set_key(&m, "gemma.block_count", 2));
    CASE(refuse, "27 block_count 2^32", set_uint(find(&m, "gemma.block_count"), MYTH_GGUF_U64, (uint64_t)1 << 32, 8));
    CASE(refuse, "27 block_count -1", set_uint(find(&m, "gemma.block_count"), MYTH_GGUF_I32, UINT32_MAX, 4));
    CASE(refuse, "27 block_count text", set_str(find(&m, "gemma.block_count"), "1"));
    CASE(refuse, "28 no query heads", set_key(&m, "gemma.attention.head_count", 0));
    CASE(refuse, "28 no key heads", set_key(&m, "gemma.attention.head_count_kv", 0));
    CASE(refuse, "28 more key heads than query heads", set_key(&m, "gemma.attention.head_count_kv", 3));
    CASE(refuse, "28 key_length 0", set_key(&m, "gemma.attention.key_length", 0));
    CASE(refuse, "28 odd key_length", set_key(&m, "gemma.attention.key_length", 3);
         set_key(&m, "gemma.attention.value_length", 3));
    CASE(refuse, "28 value_length differs", set_key(&m, "gemma.attention.value_length", 8));
    CASE(refuse, "28 heads that the tensors contradict", set_key(&m, "gemma.attention.head_count", 4));
    CASE(refuse, "28 key heads per layer, wrong count", kv *f = find(&m, "gemma.attention.head_count_kv");
         set_array(f, MYTH_GGUF_U32, 2); bytes_uint(&f->value, 1, 4); bytes_uint(&f->value, 1, 4));
    CASE(accept, "key heads per layer", kv *f = find(&m, "gemma.attention.head_count_kv");
         set_array(f, MYTH_GGUF_U32, 1); bytes_uint(&f->value, 1, 4));
    CASE(refuse, "29 layer pattern of the wrong length",
         set_array(add(&m, "gemma.attention.sliding_window_pattern", 0), MYTH_GGUF_BOOL, 3);
         bytes_uint(&m.fact[m.facts - 1].value, 0, 3));
    CASE(refuse, "29 layer pattern of floats",
         set_array(add(&m, "gemma.attention.sliding_window_pattern", 0), MYTH_GGUF_F32, 1);
         bytes_uint(&m.fact[m.facts - 1].value, 0, 4));
    CASE(refuse, "30 rope NaN", set_f32(add(&m, "gemma.rope.freq_base", 0), NAN));
    CASE(refuse, "30 rope 0", set_f32(add(&m, "gemma.rope.freq_base", 0), 0));
    CASE(refuse, "30 rope 1e38", set_f32(add(&m, "gemma.rope.freq_base", 0), 1e38f));
    CASE(refuse, "30 eps NaN", set_f32(find(&m, "gemma.attention.layer_norm_rms_epsilon"), NAN));
    CASE(refuse, "30 eps 0", set_f32(find(&m, "gemma.attention.layer_norm_rms_epsilon"), 0));
    CASE(refuse, "30 eps 1e38", set_f32(find(&m, "gemma.attention.layer_norm_rms_epsilon"), 1e38f));
    CASE(refuse, "30 scale infinite", set_f32(add(&m, "gemma.attention.scale", 0), INFINITY));
    CASE(unsupported, "family", set_str(find(&m, "general.architecture"), "llama"));
    CASE(unsupported, "family of a later day", set_str(find(&m, "general.architecture"), "gemma5"));
    CASE(refuse, "no family", m.fact[0].key = "general.architectura"; m.fact[0].key_len = strlen(m.fact[0].key));
    CASE(accept, "head of its own", add_tensor(&m, "output.weight", VOCAB, 8));
    CASE(refuse, "head of another shape", m.tensor[10].name = "output.weight"; m.tensor[10].name_len = 13;
         m.tensor[1].name = "output_norm.weight"; m.tensor[1].name_len = 18;
         add_tensor(&m, "blk.0.attn_norm.weight", 8, 0));
    CASE(refuse, "36 unknown tensor", add_tensor(&m, "rope_freqs.weight", 8, 0));
    CASE(refuse, "no final norm", m.tensors--; m.n_tensor--; m.data -= 32);
    CASE(accept, "as written", (void)m);
}

/* ---- vocabulary: what the tokenizer has to refuse or to live with ---- */

static myth_status open_model(myth_error *err)
{
    myth_mem *mem;
    myth_model m;
    assert_int_equal(myth_mem_open(&mem, 64u << 20, err), MYTH_OK);
    myth_status st = myth_model_open(&m, mem, files_path("m.gguf"), NULL, err);
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
    n_case++;
    return st;
}

static void refuse_vocab(const char *what, model *m)
{
    myth_error err = {0};
    put(m);
    myth_status st = open_model(&err);
    if (st != MYTH_EFORMAT)
        fail_msg("%s: got %s (%s)", what, myth_status_name(st), err.msg);
}

static void accept_vocab(const char *what, model *m)
{
    myth_error err = {0};
    put(m);
    myth_status st = open_model(&err);
    if (st != MYTH_OK)
        fail_msg("%s: got %s (%s)", what, myth_status_name(st), err.msg);
}

/* The text of token i becomes `text`, of the same length. */
static void set_token(model *m, uint32_t i, const char *text)
{
    kv *f = find(m, "tokenizer.ggml.tokens");
    unsigned char *p = f->value.data + 12;
    uint64_t n;
    for (;; i--) {
        memcpy(&n, p, 8);
        if (i == 0)
            break;
        p += 8 + n;
    }
    assert_int_equal(n, strlen(text));
    memcpy(p + 8, text, n);
}

static void test_vocabulary(void **state)
{
    (void)state;
    CASE(accept_vocab, "as written", (void)m);
    CASE(refuse_vocab, "31 special id = n_vocab", set_key(&m, "tokenizer.ggml.bos_token_id", VOCAB));
    CASE(refuse_vocab, "31 vocabulary of one token", set_tokens(&m, 1));
    CASE(refuse_vocab, "31 bos is another mark", set_key(&m, "tokenizer.ggml.bos_token_id", 1));
    CASE(accept_vocab, "31 a text ends with a byte",
         set_uint(add(&m, "tokenizer.ggml.eos_token_id", 0), MYTH_GGUF_U32, 7, 4));
    CASE(accept_vocab, "31 a turn ends with a word",
         set_uint(add(&m, "tokenizer.ggml.eot_token_id", 0), MYTH_GGUF_U32, 270, 4));
    CASE(accept_vocab, "31 a text ends with a mark",
         set_uint(add(&m, "tokenizer.ggml.eos_token_id", 0), MYTH_GGUF_U32, 0, 4));
    CASE(refuse_vocab, "32 <0x-1>", set_token(&m, 5, "<0x-1>"));
    CASE(refuse_vocab, "32 <0xZZ>", set_token(&m, 5, "<0xZZ>"));
    CASE(refuse_vocab, "32 a byte missing", set_token(&m, 5, "<0x00>"));
    CASE(refuse_vocab, "token type 0", bytes *b = &find(&m, "tokenizer.ggml.token_type")->value;
         memset(b->data + 12 + 4 * 270, 0, 4));
    CASE(refuse_vocab, "token type 7", bytes *b = &find(&m, "tokenizer.ggml.token_type")->value;
         b->data[12 + 4 * 270] = 7);
    CASE(refuse_vocab, "score NaN", bytes *b = &find(&m, "tokenizer.ggml.scores")->value;
         memset(b->data + 12 + 4 * 270, 0xff, 4));
}

/* ---- scales ---- */

static void test_not_finite(void **state)
{
    (void)state;
    myth_error err = {0};
    myth_mem *mem;
    myth_model o;
    model m;
    make(&m);
    bytes b = {0};
    render(&b, &m);
    release(&m);
    memcpy(b.data + (b.len - m.data), "\0\0\x80\x7f", 4); /* 35: the first float is infinite */
    files_put("m.gguf", b.data, b.len);
    bytes_free(&b);
    assert_int_equal(myth_mem_open(&mem, 0, &err), MYTH_OK);
    assert_int_equal(myth_model_open(&o, mem, files_path("m.gguf"), NULL, &err), MYTH_OK);
    assert_int_equal(myth_model_check_tensors(&o, &err), MYTH_EFORMAT);
    myth_model_close(&o);
    assert_int_equal(myth_mem_close(mem), 0);
}

static void test_count(void **state)
{
    (void)state;
    printf("%d GGUF files\n", n_case);
    assert_true(n_case >= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),   cmocka_unit_test(test_facts),      cmocka_unit_test(test_directory),
        cmocka_unit_test(test_config), cmocka_unit_test(test_vocabulary), cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
