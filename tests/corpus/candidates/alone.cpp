// alone.cpp - faults that the text of one function shows, whatever its callers do, and code beside them that is right.
// The marks are those of test_examples.c.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define N_SHELF 16

struct shelf {
    shelf *next;
    int room;
};

static int shelves[N_SHELF];

class Tray {
public:
    Tray(int n) : slots(new int[n]), one(new int(3)) {}
    ~Tray()
    {
        delete slots; // FIRES wrong-operator/delete
        delete[] one; // FIRES wrong-operator/delete
    }

private:
    int *slots;
    int *one;
};

class quiet_wrong_operator {
public:
    quiet_wrong_operator(int n) : rows(new int[n]), cell(new int(3)) {}
    ~quiet_wrong_operator()
    {
        delete[] rows;
        delete cell;
    }

private:
    int *rows;
    int *cell;
};

static int sum_of(const std::vector<int> &value)
{
    int sum = 0;
    for (size_t i = 0; i <= value.size(); i++) // FIRES off-by-one/behind
        sum += value[i];
    return sum;
}

static void drop_shelves(struct shelf *head)
{
    for (struct shelf *s = head; s; s = s->next) // FIRES use-after-free/step
        free(s);
}

static char *label_of(int room)
{
    char text[32];
    snprintf(text, sizeof(text), "room %d", room); // FIRES unchecked-return/dropped
    return text; // FIRES use-after-free/own-array
}

static char *copy_of(const char *text)
{
    char *copy = (char *)malloc(strlen(text)); // FIRES off-by-one/bare missing-null-check/argument
    if (copy)
        strcpy(copy, text); // FIRES missing-bounds-check/copy
    return copy;
}

static int add_all(const int *value, int n)
{
    int sum;
    for (int i = 0; i < n; i++)
        sum += value[i]; // FIRES uninitialized-variable/added
    return sum;
}

static FILE *open_notes(char *name)
{
    return fopen(mktemp(name), "w"); // FIRES check-use-race/named
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

static void quiet_double_free(char *text, int is_long)
{
    if (is_long) {
        free(text);
        text = NULL;
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
        sum += value[i];
    return sum;
}

static int quiet_check_use_race(char *name)
{
    const int fd = mkstemp(name);
    return fd;
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

static void drop_both(char *text, char *other, int is_long)
{
    if (is_long)
        delete[] other;
    else
        free(text);
    free(text); // FIRES double-free/again
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
