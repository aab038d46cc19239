/*
 * `changes`, `history` and `differences`: one page each of what the archive knows, as the value of a connection. The parts of
 * the question are what the caller may list today (`past-places.ts`). A page goes on behind the number of its last change, so
 * that changes which arrive meanwhile move nothing. What is not known of the time that was asked about stands beside the page
 * in `incomplete`, so that an empty page never says by itself that nothing has changed.
 */

import { type ArchivedChange, type ChangesPage, maxFields } from '../../../archive/archive-calls.ts'
import { ArgumentError } from '../../../query/condition/argument-error.ts'
import {
  cursorError,
  encodeFields,
  fieldsOf,
  isText,
  type ListIdentity,
  listHash,
} from '../../../query/page/cursor.ts'
import { pageSizeOf } from '../../../query/page/page.ts'
import { ClientError } from '../../errors/client-error.ts'
import { apiVersionOf } from '../../../kubernetes/api-resource.ts'
import { jsonIn } from '../../../lib/json.ts'
import { type ClusterNames, clustersNamed, type KindView } from '../../prepare/kind-view.ts'
import type { ObjectId } from '../../../informer/store/store-view.ts'
import { ObjectRef } from '../../schema/object-ref.ts'
import type {
  ChangeFieldsArguments,
  ChangesArguments,
  ChangeValue,
  DifferencesArguments,
  FieldChange,
  ObjectHistoryArguments,
} from '../../schema/gateway-types.ts'
import { clusterGap } from '../places.ts'
import type { ReadRun } from '../read-run.ts'
import { changeFilter } from './change-filter.ts'
import { gapOf, partOfObject, type PastParts, pastParts, timeOf } from './past-places.ts'

/** The changes that arguments ask for. `undefined` while something is lacking. */
export function readChanges(run: ReadRun, args: ChangesArguments): object | undefined {
  const { first, after, since = null, until = null, ...selecting } = args
  const page = pageOf(run, { first, after }, { list: 'changes', since, until, ...selecting })
  const filter = changeFilter(args)
  const times = timesOf({ since, until })
  return withArchive(run, args, args, () => {
    const asked = pastParts(run, args)
    return asked && changesPage(run, asked, page, { ...times, ...filter })
  })
}

/** What has changed of one object, and of no other one of its name. */
export function readHistory(
  run: ReadRun,
  { cluster, kind, view }: KindView,
  id: ObjectId,
  { first, after, since = null, until = null }: ObjectHistoryArguments,
): object | undefined {
  const [key, uid] = [view.keyOf(id), view.uidOf(id)]
  const list = `history/${cluster}/${uid === '' ? key : uid}`
  const page = pageOf(run, { first, after }, { list, since, until })
  const { group, kind: name } = kind.resource
  const identity = { cluster, group, kind: name, object: { uid } }
  const object = { at: { cluster, kind }, identity, key, uid: uid || undefined, isAllowed: true }
  const part = partOfObject(object)
  const parts = part === undefined ? [] : [part]
  const asked = { parts, gaps: [], failures: [], clusters: [cluster], scope: '' }
  const times = timesOf({ since, until })
  return withArchive(run, { cluster }, { since, until }, () => changesPage(run, asked, page, times))
}

/** What is net added, changed and removed between two times. `undefined` while something is lacking. */
export function readDifferences(run: ReadRun, args: DifferencesArguments): object | undefined {
  const { first, after, from, to = null, ...selecting } = args
  const list = { list: 'differences', from, to, ...selecting }
  const page = pageOf(run, { first, after }, list, isRow)
  const { sinceMs = 0, untilMs } = timesOf({ since: from, until: to }, ['from', 'to'])
  return withArchive(run, args, { since: from, until: to }, () => {
    const asked = pastParts(run, selecting)
    if (asked === undefined) return undefined
    const { parts } = asked
    const found =
      parts.length === 0
        ? noChanges
        : run.direct.archive('differences', {
            parts,
            fromMs: sinceMs,
            ...(untilMs !== undefined && { toMs: untilMs }),
            ...(page.after !== undefined && { after: page.after }),
            limit: page.size,
          })
    return found && connection(run, asked, page, found)
  })
}

/** The page of a question about nothing. */
export const noChanges: ChangesPage = { changes: [], hasMore: false, gaps: [], end: undefined }

interface ChangesPageAsked {
  readonly size: number
  /** The number of the change that the page goes on behind. */
  readonly after: string | undefined
  readonly cursorOf: (id: string) => string
}

interface PageArguments {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
}

const cursorVersion = 1

/** Throws `ArgumentError` for a wrong size or cursor. */
function pageOf(
  { limits, budget }: ReadRun,
  { first, after }: PageArguments,
  identity: ListIdentity,
  isPlace: (id: string) => boolean = isNumber,
): ChangesPageAsked {
  const { size } = pageSizeOf({ first }, limits.maxPageSize)
  const hash = listHash(identity, budget)
  const cursorOf = (id: string): string => encodeFields([cursorVersion, hash, id])
  if (after === undefined || after === null) return { size, after: undefined, cursorOf }
  const [version, boundTo, id] = fieldsOf(after) ?? []
  if (version === undefined || !isText(id)) throw cursorError('after', after, 'malformed')
  if (version !== cursorVersion) throw cursorError('after', after, 'otherVersion')
  if (boundTo !== hash) throw cursorError('after', after, 'otherQuery')
  if (!isPlace(id)) throw cursorError('after', after, 'malformed')
  return { size, after: id, cursorOf }
}

/** The number of a change. */
function isNumber(id: string): boolean {
  return /^\d{1,15}$/.test(id)
}

/** A row of `differences`, as `net-differences.ts` writes it. A database refuses other values as if it had failed. */
function isRow(id: string): boolean {
  const place = jsonIn(id)
  if (!Array.isArray(place) || place.length !== 6) return false
  const isSecond: unknown = place.pop()
  return place.every((one) => isText(one)) && typeof isSecond === 'boolean'
}

interface Times {
  readonly sinceMs?: number
  readonly untilMs?: number
}

interface GivenTimes {
  readonly since?: string | null
  readonly until?: string | null
}

/** Throws `ArgumentError` if the time ends before it begins. */
function timesOf(
  { since = null, until = null }: GivenTimes,
  [, last]: readonly [string, string] = ['since', 'until'],
): Times {
  const sinceMs = since === null ? undefined : Date.parse(since)
  const untilMs = until === null ? undefined : Date.parse(until)
  if (sinceMs !== undefined && untilMs !== undefined && untilMs < sinceMs) {
    throw new ArgumentError(last, 'is before the time begins', { value: until })
  }
  return {
    ...(sinceMs !== undefined && { sinceMs }),
    ...(untilMs !== undefined && { untilMs }),
  }
}

/** Reads a page. While the archive does not answer, the page is empty, and says so as a gap and as an error. */
function withArchive(
  run: ReadRun,
  clusters: ClusterNames,
  { since = null, until = null }: GivenTimes,
  read: () => object | undefined,
): object | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'ARCHIVE_UNREACHABLE') throw error
    const { code, message } = error
    const incomplete = clustersNamed(run.served, clusters).map((cluster) =>
      clusterGap({ cluster, code, message, from: since, to: until }),
    )
    const pageInfo = {
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: null,
      endCursor: null,
    }
    return { nodes: [], edges: [], pageInfo, incomplete, failures: [error] }
  }
}

function changesPage(
  run: ReadRun,
  asked: PastParts,
  page: ChangesPageAsked,
  question: Times & ReturnType<typeof changeFilter>,
): object | undefined {
  const { parts } = asked
  const before = page.after === undefined ? {} : { before: page.after }
  if (parts.length === 0 || question.types?.length === 0) {
    return connection(run, asked, page, noChanges)
  }
  const limit = Math.max(1, page.size)
  const found = run.direct.archive('changes', { sinceMs: 0, ...question, parts, ...before, limit })
  if (found === undefined) return undefined
  // Only an empty answer without a time could be read as "nothing has changed".
  const isTold = question.sinceMs !== undefined || found.changes.length === 0
  const gaps = found.gaps.filter(({ code }) => isTold || code !== 'BEFORE_ARCHIVE')
  return connection(run, asked, page, { ...found, gaps })
}

function connection(
  run: ReadRun,
  asked: PastParts,
  { size, after, cursorOf }: ChangesPageAsked,
  found: ChangesPage,
): object {
  const { served } = run
  const changes = found.changes.slice(0, size)
  const [newest] = changes
  const end = found.end ?? endOf(changes.at(-1))
  const idAt = (at: number): string => (at === changes.length - 1 ? end : endOf(changes[at])) ?? ''
  return {
    nodes: () => changeValues(run, changes),
    edges: () =>
      changeValues(run, changes).map((node, at) => ({ cursor: cursorOf(idAt(at)), node })),
    pageInfo: {
      hasNextPage: found.hasMore || found.changes.length > size,
      hasPreviousPage: after !== undefined,
      startCursor: newest === undefined ? null : cursorOf(idAt(0)),
      endCursor: end === undefined || size === 0 ? null : cursorOf(end),
    },
    incomplete: () => [...asked.gaps, ...found.gaps.map((gap) => gapOf(served, gap))],
    failures: asked.failures,
  }
}

/** Where a page behind a change begins. */
function endOf(change: ArchivedChange | undefined): string | undefined {
  return change?.end ?? change?.id
}

/** A change has eleven fields; each of its own fields has five. */
const fieldsPerChange = 11
const fieldsPerField = 5

export function changeValues(
  run: ReadRun,
  changes: readonly ArchivedChange[],
): readonly ChangeValue[] {
  run.budget.spend('rows', changes.length)
  run.budget.spend('fields', fieldsPerChange * changes.length)
  return changes.map((change) => changeValue(run, change))
}

function changeValue(run: ReadRun, change: ArchivedChange): ChangeValue {
  const { timeMs, afterMs, type, cluster, resourceVersion, manager = null } = change
  const { fieldCount, repeats } = change
  return {
    id: changeId(change),
    time: new Date(timeMs).toISOString(),
    after: timeOf(afterMs),
    type,
    cluster,
    object: refOfChange(change),
    resourceVersion,
    manager,
    fieldCount,
    repeats,
    fields({ first }: ChangeFieldsArguments): readonly FieldChange[] {
      const { size } = pageSizeOf({ first }, maxFields)
      const fields = change.fields.slice(0, size)
      run.budget.spend('fields', fieldsPerField * fields.length)
      return fields.map(({ path, before = null, after = null, masked }) => ({
        path,
        before,
        after,
        manager: null,
        masked,
      }))
    },
  }
}

/** An id of a change, unique among the changes of all archives: numbers begin anew with a new one. */
function changeId({ id, uid, resourceVersion, timeMs }: ArchivedChange): string {
  return encodeFields([cursorVersion, id, uid, resourceVersion, timeMs])
}

function refOfChange({
  cluster,
  group,
  version,
  kind,
  namespace,
  name,
  uid,
}: ArchivedChange): ObjectRef {
  return new ObjectRef({
    cluster,
    group,
    apiVersion: apiVersionOf({ group, version }),
    kind,
    namespace: namespace === '' ? null : namespace,
    name,
    uid: uid === '' ? null : uid,
  })
}
