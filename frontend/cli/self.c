/* self.c - see self.h. */
#define _GNU_SOURCE
#include "self.h"
#include "engine/base/clock.h"
#include "cli.h"
#include "exit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { FIRST_ROOM = 1 << 16, ENV_MAX = 1024, WAIT_MS = 100 };

typedef struct {
    char *text;
    size_t n, cap;
} growing;

static myth_status grow_text(growing *g, myth_mem *mem, myth_error *err)
{
    if (g->cap - g->n > FIRST_ROOM / 2)
        return MYTH_OK;
    size_t cap = g->cap ? 2 * g->cap : FIRST_ROOM;
    if (cap > MYTH_SELF_BYTES)
        return myth_fail(err, MYTH_ELIMIT, "a command printed more than %d bytes", MYTH_SELF_BYTES);
    char *text = myth_realloc(mem, MYTH_MEM_OTHER, "output", g->text, cap);
    if (!text)
        return myth_fail(err, MYTH_ENOMEM, "no memory for what a command printed, %zu bytes", cap);
    g->text = text;
    g->cap = cap;
    return MYTH_OK;
}

/* Reads some bytes; false at the end of the stream. When dst is full, bytes are read and dropped. */
static bool read_some(int fd, char *dst, size_t cap, size_t *n)
{
    char drop[512];
    bool is_full = *n + 1 >= cap;
    ssize_t got = is_full ? read(fd, drop, sizeof(drop)) : read(fd, dst + *n, cap - *n - 1);
    if (got > 0 && !is_full)
        *n += (size_t)got;
    return got > 0 || (got < 0 && errno == EINTR);
}

/* Reads the command's output and error streams until both end. */
static myth_status drain(growing *out, char *line, size_t line_cap, int out_fd, int err_fd, pid_t pid,
                         const myth_self *self, myth_error *err)
{
    double end_s = self->seconds ? myth_seconds() + (double)self->seconds : INFINITY;
    bool is_interrupted = false;
    struct pollfd p[2] = {{.fd = out_fd, .events = POLLIN}, {.fd = err_fd, .events = POLLIN}};
    size_t n_line = 0;
    myth_status st = MYTH_OK;
    while (p[0].fd >= 0 || p[1].fd >= 0) {
        if (myth_cancelled(self->cancel))
            return myth_fail(err, MYTH_ECANCEL, "stopped");
        if (myth_seconds() >= end_s && is_interrupted)
            return myth_fail(err, MYTH_ECANCEL, "it did not end within %d seconds of an interrupt", MYTH_END_SECONDS);
        if (myth_seconds() >= end_s) {
            kill(pid, SIGINT);
            is_interrupted = true;
            if (self->is_late)
                *self->is_late = true;
            end_s += MYTH_END_SECONDS;
        }
        if (poll(p, 2, WAIT_MS) < 0 && errno != EINTR)
            return myth_fail(err, MYTH_EIO, "poll: %s", strerror(errno));
        if (p[0].fd >= 0 && p[0].revents) {
            MYTH_TRY(grow_text(out, self->mem, err));
            if (!read_some(out_fd, out->text, out->cap, &out->n))
                p[0].fd = -1;
        }
        if (p[1].fd >= 0 && p[1].revents && !read_some(err_fd, line, line_cap, &n_line))
            p[1].fd = -1;
    }
    line[n_line] = '\0';
fail:
    return st;
}

typedef struct {
    const myth_self *self;
    char *const *argv, *const *env;
    const char *dir;
    int out_fd, err_fd, told_fd; /* told_fd gets the error when the program cannot be started */
    pid_t parent;
} child;

/* The forked process: calls only what is safe there. It ends with the thread that waits for it, whatever ends that. */
static _Noreturn void become(const child *c)
{
    const int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int in = fcntl(none, F_DUPFD_CLOEXEC, 3), out = fcntl(c->out_fd, F_DUPFD_CLOEXEC, 3),
              log = fcntl(c->err_fd, F_DUPFD_CLOEXEC, 3), told = fcntl(c->told_fd, F_DUPFD_CLOEXEC, 3);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == c->parent && dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(log, 2) == 2 &&
        (!c->dir || chdir(c->dir) == 0))
        execve(c->self->program, c->argv, c->env);
    const int rc = errno ? errno : ECHILD;
    if (write(told, &rc, sizeof(rc)) < 0)
        _exit(126);
    _exit(127);
}

static myth_status start(pid_t *pid, const myth_self *self, const char *const *args, const char *dir, int out_fd,
                         int err_fd, myth_error *err)
{
    const char *argv[MYTH_SELF_ARGS + 2] = {"mythos"};
    char *env[ENV_MAX + 3], cache[4096], state[4096];
    int n = 0, n_arg = 1;
    for (; args[n_arg - 1] && n_arg <= MYTH_SELF_ARGS; n_arg++)
        argv[n_arg] = args[n_arg - 1];
    for (char **e = environ; *e && n < ENV_MAX; e++)
        if (!self->cache || (strncmp(*e, "MYTHOS_", 7) != 0 && strncmp(*e, "XDG_CACHE_HOME=", 15) != 0 &&
                             strncmp(*e, "XDG_STATE_HOME=", 15) != 0))
            env[n++] = *e;
    if (self->cache && ((size_t)snprintf(cache, sizeof(cache), "XDG_CACHE_HOME=%s", self->cache) >= sizeof(cache) ||
                        (size_t)snprintf(state, sizeof(state), "XDG_STATE_HOME=%s", self->cache) >= sizeof(state)))
        return myth_fail(err, MYTH_EARG, "%s: the path is too long", self->cache);
    if (self->cache) {
        env[n++] = cache;
        env[n++] = state;
    }
    env[n] = NULL;
    int told[2], rc = 0;
    if (pipe2(told, O_CLOEXEC) != 0)
        return myth_fail(err, MYTH_EIO, "pipe: %s", strerror(errno));
    const pid_t parent = getpid();
    *pid = fork();
    if (*pid == 0)
        become(&(const child){.self = self,
                              .argv = (char *const *)argv,
                              .env = env,
                              .dir = dir,
                              .out_fd = out_fd,
                              .err_fd = err_fd,
                              .told_fd = told[1],
                              .parent = parent});
    rc = *pid < 0 ? errno : 0;
    close(told[1]);
    while (*pid > 0 && read(told[0], &rc, sizeof(rc)) < 0 && errno == EINTR)
        ;
    close(told[0]);
    while (*pid > 0 && rc != 0 && waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return rc == 0 ? MYTH_OK
                   : myth_fail(err, MYTH_EIO, "%s cannot be started%s%s: %s", self->program, dir ? " in " : "",
                               dir ? dir : "", strerror(rc));
}

static myth_status check_exit(int status, uint32_t codes, const char *command, char *line, int *code, myth_error *err)
{
    if (!WIFEXITED(status))
        return myth_fail(err, MYTH_EIO, "mythos %s was ended by signal %d", command, WTERMSIG(status));
    *code = WEXITSTATUS(status);
    if (*code == 0 || (*code < 32 && (codes >> *code & 1)))
        return MYTH_OK;
    line[strcspn(line, "\n")] = '\0';
    return myth_fail(err, myth_exit_status(*code), "mythos %s: exit %d: %.180s", command, *code,
                     strncmp(line, "mythos: ", 8) == 0 ? line + 8 : line);
}

myth_status myth_self_run(char **out, size_t *n, int *code, const myth_self *self, const char *const *args,
                          const char *dir, uint32_t codes, myth_error *err)
{
    int out_pipe[2] = {-1, -1}, err_pipe[2] = {-1, -1}, status = 0;
    growing g = {0};
    char line[512] = "";
    pid_t pid = -1;
    myth_status st = MYTH_OK;
    *out = NULL;
    *n = 0;
    if (pipe2(out_pipe, O_CLOEXEC) != 0 || pipe2(err_pipe, O_CLOEXEC) != 0) {
        st = myth_fail(err, MYTH_EIO, "pipe: %s", strerror(errno));
        goto fail;
    }
    MYTH_TRY(grow_text(&g, self->mem, err));
    MYTH_TRY(start(&pid, self, args, dir, out_pipe[1], err_pipe[1], err));
    close(out_pipe[1]);
    close(err_pipe[1]);
    out_pipe[1] = err_pipe[1] = -1;
    st = drain(&g, line, sizeof(line), out_pipe[0], err_pipe[0], pid, self, err);
    if (st != MYTH_OK)
        kill(pid, SIGKILL); /* what it writes survives that: its cache, and the record of its run */
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (st == MYTH_OK)
        st = check_exit(status, codes, args[0], line, code, err);
fail:
    for (int i = 0; i < 2; i++) {
        if (out_pipe[i] >= 0)
            close(out_pipe[i]);
        if (err_pipe[i] >= 0)
            close(err_pipe[i]);
    }
    if (st != MYTH_OK) {
        myth_free(self->mem, g.text);
        return st;
    }
    g.text[g.n] = '\0';
    *out = g.text;
    *n = g.n;
    return MYTH_OK;
}

myth_status myth_self_json(json_t **out, int *code, const myth_self *self, const char *const *args, const char *dir,
                           uint32_t codes, myth_error *err)
{
    char *text;
    size_t n;
    json_error_t e;
    *out = NULL;
    myth_status st = myth_self_run(&text, &n, code, self, args, dir, codes, err);
    if (st != MYTH_OK)
        return st;
    *out = json_loadb(text, n, JSON_ALLOW_NUL, &e);
    myth_free(self->mem, text);
    return *out ? MYTH_OK
                : myth_fail(err, MYTH_EFORMAT, "mythos %s: its output is not JSON: line %d: %.120s", args[0], e.line,
                            e.text);
}
