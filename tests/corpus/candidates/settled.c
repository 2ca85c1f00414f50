/* settled.c - results that need no test, and texts, products and ways back that are as they should be, each beside
 * one that is not. The marks are as in examples.c. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- results that need no test ---- */

/* What is stored for the caller, all of whom ask for it first. */
static void quiet_unchecked_return_stored(const char *text, int *weight, char **title)
{
    *weight = (int)strtol(text, NULL, 10); /* FIRES missing-null-check/argument missing-null-check/parameter */
    if (title)
        *title = strdup(text);
}

static int weigh_text(const char *text)
{
    int weight = 0;
    char *title = NULL;
    quiet_unchecked_return_stored(text, &weight, NULL);
    if (weight == 0)
        return 1000;
    quiet_unchecked_return_stored(text, &weight, &title);
    show_number(weight ? weight : 1000);
    if (!title)
        return 0;
    show_text(title);
    return weight;
}

/* One of the callers does not. */
static void store_weight(const char *text, int *weight)
{
    *weight = (int)strtol(text, NULL, 10); /* FIRES unchecked-return/number-of-text missing-null-check/argument missing-null-check/parameter */
}

static int weigh_twice(const char *text)
{
    int weight = 0;
    store_weight(text, &weight);
    if (weight == 0)
        return 1000;
    store_weight(text, &weight);
    return 100 / add_weight(weight); /* FIRES division-by-zero/result */
}

/* Memory of the very size that was added up for the text. */
static void quiet_unchecked_return_fits(const char *first, const char *second)
{
    int n = measure(first);
    char *room;
    n += measure(second);
    room = TakeAllocated(n + 1); /* FIRES integer-overflow/size resource-leak/memory-end */
    n = snprintf(room, n + 1, "%s%s", first, second); /* FIRES missing-bounds-check/print-spent missing-null-check/argument */
    show_part(room, n);
}

static void put_both(const char *first, const char *second, int n)
{
    char *room = TakeAllocated(n + 1); /* FIRES integer-overflow/size resource-leak/memory-end */
    n = snprintf(room, n + 1, "%s%s", first, second); /* FIRES unchecked-return/not-tested-number missing-bounds-check/print-spent missing-null-check/argument */
    show_part(room, n);
}

static void put_more(const char *first, const char *second)
{
    int n = measure(first);
    n += measure(first);
    char *room = TakeAllocated(n + 1); /* FIRES integer-overflow/size resource-leak/memory-end */
    n += 16;
    n = snprintf(room, n + 1, "%s%s", first, second); /* FIRES unchecked-return/not-tested-number missing-bounds-check/print-spent missing-null-check/argument */
    show_part(room, n);
}

/* It is what was read itself, and no count. */
static void quiet_unchecked_return_bits(struct bits *from, struct cell *cell)
{
    unsigned rate = bits_read(from, 4); /* FIRES sign-mixing/result */
    show_number(rate);
    cell->rate = (unsigned)bits_read(from, 24); /* FIRES missing-null-check/parameter */
    show_number(cell->rate);
    int many = cells_in_set(from);
    show_number(many);
}

static void read_whole(struct bits *from, char *to)
{
    int n = bits_read(from, to, 24); /* FIRES unchecked-return/not-tested-number */
    show_part(to, n);
}

/* A script gets the number of bytes. */
static void quiet_unchecked_return_reported(sqlite3_context *context, FILE *out, const char *from, int n)
{
    size_t done = fwrite(from, 1, n, out); /* FIRES missing-null-check/argument */
    sqlite3_result_int64(context, done);
}

static void log_written(FILE *out, const char *from, int n)
{
    size_t done = fwrite(from, 1, n, out); /* FIRES missing-null-check/argument unchecked-return/not-tested-number */
    log_number(out, done);
}

/* A digest is there where its handle is. */
static void quiet_unchecked_return_digest(gcry_md_hd_t digest, unsigned char *to)
{
    unsigned char *sum = gcry_md_read(digest, 8); /* FIRES resource-leak/any */
    memcpy(to, sum, 16); /* FIRES missing-null-check/argument */
}

/* Only a build for developers has it. */
static int quiet_unchecked_return_developers(int *ends)
{
#ifndef DEBUG_LINK
    return open_link();
#else
    pipe(ends);
    return ends[0]; /* FIRES missing-null-check/parameter missing-bounds-check/fixed-index */
#endif
}

static int link_ends(int *ends)
{
#ifndef HAVE_LINKS
    pipe(ends); /* FIRES unchecked-return/not-started */
    return ends[0]; /* FIRES missing-null-check/parameter missing-bounds-check/fixed-index */
#else
    return open_link();
#endif
}

static int link_others(int *ends)
{
#ifndef HAVE_LINKS
    return open_link();
#else
    pipe(ends); /* FIRES unchecked-return/not-started */
    return ends[0]; /* FIRES missing-null-check/parameter missing-bounds-check/fixed-index */
#endif
}

static void keep_title(struct box *box, const char *title)
{
    box->title = strdup(title); /* FIRES unchecked-return/unasked missing-null-check/argument missing-null-check/parameter */
    show_text(box->title);
}

/* ---- texts that may be shortened ---- */

static int quiet_off_by_one_options(const char *option, const char *day)
{
    if (strncmp(option, "-exact", 2) == 0) /* FIRES missing-null-check/argument */
        return 1;
    if (strncmp(option, "--regexp", 3) == 0)
        return 2;
    if (strncasecmp(option, "yes", 1) == 0)
        return 3;
    if (strncmp(day, "Monday", 3) == 0)
        return 4;
    return strncmp(day, "Tuesday", 3) == 0 ? 5 : 0;
}

static int option_of(const char *option, const char *day)
{
    if (strncmp(option, "-x86", 3) == 0) /* FIRES off-by-one/text-part missing-null-check/argument */
        return 1;
    if (strncmp(option, "--regexp", 2) == 0) /* FIRES off-by-one/text-part */
        return 2;
    return strncmp(day, "Monday", 3) == 0; /* FIRES off-by-one/text-part */
}

/* ---- going back ---- */

static char *quiet_use_after_free_again(int n)
{
    char *text;
again:
    n = next_length(n);
    if (n < 0)
        return NULL;
    text = take_text(n);
    if (n > 100) {
        free(text);
        goto again;
    }
    return text;
}

static char *take_again(int n)
{
    char *text = take_text(n);
again:
    n = next_length(n);
    if (n > 100) {
        free(text);
        goto again;
    }
    return text; /* FIRES use-after-free/returned */
}

/* ---- products ---- */

static void *quiet_integer_overflow_wide(void *own, unsigned n, unsigned size)
{
    return take_alloc(own, (size_t)n * size);
}

static void *take_wide(unsigned n, size_t size)
{
    return malloc((size_t)n * size); /* FIRES integer-overflow/size-factors */
}

static void *take_narrow(unsigned n, unsigned size)
{
    return malloc(n * size); /* FIRES integer-overflow/size-factors */
}

static void *quiet_integer_overflow_cast(uint32_t n, uint16_t size)
{
    return malloc((size_t)n * (size_t)size);
}

/* ---- results that nothing reads, or that somebody else speaks of ---- */

/* Another value comes before anything reads the first. */
static FILE *quiet_unchecked_return_again(struct box *box, struct cell **cell, int n)
{
    FILE *in = fopen("/etc/motd", "r");
    in = fopen("/etc/issue", "r");
    if (!in)
        return NULL;
    box->cell = calloc(1, 80); /* FIRES missing-null-check/parameter */
    cell_init((struct cell **)&(box->cell), n);
    *cell = calloc(1, 80);
    cell_init((struct cell **)cell, n);
    return in;
}

static void fill_again(struct box *box, struct cell **cell, FILE *from, int n)
{
    FILE *in = fopen("/etc/motd", "r"); /* FIRES unchecked-return/not-tested */
    if (n < 80)
        in = from;
    show_line(in, n);
    box->cell = calloc(1, 80); /* FIRES missing-null-check/parameter */
    cell_fill(&box->cell, n);
    *cell = calloc(1, 80);
    cell_init(*cell, n);
}

/* The call says how it went behind an address. */
static int quiet_unchecked_return_told(struct map *map, int key)
{
    int ret = 0;
    cell_index k = map_add(map, key, &ret);
    if (ret < 0)
        return -1;
    map->at[k] = key; /* FIRES missing-null-check/parameter missing-bounds-check/index */
    return 0;
}

static int use_untold(struct map *map, int key)
{
    int ret = 0;
    cell_index k = map_add(map, key, &ret); /* FIRES unchecked-return/not-tested-number */
    map->at[k] = key; /* FIRES missing-null-check/parameter missing-bounds-check/index */
    return ret < 0 ? -1 : 0;
}

/* Some memory of this file may be missing. */
static void add_named(struct shop *shop)
{
    struct part *part = part_add(shop, g_strdup("named")); /* FIRES resource-leak/any unchecked-return/not-tested */
    part->n = 1; /* FIRES missing-null-check/result-of-any */
}

/* The kernel writes its files always in the same form. */
static void quiet_unchecked_return_kernel(struct memory *to)
{
    char line[256], *at;
    FILE *in = fopen("/proc/meminfo", "r");
    if (!in)
        return;
    while (fgets(line, sizeof(line), in)) {
        sscanf(line, "MemTotal: %lu kB", &to->all); /* FIRES missing-null-check/parameter */
        at = strchr(line, ':');
        sscanf(at + 1, "%lu", &to->last);
    }
    fclose(in);
    in = fopen(PROC_LOAD, "r");
    if (!in)
        return;
    fscanf(in, "%lf", &to->load);
    fclose(in);
}

static void read_memory(struct memory *to, const char *path)
{
    char line[256];
    FILE *in = fopen(path, "r"); /* FIRES path-traversal/joined */
    if (!in)
        return;
    while (fgets(line, sizeof(line), in))
        sscanf(line, "MemTotal: %lu kB", &to->all); /* FIRES unchecked-return/not-scanned missing-null-check/parameter */
    fscanf(in, "%lf", &to->load); /* FIRES unchecked-return/not-scanned */
    fclose(in);
}

/* Four numbers that the library has written or accepted. */
static int quiet_unchecked_return_address(const char *text)
{
    int part[4];
    sscanf(text, "%d.%d.%d.%d", part, part + 1, part + 2, part + 3);
    return part[0] << 8 | part[1]; /* FIRES integer-overflow/returned */
}

static int number_of_peer(struct in_addr from, const char *other)
{
    struct in_addr to;
    char *text = inet_ntoa(from);
    const int n = quiet_unchecked_return_address(text);
    return inet_pton(AF_INET, other, &to) == 1 ? n + quiet_unchecked_return_address(other) : n;
}

static int number_of_text(const char *text)
{
    int part[4];
    sscanf(text, "%d.%d.%d.%d", part, part + 1, part + 2, part + 3); /* FIRES unchecked-return/not-scanned */
    return part[0] << 8 | part[1]; /* FIRES integer-overflow/returned */
}

/* Values that stay where nothing is found: set right before, and before a loop that the branch leaves. */
static int quiet_unchecked_return_release(const char *text, int *weight)
{
    int major = 1, minor = 0, kind = 0, size = 0;
    *weight = 0; /* FIRES missing-null-check/parameter */
    sscanf(text, "%d:%d", &kind, &size);
    while (*text) {
        if (*text == '#') {
            sscanf(text + 1, "%d", weight);
            return major;
        }
        text++;
    }
    show_number(kind);
    show_number(size);
    return minor;
}

/* The form of a text that the program itself has written. */
static int quiet_unchecked_return_version(int *minor)
{
    int major;
    sscanf(PACKAGE_VERSION, "%d.%d", &major, minor);
    return major;
}

/* -1 where it fails; and a new object that nobody asks for. */
static void show_chain(BIO *chain)
{
    char line[80];
    int n = BIO_read(chain, line, sizeof(line) - 1); /* FIRES missing-bounds-check/read-spent unchecked-return/not-tested-number */
    line[n] = '\0';
    show_text(line);
    BIO *memory = BIO_new(BIO_s_mem()); /* FIRES unchecked-return/not-tested */
    BIO_push(chain, memory); /* FIRES unchecked-return/can-fail */
}

/* A copy that the file compares with a name as if it were always there, and one for which it asks first. */
static void set_brand(struct shelf *shelf, const char *brand)
{
    shelf->brand_name = strdup(brand); /* FIRES unchecked-return/kept-copy-read missing-null-check/argument missing-null-check/parameter */
    shelf->remark_text = strdup(brand); /* FIRES unchecked-return/copy-given */
}

static int has_brand(const struct shelf *shelf, const char *brand, const char *remark)
{
    if (shelf->remark_text && strcmp(shelf->remark_text, remark) != 0) /* FIRES missing-null-check/argument missing-null-check/parameter */
        return 0;
    return strcmp(shelf->brand_name, brand) == 0;
}

/* What a line before it had is there, where this one has nothing. */
static int weight_of_all(const char *const *line, int n_line)
{
    int weight = 0, sum = 0;
    for (int i = 0; i < n_line; i++) {
        sscanf(line[i], "%d", &weight); /* FIRES unchecked-return/not-scanned missing-null-check/parameter */
        sum += weight;
    }
    return sum;
}

static int number_of_both(struct in_addr from, const char *other)
{
    char *text = inet_ntoa(from);
    return number_of_text(text) + number_of_text(other);
}

/* One step up is always there, and an id of a timer too. */
static void quiet_unchecked_return_up(struct box *box)
{
    chdir("..");
    box->timer = loop_timeout_add(80, show_box, box); /* FIRES missing-null-check/parameter */
    show_number(box->timer);
    box->idle = loop_idle_add(show_box, box);
    show_number(box->idle);
}

static void go_down(struct box *box)
{
    chdir("parts"); /* FIRES unchecked-return/not-started */
    box->timer = loop_watch_add(80, show_box, box); /* FIRES missing-null-check/parameter unchecked-return/not-tested-number */
    show_number(box->timer);
}

/* What was read is compared with what was asked for. */
static int quiet_off_by_one_read(struct text *to, int fd, int len)
{
    int rc = read_all(fd, to->letter, len); /* FIRES missing-null-check/parameter */
    if (rc < len)
        return -1;
    to->letter[len] = '\0'; /* FIRES missing-null-check/chain */
    return 0;
}

static int end_text(struct text *to, int len)
{
    int rc = room_of(to->letter, len); /* FIRES missing-null-check/parameter */
    if (rc < len) /* FIRES off-by-one/more-own */
        return -1;
    to->letter[len] = '\0'; /* FIRES missing-null-check/chain */
    return 0;
}

/* What stands there for C++ is in no program of C. */
#ifdef __cplusplus
static void quiet_unchecked_return_other_language(int *ends)
{
    pipe(ends);
    show_number(ends[0]); /* FIRES missing-bounds-check/fixed-index missing-null-check/parameter */
}
#else
static void link_of_language(int *ends)
{
    pipe(ends); /* FIRES unchecked-return/not-started */
    show_number(ends[0]); /* FIRES missing-bounds-check/fixed-index missing-null-check/parameter */
}
#endif
