#include <string>
#include "shape.hpp"

namespace geo {

// A closed figure.
class Shape : public Base {
public:
    explicit Shape(std::string name);
    virtual double area() const { return 0.0; }
    static int count();
};

struct Point {
    double x, y;
};

double Shape::scale(double by)
{
    return area() * by;
}

template <typename T>
T clamp(T v, T lo, T hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

}  // namespace geo

TEST(Shape, Area)
{
    geo::Shape s("square");
    EXPECT_EQ(s.area(), geo::clamp(0.0, 0.0, 1.0));
}

TEST_CASE("clamps numbers", "[math]") {
    REQUIRE(geo::clamp(3, 0, 2) == 2);
}

struct Money {
    operator bool() const { return cents != 0; }
    explicit operator std::string() const;
    template <typename T> operator Box<T>() const { return Box<T>(cents); }
    bool operator==(const Money &other) const;
    Money &operator>>(int by) { return *this; }
    int operator()(int n) { return n; }
    long cents;
};

Money::operator const char *() const { return "money"; }
