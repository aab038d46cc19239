#!/usr/bin/env bash
# Builds the Go programs of the benchmark into .cache/bench, or the folder named by the first argument, and prints that
# folder. Does nothing for those that are newer than their sources. Needs Go, and a minute or two the first time.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
bin=${1:-$here/../../.cache/bench}
mkdir -p "$bin"
bin=$(cd -- "$bin" && pwd)
cd -- "$here"

# Where Go's own installer puts it, for shells that were not told.
PATH=$PATH:/usr/local/go/bin
if ! command -v go >/dev/null; then
  echo "bench/client-go/build.sh: Go is not on the path. Install it; go.mod says which version." >&2
  exit 1
fi

for program in informer writer; do
  if [[ ! -x $bin/$program || -n $(find . -newer "$bin/$program") ]]; then
    echo "building $bin/$program" >&2
    GOWORK=off CGO_ENABLED=0 nice go build -mod=readonly -trimpath -buildvcs=false -o "$bin/" "./cmd/$program"
    # Go leaves alone what would come out the same.
    touch "$bin/$program"
  fi
done
echo "$bin"
