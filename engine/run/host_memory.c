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

/* The files of a version of control groups. */
typedef struct {
    const char *limit, *used, *cache; /* cache: the line of memory.stat with what the system can drop */
} group_files;
static const group_files version_1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "},
                         version_2 = {"memory.max", "memory.current", "inactive_file "};

/* What the groups of a process say together. */
typedef struct {
    uint64_t least;        /* limit; UINT64_MAX = none */
    uint64_t left;         /* in the group that has least left, in bytes; UINT64_MAX = none has a limit */
    myth_host_use fullest; /* of those with a limit, by the share that is in use */
} group_state;

/* The number behind a word that begins a line of a file; 0 when there is none. */
static uint64_t number_behind(const char *path, const char *word)
{
    char line[256];
    uint64_t n = 0;
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, word, strlen(word)) == 0)
            n = strtoull(line + strlen(word), NULL, 10);
    if (f)
        fclose(f);
    return n;
}

static uint64_t left_of(myth_host_use u) { return !u.all ? UINT64_MAX : u.used < u.all ? u.all - u.used : 0; }
static uint64_t less_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

static bool is_fuller(myth_host_use a, myth_host_use b)
{
    return a.all && (!b.all || (double)a.used / (double)a.all > (double)b.used / (double)b.all);
}

/* Looks at one group, whose files are in a folder. */
static void look_at(group_state *s, const char *folder, const group_files *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/%s", folder, name->limit) >= (int)sizeof(path))
        return;
    const uint64_t limit = number_in(path);
    s->least = less_of(s->least, limit);
    if (limit == UINT64_MAX || !limit || snprintf(path, sizeof(path), "%s/%s", folder, name->used) >= (int)sizeof(path))
        return;
    const uint64_t used = number_in(path);
    if (used == UINT64_MAX || snprintf(path, sizeof(path), "%s/memory.stat", folder) >= (int)sizeof(path))
        return;
    const uint64_t cache = number_behind(path, name->cache);
    const myth_host_use use = {.used = used > cache ? used - cache : 0, .all = limit};
    s->left = less_of(s->left, left_of(use));
    if (is_fuller(use, s->fullest))
        s->fullest = use;
}

/* Looks at a group and at those above it. */
static void look_up(group_state *s, const char *mount, const char *group, const group_files *name)
{
    char folder[PATH_MAX], at[PATH_MAX];
    if (snprintf(at, sizeof(at), "%s", group) >= (int)sizeof(at))
        return;
    for (;;) {
        if (snprintf(folder, sizeof(folder), "%s%s", mount, strcmp(at, "/") == 0 ? "" : at) < (int)sizeof(folder))
            look_at(s, folder, name);
        char *slash = strrchr(at, '/');
        if (!slash || !at[0])
            return;
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

static group_state groups_of(const char *groups, const char *mount)
{
    char line[PATH_MAX], below[PATH_MAX];
    group_state s = {.least = UINT64_MAX, .left = UINT64_MAX};
    FILE *f = fopen(groups, "re");
    while (f && fgets(line, sizeof(line), f)) { /* NUMBER:CONTROLLERS:/GROUP */
        char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
        if (!group || group[1] != '/')
            continue;
        group[strcspn(group, "\n")] = '\0';
        if (group == list + 1) /* version 2 has one tree for all controllers */
            look_up(&s, mount, group + 1, &version_2);
        else if (has_memory(list + 1, group) && snprintf(below, sizeof(below), "%s/memory", mount) < (int)sizeof(below))
            look_up(&s, below, group + 1, &version_1);
    }
    if (f)
        fclose(f);
    return s;
}

uint64_t myth_host_group_limit(const char *groups, const char *mount) { return groups_of(groups, mount).least; }

myth_host_use myth_host_used_of(const char *meminfo, const char *groups, const char *mount)
{
    const uint64_t all = number_behind(meminfo, "MemTotal:") << 10, left = number_behind(meminfo, "MemAvailable:")
                                                                        << 10;
    const myth_host_use machine = {.used = all > left ? all - left : 0, .all = all};
    const group_state s = groups_of(groups, mount);
    return is_fuller(s.fullest, machine) ? s.fullest : machine;
}

myth_host_use myth_host_used(void) { return myth_host_used_of("/proc/meminfo", "/proc/self/cgroup", "/sys/fs/cgroup"); }

uint64_t myth_host_left_of(const char *meminfo, const char *groups, const char *mount)
{
    const uint64_t available = number_behind(meminfo, "MemAvailable:") << 10;
    return less_of(available ? available : UINT64_MAX, groups_of(groups, mount).left);
}

/* The limits that a process itself has, each with the line of /proc/self/status that counts against it. */
static const struct {
    int limit;
    const char *used;
} own_limit[] = {{RLIMIT_AS, "VmSize:"}, {RLIMIT_DATA, "VmData:"}};

/* One of them; UINT64_MAX = none. */
static uint64_t limit_at(size_t i)
{
    struct rlimit r;
    return getrlimit(own_limit[i].limit, &r) == 0 && r.rlim_cur != RLIM_INFINITY ? r.rlim_cur : UINT64_MAX;
}

uint64_t myth_host_memory(uint64_t machine)
{
    uint64_t least = myth_host_group_limit("/proc/self/cgroup", "/sys/fs/cgroup");
    for (size_t i = 0; i < sizeof(own_limit) / sizeof(*own_limit); i++)
        least = less_of(least, limit_at(i));
    if (machine)
        least = less_of(least, machine);
    return least == UINT64_MAX ? 0 : least;
}

uint64_t myth_host_left_without(uint64_t mapped)
{
    uint64_t left = myth_host_left_of("/proc/meminfo", "/proc/self/cgroup", "/sys/fs/cgroup");
    for (size_t i = 0; i < sizeof(own_limit) / sizeof(*own_limit); i++) {
        const uint64_t all = limit_at(i);
        if (all == UINT64_MAX)
            continue;
        uint64_t used = number_behind("/proc/self/status", own_limit[i].used) << 10;
        if (own_limit[i].limit == RLIMIT_AS)
            used -= mapped < used ? mapped : used;
        left = less_of(left, left_of((myth_host_use){.used = used, .all = all ? all : 1}));
    }
    return left;
}

uint64_t myth_host_left(void) { return myth_host_left_without(0); }
