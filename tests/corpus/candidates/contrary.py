"""contrary.py - code that contradicts itself, and code beside it that does not. The marks are those of test_examples.c."""


def is_odd_day(day):
    return day != 'sunday' or day != 'monday'  # FIRES inverted-condition/always


def is_outside(at):
    return at < 0 and at > 99  # FIRES inverted-condition/never


def quiet_inverted_condition_days(day):
    return (day != 'sunday' and day != 'monday') or day < 0 or day > 99


def is_within(left, right, x):
    return x < left or right < x or x < left  # FIRES copied-block/operands


def is_same(box, other):
    return box.left == other.left and other.right == other.right  # FIRES copied-block/equal


def is_within(x, left, right):
    return x > left and x < right and x > left  # FIRES copied-block/operands-chain


def quiet_copied_block_operands(x, port):
    port = port and port or 80
    return x != x or port == 80


def price_of(kind):
    if kind == 'small':
        return 1
    elif kind == 'large':
        return 2
    elif kind == 'small':  # FIRES copied-block/again
        return 3
    return 0


def quiet_copied_block_again_left(shop):
    if shop is None:
        raise ValueError("no shop")
    elif shop is None:
        return
    open_shop(shop)


def quiet_copied_block_again_same(kind, n):
    if kind == 'small' or n == 0:
        open_shop(kind)
    elif n == 0:
        open_shop(kind)


def show_kind(kind, n):
    if kind == 'small' or n == 0:
        open_shop(kind)
    elif n == 0:  # FIRES copied-block/again-part
        open_shop(n)


def quiet_copied_block_again(kind):
    if kind == 'small' and is_sale():
        return 1
    elif kind == 'small':
        return 2
    return 0


def show_price(price, is_sale):
    if is_sale:  # FIRES copied-block/branches
        show_number(price)
    else:
        show_number(price)


def rate_of(is_sale):
    return 20 if is_sale else 20  # FIRES copied-block/branches-literal


def quiet_copied_block_purpose(price, is_sale):
    if is_sale:
        show_number(price)
    # A sale may get a price of its own, for now it is shown as all are.
    else:
        show_number(price)


def quiet_copied_block_told_apart(price, is_sale):
    if is_sale:
        show_number(price)  # a price by the piece
    else:
        # A price for all of them.
        show_number(price)


def quiet_copied_block_branches(price, is_sale):
    return price - 1 if is_sale else price


def set_state(state):
    state == 'open'  # FIRES wrong-operator/dropped-comparison


def is_open(state):
    return state is 'open'  # FIRES wrong-operator/identity


def quiet_wrong_operator_identity(state):
    return state is None or state == 'open'


def fee_of(kind):
    if kind == 'small' or kind == 'large':
        return 1
    elif kind == 'large':  # FIRES copied-block/again-part
        return 2
    return 0


def quiet_copied_block_again_half(kind):
    if kind == 'small' and is_sale():
        return 1
    elif kind == 'small' or kind == 'large':
        return 2
    return 0


def make_shelf(client, name):
    is_there = client.ask(name)
    if not is_there or not is_there:  # FIRES copied-block/asked-twice
        return client.make(name)
    return client.get(name)


def left_of_both(box, other):
    if not box or not box:  # FIRES copied-block/operands
        return 0
    return box.left + other.left
