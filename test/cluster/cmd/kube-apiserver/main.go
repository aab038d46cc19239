// Command kube-apiserver is the genuine Kubernetes API server, built from its Go module for the tests.
package main

import (
	"os"
	_ "time/tzdata" // CronJob time zones, on machines without a zone database

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
