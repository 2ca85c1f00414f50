/* test_suggestions.c - what a refusal for memory proposes is accepted by the command that was refused, as it is
 * printed: no flag that the command does not have, and no plan that does not fit after all. */
#include "cli_run.h"

#include "frontend/cli/plan_out.h"

#include <string.h>

#define MODEL "-m random:gemma3-tiny:q8_0 "

static const char *const command[] = {
    "generate " MODEL "-p x -n 4",
    "generate " MODEL "-p x -n 4 -c 4096",
    "generate " MODEL "-p x -n 4 --parallel-threshold 0.001 --combine branches",
    "generate " MODEL "--jsonl $D/p.jsonl -n 4 --parallel 4 --output $D/g.out",
    "logits " MODEL "--ids 1,2,3 --top-k 2",
    "perplexity " MODEL "$D/text",
    "embed -m random:embeddinggemma-tiny:q8_0 hello",
    "inspect-file $D/a.c " MODEL "-n 4 --no-cache",
    "inspect $D/a.c " MODEL "--find candidates --no-cache",
    "inspect $D/a.c " MODEL "--jobs 2 -n 4 --no-cache",
    "candidates $D/a.c --judge " MODEL,
    "chat " MODEL "--messages $D/m.json -n 4",
    "logprobs " MODEL "$D/t.jsonl -o $D/l.out --resume off",
    "residuals " MODEL "$D/t.jsonl -o $D/r.out --resume off",
};

static cli_result r;

/* Runs the command with the changes of a suggestion, beside the limit where it names no other. */
static void try_suggestion(const char *line, unsigned kib, const char *change)
{
    char whole[1024];
    if (strstr(change, "--mem-limit"))
        snprintf(whole, sizeof(whole), "rm -f $D/*.out*; $M %s %s", line, change);
    else
        snprintf(whole, sizeof(whole), "rm -f $D/*.out*; $M %s --mem-limit %uK %s", line, kib, change);
    cli_shell(&r, whole);
    if (r.code != 0 && r.code != 1 && r.code != 3)
        fail_msg("%s: exit %d: %s", whole, r.code, r.err);
}

/* What the command needs, from a refusal. */
static double need_mib(const char *line)
{
    char run[1024];
    double mib = 0;
    snprintf(run, sizeof(run), "rm -f $D/*.out*; $M %s --mem-limit 64K", line);
    cli_shell(&r, run);
    const char *needs = strstr(r.err, "needs ");
    if (!needs || (sscanf(needs, "needs %lf MiB", &mib) != 1 && sscanf(needs, "needs at least %lf MiB", &mib) != 1))
        fail_msg("%s: exit %d: %s", run, r.code, r.err);
    return mib;
}

static void suggestions_run_as_printed(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    const uint32_t n_wanted = check_trials(50, 30);
    uint32_t n_refusal = 0, n_tried = 0;
    for (uint32_t i = 0; n_refusal < n_wanted && i < 4 * n_wanted + 100; i++) {
        char list[1024], run[1024];
        const char *line = command[i % (sizeof(command) / sizeof(*command))];
        const unsigned kib = (unsigned)(need_mib(line) * 1024 * (0.3 + 0.69 * check_unit(&rng)));
        snprintf(run, sizeof(run), "rm -f $D/*.out*; $M %s --mem-limit %uK", line, kib);
        cli_shell(&r, run);
        const char *fits = strstr(r.err, "fits with:");
        if (r.code != 71 || !fits)
            continue;
        n_refusal++;
        snprintf(list, sizeof(list), "%.*s", (int)strcspn(fits + 10, "\n;"), fits + 10);
        for (char *rest = list, *change; (change = strsep(&rest, ",")); n_tried++)
            try_suggestion(line, kib, change);
    }
    printf("%u refusals, %u suggestions\n", n_refusal, n_tried);
    assert_true(n_refusal == n_wanted && n_tried >= 3 * n_refusal);
}

/* ---- a chat's context ---- */

/* The bytes of `plan --for chat` with these flags, and its context. */
static double chat_bytes(const char *flags, uint32_t *n_ctx)
{
    char args[256];
    snprintf(args, sizeof(args), "plan --for chat --json " MODEL "%s", flags);
    json_t *j = cli_json(&r, args);
    const double bytes = cli_number(j, "total_bytes");
    *n_ctx = (uint32_t)cli_number(j, "n_ctx");
    json_decref(j);
    return bytes;
}

/* A session's bytes go with its context: a chat takes the context that a limit leaves, as its plan says; one that was
 * asked for is refused, with a smaller one that fits, down to twice the longest answer. */
static void a_chat_takes_the_context_that_fits(void **state)
{
    (void)state;
#define CHAT "printf 'hi\\n' | $M chat " MODEL
    char run[512], list[1024];
    uint32_t n_ctx, usual, n_context = 0;
    chat_bytes("", &usual);
    for (uint32_t want = 640; want < usual; want += 896) {
        char flags[64], note[64];
        snprintf(flags, sizeof(flags), "-c %u -ub 16", want);
        const double limit = chat_bytes(flags, &n_ctx);
        snprintf(flags, sizeof(flags), "-ub 16 --mem-limit %.0f", limit);
        assert_true(chat_bytes(flags, &n_ctx) <= limit && n_ctx == want);
        snprintf(run, sizeof(run), CHAT "-n 2 -ub 16 --mem-limit %.0f --mem-report $D/mem.json", limit);
        cli_shell(&r, run);
        snprintf(note, sizeof(note), "a context of %u tokens", want);
        if (r.code != 0 || !strstr(r.err, note))
            fail_msg("%s: exit %d: %s", run, r.code, r.err);
        cli_expect_planned(run);
        snprintf(run, sizeof(run), CHAT "-n 2 -c %u -ub 16 --mem-limit %.0f", usual, limit);
        cli_shell(&r, run);
        const char *fits = strstr(r.err, "fits with:");
        assert_true(r.code == 71 && fits);
        snprintf(list, sizeof(list), "%.*s", (int)strcspn(fits + 10, "\n;"), fits + 10);
        for (char *rest = list, *change; (change = strsep(&rest, ","));) {
            n_context += strncmp(change, " -c ", 4) == 0;
            try_suggestion("chat " MODEL "--messages $D/m.json -n 2 -ub 16", (unsigned)(limit / 1024) + 1, change);
        }
    }
    assert_true(n_context > 3);
    const double small = chat_bytes("-c 512 -ub 16", &n_ctx) + (64 << 10); /* for a longer answer */
    snprintf(run, sizeof(run), CHAT "-n 256 -ub 16 --mem-limit %.0f", small);
    cli_shell(&r, run);
    assert_int_equal(r.code, 0);
    snprintf(run, sizeof(run), CHAT "-n 600 -ub 16 --mem-limit %.0f", small); /* no context that is refused later */
    cli_shell(&r, run);
    assert_true(r.code == 71 && strstr(r.err, "needs "));
}

/* ---- how a refusal is printed ---- */

/* However little room there is, what is printed of the suggestions is whole, and where some are missing it is said. */
static void no_suggestion_is_cut(void **state)
{
    (void)state;
    static const char more[] = "; mythos plan lists more";
    myth_plan p = {.n_device = 1, .n_suggestion = MYTH_SUGGESTION_MAX};
    p.device[0] = (myth_plan_device){.limit_bytes = 1 << 30, .total_bytes = 2u << 30};
    for (uint32_t i = 0; i < MYTH_SUGGESTION_MAX; i++)
        p.suggestion[i] = (myth_suggestion){.changes = i % 2 ? MYTH_CHANGE_CTX | MYTH_CHANGE_CACHE_TYPE
                                                             : MYTH_CHANGE_LIMIT | MYTH_CHANGE_UBATCH,
                                            .n_ctx = 256 + 64 * i,
                                            .n_ubatch = 16 + 16 * i,
                                            .cache_type = MYTH_Q8_0,
                                            .limit_bytes = (uint64_t)(i + 1) << 30};
    uint32_t n_before = 0;
    for (size_t cap = 80; cap < 600; cap++) {
        char line[600], one[MYTH_SUGGESTION_TEXT], *rest;
        uint32_t n = 0, at = 0;
        myth_plan_refusal_print(line, cap, &p, more);
        assert_true(strlen(line) < cap);
        char *end = strstr(line, more);
        if (end)
            *end = '\0';
        rest = strstr(line, "fits with: ");
        for (char *change = rest ? rest + 11 : NULL; change; n++, at++) {
            char *comma = strstr(change, ", ");
            if (comma)
                *comma = '\0';
            for (;; at++) { /* in their order */
                assert_true(at < MYTH_SUGGESTION_MAX);
                myth_suggestion_print(one, sizeof(one), &p.suggestion[at]);
                if (strcmp(one, change) == 0)
                    break;
            }
            change = comma ? comma + 2 : NULL;
        }
        assert_true(end ? n < MYTH_SUGGESTION_MAX : n == MYTH_SUGGESTION_MAX);
        n_before = n > n_before ? n : n_before;
    }
    assert_int_equal(n_before, MYTH_SUGGESTION_MAX);
    cli_run(&r, "generate " MODEL "-p x -c 4096 --mem-limit 2M");
    assert_true(r.code == 71 && !strstr(r.err, "lists more")); /* they are all there */
    cli_run(&r,
            "generate --jsonl $D/p.jsonl --output $D/g.out -m random:gemma3-270m:q8_0 -c 32768 -ub 2048 -np 16 -n 2 "
            "--mem-limit 1700M");
    assert_true(r.code == 71 && strstr(r.err, "; mythos plan --for generate lists more\n"));
}

/* The tokens of the prompt, as the dry run says. */
static double prompt_tokens(const char *line)
{
    char run[1024];
    snprintf(run, sizeof(run), "%s --dry-run %s", line, strncmp(line, "inspect", 7) == 0 ? "--format json" : "--json");
    json_t *j = cli_json(&r, run);
    const double n = cli_number(j, "prompt_tokens");
    json_decref(j);
    return n;
}

/* No context is proposed, or chosen, that what is fed does not fit in: a prompt of 600 tokens; a file whose only part
 * would be divided, for which other memory would be needed. */
static void a_context_holds_what_is_fed(void **state)
{
    (void)state;
    static const char *const line[] = {"generate " MODEL "-f $D/long -n 4 -c 4096",
                                       "generate " MODEL "-f $D/long -n 4",
                                       "inspect $D/a.c " MODEL "--jobs 2 -n 4 --no-cache",
                                       "generate " MODEL "--jsonl $D/long.jsonl -n 4 -c 4096 --output $D/g.out",
                                       "generate " MODEL "--jsonl $D/long.jsonl -n 4 --output $D/g.out",
                                       "logprobs " MODEL "$D/long.jsonl -o $D/l.out -c 4096",
                                       "logprobs " MODEL "$D/long.jsonl -o $D/l.out"};
    uint32_t n_context = 0;
    cli_shell(
        &r, "for i in $(seq 300); do printf 'a '; done >$D/long; printf '\"%s\"\n' \"$(cat $D/long)\" >$D/long.jsonl");
    for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
        const double need = need_mib(line[i]) * 1024, n_tok = prompt_tokens(line[i]);
        assert_true(n_tok > 600);
        for (int k = 0; k < 12; k++) {
            char list[1024], run[1024];
            const unsigned kib = (unsigned)(need * (0.4 + 0.05 * k));
            snprintf(run, sizeof(run), "rm -f $D/*.out*; $M %s --mem-limit %uK", line[i], kib);
            cli_shell(&r, run);
            assert_null(strstr(r.err, "shorten it"));
            const char *fits = strstr(r.err, "fits with:");
            if (r.code != 71 || !fits)
                continue;
            snprintf(list, sizeof(list), "%.*s", (int)strcspn(fits + 10, "\n;"), fits + 10);
            for (char *rest = list, *change; (change = strsep(&rest, ","));) {
                const char *context = strstr(change, "-c ");
                if (!context)
                    continue;
                if (strtod(context + 3, NULL) <= n_tok)
                    fail_msg("%s --mem-limit %uK, with %.0f tokens: %s", line[i], kib, n_tok, change);
                try_suggestion(line[i], kib, change);
                n_context++;
            }
        }
    }
    printf("%u contexts proposed\n", n_context);
    assert_true(n_context > 3);
}

/* Two devices of unequal limits: the layers are divided so that both hold, where equal shares would not, and it is
 * said. The devices need not be here: it is a plan. */
static void layers_are_divided_by_limits(void **state)
{
    (void)state;
#define TWO "plan -m random:gemma3-1b:q8_0 -c 1024 --device cuda:0,cuda:1 --json "
    json_t *whole = cli_json(&r, TWO "--mem-limit cuda:0=8GiB,cuda:1=8GiB"), *plan;
    const json_t *devices = json_object_get(whole, "devices");
    const double all = json_number_value(json_object_get(json_array_get(devices, 1), "total_bytes")) +
                       json_number_value(json_object_get(json_array_get(devices, 2), "total_bytes"));
    json_decref(whole);
    assert_true(all > 0);
    char args[300];
    const double limit[2] = {0.75 * all, 0.4 * all};
    snprintf(args, sizeof(args), TWO "--mem-limit cuda:0=%.0f,cuda:1=%.0f", limit[0], limit[1]);
    plan = cli_json(&r, args);
    assert_true(json_is_true(json_object_get(plan, "fits")));
    assert_non_null(strstr(r.err, "the layers are divided by what each device may have: -ts "));
    for (size_t i = 0; i < 2; i++) {
        const json_t *d = json_array_get(json_object_get(plan, "devices"), i + 1);
        const double n = json_number_value(json_object_get(d, "total_bytes"));
        assert_true(n > 0 && n <= limit[i]);
    }
    json_decref(plan);
    snprintf(args, sizeof(args), TWO "-ts 1,1 --mem-limit cuda:0=%.0f,cuda:1=%.0f", limit[0], limit[1]);
    cli_run(&r, args); /* a division that was given is kept */
    assert_null(strstr(r.err, "the layers are divided"));
    assert_non_null(strstr(r.out, "\"fits\":false"));
}

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    cli_shell(&r, "printf 'hello world, good day\\nand so on\\n' >$D/text && "
                  "printf '{\"prompt\":\"hello\"}\\n{\"prompt\":\"yes\"}\\n' >$D/p.jsonl && "
                  "printf '{\"text\":\"hello there\"}\\n{\"text\":\"good day\"}\\n' >$D/t.jsonl && "
                  "printf '[{\"role\":\"user\",\"content\":\"hi\"}]' >$D/m.json && "
                  "printf 'char *f(int n)\\n{\\n    char *p = malloc(n * 4);\\n    p[0] = 1;\\n    return p;\\n}\\n' "
                  ">$D/a.c");
    return r.code;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggestions_run_as_printed),   cmocka_unit_test(a_chat_takes_the_context_that_fits),
        cmocka_unit_test(no_suggestion_is_cut),         cmocka_unit_test(a_context_holds_what_is_fed),
        cmocka_unit_test(layers_are_divided_by_limits),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
