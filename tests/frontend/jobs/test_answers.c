/* test_answers.c - generate --jsonl: an answer is the same alone, in company, from `generate` by itself, and after a
 * kill; the rows are in the order of the prompts, faults among them; memory is as planned. */
#include "tests/frontend/cli/cli_run.h"

#include "frontend/jobs/results.h"

#include <math.h>
#include <string.h>

enum { N_PROMPT = 64, LINE = 512 };

#define JOB    "generate " TINY "--jsonl $D/p.jsonl "
#define SAMPLE "--temp 0.9 --top-k 40 -n 24 "

/* Prompts of several lengths; every third has an id, every fifth its own length, and all a seed when has_seed. */
static void write_prompts(bool has_seed, uint32_t n)
{
    uint64_t rng = 7;
    char path[64];
    snprintf(path, sizeof(path), "%s/p.jsonl", cli_dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < n; i++) {
        fputs("{\"text\":\"", f);
        for (uint32_t k = 0, n_word = 1 + (uint32_t)check_below(&rng, 12); k < n_word; k++)
            fprintf(f, "%sw%u", k ? " " : "", (unsigned)check_below(&rng, 1000));
        fputc('"', f);
        if (i % 3 == 0)
            fprintf(f, ",\"id\":\"p%u\"", i);
        if (i % 5 == 0)
            fprintf(f, ",\"max_tokens\":%u", (unsigned)check_below(&rng, 30));
        if (has_seed)
            fprintf(f, ",\"seed\":%u", 1000 + i);
        fputs("}\n", f);
    }
    fclose(f);
}

static void same_files(const char *a, const char *b)
{
    cli_result r;
    char line[256];
    snprintf(line, sizeof(line), "cmp $D/%s $D/%s", a, b);
    cli_shell(&r, line);
    if (r.code)
        fail_msg("%s %s", r.out, r.err);
}

/* The rows of an output, an array. */
static json_t *read_rows(const char *name)
{
    char path[128], *line = NULL;
    size_t cap = 0;
    json_error_t e;
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "r");
    json_t *all = json_array();
    assert_non_null(f);
    while (getline(&line, &cap, f) > 0) {
        json_t *row = json_loads(line, JSON_ALLOW_NUL, &e);
        if (!row)
            fail_msg("%s: %.200s", e.text, line);
        assert_int_equal(json_integer_value(json_object_get(row, "index")), json_array_size(all));
        json_array_append_new(all, row);
    }
    free(line);
    fclose(f);
    return all;
}

static void alone_and_together(void **state)
{
    static const char *const how[] = {"-n 24 ", SAMPLE, "--temp 1.1 --repeat-penalty 1.3 -n 24 "};
    cli_result r;
    char line[512];
    (void)state;
    for (uint32_t h = 0; h < sizeof(how) / sizeof(how[0]); h++) {
        if (!check_is_case(h, sizeof(how) / sizeof(how[0])))
            continue;
        write_prompts(true, N_PROMPT);
        static const char *const at_once[] = {"1", "5", "16", "64"};
        for (size_t i = 0; i < 4; i++) {
            snprintf(line, sizeof(line), JOB "%s -np %s -o $D/o%s", how[h], at_once[i], at_once[i]);
            cli_expect(&r, line, 0);
            snprintf(line, sizeof(line), "o%s", at_once[i]);
            same_files("o1", line);
        }
        json_t *rows = read_rows("o16");
        assert_int_equal(json_array_size(rows), N_PROMPT);
        for (uint32_t i = 0; i < N_PROMPT; i += 7) {
            json_error_t e;
            const json_t *row = json_array_get(rows, i);
            snprintf(line, sizeof(line), "sed -n '%up' $D/p.jsonl >$D/line", i + 1);
            cli_shell(&r, line);
            cli_slurp(r.out, sizeof(r.out), "line");
            json_t *own = json_loads(r.out, 0, &e);
            const json_t *max = json_object_get(own, "max_tokens");
            snprintf(line, sizeof(line), "generate " TINY "%s --json -p '%s' --seed %u", how[h],
                     json_string_value(json_object_get(own, "text")), 1000 + i);
            if (max)
                snprintf(line + strlen(line), sizeof(line) - strlen(line), " -n %d", (int)json_integer_value(max));
            json_t *single = cli_json(&r, line);
            static const char *const key[] = {"ids", "text", "finish_reason", "prompt_tokens"};
            for (size_t k = 0; k < 4; k++)
                if (!json_equal(json_object_get(single, key[k]), json_object_get(row, key[k])))
                    fail_msg("prompt %u: %s differs from %s", i, key[k], line);
            const json_t *id = json_object_get(own, "id");
            assert_true(id ? json_equal(json_object_get(row, "id"), id) : !json_object_get(row, "id"));
            json_decref(single);
            json_decref(own);
        }
        json_decref(rows);
    }
}

static void seed_and_index(void **state)
{
    cli_result r;
    (void)state;
    write_prompts(false, 12);
    cli_expect(&r, JOB SAMPLE "--seed 5 -np 1 -o $D/a", 0);
    cli_expect(&r, JOB SAMPLE "--seed 5 -np 12 -o $D/b", 0);
    cli_expect(&r, JOB SAMPLE "--seed 6 -np 12 -o $D/c", 0);
    same_files("a", "b");
    cli_shell(&r, "cmp -s $D/b $D/c");
    assert_int_equal(r.code, 1);
    /* the same text at two indices has two answers */
    cli_shell(&r, "printf '\"same\"\\n\"same\"\\n' >$D/p.jsonl");
    cli_expect(&r, JOB SAMPLE "--seed 5 -o $D/two", 0);
    json_t *rows = read_rows("two");
    assert_false(
        json_equal(json_object_get(json_array_get(rows, 0), "ids"), json_object_get(json_array_get(rows, 1), "ids")));
    json_decref(rows);
}

/* Answer k of a line with "n" is that of the line alone with a seed that is k higher, however many are begun at once,
 * and whatever was done before a kill. */
static void several_answers_of_a_line(void **state)
{
    enum { N_LINE = 9 };
    static const char *const how[] = {"-m random:gemma3-tiny:f32 --temp 1.1 ",
                                      "-m random:gemma3n-tiny:f32 --temp 1 --repeat-penalty 1.3 -n 12 ",
                                      "-m random:gemma3-tiny:f32 --temp 1 --chat --top-logprobs 2 "};
    static const uint32_t n_of[N_LINE] = {3, 0, 1, 2, 20, 0, 2, 5, 4};
    cli_result r;
    char line[512], path[64];
    (void)state;
    snprintf(path, sizeof(path), "%s/p.jsonl", cli_dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < N_LINE; i++) {
        fprintf(f, "{%s,\"id\":%u", i == 3 ? "\"ids\":[9]" : "\"text\":\"a text of some words\"", i);
        if (n_of[i])
            fprintf(f, i == 4 ? ",\"\\u006e\":%u" : ",\"n\":%u", n_of[i]);
        fputs(i % 2 ? ",\"seed\":40}\n" : "}\n", f);
    }
    fclose(f);
    for (size_t h = 0; h < sizeof(how) / sizeof(how[0]); h++) {
        static const char *const at_once[] = {"1", "3", "16"};
        for (size_t i = h ? 1 : 0; i < 3; i++) {
            snprintf(line, sizeof(line),
                     "generate --jsonl $D/p.jsonl %s -n 12 -np %s --mem-report $D/mem.json -o $D/s%s", how[h],
                     at_once[i], at_once[i]);
            cli_expect(&r, line, 0);
            cli_expect_planned(line);
            snprintf(line, sizeof(line), "s%s", at_once[i]);
            same_files(h ? "s3" : "s1", line);
        }
        /* the lines one by one, and the options' seed k higher for answer k of those without one */
        static const uint32_t number[] = {1, 19, 4, 0, 2};
        for (size_t q = 0; q < (h ? 1 : sizeof(number) / sizeof(number[0])); q++) {
            const uint32_t k = number[q];
            snprintf(line, sizeof(line),
                     "sed 's/,\"\\(n\\|.u006e\\)\":[0-9]*//; s/\"seed\":40/\"seed\":%u/' $D/p.jsonl >$D/one.jsonl; "
                     "$M generate --jsonl $D/one.jsonl %s -n 12 --seed %u -o $D/one && "
                     "grep '\"answer\":%u,' $D/s3 | sed 's/\"answer\":[0-9]*,//' >$D/of; grep -c . $D/of; "
                     "grep -vxFf $D/one $D/of",
                     40 + k, how[h], k, k);
            cli_shell(&r, line);
            uint32_t n = 0;
            for (uint32_t i = 0; i < N_LINE; i++)
                n += n_of[i] > k;
            char wanted[16];
            snprintf(wanted, sizeof(wanted), "%u\n", n);
            if (strcmp(r.out, wanted) != 0)
                fail_msg("answer %u of %s: %s%s", k, how[h], r.out, r.err);
        }
    }
    cli_expect(&r, JOB "--temp 1 -n 400 -c 512 --resume off -o $D/whole", 0);
    cli_interrupt(&r, JOB "--temp 1 -n 400 -c 512 -np 2 -o $D/cut");
    cli_expect(&r, JOB "--temp 1 -n 400 -c 512 -np 5 -o $D/cut", 0);
    assert_non_null(strstr(r.err, ": goes on, "));
    same_files("whole", "cut");
    json_t *j = cli_json(&r, JOB "-n 12 --dry-run --json");
    assert_int_equal((int)cli_number(j, "prompts"), 39);
    assert_int_equal((int)cli_number(j, "parallel"), 16);
    json_decref(j);
    cli_shell(&r,
              "printf '%s\n' '{\"text\":\"a\",\"n\":0}' '{\"text\":\"a\",\"n\":4097}' '{\"text\":\"a\",\"n\":\"2\"}' "
              "'{\"text\":\"a\",\"n\":2,\"top_k\":-1}' >$D/p.jsonl; $M " JOB "-o $D/bad; sort -u $D/bad");
    assert_int_equal(r.code, 0);
    assert_non_null(
        strstr(r.out, "{\"index\":0,\"error\":\"line 1: \\\"n\\\": expected a whole number from 1 to 4096\"}"));
    assert_non_null(strstr(r.out, "{\"index\":1,\"error\":\"line 2: "));
    assert_non_null(strstr(r.out, "{\"index\":2,\"error\":\"line 3: "));
    assert_non_null(strstr(r.out, "{\"index\":3,\"answer\":1,\"error\":\"line 4: "));
}

static void faults_are_rows(void **state)
{
    cli_result r;
    (void)state;
    cli_shell(&r, "printf '%s\\n' '{\"text\":\"a\",\"max_tokens\":1.5}' 'not json' '{\"text\":\"b\",\"id\":\"x\"}' "
                  "'' '{\"ids\":[1,2,3],\"seed\":-1}' '{\"id\":7}' '\"text\"' '{\"ids\":[3,4,5,6,7,8,9,3,4,5]}' "
                  "'{\"text\":\"c\",\"max_tokens\":0}' >$D/p.jsonl; printf '\\377\\n' >>$D/p.jsonl");
    cli_expect(&r, JOB "-n 4 -c 8 -o $D/o -np 2", 3);
    if (!strstr(r.err, "6 lines have no result"))
        fail_msg("%s", r.err);
    json_t *rows = read_rows("o");
    static const struct {
        const char *error; /* NULL = an answer */
        int n_ids;
    } want[] = {{"line 1: \"max_tokens\": expected a whole number", 0},
                {"line 2: JSON", 0},
                {NULL, 4},
                {"line 5: \"seed\": expected a whole number", 0}, /* line 4 is blank */
                {"line 6: expected one of \"text\"", 0},
                {NULL, -1},
                {"line 8: 10 tokens, at most 8 fit", 0},
                {NULL, 0},
                {"line 10: ", 0}};
    assert_int_equal(json_array_size(rows), 9);
    for (size_t i = 0; i < 9; i++) {
        const json_t *row = json_array_get(rows, i);
        const char *error = json_string_value(json_object_get(row, "error"));
        if (want[i].error ? !error || strncmp(error, want[i].error, strlen(want[i].error)) != 0 : error != NULL)
            fail_msg("row %zu: %s", i, json_dumps(row, 0));
        if (!want[i].error && want[i].n_ids >= 0)
            assert_int_equal(json_array_size(json_object_get(row, "ids")), want[i].n_ids);
    }
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 2), "id")), "x");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 4), "id")), 7);
    json_decref(rows);
}

/* Kills the job again and again until one run comes through; the output is that of a run that nobody killed. */
static void killed(void **state)
{
    enum { MS_MOST = 700 };
    cli_result r;
    uint64_t rng = check_seed();
    const uint32_t n_kill = check_is_full() ? 200 : 6;
    char line[512];
    (void)state;
    write_prompts(false, N_PROMPT);
    cli_expect(&r, JOB "--temp 0.8 -n 60 -o $D/whole", 0);
    for (uint32_t n = 0, before = 0; n < n_kill; n++) {
        const bool is_term = check_below(&rng, 3) == 0;
        const uint32_t ms = 20 + (uint32_t)check_below(&rng, MS_MOST);
        snprintf(line, sizeof(line),
                 "$M " JOB "--temp 0.8 -n 60 -np %u -o $D/k & p=$!; (sleep %u.%03u; kill -%s $p) 2>/dev/null & wait $p",
                 1 + (unsigned)check_below(&rng, 9), ms / 1000, ms % 1000, is_term ? "TERM" : "KILL");
        cli_shell(&r, line);
        const char *goes = strstr(r.err, ": goes on, ");
        const uint32_t done = goes ? (uint32_t)atoi(goes + 11) : before; /* killed before it looked: no matter */
        if (done < before)                                               /* what was finished is never lost */
            fail_msg("%u were done, %u are now: %s", before, done, r.err);
        before = done;
        if (is_term && r.code && r.code < 128) {
            assert_int_equal(r.code, 3);
            assert_non_null(strstr(r.err, "the same command goes on from there"));
        }
        const bool is_through = r.code == 0;
        cli_shell(&r, "test -e $D/k"); /* finished, and perhaps killed right after */
        if (r.code == 0) {
            same_files("whole", "k");
            cli_shell(&r, "ls $D/k.journal* 2>/dev/null");
            assert_true(!is_through || !*r.out);
            cli_shell(&r, "rm -f $D/k $D/k.journal*");
            before = 0;
        }
    }
    cli_expect(&r, JOB "--temp 0.8 -n 60 -o $D/k", 0);
    same_files("whole", "k");
}

static void other_flags_are_refused(void **state)
{
    static const struct {
        const char *flags, *names;
    } row[] = {{"-n 61", "--n-predict (60, now 61)"},
               {"-n 60 --temp 0.9", "--temp (0, now 0.9)"},
               {"-n 60 --top-logprobs 2", "--top-logprobs (0, now 2)"},
               {"-n 60 -ctk f32", "cache (f16, f16, now f32, f32)"},
               {"-n 60 --chat", "--chat (off, now on)"}};
    cli_result r;
    char line[512];
    (void)state;
    write_prompts(false, N_PROMPT);
    /* a job that goes on counts what is done, and apart what this run did */
    cli_shell(&r, "echo '{' >>$D/p.jsonl");
    cli_interrupt(&r, JOB "-n 60 -np 1 -o $D/r");
    const int done = atoi(strstr(r.err, "interrupted after ") + strlen("interrupted after "));
    cli_shell(&r, "cp $D/r.journal $D/again.journal; $M " JOB "-n 60 -o $D/again --json");
    assert_int_equal(r.code, 3);
    snprintf(line, sizeof(line), "{\"answers\":%d,\"faults\":1,\"run_answers\":%d,", N_PROMPT, N_PROMPT - done);
    if (strncmp(r.out, line, strlen(line)) != 0)
        fail_msg("%s, not %s", r.out, line);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        snprintf(line, sizeof(line), JOB "%s -o $D/r", row[i].flags);
        cli_expect(&r, line, 2);
        if (!strstr(r.err, row[i].names) || !strstr(r.err, "--resume off"))
            fail_msg("%s: %s", row[i].flags, r.err);
    }
    cli_shell(&r, "cp $D/p.jsonl $D/kept; echo '\"one more\"' >>$D/p.jsonl");
    cli_expect(&r, JOB "-n 60 -o $D/r", 2);
    assert_non_null(strstr(r.err, "content of the prompts"));
    cli_expect(&r, JOB "-n 8 --resume off -o $D/r", 3);
    cli_expect(&r, JOB "-n 8 -o $D/r2", 3);
    same_files("r", "r2");
}

/* Two merges in another order, in the same file beside the same weights. */
static void another_tokenizer_is_refused(void **state)
{
    cli_result r;
    (void)state;
    write_prompts(false, N_PROMPT);
    cli_shell(&r, "cp tests/fuzz/corpus/tokenizer_json/seed-new $D/tok.json");
    cli_interrupt(&r, JOB "--tokenizer $D/tok.json -n 60 -np 1 -o $D/t");
    cli_shell(&r, "sed -i 's/\\[\"a\",\"b\"\\],\\(.*\\)\\]\\]/\\1],[\"a\",\"b\"]]/' $D/tok.json && "
                  "! cmp -s $D/tok.json tests/fuzz/corpus/tokenizer_json/seed-new && tail -c 60 $D/tok.json");
    assert_int_equal(r.code, 0);
    cli_expect(&r, JOB "--tokenizer $D/tok.json -n 60 -np 1 -o $D/t", 2);
    if (!strstr(r.err, "model (") || !strstr(r.err, "--resume off"))
        fail_msg("%s", r.err);
    cli_shell(&r, "cp tests/fuzz/corpus/tokenizer_json/seed-new $D/tok.json");
    cli_expect(&r, JOB "--tokenizer $D/tok.json -n 60 -np 1 -o $D/t", 0);
    assert_non_null(strstr(r.err, ": goes on, "));
}

static void memory_is_as_planned(void **state)
{
    enum { N_PLANNED = 20 }; /* more than are answered at once */
    cli_result r;
    char line[512];
    static const char *const flags[] = {"-np 1", "-np 16", "-np 7 --temp 1 --repeat-penalty 1.2",
                                        "-np 3 --top-logprobs 5", "-np 2 -n 200"};
    (void)state;
    write_prompts(false, N_PLANNED);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        snprintf(line, sizeof(line), JOB "%s -o $D/m%zu --mem-report $D/mem.json", flags[i], i);
        cli_expect(&r, line, 0);
        cli_expect_planned(flags[i]);
    }
    /* What does not fit at once is fewer at once; the rows are the same. */
    json_t *j = cli_json(&r, JOB "-n 24 -ub 64 --dry-run --json");
    const double all = cli_number(j, "plan.total_bytes");
    assert_int_equal((int)cli_number(j, "parallel"), 16);
    assert_int_equal((int)cli_number(j, "prompts"), N_PLANNED);
    json_decref(j);
    snprintf(line, sizeof(line), JOB "-n 24 -ub 64 --dry-run --json --mem-limit %.0f", all - 1);
    j = cli_json(&r, line);
    assert_true(cli_number(j, "parallel") < 16 && cli_number(j, "parallel") >= 8);
    json_decref(j);
    snprintf(line, sizeof(line), JOB "-n 24 -ub 64 --mem-limit %.0f -o $D/small", all - 1);
    cli_expect(&r, line, 0);
    cli_expect(&r, JOB "-n 24 -o $D/large", 0);
    same_files("small", "large");
}

static void dry_run_counts(void **state)
{
    cli_result r;
    (void)state;
    write_prompts(false, 10);
    json_t *j = cli_json(&r, JOB "-n 24 --dry-run --json --chat --system-prompt 'be brief'");
    cli_expect(&r, JOB "-n 24 -o $D/chat --chat --system-prompt 'be brief'", 0);
    json_t *rows = read_rows("chat");
    json_int_t n = 0;
    for (size_t i = 0; i < json_array_size(rows); i++)
        n += json_integer_value(json_object_get(json_array_get(rows, i), "prompt_tokens"));
    assert_int_equal((json_int_t)cli_number(j, "prompt_tokens"), n);
    cli_shell(&r, "test -e $D/none.journal || test -e $D/none"); /* a dry run leaves nothing */
    assert_int_equal(r.code, 1);
    json_decref(rows);
    json_decref(j);
    /* a prompt that does not fit is a fault here as in the run, and needs no context */
    cli_shell(
        &r,
        "printf '{\"ids\":[3,4]}\\n{\"ids\":[3' >$D/p.jsonl; for i in $(seq 40000); do printf ,4; done >>$D/p.jsonl; "
        "echo ']}' >>$D/p.jsonl");
    static const char *const job[] = {JOB "-n 4", "logprobs " TINY "$D/p.jsonl"};
    for (size_t i = 0; i < 2; i++) {
        char line[256];
        snprintf(line, sizeof(line), "%s --dry-run --json", job[i]);
        j = cli_json(&r, line);
        assert_int_equal((int)cli_number(j, "faults"), 1);
        assert_int_equal((int)cli_number(j, "prompt_tokens"), 2);
        assert_true(cli_number(j, "plan.n_ctx") <= 512);
        json_decref(j);
        snprintf(line, sizeof(line), "%s -o $D/long%zu", job[i], i);
        cli_expect(&r, line, 3);
        snprintf(line, sizeof(line), "grep -c 'line 2: 40001 tokens, at most 32768 fit' $D/long%zu", i);
        cli_shell(&r, line);
        assert_string_equal(r.out, "1\n");
    }
}

static void scores_of_ids(void **state)
{
    cli_result r;
    (void)state;
    write_prompts(false, 12);
    cli_expect(&r, JOB "-n 12 -o $D/plain", 0);
    cli_expect(&r, JOB "-n 12 --top-logprobs 4 -np 1 -o $D/s1", 0);
    cli_expect(&r, JOB "-n 12 --top-logprobs 4 -np 12 -o $D/s12", 0);
    same_files("s1", "s12");
    json_t *plain = read_rows("plain"), *rows = read_rows("s1");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i), *ids = json_object_get(row, "ids"),
                     *chosen = json_object_get(row, "logprobs"), *top = json_object_get(row, "top_logprobs");
        assert_true(json_equal(ids, json_object_get(json_array_get(plain, i), "ids")));
        assert_int_equal(json_array_size(chosen), json_array_size(ids));
        assert_int_equal(json_array_size(top), json_array_size(ids));
        for (size_t k = 0; k < json_array_size(ids); k++) {
            const json_t *list = json_array_get(top, k), *best = json_array_get(list, 0);
            assert_int_equal(json_array_size(list), 4);
            assert_true(json_equal(json_object_get(best, "id"), json_array_get(ids, k)));
            assert_true(json_equal(json_object_get(best, "logprob"), json_array_get(chosen, k)));
            double before = 0.0;
            for (size_t b = 0; b < 4; b++) {
                const double v = json_real_value(json_object_get(json_array_get(list, b), "logprob"));
                assert_true(v <= before);
                before = v;
            }
        }
    }
    json_decref(plain);
    json_decref(rows);
}

/* What a line says of sampling takes the place of the flags', beside others that say other things, and is that of
 * `generate` with such flags. */
static void lines_sample_as_they_say(void **state)
{
    static const char *const own[][2] = {
        {"", ""},
        {",\"temperature\":1.3", "--temp 1.3"},
        {",\"temperature\":0.9,\"top_k\":3", "--temp 0.9 --top-k 3"},
        {",\"temperature\":2,\"top_k\":200,\"top_p\":1,\"min_p\":0", "--temp 2 --top-k 200 --top-p 1 --min-p 0"},
        {",\"temperature\":1.5,\"top_p\":0.5", "--temp 1.5 --top-p 0.5"},
        {",\"temperature\":1.5,\"top_p\":0,\"min_p\":0", "--temp 0"}};
    enum { N = sizeof(own) / sizeof(own[0]) };
    cli_result r;
    char line[512];
    (void)state;
    snprintf(line, sizeof(line), "%s/p.jsonl", cli_dir);
    FILE *f = fopen(line, "w");
    assert_non_null(f);
    for (int i = 0; i < N; i++)
        fprintf(f, "{\"text\":\"some words\",\"seed\":%d%s}\n", 40 + i, own[i][0]);
    fclose(f);
    cli_expect(&r, JOB "-n 24 -np 1 -o $D/o1 --mem-report $D/mem.json", 0);
    cli_expect_planned("own sampling");
    cli_expect(&r, JOB "-n 24 -np 5 -o $D/o5", 0);
    same_files("o1", "o5");
    json_t *rows = read_rows("o5");
    for (size_t i = 0; i < N; i++) {
        snprintf(line, sizeof(line), "generate " TINY "-p 'some words' -n 24 --json --seed %zu %s", 40 + i, own[i][1]);
        json_t *single = cli_json(&r, line);
        if (!json_equal(json_object_get(single, "ids"), json_object_get(json_array_get(rows, i), "ids")))
            fail_msg("line %zu differs from %s", i, line);
        json_decref(single);
    }
    json_decref(rows);
}

/* A text that ends an answer is found whatever tokens it is made of, and is no part of the answer's text. */
static void answers_end_before_a_text(void **state)
{
    cli_result r;
    char path[64];
    (void)state;
    cli_expect(&r, "generate " TINY "-p 'some words' -n 60 --temp 2 --seed 9 --ignore-eos --json", 0);
    json_error_t e;
    json_t *whole = json_loads(r.out, 0, &e);
    const char *text = json_string_value(json_object_get(whole, "text"));
    const size_t n = strlen(text);
    size_t from = n / 2;
    while (text[from] & 0x80)
        from++;
    size_t to = from + 5;
    while (text[to] & 0x80)
        to++;
    json_t *stop = json_stringn(text + from, to - from), *row;
    snprintf(path, sizeof(path), "%s/p.jsonl", cli_dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 3; i++) {
        row = json_pack("{sssisO}", "text", "some words", "seed", 9, "stop", stop);
        if (i)
            json_object_set_new(row, "stop", json_pack("[ssO]", "no such text", i == 1 ? "neither" : "x", stop));
        if (i == 2)
            json_object_set_new(row, "stop", json_pack("[s]", "no such text"));
        json_dumpf(row, f, JSON_COMPACT);
        fputc('\n', f);
        json_decref(row);
    }
    fclose(f);
    cli_expect(&r, JOB "-n 60 --temp 2 --ignore-eos -np 3 --top-logprobs 2 -o $D/o", 0);
    json_t *rows = read_rows("o"), *ids = json_object_get(whole, "ids");
    const size_t first = (size_t)(strstr(text, json_string_value(stop)) - text);
    for (size_t i = 0; i < 3; i++) {
        const json_t *got = json_array_get(rows, i), *own = json_object_get(got, "ids");
        const char *cut = json_string_value(json_object_get(got, "text"));
        assert_string_equal(json_string_value(json_object_get(got, "finish_reason")), i < 2 ? "stop" : "length");
        if (strlen(cut) != (i < 2 ? first : n) || memcmp(cut, text, strlen(cut)) != 0)
            fail_msg("\"%s\" of \"%s\" before \"%s\"", cut, text, json_string_value(stop));
        assert_true(i == 2 || json_array_size(own) < json_array_size(ids));
        assert_int_equal(json_array_size(json_object_get(got, "logprobs")), json_array_size(own));
        for (size_t k = 0; k < json_array_size(own); k++)
            assert_true(json_equal(json_array_get(own, k), json_array_get(ids, k)));
    }
    json_decref(rows);

    /* --stop is that of all lines without their own, and of one prompt, whose text is shown up to it */
    snprintf(path, sizeof(path), "%s/stop", cli_dir);
    f = fopen(path, "w");
    assert_non_null(f);
    fwrite(json_string_value(stop), 1, json_string_length(stop), f);
    fclose(f);
    cli_shell(&r, "printf '%s\\n' '{\"text\":\"some words\",\"seed\":9}' "
                  "'{\"text\":\"some words\",\"seed\":9,\"stop\":[]}' >$D/p.jsonl; $M " JOB
                  "-n 60 --temp 2 --ignore-eos --stop nothing --stop \"$(cat $D/stop)\" -o $D/all");
    assert_int_equal(r.code, 0);
    rows = read_rows("all");
    assert_int_equal(json_string_length(json_object_get(json_array_get(rows, 0), "text")), first);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "finish_reason")), "stop");
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 1), "text")), text);
    json_decref(rows);
    cli_shell(&r,
              "$M generate " TINY "-p 'some words' -n 60 --temp 2 --seed 9 --ignore-eos --json --stop nothing --stop "
              "\"$(cat $D/stop)\"");
    json_t *cut = json_loads(r.out, 0, &e);
    assert_int_equal(json_string_length(json_object_get(cut, "text")), first);
    assert_string_equal(json_string_value(json_object_get(cut, "finish_reason")), "stop");
    json_decref(cut);
    cli_shell(
        &r,
        "$M generate " TINY "-p 'some words' -n 60 --temp 2 --seed 9 --ignore-eos >$D/plain; for k in 1 2 3; do "
        "s=$(grep -ao '<unused[0-9]*>' $D/plain | sed -n ${k}p | cut -c3-12); $M generate " TINY
        "-p 'some words' -n 60 --temp 2 --seed 9 --ignore-eos --stop \"${s}x\" --stop \"$s\" >$D/cut && "
        "awk -v s=\"$s\" 'BEGIN { RS = \"^$\" } { print substr($0, 1, index($0, s) - 1) }' <$D/plain | cmp - $D/cut "
        "|| exit 7; done; $M generate " TINY "-p 'some words' -n 60 --temp 2 --seed 9 --ignore-eos --stop "
        "'<unused>' | cmp - $D/plain");
    assert_int_equal(r.code, 0);
    cli_expect(&r, "generate " TINY "-p x --stop ''", 2);
    cli_expect(&r, "generate " TINY "-p x --parallel-threshold 0.2 --stop y", 2);
    json_decref(stop);
    json_decref(whole);
}

static void what_is_not_read_is_noted(void **state)
{
    cli_result r;
    (void)state;
    cli_shell(
        &r,
        "printf '%s\\n' '{\"text\":\"a\",\"max_token\":2,\"note\":3}' '{\"text\":\"b\",\"temperature\":-1,\"note\":1}' "
        "'{\"text\":\"c\",\"top_p\":\"x\",\"label\":\"l\"}' '{\"text\":\"d\",\"stop\":[\"\"]}' "
        "'{\"text\":\"e\",\"top_k\":0.5}' "
        ">$D/p.jsonl");
    cli_expect(&r, JOB "-n 2 -o $D/o", 3);
    if (!strstr(r.err, "p.jsonl: not read, and without effect: \"max_token\" in 1 line, \"note\" in 2 lines\n"))
        fail_msg("%s", r.err);
    json_t *rows = read_rows("o");
    static const char *const error[] = {NULL, "line 2: \"temperature\": expected a number from 0 to 100",
                                        "line 3: \"top_p\"", "line 4: \"stop\"", "line 5: \"top_k\""};
    for (size_t i = 0; i < 5; i++) {
        const char *got = json_string_value(json_object_get(json_array_get(rows, i), "error"));
        if (error[i] ? !got || strncmp(got, error[i], strlen(error[i])) != 0 : got != NULL)
            fail_msg("row %zu: %s", i, got ? got : "no error");
    }
    json_decref(rows);
    cli_expect(&r, "logprobs " TINY "$D/p.jsonl -o $D/l --top-k 1", 0);
    assert_non_null(strstr(r.err, "\"temperature\" in 1 line"));
    cli_shell(&r, "printf '%s\\n' '{\"text\":\"a\",\"seed\":2,\"id\":1,\"label\":\"l\",\"grammar\":null}' >$D/p.jsonl");
    cli_expect(&r, JOB "-n 2 -o $D/o", 0);
    assert_null(strstr(r.err, "not read"));
}

/* What is left is counted in tokens, each kind at its own rate: not in answers, of which one may be as long as all. */
static void what_is_left_is_counted_in_tokens(void **state)
{
    (void)state;
    const myth_results_work kind[] = {{100, 50, 2.0}, {10, 1000, 5.0}}, over[] = {{100, -3, 2.0}, {10, 20, 5.0}},
                            not_yet[] = {{100, 50, 2.0}, {0, 1000, 0.0}};
    assert_true(fabs(myth_results_left(kind, 2) - 501.0) < 1e-9);
    assert_true(fabs(myth_results_left(over, 2) - 10.0) < 1e-9);
    assert_true(myth_results_left(not_yet, 2) < 0.0);
    myth_cli cli = {.n_share = 0};
    myth_results r = {.cli = &cli, .n_item = 40, .n_before = 10};
    assert_true(fabs(myth_results_share(&r) - 0.75) < 1e-9);
    cli = (myth_cli){.n_share = 4, .share = 1}; /* 10 items, all of them done */
    assert_true(myth_results_share(&r) == 0.0);
    /* new ids are counted up to what the context holds: 2 and 7 of 8 */
    cli_result got;
    cli_shell(&got,
              "printf '{\"ids\":[3,4],\"max_tokens\":1000000}\\n{\"ids\":[3,4,5],\"max_tokens\":2}\\n' >$D/p.jsonl");
    json_t *j = cli_json(&got, JOB "-c 8 --dry-run --json");
    assert_int_equal((int)cli_number(j, "new_tokens_most"), 7 + 2);
    json_decref(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_and_together),
        cmocka_unit_test(seed_and_index),
        cmocka_unit_test(several_answers_of_a_line),
        cmocka_unit_test(faults_are_rows),
        cmocka_unit_test(killed),
        cmocka_unit_test(other_flags_are_refused),
        cmocka_unit_test(another_tokenizer_is_refused),
        cmocka_unit_test(memory_is_as_planned),
        cmocka_unit_test(dry_run_counts),
        cmocka_unit_test(scores_of_ids),
        cmocka_unit_test(lines_sample_as_they_say),
        cmocka_unit_test(what_is_left_is_counted_in_tokens),
        cmocka_unit_test(answers_end_before_a_text),
        cmocka_unit_test(what_is_not_read_is_noted),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
