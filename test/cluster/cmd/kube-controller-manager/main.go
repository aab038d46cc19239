// Command kube-controller-manager is the genuine set of Kubernetes controllers, built from its Go module for the tests.
package main

import (
	"os"
	_ "time/tzdata" // CronJob time zones, on machines without a zone database

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
