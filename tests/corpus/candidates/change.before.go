// change.go before a change took something from its functions.
package change

func firstOf(b *box) int {
	if b == nil {
		return -1
	}
	return b.n
}

func itemOf(all []int, n int, i int) int {
	if i >= n {
		return -1
	}
	return all[i]
}

func readInParts(stream *stream, size int) int {
	if size < 1 {
		return -1
	}
	return stream.readSome(size)
}

func partOf(all int, n int) int {
	if n == 0 {
		return 0
	}
	return all / n
}

func drop(b *box) {
	say(b)
	b.Close()
}

func leaveBox(b *box, n int) int {
	if n > 3 {
		say(b)
	}
	b.Close()
	return n
}

func (b *box) countUp() int {
	b.lock.Lock()
	b.n++
	if b.n > 9 {
		b.lock.Unlock()
		return -1
	}
	b.lock.Unlock()
	return b.n
}

func renameBox(b *box, kind int, name string) int {
	if kind == 7 {
		return -1
	}
	return nameIt(b, kind, name)
}

func readPair(data []byte, size int) int {
	if size < 8 {
		return -1
	}
	return readLong(data)
}

func storeAll(b *box, n int) int {
	if storeItem(b, n) < 0 {
		return -1
	}
	return 0
}

func quiet_missing_null_check(b *box) int {
	if b == nil {
		return -1
	}
	return b.n
}

func quiet_missing_bounds_check(all []int, n int, i int) int {
	if i >= n {
		return -1
	}
	return all[i]
}

func quiet_division_by_zero(all int, n int) int {
	if n == 0 {
		return 0
	}
	return all / n
}

func quiet_resource_leak(b *box) {
	say(b)
	b.Close()
}

func quiet_regression(b *box, kind int, name string) int {
	if kind == 7 {
		return -1
	}
	return nameIt(b, kind, name)
}
