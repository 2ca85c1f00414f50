/* alone.c - faults that the text of one function shows, whatever its callers do, and code beside them that is right. The
 * marks are those of test_examples.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SHELF 16
#define COUNT(x) (sizeof(x) / sizeof((x)[0]))

struct shelf {
    struct shelf *next;
    int room;
};

static int shelves[N_SHELF];

static void drop_shelves(struct shelf *head)
{
    for (struct shelf *s = head; s; s = s->next) // FIRES use-after-free/step
        free(s);
}

static void drop_full(struct shelf *head)
{
    struct shelf *s;
    for (s = head; s; s = s->next) { // FIRES use-after-free/step
        if (s->room == 0) {
            printf("full\n");
            free(s);
        }
    }
}

static char *label_of(int room)
{
    char text[32];
    snprintf(text, sizeof(text), "room %d", room);
    return text; // FIRES use-after-free/own-array
}

static int *room_of(int row)
{
    int room = row * 100; // FIRES integer-overflow/product
    return &room;         // FIRES use-after-free/own-array
}

static void room_after(struct shelf *s, int is_bad)
{
    if (is_bad)
        free(s);
    s->room = 0; // FIRES use-after-free/branch missing-null-check/parameter
}

static void drop_text(char *text, int is_long)
{
    if (is_long) {
        free(text);
    } else {
        puts(text); // FIRES missing-null-check/argument
    }
    free(text); // FIRES double-free/branch
}

static void clear_shelves(void)
{
    for (int i = 0; i <= N_SHELF; i++) // FIRES off-by-one/behind
        shelves[i] = 0;
}

static int sum_of_ten(void)
{
    int ten[10] = {0}, sum = 0;
    for (int i = 1; i <= 10; i++) // FIRES off-by-one/behind
        sum += ten[i];
    for (int i = 0; i <= (int)COUNT(ten); i++)
        sum++;
    return sum;
}

static char *copy_of(const char *text)
{
    char *copy = malloc(strlen(text)); // FIRES off-by-one/bare missing-null-check/argument
    if (copy)
        strcpy(copy, text); // FIRES missing-bounds-check/copy
    return copy;
}

static int add_all(const int *value, int n)
{
    int sum;
    for (int i = 0; i < n; i++)
        sum += value[i]; // FIRES uninitialized-variable/added missing-null-check/parameter
    return sum;
}

static void read_title(void)
{
    char title[40];
    gets(title); // FIRES missing-bounds-check/line
    puts(title);
}

static FILE *open_notes(char *name)
{
    return fopen(mktemp(name), "w"); // FIRES check-use-race/named
}

static int room_or_none(struct shelf *s)
{
    if (s == NULL)
        return s->room; // FIRES inverted-condition/absent-used
    return s->room + 1;
}

static int has_room(struct shelf *s)
{
    return !s && s->room > 0; // FIRES inverted-condition/absent-used
}

static void quiet_use_after_free(struct shelf *head)
{
    for (struct shelf *s = head, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    for (struct shelf *s = head; s; s = s->next)
        if (s->room == 0) {
            free(s);
            break;
        }
}

static char *quiet_use_after_free_static(int room)
{
    static char text[32];
    snprintf(text, sizeof(text), "room %d", room);
    return text;
}

static void quiet_double_free(char *text, int is_long)
{
    if (is_long) {
        free(text);
        text = NULL;
    }
    free(text);
}

static void quiet_double_free_macro(char *text, int is_long)
{
    if (is_long) {
        free(text);
        THROW_ERROR(is_long);
    }
    free(text);
}

static int quiet_off_by_one(void)
{
    int sum = 0;
    for (int i = 0; i < N_SHELF; i++)
        sum += shelves[i];
    return sum;
}

static int quiet_uninitialized_variable(const int *value, int n)
{
    int sum;
    sum = 0;
    for (int i = 0; i < n; i++)
        sum += value[i]; // FIRES missing-null-check/parameter
    return sum;
}

static int quiet_inverted_condition(struct shelf *s)
{
    if (s == NULL)
        return (int)sizeof(s->room);
    return s->room;
}

static int quiet_check_use_race(char *name)
{
    const int fd = mkstemp(name);
    return fd;
}

static int rows_and_one_more(void)
{
    int rows[N_SHELF + 1], sum = 0;
    for (int i = 0; i <= N_SHELF; i++) // FIRES off-by-one/at-most
        rows[i] = i;
    for (int i = 0; i <= N_SHELF; i++) {
        if (i < N_SHELF)
            sum += shelves[i];
    }
    return sum + rows[0];
}

static int sum_while(void)
{
    int ten[10] = {0}, sum = 0;
    size_t i = 0;
    while (i <= sizeof(ten) / sizeof(ten[0])) // FIRES off-by-one/at-most-own
    {
        sum += ten[i];
        i++;
    }
    return sum;
}

static int room_told(struct shelf *s)
{
    if (s == NULL) {
        puts("none");
        return s->room; // FIRES inverted-condition/null-branch
    }
    return 0;
}

static char *both_of(const char *a, const char *b)
{
    char *both = malloc(strlen(a) + strlen(b)); // FIRES off-by-one/terminator missing-null-check/argument
    if (both)
        strcpy(both, a); // FIRES missing-bounds-check/copy
    return both;
}

static int crates_of(int crates[N_SHELF], int at)
{
    int total = 0;
    for (int i = 0; i <= N_SHELF; i++) // FIRES off-by-one/behind
        total += crates[i] + at;
    return total;
}

struct wall {
    int crates[N_SHELF + 4];
};

static int notes[40], n_notes;

static int sum_of_notes(int note)
{
    int sum = 0;
    notes[n_notes++] = note; // FIRES missing-bounds-check/index
    for (int i = 0; i <= n_notes; i++) // FIRES off-by-one/behind
        sum += notes[i];
    return sum;
}

struct deck {
    int cards[N_SHELF];
};
struct hand {
    int cards[5];
};

static int sum_of_cards(const struct deck *d)
{
    int sum = 0;
    for (int i = 0; i <= 5; i++)
        sum += d->cards[i]; // FIRES missing-null-check/parameter
    return sum;
}

/* The label is reached by a goto before the first release only. */
static int *quiet_double_free_label(char *text, int is_long)
{
    if (!text)
        goto end;
    free(text);
    if (is_long)
        return NULL;
    else
        return shelves;
end:
    free(text);
    return NULL;
}

static void quiet_double_free_back(char *text, int n)
{
again:
    text = fill_text(text);
    if (!text)
        goto end;
    free(text);
    text = NULL;
    if (n-- > 0)
        goto again;
end:
    puts("done");
}

static int quiet_double_free_restart(int fd)
{
    char *text;
again:
    text = malloc(80);
    if (fd > 3)
        goto end;
    free(text);
    fd = other_of(fd);
    goto again;
end:
    free(text);
    return fd;
}

static const char *billing_of(void)
{
    const char *billing = "sk_live_9aQ2mZ7tK4xLr8Vb3Nc6Wd1E"; // FIRES hardcoded-secret/live-key
    return billing;
}

static const char *quiet_hardcoded_secret(void)
{
    const char *prefix = "sk_live_";
    return prefix;
}
