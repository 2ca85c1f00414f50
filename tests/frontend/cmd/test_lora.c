/* test_lora.c - --lora where a model runs: the answers of the model that convert makes of both, the bytes of the plan,
 * the adapter in a report's name of the model and in JSON, and which adapters are refused. */
#include "tests/frontend/cli/cli_run.h"
#include "tests/support/adapter.h"

static cli_result r;

#define LORA "--lora $D/a.gguf "

static int begin(void **state)
{
    uint64_t rng = check_seed();
    char path[256];
    if (cli_begin(state) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/a.gguf", cli_dir);
    adapter_make_of("random:gemma3-tiny:f32", path, 4, NULL, &rng);
    snprintf(path, sizeof(path), "%s/b.gguf", cli_dir);
    adapter_make_of("random:gemma3-tiny:f32", path, 2, "ffn_", &rng);
    return 0;
}

/* Ids and logits of the best of every token. */
static uint32_t best_of(double logit[8][3], int id[8][3], const char *flags)
{
    char line[600];
    snprintf(line, sizeof(line), "logits --ids 2,10,20,30,40 --top-k 3 --json %s", flags);
    json_t *j = cli_json(&r, line), *of_tokens = json_is_array(j) ? j : json_object_get(j, "logits");
    const uint32_t n = (uint32_t)json_array_size(of_tokens);
    for (uint32_t t = 0; t < n && t < 8; t++)
        for (uint32_t k = 0; k < 3; k++) {
            const json_t *it = json_array_get(json_array_get(of_tokens, t), k);
            id[t][k] = (int)json_integer_value(json_object_get(it, "id"));
            logit[t][k] = json_number_value(json_object_get(it, "logit"));
        }
    json_decref(j);
    return n;
}

static void answers_are_those_of_the_sum(void **state)
{
    (void)state;
    double sum[8][3], low[8][3], plain[8][3];
    int id[3][8][3];
    cli_expect(&r, "convert " TINY LORA "--lora $D/b.gguf:0.5 --type f32 -o $D/sum.gguf", 0);
    const uint32_t n = best_of(sum, id[0], "-m $D/sum.gguf");
    assert_int_equal(best_of(low, id[1], TINY LORA "--lora $D/b.gguf:0.5"), n);
    assert_non_null(strstr(r.err, "a.gguf: added to "));
    assert_int_equal(best_of(plain, id[2], TINY), n);
    double apart = 0, moved = 0;
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t k = 0; k < 3; k++) { /* sorted, so that neighbours that change places do not matter */
            apart = fmax(apart, fabs(sum[t][k] - low[t][k]));
            moved = fmax(moved, fabs(sum[t][k] - plain[t][k]));
        }
    assert_true(n == 5 && apart < 1e-2 && moved > 0.05 && moved > 10 * apart);
}

/* The peak of every class but staging is planned to the byte, and a plan without running says the same. */
static void the_plan_counts_adapters(void **state)
{
    (void)state;
    static char text[1 << 14];
    const char *name;
    json_t *c, *now = cli_json(&r, "plan " TINY LORA "--json"), *was = cli_json(&r, "plan " TINY "--json");
    assert_true(cli_number(now, "classes.weights") > cli_number(was, "classes.weights"));
    cli_expect(&r, "generate " TINY LORA "--ids 2,10,20 -n 6 --ignore-eos --mem-report $D/mem", 0);
    cli_slurp(text, sizeof(text), "mem");
    json_t *mem = json_loads(text, 0, NULL), *classes = json_object_get(mem, "classes");
    assert_true(json_object_size(classes) > 5);
    json_object_foreach(classes, name, c)
    {
        char path[64];
        snprintf(path, sizeof(path), "classes.%s", name);
        const double planned = cli_number(c, "planned");
        if (strcmp(name, "staging") != 0)
            assert_true(planned == cli_number(c, "peak") && planned == cli_number(now, path));
        assert_true(cli_number(c, "live") == 0);
    }
    json_decref(mem);
    json_decref(now);
    json_decref(was);
}

static void reports_name_it(void **state)
{
    (void)state;
    json_t *j = cli_json(&r, "info " TINY LORA "--lora $D/b.gguf:-2 --json");
    const char *name = json_string_value(json_object_get(j, "model"));
    assert_non_null(name);
    assert_non_null(strstr(name, " + a.gguf + b.gguf:-2"));
    json_decref(j);
}

/* The adapters of a line of JSON are those of --lora, in their order; returns the hash of the second. */
static uint64_t check_adapters(const char *line, const char *args)
{
    json_error_t e;
    json_t *j = json_loads(line, JSON_DISABLE_EOF_CHECK, &e);
    const json_t *list = json_object_get(j, "adapters");
    uint64_t hash[2];
    char want[64];
    if (json_array_size(list) != 2)
        fail_msg("%s\n  %s", args, line);
    for (size_t i = 0; i < 2; i++) {
        const json_t *a = json_array_get(list, i);
        snprintf(want, sizeof(want), "%s/%s", cli_dir, i ? "b.gguf" : "a.gguf");
        assert_string_equal(json_string_value(json_object_get(a, "path")), want);
        assert_true(json_number_value(json_object_get(a, "scale")) == (i ? -0.5 : 1.0));
        assert_int_equal(json_object_size(a), 3);
        hash[i] = strtoull(json_string_value(json_object_get(a, "hash")), NULL, 16);
    }
    assert_true(hash[0] != hash[1]);
    json_decref(j);
    return hash[1];
}

static void json_names_them(void **state)
{
    (void)state;
#define BOTH TINY LORA "--lora $D/b.gguf:-0.5 "
    static const char *const args[] = {
        "generate " BOTH "--json -p a -n 2",
        "logits " BOTH "--json --top-k 1 --ids 2",
        "plan " BOTH "--json",
        "chat " BOTH "--json -n 2 --messages $D/talk.json",
        "generate " BOTH "--json --jsonl $D/p.jsonl -n 2 -o $D/rows.jsonl",
    };
    uint64_t hash = 0;
    cli_shell(&r, "echo '\"a\"' >$D/p.jsonl; echo '[{\"role\":\"user\",\"content\":\"a\"}]' >$D/talk.json");
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
        cli_expect(&r, args[i], 0);
        const uint64_t own = check_adapters(r.out, args[i]);
        assert_true(i == 0 || own == hash);
        hash = own;
    }
    cli_slurp(r.out, sizeof(r.out), "rows.jsonl");
    assert_true(check_adapters(r.out, "a row of --jsonl") == hash);
    cli_expect(&r, "generate " TINY "--json -p a -n 2", 0);
    assert_null(strstr(r.out, "adapters"));
}

/* A kept answer is of the same adapters at the same scale only. */
static void kept_answers_are_of_the_same_adapters(void **state)
{
    (void)state;
    static const struct {
        const char *flags;
        bool is_kept;
    } run[] = {{"", false},
               {"", true},
               {LORA, false},
               {LORA, true},
               {"--lora $D/a.gguf:0.5", false},
               {"--lora $D/b.gguf", false},
               {"", true}};
    for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++) {
        char line[512];
        snprintf(line, sizeof(line),
                 "printf 'int add(int a)\\n{\\n    return a;\\n}\\n' >$D/f.c && XDG_CACHE_HOME=$D/cache "
                 "XDG_STATE_HOME=$D/state $M inspect-file $D/f.c " TINY "--json --cache --max-new-tokens 6 %s",
                 run[i].flags);
        cli_shell(&r, line);
        assert_int_equal(r.code, 3);
        if (!strstr(r.err, "answers from earlier runs") == run[i].is_kept)
            fail_msg("run %zu: %s", i, r.err);
        assert_true((strstr(r.out, " + ") != NULL) == (run[i].flags[0] != '\0'));
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    cli_expect(&r, "generate -m random:gemma2-tiny:f32 -p x " LORA, 65);
    assert_non_null(strstr(r.err, "an adapter of gemma3, the model is gemma2"));
    cli_expect(&r, "convert " TINY "--type f32 -o $D/m.gguf", 0);
    cli_expect(&r, "plan " TINY "--lora $D/m.gguf", 65);
    assert_non_null(strstr(r.err, "no adapter"));
    cli_expect(&r, "logits " TINY "--ids 2 --top-k 1 --lora $D/none:2", 66);
    assert_non_null(strstr(r.err, "none: no such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_the_sum),
        cmocka_unit_test(the_plan_counts_adapters),
        cmocka_unit_test(reports_name_it),
        cmocka_unit_test(json_names_them),
        cmocka_unit_test(kept_answers_are_of_the_same_adapters),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
