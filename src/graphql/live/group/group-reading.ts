/*
 * How the rows of one list of a group are read: within the access of its members (`ListAccess`), from the kinds that the
 * group has leases of. If a run meets an unknown index or permission, the group prepares it and repeats the run
 * (`LackingError`). If a run meets a read that the group does not follow (`MissingKindError`), the operation records it
 * (`DiscoveredReads`), and the members move to a group that follows it.
 */

import type { GraphQLError } from 'graphql'
import { forbiddenList, namespacesOfKeys, requireCovered } from '../../prepare/read-failures.ts'
import type { AccessQuestion } from '../../../access/access-question.ts'
import { coveredScope } from '../../../cache/coverage.ts'
import type { Listener, ListenerRoute } from '../../../informer/delivery/listener.ts'
import type { UnknownIndexError } from '../../../informer/store/store-errors.ts'
import { splitObjectKey } from '../../../kubernetes/object.ts'
import type { ResourceVersion } from '../../../kubernetes/resource-version.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { type Condition, namespacesOf } from '../../../query/condition/condition.ts'
import { isInScope, type Scope, unrestricted } from '../../../query/condition/scope.ts'
import type { ReadReport } from '../../../query/condition/read-report.ts'
import { problemIndex } from '../../../query/problems/problem-part.ts'
import { ReportingBudget, WorkBudget } from '../../../query/condition/work-budget.ts'
import { OperationExtensions } from '../../extensions/extension-calls.ts'
import type { ExtensionCalls } from '../../reads/direct/direct-reads.ts'
import { ClientError, unlessRefused } from '../../errors/client-error.ts'
import type { FollowedList } from '../followed-list.ts'
import type { KindLeases } from '../../prepare/kind-leases.ts'
import type { ClusterKind, KindView, ListReading } from '../../prepare/kind-view.ts'
import { maxRounds, needOfAny, type ReadParts, ReadSnapshot } from '../../prepare/preparation.ts'
import type { KindNeed, ViewerAccess } from '../../prepare/viewer-access.ts'
import type { PlanRunOptions } from '../../plan/plan-run.ts'
import type { Positions } from '../../reads/resume-token.ts'
import type { Kind } from '../../model/kind.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import type { WantedList } from '../frame-plan.ts'
import {
  type AccessRequest,
  type GroupKindAccess,
  isEmpty,
  type ListAccess,
  type NameDecisions,
  neededBy,
  ViewerDecisions,
  type WantedGroup,
} from './group-access.ts'

/** A read that the rows of a group need and the group does not follow. */
export interface MissingRead {
  /**
   * `kind`: a kind, or an index of it, that only objects refer to; `place`: namespaces without a review for the kind;
   * `own`: an object of the followed kind outside the group's listener; `viewer`: a decision that depends on the
   * viewer's identity; `name`: an object that the viewer may see only by name, of a kind that the group does not read.
   */
  readonly form: 'kind' | 'place' | 'own' | 'viewer' | 'name'
  readonly at: ClusterKind
}

/** The rows need reads that their group does not follow. */
export class MissingKindError extends Error {
  readonly followed: Kind
  readonly missing: readonly MissingRead[]

  constructor(followed: Kind, missing: readonly MissingRead[]) {
    super(missing.map(({ form, at }) => `${form} ${at.kind.typeName}`).join())
    this.name = 'MissingKindError'
    this.followed = followed
    this.missing = missing
  }
}

export interface GroupReadingOptions extends Omit<
  PlanRunOptions,
  'parts' | 'budget' | 'followed' | 'variables'
> {
  readonly wanted: WantedGroup
  readonly list: FollowedList
  readonly leadsBack: boolean
  readonly listAccess: ListAccess
  /** Whether members have viewers; members without viewers may see everything. */
  readonly isViewed: boolean
  /** The viewer of all members, if rows depend on the viewer's identity. */
  readonly onlyViewer: ViewerAccess | undefined
  /** Decides about names if rows do not depend on the viewer's identity. */
  readonly names: NameDecisions
  /** Leases of the kinds that the group reads. The group returns them at its end. */
  readonly prepared: KindLeases
  readonly unexpected: (error: GraphQLError) => void
  /** How the rows of the group were read, if its frames carry an explanation. */
  readonly report: () => ReadReport
}

/** The inputs for writing the rows of a group, within one tick. */
export interface GroupRun extends PlanRunOptions {
  readonly unexpected: (error: GraphQLError) => void
  /**
   * Call after the last read. Throws `MissingKindError`, or {@link LackingError} if the caller must call {@link more}.
   */
  readonly check: () => void
  /** Prepares the lacking indexes and permissions. Never rejects. */
  readonly more: () => Promise<void>
}

export interface RunMeans {
  readonly decisions?: ViewerDecisions | undefined
  readonly extensions?: ExtensionCalls | undefined
  /** Ignores lacking indexes and permissions: `check` does not throw for them. */
  readonly isLast?: boolean
  /** Finds the reads of another list of the group for its kind. Set for problems, whose lists are read together. */
  readonly others?: ((at: ClusterKind) => ReadParts | undefined) | undefined
}

/** Writing the rows needs a permission or an index first. */
export class LackingError extends Error {}

export class GroupReading {
  readonly needs: readonly ClusterKind[]
  /** Whether the written rows depend on which kinds are in memory. */
  looksAround = false
  readonly #options: GroupReadingOptions
  readonly #list: FollowedList
  /** The objects of the followed kind that the listener reports; `undefined`: all. */
  readonly #route: ListenerRoute | undefined
  /** Indexes that {@link needs} is known to contain. */
  readonly #indexed = new WeakSet<NonNullable<ClusterKind['indexes']>>()

  constructor(options: GroupReadingOptions) {
    this.#options = options
    this.needs = options.listAccess.visible
    this.#list = options.list
    const { problems, condition } = this.#list
    if (problems !== undefined) this.#route = { valued: problemIndex }
    else this.#route = options.leadsBack ? undefined : listenerRoute(condition)
  }

  /** Whether there is nothing to read: the list is within no namespace, and stays empty. */
  get isNowhere(): boolean {
    return this.needs.length === 0
  }

  /**
   * A current snapshot. Rejects if the followed kind cannot be read. Errors of other kinds fail the fields that read
   * them.
   */
  async snapshot(): Promise<ReadSnapshot> {
    const { prepared } = this.#options
    for (let round = 1; ; round += 1) {
      const snapshot = new ReadSnapshot(prepared)
      try {
        snapshot.part(this.#list.at)
        return snapshot
      } catch (error) {
        if (snapshot.needed.length === 0 || round === maxRounds) throw error
        await prepared.prepare(snapshot.needed)
      }
    }
  }

  /**
   * Throws `ClientError` if the list is limited to a namespace that the cache does not cover. Call it only at the
   * beginning: when the cache later loses a namespace, its rows are removed.
   */
  requireCovered(): void {
    const { at, within } = this.#list
    if (within === undefined || this.isNowhere || !at.kind.resource.namespaced) return
    const viewed = this.#options.listAccess.of(at.kind)?.scope
    requireCovered(this.now().part(at), within, viewed)
  }

  now(): ReadSnapshot {
    return new ReadSnapshot(this.#options.prepared)
  }

  /** The followed kind, as the members see it. */
  followed(snapshot: ReadSnapshot = this.now()): KindView {
    return this.#options.listAccess.followed(snapshot)
  }

  readable(snapshot: ReadSnapshot = this.now()): readonly ClusterKind[] {
    return this.needs.filter((at) => {
      try {
        snapshot.part(at)
        return true
      } catch (error) {
        if (error instanceof ClientError) return false
        throw error
      }
    })
  }

  positions(): Positions {
    const snapshot = this.now()
    const own = this.readable(snapshot).map((at) => {
      return [at.kind.typeName, snapshot.part(at).view.resourceVersion] as const
    })
    return Object.fromEntries(own)
  }

  /** Whether objects of the followed kind with some of these keys may have changed since a position. */
  haveChanged(keys: readonly string[], position: ResourceVersion): boolean {
    const snapshot = this.now()
    if (this.followed(snapshot).view.resourceVersion === position) return false
    const changes = snapshot.history(this.#list.at).since(position)
    const changed = changes && new Set(changes.map(({ key }) => key))
    return changed === undefined || keys.some((key) => changed.has(key))
  }

  /**
   * A listener to a kind for all members, from the state of its store in this tick on. It keeps the latest change of
   * each object. Frames show the store's state when they are written, which may be ahead of the changes taken from the
   * listener.
   */
  listen(snapshot: ReadSnapshot, at: ClusterKind): Listener {
    const route = at.kind === this.#list.at.kind ? this.#route : undefined
    return snapshot.informer(at).listen({
      bufferLimit: 0,
      overflow: 'coalesce',
      replay: false,
      readsStore: true,
      ...(route === undefined ? {} : { route }),
    })
  }

  run(snapshot: ReadSnapshot, means: RunMeans = {}): GroupRun {
    const { decisions = this.decisions(), extensions } = means
    const { served, limits, fragments, unexpected, wanted, prepared } = this.#options
    const { variables, explains } = wanted
    const { at } = this.#list
    const route = this.#route
    const { work } = limits
    const parts = new GroupReads(this.#options, this, snapshot, { ...means, decisions })
    return {
      served,
      limits,
      variables,
      fragments,
      unexpected: (error) => {
        // Not a fault: `check` throws it after the run, and another group follows the kind.
        if (!(error.originalError instanceof MissingKindError)) unexpected(error)
      },
      budget: explains ? new ReportingBudget(work, this.#options.report()) : new WorkBudget(work),
      parts,
      extensions,
      followed: ({ reads, condition, isSaid }) => {
        // A relation may lead to objects of the followed kind that the listener does not report.
        if (route === undefined || 'valued' in route || !reads.includes(at.kind)) return
        const isReported = (key: string): boolean => {
          if ('keys' in route) return route.keys.includes(key)
          return route.index === 'namespace' && route.values.includes(splitObjectKey(key).namespace)
        }
        const isKeys = isSaid && condition.form === 'keys'
        if (!isKeys || !condition.keys.every(isReported)) parts.note({ form: 'own', at })
      },
      check: () => {
        parts.check()
        if (extensions?.isLacking === true) throw new LackingError()
      },
      more: async () => {
        await prepared.makeIndexes(snapshot.neededIndexes)
        await decisions?.ask()
        await extensions?.fetch()
      },
    }
  }

  /** The permissions that rows need besides lists; `undefined` if rows do not depend on the viewer's identity. */
  decisions(): ViewerDecisions | undefined {
    const { onlyViewer } = this.#options
    return onlyViewer && new ViewerDecisions(onlyViewer)
  }

  /**
   * The resolver calls for the rows that are written next, new for each turn, so that rewriting a row calls its resolvers
   * again. `undefined` without extensions.
   */
  extensions(): ExtensionCalls | undefined {
    const { served, limits, onlyViewer } = this.#options
    if (!served.isExtended) return undefined
    const { viewer } = onlyViewer ?? {}
    return new OperationExtensions({ served, limits, viewer, callerToken: undefined })
  }

  /** Whether the group follows a kind with these indexes, or does not follow the kind. */
  isIndexed({ kind, indexes }: ClusterKind): boolean {
    if (indexes === undefined || this.#indexed.has(indexes)) return true
    const need = this.needs.find((one) => one.kind === kind)
    const there = new Set(need?.indexes?.needed)
    if (need !== undefined && [...(indexes.needed ?? [])].some((name) => !there.has(name))) {
      return false
    }
    this.#indexed.add(indexes)
    return true
  }
}

/**
 * The kinds of one run, limited to the access of the members. Each method answers at once, from memory. What a method
 * cannot answer decides what happens after the run:
 *
 * - The group does not follow a read (`#miss`): a kind or index that only objects lead to, or namespaces without a review.
 *   The read throws, the run goes on where it can, so that it finds all such reads, and `check` throws MissingKindError.
 * - An index is not built, or a permission not reviewed: the read counts as empty, and `check` throws LackingError. The
 *   caller prepares it (`GroupRun.more`) and repeats the run, unless it is the last one.
 * - The members may not read it: the read throws FORBIDDEN or leaves objects out, as in a query.
 *
 * For example, rows of pods with `node { name }` read Nodes by name. A group whose plan names Nodes follows them. With
 * `owners { … }` the kinds are known from the objects only, so the first run for a pod of a Job misses the kind Job.
 */
class GroupReads implements ReadParts {
  readonly isOpen = false
  readonly access: ViewerAccess | undefined
  readonly #options: GroupReadingOptions
  readonly #reading: GroupReading
  readonly #snapshot: ReadSnapshot
  readonly #means: RunMeans
  readonly #decisions: ViewerDecisions | undefined
  readonly #missing = new Map<string, MissingRead>()

  constructor(
    options: GroupReadingOptions,
    reading: GroupReading,
    snapshot: ReadSnapshot,
    means: RunMeans,
  ) {
    this.access = options.onlyViewer
    this.#options = options
    this.#reading = reading
    this.#snapshot = snapshot
    this.#means = means
    this.#decisions = means.decisions
  }

  part(at: ClusterKind, reading: ListReading = {}): KindView {
    const other = this.#means.others?.(at)
    if (other !== undefined) return other.part(at, reading)
    this.#checkIndexes(at)
    return this.#listed(at, reading)
  }

  forLookup(at: ClusterKind, keys: readonly string[] = []): KindView | undefined {
    const other = this.#means.others?.(at)
    if (other !== undefined) return other.forLookup(at, keys)
    this.#checkIndexes(at)
    const { listAccess, names } = this.#options
    const { look } = this.#accessOf(at)
    if (look.form === 'all') return this.#looked(at, keys)
    const allows = (key: string): boolean => {
      if (isInScope(look, key)) return true
      const isAllowed = (this.#decisions ?? names).mayLook(at, key)
      if (isAllowed === undefined) this.#miss({ form: 'viewer', at })
      if (isAllowed && !listAccess.isVisible(at.kind)) this.#miss({ form: 'name', at })
      return isAllowed
    }
    // Asks about each key, so that one more round is enough for all.
    const shown = keys.filter((key) => allows(key))
    if (keys.length > 0 ? shown.length === 0 : isEmpty(look)) return undefined
    const byName = { identity: listAccess.fingerprint, allows }
    const part = this.#looked(at, shown)
    return { ...part, scope: coveredScope(look, part.coverage), byName }
  }

  /** Throws `ClientError` if the cache does not cover the namespaces of the keys that the members may look up. */
  #looked(at: ClusterKind, keys: readonly string[]): KindView {
    const part = this.#snapshot.part(at)
    requireCovered(part, namespacesOfKeys(keys))
    return part
  }

  cachedPart(at: ClusterKind, reading: ListReading = {}): KindView | undefined {
    const other = this.#means.others?.(at)
    if (other !== undefined) return other.cachedPart(at, reading)
    this.looksAround()
    if (this.#snapshot.cachedPart(at) === undefined) return undefined
    try {
      return unlessRefused(() => this.#listed(at, reading))
    } catch (error) {
      // Goes on, to collect other missing reads.
      if (error instanceof MissingKindError) return undefined
      throw error
    }
  }

  get isLacking(): boolean {
    return this.#missing.size > 0 || this.#isUnprepared
  }

  get #isUnprepared(): boolean {
    if (this.#means.isLast === true) return false
    return this.#decisions?.isLacking === true || this.#snapshot.neededIndexes.length > 0
  }

  check(): void {
    if (this.#missing.size > 0) throw this.#missingError([...this.#missing.values()])
    if (this.#isUnprepared) throw new LackingError()
  }

  missed(error: UnknownIndexError): void {
    this.#snapshot.missed(error)
  }

  asks(cluster: string, question: AccessQuestion): void {
    this.#decisions?.asks(cluster, question)
  }

  listed(at: ClusterKind): Scope | 'nothing' | undefined {
    const { access } = this
    if (access === undefined) return unrestricted
    const known = access.list(at)
    if (known instanceof ClientError || known === 'unloaded') return 'nothing'
    if (known !== 'unknown') return known
    this.#decisions?.awaits(() => access.ask({ ...at, list: { watch: false } }))
    return undefined
  }

  listsAny(at: ClusterKind, within: readonly string[]): boolean | undefined {
    const { access } = this
    const need = needOfAny(at, within)
    const admission = access?.admission(need) ?? 'admitted'
    if (admission !== 'unknown') return admission === 'admitted'
    this.#decisions?.awaits(async () => access?.ask(need))
    return undefined
  }

  asksList(need: KindNeed): void {
    const { access } = this
    if (access !== undefined) this.#decisions?.awaits(() => access.ask(need))
  }

  dependsOnViewer(): void {
    const { isViewed, list } = this.#options
    if (isViewed && this.access === undefined) this.#miss({ form: 'viewer', at: list.at })
  }

  looksAround(): void {
    this.#reading.looksAround = true
  }

  note(one: MissingRead): void {
    const { form, at } = one
    this.#missing.set([form, at.kind.typeName, ...(at.indexes?.needed ?? [])].join(' '), one)
  }

  #miss(one: MissingRead): never {
    this.note(one)
    throw this.#missingError([one])
  }

  #missingError(missing: readonly MissingRead[]): MissingKindError {
    return new MissingKindError(this.#options.list.at.kind, missing)
  }

  #checkIndexes(at: ClusterKind): void {
    if (!this.#reading.isIndexed(at)) this.#miss({ form: 'kind', at })
  }

  #accessOf(at: ClusterKind): GroupKindAccess {
    return this.#options.listAccess.of(at.kind) ?? this.#miss({ form: 'kind', at })
  }

  #listed(at: ClusterKind, { within }: ListReading): KindView {
    const { scope, refusal, within: reviewed } = this.#accessOf(at)
    if (refusal !== undefined && refusal.code !== 'FORBIDDEN') throw refusal
    const { namespaced } = at.kind.resource
    if (scope.form !== 'all') {
      const wanted = namespaced ? within?.() : undefined
      if (reviewed !== undefined && namespaced) {
        const isReviewed = wanted?.every((namespace) => reviewed.includes(namespace)) ?? false
        if (!isReviewed) this.#miss({ form: 'place', at })
      }
      if (refusal !== undefined) throw refusal
      const isHidden = (namespace: string): boolean =>
        scope.form === 'namespaces' && !scope.namespaces.has(namespace)
      if (wanted !== undefined && wanted.length > 0 && wanted.every(isHidden))
        throw forbiddenList(at, false)
    }
    const part = this.#snapshot.part(at)
    if (part.coverage === undefined) return { ...part, scope }
    requireCovered(part, namespaced ? within?.() : undefined, scope)
    return { ...part, scope: coveredScope(scope, part.coverage) }
  }
}

/** The listener route of a condition that is bound to names, UIDs or namespaces, which never change. */
function listenerRoute(condition: Condition): ListenerRoute | undefined {
  const parts = condition.form === 'and' ? condition.conditions : [condition]
  const keys = parts.find((one) => one.form === 'keys')?.keys
  if (keys !== undefined) return { keys }
  const uids = parts.find(
    (one) => one.form === 'values' && one.index.form === 'index' && one.index.name === 'uid',
  )
  if (uids?.form === 'values') return { index: 'uid', values: uids.values }
  const namespaces = namespacesOf(condition)
  return namespaces === undefined ? undefined : { index: 'namespace', values: namespaces }
}

/**
 * The reads of one operation that its plans do not name, such as the kinds of owners: they become known when a row
 * leads to them. It only grows. A group that lacks some of it is replaced by a group that has all.
 */
export class DiscoveredReads {
  /** The number of groups and of new members that use it. */
  users = 0
  /** The operations that share it: one, until clusters join or leave. */
  readonly operations: Set<string> = new Set<string>()
  readonly #of = new Map<Kind, DiscoveredKinds>()

  of(followed: Kind): DiscoveredKinds {
    return getOrInsert(this.#of, followed, () => new DiscoveredKinds())
  }

  /** What a review of a viewer's access to some lists needs to know. */
  requestsOf(
    lists: readonly WantedList[],
    of: Pick<GroupReadingOptions, 'wanted' | 'limits'> & { readonly identity: string | undefined },
  ): readonly AccessRequest[] {
    const { wanted, limits, identity } = of
    return lists.map((one) => {
      const ofKind = this.of(one.list.at.kind)
      const needs = neededBy(one, wanted.variables, ofKind.further)
      const named = ofKind.namedBy(identity)
      return { wanted: one, needs, wide: new Set(ofKind.wide), named, limits }
    })
  }

  /** Whether rows have turned out to depend on the viewer's identity. */
  get needsViewer(): boolean {
    return [...this.#of.values()].some(({ needsViewer }) => needsViewer)
  }

  /** A text that is equal for equal reads by a viewer. */
  textFor(identity: string | undefined): string {
    const texts = Array.from(this.#of, ([{ typeName }, kinds]) => {
      const named = Array.from(kinds.namedBy(identity), (kind) => kind.typeName)
      const text = kinds.text + (named.length === 0 ? '' : ` named ${named.join()}`)
      return text === '' ? '' : `${typeName}: ${text}`
    })
    return texts.toSorted().join(';')
  }
}

/** For how many viewers an operation keeps the kinds that they see by name. */
const maxNamed = 1_000

export class DiscoveredKinds {
  /** Kinds whose lists need a review for all namespaces, because relations lead to them from anywhere. */
  readonly wide: Set<Kind> = new Set<Kind>()
  /** Whether rows have led to objects of the followed kind outside the list. */
  leadsBack = false
  needsViewer = false
  readonly #further = new Map<Kind, Set<string>>()
  readonly #named = new Map<string, ReadonlySet<Kind>>()

  get further(): readonly RelatedNeed[] {
    return Array.from(this.#further, ([kind, needed]) => ({ kind, indexes: { needed } }))
  }

  get text(): string {
    const kinds = Array.from(this.#further, ([{ typeName }, needed]) =>
      [typeName, ...needed].join(' '),
    )
    const wide = Array.from(this.wide, ({ typeName }) => `wide ${typeName}`)
    return [...kinds, ...wide, ...(this.leadsBack ? ['back'] : [])].toSorted().join()
  }

  namedBy(identity: string | undefined): ReadonlySet<Kind> {
    return this.#named.get(identity ?? '') ?? new Set()
  }

  /** Records that a viewer may see objects of these kinds by name. */
  nameKinds(identity: string, kinds: Iterable<Kind>): void {
    const known = this.namedBy(identity)
    this.#named.delete(identity)
    this.#named.set(identity, new Set([...known, ...kinds]))
    const [oldest = ''] = this.#named.keys()
    if (this.#named.size > maxNamed) this.#named.delete(oldest)
  }

  /** Records a read that a group lacked. `viewer`: the identity of the group's only viewer. */
  add({ at, form }: MissingRead, viewer: string | undefined): void {
    switch (form) {
      case 'place':
        this.wide.add(at.kind)
        return
      case 'own':
        this.leadsBack = true
        return
      case 'viewer':
        this.needsViewer = true
        return
      case 'name':
        if (viewer !== undefined) this.nameKinds(viewer, [at.kind])
        return
      case 'kind': {
        const needed = getOrInsert(this.#further, at.kind, () => new Set())
        for (const name of at.indexes?.needed ?? []) needed.add(name)
      }
    }
  }
}
