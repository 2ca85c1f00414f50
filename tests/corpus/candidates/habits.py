"""habits.py - forms of code that are nearly always a mistake, and code beside it that is none. The marks are those of
test_examples.c."""
import asyncio
import re
import threading

NUMBER = re.compile(r'\d+')
gate_lock = threading.Lock()


async def is_closed(day):
    await asyncio.sleep(day)
    return day > 5


async def each_day(first):
    while first < 7:
        yield first
        first += 1


def sync_day(day):
    return day


async def open_gate(day):
    if is_closed(day):  # FIRES missing-await/tested
        return 1
    return 0


async def is_free(day):
    closed = is_closed(day)  # FIRES missing-await/tested
    if not closed:
        return 1
    return 0


async def show_state(day):
    return f'state {is_closed(day)}'  # FIRES missing-await/used


async def close_gate(day):
    is_closed(day)  # FIRES missing-await/dropped
    return day


# Awaited, handed to what waits for it, kept for later, or no coroutine at all.
async def quiet_missing_await(day):
    if await is_closed(day):
        return 1
    job = asyncio.create_task(is_closed(day))
    both = await asyncio.gather(is_closed(day), is_closed(day + 1))
    pending = is_closed(day)
    if sync_day(day):
        await pending
    async for x in each_day(day):
        show(x)
    return await job, both


def quiet_missing_await_handed(day):
    return is_closed(day)


def drop_old(ages):
    for name in ages:
        if ages[name] > 9:
            del ages[name]  # FIRES changed-in-loop/changed


def rename_all(ages):
    for name, age in ages.items():
        ages[name.lower()] = age  # FIRES changed-in-loop/changed


def drop_first(names):
    for name in names:
        if name == 'x':
            names.remove(name)  # FIRES changed-in-loop/changed


# A copy, the loop left at once, a value for a key that is there, another collection, a list that grows as it is read.
def puts_before(parts):
    for i, part in enumerate(parts):
        if part:
            parts.insert(i, part)  # FIRES changed-in-loop/changed


def quiet_changed_in_loop_ahead(parts, more):
    for i, part in enumerate(parts):
        if ":" in part:
            parts.insert(i + 1, part[1:])
    for part in more:
        if ":" in part:
            more.insert(more.index(part) + 1, part[1:])
        if "," in part:
            more.insert(len(more), part[1:])


def quiet_changed_in_loop(ages, names, others):
    for name in list(ages):
        del ages[name]
    for name in names:
        if name == 'x':
            names.remove(name)
            break
    for name, age in others.items():
        others[name] = age + 1
        ages.pop(name, None)
    for name in names[:]:
        names.remove(name)
    for name in names:
        names.append(name + 'y')
        if name == 'z':
            names.remove(name)
            return 1
    return 0


def collect(day, seen=[]):
    seen.append(day)  # FIRES shared-default/changed
    return len(seen)


def count(day, seen: dict = {}):
    seen[day] = 1  # FIRES shared-default/changed missing-bounds-check/element
    return len(seen)


class Gate:
    def __init__(self, days=[]):
        self.days = days  # FIRES shared-default/kept

    def open_on(self, day):
        self.days.append(day)  # FIRES missing-null-check/chain


# Only read, replaced before, copied, meant to be shared, or no default that changes.
def quiet_shared_default_written(ticket, why={}):
    if ticket.is_old():
        why["old"] = 1
        return False
    why.update(ticket.reasons())
    return True


def quiet_shared_default_given(tickets):
    def sell(ticket, sold=[]):
        sold.append(ticket)
        return len(sold)

    all_sold = []
    for ticket in tickets:
        sell(ticket, all_sold)
    return all_sold


def quiet_shared_default_same(line, fields={}):
    fields.update(LINE_FIELDS)
    return send_line(line, fields)


def quiet_shared_default(day, seen=[], known=None, more={}, rest=(), _cache={}):
    _cache[0] = rest
    known = known or []
    known.append(day)
    more = dict(more)
    more[day] = rest  # FIRES missing-null-check/result-of-any missing-bounds-check/element
    if day in seen:
        return 1
    return 0


def seconds_between(first, last):
    return (last - first).seconds  # FIRES wrong-call/seconds


def age_of(first, last):
    age = last - first
    return age.seconds // 60  # FIRES wrong-call/seconds


def is_number(x):
    return x == float('nan')  # FIRES wrong-call/nan


def is_five(x):
    return x is 5  # FIRES wrong-call/literal


def clean(name):
    name.strip()  # FIRES wrong-call/dropped unchecked-return/elsewhere
    return name


def order(names):
    sorted(names)  # FIRES wrong-call/dropped
    return names


def check(day):
    if day > 7:
        ValueError('no such day')  # FIRES wrong-call/error
    return day


# The parts of a time together, the total, and results that are used.
def quiet_wrong_call(first, last, name, path, other):
    age = last - first
    show(age.days, age.seconds, (last - first).total_seconds(), other.seconds)
    name = name.strip()
    path.replace(other)
    path.replace('a', other)
    if name is None or name is other or first == 5:
        raise ValueError(name)
    try:
        name.lower()
    except AttributeError:
        return name
    return sorted(name)


def first_number(line):
    return NUMBER.search(line)[0]  # FIRES missing-null-check/pattern


def last_number(line):
    return NUMBER.match(line).group()  # FIRES missing-null-check/pattern


def some_number(line):
    found = NUMBER.search(line)
    return found.group(0)  # FIRES missing-null-check/pattern-result


# Tested before, an error that is caught, no pattern, or a search that always gives something.
def quiet_missing_null_check_pattern(line, store):
    found = NUMBER.search(line)
    if not found:
        return None
    if NUMBER.match(line):
        show(found.group(0))
    try:
        return NUMBER.search(line)[0]
    except TypeError:
        return store.search(line)[0]


def set_state(state):
    gate_lock.acquire()  # FIRES missing-unlock/no-finally
    store_state(state)
    gate_lock.release()


def quiet_missing_unlock_finally(state, gate):
    gate_lock.acquire()
    try:
        store_state(state)
    finally:
        gate_lock.release()
    with gate_lock:
        store_state(state)
    gate_lock.acquire()
    states = [state]
    states.append(state)
    gate_lock.release()
    gate.acquire()
    store_state(states)
    gate.release()


def drop_numbered(names, gone):
    for i, name in enumerate(names):
        if name in gone:
            del names[i]  # FIRES changed-in-loop/changed


def drop_listed(ages):
    for name, age in ages.items():
        if age > 9:
            del ages[name]  # FIRES changed-in-loop/changed
