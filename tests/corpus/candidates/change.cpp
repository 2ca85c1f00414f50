/* change.cpp - what a change took away: change.before.cpp is the file before it. The marks are those of test_examples.c. */

struct box {
    int *item, n, size;
};

int first_of(struct box *b)
{
    return b->n; /* FIRES missing-null-check/removed-test */
}

int item_of(int *all, int n, int i)
{
    return all[i]; /* FIRES missing-bounds-check/removed-upper */
}

void clear_rest(char *to, int room)
{
    memset(to, 0, room); /* FIRES missing-bounds-check/removed-lower */
}

int part_of(int all, int n)
{
    return all / n; /* FIRES division-by-zero/removed-test */
}

void drop(struct box *b)
{
    say(b); /* FIRES resource-leak/removed-release */
}

int leave_box(struct box *b, int n)
{
    if (n > 3) {
        say(b);
        close_box(b); /* FIRES resource-leak/removed-way */
    }
    return n;
}

int count_up(struct box *b)
{
    lock_box(b);
    b->n++;
    if (b->n > 9) {
        return -1; /* FIRES regression/removed-lock */
    }
    unlock_box(b);
    return b->n;
}

int rename_box(struct box *b, int kind, int name)
{
    return name_it(b, kind, name); /* FIRES regression/removed-test */
}

int read_pair(char *data, int size)
{
    return read_long(data); /* FIRES regression/removed-guard */
}

int store_all(struct box *b, int n)
{
    store_item(b, n); /* FIRES regression/removed-check */
    return 0;
}

/* A part of a condition guarded the rest of it. */
int sum_of(struct box *b, int *all, int i)
{
    while (all[i] > 0) /* FIRES missing-bounds-check/removed-upper */
        i++;
    return i;
}

/* A bound that is asked twice is enough once. */
int quiet_missing_bounds_check_twice(int *all, int n, int i)
{
    if (i >= n)
        return -1;
    say(all);
    return all[i];
}

/* What a test asked is asked by another one, or the name stands for something else. */
int quiet_missing_null_check(struct box *b)
{
    if (!b || b->n < 1)
        return -1;
    return b->n;
}

int quiet_missing_bounds_check(int *all, int n, int i)
{
    if (!is_in(n, i))
        return -1;
    return all[i];
}

int quiet_division_by_zero(int all, int n)
{
    n = n ? n : 1;
    return all / n;
}

void quiet_resource_leak(struct box *b)
{
    say(b);
    keep_box(b);
}

int quiet_regression(struct box *b, int kind, int name)
{
    if (!may_rename(b, kind))
        return -1;
    if (store_item(b, name) < 0)
        return -1;
    return name_it(b, kind, name);
}

/* The condition stands elsewhere. */
int quiet_regression_moved(struct box *b, int kind, int name)
{
    say(b);
    if (kind == 8)
        return -1;
    return name_it(b, kind, name);
}
