// habits.cpp - forms of code that are nearly always a mistake, and code beside it that is none. The marks are those of
// test_examples.c.
#include <map>
#include <vector>

void drop_old(std::map<int, int> &ages)
{
    for (auto it = ages.begin(); it != ages.end(); ++it) {
        if (it->second > 9) // FIRES missing-null-check/result-of-any
            ages.erase(it); // FIRES changed-in-loop/erased
    }
}

// A number starts the one loop, and a position the other, which is an iterator whatever it is called.
void quiet_changed_in_loop_by_key(std::map<unsigned long, int> &ages, std::map<long, int> &rooms, unsigned n)
{
    std::map<long, int>::size_type at;
    for (std::size_t i = n; i > 2; i--)
        ages.erase(i);
    for (auto i = 0; i < 9; ++i)
        rooms.erase(i);
    for (at = n - 1; at > n / 2; --at)
        rooms.erase(at);
    for (uint32_t key = n / 2; key < n; key++)
        ages.erase(key);
}

void drop_from(std::map<int, int> &ages, std::map<int, int>::iterator n)
{
    for (std::map<int, int>::iterator i = n; i != ages.end(); i++)
        ages.erase(i); // FIRES changed-in-loop/erased
}

void repeat(std::vector<int> &days)
{
    for (int day : days) {
        if (day > 5)
            days.push_back(day); // FIRES changed-in-loop/changed
    }
}

// The iterator that erase gives, the loop left at once, and another collection.
void quiet_changed_in_loop(std::map<int, int> &ages, std::vector<int> &days, std::vector<int> &more)
{
    for (auto it = ages.begin(); it != ages.end();) {
        if (it->second > 9) // FIRES missing-null-check/result-of-any
            it = ages.erase(it); // FIRES unchecked-return/forgotten
        else
            ++it;
    }
    for (auto it = ages.begin(); it != ages.end(); ++it) {
        if (it->second > 9) {
            ages.erase(it);
            break;
        }
    }
    for (int day : days)
        more.push_back(day);
}

int price_of(int kind)
{
    int price = 0;
    switch (kind) {
    case 1: price = 1; break;
    case 2:
        price = 2; // FIRES missing-break/runs-on
    case 3:
        price = 3;
        break;
    case 4: return 4;
    default: price = 5; break;
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

int quiet_missing_break(int kind)
{
    int price = 0;
    switch (kind) {
    case 1: price = 1; break;
    case 2: price = 2; [[fallthrough]];
    case 3: price += 3; break;
    case 4: throw kind;
    case 5: return 4;
    default: break;
    }
    return price;
}

int take_all(int n)
{
    shop_lock.lock(); // FIRES missing-unlock/one-way
    if (n > 9)
        return -1;
    count_gates(n);
    shop_lock.unlock();
    return 0;
}

int quiet_missing_unlock_one_way(int n)
{
    shop_lock.lock();
    if (n > 9) {
        shop_lock.unlock();
        return -1;
    }
    count_gates(n);
    shop_lock.unlock();
    return 0;
}

int take_next(int n)
{
    shop_lock.lock(); // FIRES missing-unlock/early
    while (n > 0) {
        if (n == 9)
            return -1;
        n--;
    }
    shop_lock.unlock();
    return 0;
}
