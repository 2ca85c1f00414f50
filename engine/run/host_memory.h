/* host_memory.h - how much memory this process may have.
 *
 * Least     of what the machine has, what the process's control group and those above it allow (versions 1 and 2), and
 *           its limit on the address space
 * Source    Linux: Documentation/admin-guide/cgroup-v2.rst (memory.max), cgroup-v1/memory.rst (memory.limit_in_bytes)
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

#endif
