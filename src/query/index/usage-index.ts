import type { IndexDefinition } from './index-definition.ts'

/** The indexes of the CPU and memory that pods and nodes use. metrics.k8s.io has their values. */
export const usageIndexes: readonly IndexDefinition[] = [
  {
    name: 'usageCpu',
    paths: ['usage.cpu'],
    type: 'quantity',
    reduce: 'first',
    lazy: true,
    measured: 'cpu',
    description:
      'The CPU that it used when metrics.k8s.io last measured it; no value where nothing has (docs/usage.md).',
  },
  {
    name: 'usageMemory',
    paths: ['usage.memory'],
    type: 'quantity',
    reduce: 'first',
    lazy: true,
    measured: 'memory',
    description:
      'The memory that it used when metrics.k8s.io last measured it; no value where nothing has (docs/usage.md).',
  },
]

/** The indexes of measurements, by the names that {@link IndexDefinition.measured} gives: a pod's is of all containers. */
export const measuredIndexes: readonly IndexDefinition[] = ['cpu', 'memory'].map((name) => ({
  name,
  paths: [`usage.${name}`, `containers[*].usage.${name}`],
  type: 'quantity',
  reduce: 'sum',
}))
