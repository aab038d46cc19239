import { healthOf } from './plain-health.ts'
import { listed, NotFollowedError } from './plain-relations.ts'
import { type Json, type Plain, type PlainKind, type PlainWorld, valuesAt } from './plain-world.ts'

type Key = string | number | bigint

/** An index as a list reads it: the values of an object, and what they compare as. */
export interface PlainIndex {
  readonly type: string
  /** The values as the object has them. */
  readonly valuesOf: (row: Plain) => readonly Json[]
  /** Equal values have equal keys, in the order of the values. Numbers and quantities are in billionths. */
  readonly keysOf: (row: Plain) => readonly Key[]
  readonly keyOf: (value: Json) => Key
  /** A value as a facet shows it. */
  readonly shown: (value: Json) => unknown
}

const statuses = ['DEGRADED', 'UNKNOWN', 'PROGRESSING', 'TERMINATING', 'SUSPENDED', 'HEALTHY']

const known = new WeakMap<PlainWorld, Map<string, ReadonlyMap<string, PlainIndex>>>()

/** The indexes of a kind that the oracle reads: those of every kind but `changed`, and those that the SDL declares. */
export function indexesOf(world: PlainWorld, kind: PlainKind): ReadonlyMap<string, PlainIndex> {
  const ofWorld = known.get(world) ?? new Map<string, ReadonlyMap<string, PlainIndex>>()
  known.set(world, ofWorld)
  let indexes = ofWorld.get(kind.type)
  if (indexes === undefined) ofWorld.set(kind.type, (indexes = declaredIndexes(world, kind)))
  return indexes
}

function declaredIndexes(world: PlainWorld, kind: PlainKind): ReadonlyMap<string, PlainIndex> {
  const indexes = new Map<string, PlainIndex>([
    ['name', typed('STRING', ({ object }) => [object.metadata.name])],
    ['namespace', typed('STRING', ({ object }) => valuesAt('metadata.namespace', object))],
    [
      'creationTimestamp',
      typed('DATE_TIME', ({ object }) => valuesAt('metadata.creationTimestamp', object)),
    ],
    [
      'health',
      typed('HEALTH', (row) => {
        if (kind.type === 'Namespace') throw new NotFollowedError('health of what is in it')
        return [healthOf(row)?.status].filter(Boolean)
      }),
    ],
  ])
  if (kind.type === 'Pod') {
    for (const [name, of] of [
      ['usageCpu', 'cpu'],
      ['usageMemory', 'memory'],
    ] as const) {
      indexes.set(
        name,
        typed('QUANTITY', (row) => usedOf(row, of)),
      )
    }
  }
  for (const { name, args } of world.declared.get(kind.type)?.directives ?? []) {
    if (name !== 'index') continue
    const type = args.type ?? 'STRING'
    const at = (object: Json): readonly Json[] =>
      listed(args.path)
        .flatMap((path) => valuesAt(path, object))
        .filter((value) => keyOf(type, value) !== undefined)
    indexes.set(
      args.name,
      typed(type, ({ object }) => reduced(args, at(object), object)),
    )
  }
  return indexes
}

/** What the containers of a pod use together: none before the pod has been measured. */
function usedOf({ measured }: Plain, of: 'cpu' | 'memory'): readonly string[] {
  if (measured === undefined) return []
  const used = measured.containers.map(({ usage }: Json) => billionths(usage[of]) ?? 0n)
  return [exact(used.reduce((sum: bigint, one: bigint) => sum + one, 0n))]
}

/** What a pod uses, as docs/usage.md has it: quantities in their largest whole unit. */
export function usageOf(row: Plain): Json {
  const { measured } = row
  if (measured === undefined) return null
  const written = (of: 'cpu' | 'memory', step: bigint, units: readonly string[]): string => {
    let amount = BigInt(usedOf(row, of)[0]?.slice(0, -1) ?? 0) / (of === 'cpu' ? 1n : 10n ** 9n)
    let unit = 0
    while (amount !== 0n && amount % step === 0n && unit < units.length - 1) {
      amount /= step
      unit += 1
    }
    return amount === 0n ? '0' : `${amount}${units[unit]}`
  }
  const { timestamp: at, window, containers } = measured
  return {
    cpu: written('cpu', 1000n, ['n', 'u', 'm', '', 'k']),
    memory: written('memory', 1024n, ['', ...binary]),
    at,
    window,
    containers: containers.map(({ name, usage }: Json) => ({ name, ...usage })),
  }
}

function typed(type: string, values: (row: Plain) => readonly Json[]): PlainIndex {
  const key = (value: Json): Key => {
    const made = keyOf(type, value)
    if (made === undefined) throw new TypeError(`${String(value)} is no ${type}`)
    return made
  }
  const valuesOf = (row: Plain): readonly Json[] =>
    values(row).filter((value) => keyOf(type, value) !== undefined)
  return {
    type,
    valuesOf,
    keysOf: (row) => [...new Set(valuesOf(row).map(key))],
    keyOf: key,
    shown: (value) => shown(type, value, key(value)),
  }
}

function shown(type: string, value: Json, key: Key): unknown {
  switch (type) {
    case 'INT':
      return Number(key) / 1e9
    case 'QUANTITY': {
      const text = String(key).padStart(10, '0')
      return `${text.slice(0, -9)}.${text.slice(-9)}`.replace(/\.?0+$/, '')
    }
    case 'DATE_TIME':
      return value
    default:
      return value
  }
}

function keyOf(type: string, value: Json): Key | undefined {
  switch (type) {
    case 'STRING':
      return typeof value === 'string'
        ? value
        : typeof value === 'object'
          ? undefined
          : JSON.stringify(value)
    case 'BOOLEAN':
      return typeof value === 'boolean' ? String(value) : undefined
    case 'HEALTH':
      return statuses.indexOf(value)
    case 'DATE_TIME': {
      const [, whole = '', fraction = ''] =
        /^([^.]*?)(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)$/.exec(String(value)) ?? []
      const seconds = Date.parse(String(value).replace(`.${fraction}`, ''))
      return whole === '' || Number.isNaN(seconds)
        ? undefined
        : BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
    }
    default:
      return billionths(value)
  }
}

const powers: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}
const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/** A number or quantity, in billionths: exact for all that Kubernetes stores. */
export function billionths(value: Json): bigint | undefined {
  const [, sign, whole = '', fraction = '', suffix = ''] =
    /^([+-]?)(\d*)\.?(\d*)([A-Za-z]*|[eE][+-]?\d+)$/.exec(String(value)) ?? []
  if (whole === '' && fraction === '') return undefined
  const factor = binary.indexOf(suffix)
  const exponent =
    factor >= 0 ? 0 : /^[eE][+-]?\d+$/.test(suffix) ? Number(suffix.slice(1)) : powers[suffix]
  if (exponent === undefined) return undefined
  const digits = BigInt(whole + fraction) * (factor < 0 ? 1n : 1024n ** BigInt(factor + 1))
  const scale = 9 + exponent - fraction.length
  const made = scale >= 0 ? digits * 10n ** BigInt(scale) : digits / 10n ** BigInt(-scale)
  return sign === '-' ? -made : made
}

function reduced({ reduce, path }: Json, values: readonly Json[], object: Json): readonly Json[] {
  switch (reduce) {
    case 'SUM':
      return [exact(values.reduce((sum: bigint, value) => sum + (billionths(value) ?? 0n), 0n))]
    case 'FIRST':
      return values.slice(0, 1)
    case 'RESTARTS':
      return [restarts(object)]
    case 'POD_TOTAL':
      return podTotal(String(listed(path)[0]), object)
    default:
      return values
  }
}

function exact(sum: bigint): string {
  return `${sum}n`
}

/** The restarts that kubectl shows: those of init containers while the pod initializes, and of sidecars always. */
function restarts({ spec, status = {} }: Json): number {
  const { containerStatuses = [], initContainerStatuses = [] } = status
  const isSidecar = (name: string): boolean =>
    (spec.initContainers ?? []).some(
      (one: Json) => one.name === name && one.restartPolicy === 'Always',
    )
  const sidecars = initContainerStatuses.filter(({ name }: Json) => isSidecar(name))
  const isInitializing = initContainerStatuses.some(({ name, state, started }: Json) =>
    isSidecar(name) ? started !== true : state?.terminated?.exitCode !== 0,
  )
  const counted = isInitializing ? initContainerStatuses : [...sidecars, ...containerStatuses]
  return counted.reduce((sum: number, { restartCount = 0 }: Json) => sum + restartCount, 0)
}

/** What the scheduler counts of a resource of a pod (k8s.io/component-helpers, `PodRequests`), without resizes. */
function podTotal(path: string, { spec }: Json): readonly Json[] {
  const [, list = '', name = ''] = /resources\.(requests|limits)\.(.+)$/.exec(path) ?? []
  const amount = (of: Json): bigint | undefined =>
    of.resources?.[list]?.[name] === undefined ? undefined : billionths(of.resources[list][name])
  const plus = (a: bigint | undefined, b: bigint | undefined): bigint | undefined =>
    a === undefined ? b : b === undefined ? a : a + b
  const most = (a: bigint | undefined, b: bigint | undefined): bigint | undefined =>
    a === undefined ? b : b === undefined || a > b ? a : b
  let total: bigint | undefined
  for (const container of spec.containers) total = plus(total, amount(container))
  let sidecars: bigint | undefined
  let initial: bigint | undefined
  for (const container of spec.initContainers ?? []) {
    const own = amount(container)
    if (container.restartPolicy === 'Always') {
      total = plus(total, own)
      sidecars = plus(sidecars, own)
      initial = most(initial, sidecars)
    } else initial = most(initial, plus(own, sidecars))
  }
  total = most(total, initial)
  total = amount(spec) ?? total
  const overhead = spec.overhead?.[name] === undefined ? undefined : billionths(spec.overhead[name])
  if (list === 'requests' || total) total = plus(total, overhead)
  return total === undefined ? [] : [exact(total)]
}
