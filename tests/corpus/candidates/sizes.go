// sizes.go - examples for the rows about sizes that somebody outside chose, units and counts.
package sizes

import (
	"encoding/binary"
	"io"
	"os"
	"time"
)

func takeBlock(head []byte) []byte {
	length := binary.BigEndian.Uint32(head)
	return make([]byte, length) // FIRES unbounded-allocation/length-read
}

func takeRead(r io.Reader) ([]byte, error) {
	var length uint32
	if err := binary.Read(r, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	block := make([]byte, length) // FIRES unbounded-allocation/length-read
	_, err := io.ReadFull(r, block)
	return block, err
}

func rises(signal []int) int {
	n := 0
	for i := 0; i < len(signal); i++ {
		if signal[i] < signal[i+1] { // FIRES off-by-one/next-of
			n++
		}
	}
	return n
}

func quiet_off_by_one_arguments() string {
	for i := 0; i < len(os.Args); i++ {
		if os.Args[i] == "-n" {
			return os.Args[i+1]
		}
	}
	return ""
}

func meanOfWarm(degrees []int) int {
	total, warm := 0, 0
	for _, d := range degrees {
		if d > 20 {
			total += d
			warm++
		}
	}
	return total / warm // FIRES division-by-zero/counted
}

func share(samples []int) int {
	usable := []int{}
	total := 0
	for _, s := range samples {
		if s > 3 {
			usable = append(usable, s)
			total += s
		}
	}
	return total / len(usable) // FIRES division-by-zero/chosen
}

func keepLogin(path, clientSecret string, refresh_token string) error {
	out, err := os.Create(path) // FIRES open-permissions/secret-written FIRES path-traversal/joined
	if err != nil {
		return err
	}
	defer out.Close() // FIRES missing-null-check/result-of-any
	_, err = out.WriteString(refresh_token)
	return err
}

func keepBoth(path, other string, shown string, refresh_token string) error {
	out, err := os.Create(path) // FIRES path-traversal/joined
	if err != nil {
		return err
	}
	_, err = out.WriteString(shown) // FIRES missing-null-check/result-of-any unchecked-return/overwritten
	out, err = os.Create(other) // FIRES open-permissions/secret-written FIRES path-traversal/joined resource-leak/file
	if err != nil {
		return err
	}
	_, err = out.WriteString(refresh_token)
	return err
}

func runFor(runMinutes int) time.Duration {
	return time.Duration(runMinutes) * time.Second // FIRES wrong-operator/unit
}

func endOf(startMs, waitSeconds int64) int64 {
	endMs := startMs + waitSeconds // FIRES wrong-operator/unit
	return endMs
}

type plan struct{ endMs int64 }

func planOf(startMs, waitSeconds int64) plan {
	return plan{endMs: startMs + waitSeconds} // FIRES wrong-operator/unit
}

// compared before, of two bytes, or of a constant
func quiet_unbounded_allocation(head []byte, most uint32) []byte {
	length := binary.BigEndian.Uint32(head)
	if length > most {
		return make([]byte, 16)
	}
	short := binary.BigEndian.Uint16(head)
	return append(make([]byte, length), make([]byte, short)...)
}

// one less, or asked for
func quiet_off_by_one_next(signal []int) int {
	n := 0
	for i := 0; i < len(signal)-1; i++ {
		if signal[i] < signal[i+1] {
			n++
		}
	}
	for i := 0; i < len(signal); i++ {
		if i+1 < len(signal) && signal[i] < signal[i+1] {
			n++
		}
	}
	return n
}

// asked before
func quiet_division_by_zero_counted(degrees []int) int {
	total, warm := 0, 0
	for _, d := range degrees {
		if d > 20 {
			total += d
			warm++
		}
	}
	if warm == 0 {
		return total
	}
	return total / warm
}

// for the owner only
func quiet_open_permissions_secret(path, refresh_token string) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0600) // FIRES path-traversal/joined
	if err != nil {
		return err
	}
	defer out.Close() // FIRES missing-null-check/result-of-any
	_, err = out.WriteString(refresh_token)
	return err
}

// of the unit that the name says, or changed to it
func quiet_wrong_operator_unit(runMinutes int, waitSeconds, startMs int64) (time.Duration, int64) {
	endMs := startMs + waitSeconds*1000
	return time.Duration(runMinutes)*time.Minute + time.Duration(runMinutes*60)*time.Second, endMs
}
