/* damage.c - see damage.h. A pack ends with a checksum of all before it (20 bytes of SHA-1, or 32 of SHA-256); its
 * index has the same before its own checksum, which is the last. */
#define _GNU_SOURCE
#include "damage.h"

#include "tracked.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUM_MIN = 20, SUM_MAX = 32, PACK_MAX = 4096 };

static bool join(char dst[PATH_MAX], const char *dir, const char *name)
{
    return snprintf(dst, PATH_MAX, name[0] == '/' ? "%.0s%s" : "%s/%s", dir, name) < PATH_MAX;
}

/* Reads the first line of a small file; false when there is no such file. */
static bool read_line(char line[PATH_MAX], const char *dir, const char *name)
{
    char path[PATH_MAX];
    line[0] = '\0';
    if (!join(path, dir, name))
        return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? -1 : read(fd, line, PATH_MAX - 1);
    if (fd >= 0)
        close(fd);
    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    return n >= 0;
}

/* The folder that git uses for the work tree around a folder. False: there is none. */
static bool find_git(char git[PATH_MAX], const char *folder)
{
    char dir[PATH_MAX], line[PATH_MAX];
    struct stat st;
    if (!realpath(folder, dir))
        return false;
    for (;; *strrchr(dir, '/') = '\0') {
        if (!join(git, dir, ".git"))
            return false;
        if (lstat(git, &st) == 0)
            break;
        if (!strchr(dir, '/'))
            return false;
    }
    if (S_ISDIR(st.st_mode))
        return true;
    return read_line(line, dir, ".git") && strncmp(line, "gitdir: ", 8) == 0 && join(git, dir, line + 8);
}

static bool is_id(const char *s)
{
    size_t n = 0;
    while (isxdigit((unsigned char)s[n]))
        n++;
    return (n == 40 || n == 64) && !s[n];
}

/* HEAD, and the file of the branch that it names where it has one. */
static bool is_head_damaged(char say[MYTH_DAMAGE_BYTES], const char *git, const char *common)
{
    char head[PATH_MAX], line[PATH_MAX];
    if (!read_line(head, git, "HEAD")) {
        snprintf(say, MYTH_DAMAGE_BYTES, "HEAD is not there");
        return true;
    }
    const bool is_ref = strncmp(head, "ref: refs/", 10) == 0 && !strstr(head, "..");
    if (!is_ref && !is_id(head)) {
        snprintf(say, MYTH_DAMAGE_BYTES, "HEAD is no reference");
        return true;
    }
    if (!is_ref || !read_line(line, common, head + 5) || is_id(line) || strncmp(line, "ref: ", 5) == 0)
        return false;
    snprintf(say, MYTH_DAMAGE_BYTES, "%.120s names no commit", head + 5);
    return true;
}

/* Reads n bytes that end `before` bytes before the end of a file. */
static bool read_end(unsigned char *dst, int fd, size_t n, size_t before)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= n + before &&
           pread(fd, dst, n, st.st_size - (off_t)(n + before)) == (ssize_t)n;
}

static bool is_whole(int pack, int idx)
{
    static const size_t length[] = {SUM_MIN, SUM_MAX};
    unsigned char head[4], a[SUM_MAX], b[SUM_MAX];
    if (pread(pack, head, sizeof(head), 0) != (ssize_t)sizeof(head) || memcmp(head, "PACK", sizeof(head)) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        if (read_end(a, pack, length[i], 0) && read_end(b, idx, length[i], length[i]) && memcmp(a, b, length[i]) == 0)
            return true;
    return false;
}

/* Whether the index of a pack is there, and the pack is not as it says. */
static bool is_pack_damaged(const char *dir, const char *idx_name)
{
    char path[PATH_MAX], pack_path[PATH_MAX];
    const int n_stem = (int)strlen(idx_name) - 4;
    if (!join(path, dir, idx_name) ||
        snprintf(pack_path, sizeof(pack_path), "%s/%.*s.pack", dir, n_stem, idx_name) >= (int)sizeof(pack_path))
        return false;
    const int idx = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
              pack = open(pack_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_damaged = idx >= 0 && (pack < 0 || !is_whole(pack, idx));
    if (idx >= 0)
        close(idx);
    if (pack >= 0)
        close(pack);
    return is_damaged && access(path, R_OK) == 0; /* else git has packed anew */
}

static bool are_packs_damaged(char say[MYTH_DAMAGE_BYTES], const char *common)
{
    char dir[PATH_MAX];
    DIR *d = join(dir, common, "objects/pack") ? opendir(dir) : NULL;
    bool is_damaged = false;
    const struct dirent *e;
    for (int i = 0; d && !is_damaged && i < PACK_MAX && (e = readdir(d)) != NULL; i++) {
        const char *end = strrchr(e->d_name, '.');
        if (strncmp(e->d_name, "pack-", 5) != 0 || !end || strcmp(end, ".idx") != 0)
            continue;
        is_damaged = is_pack_damaged(dir, e->d_name);
        if (is_damaged)
            snprintf(say, MYTH_DAMAGE_BYTES, "objects/pack/%.100s: its pack is not whole", e->d_name);
    }
    if (d)
        closedir(d);
    return is_damaged;
}

bool myth_git_damage(char say[MYTH_DAMAGE_BYTES], myth_mem *mem, const char *folder)
{
    char git[PATH_MAX], common[PATH_MAX], line[PATH_MAX];
    myth_tracked *tracked = NULL;
    say[0] = '\0';
    if (!find_git(git, folder))
        return false;
    if (!read_line(line, git, "commondir") || !line[0] || !join(common, git, line))
        memcpy(common, git, sizeof(common));
    if (is_head_damaged(say, git, common))
        return true;
    const myth_status st = myth_tracked_open(&tracked, mem, git, NULL);
    myth_tracked_close(tracked);
    if (st == MYTH_EFORMAT || st == MYTH_EIO) {
        snprintf(say, MYTH_DAMAGE_BYTES, "the index cannot be read");
        return true;
    }
    return are_packs_damaged(say, common);
}
