/* index_work.c - threads read, hash, cut and compress files; the caller writes the results in the order of the
 * jobs.
 *
 * Bounds  the threads are at most RING files and IN_FLIGHT_BYTES ahead of the writer; the file that the writer
 *         waits for is always let through
 * Waking  a wake-up costs more than a small file, so the writer is woken when the next result is ready and the
 *         threads when half of the ring is free
 * Errors  a file that cannot be read stays out, with its reason. No memory ends the run */
#include "index_impl.h"
#include "retrieval/scan/kinds.h"
#include "retrieval/limits.h"

#include "engine/base/mtime.h"
#include "engine/base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RING = 128, IN_FLIGHT_BYTES = 64 << 20, THREADS_MAX = 64 };

typedef struct {
    myth_index_made made;
    myth_status st;
    myth_error err;
    bool is_done;
} slot;

typedef struct {
    const myth_index_work *work;
    const myth_index_job *job;
    uint32_t n_job, next_take, next_write, n_waiting; /* n_waiting: threads that wait for room */
    uint64_t in_flight; /* bytes of the files that threads have taken and the caller has not yet written */
    bool is_stopped, is_prepared;
    const struct ZSTD_CDict_s *dictionary; /* when is_prepared */
    pthread_mutex_t mutex;
    pthread_cond_t can_take, can_write, can_pack;
    slot ring[RING];
} pool;

static bool is_cancelled(const myth_index_work *w) { return myth_cancelled(w->is_cancelled); }

/* Reads a file to its end, or to one byte past the limit when it grows. *n < 0: errno says why. */
static unsigned char *read_whole(myth_mem *mem, int fd, uint64_t expected, int64_t *n)
{
    uint64_t cap = expected + 1, at = 0;
    unsigned char *text = myth_alloc(mem, MYTH_MEM_OTHER, "index", cap);
    while (text) {
        ssize_t got = read(fd, text + at, cap - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            myth_free(mem, text);
            *n = -1;
            return NULL;
        }
        at += (uint64_t)got;
        if (got == 0 || at > MYTH_FILE_BYTES)
            break;
        if (at == cap) {
            unsigned char *more = myth_realloc(mem, MYTH_MEM_OTHER, "index", text, cap *= 2);
            if (!more)
                myth_free(mem, text);
            text = more;
        }
    }
    *n = text ? (int64_t)at : 0;
    return text;
}

/* The row but for what the system says of the file: its times and inode. */
static void set_row(myth_store_file *row, const myth_index_job *job, const unsigned char *text, uint64_t n)
{
    const myth_scan_file *f = job->file;
    *row = (myth_store_file){
        .id = job->id,
        .path = f->path,
        .language = f->language,
        .bytes = n,
        .flags = (f->is_generated ? MYTH_FILE_GENERATED : 0) | (f->is_test ? MYTH_FILE_TEST : 0) |
                 myth_store_encoding(text, n),
    };
    myth_store_hash(row->hash, text, n);
}

/* An empty file is not opened: if it has grown since the scan, the next update sees another size. */
static myth_status read_empty(const myth_index_work *work, const myth_index_job *job, unsigned char **text,
                              myth_store_file *row, myth_scan_reason *out, myth_error *err)
{
    if (!(*text = myth_alloc(work->mem, MYTH_MEM_OTHER, "index", 1)))
        return myth_fail(err, MYTH_ENOMEM, "%.120s: no memory for a byte", job->file->path);
    set_row(row, job, *text, 0);
    row->mtime_ns = job->file->mtime_ns;
    row->ctime_ns = job->file->ctime_ns;
    row->inode = job->file->inode;
    *out = MYTH_SCAN_IN;
    return MYTH_OK;
}

myth_status myth_index_read_file(const myth_index_work *work, const myth_index_job *job, unsigned char **text,
                                 myth_store_file *row, myth_scan_reason *out, int *code, myth_error *err)
{
    const myth_scan_file *f = job->file;
    struct stat st;
    int64_t n = -1;
    *text = NULL;
    *code = 0;
    *out = MYTH_SCAN_UNREADABLE;
    if (f->bytes == 0)
        return read_empty(work, job, text, row, out, err);
    int fd = myth_scan_open(work->root_fd, f->path, false);
    if (fd < 0) {
        *code = errno;
        return MYTH_OK;
    }
    bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (is_file && (uint64_t)st.st_size > MYTH_FILE_BYTES)
        *out = MYTH_SCAN_LARGE;
    else if (is_file)
        *text = read_whole(work->mem, fd, (uint64_t)st.st_size, &n);
    *code = is_file && !*text && n < 0 ? errno : 0;
    close(fd);
    if (!*text)
        return is_file && n == 0 ? myth_fail(err, MYTH_ENOMEM, "%.120s: no memory for %llu bytes", f->path,
                                             (unsigned long long)st.st_size)
                                 : MYTH_OK;
    if (n > MYTH_FILE_BYTES) {
        *out = MYTH_SCAN_LARGE;
        myth_free(work->mem, *text);
        *text = NULL;
        return MYTH_OK;
    }
    set_row(row, job, *text, (uint64_t)n);
    row->mtime_ns = myth_mtime_ns(&st);
    row->ctime_ns = myth_ctime_ns(&st);
    row->inode = (uint64_t)st.st_ino;
    if (row->mtime_ns > work->trusted_ns || row->ctime_ns > work->trusted_ns)
        row->mtime_ns = -1;
    *out = MYTH_SCAN_IN;
    return MYTH_OK;
}

bool myth_index_is_gone(int code) { return code == 0 || code == ENOENT || code == ENOTDIR || code == ELOOP; }

static void free_made(myth_index_made *m, myth_mem *mem)
{
    myth_free(mem, m->text);
    myth_chunks_free(&m->chunks, mem);
    myth_packed_free(&m->packed, mem);
    *m = (myth_index_made){0};
}

/* The first line whose words are not all indexed (store_file.c); 0 = none. */
static uint64_t long_line(const unsigned char *text, uint64_t n)
{
    uint64_t line = 1;
    for (const unsigned char *p = text, *end = text + n, *next; p < end; p = next, line++) {
        next = memchr(p, '\n', (size_t)(end - p));
        next = next ? next + 1 : end;
        if (next - p > MYTH_WORDS_LINE_BYTES)
            return line;
    }
    return 0;
}

/* Says in the row's note and flags which parts of the file are not in the index. */
static void note_loss(myth_index_made *m, bool has_failed)
{
    const uint64_t line = long_line(m->text, m->row.bytes);
    const uint32_t kinds = myth_file_kinds(m->row.path, (m->row.flags & MYTH_FILE_TEST) != 0, false);
    const bool is_data = kinds & (1u << MYTH_KIND_DATA | 1u << MYTH_KIND_TEST); /* long lines are usual there */
    m->row.note = m->chunks.note;
    if (m->chunks.is_failed)
        m->row.flags |= MYTH_FILE_FAILED | (has_failed ? MYTH_FILE_GIVEN_UP : 0);
    if (m->chunks.is_unasked)
        m->row.flags |= MYTH_FILE_FAILED; /* no parser has seen it, so it is not marked as given up */
    if (m->chunks.is_lost || (line && !is_data))
        m->row.flags |= MYTH_FILE_LOST;
    if (m->chunks.is_lost)
        m->row.flags |= MYTH_FILE_UNPARSED;
    if (line)
        snprintf(m->chunks.note, sizeof(m->chunks.note),
                 "words: line %u is long; past its first %d bytes only literal search finds text", (unsigned)line,
                 MYTH_WORDS_LINE_BYTES);
}

/* Opens the thread's packer once the dictionary is known; MYTH_ECANCEL: the run has ended before. */
static myth_status open_packer(pool *p, myth_packer **packer, myth_error *err)
{
    if (*packer)
        return MYTH_OK;
    pthread_mutex_lock(&p->mutex);
    while (!p->is_prepared && !p->is_stopped)
        pthread_cond_wait(&p->can_pack, &p->mutex);
    const bool is_prepared = p->is_prepared;
    pthread_mutex_unlock(&p->mutex);
    return is_prepared ? myth_packer_open(packer, p->work->mem, p->dictionary, err)
                       : myth_fail(err, MYTH_ECANCEL, "stopped; the index is as it was");
}

static myth_status make(pool *p, myth_chunker *chunker, myth_packer **packer, const myth_index_job *job,
                        myth_index_made *m, myth_error *err)
{
    m->job = job;
    myth_status st = myth_index_read_file(p->work, job, &m->text, &m->row, &m->out, &m->code, err);
    if (st != MYTH_OK || !m->text)
        return st;
    st = myth_chunk_file(&m->chunks, chunker, m->row.language, m->row.path, m->text, m->row.bytes, err);
    if (st != MYTH_OK)
        return st;
    note_loss(m, job->has_failed);
    st = open_packer(p, packer, err);
    return st == MYTH_OK ? myth_pack(&m->packed, *packer, m->text, m->row.bytes, &m->chunks, err) : st;
}

/* Waits for room and returns the next job; NULL at the end. */
static const myth_index_job *take_job(pool *p, slot **s)
{
    const myth_index_job *job = NULL;
    pthread_mutex_lock(&p->mutex);
    for (;;) {
        if (p->is_stopped || p->next_take == p->n_job)
            break;
        bool is_next = p->next_take == p->next_write;
        if (is_next || (p->next_take - p->next_write < RING && p->in_flight < IN_FLIGHT_BYTES)) {
            *s = &p->ring[p->next_take % RING];
            job = &p->job[p->next_take++];
            p->in_flight += job->file->bytes;
            break;
        }
        p->n_waiting++;
        pthread_cond_wait(&p->can_take, &p->mutex);
        p->n_waiting--;
    }
    pthread_mutex_unlock(&p->mutex);
    return job;
}

static void *work_thread(void *arg)
{
    pool *p = arg;
    myth_chunker *chunker = NULL;
    myth_packer *packer = NULL;
    myth_error err = {0};
    slot *s = NULL;
    myth_status st = myth_chunker_open(&chunker, p->work->mem, p->work->worker_path, &err);
    for (const myth_index_job *job; (job = take_job(p, &s)) != NULL;) {
        s->st = st;
        s->err = err;
        if (st == MYTH_OK)
            s->st = make(p, chunker, &packer, job, &s->made, &s->err);
        pthread_mutex_lock(&p->mutex);
        s->is_done = true;
        if (s == &p->ring[p->next_write % RING])
            pthread_cond_signal(&p->can_write);
        pthread_mutex_unlock(&p->mutex);
    }
    myth_packer_close(packer);
    myth_chunker_close(chunker);
    return NULL;
}

/* Runs `prepare` in the calling thread and wakes the threads that wait for its dictionary, also when it failed. */
static myth_status prepare_all(pool *p, myth_index_prepare prepare, void *arg, myth_error *err)
{
    const struct ZSTD_CDict_s *dictionary = NULL;
    const myth_status st = prepare(arg, &dictionary, err);
    pthread_mutex_lock(&p->mutex);
    p->dictionary = dictionary;
    p->is_prepared = st == MYTH_OK;
    pthread_cond_broadcast(&p->can_pack);
    pthread_mutex_unlock(&p->mutex);
    return st;
}

/* Runs in the calling thread: hands finished files to `write`, in order. */
static myth_status write_all(pool *p, myth_index_write write, void *arg, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < p->n_job && st == MYTH_OK; i++) {
        slot *s = &p->ring[i % RING];
        pthread_mutex_lock(&p->mutex);
        while (!s->is_done)
            pthread_cond_wait(&p->can_write, &p->mutex);
        pthread_mutex_unlock(&p->mutex);
        st = s->st;
        if (st != MYTH_OK)
            myth_fail_as(err, &s->err);
        else if (is_cancelled(p->work))
            st = myth_fail(err, MYTH_ECANCEL, "stopped; the index is as it was");
        else
            st = write(arg, &s->made, err);
        free_made(&s->made, p->work->mem);
        pthread_mutex_lock(&p->mutex);
        s->is_done = false;
        p->next_write = i + 1;
        p->in_flight -= p->job[i].file->bytes;
        if (p->n_waiting && p->next_take - p->next_write <= RING / 2)
            pthread_cond_broadcast(&p->can_take);
        pthread_mutex_unlock(&p->mutex);
    }
    return st;
}

myth_status myth_index_work_run(const myth_index_work *work, const myth_index_job *job, uint32_t n_job,
                                myth_index_prepare prepare, myth_index_write write, void *arg, myth_error *err)
{
    const struct ZSTD_CDict_s *unused;
    myth_thread thread[THREADS_MAX];
    long n_core = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n = work->n_threads ? work->n_threads : n_core > 0 ? (uint32_t)n_core : 1, n_running = 0;
    n = n > n_job ? n_job : n;
    n = n > THREADS_MAX ? THREADS_MAX : n;
    if (n_job == 0)
        return prepare(arg, &unused, err);
    pool *p = myth_alloc(work->mem, MYTH_MEM_OTHER, "index", sizeof(*p));
    if (!p)
        return myth_fail(err, MYTH_ENOMEM, "no memory for %zu bytes", sizeof(*p));
    p->work = work;
    p->job = job;
    p->n_job = n_job;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->can_take, NULL);
    pthread_cond_init(&p->can_write, NULL);
    pthread_cond_init(&p->can_pack, NULL);
    while (n_running < n && myth_thread_start(&thread[n_running], work_thread, p))
        n_running++;
    myth_status st =
        n_running ? prepare_all(p, prepare, arg, err) : myth_fail(err, MYTH_ENOMEM, "no thread could be started");
    if (st == MYTH_OK)
        st = write_all(p, write, arg, err);
    pthread_mutex_lock(&p->mutex);
    p->is_stopped = true;
    pthread_cond_broadcast(&p->can_take);
    pthread_cond_broadcast(&p->can_pack);
    pthread_mutex_unlock(&p->mutex);
    while (n_running > 0)
        myth_thread_join(&thread[--n_running]);
    for (int i = 0; i < RING; i++)
        free_made(&p->ring[i].made, work->mem);
    pthread_cond_destroy(&p->can_pack);
    pthread_cond_destroy(&p->can_write);
    pthread_cond_destroy(&p->can_take);
    pthread_mutex_destroy(&p->mutex);
    myth_free(work->mem, p);
    return st;
}
