// leaks.cpp - what objects close by themselves, and what they do not. Marks as in examples.c.
#include <cstdio>
#include <cstdlib>

class Closer {
public:
    explicit Closer(FILE *of) : file(of) {}
    Closer(const char *path);
    ~Closer()
    {
        if (file)
            std::fclose(file);
    }
    FILE *open(const char *how);

private:
    FILE *file;
};

class Counter {
public:
    ~Counter() { total += n; }
    FILE *open(const char *how);
};

Closer::Closer(const char *path) : file(std::fopen(path, "r")) {}

int quiet_resource_leak_of_object(const char *path, int n)
{
    Closer closer(path);
    FILE *in = closer.open("r");
    if (n < 80)
        return -1;
    return read_line(in, n);
}

int quiet_resource_leak_of_another(Closer &closer, Closer *other, int n)
{
    FILE *in = closer.open("r");
    FILE *out = other->open("w"); /* FIRES missing-null-check/parameter */
    if (n < 80)
        return -1;
    std::fputs("none", out); /* FIRES missing-null-check/argument */
    return read_line(in, n);
}

int quiet_resource_leak_of_guard(int n)
{
    FILE *in = std::fopen("/etc/motd", "r"); /* FIRES unchecked-return/not-tested */
    Closer closer(in);
    if (n < 80)
        return -1;
    return read_line(in, n);
}

int quiet_resource_leak_of_closer(int n)
{
    Closer in = std::fopen("/etc/motd", "r"); /* FIRES unchecked-return/not-tested-number */
    if (n < 80)
        return -1;
    return read_line(in.get(), n);
}

int lost_pointer(int n)
{
    Closer *closer = make_closer(n); /* FIRES resource-leak/memory */
    if (n < 80)
        return -1;
    delete closer;
    return 0;
}

int lost_by_counter(int n)
{
    Counter counter;
    FILE *in = counter.open("r"); /* FIRES resource-leak/file-named */
    if (n < 80)
        return -1;
    read_line(in, n);
    return 0;
}

int lost_for_no_object(int n)
{
    FILE *in = std::fopen("/etc/motd", "r"); /* FIRES resource-leak/file unchecked-return/not-tested */
    show_line(in, n);
    if (n < 80)
        return -1;
    return 0;
}

int lost_before_guard(int n)
{
    FILE *in = std::fopen("/etc/motd", "r"); /* FIRES resource-leak/handle */
    if (!in)
        return -1;
    if (n < 80)
        return -1;
    Closer closer(in);
    return 0;
}

void quiet_resource_leak_replaced(Table *t, size_t n)
{
    ASSERT_THERE(t->text = (char *)std::realloc(t->text, n)); /* FIRES missing-null-check/parameter */
}

void lose_checked_text(Table &t, size_t n)
{
    CHECK_ROOM(t.text = (char *)std::realloc(t.text, n)); /* FIRES resource-leak/replaced-checked */
}

/* ---- functions that never return ---- */

extern void no_memory(void) OUR_NORETURN;
[[noreturn]] void no_room(int n);
extern void some_memory(void);

static void *quiet_resource_leak_never_returns(void *p, void *q, size_t n)
{
    p = realloc(p, n);
    if (!p)
        no_memory();
    q = realloc(q, n);
    if (UNLIKELY(q == nullptr))
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
    if ((res = lib_open(of->path, &of->handle)) != 0)
        return -1;
    show_device(of, res);
    return 0;
}

static int lose_descriptor(struct device *of)
{
    int fd;
    if ((fd = lib_open(of->path, &of->kind)) < 0) /* FIRES resource-leak/file-named */
        return -1;
    show_device(of, fd);
    return 0;
}

static int lose_handle(struct device *of)
{
    lib_handle at = lib_open(of->path, &of->kind); /* FIRES resource-leak/file-named */
    if (!at)
        return -1;
    show_device(of, at);
    return 0;
}

static int quiet_resource_leak_chained(struct device *of)
{
    int fd;
    CHECK_CALL(of->link->fd = fd = socket(AF_INET, SOCK_STREAM, 0), "socket"); /* FIRES missing-null-check/chain */
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
    struct device *of = (struct device *)calloc(1, sizeof(*of));
    if (!log_assert(of, "no memory"))
        return nullptr;
    if (fill_device(of, n) != 0) {
        free(of);
        return nullptr;
    }
    return of;
}
