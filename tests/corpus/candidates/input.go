// input.go - statements that were copied and changed in pairs. The marks are those of test_examples.c.
package shop

func clip(box *Box, to Box) {
	if box.x < to.x { // FIRES missing-null-check/parameter
		box.w -= to.x - box.x
		box.x = to.x
	}
	if box.y < to.y {
		box.h -= to.y - box.y
		box.y = to.x // FIRES copied-block/pair
	}
}

func quiet_copied_block_clip(box *Box, to Box) {
	if box.x < to.x { // FIRES missing-null-check/parameter
		box.w -= to.x - box.x
		box.x = to.x
	}
	if box.y < to.y {
		box.h -= to.y - box.y
		box.y = to.y
	}
}

func isSecure(url string) bool {
	return url[:7] == "https://" // FIRES off-by-one/part-length
}

func quiet_off_by_one_part(url string, n int) bool {
	return url[:8] == "https://" || url[:n] == "ftp"
}
