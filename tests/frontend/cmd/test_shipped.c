/* test_shipped.c - generate and embed as users run them, with no flag for the engine, and with --exact, beside what
 * transformers computes with the two models that ship (tests/golden/make_shipped.py). The tolerances are those of other
 * models, other weights and other texts (test_model_golden, test_embed): these have had no part in setting them. */
#include "tests/frontend/cli/cli_run.h"

#include <math.h>

#define SHIPPED "tests/golden/shipped/"

static cli_result r;

/* The rows of a golden file. */
static json_t *read_rows(const char *name, size_t n_least)
{
    char path[1024];
    json_t *rows = json_array(), *row;
    FILE *f = fopen(check_path(path, sizeof(path), name), "r");
    assert_non_null(f);
    while ((row = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL)))
        json_array_append_new(rows, row);
    fclose(f);
    assert_true(json_array_size(rows) >= n_least);
    return rows;
}

/* Leading ids that are those of transformers. */
static size_t n_same(const json_t *row, const char *flags)
{
    char line[512], path[256];
    size_t i = 0;
    snprintf(path, sizeof(path), "%s/prompt", cli_dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(json_string_value(json_object_get(row, "prompt")), f);
    fclose(f);
    const json_t *want = json_object_get(row, "ids");
    snprintf(line, sizeof(line),
             "\"$M\" generate -m models/mythos-inspect.gguf -f \"$D/prompt\" -n %zu --ignore-eos "
             "--json -q %s",
             json_array_size(want), flags);
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
    json_t *answer = json_loads(r.out, 0, NULL);
    const json_t *ids = json_object_get(answer, "ids");
    assert_int_equal(json_array_size(ids), json_array_size(want));
    while (i < json_array_size(want) && json_equal(json_array_get(ids, i), json_array_get(want, i)))
        i++;
    json_decref(answer);
    return i;
}

/* By default as far as transformers is sure: ahead of the second best by twice what the logits may be apart. */
static void generate_chooses_as_transformers(void **state)
{
    (void)state;
    json_t *rows = read_rows(SHIPPED "generate.jsonl", 6), *row;
    size_t i, n_sure = 0;
    json_array_foreach(rows, i, row)
    {
        const size_t sure = (size_t)json_integer_value(json_object_get(row, "sure")), same = n_same(row, "");
        if (same < sure)
            fail_msg("prompt %zu: %zu of %zu ids are those of transformers", i, same, sure);
        n_sure += sure;
        assert_int_equal(n_same(row, "--exact"), json_array_size(json_object_get(row, "ids")));
    }
    assert_true(n_sure >= 100);
    json_decref(rows);
}

/* Largest difference of a value, of the largest value of the vector. */
static double apart(const json_t *got, const json_t *want)
{
    double most = 0.0, scale = 0.0;
    size_t i;
    json_t *v;
    assert_int_equal(json_array_size(got), json_array_size(want));
    json_array_foreach(want, i, v)
    {
        scale = fmax(scale, fabs(json_number_value(v)));
        most = fmax(most, fabs(json_number_value(json_array_get(got, i)) - json_number_value(v)));
    }
    return most / scale;
}

static void embed_gives_the_vectors_of_transformers(void **state)
{
    (void)state;
    json_t *rows = read_rows(SHIPPED "embed.jsonl", 8), *row;
    for (int is_exact = 0; is_exact < 2; is_exact++) {
        size_t i;
        char line[512];
        snprintf(line, sizeof(line), "\"$M\" embed -m models/mythos-embed.gguf --jsonl -q %s " SHIPPED "embed.jsonl",
                 is_exact ? "--exact" : "");
        cli_shell(&r, line);
        assert_int_equal(r.code, 0);
        const char *at = r.out;
        double most = 0.0;
        json_array_foreach(rows, i, row)
        {
            json_t *answer = json_loads(at, JSON_DISABLE_EOF_CHECK, NULL);
            most = fmax(most, apart(json_object_get(answer, "embedding"), json_object_get(row, "vector")));
            json_decref(answer);
            assert_non_null(at = strchr(at, '\n'));
            at++;
        }
        printf("embed%s: %.1e apart\n", is_exact ? " --exact" : "", most);
        assert_true(most <= (is_exact ? 1e-4 : 2e-2));
    }
    json_decref(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generate_chooses_as_transformers),
        cmocka_unit_test(embed_gives_the_vectors_of_transformers),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
