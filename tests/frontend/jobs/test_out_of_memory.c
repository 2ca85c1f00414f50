/* test_out_of_memory.c - a device that has no memory for a submission, once, anywhere in a job: the batch is done again
 * and the files are those of a run that nothing happened to.
 *
 * How       a command runs in a child of this program, where the nth Vulkan call of the process fails. What comes
 *           before the job (the model, the engine) has as many calls as a job of one short prompt; from there on some
 *           calls are chosen, with MYTHOS_TEST_FULL=1 all of them */
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
} outcome;

/* Runs words separated by spaces, in which @ is the test's folder. */
static outcome run_with_fault(const char *line, uint64_t nth, vk_probe_failure failure)
{
    char text[1024], *argv[64], *rest = NULL;
    outcome got = {0};
    int argc = 0, ends[2];
    FILE *f = fmemopen(text, sizeof(text), "w");
    assert_non_null(f);
    for (const char *c = line; *c; c++)
        if (*c == '@')
            fputs(cli_dir, f);
        else
            fputc(*c, f);
    fputc('\0', f);
    fclose(f);
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
        vk_probe_fault(nth, failure);
        got.code = mythos_main(argc, argv);
        got.n_call = vk_probe_n_call();
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
        fail_msg("%s: call %llu failing: status %d", text, (unsigned long long)nth, status);
    return got;
}

static void write_prompts(void)
{
    cli_result r;
    cli_shell(&r, "for i in $(seq 14); do printf '{\"text\":\"%s\",\"id\":%d,\"label\":\"%s\"}\\n' "
                  "\"$(seq -s ' ' $((1 + i * 5 % 11)))\" $i $([ $((i % 3)) = 0 ] && echo a || echo b); done >$D/p; "
                  "printf '{\"text\":\"1\",\"label\":\"a\"}\\n' >$D/one; "
                  "for i in $(seq 6); do printf '{\"text\":\"%s\",\"completions\":[\"a b\",\"c\",\"d e f %d\"]}\\n' "
                  "\"$(seq -s ' ' $i)\" $i; done >$D/c");
    assert_int_equal(r.code, 0);
}

#define GEMMA   "-m random:gemma3-tiny:q8_0 --device vulkan:0 -t 1 -q "
#define ENCODER "-m random:embeddinggemma-tiny:f32 --device vulkan:0 -t 1 -q "

/* The command with PROMPTS in the place of its prompts; all files begin with x. */
static const struct {
    const char *name, *before, *prompts, *after;
} jobs[] = {
    {"generate", "generate " GEMMA "--jsonl @/", "p", " -o @/x -n 6 -np 5 -ub 32 --temp 0.7 --seed 3"},
    {"logprobs", "logprobs " GEMMA "@/", "p", " -o @/x --top-k 3 -ub 48"},
    {"completions", "logprobs " GEMMA "@/", "c", " -o @/x --top-k 3 -ub 48"},
    {"residuals", "residuals " GEMMA "@/", "p", " -o @/x -ub 48"},
    {"residuals mean", "residuals " GEMMA "@/", "p", " -o @/x -ub 48 --position mean"},
    {"residuals rows", "residuals " GEMMA "@/", "p", " -o @/x -ub 48 --winsorize 0.9 --position every --rows @/x.rows"},
    {"residuals stats", "residuals " GEMMA "@/", "p", " -o @/x -ub 48 --stats all"},
    {"embed", "embed " ENCODER "--jsonl @/", "p", " -o @/x -ub 64"},
};

static void a_batch_is_done_again(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    cli_result r;
    write_prompts();
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        char whole[512], one[512];
        uint32_t n_failed = 0;
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
        const uint32_t n = check_is_full() ? UINT32_MAX : 2;
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

static int run(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_batch_is_done_again)};
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
