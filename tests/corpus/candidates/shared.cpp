// What is shared without a lock, and what is gone when it is used.
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

class Board {
public:
    void put(int key, int value)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        scores_[key] = value;
        marks_[key] = value;
    }

    int get(int key) const
    {
        std::lock_guard<std::mutex> hold(mutex_);
        const auto it = scores_.find(key);
        return it == scores_.end() ? 0 : it->second + (marks_.find(key) == marks_.end() ? 0 : 1);
    }

    int sum() const
    {
        int all = 0;
        for (const auto &entry : scores_) // FIRES missing-lock/unlocked
            all += entry.second;
        return all;
    }

    int quiet_missing_lock_sum() const
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return total();
    }

    int quiet_missing_lock_own(const std::map<int, int> &marks_) const
    {
        int all = 0;
        for (const auto &entry : marks_)
            all += entry.second;
        return all;
    }

private:
    int total() const
    {
        int all = 0;
        for (const auto &entry : marks_)
            all += entry.second;
        return all;
    }

    mutable std::mutex mutex_;
    std::map<int, int> scores_;
    std::map<int, int> marks_;
};

static std::string_view stem(const std::string &path)
{
    std::string name = path.substr(0, path.find('.'));
    return name; // FIRES use-after-free/local
}

static const std::string &quiet_use_after_free_static(const std::string &path)
{
    static std::string name = "none";
    return path.empty() ? name : path;
}

static std::string quiet_use_after_free_copy(const std::string &path)
{
    std::string name = path.substr(1);
    return name;
}

struct Node {
    int first;
    int last;
};

static void split(std::vector<Node> &nodes, int middle)
{
    Node &whole = nodes.back(); // FIRES use-after-free/moved
    nodes.push_back(Node{middle, whole.last});
    whole.last = middle;
}

static void quiet_use_after_free_moved(std::vector<Node> &nodes, std::map<int, Node> &named, int middle)
{
    Node &whole = nodes.back();
    whole.last = middle;
    nodes.push_back(Node{middle, middle});
    Node &other = named[middle];
    named.insert({middle + 1, Node{0, 0}});
    other.last = middle;
}

// A key of a map adds what it does not have; a place of a vector must be there.
struct Lights {
    std::vector<int> order;

    void quiet_missing_bounds_check_keys(const char *text, const std::string &name)
    {
        int id = atoi(text); // FIRES missing-null-check/argument
        std::unordered_map<int, int> found;
        found[id] = 1;
        if (known.find(id) != known.end())
            found[id] = 2;
        known[id] = 1;
        titles[id] = name;
        if (rooms.count(id) == 0)
            rooms[id] = 1;
    }

    void putAll(const char *text)
    {
        int id = atoi(text); // FIRES missing-null-check/argument
        order[id] = 1; // FIRES missing-bounds-check/index-input
    }
};

// What a function takes off by value is there: its name is that of the type.
static void quiet_unchecked_return_popped(Stack &all)
{
    NodeSet first;
    node_set second;
    second = all.pop_node_set();
    join_all(first, second);
}

static void pop_state(Stack &all)
{
    int rc = all.tls_set(); // FIRES unchecked-return/not-tested-number
    show_number(rc);
}
