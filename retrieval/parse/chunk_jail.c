/* chunk_jail.c - the system calls that a worker may use once it runs: read and write its socket, memory, clock,
 * exit.
 *
 * Why      a parser that hostile text has taken over can open, send and start nothing: every other call fails with
 *          EPERM
 * Without  where the kernel has no seccomp filters, or this build does not know the machine's call numbers, the
 *          worker runs unfiltered. The filter is the second fence; the separate process is the first
 * Source   seccomp(2); linux/audit.h for the machines */
#include "chunk_wire.h"

#include "engine/base/asan.h"

#include <errno.h>
#include <stddef.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#else
#define MACHINE 0
#endif

#define LOAD(part)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, part))
#define GIVE(what)  BPF_STMT(BPF_RET | BPF_K, what)
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), GIVE(SECCOMP_RET_ALLOW)

void myth_chunk_jail(void)
{
    static struct sock_filter rule[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
        GIVE(SECCOMP_RET_ERRNO | EPERM),
        LOAD(nr),
        ALLOW(read),
        ALLOW(write),
        ALLOW(close),
        ALLOW(brk),
        ALLOW(mmap),
        ALLOW(munmap),
        ALLOW(mremap),
        ALLOW(mprotect),
        ALLOW(madvise),
        ALLOW(futex),
        ALLOW(clock_gettime),
        ALLOW(clock_nanosleep),
        ALLOW(nanosleep),
        ALLOW(getrlimit),
        ALLOW(setrlimit),
        ALLOW(prlimit64),
        ALLOW(rt_sigaction),
        ALLOW(rt_sigprocmask),
        ALLOW(rt_sigreturn),
        ALLOW(getpid),
        ALLOW(gettid),
        ALLOW(tgkill), /* used by abort */
        ALLOW(exit),
        ALLOW(exit_group),
        GIVE(SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog filter = {.len = sizeof(rule) / sizeof(*rule), .filter = rule};
    if (MACHINE == 0 || MYTH_HAS_ASAN) /* the sanitizer needs more calls for its reports */
        return;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}
