/* test_default_embedder.c - the embedder that ships, with questions and functions written for this test
 * (tests/corpus/embed): its size, vectors of length 1 with any prompt, and how many questions are nearest to their own
 * function. With a broken export, tokenizer or dense layer that would be chance, one of 24. */
#include "tests/frontend/cli/cli_run.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MODEL "models/mythos-embed.gguf"
#define PAIRS "tests/corpus/embed/pairs.jsonl"

enum { PAIR_MAX = 64, DIM = 256, HALF = 128, LINE_MAX_BYTES = 1 << 15, BYTES_MAX = 12 << 20 };

static cli_result r;

/* Writes one side of the pairs as JSON lines for embed and returns how many there are. */
static uint32_t write_side(const char *key, const char *name)
{
    char path[1024], line[LINE_MAX_BYTES];
    uint32_t n = 0;
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *to = fopen(path, "w"), *from = fopen(check_path(path, sizeof(path), PAIRS), "r");
    assert_true(from && to);
    while (fgets(line, sizeof(line), from)) {
        json_t *row = json_loads(line, 0, NULL);
        assert_non_null(row);
        char *text = json_dumps(json_object_get(row, key), JSON_ENCODE_ANY);
        assert_non_null(text);
        fprintf(to, "%s\n", text);
        free(text);
        json_decref(row);
        n++;
    }
    fclose(from);
    fclose(to);
    return n;
}

static void read_side(float v[][DIM], uint32_t n, uint32_t dim, const char *name)
{
    char path[1024], line[LINE_MAX_BYTES];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (uint32_t i = 0; i < n; i++) {
        assert_non_null(fgets(line, sizeof(line), f));
        json_t *row = json_loads(line, 0, NULL), *a = json_object_get(row, "embedding");
        double ss = 0.0;
        assert_int_equal(json_array_size(a), dim);
        for (uint32_t k = 0; k < dim; k++) {
            v[i][k] = (float)json_number_value(json_array_get(a, k));
            ss += (double)v[i][k] * (double)v[i][k];
        }
        assert_true(fabs(ss - 1.0) < 1e-4);
        json_decref(row);
    }
    fclose(f);
}

/* Returns how many questions have their own function as the nearest of all. */
static uint32_t count_first(uint32_t n, const char *asked, const char *found, uint32_t dim)
{
    static float q[PAIR_MAX][DIM], d[PAIR_MAX][DIM];
    char line[1024];
    uint32_t n_first = 0;
    snprintf(line, sizeof(line),
             "\"$M\" embed -m " MODEL " --jsonl --dim %u --prompt %s \"$D/asked\" > \"$D/q\" && "
             "\"$M\" embed -m " MODEL " --jsonl --dim %u --prompt %s \"$D/found\" > \"$D/d\"",
             dim, asked, dim, found);
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
    read_side(q, n, dim, "q");
    read_side(d, n, dim, "d");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t best = 0;
        float most = -2.0f;
        for (uint32_t k = 0; k < n; k++) {
            float dot = 0.0f;
            for (uint32_t j = 0; j < dim; j++)
                dot += q[i][j] * d[k][j];
            if (dot > most) {
                most = dot;
                best = k;
            }
        }
        n_first += best == i;
    }
    printf("%u of %u first: prompts %s and %s, %u dimensions\n", n_first, n, asked, found, dim);
    return n_first;
}

static void questions_find_their_functions(void **state)
{
    (void)state;
    const uint32_t n = write_side("question", "asked");
    assert_true(n >= 24 && n <= PAIR_MAX);
    assert_int_equal(write_side("code", "found"), n);
    assert_true(count_first(n, "none", "none", DIM) >= n * 2 / 5);
    assert_true(count_first(n, "code", "document", DIM) >= n * 2 / 5);
    assert_true(count_first(n, "query", "document", DIM) >= n * 2 / 5);
    assert_true(count_first(n, "code", "document", HALF) >= n * 2 / 5);
}

static void a_small_file_with_a_token_a_prompt(void **state)
{
    (void)state;
    char path[1024];
    struct stat st;
    assert_int_equal(stat(check_path(path, sizeof(path), MODEL), &st), 0);
    assert_true(st.st_size <= BYTES_MAX);
    cli_shell(&r, "printf 'free list' | \"$M\" embed -m " MODEL " --json");
    assert_int_equal(r.code, 0);
    json_t *plain = json_loads(r.out, 0, NULL);
    static cli_result without;
    cli_shell(&without, "printf 'free list' | \"$M\" embed --json"); /* it is the model of embed without -m */
    assert_int_equal(without.code, 0);
    assert_string_equal(without.out, r.out);
    cli_shell(&r, "printf 'free list' | \"$M\" embed -m " MODEL " --json --prompt code");
    json_t *with = json_loads(r.out, 0, NULL);
    assert_true(plain && with);
    assert_int_equal(json_integer_value(json_object_get(with, "tokens")),
                     json_integer_value(json_object_get(plain, "tokens")) + 1);
    json_decref(plain);
    json_decref(with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_small_file_with_a_token_a_prompt),
                                       cmocka_unit_test(questions_find_their_functions)};
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
