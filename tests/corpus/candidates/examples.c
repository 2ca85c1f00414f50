/* examples.c - for each row of the rules about C a function in which it finds a place, marked at the end of its line,
 * and for each rule one in which the same call or construct is harmless. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next, *child;
    char *name;
    int weight;
};
struct point {
    int x, y, left, right, top, bottom;
};
struct queue {
    pthread_mutex_t mutex;
    struct node *head;
    unsigned char slot[64];
    size_t count;
};

/* ---- bounds ---- */

static void set_title(struct node *item, const char *title)
{
    char line[64];
    strcpy(line, title); /* FIRES missing-bounds-check/copy-fixed missing-null-check/argument */
    show_line(item, line);
}

static void store_packet(unsigned char *dst, const unsigned char *src, size_t length)
{
    memcpy(dst, src, length); /* FIRES missing-bounds-check/copy-size missing-null-check/argument */
}

static int day_of(const int *table, int month)
{
    return table[month]; /* FIRES missing-bounds-check/index missing-null-check/parameter */
}

static void read_digits(FILE *in, char *digits)
{
    int c, at = 0;
    while ((c = getc(in)) != EOF) {
        digits[at] = (char)c; /* FIRES missing-bounds-check/index-loop missing-null-check/parameter */
        at++;
    }
}

static void quiet_missing_bounds_check(unsigned char *dst, size_t room, const unsigned char *src, size_t length)
{
    char line[16];
    if (length > room || length < 4)
        return;
    memcpy(dst, src, length); /* FIRES missing-null-check/argument */
    strcpy(line, "none");
    for (size_t i = 0; i < length; i++)
        dst[i] ^= src[i]; /* FIRES missing-null-check/parameter */
    show_line(NULL, line);
}

static long total_of(const long *amount, int count)
{
    long sum = 0;
    for (int i = 0; i <= count; i++) /* FIRES off-by-one/at-most */
        sum += amount[i]; /* FIRES missing-null-check/parameter */
    return sum;
}

static int put_byte(struct queue *q, unsigned char byte)
{
    size_t at = q->count; /* FIRES missing-null-check/parameter */
    size_t max = capacity_of(q);
    if (at > max) /* FIRES off-by-one/more */
        return -1;
    q->slot[at] = byte; /* FIRES missing-null-check/chain */
    return 0;
}

static int set_name(char *dst, const char *name)
{
    char whole[32];
    size_t n = strlen(name); /* FIRES missing-null-check/argument */
    if (n > sizeof(whole)) /* FIRES off-by-one/more-size */
        return -1;
    return normalize(dst, whole, n);
}

static void set_node_name(struct node *item, const char *text)
{
    char *copy = malloc(strlen(text)); /* FIRES missing-null-check/argument off-by-one/terminator */
    if (!copy)
        return;
    copy_text(copy, text);
    item->name = copy; /* FIRES missing-null-check/parameter */
}

static long quiet_off_by_one(const long *amount, size_t count, const char *name)
{
    char whole[32];
    long sum = 0;
    char *copy = malloc(strlen(name) + 1); /* FIRES missing-null-check/argument */
    if (!copy)
        return -1;
    free(copy);
    if (strlen(name) >= sizeof(whole))
        return -1;
    for (size_t i = 0; i < count; i++)
        sum += amount[i]; /* FIRES missing-null-check/parameter */
    return sum;
}

/* ---- texts ---- */

static void print_help(const char *usage)
{
    printf(usage); /* FIRES format-string/first */
}

static void log_line(FILE *out, const char *line)
{
    fprintf(out, line); /* FIRES format-string/second missing-null-check/argument */
}

static void label_of(char *dst, const char *label)
{
    snprintf(dst, 32, label); /* FIRES format-string/third missing-null-check/argument unchecked-return/dropped */
}

struct column {
    const char *format;
    int width;
};

static void show_column(const struct column *of, int value)
{
    printf(of->format, value); /* FIRES format-string/member missing-null-check/parameter */
}

/* Texts of the source: one of two, one in another language, of a macro, of all callers, and none. */
static const char amount_format[] = "%d of %d\n";

static void show_amount(const char *format, int value, int whole)
{
    printf(format, value);
    printf(amount_format, value, whole);
}

static void quiet_format_string_constant(int value, int is_short)
{
    const char *which = "%d\n";
    if (is_short)
        which = _("%d.\n");
    printf(is_short ? _("%d item\n") : _("%d items\n"), value);
    printf(P_("%d item\n", "%d items\n", value), value);
    printf(HELP_OPTIONS(16));
    printf(which, value);
    show_amount("%d\n", value, 1);
    show_amount(_("%d\n"), value, 2);
    warn(NULL);
}

static char *quiet_format_string_new(const char *name)
{
    return g_strdup_printf("%s.txt", name); /* FIRES missing-null-check/argument */
}

static void quiet_format_string(FILE *out, const char *line)
{
    printf("%s\n", line);
    fprintf(out, "%s\n", line); /* FIRES missing-null-check/argument */
}

static int find_user(sqlite3 *db, const char *name)
{
    char sql[256];
    format_into(sql, "select id from users where name = '%s'", name);
    return sqlite3_exec(db, sql, on_row, NULL, NULL); /* FIRES sql-injection/joined */
}

static int quiet_sql_injection(sqlite3 *db)
{
    return sqlite3_exec(db, "delete from sessions where age > 30", NULL, NULL, NULL);
}

static int unpack(const char *archive)
{
    char command[512];
    format_into(command, "tar xf %s", archive);
    return system(command); /* FIRES shell-injection/command */
}

static int quiet_shell_injection(void) { return system("sync"); }

static char *quiet_missing_null_check_opened(char *line)
{
    FILE *in = fopen("/etc/motd", "r");
    char *got = in ? fgets(line, 80, in) : NULL;
    if (in)
        fclose(in);
    return got;
}

static void print_motd(char *line)
{
    FILE *in = fopen("/etc/motd", "r"); /* FIRES unchecked-return/not-tested */
    fread(line, 1, 80, in); /* FIRES unchecked-return/data-lost missing-null-check/argument missing-null-check/opened-argument */
    fclose(in);
}

static void name_motd(void) { motd_name = strdup(name_of(1)); /* FIRES unchecked-return/kept-copy */ }

static char *pad_word(const char *word)
{
    char *out = malloc(64); /* FIRES unchecked-return/taken */
    memset(out, 0, 64); /* FIRES missing-null-check/allocated-argument */
    return out;
}

static void spool_name(char *dst, size_t cap, const char *dir, const char *order)
{
    (void)g_snprintf(dst, cap, "%s/%s.label", dir, order); /* FIRES path-traversal/built */
}

static void quiet_path_traversal_built(char *dst, size_t cap, unsigned number)
{
    (void)g_snprintf(dst, cap, "label-%u", number);
}

static void keep_title(page *p, const char *title)
{
    memcpy(p->titles[p->n_title], title, strlen(title) + 1); /* FIRES missing-bounds-check/copy-whole missing-bounds-check/index missing-null-check/parameter missing-null-check/argument */
}

static int load_page(const char *page)
{
    FILE *in = fopen(page, "r"); /* FIRES path-traversal/joined */
    if (!in)
        return -1;
    read_page(in);
    fclose(in);
    return 0;
}

static int quiet_path_traversal(void)
{
    FILE *in = fopen("/etc/hosts", "r");
    if (!in)
        return -1;
    read_hosts(in);
    fclose(in);
    return 0;
}

/* ---- memory ---- */

static int drop_node(struct node *item)
{
    free(item);
    return item->weight; /* FIRES missing-null-check/parameter use-after-free/sure use-after-free/returned */
}

static void drop_name(char *name)
{
    free(name);
    log_text(name); /* FIRES use-after-free/sure-argument */
}

static int scrap_if_late(char *text, int n)
{
    if (n < 0) {
        free(text);
        return -1;
    }
    return 0;
}

static char *quiet_use_after_free_failed(char *text, int n)
{
    if (scrap_if_late(text, n) < 0)
        return NULL;
    return text;
}

static char *trimmed(char *text)
{
    free(text);
    return text; /* FIRES use-after-free/returned */
}

static int quiet_use_after_free(struct node *item)
{
    const int weight = item->weight; /* FIRES missing-null-check/parameter */
    free(item);
    item = first_node();
    return weight + item->weight;
}

static void close_all(struct node *list, int is_last)
{
    if (is_last)
        free(list);
    free(list); /* FIRES double-free/branch */
}

static void quiet_double_free(struct node *list, int is_last)
{
    if (is_last) {
        free(list);
        return;
    }
    free(list);
}

/* By its name it could keep the text, but it only reads it. */
static size_t add_length(const char *text, size_t n)
{
    return n + strlen(text); /* FIRES missing-null-check/argument */
}

static int count_greeting(size_t *n)
{
    char *text = calloc(1, 256); /* FIRES resource-leak/forgotten */
    if (!text)
        return -1;
    *n = add_length(text, 0); /* FIRES missing-null-check/parameter */
    if (*n > 100)
        return -1;
    free(text);
    return 0;
}

static int send_greeting(int to, const char *host)
{
    char *text = malloc(256); /* FIRES resource-leak/forgotten */
    if (!text)
        return -1;
    if (to < 0)
        return -1;
    greet(to, text, host);
    free(text);
    return 0;
}

static void count_words(const char *line)
{
    char *copy = strdup(line); /* FIRES missing-null-check/argument resource-leak/memory-end */
    if (!copy)
        return;
    count_each(copy);
}

static int first_line(char *line, int n)
{
    FILE *in = fopen("/etc/motd", "r"); /* FIRES resource-leak/handle */
    if (!in)
        return -1;
    if (n < 80)
        return -1;
    read_line(in, line, n);
    fclose(in);
    return 0;
}

static int quiet_resource_leak(char *line, int n)
{
    int rc = -1;
    FILE *in = fopen("/etc/motd", "r");
    if (!in)
        return -1;
    if (n >= 80)
        rc = read_line(in, line, n);
    fclose(in);
    return rc;
}

/* what functions of the file do with a parameter */
static void scrap(struct node *item)
{
    if (item == NULL)
        return;
    free(item->name); /* FIRES double-free/dangling */
    free(item);
}

static void scrap_last(struct node *item) { scrap(item); }

static int scrapped_twice(struct node *item)
{
    scrap_last(item);
    return item->weight; /* FIRES missing-null-check/parameter use-after-free/sure use-after-free/returned */
}

static void freed_twice(char *text)
{
    free(text);
    log_text("gone");
    free(text); /* FIRES double-free/sure */
}

static void freed_in_a_branch(struct node *item, int is_old)
{
    if (is_old)
        free(item);
    note_weight(item->weight); /* FIRES missing-null-check/parameter use-after-free/branch */
}

static void given_after_a_branch(char *text, int is_old)
{
    if (is_old)
        free(text);
    log_text(text); /* FIRES use-after-free/argument */
}

static size_t measure(const char *text) { return strlen(text); } /* FIRES missing-null-check/argument */

static void grow_label(struct node *item, size_t room)
{
    item->name = pool_realloc(item->name, room); /* FIRES missing-null-check/parameter resource-leak/replaced-own */
}

static int send_measured(int to)
{
    char *text = malloc(256); /* FIRES resource-leak/forgotten */
    if (!text)
        return -1;
    text[0] = '\0';
    if (measure(text) > (size_t)to)
        return -1;
    free(text);
    return 0;
}

static int send_given(int to)
{
    char *text = malloc(256); /* FIRES resource-leak/held */
    if (!text)
        return -1;
    if (fill_greeting(text, to) < 0)
        return -1;
    free(text);
    return 0;
}

static int only_measured(int to)
{
    char *text = malloc(256); /* FIRES resource-leak/lost */
    if (!text)
        return -1;
    text[0] = '\0';
    return measure(text) > (size_t)to ? -1 : 0;
}

static int send_built(int to)
{
    char *text = build_greeting(to); /* FIRES resource-leak/memory */
    if (!text)
        return -1;
    if (to < 0)
        return -1;
    greet(to, text, text);
    free(text);
    return 0;
}

static int send_connected(int to)
{
    int s = open_channel(to); /* FIRES resource-leak/file-named */
    if (s < 0)
        return -1;
    if (to == 3)
        return -1;
    send_line(s, "hi");
    close(s);
    return 0;
}

static void quiet_resource_leak_wrapper(int to)
{
    struct node *item = calloc(1, sizeof(*item));
    if (!item)
        return;
    if (to < 0) {
        scrap_last(item);
        return;
    }
    send_node(to, item);
    scrap(item);
}

static int keep_node(struct queue *q, struct node *item)
{
    q->head = item; /* FIRES missing-null-check/parameter */
    return 0;
}

static int quiet_resource_leak_kept(struct queue *q)
{
    struct node *item = calloc(1, sizeof(*item));
    if (!item)
        return -1;
    return keep_node(q, item);
}

static int quiet_resource_leak_label(int to)
{
    int rc = -1;
    char *text = malloc(256);
    if (unlikely(!text))
        return rc;
    if (to < 0)
        goto failed;
    rc = 0;
done:
    free(text);
    return rc;
failed:
    note_failure(to);
    goto done;
}

static int quiet_resource_leak_path(int to, const char *host)
{
    char *text = malloc(256);
    if (!text)
        return -1;
    if (!is_known(host)) {
        free(text);
        return -1;
    }
    greet(to, text, host);
    free(text);
    return 0;
}

/* ---- pointers ---- */

static void cut_at_colon(char *line)
{
    char *colon = strchr(line, ':'); /* FIRES missing-null-check/argument */
    *colon = '\0'; /* FIRES missing-null-check/searched */
}

static int weight_of(struct node *item)
{
    int weight = item->weight; /* FIRES missing-null-check/used-first */
    if (item == NULL)
        return 0;
    return weight;
}

static int child_weight(struct node *item)
{
    if (!item->child) /* FIRES missing-null-check/parameter */
        return 0;
    return item->child->weight;
}

static int has_child(struct node *item) { return item->child != NULL; } /* FIRES missing-null-check/parameter */

static int child_weights(struct node *item)
{
    return 2 * item->child->weight; /* FIRES integer-overflow/returned missing-null-check/field */
}

static int next_weight(struct node *item)
{
    if (item->next) /* FIRES missing-null-check/parameter */
        return item->next->weight;
    return 0;
}

static void skip_one(struct node *item)
{
    item->weight = item->next->weight; /* FIRES missing-null-check/field-sometimes missing-null-check/parameter */
}

static void skip_two(struct node *item)
{
    item->name = item->next->name; /* FIRES missing-null-check/field-sometimes missing-null-check/parameter */
}

static int pick_weight(struct node *item, int is_heavy)
{
    int weight = 0;
    if (item)
        weight = 1;
    if (is_heavy)
        weight += item->weight; /* FIRES missing-null-check/other-branch */
    return weight;
}

int node_weight(const struct node *item)
{
    return item->weight; /* FIRES missing-null-check/parameter */
}

static int weight_of_none(void)
{
    struct node *item = NULL;
    return item->weight; /* FIRES missing-null-check/null */
}

static void quiet_missing_null_check(char *line, struct node *item)
{
    char *colon;
    if (!line || !item)
        return;
    colon = strchr(line, ':');
    if (!colon)
        return;
    *colon = '\0';
    item->weight++;
}

static int name_length(struct node *item)
{
    if (!item)
        log_text(item->name); /* FIRES inverted-condition/absent-used */
    return 0;
}

static int quiet_inverted_condition(struct node *item)
{
    if (item)
        log_text(item->name);
    return 0;
}

/* ---- numbers ---- */

static struct point *make_points(size_t count, size_t size)
{
    return malloc(count * size); /* FIRES integer-overflow/size-factors */
}

static void set_size(struct image *image, unsigned width, unsigned height)
{
    size_t length;
    length = width * height; /* FIRES integer-overflow/kept */
    resize_to(image, length);
}

static struct point *quiet_integer_overflow(size_t count)
{
    if (count > MAX_POINTS)
        return NULL;
    return malloc(count * sizeof(struct point));
}

static int fits(int used)
{
    char line[80];
    fill_line(line);
    return used < sizeof(line); /* FIRES sign-mixing/compared */
}

static int is_behind(int at, size_t end)
{
    return at >= end; /* FIRES sign-mixing/variables */
}

static size_t read_some(int from, char *dst)
{
    size_t got = read(from, dst, 64); /* FIRES sign-mixing/result */
    return got;
}

static int take(unsigned n)
{
    unsigned left = n - used_slots();
    if (left < 0) /* FIRES sign-mixing/never-negative */
        return -1;
    return use_slots(left);
}

static int quiet_sign_mixing(int from, char *dst, size_t at, size_t end)
{
    ssize_t got = read(from, dst, 64);
    if (got < 0)
        return -1;
    return at >= end;
}

static int average(const struct queue *q, int sum, int count)
{
    note_average(q);
    return sum / count; /* FIRES division-by-zero/divisor */
}

static int quiet_division_by_zero(int sum, int count)
{
    if (count == 0)
        return 0;
    return sum / count + sum / 2;
}

static double mean_queue(const queue *q, double sum)
{
    return sum / queue_ready(q); /* FIRES division-by-zero/result */
}

static double quiet_division_by_zero_result(const queue *q, double sum)
{
    if (queue_ready(q) == 0)
        return 0;
    return sum / queue_ready(q);
}

static int step_of(int mode)
{
    int step;
    if (mode == 1)
        step = 4;
    move_by(mode, step); /* FIRES uninitialized-variable/branch-argument */
    return 0;
}

static void move_far(int mode)
{
    int distance;
    move_by(mode, distance + 1); /* FIRES uninitialized-variable/read */
}

static int last_state(struct queue *q)
{
    int state;
    notify(q);
    return state; /* FIRES uninitialized-variable/returned */
}

static void wait_for(struct queue *q)
{
    int is_ready;
    if (is_ready) /* FIRES uninitialized-variable/tested */
        notify(q);
}

static int label_size(int mode)
{
    int size;
    if (mode == 1)
        size = 4;
    return size; /* FIRES uninitialized-variable/branch-returned */
}

static int sum_of_steps(int mode)
{
    int step;
    if (mode == 1)
        step = 4;
    return mode + step; /* FIRES uninitialized-variable/branch-read */
}

static void hand_on(int mode)
{
    int step;
    while (mode > 0) {
        if (mode == 1)
            step = 4;
        else if (mode == 2)
            step = 8;
        mode = next_mode(mode, step); /* FIRES uninitialized-variable/argument */
    }
}

static int port_of(const char *text)
{
    int high, low;
    sscanf(text, "%d.%d", &high, &low); /* FIRES unchecked-return/not-scanned */
    move_by(1, high); /* FIRES uninitialized-variable/read-in */
    return low + 1; /* FIRES uninitialized-variable/read-in-used */
}

static int quiet_uninitialized_variable(struct queue *q)
{
    int state, seen = 0;
    if (get_state(q, &state))
        return state + seen;
    return -1;
}

/* ---- order ---- */

static void draw_box(int width, int height) { draw_lines(height, width, 2); }

static void draw_frame(int width, int height)
{
    draw_box(height, width); /* FIRES swapped-arguments/both */
}

static void reset(struct queue *q)
{
    memset(q, sizeof(*q), 0); /* FIRES missing-null-check/argument swapped-arguments/fill */
}

static void draw_wide(int height, int limit)
{
    draw_box(height, limit); /* FIRES swapped-arguments/names */
}

static void quiet_swapped_arguments(struct queue *q, int width, int height)
{
    memset(q, 0, sizeof(*q)); /* FIRES missing-null-check/argument */
    draw_box(width, height);
}

static void copy_box(struct point *dst, const struct point *src)
{
    if (!dst || !src)
        return;
    dst->left = src->left;
    dst->right = src->left; /* FIRES copied-block/stayed */
}

static void reset_box(struct point *dst, int left)
{
    dst->left = left; /* FIRES missing-null-check/parameter */
    dst->top = left; /* FIRES copied-block/name */
}

static void quiet_copied_block(struct point *dst, const struct point *src)
{
    if (!dst || !src)
        return;
    dst->left = src->left;
    dst->right = src->right;
}

static int remove_stale(void)
{
    const char *path = stale_path(); /* FIRES resource-leak/any */
    if (access(path, F_OK) != 0)
        return -1;
    return unlink(path); /* FIRES check-use-race/path */
}

static FILE *open_plain_file(void)
{
    struct stat st;
    if (stat(live_file, &st) != 0)
        return NULL;
    return fopen(live_file, "r"); /* FIRES check-use-race/state */
}

static int put_in_place(void)
{
    if (unlink(live_file) != 0) /* FIRES check-use-race/replaced */
        return -1;
    return rename(fresh_file, live_file);
}

/* Only where the first rename failed, which does not replace a file on some systems. */
static int quiet_check_use_race_second(void)
{
    if (rename(fresh_file, live_file) < 0) {
        (void)unlink(live_file);
        return rename(fresh_file, live_file);
    }
    return 0;
}

static int quiet_check_use_race(void)
{
    const char *path = stale_path(); /* FIRES resource-leak/any */
    if (unlink(path) != 0 && errno != ENOENT)
        return -1;
    return 0;
}

static int take_slot(struct queue *q, int id)
{
    pthread_mutex_lock(&q->mutex); /* FIRES missing-null-check/parameter missing-unlock/one-way */
    if (!has_slot(q, id))
        return -1;
    use_slot(q, id);
    pthread_mutex_unlock(&q->mutex);
    return 0;
}

static void take_all(struct queue *q)
{
    pthread_mutex_lock(&q->mutex); /* FIRES missing-unlock/path missing-null-check/parameter */
    use_slots(q);
}

static void drop_slot(struct queue *q, int id)
{
    pthread_mutex_lock(&q->mutex); /* FIRES missing-null-check/parameter */
    use_slot(q, id);
    pthread_mutex_lock(&q->mutex); /* FIRES missing-unlock/twice */
    pthread_mutex_unlock(&q->mutex);
}

static int quiet_missing_unlock(struct queue *q, int id)
{
    int rc = -1;
    pthread_mutex_lock(&q->mutex); /* FIRES missing-null-check/parameter */
    if (id < 64)
        rc = use_slot(q, id);
    pthread_mutex_unlock(&q->mutex);
    return rc;
}

/* ---- results ---- */

static void save(FILE *out, const unsigned char *bytes)
{
    fwrite(bytes, 1, 512, out); /* FIRES missing-null-check/argument unchecked-return/data-lost */
}

static int sync_first(struct queue *q)
{
    if (sync_queue(q) != 0)
        return -1;
    return 0;
}

static int sync_second(struct queue *q)
{
    if (sync_queue(q) != 0)
        return -2;
    return 0;
}

static void sync_third(struct queue *q)
{
    sync_queue(q); /* FIRES unchecked-return/elsewhere */
}

static int end_of(FILE *in)
{
    int at = fseek(in, 0, SEEK_END); /* FIRES unchecked-return/not-tested-number */
    return use_end(at);
}

static int quiet_unchecked_return(FILE *out, const unsigned char *bytes)
{
    if (fwrite(bytes, 1, 512, out) != 512) /* FIRES missing-null-check/argument */
        return -1;
    return 0;
}

static int area_of(int width, int height)
{
    int area = width * height; /* FIRES integer-overflow/product */
    return area;
}

static int first_word(const char *text)
{
    int n = 0;
    text++;
    while (*text != ' ') /* FIRES missing-bounds-check/walk */
        n++;
    return n;
}

static int head_weight(struct queue *q)
{
    struct node *head = head_of(q);
    return head->weight; /* FIRES missing-null-check/result-of-any */
}

static void read_banner(int from)
{
    char banner[64];
    ssize_t got = read(from, banner, sizeof(banner)); /* FIRES off-by-one/full-read */
    if (got > 0)
        show_line(NULL, banner);
}

static int print_address(const char *host)
{
    struct addrinfo *list;
    if (getaddrinfo(host, "80", NULL, &list) != 0) /* FIRES resource-leak/out */
        return -1;
    if (is_local(host))
        return 1;
    freeaddrinfo(list);
    return 0;
}

static void show_address(const char *host)
{
    struct addrinfo *list;
    if (getaddrinfo(host, "80", NULL, &list) == 0) /* FIRES resource-leak/out-end */
        show_first(list);
}

static int use_node(struct queue *q, int id)
{
    struct node *item = borrow_node(q, id); /* FIRES resource-leak/path */
    if (item == NULL)
        return -1;
    if (id > 64)
        return -1;
    release_node(item);
    return 0;
}

static int grow(struct node *item, size_t room)
{
    item->name = realloc(item->name, room); /* FIRES missing-null-check/parameter resource-leak/replaced */
    return item->name ? 0 : -1;
}

static void prepare(struct queue *q)
{
    queue_setup_slots(q); /* FIRES unchecked-return/can-fail */
    notify(q);
}

static void wake(struct queue *q)
{
    int state = wake_workers(q); /* FIRES unchecked-return/forgotten */
    notify(q);
}

/* ---- secrets ---- */

static const char *api_token(void)
{
    const char *token = "9f8b2c71de"; /* FIRES hardcoded-secret/assigned */
    return token;
}

static const char *quiet_hardcoded_secret(void)
{
    const char *token = getenv("API_TOKEN");
    return token;
}

static const struct account guest = {
    .name = "guest",
    .password = "hunter2-9f8b", /* FIRES hardcoded-secret/member */
};

static struct account quiet_hardcoded_secret_member(const char *given)
{
    return (struct account){.name = "guest", .password = given, .token_file = "tokens-9f8b"};
}

static void sign(const unsigned char *text, size_t n, unsigned char *digest)
{
    MD5(text, n, digest); /* FIRES weak-hash/call */
}

static void quiet_weak_hash(const unsigned char *text, size_t n, unsigned char *digest) { SHA256(text, n, digest); }

/* A label that a goto comes to only from before the release. */
static char *quiet_double_free_label(size_t n)
{
    char *text = malloc(n);
    if (!text)
        goto error;
    if (!fill_text(text, n))
        goto error;
    free(text);
    return duplicate_of(n);
error:
    free(text);
    return NULL;
}

/* ---- what is left behind, and borders ---- */

static void forget_label(struct node *item)
{
    if (item)
        free(item->label); /* FIRES double-free/dangling */
}

static void quiet_double_free_cleared(struct node *item)
{
    if (!item)
        return;
    free(item->label);
    item->label = NULL;
}

static int last_weight(struct node *list)
{
    if (!list)
        return 0;
    node_unref(list);
    return list->weight; /* FIRES use-after-free/released */
}

static int quiet_use_after_free_unref(struct node *list)
{
    if (!list)
        return 0;
    const int weight = list->weight;
    node_unref(list);
    return weight;
}

static int version_of(const unsigned char *packet, size_t n)
{
    return n ? packet[2] : -1; /* FIRES missing-bounds-check/fixed-index missing-null-check/parameter */
}

static int quiet_missing_bounds_check_fixed(const unsigned char *packet, size_t n)
{
    if (n < 4 || !packet)
        return -1;
    return packet[2];
}

static int has_room(size_t used, size_t more, size_t room)
{
    if (used + more >= room) /* FIRES off-by-one/sum-compared */
        return 0;
    return 1;
}

static int fits(int index, const struct table *rows)
{
    if (!rows)
        return 0;
    if (index <= rows->count) /* FIRES off-by-one/at-most-size */
        return 1;
    return 0;
}

static int quiet_off_by_one_border(int index, int limit)
{
    if (index < limit)
        return 1;
    return 0;
}

static int first_number(const char *text)
{
    int number;
    if (!text)
        return 0;
    read_number(text, &number);
    if (number > 7) /* FIRES uninitialized-variable/out-used */
        return 7;
    return 1;
}

static int quiet_uninitialized_variable_number(const char *text)
{
    int number = 0;
    if (!text)
        return 0;
    read_number(text, &number);
    if (number > 7)
        return 7;
    return 1;
}

static void show_number(const char *text)
{
    int number;
    if (!text)
        return;
    read_number(text, &number);
    print_number(number); /* FIRES uninitialized-variable/out */
}

static int is_heavy(const struct node *item)
{
    if (item == NULL && item->weight > 3) /* FIRES inverted-condition/absent-used */
        return 1;
    return 0;
}

static int quiet_inverted_condition_chain(const struct node *item)
{
    if (item == NULL || item->weight > 3)
        return 1;
    return 0;
}

/* What a loop does between its rounds is only done where its condition held. */
static const char *quiet_missing_null_check_next(int weight)
{
    const struct node *at;
    for (at = node_next(weight); at != NULL; at = at->next)
        if (at->weight == weight)
            return at->name;
    return NULL;
}

/* What is kept in a variable of the file outlives the function. */
static int quiet_resource_leak_kept(const char *title)
{
    last_title = copy_text(title);
    if (strcmp(title, "none") == 0) /* FIRES missing-null-check/argument */
        return 0;
    return count_words(last_title);
}

/* A question about an item says nothing of whether it is there. */
static int quiet_inverted_condition_question(struct node *item)
{
    if (!item_requires_work(item))
        return 0;
    return item->weight;
}

/* What is not below two is not zero. */
static int quiet_division_by_zero_least(int sum, int n)
{
    if (n < 2)
        return 0;
    return sum / n;
}

/* A loop of a macro gives its variable a value. */
static int quiet_uninitialized_variable_loop(struct queue *all)
{
    struct node *at;
    int n = 0;
    foreach(at, all)
    {
        n += weigh(at);
    }
    return n;
}

/* Another address than this one is no question about whether there is one. */
static int quiet_missing_null_check_same(struct node *first)
{
    if (!first)
        return 0;
    struct node *at = first->child;
    if (!at)
        return 0;
    while (at->next)
        at = at->next;
    if (at == first)
        show_line(at, "first");
    return at->weight;
}

/* What points into its argument is nobody's to release. */
static int quiet_resource_leak_inside(const char *title)
{
    char *mark = mbstrpbrk(title, "?!");
    if (!mark)
        return 0;
    return count_marks(mark[0]);
}

/* Where there is nothing, nothing is left open. */
static int quiet_resource_leak_nothing(const char *path)
{
    FILE *dir = fopen(path, "r"); /* FIRES path-traversal/joined */
    if (dir) {
        fclose(dir);
        return 1;
    }
    if (*path == '/') /* FIRES missing-null-check/parameter */
        return 2;
    return 0;
}

static int quiet_resource_leak_other(const char *path)
{
    FILE *out = fopen(path, "w"); /* FIRES path-traversal/joined */
    if (out)
        fclose(out);
    else
        return 1;
    return 0;
}

/* A call that failed has written nothing. */
static int quiet_resource_leak_failed(struct queue *all)
{
    char *text = NULL;
    if (packet_read(all, &text))
        return -1;
    int n = count_words(text);
    free(text);
    return n;
}

/* What a number keeps is no memory, and what a list has is its own. */
static int quiet_resource_leak_number(struct queue *all, const char *title)
{
    int code = load_titles(all, title);
    if (code == 0)
        return -1;
    struct node *item = calloc(1, sizeof(*item));
    if (!item)
        return -1;
    DL_APPEND(all->head, item); /* FIRES unchecked-return/can-fail missing-null-check/parameter */
    return code;
}

/* An address gets another value there. */
static void quiet_use_after_free_again(struct node *item)
{
    free(item->name); /* FIRES missing-null-check/parameter */
    read_name(&item->name);
}

/* What is done before its condition gives it a value. */
static int quiet_uninitialized_variable_again(struct queue *all)
{
    int n;
    do {
        n = weigh(all);
    } while (n > 100);
    return n;
}

static void rename_box(struct box *box, const char *title)
{
    box->title = strdup(title); /* FIRES unchecked-return/kept-copy-read missing-null-check/argument missing-null-check/parameter */
}

/* A static variable outlives the function. */
static int quiet_resource_leak_static(const char *title)
{
    static char *kept = NULL;
    if (!kept)
        kept = malloc(64); /* FIRES unchecked-return/kept-null */
    if (strcmp(title, "none") == 0) /* FIRES missing-null-check/argument */
        return 0;
    return count_words(kept);
}

/* What is found belongs to a table, and the code of an error is no socket. */
static int quiet_resource_leak_found(int id)
{
    const struct node *coder = decoder_find(id);
    if (!coder)
        return -1;
    if (coder->weight == 0)
        return 1;
    const int code = socket_get_error();
    if (code == 4)
        return 2;
    return coder->weight;
}

/* Memory goes back to its allocator, which stays. */
static void quiet_use_after_free_allocator(struct node *item, struct queue *allocator)
{
    free_node(item, allocator);
    use_more(allocator);
}

/* ---- formats handed on, commands, secrets ---- */

static void log_first(va_list ap)
{
    vprintf(format_of(), ap); /* FIRES format-string/forwarded */
}

static void log_second(FILE *out, va_list ap)
{
    vfprintf(out, format_of(), ap); /* FIRES format-string/forwarded */
}

static void log_third(char *dst, va_list ap)
{
    vsnprintf(dst, 32, format_of(), ap); /* FIRES format-string/forwarded */
}

static void quiet_format_string_forwarded(FILE *out, const char *format, va_list ap)
{
    vfprintf(out, format, ap);
    fprintf(out, /* one line */ "%s\n", ""); /* FIRES missing-null-check/argument */
    printf(ap ? "%d" : "%u", 1);
}

static void run_line(const char *line)
{
    execl("/bin/sh", "sh", "-c", line, NULL); /* FIRES shell-injection/shell */
}

static const char *plain_password(void)
{
    const char *password = "opensesame"; /* FIRES hardcoded-secret/plain */
    return password;
}

static struct account plain_guest(void)
{
    return (struct account){
        .name = "guest",
        .password = "opensesame", /* FIRES hardcoded-secret/plain-member */
    };
}

static int quiet_weak_hash_for_server(const struct guest *guest, char *request, size_t room)
{
    unsigned char digest[16];
    MD5(guest->password, 8, digest); /* FIRES missing-null-check/parameter */
    return line_printf(request, room, "%s", digest);
}

static void keep_password(const unsigned char *password, size_t n, unsigned char *digest)
{
    MD5(password, n, digest); /* FIRES weak-hash/password */
}

static void mark_of(const unsigned char *secret, size_t n, unsigned char *digest)
{
    SHA1(secret, n, digest); /* FIRES weak-hash/secret */
}

static int new_token(void)
{
    return rand(); /* FIRES weak-hash/guessed */
}

static int quiet_weak_hash_etag(const unsigned char *etag, size_t n, unsigned char *digest)
{
    MD5(etag, n, digest);
    return rand();
}

/* ---- values that are there, or seem to be ---- */

static int first_weight(int weight)
{
    struct node *item = calloc(1, sizeof(*item)); /* FIRES unchecked-return/taken */
    item->weight = weight; /* FIRES missing-null-check/allocated */
    item->next = NULL;
    return put_item(item);
}

/* A macro, a hint to the compiler and an assertion test it. */
static int quiet_missing_null_check_tests(struct table *all, const char *name)
{
    struct node *first, *second = table_find(all, name), *third = table_find(all, name);
    OR_LEAVE(first = table_find(all, name));
    if (unlikely(!second))
        return -1;
    BUG_ON(!third);
    first->weight = second->weight = third->weight = 1;
    return 0;
}

static int weight_in(struct table *all, const char *name)
{
    struct node *item = table_find(all, name);
    return item->weight; /* FIRES missing-null-check/result */
}

static size_t length_in(struct table *all, int id)
{
    char *name = table_find_name(all, id);
    return strlen(name); /* FIRES missing-null-check/result-argument */
}

static int weight_if(struct node *item, int is_deep)
{
    int weight = 0;
    if (is_deep)
        weight = item->weight; /* FIRES missing-null-check/later */
    if (item == NULL)
        return 0;
    return weight;
}

static void drop_rights(int uid)
{
    setuid(uid); /* FIRES unchecked-return/rights-kept */
}

static void start(pthread_t *thread)
{
    pthread_create(thread, NULL, run, NULL); /* FIRES unchecked-return/not-started */
}

static int read_port(const char *text)
{
    int port;
    sscanf(text, "%d", &port); /* FIRES unchecked-return/not-scanned */
    return port;
}

static void end_line(int socket, const char *line, size_t n)
{
    write(socket, line, n); /* FIRES unchecked-return/data-lost */
}

static void close_door(struct door *d)
{
    door_set(d, 0); /* FIRES unchecked-return/dropped */
}

static void quiet_unchecked_return_waived(int uid) { (void)setuid(uid); }

static int weight_of_all(struct table *all)
{
    int weight = 0;
    struct node *a = peer(all, 1); /* FIRES resource-leak/any */
    if (a)
        weight += a->weight;
    struct node *b = peer(all, 2);
    if (b)
        weight += b->weight;
    struct node *c = peer(all, 3);
    if (c)
        weight += c->weight;
    struct node *d = peer(all, 4);
    if (d != NULL)
        weight += d->weight;
    struct node *e = peer(all, 5);
    return weight + e->weight; /* FIRES missing-null-check/looked-up */
}

/* Texts of any length into arrays of fixed size. */
static void write_badge(const char *owner)
{
    char badge[24];
    strcpy(badge, owner); /* FIRES missing-bounds-check/copy-fixed missing-null-check/argument */
    show(badge);
}

static void quiet_missing_bounds_check_badge(const char *owner)
{
    char badge[24];
    if (strlen(owner) < sizeof(badge)) /* FIRES missing-null-check/argument */
        show(owner);
}

static void write_label(const char *owner)
{
    char label[40];
    sprintf(label, "owner %s", owner); /* FIRES missing-bounds-check/print-fixed */
    show(label);
}

static void read_answer(char answer[80])
{
    gets(answer); /* FIRES missing-bounds-check/line */
}

static void take_frame(const char *from, int n)
{
    char frame[64];
    memcpy(frame, from, n); /* FIRES missing-bounds-check/copy-size-fixed missing-null-check/argument */
    show(frame);
}

static void quiet_missing_bounds_check_frame(const char *from, size_t n)
{
    char frame[64];
    if (n < sizeof(frame))
        memcpy(frame, from, n); /* FIRES missing-null-check/argument */
    show(frame);
}

/* What gives -1, or more than there is room for. */
static void end_link(const char *from)
{
    char link[200];
    ssize_t n = readlink(from, link, sizeof(link) - 1); /* FIRES missing-bounds-check/read-spent */
    link[n] = 0;
    show(link);
}

static void quiet_missing_bounds_check_link(const char *from)
{
    char link[200];
    ssize_t n = readlink(from, link, sizeof(link) - 1);
    if (n < 0)
        return;
    link[n] = 0;
    show(link);
}

static void send_notice(int to, va_list who)
{
    char notice[100];
    int n = vsnprintf(notice, sizeof(notice), "notice for %s", who); /* FIRES missing-bounds-check/print-spent */
    copy_notice(to, notice, n);
}

static void send_path(va_list word, int n_word)
{
    char path[100];
    int used = 0;
    for (int i = 0; i < n_word; i++)
        used += vsnprintf(path + used, sizeof(path) - used, "/%s", /* FIRES missing-bounds-check/print-added-fixed */
                          word);
    show(path);
}

static int print_days(char *dst, size_t size, va_list days)
{
    int used = 0;
    used += vsnprintf(dst + used, size - used, "%u days", days); /* FIRES missing-bounds-check/print-added */
    return used;
}

/* Indexes that others choose. */
static int read_slot(const char *text)
{
    static const int slots[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int at = atoi(text); /* FIRES missing-null-check/argument */
    return slots[at]; /* FIRES missing-bounds-check/index-input */
}

static int quiet_missing_bounds_check_slot(const char *text)
{
    static const int slots[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int at = atoi(text); /* FIRES missing-null-check/argument */
    return at >= 0 && at < 8 ? slots[at] : 0;
}

static int days_of(int month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month]; /* FIRES missing-bounds-check/index-fixed */
}

static void read_code(const char *text)
{
    char code[16];
    int n = 0;
    while (*text && *text != ' ') /* FIRES missing-null-check/parameter */
        code[n++] = *text++; /* FIRES missing-bounds-check/index-loop-fixed */
    show(code);
}

static int sum_marks(void)
{
    int marks[10] = {0}, sum = 0;
    for (size_t i = 0; i <= sizeof(marks) / sizeof(marks[0]); i++) /* FIRES off-by-one/behind */
        sum += marks[i];
    return sum;
}

static int quiet_off_by_one_own(void)
{
    int marks[10] = {0}, sum = 0;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        sum += marks[i];
    return sum;
}

static void read_reply(int from)
{
    char reply[256];
    ssize_t n = recv(from, reply, sizeof(reply), 0); /* FIRES off-by-one/full-read-end */
    if (n < 0)
        return;
    reply[n] = 0;
    show(reply);
}

static long read_total(int from)
{
    char total[20];
    if (recv(from, total, sizeof(total), 0) <= 0) /* FIRES off-by-one/full-read-text */
        return 0;
    return strtol(total, NULL, 10);
}

static void quiet_off_by_one_reply(int from)
{
    char reply[256];
    ssize_t n = recv(from, reply, sizeof(reply) - 1, 0);
    if (n < 0)
        return;
    reply[n] = 0;
    show(reply);
}

static void *take_rows(const char *text)
{
    size_t n = strtoul(text, NULL, 10);
    return malloc(n * sizeof(long)); /* FIRES integer-overflow/size-input */
}

static void *take_widened(const char *text)
{
    int n = atoi(text); /* FIRES missing-null-check/argument */
    return malloc(sizeof(long) * n); /* FIRES integer-overflow/size */
}

static void *take_tiles(size_t across, size_t down)
{
    return malloc(across * down); /* FIRES integer-overflow/size-factors */
}

static void *quiet_integer_overflow_tiles(size_t across, size_t down)
{
    if (across > 1000 || down > 1000)
        return NULL;
    return malloc(across * down);
}

static void pass_on(int from, int to, char *room)
{
    size_t got = recv(from, room, 64, 0); /* FIRES missing-bounds-check/read-spent sign-mixing/result-spent unchecked-return/not-tested-number */
    copy_notice(to, room, got);
}

static void copy_title(notes *p, const char *title)
{
    strcpy(p->title, title); /* FIRES missing-bounds-check/copy missing-null-check/argument missing-null-check/parameter */
}

static void *take_more(const rows *r, int more)
{
    return malloc((r->count + more) * sizeof(long)); /* FIRES integer-overflow/size missing-null-check/parameter */
}

static int width_of(int width, const char *text)
{
    return width / strlen(text); /* FIRES division-by-zero/count missing-null-check/argument */
}

static int mark_at(size_t at)
{
    int marks[10] = {0};
    if (at > sizeof(marks) / sizeof(marks[0])) /* FIRES off-by-one/more-own */
        return 0;
    return marks[at];
}

static void join_names(const char *first, size_t at)
{
    char both[32] = "";
    memcpy(both + at, first, strlen(first) + 1); /* FIRES integer-overflow/size missing-bounds-check/copy-whole-fixed missing-null-check/argument */
    show(both);
}

/* An array of the length that a caller gives is none of fixed size. */
static void copy_into_room(const char *name, size_t n)
{
    char room[n];
    strcpy(room, name); /* FIRES missing-bounds-check/copy missing-null-check/argument */
    use(room);
}

/* A macro that makes a loop of the block behind it is what continue goes on with. */
static int quiet_missing_unlock_macro(int n)
{
    while (n-- > 0) {
        pthread_mutex_lock(&guard);
        LIST_FOREACH(at, &all_items, next) {
            if (is_busy(at))
                continue;
            take(at);
        }
        pthread_mutex_unlock(&guard);
    }
    return 0;
}

/* The value is only handed back, and perhaps logged: who gets it asks. */
static char *quiet_unchecked_return_handed_back(const struct box *box)
{
    char *title = strdup(box->title); /* FIRES missing-null-check/parameter */
    log_debug("copied %s", title);
    return title;
}

static char *quiet_unchecked_return_moved(const struct box *box)
{
    char *title = strdup(box->title); /* FIRES missing-null-check/parameter */
    return move_ptr(title);
}

/* The end of a number says whether it was one, and so does errno. */
static int quiet_unchecked_return_number(const char *text)
{
    char *end;
    long port, weight;
    errno = 0;
    port = strtol(text, NULL, 10); /* FIRES missing-null-check/argument */
    if (errno)
        return 0;
    weight = strtol(text, &end, 10);
    if (*end != '\0')
        return 0;
    return use_both(port, weight);
}

static long number_of(const char *text)
{
    long port = strtol(text, NULL, 10); /* FIRES unchecked-return/number-of-text missing-null-check/argument */
    return use_long(port);
}

/* A switch with a case for the failure is a test. */
static void quiet_unchecked_return_switch(struct child *child)
{
    child->pid = fork(); /* FIRES missing-null-check/parameter */
    switch (child->pid) {
    case -1: give_up(); break;
    case 0: run_child(); break;
    default: show_number(child->pid);
    }
}

static void begin_child(void)
{
    int pid = fork(); /* FIRES unchecked-return/not-tested */
    show_number(pid);
}

/* A sentinel that stays where nothing is found, and fields that were wiped and are asked for. */
static int quiet_unchecked_return_preset(const char *text)
{
    int core = -1;
    struct tm when;
    sscanf(text, "core %d", &core);
    memset(&when, 0, sizeof(when));
    sscanf(text, "%4d%2d", &when.tm_year, &when.tm_mon);
    if (when.tm_year <= 0)
        return -1;
    return core;
}

/* What is said to be unused, or thrown away in a line of its own. */
static void quiet_unchecked_return_unused(int socket, const char *line, size_t n)
{
    __attribute__((unused)) ssize_t done = write(socket, line, n);
    ssize_t again = write(socket, line, n);
    (void)again;
}

/* The groups were dropped before, and rights are gained. */
static int quiet_unchecked_return_groups(const char *user, gid_t gid)
{
    if (setgroups(1, &gid) != 0)
        return -1;
    initgroups(user, gid);
    seteuid((uid_t)0);
    return 0;
}

static int drop_to(const char *user, gid_t gid)
{
    initgroups(user, gid); /* FIRES unchecked-return/rights-kept */
    return 0;
}

/* Who reads the member asks whether it is there, and takes a copy that failed for one that was never wanted. */
static void keep_subject(struct letter *letter, const char *text) /* what a letter is about */
{
    letter->subject = strdup(text); /* FIRES unchecked-return/copy-given missing-null-check/argument missing-null-check/parameter */
}

static void send_letter(const struct letter *letter)
{
    if (letter->subject) /* FIRES missing-null-check/parameter */
        send_line(letter->subject);
}

/* What was given grows, a size of memory that is tested, and what goes where NULL may go. */
static int quiet_unchecked_return_settled(struct list *list, EVP_MD_CTX *ctx, const char *text)
{
    int size = EVP_MD_CTX_size(ctx);
    list = list_append(list, text);
    unsigned char *hash = malloc(size); /* FIRES resource-leak/lost */
    if (!hash)
        return -1;
    return show_size(list, text);
}

static void quiet_unchecked_return_given(int number)
{
    char *name = strdup(name_of(number));
    free_name(name);
}

/* The same descriptor under the name that poll looks at, which leaves out those below zero. */
static int quiet_unchecked_return_polled(SSL *ssl)
{
    struct pollfd wait;
    wait.fd = SSL_get_fd(ssl);
    wait.events = POLLIN;
    return poll(&wait, 1, 1000) > 0;
}

/* Memory for what the program was started with, and code that only its developers build. */
static int quiet_missing_null_check_start(int argc)
{
    char **names = malloc(argc * sizeof(*names)); /* FIRES integer-overflow/size */
    names[0] = NULL;
    return run_all(names);
}

#ifdef TEST_PROGRAM_NAMES
static int quiet_missing_null_check_developers(int number)
{
    char *copy = strdup(name_of(number));
    return (int)strlen(copy);
}
#else
static int length_of_copy(int number)
{
    char *copy = strdup(name_of(number)); /* FIRES unchecked-return/taken */
    return (int)strlen(copy); /* FIRES missing-null-check/allocated-argument */
}
#endif

/* Every call gives an address, so that the test is only too much. */
static int strip_begin(char **begin);
static int strip_begin(char **begin)
{
    char *at = *begin;
    if (begin == NULL)
        return 0;
    return *at == ' ';
}

static int quiet_missing_null_check_address(char *text)
{
    return strip_begin(&text);
}

/* One call gives what it was given itself. */
static int strip_end(char **end)
{
    char *at = *end; /* FIRES missing-null-check/used-first */
    if (end == NULL)
        return 0;
    return *at == ' ';
}

static int strip_both(char **text, char *other)
{
    return strip_end(text) + strip_end(&other);
}

/* The call is what a switch decides on, which has a case for its failure. */
static void quiet_unchecked_return_operand(void)
{
    int pid;
    switch (pid = fork()) {
    case -1: give_up(); break;
    case 0: run_child(); break;
    default: show_number(pid);
    }
}

/* These do not fail, or fail only for what is no descriptor. */
static void quiet_unchecked_return_never(int socket)
{
    guint timer = g_timeout_add(100, on_time, NULL);
    const EVP_MD *kind = EVP_sha256(); /* FIRES resource-leak/any */
    int flags = fcntl(socket, F_GETFL);
    show_all(timer, kind);
    fcntl(socket, F_SETFL, flags | O_NONBLOCK);
}

static void quiet_unchecked_return_root(void) { chdir("/"); }

static int enter_jail(const char *path)
{
    if (chroot(path) != 0)
        return -1;
    chdir("/"); /* FIRES unchecked-return/not-started */
    return 0;
}

/* What a scan does not find keeps what it has in all other cases. */
static void quiet_unchecked_return_cases(struct voice *voice, const char *text, int key)
{
    char gender[20];
    int age = 0;
    gender[0] = '\0';
    switch (key) {
    case 1: sscanf(text, "%19s %d", gender, &age); break;
    case 2: sscanf(text, "%d", &voice->style.pitch); break; /* FIRES missing-null-check/parameter */
    }
    show_voice(voice, gender, age);
}

static void scan_gender(struct voice *voice, const char *text, int key)
{
    switch (key) {
    case 1: {
        char gender[20];
        int age = 0;
        sscanf(text, "%19s %d", gender, &age); /* FIRES unchecked-return/not-scanned */
        show_voice(voice, gender, age);
    }
    }
}

/* A function and a macro of the file ask for it before anything else is done. */
static void begin_list(struct list *list, int size)
{
    if (list)
        list->size = size;
}

static struct list *quiet_unchecked_return_asks(int size)
{
    struct list *list = malloc(sizeof(*list));
    begin_list(list, size);
    return list;
}

#define PUT_ON()              \
    do {                      \
        if (put >= left)      \
            put = left - 1;   \
        at += put;            \
        left -= put;          \
    } while (0)

static void quiet_unchecked_return_macro(char *at, size_t left, const char *name)
{
    size_t put = name_write(at, left, name);
    PUT_ON();
    show_text(at, left);
}

/* It is only counted, and asked for behind that, or by the loop. */
static void quiet_unchecked_return_counted(struct cell *cell, int needed, int part)
{
    while (needed != 0) {
        int size = cell_grow(cell, needed);
        needed -= size;
        if (size == 0)
            break;
        part += cell_add(cell, size);
    }
    show_number(part);
}

/* The bytes are for nobody: it is a wait. */
static void quiet_unchecked_return_wait(int socket)
{
    char byte;
    int n = read(socket, &byte, 1);
    close(socket);
}

static int first_of(int socket)
{
    char byte = 0;
    int n = read(socket, &byte, 1); /* FIRES unchecked-return/not-tested-number */
    close(socket);
    return byte;
}

/* ---- passwords that are there for a while ---- */

static struct account first_account(int n_account)
{
    if (n_account == 0)
        return (struct account){
            .name = "owner",
            .password = "opensesame", /* FIRES hardcoded-secret/first-member */
        };
    return all_accounts[0];
}

static struct account quiet_hardcoded_secret_asked(int n_account, const char *password)
{
    if (n_account == 0)
        return (struct account){.name = "owner", .password = password};
    return all_accounts[0];
}

static int quiet_weak_hash_session_count(void)
{
    return rand() % 10;
}
