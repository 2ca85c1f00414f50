/* grammars.c - texts to programs; the states and masks of answers. */
#include "grammars.h"

#include "engine/base/hash.h"
#include "json_schema.h"

#include <string.h>

enum { N_MASK = 32 }; /* kept for each answer: the states of a list of records, with room */

const myth_option myth_options_grammar[MYTH_N_OPTIONS_GRAMMAR] = {
    {"grammar", NULL, MYTH_OPT_TEXT, "TEXT", offsetof(myth_grammar_flags, grammar), NULL, 0, 0,
     "allow only answers of this grammar (GBNF, as in llama.cpp): root ::= \"yes\" | \"no\""},
    {"grammar-file", NULL, MYTH_OPT_TEXT, "FILE", offsetof(myth_grammar_flags, grammar_file), NULL, 0, 0,
     "the same, read from a file (- = standard input)"},
    {"json-schema", "-j", MYTH_OPT_TEXT, "TEXT", offsetof(myth_grammar_flags, schema), NULL, 0, 0,
     "allow only JSON of this schema; {} = any JSON"},
    {"json-schema-file", "-jf", MYTH_OPT_TEXT, "FILE", offsetof(myth_grammar_flags, schema_file), NULL, 0, 0,
     "the same, read from a file (- = standard input)"},
};

static myth_status parse_schema(myth_gbnf **out, myth_mem *mem, const char *text, size_t len, const char *name,
                                myth_error *err)
{
    char *grammar = NULL;
    size_t n = 0;
    myth_error own = {0};
    myth_status st = myth_json_schema_to_gbnf(&grammar, &n, mem, text, len, name, err);
    if (st != MYTH_OK)
        return st;
    st = myth_gbnf_parse(out, mem, grammar, n, name, NULL, &own);
    myth_free(mem, grammar);
    if (st == MYTH_EFORMAT) /* its form is right, so it is the schema that begins with itself or has no end */
        return myth_fail(err, MYTH_EFORMAT, "%.60s: a part of the schema refers to itself, at once or in every value",
                         name);
    return st == MYTH_OK ? MYTH_OK : myth_fail_as(err, &own);
}

myth_status myth_grammars_read(myth_gbnf **out, uint64_t *hash, myth_mem *mem, const myth_grammar_flags *flags,
                               const myth_tokenizer *tok, myth_error *err)
{
    const char *const given[] = {flags->grammar, flags->grammar_file, flags->schema, flags->schema_file};
    static const char *const name[] = {"--grammar", NULL, "--json-schema", NULL};
    int at = -1;
    *out = NULL;
    *hash = 0;
    for (int i = 0; i < 4; i++) {
        if (given[i] && at >= 0)
            return myth_fail(err, MYTH_EARG, "--%s and --%s: give one of them", myth_options_grammar[at].name,
                             myth_options_grammar[i].name);
        at = given[i] ? i : at;
    }
    if (at < 0)
        return MYTH_OK;
    unsigned char *file = NULL;
    const char *text = given[at];
    size_t len = strlen(text);
    if (!name[at]) {
        const myth_status st =
            myth_cli_read(&file, &len, mem, given[at], at < 2 ? MYTH_GBNF_BYTES : MYTH_JSON_SCHEMA_BYTES, err);
        if (st != MYTH_OK)
            return st;
        text = (const char *)file;
    }
    const char *const called = name[at] ? name[at] : given[at];
    const myth_status st = at < 2 ? myth_gbnf_parse(out, mem, text, len, called, tok, err)
                                  : parse_schema(out, mem, text, len, called, err);
    *hash = myth_fnv1a(MYTH_FNV1A, text, len);
    myth_free(mem, file);
    return st;
}

myth_status myth_grammars_of_line(myth_gbnf **out, myth_mem *mem, const myth_json_tree *tree,
                                  const myth_json_node *object, const myth_tokenizer *tok, myth_error *err)
{
    const myth_json_node *grammar = object ? myth_json_tree_get(tree, object, "grammar") : NULL,
                         *schema = object ? myth_json_tree_get(tree, object, "json_schema") : NULL;
    *out = NULL;
    if (grammar && grammar->type == MYTH_JSON_NULL)
        grammar = NULL;
    if (schema && schema->type == MYTH_JSON_NULL)
        schema = NULL;
    if (grammar && schema)
        return myth_fail(err, MYTH_EFORMAT, "\"grammar\" and \"json_schema\": give one of them");
    if (schema)
        return parse_schema(out, mem, schema->span, schema->n_span, "\"json_schema\"", err);
    if (!grammar)
        return MYTH_OK;
    if (grammar->type != MYTH_JSON_STRING)
        return myth_fail(err, MYTH_EFORMAT, "\"grammar\": expected a string");
    return myth_gbnf_parse(out, mem, grammar->text.text, grammar->text.len, "\"grammar\"", tok, err);
}

static bool is_held_to_calls(const char *choice) { return strcmp(choice, "auto") != 0 && strcmp(choice, "none") != 0; }

myth_status myth_grammars_check_choice(const char *choice, bool has_grammar, bool thinks, uint32_t n_think,
                                       myth_error *err)
{
    if (choice && has_grammar)
        return myth_fail(err, MYTH_EARG,
                         "--tool-choice holds answers to a grammar of its own; leave out the other one");
    if (choice && thinks && (n_think || is_held_to_calls(choice)))
        return myth_fail(err, MYTH_EARG,
                         "--tool-choice %.40s: thoughts go with auto and none, and --reasoning-budget -1", choice);
    return MYTH_OK;
}

myth_status myth_grammars_of_tools(myth_gbnf **out, const myth_model *m, const char *choice, myth_str tools,
                                   myth_error *err)
{
    const myth_special_ids *id = m->tokenizer ? myth_tokenizer_special(m->tokenizer) : NULL;
    char *grammar = NULL;
    size_t n = 0;
    myth_error own = {0};
    *out = NULL;
    if (!id || id->tool_call < 0 || id->tool_call_end < 0 || id->tool_quote < 0)
        return myth_fail(err, MYTH_EUNSUPPORTED, "--tool-choice: %.120s has no marks for calls of tools; leave it out",
                         myth_model_name(m));
    const bool is_free = !is_held_to_calls(choice), is_none = strcmp(choice, "none") == 0;
    const myth_calls_form form = {
        .call = id->tool_call,
        .call_end = id->tool_call_end,
        .quote = id->tool_quote,
        .must = !is_free,
        .only = is_free || strcmp(choice, "required") == 0 ? NULL : choice,
    };
    if (myth_json_schema_calls_to_gbnf(&grammar, &n, m->mem, tools.text, is_none ? 0 : tools.len, &form, &own) ==
            MYTH_OK &&
        myth_gbnf_parse(out, m->mem, grammar, n, "tools", m->tokenizer, &own) == MYTH_EFORMAT)
        myth_fail(&own, MYTH_EFORMAT, "tools: a part of the parameters refers to itself at once");
    myth_free(m->mem, grammar);
    return own.code == MYTH_OK ? MYTH_OK : myth_fail(err, own.code, "--tool-choice %.40s: %.200s", choice, own.msg);
}

/* ---- answers ---- */

typedef struct {
    myth_grammar *masks;
    myth_pushdown *states;
} answer;

struct myth_grammars {
    myth_mem *mem;
    uint32_t n;
    answer *answer; /* [n] the first one's masks have the tokens of all */
};

uint64_t myth_grammars_bytes(const myth_model *m, uint32_t n)
{
    const uint32_t n_vocab = m->config.n_vocab;
    if (!m->tokenizer || n == 0)
        return 0;
    return sizeof(myth_grammars) + n * (sizeof(answer) + myth_pushdown_bytes()) +
           myth_grammar_plan(m->tokenizer, n_vocab, N_MASK) +
           (n > 1 ? (n - 1) * myth_grammar_plan_second(m->tokenizer, n_vocab, N_MASK) : 0);
}

myth_status myth_grammars_open(myth_grammars **out, const myth_model *m, myth_mem *mem, const int32_t *stop_ids,
                               int n_stop, uint32_t n, myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = NULL;
    if (!m->tokenizer)
        return myth_fail(err, MYTH_EUNSUPPORTED,
                         "%.200s has no tokenizer, which a grammar needs; leave the grammar out",
                         myth_weights_path(m->weights));
    myth_grammars *g = myth_alloc(mem, MYTH_MEM_OTHER, "grammars", sizeof(*g));
    if (g)
        *g = (myth_grammars){
            .mem = mem, .n = n, .answer = myth_alloc_n(mem, MYTH_MEM_OTHER, "grammars", n, sizeof(answer))};
    if (!g || !g->answer) {
        myth_grammars_close(g);
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %u grammars", n);
    }
    for (uint32_t i = 0; i < n && st == MYTH_OK; i++) {
        answer *a = &g->answer[i];
        st = i == 0 ? myth_grammar_open(&a->masks, mem, m->tokenizer, m->config.n_vocab, stop_ids, n_stop, N_MASK, err)
                    : myth_grammar_open_second(&a->masks, g->answer[0].masks, N_MASK, err);
        if (st == MYTH_OK)
            st = myth_pushdown_open(&a->states, mem, err);
    }
    if (st != MYTH_OK)
        myth_grammars_close(g);
    else
        *out = g;
    return st;
}

void myth_grammars_close(myth_grammars *g)
{
    if (!g)
        return;
    myth_mem *mem = g->mem;
    for (uint32_t i = g->answer ? g->n : 0; i-- > 0;) {
        myth_grammar_close(g->answer[i].masks);
        myth_pushdown_close(g->answer[i].states);
    }
    myth_free(mem, g->answer);
    myth_free(mem, g);
}

myth_grammar *myth_grammars_start(myth_grammars *g, uint32_t i, const myth_gbnf *program)
{
    const answer *a = &g->answer[i];
    myth_automaton automaton;
    myth_pushdown_use(a->states, program, &automaton);
    myth_grammar_start(a->masks, &automaton);
    return a->masks;
}

const char *myth_grammars_why(const myth_grammars *g, uint32_t i)
{
    return myth_pushdown_is_full(g->answer[i].states)
             ? "the grammar needs more states than fit: it reads this text in too many ways, or too deep inside itself"
             : "no token of the model spells what the grammar wants next";
}
