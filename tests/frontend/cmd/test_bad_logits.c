/* test_bad_logits.c - models whose logits are NaN: every command that reads logits says so with the same words and exit
 * code 65, on models that cap their logits as on those that do not. */
#include "tests/frontend/cli/cli_run.h"

static cli_result r;

static const char *const models[] = {"capped.gguf", "plain.gguf"}; /* of Gemma 2 and Gemma 3 */

/* The last value of each becomes NaN. */
static int begin(void **state)
{
    static const char *const spec[] = {"gemma2-tiny", "gemma3-tiny"};
    if (cli_begin(state) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        char line[512];
        snprintf(line, sizeof(line),
                 "\"$M\" convert -m random:%s:f32 --type f32 -o $D/good.gguf && head -c -4 $D/good.gguf >$D/%s && "
                 "printf '\\0\\0\\300\\177' >>$D/%s && rm $D/good.gguf",
                 spec[i], models[i], models[i]);
        cli_shell(&r, line);
        if (r.code != 0)
            return -1;
    }
    cli_shell(&r, "head -c 600 README.md >$D/text; echo '{\"ids\":[2,5,9],\"token\":7}' >$D/ids.jsonl; "
                  "echo '\"a\"' >$D/p.jsonl");
    return r.code;
}

static void every_command_says_that_logits_are_nan(void **state)
{
    static const char *const commands[] = {
        "generate --ids 2,5,9 -n 4",
        "generate --ids 2,5,9 -n 4 --temp 0.8",
        "generate --ids 2,5,9 -n 4 --exact",
        "generate --ids 2,5,9 -n 4 --repeat-penalty 1.3",
        "generate --jsonl $D/p.jsonl -n 4 -o $D/rows.jsonl",
        "logits --ids 2,5,9 --top-k 1",
        "logits --ids 2,5,9 -o $D/l.npy",
        "logprobs $D/ids.jsonl -o $D/lp.jsonl --top-k 2",
        "perplexity -c 32 --chunks 1 $D/text",
        "perplexity -c 32 --chunks 1 --kl $D/plain.gguf $D/text",
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof(commands) / sizeof(commands[0]); i++) {
        char line[512];
        snprintf(line, sizeof(line), "%s -m $D/%s --device cpu", commands[i / 2], models[i % 2]);
        cli_expect(&r, line, 65);
        if (!strstr(r.err, "logits are infinite or NaN; mythos verify finds the cause"))
            fail_msg("%s: %s", line, r.err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_command_says_that_logits_are_nan)};
    return cmocka_run_group_tests(tests, begin, cli_end);
}
