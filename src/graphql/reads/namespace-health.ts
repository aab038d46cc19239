/*
 * The health of a Namespace, which is that of what is in it: the worst DEGRADED, UNKNOWN or PROGRESSING among the objects of
 * the kinds that `problems` looks at, as the viewer may see them. So two viewers may see another health of one namespace.
 *
 * The kinds have an index of such objects by status and namespace (`content-health.ts`). `contentsOf` folds the distinct
 * values of these indexes once a run, so it costs as much as there are unhealthy namespaces, whatever the number of objects.
 * Rows read the fold (`namespaceHealth`). Filters, orders, facets and live lists read an index, as they do of every kind:
 * `withContents` gives a view of Namespaces whose index `health` is made of the fold.
 */

import { ObjectIndex } from '../../informer/store/object-index.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { Fields } from '../../kubernetes/fields.ts'
import {
  contentIndex,
  contentOf,
  type ContentStatus,
  contentValue,
} from '../../kubernetes/health/content-health.ts'
import {
  type Health,
  type HealthStatus,
  healthStatuses,
  ruledHealth,
} from '../../kubernetes/health/health.ts'
import { healthRuleOf } from '../../kubernetes/health/health-rules.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { type Condition, everything } from '../../query/condition/condition.ts'
import { isInScope } from '../../query/condition/scope.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { indexKeyOf } from '../../query/index/index-key.ts'
import { compareKeys } from '../../query/page/list-order.ts'
import { ClientError } from '../errors/client-error.ts'
import { isNamespace, type Kind } from '../model/kind.ts'
import type { ClusterKind, KindView } from '../prepare/kind-view.ts'
import type { ReadParts } from '../prepare/preparation.ts'
import { problemKindsOf } from '../served/named-kinds.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'

const indexes = { needed: [contentIndex] }

/** The value of `Health` of a Namespace. Its reason is looked up only if it is selected. */
interface HealthValue {
  readonly status: HealthStatus
  readonly reason: Told
  readonly message: Told
}

type Told = string | null | (() => string | null)

/** The kinds of a cluster that the health of its namespaces reads. */
export function contentNeeds(served: ServedSchema, cluster: string): readonly RelatedNeed[] {
  const kinds = problemKindsOf(served, cluster).filter(isContent)
  // Pods come first: they tell the cause, and their owners what follows from it.
  const pods = kinds.filter(({ resource }) => resource.kind === 'Pod')
  return [...new Set([...pods, ...kinds])].map((kind) => ({ kind, indexes }))
}

/** Events say what has happened, and have no health. */
export function isContent({ resource: { namespaced, kind } }: Kind): boolean {
  return namespaced && kind !== 'Event'
}

/** What a fold reads. */
interface ContentReads {
  readonly served: ServedSchema
  readonly parts: Pick<ReadParts, 'part' | 'isLacking'>
  readonly budget: WorkBudget
}

/** A run of rows. Subscriptions learn from `followed` what each row depends on. */
interface RowReads extends ContentReads {
  readonly followed?:
    | ((read: {
        readonly reads: readonly Kind[]
        readonly condition: Condition
        readonly isSaid: boolean
        readonly namespace: string
      }) => void)
    | undefined
}

interface Contents {
  /** The position in {@link healthStatuses} of the worst object in each namespace that has an unhealthy one. */
  readonly worst: ReadonlyMap<string, number>
  readonly parts: readonly KindView[]
  /** The type of a kind that cannot be read at present. What it would add is not known. */
  readonly unread: string | undefined
}

const folds = new WeakMap<object, Map<string, Contents>>()

function contentsOf({ served, parts, budget }: ContentReads, cluster: string): Contents {
  const known = getOrInsert(folds, parts, () => new Map<string, Contents>())
  const folded = known.get(cluster)
  if (folded !== undefined) return folded
  const worst = new Map<string, number>()
  const read: KindView[] = []
  let unread: string | undefined
  for (const need of contentNeeds(served, cluster)) {
    try {
      read.push(parts.part({ cluster, ...need, isOptional: true }))
    } catch (error) {
      // A round that lacks a kind goes on, to find all that it lacks.
      if (!parts.isLacking && !(error instanceof ClientError)) throw error
      const isHidden = error instanceof ClientError && error.code === 'FORBIDDEN'
      if (!isHidden) unread = need.kind.typeName
    }
  }
  for (const part of read) {
    const index = part.view.index(contentIndex)
    budget.spend('examined', index.size)
    for (const value of index.values()) {
      const { rank, namespace } = contentOf(value)
      if (rank < (worst.get(namespace) ?? Infinity) && isAnyShown(part, value, budget)) {
        worst.set(namespace, rank)
      }
    }
  }
  const contents = { worst, parts: read, unread }
  known.set(cluster, contents)
  return contents
}

/** Whether the viewer may see one of the objects with a value. All of them are in one namespace. */
function isAnyShown({ view, scope }: KindView, value: string, budget: WorkBudget): boolean {
  if (scope.form !== 'names') return isInScope(scope, `${contentOf(value).namespace}/`)
  for (const id of view.index(contentIndex).posting(value) ?? []) {
    budget.spend('examined', 1)
    if (isInScope(scope, view.keyOf(id))) return true
  }
  return false
}

const namespaceRule = healthRuleOf({ group: '', kind: 'Namespace' })

/** The health of a Namespace as its row shows it: its own if it is being deleted, else that of what is in it. */
export function namespaceHealth(
  run: RowReads,
  { cluster, view }: KindView,
  id: ObjectId,
): HealthValue {
  const { name } = splitObjectKey(view.keyOf(id))
  const reads = contentNeeds(run.served, cluster).map(({ kind }) => kind)
  run.followed?.({ reads, condition: everything, isSaid: false, namespace: name })
  const own = ruledHealth(namespaceRule, view.object(id) as unknown as Fields)
  if (own !== undefined && own.status !== 'HEALTHY') return valueOf(own)
  const contents = contentsOf(run, cluster)
  const rank = contents.worst.get(name)
  const status = rank === undefined ? undefined : (healthStatuses[rank] as ContentStatus)
  if (status !== undefined) {
    let told: Health | undefined
    const tell = (): Health => (told ??= toldOf(run, contents, contentValue(status, name)))
    return { status, reason: () => tell().reason ?? null, message: () => tell().message ?? null }
  }
  const { unread } = contents
  if (unread === undefined) return valueOf({ status: 'HEALTHY' })
  return valueOf({ status: 'UNKNOWN', reason: 'NotRead', message: `${unread} cannot be read` })
}

function valueOf({ status, reason, message }: Health): HealthValue {
  return { status, reason: reason ?? null, message: message ?? null }
}

const words: Readonly<Record<ContentStatus, string>> = {
  DEGRADED: 'degraded',
  UNKNOWN: 'unknown',
  PROGRESSING: 'progressing',
}

/** The most objects that are looked at for the first one that has the worst health. */
const maxTold = 1_000

/** The reason of the first object with a value, by kind and name, and how many have it. */
function toldOf({ budget }: ContentReads, { parts }: Contents, value: string): Health {
  let count = 0
  let first: { readonly part: KindView; readonly key: string; readonly id: ObjectId } | undefined
  for (const part of parts) {
    let ofKind: typeof first
    for (const id of part.view.index(contentIndex).posting(value) ?? []) {
      const key = part.view.keyOf(id)
      if (!isInScope(part.scope, key)) continue
      count += 1
      if (count > maxTold) continue
      budget.spend('examined', 1)
      if (ofKind === undefined || compareKeys(key, ofKind.key) < 0) ofKind = { part, key, id }
    }
    first ??= ofKind
  }
  const status = healthStatuses[contentOf(value).rank] as ContentStatus
  if (first === undefined) return { status }
  const { part, key, id } = first
  const { resource } = part.kind
  const of = ruledHealth(healthRuleOf(resource), part.view.object(id) as unknown as Fields)
  const about = `${resource.kind} ${splitObjectKey(key).name}`
  const said = of?.message ?? of?.reason
  const others = count > 1 ? `, with ${count - 1} more ${words[status]}` : ''
  const message = `${about} is ${words[status]}${others}${said === undefined ? '' : `: ${said}`}`
  return { status, reason: of?.reason, message }
}

/** The views of Namespaces by the fold, once a run: sets that a run has bound stay with their view. */
const derivedViews = new WeakMap<object, Map<StoreView, StoreView>>()
const made = new WeakSet<StoreView>()

/** A part of Namespaces whose index `health` is that of what is in them; any other part as it is. */
export function withContents<P extends KindView>(reads: ContentReads, part: P): P {
  const { kind, cluster, view, isDirect } = part
  if (!isNamespace(kind) || isDirect === true || made.has(view)) return part
  const known = getOrInsert(derivedViews, reads.parts, () => new Map())
  let derived = known.get(view)
  if (derived === undefined) {
    derived = derivedView(reads, cluster, view)
    made.add(derived)
    known.set(view, derived)
  }
  return { ...part, view: derived }
}

/** A view that answers `index('health')` itself, and anything else by the store. */
function derivedView(reads: ContentReads, cluster: string, view: StoreView): StoreView {
  let index: ObjectIndex | undefined
  let version: string | undefined
  const own = new Map<string | symbol, unknown>()
  own.set('index', (name: string) => {
    if (name !== 'health') return view.index(name)
    if (index === undefined || version !== view.resourceVersion) {
      index = healthIndex(reads, cluster, view)
      version = view.resourceVersion
    }
    return index
  })
  return new Proxy(view, {
    get(target, name) {
      const known = own.get(name)
      if (known !== undefined) return known
      // Methods of a store have private state, so they are called on the store itself.
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const bound: unknown = value.bind(target)
      own.set(name, bound)
      return bound
    },
  })
}

/** The index `health` of Namespaces, from what is in them. Throws `UnknownIndexError` without an index of their own health. */
function healthIndex(reads: ContentReads, cluster: string, view: StoreView): ObjectIndex {
  const { worst, unread } = contentsOf(reads, cluster)
  const own = view.index('health')
  const index = new ObjectIndex('health')
  const healthy = indexKeyOf('healthStatus', 'HEALTHY') ?? ''
  const otherwise = unread === undefined ? healthy : (indexKeyOf('healthStatus', 'UNKNOWN') ?? '')
  reads.budget.spend('examined', view.size)
  for (const id of view.ids()) {
    const [status = healthy] = own.valuesOf(id)
    const rank = worst.get(splitObjectKey(view.keyOf(id)).name)
    index.set(id, [status === healthy ? (rank === undefined ? otherwise : String(rank)) : status])
  }
  return index
}

/** Whether values of an index depend on other objects in the namespace. */
export function isContentIndex(kind: Kind, name: string): boolean {
  return name === 'health' && isNamespace(kind)
}

/** The place of each kind whose changes move the health of namespaces in a cluster. */
export function contentPlaces(served: ServedSchema, cluster: string): readonly ClusterKind[] {
  return contentNeeds(served, cluster).map((need) => ({ cluster, isOptional: true, ...need }))
}
