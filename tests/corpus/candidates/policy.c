/* policy.c - a file that takes memory in places and asks in none of them if it is there. Marks as in examples.c. */
#include <stdlib.h>
#include <string.h>

/* What never fails is none of the memory that a file may ask for. */
static char *quiet_missing_null_check(size_t n)
{
    char *text = xmalloc(n);
    if (!text)
        return NULL;
    return fill_text(text);
}

static struct shop *make_shop(struct shop *of)
{
    struct shop *shop = malloc(80); /* FIRES unchecked-return/unasked */
    shop->n = 1;                    /* FIRES missing-null-check/allocated-unasked */
    of->price = pool_alloc(80);     /* FIRES missing-null-check/parameter */
    return shop;
}

static void copy_shop(struct list *to)
{
    struct shop *shop = calloc(1, 80);
    shop->n = 2;
    list_add(to, shop);                /* FIRES unchecked-return/dropped */
}

static char *fill_shop(void)
{
    char *row = malloc(80);
    memset(row, 0, 80); /* FIRES missing-null-check/given-unasked */
    return row;
}
