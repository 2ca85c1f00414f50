/* test_calls_held.c - answers that a grammar holds to the calls of tools: random tools with random parameters, ids
 * drawn at random from what the grammar allows, with the marks of Gemma 4 and of FunctionGemma. Every call that is
 * finished is read back, names a tool and has arguments of its schema, also where the answer is cut. Then what is
 * refused. */
#include "engine/text/pushdown.h"
#include "frontend/common/calls.h"
#include "frontend/common/json_schema.h"
#include "tests/engine/text/function_marks.h"

#include <jansson.h>
#include <math.h>

enum { N_OUT = 1 << 16, N_TOOL = 3, IDS = 220 };

static myth_mem *mem;
static myth_tokenizer *tok[2]; /* Gemma 4, FunctionGemma */
static myth_pushdown *states;
static myth_grammar *masks[2];
static myth_error err;
static char *piece;
static char json[N_OUT], text[N_OUT];

static int open_all(void **state)
{
    (void)state;
    char path[1024];
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_tokenizer_open_file(
                         &tok[0], mem, check_path(path, sizeof(path), "tests/golden/tokenizer/small_four.json"), NULL),
                     MYTH_OK);
    function_marks_open(&tok[1], mem);
    assert_int_equal(myth_pushdown_open(&states, mem, NULL), MYTH_OK);
    for (int k = 0; k < 2; k++) {
        const int32_t stop = myth_tokenizer_special(tok[k])->end_of_turn;
        assert_int_equal(myth_grammar_open(&masks[k], mem, tok[k], myth_tokenizer_n_vocab(tok[k]), &stop, 1, 32, NULL),
                         MYTH_OK);
    }
    const size_t a = myth_detok_most(tok[0]), b = myth_detok_most(tok[1]);
    piece = malloc(a > b ? a : b);
    assert_non_null(piece);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    free(piece);
    for (int k = 0; k < 2; k++) {
        myth_grammar_close(masks[k]);
        myth_tokenizer_close(tok[k]);
    }
    myth_pushdown_close(states);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

/* ---- random schemas ---- */

static const char *const words[] = {"a", "b c",  "x:y", "{k}",          "",     " pad", "\xc3\xa9",
                                    "[", "true", "1",   "<|tool_call>", "\"q\""};
static const char *any_word(uint64_t *rng) { return words[check_below(rng, sizeof(words) / sizeof(words[0]))]; }

static json_t *random_value(uint64_t *rng, int depth)
{
    json_t *v;
    switch (check_below(rng, depth > 1 ? 5 : 7)) {
    case 0: return json_null();
    case 1: return json_boolean(check_below(rng, 2));
    case 2: return json_integer((json_int_t)check_below(rng, 2000) - 1000);
    case 3: return json_real((double)check_below(rng, 1000) / 8 - 20);
    case 4: return json_string(any_word(rng));
    case 5:
        v = json_array();
        for (uint32_t i = check_below(rng, 3); i > 0; i--)
            json_array_append_new(v, random_value(rng, depth + 1));
        return v;
    default:
        v = json_object();
        for (uint32_t i = check_below(rng, 3); i > 0; i--)
            json_object_set_new(v, any_word(rng), random_value(rng, depth + 1));
        return v;
    }
}

static json_t *random_schema(uint64_t *rng, int depth);

static json_t *random_object(uint64_t *rng, int depth)
{
    json_t *properties = json_object(), *required = json_array();
    const uint32_t n = (depth > 0) + check_below(rng, 4);
    for (uint32_t i = 0; i < n; i++) {
        const char *key = any_word(rng);
        if (json_object_get(properties, key))
            continue;
        json_object_set_new(properties, key, random_schema(rng, depth + 1));
        if (check_below(rng, 2))
            json_array_append_new(required, json_string(key));
    }
    return json_pack("{s:s,s:o,s:o}", "type", "object", "properties", properties, "required", required);
}

static json_t *random_schema(uint64_t *rng, int depth)
{
    const int lo = (int)check_below(rng, 3), hi = lo + (int)check_below(rng, 3);
    json_t *list;
    switch (check_below(rng, depth > 2 ? 14 : 17)) {
    case 0: return json_pack("{s:s}", "type", "boolean");
    case 1: return json_pack("{s:s,s:i,s:i}", "type", "string", "minLength", lo, "maxLength", hi);
    case 2: return json_pack("{s:s,s:i,s:i}", "type", "integer", "minimum", -lo * 7, "maximum", hi * 50);
    case 3: return json_pack("{s:s}", "type", "number");
    case 4: return json_pack("{s:[s,s]}", "type", "string", "null");
    case 5: return json_pack("{s:s}", "$ref", "#/$defs/d");
    case 6: return check_below(rng, 2) ? json_true() : json_object();
    case 7: return json_pack("{s:o}", "const", random_value(rng, 0));
    case 8:
    case 9:
        list = json_array();
        for (int i = 0; i <= hi; i++)
            json_array_append_new(list, random_value(rng, 0));
        return json_pack("{s:o}", "enum", list);
    case 10: return json_pack("{s:s,s:s,s:i}", "type", "string", "pattern", "^[^a:\\]\"]*(xy)?$", "maxLength", 2 + hi);
    case 11: return json_pack("{s:s,s:{s:[s,s]}}", "type", "string", "not", "enum", any_word(rng), any_word(rng));
    case 12: return json_pack("{s:s,s:f,s:f}", "type", "number", "minimum", lo * -1.5, "maximum", hi * 2.25);
    case 13:
        return json_pack("{s:s,s:{s:[s,s,i]},s:b}", "type", "array", "items", "enum", "a", any_word(rng), 3,
                         "uniqueItems", 1);
    case 14:
        return json_pack("{s:s,s:o,s:i,s:i}", "type", "array", "items", random_schema(rng, depth + 1), "minItems", lo,
                         "maxItems", hi);
    case 15: return json_pack("{s:[o,o]}", "anyOf", random_schema(rng, depth + 1), random_schema(rng, depth + 1));
    default: return random_object(rng, depth);
    }
}

static json_t *random_tools(uint64_t *rng)
{
    static const char *const name[N_TOOL] = {"weather", "f-1", "a.b_c"};
    json_t *tools = json_array();
    for (uint32_t i = 0; i < N_TOOL; i++) {
        json_t *p = random_object(rng, 0);
        json_object_set_new(p, "$defs",
                            json_pack("{s:{s:s,s:{s:s}}}", "d", "type", "array", "items", "type", "integer"));
        json_t *f = json_pack("{s:s}", "name", name[i]);
        if (check_below(rng, 8))
            json_object_set_new(f, "parameters", p);
        else
            json_decref(p);
        json_array_append_new(tools, json_pack("{s:s,s:o}", "type", "function", "function", f));
    }
    return tools;
}

/* ---- whether a value is of a schema ---- */

static size_t n_chars(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static bool has_type(const json_t *v, const char *type)
{
    return !strcmp(type, "string")  ? json_is_string(v)
         : !strcmp(type, "integer") ? json_is_integer(v)
         : !strcmp(type, "number")  ? json_is_number(v)
         : !strcmp(type, "boolean") ? json_is_boolean(v)
         : !strcmp(type, "null")    ? json_is_null(v)
         : !strcmp(type, "array")   ? json_is_array(v)
                                    : json_is_object(v);
}

static bool is_equal(const json_t *a, const json_t *b)
{
    return json_is_number(a) && json_is_number(b) ? fabs(json_number_value(a) - json_number_value(b)) < 1e-9
                                                  : json_equal(a, b);
}

static bool is_of(const json_t *v, const json_t *s, const json_t *root)
{
    const json_t *type = json_object_get(s, "type"), *list, *one;
    const char *key;
    json_t *item;
    size_t i;
    bool is = true;
    if (json_is_true(s))
        return true;
    if (json_object_get(s, "$ref"))
        return is_of(v, json_object_get(json_object_get(root, "$defs"), "d"), root);
    if ((list = json_object_get(s, "anyOf")) != NULL)
        return is_of(v, json_array_get(list, 0), root) || is_of(v, json_array_get(list, 1), root);
    if ((one = json_object_get(s, "const")) != NULL)
        return is_equal(v, one);
    if ((list = json_object_get(s, "enum")) != NULL) {
        for (i = 0, is = false; i < json_array_size(list); i++)
            is |= is_equal(v, json_array_get(list, i));
        return is;
    }
    if (json_is_array(type))
        return has_type(v, "string") || has_type(v, "null");
    if (type && !has_type(v, json_string_value(type)))
        return false;
    if (json_is_string(v) && json_object_get(s, "pattern"))
        return strpbrk(json_string_value(v), "a:]\"") == NULL &&
               n_chars(json_string_value(v)) <= (size_t)json_integer_value(json_object_get(s, "maxLength"));
    list = json_object_get(json_object_get(s, "not"), "enum");
    for (i = 0; i < json_array_size(list); i++)
        is &= !is_equal(json_array_get(list, i), v);
    if (json_is_number(v) && json_is_real(one = json_object_get(s, "maximum")))
        return json_number_value(v) <= json_number_value(one) &&
               json_number_value(v) >= json_number_value(json_object_get(s, "minimum"));
    for (i = 0; json_object_get(s, "uniqueItems") && i < json_array_size(v); i++)
        for (size_t k = 0; k < i; k++)
            is &= !is_equal(json_array_get(v, i), json_array_get(v, k));
    if (json_is_string(v) && (one = json_object_get(s, "maxLength")) != NULL)
        is = n_chars(json_string_value(v)) <= (size_t)json_integer_value(one) &&
             n_chars(json_string_value(v)) >= (size_t)json_integer_value(json_object_get(s, "minLength"));
    if (json_is_integer(v) && (one = json_object_get(s, "maximum")) != NULL)
        is = json_integer_value(v) <= json_integer_value(one) &&
             json_integer_value(v) >= json_integer_value(json_object_get(s, "minimum"));
    if (json_is_array(v) && (one = json_object_get(s, "items")) != NULL) {
        const json_t *max = json_object_get(s, "maxItems");
        for (i = 0; i < json_array_size(v); i++)
            is &= is_of(json_array_get(v, i), one, root);
        is &= !max || (json_array_size(v) <= (size_t)json_integer_value(max) &&
                       json_array_size(v) >= (size_t)json_integer_value(json_object_get(s, "minItems")));
    }
    if (json_is_object(v) && (one = json_object_get(s, "properties")) != NULL) {
        json_object_foreach((json_t *)(uintptr_t)v, key, item) is &=
            json_object_get(one, key) && is_of(item, json_object_get(one, key), root);
        list = json_object_get(s, "required");
        for (i = 0; i < json_array_size(list); i++)
            is &= json_object_get(v, json_string_value(json_array_get(list, i))) != NULL;
    }
    return is;
}

/* ---- answers ---- */

static myth_gbnf *hold(int k, const char *tools, bool must, const char *only)
{
    const myth_special_ids *id = myth_tokenizer_special(tok[k]);
    const myth_calls_form form = {id->tool_call, id->tool_call_end, id->tool_quote, must, only};
    char *grammar = NULL;
    size_t n = 0;
    myth_gbnf *g = NULL;
    if (myth_json_schema_calls_to_gbnf(&grammar, &n, mem, tools, strlen(tools), &form, &err) == MYTH_OK &&
        myth_gbnf_parse(&g, mem, grammar, n, "calls", tok[k], &err) != MYTH_OK)
        fail_msg("%s\n%.*s", err.msg, (int)n, grammar);
    myth_free(mem, grammar);
    return g;
}

/* One of the allowed ids: marks and the end more often than one in all, or no string would end. */
static int32_t draw(int k, uint64_t *rng, bool may_stop)
{
    const myth_special_ids *id = myth_tokenizer_special(tok[k]);
    const uint32_t *mask = myth_grammar_mask(masks[k]), n = myth_tokenizer_n_vocab(tok[k]);
    const int32_t often[] = {id->tool_quote, id->tool_call, id->end_of_turn};
    uint32_t seen = 0;
    int32_t pick = -1;
    for (size_t i = 0; i < 3; i++)
        if (mask[often[i] / 32] >> (often[i] % 32) & 1 && check_below(rng, i == 2 ? 6 : 3) == 0)
            return often[i];
    for (uint32_t i = 0; i < n; i++)
        if (mask[i / 32] >> (i % 32) & 1 && (int32_t)i != id->channel_open && (int32_t)i != id->channel_close &&
            (may_stop || (int32_t)i != id->end_of_turn) && check_below(rng, ++seen) == 0)
            pick = (int32_t)i;
    return pick;
}

static const json_t *parameters_of(const json_t *tools, const char *name)
{
    for (size_t i = 0; i < json_array_size(tools); i++) {
        const json_t *f = json_object_get(json_array_get(tools, i), "function");
        if (strcmp(json_string_value(json_object_get(f, "name")), name) == 0)
            return json_object_get(f, "parameters") ? json_object_get(f, "parameters") : json_true();
    }
    fail_msg("a call of %s, which is no tool", name);
    return NULL;
}

static void check_calls(const json_t *tools, uint32_t n, const char *only)
{
    json_error_t e;
    json_t *calls = json_loads(json, 0, &e);
    if (!calls || json_array_size(calls) != n)
        fail_msg("%u calls: %s", n, json);
    for (size_t i = 0; i < n; i++) {
        const json_t *f = json_object_get(json_array_get(calls, i), "function");
        const char *name = json_string_value(json_object_get(f, "name"));
        const json_t *p = parameters_of(tools, name);
        if (only)
            assert_string_equal(name, only);
        if (!is_of(json_object_get(f, "arguments"), p, p))
            fail_msg("%s\nis not of\n%s", json, json_dumps(p, 0));
        if (json_is_true(p))
            assert_int_equal(json_object_size(json_object_get(f, "arguments")), 0);
    }
    json_decref(calls);
}

static void random_answers(void **state)
{
    uint64_t rng = check_seed();
    uint32_t n_call = 0, n_cut = 0, n_text = 0;
    (void)state;
    for (uint32_t round = 0; round < (check_is_full() ? 6000 : 240); round++) {
        const int k = (int)(round % 2), how = (int)check_below(&rng, 3);
        const uint32_t most = check_below(&rng, 3) ? IDS : 1 + check_below(&rng, IDS);
        json_t *tools = random_tools(&rng);
        char *declared = json_dumps(tools, 0);
        const char *only = how == 2 ? "f-1" : NULL;
        const myth_special_ids *id = myth_tokenizer_special(tok[k]);
        int32_t ids[IDS];
        uint32_t n = 0, n_begun = 0;
        bool is_open = false;
        myth_automaton a;
        myth_gbnf *g = hold(k, declared, how > 0, only);
        if (!g)
            fail_msg("%s\n%s", err.msg, declared);
        myth_pushdown_use(states, g, &a);
        myth_grammar_start(masks[k], &a);
        while (n < most) {
            const int32_t next = draw(k, &rng, n > 0);
            if (next < 0) /* one call of one tool: nothing can follow */
                assert_true(myth_grammar_may_end(masks[k]));
            if (next < 0 || next == id->end_of_turn)
                break;
            assert_true(myth_grammar_accept(masks[k], next));
            n_begun += next == id->tool_call;
            is_open = next == id->tool_call || (is_open && next != id->tool_call_end);
            ids[n++] = next;
        }
        assert_false(myth_pushdown_is_full(states));
        const bool is_whole = myth_grammar_may_end(masks[k]);
        assert_int_equal(is_whole, how == 0 ? !is_open : n_begun > 0 && !is_open);
        if (how == 2)
            assert_true(n_begun <= 1);
        myth_answer_ids answer = {tok[k], {.open = -1, .close = -1}, ids, n, piece};
        myth_jout_block b;
        size_t n_json, n_rest;
        myth_channel_start(&answer.channel, tok[k], NULL, 0);
        myth_calls_print(&answer, myth_jout_block_begin(&b, json, sizeof(json)), 1);
        assert_int_equal(myth_jout_block_end(&b, &n_json), MYTH_OK);
        json[n_json - 1] = '\0';
        n_rest = myth_calls_text(&answer, text, sizeof(text));
        check_calls(tools, n_begun - is_open, only);
        assert_int_equal(myth_calls_count(&answer), n_begun - is_open);
        if (how > 0)
            assert_true(is_whole ? n_rest == 0 : n_begun == 0 || n_rest > 0); /* a call that was cut is text */
        n_call += n_begun - is_open;
        n_cut += is_open;
        n_text += how == 0 && n_rest > 0;
        myth_gbnf_close(g);
        free(declared);
        json_decref(tools);
    }
    printf("%u calls, %u cut, %u answers with text\n", n_call, n_cut, n_text);
    assert_true(n_call > 100 && n_cut > 0 && n_text > 0);
}

/* ---- the form ---- */

/* Whether the grammar takes an answer with Gemma 4's marks, and it may end. */
static bool takes(const char *tools, bool must, const char *answer)
{
    static int32_t ids[4096];
    myth_automaton a;
    bool is = true;
    myth_gbnf *g = hold(0, tools, must, NULL);
    if (!g)
        fail_msg("%s", err.msg);
    myth_pushdown_use(states, g, &a);
    myth_grammar_start(masks[0], &a);
    const size_t n = encode(tok[0], mem, MYTH_TOK_SPECIAL, answer, strlen(answer), ids);
    for (size_t i = 0; i < n && is; i++)
        is = myth_grammar_accept(masks[0], ids[i]);
    is = is && myth_grammar_may_end(masks[0]);
    myth_gbnf_close(g);
    return is;
}

#define Q              "<|\"|>"
#define CALL(body)     "<|tool_call>call:" body "<tool_call|>"
#define TOOL(name, ps) "{\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"parameters\":" ps "}}"
#define OBJECT(props)  "{\"type\":\"object\",\"properties\":{" props "}}"

static void the_form(void **state)
{
    static const char tools[] =
        "[" TOOL("f", OBJECT("\"a\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"}")) "," TOOL(
            "g", OBJECT("\"x y\":{\"enum\":[\"k\",2,[true,null],{\"o\":1.5}]},\"{\":{\"type\":\"array\"}")) "]";
    static const struct {
        const char *answer;
        bool must, is;
    } row[] =
        {
            {CALL("f{a:" Q "x" Q ",n:3}"), true, true},
            {CALL("f{}") CALL("g{}"), true, true},
            {CALL("f{n:3}"), true, true},
            {CALL("f{n:3,a:" Q "x" Q "}"), true, false}, /* the order of the schema */
            {CALL("f{a:x}"), true, false},
            {CALL("f{n: 3}"), true, false},
            {CALL("f{n:3.5}"), true, false},
            {CALL("f{n:" Q "3" Q "}"), true, false},
            {CALL("f{a:" Q "<|tool_call>" Q "}"), true, false}, /* encoded as the mark */
            {CALL("f{a:" Q "},:{[\n\\\"" Q "}"), true, true},
            {CALL("h{}"), true, false},
            {CALL("f"), true, false},
            {"ok", true, false},
            {"ok " CALL("f{}"), true, false},
            {CALL("f{}") " ok", true, false},
            {"call:f{}", true, false},
            {"ok " CALL("f{}") " and " CALL("g{}") " call:q", false, true},
            {"ok <|tool_call>", false, false},
            {"ok " CALL("h{}"), false, false},
            {"", false, true},
            {"", true, false},
            {CALL("g{x y:" Q "k" Q "}"), true, true},
            {CALL("g{x y:2}"), true, true},
            {CALL("g{x y:[true,null]}"), true, true},
            {CALL("g{x y:{o:1.5}}"), true, true},
            {CALL("g{x y:{}}"), true, false},
            {CALL("g{" Q "{" Q ":[1," Q "a" Q ",false]}"), true, true},
            {CALL("g{{:[]}"), true, false},
        },
      choice[] = {
          {CALL("f{way:" Q "by id" Q ",id:3}"), true, true},
          {CALL("f{way:" Q "by name" Q ",name:" Q "a\"b" Q "}"), true, true},
          {CALL("f{way:" Q "by id" Q "}"), true, false},
          {CALL("f{way:" Q "by name" Q ",id:3}"), true, false},
          {CALL("f{way:" Q "by name" Q ",name:" Q "ab" Q "}"), true, false},
          {CALL("f{way:" Q "by name" Q ",name:" Q "a\\\"b" Q "}"), true, false}, /* a call writes no escapes */
      };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        if (takes(tools, row[i].must, row[i].answer) != row[i].is)
            fail_msg("%s is %s", row[i].answer, row[i].is ? "not taken" : "taken");
    static const char ways[] = "[" TOOL(
        "f",
        "{\"type\":\"object\",\"properties\":{\"way\":{\"enum\":[\"by id\",\"by name\"]},\"id\":{\"type\":"
        "\"integer\"},\"name\":{\"pattern\":\"^a[\\\"]b$\"}},\"required\":[\"way\"],\"if\":{\"properties\":{"
        "\"way\":{\"const\":\"by id\"}}},\"then\":{\"required\":[\"id\"]},\"else\":{\"required\":[\"name\"]}}") "]";
    for (size_t i = 0; i < sizeof(choice) / sizeof(choice[0]); i++)
        if (takes(ways, true, choice[i].answer) != choice[i].is)
            fail_msg("%s is %s", choice[i].answer, choice[i].is ? "not taken" : "taken");
    assert_true(takes("", false, "any text"));
    assert_false(takes("", false, CALL("f{}")));
}

static void what_is_refused(void **state)
{
    static const struct {
        const char *tools, *only, *why;
        myth_status code;
    } row[] = {
        {"[]", NULL, "the chat has no tools to call; declare them in \"tools\"", MYTH_EARG},
        {"", NULL, "the chat has no tools to call", MYTH_EARG},
        {"[" TOOL("f", "{}") "]", "g", "\"g\" is none of the tools; give one of them", MYTH_EARG},
        {"[" TOOL("f", "{}") "," TOOL("f", "{}") "]", NULL, "\"f\" is declared twice", MYTH_EFORMAT},
        {"[" TOOL("a:b", "{}") "]", NULL, "\"a:b\": a call cannot have this name", MYTH_EUNSUPPORTED},
        {"[" TOOL("", "{}") "]", NULL, "\"\": a call cannot have this name", MYTH_EUNSUPPORTED},
        {"[{\"function\":{}}]", NULL, "tools: item 0: expected {\"function\"", MYTH_EFORMAT},
        {"{}", NULL, "tools: expected a list", MYTH_EFORMAT},
        {"[", NULL, "tools:1:", MYTH_EFORMAT},
        {"[" TOOL("f", OBJECT("\"p\":{\"type\":\"string\",\"pattern\":\"^(?=x)\"}")) "]", NULL,
         "tools: f: #/properties/p: \"pattern\", character 2: a look ahead or behind is not supported",
         MYTH_EUNSUPPORTED},
        {"[" TOOL("f", OBJECT("\"p\":{\"pattern\":\"^\\\\x00$\"}")) "]", NULL,
         "\"pattern\", character 2: no character of this can stand in a call", MYTH_EUNSUPPORTED},
        {"[" TOOL("f", OBJECT("\"p\":{\"type\":\"object\"}")) "]", NULL,
         "tools: f: #/properties/p: an object in a call whose keys are not known; name them in \"properties\"",
         MYTH_EUNSUPPORTED},
        {"[" TOOL("f", OBJECT("\"p\":{\"additionalProperties\":{\"type\":\"string\"}}")) "]", NULL,
         "whose keys are not known", MYTH_EUNSUPPORTED},
        {"[" TOOL("f", "{\"type\":\"string\"}") "]", NULL, "the arguments of a call are an object", MYTH_EUNSUPPORTED},
        {"[" TOOL("f", "{\"enum\":[1]}") "]", NULL, "the arguments of a call are an object", MYTH_EUNSUPPORTED},
        {"[" TOOL("f", "{\"properties\":{\"p\":{\"$ref\":\"#/$defs/t\"}},\"$defs\":{\"t\":{\"items\":{\"$ref\":\"#/"
                       "$defs/t\"}}}}") "]",
         NULL, "arguments nest deeper than 16 here, or without an end", MYTH_ELIMIT},
        {"[" TOOL("f", OBJECT("\"p\":{\"$ref\":\"#\"}")) "]", NULL, "arguments nest deeper than 16 here", MYTH_ELIMIT},
    };
    char deep[1024], tools[2048];
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char *grammar = NULL;
        size_t n = 0;
        const myth_calls_form form = {1, 2, 3, true, row[i].only};
        const myth_status st =
            myth_json_schema_calls_to_gbnf(&grammar, &n, mem, row[i].tools, strlen(row[i].tools), &form, &err);
        if (st != row[i].code || grammar || !strstr(err.msg, row[i].why))
            fail_msg("%s\n%d %s\nnot: %s", row[i].tools, st, err.msg, row[i].why);
    }
    /* Lists as deep as calls are read are taken, deeper ones are not. */
    for (int n = MYTH_CALL_DEPTH - 2; n <= MYTH_CALL_DEPTH - 1; n++) {
        deep[0] = '\0';
        for (int i = 0; i < n; i++)
            strcat(deep, "{\"type\":\"array\",\"items\":");
        strcat(deep, "{\"type\":\"integer\"}");
        for (int i = 0; i < n; i++)
            strcat(deep, "}");
        snprintf(tools, sizeof(tools), "[" TOOL("f", OBJECT("\"p\":%s")) "]", deep);
        myth_gbnf *g = hold(0, tools, true, NULL);
        assert_true((g != NULL) == (n == MYTH_CALL_DEPTH - 2));
        myth_gbnf_close(g);
    }
    char *keys = malloc(1 << 16), *at = keys;
    assert_non_null(keys);
    at += sprintf(at, "[{\"function\":{\"name\":\"f\",\"parameters\":{\"properties\":{\"k\":{}");
    for (int i = 0; i < 900; i++)
        at += sprintf(at, ",\"key%d\":{}", i);
    strcpy(at, "}}}}]");
    assert_null(hold(0, keys, true, NULL));
    assert_non_null(strstr(err.msg, "names of arguments of more than 4096 bytes"));
    free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_answers),
        cmocka_unit_test(the_form),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
