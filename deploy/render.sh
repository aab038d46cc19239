#!/usr/bin/env bash
# Writes deploy/kubernetes.yaml, the rendering of the chart with deploy/kubernetes-values.yaml. HELM names the helm to use.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
built=../.cache/cluster/bin/helm
[[ -n ${HELM:-} ]] || { [[ -x $built ]] && HELM=$built || HELM=helm; }
{
  cat <<'HEAD'
# The gateway in a cluster: with an account of its own that may read and ask for reviews, as nobody in particular, on a file system that
# nobody writes to. Callers show their own tokens; what they see is what RBAC lets them. docs/security.md says why each is as it is.
#
#   kubectl apply -f deploy/kubernetes.yaml
#   kubectl -n informerql create secret tls informerql-tls --cert=tls.crt --key=tls.key
#
# Written by deploy/render.sh from deploy/chart: change that, or install it with helm (docs/production.md).
HEAD
  "$HELM" template informerql chart --namespace informerql --kube-version 1.36.3 --values kubernetes-values.yaml
} >"${1:-kubernetes.yaml}"
