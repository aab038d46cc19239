import {
  getNamedType,
  getNullableType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isListType,
  isObjectType,
} from 'graphql'
import { columnsOf, factsOf, healthOf } from './plain-health.ts'
import { plainGraph } from './plain-graph.ts'
import { indexesOf, type PlainIndex, usageOf } from './plain-indexes.ts'
import {
  byType,
  countsOf,
  listOf,
  meetsFilter,
  orderOf,
  pageOf,
  type PlainKey,
  termsOf,
  type Value,
} from './plain-lists.ts'
import { placeOf, type PlainPlace, plainProblems, type PlainProblem } from './plain-problems.ts'
import {
  groupOfReference,
  listed,
  matchesText,
  NotFollowedError,
  PlainRelations,
} from './plain-relations.ts'
import {
  compared,
  idOf,
  type Json,
  type Plain,
  type PlainKind,
  type PlainWorld,
  valuesAt,
} from './plain-world.ts'

/** The types that `problems` looks at by itself: docs/problems.md. */
const lookedAt =
  `Pod Deployment ReplicaSet StatefulSet DaemonSet Job CronJob Node Namespace Service PersistentVolumeClaim
  PersistentVolume StorageClass HorizontalPodAutoscaler APIService CustomResourceDefinition Event Ingress IngressClass
  ConfigMap Secret ServiceAccount PriorityClass PodDisruptionBudget ResourceQuota ValidatingWebhookConfiguration
  MutatingWebhookConfiguration CertManagerCertificate CertManagerIssuer CertManagerClusterIssuer ExternalSecretsExternalSecret`.split(
    /\s+/,
  )
const problemAfterMs = 600_000

/** What the viewer may not list. */
class RefusedError extends Error {}

/**
 * What the gateway's answers should be: the values of `Query`, computed naively from the objects of a cluster. Nothing
 * is indexed, cached or compiled, and of `src/` the rules of health alone are used.
 */
export class PlainValues {
  readonly #world: PlainWorld
  readonly #schema: GraphQLSchema
  readonly #relations: PlainRelations
  readonly #rows = new Map<Plain, Value>()

  constructor(world: PlainWorld, schema: GraphQLSchema) {
    this.#world = world
    this.#schema = schema
    this.#relations = new PlainRelations(world)
  }

  /** The value of `Query`. */
  root(): Value {
    const root: Record<string, unknown> = {
      object: ({ id }: Json) => this.#byId(id),
      objects: ({ ids }: Json) => (ids as readonly string[]).map((id) => this.#byId(id)),
      objectByRef: (args: Json) => {
        const group = args.apiVersion.includes('/') ? args.apiVersion.split('/')[0] : ''
        const kind = this.#world.kindOf(group, args.kind)
        return this.#row(
          kind && this.#world.named(kind.type, args.namespace ?? undefined, args.name),
        )
      },
      objectList: (args: Json) => {
        const kind = this.#world.kinds.find(
          (one) => one.kind === args.kind && (args.group ?? one.group) === one.group,
        )
        if (kind === undefined) throw new NotFollowedError(args.kind)
        return this.#list(kind, this.#world.of(kind.type), args)
      },
      graph: (args: Json) => this.#graph(args),
      problems: (args: Json) => this.#problems(args),
      kubernetesObjects: ({ kinds, ...args }: Json) => {
        const types = new Set<string>(kinds)
        const rows = [...types].flatMap((type) => this.#world.of(type))
        const ordered = this.#ordered(this.#matching(undefined, rows, args), args.orderBy)
        return { ...this.#connection(ordered, args), incomplete: this.#gaps(types, args) }
      },
    }
    for (const kind of this.#world.kinds) {
      const { listField, type } = kind
      if (listField === null) continue
      root[listField] = (args: Json) => {
        // Ids of other kinds match nothing, so that no permission is asked.
        if (!args.ids && !this.#world.mayList(kind, args)) throw new RefusedError(type)
        return this.#list(kind, this.#world.of(type), args)
      }
    }
    const fields = this.#schema.getQueryType()?.getFields() ?? {}
    for (const { name, type, args } of Object.values(fields)) {
      const kind = this.#world.kind(getNamedType(type).name)
      if (kind === undefined) continue
      root[name] = args.some((one) => one.name === 'id')
        ? ({ id }: Json) => this.#byId(id)
        : ({ namespace, name: own }: Json) =>
            this.#row(this.#world.named(kind.type, namespace, own))
    }
    return root
  }

  /** The kinds of a list of several that its viewer may not list. */
  #gaps(types: ReadonlySet<string>, args: Json): readonly Value[] {
    const { cluster } = this.#world
    return [...types].flatMap((type) => {
      const kind = this.#world.kind(type)
      if (kind === undefined || this.#world.mayList(kind, args)) return []
      const message = (): never => {
        throw new NotFollowedError('message')
      }
      return [{ cluster, type, code: 'FORBIDDEN', message, since: null }]
    })
  }

  /** What is around objects: docs/graph-and-search.md. The order of nodes and edges is left open. */
  #graph({ roots, ...args }: Json): Value {
    const of = (roots as readonly string[]).map((id) =>
      this.#world.known().find((one) => this.#idOf(one) === id),
    )
    const found = of.filter((one) => one !== undefined)
    const { depths, edges } = plainGraph(this.#world, this.#relations, found, args)
    return {
      nodes: [...depths].map(([row, depth]) => ({
        ...this.#refTo(placeOf(row)),
        clusterName: this.#world.cluster,
        depth,
      })),
      edges: edges.map(({ from, to, relation }) => ({
        from: this.#idOf(from),
        to: this.#idOf(to),
        relation,
      })),
      truncated: false,
    }
  }

  /** What is wrong: docs/problems.md. */
  #problems({ types, severity, orderBy, first, after, namespace, namespaces }: Json): Value {
    const { cluster, kinds } = this.#world
    if (after) throw new NotFollowedError('cursors')
    const looked = kinds.filter(({ type }) => [...lookedAt, ...(types ?? [])].includes(type))
    const places = namespace
      ? (namespaces ?? [namespace]).filter((one: string) => one === namespace)
      : (namespaces ?? undefined)
    const [read, unread] = [true, false].map((may) =>
      looked
        .filter((kind) => this.#world.mayList(kind, { namespaces: places }) === may)
        .map(({ type }) => type)
        .toSorted(compared),
    )
    const typeOf = ({ ref }: PlainPlace): string | null =>
      this.#world.kindOf(groupOfReference(ref), ref.kind)?.type ?? null
    const all = plainProblems(this.#world, {
      types: read ?? [],
      namespaces: places,
      nowMs: Date.now(),
      afterMs: problemAfterMs,
    }).filter(
      (one) =>
        (!severity || severity.includes(one.severity)) &&
        (!types || [one.root, ...one.objects].some((place) => types.includes(typeOf(place)))),
    )
    const keys: Readonly<Record<string, (one: PlainProblem) => string | number | undefined>> = {
      severity: (one) => (one.severity === 'CRITICAL' ? 1 : 0),
      since: ({ sinceMs }) => sinceMs,
      count: ({ objects }) => objects.length,
    }
    const terms = termsOf(orderBy ?? [{ severity: 'DESC' }, { count: 'DESC' }, { since: 'DESC' }])
    const ordered = all.toSorted(
      (a, b) =>
        orderOf(terms, (name) => [keys[name]?.(a), keys[name]?.(b)]) || compared(a.key, b.key),
    )
    const valueOf = (one: PlainProblem): Value => ({
      cluster,
      object: this.#refTo(one.root),
      kind: one.root.ref.kind,
      type: typeOf(one.root),
      severity: one.severity,
      reason: one.reason,
      message: one.message,
      since: one.sinceMs === undefined ? null : new Date(one.sinceMs).toISOString(),
      count: one.objects.length,
      objects: (asked: Json) =>
        one.objects.slice(0, asked.first ?? 10).map((place) => this.#refTo(place)),
      lastEvent: () => this.#lastEvent(one),
    })
    const counts = new Map<
      string,
      { cluster: string; severity: string; type: string | null; kind: string; count: number }
    >()
    for (const { severity: of, root } of all) {
      const type = typeOf(root)
      const key = `${of} ${type ?? ''} ${root.ref.kind}`
      const count = (counts.get(key)?.count ?? 0) + 1
      counts.set(key, {
        cluster: this.#world.cluster,
        severity: of,
        type,
        kind: root.ref.kind,
        count,
      })
    }
    return {
      ...pageOf(ordered, { first }, valueOf),
      counts: [...counts]
        .toSorted(([a, x], [b, y]) => y.count - x.count || compared(a, b))
        .map(([, count]) => count),
      lookedAt: read,
      notLookedAt: unread,
      complete: unread?.length === 0,
    }
  }

  /** The newest Warning Event about what has a problem. */
  #lastEvent({ root, objects }: PlainProblem): Value | null {
    const about = [root, ...objects.slice(0, 20)].map(({ ref }) => ref)
    const warnings = this.#world.of('Event').flatMap((event) => {
      const { uid, kind } = event.object.involvedObject
      const isAbout = about.some(
        (ref) =>
          uid && (uid === ref.uid || (kind === 'Node' && ref.kind === kind && uid === ref.name)),
      )
      return isAbout ? factsOf(event).facts : []
    })
    const [newest, next] = warnings.toSorted((a, b) => compared(b.at ?? '', a.at ?? ''))
    if (newest?.role?.form !== 'report') return null
    if (objects.length > 20 || newest.at === next?.at) throw new NotFollowedError('lastEvent')
    const { reason, message = null, at, role } = newest
    return { reason, message, count: role.count, lastSeen: at }
  }

  #refTo({ from, ref }: PlainPlace): Value {
    return this.#ref(from, ref)
  }

  #byId(id: string): Value | null {
    return this.#row(this.#world.known().find((one) => this.#idOf(one) === id))
  }

  #idOf(plain: Plain): string {
    return idOf(this.#world.cluster, plain)
  }

  /** An object as the value of its type. */
  #row(plain: Plain | undefined): Value | null {
    if (plain === undefined) return null
    let value = this.#rows.get(plain)
    if (value === undefined) this.#rows.set(plain, (value = this.#made(plain)))
    return value
  }

  #made(plain: Plain): Value {
    const { kind, object } = plain
    const type = this.#schema.getType(kind.type) as GraphQLObjectType
    const { metadata } = object
    const own: Value = {
      __typename: kind.type,
      id: this.#idOf(plain),
      nameId: this.#nameIdOf(kind, metadata),
      clusterName: this.#world.cluster,
      cluster: { name: this.#world.cluster },
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      name: metadata.name,
      namespace: metadata.namespace ?? null,
      uid: metadata.uid ?? '',
      creationTimestamp: metadata.creationTimestamp ?? '0001-01-01T00:00:00Z',
      labels: metadata.labels ?? null,
      json: ({ path }: Json) => {
        if (path === undefined || path === null) return object
        const values = valuesAt(path, object)
        return path.includes('[*]') ? values : (values[0] ?? null)
      },
      health: () => healthOf(plain),
      printerColumns: ({ wide }: Json) => {
        const columns = columnsOf(plain, wide === true)
        if (columns === undefined) throw new NotFollowedError('columns of the API server')
        return columns
      },
      usage: kind.type === 'Pod' ? usageOf(plain) : null,
      owners: () => this.#relations.owners(plain).map((one) => this.#row(one)),
      ownerChain: () => this.#chain(plain),
      rootOwner: () => this.#chain(plain).at(-1) ?? null,
      owned: (args: Json) => this.#connection(this.#relations.owned(plain).toSorted(byType), args),
      usedBy: ({ types, ...args }: Json) => {
        const users = this.#relations
          .usersOf(plain)
          .filter((one) => !types || types.includes(one.kind.type))
        return this.#connection(users.toSorted(byType), args, undefined, (user) => ({
          object: this.#ref(user, {
            ...user.object,
            ...user.object.metadata,
            apiVersion: user.kind.apiVersion,
            kind: user.kind.kind,
          }),
        }))
      },
      events: ({ related, ...args }: Json) =>
        this.#list(this.#event(), this.#relations.events(plain, related === true), args),
    }
    const members: Record<string, unknown> = {}
    for (const field of Object.values(type.getFields())) {
      const { name } = field
      if (Object.hasOwn(own, name)) members[name] = own[name]
      else if (name === 'namespaceObject') {
        members[name] = () =>
          this.#row(this.#world.named('Namespace', undefined, metadata.namespace ?? ''))
      } else if (this.#relations.declaration(kind.type, name) !== undefined) {
        members[name] = this.#relation(plain, name, field.type)
      } else if (
        kind.type === 'Namespace' &&
        getNamedType(field.type).name.endsWith('Connection')
      ) {
        members[name] = (args: Json) => this.#within(plain, getNamedType(field.type).name, args)
      } else {
        const place = workloadPlace(kind.type, name)
        const held = place === undefined ? object[jsonNameOf(name)] : valuesAt(place, object)[0]
        members[name] = this.#native(held, field.type)
      }
    }
    return { ...members, __typename: kind.type }
  }

  /** The objects of a kind in a Namespace. */
  #within({ object }: Plain, connection: string, args: Json): Value {
    const kind = this.#world.kind(connection.replace(/Connection$/, ''))
    if (kind === undefined) throw new NotFollowedError(connection)
    const rows = this.#world
      .of(kind.type)
      .filter(({ object: { metadata } }) => metadata.namespace === object.metadata.name)
    return this.#list(kind, rows, args)
  }

  /** The member of a relation: a connection of its kind, or its first object. */
  #relation(plain: Plain, name: string, type: GraphQLOutputType): unknown {
    const to = getNamedType(type).name
    if (to === 'ObjectRef') {
      const refs = (): readonly Value[] =>
        this.#relations.references(plain, name).map((ref) => this.#ref(plain, ref))
      return isListType(getNullableType(type)) ? refs : () => refs()[0] ?? null
    }
    if (!to.endsWith('Connection')) {
      return () => this.#row(this.#relations.related(plain, name)[0])
    }
    if (to === 'KubernetesObjectConnection') {
      // Its `types` only load kinds, all of which are cached here.
      return (args: Json) =>
        this.#connection(this.#relations.related(plain, name).toSorted(byType), args)
    }
    const kind = this.#world.kind(to.replace(/Connection$/, ''))
    return (args: Json) => {
      if (kind === undefined) throw new NotFollowedError(to)
      return this.#list(kind, this.#relations.related(plain, name), args)
    }
  }

  #event(): PlainKind {
    const event = this.#world.kindOf('', 'Event')
    if (event === undefined) throw new NotFollowedError('Event')
    return event
  }

  #chain(plain: Plain): readonly Value[] {
    return this.#relations.ownerChain(plain).map(({ from, ref }) => this.#ref(from, ref))
  }

  /** A reference that an object holds. */
  #nameIdOf({ kind, group }: Json, { namespace, name }: Json): string {
    const named = [kind, group].filter(Boolean).join('.')
    return [this.#world.cluster, named, namespace ?? '', name].join('/')
  }

  #ref({ object: { metadata } }: Plain, ref: Json): Value {
    const group = groupOfReference(ref)
    const kind = this.#world.kindOf(group, ref.kind)
    const namespace =
      kind?.namespaced === false
        ? (ref.namespace ?? null)
        : ((ref.namespace || metadata.namespace) ?? null)
    const uid = ref.uid && ref.uid !== ref.name ? ref.uid : undefined
    const last = uid ?? `${namespace ?? ''}\0${ref.name}`
    const text = ['1', this.#world.cluster, group, ref.kind, last].join('\0')
    return {
      id: Buffer.from(text).toString('base64url'),
      nameId: this.#nameIdOf({ kind: ref.kind, group }, { namespace, name: ref.name }),
      apiVersion: ref.apiVersion ?? kind?.apiVersion ?? null,
      kind: ref.kind,
      namespace,
      name: ref.name,
      object: () => {
        if (uid !== undefined) return this.#row(this.#world.withUid(uid))
        return this.#row(kind && this.#world.named(kind.type, namespace ?? undefined, ref.name))
      },
    }
  }

  /** A value of the API as the type has it: maps of objects and lists are lists of entries. */
  #native(value: Json, type: GraphQLOutputType): unknown {
    const plain = getNullableType(type)
    if (value === undefined || value === null) return null
    if (isListType(plain)) {
      const item = getNullableType(plain.ofType)
      if (Array.isArray(value)) return value.map((one: Json) => this.#native(one, item))
      if (!isObjectType(item)) return value
      const of = item.getFields()['value']
      return Object.entries(value).map(([key, one]) => ({
        key,
        value: of === undefined ? null : this.#native(one, of.type),
      }))
    }
    if (!isObjectType(plain)) return value
    const members: Record<string, unknown> = {}
    for (const field of Object.values(plain.getFields())) {
      members[field.name] = this.#native(value[jsonNameOf(field.name)], field.type)
    }
    // The metadata of objects, and of the templates in them.
    if ((plain.getFields()['label']?.args.length ?? 0) > 0) {
      members['label'] = ({ key }: Json) =>
        Object.hasOwn(value.labels ?? {}, key) ? value.labels[key] : null
      members['annotation'] = ({ key }: Json) =>
        Object.hasOwn(value.annotations ?? {}, key) ? value.annotations[key] : null
    }
    if (plain.name === 'ObjectMeta') {
      members['uid'] ??= ''
      members['creationTimestamp'] ??= '0001-01-01T00:00:00Z'
    }
    return members
  }

  #list(kind: PlainKind, rows: readonly Plain[], args: Json): Value {
    return this.#connection(
      this.#ordered(this.#matching(kind, rows, args), args.orderBy),
      args,
      kind,
    )
  }

  /** The rows that meet the arguments of a list. Without a kind, of several kinds. */
  #matching(kind: PlainKind | undefined, rows: readonly Plain[], args: Json): readonly Plain[] {
    const { namespace, namespaces, labelSelector, ids, where } = args
    return rows.filter((row) => {
      const { metadata } = row.object
      if (typeof namespace === 'string' && metadata.namespace !== namespace) return false
      if (namespaces && !namespaces.includes(metadata.namespace)) return false
      if (typeof labelSelector === 'string' && !matchesText(labelSelector, metadata.labels))
        return false
      if (ids && !ids.includes(this.#idOf(row))) return false
      return !where || this.#meets(kind ?? row.kind, row, where)
    })
  }

  #meets(kind: PlainKind, row: Plain, where: Json): boolean {
    return Object.entries(where as Record<string, Json>).every(([name, filter]) => {
      if (filter === null) return true
      if (name === 'and') return listOf(filter).every((one) => this.#meets(kind, row, one))
      if (name === 'or') return listOf(filter).some((one) => this.#meets(kind, row, one))
      if (name === 'not') return !this.#meets(kind, row, filter)
      const index = indexesOf(this.#world, kind).get(name)
      if (index !== undefined) return meetsFilter(index, row, filter)
      return this.#meetsRelated(row, name, filter)
    })
  }

  #meetsRelated(row: Plain, name: string, filter: Json): boolean {
    const found =
      name === 'events' ? this.#relations.events(row, false) : this.#relations.related(row, name)
    const meets = (one: Plain, where: Json): boolean => this.#meets(one.kind, one, where)
    return Object.entries(filter as Record<string, Json>).every(([operator, where]) => {
      if (where === null) return true
      switch (operator) {
        case 'some':
          return found.some((one) => meets(one, where))
        case 'none':
          return !found.some((one) => meets(one, where))
        case 'every':
          return found.every((one) => meets(one, where))
        case 'is':
          return found[0] !== undefined && meets(found[0], where)
        default:
          return found[0] === undefined || !meets(found[0], where)
      }
    })
  }

  /** The rows in an order. Ties are by type, namespace and name. */
  #ordered(rows: readonly Plain[], orderBy: Json): readonly Plain[] {
    const keyOf = (row: Plain, name: string, isDown: boolean): PlainKey | undefined => {
      const index = indexesOf(this.#world, row.kind).get(name)
      if (index === undefined) throw new NotFollowedError(`order by ${name}`)
      return index
        .keysOf(row)
        .toSorted(compared)
        .at(isDown ? -1 : 0)
    }
    const terms = termsOf(orderBy)
    return rows.toSorted(
      (a, b) => orderOf(terms, (...by) => [keyOf(a, ...by), keyOf(b, ...by)]) || byType(a, b),
    )
  }

  /** A page of rows, which are in their order. */
  #connection(
    all: readonly Plain[],
    args: Json,
    kind?: PlainKind,
    valueOf: (row: Plain) => unknown = (row) => this.#row(row),
  ): Value {
    return {
      ...pageOf(all, args, valueOf),
      type: kind?.type,
      counts: () => countsOf(all),
      facets: (asked: Json) => kind && this.#facets(kind, all, asked),
      sum: ({ of }: Json) => kind && listed(of).map((name) => this.#sum(kind, all, name)),
    }
  }

  #facets(kind: PlainKind, rows: readonly Plain[], { by, top = 10, sum }: Json): readonly Value[] {
    return listed(by).map((name) => {
      const index = this.#facetIndex(kind, name)
      const byValue = new Map<PlainKey, { shown: unknown; rows: Plain[] }>()
      let missingCount = 0
      for (const row of rows) {
        const values = new Map(index.valuesOf(row).map((value) => [index.keyOf(value), value]))
        if (values.size === 0) missingCount += 1
        for (const [key, value] of values) {
          const known = byValue.get(key) ?? { shown: index.shown(value), rows: [] }
          byValue.set(key, known)
          known.rows.push(row)
        }
      }
      const values = [...byValue]
        .toSorted(([a, x], [b, y]) => y.rows.length - x.rows.length || compared(a, b))
        .slice(0, top ?? 10)
        .map(([, { shown, rows: having }]) => ({
          value: shown,
          count: having.length,
          sums: listed(sum).map((of) => this.#sum(kind, having, of)),
        }))
      return { by: name, values, distinctCount: byValue.size, missingCount }
    })
  }

  #facetIndex(kind: PlainKind, name: string): PlainIndex {
    const label = /^labels\["(.+)"\]$/.exec(name)?.[1]
    const found = indexesOf(this.#world, kind).get(name)
    if (found !== undefined) return found
    const constant = name === 'cluster' ? [this.#world.cluster] : undefined
    if (label === undefined && constant === undefined) throw new NotFollowedError(name)
    const valuesOf = ({ object: { metadata } }: Plain): readonly Json[] =>
      constant ??
      (Object.hasOwn(metadata.labels ?? {}, label ?? '') ? [metadata.labels[label ?? '']] : [])
    return {
      keyOf: (value) => value,
      shown: (value) => value,
      valuesOf,
      keysOf: valuesOf,
      type: 'string',
    }
  }

  #sum(kind: PlainKind, rows: readonly Plain[], of: string): Value {
    const index = indexesOf(this.#world, kind).get(of)
    if (index === undefined) throw new NotFollowedError(`sum of ${of}`)
    const keys = rows.flatMap((row) => index.keysOf(row)) as readonly bigint[]
    return {
      of,
      number: Number(keys.reduce((sum, key) => sum + key, 0n)) / 1e9,
      count: keys.length,
    }
  }
}

/** The JSON name of a field: GraphQL does not allow all of its characters (docs/clients.md). */
function jsonNameOf(name: string): string {
  return name.replaceAll(/_x([0-9A-F]+)_/g, (_, digits: string) =>
    String.fromCodePoint(Number.parseInt(digits, 16)),
  )
}

/** Where the API has a field of `Workload`. Kinds that are none have no field of these names but those of their API. */
function workloadPlace(type: string, field: string): string | undefined {
  const named: Json = {
    replicas: 'spec.replicas',
    readyReplicas: 'status.readyReplicas',
    updatedReplicas: 'status.updatedReplicas',
    podTemplate: 'spec.template',
    strategy: 'spec.strategy',
    conditions: 'status.conditions',
  }
  const other: Json = {
    StatefulSet: { strategy: 'spec.updateStrategy' },
    DaemonSet: {
      replicas: 'status.desiredNumberScheduled',
      readyReplicas: 'status.numberReady',
      updatedReplicas: 'status.updatedNumberScheduled',
      strategy: 'spec.updateStrategy',
    },
    Job: { replicas: 'spec.parallelism', readyReplicas: 'status.ready' },
    CronJob: { podTemplate: 'spec.jobTemplate.spec.template' },
  }
  return other[type]?.[field] ?? named[field]
}
