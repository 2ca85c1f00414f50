/* touched.c - see touched.h. The handler calls mprotect alone, which is a system call and nothing else. */
#define _GNU_SOURCE
#include "touched.h"

#include "check.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    unsigned char *first;
    size_t n_page;
    int rights;
    volatile unsigned char *is_read; /* [n_page] */
} range;

enum { SIGNAL_N = 2, STACK_BYTES = 64 << 10 };
static const int signals[SIGNAL_N] = {SIGSEGV, SIGBUS};
static struct sigaction before[SIGNAL_N];
static range ranges[TOUCHED_RANGE_MAX];
static uint32_t n_range;
static size_t page_bytes;
static bool is_on;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    const unsigned char *at = info->si_addr;
    (void)context;
    for (uint32_t i = 0; i < n_range; i++) {
        const range *r = &ranges[i];
        if (at < r->first || at >= r->first + r->n_page * page_bytes)
            continue;
        const size_t page = (size_t)(at - r->first) / page_bytes;
        r->is_read[page] = 1;
        mprotect(r->first + page * page_bytes, page_bytes, r->rights);
        return;
    }
    sigaction(sig, &before[sig == signals[0] ? 0 : 1], NULL); /* not ours: it comes again */
}

size_t touched_page_bytes(void)
{
    if (!page_bytes)
        page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    return page_bytes;
}

/* The calling thread may have no room left on its own stack: an emulated device's threads have small ones. */
static void give_stack(void)
{
    static unsigned char bytes[STACK_BYTES];
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE)
        sigaltstack(&(stack_t){.ss_sp = bytes, .ss_size = sizeof(bytes)}, NULL);
}

void touched_begin(void)
{
    struct sigaction act = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    act.sa_sigaction = on_fault;
    assert_false(is_on);
    while (n_range)
        free((void *)(uintptr_t)ranges[--n_range].is_read);
    touched_page_bytes();
    give_stack();
    for (int i = 0; i < SIGNAL_N; i++)
        assert_int_equal(sigaction(signals[i], &act, &before[i]), 0);
    is_on = true;
}

void touched_watch(const void *p, uint64_t bytes, bool is_writable)
{
    const uintptr_t from = ((uintptr_t)p + page_bytes - 1) / page_bytes * page_bytes,
                    to = ((uintptr_t)p + bytes) / page_bytes * page_bytes;
    range *r = &ranges[n_range];
    assert_true(is_on && n_range < TOUCHED_RANGE_MAX);
    *r = (range){
        .first = (unsigned char *)from,
        .n_page = to > from ? (to - from) / page_bytes : 0,
        .rights = PROT_READ | (is_writable ? PROT_WRITE : 0),
    };
    r->is_read = calloc(r->n_page + 1, 1);
    assert_non_null((void *)(uintptr_t)r->is_read);
    n_range++;
    if (r->n_page)
        assert_int_equal(mprotect(r->first, r->n_page * page_bytes, PROT_NONE), 0);
}

void touched_end(void)
{
    assert_true(is_on);
    for (uint32_t i = 0; i < n_range; i++)
        if (ranges[i].n_page)
            assert_int_equal(mprotect(ranges[i].first, ranges[i].n_page * page_bytes, ranges[i].rights), 0);
    for (int i = 0; i < SIGNAL_N; i++)
        assert_int_equal(sigaction(signals[i], &before[i], NULL), 0);
    is_on = false;
}

const unsigned char *touched_page(uint32_t i, size_t page)
{
    return i < n_range && page < ranges[i].n_page ? ranges[i].first + page * page_bytes : NULL;
}

bool touched_is_read(uint32_t i, size_t page) { return ranges[i].is_read[page] != 0; }
