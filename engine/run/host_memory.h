/* host_memory.h - how much memory this process may have.
 *
 * Least     of what the machine has, what the process's control group and those above it allow (versions 1 and 2), and
 *           its own limits on address space and data (ulimit -v, -d)
 * Source    Linux: Documentation/admin-guide/cgroup-v2.rst (memory.max, memory.current, memory.stat),
 *           cgroup-v1/memory.rst (memory.limit_in_bytes, memory.usage_in_bytes), proc.rst (MemAvailable, VmSize,
 *           VmData); getrlimit(2): RLIMIT_DATA counts private writable memory since Linux 4.7
 * Units     bytes; 0 = unknown
 * Threads   any */
#ifndef MYTH_HOST_MEMORY_H
#define MYTH_HOST_MEMORY_H

#include <stdint.h>

/* machine: what the machine has. */
uint64_t myth_host_memory(uint64_t machine);
/* The least limit of the groups that the file at groups names ("/proc/self/cgroup"), in the tree at mount
 * ("/sys/fs/cgroup"); UINT64_MAX: none has one. For tests, too. */
uint64_t myth_host_group_limit(const char *groups, const char *mount);

/* How much memory is in use by all processes, of how much: of the machine, or of the group with a limit that is the
 * fullest, whichever is fuller. Page cache that the system can drop is not in use. {0, 0} = unknown. */
typedef struct {
    uint64_t used, all;
} myth_host_use;
myth_host_use myth_host_used(void);
/* What this process can still take: the least of what the machine and each of its control groups have left, and of
 * what its own limits leave. UINT64_MAX = unknown. */
uint64_t myth_host_left(void);
/* The same once so many bytes of files that this process has mapped are not mapped any more: they take address space
 * (ulimit -v) and nothing else that is limited here. */
uint64_t myth_host_left_without(uint64_t mapped);
/* For tests: the same from these files, without the process's own limits. meminfo: "/proc/meminfo". */
myth_host_use myth_host_used_of(const char *meminfo, const char *groups, const char *mount);
uint64_t myth_host_left_of(const char *meminfo, const char *groups, const char *mount);

#endif
