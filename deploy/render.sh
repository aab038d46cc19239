#!/usr/bin/env bash
# Writes deploy/kubernetes.yaml, the rendering of the chart with deploy/kubernetes-values.yaml. HELM names the helm to use.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
built=../.cache/cluster/bin/helm
[[ -n ${HELM:-} ]] || { [[ -x $built ]] && HELM=$built || HELM=helm; }
{
  cat <<'HEAD'
# The gateway in a cluster. Its account may read, and ask for reviews; it runs as a user without privileges, on a read-only file system.
# Callers send their own tokens and see what RBAC allows them. docs/security.md gives the reasons.
#
#   kubectl apply -f deploy/kubernetes.yaml
#   kubectl -n informerql create secret tls informerql-tls --cert=tls.crt --key=tls.key
#
# Written by deploy/render.sh from deploy/chart: change that, or install it with helm (docs/production.md).
HEAD
  "$HELM" template informerql chart --namespace informerql --kube-version 1.36.3 --values kubernetes-values.yaml
} >"${1:-kubernetes.yaml}"
