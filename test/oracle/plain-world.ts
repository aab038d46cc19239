import { readdirSync, readFileSync } from 'node:fs'
import { type ConstDirectiveNode, Kind as Node, parse, valueFromASTUntyped } from 'graphql'

/** A value of JSON, as the API server sent it. */
// oxlint-disable-next-line typescript/no-explicit-any -- objects of any kind, read by path
export type Json = any

/** An object of a cluster, and its kind. */
export interface Plain {
  readonly kind: PlainKind
  readonly object: Json
  /** Of a pod that has been measured: what metrics-server says of it. */
  readonly measured?: Json
}

/** A directive of the SDL, with its arguments as they are written. */
export interface Declared {
  readonly name: string
  readonly args: Json
}

/** One kind as the gateway's catalogue names it. */
export interface PlainKind {
  readonly type: string
  readonly group: string
  readonly version: string
  readonly apiVersion: string
  readonly kind: string
  readonly resource: string
  readonly namespaced: boolean
  readonly listField: string | null
  readonly shortNames: readonly string[]
}

/** Who asks: their rights by RBAC, evaluated naively. */
export interface PlainViewer {
  readonly may: (verb: 'list' | 'get', kind: PlainKind, object: Json) => boolean
}

/** What `schema/*.graphql` declares of a type: its own directives, and those of its fields. */
export interface DeclaredType {
  readonly directives: readonly Declared[]
  readonly fields: ReadonlyMap<
    string,
    { readonly type: string; readonly directives: readonly Declared[] }
  >
}

/**
 * The objects of one cluster as plain arrays, in the order of namespace and name. They are listed from the API server,
 * not taken from the gateway: what an answer should be is computed without anything that the gateway has read.
 */
export class PlainWorld {
  readonly cluster: string
  readonly kinds: readonly PlainKind[]
  readonly declared: ReadonlyMap<string, DeclaredType> = declaredTypes()
  /** What may be listed, by type. */
  readonly #objects = new Map<string, readonly Plain[]>()
  /** What may be got by its name: this, and more. */
  readonly #named = new Map<string, readonly Plain[]>()
  readonly #byUid = new Map<string, Plain>()
  #viewer: PlainViewer | undefined
  #namespaces: readonly string[] = []

  private constructor(cluster: string, kinds: readonly PlainKind[]) {
    this.cluster = cluster
    this.kinds = kinds
  }

  /** Lists every kind of the catalogue. */
  static async read(
    server: string,
    cluster: string,
    kinds: readonly PlainKind[],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<PlainWorld> {
    const world = new PlainWorld(cluster, kinds)
    const list = async (path: string): Promise<readonly Json[]> => {
      const answer = await fetch(new URL(path, server), { headers })
      // Not every cluster measures its pods.
      if (!answer.ok) return []
      const { items }: Json = await answer.json()
      return items
    }
    const measured = await list('/apis/metrics.k8s.io/v1beta1/pods')
    for (const kind of kinds) {
      const { group, version, resource } = kind
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
      const plain = (await list(`${root}/${resource}`)).map((object): Plain => {
        const { name, namespace } = object.metadata
        const ofPod = measured.find(
          ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
        )
        return {
          kind,
          object: cached(kind, object),
          ...(kind.type === 'Pod' && ofPod !== undefined && { measured: ofPod }),
        }
      })
      world.#put(kind, plain.toSorted(byKey), plain)
    }
    return world
  }

  #put({ type }: PlainKind, listed: readonly Plain[], named: readonly Plain[]): void {
    this.#objects.set(type, listed)
    this.#named.set(type, named)
    for (const one of named) this.#byUid.set(one.object.metadata.uid, one)
  }

  /** The part of it that a viewer may see: the same objects, fewer of them. */
  seenBy(viewer: PlainViewer): PlainWorld {
    const { may } = viewer
    const seen = new PlainWorld(this.cluster, this.kinds)
    seen.#viewer = viewer
    seen.#namespaces = this.of('Namespace').map(({ object }) => object.metadata.name)
    for (const kind of this.kinds) {
      const all = this.of(kind.type)
      const listed = all.filter(({ object }) => may('list', kind, object))
      const named = all.filter((one) => listed.includes(one) || may('get', kind, one.object))
      seen.#put(kind, listed, named)
    }
    return seen
  }

  of(type: string): readonly Plain[] {
    return this.#objects.get(type) ?? []
  }

  /** Whether the viewer may list a kind in one of the namespaces that they name, or in any if they name none. */
  mayList(kind: PlainKind, { namespace, namespaces }: Json): boolean {
    const viewer = this.#viewer
    if (viewer === undefined) return true
    const named: readonly string[] = kind.namespaced
      ? (namespaces ?? (namespace ? [namespace] : this.#namespaces))
      : ['']
    const places = named.filter((place) => !kind.namespaced || place === (namespace ?? place))
    // What contradicts itself matches nothing, so that no permission is asked.
    if (places.length === 0) return true
    return places.some((place) => viewer.may('list', kind, { metadata: { namespace: place } }))
  }

  all(): readonly Plain[] {
    return [...this.#objects.values()].flat()
  }

  /** What may be got by its name: what is listed, and more. */
  known(): readonly Plain[] {
    return [...this.#named.values()].flat()
  }

  withUid(uid: string): Plain | undefined {
    return this.#byUid.get(uid)
  }

  kind(type: string): PlainKind | undefined {
    return this.kinds.find((kind) => kind.type === type)
  }

  kindOf(group: string, kind: string): PlainKind | undefined {
    return this.kinds.find((one) => one.group === group && one.kind === kind)
  }

  /** The kinds that kubectl means by a name, or that have it as their type. */
  kindsCalled(name: string): readonly PlainKind[] {
    return this.kinds.filter(({ kind, type, resource, group, shortNames }) =>
      [kind, type, resource, `${resource}.${group}`, ...shortNames].some(
        (one) => one.toLowerCase() === name.toLowerCase(),
      ),
    )
  }

  /** Finds an object by its type, namespace and name. A cluster-scoped kind ignores the namespace. */
  named(type: string, namespace: string | undefined, name: string): Plain | undefined {
    return this.#named
      .get(type)
      ?.find(
        ({ kind, object: { metadata } }) =>
          metadata.name === name && (!kind.namespaced || metadata.namespace === namespace),
      )
  }
}

/** The `id` of an object. */
export function idOf(
  cluster: string,
  { kind: { group, kind }, object: { metadata } }: Plain,
): string {
  const last = metadata.uid || `${metadata.namespace ?? ''}\0${metadata.name}`
  return Buffer.from(['1', cluster, group, kind, last].join('\0')).toString('base64url')
}

/** Compares by namespace, then name, both by code units. */
export function byKey({ object: a }: Plain, { object: b }: Plain): number {
  return (
    compared(a.metadata.namespace ?? '', b.metadata.namespace ?? '') ||
    compared(a.metadata.name, b.metadata.name)
  )
}

export function compared<T extends string | number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** An object without what caches leave out (docs/security.md). Of a Secret, the metadata alone. */
function cached({ type, apiVersion, kind }: PlainKind, object: Json): Json {
  const { managedFields: _, annotations, ...metadata } = object.metadata
  const { 'kubectl.kubernetes.io/last-applied-configuration': __, ...kept } = annotations ?? {}
  const all = {
    ...(type === 'Secret' ? {} : object),
    apiVersion,
    kind,
    metadata: { ...metadata, ...(annotations === undefined ? {} : { annotations: kept }) },
  }
  return all
}

function declaredTypes(): ReadonlyMap<string, DeclaredType> {
  const types = new Map<string, { directives: Declared[]; fields: Map<string, Json> }>()
  const folder = new URL('../../schema/', import.meta.url)
  const files = readdirSync(folder).filter((name) => name.endsWith('.graphql'))
  for (const name of files) {
    for (const node of parse(readFileSync(new URL(name, folder), 'utf8')).definitions) {
      if (node.kind !== Node.OBJECT_TYPE_EXTENSION && node.kind !== Node.INTERFACE_TYPE_EXTENSION) {
        continue
      }
      const known: { directives: Declared[]; fields: Map<string, Json> } = types.get(
        node.name.value,
      ) ?? { directives: [], fields: new Map() }
      types.set(node.name.value, known)
      known.directives.push(...(node.directives ?? []).map(directive))
      for (const field of node.fields ?? []) {
        const type = field.type.kind === Node.NAMED_TYPE ? field.type.name.value : ''
        const directives = (field.directives ?? []).map(directive)
        known.fields.set(field.name.value, { type, directives })
      }
    }
  }
  return types
}

function directive(node: ConstDirectiveNode): Declared {
  const args = (node.arguments ?? []).map(({ name, value }) => [
    name.value,
    valueFromASTUntyped(value),
  ])
  return { name: node.name.value, args: Object.fromEntries(args) }
}

/** A value at a path, with the place where it stands: `spec.volumes[2].configMap.name`. */
export interface Placed {
  readonly value: Json
  readonly place: string
}

/** The values at a path of the SDL: `spec.containers[*].image`, `conditions[type="Ready"].status`, `labels["a.b"]`. */
export function valuesAt(path: string, object: Json): readonly Json[] {
  return placedAt(path, object).map(({ value }) => value)
}

/** Like {@link valuesAt}, with places. */
export function placedAt(path: string, object: Json): readonly Placed[] {
  let found: readonly Placed[] = [{ value: object, place: '' }]
  for (const step of stepsOf(path)) {
    found = found.flatMap(({ value, place }): readonly Placed[] => {
      if (typeof value !== 'object' || value === null) return []
      const isList = Array.isArray(value)
      if (typeof step === 'string') {
        if (isList || !Object.hasOwn(value, step)) return []
        return [{ value: value[step], place: joined(place, step) }]
      }
      return Object.entries<Json>(value).flatMap(([name, item]) => {
        const { member, equals } = step
        if (member !== undefined) {
          if (typeof item !== 'object' || item === null || !Object.hasOwn(item, member)) return []
          if (equals !== undefined && String(item[member]) !== equals) return []
        }
        return [{ value: item, place: isList ? `${place}[${name}]` : joined(place, name) }]
      })
    })
  }
  return found.filter(({ value }) => value !== undefined && value !== null)
}

function joined(place: string, name: string): string {
  if (!/^[^.[\]"\s]+$/.test(name)) return `${place}[${JSON.stringify(name)}]`
  return place === '' ? name : `${place}.${name}`
}

type Step = string | { readonly member?: string; readonly equals?: string }

function stepsOf(path: string): readonly Step[] {
  const steps: Step[] = []
  const token =
    /\.?([^.[\]"\s]+)|\[\*\]|\[("(?:[^"\\]|\\.)*")\]|\[([^\]="]+)(?:=("(?:[^"\\]|\\.)*"))?\]/gy
  for (const [text, field, quoted, member, equals] of path.matchAll(token)) {
    if (field !== undefined) steps.push(field)
    else if (quoted !== undefined) steps.push(JSON.parse(quoted) as string)
    else if (text === '[*]') steps.push({})
    else if (equals === undefined) steps.push({ member: member ?? '' })
    else steps.push({ member: member ?? '', equals: JSON.parse(equals) as string })
  }
  return steps
}
