/* contrary.c - code that contradicts itself, and code beside it that does not. The marks are those of test_examples.c. */
#include "shop.h"

static int is_odd_day(int day)
{
    return day != SUNDAY || day != MONDAY; /* FIRES inverted-condition/always */
}

static int is_outside(int at)
{
    return at < 0 && at > 99; /* FIRES inverted-condition/never */
}

static int is_both(const char *name)
{
    return !strcmp(name, "first") && !strcmp(name, "second"); /* FIRES inverted-condition/never missing-null-check/argument */
}

static int quiet_inverted_condition_days(int day)
{
    return (day != SUNDAY && day != MONDAY) || (day > 3 && day < 9) || day < 0 || day > 99;
}

/* What is read again may be another. */
static int quiet_inverted_condition_read(void)
{
    return next_day() == SUNDAY && next_day() == MONDAY;
}

static void count_away(int last)
{
    for (int i = 0; i > last; i++) /* FIRES inverted-condition/steps-up */
        show(i);
    for (int k = last; k < 8; k--) /* FIRES inverted-condition/steps-down */
        show(k);
}

/* An unsigned number that counts down wraps, and is above its end then. */
static void quiet_inverted_condition_steps(size_t last)
{
    for (size_t i = last - 1; i < last; i--)
        show(i);
    for (int k = 8; k > 0; k--)
        show(k);
}

static int has_flag(int flags, int other)
{
    return !flags & FLAG_OPEN && !other < 3; /* FIRES wrong-operator/negated wrong-operator/negated */
}

static int quiet_wrong_operator_flag(int flags, int other)
{
    return !(flags & FLAG_OPEN) && !other == 1;
}

static int is_open(int state)
{
    if (state = OPEN) /* FIRES wrong-operator/assigned */
        return 1;
    return 0;
}

static int quiet_wrong_operator_kept(int state)
{
    if ((state = read_state()))
        return state;
    return 0;
}

static int is_within(const struct box *box, int x)
{
    return box && (x < box->left || box->right < x || x < box->left); /* FIRES copied-block/operands */
}

static int is_same_box(struct box box, struct box other)
{
    return box.left == other.left && other.right == other.right; /* FIRES copied-block/equal */
}

/* Only not-a-number is not equal to itself; what stands between quotes counts with its blanks. */
static int is_within(int x, int left, int right)
{
    return x > left && x < right && x > left; /* FIRES copied-block/operands-chain */
}

static int quiet_copied_block_operands(double x, char c)
{
    return x != x || c == ' ' || c == '	';
}

static int quiet_copied_block_moved(char *at)
{
    return *at == '/' && *++at == '/' && *at == '/'; /* FIRES missing-null-check/parameter missing-bounds-check/walk */
}

static int price_of(int kind)
{
    if (kind == SMALL)
        return 1;
    else if (kind == LARGE)
        return 2;
    else if (kind == SMALL && is_sale()) /* FIRES copied-block/again */
        return 3;
    return 0;
}

/* What is left out by the one is done by the other. */
static int quiet_copied_block_again_same(int kind, int n)
{
    int price = 0;
    if (kind == SMALL || n == 0)
        price = price_of(SMALL);
    else if (n == 0)
        price = price_of(SMALL); /* nothing is small, too */
    if (kind == LARGE)
        price += 2;
    else if (kind == LARGE && n > 9)
        price += 2;
    return price;
}

static int cost_of(int kind, int n)
{
    int price = 0;
    if (kind == LARGE || n == 0)
        price = price_of(LARGE);
    else if (n == 0) /* FIRES copied-block/again-part */
        price = price_of(SMALL);
    if (kind == SMALL)
        price += 2;
    else if (kind == SMALL) /* FIRES copied-block/again */
        price += 2;
    return price;
}

static int sum_of(const struct box *box)
{
    int sum = 0;
    if (box != NULL && box != NULL) { /* FIRES copied-block/asked-twice */
        const struct box *in = box->in;
        sum += in->left + box->right;
    }
    return sum;
}

static int sum_of_both(const struct box *box, const struct box *other)
{
    if (box != NULL && box != NULL)      /* FIRES copied-block/operands */
        return box->left + other->left; /* FIRES missing-null-check/parameter */
    return 0;
}

static int length_for(const struct box *box, const char *name)
{
    if (box != NULL && box != NULL) /* FIRES copied-block/operands */
        return box->left + length_of(name);
    return 0;
}

/* Where the first says no, the second may not be asked. */
static int quiet_copied_block_asked_twice(const struct box *box, const struct box *other)
{
    if (box && other)
        return box->left + other->left;
    return 0;
}

static int left_of(const struct box *box, int n)
{
    if (!box || !box) /* FIRES copied-block/asked-twice */
        return 0;
    return box->left + n;
}

static int lefts_of(const struct box *box, const struct box *other)
{
    if (!box || !box) /* FIRES copied-block/operands */
        return 0;
    return box->left + other->left; /* FIRES missing-null-check/parameter */
}

static int quiet_copied_block_again_read(const char *name)
{
    int kind = kind_of(name);
    if (0 <= kind)
        return kind;
    else if (sscanf(name, "kind_%d", &kind) == 1 && 0 <= kind)
        return kind;
    return -1;
}

static int quiet_copied_block_again(int kind)
{
    if (kind == SMALL && is_sale())
        return 1;
    else if (kind == SMALL)
        return 2;
    else if (next_kind() == LARGE)
        return 3;
    else if (next_kind() == LARGE)
        return 4;
    return 0;
}

static void show_price(int price, int is_sale)
{
    if (is_sale) /* FIRES copied-block/branches */
        show_number(price);
    else
        show_number(price);
}

static int rate_of(int is_sale)
{
    return is_sale ? 20 : 20; /* FIRES copied-block/branches-literal */
}

static void quiet_copied_block_purpose(int price, int is_sale)
{
    if (is_sale)
        show_number(price);
    else
        show_number(price); /* shown in any case, still by the shop's rounding */
}

static void quiet_copied_block_told_apart(int price, int is_sale)
{
    if (is_sale) {
        show_number(price); /* a price by the piece */
    } else {
        /* A price for all of them. */
        show_number(price);
    }
}

static void quiet_copied_block_branches(int price, int is_sale)
{
    if (is_sale)
        show_number(price);
    else
        show_number(price / 2);
}

static void show_all(int n)
{
    int j = 0;
    for (int i = 0; i < n; j++) /* FIRES copied-block/loop-variable */
        show(j);
}

static void quiet_copied_block_loop(int n)
{
    int j = 0;
    for (int i = 0; i < n; j++)
        i += step_of(j);
}

static void quiet_copied_block_itself(volatile struct box *box)
{
    box->left = box->left; /* what is written may be a register; FIRES missing-null-check/parameter */
#if (0)
    box->left = box->left;
#endif
#if 0
#ifdef LEFT
    box->left = 1;
#endif
    if (box->left < box->left)
        box->left = 0;
#endif
}

static void set_state(int state)
{
    state == OPEN; /* FIRES wrong-operator/dropped-comparison */
}

static void clear_box(struct box *box)
{
    memset(box, 0, sizeof(box)); /* FIRES wrong-operator/pointer-size missing-null-check/argument */
}

static void quiet_wrong_operator_sizes(struct box *box)
{
    char name[16];
    memset(name, 0, sizeof(name));
    memset(box, 0, sizeof(*box)); /* FIRES missing-null-check/argument */
}

static int share_of(int whole, int n)
{
    if (n == 0)
        return whole / n; /* FIRES division-by-zero/zero-branch */
    return 0;
}

static int quiet_division_by_zero_branch(int whole, int n)
{
    if (n == 0)
        return 0;
    return whole / n;
}

static int fee_of(int kind)
{
    if (kind == SMALL || kind == LARGE)
        return 1;
    else if (kind == LARGE) /* FIRES copied-block/again-part */
        return 2;
    return 0;
}

static int quiet_copied_block_again_half(int kind)
{
    if (kind == SMALL && is_sale())
        return 1;
    else if (kind == SMALL || kind == LARGE)
        return 2;
    return 0;
}
