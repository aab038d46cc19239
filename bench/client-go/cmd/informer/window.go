package main

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"informerql.bench/client-go/written"
)

// window takes the time from the write of a pod to its arrival here while it is open.
type window struct {
	mutex     sync.Mutex
	open      bool
	latencies []int64
}

func (w *window) arrived(pod *corev1.Pod) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if !w.open {
		return
	}
	at, err := strconv.ParseInt(pod.Annotations[written.Annotation], 10, 64)
	if err == nil {
		w.latencies = append(w.latencies, written.Now()-at)
	}
}

func (w *window) set(open bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.open = open
}

// measure warms up, then opens the window for so long.
func (w *window) measure(duration time.Duration) map[string]float64 {
	time.Sleep(warmUp)
	fmt.Println("measuring")
	w.set(true)
	start, cpu := time.Now(), cpuTime()
	time.Sleep(duration)
	w.set(false)
	used, elapsed := cpuTime()-cpu, time.Since(start)
	slices.Sort(w.latencies)
	events := float64(len(w.latencies))
	return map[string]float64{
		"events/s":      events / elapsed.Seconds(),
		"p50Ms":         w.percentile(0.5),
		"p99Ms":         w.percentile(0.99),
		"cpuUsPerEvent": float64(used.Microseconds()) / events,
	}
}

// percentile of the sorted latencies, in milliseconds; 0 where there are none.
func (w *window) percentile(part float64) float64 {
	if len(w.latencies) == 0 {
		return 0
	}
	at := min(len(w.latencies)-1, int(part*float64(len(w.latencies))))
	return milliseconds(time.Duration(w.latencies[at]))
}
