/*
 * Access of live groups, part 2: the members of a group, and how they see the same while permissions change.
 * `GroupMemberships` keeps the members by viewer. When a viewer's permissions may have changed, the viewer's members get
 * no frames until a review says what the viewer may see now (`ViewerMembership`). If that differs from the group's
 * access, they move to another group. When clusters join the fleet, the group takes the access that most of its viewers
 * have there (`sharedAccess`); the other viewers leave it after their own reviews. Rows may need reads that the plan does
 * not name. `DiscoveredReads` records them for the operation, and the members move to a group that has them.
 */

import type { ClusterAccess } from '../../../access/cluster-access.ts'
import type { Change } from '../../../informer/store/change.ts'
import { splitObjectKey } from '../../../kubernetes/object.ts'
import { Backoff, sleep } from '../../../lib/backoff.ts'
import { DeadlineError, withDeadline } from '../../../lib/deadline.ts'
import type { Kind } from '../../model/kind.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import { ViewerAccess } from '../../prepare/viewer-access.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import {
  type AccessRequest,
  GroupAccess,
  isPassing,
  type ListAccess,
  resolveAccess,
  resolveGroupAccess,
  type SeenList,
} from './group-access.ts'
import type { Group, GroupMember, MemberGate } from './group-frames.ts'
import type { MissingRead, NameDecisions } from './group-reading.ts'
import type { GroupState } from './group-state.ts'

/**
 * The members of a group by viewer. One review of a viewer's access serves all members of the viewer. Rows omit objects
 * that only a rule for a single name could allow. A viewer with such a rule leaves the group.
 */
export class GroupMemberships {
  readonly #group: Group
  readonly #withheld = new Map<string, WithheldName>()
  readonly #memberships = new Map<string, ViewerMembership>()
  readonly #users = new Set<string>()
  /** The namespaces of added objects, by cluster and kind. */
  readonly #namespaces = new Map<string, Set<string>>()

  constructor(group: Group) {
    this.#group = group
  }

  of(access: ViewerAccess): ViewerMembership {
    let membership = this.#memberships.get(access.identity)
    if (membership === undefined) {
      membership = new ViewerMembership(access, this.#group, this.#withheld)
      this.#memberships.set(access.identity, membership)
      this.#users.add(access.viewer.username)
    }
    return membership
  }

  recheck({ identity }: ViewerAccess): void {
    this.#memberships.get(identity)?.recheck()
  }

  /** Decides about the names that rows lead to, whose reads are `discovered`. */
  decisions(discovered: DiscoveredKinds): NameDecisions {
    return {
      mayLook: (at, key) => {
        const name = `${at.cluster} ${at.kind.typeName} ${key}`
        if (this.#withheld.has(name)) return false
        if (this.#withheld.size === maxWithheld) return undefined
        this.#withheld.set(name, { at, key, discovered })
        for (const membership of this.#memberships.values()) membership.askMore()
        return false
      },
    }
  }

  [Symbol.iterator](): Iterator<ViewerMembership> {
    return this.#memberships.values()
  }

  get users(): ReadonlySet<string> {
    return this.#users
  }

  *membersOf(user: string): Generator<GroupMember, void> {
    for (const { access, members } of this.#memberships.values()) {
      if (access.viewer.username === user) yield* members
    }
  }

  /** Removes a member. A membership ends with its last member. */
  leave(member: GroupMember): void {
    const { gate } = member
    if (gate instanceof ViewerMembership && gate.members.delete(member)) this.drop(gate)
  }

  drop(membership: ViewerMembership): void {
    const { identity, viewer } = membership.access
    if (membership.members.size > 0 || this.#memberships.get(identity) !== membership) return
    membership.close()
    this.#memberships.delete(identity)
    for (const { access } of this.#memberships.values()) {
      if (access.viewer.username === viewer.username) return
    }
    this.#users.delete(viewer.username)
  }

  /** Rechecks all viewers if objects appear in further namespaces, where access may not have been reviewed yet. */
  changed(access: ListAccess, { cluster, kind }: ClusterKind, changes: readonly Change[]): void {
    if (this.#memberships.size === 0 || !access.isPlaceBound(kind)) return
    const name = `${cluster} ${kind.typeName}`
    let namespaces = this.#namespaces.get(name)
    if (namespaces === undefined) this.#namespaces.set(name, (namespaces = new Set()))
    const known = namespaces.size
    for (const { type, key } of changes) {
      if (type === 'ADDED') namespaces.add(splitObjectKey(key).namespace)
    }
    if (namespaces.size === known) return
    for (const membership of this.#memberships.values()) membership.recheck()
  }

  retire(): void {
    for (const membership of this.#memberships.values()) {
      membership.retire()
      this.drop(membership)
    }
  }
}

/** The minimum time until the next review of a viewer's access, if no change is reported. */
const minHoldsMs = 1_000
/**
 * Up to this many names get a new review when a permission may have changed; more names wait until the answers expire.
 */
const fewNames = 50
/** The names that a group may withhold. Each costs two access reviews per viewer. */
const maxWithheld = 500

interface WithheldName {
  readonly at: ClusterKind
  readonly key: string
  /** The reads of the rows that lack it. */
  readonly discovered: DiscoveredKinds
}

/** The members of a group that have the same viewer. */
export class ViewerMembership implements MemberGate {
  readonly access: ViewerAccess
  readonly members: Set<GroupMember> = new Set<GroupMember>()
  readonly #group: Group
  /** The clusters whose permissions it follows, each with the function that stops it. */
  readonly #followed = new Map<ClusterAccess, () => void>()
  readonly #withheld: ReadonlyMap<string, WithheldName>
  readonly #leaving = new AbortController()
  /** The expiry of the latest review that found the viewer's access equal to the group's. */
  #openUntilMs = Number.NEGATIVE_INFINITY
  #isStale = false
  #hasChanged = false
  #checking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  /** Withheld names that recent reviews have denied to the viewer. */
  readonly #refused = new Set<string>()

  constructor(access: ViewerAccess, group: Group, withheld: ReadonlyMap<string, WithheldName>) {
    this.access = new ViewerAccess(group.state.served, access.viewer)
    this.#group = group
    this.#withheld = withheld
    this.#followClusters()
  }

  /** Follows the permissions in the present clusters of the group, whose frames wait for a new review. */
  followClusters(): void {
    this.#followClusters()
    this.recheck()
  }

  #followClusters(): void {
    const { requests } = this.#group.state
    const clusters = new Set(
      requests.map(({ wanted: { list } }) => this.access.in(list.at.cluster)),
    )
    for (const [cluster, unfollow] of this.#followed) {
      if (clusters.has(cluster)) continue
      unfollow()
      this.#followed.delete(cluster)
    }
    for (const cluster of clusters) {
      if (this.#followed.has(cluster)) continue
      const unfollow = cluster.onChange(this.access.viewer, () => {
        if (this.#refused.size <= fewNames) this.#refused.clear()
        this.#hasChanged = true
        this.recheck()
      })
      this.#followed.set(cluster, unfollow)
    }
  }

  get isOpen(): boolean {
    return performance.now() < this.#openUntilMs
  }

  /** Holds frames back until a new review of the viewer's access is done. */
  recheck(): void {
    this.#openUntilMs = Number.NEGATIVE_INFINITY
    this.#isStale = true
    clearTimeout(this.#timer)
    if (this.#leaving.signal.aborted) return
    if (this.#checking !== undefined) return
    this.#checking = this.#check().finally(() => {
      this.#checking = undefined
    })
    // `ready` reports the error.
    this.#checking.catch(() => {})
  }

  /**
   * Waits for the review of the viewer's access, at most until the deadline. Rejects with the error of a failed review
   * while the membership has no members. With members, a failed review is tried again until it succeeds.
   */
  async ready(deadlineMs: number): Promise<void> {
    if (!this.isOpen && this.#checking === undefined) this.recheck()
    const checked = this.#checking ?? Promise.resolve()
    await withDeadline('what a viewer may see', checked, deadlineMs).catch((error: unknown) => {
      if (!(error instanceof DeadlineError)) throw error
    })
  }

  askMore(): void {
    if (!this.isOpen) return
    void this.#seesWithheld().then(
      (sees) => {
        if (sees) this.recheck()
      },
      () => this.recheck(),
    )
  }

  /**
   * Marks the group as over. Members may take the remaining frames until permissions may have changed, which closes the
   * gate for good.
   */
  retire(): void {
    this.#leaving.abort()
  }

  close(): void {
    this.#leaving.abort()
    this.#openUntilMs = Number.NEGATIVE_INFINITY
    clearTimeout(this.#timer)
    for (const unfollow of this.#followed.values()) unfollow()
  }

  async #check(): Promise<void> {
    const { signal } = this.#leaving
    const backoff = new Backoff({ initialMs: 500, maxMs: 10_000 })
    while (this.#isStale && !signal.aborted) {
      this.#isStale = false
      try {
        this.access.begin()
        // oxlint-disable-next-line no-await-in-loop -- again, as it has changed meanwhile
        await this.#checkOnce()
      } catch (error) {
        if (signal.aborted) return
        // The clusters have changed meanwhile.
        if (this.#isStale) continue
        if (this.members.size === 0) throw error
        if (!isPassing(error)) {
          for (const member of this.members) member.finish({ form: 'failed', errors: [error] })
          return
        }
        this.#isStale = true
        // oxlint-disable-next-line no-await-in-loop -- as above
        await sleep(backoff.nextMs(), signal)
      }
    }
  }

  async #checkOnce(): Promise<void> {
    const group = this.#group
    const { requests, access: shared, onlyViewer } = group.state
    const groupAccess = await resolveGroupAccess(this.access, requests)
    if (this.#isStale || this.#leaving.signal.aborted) return
    const isOther = groupAccess.fingerprint !== shared.fingerprint
    if (isOther || (await this.#seesWithheld())) {
      if (this.members.size > 0) await group.regroup(this)
      return
    }
    if (this.#isStale) return
    const isAlone = onlyViewer !== undefined
    if (isAlone && this.#hasChanged) {
      this.#hasChanged = false
      const isRewritten = await group.rewrite()
      if (!isRewritten) this.#hasChanged = true
      if (!isRewritten || this.#isStale) return
    }
    const longestMs = isAlone
      ? Math.min(...Array.from(this.#followed.keys(), ({ limits }) => limits.allowMs))
      : Infinity
    const now = performance.now()
    this.#openUntilMs = Math.max(Math.min(groupAccess.untilMs, now + longestMs), now + minHoldsMs)
    clearTimeout(this.#timer)
    if (this.#openUntilMs < Infinity) {
      this.#timer = setTimeout(() => {
        this.#refused.clear()
        this.#hasChanged = true
        this.recheck()
      }, this.#openUntilMs - now).unref()
    }
    for (const member of this.members) member.announce()
  }

  /** Whether the viewer may see an object that the group withholds. Such a viewer needs separate rows. */
  async #seesWithheld(): Promise<boolean> {
    while (this.#refused.size < this.#withheld.size) {
      const further = [...this.#withheld].filter(([name]) => !this.#refused.has(name))
      // oxlint-disable-next-line no-await-in-loop -- the reviews may lead to further objects
      const seen = await Promise.all(
        further.map(async ([, { at, key, discovered }]) => {
          const isSeen = await this.access.mayLook(at, splitObjectKey(key))
          if (isSeen) discovered.nameKinds(this.access.identity, [at.kind])
          return isSeen
        }),
      )
      if (seen.includes(true)) return true
      for (const [name] of further) this.#refused.add(name)
    }
    return false
  }
}

/** The access that most viewers of a group have to further lists. Without members, the request of the first one counts. */
export async function sharedAccess(
  memberships: GroupMemberships,
  { wanted: { viewer }, served }: Pick<GroupState, 'wanted' | 'served'>,
  requests: readonly AccessRequest[],
): Promise<readonly SeenList[]> {
  if (viewer === undefined) return await resolveAccess(undefined, requests)
  const members = Array.from(memberships, ({ access }) => access)
  const viewers = members.length > 0 ? members : [new ViewerAccess(served, viewer)]
  const all = await Promise.all(
    viewers.map((access) => {
      access.begin()
      return resolveAccess(access, requests)
    }),
  )
  const alike = Map.groupBy(all, (lists) => new GroupAccess(lists).fingerprint)
  const [most = []] = [...alike.values()].toSorted((a, b) => b.length - a.length)
  return most[0] ?? []
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
    let found = this.#of.get(followed)
    if (found === undefined) this.#of.set(followed, (found = new DiscoveredKinds()))
    return found
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
    return this.#named.get(identity ?? '') ?? noKinds
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
        let needed = this.#further.get(at.kind)
        if (needed === undefined) this.#further.set(at.kind, (needed = new Set()))
        for (const name of at.indexes?.needed ?? []) needed.add(name)
      }
    }
  }
}

const noKinds: ReadonlySet<Kind> = new Set()
