// A backend of a portal in Go: asks the gateway once, then follows the pods of a namespace, with types and functions
// that genqlient generates from the gateway's schema.
//
//	npx informerql schema > schema.graphql
//	go tool genqlient
//	go run . -gateway http://127.0.0.1:8080/graphql -namespace default
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/Khan/genqlient/graphql"
	"github.com/gorilla/websocket"
)

func main() {
	gateway := flag.String("gateway", "http://127.0.0.1:8080/graphql", "the gateway's address")
	namespace := flag.String("namespace", "default", "the namespace to follow")
	token := flag.String("token", os.Getenv("INFORMERQL_TOKEN"), "a bearer token, if the gateway wants one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *gateway, *namespace, *token); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, gateway, namespace, token string) error {
	client := graphql.NewClient(gateway, bearer{token})
	answer, err := PodsOf(ctx, client, namespace)
	// An answer may have data and errors. Without pods, only the errors tell why.
	if answer == nil || answer.Pods == nil {
		return fmt.Errorf("the pods of %s cannot be read: %w", namespace, err)
	}
	fmt.Printf("%d pods in %s\n", answer.Pods.TotalCount, namespace)
	for _, pod := range answer.Pods.Nodes {
		fmt.Printf("  %s %s %v\n", pod.Name, time.Since(pod.CreationTimestamp).Round(time.Second), requests(pod))
	}
	// A connection that ends is opened again: the first frame of a new subscription has `reset`, so nothing is missed.
	for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, 30*time.Second) {
		synced, err := follow(ctx, gateway, namespace, token)
		if synced {
			pause = time.Second
		}
		fmt.Fprintf(os.Stderr, "the subscription has ended (%v); again in %s\n", err, pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return ctx.Err()
}

type pod = FollowPodsPodsPodFrameChangesPodChangeObjectPod

// follow prints the changes of the pods until the connection or the subscription ends. synced: whether it has begun.
func follow(ctx context.Context, gateway, namespace, token string) (synced bool, err error) {
	address := strings.Replace(gateway, "http", "ws", 1)
	parameters := map[string]any{}
	if token != "" {
		parameters["authorization"] = "Bearer " + token
	}
	socket := graphql.NewClientUsingWebSocket(address, dialer{}, graphql.WithConnectionParams(parameters))
	ended, err := socket.Start(ctx)
	if err != nil {
		return false, err
	}
	defer socket.Close()
	frames, _, err := FollowPods(ctx, socket, namespace)
	if err != nil {
		return false, err
	}
	pods := map[string]*pod{}
	for {
		select {
		case <-ctx.Done():
			return synced, ctx.Err()
		case err := <-ended:
			return synced, err
		case frame, isOpen := <-frames:
			if !isOpen {
				return synced, errors.New("the gateway has completed it")
			}
			// genqlient drops the data of a frame that has errors, so its changes are lost: begin again.
			if len(frame.Errors) > 0 || frame.Data == nil || frame.Data.Pods == nil {
				return synced, frame.Errors
			}
			fold(pods, frame.Data.Pods)
			if !synced && frame.Data.Pods.Synced {
				synced = true
				fmt.Printf("following %d pods\n", len(pods))
			}
		}
	}
}

// fold applies a frame to the pods that are held, by the `id` of each.
func fold(pods map[string]*pod, frame *FollowPodsPodsPodFrame) {
	if frame.Reset {
		clear(pods)
	}
	for _, change := range frame.Changes {
		if change.Type == ChangeTypeRemoved {
			if gone := pods[change.ObjectId]; gone != nil {
				fmt.Printf("- %s\n", gone.Name)
			}
			delete(pods, change.ObjectId)
			continue
		}
		pods[change.ObjectId] = change.Object
		if frame.Synced && change.Object != nil {
			fmt.Printf("~ %s %s\n", change.Object.Name, phase(change.Object))
		}
	}
}

func phase(one *pod) string {
	if one.Status == nil || one.Status.Phase == nil {
		return "Unknown"
	}
	return *one.Status.Phase
}

// requests lists what the containers ask for: their quantities as Kubernetes writes them.
func requests(one PodsOfPodsPodConnectionNodesPod) []string {
	texts := []string{}
	if one.Spec == nil {
		return texts
	}
	for _, container := range one.Spec.Containers {
		if container.Resources == nil || container.Resources.Requests == nil {
			continue
		}
		for name, quantity := range *container.Resources.Requests {
			texts = append(texts, name+"="+string(quantity))
		}
	}
	return texts
}

// bearer sends requests with the token.
type bearer struct{ token string }

func (with bearer) Do(request *http.Request) (*http.Response, error) {
	if with.token != "" {
		request.Header.Set("Authorization", "Bearer "+with.token)
	}
	return http.DefaultClient.Do(request)
}

// dialer opens WebSockets for genqlient by gorilla/websocket.
type dialer struct{}

func (dialer) DialContext(ctx context.Context, address string, header http.Header) (graphql.WSConn, error) {
	connection, _, err := websocket.DefaultDialer.DialContext(ctx, address, header)
	return connection, err
}
