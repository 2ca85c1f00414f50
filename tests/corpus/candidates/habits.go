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

func acquireShop(n int) bool {
	shopLock.Lock() // FIRES missing-unlock/early
	if n > 3 {
		shopLock.Unlock()
		return false
	}
	return true
}

func takeAll(n int) int {
	shopLock.Lock() // FIRES missing-unlock/one-way
	if n > 9 {
		return -1
	}
	countGates(n)
	shopLock.Unlock()
	return 0
}

func quiet_missing_unlock_one_way(n int) int {
	shopLock.Lock()
	if n > 9 {
		shopLock.Unlock()
		return -1
	}
	shopLock.Unlock()
	shopLock.RLock()
	defer shopLock.RUnlock()
	if n > 7 {
		return 1
	}
	return 0
}

func takeNext(n int) int {
	shopLock.Lock() // FIRES missing-unlock/early
	for n > 0 {
		if n == 9 {
			return -1
		}
		n--
	}
	shopLock.Unlock()
	return 0
}
