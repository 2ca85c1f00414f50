// habits.go - forms of code that are nearly always a mistake, and code beside it that is none. The marks are those of
// test_examples.c.
package shop

import (
	"fmt"
	"math"
	"strings"
)

func isNumber(x float64) bool {
	return x != math.NaN() // FIRES wrong-call/nan
}

func cleanName(name string) string {
	strings.TrimSpace(name) // FIRES wrong-call/dropped
	return name
}

func checkDay(day int) int {
	if day > 7 {
		fmt.Errorf("no such day: %d", day) // FIRES wrong-call/dropped
	}
	return day
}

func quiet_wrong_call(x float64, name string) (string, error) {
	if math.IsNaN(x) {
		return "", fmt.Errorf("no number: %s", name)
	}
	fmt.Println(name)
	return strings.TrimSpace(name), nil
}
