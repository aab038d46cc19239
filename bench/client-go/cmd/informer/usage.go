package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is that of all threads, in user and kernel mode.
func cpuTime() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// liveHeap is what two full collections leave, in bytes.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// peakRSS is the largest resident set so far, in bytes: VmHWM, since the ru_maxrss of a process begins with that of
// its parent.
func peakRSS() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	return peakIn(string(status))
}

func milliseconds(d time.Duration) float64 {
	return float64(d) / float64(time.Millisecond)
}

// peakIn reads the line `VmHWM:	  123 kB` of a process's status.
func peakIn(status string) (int64, error) {
	for line := range strings.Lines(status) {
		var kilobytes int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); err == nil {
			return kilobytes * 1024, nil
		}
	}
	return 0, errors.New("/proc/self/status has no VmHWM")
}
