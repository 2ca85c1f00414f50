/* test_thread.c - threads of base/thread.h: all of them run, on the same CPUs as the thread that made them, also
 * when there is only one. */
#define _GNU_SOURCE
#include "engine/base/thread.h"
#include "tests/support/check.h"

#include <sched.h>

enum { N = 8 };

typedef struct {
    cpu_set_t set;
    int n_run;
} seen;

static void *look(void *arg)
{
    seen *s = arg;
    s->n_run++;
    sched_getaffinity(0, sizeof(s->set), &s->set);
    return NULL;
}

static void start_and_look(const cpu_set_t *home)
{
    myth_thread t[N];
    seen s[N] = {0};
    for (int i = 0; i < N; i++)
        assert_true(myth_thread_start(&t[i], look, &s[i]));
    for (int i = 0; i < N; i++) {
        myth_thread_join(&t[i]);
        assert_int_equal(s[i].n_run, 1);
        assert_true(CPU_EQUAL(&s[i].set, home));
    }
}

static void all_run_on_the_processors_of_their_maker(void **state)
{
    (void)state;
    cpu_set_t home;
    assert_int_equal(sched_getaffinity(0, sizeof(home), &home), 0);
    start_and_look(&home);
}

static void all_run_on_the_only_one(void **state)
{
    (void)state;
    cpu_set_t home, one;
    assert_int_equal(sched_getaffinity(0, sizeof(home), &home), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &home))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    start_and_look(&one);
    assert_int_equal(sched_setaffinity(0, sizeof(home), &home), 0);
    start_and_look(&home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_run_on_the_processors_of_their_maker),
        cmocka_unit_test(all_run_on_the_only_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
