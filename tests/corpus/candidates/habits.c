/* habits.c - cases that run on into the next one, and such that are meant to. The marks are those of test_examples.c. */

int price_of(int kind)
{
    int price = 0;
    switch (kind) {
    case 1: price = 1; break;
    case 2:
        price = 2; /* FIRES missing-break/runs-on */
    case 3:
        price = 3;
        break;
    case 4: return 4;
    default: price = 5; break;
    }
    return price;
}

/* A comment that says so, a case without statements, one whose function does not come back, one with nothing to do. */
int quiet_missing_break(int kind)
{
    int price = 0;
    switch (kind) {
    case 1: price = 1; break;
    case 2: price = 2; /* fall through */
    case 3: price += 3; break;
    case 4:
    case 5: return 4;
    case 6: show_usage_and_exit(kind);
    case 7: price = 7; break;
    case 8: {
        price = 8;
        break;
    }
    case 9: price = 9;
    default: break;
    }
    return price;
}

/* A byte is written before the one that the switch is about. */
char *quiet_missing_break_escape(char *to, const char *from)
{
    switch (*from) { /* FIRES missing-null-check/parameter */
    case '\n':
        *to++ = '\\';
        *to++ = 'n';
        break;
    case '\b':
        *to++ = '\\';
        *to++ = 'b';
        break;
    case '\f':
        *to++ = '\\';
        *to++ = 'f';
        break;
    case '"': *to++ = '\\';
    default: *to++ = *from;
    }
    return to;
}

/* One way out keeps the lock, and another gives it back. */
int take_all(int n)
{
    pthread_mutex_lock(&shop_lock); /* FIRES missing-unlock/one-way */
    if (n > 9)
        return -1;
    count_gates(n);
    pthread_mutex_unlock(&shop_lock);
    return 0;
}

int quiet_missing_unlock_one_way(int n)
{
    pthread_mutex_lock(&shop_lock);
    if (n > 9) {
        pthread_mutex_unlock(&shop_lock);
        return -1;
    }
    if (n > 7)
        goto out;
    count_gates(n);
out:
    pthread_mutex_unlock(&shop_lock);
    return 0;
}

int take_next(int n)
{
    pthread_mutex_lock(&shop_lock); /* FIRES missing-unlock/early */
    while (n > 0) {
        if (n == 9)
            return -1;
        n--;
    }
    pthread_mutex_unlock(&shop_lock);
    return 0;
}
