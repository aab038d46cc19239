/*
 * The state of a group that all its parts read: its lists and the members' access to them, the progress of its rows
 * (positions, resume tokens), and gaps and staleness. The group itself changes the lists (`LiveGroup`), and its changes
 * record the progress (`GroupChanges`).
 */

import { ReadReport } from '../../../query/condition/read-report.ts'
import { explain } from '../../answer/explanation.ts'
import type { Kind } from '../../model/kind.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { ViewerAccess } from '../../prepare/viewer-access.ts'
import { type PlaceRead, PlacesReport, staleSince } from '../../reads/places.ts'
import {
  encodeResumeToken,
  positionOfLists,
  positionName,
  type Positions,
  type ResumePosition,
} from '../../reads/resume-token.ts'
import type { ClusterGap } from '../../schema/gateway-types.ts'
import type { OperationLimits, ServedSchema } from '../../served/served-schema.ts'
import type { FollowedList } from '../followed-list.ts'
import type { FrameParts } from '../frame-plan.ts'
import { type AccessRequest, GroupAccess, type SeenList, type WantedGroup } from './group-access.ts'
import type { GroupList } from './group-list.ts'
import type { GroupReadingOptions } from './group-reading.ts'

/** A list of a group, and the members' access to it. */
export interface GroupEntry extends SeenList {
  /** `undefined` if the members may not read it, or if it is within no namespace and stays empty. */
  readonly list: GroupList | undefined
}

interface UnreadList {
  readonly list: FollowedList
  readonly error: ClientError
}

export type GroupPositions = ReadonlyMap<GroupList, Positions>

type GroupStateOptions = Pick<GroupReadingOptions, 'wanted' | 'served' | 'limits' | 'onlyViewer'>

export class GroupState {
  /** The lists that the members follow in the present clusters, and their plan. */
  wanted: WantedGroup
  /** The schema that the group reads. Its clusters change in place. */
  readonly served: ServedSchema
  readonly limits: OperationLimits
  /** Set if rows depend on the viewer's identity; then all members have the same viewer. */
  readonly onlyViewer: ViewerAccess | undefined
  /** Aborted when the group is over, which stops all following and writing. */
  readonly leaving: AbortSignal
  /** By name: lists of joining clusters that are not entries yet, and why. */
  readonly joining: Map<string, UnreadList> = new Map<string, UnreadList>()
  /**
   * Since when the rows may be out of date, in RFC 3339; `null` while their caches are in step. The ring has a frame for
   * each change to and from `null`.
   */
  staleSince: string | null = null
  /** Parts that are missing, or may be out of date. The ring has a frame for each gap that comes or goes. */
  gaps: readonly ClusterGap[] = []
  /** The errors of gaps, which are optional lists. A snapshot has all of them. */
  failures: readonly ClientError[] = []
  /** The positions that the frames of the ring have reached. */
  positions: GroupPositions = new Map()
  isWriting = false
  report: ReadReport = new ReadReport()
  #entries: readonly GroupEntry[] = []
  #lists: readonly GroupList[] = []
  #access = new GroupAccess([])
  #token: { readonly text: string; readonly token: GroupState['token'] } | undefined

  constructor({ wanted, served, limits, onlyViewer }: GroupStateOptions, leaving: AbortSignal) {
    this.wanted = wanted
    this.served = served
    this.limits = limits
    this.onlyViewer = onlyViewer
    this.leaving = leaving
  }

  /** Whether every list is optional: the lists then follow the clusters that come and go, and there may be none. */
  get isOptional(): boolean {
    return this.wanted.lists.every(({ list }) => list.at.isOptional === true)
  }

  get entries(): readonly GroupEntry[] {
    return this.#entries
  }

  set entries(entries: readonly GroupEntry[]) {
    this.#entries = entries
    this.#lists = entries.flatMap(({ list }) => list ?? [])
    this.#access = new GroupAccess(entries)
    this.#token = undefined
  }

  /** The lists that the members may see, in part or whole. */
  get lists(): readonly GroupList[] {
    return this.#lists
  }

  get access(): GroupAccess {
    return this.#access
  }

  get requests(): readonly AccessRequest[] {
    return this.#entries.map(({ request }) => request)
  }

  /** The positions of a member that has read every frame. Advances lists without waiting changes to the present. */
  reachPresent(): GroupPositions {
    if (this.isWriting || this.leaving.aborted) return this.positions
    // A list without waiting changes has sent everything up to the present.
    const drained = this.#lists.filter((list) => list.isDrained)
    if (drained.length > 0) {
      const reached = drained.map((list) => ({ list, positions: list.reachPresent() }))
      this.positions = positionsAfter(this.positions, reached)
    }
    return this.positions
  }

  /** Whether some rows were written in a state newer than positions. */
  isAheadOf(positions: GroupPositions): boolean {
    return this.#lists.some((list) => list.isAheadOf(positions.get(list) ?? {}))
  }

  /** The resource version that frames show, from the group's only list; `''` if its lists are optional. */
  versionAt(positions: GroupPositions): string {
    const [only] = this.#lists
    return (!this.isOptional && only && positions.get(only)?.[only.at.kind.typeName]) || ''
  }

  /** A resume token of the group. Its positions have the numbers of the present lists. */
  tokenAt(positions: GroupPositions, isAhead: boolean): string {
    const named = this.#entries.flatMap(({ list }, number) => {
      const own = (list && positions.get(list)) ?? {}
      return Object.entries(own).map(([name, version]) => [positionName(number, name), version])
    })
    return encodeResumeToken({ ...this.token, positions: Object.fromEntries(named), isAhead })
  }

  positionsOf(token: Positions): GroupPositions {
    const positions = new Map<GroupList, Record<string, string>>()
    for (const [name, version] of Object.entries(token)) {
      const list = this.#entries[Number.parseInt(name, 10)]?.list
      if (list === undefined) continue
      const own = positions.get(list) ?? {}
      own[name.slice(name.indexOf(' ') + 1)] = version
      positions.set(list, own)
    }
    return positions
  }

  /** The parts of the group's resume tokens besides the positions. */
  get token(): Omit<ResumePosition, 'positions' | 'isAhead'> {
    const incarnations = this.#lists.map((list) => list.incarnation)
    const text = incarnations.join(' ')
    if (this.#token?.text !== text) {
      const { onlyViewer } = this
      const viewer = onlyViewer ? [onlyViewer.identity] : []
      const access = [this.access.fingerprint, ...viewer].join(' ')
      const lists = this.wanted.lists.map((one) => one.list.list)
      this.#token = { text, token: positionOfLists({ lists, incarnations, access }) }
    }
    return this.#token.token
  }

  /** How rows were read since the last call, as JSON; `undefined` if frames carry no explanation. */
  explanation(): string | undefined {
    const { served, report, onlyViewer: access } = this
    if (!this.wanted.explains) return undefined
    this.report = new ReadReport()
    const kinds = this.#lists.flatMap(({ reading }) => reading.needs)
    return JSON.stringify(explain({ served, report, access, kinds }))
  }

  /**
   * Updates gaps and staleness. The lists are places of one field, as in a query, and a list that cannot be read is a
   * gap. Returns the errors of new gaps.
   */
  look(): readonly ClientError[] {
    const { served, wanted } = this
    const known = new Set(this.gaps.map(nameOfGap))
    const unread = this.#unreadable()
    const problemsOf = new Map(
      [...unread, ...this.#lists].map(({ list }) => [list.at.kind, list.problems]),
    )
    // The viewer may lack access to kinds that the arguments do not name.
    const isNamed = (kind: Kind): boolean => problemsOf.get(kind)?.isNamed ?? true
    const places = new PlacesReport<PlaceRead>(served, {
      isNamed,
      fails: ({ kind }, { code }) =>
        isNamed(kind) || (problemsOf.get(kind)?.isOver === true && code !== 'FORBIDDEN'),
      failsOnce: wanted.problems !== undefined,
      tellsNotServed: true,
    })
    for (const { list, error } of unread) {
      places.put(list.at, () => {
        throw error
      })
    }
    for (const list of this.#lists) {
      const { at, problems } = list.list
      const isAsked = problems === undefined || problems.isNamed || problems.isOver
      places.put({ ...at, isOptional: isAsked }, () => list.place())
    }
    this.gaps = places.read().incomplete()
    if (wanted.plan.tellsStaleness) {
      const reads = this.#lists.flatMap(({ reading, list }) => [...reading.needs, ...list.needs])
      this.staleSince = staleSince(served, reads)
    }
    if (!this.isOptional) return []
    this.failures = places.failures
    return places.failed
      .filter(([at, { code }]) => !known.has(nameOfGap({ ...at, type: at.kind.typeName, code })))
      .map(([, error]) => error)
  }

  /** The lists that the members may not read, or not yet. */
  #unreadable(): readonly UnreadList[] {
    const refused = this.#entries.flatMap(({ request: { wanted }, access: error }) =>
      error instanceof ClientError ? [{ list: wanted.list, error }] : [],
    )
    return [...refused, ...this.joining.values()]
  }

  /** The types that `problems` has looked at, and the types that it should have looked at. */
  lookedAt(): Pick<FrameParts, 'lookedAt' | 'notLookedAt'> {
    if (this.wanted.problems === undefined) return { lookedAt: [], notLookedAt: [] }
    const followed = this.#lists.filter(({ isFollowing }) => isFollowing)
    const missing = this.#lists.filter(({ isFollowing, isServed }) => !isFollowing && isServed)
    return {
      lookedAt: countedTypes(followed),
      notLookedAt: countedTypes([...this.#unreadable(), ...missing]),
    }
  }
}

function nameOfGap({ cluster, type, code }: Pick<ClusterGap, 'cluster' | 'type' | 'code'>): string {
  return JSON.stringify([cluster, type, code])
}

export interface ReachedList {
  readonly list: GroupList
  readonly positions: Positions
}

export function positionsAfter(
  before: GroupPositions,
  reached: readonly ReachedList[],
): GroupPositions {
  const after = new Map(before)
  for (const { list, positions } of reached) after.set(list, { ...after.get(list), ...positions })
  return after
}

/** The types of the lists whose objects count as problems. */
function countedTypes(lists: readonly { readonly list: FollowedList }[]): readonly string[] {
  const counted = lists.filter(({ list: { problems } }) => problems?.counts === true)
  return [...new Set(counted.map(({ list: { at } }) => at.kind.typeName))].toSorted()
}
