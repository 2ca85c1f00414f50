/* test_model_tools.c - the commands for model files as their users meet them: convert with its mixes, imatrix,
 * perplexity, verify. */
#include "tests/frontend/cli/cli_run.h"
#include "tests/support/split.h"

#include <math.h>

static cli_result r;

/* perplexity gives what the test computes from the log-probabilities that `mythos logits` writes. */
static void perplexity_is_that_of_the_logits(void **state)
{
    (void)state;
    enum { N = 24, VOCAB = 512 };
    static float row[N][VOCAB];
    char path[256];
    int32_t ids[N] = {2};
    double nll = 0.0;
    cli_shell(&r, "printf 'The quick brown fox jumps over the dog.' >\"$D/text\"; \"$M\" tokenize " TINY
                  "--json \"$D/text\"");
    assert_int_equal(r.code, 0);
    json_t *j = json_loads(r.out, 0, NULL);
    const json_t *a = json_object_get(j, "ids");
    assert_true(json_array_size(a) >= N);
    char list[512] = "2", line[1024];
    for (size_t i = 1; i < N; i++) {
        ids[i] = (int32_t)json_integer_value(json_array_get(a, i - 1));
        snprintf(list + strlen(list), sizeof(list) - strlen(list), ",%d", ids[i]);
    }
    json_decref(j);
    snprintf(line, sizeof(line), "\"$M\" logits " TINY "--ids %s -o \"$D/l.npy\"", list);
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
    snprintf(path, sizeof(path), "%s/l.npy", cli_dir);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, -(long)sizeof(row), SEEK_END), 0);
    assert_int_equal(fread(row, sizeof(row), 1, f), 1);
    fclose(f);
    for (int i = N / 2; i + 1 < N; i++) {
        double most = -INFINITY, sum = 0.0;
        for (int v = 0; v < VOCAB; v++)
            most = (double)row[i][v] > most ? (double)row[i][v] : most;
        for (int v = 0; v < VOCAB; v++)
            sum += exp((double)row[i][v] - most);
        nll += most + log(sum) - (double)row[i][ids[i + 1]];
    }
    const int n = N - 1 - N / 2;
    snprintf(line, sizeof(line), "perplexity " TINY "--exact -c %d --chunks 1 --json %s/text", N, cli_dir);
    cli_expect(&r, line, 0);
    j = json_loads(r.out, 0, NULL);
    assert_non_null(j);
    assert_int_equal(json_integer_value(json_object_get(j, "tokens")), n);
    const double ppl = json_number_value(json_object_get(j, "perplexity"));
    if (!(fabs(ppl / exp(nll / n) - 1.0) < 1e-5))
        fail_msg("perplexity %g, by hand %g", ppl, exp(nll / n));
    assert_true(json_number_value(json_object_get(j, "error")) > 0.0);
    json_decref(j);
}

static void divergence_from_itself_is_nothing(void **state)
{
    (void)state;
    double kl[2];
    static const char *const other[] = {"random:gemma3-tiny:f32", "random:gemma3-tiny:q4_0"};
    for (int i = 0; i < 2; i++) {
        char line[512];
        snprintf(line, sizeof(line), "perplexity " TINY "--exact --kl %s -c 64 --chunks 2 --json README.md", other[i]);
        cli_expect(&r, line, 0);
        json_t *j = json_loads(r.out, 0, NULL);
        assert_non_null(j);
        kl[i] = json_number_value(json_object_get(j, "kl"));
        assert_true((json_number_value(json_object_get(j, "same_top")) == 1.0) == (i == 0));
        json_decref(j);
    }
    assert_true(fabs(kl[0]) < 1e-9 && kl[1] > 1e-4);
    cli_expect(&r, "perplexity " TINY "--exact -c 64 --chunks 2 --json README.md", 0);
    json_t *alone = json_loads(r.out, 0, NULL);
    cli_expect(&r, "perplexity " TINY "--exact --kl random:gemma3-tiny:f32 -c 64 --chunks 2 --json README.md", 0);
    json_t *both = json_loads(r.out, 0, NULL);
    assert_true(fabs(json_number_value(json_object_get(alone, "nll")) -
                     json_number_value(json_object_get(both, "nll"))) < 1e-5);
    assert_int_equal(json_integer_value(json_object_get(alone, "tokens")),
                     json_integer_value(json_object_get(both, "tokens")));
    json_decref(alone);
    json_decref(both);
}

static void a_text_that_is_too_short_is_refused(void **state)
{
    (void)state;
    cli_shell(&r, "printf 'short' >\"$D/short\"; \"$M\" perplexity " TINY "\"$D/short\"");
    assert_int_equal(r.code, 2);
    assert_non_null(strstr(r.err, "a window of 512"));
    cli_expect(&r, "perplexity " TINY "/no/such/text", 66);
    cli_expect(&r, "perplexity -m random:embeddinggemma-tiny:f32 README.md", 65);
}

/* The importance matrix is the same for any micro-batch and number of threads, and convert uses it. */
static void an_importance_matrix_reaches_convert(void **state)
{
    (void)state;
    cli_shell(&r, "\"$M\" imatrix " TINY "-c 64 --chunks 4 -o \"$D/a.gguf\" README.md && \"$M\" imatrix " TINY
                  "-c 64 --chunks 4 -ub 16 -t 3 -o \"$D/b.gguf\" README.md && "
                  "cmp \"$D/a.gguf\" \"$D/b.gguf\"");
    assert_int_equal(r.code, 0);
    cli_shell(&r,
              "\"$M\" convert " TINY "--type q4_0 --imatrix \"$D/a.gguf\" -o \"$D/with.gguf\" && \"$M\" convert " TINY
              "--type q4_0 -o \"$D/without.gguf\" && "
              "cmp -s \"$D/with.gguf\" \"$D/without.gguf\"");
    assert_int_equal(r.code, 1);
    cli_shell(&r, "\"$M\" verify -m \"$D/with.gguf\" | tail -1");
    assert_int_equal(r.code, 0);
    assert_ptr_equal(strstr(r.out, "ok: "), r.out);
    cli_shell(&r, "\"$M\" convert -m random:gemma2-tiny:f32 --type q4_0 --imatrix \"$D/with.gguf\" -o \"$D/x.gguf\"");
    assert_int_equal(r.code, 65);
    cli_shell(&r, "\"$M\" imatrix -m random:embeddinggemma-tiny:f32 -c 64 --chunks 2 -o \"$D/e.gguf\" README.md");
    assert_int_equal(r.code, 0);
}

/* A mix gives the same file with any number of threads. The error for an unknown name lists the known ones. */
static void convert_knows_the_mixes(void **state)
{
    (void)state;
    cli_shell(&r, "\"$M\" convert " TINY "--type Q4_K_M -t 1 -o \"$D/1.gguf\" && \"$M\" convert " TINY
                  "--type q4_k_m -t 3 -o \"$D/3.gguf\" && cmp \"$D/1.gguf\" \"$D/3.gguf\" && "
                  "\"$M\" verify -m \"$D/1.gguf\"");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(
        r.out,
        "q5_0")); /* in place of the mix's types, whose blocks need columns in multiples of 256; here there are 64 */
    cli_shell(&r, "\"$M\" convert " TINY "--type q9_0 -o \"$D/x.gguf\"");
    assert_int_equal(r.code, 2);
    assert_non_null(strstr(r.err, "q4_k_m"));
}

/* The parts of a split file are one model for every command; what convert writes of them is the file that was split. */
static void a_split_file_is_one_model(void **state)
{
    (void)state;
    char prefix[128], whole[128];
    myth_mem *mem;
    myth_weights *w = NULL;
    cli_expect(&r, "convert " TINY "--type f32 -o $D/whole.gguf", 0);
    snprintf(whole, sizeof(whole), "%s/whole.gguf", cli_dir);
    snprintf(prefix, sizeof(prefix), "%s/parts/p", cli_dir);
    cli_shell(&r, "mkdir \"$D/parts\"");
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_weights_open(&w, mem, whole, NULL, NULL), MYTH_OK);
    split_make(prefix, w, mem, &(split_spec){.n_part = 3});
    myth_weights_close(w);
    assert_int_equal(myth_mem_close(mem), 0);

    cli_shell(&r, "\"$M\" convert -m \"$D/parts\" --type f32 -o \"$D/again.gguf\" && cmp \"$D/whole.gguf\" "
                  "\"$D/again.gguf\"");
    assert_int_equal(r.code, 0);
    cli_shell(&r, "for m in whole.gguf parts parts/p-00002-of-00003.gguf; do { \"$M\" verify -m \"$D/$m\" && "
                  "\"$M\" generate -p text -n 8 --temp 0 -m \"$D/$m\" && \"$M\" plan -q -m \"$D/$m\" >/dev/null; } "
                  ">\"$D/as.${m%%/*}.${m##*-}\" || exit 9; done; cmp \"$D\"/as.whole* \"$D\"/as.parts.parts && "
                  "cmp \"$D\"/as.whole* \"$D\"/as.parts.00003.gguf");
    assert_int_equal(r.code, 0);
    cli_expect(&r, "info -m $D/parts/p-00003-of-00003.gguf", 0);
    assert_non_null(strstr(r.out, "p-00001-of-00003.gguf (gguf in 3 files)"));
    cli_expect(&r, "info --json -m $D/parts", 0);
    assert_non_null(strstr(r.out, "\"files\":3"));
    cli_expect(&r, "convert -m $D/parts --type f32 -o $D/parts/p-00003-of-00003.gguf", 2);
    assert_non_null(strstr(r.err, "which is read; give another file"));
    cli_shell(&r, "rm \"$D/parts/p-00002-of-00003.gguf\"; \"$M\" plan -m \"$D/parts\"");
    assert_int_equal(r.code, 66);
    assert_non_null(strstr(r.err, "part 2 of 3 is missing"));
}

static void verify_names_what_is_wrong(void **state)
{
    (void)state;
    cli_shell(&r, "\"$M\" convert " TINY "--type f32 -o \"$D/good.gguf\" && \"$M\" verify -m \"$D/good.gguf\" --json");
    assert_int_equal(r.code, 0);
    json_t *j = json_loads(r.out, 0, NULL);
    assert_non_null(j);
    const json_t *tensors = json_object_get(j, "tensors"),
                 *last = json_array_get(tensors, json_array_size(tensors) - 1);
    assert_true(json_array_size(tensors) > 50);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "forward"), "rows")), 16);
    const char *name = json_string_value(json_object_get(last, "name"));
    char wanted[80], line[512];
    snprintf(wanted, sizeof(wanted), "%s", json_string_value(json_object_get(last, "sha256")));
    assert_int_equal(strlen(wanted), 64);
    snprintf(line, sizeof(line), "tail -c %lld \"$D/good.gguf\" | head -c %lld | sha256sum",
             (long long)json_integer_value(json_object_get(last, "bytes")),
             (long long)json_integer_value(json_object_get(last, "bytes")));
    cli_shell(&r, line);
    if (r.code == 0)
        assert_memory_equal(r.out, wanted, 64);
    /* the last value becomes a NaN */
    cli_shell(&r, "head -c -4 \"$D/good.gguf\" >\"$D/bad.gguf\"; printf '\\0\\0\\300\\177' >>\"$D/bad.gguf\"; \"$M\" "
                  "verify -m \"$D/bad.gguf\"");
    assert_int_equal(r.code, 65);
    assert_non_null(strstr(r.err, name));
    json_decref(j);
    cli_shell(&r, "head -c -4 \"$D/good.gguf\" >\"$D/cut.gguf\"; \"$M\" verify -m \"$D/cut.gguf\"");
    assert_int_equal(r.code, 65);
}

static void the_plans_are_the_ledgers(void **state)
{
    (void)state;
    static const char *const run[] = {
        "perplexity " TINY "-c 64 --chunks 2 README.md",
        "imatrix " TINY "-c 64 --chunks 2 -o \"$D/i.gguf\" README.md",
        "verify " TINY,
        "perplexity " TINY "--kl random:gemma3-tiny:q8_0 -c 64 --chunks 2 README.md",
    };
    for (int i = 0; i < 4; i++) {
        char line[512];
        snprintf(line, sizeof(line), "\"$M\" %s --device cpu --mem-report \"$D/mem.json\"", run[i]);
        cli_shell(&r, line);
        assert_int_equal(r.code, 0);
        cli_expect_planned(run[i]);
    }
}

/* A tokenizer.json of bytes, names without use, and one piece more than gemma3-tiny has rows. */
static void write_tokenizer(const char *name, const char *last)
{
    enum { ROWS = 512 };
    static const char *const first[] = {"<pad>", "<eos>", "<bos>", "<unk>"};
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("{\"version\":\"1.0\",\"added_tokens\":[", f);
    for (int i = 0; i < 4; i++)
        fprintf(f, "{\"id\":%d,\"content\":\"%s\",\"special\":true},", i, first[i]);
    fprintf(f, "{\"id\":%d,\"content\":\"<image_soft_token>\",\"special\":true}],", *last == '<' ? ROWS : ROWS - 1);
    fputs("\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\xe2\x96\x81\"},"
          "\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"fuse_unk\":true,\"byte_fallback\":true,\"vocab\":{",
          f);
    for (int i = 0; i < 4; i++)
        fprintf(f, "\"%s\":%d,", first[i], i);
    for (int i = 0; i < 256; i++)
        fprintf(f, "\"<0x%02X>\":%d,", (unsigned)i, 4 + i);
    for (int i = 260; i < ROWS - (*last != '<'); i++)
        fprintf(f, "\"<unused%d>\":%d,", i - 260, i);
    if (*last != '<')
        fprintf(f, "\"<image_soft_token>\":%d,", ROWS - 1);
    fprintf(f, "\"%s\":%d},\"merges\":[]}}\n", last, ROWS);
    fclose(f);
}

/* What no text gives needs no row, as the mark of an image of Gemma 3's tokenizer in a model that sees none. */
static void a_mark_needs_no_row(void **state)
{
    (void)state;
    write_tokenizer("mark.json", "<image_soft_token>");
    write_tokenizer("text.json", "z");
    cli_expect(&r, "generate " TINY "--tokenizer $D/mark.json -p hello -n 2", 0);
    cli_expect(&r, "generate " TINY "--tokenizer $D/mark.json -p '<image_soft_token>' --special -n 2", 2);
    assert_non_null(strstr(r.err, "token 512 is outside the vocabulary of 512"));
    cli_expect(&r, "generate " TINY "--tokenizer $D/text.json -p hello -n 2", 2);
    assert_non_null(strstr(r.err, "take a larger model"));
}

/* A random: model with the tokenizer of a file gives the ids of that file, and its plan has its bytes. */
static void a_random_model_takes_a_tokenizer(void **state)
{
    static const char *const file[] = {"tests/golden/tokenizer/small.model", "tests/golden/tokenizer/small_new.json"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        char line[512];
        snprintf(
            line, sizeof(line),
            "printf 'The quick brown fox' >$D/t; a=$($M tokenize -m random:gemma3-270m:q4_0 --tokenizer %s $D/t) && "
            "b=$($M tokenize -m %s $D/t) && test \"$a\" = \"$b\" && test -n \"$a\"",
            file[i], file[i]);
        cli_shell(&r, line);
        if (r.code != 0)
            fail_msg("%s: other ids: %s", file[i], r.err);
    }
    cli_expect(&r, "plan -m random:gemma3-tiny:f32 --tokenizer tests/golden/tokenizer/small_new.json", 2);
    assert_non_null(strstr(r.err, "take a larger model"));
    cli_expect(&r,
               "inspect-file --mem-report $D/mem.json -m random:gemma3-270m:q4_0 --tokenizer "
               "tests/golden/tokenizer/small_new.json -n 2 --context-rounds 0 --fail-level never $D/t",
               3);
    cli_expect_planned("a given tokenizer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perplexity_is_that_of_the_logits),
        cmocka_unit_test(divergence_from_itself_is_nothing),
        cmocka_unit_test(a_text_that_is_too_short_is_refused),
        cmocka_unit_test(an_importance_matrix_reaches_convert),
        cmocka_unit_test(convert_knows_the_mixes),
        cmocka_unit_test(a_split_file_is_one_model),
        cmocka_unit_test(verify_names_what_is_wrong),
        cmocka_unit_test(the_plans_are_the_ledgers),
        cmocka_unit_test(a_random_model_takes_a_tokenizer),
        cmocka_unit_test(a_mark_needs_no_row),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
