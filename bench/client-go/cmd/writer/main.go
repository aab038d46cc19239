// Command writer updates the pods of a cluster at an even pace, straight in etcd and in the form in which an API server
// stores them: from the first line of its standard input to its end. Then it prints how many it wrote per second.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"

	"informerql.bench/client-go/written"
)

// So many writes may wait for etcd; beyond that the pace drops, which the rate tells.
const mostWaiting = 64

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of a kubeconfig file")
	etcd := flag.String("etcd", "", "URL of etcd")
	rate := flag.Float64("rate", 1000, "updates per second")
	flag.Parse()
	achieved, err := write(*kubeconfig, *etcd, *rate)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(achieved)
}

func write(kubeconfig, etcd string, rate float64) (float64, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	pods, err := listPods(ctx, kubeconfig)
	if err != nil {
		return 0, err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd}, DialTimeout: 10 * time.Second})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	fmt.Println("ready")
	orders := bufio.NewReader(os.Stdin)
	if _, err := orders.ReadString('\n'); err != nil {
		return 0, nil
	}
	go func() {
		_, _ = io.Copy(io.Discard, orders)
		stop()
	}()
	return (&writer{client: client, pods: pods}).run(ctx, rate)
}

func listPods(ctx context.Context, kubeconfig string) ([]corev1.Pod, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	list, err := clientset.CoreV1().Pods("").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, errors.New("there are no pods to update")
	}
	return list.Items, nil
}

type writer struct {
	client *clientv3.Client
	pods   []corev1.Pod

	failing sync.Once
	failure error
}

// run writes until the context ends.
func (w *writer) run(ctx context.Context, rate float64) (float64, error) {
	encoder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	slots := make(chan struct{}, mostWaiting)
	start, updates := time.Now(), 0
	for ctx.Err() == nil {
		<-tick.C
		for due := int(time.Since(start).Seconds() * rate); updates < due && len(slots) < mostWaiting; updates++ {
			// A stride that visits every pod, and neighbours (siblings, mostly) far apart in time.
			pod := &w.pods[updates*7919%len(w.pods)]
			update(pod)
			var text bytes.Buffer
			if err := encoder.Encode(pod, &text); err != nil {
				return 0, err
			}
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				w.put("/registry/pods/"+pod.Namespace+"/"+pod.Name, text.String())
			}()
		}
	}
	elapsed := time.Since(start)
	for range mostWaiting {
		slots <- struct{}{}
	}
	return float64(updates) / elapsed.Seconds(), w.failure
}

// update writes a status as a kubelet does, and the moment of the write.
func update(pod *corev1.Pod) {
	pod.APIVersion, pod.Kind, pod.ResourceVersion = "v1", "Pod", ""
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].RestartCount++
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[written.Annotation] = strconv.FormatInt(written.Now(), 10)
}

func (w *writer) put(key, value string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if _, err := w.client.Put(ctx, key, value); err != nil {
		w.failing.Do(func() { w.failure = err })
	}
}
