/* test_tokenizer_json_malformed.c - hostile tokenizer.json files, made here byte by byte. Each gives its documented
 * error and leaves nothing allocated. */
#include "malformed.h"

#define NORMALIZER "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\xe2\x96\x81\"}"
#define SPLIT                                             \
    "{\"type\":\"Split\",\"pattern\":{\"String\":\" \"}," \
    "\"behavior\":\"MergedWithPrevious\",\"invert\":false}"
#define ADDED                                                                                                         \
    "[{\"id\":0,\"content\":\"<pad>\",\"special\":true},{\"id\":1,\"content\":\"<eos>\",\"special\":true},{\"id\":2," \
    "\"content\":\"<bos>"                                                                                             \
    "\",\"special\":true}]"

typedef struct { /* parts of a file; NULL = the valid one, "" = left out */
    const char *normalizer, *pre_tokenizer, *added, *model, *vocab_tail, *merges, *tail;
} parts;

/* Ids: 0-3 are specials, 4-259 bytes, 260 is a, 261 b, 262 ab; then comes vocab_tail. */
static void json_file(buffer *b, const parts *p)
{
    char item[64];
    b->len = 0;
    put_str(b, "{\"version\":\"1.0\",");
    if (!p->normalizer || *p->normalizer) {
        put_str(b, "\"normalizer\":");
        put_str(b, p->normalizer ? p->normalizer : NORMALIZER);
        put_str(b, ",");
    }
    put_str(b, "\"pre_tokenizer\":");
    put_str(b, p->pre_tokenizer ? p->pre_tokenizer : "null");
    put_str(b, ",\"added_tokens\":");
    put_str(b, p->added ? p->added : ADDED);
    put_str(b, ",\"model\":{");
    put_str(b,
            p->model ? p->model : "\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"byte_fallback\":true,\"dropout\":null");
    put_str(b, ",\"vocab\":{\"<pad>\":0,\"<eos>\":1,\"<bos>\":2,\"<unk>\":3");
    for (unsigned i = 0; i < 256; i++) {
        snprintf(item, sizeof item, ",\"<0x%02X>\":%u", i, 4 + i);
        put_str(b, item);
    }
    put_str(b, p->vocab_tail ? p->vocab_tail : ",\"a\":260,\"b\":261,\"ab\":262");
    put_str(b, "},\"merges\":");
    put_str(b, p->merges ? p->merges : "[\"a b\"]");
    put_str(b, "}}");
    if (p->tail)
        put_str(b, p->tail);
}

static void expect_json(const char *what, const parts *p, myth_status want, const char *text)
{
    buffer b = {0};
    json_file(&b, p);
    expect(myth_tok_open_json, what, &b, want, text);
    free(b.base);
}

static void json_text(void **state)
{
    (void)state;
    buffer b = {0}, all = {0};
    expect(myth_tok_open_json, "empty", &b, MYTH_EFORMAT, "expected a value");
    json_file(&all, &(parts){0});
    expect(myth_tok_open_json, "valid", &all, MYTH_OK, "");
    put_str(&b, "\xef\xbb\xbf");
    put(&b, all.base, all.len);
    expect(myth_tok_open_json, "byte order mark", &b, MYTH_EFORMAT, "offset 0: expected a value");
    buffer cut = all;
    for (cut.len = 0; cut.len < all.len; cut.len += 13)
        expect(myth_tok_open_json, "cut off", &cut, MYTH_EFORMAT, "offset ");
    all.len += 1; /* the NUL after the text */
    all.base[all.len - 1] = 0;
    expect(myth_tok_open_json, "NUL padding", &all, MYTH_EFORMAT, "expected nothing after");
    expect_json("garbage behind", &(parts){.tail = "PK"}, MYTH_EFORMAT, "expected nothing after");
    expect_json("white space behind", &(parts){.tail = " \n\t\r"}, MYTH_OK, "");
    expect_json("not UTF-8", &(parts){.vocab_tail = ",\"a\":260,\"b\":261,\"ab\":262,\"\xff\":263"}, MYTH_EFORMAT,
                "expected UTF-8");
    expect_json("overlong", &(parts){.vocab_tail = ",\"a\":260,\"b\":261,\"ab\":262,\"\xc0\xaf\":263"}, MYTH_EFORMAT,
                "expected UTF-8");
    expect_json("lone surrogate", &(parts){.vocab_tail = ",\"a\":260,\"b\":261,\"ab\":262,\"\\ud800\":263"},
                MYTH_EFORMAT, "valid escape");
    free(b.base);
    b = (buffer){0};
    for (int i = 0; i < 1000000; i++)
        put(&b, "[", 1);
    expect(myth_tok_open_json, "a million brackets", &b, MYTH_EFORMAT, "expected an object");
    b.len = 0;
    for (int i = 0; i < 100000; i++)
        put(&b, "{\"a\":", 5);
    expect(myth_tok_open_json, "a hundred thousand objects", &b, MYTH_EFORMAT, "64 levels");
    b.len = 0;
    put_str(&b, "{\"merges\":");
    for (int i = 0; i < 100000; i++)
        put(&b, "[", 1);
    expect(myth_tok_open_json, "deep lists in a member that is skipped", &b, MYTH_EFORMAT, "64 levels");
    b.len = 0;
    put_str(&b, "[]");
    expect(myth_tok_open_json, "a list", &b, MYTH_EFORMAT, "expected an object");
    b.len = 0;
    put_str(&b, "{}");
    expect(myth_tok_open_json, "an empty object", &b, MYTH_EFORMAT, "needs a normalizer");
    free(b.base);
    free(all.base);
}

static void json_keys(void **state)
{
    (void)state;
    expect_json("normalizer twice", &(parts){.normalizer = NORMALIZER ",\"normalizer\":" NORMALIZER}, MYTH_EFORMAT,
                "key given twice");
    expect_json("normalizer twice by escape", &(parts){.normalizer = NORMALIZER ",\"norm\\u0061lizer\":" NORMALIZER},
                MYTH_EFORMAT, "key given twice");
    expect_json("type twice", &(parts){.model = "\"type\":\"BPE\",\"type\":\"BPE\",\"byte_fallback\":true"},
                MYTH_EFORMAT, "key given twice");
    expect_json("vocab twice", &(parts){.model = "\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{}"}, MYTH_EFORMAT,
                "key given twice");
    expect_json("id twice", &(parts){.added = "[{\"id\":0,\"id\":0,\"content\":\"<pad>\"}]"}, MYTH_EFORMAT,
                "key given twice");
    expect_json("piece twice", &(parts){.vocab_tail = ",\"a\":260,\"a\":261,\"b\":262"}, MYTH_EFORMAT,
                "same text as another");
    expect_json("piece twice by escape", &(parts){.vocab_tail = ",\"a\":260,\"\\u0061\":261,\"b\":262"}, MYTH_EFORMAT,
                "same text as another");
    expect_json("unknown members", &(parts){.normalizer = NORMALIZER ",\"new\":{\"x\":[1]}"}, MYTH_OK, "");
}

static void json_ids(void **state)
{
    (void)state;
    static const struct {
        const char *what, *id, *text;
    } bad[] = {
        {"negative", "-1", "expected an id"},
        {"1.0", "262.0", "expected an id"},
        {"1e3", "2.62e2", "expected an id"},
        {"string", "\"262\"", "expected an id"},
        {"2^31", "2147483648", "expected an id"},
        {"2^53 + 1", "9007199254740993", "expected an id"},
        {"2^64", "18446744073709551616", "expected an id"},
        {"2^64 + 262", "18446744073709551878", "expected an id"},
        {"nested", "[262]", "expected an id"},
        {"null", "null", "expected an id"},
        {"gap of 10^9", "1000000000", "got id 1000000000 in a vocabulary of 263"},
        {"gap of one", "263", "piece 262: id missing"},
        {"duplicate", "261", "piece 261: id given twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char tail[96];
        snprintf(tail, sizeof tail, ",\"a\":260,\"b\":261,\"ab\":%s", bad[i].id);
        expect_json(bad[i].what, &(parts){.vocab_tail = tail}, MYTH_EFORMAT, bad[i].text);
    }
    expect_json("added id negative", &(parts){.added = "[{\"id\":-1,\"content\":\"<pad>\"}]"}, MYTH_EFORMAT,
                "expected an id");
    expect_json("added gap", &(parts){.added = "[{\"id\":1000000000,\"content\":\"<x>\"}]"}, MYTH_EFORMAT,
                "got id 1000000000");
    expect_json("added gap of one", &(parts){.added = "[{\"id\":264,\"content\":\"<x>\"}]"}, MYTH_EFORMAT,
                "got id 264");
    expect_json("added behind the vocabulary", &(parts){.added = "[{\"id\":263,\"content\":\"<x>\"}]"}, MYTH_OK, "");
    expect_json("nothing but bytes", &(parts){.vocab_tail = "", .merges = "[]"}, MYTH_OK, "");
    expect_json("another text for <bos>", &(parts){.added = "[{\"id\":2,\"content\":\"<s>\"}]"}, MYTH_EFORMAT,
                "id of another piece");
}

static void json_pieces(void **state)
{
    (void)state;
    static char big[70000];
    expect_json("empty piece", &(parts){.vocab_tail = ",\"a\":260,\"b\":261,\"\":262"}, MYTH_EFORMAT, "empty piece");
    strcpy(big, ",\"a\":260,\"b\":261,\"");
    memset(big + strlen(big), 'x', 5000);
    strcat(big, "\":262");
    expect_json("piece of 5,000 bytes", &(parts){.vocab_tail = big}, MYTH_EFORMAT, "more than 4096 bytes");
    strcpy(big, ",\"a\":260,\"b\":261,\"");
    memset(big + strlen(big), 'x', 60000);
    strcat(big, "\":262");
    expect_json("piece of 60,000 bytes", &(parts){.vocab_tail = big}, MYTH_EFORMAT, "more than 4096 bytes");

    buffer b = {0};
    put_str(&b, "{\"normalizer\":" NORMALIZER
                ",\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"merges\":[],\"vocab\":{");
    for (int i = 0; i < 1100000; i++) {
        char item[32];
        snprintf(item, sizeof item, "%s\"%d\":%d", i ? "," : "", i, i);
        put_str(&b, item);
    }
    put_str(&b, "}}}");
    expect(myth_tok_open_json, "more than a million pieces", &b, MYTH_EFORMAT, "more than 1048576 pieces");
    free(b.base);
}

static void json_merges(void **state)
{
    (void)state;
    static const struct {
        const char *what, *merges;
        myth_status st;
        const char *text;
    } row[] = {
        {"strings", "[\"a b\"]", MYTH_OK, ""},
        {"pairs", "[[\"a\",\"b\"]]", MYTH_OK, ""},
        {"none", "[]", MYTH_OK, ""},
        {"unknown left", "[\"z b\"]", MYTH_EFORMAT, "merge 0: its parts"},
        {"unknown right", "[[\"a\",\"z\"]]", MYTH_EFORMAT, "merge 0: its parts"},
        {"unknown result", "[\"a b\",\"b a\"]", MYTH_EFORMAT, "merge 1: its parts"},
        {"twice", "[\"a b\",\"a b\"]", MYTH_EFORMAT, "merge 1: given twice"},
        {"no space", "[\"ab\"]", MYTH_EFORMAT, "one space between"},
        {"two spaces", "[\"a  b\"]", MYTH_EFORMAT, "one space between"},
        {"left empty", "[\" b\"]", MYTH_EFORMAT, "merge 0: empty"},
        {"right empty", "[[\"a\",\"\"]]", MYTH_EFORMAT, "merge 0: empty"},
        {"one of a pair", "[[\"a\"]]", MYTH_EFORMAT, "pair of strings"},
        {"three of a pair", "[[\"a\",\"b\",\"c\"]]", MYTH_EFORMAT, "pair of strings"},
        {"pair of a pair", "[[[\"a\",\"b\"],\"b\"]]", MYTH_EFORMAT, "pair of strings"},
        {"number", "[1]", MYTH_EFORMAT, "expected a merge"},
        {"object", "[{}]", MYTH_EFORMAT, "expected a merge"},
        {"an object as the list", "{}", MYTH_EFORMAT, "list of merges"},
        {"null", "null", MYTH_EFORMAT, "list of merges"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        expect_json(row[i].what, &(parts){.merges = row[i].merges}, row[i].st, row[i].text);
    buffer b = {0};
    put_str(&b, "[");
    for (int i = 0; i < 10000000; i++)
        put(&b, i ? ",0" : "0", i ? 2 : 1);
    put(&b, "]", 2);
    expect_json("ten million merges", &(parts){.merges = b.base}, MYTH_EFORMAT, "more than 1048576 merges");
    free(b.base);
}

static void json_added(void **state)
{
    (void)state;
    static const struct {
        const char *what, *added;
        myth_status st;
        const char *text;
    } row[] = {
        {"reuses an id with the same text", ADDED, MYTH_OK, ""},
        {"prefix of another", "[{\"id\":263,\"content\":\"<x\",\"special\":false},{\"id\":264,\"content\":\"<xy>\"}]",
         MYTH_OK, ""},
        {"no list at all", "[]", MYTH_OK, ""},
        {"id of another piece", "[{\"id\":260,\"content\":\"<x>\"}]", MYTH_EFORMAT, "id of another piece"},
        {"id of a byte piece", "[{\"id\":5,\"content\":\"<x>\"}]", MYTH_EFORMAT, "id of another piece"},
        {"the same token twice", "[{\"id\":0,\"content\":\"<pad>\"},{\"id\":0,\"content\":\"<pad>\"}]", MYTH_EFORMAT,
         "id of another piece"},
        {"text of another piece", "[{\"id\":263,\"content\":\"ab\"}]", MYTH_EFORMAT, "same text as another"},
        {"empty", "[{\"id\":263,\"content\":\"\"}]", MYTH_EFORMAT, "empty piece"},
        {"no content", "[{\"id\":263}]", MYTH_EFORMAT, "needs id and content"},
        {"no id", "[{\"content\":\"<x>\"}]", MYTH_EFORMAT, "needs id and content"},
        {"content a number", "[{\"id\":263,\"content\":1}]", MYTH_EFORMAT, "expected a string"},
        {"special a number", "[{\"id\":263,\"content\":\"<x>\",\"special\":1}]", MYTH_EFORMAT, "true or false"},
        {"not an object", "[5]", MYTH_EFORMAT, "expected an added token"},
        {"not a list", "{}", MYTH_EFORMAT, "list of added tokens"},
        {"strips", "[{\"id\":263,\"content\":\"<x>\",\"lstrip\":true}]", MYTH_OK, ""},
        {"strips, a number", "[{\"id\":263,\"content\":\"<x>\",\"lstrip\":1}]", MYTH_EFORMAT, "true or false"},
        {"strips twice", "[{\"id\":263,\"content\":\"<x>\",\"lstrip\":true,\"lstrip\":true}]", MYTH_EFORMAT, "twice"},
        {"matched after the normalizer", "[{\"id\":263,\"content\":\"a b\",\"normalized\":true}]", MYTH_OK, ""},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        expect_json(row[i].what, &(parts){.added = row[i].added}, row[i].st, row[i].text);
}

static void json_trees(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        parts p;
        const char *text;
    } row[] = {
        {"normalizer null", {.normalizer = "null"}, "normalizer"},
        {"normalizer NFKC", {.normalizer = "{\"type\":\"NFKC\"}"}, "normalizer"},
        {"normalizer with a regex",
         {.normalizer = "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" \"},\"content\":\"\xe2\x96\x81\"}"},
         "normalizer"},
        {"normalizer to another mark",
         {.normalizer = "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"_\"}"},
         "normalizer"},
        {"normalizer with more",
         {.normalizer = "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\xe2\x96\x81\",\"x\":1}"},
         "normalizer"},
        {"pre_tokenizer Metaspace",
         {.pre_tokenizer = "{\"type\":\"Metaspace\",\"replacement\":\"\xe2\x96\x81\"}"},
         "pre_tokenizer"},
        {"pre_tokenizer inverted",
         {
             .pre_tokenizer = "{\"type\":\"Split\",\"pattern\":{\"String\":\" "
                              "\"},\"behavior\":\"MergedWithPrevious\",\"invert\":true}",
         },
         "pre_tokenizer"},
        {"model WordPiece", {.model = "\"type\":\"WordPiece\",\"byte_fallback\":true"}, "type"},
        {"no byte fallback", {.model = "\"type\":\"BPE\",\"byte_fallback\":false"}, "byte_fallback"},
        {"dropout", {.model = "\"type\":\"BPE\",\"byte_fallback\":true,\"dropout\":0.1"}, "dropout"},
        {"prefix",
         {.model = "\"type\":\"BPE\",\"byte_fallback\":true,\"continuing_subword_prefix\":\"##\""},
         "continuing_subword_prefix"},
        {"ignore_merges", {.model = "\"type\":\"BPE\",\"byte_fallback\":true,\"ignore_merges\":true"}, "ignore_merges"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        expect_json(row[i].what, &row[i].p, MYTH_EUNSUPPORTED, row[i].text);
    expect_json("no normalizer", &(parts){.normalizer = ""}, MYTH_EFORMAT, "needs a normalizer");
    expect_json("no type", &(parts){.model = "\"byte_fallback\":true"}, MYTH_EFORMAT, "needs type");
    expect_json("the Split of Gemma 3", &(parts){.pre_tokenizer = SPLIT}, MYTH_OK, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_text),   cmocka_unit_test(json_keys),   cmocka_unit_test(json_ids),
        cmocka_unit_test(json_pieces), cmocka_unit_test(json_merges), cmocka_unit_test(json_added),
        cmocka_unit_test(json_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
