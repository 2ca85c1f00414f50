/* chunk.c - see chunk.h. The caller's side of the worker: it refuses files that parsers cannot take, watches the
 * worker, checks its answers, and cuts by text when there is none.
 *
 * Time      a worker gets MYTH_PARSE_MS of CPU time, more than any file within MYTH_PARSE_STEPS needs, however long
 *           it waits for it on a busy machine. The worker stops itself first; SLACK later it is killed. One that gets
 *           no further at all for STILL times as much elapsed time is killed, too
 * Trust     an answer is used only if its chunks cover the file, its offsets lie inside of it, and its names are
 *           terminated: the worker has read hostile text */
#include "chunk.h"
#include "chunk_wire.h"
#include "cut.h"
#include "grammars.h"

#include "engine/base/asan.h"
#include "engine/base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { SLACK_MS = 25, STILL = 4, LOAD_MS = 2000, SLOWER = MYTH_HAS_ASAN ? 10 : 1 };

struct myth_chunker {
    myth_mem *mem;
    char *path;  /* the worker's program, NULL = cut by text only */
    bool is_own; /* it is the program that runs */
    pid_t pid;   /* 0 = no worker */
    int fd;
    uint64_t loaded; /* grammars that the worker has loaded, one bit each */
    clockid_t clock; /* clock of the worker's CPU time */
    uint64_t cpu_end_ns;
    uint64_t cpu_seen_ns, still_end_ns; /* the last change of the worker's CPU time, and when none is too long ago */
    uint64_t still_ns;
    bool is_still;
    char note[96]; /* why the last request failed */
};

bool myth_chunk_has_grammar(const char *language) { return myth_grammar_find(language) >= 0; }
int myth_chunker_worker_pid(const myth_chunker *c) { return (int)c->pid; }
myth_mem *myth_chunker_mem(const myth_chunker *c) { return c->mem; }

myth_status myth_chunker_open(myth_chunker **out, myth_mem *mem, const char *worker_path, myth_error *err)
{
    myth_chunker *c = myth_alloc(mem, MYTH_MEM_OTHER, "chunker", sizeof(*c));
    *out = NULL;
    if (!c)
        return myth_fail(err, MYTH_ENOMEM, "chunker: %zu bytes", sizeof(*c));
    c->mem = mem;
    c->fd = -1;
    if (worker_path) {
        size_t n = strlen(worker_path) + 1;
        c->path = myth_alloc(mem, MYTH_MEM_OTHER, "chunker", n);
        if (!c->path) {
            myth_free(mem, c);
            return myth_fail(err, MYTH_ENOMEM, "chunker: %zu bytes", n);
        }
        memcpy(c->path, worker_path, n);
        c->is_own = myth_program_is(worker_path);
    }
    *out = c;
    return MYTH_OK;
}

void myth_chunks_free(myth_chunks *chunks, myth_mem *mem)
{
    myth_free(mem, chunks->chunk);
    myth_free(mem, chunks->symbol);
    myth_free(mem, chunks->ref);
    myth_free(mem, chunks->names);
    *chunks = (myth_chunks){0};
}

/* ---- the worker's life ---- */

/* Kills the worker; if it ended by itself, c->note says how. */
static void end_worker(myth_chunker *c, bool is_late)
{
    int status = 0;
    if (c->pid == 0)
        return;
    close(c->fd);
    c->fd = -1;
    pid_t gone = 0;
    for (int i = 0; i < 20 && gone == 0 && !is_late; i++) /* its socket is closed, so it is about to exit by itself */
        if ((gone = waitpid(c->pid, &status, WNOHANG)) == 0)
            poll(NULL, 0, 1);
    if (gone == 0) {
        kill(c->pid, SIGKILL);
        while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    c->pid = 0;
    c->loaded = 0;
    if (is_late && c->is_still)
        snprintf(c->note, sizeof(c->note), "parse: its worker stood still for %d ms and was killed",
                 (int)(c->still_ns / 1000000u));
    else if (is_late)
        snprintf(c->note, sizeof(c->note), "parse: not finished after %d ms, so its worker was killed", MYTH_PARSE_MS);
    else if (WIFSIGNALED(status))
        snprintf(c->note, sizeof(c->note), "parse: its worker was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(c->note, sizeof(c->note), "parse: its worker exited with status %d", WEXITSTATUS(status));
}

/* The worker inherits at most N_KEPT variables: those that tell the loader where this process's libraries are. No
 * other variable is passed on. */
enum { N_KEPT = 3 };
static void keep_environment(char *kept[N_KEPT + 1])
{
    static const char *const name[] = {
        "LD_LIBRARY_PATH=",
#ifdef MYTH_CHUNK_FAULTS
        "MYTHOS_CHUNK_FAULT=",
        "ASAN_OPTIONS=",
#endif
    };
    int n = 0;
    for (char **e = environ; e && *e; e++)
        for (size_t i = 0; i < sizeof(name) / sizeof(name[0]) && n < N_KEPT; i++)
            if (strncmp(*e, name[i], strlen(name[i])) == 0)
                kept[n++] = *e;
    kept[n] = NULL;
}

static bool start_worker(myth_chunker *c)
{
    int pair[2];
    char *kept[N_KEPT + 1];
    posix_spawn_file_actions_t files;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        snprintf(c->note, sizeof(c->note), "worker: no socket: %s", strerror(errno));
        return false;
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, pair[1], 0);
    posix_spawn_file_actions_adddup2(&files, pair[1], 1);
    if (!MYTH_HAS_ASAN) /* a failed assert of a parser is reported in `note`, not on the terminal */
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    char *argv[] = {c->path, (char[]){"--chunk-worker"}, NULL};
    keep_environment(kept);
    int failed = posix_spawn(&c->pid, c->is_own ? MYTH_PROGRAM_LINK : c->path, &files, NULL, argv, kept);
    posix_spawn_file_actions_destroy(&files);
    close(pair[1]);
    if (failed == 0)
        failed = clock_getcpuclockid(c->pid, &c->clock) != 0 ? ESRCH : 0;
    else
        c->pid = 0;
    c->fd = pair[0];
    if (failed) {
        if (c->pid)
            end_worker(c, true);
        else
            close(pair[0]);
        c->fd = -1;
        snprintf(c->note, sizeof(c->note), "worker: cannot start %.40s: %s", c->path, strerror(failed));
        return false;
    }
    c->loaded = 0;
    return true;
}

void myth_chunker_close(myth_chunker *c)
{
    if (!c)
        return;
    end_worker(c, true);
    myth_free(c->mem, c->path);
    myth_free(c->mem, c);
}

/* ---- watched reading and writing ---- */

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : UINT64_MAX;
}

static void set_time(myth_chunker *c, uint32_t ms)
{
    c->cpu_end_ns = now_ns(c->clock) + (uint64_t)ms * SLOWER * 1000000u;
    c->still_ns = (uint64_t)ms * SLOWER * STILL * 1000000u;
    c->cpu_seen_ns = UINT64_MAX;
    c->is_still = false;
}

/* Waits until the socket is ready; false when the worker is out of time. */
static bool wait_for(myth_chunker *c, short events)
{
    for (;;) {
        uint64_t cpu = now_ns(c->clock), wall = now_ns(CLOCK_MONOTONIC);
        if (cpu != c->cpu_seen_ns) {
            c->cpu_seen_ns = cpu;
            c->still_end_ns = wall + c->still_ns;
        }
        c->is_still = wall >= c->still_end_ns;
        if (cpu != UINT64_MAX && (cpu >= c->cpu_end_ns || c->is_still))
            return false;
        uint64_t left = cpu == UINT64_MAX ? 0 : (c->cpu_end_ns - cpu) / 1000000u + 1;
        struct pollfd p = {.fd = c->fd, .events = events};
        int n = poll(&p, 1, left < 1000 ? (int)left : 1000);
        if (n > 0 || cpu == UINT64_MAX || (n < 0 && errno != EINTR))
            return true; /* ready, or closed: the next call tells */
    }
}

/* Both move n bytes. False: the worker is gone or was killed, and c->note says how. */
static bool send_bytes(myth_chunker *c, const void *src, uint64_t n)
{
    for (const unsigned char *p = src; n > 0;) {
        ssize_t sent = send(c->fd, p, n, MSG_NOSIGNAL);
        if (sent > 0) {
            p += sent;
            n -= (uint64_t)sent;
            continue;
        }
        bool is_gone = sent < 0 && errno != EAGAIN && errno != EINTR;
        if (is_gone || !wait_for(c, POLLOUT)) {
            end_worker(c, !is_gone);
            return false;
        }
    }
    return true;
}

static bool get(myth_chunker *c, void *dst, uint64_t n)
{
    for (unsigned char *p = dst; n > 0;) {
        ssize_t got = recv(c->fd, p, n, 0);
        if (got > 0) {
            p += got;
            n -= (uint64_t)got;
            continue;
        }
        bool is_gone = got == 0 || (errno != EAGAIN && errno != EINTR);
        if (is_gone || !wait_for(c, POLLIN)) {
            end_worker(c, !is_gone);
            return false;
        }
    }
    return true;
}

/* ---- what the worker says ---- */

static bool is_answer_sane(const myth_chunk_answer *a, uint64_t n)
{
    return a->magic == MYTH_WIRE_MAGIC && a->n_chunk <= n && a->n_symbol <= n + 64 && a->n_ref <= n + 64 &&
           a->n_names <= 4 * n + 4096 && a->n_names > 0;
}

static bool is_name(const myth_chunks *k, uint32_t name) { return name < k->n_names; }

static bool is_range(uint64_t off, uint64_t bytes, uint64_t n) { return off <= n && bytes <= n - off; }

static bool is_sane(const myth_chunks *k, const unsigned char *text, uint64_t n)
{
    uint64_t at = 0, line = 1;
    if (k->names[0] != '\0' || k->names[k->n_names - 1] != '\0' || k->error_bytes > n)
        return false;
    for (uint32_t i = 0; i < k->n_chunk; i++) {
        const myth_chunk *c = &k->chunk[i];
        if (c->off != at || c->bytes == 0 || !is_range(c->off, c->bytes, n) || (uint32_t)c->kind >= MYTH_CHUNK_KIND_N ||
            c->line0 != line || !is_range(c->doc_off, c->doc_bytes, n) || !is_name(k, c->symbol) ||
            !is_name(k, c->parent) ||
            /* read as a byte, because a bool with another value is undefined */
            *(const unsigned char *)&c->is_part > 1)
            return false;
        at += c->bytes - 1;
        for (const unsigned char *p = text + c->off; (p = memchr(p, '\n', (size_t)(text + at - p))) != NULL; p++)
            line++;
        if (c->line1 != line)
            return false;
        line += text[at] == '\n';
        at++;
    }
    for (uint32_t i = 0; i < k->n_symbol; i++) {
        const myth_symbol *s = &k->symbol[i];
        bool has_lines =
            s->line0 >= 1 && s->line0 <= s->line1 && s->line1 <= line && s->name_line >= 1 && s->name_line <= line;
        if (!is_name(k, s->name) || !is_name(k, s->parent) || !is_range(s->off, s->bytes, n) || !has_lines ||
            !is_range(s->signature_off, s->signature_bytes, n) || (uint32_t)s->kind >= MYTH_SYMBOL_KIND_N ||
            *(const unsigned char *)&s->is_exported > 1)
            return false;
    }
    for (uint32_t i = 0; i < k->n_ref; i++)
        if (!is_name(k, k->ref[i].name) || !is_name(k, k->ref[i].within) ||
            (uint32_t)k->ref[i].kind >= MYTH_REF_KIND_N || k->ref[i].line < 1 || k->ref[i].line > line)
            return false;
    return at == n;
}

/* What a request is about. before NULL: no change. */
typedef struct {
    const char *path;
    const unsigned char *text, *before;
    uint64_t n, n_before;
} file_of;

static bool request(myth_chunker *c, myth_wire_verb verb, uint32_t grammar, const file_of *file, myth_chunk_answer *a)
{
    myth_chunk_request q = {
        .magic = MYTH_WIRE_MAGIC, .verb = verb, .grammar = grammar, .n = file->n, .n_before = file->n_before};
    q.n_path = (uint32_t)strnlen(file->path, MYTH_WIRE_PATH);
    if (!send_bytes(c, &q, sizeof(q)) || !send_bytes(c, file->path, q.n_path) || !send_bytes(c, file->text, file->n) ||
        !send_bytes(c, file->before, file->n_before) || !get(c, a, sizeof(*a)))
        return false;
    a->note[sizeof(a->note) - 1] = '\0';
    if (a->is_failed || a->is_text) {
        snprintf(c->note, sizeof(c->note), "%s", a->note);
        for (char *p = c->note; *p; p++)
            if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
                *p = '?';
    }
    return !a->is_failed;
}

/* Starts a worker, if none runs, that has the grammar loaded. *is_unasked: none could be started now, but later one
 * may. False without it: the worker cannot load the grammar. */
static bool ready(myth_chunker *c, uint32_t grammar, bool *is_unasked)
{
    myth_chunk_answer a = {0};
    int status;
    /* it died between two files, so no file is to blame */
    if (c->pid && waitpid(c->pid, &status, WNOHANG) == c->pid) {
        close(c->fd);
        c->fd = -1;
        c->pid = 0;
    }
    *is_unasked = !c->pid && !start_worker(c);
    if (*is_unasked)
        return false;
    if (c->loaded & (uint64_t)1 << grammar)
        return true;
    set_time(c, LOAD_MS);
    if (!request(c, MYTH_WIRE_LOAD, grammar, &(file_of){.path = ""}, &a)) {
        *is_unasked = !a.is_failed;
        return false;
    }
    c->loaded |= (uint64_t)1 << grammar;
    return true;
}

/* Asks the worker for a cut. MYTH_OK without chunks: it gave none, and c->note says why. */
static myth_status ask(myth_chunks *out, myth_chunker *c, uint32_t grammar, const char *path, const unsigned char *text,
                       uint64_t n, myth_error *err)
{
    myth_chunk_answer a = {0};
    myth_chunks k = {0};
    if (!ready(c, grammar, &out->is_unasked))
        return MYTH_OK;
    set_time(c, MYTH_PARSE_MS + SLACK_MS);
    if (!request(c, MYTH_WIRE_CUT, grammar, &(file_of){.path = path, .text = text, .n = n}, &a)) {
        out->is_failed = !a.is_over;
        return MYTH_OK;
    }
    if (is_answer_sane(&a, n)) {
        k = (myth_chunks){
            .n_chunk = a.n_chunk,
            .n_symbol = a.n_symbol,
            .n_ref = a.n_ref,
            .n_names = a.n_names,
            .error_bytes = a.error_bytes,
            .n_error = a.n_error,
        };
        k.chunk = myth_alloc_n(c->mem, MYTH_MEM_OTHER, "chunks", a.n_chunk, sizeof(*k.chunk));
        k.symbol = myth_alloc_n(c->mem, MYTH_MEM_OTHER, "symbols", a.n_symbol, sizeof(*k.symbol));
        k.ref = myth_alloc_n(c->mem, MYTH_MEM_OTHER, "references", a.n_ref, sizeof(*k.ref));
        k.names = myth_alloc(c->mem, MYTH_MEM_OTHER, "names", a.n_names);
        if (!k.chunk || !k.symbol || !k.ref || !k.names) {
            myth_chunks_free(&k, c->mem);
            end_worker(c, true);
            return myth_fail(err, MYTH_ENOMEM, "%s: its chunks", path);
        }
        bool is_whole = get(c, k.chunk, a.n_chunk * sizeof(*k.chunk)) &&
                        get(c, k.symbol, a.n_symbol * sizeof(*k.symbol)) && get(c, k.ref, a.n_ref * sizeof(*k.ref)) &&
                        get(c, k.names, a.n_names);
        if (is_whole && is_sane(&k, text, n)) {
            k.is_structured = !a.is_text;
            memcpy(k.note, c->note, sizeof(k.note));
            *out = k;
            return MYTH_OK;
        }
        myth_chunks_free(&k, c->mem);
        out->is_failed = true;
        if (!is_whole)
            return MYTH_OK;
    }
    end_worker(c, true);
    out->is_failed = true;
    snprintf(c->note, sizeof(c->note), "parse: its worker's answer is invalid");
    return MYTH_OK;
}

/* ---- shape ---- */

/* Recognises files that parsers would take too long for. False: note says why. */
static bool is_shaped(char *note, size_t cap, const unsigned char *text, uint64_t n)
{
    enum { LINE = 1, OPEN, CLOSE };
    static const unsigned char kind[256] = {
        ['\n'] = LINE, ['('] = OPEN, ['['] = OPEN, ['{'] = OPEN, [')'] = CLOSE, [']'] = CLOSE, ['}'] = CLOSE};
    uint64_t line_start = 0, depth = 0, line = 1;
    if (n > MYTH_PARSE_FILE_BYTES) {
        snprintf(note, cap, "parse: larger than %d bytes; split it to have it read", MYTH_PARSE_FILE_BYTES);
        return false;
    }
    if (n >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
        snprintf(note, cap, "parse: UTF-16; save it as UTF-8 to have it read");
        return false;
    }
    for (uint64_t i = 0; i <= n; i++) {
        const unsigned char is = i < n ? kind[text[i]] : LINE;
        if (is == 0)
            continue; /* most bytes are of this kind */
        if (is == LINE) {
            if (i - line_start > MYTH_PARSE_LINE_BYTES) {
                snprintf(note, cap, "parse: line %llu is longer than %d bytes; break it to have the file read",
                         (unsigned long long)line, MYTH_PARSE_LINE_BYTES);
                return false;
            }
            line_start = i + 1;
            line++;
            continue;
        }
        if (is == OPEN)
            depth++;
        else if (depth > 0)
            depth--;
        if (depth > MYTH_PARSE_DEPTH) {
            snprintf(note, cap, "parse: nests deeper than %d", MYTH_PARSE_DEPTH);
            return false;
        }
    }
    return true;
}

myth_status myth_chunk_file(myth_chunks *out, myth_chunker *c, const char *language, const char *path,
                            const unsigned char *text, uint64_t n, myth_error *err)
{
    int grammar = c->path && n > 0 ? myth_grammar_find(language) : -1;
    char note[96] = "";
    bool is_failed = false, is_unasked = false;
    *out = (myth_chunks){0};
    if (grammar >= 0 && is_shaped(note, sizeof(note), text, n)) {
        c->note[0] = '\0';
        myth_status st = ask(out, c, (uint32_t)grammar, path, text, n, err);
        if (st != MYTH_OK || out->n_chunk > 0)
            return st;
        is_failed = out->is_failed;
        is_unasked = out->is_unasked;
        memcpy(note, c->note, sizeof(note));
    }
    myth_cut cut;
    myth_cut_open(&cut, c->mem, text, n);
    if (!cut.is_out_of_memory)
        myth_cut_text(&cut);
    myth_status st = myth_cut_take(&cut, out, err);
    myth_cut_close(&cut);
    memcpy(out->note, note, sizeof(note));
    out->is_failed = is_failed;
    out->is_unasked = is_unasked;
    out->is_lost = grammar >= 0 && !myth_grammar_get(grammar).is->is_data;
    return st;
}

static myth_status read_tree(unsigned char **out, uint64_t *n_out, char note[96], myth_chunker *c, const char *language,
                             const file_of *file, myth_error *err)
{
    const uint64_t n = file->n;
    const int grammar = c->path && n > 0 ? myth_grammar_find(language) : -1;
    myth_chunk_answer a = {0};
    bool is_unasked;
    *out = NULL;
    *n_out = 0;
    if (grammar < 0) {
        snprintf(note, 96, n > 0 ? "parse: no grammar" : "parse: empty");
        return MYTH_OK;
    }
    if (!is_shaped(note, 96, file->text, n) || (file->before && !is_shaped(note, 96, file->before, file->n_before)))
        return MYTH_OK;
    c->note[0] = '\0';
    if (ready(c, (uint32_t)grammar, &is_unasked)) {
        set_time(c, MYTH_PARSE_MS + SLACK_MS);
        if (request(c, MYTH_WIRE_READ, (uint32_t)grammar, file, &a)) {
            const bool is_answer = a.magic == MYTH_WIRE_MAGIC && a.n_names <= MYTH_WIRE_READ_BYTES;
            unsigned char *bytes = is_answer ? myth_alloc(c->mem, MYTH_MEM_OTHER, "answer", a.n_names) : NULL;
            if (is_answer && !bytes) {
                end_worker(c, true);
                return myth_fail(err, MYTH_ENOMEM, "%s: %u bytes about its tree", file->path, a.n_names);
            }
            if (is_answer && get(c, bytes, a.n_names)) {
                *out = bytes;
                *n_out = a.n_names;
                return MYTH_OK;
            }
            myth_free(c->mem, bytes);
            if (!is_answer) {
                end_worker(c, true);
                snprintf(c->note, sizeof(c->note), "parse: its worker's answer is invalid");
            }
        }
    }
    memcpy(note, c->note, sizeof(c->note));
    return MYTH_OK;
}

myth_status myth_chunk_read_tree(unsigned char **out, uint64_t *n_out, char note[96], myth_chunker *c,
                                 const char *language, const char *path, const unsigned char *text, uint64_t n,
                                 myth_error *err)
{
    const file_of file = {.path = path, .text = text, .n = n};
    return read_tree(out, n_out, note, c, language, &file, err);
}

myth_status myth_chunk_read_change(unsigned char **out, uint64_t *n_out, char note[96], myth_chunker *c,
                                   const char *language, const char *path, const unsigned char *text, uint64_t n,
                                   const unsigned char *before, uint64_t n_before, myth_error *err)
{
    const file_of file = {.path = path, .text = text, .n = n, .before = before, .n_before = n_before};
    return read_tree(out, n_out, note, c, language, &file, err);
}
