/* scan.c - see scan.h. Threads take directories from a stack. Each thread reads one directory, asks the ladder
 * about its names, looks into its files, and pushes the directories below it. The results are a tree sorted by
 * name, so the list does not depend on which thread was first.
 *
 * Looking in   a file is opened once, for its first 8 KiB, and not at all when `known` says that it is unchanged
 * Races        a file that changes during the scan is listed as it was seen; whoever reads it later hashes what it
 *              read */
#define _GNU_SOURCE
#include "scan.h"
#include "engine/base/array.h"
#include "ladder.h"
#include "retrieval/limits.h"
#include "engine/base/mtime.h"
#include "engine/base/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BLOCK_BYTES = 64 << 10, THREAD_MAX = 32 };

struct myth_scan_block {
    struct myth_scan_block *next;
    size_t used, cap;
    _Alignas(16) unsigned char data[];
};

typedef struct dir dir;
typedef struct {
    myth_scan_file f;
    dir *sub; /* the directory, when it was entered */
} entry;

struct dir {
    dir *next; /* next one on the stack */
    dir *parent;
    entry *self;                    /* its entry in the parent; NULL = the root */
    const myth_ignore_frame *frame; /* patterns of the directories above */
    const char *path;               /* from top, with a slash at its end, or "" */
    entry *entry;
    uint32_t n_entry, at; /* at: next entry of the walk that makes the list */
    bool is_named;        /* a pattern includes it by its name */
    bool is_tracked_only; /* git's patterns leave it out, so only what git tracks is in */
    const char *why_out;  /* with `explain`: the pattern, for what is left out below it */
};

typedef struct {
    const myth_scan_opts *opts;
    myth_mem *mem;
    myth_ladder ladder;
    int root_fd;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    dir *stack;
    uint32_t n_busy; /* threads that are reading a directory */
    bool is_ended;
    _Atomic uint64_t n_step; /* steps of matching patterns, of all threads */
    myth_status st;          /* the first failure */
    myth_error err;
} scan;

typedef struct {
    size_t at; /* offset of the name in worker.names */
    unsigned char type;
} met;

typedef struct {
    scan *s;
    struct myth_scan_block *block;
    char *names;
    met *met;
    size_t n_names, cap_names, n_met, cap_met;
    uint64_t n_out[MYTH_SCAN_REASON_N], in_bytes, n_keep, n_lost;
    uint64_t n_step;                        /* this thread's steps when they were last added to the scan's */
    char path[2 * PATH_MAX + NAME_MAX + 8]; /* path of the current name, from the top */
    unsigned char head[MYTH_SNIFF_BYTES];
    myth_thread thread;
} worker;

const char *myth_scan_reason_name(myth_scan_reason r)
{
    static const char *const name[] = {"in",       "ignored", "hidden", "skipped_dir", "binary",     "large",
                                       "minified", "link",    "border", "special",     "unreadable", "pointer"};
    _Static_assert(sizeof(name) / sizeof(name[0]) == MYTH_SCAN_REASON_N, "a name for every reason");
    return name[r];
}

int myth_scan_open(int root_fd, const char *path, bool is_dir)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | (is_dir ? O_DIRECTORY : 0);
    struct open_how how = {
        .flags = (uint64_t)flags,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN))
        fd = openat(root_fd, path, flags); /* openat2 is missing in an older kernel, or filtered */
    return fd;
}

/* ---- memory of one thread ---- */

static void *alloc_kept(worker *w, size_t n)
{
    n = (n + 15) & ~(size_t)15;
    if (!w->block || w->block->cap - w->block->used < n) {
        size_t cap = n > BLOCK_BYTES / 4 ? n : BLOCK_BYTES;
        struct myth_scan_block *b = myth_alloc(w->s->mem, MYTH_MEM_OTHER, "scan", sizeof(*b) + cap);
        if (!b)
            return NULL;
        b->cap = cap;
        b->next = w->block;
        w->block = b;
    }
    void *p = w->block->data + w->block->used;
    w->block->used += n;
    return p;
}

static const char *take_text(worker *w, const char *s, size_t n)
{
    char *p = alloc_kept(w, n + 1);
    if (p)
        memcpy(p, s, n);
    return p;
}

static const char *format_why(worker *w, const char *fmt, va_list ap)
{
    char text[2 * PATH_MAX];
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    return take_text(w, text, n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static const char *take_why(worker *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static const char *take_why(worker *w, const char *fmt, ...)
{
    va_list ap;
    if (!w->s->opts->explain)
        return NULL;
    va_start(ap, fmt);
    const char *why = format_why(w, fmt, ap);
    va_end(ap);
    return why;
}

/* As take_why, for a file that may be lost. */
static const char *take_loss(worker *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static const char *take_loss(worker *w, const char *fmt, ...)
{
    va_list ap;
    if (!w->s->opts->explain && !w->s->opts->lost)
        return NULL;
    va_start(ap, fmt);
    const char *why = format_why(w, fmt, ap);
    va_end(ap);
    return why;
}

static void fail_scan(scan *s, myth_status st, const myth_error *err)
{
    pthread_mutex_lock(&s->lock);
    if (s->st == MYTH_OK) {
        s->st = st;
        s->err = *err;
    }
    s->is_ended = true;
    pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

static void fail_memory(worker *w)
{
    myth_error err;
    myth_fail(&err, MYTH_ENOMEM, "no room for the list of files");
    fail_scan(w->s, MYTH_ENOMEM, &err);
}

/* ---- one directory ---- */

static int by_type(mode_t mode)
{
    return S_ISREG(mode) ? DT_REG : S_ISDIR(mode) ? DT_DIR : S_ISLNK(mode) ? DT_LNK : DT_SOCK;
}

static bool add_name(worker *w, const char *name, unsigned char type)
{
    size_t n = strlen(name) + 1;
    if (!MYTH_ARRAY_MORE(w->s->mem, MYTH_MEM_OTHER, "names", &w->names, w->n_names, n, &w->cap_names) ||
        !MYTH_ARRAY_ROOM(w->s->mem, MYTH_MEM_OTHER, "names", &w->met, w->n_met, &w->cap_met))
        return false;
    memcpy(w->names + w->n_names, name, n);
    w->met[w->n_met++] = (met){w->n_names, type};
    w->n_names += n;
    return true;
}

static int compare_names(const void *a, const void *b, void *names)
{
    return strcmp((char *)names + ((const met *)a)->at, (char *)names + ((const met *)b)->at);
}

/* Reads all names of the directory and sorts them; *has: which pattern files are among them. Returns 0 or an errno;
 * E2BIG: more than n_max names. */
static int read_names(worker *w, DIR *d, size_t n_max, int *has, bool *has_git)
{
    w->n_names = w->n_met = 0;
    *has = 0;
    *has_git = false;
    for (;;) {
        errno = 0;
        struct dirent *e = readdir(d);
        if (!e) {
            if (errno)
                return errno;
            break;
        }
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        *has |= myth_ladder_file(e->d_name);
        *has_git |= strcmp(e->d_name, ".git") == 0;
        if (w->n_met == n_max)
            return E2BIG;
        if (!add_name(w, e->d_name, e->d_type))
            return ENOMEM;
    }
    if (w->n_met)
        qsort_r(w->met, w->n_met, sizeof(w->met[0]), compare_names, w->names);
    return 0;
}

static const char *why_pattern(worker *w, const myth_ignore_answer *a)
{
    if (a->list == w->s->ladder.option)
        return take_why(w, "the glob '%s'", a->pattern->line);
    return take_why(w, "pattern '%s' in %s:%u", a->pattern->line, a->list->name, a->pattern->line_no);
}

/* The last part of the pattern that includes a name. "!*" is not meant for hidden names or node_modules; "!.github/"
 * and "!vendor/" are. */
typedef struct {
    char text[NAME_MAX + 1]; /* "" = no pattern includes it */
    bool is_meant;           /* for a directory: the pattern has its own name, or a glob names something below it */
} naming;

static void set_naming(naming *by, const myth_ignore_pattern *q)
{
    const char *slash = memrchr(q->text, '/', q->n_text), *s = slash ? slash + 1 : q->text;
    snprintf(by->text, sizeof(by->text), "%.*s", (int)(q->n_text - (size_t)(s - q->text)), s);
}

/* What is known of a name besides its patterns. */
typedef struct {
    bool is_dir;
    bool is_tracked_only; /* git's patterns leave it out, but git tracks files below it */
    bool is_unknown;      /* it may be tracked: git's index cannot be read */
} standing;

/* Whether git tracks w->path, or something below it. False when memory ran out, which ends the scan. */
static bool is_tracked(worker *w, standing *is)
{
    bool is_known = false;
    myth_error err;
    const myth_status st = myth_ladder_tracks(&is_known, &w->s->ladder, w->path, is->is_dir, &err);
    if (st == MYTH_ENOMEM)
        fail_scan(w->s, st, &err);
    is->is_unknown |= st != MYTH_OK;
    return is_known;
}

/* Decides by patterns, by what git tracks and by the name; MYTH_SCAN_IN: nothing excludes it so far. */
static myth_scan_reason ask_rules(worker *w, const dir *d, const myth_ignore_frame *frame, const char *name,
                                  size_t n_path, naming *by, standing *is, const char **why)
{
    scan *s = w->s;
    if (d->is_tracked_only && !is_tracked(w, is)) {
        *why = d->why_out;
        return MYTH_SCAN_IGNORED;
    }
    if (d->is_tracked_only) {
        is->is_tracked_only = true;
        *why = take_why(w, "tracked by git, so %s does not count", d->why_out);
    }
    myth_ignore_answer a = myth_ignore_ask(frame, w->path, n_path, is->is_dir);
    if (a.pattern) {
        *why = why_pattern(w, &a);
        if (a.pattern->is_negative) {
            set_naming(by, a.pattern);
        } else if (a.rung > MYTH_RUNG_GIT || !is_tracked(w, is)) {
            return MYTH_SCAN_IGNORED;
        } else if (is->is_dir) {
            is->is_tracked_only = true;
        } else {
            *why = take_why(w, "tracked by git, so %s does not count", *why);
        }
    }
    if (s->ladder.has_include && !is->is_dir && !(a.pattern && a.list == s->ladder.option)) {
        *why = take_why(w, "none of the globs names it");
        return MYTH_SCAN_IGNORED;
    }
    by->is_meant = is->is_dir && (strcmp(by->text, name) == 0 || myth_ladder_is_named(&s->ladder, w->path));
    if (name[0] == '.' && !s->opts->hidden && by->text[0] != '.' && !by->is_meant) {
        *why = take_why(w, "a name with a dot in front");
        return MYTH_SCAN_HIDDEN;
    }
    if (is->is_dir && !by->is_meant && myth_detect_products(name) && !is_tracked(w, is)) {
        *why = is->is_unknown ? take_loss(w,
                                          "git's index cannot be read, and a directory of this name often holds what "
                                          "tools made; '!%s/' in .mythosignore takes it in",
                                          name)
                              : take_why(w,
                                         "a directory of this name holds what tools made, and git tracks nothing in "
                                         "it; '!%s/' in .mythosignore takes it in",
                                         name);
        return MYTH_SCAN_SKIPPED_DIR;
    }
    return MYTH_SCAN_IN;
}

static bool read_head(worker *w, int dir_fd, const char *name, uint64_t *n)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    *n = 0;
    if (fd < 0)
        return false;
    while (*n < sizeof(w->head)) {
        ssize_t got = read(fd, w->head + *n, sizeof(w->head) - *n);
        if (got == 0)
            break;
        if (got > 0) {
            *n += (uint64_t)got;
        } else if (errno != EINTR) {
            int e = errno;
            close(fd);
            errno = e;
            return false;
        }
    }
    close(fd);
    return true;
}

/* Whether the including pattern means this file although it looks minified: "!jquery.min.js" and "!*.min.js" do,
 * "!*" does not. */
static bool is_named(const naming *by, const char *name)
{
    return by->text[0] && (strcmp(by->text, name) == 0 || myth_detect_minified(by->text, NULL, NULL, 0));
}

myth_scan_reason myth_scan_look(const myth_scan_file *f, uint64_t bytes, const unsigned char *head, uint64_t n)
{
    if (bytes > MYTH_FILE_BYTES)
        return MYTH_SCAN_LARGE;
    if (n > MYTH_SNIFF_BYTES)
        n = MYTH_SNIFF_BYTES;
    if (myth_detect_media(head, n) || myth_detect_binary(head, n))
        return MYTH_SCAN_BINARY;
    if (myth_detect_pointer(head, n))
        return MYTH_SCAN_POINTER;
    if (f->unseen == 2 && myth_detect_minified(f->path, NULL, head, n))
        return MYTH_SCAN_MINIFIED;
    return MYTH_SCAN_IN;
}

/* Decides by the first bytes of a file that no rule excludes. */
static myth_scan_reason look_into(worker *w, int dir_fd, const char *name, size_t n_path,
                                  const myth_ignore_frame *frame, const naming *by, myth_scan_file *f)
{
    uint64_t n = 0;
    char mark[64];
    const char *media, *minified, *generated;
    if (f->bytes && !read_head(w, dir_fd, name, &n)) {
        f->why = take_loss(w, "%s", strerror(errno));
        return MYTH_SCAN_UNREADABLE;
    }
    if ((media = myth_detect_media(w->head, n))) {
        f->why = take_why(w, "%s", media);
        return MYTH_SCAN_BINARY;
    }
    const bool is_pointer = myth_detect_pointer(w->head, n);
    if (is_pointer || myth_detect_binary(w->head, n)) {
        f->why = is_pointer ? take_loss(w, "%s", MYTH_DETECT_POINTER)
                            : take_loss(w, "a NUL byte among the first %d", MYTH_SNIFF_BYTES);
        f->is_lost = myth_detect_code(name);
        return is_pointer ? MYTH_SCAN_POINTER : MYTH_SCAN_BINARY;
    }
    f->language = myth_detect_language(name, w->head, n);
    if (!is_named(by, name) && (minified = myth_detect_minified(name, f->language, w->head, n))) {
        f->why = take_why(w, "%s", minified);
        f->language = NULL;
        return MYTH_SCAN_MINIFIED;
    }
    f->is_test = myth_detect_test(w->path + w->s->ladder.n_prefix);
    int said = myth_ignore_generated(frame, w->path, n_path);
    generated = said > 0 ? "linguist-generated in .gitattributes"
              : said < 0 ? NULL
                         : myth_detect_generated(name, w->head, n, mark);
    f->is_generated = generated != NULL;
    if (w->s->opts->explain)
        f->why = take_why(w, "%s%s%s%s%s%s", f->language, f->why ? ", " : "", f->why ? f->why : "",
                          f->is_test ? ", a test" : "", generated ? ", generated: " : "", generated ? generated : "");
    return MYTH_SCAN_IN;
}

static myth_scan_reason judge_file(worker *w, int dir_fd, const char *name, size_t n_path,
                                   const myth_ignore_frame *frame, const naming *by, myth_scan_file *f)
{
    struct stat sb;
    if (w->s->opts->names_only) {
        f->unseen = is_named(by, name) ? 1 : 2;
        return MYTH_SCAN_IN;
    }
    if (fstatat(dir_fd, name, &sb, AT_SYMLINK_NOFOLLOW) != 0) {
        f->why = take_loss(w, "%s", strerror(errno));
        return MYTH_SCAN_UNREADABLE;
    }
    if (!S_ISREG(sb.st_mode)) {
        f->why = take_loss(w, "changed while it was looked at");
        f->is_lost = true;
        return MYTH_SCAN_SPECIAL;
    }
    f->bytes = (uint64_t)sb.st_size;
    f->mtime_ns = myth_mtime_ns(&sb);
    f->ctime_ns = myth_ctime_ns(&sb);
    f->inode = sb.st_ino;
    if (f->bytes > MYTH_FILE_BYTES) {
        uint64_t n = 0;
        f->why = take_loss(w, "%llu bytes, the limit is %d", (unsigned long long)f->bytes, MYTH_FILE_BYTES);
        f->is_lost = w->s->opts->lost &&
                     (myth_detect_code(name) || (read_head(w, dir_fd, name, &n) && !myth_detect_binary(w->head, n)));
        return MYTH_SCAN_LARGE;
    }
    if (w->s->opts->known) {
        f->path = w->path + w->s->ladder.n_prefix;
        if (w->s->opts->known(w->s->opts->known_arg, f))
            return f->reason;
    }
    return look_into(w, dir_fd, name, n_path, frame, by, f);
}

/* Keeps the entry if it belongs in the list; false = no memory. */
static bool keep(worker *w, dir *d, myth_scan_file *f, myth_scan_reason reason, size_t n_path)
{
    size_t n_prefix = w->s->ladder.n_prefix;
    w->n_out[reason]++;
    f->is_lost = w->s->opts->lost && (f->is_lost || reason == MYTH_SCAN_UNREADABLE);
    w->n_lost += f->is_lost;
    if (reason != MYTH_SCAN_IN && !f->is_lost && !w->s->opts->explain)
        return true;
    if (reason == MYTH_SCAN_IN)
        w->in_bytes += f->bytes;
    f->reason = reason;
    f->path = take_text(w, w->path + n_prefix, n_path - n_prefix);
    d->entry[d->n_entry++].f = *f;
    w->n_keep++;
    return f->path != NULL;
}

/* Adds a directory that will be entered. It is listed itself only if it turns out to be excluded. */
static bool push(worker *w, dir *d, const myth_ignore_frame *frame, size_t n_path, bool is_named, bool is_tracked_only,
                 const char *why_out)
{
    scan *s = w->s;
    dir *sub = alloc_kept(w, sizeof(*sub));
    char *path = alloc_kept(w, n_path + 2);
    if (!sub || !path)
        return false;
    memcpy(path, w->path, n_path);
    path[n_path] = '/';
    entry *e = &d->entry[d->n_entry++];
    e->sub = sub;
    sub->parent = d;
    sub->self = e;
    sub->frame = frame;
    sub->path = path;
    sub->is_named = is_named;
    sub->is_tracked_only = is_tracked_only;
    sub->why_out = why_out;
    pthread_mutex_lock(&s->lock);
    sub->next = s->stack;
    s->stack = sub;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    return true;
}

static void turn_away(worker *w, dir *d, myth_scan_reason reason, const char *why)
{
    size_t n_prefix = w->s->ladder.n_prefix, n = strlen(d->path);
    const bool is_lost = w->s->opts->lost && (reason == MYTH_SCAN_UNREADABLE || reason == MYTH_SCAN_LARGE);
    w->n_out[reason]++;
    w->n_lost += is_lost;
    if (!w->s->opts->explain && !is_lost)
        return;
    myth_scan_file f = {
        .reason = reason,
        .is_dir = true,
        .is_lost = is_lost,
        .why = why,
        .path = take_text(w, d->path + n_prefix, n - n_prefix - 1),
    };
    if (!f.path || !why) {
        fail_memory(w);
        return;
    }
    d->self->f = f;
    w->n_keep++;
}

static bool is_cancelled(const scan *s) { return myth_cancelled(s->opts->is_cancelled); }

/* Handles one name of a directory; false = no memory. */
static bool handle_name(worker *w, dir *d, const myth_ignore_frame *frame, int fd, const char *name, int type,
                        int not_read)
{
    size_t n_dir = strlen(d->path), n_path = n_dir + strlen(name);
    myth_scan_file f = {0};
    naming by;
    by.text[0] = 0;
    struct stat sb;
    if (n_path - w->s->ladder.n_prefix >= PATH_MAX - 1) { /* too long to be opened by its path */
        w->path[n_dir] = 0;
        n_path = n_dir + (size_t)snprintf(w->path + n_dir, sizeof(w->path) - n_dir, "%s", name);
        f.why = take_loss(w, "%s", strerror(ENAMETOOLONG));
        return keep(w, d, &f, MYTH_SCAN_UNREADABLE, n_path);
    }
    memcpy(w->path + n_dir, name, n_path - n_dir + 1);
    if (type == DT_UNKNOWN)
        type = fstatat(fd, name, &sb, AT_SYMLINK_NOFOLLOW) == 0 ? by_type(sb.st_mode) : DT_REG;
    if (strcmp(name, ".git") == 0) {
        f.is_dir = type == DT_DIR;
        f.why = take_why(w, "git's own");
        return keep(w, d, &f, MYTH_SCAN_SKIPPED_DIR, n_path);
    }
    f.is_dir = type == DT_DIR;
    standing is = {.is_dir = f.is_dir};
    myth_scan_reason r = ask_rules(w, d, frame, name, n_path, &by, &is, &f.why);
    f.is_lost = r == MYTH_SCAN_SKIPPED_DIR && is.is_unknown;
    if (not_read & myth_ladder_file(name)) {
        f.why = type == DT_REG ? take_loss(w, "more than %d bytes of patterns, or %d for a path: not read",
                                           MYTH_IGNORE_FILE_BYTES, MYTH_IGNORE_PATTERNS)
                               : take_loss(w, "a pipe or a device: no patterns are read from it");
        f.is_lost = true;
        r = type == DT_REG ? MYTH_SCAN_LARGE : MYTH_SCAN_SPECIAL;
    } else if (r == MYTH_SCAN_IN && type == DT_LNK) {
        f.why = take_why(w, "a symbolic link");
        r = MYTH_SCAN_LINK;
    } else if (r == MYTH_SCAN_IN && type != DT_DIR && type != DT_REG) {
        f.why = take_loss(w, "no regular file");
        f.is_lost = myth_detect_code(name);
        r = MYTH_SCAN_SPECIAL;
    } else if (r == MYTH_SCAN_IN && type == DT_DIR) {
        return push(w, d, frame, n_path, by.is_meant, is.is_tracked_only, d->is_tracked_only ? d->why_out : f.why);
    } else if (r == MYTH_SCAN_IN) {
        r = judge_file(w, fd, name, n_path, frame, &by, &f);
    }
    return keep(w, d, &f, r, n_path);
}

/* Of the pattern files that apply in a directory, the one with the most patterns. */
static const char *largest_of(const myth_ignore_frame *frame)
{
    const myth_ignore_list *most = NULL;
    for (; frame; frame = frame->parent)
        for (int r = 0; r < MYTH_RUNG_N; r++)
            if (frame->list[r] && (!most || frame->list[r]->n_pattern > most->n_pattern))
                most = frame->list[r];
    return most ? most->name : "patterns";
}

/* Adds the thread's steps of matching to the scan's; false when the scan has used up its budget. */
static bool count_steps(worker *w, const myth_ignore_frame *frame)
{
    scan *s = w->s;
    myth_error err;
    const uint64_t now = myth_ignore_steps(), more = now - w->n_step;
    w->n_step = now;
    const uint64_t all = atomic_fetch_add_explicit(&s->n_step, more, memory_order_relaxed) + more;
    const uint64_t most = s->opts->ignore_steps ? s->opts->ignore_steps : MYTH_IGNORE_STEPS;
    if (all <= most)
        return true;
    myth_fail(&err, MYTH_ELIMIT,
              "%.150s: matching its patterns and the others takes more than %llu steps; make it shorter",
              largest_of(frame), (unsigned long long)most);
    fail_scan(s, MYTH_ELIMIT, &err);
    return false;
}

static void visit(worker *w, dir *d)
{
    scan *s = w->s;
    int has = 0, not_read = 0, e;
    bool has_git = false;
    const myth_ignore_frame *frame;
    myth_error err = {0};
    const char *rel = d->path + s->ladder.n_prefix;
    int fd = *rel ? myth_scan_open(s->root_fd, rel, true) : dup(s->root_fd);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        e = errno;
        if (fd >= 0)
            close(fd);
        goto unreadable;
    }
    const uint32_t dir_names = s->opts->dir_names ? s->opts->dir_names : MYTH_DIR_NAMES;
    if ((e = read_names(w, stream, d->self && !d->is_named ? dir_names : SIZE_MAX, &has, &has_git)) != 0) {
        closedir(stream);
        if (e != E2BIG)
            goto unreadable;
        turn_away(w, d, MYTH_SCAN_LARGE,
                  take_loss(w, "more than %u names; a pattern '!%s' in .mythosignore takes it in", dir_names, rel));
        return;
    }
    if (d->self && has_git && myth_ladder_is_repository(fd)) {
        turn_away(w, d, MYTH_SCAN_BORDER, take_why(w, "a repository of its own"));
        closedir(stream);
        return;
    }
    myth_status st = myth_ladder_enter(&frame, &s->ladder, d->frame, fd, d->path, has, &not_read, &err);
    if (st != MYTH_OK) {
        fail_scan(s, st, &err);
    } else if (!(d->entry = alloc_kept(w, (w->n_met + 1) * sizeof(entry)))) {
        fail_memory(w);
    } else {
        memcpy(w->path, d->path, strlen(d->path) + 1);
        for (size_t i = 0; i < w->n_met && !(i % 16 == 0 && (is_cancelled(s) || !count_steps(w, frame))); i++)
            if (!handle_name(w, d, frame, fd, w->names + w->met[i].at, w->met[i].type, not_read)) {
                fail_memory(w);
                break;
            }
    }
    closedir(stream);
    return;
unreadable:
    if (e == ENOMEM) {
        fail_memory(w);
    } else if (d->self) {
        turn_away(w, d, MYTH_SCAN_UNREADABLE, take_loss(w, "%s", strerror(e)));
    } else {
        myth_fail(&err, MYTH_EIO, "%.160s: %s", s->opts->root, strerror(e));
        fail_scan(s, MYTH_EIO, &err);
    }
}

/* ---- threads ---- */

static void *work(void *arg)
{
    worker *w = arg;
    scan *s = w->s;
    w->n_step = myth_ignore_steps();
    pthread_mutex_lock(&s->lock);
    while (!s->is_ended) {
        dir *d = s->stack;
        if (!d) {
            if (s->n_busy == 0) {
                s->is_ended = true;
                pthread_cond_broadcast(&s->wake);
                break;
            }
            pthread_cond_wait(&s->wake, &s->lock);
            continue;
        }
        if (is_cancelled(s)) {
            s->is_ended = true;
            s->st = s->st ? s->st : myth_fail(&s->err, MYTH_ECANCEL, "stopped while the directory was scanned");
            pthread_cond_broadcast(&s->wake);
            break;
        }
        s->stack = d->next;
        s->n_busy++;
        pthread_mutex_unlock(&s->lock);
        visit(w, d);
        pthread_mutex_lock(&s->lock);
        s->n_busy--;
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static uint32_t n_threads(const myth_scan_opts *opts)
{
    long n = opts->n_threads ? (long)opts->n_threads : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > THREAD_MAX ? THREAD_MAX : (uint32_t)n;
}

/* Walks the tree in order, without recursion: directories nest as deep as paths are long. */
static void flatten(myth_scan_list *out, dir *root)
{
    for (dir *d = root; d;) {
        if (d->at == d->n_entry) {
            d = d->parent;
            continue;
        }
        entry *e = &d->entry[d->at++];
        if (e->f.path)
            out->file[out->n_file++] = e->f;
        else if (e->sub)
            d = e->sub;
    }
}

static myth_status gather(myth_scan_list *out, scan *s, worker *w, uint32_t n_worker, dir *root, myth_error *err)
{
    uint64_t n_keep = 0;
    for (uint32_t i = 0; i < n_worker; i++) {
        n_keep += w[i].n_keep;
        out->in_bytes += w[i].in_bytes;
        out->n_lost += w[i].n_lost;
        for (int r = 0; r < MYTH_SCAN_REASON_N; r++)
            out->n_out[r] += w[i].n_out[r];
    }
    if (n_keep > UINT32_MAX)
        return myth_fail(err, MYTH_ELIMIT, "%llu files, the limit is %u; scan its directories one by one",
                         (unsigned long long)n_keep, UINT32_MAX);
    out->file = myth_alloc_n(s->mem, MYTH_MEM_OTHER, "scan", n_keep ? n_keep : 1, sizeof(*out->file));
    if (!out->file)
        return myth_fail(err, MYTH_ENOMEM, "no room for a list of %llu files", (unsigned long long)n_keep);
    flatten(out, root);
    return MYTH_OK;
}

myth_status myth_scan(myth_scan_list *out, myth_mem *mem, const myth_scan_opts *opts, myth_error *err)
{
    scan s = {
        .opts = opts,
        .mem = mem,
        .root_fd = -1,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .wake = PTHREAD_COND_INITIALIZER,
    };
    uint32_t n_worker = n_threads(opts), n_started = 1;
    worker *w = NULL;
    myth_status st = MYTH_OK;
    dir root = {0};
    *out = (myth_scan_list){0};
    MYTH_TRY(myth_ladder_open(&s.ladder, mem, opts->root, opts->globs, opts->no_ignore, err));
    s.root_fd = open(opts->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s.root_fd < 0) {
        st = myth_fail(err, MYTH_EIO, "%.160s: %s", opts->root, strerror(errno));
        goto fail;
    }
    if (!(w = myth_alloc_n(mem, MYTH_MEM_OTHER, "scan", n_worker, sizeof(*w)))) {
        st = myth_fail(err, MYTH_ENOMEM, "no room for %u threads", n_worker);
        goto fail;
    }
    root.frame = s.ladder.frame;
    root.path = s.ladder.prefix;
    s.stack = &root;
    for (uint32_t i = 0; i < n_worker; i++)
        w[i].s = &s;
    while (n_started < n_worker && myth_thread_start(&w[n_started].thread, work, &w[n_started]))
        n_started++; /* fewer threads find the same files */
    work(&w[0]);
    for (uint32_t i = 1; i < n_started; i++)
        myth_thread_join(&w[i].thread);
    for (uint32_t i = 0; i < n_worker; i++) {
        struct myth_scan_block **end = &w[i].block;
        while (*end)
            end = &(*end)->next;
        *end = out->block;
        out->block = w[i].block;
        myth_free(mem, w[i].names);
        myth_free(mem, w[i].met);
    }
    if (s.st == MYTH_OK && is_cancelled(&s))
        myth_fail(&s.err, s.st = MYTH_ECANCEL, "stopped while the directory was scanned");
    if (s.st != MYTH_OK) {
        st = myth_fail_as(err, &s.err);
        goto fail;
    }
    MYTH_TRY(gather(out, &s, w, n_worker, &root, err));
fail:
    myth_free(mem, w);
    myth_ladder_close(&s.ladder);
    if (s.root_fd >= 0)
        close(s.root_fd);
    if (st != MYTH_OK)
        myth_scan_close(out, mem);
    return st;
}

void myth_scan_close(myth_scan_list *list, myth_mem *mem)
{
    for (struct myth_scan_block *b = list->block, *next; b; b = next) {
        next = b->next;
        myth_free(mem, b);
    }
    myth_free(mem, list->file);
    *list = (myth_scan_list){0};
}
