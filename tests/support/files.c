#define _GNU_SOURCE /* nftw */
#include "files.h"

#include "engine/model/config.h"
#include "frontend/cli/environment.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

static char root[256];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type;
    return at->level == 0 && strcmp(path, root) != 0 ? 0 : remove(path);
}

static void remove_root(void) { nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

const char *files_dir(void)
{
    if (!root[0]) {
        const char *tmp = getenv("TMPDIR");
        snprintf(root, sizeof(root), "%s/mythos-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
        assert_non_null(mkdtemp(root));
        atexit(remove_root);
    }
    return root;
}

const char *files_path(const char *name)
{
    static char path[4][1024];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", files_dir(), name);
    return path[turn];
}

void files_git_alone(void)
{
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
}

void files_mkdir(const char *name) { assert_int_equal(mkdir(files_path(name), 0700), 0); }

void files_sparse(const char *name, const void *data, size_t len, uint64_t size)
{
    const char *path = files_path(name);
    unlink(path);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fflush(f), 0);
    if (size > len)
        assert_int_equal(ftruncate(fileno(f), (off_t)size), 0);
    assert_int_equal(fclose(f), 0);
}

void files_put(const char *name, const void *data, size_t len) { files_sparse(name, data, len, len); }
void files_text(const char *name, const char *text) { files_put(name, text, strlen(text)); }

void files_put_deep(const char *name, const void *data, size_t len)
{
    char dir[700];
    for (const char *s = strchr(name, '/'); s; s = strchr(s + 1, '/')) {
        snprintf(dir, sizeof(dir), "%.*s", (int)(s - name), name);
        if (mkdir(files_path(dir), 0700) != 0)
            assert_int_equal(errno, EEXIST);
    }
    files_put(name, data, len);
}

void files_clear(const char *name) { nftw(files_path(name), remove_one, 16, FTW_DEPTH | FTW_PHYS); }

void bytes_put(bytes *b, const void *src, size_t n)
{
    if (b->cap - b->len < n) {
        b->cap = 2 * b->cap + n + 64;
        b->data = realloc(b->data, b->cap);
        assert_non_null(b->data);
    }
    if (n)
        memcpy(b->data + b->len, src, n);
    b->len += n;
}

void bytes_text(bytes *b, const char *text) { bytes_put(b, text, strlen(text)); }

void bytes_uint(bytes *b, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        bytes_put(b, &(unsigned char){(unsigned char)(v >> 8 * i)}, 1);
}

void bytes_free(bytes *b)
{
    free(b->data);
    *b = (bytes){0};
}

char *text_replace(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("\"%s\" is not in the text", from);
    size_t n = strlen(text) - strlen(from) + strlen(to) + 1;
    char *out = malloc(n);
    assert_non_null(out);
    snprintf(out, n, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

myth_status files_try(const char *what, const char *spec, myth_weights_level level, myth_error *err)
{
    static myth_config config;
    myth_error own = {0};
    myth_mem *mem;
    myth_weights *w = NULL;
    struct timespec from, to;
    err = err ? err : &own;
    *err = (myth_error){0};
    assert_int_equal(myth_mem_open(&mem, 64u << 20, err), MYTH_OK);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    myth_status st =
        myth_weights_open(&w, mem, spec, &(myth_weights_opts){.level = level, .hub_dir = myth_env_hub_dir()}, err);
    if (st == MYTH_OK)
        st = myth_config_read(&config, w, err);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double s = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
    if (st != MYTH_OK && (!err->msg[0] || strchr(err->msg, '\n')))
        fail_msg("%s: message \"%s\"", what, err->msg);
    if (!IS_SANITIZED && s > 1.0)
        fail_msg("%s: %.2f s", what, s);
    myth_weights_close(w);
    if (myth_mem_close(mem) != 0)
        fail_msg("%s: bytes still live", what);
    return st;
}

void files_expect(const char *what, const char *spec, myth_weights_level level, myth_status wanted)
{
    myth_error err;
    myth_status st = files_try(what, spec, level, &err);
    if (st != wanted)
        fail_msg("%s: got %s (%s), expected %s", what, myth_status_name(st), err.msg, myth_status_name(wanted));
}
