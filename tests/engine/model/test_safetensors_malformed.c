/* test_safetensors_malformed.c - malformed safetensors files and indexes are refused, each with its documented status.
 * Unusual but correct files are read. */
#include "tests/support/files.h"

#include "engine/engine.h"

#include <sys/stat.h>
#include <unistd.h>

/* Gemma 1 with one layer, all f32: d 8, H 2, KV 1, hd 4, ff 16, V 16. Offsets in order of the list. */
static const char CONFIG[] = "{\"model_type\":\"gemma\",\"vocab_size\":16,\"hidden_size\":8,\"intermediate_size\":16,"
                             "\"num_hidden_layers\":1,\"num_attention_heads\":2,"
                             "\"num_key_value_heads\":1,\"head_dim\":4,\"max_position_embeddings\":64}";
#define EMBED "\"model.embed_tokens.weight\":{\"dtype\":\"F32\",\"shape\":[16,8],\"data_offsets\":[0,512]}"
#define NORM  "\"model.norm.weight\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[512,544]}"
#define LAYER                                                                                                          \
    "\"model.layers.0.input_layernorm.weight\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[544,576]},"          \
    "\"model.layers.0.self_attn.q_proj.weight\":{\"dtype\":\"F32\",\"shape\":[8,8],\"data_offsets\":[576,832]},"       \
    "\"model.layers.0.self_attn.k_proj.weight\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[832,960]},"       \
    "\"model.layers.0.self_attn.v_proj.weight\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[960,1088]},"      \
    "\"model.layers.0.self_attn.o_proj.weight\":{\"dtype\":\"F32\",\"shape\":[8,8],\"data_offsets\":[1088,1344]},"     \
    "\"model.layers.0.post_attention_layernorm.weight\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[1344,1376]" \
    "},"                                                                                                               \
    "\"model.layers.0.mlp.gate_proj.weight\":{\"dtype\":\"F32\",\"shape\":[16,8],\"data_offsets\":[1376,1888]},"       \
    "\"model.layers.0.mlp.up_proj.weight\":{\"dtype\":\"F32\",\"shape\":[16,8],\"data_offsets\":[1888,2400]},"         \
    "\"model.layers.0.mlp.down_proj.weight\":{\"dtype\":\"F32\",\"shape\":[8,16],\"data_offsets\":[2400,2912]}"
#define META "\"__metadata__\":{\"format\":\"pt\"}"
static const char HEADER[] = "{" META "," EMBED "," NORM "," LAYER "}";
enum { BUFFER = 2912 };

static const char FILE_NAME[] = "m/model.safetensors";

/* Header text, padded with spaces to 8 bytes, and a buffer of zeros. */
static void put_model(const char *name, const char *header, size_t buffer)
{
    bytes b = {0};
    size_t n = strlen(header), padded = (n + 7) / 8 * 8;
    bytes_uint(&b, padded, 8);
    bytes_text(&b, header);
    for (size_t i = n; i < padded; i++)
        bytes_text(&b, " ");
    for (size_t i = 0; i < buffer; i++)
        bytes_uint(&b, 0, 1);
    files_put(name, b.data, b.len);
    bytes_free(&b);
}

static void fresh(void)
{
    files_clear("m");
    files_text("m/config.json", CONFIG);
}

static void expect(const char *what, myth_weights_level level, myth_status wanted)
{
    files_expect(what, files_path("m"), level, wanted);
}

/* ---- one edit of the header ---- */

typedef struct {
    const char *what, *from, *to;
    myth_status status;
} edit;

#define NORM_SHAPE "\"shape\":[8],\"data_offsets\":[512,544]"
#define NORM_TYPE  "\"model.norm.weight\":{\"dtype\":\"F32\""
#define DEC_2_63   "9223372036854775808"

static const edit edits[] = {
    {"7 no metadata", META, "\"__metadata__\":null", MYTH_OK},
    {"7 metadata of one text", META, "\"__metadata__\":\"pt\"", MYTH_EFORMAT},
    {"7 array for object", "{" META, "[" META, MYTH_EFORMAT},
    {"7 byte order mark", "{" META, "\xef\xbb\xbf{" META, MYTH_EFORMAT},
    {"7 leading space", "{" META, " {" META, MYTH_EFORMAT},
    {"8 tab padding", "[2400,2912]}}", "[2400,2912]}}\t", MYTH_EFORMAT},
    {"8 garbage behind the brace", "[2400,2912]}}", "[2400,2912]}}x", MYTH_EFORMAT},
    {"8 second object", "[2400,2912]}}", "[2400,2912]}}{}", MYTH_EFORMAT},
    {"9 not UTF-8", "model.norm", "model\xff.norm", MYTH_EFORMAT},
    {"9 overlong", "model.norm", "model\xc0\xae.norm", MYTH_EFORMAT},
    {"9 lone surrogate", "model.norm", "model\\ud800.norm", MYTH_EFORMAT},
    {"11 name twice", NORM, NORM "," NORM, MYTH_EFORMAT},
    {"12 name twice by escape", NORM,
     NORM ",\"model.norm.weigh\\u0074\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[512,544]}", MYTH_EFORMAT},
    {"13 dtype twice", NORM_TYPE, NORM_TYPE ",\"dtype\":\"F32\"", MYTH_EFORMAT},
    {"13 shape twice", NORM_SHAPE, NORM_SHAPE ",\"shape\":[8]", MYTH_EFORMAT},
    {"13 data_offsets twice", NORM_SHAPE, NORM_SHAPE ",\"data_offsets\":[512,544]", MYTH_EFORMAT},
    {"14 metadata twice", META, META "," META, MYTH_EFORMAT},
    {"15 metadata number", "\"pt\"", "1", MYTH_EFORMAT},
    {"15 metadata object", "\"pt\"", "{}", MYTH_EFORMAT},
    {"16 unknown dtype", NORM_TYPE, "\"model.norm.weight\":{\"dtype\":\"F33\"", MYTH_EFORMAT},
    {"16 empty dtype", NORM_TYPE, "\"model.norm.weight\":{\"dtype\":\"\"", MYTH_EFORMAT},
    {"16 lower case dtype", NORM_TYPE, "\"model.norm.weight\":{\"dtype\":\"f32\"", MYTH_EFORMAT},
    {"16 numeric dtype", NORM_TYPE, "\"model.norm.weight\":{\"dtype\":1", MYTH_EFORMAT},
    {"16 dtype of the format that is not read", NORM_TYPE, "\"model.norm.weight\":{\"dtype\":\"I32\"",
     MYTH_EUNSUPPORTED},
    {"17 no dtype", "\"dtype\":\"F32\",", "", MYTH_EFORMAT},
    {"17 no shape", "\"shape\":[8],", "", MYTH_EFORMAT},
    {"17 no offsets", ",\"data_offsets\":[512,544]", "", MYTH_EFORMAT},
    {"17 extra field", NORM_SHAPE, NORM_SHAPE ",\"x\":1", MYTH_EFORMAT},
    {"17 number for a tensor", NORM, "\"model.norm.weight\":1", MYTH_EFORMAT},
    {"18 negative", "\"shape\":[8],", "\"shape\":[-8],", MYTH_EFORMAT},
    {"18 float", "\"shape\":[8],", "\"shape\":[8.0],", MYTH_EFORMAT},
    {"18 exponent", "\"shape\":[8],", "\"shape\":[8e0],", MYTH_EFORMAT},
    {"18 string", "\"shape\":[8],", "\"shape\":[\"8\"],", MYTH_EFORMAT},
    {"18 2^53+1", "\"shape\":[8],", "\"shape\":[9007199254740993],", MYTH_EFORMAT},
    {"18 2^64", "\"shape\":[8],", "\"shape\":[18446744073709551616],", MYTH_EFORMAT},
    {"18 nested", "\"shape\":[8],", "\"shape\":[[8]],", MYTH_EFORMAT},
    {"19 nine dims", "\"shape\":[8],", "\"shape\":[8,1,1,1,1,1,1,1,1],", MYTH_EFORMAT},
    {"19 no dims", "\"shape\":[8],", "\"shape\":[],", MYTH_EFORMAT},
    {"20 product overflows", "\"shape\":[8],", "\"shape\":[4294967296,4294967296],", MYTH_EFORMAT},
    {"21 zero hides an overflow", "\"shape\":[8],", "\"shape\":[0," DEC_2_63 "," DEC_2_63 "],", MYTH_EFORMAT},
    {"21 zero", NORM_SHAPE, "\"shape\":[0],\"data_offsets\":[512,512]", MYTH_EFORMAT},
    {"22 bytes overflow", "\"shape\":[8],", "\"shape\":[4611686018427387904],", MYTH_EFORMAT},
    {"22 bytes overflow to the span", NORM_SHAPE, "\"shape\":[4611686018427387912],\"data_offsets\":[512,544]",
     MYTH_EFORMAT},
    {"23 one offset", "[512,544]", "[512]", MYTH_EFORMAT},
    {"23 three offsets", "[512,544]", "[512,544,544]", MYTH_EFORMAT},
    {"23 begin after end", "[512,544]", "[544,512]", MYTH_EFORMAT},
    {"23 negative offset", "[512,544]", "[-512,544]", MYTH_EFORMAT},
    {"23 float offset", "[512,544]", "[512.0,544]", MYTH_EFORMAT},
    {"23 past the buffer", "[2400,2912]", "[2404,2916]", MYTH_EFORMAT},
    {"23 far past the buffer", "[512,544]", "[18446744073709551583,18446744073709551615]", MYTH_EFORMAT},
    {"24 span longer than the shape", "[2400,2912]", "[2400,2916]", MYTH_EFORMAT},
    {"24 shape longer than the span", "\"shape\":[8],", "\"shape\":[9],", MYTH_EFORMAT},
    {"25 overlap", "[512,544]", "[508,540]", MYTH_EFORMAT},
    {"26 hole", NORM ",", "", MYTH_EFORMAT},
    {"27 first begin is not 0", EMBED ",", "", MYTH_EFORMAT},
    {"29 sub-byte type", NORM_TYPE, "\"model.norm.weight\":{\"dtype\":\"F4\"", MYTH_EFORMAT},
    {"30 empty name", "\"model.norm.weight\"", "\"\"", MYTH_EFORMAT},
    {"30 NUL in a name", "model.norm.weight", "model\\u0000norm.weight", MYTH_EFORMAT},
    {"30 slash", "model.norm.weight", "model/norm.weight", MYTH_EFORMAT},
    {"30 dots", "model.norm.weight", "../norm.weight", MYTH_EFORMAT},
    {"30 escape sequence", "model.norm.weight", "\\u001b[2Jnorm.weight", MYTH_EFORMAT},
    {"30 bidi mark", "model.norm.weight", "model\xe2\x80\xae.norm.weight", MYTH_EFORMAT},
    {"34 wrong shape for the layer", "\"shape\":[4,8]", "\"shape\":[8,4]", MYTH_EFORMAT},
    {"34 matrix for a norm", "\"shape\":[8],", "\"shape\":[8,1],", MYTH_EFORMAT},
    {"36 tensor of a layer too many", "layers.0.mlp.up", "layers.1.mlp.up", MYTH_EFORMAT},
    {"36 unknown tensor", "self_attn.q_proj.weight", "self_attn.q_proj.bias", MYTH_EFORMAT},
};

static void test_edits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        char *header = text_replace(HEADER, edits[i].from, edits[i].to);
        fresh();
        put_model(FILE_NAME, header, BUFFER);
        expect(edits[i].what, MYTH_WEIGHTS_DATA, edits[i].status);
        expect(edits[i].what, MYTH_WEIGHTS_HEADER, edits[i].status);
        free(header);
    }
    printf("%zu edited headers\n", sizeof(edits) / sizeof(edits[0]));
}

/* ---- length of header and file ---- */

static void expect_raw(const char *what, uint64_t n, const char *rest, size_t len, uint64_t size)
{
    bytes b = {0};
    bytes_uint(&b, n, 8);
    bytes_put(&b, rest, len);
    fresh();
    files_sparse(FILE_NAME, b.data, b.len, size ? size : b.len);
    expect(what, MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    expect(what, MYTH_WEIGHTS_HEADER, MYTH_EFORMAT);
    bytes_free(&b);
}

static void test_lengths(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 7, 8};
    for (int i = 0; i < 4; i++) {
        fresh();
        files_put(FILE_NAME, "\x02\0\0\0\0\0\0\0", sizes[i]);
        expect("1 short file", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    }
    expect_raw("2 N = 0", 0, "{}", 2, 0);
    expect_raw("3 N = 1", 1, "{", 1, 0);
    expect_raw("3 N = 2, no tensors", 2, "{}", 2, 0);
    expect_raw("4 N past the file", 3, "{}", 2, 0);
    expect_raw("5 N = 2^63", (uint64_t)1 << 63, "{}", 2, 0);
    expect_raw("5 N = 2^64 - 1", UINT64_MAX, "{}", 2, 0);
    expect_raw("5 N = 2^64 - 8", UINT64_MAX - 7, "{}", 2, 0);
    expect_raw("6 N above the limit", (16 << 20) + 1, "{}", 2, 17 << 20);
    expect_raw("8 NUL padding", sizeof(HEADER), HEADER, sizeof(HEADER), sizeof(HEADER) + 8 + BUFFER);

    fresh();
    put_model(FILE_NAME, HEADER, BUFFER - 1);
    expect("23 buffer one byte short", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    fresh();
    put_model(FILE_NAME, HEADER, BUFFER + 22);
    expect("28 trailing bytes", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    expect("28 trailing bytes", MYTH_WEIGHTS_HEADER, MYTH_EFORMAT);

    /* 32: a header of odd length puts every float at an odd address */
    bytes b = {0};
    size_t n = strlen(HEADER);
    bytes_uint(&b, n + (n % 2 == 0), 8);
    bytes_text(&b, HEADER);
    if (n % 2 == 0)
        bytes_text(&b, " ");
    fresh();
    files_sparse(FILE_NAME, b.data, b.len, b.len + BUFFER);
    expect("32 data not aligned", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    bytes_free(&b);
}

/* ---- large and deep ---- */

static void put_repeated(const char *head, const char *one, size_t count, const char *tail)
{
    bytes b = {0};
    size_t n = strlen(head) + count * strlen(one) + strlen(tail);
    bytes_uint(&b, n, 8);
    bytes_text(&b, head);
    for (size_t i = 0; i < count; i++)
        bytes_text(&b, one);
    bytes_text(&b, tail);
    fresh();
    files_put(FILE_NAME, b.data, b.len);
    bytes_free(&b);
}

static void test_large(void **state)
{
    (void)state;
    put_repeated("{\"a\":", "[", 1000000, "}");
    expect("10 a million brackets", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    put_repeated("", "{\"a\":", 100000, "}");
    expect("10 objects 100,000 deep", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    put_repeated("{\"", "a", 65536, "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}");
    expect("30 name of 64 KiB", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    put_repeated("{", "\"a\":1,", 1000000, "\"b\":1}");
    expect("31 a million entries", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    put_repeated("{\"__metadata__\":{", "\"a\":\"b\",", 1000000, "\"b\":\"c\"}}");
    expect("31 a million facts, no tensors", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    put_repeated("{", " ", 16 << 20, "}");
    expect("6 spaces above the limit", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
}

/* ---- the table of the family ---- */

static void test_missing(void **state)
{
    (void)state;
    char *config = text_replace(CONFIG, "\"num_hidden_layers\":1", "\"num_hidden_layers\":2");
    fresh();
    files_text("m/config.json", config);
    put_model(FILE_NAME, HEADER, BUFFER);
    expect("35 missing layer", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    free(config);

    fresh();
    put_model(FILE_NAME, "{\"model.norm.weight\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[0,32]}}", 32);
    expect("35 no embedding", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);

    fresh();
    expect("no weights at all", MYTH_WEIGHTS_HEADER, MYTH_ENOTFOUND);
    expect("config alone", MYTH_WEIGHTS_CONFIG, MYTH_OK);
    files_text("m/a.safetensors", "");
    files_text("m/b.safetensors", "");
    expect("two files without an index", MYTH_WEIGHTS_HEADER, MYTH_ENOTFOUND);
}

/* ---- shards ---- */

#define MAP_EMBED "\"model.embed_tokens.weight\":\"a.safetensors\""
#define MAP_REST                                                                                                       \
    "\"model.norm.weight\":\"b.safetensors\","                                                                         \
    "\"model.layers.0.input_layernorm.weight\":\"b.safetensors\",\"model.layers.0.self_attn.q_proj.weight\":\"b."      \
    "safetensors\","                                                                                                   \
    "\"model.layers.0.self_attn.k_proj.weight\":\"b.safetensors\",\"model.layers.0.self_attn.v_proj.weight\":\"b."     \
    "safetensors\","                                                                                                   \
    "\"model.layers.0.self_attn.o_proj.weight\":\"b.safetensors\",\"model.layers.0.post_attention_layernorm.weight\":" \
    "\"b.safetensors\","                                                                                               \
    "\"model.layers.0.mlp.gate_proj.weight\":\"b.safetensors\",\"model.layers.0.mlp.up_proj.weight\":\"b."             \
    "safetensors\","                                                                                                   \
    "\"model.layers.0.mlp.down_proj.weight\":\"b.safetensors\""
static const char INDEX[] = "{\"metadata\":{\"total_size\":2912},\"weight_map\":{" MAP_EMBED "," MAP_REST "}}";

/* The offsets of `header` moved down by 512, where the embedding was. */
static char *rest_header(void)
{
    bytes b = {0};
    const char *at = "{" NORM "," LAYER "}";
    static char text[4096];
    snprintf(text, sizeof(text), "%s", at);
    for (char *p = text, *q; (q = strstr(p, "data_offsets\":[")); p = q) {
        q += strlen("data_offsets\":[");
        bytes_put(&b, p, (size_t)(q - p));
        unsigned long from = strtoul(q, &q, 10), to = strtoul(q + 1, &q, 10);
        char num[64];
        snprintf(num, sizeof(num), "%lu,%lu", from - 512, to - 512);
        bytes_text(&b, num);
        at = q;
    }
    bytes_text(&b, at);
    bytes_uint(&b, 0, 1);
    return (char *)b.data;
}

static void fresh_shards(const char *index)
{
    char *rest = rest_header();
    fresh();
    put_model("m/a.safetensors", "{" EMBED "}", 512);
    put_model("m/b.safetensors", rest, BUFFER - 512);
    files_text("m/model.safetensors.index.json", index);
    free(rest);
}

static const edit index_edits[] = {
    {"38 parent folder", "\"a.safetensors\"", "\"../a.safetensors\"", MYTH_EFORMAT},
    {"38 absolute path", "\"a.safetensors\"", "\"/etc/passwd\"", MYTH_EFORMAT},
    {"38 sub-folder", "\"a.safetensors\"", "\"x/a.safetensors\"", MYTH_EFORMAT},
    {"38 dots", "\"a.safetensors\"", "\"..\"", MYTH_EFORMAT},
    {"38 escape", "\"a.safetensors\"", "\"\\u0061.safetensors\"", MYTH_EFORMAT},
    {"38 number", "\"a.safetensors\"", "1", MYTH_EFORMAT},
    {"38 missing shard", "\"a.safetensors\"", "\"c.safetensors\"", MYTH_ENOTFOUND},
    {"38 another total_size, which only informs", "2912", "2913", MYTH_OK},
    {"38 total_size text", "2912", "\"2912\"", MYTH_OK},
    {"38 named twice", MAP_EMBED, MAP_EMBED "," MAP_EMBED, MYTH_EFORMAT},
    {"38 named in the wrong shard", "\"model.norm.weight\":\"b.", "\"model.norm.weight\":\"a.", MYTH_EFORMAT},
    {"38 tensor that no shard has", MAP_EMBED, MAP_EMBED ",\"model.x\":\"a.safetensors\"", MYTH_EFORMAT},
    {"37 tensor that the index lacks", "\"model.norm.weight\":\"b.safetensors\",", "", MYTH_EFORMAT},
    {"38 no weight_map", "weight_map", "weight_mop", MYTH_EFORMAT},
    {"38 weight_map twice", "\"metadata\":{\"total_size\":2912}", "\"weight_map\":{" MAP_EMBED "}", MYTH_EFORMAT},
    {"38 weight_map list", "{" MAP_EMBED "," MAP_REST "}", "[]", MYTH_EFORMAT},
    {"38 metadata list", "{\"total_size\":2912}", "[]", MYTH_EFORMAT},
    {"38 bytes behind the value", "b.safetensors\"}}", "b.safetensors\"}} x", MYTH_EFORMAT},
    {"38 name with a control byte", "model.norm.weight", "model\\u0007norm", MYTH_EFORMAT},
};

static void test_index(void **state)
{
    (void)state;
    fresh_shards(INDEX);
    expect("two shards", MYTH_WEIGHTS_DATA, MYTH_OK);
    for (size_t i = 0; i < sizeof(index_edits) / sizeof(index_edits[0]); i++) {
        char *index = text_replace(INDEX, index_edits[i].from, index_edits[i].to);
        fresh_shards(index);
        expect(index_edits[i].what, MYTH_WEIGHTS_DATA, index_edits[i].status);
        free(index);
    }
    printf("%zu edited indexes\n", sizeof(index_edits) / sizeof(index_edits[0]));

    bytes b = {0};
    char one[64];
    bytes_text(&b, "{\"weight_map\":{");
    for (int i = 0; i < 100000; i++) {
        snprintf(one, sizeof(one), "%s\"t%d\":\"%d.safetensors\"", i ? "," : "", i, i);
        bytes_text(&b, one);
    }
    bytes_text(&b, "}}");
    fresh_shards("");
    files_put("m/model.safetensors.index.json", b.data, b.len);
    expect("38 100,000 shards", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    bytes_free(&b);

    bytes_text(&b, "{\"weight_map\":{");
    for (int i = 0; i < 1000000; i++) {
        snprintf(one, sizeof(one), "%s\"t%d\":\"a\"", i ? "," : "", i);
        bytes_text(&b, one);
    }
    bytes_text(&b, "}}");
    files_put("m/model.safetensors.index.json", b.data, b.len);
    expect("38 a million names", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    bytes_free(&b);
}

static void test_links(void **state)
{
    (void)state;
    fresh_shards(INDEX);
    assert_int_equal(rename(files_path("m/a.safetensors"), files_path("outside")), 0);
    assert_int_equal(symlink(files_path("outside"), files_path("m/a.safetensors")), 0);
    expect("38 link that leaves the folder", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);

    unlink(files_path("m/a.safetensors"));
    assert_int_equal(symlink("a.safetensors", files_path("m/a.safetensors")), 0);
    expect("38 link to itself", MYTH_WEIGHTS_DATA, MYTH_EIO);

    unlink(files_path("m/a.safetensors"));
    assert_int_equal(rename(files_path("outside"), files_path("m/real")), 0);
    assert_int_equal(symlink("real", files_path("m/a.safetensors")), 0);
    expect("link that stays inside", MYTH_WEIGHTS_DATA, MYTH_OK);

    unlink(files_path("m/a.safetensors"));
    assert_int_equal(mkfifo(files_path("m/a.safetensors"), 0600), 0);
    expect("38 FIFO", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    unlink(files_path("m/a.safetensors"));
    assert_int_equal(symlink("/dev/zero", files_path("m/a.safetensors")), 0);
    expect("38 device", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    unlink(files_path("m/a.safetensors"));
    files_mkdir("m/a.safetensors");
    expect("38 folder", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
}

/* ---- accepted ---- */

static void test_accepted(void **state)
{
    (void)state;
    fresh();
    put_model(FILE_NAME, HEADER, BUFFER);
    expect("as written", MYTH_WEIGHTS_DATA, MYTH_OK);
    expect("as written", MYTH_WEIGHTS_HEADER, MYTH_OK);
    expect("as written", MYTH_WEIGHTS_CONFIG, MYTH_OK);
    files_expect("the file itself", files_path(FILE_NAME), MYTH_WEIGHTS_DATA, MYTH_OK);
    put_model(FILE_NAME, HEADER, 0);
    expect("tensor data cut off, header wanted", MYTH_WEIGHTS_HEADER, MYTH_OK);
    expect("tensor data cut off, data wanted", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);

    /* 39: f16 norms beside f32 matrices; a copy of the head; towers of types that are not read */
    char *mixed = text_replace(
        HEADER,
        "\"model.layers.0.mlp.down_proj.weight\":{\"dtype\":\"F32\",\"shape\":[8,16],\"data_offsets\":[2400,2912]}",
        "\"model.layers.0.mlp.down_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[8,16],\"data_offsets\":[2400,2656]},"
        "\"lm_head.weight\":{\"dtype\":\"F16\",\"shape\":[16,8],\"data_offsets\":[2656,2912]},"
        "\"vision_tower.ids\":{\"dtype\":\"I64\",\"shape\":[1,2],\"data_offsets\":[2912,2928]},"
        "\"model.multi_modal_projector.x\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[2928,2929]}");
    put_model(FILE_NAME, mixed, 2929);
    expect("39 a mix of types and a tower", MYTH_WEIGHTS_DATA, MYTH_OK);
    put_model(FILE_NAME, mixed, 2928);
    expect("39 a tower cut off", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
    free(mixed);
}

/* ---- a head ---- */

static void put_at_end(long back, const char *data, size_t n)
{
    FILE *f = fopen(files_path(FILE_NAME), "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, back, SEEK_END), 0);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

/* The model takes its logits from the embedding: a head of other numbers would be lost without a word. */
static void test_a_head_that_differs_is_not_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *what, *name, *type, *shape;
        size_t bytes;
        myth_status headers, data; /* data: with a last number that is not the embedding's */
    } row[] = {
        {"of the embedding's type", "lm_head.weight", "F32", "16,8", 512, MYTH_OK, MYTH_EUNSUPPORTED},
        {"of another type", "lm_head.weight", "BF16", "16,8", 256, MYTH_OK, MYTH_EUNSUPPORTED},
        {"of a multimodal model", "language_model.lm_head.weight", "F16", "16,8", 256, MYTH_OK, MYTH_EUNSUPPORTED},
        {"of more rows", "lm_head.weight", "F32", "17,8", 544, MYTH_EUNSUPPORTED, MYTH_EUNSUPPORTED},
        {"of a type that is not read", "lm_head.weight", "I32", "16,8", 512, MYTH_EUNSUPPORTED, MYTH_EUNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char more[256];
        snprintf(more, sizeof more,
                 "[2400,2912]},\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[2912,%zu]}}", row[i].name,
                 row[i].type, row[i].shape, 2912 + row[i].bytes);
        char *header = text_replace(HEADER, "[2400,2912]}}", more);
        fresh();
        put_model(FILE_NAME, header, BUFFER + row[i].bytes);
        expect(row[i].what, MYTH_WEIGHTS_HEADER, row[i].headers);
        expect(row[i].what, MYTH_WEIGHTS_DATA, row[i].headers); /* zeros, as the embedding's */
        put_at_end(-2, "\x80\x3f", 2);
        expect(row[i].what, MYTH_WEIGHTS_DATA, row[i].data);
        free(header);
    }
}

/* ---- after open ---- */

static void test_changed_after_open(void **state)
{
    (void)state;
    myth_error err;
    myth_mem *mem;
    myth_weights *w;
    assert_int_equal(myth_mem_open(&mem, 0, &err), MYTH_OK);
    for (int is_read = 0; is_read < 2; is_read++) {
        fresh();
        put_model(FILE_NAME, HEADER, BUFFER);
        myth_weights_opts opts = {.level = MYTH_WEIGHTS_DATA, .pread = is_read};
        assert_int_equal(myth_weights_open(&w, mem, files_path("m"), &opts, &err), MYTH_OK);
        assert_int_equal(myth_weights_check(w, &err), MYTH_OK);
        assert_int_equal(myth_mem_get(mem, 0, is_read ? MYTH_MEM_WEIGHTS : MYTH_MEM_WEIGHTS_MAPPED).live,
                         myth_weights_mapped(w));
        assert_int_equal(truncate(files_path(FILE_NAME), 100), 0);
        assert_int_equal(myth_weights_check(w, &err), MYTH_EIO);
        if (is_read) { /* the copy is whole, whatever became of the file */
            const myth_tensor *t = myth_weights_find(w, "model.layers.0.mlp.down_proj.weight");
            for (uint64_t i = 0; i < t->bytes; i++)
                assert_int_equal(((const unsigned char *)t->data)[i], 0);
        }
        myth_weights_close(w);
    }
    assert_int_equal(myth_mem_close(mem), 0);
}

static void test_not_finite(void **state)
{
    (void)state;
    myth_error err;
    myth_mem *mem;
    myth_model m;
    assert_int_equal(myth_mem_open(&mem, 0, &err), MYTH_OK);
    fresh();
    put_model(FILE_NAME, HEADER, BUFFER);
    FILE *f = fopen(files_path(FILE_NAME), "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, -4, SEEK_END), 0);
    assert_int_equal(fwrite("\0\0\xc0\x7f", 1, 4, f), 4);
    fclose(f);
    assert_int_equal(myth_model_open(&m, mem, files_path("m"), NULL, &err), MYTH_OK);
    assert_int_equal(myth_model_check_tensors(&m, &err), MYTH_EFORMAT);
    assert_non_null(strstr(err.msg, "down_proj"));
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),   cmocka_unit_test(test_edits),
        cmocka_unit_test(test_lengths),    cmocka_unit_test(test_large),
        cmocka_unit_test(test_missing),    cmocka_unit_test(test_index),
        cmocka_unit_test(test_links),      cmocka_unit_test(test_changed_after_open),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_a_head_that_differs_is_not_left_out),
    };
    files_mkdir("m");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
