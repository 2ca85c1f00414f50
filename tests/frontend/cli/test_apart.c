/* test_apart.c - no command writes over what it reads: prompts, texts, models, standard input, other outputs. Each case
 * is refused with exit 2 and both names, and no file of the folder has another byte afterwards. */
#include "cli_run.h"

static cli_result r;

/* The hashes of all files in the test's folder. */
static void list_bytes(char dst[4096])
{
    cli_result all;
    cli_shell(&all, "cd $D && find . -type f ! -name out ! -name err ! -name list -exec sha256sum {} + | sort >list");
    assert_int_equal(all.code, 0);
    cli_slurp(dst, 4096, "list");
}

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    cli_shell(&r, "cd $D && printf '\"one\"\\n\"two\"\\n' >p.jsonl && ln p.jsonl hard && ln -s p.jsonl soft && "
                  "cp p.jsonl a.txt && echo a.txt >list.txt && mkdir rows && ln p.jsonl rows/rows.jsonl");
    assert_int_equal(r.code, 0);
    cli_shell(&r, "cp -r tests/golden/models/gemma3-mqa $D/m && chmod -R u+w $D/m");
    assert_int_equal(r.code, 0);
    return 0;
}

static void an_output_is_no_input(void **state)
{
    static const struct {
        const char *args, *says;
    } row[] = {
        {"residuals p.jsonl $T -o p.jsonl", "-o p.jsonl: would overwrite p.jsonl, which is read"},
        {"residuals p.jsonl $T -o ./p.jsonl", "-o ./p.jsonl: would overwrite p.jsonl"},
        {"residuals p.jsonl $T -o hard", "-o hard: would overwrite p.jsonl"},
        {"residuals p.jsonl $T -o soft", "-o soft: would overwrite p.jsonl"},
        {"residuals p.jsonl $T -o x --report p.jsonl", "--report p.jsonl: would overwrite p.jsonl"},
        {"residuals p.jsonl $T -o x --report ./x", "-o and --report name one file, x; give each a file"},
        {"residuals p.jsonl $T -o m/../x --report x", "-o and --report name one file"},
        {"residuals p.jsonl $T -o x --rows rows", "--rows rows: would overwrite p.jsonl, which is read"},
        {"residuals p.jsonl $T -o x --mem-report p.jsonl", "--mem-report p.jsonl: would overwrite p.jsonl"},
        {"residuals - $T -o p.jsonl <p.jsonl", "-o p.jsonl: would overwrite the standard input"},
        {"logprobs p.jsonl $T -o hard", "-o hard: would overwrite p.jsonl"},
        {"logprobs p.jsonl $T -o x --baseline a.txt --save-baseline a.txt", "would overwrite a.txt, which is read"},
        {"logprobs p.jsonl $T -o x --save-baseline x", "-o and --save-baseline name one file"},
        {"generate --jsonl p.jsonl $T -o hard", "-o hard: would overwrite p.jsonl"},
        {"generate --jsonl p.jsonl $T --grammar-file a.txt -o a.txt", "-o a.txt: would overwrite a.txt"},
        {"embed --jsonl p.jsonl $E -o p.jsonl", "-o p.jsonl: would overwrite p.jsonl"},
        {"embed --jsonl $E -o p.jsonl <soft", "-o p.jsonl: would overwrite the standard input"},
        {"embed --files list.txt $E -o a.txt", "-o a.txt: would overwrite a.txt"},
        {"imatrix a.txt $T -o a.txt", "-o a.txt: would overwrite a.txt"},
        {"logits --ids 2 $T -o h.npy --hidden h.npy", "-o and --hidden name one file"},
        {"logits --ids 2 -m m -o m/model.safetensors", "/m/model.safetensors, which is read"},
        {"logits --ids 2 -m m/model.safetensors -o m/model.safetensors",
         "-o m/model.safetensors: would overwrite m/model.safetensors"},
        {"logits --ids 2 -m m -o m/config.json", "m/config.json, which is read"},
        {"convert -m m -o m/model.safetensors", "/m/model.safetensors, which is read"},
        {"inspect-file a.txt $T --output json=a.txt", "--output a.txt: would overwrite a.txt"},
        {"inspect-file a.txt $T --output json=x --output text=./x", "--output: x is named twice"},
        {"tokenize a.txt $T --mem-report a.txt", "--mem-report a.txt: would overwrite a.txt"},
    };
    static char before[4096], after[4096];
    (void)state;
    list_bytes(before);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char line[1024];
        snprintf(
            line, sizeof(line),
            "T='-m random:gemma3-tiny:f32'; E='-m random:embeddinggemma-tiny:f32'; case $M in /*) ;; *) M=$PWD/$M;; "
            "esac; cd $D && $M %s",
            row[i].args);
        cli_shell(&r, line);
        if (r.code != 2 || !strstr(r.err, row[i].says))
            fail_msg("mythos %s\n  exit %d: %s", row[i].args, r.code, r.err);
        list_bytes(after);
        assert_string_equal(after, before);
    }
}

/* Outputs that only look like inputs, and an output of an earlier run. */
static void others_are_written(void **state)
{
    static const char *const args[] = {
        "residuals p.jsonl $T -o all --base all -q",     "residuals p.jsonl $T -o all --base all -q",
        "generate -p a.txt $T -n 1 -q --mem-report mem", "logits --ids 2 -m m -o m/logits.npy",
        "logits --ids 2 -m m -o m/logits.npy",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
        char line[1024];
        snprintf(line, sizeof(line),
                 "T='-m random:gemma3-tiny:f32'; case $M in /*) ;; *) M=$PWD/$M;; esac; cd $D && $M %s", args[i]);
        cli_shell(&r, line);
        if (r.code != 0)
            fail_msg("mythos %s\n  exit %d: %s", args[i], r.code, r.err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_is_no_input),
        cmocka_unit_test(others_are_written),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
