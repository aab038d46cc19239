// Package written is how a pod says when it was written.
package written

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Annotation of a pod: the moment of its last write, see Now.
const Annotation = "bench/written-ns"

// Now is the monotonic clock that all processes of a machine share, Node's process.hrtime, in nanoseconds.
func Now() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(fmt.Sprintf("CLOCK_MONOTONIC: %v", err))
	}
	return now.Nano()
}
