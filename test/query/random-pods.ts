import type { Unstructured } from 'informerql/kubernetes'

/** As the arguments of a list have it. */
export type Where = Readonly<Record<string, unknown>>
type LabelFilter = Where & { readonly key: string }

/** What somebody may see. */
export type Scope =
  | { readonly form: 'all' }
  | { readonly form: 'namespaces'; readonly namespaces: ReadonlySet<string> }
  | { readonly form: 'names'; readonly keys: ReadonlySet<string> }

interface PodIndex {
  readonly name: string
  readonly paths: readonly string[]
  readonly type: 'string' | 'dateTime' | 'int' | 'quantity' | 'boolean'
}

/** The indexes of the pods that these tests make. */
export const podIndexes: readonly PodIndex[] = [
  { name: 'name', paths: ['metadata.name'], type: 'string' },
  { name: 'namespace', paths: ['metadata.namespace'], type: 'string' },
  { name: 'creationTimestamp', paths: ['metadata.creationTimestamp'], type: 'dateTime' },
  { name: 'phase', paths: ['spec.phase'], type: 'string' },
  { name: 'image', paths: ['spec.images[*]'], type: 'string' },
  { name: 'restarts', paths: ['spec.restarts[*]'], type: 'int' },
  { name: 'memory', paths: ['spec.memory'], type: 'quantity' },
  { name: 'ready', paths: ['spec.ready'], type: 'boolean' },
]

/** What these tests make. */
interface PodSpec {
  readonly phase?: string
  readonly images?: readonly string[]
  readonly restarts?: readonly number[]
  readonly memory?: string
  readonly ready?: boolean
}

export const namespaces: readonly string[] = ['team', 'team-a', 'team-b', 'default', 'kube-system']
const phases = ['Running', 'Pending', 'Failed']
const images = ['web:1', 'web:2', 'cache:1', 'db:3']
const bytesOf: Readonly<Record<string, number>> = {
  '64Mi': 67_108_864,
  '67108864': 67_108_864,
  '1Gi': 1_073_741_824,
  '1024Mi': 1_073_741_824,
  '500M': 500_000_000,
  '0': 0,
}
const memories = Object.keys(bytesOf)
const labelKeys = ['app', 'tier', 'weight']
const labelValues = ['web', 'db', '7', '30', '']

/** Makes pods, filters and selectors at random, out of few values so that they meet. */
export class RandomPods {
  readonly #random: () => number
  #made = 0

  constructor(random: () => number) {
    this.#random = random
  }

  below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  chance(part: number): boolean {
    return this.#random() < part
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T
  }

  namespace(): string {
    return this.pick(namespaces)
  }

  pod(name: string = `pod-${this.below(400)}`, namespace: string = this.namespace()): Unstructured {
    this.#made += 1
    const labels: Record<string, string> = {}
    for (const key of labelKeys) if (this.chance(0.5)) labels[key] = this.pick(labelValues)
    const second = String(this.below(50)).padStart(2, '0')
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        uid: `uid-${this.#made}`,
        creationTimestamp: `2026-01-01T00:00:${second}Z`,
        ...(this.chance(0.8) ? { labels } : {}),
      },
      spec: {
        images: Array.from({ length: this.below(3) }, () => this.pick(images)),
        ...(this.chance(0.8) ? { memory: this.pick(memories) } : {}),
        restarts: Array.from({ length: this.below(3) }, () => this.below(12) - 2),
        ...(this.chance(0.9) ? { phase: this.pick(phases) } : {}),
        ...(this.chance(0.7) ? { ready: this.chance(0.5) } : {}),
      },
    }
  }

  where(depth: number = 3): Where {
    const where: Record<string, unknown> = {}
    for (let fields = this.below(3) + (depth === 3 ? 1 : 0); fields > 0; fields -= 1) {
      const kind = this.below(depth > 0 ? 9 : 5)
      if (kind < 5) where[this.pick(podIndexes).name] = this.#filter(this.pick(podIndexes).name)
      else if (kind === 5) where['and'] = this.#wheres(depth)
      else if (kind === 6) where['or'] = this.#wheres(depth)
      else if (kind === 7) where['not'] = this.where(depth - 1)
      else where['labels'] = this.#labels()
    }
    return Object.fromEntries(
      Object.entries(where).map(([name, value]) =>
        podIndexes.some((index) => index.name === name)
          ? [name, this.#filter(name)]
          : [name, value],
      ),
    )
  }

  #labels(): LabelFilter[] {
    return Array.from({ length: this.below(3) }, () => ({
      key: this.pick(labelKeys),
      ...this.#filter('label'),
    }))
  }

  #wheres(depth: number): Where[] {
    return Array.from({ length: this.below(4) }, () => this.where(depth - 1))
  }

  #filter(name: string, depth = 1): Record<string, unknown> {
    const filter: Record<string, unknown> = {}
    const type = podIndexes.find((index) => index.name === name)?.type ?? 'string'
    const operators = ['eq', 'in', 'exists', 'not', 'null']
    if (type !== 'boolean') operators.push('lt', 'lte', 'gt', 'gte')
    if (type === 'string') operators.push('startsWith', 'endsWith', 'contains')
    for (let left = this.below(2) + 1; left > 0; left -= 1) {
      const operator = this.pick(operators)
      if (operator === 'null') filter['in'] = null
      else if (operator === 'in')
        filter['in'] = Array.from({ length: this.below(7) }, () => this.#value(name))
      else if (operator === 'exists') filter['exists'] = this.chance(0.5)
      else if (operator === 'not')
        filter['not'] = depth === 0 ? null : this.#filter(name, depth - 1)
      else if (operator === 'startsWith') filter['startsWith'] = this.#value(name, 4)
      else if (operator === 'endsWith') filter['endsWith'] = String(this.#value(name)).slice(-2)
      else if (operator === 'contains') filter['contains'] = String(this.#value(name)).slice(2, 5)
      else filter[operator] = this.#value(name)
    }
    return filter
  }

  #value(name: string, length = 100): unknown {
    switch (name) {
      case 'name':
        return `pod-${this.below(400)}`.slice(0, length)
      case 'namespace':
        return this.namespace().slice(0, length)
      case 'creationTimestamp':
        return `2026-01-01T01:00:${String(this.below(50)).padStart(2, '0')}+01:00`
      case 'label':
        return this.pick(labelValues)
      case 'phase':
        return this.pick(phases)
      case 'image':
        return this.pick(images).slice(0, length)
      case 'restarts':
        return this.below(12) - 2
      case 'memory':
        return this.pick(memories)
      default:
        return this.chance(0.5)
    }
  }

  labelSelector(): string {
    const requirement = () => {
      const key = this.pick([...labelKeys, 'absent'])
      const value = this.pick(labelValues)
      return this.pick([
        `${key}=${value}`,
        `${key}!=${value}`,
        `${key} in (${value},db)`,
        `${key} notin (${value},7)`,
        key,
        `!${key}`,
        `${key}>10`,
        `${key}<20`,
      ])
    }
    return Array.from({ length: this.below(3) + 1 }, requirement).join(',')
  }

  scope(keys: readonly string[]): Scope {
    const form = this.below(3)
    if (form === 0) return { form: 'all' }
    if (form === 1) {
      return { form: 'namespaces', namespaces: new Set([this.namespace(), this.namespace()]) }
    }
    return { form: 'names', keys: new Set(keys.filter(() => this.chance(0.3))) }
  }
}

/** What `where` means, by looking at the object: the slow and plain reading that the indexes must agree with. */
export function matchesWhere(where: Where, pod: Unstructured): boolean {
  return Object.entries(where).every(([name, value]) => {
    if (value === null || value === undefined) return true
    if (name === 'and') return (value as Where[]).every((one) => matchesWhere(one, pod))
    if (name === 'or') return (value as Where[]).some((one) => matchesWhere(one, pod))
    if (name === 'not') return !matchesWhere(value as Where, pod)
    if (name === 'labels') {
      return (value as LabelFilter[]).every(({ key, ...filter }) => {
        const label = pod.metadata.labels?.[key]
        return matchesFilter(filter, label === undefined ? [] : [label], String)
      })
    }
    const comparable = (one: unknown): string | number => comparableOf(name, one)
    return matchesFilter(value as Record<string, unknown>, valuesOf(name, pod), comparable)
  })
}

/** The values of a pod in an index, as they are compared. */
export function valuesOf(name: string, pod: Unstructured): readonly (string | number)[] {
  const spec = pod['spec'] as PodSpec
  const all: Readonly<Record<string, unknown>> = { ...pod.metadata, ...spec, image: spec.images }
  return [all[name] ?? []].flat().map((one) => comparableOf(name, one))
}

function comparableOf(name: string, one: unknown): string | number {
  if (name === 'creationTimestamp') return Date.parse(String(one))
  if (name === 'memory') return bytesOf[String(one)] ?? NaN
  return name === 'ready' ? String(one) : (one as string | number)
}

function matchesFilter(
  filter: Record<string, unknown>,
  values: readonly (string | number)[],
  comparable: (one: unknown) => string | number,
): boolean {
  const given = Object.entries(filter).filter(([, bound]) => bound !== null)
  const ofValues = given.filter(([operator]) => operator !== 'exists' && operator !== 'not')
  const meets = (value: string | number) =>
    ofValues.every(([operator, bound]) => {
      if (operator === 'in') return (bound as unknown[]).map(comparable).includes(value)
      const other = comparable(bound)
      if (operator === 'eq') return value === other
      if (operator === 'lt') return value < other
      if (operator === 'lte') return value <= other
      if (operator === 'gt') return value > other
      if (operator === 'gte') return value >= other
      if (operator === 'endsWith') return String(value).endsWith(String(other))
      if (operator === 'contains') return String(value).includes(String(other))
      return String(value).startsWith(String(other))
    })
  if (ofValues.length > 0 && !values.some(meets)) return false
  return given.every(([operator, bound]) => {
    if (operator === 'exists') return values.length > 0 === bound
    if (operator !== 'not') return true
    return !matchesFilter(bound as Record<string, unknown>, values, comparable)
  })
}

/** What a Scope means, by looking at the object. */
export function matchesScope(scope: Scope, { metadata }: Unstructured): boolean {
  if (scope.form === 'all') return true
  if (scope.form === 'namespaces') return scope.namespaces.has(metadata.namespace ?? '')
  return scope.keys.has(`${metadata.namespace}/${metadata.name}`)
}

/** What a label selector means, by looking at the object. */
export function matchesSelector(selector: string, { metadata }: Unstructured): boolean {
  const { labels = {} } = metadata
  return selector.split(/,(?![^(]*\))/).every((requirement) => {
    const [, key = '', sign = '', operand = ''] =
      /^!?(\w+)(?: ?(in|notin|!=|=|>|<) ?(.*))?$/.exec(requirement) ?? []
    const value = labels[key]
    if (sign === '') return requirement.startsWith('!') === (value === undefined)
    const isInteger = value !== undefined && /^-?\d+$/.test(value)
    if (sign === '>') return isInteger && Number(value) > Number(operand)
    if (sign === '<') return isInteger && Number(value) < Number(operand)
    const isOne = value !== undefined && operand.replaceAll(/[()]/g, '').split(',').includes(value)
    return (sign === '=' || sign === 'in') === isOne
  })
}
