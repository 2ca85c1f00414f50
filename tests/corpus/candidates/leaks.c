/* leaks.c - what of memory and files is lost and what is not: branches of #if, variables that are released by
 * themselves, ends of the process, and what somebody else keeps. Marks as in examples.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- #if and #else ---- */

/* The lines are read so only in a file that the parser cannot read with its conditionals: this one has some that stand
 * inside of an expression. */
static int quiet_resource_leak_of_builds(int from, char *line)
{
    FILE *in;
#ifdef HAVE_FMEMOPEN
    in = fmemopen(line, 80, "r");
    if (!in)
        return -1;
#else
    int copy = dup(from);
    if (copy < 0)
        return -1;
    in = fdopen(copy, "r");
    if (!in)
        return -1;
#endif
    read_line(in, line, 80);
    fclose(in);
    return 0;
}

static int lost_in_a_build(char *line, int n)
{
    FILE *in = fopen("/etc/motd", "r"); /* FIRES resource-leak/handle */
    if (!in)
        return -1;
#ifdef ONLY_LOOKS
    if (n < 80)
        return 0;
#else
    read_line(in, line, 80);
#endif
    fclose(in);
    return 0;
}

static void freed_but_in_a_build(char *line)
{
    free(line);
#ifdef ONLY_FREES
    return;
#endif
    print_line(line); /* FIRES use-after-free/argument */
}

static void quiet_use_after_free_of_builds(char *line)
{
    free(line);
#ifdef ONLY_FREES
    return;
#else
    line = next_line();
#endif
    print_line(line);
}

static int quiet_unchecked_return_of_builds(const char *path)
{
    int rc;
#ifdef HAVE_MKDIR_MODE
    rc = make_room(path, 0755);
#else
    rc = make_room_of(path);
#endif
    if (rc == 0)
        note_room(path);
    return is_room(path
#ifdef HAVE_ROOMS
                   ,
                   0755
#endif
    );
}

/* ---- variables that are released where their block ends ---- */

#define GIVE_UP   __attribute__((cleanup(close_file)))
#define AT_END(f) __attribute__((cleanup(f)))

static int quiet_resource_leak_of_words(int n)
{
    cleanup_close int in = open("/etc/motd", O_RDONLY);
    cleanup_free char *text = NULL;
    __do_close int first = -1, second = -1;
    g_autofree char *name = strdup("a");
    if (in < 0 || !name)
        return -1;
    text = malloc(80);
    if (!text)
        return -1;
    first = open("/etc/hosts", O_RDONLY);
    if (first < 0)
        return -1;
    second = open("/etc/fstab", O_RDONLY);
    if (second < 0 || n < 80)
        return -1;
    send_all(in, first, second, text, name);
    return 0;
}

static int quiet_resource_leak_of_attributes(int n)
{
    GIVE_UP FILE *in = fopen("/etc/motd", "r");
    AT_END(close_file) FILE *hosts = fopen("/etc/hosts", "r");
    __attribute__((cleanup(close_file))) FILE *table = fopen("/etc/fstab", "r");
    if (!in || !hosts || !table || n < 80)
        return -1;
    send_all(in, hosts, table);
    return 0;
}

/* A type of such a name releases nothing. */
static int lost_cleanup(int n)
{
    struct cleanup_list *all = malloc(80); /* FIRES resource-leak/lost */
    if (!all)
        return -1;
    all->n = n;
    return n < 80 ? -1 : 0;
}

/* ---- the end of the process ---- */

static void quiet_resource_leak_where_it_ends(char **list, int n)
{
    list = realloc(list, n * sizeof(*list)); /* FIRES integer-overflow/size */
    if (!list) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    send_list(list, n);
}

static char *quiet_resource_leak_trimmed(char *text, size_t room, size_t used)
{
    if (room > used)
        text = realloc(text, used);
    return text;
}

static int quiet_resource_leak_registered(void)
{
    FILE *in = fopen("/dev/kmsg", "r");
    if (!in)
        return 1;
    if (poll_register(in, on_input) < 0) {
        fclose(in);
        return 1;
    }
    return 0;
}

static int quiet_resource_leak_sent(struct peer *to)
{
    int fd = dup(0);
    if (fd < 0)
        return -1;
    peer_send(to, 3, fd, 0); /* FIRES unchecked-return/dropped */
    return 0;
}

static int lost_list(char **list, int n)
{
    list = realloc(list, 80); /* FIRES resource-leak/replaced */
    if (!list) {
        fprintf(stderr, "no memory\n");
        return -1;
    }
    return send_list(list, n);
}

static void quiet_resource_leak_of_child(int n)
{
    FILE *in = fopen("/proc/self/mounts", "r");
    if (!in)
        _exit(1);
    while (n-- > 0)
        if (is_mount(in, n))
            _exit(0);
    _exit(1);
}

static int quiet_resource_leak_for_callers(int n)
{
    char *text = malloc(80);
    if (!text)
        return NO_ROOM;
    if (n < 80)
        return NO_ROOM;
    free(text);
    return 0;
}

static int lost_for_callers(int n)
{
    char *text = malloc(80); /* FIRES resource-leak/forgotten */
    if (!text)
        return NO_ROOM;
    if (n < 80)
        return TOO_SHORT;
    free(text);
    return 0;
}

static void call_both(int n)
{
    int rc;
    if ((rc = quiet_resource_leak_for_callers(n)) == NO_ROOM) {
        fprintf(stderr, "no room\n");
        exit(1);
    }
    rc = lost_for_callers(n);
    if (rc == NO_ROOM)
        abort();
}

/* ---- what is kept on purpose ---- */

static int device = -1;

static int open_device(void)
{
    if (device < 0)
        device = open("/dev/rtc", O_RDONLY);
    return device;
}

static int quiet_resource_leak_of_device(int n)
{
    const int fd = open_device();
    if (fd < 0)
        return -1;
    return n < 80 ? -1 : read_device(n);
}

static int quiet_resource_leak_of_lock(const char *path)
{
    int fd = open(path, O_RDWR); /* FIRES path-traversal/joined */
    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX) < 0) {
        close(fd); /* FIRES unchecked-return/elsewhere */
        return -1;
    }
    return 0;
}

static int lost_before_lock(const char *path, int n)
{
    int fd = open(path, O_RDWR); /* FIRES path-traversal/joined resource-leak/handle */
    if (fd < 0)
        return -1;
    if (n < 80)
        return -1;
    if (flock(fd, LOCK_EX) < 0) {
        close(fd); /* FIRES unchecked-return/elsewhere */
        return -1;
    }
    return 0;
}

/* ---- what has another owner ---- */

static int quiet_resource_leak_of_element(struct table *t, char **all, int n)
{
    char *copy = malloc(80);
    if (!copy)
        return -1;
    if (n < 80) {
        free(copy);
        return -1;
    }
    all[t->n++ + n] = copy; /* FIRES missing-null-check/parameter */
    return is_full(all) ? -1 : 0;
}

static int quiet_resource_leak_of_moved(struct table *t, int n)
{
    char *text = malloc(80);
    if (!text)
        return -1;
    t->text = realloc(text, 160); /* FIRES missing-null-check/parameter */
    if (!t->text) {
        free(text);
        return -1;
    }
    if (n < 80)
        return -1;
    return 0;
}

static void quiet_resource_leak_of_engine(int from)
{
    int fd = accept(from, NULL, NULL);
    if (fd < 0)
        return;
    create_engine(fd);
}

static int lost_before_engine(int from)
{
    int fd = accept(from, NULL, NULL); /* FIRES resource-leak/handle */
    if (fd < 0)
        return -1;
    if (tune_socket(from) < 0)
        return -1;
    create_engine(fd);
    return 0;
}

static int quiet_resource_leak_of_names(struct table *t)
{
    int family = get_socket_family(t);
    struct screen *files = OpenFiles_new(t);
    show_files(files, family);
    OpenFiles_delete(files);
    return 0;
}

static int quiet_resource_leak_where_closing_failed(int fd, int n)
{
    char *text = malloc(80);
    if (!text)
        return -1;
    if (n < 80 && close(fd) < 0) {
        free(text);
        return -1;
    }
    if (close(fd) < 0)
        return -1;
    free(text);
    return 0;
}

/* ---- renaming ---- */

static int quiet_check_use_race_where_it_failed(const char *from, const char *to)
{
    if (rename(from, to) < 0) {   /* FIRES path-traversal/joined */
        unlink(to);               /* FIRES unchecked-return/dropped path-traversal/joined */
        if (rename(from, to) < 0) /* FIRES path-traversal/joined */
            return -1;
    }
    return 0;
}

static int quiet_resource_leak_wrapped(struct device *of, int from)
{
    int fd = dup(from);
    of->link = connectFd(fd); /* FIRES missing-null-check/parameter */
    of->link->flags = 0;      /* FIRES missing-null-check/result-of-any */
    if (of->n < 80)
        return -1;
    return 0;
}

static struct link *quiet_resource_leak_opened_of(const struct device *of, int from)
{
    int fd = dup(from);
    struct link *link = link_open_fd(of, fd);
    if (!link)
        return NULL;
    show_link(link);
    return link;
}

static int lost_read(const struct device *of, int from)
{
    int fd = dup(from); /* FIRES resource-leak/handle */
    char *line = read_line_fd(fd);
    if (!line)
        return -1;
    show_line(line, of->n); /* FIRES missing-null-check/parameter */
    free(line);
    return 0;
}

static int lost_before_link(struct device *of, int from)
{
    int fd = dup(from); /* FIRES resource-leak/handle */
    if (of->n < 80)     /* FIRES missing-null-check/parameter */
        return -1;
    of->link = connectFd(fd);
    of->link->flags = 0; /* FIRES missing-null-check/result-of-any */
    return 0;
}

static int lost_behind_lines(int n)
{
    FILE *in = fopen("/etc/motd", "r"); /* FIRES resource-leak/file */
    if (!in)
        return -1;
#ifdef SHOWS_LINES
    show_lines(n);
#endif
    show_line(in, n);
    if (n < 80)
        return -1;
    fclose(in);
    return 0;
}

static int lost_state(struct device *of, int from)
{
    int fd = dup(from); /* FIRES resource-leak/handle */
    int is_on = is_fd_on(fd);
    of->n = is_on; /* FIRES missing-null-check/parameter */
    return 0;
}

static void quiet_resource_leak_of_program(char **argv)
{
    int fd = open("/dev/null", O_RDWR);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, 2);
    execvp(argv[0], argv); /* FIRES missing-null-check/parameter missing-bounds-check/fixed-index */
    _exit(1);
}

static void lost_by_parent(char **argv)
{
    int fd = open("/dev/null", O_RDWR); /* FIRES resource-leak/file */
    if (fork() == 0) {
        dup2(fd, STDOUT_FILENO);
        execvp(argv[0], argv); /* FIRES missing-null-check/parameter missing-bounds-check/fixed-index */
        _exit(1);
    }
}

static void lost_before_program(char **argv)
{
    int fd = open("/dev/null", O_RDWR); /* FIRES resource-leak/file */
    dup2(fd, 7);
    execvp(argv[0], argv); /* FIRES missing-null-check/parameter missing-bounds-check/fixed-index */
}

/* What gets it keeps it: where that fails, it is released. */
static void quiet_resource_leak_given_away(struct table *t, int n)
{
    struct entry *e = calloc(1, 80);
    if (!e)
        return;
    if (n < 80) {
        n = table_remove_named(t, e);
        if (n < 0)
            goto failed;
        return;
    }
    n = table_add(t, e);
    if (n < 0)
        goto failed;
    return;
failed:
    free(e);
}

static void lost_where_well(struct table *t, int n)
{
    struct entry *e = calloc(1, 80); /* FIRES resource-leak/held */
    if (!e)
        return;
    if (n < 80) {
        n = table_count_named(t, e);
        if (n < 0)
            goto failed;
        show_count(n);
        return;
    }
    n = table_add(t, e);
    if (n < 0)
        goto failed;
    return;
failed:
    free(e);
}

static int lost_where_all_goes_well(struct table *t, int n)
{
    struct entry *e = calloc(1, 80); /* FIRES resource-leak/held */
    if (!e)
        return -1;
    if (n < 80) {
        n = table_count_named(t, e);
        if (n < 0)
            goto failed;
        return 0;
    }
    n = table_count(t, e);
    if (n < 0)
        goto failed;
    return 0;
failed:
    free(e);
    return -1;
}

/* ---- memory that a macro asks for ---- */

#define LEAVE_WITHOUT(call) \
    do {                    \
        if (!(call))        \
            return -1;      \
    } while (0)
#define STOP_WITHOUT(call)        \
    do {                          \
        if (!(call))              \
            out_of_memory(#call); \
    } while (0)

static void quiet_resource_leak_replaced(struct table *t, size_t n)
{
    STOP_WITHOUT(t->text = realloc(t->text, n)); /* FIRES missing-null-check/parameter */
    ASSERT_THERE(t->text = realloc(t->text, n));
    room_or_die((t->text = realloc(t->text, n)));
}

static int lose_text(struct table *t, size_t n)
{
    LEAVE_WITHOUT(t->text = realloc(t->text, n)); /* FIRES missing-null-check/parameter resource-leak/replaced-used */
    return 0;
}

static void lose_checked_text(char **to, size_t n)
{
    CHECK_ROOM(9, *to = realloc(*to, n)); /* FIRES missing-null-check/parameter resource-leak/replaced-checked */
}

static void lose_kept_text(struct table *t, size_t n)
{
    keep_room(t->text = realloc(t->text, n)); /* FIRES missing-null-check/parameter resource-leak/replaced-used */
}

/* ---- functions that never return ---- */

extern void no_memory(void) OUR_NORETURN;
_Noreturn void no_room(int n);
extern void some_memory(void);

static void *quiet_resource_leak_never_returns(void *p, void *q, size_t n)
{
    p = realloc(p, n);
    if (!p)
        no_memory();
    q = realloc(q, n);
    if (UNLIKELY(q == NULL))
        no_room(80);
    return keep_both(p, q);
}

static void *lose_for_some(void *p, size_t n)
{
    p = realloc(p, n); /* FIRES resource-leak/replaced */
    if (!p)
        some_memory();
    return p;
}

/* ---- what only says how it went ---- */

static int quiet_resource_leak_told(struct device *of)
{
    int res;
    if ((res = lib_open(of->path, &of->handle)) != 0) /* FIRES missing-null-check/parameter */
        return -1;
    show_device(of, res);
    return 0;
}

static int lose_descriptor(struct device *of)
{
    int fd;
    if ((fd = lib_open(of->path, &of->kind)) < 0) /* FIRES resource-leak/file-named missing-null-check/parameter */
        return -1;
    show_device(of, fd);
    return 0;
}

static int lose_handle(struct device *of)
{
    lib_handle at = lib_open(of->path, &of->kind); /* FIRES resource-leak/file-named missing-null-check/parameter */
    if (!at)
        return -1;
    show_device(of, at);
    return 0;
}

static int quiet_resource_leak_chained(struct device *of)
{
    int fd;
    CHECK_CALL(of->link->fd = fd = socket(AF_INET, SOCK_STREAM, 0), "socket"); /* FIRES missing-null-check/parameter */
    if (of->n < 80)
        return -1;
    show_number(fd);
    return 0;
}

/* By its name it opens a file, and the function closes it on one way. */
static int lose_shared_memory(const char *name)
{
    FILE *in = lib_fopen(name, "r"); /* FIRES resource-leak/file */
    if (!in)
        return -1;
    if (read_head(in) != 0) {
        fclose(in);
        return -1;
    }
    show_number(fgetc(in));
    return 0;
}

/* What it says is whether it went well, and it has no open in its last word. */
static int quiet_resource_leak_counted(const char *name)
{
    int n = count_reopened(name);
    if (n < 0)
        return -1;
    return n > 80;
}

/* The way out on which a function that asserts says that there was no memory. */
static struct device *quiet_resource_leak_asserted(int n)
{
    struct device *of = calloc(1, sizeof(*of));
    if (!log_assert(of, "no memory"))
        return NULL;
    if (fill_device(of, n) != 0) {
        free(of);
        return NULL;
    }
    return of;
}

/* A macro that leaves goes to a label behind it, with or without arguments: what is between is not reached. */
static int release_at_end(int n)
{
    char *p = malloc(80);
    if (!p)
        return -1;
    if (n > 3) {
        free(p);
        GOTO_END;
    }
    p[0] = 1;
    show_text(p);
end:
    free(p); /* FIRES double-free/again */
    return 0;
}

static int release_at_end_of(int n)
{
    char *p = malloc(80);
    if (!p)
        return -1;
    if (n > 3) {
        free(p);
        ABORT_FINALIZE(n);
    }
    p[0] = 1;
    show_text(p);
finalize_it:
    free(p); /* FIRES double-free/again */
    return 0;
}

/* Where there is no label it leaves the function. */
static int quiet_double_free_left(int n)
{
    char *p = malloc(80);
    if (!p)
        return -1;
    if (n > 3) {
        free(p);
        THROW_ERROR(n);
    }
    p[0] = 1;
    show_text(p);
    free(p);
    return 0;
}
