#!/usr/bin/env bash
# Builds kube-apiserver, kube-controller-manager, etcd and the streaming half of a kubelet from their Go modules into
# .cache/cluster/bin, or the folder named by the first argument. Does nothing when that folder already holds binaries of
# exactly these sources. Needs Go, and some minutes the first time.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
bin=${1:-$here/../../.cache/cluster/bin}
mkdir -p "$bin"
bin=$(cd -- "$bin" && pwd)
cd -- "$here"

# Where Go's own installer puts it, for shells that were not told.
PATH=$PATH:/usr/local/go/bin
if ! command -v go >/dev/null; then
  echo "test/cluster/build.sh: Go is not on the path. Install it (go.mod says which version), or let" >&2
  echo "KUBEBUILDER_ASSETS name a folder that holds kube-apiserver and etcd." >&2
  exit 1
fi

stamp=$(
  {
    go version
    cat go.mod go.sum build.sh cmd/*/main.go
  } | git hash-object --stdin
)
names=(etcd kube-apiserver kube-controller-manager exec-kubelet)
present() {
  for name in "${names[@]}"; do [[ -x $bin/$name ]] || return; done
}
if present && [[ $(cat "$bin/stamp" 2>/dev/null) == "$stamp" ]]; then
  echo "${names[*]} are up to date in $bin"
  exit 0
fi

version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
[[ $version =~ ^v([0-9]+)\.([0-9]+)\. ]]
package=k8s.io/component-base/version
flags="-s -w -X $package.gitVersion=$version -X $package.gitMajor=${BASH_REMATCH[1]}"
flags+=" -X $package.gitMinor=${BASH_REMATCH[2]} -X $package.gitTreeState=clean -X $package.gitCommit=unknown"

echo "building ${names[*]} $version into $bin"
started=$SECONDS
# Built beside it: whoever runs the old ones meanwhile keeps them.
built=$bin/built.$$
trap 'rm -rf -- "$built"' EXIT
# GOWORK=off and -mod=readonly: what go.sum pins is what is built, whatever stands around this folder.
GOWORK=off CGO_ENABLED=0 go build -mod=readonly -trimpath -buildvcs=false -ldflags "$flags" -o "$built/" "${names[@]/#/./cmd/}"
rm -f "$bin/stamp"
mv -- "$built"/* "$bin/"
echo "$stamp" >"$bin/stamp"
echo "built in $((SECONDS - started)) s"
