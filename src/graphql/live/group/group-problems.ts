import { factsOf } from '../../../query/problems/problem-part.ts'
import type { OrderPosition } from '../../../query/page/list-order.ts'
import { TopWindow } from '../../../query/page/top-window.ts'
import { LiveProblems, type ProblemsNow } from '../../../query/problems/live-problems.ts'
import { ProblemOwners, type ReadOwners } from '../../../query/problems/problem-owners.ts'
import { problemPosition } from '../../../query/problems/problem-page.ts'
import { PlanRun } from '../../plan/plan-run.ts'
import type { ClusterKind, KindView, ListReading } from '../../prepare/kind-view.ts'
import type { ReadParts } from '../../prepare/read-snapshot.ts'
import { ownerReferencesOf } from '../../reads/owner-read.ts'
import {
  type CountedAs,
  countedAs,
  type LookedAtPart,
  type Problem,
  ProblemCounts,
  problemId,
  ProblemFields,
  problemTest,
} from '../../reads/over-kinds/problems-read.ts'
import type { OperationLimits, ServedSchema } from '../../served/served-schema.ts'
import type { FollowedProblems } from '../followed-list.ts'
import type { FramePlan, PageState, RowText, SentChange, SentListChange } from '../frame-plan.ts'
import { type GroupContent, type ListReads, rowErrors } from './group-content.ts'
import type { GroupList, ListRead, RowKeys } from './group-list.ts'
import { mergedChanges } from './group-rows.ts'

export interface GroupProblemsOptions {
  readonly plan: FramePlan
  readonly problems: FollowedProblems
  readonly served: ServedSchema
  readonly limits: OperationLimits
}

/** The parts of a group that its problems use. */
export interface ProblemsGroup {
  readonly lists: readonly GroupList[]
  /** Aborted when the group is over. */
  readonly leaving: AbortSignal
  flush(): Promise<void>
  failed(error: unknown): void
}

/** A problem of the lists. Another instance whenever it may have changed. */
interface ProblemRow {
  /** Its own among those of all clusters. */
  readonly key: string
  readonly uid: string
  readonly position: OrderPosition
  readonly cluster: string
  /** The key of its topmost owner. */
  readonly root: string
  readonly id: string
  readonly counted: CountedAs
}

interface SentProblem extends RowText {
  readonly row: ProblemRow
}

/** The least number of problems kept in order behind the first ones. */
const leastReady = 50
/** The memory of a problem and its objects, about. */
const rowBytes = 1_000
/** The wait before the next look at a cluster without a readable list. */
const unreadMs = 1_000
/** The longest time of a timer. */
const maxWaitMs = 3_600_000

/**
 * The first problems of the objects of a group's lists: a list for each kind that is looked at, in each cluster. A change
 * of an object folds the problems of its topmost owner anew, and writes those among the first ones.
 */
export class GroupProblems implements GroupContent {
  readonly bytesPerObject: number = rowBytes
  readonly #group: ProblemsGroup
  readonly #options: GroupProblemsOptions
  readonly #isAsked: (problem: Problem) => boolean
  readonly #clusters = new Map<string, LiveProblems<LookedAtPart>>()
  readonly #rows = new Map<string, ProblemRow>()
  readonly #counts = new ProblemCounts()
  #counted: PageState | undefined
  #front: TopWindow<ProblemRow>
  /** By the keys of rows, in their order. */
  #sent: ReadonlyMap<string, SentProblem> = new Map()
  /** The length of their texts. */
  #sentUnits = 0
  #isStale = false
  #timer: NodeJS.Timeout | undefined

  constructor(group: ProblemsGroup, options: GroupProblemsOptions) {
    const { problems, served } = options
    this.#group = group
    this.#options = options
    this.#isAsked = problemTest(served, problems.args)
    this.#front = new TopWindow(problems.terms, problems.size, Math.max(leastReady, problems.size))
    group.leaving.addEventListener('abort', () => clearTimeout(this.#timer), { once: true })
  }

  get page(): PageState {
    this.#counted ??= { totalCount: this.#rows.size, counts: this.#counts.all() }
    return this.#counted
  }

  get bytes(): number {
    let members = 0
    for (const { size } of this.#clusters.values()) members += size
    return (this.#rows.size + members) * rowBytes + this.#sentUnits * 2
  }

  matching({ list }: GroupList, { part, run }: ListRead): readonly string[] {
    if (list.problems?.counts !== true) return []
    const facts = factsOf({ ...part, type: part.kind.typeName })
    const keys = new Set<string>()
    for (const value of facts.values()) {
      for (const id of facts.posting(value) ?? []) keys.add(part.view.keyOf(id))
    }
    run.budget.spend('examined', keys.size)
    return [...keys]
  }

  changedMatches(_list: GroupList, _read: ListRead, keys?: readonly string[]): readonly string[] {
    return keys ?? []
  }

  keys({ at }: GroupList): readonly string[] {
    return [...(this.#clusters.get(at.cluster)?.keys(at.kind.typeName) ?? [])]
  }

  matched(list: GroupList): readonly string[] {
    return this.keys(list)
  }

  rewrite(): void {
    this.#isStale = true
  }

  follow(): void {}

  drop(lists: readonly GroupList[]): readonly SentListChange[] {
    const followed = new Set(this.#group.lists.map(({ at }) => at.cluster))
    const gone = new Set<string>()
    for (const { at } of lists) {
      if (followed.has(at.cluster)) this.#clusters.get(at.cluster)?.drop(at.kind.typeName)
      else gone.add(at.cluster)
    }
    for (const cluster of gone) this.#clusters.delete(cluster)
    for (const row of this.#rows.values()) if (gone.has(row.cluster)) this.#remove(row.key)
    const [left, dropped] = [new Map<string, SentProblem>(), [] as SentProblem[]]
    for (const [key, one] of this.#sent) {
      if (gone.has(one.row.cluster)) dropped.push(one)
      else left.set(key, one)
    }
    this.#keep(left)
    return dropped.map((one) => removalOf(one, 'CLUSTER_REMOVED'))
  }

  all(): readonly SentListChange[] {
    return Array.from(this.#sent.values(), (one) => changeOf('ADDED', one))
  }

  merged(changes: readonly SentChange[]): readonly SentListChange[] {
    return mergedChanges(changes.filter((change) => 'type' in change))
  }

  changes(changed: readonly RowKeys[], reads: ListReads): readonly SentListChange[] {
    const turn = new ProblemsTurn(this.#group.lists, reads)
    for (const { list, keys } of changed) {
      if (list.list.problems?.counts !== true) continue
      const live = this.#liveOf(list.at.cluster)
      live.change(turn.now(list.at.cluster), turn.part(list), keys)
    }
    const fresh = new Map<ProblemRow, Problem>()
    for (const [cluster, live] of this.#clusters) {
      // While no list of a cluster can be read, its problems stay.
      if (!turn.reads(cluster)) continue
      live.pass(turn)
      if (!live.isDue) continue
      for (const { root, before, now } of live.changes(turn.now(cluster))) {
        const gone = new Set(before)
        for (const one of now) {
          const problem = { ...one, cluster }
          if (!this.#isAsked(problem)) continue
          gone.delete(one.key)
          fresh.set(this.#put(problem, root), problem)
        }
        for (const key of gone) this.#remove(`${cluster} ${key}`)
      }
    }
    if (this.#front.isShort) this.#front.fill(valuesOf(this.#rows), true)
    const sent = this.#written(turn, fresh)
    reads.check()
    const changes = this.#changesTo(sent)
    this.#keep(sent)
    this.#isStale = false
    this.#wait()
    return changes
  }

  #liveOf(cluster: string): LiveProblems<LookedAtPart> {
    let live = this.#clusters.get(cluster)
    if (live === undefined) {
      const { problems, limits } = this.#options
      const { namespaces } = problems
      live = new LiveProblems({ namespaces, afterMs: limits.problemAfterMs })
      this.#clusters.set(cluster, live)
    }
    return live
  }

  #put(problem: Problem, root: string): ProblemRow {
    const { served, problems } = this.#options
    const { cluster, severity } = problem
    const position = problemPosition(problem, problems.terms)
    const { key } = position
    const id = this.#rows.get(key)?.id ?? problemId(problem)
    this.#remove(key)
    const counted = countedAs(served, severity, problem.root)
    const row = { key, uid: '', position, cluster, root, id, counted }
    this.#rows.set(key, row)
    this.#front.put(row)
    this.#counts.add(counted, 1)
    this.#counted = undefined
    return row
  }

  #remove(key: string): void {
    const row = this.#rows.get(key)
    if (row === undefined) return
    this.#rows.delete(key)
    this.#front.delete(key)
    this.#counts.add(row.counted, -1)
    this.#counted = undefined
  }

  /** The first problems, with the texts of those that have changed. The same ones if none has. */
  #written(
    turn: ProblemsTurn,
    fresh: ReadonlyMap<ProblemRow, Problem>,
  ): ReadonlyMap<string, SentProblem> {
    const first = this.#front.first()
    const isSame = (row: ProblemRow): boolean => this.#sent.get(row.key)?.row === row
    if (!this.#isStale && first.length === this.#sent.size && first.every(isSame)) return this.#sent
    const written = new Map<string, SentProblem>()
    for (const row of first) {
      const before = this.#sent.get(row.key)
      const one = before?.row === row && !this.#isStale ? before : this.#write(turn, row, fresh)
      // Its objects have changed meanwhile, which comes with the next changes.
      const shown = one ?? before
      if (shown !== undefined) written.set(row.key, shown)
    }
    return written
  }

  #write(
    turn: ProblemsTurn,
    row: ProblemRow,
    fresh: ReadonlyMap<ProblemRow, Problem>,
  ): SentProblem | undefined {
    const problem = fresh.get(row) ?? this.#read(turn, row)
    if (problem === undefined) return undefined
    const run = turn.run(problem)
    run.budget.spend('rows', 1)
    const text = this.#options.plan.problem?.(run, new ProblemFields(run, problem)) ?? 'null'
    const errors = rowErrors(run, turn.unexpected(problem.cluster))
    return { row, text, errors }
  }

  /** A problem that was folded earlier: it comes among the first ones because others have gone. */
  #read(turn: ProblemsTurn, { cluster, root, key }: ProblemRow): Problem | undefined {
    if (!turn.reads(cluster)) return undefined
    const found = this.#clusters.get(cluster)?.read(turn.now(cluster), [root])
    return found
      ?.map((one) => ({ ...one, cluster }))
      .find((one) => problemPosition(one, []).key === key)
  }

  #keep(sent: ReadonlyMap<string, SentProblem>): void {
    if (sent === this.#sent) return
    this.#sent = sent
    this.#sentUnits = 0
    for (const { text, errors } of sent.values()) this.#sentUnits += text.length + errors.length
  }

  #changesTo(sent: ReadonlyMap<string, SentProblem>): readonly SentListChange[] {
    if (sent === this.#sent) return []
    const changes: SentListChange[] = []
    for (const [key, one] of this.#sent) {
      if (!sent.has(key))
        changes.push(removalOf(one, this.#rows.has(key) ? 'UNMATCHED' : 'DELETED'))
    }
    for (const [key, one] of sent) {
      const known = this.#sent.get(key)
      if (known === one) continue
      if (known === undefined) changes.push(changeOf('ADDED', one))
      else if (known.text !== one.text || known.errors !== one.errors) {
        changes.push(changeOf('MODIFIED', one))
      }
    }
    return changes
  }

  /** Looks again when the passing of time alone changes problems. */
  #wait(): void {
    clearTimeout(this.#timer)
    const turnMs = Math.min(...Array.from(this.#clusters.values(), (live) => live.turnMs))
    if (turnMs === Infinity || this.#group.leaving.aborted) return
    // Of a cluster that cannot be read, the time may have passed already.
    const leftMs = turnMs - Date.now() + 1
    const waitMs = leftMs > 0 ? Math.min(Math.max(leftMs, 10), maxWaitMs) : unreadMs
    this.#timer = setTimeout(() => this.#turn(), waitMs).unref()
  }

  #turn(): void {
    const nowMs = Date.now()
    let isDue = false
    for (const [cluster, live] of this.#clusters) {
      if (live.turnMs >= nowMs) continue
      const list = this.#group.lists.find(({ at, isFollowing }) => {
        return at.cluster === cluster && isFollowing
      })
      // Any of its objects: the time is looked at with every change.
      list?.mark([''])
      isDue ||= list !== undefined
    }
    if (isDue) void this.#group.flush().catch((error: unknown) => this.#group.failed(error))
    else this.#wait()
  }
}

/** What problems are read from, within one tick. */
class ProblemsTurn {
  readonly nowMs: number = Date.now()
  readonly #lists: ReadonlyMap<string, readonly GroupList[]>
  readonly #reads: ListReads
  readonly #parts = new Map<GroupList, LookedAtPart>()
  readonly #now = new Map<string, ProblemsNow<LookedAtPart>>()
  readonly #runs = new Map<GroupList, PlanRun>()

  constructor(lists: readonly GroupList[], reads: ListReads) {
    this.#reads = reads
    this.#lists = Map.groupBy(
      lists.filter(({ isFollowing }) => isFollowing),
      ({ at }) => at.cluster,
    )
  }

  part(list: GroupList): LookedAtPart {
    let part = this.#parts.get(list)
    if (part === undefined) {
      part = { ...this.#reads.of(list).part, type: list.at.kind.typeName }
      this.#parts.set(list, part)
    }
    return part
  }

  /** Whether any list of a cluster is followed. */
  reads(cluster: string): boolean {
    return this.#lists.has(cluster)
  }

  /** What the problems of a cluster are folded from. */
  now(cluster: string): ProblemsNow<LookedAtPart> {
    let now = this.#now.get(cluster)
    if (now === undefined) {
      const { nowMs } = this
      const run = this.#runOf(this.#any(cluster))
      const parts = (this.#lists.get(cluster) ?? [])
        .filter(({ list }) => list.problems?.counts === true)
        .map((list) => this.part(list))
      const { budget } = run
      const readOwners: ReadOwners<LookedAtPart> = (part, id) => ownerReferencesOf(run, part, id)
      const owners = new ProblemOwners(parts, readOwners)
      now = { parts, nowMs, readOwners, owners, budget }
      this.#now.set(cluster, now)
    }
    return now
  }

  /** What a problem is written with. */
  run({ cluster, root }: Problem): PlanRun {
    const own = root.form === 'object' ? this.#listOf(root.part) : undefined
    return this.#runOf(own ?? this.#any(cluster))
  }

  unexpected(cluster: string): ListRead['run']['unexpected'] {
    return this.#reads.of(this.#any(cluster)).run.unexpected
  }

  #any(cluster: string): GroupList {
    const [first] = this.#lists.get(cluster) ?? []
    if (first === undefined) throw new TypeError(`no list of cluster ${cluster} is followed`)
    return first
  }

  #listOf({ cluster, kind }: ClusterKind): GroupList | undefined {
    return this.#lists.get(cluster)?.find(({ at }) => at.kind === kind)
  }

  #runOf(list: GroupList): PlanRun {
    let run = this.#runs.get(list)
    if (run === undefined) {
      const options = this.#reads.of(list).run
      const parts = new PartsOfLists(options.parts, (at) => {
        const of = this.#listOf(at)
        return of && this.#reads.of(of).run.parts
      })
      run = new PlanRun({ ...options, parts, followed: undefined })
      this.#runs.set(list, run)
    }
    return run
  }
}

/** Reads the kinds of other lists of a group as their members may see them, and further kinds as those of one list. */
class PartsOfLists implements ReadParts {
  readonly #own: ReadParts
  readonly #of: (at: ClusterKind) => ReadParts | undefined

  constructor(own: ReadParts, of: (at: ClusterKind) => ReadParts | undefined) {
    this.#own = own
    this.#of = of
  }

  part(at: ClusterKind, reading?: ListReading): KindView {
    return (this.#of(at) ?? this.#own).part(at, reading)
  }

  forLookup(at: ClusterKind, keys?: readonly string[]): KindView | undefined {
    return (this.#of(at) ?? this.#own).forLookup(at, keys)
  }

  cachedPart(at: ClusterKind, reading?: ListReading): KindView | undefined {
    return (this.#of(at) ?? this.#own).cachedPart(at, reading)
  }

  get access(): ReadParts['access'] {
    return this.#own.access
  }

  get isOpen(): boolean {
    return this.#own.isOpen
  }

  get isLacking(): boolean {
    return this.#own.isLacking
  }

  dependsOnViewer(): void {
    this.#own.dependsOnViewer?.()
  }

  looksAround(): void {
    this.#own.looksAround?.()
  }

  missed(...[error]: Parameters<ReadParts['missed']>): void {
    this.#own.missed(error)
  }

  asks(...asked: Parameters<ReadParts['asks']>): void {
    this.#own.asks(...asked)
  }

  listed(at: ClusterKind): ReturnType<ReadParts['listed']> {
    return this.#own.listed(at)
  }

  listsAny(...asked: Parameters<ReadParts['listsAny']>): boolean | undefined {
    return this.#own.listsAny(...asked)
  }

  asksList(...[need]: Parameters<ReadParts['asksList']>): void {
    this.#own.asksList(need)
  }
}

function changeOf(
  type: SentListChange['type'],
  { row, text, errors }: SentProblem,
): SentListChange {
  return { type, removal: null, objectId: row.id, object: text, errors, finalStateKnown: true }
}

function removalOf(one: SentProblem, removal: SentListChange['removal']): SentListChange {
  return { ...changeOf('REMOVED', one), removal }
}

function valuesOf<T>(all: ReadonlyMap<string, T>): readonly T[] {
  return Array.from(all.values())
}
