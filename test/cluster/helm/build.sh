#!/usr/bin/env bash
# Builds helm from its Go module into .cache/cluster/bin. Does nothing when that folder already holds the helm of exactly these sources.
# Needs Go, and two minutes of CPU the first time.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
bin=../../../.cache/cluster/bin
mkdir -p "$bin"
PATH=$PATH:/usr/local/go/bin
stamp=$({ go version && cat go.mod go.sum build.sh; } | git hash-object --stdin)
if [[ -x $bin/helm && $(cat "$bin/helm.stamp" 2>/dev/null) == "$stamp" ]]; then
  echo "helm is up to date"
  exit 0
fi
started=$SECONDS
GOWORK=off CGO_ENABLED=0 go build -mod=readonly -trimpath -buildvcs=false -ldflags '-s -w' -o "$bin/helm.$$" helm.sh/helm/v3/cmd/helm
mv -- "$bin/helm.$$" "$bin/helm"
echo "$stamp" >"$bin/helm.stamp"
echo "built in $((SECONDS - started)) s"
