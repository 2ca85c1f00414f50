/* change.before.c - change.c before a change took something from its functions. */

struct box {
    int *item, n, size;
};

int first_of(struct box *b)
{
    if (!b)
        return -1;
    return b->n;
}

int last_of(struct box *b, int n)
{
    if (!b)
        return -1;
    say_number(n);
    n += 2;
    n *= 3;
    return b->n + n;
}

int read_box(int name)
{
    struct box *b = find_box(name);
    if (name < 3)
        return -1;
    free_box(b);
    name += 2;
    name *= 3;
    say(b->item);
    return name;
}

int item_of(int *all, int n, int i)
{
    if (i >= n)
        return -1;
    return all[i];
}

void clear_rest(char *to, int room)
{
    if (room < 1)
        return;
    memset(to, 0, room);
}

int part_of(int all, int n)
{
    return n ? all / n : 0;
}

void drop(struct box *b)
{
    say(b);
    free_box(b);
}

int leave_box(struct box *b, int n)
{
    if (n > 3) {
        say(b);
    }
    close_box(b);
    return n;
}

int count_up(struct box *b)
{
    lock_box(b);
    b->n++;
    if (b->n > 9) {
        unlock_box(b);
        return -1;
    }
    unlock_box(b);
    return b->n;
}

int rename_box(struct box *b, int kind, int name)
{
    if (kind == 7)
        return -1;
    return name_it(b, kind, name);
}

int read_pair(char *data, int size)
{
    if (size < 8)
        return -1;
    return read_long(data);
}

int store_all(struct box *b, int n)
{
    if (store_item(b, n) < 0)
        return -1;
    return 0;
}

/* A part of a condition guarded the rest of it. */
int sum_of(struct box *b, int *all, int i)
{
    while (i < b->n && all[i] > 0)
        i++;
    return i;
}

/* A bound that is asked twice is enough once. */
int quiet_missing_bounds_check_twice(int *all, int n, int i)
{
    if (i >= n)
        return -1;
    say(all);
    if (i >= n - 0)
        return -1;
    return all[i];
}

/* What a test asked is asked by another one, or the name stands for something else. */
int quiet_missing_null_check(struct box *b)
{
    if (!b)
        return -1;
    return b->n;
}

int quiet_missing_bounds_check(int *all, int n, int i)
{
    if (i >= n)
        return -1;
    return all[i];
}

int quiet_division_by_zero(int all, int n)
{
    if (n == 0)
        return 0;
    return all / n;
}

void quiet_resource_leak(struct box *b)
{
    say(b);
    free_box(b);
}

int quiet_regression(struct box *b, int kind, int name)
{
    if (kind == 7)
        return -1;
    if (store_item(b, name) < 0)
        return -1;
    return name_it(b, kind, name);
}

/* The condition stands elsewhere. */
int quiet_regression_moved(struct box *b, int kind, int name)
{
    if (kind == 8)
        return -1;
    say(b);
    return name_it(b, kind, name);
}
