// Imports internals: what the archive is told and answers is of the gateway's own parts.
/*
 * A cluster of a few objects that change at random, and what an archive that is told of it has to answer: plain lists of
 * changes and whole states. Nothing of it is shared with the archive but the form of its calls.
 */

import type { ArchivedKind, RecordType } from '../../../src/archive/archive-calls.ts'

export type Random = (below: number) => number

export function randomOf(seed: number): Random {
  let state = Math.imul(seed + 1, 2_654_435_761)
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) | 0
    return ((state >>> 4) & 0xff_ff_ff) % below
  }
}

export interface ModelObject {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    resourceVersion: string
    labels: Record<string, string>
    annotations: Record<string, string>
    managedFields?: unknown
  }
  data: Record<string, string>
  spec: { containers: { name: string; image: string; env: string }[] }
  status: { conditions: { type: string; status: string; lastHeartbeatTime: string }[] }
}

export interface ModelChange {
  readonly kind: ModelKind
  readonly key: string
  readonly type: RecordType
  readonly uid: string
  readonly version: string
  readonly timeMs: number
  readonly afterMs: number | undefined
  readonly before: ModelObject | undefined
  readonly after: ModelObject | undefined
  /** `undefined`: several may have. */
  readonly manager: string | undefined
}

/** A kind in the cluster, and in the archive as it should be. */
export interface ModelKind {
  readonly archived: ArchivedKind
  id: number
  readonly world: Map<string, ModelObject>
  readonly kept: Map<string, ModelObject>
  readonly gaps: { fromMs: number; toMs: number }[]
  beginsMs: number | undefined
  writtenMs: number
}

export interface ModelWrite {
  readonly type: RecordType
  readonly key: string
  readonly object: ModelObject
  readonly manager: string
}

const copy = <T>(value: T): T => structuredClone(value)
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
const leader = 'control-plane.alpha.kubernetes.io/leader'

const prefix = 'hush-'

export class Model {
  readonly random: Random
  readonly kinds: readonly ModelKind[]
  /** In the order in which they are written. */
  changes: ModelChange[] = []
  nowMs: number
  #version = 100
  #uids = 0

  constructor(seed: number, cluster: string, nowMs: number) {
    this.random = randomOf(seed)
    this.nowMs = nowMs
    const kindOf = (resource: string, kind: string, more: Partial<ArchivedKind>): ModelKind => ({
      archived: {
        cluster,
        group: '',
        resource,
        version: 'v1',
        kind,
        namespaced: true,
        form: '1',
        keysOnly: false,
        masked: [],
        ...more,
      },
      id: 0,
      world: new Map(),
      kept: new Map(),
      gaps: [],
      beginsMs: undefined,
      writtenMs: 0,
    })
    this.kinds = [
      kindOf('configmaps', 'ConfigMap', {}),
      kindOf('pods', 'Pod', { masked: ['/spec/containers/*/env'] }),
      kindOf('secrets', 'Secret', { keysOnly: true }),
    ]
  }

  get version(): string {
    return `${this.#version}`
  }

  pick<T>(items: readonly T[]): T {
    return items[this.random(items.length)] as T
  }

  /** Changes something in the cluster. */
  write(kind: ModelKind): ModelWrite {
    const { random } = this
    const key = `${this.pick(['one', 'two'])}/${this.pick(['a', 'b', 'c_%', 'd'])}`
    const former = kind.world.get(key)
    this.#version += 1 + random(3)
    if (former === undefined || random(12) === 0) {
      const object = this.#made(key)
      kind.world.set(key, object)
      return {
        type: former === undefined ? 'ADDED' : 'MODIFIED',
        key,
        object: copy(object),
        manager: 'a',
      }
    }
    const object = copy(former)
    object.metadata.resourceVersion = this.version
    if (random(8) === 0) {
      kind.world.delete(key)
      return { type: 'REMOVED', key, object, manager: '' }
    }
    const manager = this.#mutate(object)
    this.#sign(object, manager)
    kind.world.set(key, object)
    return { type: 'MODIFIED', key, object: copy(object), manager }
  }

  #made(key: string): ModelObject {
    const [namespace = '', name = ''] = key.split('/')
    this.#uids += 1
    const object: ModelObject = {
      metadata: {
        name,
        namespace,
        uid: `uid-${this.#uids}`,
        resourceVersion: this.version,
        labels: { of: 'model' },
        annotations: { [lastApplied]: `{"data":"${prefix}applied"}` },
      },
      data: { a1: `${prefix}first`, b1: `${prefix}first` },
      spec: {
        containers: [{ name: 'main', image: 'i:1', env: `${prefix}env` }],
      },
      status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '0' }] },
    }
    this.#sign(object, 'a')
    return object
  }

  #mutate(object: ModelObject): string {
    const { random } = this
    const { metadata, data, spec, status } = object
    const value = `${prefix}${random(5)}`
    const owner = this.pick(['a', 'b'])
    switch (random(9)) {
      case 0:
        metadata.annotations[leader] = `${random(100_000)}`
        return 'kubelet'
      case 1:
        for (const one of status.conditions) one.lastHeartbeatTime = `${random(100_000)}`
        return 'kubelet'
      case 2:
        for (const one of status.conditions) {
          one.status = random(2) === 0 ? 'True' : 'False'
          one.lastHeartbeatTime = `${random(100_000)}`
        }
        return 'kubelet'
      case 3:
        for (const one of spec.containers) one.image = `i:${random(3)}`
        return 'kubelet'
      case 4:
        for (const one of spec.containers) one.env = value
        return 'kubelet'
      case 5:
        delete data[`${owner}${1 + random(3)}`]
        return owner
      case 6:
        metadata.labels['of'] = `l${random(3)}`
        return 'kubelet'
      default:
        data[`${owner}${1 + random(3)}`] = value
        return owner
    }
  }

  /** Notes who owns what, and that the manager wrote. */
  #sign(object: ModelObject, manager: string): void {
    const time = new Date(this.nowMs).toISOString().replace(/\.\d+/, '')
    const former = (object.metadata.managedFields ?? []) as { manager: string; time: string }[]
    const data = (owner: string) => ({
      'f:data': Object.fromEntries(
        Object.keys(object.data)
          .filter((name) => name.startsWith(owner))
          .map((name) => [`f:${name}`, {}]),
      ),
    })
    const item = { 'f:image': {}, 'f:env': {} }
    const fields: Record<string, object> = {
      a: data('a'),
      b: data('b'),
      kubelet: {
        'f:metadata': { 'f:labels': { 'f:of': {} } },
        'f:spec': { 'f:containers': { 'k:{"name":"main"}': item } },
        'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { 'f:status': {} } } },
      },
    }
    const owning = Object.keys(fields).filter(
      (name) => name === 'kubelet' || ownsData(object, name),
    )
    object.metadata.managedFields = owning.map((name) => ({
      manager: name,
      operation: 'Update',
      time: name === manager ? time : (former.find((one) => one.manager === name)?.time ?? time),
      fieldsV1: fields[name],
    }))
  }

  /** What the archive should have after it was told of an object; `undefined`: that it is gone. */
  keep(
    kind: ModelKind,
    key: string,
    object: ModelObject | undefined,
    more: {
      readonly afterMs?: number | undefined
      readonly version?: string
      readonly manager?: string | undefined
    },
  ): void {
    const before = kind.kept.get(key)
    const change = (
      type: RecordType,
      from: ModelObject | undefined,
      to: ModelObject | undefined,
      version: string,
    ) =>
      this.changes.push({
        kind,
        key,
        type,
        uid: (to ?? from)?.metadata.uid ?? '',
        version,
        timeMs: this.nowMs,
        afterMs: more.afterMs,
        before: from,
        after: to,
        manager: type === 'REMOVED' ? undefined : more.manager,
      })
    const isTold = kind.beginsMs !== undefined
    if (object === undefined) {
      kind.kept.delete(key)
      if (before !== undefined && isTold)
        change('REMOVED', before, undefined, more.version ?? before.metadata.resourceVersion)
      return
    }
    const after = withoutManaged(object)
    kind.kept.set(key, after)
    if (!isTold) return
    const { resourceVersion } = after.metadata
    if (before !== undefined && before.metadata.uid === after.metadata.uid) {
      if (differing(quiet(before), quiet(after)).length > 0)
        change('MODIFIED', before, after, resourceVersion)
      return
    }
    if (before !== undefined) change('REMOVED', before, undefined, before.metadata.resourceVersion)
    change('ADDED', undefined, after, resourceVersion)
  }

  /** The state of an object at a time, as far as it is known. */
  at(kind: ModelKind, key: string, timeMs: number): ModelObject | 'absent' | 'unknown' {
    const { beginsMs = Number.POSITIVE_INFINITY, gaps } = kind
    if (timeMs < beginsMs) return 'unknown'
    if (gaps.some(({ fromMs, toMs }) => fromMs < timeMs && timeMs < toMs)) return 'unknown'
    const own = this.changes.filter((one) => one.kind === kind && one.key === key)
    const last = own.findLastIndex((one) => one.timeMs <= timeMs)
    const next = own[last + 1]
    if (next?.afterMs !== undefined && next.afterMs < timeMs && timeMs < next.timeMs)
      return 'unknown'
    return this.stateBehind(kind, key, own, last) ?? 'absent'
  }

  /** The time around another one within which changes of a kind were seen late. */
  late(kind: ModelKind, timeMs: number): readonly { fromMs: number; toMs: number }[] {
    const own = this.changes.filter(
      (one) => one.kind === kind && (one.afterMs ?? timeMs) < timeMs && timeMs < one.timeMs,
    )
    if (own.length === 0) return []
    const fromMs = Math.min(...own.map(({ afterMs = 0 }) => afterMs))
    return [{ fromMs, toMs: Math.max(...own.map((one) => one.timeMs)) }]
  }

  stateBehind(
    kind: ModelKind,
    key: string,
    own: readonly ModelChange[],
    last: number,
  ): ModelObject | undefined {
    const next = own[last + 1]
    return next === undefined ? kind.kept.get(key) : next.before
  }
}

function ownsData(object: ModelObject, owner: string): boolean {
  return Object.keys(object.data).some((name) => name.startsWith(owner))
}

function withoutManaged(object: ModelObject): ModelObject {
  const { managedFields: _, ...metadata } = copy(object).metadata
  delete metadata.annotations[lastApplied]
  return { ...copy(object), metadata }
}

/** Without what only ticks. */
export function quiet(object: ModelObject): ModelObject {
  const one = copy(object)
  delete one.metadata.annotations[leader]
  one.metadata.resourceVersion = ''
  for (const condition of one.status.conditions) condition.lastHeartbeatTime = ''
  return one
}

export interface ModelField {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** The leaves in which two values differ, in the order of their paths. */
export function differing(before: unknown, after: unknown, path = ''): readonly ModelField[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  const isLeaf = (value: unknown): boolean => typeof value !== 'object' || value === null
  if (isLeaf(before) || isLeaf(after)) {
    return [{ path, before: before ?? null, after: after ?? null }]
  }
  const [one, other] = [before, after] as Record<string, unknown>[]
  const names = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})])
  return [...names]
    .flatMap((name) => differing(one?.[name], other?.[name], `${path}/${name}`))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** A state as readers get it: quiet, with `null` for what is masked. */
export function readable(kind: ModelKind, object: ModelObject): unknown {
  const one = quiet(object) as unknown as {
    data: Record<string, unknown>
    spec: { containers: { env: unknown }[] }
  }
  if (kind.archived.keysOnly) for (const key of Object.keys(one.data)) one.data[key] = null
  if (kind.archived.masked.length > 0)
    for (const container of one.spec.containers) container.env = null
  return one
}

export function isMasked(kind: ModelKind, path: string): boolean {
  return kind.archived.keysOnly
    ? path.startsWith('/data/')
    : kind.archived.masked.length > 0 && path.endsWith('/env')
}
