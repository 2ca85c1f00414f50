// @no on_done
const char *raw = R"x(
@no g_level " )" MAX_DEPTH
)x";
constexpr int big = 1'000'000 + MAX_DEPTH;
class Conf {
public:
    explicit Conf(int n) : limit(n) {}
    int limit = 3; // @word
    std::function<void()> on_done;
    int work()
    {
        this->limit = g_level; // @assigns
        limit += 1; // @assigns
        auto f = [this] { return limit; }; // @returns
        on_done = nullptr; // @assigns
        std::vector<int> g_level = {}; // @word
        return limit; // @returns
    }
};
const wchar_t *w = L"@no limit";
char c = u8'"' + MAX_DEPTH; // @word
