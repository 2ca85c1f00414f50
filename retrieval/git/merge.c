/* merge.c - see merge.h. */
#include "merge.h"
#include "git.h"
#include "git_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static myth_status copy(void *out, size_t *n, myth_mem *mem, const void *bytes, size_t n_bytes, myth_error *err)
{
    unsigned char *p = myth_alloc(mem, MYTH_MEM_OTHER, "merge", n_bytes + 1);
    if (!p)
        return myth_fail(err, MYTH_ENOMEM, "no memory for %zu bytes of a merge", n_bytes);
    if (n_bytes)
        memcpy(p, bytes, n_bytes);
    *(unsigned char **)out = p;
    *n = n_bytes;
    return MYTH_OK;
}

static git_merge_file_input input_of(myth_side s)
{
    return (git_merge_file_input){.version = GIT_MERGE_FILE_INPUT_VERSION, .ptr = s.n ? s.bytes : "", .size = s.n};
}

myth_status myth_merge3(unsigned char **out, size_t *n, bool *is_conflict, myth_mem *mem, myth_side base,
                        myth_side ours, myth_side theirs, myth_error *err)
{
    const git_merge_file_input a = input_of(base), b = input_of(ours), c = input_of(theirs);
    git_merge_file_result r = {0};
    *out = NULL;
    *n = 0;
    myth_status st = myth_git_start(err);
    if (st != MYTH_OK)
        return st;
    if (git_merge_file(&r, &a, &b, &c, NULL) != 0) {
        st = myth_fail(err, MYTH_EIO, "git: merge: %.160s", myth_git_says());
    } else {
        *is_conflict = !r.automergeable;
        if (!*is_conflict)
            st = copy(out, n, mem, r.ptr, r.len, err);
    }
    git_merge_file_result_free(&r);
    myth_git_stop();
    return st;
}

myth_status myth_unified(char **text, size_t *n, myth_mem *mem, const char *path, myth_side old, myth_side now,
                         myth_error *err)
{
    git_patch *patch = NULL;
    git_buf buf = {0};
    myth_status st = myth_git_start(err);
    if (st != MYTH_OK)
        return st;
    if (git_patch_from_buffers(&patch, old.n ? old.bytes : "", old.n, path, now.n ? now.bytes : "", now.n, path,
                               NULL) != 0 ||
        (patch && git_patch_to_buf(&buf, patch) != 0))
        st = myth_fail(err, MYTH_EIO, "git: %.60s: %.160s", path, myth_git_says());
    else
        st = copy(text, n, mem, buf.ptr, buf.size, err);
    git_buf_dispose(&buf);
    git_patch_free(patch);
    myth_git_stop();
    return st;
}

/* What of `real` is below the folder `top`, with no slash in front; NULL when it is not. */
static const char *below(const char *real, const char *top)
{
    size_t n = strlen(top);
    n -= n > 0 && top[n - 1] == '/';
    return strncmp(real, top, n) == 0 && real[n] == '/' ? real + n + 1 : NULL;
}

myth_status myth_patch_path(char *dst, size_t cap, myth_mem *mem, const char *path, myth_error *err)
{
    char real[PATH_MAX], folder[PATH_MAX], top[PATH_MAX];
    git_repository *repo = NULL;
    const char *rest = NULL;
    if (!realpath(path, real))
        return myth_fail(err, errno == ENOENT ? MYTH_ENOTFOUND : MYTH_EIO, "%.200s: %s", path, strerror(errno));
    snprintf(folder, sizeof(folder), "%s", real);
    *strrchr(folder, '/') = '\0';
    myth_status st = myth_git_check(mem, folder[0] ? folder : "/", err);
    if (st == MYTH_OK)
        st = myth_git_start(err);
    if (st != MYTH_OK)
        return st;
    if (git_repository_open_ext(&repo, folder[0] ? folder : "/", 0, NULL) == 0 && git_repository_workdir(repo) &&
        realpath(git_repository_workdir(repo), top))
        rest = below(real, top);
    if (!rest && getcwd(top, sizeof(top)))
        rest = below(real, top);
    git_repository_free(repo);
    myth_git_stop();
    if (snprintf(dst, cap, "%s", rest ? rest : real + 1) >= (int)cap)
        return myth_fail(err, MYTH_EARG, "%.160s: a path of %zu bytes", path, strlen(real));
    return MYTH_OK;
}
