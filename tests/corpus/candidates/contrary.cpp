/* contrary.cpp - code that contradicts itself, and code beside it that does not. The marks are those of test_examples.c. */
#include "shop.h"

int is_odd_day(int day)
{
    return day != SUNDAY || day != MONDAY; /* FIRES inverted-condition/always */
}

int is_outside(int at)
{
    return at < 0 && at > 99; /* FIRES inverted-condition/never */
}

int is_both(const char *name)
{
    return !strcmp(name, "first") && !strcmp(name, "second"); /* FIRES inverted-condition/never missing-null-check/argument */
}

int quiet_inverted_condition_days(int day)
{
    return (day != SUNDAY && day != MONDAY) || (day > 3 && day < 9) || day < 0 || day > 99;
}

/* What is read again may be another. */
int quiet_inverted_condition_read(void)
{
    return next_day() == SUNDAY && next_day() == MONDAY;
}

void count_away(int last)
{
    for (int i = 0; i > last; i++) /* FIRES inverted-condition/steps-up */
        show(i);
    for (int k = last; k < 8; k--) /* FIRES inverted-condition/steps-down */
        show(k);
}

/* An unsigned number that counts down wraps, and is above its end then. */
void quiet_inverted_condition_steps(size_t last)
{
    for (size_t i = last - 1; i < last; i--)
        show(i);
    for (int k = 8; k > 0; k--)
        show(k);
}

int has_flag(int flags, int other)
{
    return !flags & FLAG_OPEN && !other < 3; /* FIRES wrong-operator/negated wrong-operator/negated */
}

int quiet_wrong_operator_flag(int flags, int other)
{
    return !(flags & FLAG_OPEN) && !other == 1;
}

int is_open(int state)
{
    if (state = OPEN) /* FIRES wrong-operator/assigned */
        return 1;
    return 0;
}

int quiet_wrong_operator_kept(int state)
{
    if ((state = read_state()))
        return state;
    return 0;
}

int is_within(const struct box *box, int x)
{
    return box && (x < box->left || box->right < x || x < box->left); /* FIRES copied-block/operands */
}

int is_same_box(struct box box, struct box other)
{
    return box.left == other.left && other.right == other.right; /* FIRES copied-block/equal */
}

/* Only not-a-number is not equal to itself; what stands between quotes counts with its blanks. */
int is_within(int x, int left, int right)
{
    return x > left && x < right && x > left; /* FIRES copied-block/operands-chain */
}

int quiet_copied_block_operands(double x, char c)
{
    return x != x || c == ' ' || c == '	';
}

int quiet_copied_block_moved(char *at)
{
    return *at == '/' && *++at == '/' && *at == '/'; /* FIRES missing-null-check/parameter missing-bounds-check/walk */
}

int price_of(int kind)
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
int quiet_copied_block_again_same(int kind, int n)
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

int cost_of(int kind, int n)
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

int sum_of(const std::vector<int> &some, Shop &shop)
{
    int sum = 0;
    if ((!some.empty()) && (!some.empty())) { /* FIRES copied-block/asked-twice */
        const std::vector<int> &in = shop.prices;
        sum = shop.price_of(some.back()) + in.back();
    }
    return sum;
}

int sum_of_both(const std::vector<int> &some, const std::vector<int> &more)
{
    if (!some.empty() && !some.empty()) /* FIRES copied-block/operands */
        return some.back() + sum_of_all(more);
    return 0;
}

int sum_of_shop(const std::vector<int> &some, Shop &shop)
{
    if (some.empty() || some.empty()) /* FIRES copied-block/operands */
        return 0;
    return some.back() + shop.front();
}

/* Each is asked for what is used of it. */
int quiet_copied_block_asked_twice(const std::vector<int> &some, const std::vector<int> &more)
{
    return !some.empty() && !more.empty() ? some.back() + more.back() : 0;
}

int quiet_copied_block_again(int kind)
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

void show_price(int price, int is_sale)
{
    if (is_sale) /* FIRES copied-block/branches */
        show_number(price);
    else
        show_number(price);
}

int rate_of(int is_sale)
{
    return is_sale ? 20 : 20; /* FIRES copied-block/branches-literal */
}

void quiet_copied_block_purpose(int price, int is_sale)
{
    if (is_sale)
        show_number(price);
    else
        show_number(price); /* shown in any case, still by the shop's rounding */
}

void quiet_copied_block_told_apart(int price, int is_sale)
{
    if (is_sale) {
        show_number(price); /* a price by the piece */
    } else {
        /* A price for all of them. */
        show_number(price);
    }
}

void quiet_copied_block_branches(int price, int is_sale)
{
    if (is_sale)
        show_number(price);
    else
        show_number(price / 2);
}

void show_all(int n)
{
    int j = 0;
    for (int i = 0; i < n; j++)
        show(j);
}

void quiet_copied_block_loop(int n)
{
    int j = 0;
    for (int i = 0; i < n; j++)
        i += step_of(j);
}

void quiet_copied_block_itself(volatile struct box *box)
{
    box->left = box->left; /* what is written may be a register; FIRES missing-null-check/parameter */
#if 0
#ifdef LEFT
    box->left = 1;
#endif
    if (box->left < box->left)
        box->left = 0;
#endif
}

void set_state(int state)
{
    state == OPEN; /* FIRES wrong-operator/dropped-comparison */
}

void clear_box(struct box *box)
{
    memset(box, 0, sizeof(box)); /* FIRES wrong-operator/pointer-size missing-null-check/argument */
}

void quiet_wrong_operator_sizes(struct box *box)
{
    char name[16];
    memset(name, 0, sizeof(name));
    memset(box, 0, sizeof(*box)); /* FIRES missing-null-check/argument */
}

int share_of(int whole, int n)
{
    if (n == 0)
        return whole / n; /* FIRES division-by-zero/zero-branch */
    return 0;
}

int quiet_division_by_zero_branch(int whole, int n)
{
    if (n == 0)
        return 0;
    return whole / n;
}

int fee_of(int kind)
{
    if (kind == SMALL || kind == LARGE)
        return 1;
    else if (kind == LARGE) /* FIRES copied-block/again-part */
        return 2;
    return 0;
}

int quiet_copied_block_again_half(int kind)
{
    if (kind == SMALL && is_sale())
        return 1;
    else if (kind == SMALL || kind == LARGE)
        return 2;
    return 0;
}
