import type { GraphQLError } from 'graphql'
import type { ResourceHistory } from '../../cache/recent-changes.ts'
import type { Listener, ListenerRoute } from '../../informer/delivery/listener.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { type ResourceVersion, resourceVersion } from '../../kubernetes/resource-version.ts'
import { type Condition, namespacesOf } from '../../query/condition/condition.ts'
import { unrestricted } from '../../query/condition/scope.ts'
import { ReadReport } from '../../query/condition/read-report.ts'
import { ReportingBudget, WorkBudget } from '../../query/condition/work-budget.ts'
import { ClientError } from '../errors/client-error.ts'
import { explain } from '../answer/explanation.ts'
import type { FollowedList } from './followed-list.ts'
import type { KindLeases } from '../prepare/kind-leases.ts'
import type { ClusterKind, KindView } from '../prepare/kind-view.ts'
import { maxRounds } from '../prepare/preparation.ts'
import type { FollowedRelation } from '../reads/read-run.ts'
import type { ReadParts, ReadSnapshot } from '../prepare/read-snapshot.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'
import type { PlanRunOptions } from '../plan/plan-run.ts'
import { plannedWork } from '../plan/planned-work.ts'
import type { Positions } from '../reads/resume-token.ts'
import {
  type GroupAccess,
  MissingKindError,
  type MissingRead,
  type NameDecisions,
  ViewerDecisions,
} from './group-access.ts'

export interface GroupReadingOptions extends Omit<PlanRunOptions, 'parts' | 'budget' | 'followed'> {
  /** Whether rows may read objects of the followed kind outside the list. */
  readonly leadsBack: boolean
  readonly list: FollowedList
  /** The access of all members. */
  readonly groupAccess: GroupAccess
  /** Whether members have viewers; members without viewers may see everything. */
  readonly isViewed: boolean
  /** The viewer of all members, if rows depend on the viewer's identity. */
  readonly onlyViewer: ViewerAccess | undefined
  /** Decides about names if rows do not depend on the viewer's identity. */
  readonly names: NameDecisions
  /** Leases of the kinds that the group reads. The group returns them at its end. */
  readonly prepared: KindLeases
  /** Whether frames explain how their rows were read. */
  readonly explains: boolean
  /** Receives errors that clients see masked. */
  readonly unexpected: (error: GraphQLError) => void
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

/** Writing the rows needs a permission or an index first. */
export class LackingError extends Error {}

/** The reads of a group: the kinds that its members may see in part or whole, limited to their access. */
export class GroupReading {
  /** The kinds, the followed kind first. */
  readonly needs: readonly ClusterKind[]
  readonly #options: GroupReadingOptions
  /** The objects of the followed kind that the listener reports; `undefined`: all. */
  readonly #route: ListenerRoute | undefined
  /** Indexes that {@link needs} is known to contain. */
  readonly #indexed = new WeakSet<NonNullable<ClusterKind['indexes']>>()
  #looksAround = false
  #report = new ReadReport()

  constructor(options: GroupReadingOptions) {
    this.#options = options
    this.needs = options.groupAccess.visible
    this.#route = options.leadsBack ? undefined : listenerRoute(options.list.condition)
  }

  /** Whether the written rows depend on which kinds are in memory. */
  get looksAround(): boolean {
    return this.#looksAround
  }

  /** Whether the group follows all kinds that these positions name. */
  followsAll(positions: Positions): boolean {
    const { list } = this.#options
    const own = this.needs.map(({ kind }) => kind.typeName)
    const filtering = list.filter?.kinds.map(({ position }) => position) ?? []
    const names = new Set([...own, ...filtering])
    return Object.keys(positions).every((name) => names.has(name))
  }

  /**
   * A current snapshot. Rejects if the followed kind cannot be read. Errors of other kinds fail the fields that read
   * them.
   */
  async settled(): Promise<ReadSnapshot> {
    const { prepared, list } = this.#options
    for (let round = 1; ; round += 1) {
      const settled = prepared.settle()
      try {
        settled.part(list.at)
        return settled
      } catch (error) {
        if (settled.needed.length === 0 || round === maxRounds) throw error
        // oxlint-disable-next-line no-await-in-loop -- one round after the other
        await prepared.prepare(settled.needed)
      }
    }
  }

  /** The snapshot of this tick. */
  now(): ReadSnapshot {
    return this.#options.prepared.settle()
  }

  /** The followed kind, as the members see it. */
  followed(settled: ReadSnapshot = this.now()): KindView {
    return this.#options.groupAccess.followed(settled)
  }

  /** The kinds that can be read in this tick. */
  readable(settled: ReadSnapshot = this.now()): readonly ClusterKind[] {
    return this.needs.filter((at) => {
      try {
        settled.part(at)
        return true
      } catch (error) {
        if (error instanceof ClientError) return false
        throw error
      }
    })
  }

  /** The positions of the readable stores. */
  positions(): Positions {
    const settled = this.now()
    const own = this.readable(settled).map((at) => {
      return [at.kind.typeName, settled.part(at).view.resourceVersion] as const
    })
    return Object.fromEntries(own)
  }

  /** The recent changes of a kind. */
  history(at: ClusterKind): ResourceHistory {
    return this.now().history(at)
  }

  /** Whether objects of the followed kind with some of these keys may have changed since a position. */
  haveChanged(keys: readonly string[], position: ResourceVersion): boolean {
    const settled = this.now()
    if (this.followed(settled).view.resourceVersion === position) return false
    const changes = settled.history(this.#options.list.at).since(position)
    const changed = changes && new Set(changes.map(({ key }) => key))
    return changed === undefined || keys.some((key) => changed.has(key))
  }

  /** Resolves when the histories reach back to the positions, or as far as they can. Never rejects. */
  async reach(settled: ReadSnapshot, positions: Positions): Promise<void> {
    const own = this.readable(settled).map((at) => ({ position: at.kind.typeName, at }))
    const all = [...own, ...(this.#options.list.filter?.kinds ?? [])]
    await Promise.all(
      all.map(async ({ position, at }) => {
        const version = positions[position]
        if (version === undefined) return
        await settled.history(at).reach(resourceVersion(version))
      }),
    )
  }

  /**
   * A listener to a kind for all members, from the state of its store in this tick on. It keeps the latest change of
   * each object. Frames show the store's state when they are written, which may be ahead of the changes taken from the
   * listener.
   */
  listen(settled: ReadSnapshot, at: ClusterKind): Listener {
    const route = at.kind === this.#options.list.at.kind ? this.#route : undefined
    return settled.informer(at).listen({
      bufferLimit: 0,
      overflow: 'coalesce',
      replay: false,
      readsStore: true,
      ...(route === undefined ? {} : { route }),
    })
  }

  /** The inputs for writing rows. In the last round, `check` ignores lacking indexes and permissions. */
  run(
    settled: ReadSnapshot,
    decisions: ViewerDecisions | undefined = this.decisions(),
    isLast = false,
  ): GroupRun {
    const { served, limits, variables, fragments, unexpected, explains } = this.#options
    const missing = new Map<string, MissingRead>()
    const isLacking = (): boolean =>
      !isLast && (decisions?.isLacking === true || settled.neededIndexes.length > 0)
    const work = plannedWork(limits.work)
    return {
      served,
      limits,
      variables,
      fragments,
      unexpected,
      budget: explains ? new ReportingBudget(work, this.#report) : new WorkBudget(work),
      parts: this.#parts(settled, decisions, missing, isLacking),
      followed: ({ reads, condition, isSaid }: FollowedRelation) => {
        const { at } = this.#options.list
        if (this.#route === undefined || !reads.includes(at.kind)) return
        const keys = isSaid && condition.form === 'keys' ? condition.keys : undefined
        const route = this.#route
        if (keys?.every((key) => isHeard(route, key)) === true) return
        missing.set('own', { form: 'own', at })
      },
      check() {
        if (missing.size > 0) throw new MissingKindError([...missing.values()])
        if (isLacking()) throw new LackingError()
      },
      more: async () => {
        await this.#options.prepared.makeIndexes(settled.neededIndexes)
        await decisions?.ask()
      },
    }
  }

  /** The permissions that rows need besides lists; `undefined` if rows do not depend on the viewer's identity. */
  decisions(): ViewerDecisions | undefined {
    const { onlyViewer } = this.#options
    return onlyViewer && new ViewerDecisions(onlyViewer)
  }

  /** How rows were read since the last call, as JSON; `undefined` if frames carry no explanation. */
  explanation(): string | undefined {
    const { explains, served, onlyViewer: access } = this.#options
    if (!explains) return undefined
    const report = this.#report
    this.#report = new ReadReport()
    return JSON.stringify(explain({ served, report, access, kinds: this.needs }))
  }

  /** The kinds for a plan to read. Collects in `missing` the reads that the group does not follow. */
  #parts(
    settled: ReadSnapshot,
    decisions: ViewerDecisions | undefined,
    missing: Map<string, MissingRead>,
    isLacking: () => boolean,
  ): ReadParts {
    const { groupAccess, names, list, onlyViewer } = this.#options
    const views = groupAccess.over(settled, decisions ?? names)
    const note = (one: MissingRead): void => {
      const { form, at } = one
      missing.set([form, at.kind.typeName, ...(at.indexes?.needed ?? [])].join(' '), one)
    }
    const noting = <T>(read: () => T): T => {
      try {
        return read()
      } catch (error) {
        if (error instanceof MissingKindError) error.missing.forEach(note)
        throw error
      }
    }
    const read = <T>(at: ClusterKind, reading: () => T): T =>
      noting(() => {
        if (!this.#isIndexed(at)) throw new MissingKindError([{ form: 'kind', at }])
        return reading()
      })
    const ofViewer = (): void => {
      if (onlyViewer !== undefined || !this.#options.isViewed) return
      noting(() => {
        throw new MissingKindError([{ form: 'viewer', at: list.at }])
      })
    }
    return {
      part: (at, reading) => read(at, () => views.part(at, reading)),
      forLookup: (at, keys) => read(at, () => views.forLookup(at, keys)),
      cachedPart: (at, reading) => {
        this.#looksAround = true
        try {
          return noting(() => views.cachedPart(at, reading))
        } catch (error) {
          // Goes on, to collect other missing reads.
          if (error instanceof MissingKindError) return undefined
          throw error
        }
      },
      access: onlyViewer,
      isOpen: false,
      get isLacking() {
        return missing.size > 0 || isLacking()
      },
      missed: (error) => settled.missed(error),
      asks: (cluster, question) => decisions?.asks(cluster, question),
      listed(at) {
        if (onlyViewer === undefined) return unrestricted
        const known = onlyViewer.list(at, { watch: false })
        if (known.state === 'allowed') return known.scope
        if (known.state !== 'unknown') return 'nothing'
        decisions?.awaits(() => onlyViewer.ask({ ...at, list: { watch: false } }))
        return undefined
      },
      dependsOnViewer: ofViewer,
    }
  }

  #isIndexed({ kind, indexes }: ClusterKind): boolean {
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

/** The listener route of a condition that is bound to names or namespaces, which never change. */
function listenerRoute(condition: Condition): ListenerRoute | undefined {
  const keys = keysOf(condition)
  if (keys !== undefined) return { keys }
  const namespaces = namespacesOf(condition)
  return namespaces === undefined ? undefined : { index: 'namespace', values: namespaces }
}

function keysOf(condition: Condition): readonly string[] | undefined {
  if (condition.form === 'keys') return condition.keys
  if (condition.form !== 'and') return undefined
  return condition.conditions.find((one) => one.form === 'keys')?.keys
}

function isHeard(route: ListenerRoute, key: string): boolean {
  if ('keys' in route) return route.keys.includes(key)
  return route.values.includes(splitObjectKey(key).namespace)
}
