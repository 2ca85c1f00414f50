/* input.cpp - sizes that others choose, ends of arrays and texts, values that a loop may not give, and code beside it that
 * is right. The marks are those of test_examples.c. */
#include "shop.h"

/* ---- texts of any length ---- */

int read_owner(const char *line)
{
    char owner[32];
    if (sscanf(line, "owner=%s", owner) != 1) /* FIRES missing-bounds-check/scan-fixed */
        return -1;
    return show(owner);
}

int quiet_missing_bounds_check_owner(FILE *in)
{
    char line[64], owner[64], kind[16];
    int n;
    if (!fgets(line, sizeof(line), in))
        return -1;
    if (sscanf(line, "%s %15s %d", owner, kind, &n) != 3) /* a word of a line is not longer than the line */
        return -1;
    if (fscanf(in, "%*s %15[a-z]", kind) != 1)
        return -1;
    return show(owner) + show(kind) + n;
}

/* ---- numbers out of bytes ---- */

void take_body(const uint8_t *packet)
{
    char body[128];
    unsigned n = (unsigned)(packet[0] << 8 | packet[1]); /* FIRES missing-null-check/parameter integer-overflow/product missing-bounds-check/fixed-index */
    memcpy(body, packet + 2, n); /* FIRES missing-bounds-check/bytes-fixed integer-overflow/size */
    show(body);
}

int read_body(int from)
{
    char body[128];
    uint32_t n = read_be32(from);
    if (recv(from, body, n, 0) <= 0) /* FIRES missing-bounds-check/bytes-fixed */
        return -1;
    return show(body);
}

void take_short_body(const uint8_t *packet, size_t size)
{
    char body[128], all[256];
    if (size < 2)
        return;
    unsigned n = (unsigned)(packet[0] << 8 | packet[1]); /* FIRES missing-null-check/parameter integer-overflow/product missing-bounds-check/fixed-index */
    unsigned m = packet[1];
    if (n > sizeof(body)) /* FIRES off-by-one/more-size */
        return;
    memcpy(body, packet + 2, n); /* FIRES integer-overflow/size */
    memcpy(all, next_part(), m); /* FIRES missing-bounds-check/copy-size */
    show(body);
    show(all);
}

void keep_name(struct account *who, const uint8_t *packet)
{
    unsigned n = packet[3]; /* FIRES missing-null-check/parameter missing-bounds-check/fixed-index */
    memcpy(who->name, packet + 4, n); /* FIRES missing-bounds-check/bytes-own integer-overflow/size missing-null-check/argument */
}

void take_options(const uint8_t *packet, size_t size, struct account *who)
{
    size_t at = 0;
    while (at + 2 < size) {
        const uint8_t kind = packet[at++]; /* FIRES missing-null-check/parameter */
        const uint8_t len = packet[at++];
        if (kind == 12)
            set_owner(who, packet + at, len); /* FIRES missing-bounds-check/bytes-handed */
        at += len;
    }
}

void quiet_missing_bounds_check_options(const uint8_t *packet, size_t size, struct account *who)
{
    size_t at = 0;
    while (at + 2 < size) {
        const uint8_t kind = packet[at++]; /* FIRES missing-null-check/parameter */
        const uint8_t len = packet[at++];
        if (len > size - at)
            return;
        if (kind == 12)
            set_owner(who, packet + at, len);
        if (kind == 13)
            memcpy(who->name, packet + at, len); /* FIRES integer-overflow/size missing-null-check/argument */
        at += len;
    }
}

int price_of_code(const uint8_t *packet)
{
    int prices[100];
    fill_prices(prices);
    unsigned code = read_le16(packet);
    return prices[code]; /* FIRES missing-bounds-check/bytes-index */
}

int price_of_known(const uint8_t *packet)
{
    int prices[256], few[8];
    fill_prices(prices);
    fill_prices(few);
    unsigned code = packet[2], kind = read_le16(packet); /* FIRES missing-null-check/parameter missing-bounds-check/fixed-index */
    return kind < 8 ? few[kind] : prices[code]; /* FIRES missing-bounds-check/index */
}

/* ---- behind the end, before the begin ---- */

void end_title(const char *title)
{
    char line[40];
    copy_title(line, title, sizeof(line));
    line[sizeof(line)] = '\0'; /* FIRES missing-bounds-check/behind-own */
    show(line);
}

char *copy_of(const char *text, size_t n)
{
    char *copy = (char *)malloc(n);
    if (!copy)
        return NULL;
    copy_title(copy, text, n);
    copy[n] = '\0'; /* FIRES missing-bounds-check/behind-own */
    return copy;
}

void cut_line(char *line)
{
    line[strlen(line) - 1] = '\0'; /* FIRES missing-bounds-check/before-first missing-null-check/parameter */
}

char *end_inside(char *line, const char *text, size_t n)
{
    char whole[40];
    const char *const end = &whole[sizeof(whole)];
    char *copy = (char *)malloc(n + 1); /* FIRES integer-overflow/size */
    if (!copy)
        return NULL;
    copy[n] = '\0'; /* FIRES missing-bounds-check/index */
    copy_title(whole, text, end);
    whole[sizeof(whole) - 1] = '\0';
    if (*line && line[strlen(line) - 1] == '\n') /* FIRES missing-null-check/parameter */
        line[strlen(line) - 1] = '\0';
    return copy;
}

struct line {
    char text[512];
    size_t n;
};

int read_more(struct line *at, int from)
{
    ssize_t got = recv(from, at->text + at->n, sizeof(at->text) - at->n, 0); /* FIRES off-by-one/full-read-rest missing-null-check/parameter missing-bounds-check/copy-size */
    if (got <= 0)
        return -1;
    at->n += (size_t)got;
    at->text[at->n] = '\0'; /* FIRES missing-null-check/chain missing-bounds-check/index */
    return 0;
}

int quiet_off_by_one_more(struct line *at, int from)
{
    ssize_t got = recv(from, at->text + at->n, sizeof(at->text) - at->n - 1, 0); /* FIRES missing-null-check/parameter missing-bounds-check/copy-size */
    if (got <= 0)
        return -1;
    at->n += (size_t)got;
    at->text[at->n] = '\0'; /* FIRES missing-null-check/chain missing-bounds-check/index */
    return 0;
}

void show_owner(const char *owner)
{
    char name[16];
    strncpy(name, owner, sizeof(name)); /* FIRES off-by-one/copy-unended missing-null-check/argument */
    printf("%s\n", name);
}

void quiet_off_by_one_owner(const char *owner)
{
    char name[16], whole[16] = "";
    strncpy(name, owner, sizeof(name)); /* FIRES missing-null-check/argument */
    name[sizeof(name) - 1] = '\0';
    strncpy(whole, owner, sizeof(whole) - 1);
    printf("%s %s\n", name, whole);
}

/* ---- formats ---- */

void note_login(const char *user)
{
    char line[200];
    (void)snprintf(line, sizeof(line), "login of %s", user); /* FIRES missing-null-check/argument */
    syslog(LOG_INFO, line); /* FIRES format-string/filled */
}

int main(int argc, char **argv)
{
    if (argc > 1)
        printf(argv[1]); /* FIRES format-string/outside missing-bounds-check/fixed-index missing-null-check/parameter */
    return 0;
}

void quiet_format_string_line(const char *user, int width)
{
    char line[200], format[16];
    (void)snprintf(line, sizeof(line), "login of %s", user); /* FIRES missing-null-check/argument */
    syslog(LOG_INFO, "%s", line);
    fputs(line, stdout);
    (void)snprintf(format, sizeof(format), "%%%ds", width);
}

/* ---- sizes ---- */

struct image {
    uint32_t width, height;
    uint8_t *pixels;
};

void read_size(struct image *to, const uint8_t *head)
{
    to->width = get_le32(head); /* FIRES missing-null-check/parameter */
    to->height = get_le32(head + 4);
}

int take_pixels(struct image *to)
{
    uint8_t *pixels = (uint8_t *)malloc(to->width * to->height); /* FIRES integer-overflow/size-factors-input missing-null-check/parameter */
    if (!pixels)
        return -1;
    to->pixels = pixels;
    return 0;
}

void *take_grid(const uint8_t *head)
{
    uint32_t across = get_le32(head), down = get_le32(head + 4);
    return malloc(across * down); /* FIRES integer-overflow/size-factors-input */
}

void *quiet_integer_overflow_grid(const uint8_t *head)
{
    uint32_t across = get_le32(head), down = get_le32(head + 4);
    if (across > 4096 || down > 4096)
        return NULL;
    return malloc(across * down);
}

void take_rest(char *to, const char *from, size_t size)
{
    memcpy(to, from + 4, size - 4); /* FIRES integer-overflow/size-less missing-null-check/argument missing-bounds-check/copy-size */
}

void take_long_rest(char *to, const char *from, size_t size)
{
    if (size < 4)
        return;
    memcpy(to, from + 4, size - 4); /* FIRES missing-null-check/argument integer-overflow/size */
}

/* ---- failures that are not seen ---- */

int pump(int from, int to)
{
    char part[512];
    size_t n = recv(from, part, sizeof(part), 0); /* FIRES off-by-one/full-read */
    if (n <= 0) /* FIRES sign-mixing/failure-lost */
        return -1;
    return pass_part(to, part, n);
}

int count_lines(FILE *in)
{
    char c;
    int n = 0;
    while ((c = getc(in)) != EOF) /* FIRES sign-mixing/end-lost */
        n += c == '\n';
    return n;
}

int quiet_sign_mixing_pump(int from, int to, FILE *in)
{
    char part[512];
    int c, n_line = 0;
    ssize_t n = recv(from, part, sizeof(part), 0); /* FIRES off-by-one/full-read */
    if (n <= 0)
        return -1;
    while ((c = getc(in)) != EOF)
        n_line += c == '\n';
    return pass_part(to, part, (size_t)n) + n_line;
}

/* ---- values that a loop gives ---- */

int apply_all(FILE *in)
{
    char line[100];
    int rc;
    while (fgets(line, sizeof(line), in)) {
        rc = apply(line);
        if (rc != 0)
            break;
    }
    return rc; /* FIRES uninitialized-variable/loop-returned */
}

int apply_each(FILE *in)
{
    char line[100];
    int rc;
    while (fgets(line, sizeof(line), in)) {
        rc = apply(line);
        if (rc != 0)
            break;
    }
    return ferror(in) ? -1 : rc; /* FIRES uninitialized-variable/loop-returned */
}

int quiet_uninitialized_variable_rounds(FILE *in)
{
    char line[100];
    int rc = 0, code;
    while (fgets(line, sizeof(line), in)) {
        rc = apply(line);
        if (rc != 0)
            break;
    }
    do {
        code = apply("end");
    } while (code > 0);
    return rc + code;
}

int quiet_integer_overflow_first(const std::vector<int> &days)
{
    int n = days[0]; /* FIRES missing-bounds-check/fixed-index */
    for (size_t i = 0; i < days.size() - 1; i++)
        n += days[i];
    return n;
}

/* The number of elements has no sign. */
int rises(const std::vector<int> &days)
{
    int n = 0;
    for (size_t i = 0; i < days.size() - 1; i++) /* FIRES integer-overflow/end-less */
        n += days[i + 1] > days[i]; /* FIRES off-by-one/sum-compared */
    return n;
}

int quiet_integer_overflow_rises(const std::vector<int> &days, const QList<int> &list)
{
    int n = 0;
    if (days.empty())
        return 0;
    for (size_t i = 0; i < days.size() - 1; i++)
        n += days[i + 1] > days[i]; /* FIRES off-by-one/sum-compared */
    for (size_t i = 0; i + 1 < days.size(); i++)
        n += days[i + 1] > days[i];
    for (int k = 0; k < list.size() - 1; k++) /* FIRES sign-mixing/compared */
        n += list[k + 1] > list[k];
    return n;
}

/* ---- whose memory it is ---- */

struct order {
    char *body, *note;
    size_t n;
};

void order_free(struct order *o)
{
    free(o->body); /* FIRES missing-null-check/parameter double-free/dangling */
    free(o->note);
    free(o);
}

int order_read(struct order *o, size_t n)
{
    if (n == 0) {
        free(o->body); /* FIRES double-free/owner missing-null-check/parameter */
        return -1;
    }
    return 0;
}

int quiet_double_free_order(struct order *o, size_t n)
{
    if (n == 0) {
        free(o->body); /* FIRES missing-null-check/parameter */
        o->body = NULL;
        return -1;
    }
    return 0;
}

/* ---- sizes of texts and pointers, files ---- */

void append_owner(const char *owner)
{
    char line[64] = "owner ";
    strncat(line, owner, sizeof(line)); /* FIRES off-by-one/append-whole */
    show(line);
}

int has_scheme(const char *url)
{
    return strncmp(url, "https://", 7) == 0; /* FIRES off-by-one/text-part missing-null-check/argument */
}

void put_magic(char *to)
{
    memcpy(to, "PACK", 8); /* FIRES off-by-one/text-behind missing-null-check/argument */
}

void quiet_off_by_one_texts(const char *owner, char *to)
{
    char line[64] = "owner ";
    strncat(line, owner, sizeof(line) - strlen(line) - 1); /* FIRES missing-bounds-check/copy-whole */
    if (strncmp(line, "owner", 5) == 0 && strncmp(line, "a\n", 3) != 0)
        show(line);
    memcpy(to, "PACK", 4); /* FIRES missing-null-check/argument */
    memcpy(to, "PACK", 5);
    memcpy(to, "\x01\x02\x03\x04", 4);
}

struct image *new_image(void)
{
    struct image *made = (struct image *)malloc(sizeof(made)); /* FIRES missing-bounds-check/pointer-sized */
    return made;
}

struct image *quiet_missing_bounds_check_image(void)
{
    struct image *made = (struct image *)malloc(sizeof(*made));
    return made;
}

void show_lines(FILE *in)
{
    char line[80];
    while (!feof(in)) {
        fgets(line, sizeof(line), in); /* FIRES off-by-one/read-again unchecked-return/dropped */
        show(line);
    }
}

void quiet_off_by_one_lines(FILE *in)
{
    char line[80];
    while (!feof(in)) {
        if (!fgets(line, sizeof(line), in))
            break;
        show(line);
    }
}

int save_state(const char *text)
{
    FILE *out = fopen("state.new", "w");
    if (!out)
        return -1;
    fputs(text, out); /* FIRES missing-null-check/argument */
    fclose(out); /* FIRES unchecked-return/close-saved */
    return rename("state.new", "state");
}

int quiet_unchecked_return_state(const char *text)
{
    FILE *out = fopen("state.new", "w");
    if (!out)
        return -1;
    fputs(text, out); /* FIRES missing-null-check/argument */
    if (fclose(out) != 0)
        return -1;
    return rename("state.new", "state");
}

/* ---- references ---- */

struct client {
    int n_ref;
    char *name;
};

void client_unref(struct client *c)
{
    if (--c->n_ref > 0) /* FIRES missing-null-check/parameter */
        return;
    free(c);
}

int leave_room(struct client *c)
{
    client_unref(c);
    return c->n_ref; /* FIRES use-after-free/unref use-after-free/returned missing-null-check/parameter */
}

void leave_hall(struct client *c)
{
    client_unref(c);
    show(c); /* FIRES use-after-free/unref-argument */
}

int quiet_use_after_free_room(struct client *c)
{
    const int n = c->n_ref; /* FIRES missing-null-check/parameter */
    client_unref(c);
    return n;
}

int leave_held(struct client *c)
{
    client_ref(c);
    client_unref(c);
    return c->n_ref; /* FIRES missing-null-check/parameter use-after-free/returned use-after-free/read */
}

/* ---- pairs ---- */

void clip(struct box *box, const struct box *to)
{
    if (!box || !to)
        return;
    if (box->x < to->x) {
        box->w -= to->x - box->x;
        box->x = to->x;
    }
    if (box->y < to->y) {
        box->h -= to->y - box->y;
        box->y = to->x; /* FIRES copied-block/pair */
    }
}

void quiet_copied_block_clip(struct box *box, const struct box *to)
{
    if (!box || !to)
        return;
    if (box->x < to->x) {
        box->w -= to->x - box->x;
        box->x = to->x;
    }
    if (box->y < to->y) {
        box->h -= to->y - box->y;
        box->y = to->y;
    }
}
