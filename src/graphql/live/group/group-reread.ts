/*
 * The content of groups whose members hold no rows of objects: counts and sums (`GroupFacets`), and problems
 * (`GroupProblems`). After any relevant change, the group reads this content again as a whole, by indexes, and sends it
 * if it differs. It does so at most once a flush and in a bounded share of time, so it need not know which change affects
 * which part.
 */

import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { WorkBudget } from '../../../query/condition/work-budget.ts'
import { encodePlace } from '../../../query/page/cursor.ts'
import { comparePositions, type OrderPosition } from '../../../query/page/list-order.ts'
import { listPage } from '../../../query/page/page.ts'
import { problemPage, problemPosition } from '../../../query/problems/problem-page.ts'
import { selectedLabelsRevision } from '../../../query/problems/problem-joins.ts'
import { foldedState, nextTurnMs } from '../../../query/problems/problem-part.ts'
import { PlanRun } from '../../plan/plan-run.ts'
import { withContents } from '../../reads/namespace-health.ts'
import {
  countedAs,
  lostCluster,
  type LookedAtPart,
  type Problem,
  problemCounts,
  problemId,
  problemsOf,
  problemValue,
} from '../../reads/over-kinds/problems-read.ts'
import { expiringState } from '../../reads/over-kinds/expiring-secrets.ts'
import type { FacetsArguments, ProblemCount } from '../../schema/gateway-types.ts'
import type { FollowedProblems } from '../followed-list.ts'
import type { PageState, RowText, SentChange, SentListChange } from '../frame-plan.ts'
import type { GroupContent, GroupList, ListReads, RowKeys } from './group-list.ts'
import { mergedChanges, rowErrors } from './group-rows.ts'
import type { GroupState } from './group-frames.ts'
import type { GroupRun } from './group-reading.ts'

/** The only key of a list. Keys of objects are never empty. */
const anyKey = ''

/** Content whose lists have one row each, which any change may affect. */
abstract class GroupReread {
  readonly bytesPerObject: number = 0
  readonly isWhole: boolean = true

  matching(): readonly string[] {
    return [anyKey]
  }

  changedMatches(): readonly string[] {
    return [anyKey]
  }

  keys(_list: GroupList): readonly string[] {
    return [anyKey]
  }

  matched(): readonly string[] {
    return [anyKey]
  }

  follow(_lists: readonly GroupList[]): void {}
}

/**
 * The counts and sums of a list: one row, which depends on all objects of the list. It is sent if it differs from before.
 * Each frame has all of it.
 */
export class GroupFacets extends GroupReread implements GroupContent {
  readonly #state: GroupState
  readonly #facets: FacetsArguments
  #sent: RowText = { text: '', errors: '' }

  constructor(state: GroupState, facets: FacetsArguments) {
    super()
    this.#state = state
    this.#facets = facets
  }

  /** Each frame carries the counts, even a frame that only reports staleness. */
  get page(): PageState {
    const { uncounted } = this.#state.wanted.plan
    const isUncounted = this.#sent.text === '' && uncounted !== undefined
    return { totalCount: 0, facets: isUncounted ? uncounted(this.#facets) : this.#sent.text }
  }

  get bytes(): number {
    return (this.#sent.text.length + this.#sent.errors.length) * 2
  }

  drop(): readonly SentListChange[] {
    // The next counts leave these lists out.
    return []
  }

  changes(rows: readonly RowKeys[], reads: ListReads): readonly SentListChange[] {
    const due = rows.find(({ keys }) => keys.length > 0)
    if (due === undefined) return []
    const options = reads.of(due.list).run
    const run = new PlanRun(options)
    // A list that is not followed is a gap of the frame.
    const parts = this.#state.lists
      .filter(({ isFollowing }) => isFollowing)
      .map((one) => {
        const { part, run: own } = reads.of(one)
        const { condition } = one.list
        // Each list's own run decides about related objects in its cluster.
        const ownRun = new PlanRun(own)
        const related = ownRun.related(part.cluster)
        return { ...withContents(ownRun, part), name: part.cluster, condition, related }
      })
    const { plan } = this.#state.wanted
    const identity = { list: 'facets' }
    const page = listPage({ parts, budget: run.budget, identity, first: 0, maxPageSize: 0 })
    const text = plan.facets?.(run, { kind: plan.kind, page }, this.#facets) ?? ''
    const errors = rowErrors(run, options.unexpected)
    reads.check()
    if (text === this.#sent.text && errors === this.#sent.errors) return []
    this.#sent = { text, errors }
    return this.all()
  }

  all(): readonly SentListChange[] {
    const { text, errors } = this.#sent
    return [
      {
        type: 'MODIFIED',
        removal: null,
        objectId: '',
        object: text,
        errors,
        finalStateKnown: true,
      },
    ]
  }

  merged(): readonly SentListChange[] {
    return this.all()
  }
}

/** One of the first problems of a cluster, as the members hold it. */
interface SentProblem extends RowText {
  /** Unique among the problems of all clusters. */
  readonly key: string
  readonly id: string
  readonly cluster: string
  readonly position: OrderPosition
}

interface ClusterProblems {
  /** The first ones in the order: any of them may be among the first ones of all clusters. */
  readonly first: readonly SentProblem[]
  readonly keys: ReadonlySet<string>
  readonly counts: readonly ProblemCount[]
  /** The inputs of the last fold, by type. */
  readonly from: ReadonlyMap<string, readonly unknown[]>
  /** When they change next because time passes, in milliseconds since the epoch. */
  readonly turnMs: number
}

interface LostCluster {
  readonly sent: SentProblem
  readonly count: ProblemCount
}

const problemBytes = 1_000
/** How long the problems of a cluster stay unchanged while one of its lists begins anew. */
const lostMs = 5_000
/** The wait before the next look at a cluster whose lists cannot be read. */
const unreadMs = 1_000
const maxWaitMs = 3_600_000
/**
 * The first problems of the objects of a group's lists: one list for each kind in each cluster. A change of a broken
 * object, and the passing of time, fold all problems of the cluster again, as the query `problems` does. The texts of the
 * first problems are compared with the texts that were sent. A fold reads an index of broken objects and takes
 * milliseconds, so it needs no increments. It happens at most once a flush, only if the index has changed, and in a
 * bounded share of time.
 */
export class GroupProblems extends GroupReread implements GroupContent {
  readonly #state: GroupState
  readonly #flushSoon: () => void
  readonly #problems: FollowedProblems
  readonly #clusters = new Map<string, ClusterProblems>()
  /** The clusters to fold again although nothing may have changed. */
  readonly #stale = new Set<string>()
  /** By cluster: since when one of its lists, once read, is not followed. In milliseconds since the epoch. */
  readonly #lostMs = new Map<string, number>()
  #sent: ReadonlyMap<string, SentProblem> = new Map()
  /** The problems of the clusters that cannot be read, and the state that they show. */
  #lost: readonly LostCluster[] = []
  #lostState = ''
  #page: PageState = { totalCount: 0, counts: [] }
  #timer: NodeJS.Timeout | undefined

  constructor(state: GroupState, problems: FollowedProblems, flushSoon: () => void) {
    super()
    this.#state = state
    this.#problems = problems
    this.#flushSoon = flushSoon
    state.leaving.addEventListener('abort', () => clearTimeout(this.#timer), { once: true })
  }

  get page(): PageState {
    return this.#page
  }

  get bytes(): number {
    let bytes = 0
    for (const { keys, first } of this.#clusters.values()) {
      bytes += keys.size * problemBytes
      for (const { text, errors } of first) bytes += (text.length + errors.length) * 2
    }
    return bytes
  }

  override keys({ at }: GroupList): readonly string[] {
    const isRead = this.#clusters.get(at.cluster)?.from.has(at.kind.typeName) === true
    return isRead ? [anyKey] : []
  }

  rewrite(): void {
    for (const cluster of this.#clusters.keys()) this.#stale.add(cluster)
  }

  drop(lists: readonly GroupList[]): readonly SentListChange[] {
    const followed = new Set(this.#state.lists.map(({ at }) => at.cluster))
    for (const { at } of lists) {
      if (followed.has(at.cluster)) this.#stale.add(at.cluster)
      else this.#clusters.delete(at.cluster)
    }
    this.#lost = this.#lost.filter(({ sent }) => followed.has(sent.cluster))
    const all = [...this.#sent.values()]
    const left = all.filter(({ cluster }) => followed.has(cluster))
    this.#sent = new Map(left.map((one) => [one.key, one]))
    return all
      .filter(({ cluster }) => !followed.has(cluster))
      .map((one) => removalOf(one, 'CLUSTER_REMOVED'))
  }

  all(): readonly SentListChange[] {
    return Array.from(this.#sent.values(), (one) => changeOf('ADDED', one))
  }

  merged(changes: readonly SentChange[]): readonly SentListChange[] {
    return mergedChanges(changes.filter((change) => 'type' in change))
  }

  changes(rows: readonly RowKeys[], reads: ListReads): readonly SentListChange[] {
    const nowMs = Date.now()
    const due = new Set(this.#stale)
    for (const { list, keys } of rows) if (keys.length > 0) due.add(list.at.cluster)
    const all = new Map(this.#clusters)
    const folded: string[] = []
    for (const cluster of due) {
      const lists = this.#readable(cluster, nowMs)
      // Keeps the problems while the cluster cannot be read.
      if (lists.length === 0) continue
      all.set(cluster, this.#fold(cluster, lists, reads, nowMs))
      folded.push(cluster)
    }
    const readable = rows.find(({ list }) => list.isFollowing)
    const lost = readable === undefined ? this.#lost : this.#lostClusters(readable.list, reads)
    reads.check()
    this.#lost = lost
    for (const cluster of folded) this.#stale.delete(cluster)
    for (const [cluster, problems] of all) this.#clusters.set(cluster, problems)
    this.#wait()
    const now = [...this.#clusters.values()]
    const totalCount = now.reduce((sum, { keys }) => sum + keys.size, lost.length)
    const counted = [...now.flatMap((one) => one.counts), ...lost.map(({ count }) => count)]
    const page = { totalCount, counts: problemCounts(counted) }
    // Keeps the same counts, by identity, if none has changed.
    if (JSON.stringify(page) !== JSON.stringify(this.#page)) this.#page = page
    return this.#send()
  }

  /** The readable lists of a cluster. None while a list that was read before syncs anew, for some seconds at most. */
  #readable(cluster: string, nowMs: number): readonly GroupList[] {
    const lists = this.#state.lists.filter(({ at }) => at.cluster === cluster)
    const from = this.#clusters.get(cluster)?.from
    const isLost = lists.some(({ at, isFollowing, isServed }) => {
      return !isFollowing && isServed && from?.has(at.kind.typeName) === true
    })
    if (isLost) {
      const sinceMs = getOrInsert(this.#lostMs, cluster, () => nowMs)
      this.#stale.add(cluster)
      if (nowMs - sinceMs < lostMs) return []
    } else this.#lostMs.delete(cluster)
    return lists.filter(({ isFollowing }) => isFollowing)
  }

  /** The problems of a cluster. Returns the last fold if its inputs have not changed. */
  #fold(
    cluster: string,
    lists: readonly GroupList[],
    reads: ListReads,
    nowMs: number,
  ): ClusterProblems {
    const problems = this.#problems
    const { served, limits } = this.#state
    const from = new Map(
      lists.map((one) => [one.at.kind.typeName, foldedState(reads.of(one).part)]),
    )
    from.set(anyKey, [this.#labels(cluster)])
    const before = this.#clusters.get(cluster)
    if (before !== undefined && !this.#stale.has(cluster) && nowMs <= before.turnMs) {
      const isSame = Array.from(from).every(([type, state]) => {
        const was = before.from.get(type)
        return was !== undefined && state.every((value, at) => value === was[at])
      })
      if (isSame && from.size === before.from.size) return before
    }
    const parts = lists
      .filter(({ list }) => list.problems?.counts === true)
      .map((one): LookedAtPart => ({ ...reads.of(one).part, type: one.at.kind.typeName }))
    const [first] = lists
    if (first === undefined) throw new TypeError(`no list of cluster ${cluster} is followed`)
    const options = reads.of(first).run
    const run = new PlanRun({ ...options, followed: undefined })
    const { budget } = run
    const afterMs = limits.problemAfterMs
    const found = problemsOf(run, cluster, parts, problems.args, nowMs)
    const { rows } = problemPage({
      problems: found,
      orderBy: problems.args.orderBy,
      first: problems.size,
      identity: { list: 'problems' },
      maxPageSize: problems.size,
      budget,
    })
    return {
      first: rows.map((problem) => this.#written(run, options, problem)),
      keys: new Set(found.map((problem) => problemPosition(problem, []).key)),
      counts: problemCounts(found.map((problem) => countedAs(served, problem))),
      from,
      turnMs: nextTurnMs(parts, nowMs, afterMs, budget),
    }
  }

  #written(run: PlanRun, { unexpected }: GroupRun, problem: Problem): SentProblem {
    run.budget.spend('rows', 1)
    const { cluster } = problem
    const position = problemPosition(problem, this.#problems.terms)
    const text = this.#state.wanted.plan.problem?.(run, problemValue(run, problem)) ?? 'null'
    const errors = rowErrors(run, unexpected)
    return { key: position.key, id: problemId(problem), cluster, position, text, errors }
  }

  /** The problems of all clusters that cannot be read. `list`: any list that can be. */
  #lostClusters(list: GroupList, reads: ListReads): readonly LostCluster[] {
    const { served, lists } = this.#state
    const clusters = new Set(lists.map(({ at }) => at.cluster))
    const lost = [...clusters].flatMap(
      (cluster) => lostCluster(served, cluster, this.#problems.args) ?? [],
    )
    if (lost.length === 0) return []
    const options = reads.of(list).run
    const run = new PlanRun({ ...options, followed: undefined })
    return lost.map((problem) => ({
      sent: this.#written(run, options, problem),
      count: countedAs(served, problem),
    }))
  }

  /**
   * Differs when labels of pods that Services select change, as listeners hear only of pods with problems, and when other
   * certificates of Secrets are near their end.
   */
  #labels(cluster: string): string | undefined {
    const parts = this.#state.lists.flatMap(({ at, isFollowing, reading }) => {
      const type = at.kind.typeName
      if (at.cluster !== cluster || !isFollowing || !/^(?:Pod|Service)$/.test(type)) return []
      const isReadable = reading.readable().some(({ kind }) => kind === at.kind)
      return isReadable ? [{ ...reading.followed(), type }] : []
    })
    const { served, limits } = this.#state
    const labels = selectedLabelsRevision(parts, new WorkBudget(limits.work))
    return labels && `${labels} ${expiringState(served, cluster)}`
  }

  /** Looks whether other clusters than before cannot be read, and whether labels have changed. */
  stateChanged(): void {
    for (const [cluster, { from }] of this.#clusters) {
      const one = this.#state.lists.find(({ at, isFollowing }) => {
        return at.cluster === cluster && isFollowing
      })
      const labels = this.#labels(cluster)
      if (one === undefined || labels === undefined || labels === from.get(anyKey)?.[0]) continue
      one.mark([anyKey])
      this.#flushSoon()
    }
    const { served, lists } = this.#state
    const clusters = new Set(lists.map(({ at }) => at.cluster))
    const state = Array.from(clusters, (cluster) => {
      return `${cluster} ${lostCluster(served, cluster, this.#problems.args)?.reason}`
    }).join()
    const list = lists.find(({ isFollowing }) => isFollowing)
    if (state === this.#lostState || list === undefined) return
    this.#lostState = state
    list.mark([anyKey])
    this.#flushSoon()
  }

  /** The changes that lead to the first problems of all clusters. */
  #send(): readonly SentListChange[] {
    const { terms, size } = this.#problems
    const lost = this.#lost.map(({ sent }) => sent)
    const first = [lost, ...Array.from(this.#clusters.values(), (one) => one.first)]
      .flat()
      .toSorted((a, b) => comparePositions(a.position, b.position, { terms, backwards: false }))
      .slice(0, size)
    const sent = new Map(first.map((one) => [one.key, one]))
    const changes: SentListChange[] = []
    for (const [key, one] of this.#sent) {
      if (sent.has(key)) continue
      const isThere = this.#clusters.get(one.cluster)?.keys.has(key) === true
      changes.push(removalOf(one, isThere ? 'UNMATCHED' : 'DELETED'))
    }
    for (const [key, one] of sent) {
      const known = this.#sent.get(key)
      if (known === undefined) changes.push(changeOf('ADDED', one))
      else if (!isUnchanged(known, one, this.#state.wanted.plan.tellsPositions)) {
        changes.push(changeOf('MODIFIED', one))
      }
    }
    this.#sent = sent
    return changes
  }

  /** Looks again when the passing of time alone changes problems. */
  #wait(): void {
    clearTimeout(this.#timer)
    const turnMs = Math.min(...Array.from(this.#clusters.values(), (one) => one.turnMs))
    const leftMs = this.#lostMs.size > 0 ? unreadMs : turnMs - Date.now() + 1
    if (leftMs === Infinity || this.#state.leaving.aborted) return
    // The time of a cluster that cannot be read may have passed already.
    const waitMs = leftMs > 0 ? Math.min(Math.max(leftMs, 10), maxWaitMs) : unreadMs
    this.#timer = setTimeout(() => {
      const nowMs = Date.now()
      let isDue = false
      for (const [cluster, { turnMs: ofCluster }] of this.#clusters) {
        if (ofCluster >= nowMs && !this.#lostMs.has(cluster)) continue
        const list = this.#state.lists.find(({ at, isFollowing }) => {
          return at.cluster === cluster && isFollowing
        })
        list?.mark([anyKey])
        isDue ||= list !== undefined
      }
      if (isDue) this.#flushSoon()
      else this.#wait()
    }, waitMs).unref()
  }
}

function isUnchanged(one: SentProblem, other: SentProblem, tellsPositions: boolean): boolean {
  if (one.text !== other.text || one.errors !== other.errors) return false
  return !tellsPositions || placeOf(one) === placeOf(other)
}

function placeOf({ position }: SentProblem): string {
  return encodePlace({ part: '', ...position })
}

function changeOf(type: SentListChange['type'], one: SentProblem): SentListChange {
  const { id: objectId, text: object, errors } = one
  return {
    type,
    removal: null,
    objectId,
    object,
    errors,
    finalStateKnown: true,
    // A getter, because most subscribers do not select it.
    get position() {
      return placeOf(one)
    },
  }
}

function removalOf(one: SentProblem, removal: SentListChange['removal']): SentListChange {
  return { ...changeOf('REMOVED', one), removal }
}
