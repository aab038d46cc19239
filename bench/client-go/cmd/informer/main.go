// Command informer is the peer of informerql's informer: client-go's SharedIndexInformer on pods, measured from the
// inside. It prints its figures as one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	podsByNode   = "podsByNode"
	syncDeadline = 5 * time.Minute
	warmUp       = 3 * time.Second
)

var mediaTypes = map[string]string{
	"json":     "application/json",
	"protobuf": "application/vnd.kubernetes.protobuf",
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of a kubeconfig file")
	encoding := flag.String("encoding", "protobuf", "of the bytes on the wire: protobuf or json")
	events := flag.Duration("events", 0, "how long updates are measured; 0 measures the sync instead")
	flag.Parse()
	figures, err := measure(*kubeconfig, mediaTypes[*encoding], *events)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(figures)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(kubeconfig, mediaType string, events time.Duration) (map[string]float64, error) {
	if mediaType == "" {
		return nil, errors.New("-encoding must be protobuf or json")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.ContentType, config.AcceptContentTypes = mediaType, mediaType
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	baseline, cpu, start := liveHeap(), cpuTime(), time.Now()
	informer, err := newInformer(config)
	if err != nil {
		return nil, err
	}
	window := &window{}
	if events > 0 {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(_, pod any) { window.arrived(pod.(*corev1.Pod)) },
		}); err != nil {
			return nil, err
		}
	}
	go informer.RunWithContext(ctx)
	if err := waitForSync(ctx, informer); err != nil {
		return nil, err
	}
	if events > 0 {
		fmt.Println("synced")
		return window.measure(events), nil
	}
	synced, used := time.Since(start), cpuTime()-cpu
	peak, err := peakRSS()
	if err != nil {
		return nil, err
	}
	live := liveHeap()
	pods := float64(len(informer.GetStore().ListKeys()))
	return map[string]float64{
		"syncMs":      milliseconds(synced),
		"cpuMs":       milliseconds(used),
		"peakRssMB":   float64(peak) / 1e6,
		"bytesPerPod": (float64(live) - float64(baseline)) / pods,
		"pods":        pods,
	}, nil
}

// newInformer is a shared informer as a factory makes it: indexed by namespace and by node, without managedFields.
func newInformer(config *rest.Config) (cache.SharedIndexInformer, error) {
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0,
		informers.WithTransform(withoutManagedFields))
	informer := factory.Core().V1().Pods().Informer()
	return informer, informer.AddIndexers(cache.Indexers{
		podsByNode: func(object any) ([]string, error) {
			return []string{object.(*corev1.Pod).Spec.NodeName}, nil
		},
	})
}

func withoutManagedFields(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields = nil
	}
	return object, nil
}

// waitForSync is WaitForCacheSync without the tenth of a second between its looks.
func waitForSync(ctx context.Context, informer cache.SharedIndexInformer) error {
	ctx, cancel := context.WithTimeout(ctx, syncDeadline)
	defer cancel()
	for !informer.HasSynced() {
		if ctx.Err() != nil {
			return fmt.Errorf("no sync within %s", syncDeadline)
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}
