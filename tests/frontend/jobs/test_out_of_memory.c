/* test_out_of_memory.c - a device that has no memory for a submission, once, anywhere in a job: the batch is done again
 * and the files are those of a run that nothing happened to. So they are when memory is taken and given all the time,
 * and the command has to be given again.
 *
 * How       a command runs in a child of this program, where the nth Vulkan call of the process fails, or some by
 *           chance. What comes before the job (the model, the engine) has as many calls as a job of one short prompt;
 *           from there on some calls are chosen; with MYTHOS_TEST_TRIALS=N so many of each job, at most all */
#include "tests/frontend/cli/cli_run.h"
#include "tests/vulkan/vulkan.h"

#ifndef MYTH_HAS_VULKAN
int main(void) { return vulkan_run(NULL); }
#else

#include <fcntl.h>
#include <string.h>

int mythos_main(int argc, char **argv);
#define main mythos_main
#include "frontend/main.c"
#undef main

typedef struct {
    int code;
    uint64_t n_call;
    char failed[64]; /* the call; "" = none */
    uint64_t n_failed;
} outcome;

/* Which calls fail: the nth, or with one_in those by chance from the nth on. */
typedef struct {
    uint64_t nth;
    uint32_t one_in;
    uint64_t seed;
    vk_probe_failure failure;
} fault;

/* Runs words separated by spaces, in which @ is the test's folder. */
static outcome run_with(const char *line, fault f)
{
    char text[1024], *argv[64], *rest = NULL;
    outcome got = {0};
    int argc = 0, ends[2];
    FILE *words = fmemopen(text, sizeof(text), "w");
    assert_non_null(words);
    for (const char *c = line; *c; c++)
        if (*c == '@')
            fputs(cli_dir, words);
        else
            fputc(*c, words);
    fputc('\0', words);
    fclose(words);
    argv[argc++] = (char[]){"mythos"};
    for (char *word = strtok_r(text, " ", &rest); word && argc < 63; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    argv[argc] = NULL;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char err[256];
        snprintf(err, sizeof(err), "%s/said", cli_dir);
        const int fd = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600), null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        if (f.one_in)
            vk_probe_hog(f.nth, f.one_in, f.seed, f.failure);
        else
            vk_probe_fault(f.nth, f.failure);
        got.code = mythos_main(argc, argv);
        got.n_call = vk_probe_n_call();
        got.n_failed = vk_probe_n_failed();
        snprintf(got.failed, sizeof(got.failed), "%s", vk_probe_failed() ? vk_probe_failed() : "");
        fflush(NULL);
        _exit(write(ends[1], &got, sizeof(got)) == sizeof(got) ? 0 : 1);
    }
    close(ends[1]);
    const ssize_t n = read(ends[0], &got, sizeof(got));
    int status;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (n != sizeof(got) || status)
        fail_msg("%s: call %llu failing: status %d", text, (unsigned long long)f.nth, status);
    return got;
}

static outcome run_with_fault(const char *line, uint64_t nth, vk_probe_failure failure)
{
    return run_with(line, (fault){.nth = nth, .failure = failure});
}

static void write_prompts(void)
{
    cli_result r;
    cli_shell(&r, "for i in $(seq 14); do printf '{\"text\":\"%s\",\"id\":%d,\"label\":\"%s\"}\\n' "
                  "\"$(seq -s ' ' $((1 + i * 5 % 11)))\" $i $([ $((i % 3)) = 0 ] && echo a || echo b); done >$D/p; "
                  "printf '{\"text\":\"1\",\"label\":\"a\"}\\n' >$D/one; "
                  "for i in $(seq 6); do printf '{\"text\":\"%s\",\"completions\":[\"a b\",\"c\",\"d e f %d\"]}\\n' "
                  "\"$(seq -s ' ' $i)\" $i; done >$D/c; "
                  "for i in $(seq 12); do printf '{\"text\":\"%s\"}\\n' \"$(seq -s ' ' $((20 + i % 5)))\"; done >$D/l");
    assert_int_equal(r.code, 0);
}

#define GEMMA   "-m random:gemma3-tiny:q8_0 --device vulkan:0 -t 1 -q "
#define ENCODER "-m random:embeddinggemma-tiny:f32 --device vulkan:0 -t 1 -q "

/* The command with PROMPTS in the place of its prompts; all files begin with x. */
static const struct {
    const char *name, *before, *prompts, *after;
} jobs[] = {
    {"generate", "generate " GEMMA "--jsonl @/", "p", " -o @/x -n 6 -np 5 -ub 32 --temp 0.7 --seed 3"},
    /* prompts longer than a forward that was made smaller: one may have to begin again in the middle */
    {"long prompts", "generate " GEMMA "--jsonl @/", "l", " -o @/x -n 3 -np 3 -ub 32"},
    {"logprobs", "logprobs " GEMMA "@/", "p", " -o @/x --top-k 3 -ub 48"},
    {"completions", "logprobs " GEMMA "@/", "c", " -o @/x --top-k 3 -ub 48"},
    {"residuals", "residuals " GEMMA "@/", "p", " -o @/x -ub 48"},
    {"residuals mean", "residuals " GEMMA "@/", "p", " -o @/x -ub 48 --position mean"},
    {"residuals rows", "residuals " GEMMA "@/", "p", " -o @/x -ub 48 --winsorize 0.9 --position every --rows @/x.rows"},
    {"residuals stats", "residuals " GEMMA "@/", "p", " -o @/x -ub 48 --stats all"},
    {"embed", "embed " ENCODER "--jsonl @/", "p", " -o @/x -ub 64"},
};

/* A quick run has the answers, and a part of the other jobs. */
static bool is_run(size_t i)
{
    return strncmp(jobs[i].before, "generate", 8) == 0 || check_is_case((uint32_t)i, sizeof(jobs) / sizeof(jobs[0]));
}

static void a_batch_is_done_again(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    cli_result r;
    write_prompts();
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        char whole[512], one[512];
        uint32_t n_failed = 0;
        if (!is_run(i))
            continue;
        snprintf(whole, sizeof(whole), "%s%s%s", jobs[i].before, jobs[i].prompts, jobs[i].after);
        snprintf(one, sizeof(one), "%sone%s", jobs[i].before, jobs[i].after);
        const outcome least = run_with_fault(one, 0, VK_PROBE_DEVICE_MEMORY);
        cli_shell(&r, "cat $D/said; rm -rf $D/x*");
        if (least.code != 0)
            fail_msg("%s: exit %d, %s", one, least.code, r.out);
        const outcome all = run_with_fault(whole, 0, VK_PROBE_DEVICE_MEMORY);
        assert_int_equal(all.code, 0);
        assert_true(all.n_call > least.n_call);
        cli_shell(&r, "rm -rf $D/want; mkdir $D/want; mv $D/x* $D/want");
        assert_int_equal(r.code, 0);
        const uint32_t n = check_trials(16, 2);
        const uint64_t span = all.n_call - least.n_call, step = span / n ? span / n : 1;
        for (uint64_t nth = least.n_call + 1 + (step > 1 ? check_below(&rng, (uint32_t)step) : 0); nth <= all.n_call;
             nth += step) {
            const outcome got = run_with_fault(whole, nth, nth % 2 ? VK_PROBE_DEVICE_MEMORY : VK_PROBE_HOST_MEMORY);
            cli_shell(&r, "cat $D/said; mkdir $D/got && mv $D/x* $D/got && diff -r $D/want $D/got");
            if (got.code != 0 || r.code != 0)
                fail_msg("%s: call %llu of %llu, %s, failing: exit %d, %s", jobs[i].name, (unsigned long long)nth,
                         (unsigned long long)all.n_call, got.failed, got.code, r.out);
            n_failed += got.failed[0] != '\0';
            cli_shell(&r, "rm -rf $D/got");
        }
        printf("%s: %llu calls, of which %llu in the job, %u failed\n", jobs[i].name, (unsigned long long)all.n_call,
               (unsigned long long)span, n_failed);
        assert_true(n_failed >= 1);
    }
}

/* Calls fail by chance in all of the job. A batch that fails twice ends the command, which is given again, as a script
 * would, while the memory comes back. */
static void taking_and_giving_changes_nothing(void **state)
{
    (void)state;
    enum { RUNS_MOST = 40, JOB_N = sizeof(jobs) / sizeof(jobs[0]) };
    const uint32_t n_all = check_trials(11 * JOB_N, 0);
    uint64_t rng = check_seed(), n_trial = 0, n_first = 0;
    cli_result r;
    write_prompts();
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        char whole[512], one[512];
        uint64_t n_failed = 0, n_run = 0;
        if (!is_run(i))
            continue;
        snprintf(whole, sizeof(whole), "%s%s%s", jobs[i].before, jobs[i].prompts, jobs[i].after);
        snprintf(one, sizeof(one), "%sone%s", jobs[i].before, jobs[i].after);
        const outcome least = run_with_fault(one, 0, VK_PROBE_DEVICE_MEMORY);
        cli_shell(&r, "rm -rf $D/x*");
        assert_int_equal(run_with_fault(whole, 0, VK_PROBE_DEVICE_MEMORY).code, 0);
        cli_shell(&r, "rm -rf $D/want; mkdir $D/want; mv $D/x* $D/want");
        const uint64_t n_round = n_all ? (n_all + JOB_N - 1) / JOB_N : jobs[i].prompts[0] == 'l' ? 3 : 1;
        for (uint64_t k = 0; check_goes_on(k, n_round, n_failed > 0); k++) {
            outcome got = {.code = 1};
            const uint64_t n_before = n_run;
            for (uint32_t one_in = 4 + check_below(&rng, 40); got.code != 0; one_in += one_in / 4, n_run++) {
                if (n_run > RUNS_MOST * (k + 1))
                    fail_msg("%s: not done after %llu runs", jobs[i].name, (unsigned long long)n_run);
                const fault f = {least.n_call + 1, one_in, check_rand(&rng),
                                 check_below(&rng, 2) ? VK_PROBE_DEVICE_MEMORY : VK_PROBE_HOST_MEMORY};
                got = run_with(whole, f);
                n_failed += got.n_failed;
                cli_shell(&r, "cat $D/said");
                if (got.code != 0 && (got.n_failed == 0 || !strstr(r.out, "memory")))
                    fail_msg("%s: exit %d, %s", jobs[i].name, got.code, r.out);
            }
            n_trial++;
            n_first += n_run == n_before + 1;
            cli_shell(&r, "mkdir $D/got && mv $D/x* $D/got && diff -r $D/want $D/got");
            if (r.code != 0)
                fail_msg("%s: other files: %s", jobs[i].name, r.out);
            cli_shell(&r, "rm -rf $D/got");
        }
        printf("%s: %llu runs, %llu calls failed\n", jobs[i].name, (unsigned long long)n_run,
               (unsigned long long)n_failed);
        assert_true(n_failed >= 1);
    }
    printf("%llu trials, all with the same files; %llu of them by the first run, the others were given again\n",
           (unsigned long long)n_trial, (unsigned long long)n_first);
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_done_again),
        cmocka_unit_test(taking_and_giving_changes_nothing),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}

/* Without the validation layer, which has no word to say about a call that was not made. */
int main(void)
{
    const char *reason = vulkan_missing();
    if (reason) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    unsetenv("MYTHOS_VK_VALIDATE");
    return run();
}
#endif
