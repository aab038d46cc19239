/*
 * The frames of `subscription { changes }`. A frame is a question to the archive, like a query: the first one for the newest
 * changes, each further one for those behind the last number. What the caller may list is found anew for each frame. If it
 * differs from before, the frame is a `reset` with the newest changes that the caller may list now. `FollowedChanges` is where
 * a subscription stands; it moves on when the frame is written (`advance`), as a run may be repeated.
 */

import { encodeFields, fieldsOf, isText, listHash } from '../../../query/page/cursor.ts'
import { ArgumentError } from '../../../query/condition/argument-error.ts'
import { pageSizeOf } from '../../../query/page/page.ts'
import { ClientError } from '../../errors/client-error.ts'
import { joinedHash } from '../../prepare/viewer-access.ts'
import type {
  ChangesFrameValue,
  ChangesSubscriptionArguments,
  ClusterGap,
} from '../../schema/gateway-types.ts'
import type { OperationLimits, ServedSchema } from '../../served/served-schema.ts'
import type { ChangesPage } from '../../../archive/archive-calls.ts'
import { archiveOf } from '../direct/archive-reads.ts'
import { clusterGap } from '../places.ts'
import type { ReadRun } from '../read-run.ts'
import { changeFilter } from './change-filter.ts'
import { changeValues, noChanges } from './past-changes.ts'
import { gapOf, type PastParts, pastParts } from './past-places.ts'

const tokenVersion = 1

/** Before the first change of any archive. */
const beginning = '0'

interface Place {
  /** The number of the last change. */
  readonly id: string
  /** What the caller may list, as a hash. */
  readonly scope: string
  /** Whether more changes wait, and whether the frame tells anything. */
  readonly hasMore: boolean
  readonly isNews: boolean
  readonly gaps: string
}

/** Where a subscription to changes stands. */
export class FollowedChanges {
  readonly sinceMs: number = Date.now()
  readonly hash: string
  /** When a resumed subscription was last sent something, in milliseconds since the epoch. */
  resumedMs: number | undefined
  #place: Place | undefined
  #next: Place | undefined
  #isDoubtful = false

  /** Throws `ArgumentError` and `ClientError` for arguments that no frame could answer. */
  constructor(
    served: ServedSchema,
    args: ChangesSubscriptionArguments,
    limits: Pick<OperationLimits, 'maxPageSize'>,
  ) {
    archiveOf(served)
    pageSizeOf({ first: args.first ?? null }, limits.maxPageSize)
    changeFilter(args)
    const { resumeFrom } = args
    const selecting = { ...args, first: null, coalesceMs: null, resumeFrom: null }
    this.hash = listHash({ ...selecting, list: 'followed changes' })
    if (typeof resumeFrom === 'string') this.#resume(resumeFrom)
  }

  get place(): Place | undefined {
    return this.#place
  }

  /** Whether the rights of the caller may have changed. */
  get isDoubtful(): boolean {
    return this.#isDoubtful
  }

  /** Lets the next frame look at the rights. */
  doubt(): void {
    this.#isDoubtful = true
  }

  /** Lets the next frame begin anew. */
  restart(): void {
    this.#place = undefined
  }

  /** Says where the frame that is being written ends. */
  reaches(place: Place): void {
    this.#next = place
  }

  /** Moves on behind the frame that was written; `undefined` if it failed. */
  advance(): Place | undefined {
    const next = this.#next
    this.#next = undefined
    this.resumedMs = undefined
    if (next !== undefined) {
      this.#place = next
      this.#isDoubtful = false
    }
    return next
  }

  token({ id, scope }: Place): string {
    return encodeFields([tokenVersion, this.hash, id, scope, Date.now()])
  }

  /** A token of other arguments, or of another form, begins anew. */
  #resume(token: string): void {
    const fields = fieldsOf(token)
    if (fields === undefined) {
      const hint = 'pass the `resumeToken` of a frame, or subscribe without it'
      throw new ArgumentError('resumeFrom', 'is not a resume token', { value: token, hint })
    }
    const [version, hash, id, scope, ms] = fields
    if (version !== tokenVersion || hash !== this.hash) return
    if (!isText(id) || !isText(scope) || typeof ms !== 'number') return
    // Both go to the database.
    if (!Number.isSafeInteger(Number(id)) || !Number.isSafeInteger(ms)) return
    this.#place = { id, scope, hasMore: false, isNews: true, gaps: '' }
    this.resumedMs = ms
  }
}

/** The next frame. `undefined` while something is lacking. */
export function readChangesFrame(
  run: ReadRun,
  args: ChangesSubscriptionArguments,
  followed: FollowedChanges,
): ChangesFrameValue | undefined {
  let asked: PastParts | undefined
  let found: ChangesPage | undefined
  let isReset = false
  let unreachable: ClientError | undefined
  try {
    asked = pastParts(run, args)
    if (asked === undefined) return undefined
    const known = continued(run, asked, followed)
    if (known === undefined) return undefined
    isReset = !known
    found = foundNext(run, asked, args, isReset ? undefined : followed.place)
    if (found === undefined) return undefined
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'ARCHIVE_UNREACHABLE') throw error
    unreachable = error
  }
  const { id: before = beginning, scope: seen = '', gaps: told = '' } = followed.place ?? {}
  const incomplete = incompleteOf(run, followed, asked, found, unreachable)
  const all = found?.changes ?? []
  const changes = isReset ? all.slice(0, sizeOf(run, args)) : all.toReversed()
  const gaps = JSON.stringify(incomplete)
  const place = {
    id: found === undefined ? before : reachedBy(found, isReset, before),
    scope: asked === undefined ? seen : scopeOf(asked),
    hasMore: !isReset && found?.hasMore === true,
    isNews: isReset || changes.length > 0 || gaps !== told,
    gaps,
  }
  followed.reaches(place)
  return {
    reset: isReset,
    synced: true,
    changes: () => changeValues(run, changes),
    resumeToken: followed.token(place),
    incomplete,
    ...(asked !== undefined && { failures: asked.failures }),
  }
}

function scopeOf({ scope }: PastParts): string {
  return joinedHash([scope])
}

/** Whether the frame goes on behind the last one, and is no reset. `undefined` while something is lacking. */
function continued(
  run: ReadRun,
  asked: PastParts,
  { place, isDoubtful, resumedMs }: FollowedChanges,
): boolean | undefined {
  if (place === undefined || place.scope !== scopeOf(asked)) return false
  // Named objects have no scope of their own: which of them are there changes all the time.
  if (isDoubtful && asked.scope === '') return false
  const { parts } = asked
  if (resumedMs === undefined || parts.length === 0) return true
  const times = { sinceMs: resumedMs, untilMs: resumedMs + 1 }
  const then = run.direct.archive('changes', { parts, ...times, limit: 1 })
  return then && !then.gaps.some(({ code }) => code === 'BEFORE_ARCHIVE')
}

function foundNext(
  run: ReadRun,
  { parts }: PastParts,
  args: ChangesSubscriptionArguments,
  place: Place | undefined,
): ChangesPage | undefined {
  const { maxPageSize, maxFrameObjects } = run.limits
  const filter = changeFilter(args)
  if (parts.length === 0 || filter.types?.length === 0) return noChanges
  const size = sizeOf(run, args)
  if (place === undefined) {
    return run.direct.archive('changes', { parts, ...filter, limit: Math.max(1, size) })
  }
  const limit = Math.min(maxPageSize, maxFrameObjects)
  return run.direct.archive('changes', { parts, ...filter, following: place.id, limit })
}

/** The number of changes in a frame with a reset. */
function sizeOf({ limits }: ReadRun, { first = null }: ChangesSubscriptionArguments): number {
  return pageSizeOf({ first }, limits.maxPageSize).size
}

/** The number of the last change that was looked at. */
function reachedBy({ changes, end }: ChangesPage, isReset: boolean, before: string): string {
  if (isReset) return changes[0]?.id ?? beginning
  return end ?? changes.at(-1)?.id ?? before
}

/** What is not known of the time since the subscription began. */
function incompleteOf(
  { served }: ReadRun,
  { sinceMs }: FollowedChanges,
  asked: PastParts | undefined,
  found: ChangesPage | undefined,
  unreachable: ClientError | undefined,
): readonly ClusterGap[] {
  const gaps = found?.gaps.filter(({ toMs = Infinity }) => toMs > sinceMs) ?? []
  const rows = [...(asked?.gaps ?? []), ...gaps.map((gap) => gapOf(served, gap))]
  if (unreachable === undefined) return rows
  const { code, message } = unreachable
  const [first = ''] = asked?.clusters ?? served.clusters.keys()
  return [...rows, clusterGap({ cluster: first, code, message })]
}
