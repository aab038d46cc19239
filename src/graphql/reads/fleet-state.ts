/*
 * `gatewayClusters`, and the cluster of an object: the state of each cluster, and of its kinds that the viewer may list.
 * Values that are costly or depend on the viewer are computed when a field asks for them.
 */

import type { CachedResourceState } from '../../cache/cached-resource.ts'
import type { ClusterCache } from '../../cache/cluster-cache.ts'
import { type ApiResource, apiVersionOf } from '../../kubernetes/api-resource.ts'
import { healthStatuses } from '../../kubernetes/health/health.ts'
import { type Condition, everything, hasValue } from '../../query/condition/condition.ts'
import { isInScope, type Scope } from '../../query/condition/scope.ts'
import { isSummable } from '../../query/index/index-definition.ts'
import type { IndexType } from '../../query/index/index-key.ts'
import { VisiblePart } from '../../query/page/list-part.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { unlessRefused } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import type {
  Facet,
  FacetsArguments,
  GatewayClusterResourcesArguments,
  GatewayClusterValue,
  GatewayResourceValue,
  IndexForm,
} from '../schema/gateway-types.ts'
import { describeIndex } from '../schema/where-type.ts'
import { servesSecretData, servesWrites } from '../served/served-schema.ts'
import { facetsOf } from './facets.ts'
import { listRequest, readList } from './list-read.ts'
import { furtherNamespaces } from './permissions.ts'
import { OncePerRun, type ReadRun } from './read-run.ts'
import { indexesIn } from './usage-read.ts'

export function clusterStates(run: ReadRun): readonly object[] {
  const states = Array.from(run.served.clusters.keys(), (name) => clusterState(run, name))
  return states.filter((one) => one !== null)
}

const known = new OncePerRun<object | null>()

/**
 * The state of a cluster as the value of `GatewayCluster`; `null` for an unknown one. The rows of a run share it and pay
 * for it once.
 */
export function clusterState(run: ReadRun, name: string): object | null {
  return known.of(run, name, () => {
    const cluster = run.served.clusters.get(name)
    return cluster === undefined ? null : stateOf(run, cluster)
  })
}

function stateOf(run: ReadRun, cluster: ClusterCache): GatewayClusterValue {
  run.budget.spend('fields', 1)
  const { name, connection, uid = null } = cluster
  const access = run.served.access.get(name)
  const isConnected = connection.state === 'connected'
  const member = run.served.members.get(name)
  if (member === undefined) throw new TypeError(`there is no cluster ${name}`)
  const { labels, source, state, since, problem, holder = run.served.fleet.address } = member
  const isCoded = problem === undefined || problem instanceof CodedError
  const isAway = state === 'UNREACHABLE' || state === 'UNAUTHORIZED'
  const code = isAway ? `CLUSTER_${state}` : isCoded ? (problem?.code ?? null) : 'UNKNOWN'
  const whole = new Map<string, readonly object[]>()
  return {
    name,
    labels,
    source,
    state,
    since: since.toISOString(),
    holder: holder ?? null,
    problem: code,
    problemText: run.parts.access === undefined ? (problem?.message ?? null) : null,
    version: isConnected ? connection.version : null,
    uid,
    writable: servesWrites(run.served),
    secretData: servesSecretData(run.served),
    permissions:
      access?.state === undefined ? null : { state: access.state, resources: access.positions },
    resources(args: GatewayClusterResourcesArguments) {
      run.parts.dependsOnViewer?.()
      const asked = JSON.stringify(args)
      const seenBefore = whole.get(asked)
      if (seenBefore !== undefined) return seenBefore
      const states = resourceStates(run, cluster, args)
      // A kind that is loaded moves no other.
      const seen = states
        .filter((one) => one !== undefined)
        .toSorted((one, other) => (one.type < other.type ? -1 : 1))
      if (!states.includes(undefined)) whole.set(asked, seen)
      return seen
    },
  }
}

/**
 * The kinds of a cluster whose objects the viewer may list somewhere. `undefined` stands for a kind whose access review is missing.
 */
function resourceStates(
  run: ReadRun,
  cluster: ClusterCache,
  { loaded = null, namespaces = null }: GatewayClusterResourcesArguments,
): readonly (GatewayResourceValue | undefined)[] {
  const { served, parts, budget } = run
  // Measurements are cached for `usage` only: lists of their kind are read from the API server.
  const caches = cluster.states().filter(({ isPolled }) => !isPolled)
  const listed = loaded === false ? [] : caches
  budget.spend('fields', listed.length)
  const states = listed.flatMap((cached) => {
    const kind = kindOf(run, cached.resource)
    const isWithin = namespaces !== null && cached.resource.namespaced
    const condition = isWithin ? hasValue('namespace', namespaces) : everything
    if (parts.access === undefined) return kindState(run, { cluster, kind, cached, condition })
    const scope = kind === undefined ? 'nothing' : parts.listed({ cluster: cluster.name, kind })
    if (scope === 'nothing') return []
    return scope && kindState(run, { cluster, kind, cached, scope, condition })
  })
  if (loaded === true) return states
  const isLoaded = new Set(caches.map(({ resource }) => kindOf(run, resource)))
  const others = [...served.kinds.values()].filter(
    (kind) => !isLoaded.has(kind) && cluster.serves(kind.resource),
  )
  budget.spend('fields', others.length)
  // Kinds that the viewer may not list everywhere are reviewed only in namespaces where the viewer may list common kinds,
  // so that many kinds in many namespaces take few reviews. None if these are unknown or too many.
  const asked = unlessRefused(() => ({ within: furtherNamespaces(run, cluster.name) }))
  const within = asked === undefined ? [] : asked.within
  if (within === undefined) return [...states, undefined]
  return [
    ...states,
    ...others.flatMap((kind) => {
      const isSeen = parts.listsAny({ cluster: cluster.name, kind }, within)
      if (isSeen === undefined) return [undefined]
      return isSeen ? kindState(run, { cluster, kind }) : []
    }),
  ]
}

/** The kind of a cached resource. The cache keeps a version that the schema no longer serves until it has been idle. */
function kindOf({ served }: ReadRun, { group, kind, version }: ApiResource): Kind | undefined {
  const found = served.kindOf(group, kind)
  return found?.resource.version === version ? found : undefined
}

type SeenKind = { readonly cluster: ClusterCache; readonly scope?: Scope } & (
  | { readonly kind: Kind; readonly cached?: undefined }
  | {
      readonly kind: Kind | undefined
      readonly cached: CachedResourceState
      /** Selects the objects that are counted. */
      readonly condition: Condition
    }
)

const whole: Scope = { form: 'all' }

/** One kind as the value of `GatewayResource`, with the number of objects that the viewer may list. */
function kindState(run: ReadRun, seen: SeenKind): GatewayResourceValue {
  const { served, budget, parts } = run
  const { cluster, kind, cached, scope = whole } = seen
  const resource = seen.cached === undefined ? seen.kind.resource : seen.cached.resource
  const apiVersion = apiVersionOf(resource)
  const coverage = cached?.coverage
  /** The namespaces in which the viewer may list the kind. The names of others are withheld. */
  const visible = (names: Iterable<string> = []): readonly string[] =>
    [...names].filter((name) => isInScope(scope, `${name}/`)).toSorted()
  let counted: number | undefined
  return {
    type: kind?.typeName ?? `${apiVersion} ${resource.kind}`,
    group: resource.group,
    version: resource.version,
    apiVersion,
    kind: resource.kind,
    resource: resource.resource,
    namespaced: resource.namespaced,
    shortNames: resource.shortNames ?? [],
    listField() {
      const { listField = '' } = kind ?? {}
      const fields = served.schema.getQueryType()?.getFields() ?? {}
      return listField in fields ? listField : null
    },
    indexes() {
      if (kind === undefined) return []
      return indexesIn(served, { cluster: cluster.name, kind }).map((index) => {
        const { name, type, values = null } = index
        const closed = type === 'healthStatus' ? healthStatuses : values
        const description = describeIndex(index)
        return { name, form: forms[type], values: closed, summable: isSummable(index), description }
      })
    },
    /** `null` if only the API server knows them. */
    columns: kind?.printed?.columns ?? null,
    state: cached?.state ?? (kind?.uncached === true ? 'UNCACHED' : 'IDLE'),
    objects() {
      if (seen.cached === undefined) return null
      const { condition } = seen
      if (scope.form === 'all' && condition.form === 'everything') return seen.cached.objects
      const view = cluster.synced(resource)
      if (view === undefined) return null
      return (counted ??= new VisiblePart({ view, scope, condition }, budget).count())
    },
    resourceVersion: cached?.resourceVersion ?? null,
    lagMs: cached?.lagMs ?? null,
    /** Errors of the API server may quote other objects, or the account or the address of the gateway. */
    lastError: (parts.access === undefined ? cached?.lastError : undefined) ?? null,
    /** `null`: all except the excluded ones. */
    namespaces: () => (coverage?.namespaces === undefined ? null : visible(coverage.namespaces)),
    namespacesReason: coverage === undefined ? null : namespacesReasons[coverage.cause],
    excludedNamespaces: () => visible(coverage?.excluded),
    refusedNamespaces: () => visible(coverage?.refused),
    /** `null` while the cache is not synced. */
    facets(args: FacetsArguments): readonly Facet[] | null {
      if (kind === undefined || seen.cached === undefined) return null
      const at = { cluster: cluster.name, kind }
      const found = parts.cachedPart(at)
      if (found === undefined) return null
      const needed = kind.indexes.flatMap(({ name }) => (args.by.includes(name) ? [name] : []))
      const isIndexed = needed.every((name) => found.view.hasIndex(name))
      // Notes missing indexes, so that another round waits for them.
      const part = isIndexed ? found : parts.part({ ...at, indexes: { needed } })
      const request = listRequest(served, kind, { first: 0 })
      const start = { list: kind.listField, part, condition: seen.condition, reads: [] }
      const read = () => facetsOf(run, readList(run, kind, request, start), args)
      return budget.because(manyFacets, read)
    },
  }
}

const namespacesReasons = {
  account: 'ACCOUNT',
  configured: 'CONFIGURED',
  excluded: 'EXCLUDED',
} as const

const manyFacets = {
  argument: 'by',
  hint: 'name fewer indexes, or count one kind at a time by the facets of objectList',
}

const forms: Readonly<Record<IndexType, IndexForm>> = {
  string: 'STRING',
  int: 'INT',
  boolean: 'BOOLEAN',
  dateTime: 'DATE_TIME',
  quantity: 'QUANTITY',
  healthStatus: 'HEALTH_STATUS',
}
