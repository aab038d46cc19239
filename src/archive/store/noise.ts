/*
 * What is no change: fields that tick while nothing happens, by kind. A write that changes nothing else updates the row of the
 * object, and is not told; other changes are told without them. The state at a past time is exact but for these fields, and
 * for `resourceVersion` and `generation` of `metadata`: they are those of the next change, or of the last write.
 */

import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { ArchivedKind } from '../archive-calls.ts'
import { edited, stepsOf } from './paths.ts'

/** Of all kinds. */
const everywhere: readonly string[] = [
  // Leader election before there were Leases, by Endpoints and ConfigMaps.
  '/metadata/annotations/control-plane.alpha.kubernetes.io~1leader',
  '/status/conditions/*/lastHeartbeatTime',
  '/status/conditions/*/lastProbeTime',
]

/** By group and resource, by group and any resource, or by group, resource and name. */
const byKind: Readonly<Record<string, readonly string[]>> = {
  '/configmaps': ['/metadata/annotations/cluster-autoscaler.kubernetes.io~1last-updated'],
  '/configmaps/cluster-autoscaler-status': ['/data/status'],
  '/endpoints': ['/metadata/annotations/endpoints.kubernetes.io~1last-change-trigger-time'],
  '/events': ['/count', '/lastTimestamp', '/series'],
  'aquasecurity.github.io/*': ['/report/updateTimestamp'],
  'argoproj.io/applications': ['/status/observedAt', '/status/reconciledAt'],
  'autoscaling/horizontalpodautoscalers': [
    '/metadata/annotations/autoscaling.alpha.kubernetes.io~1current-metrics',
    '/status/currentCPUUtilizationPercentage',
    '/status/currentMetrics',
  ],
  'autoscaling.k8s.io/verticalpodautoscalercheckpoints': ['/status'],
  'autoscaling.k8s.io/verticalpodautoscalers': ['/status/recommendation'],
  'ceph.rook.io/cephclusters': ['/status/ceph/capacity', '/status/ceph/lastChecked'],
  'constraints.gatekeeper.sh/*': ['/status/auditTimestamp'],
  'coordination.k8s.io/leases': ['/spec/renewTime'],
  'discovery.k8s.io/endpointslices': [
    '/metadata/annotations/endpoints.kubernetes.io~1last-change-trigger-time',
  ],
  'events.k8s.io/events': ['/deprecatedCount', '/deprecatedLastTimestamp', '/series'],
  'external-secrets.io/externalsecrets': ['/status/refreshTime'],
  'karpenter.sh/nodeclaims': ['/status/lastPodEventTime'],
  'keda.sh/scaledobjects': ['/status/lastActiveTime'],
  'longhorn.io/nodes': [
    '/status/diskStatus/*/conditions/*/lastProbeTime',
    '/status/diskStatus/*/storageAvailable',
  ],
  'longhorn.io/volumes': ['/status/actualSize'],
  'velero.io/backupstoragelocations': ['/status/lastSyncedTime', '/status/lastValidationTime'],
  'wgpolicyk8s.io/*': ['/results/*/timestamp'],
}

const steps = new Map<string, readonly (readonly string[])[]>()

/** An object without the fields that only tick. */
export function withoutNoise({ group, resource }: ArchivedKind, object: object): object {
  const { name } = (object as { metadata?: { name?: unknown } }).metadata ?? {}
  const kind = `${group}/${resource}`
  let quiet: unknown = object
  for (const key of ['', kind, `${group}/*`, `${kind}/${String(name)}`]) {
    if (key !== '' && !Object.hasOwn(byKind, key)) continue
    const paths = getOrInsert(steps, key, () =>
      (key === '' ? everywhere : (byKind[key] ?? [])).map(stepsOf),
    )
    for (const path of paths) quiet = edited(quiet, path, () => undefined)
  }
  return quiet as object
}
