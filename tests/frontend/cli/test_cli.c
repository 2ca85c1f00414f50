/* test_cli.c - the commands as their users meet them: every exit code that a test can bring about, and documents that
 * parse and have their keys. */
#include "cli_run.h"

#include "frontend/cli/environment.h"
#include "frontend/cli/exit.h"

#include <pwd.h>
#include <signal.h>

static cli_result r;

static void write_file(const char *name, const void *data, size_t len)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    fclose(f);
}

static void help_and_usage(void **state)
{
    (void)state;
    cli_expect(&r, "", 2);
    assert_non_null(strstr(r.err, "usage: mythos COMMAND"));
    cli_expect(&r, "--help", 0);
    assert_non_null(strstr(r.out, "generate"));
    cli_expect(&r, "help plan", 0);
    assert_non_null(strstr(r.out, "--cache-type-k"));
    cli_expect(&r, "help exit-codes", 0);
    size_t n;
    const myth_exit_row *row = myth_exit_table(&n);
    for (size_t i = 0; i < n; i++) { /* a row for each, as the table has them */
        char line[64];
        snprintf(line, sizeof(line), "\n  %3d  %.20s", row[i].code, row[i].meaning);
        assert_non_null(strstr(r.out, line));
    }
    assert_non_null(strstr(r.out, "Where several apply"));
    cli_expect(&r, "plan --help", 0);
    assert_non_null(strstr(r.out, "--mem-limit"));
    cli_expect(&r, "generat", 2);
    assert_non_null(strstr(r.err, "did you mean generate?"));
    cli_expect(&r, "xyzzyxyzzy", 2);
    assert_null(strstr(r.err, "did you mean"));
    cli_expect(&r, "-q plan", 2);
    assert_non_null(strstr(r.err, "-q: flags follow the command"));
    cli_expect(&r, "plan --ctxsize 3", 2);
    assert_non_null(strstr(r.err, "did you mean --ctx-size?"));
    cli_expect(&r, "version extra", 2);
    cli_expect(&r, "--version", 0);
    assert_non_null(strstr(r.out, "mythos "));
    json_t *j = cli_json(&r, "version --json");
    assert_true(json_is_string(json_object_get(j, "commit")));
    json_decref(j);
}

static void exit_codes(void **state)
{
    (void)state;
    static const struct {
        const char *args;
        int code;
        const char *says;
    } row[] = {
        {"generate " TINY "-p x -n 2", 0, ""},
        {"generate " TINY, 2, "-p TEXT"},
        {"generate " TINY "-p x --ids 2", 2, "one of"},
        {"generate " TINY "--ids 2,x", 2, "ids: offset 2"},
        {"generate " TINY "--ids 2,512", 2, "512"},
        {"generate " TINY "-p x -ctk q5_0", 2, "q8_0"},
        {"generate " TINY "--ids 2,3,4,5,6 -c 4", 3, "-c"},
        {"generate " TINY "--ids 2,3,4 -c 4 -n 9 -q", 3, ""},
        {"generate -m /nowhere -p x", 66, "/nowhere"},
        {"generate -m random:gemma9-1b:f32 -p x", 2, "as in random:gemma3-270m:q8_0"},
        {"tokenize " TINY "/nowhere", 66, "no such file"},
        {"tokenize " TINY "/dev", 74, "a directory where a file is expected"},
        {"detokenize " TINY, 2, "--ids"},
        {"detokenize " TINY "--ids 512", 2, "expected an id less than 512"},
        {"logits " TINY "--ids 2", 2, "-o FILE"},
        {"logits " TINY "--ids 2 -o /nowhere/x.npy", 73, "/nowhere/x.npy"},
        {"logits " TINY "--ids 2 -o x.npy --ids-file y", 2, "--ids-file"},
        {"convert " TINY, 2, "-o FILE"},
        {"convert " TINY "-o /nowhere/x.gguf", 73, "/nowhere"},
        {"generate " TINY "-p x --device cuda:7", 69, "cuda:7"},
        {"generate " TINY "-p x --device cpu,", 69, "empty"},
        {"generate " TINY "-p x -n 3 --device cpu,cpu --tensor-split 3,1 -q", 0, ""},
        {"generate " TINY "-p x -n 3 --device cpu -ngl 2 -q", 0, ""},
        {"generate " TINY "-p x -n 3 --device cpu -ngl all -q", 0, ""},
        {"generate " TINY "-p x -n 3 --device cpu -ngl most -q", 2, "from 0 to 4294967295, or all"},
        {"generate " TINY "-p x --top-k all", 2, "--top-k: got 'all'"},
        {"generate " TINY "-p x --tensor-split 3,x", 2, "--tensor-split"},
        {"generate " TINY "-p x --offload disk", 2, "none|weights|kv"},
        {"generate " TINY "-p x --mem-limit much", 2, "--mem-limit: got 'much'"},
        {"generate " TINY "-p x --mem-limit gpu:0=1GiB", 2, "device=size"},
        {"generate " TINY "-p x --mem-limit 0.5", 2, "0.5 is less than one byte; for a share of the memory write 50%"},
        {"generate " TINY "-p x --mem-limit host=120%", 2, "80%, all-2GiB or none"},
        {"generate " TINY "-p x --mem-limit all-9000TiB", 2, "nothing is left: the host has"},
        {"generate " TINY "-p x -n 1 -q --mem-limit cuda:0=1GiB,host=64MiB", 0, ""},
        {"generate " TINY "-p x --mem-limit vulkan:3=1GiB,host=64K", 71, "fits with"},
        {"generate " TINY "-p x --mem-limit 64K", 71, "fits with"},
        {"generate " TINY "-p x --mem-limit 100", 71, ""},
        {"plan " TINY "--mem-limit 64K", 0, ""},
        {"generate " TINY "-p x -n 1 --mem-report /nowhere/r.json", 73, "/nowhere"},
        {"completion tcsh", 2, "bash, zsh or fish"},
        {"man nothing", 2, "nothing"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        cli_expect(&r, row[i].args, row[i].code);
        if (!strstr(r.err, row[i].says))
            print_error("mythos %s\n  says: %s  expected: %s\n", row[i].args, r.err, row[i].says);
        assert_non_null(strstr(r.err, row[i].says));
        assert_true(row[i].code == 0 || row[i].code == 3 || strncmp(r.err, "mythos: ", 8) == 0);
    }
}

static void malformed_model_is_65(void **state)
{
    (void)state;
    char line[512];
    write_file("bad.gguf", "GGUF\x09\x00\x00\x00", 8);
    snprintf(line, sizeof(line), "info -m %s/bad.gguf", cli_dir);
    cli_expect(&r, line, 65);
    assert_non_null(strstr(r.err, "version 9"));
    write_file("rows.jsonl", "[2,3]\n[2,\"x\"]\n", 14);
    snprintf(line, sizeof(line), "logits " TINY "--ids-file %s/rows.jsonl --top-k 1", cli_dir);
    cli_expect(&r, line, 65);
    assert_non_null(strstr(r.err, "line 2"));
}

static void full_disk_is_74(void **state)
{
    (void)state;
    cli_shell(&r, "$M man >/dev/full");
    assert_int_equal(r.code, 74);
    cli_shell(&r, "$M tokenize " TINY "/etc/passwd --json >/dev/full");
    assert_int_equal(r.code, 74);
}

static void a_reader_that_leaves_is_quiet(void **state)
{
    (void)state;
    cli_shell(&r, "{ $M man; $M man; $M man; $M man; } | head -n 1 >/dev/null");
    assert_string_equal(r.err, "");
}

static void second_interrupt_is_130(void **state)
{
    (void)state;
    cli_shell(&r, "mkfifo $D/fifo; $M tokenize " TINY
                  "- <$D/fifo & P=$!; exec 3>$D/fifo; sleep 0.5; kill -STOP $P; kill -INT $P; "
                  "kill -TERM $P; kill -CONT $P; wait $P"); /* while it is stopped, so that both are there at once */
    assert_int_equal(r.code, 130);
}

static void first_interrupt_ends_a_run_with_what_is_there(void **state)
{
    static const char *const sig[] = {"INT", "TERM", "HUP"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char line[256];
        snprintf(line, sizeof(line),
                 "$M bench " TINY "-p 0 -n 2000 -r 100 --json & P=$!; sleep 1; kill -%s $P; wait $P", sig[i]);
        cli_shell(&r, line);
        assert_int_equal(r.code, 3);
    }
}

/* One signal ends a command that waits for its input, unless the parent process told the command to ignore it. */
static void an_end_is_an_end(void **state)
{
    (void)state;
    cli_shell(&r, "$M tokenize " TINY "- <$D/fifo & P=$!; exec 3>$D/fifo; sleep 0.5; kill -TERM $P; wait $P");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.err, "interrupted while it was read"));
    cli_shell(&r, "trap '' HUP; $M tokenize " TINY "--json - <$D/fifo & P=$!; exec 3>$D/fifo; sleep 0.5; kill -HUP $P; "
                  "sleep 0.3; echo word >&3; exec 3>&-; wait $P");
    assert_int_equal(r.code, 0);
}

static void tokens_there_and_back(void **state)
{
    (void)state;
    json_t *j = cli_json(&r, "tokenize " TINY "--json LICENSE"), *ids = json_object_get(j, "ids");
    assert_true(json_array_size(ids) > 100);
    json_decref(j);
    cli_shell(&r, "printf 'a \\303\\251\\377 <bos>\\tz' >$D/t; I=$($M tokenize " TINY "$D/t); $M detokenize " TINY
                  "--ids $I | cmp - $D/t");
    assert_int_equal(r.code, 0);
    cli_shell(&r, "printf 'x' | $M tokenize " TINY "--add-bos -");
    assert_int_equal(strncmp(r.out, "2,", 2), 0);
    cli_shell(&r, "printf '<bos>' | $M tokenize " TINY "--special");
    assert_string_equal(r.out, "2\n");
    cli_shell(&r, "printf '<bos>' | $M tokenize " TINY);
    assert_null(strstr(r.out, "2,"));
    assert_string_not_equal(r.out, "2\n");
    j = cli_json(&r, "detokenize " TINY "--ids 2 --json");
    assert_true(json_is_string(json_object_get(j, "text")));
    json_decref(j);
}

/* A path that a person gives may be a pipe, as <(...) of a shell is, or a device. */
static void a_pipe_is_read_as_a_file(void **state)
{
    static cli_result plain;
    (void)state;
    cli_shell(&plain, "printf 'some words' >$D/words; $M tokenize " TINY "$D/words && $M embed $D/words && "
                      "$M generate " TINY "-n 3 -f $D/words");
    assert_int_equal(plain.code, 0);
    cli_shell(&r, "mkfifo $D/pipe; cat $D/words >$D/pipe & $M tokenize " TINY "$D/pipe && "
                  "cat $D/words | $M embed /dev/stdin && cat $D/words | $M generate " TINY "-n 3 -f /dev/fd/0");
    assert_int_equal(r.code, 0);
    assert_string_equal(r.out, plain.out);
    cli_shell(&r, "$M tokenize " TINY "/dev/null; exec timeout -s INT 2 $M tokenize " TINY "$D/pipe");
    assert_int_equal(r.code, 124);
    assert_non_null(strstr(r.err, "/pipe: interrupted before it was read"));
    assert_null(strstr(r.err, "/dev/null"));
}

static void generate_prints_new_ids_only(void **state)
{
    (void)state;
    json_t *j = cli_json(&r, "generate " TINY "--ids 2,10,20 -n 5 --ignore-eos --json");
    assert_int_equal(json_array_size(json_object_get(j, "ids")), 5);
    assert_string_equal(json_string_value(json_object_get(j, "finish_reason")), "length");
    assert_true(json_is_string(json_object_get(j, "text")));
    json_decref(j);
    cli_shell(&r, "$M generate " TINY "-p hello -n 4 --ignore-eos --json >$D/a; $M generate " TINY
                  "-p hello -n 4 --ignore-eos --json | cmp - $D/a");
    assert_int_equal(r.code, 0);
    cli_shell(&r, "printf hello >$D/p; $M generate " TINY "-f $D/p -n 4 --ignore-eos --json | cmp - $D/a");
    assert_int_equal(r.code, 0);
    cli_run(&r, "generate " TINY "--ids 2,3,4 -c 4 -n 9 --ignore-eos --json");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.out, "\"finish_reason\":\"context\""));
    cli_run(&r, "generate " TINY "--ids 2,3,4,5,6 -c 4 -n 9 --json");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.out, "\"finish_reason\":\"refused\""));
    cli_run(&r, "generate " TINY "--ids 2,3 -n 9 --json --mem-limit 1M");
    assert_int_equal(r.code, 71);
    assert_non_null(strstr(r.out, "{\"ids\":[],\"text\":\"\",\"finish_reason\":\"refused\""));
}

static void logits_write_their_files(void **state)
{
    (void)state;
    char line[512];
    snprintf(line, sizeof(line), "logits " TINY "--ids 2,10,20 -o %s/o.npy --hidden %s/h.npy", cli_dir, cli_dir);
    cli_expect(&r, line, 0);
    cli_shell(&r, "head -c 128 $D/o.npy | strings | tr -d '\\n'; head -c 128 $D/h.npy | strings | tr -d '\\n'; ls $D | "
                  "grep -c tmp");
    assert_non_null(strstr(r.out, "(3, 512)"));
    assert_non_null(strstr(r.out, "(8, 3, 64)"));
    assert_non_null(strstr(r.out, "0\n"));

    static const char rows[] = "[2,10,20]\n\n[2, 5]\n{\"text\": \"ids\", \"n\": [3], \"ids\": [2, 10, 20]}\n";
    write_file("rows.jsonl", rows, sizeof(rows) - 1);
    snprintf(line, sizeof(line), "logits " TINY "--ids-file %s/rows.jsonl -o %s/r.npy", cli_dir, cli_dir);
    cli_expect(&r, line, 0);
    cli_shell(
        &r,
        "cmp $D/r-000.npy $D/o.npy && cmp $D/r-002.npy $D/o.npy && head -c 128 $D/r-001.npy | grep -a -q '(2, 512)'");
    assert_int_equal(r.code, 0);

    /* the logits are the same, to the bit, for any chunk size */
    snprintf(line, sizeof(line), "logits " TINY "--ids 2,10,20 -o %s/c.npy --prefill-chunk 1", cli_dir);
    cli_expect(&r, line, 0);
    cli_shell(&r, "cmp $D/c.npy $D/o.npy");
    assert_int_equal(r.code, 0);
}

static void top_k_is_nested_by_token(void **state)
{
    (void)state;
    json_t *j = cli_json(&r, "logits " TINY "--ids 2,10,20 --top-k 4 --json");
    assert_int_equal(json_array_size(j), 3);
    json_t *row = json_array_get(j, 2);
    assert_int_equal(json_array_size(row), 4);
    double best = json_number_value(json_object_get(json_array_get(row, 0), "logit"));
    for (size_t i = 1; i < 4; i++) {
        double v = json_number_value(json_object_get(json_array_get(row, i), "logit"));
        assert_true(v <= best);
        best = v;
    }
    assert_true(json_is_integer(json_object_get(json_array_get(row, 0), "id")));
    json_decref(j);
}

static void plan_info_devices_bench(void **state)
{
    (void)state;
    json_t *j = cli_json(&r, "plan " TINY "--json");
    assert_true(cli_number(j, "schema") == 1);
    assert_true(json_is_true(json_object_get(j, "fits")));
    double sum = 0;
    const char *name;
    json_t *v;
    json_object_foreach(json_object_get(j, "classes"), name, v) if (strcmp(name, "weights_mapped") != 0) sum +=
        json_number_value(v);
    assert_true(sum == cli_number(j, "total_bytes"));
    json_t *device = json_array_get(json_object_get(j, "devices"), 0);
    assert_string_equal(json_string_value(json_object_get(device, "device")), "cpu");
    assert_true(json_equal(json_object_get(device, "classes"), json_object_get(j, "classes")));
    json_decref(j);

    j = cli_json(&r, "plan -m random:gemma3-1b:q8_0 -c 32768 --parallel 4 --mem-limit 1536M --json");
    if (json_is_false(json_object_get(j, "fits")))
        assert_true(json_array_size(json_object_get(j, "suggestions")) >= 3);
    json_decref(j);

    j = cli_json(&r, "info " TINY "--json");
    assert_string_equal(json_string_value(json_object_get(j, "model")), "random:gemma3-tiny:f32");
    assert_true(cli_number(j, "n_layer") == 7);
    assert_true(json_is_object(json_object_get(j, "plan")));
    json_decref(j);
    cli_expect(&r, "info " TINY, 0);

    j = cli_json(&r, "devices --json");
    assert_string_equal(json_string_value(json_object_get(json_array_get(j, json_array_size(j) - 1), "name")), "cpu");
    json_decref(j);
    cli_expect(&r, "devices", 0);

    j = cli_json(&r, "bench " TINY "-p 16 -n 4 -d 8 -r 1 --mem-limit 64M --json");
    assert_int_equal(json_array_size(j), 2);
    static const char *const key[] = {"tok_s", "bytes", "flops", "limit_tok_s", "ratio"};
    for (size_t t = 0; t < 2; t++)
        for (size_t k = 0; k < 5; k++)
            assert_true(json_number_value(json_object_get(json_array_get(j, t), key[k])) > 0);
    assert_string_equal(json_string_value(json_object_get(json_array_get(j, 1), "test")), "tg4@d8");
    json_decref(j);
    j = cli_json(&r, "bench -m random:embeddinggemma-tiny:q8_0 -p 40 -n 4 -r 1 --mem-limit 64M --json");
    assert_int_equal(json_array_size(j), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(j, 0), "test")), "pp40");
    json_decref(j);
    cli_expect(&r, "bench -m random:embeddinggemma-tiny:q8_0 -p 40 -d 8 -r 1", 65);
    cli_expect(&r, "bench -m random:embeddinggemma-tiny:q8_0 -p 257 -r 1", 65);
}

static void convert_keeps_the_model(void **state)
{
    (void)state;
    char line[512];
    static const char *const of_the_model[] = {"general.architecture=llama",
                                               "general.alignment=7",
                                               "gemma3.block_count=3",
                                               "gemma3.rope.freq_base=5",
                                               "split.count=2",
                                               "tokenizer.ggml.model=gpt2",
                                               "tokenizer.ggml.eos_token_id=x",
                                               "tokenizer.ggml.eos_token_id=512"};
    for (size_t i = 0; i < sizeof(of_the_model) / sizeof(of_the_model[0]); i++) { /* nobody could read the file */
        snprintf(line, sizeof(line), "convert " TINY "-o %s/no.gguf --kv mythos.note=hi,%s", cli_dir, of_the_model[i]);
        cli_expect(&r, line, 2);
        assert_non_null(strstr(r.err, "says what the model is"));
        snprintf(line, sizeof(line), "%s/no.gguf", cli_dir);
        assert_int_not_equal(access(line, F_OK), 0);
    }
    snprintf(line, sizeof(line),
             "convert " TINY "-o %s/m.gguf --type f32 --kv "
             "mythos.note=hi,general.name=n,gemma2.x=1,tokenizer.ggml.eos_token_id=511",
             cli_dir);
    cli_expect(&r, line, 0);
    cli_shell(&r, "$M generate " TINY "-p abc -n 6 --ignore-eos --exact --json >$D/a; $M generate -m $D/m.gguf -p abc "
                  "-n 6 --ignore-eos --exact --json | cmp - $D/a");
    assert_int_equal(r.code, 0);
}

static void documents_from_the_tables(void **state)
{
    (void)state;
    cli_expect(&r, "man", 0);
    assert_int_equal(strncmp(r.out, ".TH MYTHOS 1", 12), 0);
    assert_non_null(strstr(r.out, ".SH EXIT STATUS"));
    assert_non_null(strstr(r.out, "inspect\\-symbol"));
    assert_non_null(strstr(r.out, "MYTHOS_MEM_LIMIT"));
    size_t n;
    const myth_env_row *row = myth_env_table(&n);
    const char *at = strstr(r.out, ".SH ENVIRONMENT");
    assert_non_null(at);
    for (size_t i = 0; i < n; i++) {
        assert_non_null(at = strstr(at, row[i].name)); /* the names are in the order of the table */
        assert_null(strchr(row[i].name, '-'));
    }
    cli_expect(&r, "man plan", 0);
    assert_int_equal(strncmp(r.out, ".TH MYTHOS-PLAN 1", 17), 0);
    assert_non_null(strstr(r.out, "MYTHOS_CACHE_TYPE_K"));
    assert_non_null(strstr(r.out, "MYTHOS_PLAN_FOR")); /* map has a --for of its own with another meaning */
    assert_null(strstr(r.out, "mythos\\-generate"));
    cli_shell(&r, "$M completion bash >$D/c && bash -n $D/c && D=$D bash -c '. $D/c; COMP_WORDS=(mythos plan --fo); "
                  "COMP_CWORD=2; _mythos; echo ${COMPREPLY[0]}; "
                  "COMP_WORDS=(mythos gen); COMP_CWORD=1; _mythos; echo ${COMPREPLY[0]}; COMP_WORDS=(mythos plan --for "
                  "l); COMP_CWORD=3; _mythos; echo ${COMPREPLY[0]}'");
    assert_int_equal(r.code, 0);
    assert_string_equal(r.out, "--for\ngenerate\nlogits\n");
}

/* Services and some clients of the tools start programs without HOME; the cache is where a shell would take ~ for. */
static void the_home_is_known_without_its_variable(void **state)
{
    const char *home = getenv("HOME"), *cache = getenv("XDG_CACHE_HOME");
    char old[2][512], want[600];
    (void)state;
    snprintf(old[0], sizeof(old[0]), "%s", home ? home : "");
    snprintf(old[1], sizeof(old[1]), "%s", cache ? cache : "");
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    const struct passwd *user = getpwuid(geteuid());
    if (user) {
        snprintf(want, sizeof(want), "%s/.cache", user->pw_dir);
        assert_string_equal(myth_env_cache_dir(), want);
    } else {
        assert_null(myth_env_cache_dir());
    }
    setenv("HOME", "/some/where", 1);
    assert_string_equal(myth_env_cache_dir(), "/some/where/.cache");
    if (cache)
        setenv("XDG_CACHE_HOME", old[1], 1);
    if (home)
        setenv("HOME", old[0], 1);
    else
        unsetenv("HOME");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_usage),
        cmocka_unit_test(exit_codes),
        cmocka_unit_test(malformed_model_is_65),
        cmocka_unit_test(full_disk_is_74),
        cmocka_unit_test(a_reader_that_leaves_is_quiet),
        cmocka_unit_test(second_interrupt_is_130),
        cmocka_unit_test(first_interrupt_ends_a_run_with_what_is_there),
        cmocka_unit_test(an_end_is_an_end),
        cmocka_unit_test(tokens_there_and_back),
        cmocka_unit_test(a_pipe_is_read_as_a_file),
        cmocka_unit_test(generate_prints_new_ids_only),
        cmocka_unit_test(logits_write_their_files),
        cmocka_unit_test(top_k_is_nested_by_token),
        cmocka_unit_test(plan_info_devices_bench),
        cmocka_unit_test(convert_keeps_the_model),
        cmocka_unit_test(documents_from_the_tables),
        cmocka_unit_test(the_home_is_known_without_its_variable),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
