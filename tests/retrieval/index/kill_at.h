/* kill_at.h - ends the process, as kill -9 would, at a chosen one of its calls that change files.
 *
 * Calls   write, pwrite, fsync, fdatasync, ftruncate, rename(at) and unlink(at) of this program and of the libraries
 *         linked with it (SQLite) are replaced by those below, which count. If the chosen call is a write, it writes
 *         a part or nothing
 * Log     of an uninterrupted run: which call changed which file, so that a test can choose calls of one file
 * Limits  it does not see writes through a mapping (the index of a write-ahead log, which SQLite makes anew), nor
 *         power loss */
#ifndef MYTH_TESTS_KILL_AT_H
#define MYTH_TESTS_KILL_AT_H

#include "tests/support/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef enum { KILL_DATABASE, KILL_WAL, KILL_EMBEDDINGS, KILL_VECTORS, KILL_LOCK, KILL_FILE_N } kill_file;
typedef enum { KILL_WRITE, KILL_SYNC, KILL_TRUNCATE, KILL_RENAME, KILL_UNLINK, KILL_CALL_N } kill_call;

enum { KILL_LOG = 1 << 16 };

/* Shared with the child. */
typedef struct {
    _Atomic uint32_t n; /* calls so far                          */
    uint32_t at;        /* the one that is the last; 0 = none is */
    kill_call aim;      /* or the aim_nth-th such call on a file of vectors, wherever it comes */
    uint32_t aim_nth;
    _Atomic uint32_t n_aim;
    uint32_t torn; /* of a thousand, how much of it is done */
    bool is_on, was_reached;
    unsigned char file[KILL_LOG + 1], call[KILL_LOG + 1]; /* of call n, from 1 */
} kill_plan;

static kill_plan *plan;

static inline kill_file kill_file_of(int fd, const char *path)
{
    char link[64], target[1024];
    if (!path) {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = '\0';
        path = target;
    }
    const size_t n = strlen(path);
    return strstr(path, ".vectors-")                   ? KILL_VECTORS
         : strstr(path, ".embeddings")                 ? KILL_EMBEDDINGS
         : n > 5 && strcmp(path + n - 5, ".lock") == 0 ? KILL_LOCK
         : n > 4 && strcmp(path + n - 4, "-wal") == 0  ? KILL_WAL
                                                       : KILL_DATABASE;
}

/* Counts a call; true when it is to be the last one. */
static inline bool kill_count(kill_call call, int fd, const char *path)
{
    if (!plan || !plan->is_on)
        return false;
    const uint32_t n = atomic_fetch_add(&plan->n, 1) + 1;
    const kill_file file = kill_file_of(fd, path);
    if (n <= KILL_LOG) {
        plan->call[n] = (unsigned char)call;
        plan->file[n] = (unsigned char)file;
    }
    if (plan->aim_nth && file == KILL_VECTORS && call == plan->aim &&
        atomic_fetch_add(&plan->n_aim, 1) + 1 == plan->aim_nth)
        plan->at = n;
    plan->was_reached |= n == plan->at;
    return n == plan->at;
}

static inline _Noreturn void kill_die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static inline size_t kill_part(size_t n) { return (size_t)((uint64_t)n * plan->torn / 1000); }

/* Seen by the libraries, too. */
#define KILL_SEEN __attribute__((visibility("default")))
KILL_SEEN ssize_t write(int fd, const void *p, size_t n)
{
    if (kill_count(KILL_WRITE, fd, NULL)) {
        syscall(SYS_write, fd, p, kill_part(n));
        kill_die();
    }
    return syscall(SYS_write, fd, p, n);
}

static inline ssize_t kill_pwrite(int fd, const void *p, size_t n, int64_t off)
{
    if (kill_count(KILL_WRITE, fd, NULL)) {
        syscall(SYS_pwrite64, fd, p, kill_part(n), off);
        kill_die();
    }
    return syscall(SYS_pwrite64, fd, p, n, off);
}

/* The 64s have no declaration without _LARGEFILE64_SOURCE. */
ssize_t pwrite64(int fd, const void *p, size_t n, __off64_t off);
int ftruncate64(int fd, __off64_t n);

KILL_SEEN ssize_t pwrite(int fd, const void *p, size_t n, off_t off) { return kill_pwrite(fd, p, n, off); }
KILL_SEEN ssize_t pwrite64(int fd, const void *p, size_t n, __off64_t off) { return kill_pwrite(fd, p, n, off); }

#define KILL_BEFORE(call, fd, path, number, ...)  \
    do {                                          \
        if (kill_count(call, fd, path))           \
            kill_die();                           \
        return (int)syscall(number, __VA_ARGS__); \
    } while (0)
KILL_SEEN int fsync(int fd) { KILL_BEFORE(KILL_SYNC, fd, NULL, SYS_fsync, fd); }
KILL_SEEN int fdatasync(int fd) { KILL_BEFORE(KILL_SYNC, fd, NULL, SYS_fdatasync, fd); }
KILL_SEEN int ftruncate(int fd, off_t n) { KILL_BEFORE(KILL_TRUNCATE, fd, NULL, SYS_ftruncate, fd, n); }
KILL_SEEN int ftruncate64(int fd, __off64_t n) { KILL_BEFORE(KILL_TRUNCATE, fd, NULL, SYS_ftruncate, fd, n); }
KILL_SEEN int rename(const char *from, const char *to)
{
    KILL_BEFORE(KILL_RENAME, -1, to, SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
KILL_SEEN int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    KILL_BEFORE(KILL_RENAME, -1, to, SYS_renameat2, from_dir, from, to_dir, to, 0);
}
KILL_SEEN int unlinkat(int dir, const char *path, int flags)
{
    KILL_BEFORE(KILL_UNLINK, -1, path, SYS_unlinkat, dir, path, flags);
}
KILL_SEEN int unlink(const char *path) { KILL_BEFORE(KILL_UNLINK, -1, path, SYS_unlinkat, AT_FDCWD, path, 0); }

/* ---- the tests' side ---- */

static inline void kill_open(void)
{
    plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(plan != MAP_FAILED);
}

static inline void kill_close(void)
{
    munmap(plan, sizeof(*plan));
    plan = NULL;
}

/* Counts from here on, to the `at`-th call; 0 = without an end. */
static inline void kill_begin(uint32_t at, uint32_t torn)
{
    atomic_store(&plan->n, 0);
    plan->at = at;
    plan->aim_nth = 0;
    plan->torn = torn;
    plan->was_reached = false;
    plan->is_on = true;
}

/* To the nth call of a kind on a file of vectors: rare ones are met too, and where the runs differ. */
static inline void kill_begin_at(kill_call aim, uint32_t nth, uint32_t torn)
{
    kill_begin(0, torn);
    atomic_store(&plan->n_aim, 0);
    plan->aim = aim;
    plan->aim_nth = nth;
}

static inline uint32_t kill_end(void)
{
    plan->is_on = false;
    return atomic_load(&plan->n);
}

/* Calls of a run that was not interrupted. */
typedef struct {
    uint32_t n;
    uint32_t n_vectors, first_vectors, last_vectors; /* those that changed a file of vectors */
    uint32_t n_vectors_call[KILL_CALL_N];            /* how many of each kind they are */
} kill_run;

static inline kill_run kill_run_of(void)
{
    kill_run r = {.n = kill_end()};
    assert_true(r.n > 0 && r.n <= KILL_LOG);
    for (uint32_t i = 1; i <= r.n; i++)
        if (plan->file[i] == KILL_VECTORS) {
            r.first_vectors = r.n_vectors++ ? r.first_vectors : i;
            r.last_vectors = i;
            r.n_vectors_call[plan->call[i]]++;
        }
    return r;
}

typedef struct {
    uint32_t n[KILL_FILE_N][KILL_CALL_N], n_ended,
        n_between; /* runs that were killed by the plan, after their end, and by the clock */
} kill_tally;

static inline void kill_note(kill_tally *t, bool was_killed)
{
    const uint32_t n = atomic_load(&plan->n);
    if (plan->was_reached && n <= KILL_LOG)
        t->n[plan->file[plan->at]][plan->call[plan->at]]++;
    else
        ++*(was_killed ? &t->n_between : &t->n_ended);
}

static inline void kill_print(const kill_tally *t, uint32_t n)
{
    static const char *const file[] = {"database", "log", "embeddings", "vectors", "lock"};
    static const char *const call[] = {"write", "sync", "truncate", "rename", "unlink"};
    print_message("%u runs: %u killed by the clock, %u after their end", n, t->n_between, t->n_ended);
    for (int f = 0; f < KILL_FILE_N; f++)
        for (int c = 0; c < KILL_CALL_N; c++)
            if (t->n[f][c])
                print_message(", %u at %s %s", t->n[f][c], call[c], file[f]);
    print_message("\n");
}

#endif
