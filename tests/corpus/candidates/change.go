// What a change took away: change.before.go is the file before it. The marks are those of test_examples.c.
package change

func firstOf(b *box) int {
	return b.n // FIRES missing-null-check/removed-test
}

func itemOf(all []int, n int, i int) int {
	return all[i] // FIRES missing-bounds-check/removed-upper
}

func readInParts(stream *stream, size int) int {
	return stream.readSome(size) // FIRES missing-bounds-check/removed-lower
}

func partOf(all int, n int) int {
	return all / n // FIRES division-by-zero/removed-test
}

func drop(b *box) {
	say(b) // FIRES resource-leak/removed-release
}

func leaveBox(b *box, n int) int {
	if n > 3 {
		say(b)
		b.Close() // FIRES resource-leak/removed-way
	}
	return n
}

func (b *box) countUp() int {
	b.lock.Lock()
	b.n++
	if b.n > 9 {
		return -1 // FIRES regression/removed-lock
	}
	b.lock.Unlock()
	return b.n
}

func renameBox(b *box, kind int, name string) int {
	return nameIt(b, kind, name) // FIRES regression/removed-test
}

func readPair(data []byte, size int) int {
	return readLong(data) // FIRES regression/removed-guard
}

func storeAll(b *box, n int) int {
	storeItem(b, n) // FIRES regression/removed-check
	return 0
}

func quiet_missing_null_check(b *box) int {
	if b == nil || b.n < 1 {
		return -1
	}
	return b.n
}

func quiet_missing_bounds_check(all []int, n int, i int) int {
	if !isIn(n, i) {
		return -1
	}
	return all[i]
}

func quiet_division_by_zero(all int, n int) int {
	n = orOne(n)
	return all / n
}

func quiet_resource_leak(b *box) {
	say(b)
	keep(b)
}

func quiet_regression(b *box, kind int, name string) int {
	if !mayRename(b, kind) {
		return -1
	}
	return nameIt(b, kind, name)
}
