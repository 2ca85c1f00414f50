// alone.go - faults that the text of one function shows, whatever its callers do, and code beside them that is right. The
// marks are those of test_examples.c.
package shop

import "os"

func sumOf(prices []int) int {
	sum := 0
	for i := 0; i <= len(prices); i++ { // FIRES off-by-one/behind
		sum += prices[i]
	}
	return sum
}

func countNames(names []string) map[string]int {
	var count map[string]int
	for _, name := range names {
		count[name]++ // FIRES missing-null-check/nil-map
	}
	return count
}

func sizeOf() int64 {
	f, err := os.Open("notes.txt")
	defer f.Close() // FIRES missing-null-check/deferred
	if err != nil {
		return 0
	}
	return 1
}

func quiet_off_by_one(prices []int) int {
	sum := 0
	for i := 0; i < len(prices); i++ {
		sum += prices[i]
	}
	return sum
}

func quiet_missing_null_check(names []string) int64 {
	var count map[string]int
	count = map[string]int{}
	for _, name := range names {
		count[name]++
	}
	return int64(count["a"])
}

func sizeOfAsked() int64 {
	f, err := os.Open("notes.txt")
	if err != nil {
		return 0
	}
	defer f.Close() // FIRES missing-null-check/result-of-any
	return 1
}

func sumOfCounts(counts map[int]int) int {
	sum := 0
	for i := 0; i <= len(counts); i++ { // FIRES off-by-one/at-most-own
		sum += counts[i]
	}
	return sum
}

func billingOf() string {
	billing := "sk_live_9aQ2mZ7tK4xLr8Vb3Nc6Wd1E" // FIRES hardcoded-secret/live-key
	return billing
}

func quiet_hardcoded_secret() string {
	prefix := "sk_live_"
	return prefix
}
