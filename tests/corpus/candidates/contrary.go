// contrary.go - code that contradicts itself, and code beside it that does not. The marks are those of test_examples.c.
package shop

func isOddDay(day string) bool {
	return day != "sunday" || day != "monday" // FIRES inverted-condition/always
}

func isOutside(at int) bool {
	return at < 0 && at > 99 // FIRES inverted-condition/never
}

func quiet_inverted_condition_days(day string, at int) bool {
	return (day != "sunday" && day != "monday") || at < 0 || at > 99
}

func countAway(last int) {
	for i := 0; i > last; i++ { // FIRES inverted-condition/steps-up
		show(i)
	}
	for i := last; i < 8; i-- {
		show(i)
	}
}

func isWithin(left int, right int, x int) bool {
	return x < left || right < x || x < left // FIRES copied-block/operands
}

func isSame(box Box, other Box) bool {
	return box.left == other.left && other.right == other.right // FIRES copied-block/equal
}

func isWithin(x int, left int, right int) bool {
	return x > left && x < right && x > left // FIRES copied-block/operands-chain
}

func quiet_copied_block_operands(x float64, first string) bool {
	return x != x || first == "a b" || first == "ab"
}

func priceOf(kind string) int {
	if kind == "small" {
		return 1
	} else if kind == "large" {
		return 2
	} else if kind == "small" { // FIRES copied-block/again
		return 3
	}
	return 0
}

func quiet_copied_block_again_same(kind string, n int) {
	if kind == "small" || n == 0 {
		openShop(1)
	} else if n == 0 {
		openShop(1)
	}
}

func showKind(kind string, n int) {
	if kind == "small" || n == 0 {
		openShop(1)
	} else if n == 0 { // FIRES copied-block/again-part
		openShop(n)
	}
}

func quiet_copied_block_again(kind string) int {
	if kind == "small" && isSale() {
		return 1
	} else if kind == "small" {
		return 2
	}
	return 0
}

func showPrice(price int, isSale bool) {
	if isSale { // FIRES copied-block/branches
		showNumber(price)
	} else {
		showNumber(price)
	}
}

func quiet_copied_block_branches(price int, isSale bool) {
	if isSale {
		showNumber(price - 1)
	} else {
		showNumber(price)
	}
}

func showAll(n int) {
	j := 0
	for i := 0; i < n; j++ { // FIRES copied-block/loop-variable
		show(j)
	}
}

func quiet_copied_block_loop(n int) {
	j := 0
	for i := 0; i < n; j++ {
		i = stepFrom(j)
	}
}

func keepSize(box Box) Box {
	box.left = box.left // FIRES copied-block/itself-other
	return box
}

func shareOf(whole int, n int) int {
	if n == 0 {
		return whole / n // FIRES division-by-zero/zero-branch
	}
	return 0
}

func quiet_division_by_zero_branch(whole int, n int) int {
	if n == 0 {
		return 0
	}
	return whole / n
}

func feeOf(kind string) int {
	if kind == "small" || kind == "large" {
		return 1
	} else if kind == "large" { // FIRES copied-block/again-part
		return 2
	}
	return 0
}

func quiet_copied_block_again_half(kind string) int {
	if kind == "small" && isSale() {
		return 1
	} else if kind == "small" || kind == "large" {
		return 2
	}
	return 0
}

// An assignment that could not be read as one is none: new of a value is younger than the grammar.
func quiet_copied_block_itself_new(box *Box) {
	box.made = new(time.Now())
	box.seen = box.made // FIRES missing-null-check/parameter
}

func sumOf(box *Box) int {
	sum := 0
	if box != nil && box != nil { // FIRES copied-block/asked-twice
		sum += box.left + box.right
	}
	return sum
}

func sumOfBoth(box *Box, other *Box) int {
	if box != nil && box != nil { // FIRES copied-block/operands
		return box.left + other.left // FIRES missing-null-check/parameter
	}
	return 0
}
