/*
 * Subscriptions over several gateways that are no rows of objects: counts and clusters, which each frame has as a whole, and
 * the lines of logs and the changes of the past, which are put in order.
 */

import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isRecord } from '../../lib/json.ts'
import type {
  Facet,
  FacetsArguments,
  IndexSum,
  LogLine,
  LogStream,
} from '../schema/gateway-types.ts'
import {
  ChangeItems,
  type ContentPart,
  errorsByRow,
  type FollowedField,
  frameOf,
  type HeldFrame,
  MergedContent,
  type MergedFrame,
  MergedParts,
  type WaitingChange,
} from './merged-content.ts'
import { kindOf, mergedFacets, mergedSums } from './merged-facts.ts'
import { inOrderOfTime } from './merged-roots.ts'

/** The sums of values that each frame has as a whole. */
abstract class ValueFrames<P> extends MergedParts<P> {
  #told = ''

  override restart(): void {
    this.parts.clear()
    this.#told = ''
  }

  next(force: boolean): MergedFrame | undefined {
    const values = this.values()
    const told = JSON.stringify(values)
    if (told === this.#told && !force) return undefined
    this.#told = told
    return { values, errors: [], rows: 1 }
  }

  protected abstract values(): Readonly<Record<string, unknown>>
}

interface PartCounts {
  readonly totalCount: number
  readonly sums: readonly IndexSum[]
  readonly facets: readonly Facet[]
}

const sumFields = 'sums { of value number count }'

/** The counts and sums of a list. */
export class CountFrames extends ValueFrames<PartCounts> {
  override readonly asksSelection = false
  readonly selects: string = [
    this.alias('totalCount'),
    this.alias('sums', sumFields),
    this.alias(
      'facets',
      `facets { by distinctCount missingCount values { value count ${sumFields} } }`,
    ),
  ].join(' ')

  take(part: ContentPart, { value }: HeldFrame): void {
    this.parts.set(part, {
      totalCount: (this.ours(value, 'totalCount') ?? 0) as number,
      sums: (this.ours(value, 'sums') ?? []) as readonly IndexSum[],
      facets: (this.ours(value, 'facets') ?? []) as readonly Facet[],
    })
  }

  protected values(): Readonly<Record<string, unknown>> {
    const parts = this.shown
    const { by, ...args } = this.of.field.args as Partial<FacetsArguments>
    const kind = kindOf(this.of)
    return {
      totalCount: parts.reduce((sum, { totalCount }) => sum + totalCount, 0),
      sums: mergedSums(
        kind,
        parts.map(({ sums }) => sums),
      ),
      facets: mergedFacets(
        kind,
        { ...args, by: by ?? [] },
        parts.map(({ facets }) => facets),
      ),
    }
  }
}

/** The clusters, each as its holder describes it. */
export class ClusterFrames extends ValueFrames<ReadonlyMap<string, unknown>> {
  readonly selects: string = this.alias('name')

  take(part: ContentPart, { value }: HeldFrame): void {
    const rows: readonly unknown[] = Array.isArray(value) ? value : []
    const own = new Set(part.clusters)
    const found = rows.flatMap((row): (readonly [string, unknown])[] => {
      if (!isRecord(row)) return []
      const { [`${this.of.means.prefix}name`]: name, ...members } = row
      return typeof name === 'string' && own.has(name) ? [[name, members]] : []
    })
    this.parts.set(part, new Map(found))
  }

  protected values(): Readonly<Record<string, unknown>> {
    const rows = this.shown.flatMap((one) => [...one])
    return { clusters: rows.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row) }
  }
}

/** Changes of the past, the newest first. Which rows the subscriber holds is not known. */
export class ChangeFrames extends MergedContent {
  readonly selects: string = this.alias('changes', 'changes { time }')
  override readonly isResumable = true
  readonly #items: ChangeItems
  readonly #waiting: (WaitingChange & { readonly time: string })[] = []
  #isFirst = true

  constructor(of: FollowedField) {
    super(of)
    this.#items = new ChangeItems(of)
  }

  override get waiting(): number {
    return this.#waiting.length
  }

  override restart(): void {
    this.#waiting.length = 0
    this.#isFirst = true
  }

  override get takesResets(): boolean {
    return false
  }

  override resumes(): void {
    this.#isFirst = false
  }

  take(_part: ContentPart, { value, errors }: HeldFrame): void {
    const byRow = errorsByRow(errors, this.#items)
    const changes = (this.ours(value, 'changes') ?? []) as readonly { readonly time: string }[]
    for (const [at, { time }] of changes.entries()) {
      const items = this.#items.at(value, at)
      this.#waiting.push({ items, time, errors: byRow.get(at) ?? [] })
    }
  }

  next(force: boolean): MergedFrame | undefined {
    if (this.#waiting.length === 0 && !force) return undefined
    const sorted = this.#waiting.splice(0).toSorted((a, b) => (a.time < b.time ? 1 : -1))
    const changes = this.#isFirst ? sorted.slice(0, this.of.pageSize) : sorted
    this.#isFirst = false
    return frameOf(this.#items.keys, changes)
  }
}

/** The clocks of nodes differ, and some lines come later than others. */
const overlapMs = 30_000
/** A cluster whose last line is older than this beside another one's is taken to be quiet, not late. */
const latestMs = 300_000

/** Lines of logs, in the order of their times within a frame. */
export class LogFrames extends MergedParts<readonly LogStream[]> {
  readonly selects: string = [
    this.alias('lines', 'lines { time cluster namespace pod container text truncated fields }'),
    this.alias('streams', 'streams { cluster namespace pod container state reason message }'),
    this.alias('skipped'),
    this.alias('notFollowed'),
  ].join(' ')
  override readonly isWhole = false
  override readonly asksSelection = false
  /** Those that wait, of each part in the order in which it has sent them. */
  readonly #lines = new Map<ContentPart, LogLine[]>()
  readonly #notFollowed = new Map<ContentPart, number>()
  /** The time of the last line of each container: a follower that begins anew repeats lines. */
  readonly #last = new Map<string, string>()
  #skipped = 0
  #areStreamsNew = false

  override get waiting(): number {
    return [...this.#lines.values()].reduce((sum, { length }) => sum + length, 0)
  }

  override restart(): void {
    this.parts.clear()
    this.#notFollowed.clear()
  }

  /**
   * Where the subscriber has lines, the next holder goes on from them, however many there were meanwhile: from the cluster whose
   * lines have come the least far.
   */
  override argumentsOf({ clusters, isSuccessor }: ContentPart): Readonly<Record<string, unknown>> {
    if (!isSuccessor) return {}
    const reached = new Map<string, number>()
    for (const [name, time] of this.#last) {
      const cluster = name.slice(0, name.indexOf('/'))
      if (!clusters.includes(cluster)) continue
      reached.set(cluster, Math.max(reached.get(cluster) ?? 0, Date.parse(time)))
    }
    if (reached.size === 0) return {}
    const times = [...reached.values()]
    const fromMs = Math.max(Math.min(...times), Math.max(...times) - latestMs) - overlapMs
    return { since: new Date(fromMs).toISOString(), tailLines: null }
  }

  take(part: ContentPart, { value }: HeldFrame): void {
    const lines = getOrInsert(this.#lines, part, () => [])
    for (const line of (this.ours(value, 'lines') ?? []) as readonly LogLine[]) {
      const { cluster, namespace, pod, container, time } = line
      const name = `${cluster}/${namespace}/${pod}/${container}`
      const last = this.#last.get(name)
      if (part.isSuccessor && time !== null && last !== undefined && time <= last) continue
      if (time !== null) this.#last.set(name, time)
      lines.push(line)
    }
    const streams = (this.ours(value, 'streams') ?? null) as readonly LogStream[] | null
    if (streams !== null) {
      this.parts.set(part, streams)
      this.#areStreamsNew = true
    }
    this.#skipped += (this.ours(value, 'skipped') ?? 0) as number
    this.#notFollowed.set(part, (this.ours(value, 'notFollowed') ?? 0) as number)
  }

  override left(part: ContentPart): void {
    this.#notFollowed.delete(part)
    this.#areStreamsNew = true
    super.left(part)
  }

  next(force: boolean): MergedFrame | undefined {
    if (this.waiting === 0 && !this.#areStreamsNew && !force) return undefined
    const lines = inOrderOfTime([...this.#lines.values()])
    this.#lines.clear()
    const streams = this.shown.flat()
    if (this.#areStreamsNew) {
      const names = new Set(
        streams.map((one) => `${one.cluster}/${one.namespace}/${one.pod}/${one.container}`),
      )
      for (const name of this.#last.keys()) if (!names.has(name)) this.#last.delete(name)
    }
    const values = {
      lines,
      streams: this.#areStreamsNew ? streams : null,
      skipped: this.#skipped,
      notFollowed: [...this.#notFollowed].reduce(
        (sum, [part, one]) => (part.isHidden ? sum : sum + one),
        0,
      ),
    }
    this.#areStreamsNew = false
    this.#skipped = 0
    return { values, errors: [], rows: lines.length }
  }
}
