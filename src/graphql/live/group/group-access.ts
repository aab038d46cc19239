/*
 * What the members of a group may see, list by list and kind by kind. Three files tell how access decides about groups:
 *
 * 1. Here, the access of a viewer to the lists of a subscription is resolved, with reviews where it is unknown. It never
 *    changes within the group (`GroupAccess`). Rows that depend on the viewer's identity ask further questions, one by one
 *    (`ViewerDecisions`).
 * 2. `live-groups.ts` finds the group of a subscriber by lists and access, and learns which further reads rows need.
 * 3. `group-members.ts` resolves the access of each viewer again when permissions may have changed, and compares it.
 *
 * The rows are read through this access (`group-reading.ts`).
 */

import type { DocumentNode, VariableValues } from 'graphql'
import { type AccessQuestion, questionOf } from '../../../access/access-question.ts'
import type { Viewer } from '../../../access/viewer.ts'
import { coveredScope } from '../../../cache/coverage.ts'
import { splitObjectKey } from '../../../kubernetes/object.ts'
import { WorkBudget } from '../../../query/condition/work-budget.ts'
import { nothingVisible, type Scope, unrestricted } from '../../../query/condition/scope.ts'
import { type Kind, isUsageKind } from '../../model/kind.ts'
import {
  accessFingerprint,
  joinedFingerprint,
  type SeenKind,
  isNowhere,
  type KindNeed,
  type LookUpPlace,
  type ViewerAccess,
} from '../../prepare/viewer-access.ts'
import { ClientError, isLostCluster } from '../../errors/client-error.ts'
import { neededKinds } from '../../plan/plan.ts'
import { AskedArguments } from '../../plan/plan-run.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import type { OperationLimits, ServedSchema } from '../../served/served-schema.ts'
import type { FleetParts, Followed, WantedList } from '../frame-plan.ts'
import type { ClusterKind, KindView } from '../../prepare/kind-view.ts'
import { ClusterPace } from '../../prepare/cluster-pace.ts'
import { type KindLeases, silentReviews } from '../../prepare/kind-leases.ts'
import { PermissionWait, type ReadSnapshot } from '../../prepare/preparation.ts'
import { tooManyNamespaces } from '../../prepare/read-failures.ts'
import type { ResumePosition } from '../../reads/resume-token.ts'

export interface GroupKindAccess {
  readonly at: ClusterKind
  readonly scope: Scope
  /** The error of a list field if the members may list nothing. */
  readonly refusal: ClientError | undefined
  /** The namespaces that lists were reviewed for; `undefined`: all. */
  readonly within: readonly string[] | undefined
  /** The scope that the members may get by name, from rules for whole namespaces. */
  readonly look: Scope
}

/**
 * The access of all members of a group for one of its lists, kind by kind: everything, some namespaces, or some names.
 * It never changes: a viewer whose access changes leaves the group.
 */
export class ListAccess {
  /** The scope of the followed kind that the members may list and watch. */
  readonly scope: Scope
  /** A short text that is equal for equal access and equal errors. Group keys and resume tokens contain it. */
  readonly fingerprint: string
  /** When the access expires if no change is reported, in `performance.now()` time. */
  readonly untilMs: number
  readonly #kinds: readonly GroupKindAccess[]
  readonly #byKind: ReadonlyMap<Kind, GroupKindAccess>
  readonly #named: ReadonlySet<Kind>

  /** `kinds`: the followed kind first. `named`: kinds whose single objects members may see by name. */
  constructor(
    scope: Scope,
    kinds: readonly GroupKindAccess[],
    { untilMs, named }: { readonly untilMs: number; readonly named: ReadonlySet<Kind> },
  ) {
    this.scope = scope
    this.untilMs = untilMs
    this.#kinds = kinds
    this.#named = named
    this.#byKind = new Map(kinds.map((one) => [one.at.kind, one]))
    const seen = kinds.flatMap(({ at, look, ...of }, number): readonly SeenKind[] => {
      const related = { ...at, scope: of.scope, look }
      if (number > 0) return [related]
      // Equals the fingerprint of a page of the list if relations have the same access to the kind.
      const isSame = isSameScope(of.scope, scope) && isSameScope(look, scope)
      return isSame ? [{ ...at, scope }] : [{ ...at, scope }, related]
    })
    // Other refusals than a lacking permission, such as too many namespaces to review.
    const uncertain = kinds.flatMap(({ at, refusal }) =>
      refusal === undefined || refusal.code === 'FORBIDDEN'
        ? []
        : [`${at.kind.typeName}:${refusal.code}`],
    )
    this.fingerprint = [accessFingerprint(seen), ...uncertain].join(' ')
  }

  /** The kinds that the members may see in part or whole, the followed kind first. Other kinds need no informer. */
  get visible(): readonly ClusterKind[] {
    return this.#kinds.flatMap(({ at }) => (this.isVisible(at.kind) ? [at] : []))
  }

  isVisible(kind: Kind): boolean {
    const found = this.of(kind)
    if (found === undefined) return false
    return found.refusal === undefined || !isEmpty(found.look) || this.#named.has(kind)
  }

  /** The access to a kind; `undefined` if the group does not read it. */
  of(kind: Kind): GroupKindAccess | undefined {
    return this.#byKind.get(kind)
  }

  /** Whether access to a kind was reviewed only for the namespaces that had objects of it. */
  isPlaceBound(kind: Kind): boolean {
    const found = this.of(kind)
    if (found === undefined || found.within !== undefined) return false
    return kind.resource.namespaced && found.scope.form !== 'all'
  }

  followed(snapshot: ReadSnapshot): KindView {
    const [first] = this.#kinds
    if (first === undefined) throw new TypeError('nothing is followed')
    const part = snapshot.part(first.at)
    return { ...part, scope: coveredScope(this.scope, part.coverage) }
  }
}

function isSameScope(a: Scope, b: Scope): boolean {
  if (a.form !== b.form) return false
  return placesOf(a).toSorted().join() === placesOf(b).toSorted().join()
}

export function isEmpty(scope: Scope): boolean {
  return scope.form !== 'all' && placesOf(scope).length === 0
}

/** A list, and the access of the members to it; an error if they may not read the list. */
export interface SeenList {
  readonly request: AccessRequest
  readonly access: ListAccess | ClientError
}

/** The access of all members of a group to its lists, in their order. */
export class GroupAccess {
  readonly lists: readonly SeenList[]
  /** A short text that is equal for equal access and equal errors. Group keys and resume tokens contain it. */
  readonly fingerprint: string
  /** The earliest {@link ListAccess.untilMs} of the lists. */
  readonly untilMs: number

  constructor(lists: readonly SeenList[]) {
    this.lists = lists
    this.fingerprint = joinedFingerprint(
      lists.map(({ access }) => (access instanceof ListAccess ? access.fingerprint : access.code)),
    )
    const now = performance.now()
    this.untilMs = Math.min(
      ...lists.map(({ access }) => {
        if (access instanceof ListAccess) return access.untilMs
        return isPassing(access) ? now + passingMs : Infinity
      }),
    )
  }

  get visible(): readonly ClusterKind[] {
    return this.lists.flatMap(({ access }) => (access instanceof ListAccess ? access.visible : []))
  }
}

/** How long a failed review stands if its reason may pass. */
const passingMs = 5_000

/** Whether a failed review may succeed later: an unreachable cluster may come back, other errors last. */
export function isPassing(error: unknown): boolean {
  return error instanceof ClientError && isLostCluster(error.code)
}

/** The reads of a list that decide which access to review. */
export interface AccessRequest {
  readonly wanted: WantedList
  /** The kinds that the rows are written from, the followed kind first. */
  readonly needs: readonly ClusterKind[]
  /** Kinds to review in all namespaces, because relations lead to them from any namespace. */
  readonly wide: ReadonlySet<Kind>
  /** Kinds whose single objects the viewer may see by name. */
  readonly named: ReadonlySet<Kind>
  /** How long to wait for permissions that keep changing, and for a silent cluster. */
  readonly limits: Pick<OperationLimits, 'operationDeadlineMs' | 'silenceMs'>
}

/**
 * The access of a viewer to lists, with reviews where it is unknown; full access without a viewer. Some of several lists
 * may be refused. Rejects with a `ClientError` if all are refused; if they are of several kinds, `incomplete` among its facts
 * names each.
 */
export async function resolveGroupAccess(
  access: ViewerAccess | undefined,
  requests: readonly AccessRequest[],
): Promise<GroupAccess> {
  const resolved = await sharedAccess([access], requests)
  const { lists } = resolved
  const errors = lists.flatMap((one) => (one.access instanceof ClientError ? [one.access] : []))
  const [first] = errors
  // `problems` looks where the viewer may look, even if that is nowhere.
  const isLenient = requests.some(({ wanted }) => wanted.list.problems !== undefined)
  if (first === undefined || errors.length < lists.length || isLenient) return resolved
  const told = errors.find((error) => isPassing(error)) ?? first
  const { code, message, cluster, type, retryAfterMs, hint } = told
  if (errors.every((error) => error.type === type)) throw told
  const incomplete = errors.map((error) => ({
    cluster: error.cluster,
    type: error.type,
    code: error.code,
    message: error.message,
  }))
  const facts = { incomplete }
  throw new ClientError(code, message, { cluster, type, retryAfterMs, hint, facts, cause: told })
}

/** The access that most of some viewers have to lists, with the error of each list that is refused. */
export async function sharedAccess(
  viewers: readonly (ViewerAccess | undefined)[],
  requests: readonly AccessRequest[],
): Promise<GroupAccess> {
  const all = await Promise.all(
    viewers.map(async (access) => {
      const pace = new ClusterPace(requests[0]?.limits.silenceMs ?? Infinity)
      const seen = async (request: AccessRequest): Promise<SeenList> => {
        try {
          return { request, access: await resolveListAccess(access, request, pace) }
        } catch (error) {
          if (error instanceof ClientError) return { request, access: error }
          throw error
        }
      }
      const lists = requests.map((request) => {
        const list = seen(request)
        pace.add(request.wanted.list.at.cluster, list)
        return list
      })
      return new GroupAccess(await Promise.all(lists))
    }),
  )
  const alike = Map.groupBy(all, ({ fingerprint }) => fingerprint)
  const [most] = [...alike.values()].toSorted((a, b) => b.length - a.length)
  return most?.[0] ?? new GroupAccess([])
}

/**
 * Resolves access, loads the visible kinds, and resolves the access of viewers again: only now are the namespaces known
 * that have objects, which limit the review.
 */
export async function loadedAccess(
  leases: KindLeases,
  isViewed: boolean,
  resolve: () => Promise<GroupAccess>,
): Promise<GroupAccess> {
  const access = await resolve()
  if (!isViewed) return access
  await leases.prepare(access.visible)
  return await resolve()
}

/**
 * The access of a viewer to a list. `namespaces: []` matches nothing and needs no permission. Rejects with the
 * `ClientError` of the followed kind.
 */
async function resolveListAccess(
  access: ViewerAccess | undefined,
  request: AccessRequest,
  pace: ClusterPace,
): Promise<ListAccess> {
  const { at, within } = request.wanted.list
  if (isNowhere({ kind: at.kind, list: { within, watch: true } })) {
    return new ListAccess(nothingVisible, [], { untilMs: Infinity, named: new Set() })
  }
  if (access === undefined) {
    const look = unrestricted
    const whole = { scope: look, look, refusal: undefined, within: undefined }
    const kinds = request.needs.map((one) => ({ at: one, ...whole }))
    return new ListAccess(unrestricted, kinds, { untilMs: Infinity, named: request.named })
  }
  const permissions = new PermissionWait(request.limits.operationDeadlineMs)
  for (;;) {
    const known = knownListAccess(access, request)
    if (known instanceof ListAccess) return known
    if (permissions.isOver()) break
    const asked = Promise.all(known.map((ask) => ask()))
    const silentMs = (): number =>
      at.isOptional === true ? (access.in(at.cluster)?.silentMs ?? 0) : 0
    if (!(await pace.whileHeard(asked, silentMs))) throw silentReviews(at.cluster)
  }
  const message = 'permissions change faster than they can be reviewed'
  const details = { cluster: at.cluster, retryAfterMs: 1_000 }
  throw new ClientError('CLUSTER_UNREACHABLE', message, details)
}

type Question = () => Promise<unknown>

/** The access of a viewer, or the questions to ask first. Throws the `ClientError` of the followed kind. */
function knownListAccess(
  access: ViewerAccess,
  { wanted: { list }, needs, wide, named }: AccessRequest,
): ListAccess | readonly Question[] {
  const open: Question[] = []
  const [root] = needs
  if (root === undefined) throw new TypeError('nothing is followed')
  // A list for problems shows no objects, so it needs no `watch`.
  const isWatch = list.problems === undefined
  const verbs = isWatch ? ['list', 'watch'] : ['list']
  const followed = listed(access, { ...root, list: { within: list.within, watch: isWatch } }, open)
  if (followed === undefined) return open
  if (followed instanceof ClientError) throw followed
  let untilMs = allowedUntilMs(access, root, placesOf(followed), verbs)
  const kinds: GroupKindAccess[] = []
  const own = followed.form === 'namespaces' ? [...followed.namespaces] : undefined
  const namespaces = list.within ?? own
  const filtering = new Set(list.needs.map(({ kind }) => kind))
  // Includes the followed kind: relations may lead to its objects, too.
  for (const at of needs) {
    // The group follows the kinds that its filter reads.
    const watch = filtering.has(at.kind) && !isUsageKind(at.kind)
    const within = watch || wide.has(at.kind) ? undefined : namespaces
    const ofKind = listed(access, { ...at, list: { within, watch } }, open)
    if (ofKind === undefined) continue
    const refusal = ofKind instanceof ClientError ? ofKind : undefined
    const scope = ofKind instanceof ClientError ? nothingVisible : ofKind
    const isWhole = scope.form === 'all'
    const look = isWhole ? unrestricted : lookedUp(access, at, scope, namespaces ?? [], open)
    kinds.push({ at, scope, refusal, within, look })
    const places = new Set(placesOf(scope))
    const others = placesOf(look).filter((place) => !places.has(place) && !places.has(''))
    // Either permission allows a look.
    const looksUntilMs = others.map((place) =>
      Math.max(...['list', 'get'].map((verb) => allowedUntilMs(access, at, [place], [verb]))),
    )
    untilMs = Math.min(
      untilMs,
      allowedUntilMs(access, at, places, watch ? ['list', 'watch'] : ['list']),
      ...looksUntilMs,
    )
  }
  return open.length > 0 ? open : new ListAccess(followed, kinds, { untilMs, named })
}

/** The scope or error of a list; `undefined` if it adds a question to `open`. */
function listed(
  access: ViewerAccess,
  need: KindNeed & Required<Pick<KindNeed, 'list'>>,
  open: Question[],
): Scope | ClientError | undefined {
  const known = access.list(need, need.list)
  // A followed kind is in memory as a whole.
  if (known === 'unloaded')
    return tooManyNamespaces(need, access.in(need.cluster).limits.maxNamespaces)
  if (known !== 'unknown') return known
  open.push(() => access.ask(need))
  return undefined
}

/** The scope that the viewer may get by name: everything, whole namespaces, or Namespace objects. */
function lookedUp(
  access: ViewerAccess,
  at: ClusterKind,
  list: Scope,
  namespaces: readonly string[],
  open: Question[],
): Scope {
  const { resource } = at.kind
  const looks = (place: LookUpPlace): boolean => {
    const known = access.looks(at, place)
    if (known === undefined) open.push(() => access.mayLook(at, place))
    return known === true
  }
  const inLists = list.form === 'namespaces' ? list.namespaces : new Set<string>()
  const isListed = (namespace: string): boolean => inLists.has(namespace)
  if (resource.namespaced && namespaces.length > 0 && namespaces.every(isListed)) {
    return { form: 'namespaces', namespaces: inLists }
  }
  if (looks({})) return unrestricted
  if (open.length > 0) return nothingVisible
  if (resource.namespaced) {
    const seen = [...new Set([...namespaces, ...inLists])].filter(
      (namespace) => isListed(namespace) || looks({ namespace }),
    )
    return seen.length === 0 ? nothingVisible : { form: 'namespaces', namespaces: new Set(seen) }
  }
  if (resource.group !== '' || resource.resource !== 'namespaces') return nothingVisible
  const seen = namespaces.filter((name) => looks({ name }))
  return { form: 'names', keys: new Set(seen) }
}

/**
 * Until when the viewer may use all these verbs in all these places if no change is reported, by `performance.now()`.
 * `-Infinity` unless all of them are known to be allowed.
 */
function allowedUntilMs(
  access: ViewerAccess,
  { cluster, kind: { resource } }: ClusterKind,
  places: Iterable<string>,
  verbs: readonly string[],
): number {
  const known = access.in(cluster)
  let untilMs = Infinity
  for (const namespace of places) {
    // The API server authorizes a Namespace in the namespace of its own name.
    const place = resource.namespaced ? { namespace } : { namespace, name: namespace }
    for (const verb of verbs) {
      const question = questionOf(verb, resource, place)
      untilMs = Math.min(untilMs, known.allowedUntilMs(access.viewer, question))
    }
  }
  return untilMs
}

/** Namespaces, `''` for all of them, or the keys of single objects. */
function placesOf(scope: Scope): readonly string[] {
  switch (scope.form) {
    case 'all':
      return ['']
    case 'namespaces':
    case 'except':
      return [...scope.namespaces]
    case 'names':
      return [...scope.keys]
  }
}

/** Decides about single objects outside every scope that a rule for a whole namespace allows. */
export interface NameDecisions {
  /** `undefined`: there are too many names, so the viewer needs a group alone. */
  mayLook(at: ClusterKind, key: string): boolean | undefined
}

/** Permissions that rows depend on and that need a review for this viewer and this object. */
export class ViewerDecisions implements NameDecisions {
  readonly #access: ViewerAccess
  readonly #reviews = new Map<unknown, () => Promise<unknown>>()
  #refusal: unknown

  constructor(access: ViewerAccess) {
    this.#access = access
  }

  get isLacking(): boolean {
    return this.#reviews.size > 0
  }

  mayLook(at: ClusterKind, key: string): boolean {
    const place = splitObjectKey(key)
    const known = this.#access.looks(at, place)
    const name = `${at.kind.typeName} ${key}`
    if (known === undefined) this.awaits(() => this.#access.mayLook(at, place), name)
    return known ?? false
  }

  /** Notes an access question about the viewer. Throws if the last reviews failed. */
  asks(cluster: string, question: AccessQuestion): void {
    this.awaits(() => this.#access.may(cluster, question))
  }

  /** Notes a review, once for each name. Throws if the last reviews failed. */
  awaits(review: () => Promise<unknown>, name: unknown = review): void {
    if (this.#refusal !== undefined) throw this.#refusal as Error
    this.#reviews.set(name, review)
  }

  /** Runs all noted reviews. Never rejects: a failed review fails the fields that need it. */
  async ask(): Promise<void> {
    this.#access.begin()
    const asking = Array.from(this.#reviews.values(), (review) => review())
    this.#reviews.clear()
    const outcomes = await Promise.allSettled(asking)
    const failed = outcomes.find((one) => one.status === 'rejected')
    if (failed !== undefined) this.#refusal = failed.reason
  }
}

export interface Joining extends Followed {
  readonly served: ServedSchema
  readonly document: DocumentNode
  /** The lists after a change of the fleet. Throws if the arguments name a cluster that is gone. */
  readonly listsIn: (fleet: FleetParts) => readonly WantedList[]
  readonly variables: VariableValues
  readonly coalesceMs: number
  readonly resumeFrom: ResumePosition | undefined
  /** A hash of the variables that decide the rows. */
  readonly asked: string
  /** The kinds that the operation names by a schema. */
  readonly supporting: (served: ServedSchema) => readonly ClusterKind[]
  readonly explains: boolean
  /** Absent without access control: the subscriber may see everything. */
  readonly viewer?: Viewer | undefined
}

export interface WantedGroup extends Omit<Joining, 'resumeFrom'> {
  /** A text that is equal for subscriptions with the same plans, variables and clusters. */
  readonly operation: string
}

export function placeOf({ plan, lists }: WantedGroup): {
  cluster?: string
  type: string
} {
  const [only] = lists
  const cluster = only?.list.at.isOptional === true ? undefined : only?.list.at.cluster
  return { ...(cluster === undefined ? {} : { cluster }), type: plan.kind.typeName }
}

/**
 * The kinds that a list of a group reads, with their indexes; the followed kind first. Throws as `AskedArguments.of` does.
 */
export function neededBy(
  { plan, list }: WantedList,
  variables: VariableValues,
  further: readonly RelatedNeed[] = [],
): readonly ClusterKind[] {
  const { cluster, isOptional } = list.at
  const asked = new AskedArguments(variables, new WorkBudget())
  const named = neededKinds({ kinds: plan.needs, asked: plan.asked }, cluster, asked)
  const needs = new Map<
    Kind,
    ClusterKind & { readonly indexes: { readonly needed: Set<string> } }
  >()
  for (const { kind, indexes } of [...named, ...list.needs, ...further]) {
    const known = needs.get(kind)
    const needed = known?.indexes.needed ?? new Set<string>()
    for (const name of indexes?.needed ?? []) needed.add(name)
    if (known === undefined)
      needs.set(kind, { cluster, kind, isOptional, indexes: { ...indexes, needed } })
  }
  return [...needs.values()]
}
