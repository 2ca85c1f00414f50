/* ends.c - a file whose memory is there or the process ends, and a program whose end closes what it has. Marks as in
 * examples.c. */
#include <stdio.h>

/* Who has no memory is ended by whoever takes it, so that a new part is always there. */
static void add_part(struct shop *shop, const char *name)
{
    struct part *part = part_add(shop, g_strdup(name)); /* FIRES resource-leak/any unchecked-return/not-tested-ends missing-null-check/argument */
    part->n = 1; /* FIRES missing-null-check/result-of-any */
    shop->last = part_add(shop, g_strdup("last")); /* FIRES missing-null-check/parameter unchecked-return/not-tested-ends */
    shop->last->n = 2; /* FIRES missing-null-check/result-of-any */
}

static void add_link(struct shop *shop)
{
    struct link *link = SSL_link_add(shop, 80); /* FIRES resource-leak/any unchecked-return/not-tested */
    link->n = 3; /* FIRES missing-null-check/result-of-any */
}

static int quiet_unchecked_return_part(struct shop *shop)
{
    struct part *part = part_add(shop, g_strdup("first")); /* FIRES resource-leak/any */
    if (!part)
        return -1;
    part->n = 1;
    return 0;
}

static int count_parts(struct shop *shop)
{
    int n = parts_add(shop, 80); /* FIRES unchecked-return/not-tested-number */
    return n * 2; /* FIRES integer-overflow/returned */
}

static int quiet_resource_leak_of_main(int from)
{
    int fd = dup(from);
    if (fd < 0)
        return -1;
    if (listen(fd, 80) != 0)
        return -1;
    return fd;
}

static int lost_in_turns(int from)
{
    int fd = dup(from); /* FIRES resource-leak/handle */
    if (fd < 0)
        return -1;
    if (listen(fd, 80) != 0)
        return -1;
    return fd;
}

int main(int argc, char **argv)
{
    int rc = -1;
    int in = quiet_resource_leak_of_main(argc);
    if (in < 0)
        goto end;
    int out = quiet_resource_leak_of_main(argc + 1);
    if (out < 0)
        return 1;
    for (int i = 0; i < argc; i++) {
        int turn = lost_in_turns(i);
        if (turn < 0)
            break;
        show_number(turn);
    }
    rc = serve(in, out);
end:
    show_number(rc);
    return rc;
}

/* The longest text fits: a byte, a text of an array, another one that is cut, and letters. */
static void quiet_missing_bounds_check_longest(char byte, const char *name)
{
    char line[16], both[40];
    sprintf(line, "%d%%", byte);
    sprintf(both, "%s and %.8s: %c", line, name, byte);
    show_line(both);
}

/* A number that a format prints is none that may be NULL, and neither are the streams that are always there. */
static void quiet_missing_null_check_number(struct shop *shop)
{
    int n = part_count_get(shop);
    fprintf(stderr, "%d parts of %s\n", n, "the shop");
    fprintf(stdout, "%*d\n", n, n);
}

static void name_line(struct shop *shop)
{
    char *name = part_name_get(shop);
    printf("%s\n", "parts");
    fprintf(stderr, "%d: %s\n", 1, name); /* FIRES missing-null-check/result-argument */
}

/* Handed on first, and used then: the first of both is the place. */
static void drop_shop(struct shop *shop)
{
    free(shop);
    show_shop(shop); /* FIRES use-after-free/sure-argument */
    shop->last = 0; /* FIRES missing-null-check/parameter */
}
