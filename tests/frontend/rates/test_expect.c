/* test_expect.c - the seconds that plan and --dry-run expect: unknown until something was measured, then from the kept
 * rates, or from those of another machine; and a device that is not here can be planned. */
#include "tests/frontend/cli/cli_run.h"

static cli_result r;

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    char dir[128];
    snprintf(dir, sizeof(dir), "%s/state", cli_dir);
    setenv("XDG_STATE_HOME", dir, 1);
    cli_shell(&r, "printf 'int f(char *s)\\n{\\n\\treturn strlen(s) + 1;\\n}\\n' >$D/a.c");
    return r.code;
}

static json_t *expected(const char *args)
{
    json_t *j = cli_json(&r, args), *e = json_incref(json_object_get(j, "expected"));
    json_decref(j);
    assert_true(json_is_object(e));
    return e;
}

static void without_a_measurement_there_is_no_figure(void **state)
{
    (void)state;
    static const char *const commands[] = {"inspect-file $D/a.c --dry-run --json " TINY, "plan --json " TINY,
                                           "plan --json --for inspect-file $D/a.c " TINY};
    for (int i = 0; i < 3; i++) {
        json_t *e = expected(commands[i]);
        assert_true(json_is_false(json_object_get(e, "known")));
        assert_non_null(strstr(json_string_value(json_object_get(e, "why")), "run mythos bench or any inspection"));
        assert_int_equal(json_object_size(e), 2);
        json_decref(e);
    }
    cli_expect(&r, "inspect-file $D/a.c --dry-run " TINY, 0);
    assert_non_null(strstr(r.out, "expected         unknown: no measured rate for this model on this machine yet"));
}

static void a_run_is_what_the_next_plan_knows(void **state)
{
    (void)state;
    cli_expect(&r, "inspect-file $D/a.c --fail-level never " TINY "-n 64", 3);
    json_t *e = expected("inspect-file $D/a.c --dry-run --json " TINY);
    assert_true(json_is_true(json_object_get(e, "known")));
    assert_true(cli_number(e, "prefill_tokens") > 100);
    assert_true(cli_number(e, "answer_tokens_mean") > 0);
    assert_true(cli_number(e, "seconds_from") <= cli_number(e, "seconds_to"));
    assert_true(cli_number(e, "seconds_from") >= cli_number(e, "prefill_seconds"));
    json_decref(e);
    e = expected("plan --json --for inspect-file $D/a.c " TINY);
    assert_true(json_is_true(json_object_get(e, "known")));
    json_decref(e);
    e = expected("plan --json " TINY);
    assert_true(cli_number(e, "decode_tok_s") > 0);
    json_decref(e);
    cli_expect(&r, "inspect-file $D/a.c --dry-run " TINY, 0);
    assert_non_null(strstr(r.out, "measured on this machine ("));
    e = expected("inspect-file $D/a.c --dry-run --json --exact " TINY); /* another setup, not measured */
    assert_true(json_is_false(json_object_get(e, "known")));
    json_decref(e);
    cli_expect(&r, "plan " TINY "--as $D/state/mythos/rates.csv", 0); /* as carried to another machine */
    assert_non_null(strstr(r.out, "measured on "));
}

/* What writes no answers needs no rate of answers: one run of the job tells the next how long it takes. */
static void a_job_without_answers_is_known_by_its_prompts(void **state)
{
    (void)state;
    static const char *const job[] = {"embed -m random:embeddinggemma-tiny:f32 --jsonl $D/l -o $D/l.out ",
                                      "logprobs -m random:gemma3-tiny:q8_0 $D/l -o $D/l.out "};
    char line[256];
    cli_shell(&r, "for i in $(seq 200); do echo '\"a line of some tokens\"'; done >$D/l");
    for (int i = 0; i < 2; i++) {
        cli_shell(&r, "rm -f $D/state/mythos/rates.csv"); /* what other tests measured */
        snprintf(line, sizeof(line), "%s--dry-run --json", job[i]);
        json_t *e = expected(line);
        assert_true(json_is_false(json_object_get(e, "known")));
        json_decref(e);
        cli_expect(&r, job[i], 0);
        e = expected(line);
        assert_true(json_is_true(json_object_get(e, "known")));
        assert_true(cli_number(e, "prefill_tokens") > 1000);
        assert_true(cli_number(e, "seconds_from") > 0);
        assert_true(cli_number(e, "seconds_from") == cli_number(e, "seconds_to"));
        json_decref(e);
        snprintf(line, sizeof(line), "%s--dry-run", job[i]);
        cli_expect(&r, line, 0);
        assert_non_null(strstr(r.out, "\n  rates          measured on this machine ("));
        assert_null(strstr(r.out, "answer"));
    }
}

static void bench_measures_too(void **state)
{
    (void)state;
    cli_expect(&r, "bench -p 32 -n 4 -r 1 -m random:gemma3-tiny:q8_0", 0);
    json_t *e = expected("plan --json -m random:gemma3-tiny:q8_0");
    assert_true(cli_number(e, "prefill_tok_s") > 0);
    json_decref(e);
}

static void generate_and_embed_measure_too(void **state)
{
    (void)state;
    cli_expect(&r, "generate -p 'a prompt of some more than sixteen bytes' -n 8 -m random:gemma3-tiny:q4_0", 0);
    json_t *e = expected("plan --json -m random:gemma3-tiny:q4_0");
    assert_true(cli_number(e, "prefill_tok_s") > 0 && cli_number(e, "decode_tok_s") > 0);
    json_decref(e);
    cli_shell(&r, "printf 'a text of some more than sixteen bytes' >$D/t");
    cli_expect(&r, "embed $D/t -m random:embeddinggemma-tiny:f32", 0);
    e = expected("plan --json --for embed -m random:embeddinggemma-tiny:f32");
    assert_true(cli_number(e, "prefill_tok_s") > 0);
    json_decref(e);
}

/* bench/results is beside the build folder of a source tree. */
static void results_of_other_machines_have_names(void **state)
{
    (void)state;
    json_t *e = expected("plan --json -m random:gemma3-1b:q8_0 --as zen5-2-cores");
    assert_true(cli_number(e, "decode_tok_s") > 30 && cli_number(e, "decode_tok_s") < 60);
    json_decref(e);
    e = expected("plan --json -m random:gemma3-1b:q4_k --as zen5-2-cores"); /* no row of that type */
    assert_true(json_is_false(json_object_get(e, "known")));
    json_decref(e);
    cli_expect(&r, "plan " TINY "--as zen", 66);
    assert_non_null(strstr(r.err, "zen5-2-cores"));
    const char *h100 = strstr(r.err, "h100,"); /* each once, and only what has rates, or memory */
    assert_true(h100 && !strstr(h100 + 1, "h100,") && strstr(r.err, "h200") && strstr(r.err, "xeon-avx2"));
    assert_false(strstr(r.err, "map_names") || strstr(r.err, "inspect_again") || strstr(r.err, "search_"));
    assert_non_null(strstr(r.err, "or give the path of a file of rates\n"));
    cli_shell(&r, "printf 'a,b\\n1,2\\n' >$D/no.csv; $M plan " TINY "--as $D/no.csv");
    assert_int_equal(r.code, 65);
}

static void rows_of_a_bench_of_another_machine_are_read(void **state)
{
    (void)state;
    cli_shell(&r, "printf 'device,description,model,type,test,batch,depth,tok_s,note\\n"
                  "cuda:0,\"X, \"\"Y\"\"\",gemma3-1b,q8_0,prefill,512,0,5000,\\n"
                  "cuda:0,X,gemma3-1b,q8_0,decode,1,0,200,\\ncuda:0,X,gemma3-1b,q8_0,decode,32,0,4000,\\n' >$D/x.csv");
    json_t *e = expected("plan --json -m random:gemma3-1b:q8_0 --as $D/x.csv");
    assert_true(cli_number(e, "prefill_tok_s") == 5000 && cli_number(e, "decode_tok_s") == 200);
    json_decref(e);
}

/* Rates of no flags say nothing of a run with flags that change the speed: these are named. */
static void flags_without_rates_are_named(void **state)
{
    static const struct {
        const char *flags, *named; /* named "" = the rates hold */
    } row[] = {
        {"", ""},
        {"--device cpu --head host -nkvo --offload weights", ""}, /* of GPUs */
        {"--device cuda:7 --cpu-moe", ""},                        /* the model has no experts */
        {"--device cuda:7 -ngl 99", ""},                          /* all layers */
        {"--device cuda:7 --head host", "--head host"},
        {"--device cuda:7 -nkvo", "--no-kv-offload"},
        {"--device cuda:7 --n-host-kv 2 --head host", "--head host --n-host-kv 2"},
        {"--device cuda:7 --offload weights --offload-layers 3", "--offload weights --offload-layers 3"},
        {"--device cuda:7 -ngl 4", "-ngl 4"},
        {"--exact", "--exact"},
    };
    char line[300], wanted[300];
    (void)state;
    cli_shell(&r, "printf 'device,description,model,type,test,batch,depth,tok_s,note\\n"
                  "cuda:0,X,gemma3-1b,q8_0,prefill,512,0,5000,\\n"
                  "cuda:0,X,gemma3-1b,q8_0,decode,1,0,200,\\n' >$D/flags.csv");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        snprintf(line, sizeof(line),
                 "plan --json -m random:gemma3-1b:q8_0 --as $D/flags.csv --mem-limit cuda:7=80GiB %s", row[i].flags);
        json_t *e = expected(line);
        const bool is_known = json_is_true(json_object_get(e, "known"));
        snprintf(wanted, sizeof(wanted), "not predicted for %s: ", row[i].named);
        const char *why = json_string_value(json_object_get(e, "why"));
        if (is_known != !row[i].named[0] || (!is_known && (!why || strncmp(why, wanted, strlen(wanted)) != 0)))
            fail_msg("%s: %s", row[i].flags, why ? why : "known");
        json_decref(e);
    }
    snprintf(line, sizeof(line), "plan --json -m random:gemma4-moe-tiny:q8_0 --device cuda:7 --as h100 --cpu-moe");
    json_t *e = expected(line);
    assert_non_null(strstr(json_string_value(json_object_get(e, "why")), "not predicted for --cpu-moe: h100 has no"));
    json_decref(e);
}

/* Answers at once have a rate of their own; until it was measured the seconds are said to be of one after the other. */
static void answers_at_once_have_their_own_rate(void **state)
{
    (void)state;
#define JOB "generate " TINY "--jsonl $D/p.jsonl -n 40 --ignore-eos "
    cli_shell(&r, "for i in $(seq 8); do echo \"\\\"text $i of some words\\\"\"; done >$D/p.jsonl; "
                  "$M generate " TINY "-p 'some words to begin with, and more of them' -n 60 --ignore-eos >/dev/null");
    assert_int_equal(r.code, 0);
    json_t *e = expected(JOB "-np 4 --dry-run --json");
    assert_int_equal((int)cli_number(e, "answers_at_once"), 4);
    assert_true(json_is_true(json_object_get(e, "is_one_by_one")));
    json_decref(e);
    cli_expect(&r, JOB "-np 4 --dry-run", 0);
    assert_non_null(strstr(r.out, "at once        4 answers, which take less"));
    cli_expect(&r, JOB "-np 4 -o $D/o", 0);
    e = expected(JOB "-np 4 --dry-run --json");
    assert_true(json_is_false(json_object_get(e, "is_one_by_one")));
    assert_true(cli_number(e, "decode_tok_s") > 0);
    json_decref(e);
    cli_shell(&r, "grep -c '\"cpu np 4\".*,tg' $D/state/mythos/rates.csv || cat $D/state/mythos/rates.csv");
    assert_string_equal(r.out, "1\n");
    e = expected(JOB "-np 8 --dry-run --json"); /* another number is another rate */
    assert_true(json_is_true(json_object_get(e, "is_one_by_one")));
    json_decref(e);
    e = expected(JOB "-np 1 --dry-run --json");
    assert_null(json_object_get(e, "answers_at_once"));
    json_decref(e);
}

static void a_device_that_is_not_here_is_planned(void **state)
{
    (void)state;
    cli_expect(&r, "plan --device cuda:7 " TINY, 69);
    assert_non_null(strstr(r.err, "--as"));
    cli_expect(&r, "plan --device cuda:7 --as h100_peer " TINY, 69);
    assert_non_null(strstr(r.err, "no memory is known of a machine h100_peer"));
    cli_expect(&r, "plan --device cuda:7 --as h100 " TINY, 0);
    assert_non_null(strstr(r.out, "cuda:7"));
    assert_non_null(strstr(r.out, "limit 78.1 GiB: fits"));
    assert_non_null(strstr(r.err, "cuda:7 is not here"));
    assert_non_null(strstr(r.out, "no measured rate for this model as f32 on h100"));
    cli_expect(&r, "inspect-file $D/a.c --dry-run --device cuda:7 --as h100 " TINY, 0);
}

/* What a token of --offload takes: the link's speed as given or as kept, and the rate of the same without --offload;
 * without a rate the link's bound. The rows are those of a device that is not here, under its name. */
static void offload_is_reckoned_from_the_link_and_the_rate(void **state)
{
    (void)state;
    static const char plan[] = "plan --json -m random:gemma3-270m:q8_0 -c 512 --device cuda:7 --mem-limit "
                               "cuda:7=1GiB --offload weights ";
    char line[256];
    json_t *e = expected(plan), *o = json_object_get(e, "offload");
    const double bytes = cli_number(o, "in_bytes");
    assert_true(bytes > 90e6 && bytes < 120e6); /* 18 layers; the embedding stays */
    assert_int_equal(json_object_size(o), 3);
    json_decref(e);
    snprintf(line, sizeof(line), "%s--link-gb-s 10", plan);
    e = expected(line);
    o = json_object_get(e, "offload");
    assert_true(json_is_true(json_object_get(o, "is_bound")));
    assert_true(cli_number(o, "decode_tok_s") * bytes / 10e9 > 0.999);
    assert_true(cli_number(o, "decode_tok_s") * bytes / 10e9 < 1.001);
    json_decref(e);
    cli_shell(&r, "mkdir -p $D/state/mythos; printf "
                  "'processor,setup,model,type,shape,test,depth,tok_s,tokens,answers\n"
                  "\"cuda:7\",\"cuda:7\",\"link\",MB,link,tg,0,20000,1000,\n"
                  "\"cuda:7\",\"cuda:7\",\"x\",q8_0,dcbeb9b76457d6a2,tg,0,100,1000,\n' >$D/state/mythos/rates.csv");
    e = expected(plan);
    o = json_object_get(e, "offload");
    assert_true(cli_number(o, "link_gb_s") == 20);
    assert_true(json_is_false(json_object_get(o, "is_bound")));
    /* copying takes about half of the step's 10 ms, and overlaps */
    assert_true(cli_number(o, "copy_seconds") > 4e-3 && cli_number(o, "copy_seconds") < 6e-3);
    assert_true(cli_number(o, "decode_tok_s") < 100 && cli_number(o, "decode_tok_s") > 70);
    json_decref(e);
    cli_expect(&r,
               "plan -m random:gemma3-270m:q8_0 -c 512 --device cuda:7 --mem-limit cuda:7=1GiB --offload kv "
               "--link-gb-s 4",
               0);
    assert_non_null(strstr(r.out, " back for a token at position 511\n  link           4 GB/s, as given\n"));
    cli_expect(&r, "plan --offload weights --device cpu " TINY, 0);
    assert_null(strstr(r.out, "link "));
    cli_expect(&r,
               "plan --for embed -m random:embeddinggemma-tiny:f32 --device cuda:7 --mem-limit cuda:7=1GiB --offload "
               "weights",
               0);
    assert_null(strstr(r.out, "link "));
    cli_shell(&r, "rm $D/state/mythos/rates.csv"); /* nothing was measured yet */
}

/* A run moves bytes, and how fast it did is what the next plan says. */
static void a_run_with_offload_measures_the_link(void **state)
{
    (void)state;
    cli_shell(&r, "$M devices | grep -q vulkan:0");
    if (r.code)
        check_skip("no Vulkan device");
    cli_expect(&r, "bench -p 16 -n 16 -m random:gemma3-tiny:f32 --device vulkan:0 --offload weights", 0);
    json_t *e = expected("plan --json -m random:gemma3-tiny:q8_0 --device vulkan:0 --offload kv");
    assert_true(cli_number(json_object_get(e, "offload"), "link_gb_s") > 0);
    json_decref(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_measurement_there_is_no_figure),
        cmocka_unit_test(results_of_other_machines_have_names),
        cmocka_unit_test(rows_of_a_bench_of_another_machine_are_read),
        cmocka_unit_test(flags_without_rates_are_named),
        cmocka_unit_test(answers_at_once_have_their_own_rate),
        cmocka_unit_test(a_device_that_is_not_here_is_planned),
        cmocka_unit_test(offload_is_reckoned_from_the_link_and_the_rate),
        cmocka_unit_test(a_run_is_what_the_next_plan_knows),
        cmocka_unit_test(a_job_without_answers_is_known_by_its_prompts),
        cmocka_unit_test(bench_measures_too),
        cmocka_unit_test(generate_and_embed_measure_too),
        cmocka_unit_test(a_run_with_offload_measures_the_link),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
