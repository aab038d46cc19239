import type { CachedResourceState } from '../../cache/cached-resource.ts'
import type { ClusterCache } from '../../cache/cluster-cache.ts'
import { type ApiResource, apiVersionOf } from '../../kubernetes/api-resource.ts'
import { healthStatuses } from '../../kubernetes/health/health.ts'
import { type Condition, everything, hasValue } from '../../query/condition/condition.ts'
import { isInScope, type Scope } from '../../query/condition/scope.ts'
import { type IndexDefinition, isSummable } from '../../query/index/index-definition.ts'
import type { IndexType } from '../../query/index/index-key.ts'
import { countObjects } from '../../query/page/list-part.ts'
import { unlessRefused } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import type { FacetArguments, ResourcesArguments } from '../schema/read-arguments.ts'
import type { Facet } from '../schema/read-context.ts'
import { describeIndex } from '../schema/where-type.ts'
import { facetsOf } from './connection-read.ts'
import { listedPart, listRequest, pageOf } from './list-read.ts'
import { furtherNamespaces } from './permissions.ts'
import type { ReadRun } from './read-run.ts'
import { indexesIn } from './usage-read.ts'

/**
 * The kinds of a cluster of which the viewer may list any objects: those with a cache first, then the others of the
 * schema. `undefined` stands for a kind whose access review is missing.
 */
export function resourceStates(
  run: ReadRun,
  cluster: ClusterCache,
  { loaded = null, namespaces = null }: ResourcesArguments,
): readonly (object | undefined)[] {
  const { served, parts, budget } = run
  // Measurements are cached for `usage` only: lists of their kind are read from the API server.
  const caches = cluster.states().filter(({ isPolled }) => !isPolled)
  const listed = loaded === false ? [] : caches
  budget.spend('fields', listed.length)
  const states = listed.flatMap((cached) => {
    const kind = kindOf(run, cached.resource)
    const isWithin = namespaces !== null && cached.resource.namespaced
    const condition = isWithin ? hasValue('namespace', namespaces) : everything
    if (parts.access === undefined) return new KindState(run, { cluster, kind, cached, condition })
    const scope = kind === undefined ? 'nothing' : parts.listed({ cluster: cluster.name, kind })
    if (scope === 'nothing') return []
    return scope && new KindState(run, { cluster, kind, cached, scope, condition })
  })
  if (loaded === true) return states
  const isLoaded = new Set(caches.map(({ resource }) => kindOf(run, resource)))
  const others = [...served.kinds.values()].filter(
    (kind) => !isLoaded.has(kind) && cluster.serves(kind.resource),
  )
  budget.spend('fields', others.length)
  const within = namespacesToAsk(run, cluster.name)
  if (within === undefined) return [...states, undefined]
  return [
    ...states,
    ...others.flatMap((kind) => {
      const isSeen = parts.listsAny({ cluster: cluster.name, kind }, within)
      if (isSeen === undefined) return [undefined]
      return isSeen ? new KindState(run, { cluster, kind }) : []
    }),
  ]
}

/**
 * The namespaces where to ask for kinds that the viewer may not list everywhere: those where the viewer may list common
 * kinds, so that many kinds in many namespaces take few reviews. None if they are not known or too many. `undefined`
 * while an access review is missing.
 */
function namespacesToAsk(run: ReadRun, cluster: string): readonly string[] | undefined {
  const found = unlessRefused(() => ({ within: furtherNamespaces(run.served, run, cluster) }))
  return found === undefined ? [] : found.within
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
      /** Which of its objects are counted. */
      readonly condition: Condition
    }
)

const whole: Scope = { form: 'all' }

/** One kind, with the number of objects that the viewer may list: the fields of `GatewayResource`. */
class KindState {
  readonly #run: ReadRun
  readonly #seen: SeenKind
  readonly #resource: ApiResource
  #objects: number | undefined

  constructor(run: ReadRun, seen: SeenKind) {
    this.#run = run
    this.#seen = seen
    this.#resource = seen.cached === undefined ? seen.kind.resource : seen.cached.resource
  }

  get type(): string {
    return this.#seen.kind?.typeName ?? `${this.apiVersion} ${this.kind}`
  }

  get group(): string {
    return this.#resource.group
  }

  get version(): string {
    return this.#resource.version
  }

  get apiVersion(): string {
    return apiVersionOf(this.#resource)
  }

  get kind(): string {
    return this.#resource.kind
  }

  get resource(): string {
    return this.#resource.resource
  }

  get namespaced(): boolean {
    return this.#resource.namespaced
  }

  get shortNames(): readonly string[] {
    return this.#resource.shortNames ?? []
  }

  get listField(): string | null {
    const { listField = '' } = this.#seen.kind ?? {}
    const fields = this.#run.served.schema.getQueryType()?.getFields()
    return fields?.[listField] === undefined ? null : listField
  }

  get indexes(): readonly object[] {
    const { cluster, kind } = this.#seen
    if (kind === undefined) return []
    return indexesIn(this.#run.served, { cluster: cluster.name, kind }).map(indexState)
  }

  /** `null` if only the API server knows them. */
  get columns(): readonly object[] | null {
    return this.#seen.kind?.printed?.columns ?? null
  }

  get state(): CachedResourceState['state'] | 'UNCACHED' | 'IDLE' {
    const { cached, kind } = this.#seen
    if (cached !== undefined) return cached.state
    return kind.uncached ? 'UNCACHED' : 'IDLE'
  }

  get objects(): number | null {
    const { cluster, cached, scope = whole } = this.#seen
    if (cached === undefined) return null
    const { condition } = this.#seen
    if (scope.form === 'all' && condition.form === 'everything') return cached.objects
    const view = cluster.synced(this.#resource)
    if (view === undefined) return null
    const { budget } = this.#run
    return (this.#objects ??= countObjects({ view, scope, budget, condition }))
  }

  get resourceVersion(): string | null {
    return this.#seen.cached?.resourceVersion ?? null
  }

  get lagMs(): number | null {
    return this.#seen.cached?.lagMs ?? null
  }

  /** Errors of the API server may quote other objects, or the account or the address of the gateway. */
  get lastError(): string | null {
    const isOpen = this.#run.parts.access === undefined
    return isOpen ? (this.#seen.cached?.lastError ?? null) : null
  }

  /** `null`: all but {@link excludedNamespaces}. */
  get namespaces(): readonly string[] | null {
    const namespaces = this.#seen.cached?.coverage?.namespaces
    return namespaces === undefined ? null : this.#visible(namespaces)
  }

  get namespacesReason(): string | null {
    const cause = this.#seen.cached?.coverage?.cause
    return cause === undefined ? null : namespacesReasons[cause]
  }

  get excludedNamespaces(): readonly string[] {
    return this.#visible(this.#seen.cached?.coverage?.excluded ?? noNames)
  }

  get refusedNamespaces(): readonly string[] {
    return this.#visible(this.#seen.cached?.coverage?.refused ?? noNames)
  }

  /** The namespaces in which the viewer may list the kind: the names of others are not theirs to know. */
  #visible(namespaces: ReadonlySet<string>): readonly string[] {
    const { scope = whole } = this.#seen
    return [...namespaces].filter((name) => isInScope(scope, `${name}/`)).toSorted()
  }

  /** `null` while the cache is not synced. */
  facets(args: FacetArguments): readonly Facet[] | null {
    return this.#run.budget.because(manyFacets, () => this.#facets(args))
  }

  #facets(args: FacetArguments): readonly Facet[] | null {
    const { kind, cached } = this.#seen
    if (kind === undefined || cached === undefined) return null
    const { condition } = this.#seen
    const { parts, served } = this.#run
    const at = { cluster: this.#seen.cluster.name, kind }
    const found = parts.cachedPart(at)
    if (found === undefined) return null
    const needed = kind.indexes.flatMap(({ name }) => (args.by.includes(name) ? [name] : []))
    const isIndexed = needed.every((name) => found.view.hasIndex(name))
    // Asks for missing indexes, so that another round waits for them.
    const part = isIndexed ? found : parts.part({ ...at, indexes: { needed } })
    const request = listRequest(served, kind, { first: 0 })
    const read = pageOf(this.#run, kind, request, {
      list: kind.listField,
      parts: [listedPart(this.#run, part, request, condition)],
      reads: [],
    })
    return facetsOf(this.#run, read, args)
  }
}

const noNames: ReadonlySet<string> = new Set()

const namespacesReasons = {
  account: 'ACCOUNT',
  configured: 'CONFIGURED',
  excluded: 'EXCLUDED',
} as const

const manyFacets = {
  argument: 'by',
  hint: 'name fewer indexes, or count one kind at a time by the facets of objectList',
}

const forms: Readonly<Record<IndexType, string>> = {
  string: 'STRING',
  int: 'INT',
  boolean: 'BOOLEAN',
  dateTime: 'DATE_TIME',
  quantity: 'QUANTITY',
  healthStatus: 'HEALTH_STATUS',
}

function indexState(index: IndexDefinition): object {
  const { name, type, values } = index
  const closed = type === 'healthStatus' ? healthStatuses : (values ?? null)
  return {
    name,
    form: forms[type],
    values: closed,
    summable: isSummable(index),
    description: describeIndex(index),
  }
}
