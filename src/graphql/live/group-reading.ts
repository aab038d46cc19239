import type { Listener } from '../../informer/delivery/listener.ts'
import type { ListenerRoute } from '../../informer/delivery/route.ts'
import { type ResourceVersion, resourceVersion } from '../../kubernetes/resource-version.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import type { Kind } from '../model/kind.ts'
import type { FollowedList } from '../operation/followed-list.ts'
import type { ClusterKind, KindView } from '../prepare/kind-view.ts'
import type { KindLeases } from '../prepare/kind-leases.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import { subscriptionListener } from '../operation/subscription-listener.ts'
import type { PlanRunOptions } from '../plan/plan-run.ts'
import { plannedWork } from '../plan/planned-work.ts'
import type { Positions } from './frame-writer.ts'
import type { GroupFilter } from './group-filter.ts'
import { groupParts, type GroupRun } from './group-run.ts'
import { listenerRoute } from './listener-route.ts'
import { filterPositionsAt } from './affected-since.ts'
import { settledNeeds } from './settled-needs.ts'
import type { GroupAccess } from './group-access.ts'
import type { WithheldChecks } from './withheld-checks.ts'

export interface GroupReadingOptions extends Omit<PlanRunOptions, 'parts' | 'budget' | 'followed'> {
  /** Whether rows may be written from objects of the followed kind that are not followed themselves. */
  readonly leadsBack: boolean
  readonly list: FollowedList
  /** What all members see. */
  readonly groupAccess: GroupAccess
  /** Leases of the kinds that are read, which the group gives back at its end. */
  readonly prepared: KindLeases
}

/** What a group reads at one moment. */
interface Moment {
  /** The followed one first. */
  readonly kinds: readonly Kind[]
  readonly settled: ReadSnapshot
  /** What of the followed kind may be seen. */
  readonly part: KindView
  readonly budget: WorkBudget
}

/** What a group reads: the kinds of which its members may see something, as they see them. */
export class GroupReading {
  /** The kinds, the followed one first. */
  readonly needs: readonly ClusterKind[]
  readonly #options: GroupReadingOptions
  readonly #withheld: WithheldChecks
  /** What is heard of the followed kind. */
  readonly #route: ListenerRoute | undefined
  #looksAround = false

  constructor(options: GroupReadingOptions, withheld: WithheldChecks) {
    this.#options = options
    this.#withheld = withheld
    this.needs = options.groupAccess.visible
    this.#route = options.leadsBack ? undefined : listenerRoute(options.list.condition)
  }

  /** Whether what has been written depends on which kinds are in memory. */
  get looksAround(): boolean {
    return this.#looksAround
  }

  /** Whether all is followed that somebody has been told of who is at these positions. */
  followsAll(positions: Positions): boolean {
    const { list } = this.#options
    const own = this.needs.map(({ kind }) => kind.typeName)
    const names = new Set([...own, ...filterPositionsAt(list).map(({ name }) => name)])
    return Object.keys(positions).every((name) => names.has(name))
  }

  /** The kinds as they are now. Rejects where one of them cannot be read. */
  settled(): Promise<ReadSnapshot> {
    return settledNeeds(this.#options.prepared, this.needs)
  }

  /** The part of the followed kind; of this tick unless something else is given. */
  followed(settled: ReadSnapshot = this.#options.prepared.settle()): KindView {
    return this.#options.groupAccess.followed(settled)
  }

  /** The kinds as they are in this tick. */
  now(): ReadSnapshot {
    return this.#options.prepared.settle()
  }

  /** What has happened until now, and what it is told by. */
  moment(): Moment {
    const settled = this.now()
    const kinds = this.needs.map(({ kind }) => kind)
    return { kinds, settled, part: this.followed(settled), budget: this.run(settled).budget }
  }

  /** How far the stores are. */
  positions(filter: Pick<GroupFilter, 'positions'>): Positions {
    const settled = this.now()
    const own = this.needs.map((at) => [at.kind.typeName, settled.part(at).view.resourceVersion])
    return { ...Object.fromEntries(own), ...filter.positions }
  }

  /** Whether objects of the followed kind with some of these keys may have changed since a position. */
  haveChanged(keys: readonly string[], position: ResourceVersion): boolean {
    const settled = this.now()
    if (this.followed(settled).view.resourceVersion === position) return false
    const changes = settled.history(this.#options.list.at).since(position)
    const changed = changes && new Set(changes.map(({ key }) => key))
    return changed === undefined || keys.some((key) => changed.has(key))
  }

  /** Resolves when as much is known of what was before positions as can be known. Never rejects. */
  async reach(settled: ReadSnapshot, positions: Positions): Promise<void> {
    const own = this.needs.map((at) => ({ name: at.kind.typeName, at }))
    const all = [...own, ...filterPositionsAt(this.#options.list)]
    await Promise.all(
      all.map(async ({ name, at }) => {
        const position = positions[name]
        if (position === undefined) return
        await settled.history(at).reach(resourceVersion(position))
      }),
    )
  }

  /** Listeners to the changes of each kind, in their order. */
  listeners(settled: ReadSnapshot): Listener[] {
    const { list } = this.#options
    return this.needs.map((at) =>
      subscriptionListener(
        settled.informer(at),
        at.kind === list.at.kind ? this.#route : undefined,
      ),
    )
  }

  /** What rows are written with. */
  run(settled: ReadSnapshot): GroupRun {
    const { served, limits, variables, fragments, groupAccess, list } = this.#options
    const looksAround = (): void => {
      this.#looksAround = true
    }
    const followed = { at: list.at, route: this.#route, needs: this.needs, looksAround }
    return {
      served,
      limits,
      variables,
      fragments,
      budget: new WorkBudget(plannedWork(limits.work)),
      ...groupParts(groupAccess.over(settled, this.#withheld), followed),
    }
  }
}
