/* host_memory.c - reads what limits this process's memory. */
#include "host_memory.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* The number that a file holds; UINT64_MAX when it holds none ("max"), or cannot be read. */
static uint64_t number_in(const char *path)
{
    char text[32] = "";
    FILE *f = fopen(path, "re");
    if (!f)
        return UINT64_MAX;
    const bool is_read = fgets(text, sizeof(text), f) != NULL;
    fclose(f);
    return is_read && isdigit((unsigned char)text[0]) ? strtoull(text, NULL, 10) : UINT64_MAX;
}

/* The least limit of a group and of those above it. */
static uint64_t least_of(const char *mount, const char *group, const char *name)
{
    char path[PATH_MAX], at[PATH_MAX];
    uint64_t least = UINT64_MAX;
    if (snprintf(at, sizeof(at), "%s", group) >= (int)sizeof(at))
        return least;
    for (;;) {
        if (snprintf(path, sizeof(path), "%s%s/%s", mount, strcmp(at, "/") == 0 ? "" : at, name) < (int)sizeof(path)) {
            const uint64_t n = number_in(path);
            least = n < least ? n : least;
        }
        char *slash = strrchr(at, '/');
        if (!slash || !at[0])
            return least;
        *slash = '\0';
    }
}

/* Whether a list of controllers, "cpu,memory", has memory. */
static bool has_memory(const char *list, const char *end)
{
    static const char name[] = "memory";
    for (const char *p = list; p < end; p++)
        if ((p == list || p[-1] == ',') && (size_t)(end - p) >= sizeof(name) - 1 &&
            strncmp(p, name, sizeof(name) - 1) == 0 && (p + sizeof(name) - 1 == end || p[sizeof(name) - 1] == ','))
            return true;
    return false;
}

uint64_t myth_host_group_limit(const char *groups, const char *mount)
{
    char line[PATH_MAX], below[PATH_MAX];
    uint64_t least = UINT64_MAX;
    FILE *f = fopen(groups, "re");
    while (f && fgets(line, sizeof(line), f)) { /* NUMBER:CONTROLLERS:/GROUP */
        char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
        uint64_t n = UINT64_MAX;
        if (!group || group[1] != '/')
            continue;
        group[strcspn(group, "\n")] = '\0';
        if (group == list + 1) /* version 2 has one tree for all controllers */
            n = least_of(mount, group + 1, "memory.max");
        else if (has_memory(list + 1, group) && snprintf(below, sizeof(below), "%s/memory", mount) < (int)sizeof(below))
            n = least_of(below, group + 1, "memory.limit_in_bytes");
        least = n < least ? n : least;
    }
    if (f)
        fclose(f);
    return least;
}

uint64_t myth_host_memory(uint64_t machine)
{
    struct rlimit space;
    uint64_t least = myth_host_group_limit("/proc/self/cgroup", "/sys/fs/cgroup");
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY && space.rlim_cur < least)
        least = space.rlim_cur;
    if (machine && machine < least)
        least = machine;
    return least == UINT64_MAX ? 0 : least;
}
