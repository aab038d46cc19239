// Imports internals: thousands of objects of any shape are judged and printed, more than a gateway would be asked for.
import { describe, expect, it } from 'vitest'
import { healthStatuses, ruledHealth } from '../../src/kubernetes/health/health.ts'
import { healthRuleOf } from '../../src/kubernetes/health/health-rules.ts'
import { type Cell, printedCell, type PrintedKind } from '../../src/kubernetes/printing/column.ts'
import { customColumns } from '../../src/kubernetes/printing/custom-columns.ts'
import { printedKindOf } from '../../src/kubernetes/printing/printed-kinds.ts'
import { runSeed, seededRandom } from '../support/random.ts'

type Json = Readonly<Record<string, unknown>>

const kinds: readonly (readonly [group: string, version: string, kind: string])[] = [
  ...[
    'Pod',
    'Node',
    'Namespace',
    'Service',
    'ConfigMap',
    'Secret',
    'ServiceAccount',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'ReplicationController',
    'ResourceQuota',
    'LimitRange',
    'Event',
  ].map((kind) => ['', 'v1', kind] as const),
  ...['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'].map(
    (kind) => ['apps', 'v1', kind] as const,
  ),
  ['batch', 'v1', 'Job'],
  ['batch', 'v1', 'CronJob'],
  ['autoscaling', 'v2', 'HorizontalPodAutoscaler'],
  ['policy', 'v1', 'PodDisruptionBudget'],
  ['networking.k8s.io', 'v1', 'Ingress'],
  ['networking.k8s.io', 'v1', 'IngressClass'],
  ['networking.k8s.io', 'v1', 'NetworkPolicy'],
  ['discovery.k8s.io', 'v1', 'EndpointSlice'],
  ['storage.k8s.io', 'v1', 'StorageClass'],
  ['storage.k8s.io', 'v1', 'VolumeAttachment'],
  ['rbac.authorization.k8s.io', 'v1', 'RoleBinding'],
  ['coordination.k8s.io', 'v1', 'Lease'],
  ['scheduling.k8s.io', 'v1', 'PriorityClass'],
  ['admissionregistration.k8s.io', 'v1', 'ValidatingWebhookConfiguration'],
  ['apiextensions.k8s.io', 'v1', 'CustomResourceDefinition'],
  ['apiregistration.k8s.io', 'v1', 'APIService'],
  ['certificates.k8s.io', 'v1', 'CertificateSigningRequest'],
  ['flowcontrol.apiserver.k8s.io', 'v1', 'FlowSchema'],
  ['argoproj.io', 'v1alpha1', 'Application'],
  ['example.com', 'v1', 'Gear'],
]

const custom = customColumns([
  { name: 'A', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'B', type: 'integer', jsonPath: '.spec.replicas' },
  { name: 'C', type: 'date', jsonPath: '.status.phase' },
  { name: 'D', type: 'string', jsonPath: '.spec' },
  { name: 'E', type: 'boolean', jsonPath: '.status.conditions[0].type' },
])

/** Texts that mean something somewhere, and some that do not. */
const texts = [
  '',
  'True',
  'False',
  'Unknown',
  'Ready',
  'Running',
  'Failed',
  'Completed',
  'x',
  '1Gi',
]
const plain = [null, true, false, 0, 1, -3, 2.5, 1e300, '2026-01-01T00:00:00Z', ...texts]

/** Anything that JSON allows, of members that are known. */
class AnyJson {
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T
  }

  value(names: readonly string[], depth: number): unknown {
    const choice = this.#random()
    if (depth === 0 || choice < 0.2) return this.pick(plain)
    const length = Math.floor(this.#random() * 4)
    if (choice < 0.45) return Array.from({ length }, () => this.value(names, depth - 1))
    return this.object(names, depth)
  }

  object(names: readonly string[], depth: number): Json {
    const count = Math.floor(this.#random() * 5)
    const chosen = Array.from({ length: count }, () => this.pick(names))
    return Object.fromEntries(chosen.map((name) => [name, this.value(names, depth - 1)]))
  }
}

const common = [
  'type',
  'status',
  'reason',
  'name',
  'state',
  'lastState',
  'waiting',
  'terminated',
  'exitCode',
  'conditions',
  'phase',
  'template',
  'spec',
  'containers',
  'matchLabels',
  'containerStatuses',
  'initContainerStatuses',
  'deletionTimestamp',
  'annotations',
  'labels',
  'replicas',
  'ports',
  'rules',
  'metrics',
  'resource',
  'target',
  'currentMetrics',
  'loadBalancer',
  'ingress',
  'endpoints',
  'addresses',
  'subjects',
  'hard',
  'used',
  'capacity',
  'selector',
  'series',
  'involvedObject',
  'parents',
  'health',
]

function cellsOf({ columns }: PrintedKind, object: Json): readonly Cell[] {
  const cells = columns.map((column) => column.cell(object))
  for (const [at, column] of columns.entries()) printedCell(column, cells[at] as Cell, 0)
  return cells
}

describe(`of objects of any shape, seed ${runSeed}`, () => {
  const rounds = 300

  it.each(kinds)('%s/%s %s is told without a failure', (group, version, kind) => {
    const any = new AnyJson(seededRandom(runSeed))
    const rule = healthRuleOf({ group, kind })
    const printed = printedKindOf({ group, version, kind }) ?? custom
    for (let round = 0; round < rounds; round++) {
      const top = {
        metadata: any.object(common, 4),
        spec: any.value(common, 5),
        status: any.object(common, 6),
      }
      const object = { ...any.object(common, 3), ...top }
      const about = JSON.stringify(object)
      const health = ruledHealth(rule, object)
      expect([undefined, ...healthStatuses], about).toContain(health?.status)
      expect(cellsOf(printed, object), about).toHaveLength(printed.columns.length)
    }
  })
})
