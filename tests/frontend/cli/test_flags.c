/* test_flags.c - flags have their effect: a run with a flag differs from one without it exactly where it should. */
#include "cli_run.h"
#include "engine/base/asan.h"

static cli_result r;

static double plan_number(const char *flags, const char *path)
{
    char line[512];
    snprintf(line, sizeof(line), "plan " TINY "--json %s", flags);
    json_t *j = cli_json(&r, line);
    double v = cli_number(j, path);
    json_decref(j);
    return v;
}

static const char *generate_text(const char *flags)
{
    static char text[2][1 << 14];
    static int turn;
    char line[512];
    snprintf(line, sizeof(line), "generate " TINY "--ids 2,10,20,30 -n 24 --ignore-eos --json %s", flags);
    cli_expect(&r, line, 0);
    snprintf(text[turn ^= 1], sizeof(text[0]), "%.16000s", r.out);
    return text[turn];
}

#define GEMMA4_E "-m random:gemma4-e-tiny:q8_0 "

static double weights_with(const char *flags)
{
    char line[512];
    snprintf(line, sizeof(line), "plan " GEMMA4_E "--json %s", flags);
    json_t *j = cli_json(&r, line);
    double v = cli_number(j, "classes.weights");
    json_decref(j);
    return v;
}

/* --ple, where the table of per-layer embeddings is kept, changes the bytes of the plan. --kv-skip, which rows run
 * through all layers, changes neither the logits of the last token nor the answer. */
static void what_gemma4_e_adds(void **state)
{
    (void)state;
    char text[2][1 << 12];
    assert_true(weights_with("--ple device") > weights_with(""));
    assert_true(weights_with("--ple host") == weights_with("") && weights_with("--ple disk") == weights_with(""));
    for (int i = 0; i < 2; i++) {
        char line[512];
        snprintf(line, sizeof(line),
                 "generate " GEMMA4_E "--ids 2,10,20,30,40,50 -n 12 --ignore-eos --json --kv-skip %s",
                 i ? "off" : "on");
        cli_expect(&r, line, 0);
        const char *ids = strstr(r.out, "\"ids\"");
        snprintf(text[i], sizeof(text[i]), "%.4000s", ids ? ids : r.out);
        if (strchr(text[i], ']'))
            *strchr(text[i], ']') = '\0';
    }
    assert_string_equal(text[0], text[1]);
    for (int i = 0; i < 3; i++) { /* the last token's logits: skipped, not skipped, and of all tokens */
        static const char *const flags[] = {"--last 1", "--last 1 --kv-skip off", ""};
        char line[512];
        snprintf(line, sizeof(line), "logits " GEMMA4_E "--ids 2,10,20,30,40,50 --top-k 3 --fast %s", flags[i]);
        json_t *j = cli_json(&r, line), *last = json_array_get(j, json_array_size(j) - 1);
        assert_int_equal(json_array_size(j), i < 2 ? 1 : 6);
        char *best = json_dumps(last, JSON_COMPACT | JSON_REAL_PRECISION(17));
        assert_non_null(best);
        snprintf(text[i > 0], sizeof(text[0]), "%.4000s", best);
        free(best);
        json_decref(j);
        assert_true(i == 0 || strcmp(text[0], text[1]) == 0);
    }
    cli_expect(&r, "generate " GEMMA4_E "-p x --kv-skip perhaps", 2);
    cli_expect(&r, "generate " GEMMA4_E "-p x --ple nowhere", 2);
}

/* On the CPU, experts are in host memory whatever the flags say. tests/engine/run/test_experts.c has other devices. */
static void where_experts_stay(void **state)
{
    (void)state;
    static const char *const flags[] = {"", "--cpu-moe", "-cmoe", "--n-cpu-moe 2", "-ncmoe 99"};
    double total = 0;
    char ids[256] = "";
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        char line[256];
        snprintf(line, sizeof(line), "plan -m random:gemma4-moe-tiny:q8_0 --device cpu --json %s", flags[i]);
        json_t *j = cli_json(&r, line);
        total = i ? total : cli_number(j, "total_bytes");
        assert_true(cli_number(j, "total_bytes") == total && cli_number(j, "host_expert_bytes") == 0);
        json_decref(j);
        snprintf(line, sizeof(line),
                 "generate -m random:gemma4-moe-tiny:q8_0 --device cpu --ids 2,10,20 -n 6 --ignore-eos --json %s",
                 flags[i]);
        cli_expect(&r, line, 0);
        const char *made = strstr(r.out, "\"ids\"");
        assert_non_null(made);
        if (i == 0)
            snprintf(ids, sizeof(ids), "%.*s", (int)strcspn(made, "]"), made);
        assert_true(ids[0] && strncmp(made, ids, strlen(ids)) == 0);
    }
    cli_expect(&r, "plan " TINY "--cpu-moe", 0); /* a model without experts ignores the flag */
    cli_expect(&r, "plan " TINY "--n-cpu-moe all", 2);
}

static void sizes_of_context_batch_and_cache(void **state)
{
    (void)state;
    double kv = plan_number("", "classes.kv_global"), act = plan_number("", "classes.activations");
    assert_true(plan_number("", "n_ctx") == 4096);
    assert_true(plan_number("-c 1024", "n_ctx") == 1024);
    assert_true(plan_number("-c 1024", "classes.kv_global") < kv);
    assert_true(plan_number("--ctx-size 8192", "classes.kv_global") > kv);
    assert_true(plan_number("-ub 64", "classes.activations") < act);
    assert_true(plan_number("-ub 64", "n_ubatch") == 64);
    assert_true(plan_number("-b 32", "n_ubatch") == 32);
    assert_true(plan_number("-b 32 -ub 64", "n_ubatch") == 32);
    assert_true(plan_number("-b 96 -ub 64", "n_ubatch") == 64);
    assert_true(plan_number("-b 2048", "n_ubatch") == 512);
    assert_true(plan_number("-ctk f32 -ctv f32", "classes.kv_global") == 2 * kv);
    assert_true(plan_number("-ctk q8_0 -ctv q8_0", "classes.kv_global") < kv);
    assert_true(plan_number("-ctk bf16", "classes.kv_global") == kv);
    double mixed = plan_number("-ctk f32 -ctv f16", "classes.kv_global");
    assert_true(mixed == 1.5 * kv && plan_number("-ctk f16 -ctv f32", "classes.kv_global") == mixed);
    assert_true(plan_number("--parallel 3", "n_seq") == 3);
    assert_true(plan_number("--parallel 3", "classes.kv_global") > kv);
    assert_true(plan_number("--exact", "classes.kv_global") == 2 * kv);
    assert_true(plan_number("--for logits", "classes.kv_global") == 2 * kv);
    assert_true(plan_number("--for bench", "classes.staging") > plan_number("", "classes.staging"));
}

static void limit_shrinks_what_was_left_open(void **state)
{
    (void)state;
    double total = plan_number("", "total_bytes");
    char flags[64];
    snprintf(flags, sizeof(flags), "--mem-limit %.0f", total * 0.7);
    assert_true(plan_number(flags, "total_bytes") <= total * 0.7);
    setenv("MYTHOS_MEM_LIMIT", "64K", 1);
    json_t *j = cli_json(&r, "plan " TINY "--json");
    unsetenv("MYTHOS_MEM_LIMIT");
    assert_true(json_is_false(json_object_get(j, "fits")));
    assert_true(json_array_size(json_object_get(j, "suggestions")) >= 3);
    json_decref(j);
}

/* The memory report of a run and the plan of the same command agree to the byte in every class but STAGING. Its plan
 * does not depend on the input, and the run must have used some of it and no more. */
static void check_report(const char *command, const char *plan)
{
    char line[512];
    snprintf(line, sizeof(line), "%s --mem-report %s/rep.json", command, cli_dir);
    cli_run(&r, line);
    assert_true(r.code == 0 || r.code == 3); /* 3 when the answer of random weights is cut off */
    json_t *p = cli_json(&r, plan);
    snprintf(line, sizeof(line), "%s/rep.json", cli_dir);
    json_t *rep = json_load_file(line, 0, NULL), *v;
    const char *name;
    assert_non_null(rep);
    json_object_foreach(json_object_get(rep, "classes"), name, v)
    {
        double planned = cli_number(v, "planned"), peak = cli_number(v, "peak"),
               said = cli_number(json_object_get(p, "classes"), name);
        const bool is_used = strcmp(name, "staging") != 0 ? peak == planned : peak > 0 && peak <= planned;
        if (!is_used || planned != said)
            print_error("%s\n  %s: planned %.0f, peak %.0f, plan says %.0f\n", command, name, planned, peak, said);
        assert_true(is_used && planned == said);
        assert_true(cli_number(v, "live") == 0);
    }
    assert_int_equal(json_object_size(json_object_get(rep, "classes")),
                     json_object_size(json_object_get(p, "classes")));
    assert_true(cli_number(rep, "peak_bytes") <= cli_number(p, "total_bytes"));
    assert_true(cli_number(rep, "rss_anon_peak_bytes") > 0);
#if !defined(__SANITIZE_ADDRESS__)
    assert_true(cli_number(rep, "rss_anon_peak_bytes") <= cli_number(rep, "peak_bytes") + (8 << 20));
#endif
    json_decref(rep);
    json_decref(p);
}

static void report_equals_plan(void **state)
{
    (void)state;
    check_report("generate " TINY "-p hello -n 3", "plan " TINY "--json");
    check_report("generate " TINY "-p hello -n 3 -c 256 -ub 32 -ctk q8_0 -ctv f32 --exact",
                 "plan " TINY "--json -c 256 -ub 32 -ctk q8_0 -ctv f32 --exact");
    check_report("generate " TINY "-p hello -n 3 --mem-limit 5M", "plan " TINY "--json --mem-limit 5M");
    check_report("logits " TINY "--ids 2,3,4 -c 128 -o /dev/null", "plan " TINY "--for logits -c 128 --json");
    check_report("generate -m tests/golden/models/gemma3-gqa-linear --ids 2,3 -n 3",
                 "plan -m tests/golden/models/gemma3-gqa-linear --json");
    check_report("inspect-file " TINY "tests/corpus/demo.c",
                 "plan " TINY "--for inspect-file tests/corpus/demo.c --json");
    check_report("bench " TINY "-r 1 --mem-limit 64M -q", "plan " TINY "--for bench --mem-limit 64M --json");
    check_report("bench -m random:embeddinggemma-tiny:q8_0 -p 256 -r 1 --mem-limit 64M -q",
                 "plan -m random:embeddinggemma-tiny:q8_0 --for bench --mem-limit 64M --json");
}

/* The report of STAGING is what was really used: little of the plan for a short input, more than the usual 1 MiB for a
 * long one, and never more than was planned. */
static void staging_is_what_was_used(void **state)
{
    (void)state;
    static const struct {
        const char *command;
        bool is_long;
    } row[] = {
        {"generate " TINY "-p hello -n 3", false},
        {"generate " TINY "-n 2 -f $D/short.txt", false},
        {"perplexity " TINY "-c 64 --chunks 1 $D/short.txt", false},
        {"perplexity " TINY "-c 64 --chunks 1 $D/long.txt", true},
        {"imatrix " TINY "-c 64 --chunks 1 -o $D/i.gguf $D/long.txt", true},
        {"embed -m random:embeddinggemma-tiny:f32 --jsonl $D/long.jsonl", true},
    };
    cli_shell(&r, "yes 'int f(int n) { return n; }' | head -c 500 >$D/short.txt; "
                  "yes 'int f(int n) { return n; }' | head -c 400000 >$D/long.txt; "
                  "yes '\"int f(int n) { return n; } int g(int n) { return n; }\"' | head -400 >$D/long.jsonl");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char line[512];
        snprintf(line, sizeof(line), "$M %s --device cpu --mem-report $D/mem.json", row[i].command);
        cli_shell(&r, line);
        assert_int_equal(r.code, 0);
        cli_expect_planned(row[i].command);
        snprintf(line, sizeof(line), "%s/mem.json", cli_dir);
        json_t *j = json_load_file(line, 0, NULL);
        const double planned = cli_number(j, "classes.staging.planned"), peak = cli_number(j, "classes.staging.peak");
        if (row[i].is_long ? peak <= 1 << 20 : peak >= planned / 2)
            fail_msg("%s: staging: planned %.0f, peak %.0f", row[i].command, planned, peak);
        json_decref(j);
    }
}

/* Two modes with the same text; what is reserved is refused before the weights are read where the system has too little
 * of it, also under a limit that would allow it. */
static void memory_is_shared_or_reserved(void **state)
{
    (void)state;
    char shared[1 << 14];
    snprintf(shared, sizeof(shared), "%s", generate_text("--mem-mode share -n 20"));
    assert_string_equal(generate_text("--mem-mode reserve -n 20"), shared);
    cli_expect(&r, "generate " TINY "-p x --mem-mode both", 2);
#if !defined(__SANITIZE_ADDRESS__)
    static const char *const mode[] = {"reserve", "share"};
    for (int i = 0; i < 2; i++) {
        char line[256];
        snprintf(line, sizeof(line),
                 "(ulimit -v 600000; $M generate -m random:gemma3-1b:q8_0 -p x -n 1 --device cpu --mem-limit 8GiB "
                 "--mem-mode %s)",
                 mode[i]);
        cli_shell(&r, line);
        assert_int_equal(r.code, 71);
        assert_non_null(strstr(r.err, "needs ")); /* before anything is taken, whatever the limit says */
        assert_null(strstr(r.err, "raise --mem-limit"));
    }
    uint32_t n_short = 0;
    r.code = 1;
    for (uint32_t kib = 30000; r.code != 0; kib += 2500) { /* without a plan: who said no is named, and what helps */
        char line[256];
        snprintf(line, sizeof(line),
                 "(ulimit -v %u; $M convert -m random:gemma3-270m:q8_0 -o $D/short.gguf --mem-limit 1GiB -q); c=$?; "
                 "rm -f $D/short.gguf; exit $c",
                 kib);
        cli_shell(&r, line);
        assert_null(strstr(r.err, "raise --mem-limit"));
        n_short += r.code == 71 && strstr(r.err, "the system has no more for this process");
    }
    assert_true(n_short > 0);
#endif
}

/* Under a limit on the address space (ulimit -v) a plan of weights that are read counts them once, though it maps their
 * file for the header: where a run goes on with a smaller context, it plans one. */
static void weights_in_a_small_address_space(void **state)
{
    (void)state;
    char line[512];
    if (MYTH_HAS_ASAN)
        check_skip("AddressSanitizer allows no limit on the address space");
#define CAGE "ulimit -v %u; export MALLOC_ARENA_MAX=1; "
#define READ "$M %s -m $D/read.gguf --load-mode pread -t 1 %s"
    cli_expect(&r, "convert -m random:gemma3-270m:q8_0 -o $D/read.gguf -q", 0);
    uint32_t kib = 280000;
    for (r.code = 1; r.code != 0 && kib < 500000; kib += 10000) {
        snprintf(line, sizeof(line), "(" CAGE READ ")", kib, "generate", "-p x -n 1");
        cli_shell(&r, line);
    }
    assert_non_null(strstr(r.err, "the most that the memory limit allows"));
    snprintf(line, sizeof(line), "(" CAGE READ ")", kib, "plan", "--json");
    cli_shell(&r, line);
    assert_non_null(strstr(r.out, "\"fits\":true"));
    /* A file that does not fit the address space is no fault of the disk. */
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof(line), "(" CAGE READ ")%s", 250000u, "generate", i ? "-p x" : "-p x --load-mode mmap",
                 i ? "; c=$?; rm -f $D/read.gguf; exit $c" : "");
        cli_shell(&r, line);
        assert_int_equal(r.code, 71);
        assert_non_null(strstr(r.err, "the system has no more for this process"));
    }
#undef CAGE
#undef READ
}

static void threads_device_and_messages(void **state)
{
    (void)state;
    json_t *j = cli_json(&r, "devices --json -t 1");
    assert_true(cli_number(json_array_get(j, json_array_size(j) - 1), "threads") == 1);
    json_decref(j);
    setenv("MYTHOS_THREADS", "1", 1);
    j = cli_json(&r, "devices --json");
    assert_true(cli_number(json_array_get(j, json_array_size(j) - 1), "threads") == 1);
    json_decref(j);
    unsetenv("MYTHOS_THREADS");

    setenv("MYTHOS_DEVICE", "nothing", 1);
    cli_expect(&r, "generate " TINY "-p x -n 1", 69);
    cli_expect(&r, "generate " TINY "-p x -n 1 --device cpu", 0);
    unsetenv("MYTHOS_DEVICE");

    cli_expect(&r, "bench " TINY "-p 4 -n 1 -r 1", 0);
    assert_non_null(strstr(r.err, "GB/s"));
    cli_expect(&r, "bench " TINY "-p 4 -n 1 -r 1 -q", 0);
    assert_string_equal(r.err, "");
    cli_expect(&r, "generate " TINY "-p x -n 1", 0);
    assert_string_equal(r.err, "");
    cli_expect(&r, "generate " TINY "-p x -n 1 -v", 0);
    assert_non_null(strstr(r.err, "debug "));
    cli_expect(&r, "generate -m /nowhere -p x --log-format json", 66);
    j = json_loads(r.err, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(j, "level")), "error");
    assert_non_null(strstr(json_string_value(json_object_get(j, "msg")), "/nowhere"));
    json_decref(j);
}

static void show_config_names_the_source(void **state)
{
    (void)state;
    setenv("MYTHOS_UBATCH_SIZE", "48", 1);
    cli_expect(&r, "plan -c 1000 --show-config", 0);
    unsetenv("MYTHOS_UBATCH_SIZE");
    char name[3][32], value[3][32], from[3][32];
    assert_int_equal(sscanf(strstr(r.out, "ctx-size"), "%31s %31s %31s", name[0], value[0], from[0]), 3);
    assert_int_equal(sscanf(strstr(r.out, "ubatch-size"), "%31s %31s %31s", name[1], value[1], from[1]), 3);
    assert_int_equal(sscanf(strstr(r.out, "parallel"), "%31s %31s %31s", name[2], value[2], from[2]), 3);
    assert_string_equal(value[0], "1000");
    assert_string_equal(from[0], "flag");
    assert_string_equal(value[1], "48");
    assert_string_equal(from[1], "environment");
    assert_string_equal(value[2], "1");
    assert_string_equal(from[2], "default");
}

/* --mem-limit and --max-memory-gb are one limit: what stands above the other counts, whichever of the names it has. */
static void a_limit_of_two_names_is_one(void **state)
{
    (void)state;
    static const struct {
        const char *set, *flag;
        int code;
    } row[] = {
        {"MYTHOS_MEM_LIMIT=1MiB", "--max-memory-gb 1", 0},
        {"MYTHOS_MEM_LIMIT=1GiB", "--max-memory-gb 0.001", 71},
        {"MYTHOS_MAX_MEMORY_GB=0.001", "--mem-limit 1GiB", 0},
        {"MYTHOS_MAX_MEMORY_GB=1", "--mem-limit 1MiB", 71},
        {"MYTHOS_MAX_MEMORY_GB=0.001", "", 71},
        {"MYTHOS_MAX_MEMORY_GB=1 MYTHOS_MEM_LIMIT=1GiB", "", 2},
        {"MYTHOS_MAX_MEMORY_GB=1 MYTHOS_MEM_LIMIT=1MiB", "--mem-limit 1GiB", 0},
        {"MYTHOS_MAX_MEMORY_GB=1", "--mem-limit 1GiB --max-memory-gb 1", 2},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char line[512];
        snprintf(line, sizeof(line), "%s $M generate -p x " TINY "-n 1 -c 128 %s", row[i].set, row[i].flag);
        cli_shell(&r, line);
        if (r.code != row[i].code)
            fail_msg("%s: exit %d, not %d: %s", line, r.code, row[i].code, r.err);
    }
}

static void sampling(void **state)
{
    (void)state;
    const char *greedy = generate_text("");
    assert_string_equal(generate_text(""), greedy);
    static const char *const hot = "--temp 20 --top-k 0 --top-p 1 --min-p 0 ";
    char line[256], other[256];
    snprintf(line, sizeof(line), "%s-s 1", hot);
    const char *one = generate_text(line);
    char saved[1 << 14];
    snprintf(saved, sizeof(saved), "%s", one);
    assert_string_equal(generate_text(line), saved);
    snprintf(other, sizeof(other), "%s--seed 2", hot);
    assert_string_not_equal(generate_text(other), saved);
    assert_string_not_equal(generate_text(""), saved);
    char calm[1 << 14];
    snprintf(calm, sizeof(calm), "%s", generate_text(""));
    assert_string_equal(generate_text("--temp 20 --top-k 1 -s 1"), calm);
    assert_string_equal(generate_text("--temp 20 --top-k 0 --top-p 0.000001 --min-p 0 -s 1"), calm);
    assert_string_equal(generate_text("--temp 20 --top-k 0 --top-p 0 --min-p 0 -s 1"), calm);
    assert_string_equal(generate_text("--temp 20 --top-k 0 --top-p 1 --min-p 1 -s 1"), calm);
    snprintf(other, sizeof(other), "%s-s 1 --repeat-penalty 50", hot);
    assert_string_not_equal(generate_text(other), saved);
    char penal[1 << 14];
    snprintf(penal, sizeof(penal), "%s", generate_text("--repeat-penalty 50"));
    assert_string_not_equal(penal, calm);
    assert_string_not_equal(generate_text("--repeat-penalty 50 --repeat-last-n 1"), penal);
    assert_string_equal(generate_text("--repeat-penalty 50 --repeat-last-n 0"), calm);
}

static void how_a_prompt_is_read(void **state)
{
    (void)state;
    json_t *j = cli_json(&r, "generate " TINY "-p '<bos>' -n 0 --json");
    double plain = cli_number(j, "prompt_tokens");
    json_decref(j);
    j = cli_json(&r, "generate " TINY "-p '<bos>' --special -n 0 --json");
    assert_true(cli_number(j, "prompt_tokens") == 2 && plain > 2);
    json_decref(j);
    assert_non_null(strstr(r.err, "two beginning-of-sequence tokens"));
    cli_expect(&r, "generate " TINY "-p 'hi<bos>' --special -n 0 --json", 0);
    assert_null(strstr(r.err, "beginning-of-sequence"));
    j = cli_json(&r, "generate " TINY "-p hi -n 0 --json");
    plain = cli_number(j, "prompt_tokens");
    json_decref(j);
    j = cli_json(&r, "generate " TINY "-p hi --chat -n 0 --json");
    assert_true(cli_number(j, "prompt_tokens") > plain);
    assert_int_equal(json_array_size(json_object_get(j, "ids")), 0);
    json_decref(j);
}

/* An answer that its form, or the context, leaves unfinished is marked as such, with the reason. */
static void an_answer_that_is_cut_says_why(void **state)
{
    static const struct {
        const char *flags, *says; /* NULL: it is whole */
    } row[] = {
        {"-n 5 -j '{\"type\":\"object\"}'", "-n"},
        {"-n 5 --grammar 'root ::= \"abcdefghijklmnopqrstuvwxyz\"'", "cut at 5 tokens"},
        {"-n 5 --grammar 'root ::= [a-z]+'", NULL},
        {"-n 0 --grammar 'root ::= [a-z]+'", NULL},
        {"-n 5", NULL},
        {"-n 8 -c 8", "the context of 8 tokens is full"},
    };
    char line[256];
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        snprintf(line, sizeof(line), "generate " TINY "-p hello --ignore-eos %s", row[i].flags);
        cli_run(&r, line);
        if (r.code != (row[i].says ? 3 : 0))
            fail_msg("%s: exit %d: %s%s", line, r.code, r.out, r.err);
        if (row[i].says ? !strstr(r.err, row[i].says) : strstr(r.err, "not whole") != NULL)
            fail_msg("%s: %s", line, r.err);
    }
}

static void load_mode_and_tensor_check(void **state)
{
    (void)state;
    cli_shell(&r, "mkdir $D/m; cp tests/golden/models/gemma3-mqa/* $D/m; $M generate -m $D/m --ids 2,3 -n 1 "
                  "--check-tensors --mem-report $D/a.json;"
                  "$M generate -m $D/m --ids 2,3 -n 1 --load-mode pread --mem-report $D/b.json");
    assert_int_equal(r.code, 0);
    char path[256];
    snprintf(path, sizeof(path), "%s/a.json", cli_dir);
    json_t *a = json_load_file(path, 0, NULL);
    snprintf(path, sizeof(path), "%s/b.json", cli_dir);
    json_t *b = json_load_file(path, 0, NULL);
    assert_true(cli_number(b, "classes.weights_mapped.peak") < cli_number(a, "classes.weights_mapped.peak"));
    assert_true(cli_number(b, "classes.weights.peak") > cli_number(a, "classes.weights.peak"));
    json_decref(a);
    json_decref(b);
    cli_shell(&r, "N=$(stat -c %s $D/m/model.safetensors); printf '\\377\\377\\377\\377' | dd "
                  "of=$D/m/model.safetensors bs=1 seek=$((N - 4)) conv=notrunc status=none;"
                  "$M generate -m $D/m --ids 2,3 -n 1 --check-tensors");
    assert_int_equal(r.code, 65);
    assert_non_null(strstr(r.err, "not finite"));
}

static void exact_and_fast_logits(void **state)
{
    (void)state;
    cli_shell(&r, "$M logits " TINY "--ids 2,3,4 -o $D/a.npy; $M logits " TINY
                  "--ids 2,3,4 -o $D/b.npy --exact; cmp $D/a.npy $D/b.npy");
    assert_int_equal(r.code, 0);
    cli_shell(&r, "$M logits " TINY "--ids 2,3,4 -o $D/c.npy --fast -ctk q8_0 -ctv q8_0; cmp -s $D/a.npy $D/c.npy");
    assert_int_equal(r.code, 1);
}

/* A flag that would change nothing is refused, or is none of the command's. That every flag is read at all is held by
 * tests/tree/test_options.sh. */
static void what_has_no_effect_is_refused(void **state)
{
    static const struct {
        const char *line, *says;
    } row[] = {
        {"verify " TINY "-c 64", "-c"},
        {"verify " TINY "-ub 8", "-ub"},
        {"tokenize " TINY "--check-tensors README.md", "--check-tensors"},
        {"tokenize " TINY "--load-mode pread README.md", "--load-mode"},
        {"detokenize " TINY "--check-tensors 2", "--check-tensors"},
        {"generate " TINY "-p x --offload-layers 1", "add --offload"},
        {"generate " TINY "--ids 2 --special", "leave one of both out"},
        {"generate " TINY "--chat -p x --special", "leave one of both out"},
        {"embed --resume off README.md", "add -o FILE"},
        {"embed --line-bytes 4096 README.md", "--jsonl; add it"},
        {"generate " TINY "-p x --parallel-threshold 0.1 --stop y", "leave --stop out"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        cli_expect(&r, row[i].line, 2);
        if (!strstr(r.err, row[i].says))
            fail_msg("%s: %s", row[i].line, r.err);
    }
}

/* A limit that is reached before there is a plan: the refusal says up to where to raise it, each time further. */
static void a_refusal_says_how_far_to_raise(void **state)
{
    (void)state;
    char line[256];
    unsigned mib = 6, more = 0, n_turn = 0;
    cli_shell(&r, "head -c 2000000 /dev/zero | tr '\\0' a >$D/long");
    for (;; mib = more, n_turn++) {
        snprintf(line, sizeof(line), "generate " TINY "-f $D/long -n 1 --dry-run --mem-limit %uMiB", mib);
        cli_run(&r, line);
        const char *to = strstr(r.err, "MiB to ");
        if (!to)
            break;
        assert_int_equal(r.code, 71);
        assert_int_equal(sscanf(to, "MiB to %uMiB or more", &more), 1);
        if (more <= mib || n_turn > 9)
            fail_msg("%s: %s", line, r.err);
    }
    assert_true(n_turn > 0);
}

/* A file or a variable speaks to all commands: what this run has no use for changes nothing, and is no mistake. */
static void settings_without_an_effect_are_passed_over(void **state)
{
    static const char *const set[] = {
        "max_parallel_tokens: 3",
        "max_memory_gb: 3\\nmax_cache_tokens: 640",
        "set_mode: visible",
        "prune_after: 2",
        "parallel: 4",
        "resume: off",
        "top_logprobs: 2",
        "offload_layers: 2",
        "n_predict: 7",
        "parallel_threshold: 0.5",
    };
    static const char *const line[] = {
        "generate " TINY "-p x -n 1 -c 256 --ignore-eos --parallel-threshold 0",
        "plan " TINY "-n 128 --parallel-threshold 0.5",
        "plan " TINY "--for logits",
        "embed $D/short",
    };
    char *free_of[4], command[512];
    (void)state;
    cli_shell(&r, "echo a few words >$D/short");
    for (size_t k = 0; k < 4; k++) {
        cli_expect(&r, line[k], 0);
        free_of[k] = strdup(r.out);
        assert_non_null(free_of[k]);
    }
    for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
        for (size_t k = 0; k < 4; k++) {
            const bool has_effect = k == 1 || (k == 2 && (i == 1 || i == 4)); /* of a plan */
            snprintf(command, sizeof(command), "printf '%s\\n' >$D/set.yaml; $M %s --config $D/set.yaml", set[i],
                     line[k]);
            cli_shell(&r, command);
            if (r.code != 0 || (!has_effect && strcmp(r.out, free_of[k]) != 0))
                fail_msg("%s: exit %d: %s%s", command, r.code, r.out, r.err);
        }
    for (size_t k = 0; k < 4; k++)
        free(free_of[k]);
    cli_shell(&r, "MYTHOS_MAX_PARALLEL_TOKENS=3 MYTHOS_PARALLEL=4 $M generate " TINY "-p x -n 1");
    assert_int_equal(r.code, 0);
    cli_expect(&r, "generate " TINY "-p x --max-parallel-tokens 3", 2);
    cli_expect(&r, "generate " TINY "-p x --parallel 3", 2);
    cli_expect(&r, "plan " TINY "-n 3", 2);
    cli_expect(&r, "plan " TINY "--for chat --parallel-threshold 0.1", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_gemma4_e_adds),
        cmocka_unit_test(where_experts_stay),
        cmocka_unit_test(sizes_of_context_batch_and_cache),
        cmocka_unit_test(limit_shrinks_what_was_left_open),
        cmocka_unit_test(report_equals_plan),
        cmocka_unit_test(staging_is_what_was_used),
        cmocka_unit_test(memory_is_shared_or_reserved),
        cmocka_unit_test(weights_in_a_small_address_space),
        cmocka_unit_test(threads_device_and_messages),
        cmocka_unit_test(show_config_names_the_source),
        cmocka_unit_test(a_limit_of_two_names_is_one),
        cmocka_unit_test(sampling),
        cmocka_unit_test(how_a_prompt_is_read),
        cmocka_unit_test(an_answer_that_is_cut_says_why),
        cmocka_unit_test(load_mode_and_tensor_check),
        cmocka_unit_test(exact_and_fast_logits),
        cmocka_unit_test(what_has_no_effect_is_refused),
        cmocka_unit_test(a_refusal_says_how_far_to_raise),
        cmocka_unit_test(settings_without_an_effect_are_passed_over),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
