import { sleep } from '../../lib/backoff.ts'
import { interruptible } from '../../lib/interruptible.ts'
import type { SharedInformer } from '../../informer/shared-informer.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import { WorkBudget, type WorkLimits } from '../../query/condition/work-budget.ts'
import { type PageEntry, sentSteps } from '../../query/page/page-steps.ts'
import { markedRow, rowsText } from '../../query/page/row-marks.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { LivePage, LivePageChange } from '../schema/read-context.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { type ListPlace, type ListRequest, type PageMeans, pageOf } from '../reads/list-read.ts'
import { FilterEndedError, type LiveFilter } from './live-filter.ts'
import type { LiveScope } from './live-scope.ts'
import { accessFingerprint } from '../prepare/access-fingerprint.ts'
import { encodeResumeToken } from '../reads/resume-token.ts'
import { subscriptionListener } from './subscription-listener.ts'

export interface LivePageOptions extends KindView {
  /** What writes the part's store. */
  readonly informer: SharedInformer
  readonly place: ListPlace
  readonly request: ListRequest
  /** What the page is known by: for the resume tokens. */
  readonly list: string
  /** What the viewer may see from now on; absent: always everything. */
  readonly live?: LiveScope | undefined
  readonly coalesceMs: number
  readonly maxPageSize: number
  /** What follows the related objects that the filter rests on; absent where it is about the objects alone. */
  readonly filter?: LiveFilter | undefined
  readonly related: PageMeans['related']
  /** What the page may cost, each time. */
  readonly work: Partial<WorkLimits>
}

/**
 * The first objects of a list in its order, as that changes: the steps from each page to the next one, and how many objects there
 * are. A page is read anew when something has changed, so a reader that is slow gets fewer pages. Ends when the iteration is left or
 * the informer stops. Throws `QueryTooCostlyError`, and what makes the list impossible.
 */
export function livePages(options: LivePageOptions): AsyncGenerator<LivePage, void, void> {
  const leaving = new AbortController()
  return interruptible(pages(options, leaving.signal), () => leaving.abort())
}

async function* pages(
  options: LivePageOptions,
  leaving: AbortSignal,
): AsyncGenerator<LivePage, void, void> {
  const { informer, coalesceMs, live, filter } = options
  const listener = subscriptionListener(informer)
  filter?.listen()
  leaving.addEventListener('abort', () => listener.close(), { once: true })
  try {
    const batches = listener.gathered(() => sleep(coalesceMs, leaving))
    let next = batches.next()
    let other = live?.changed(leaving)
    let filtered = filter?.gathered(coalesceMs, leaving)
    let before: ReadPage | undefined
    while (true) {
      const scope = (await live?.now(leaving)) ?? options.scope
      await filter?.taken(leaving)
      const related = filter === undefined ? options.related : () => filter.related()
      const seen = { ...options, scope, related }
      const now = read(seen)
      const page = difference(seen, before, now)
      if (page !== undefined) yield page
      before = now
      const others = [other, filtered].filter((one) => one !== undefined)
      const first = await Promise.race([next, ...others])
      if (first === undefined) other = live?.changed(leaving)
      else if (first === 'filtered') filtered = filter?.gathered(coalesceMs, leaving)
      else if (first.done === true) return
      else next = batches.next()
    }
  } catch (error) {
    if (!leaving.aborted && !(error instanceof FilterEndedError)) throw error
  } finally {
    filter?.close()
    listener.close()
  }
}

interface ReadPage {
  readonly entries: readonly (PageEntry & { readonly row: ObjectId })[]
  readonly totalCount: number
}

function read(options: LivePageOptions): ReadPage {
  const { view, place, request, maxPageSize, related, work } = options
  const budget = new WorkBudget(work)
  const page = pageOf(
    { budget, limits: { maxPageSize }, related, followed: undefined },
    options,
    place,
    request,
  )
  budget.spend('rows', page.ids.length)
  return {
    // By its UID: an object that was made again under its name is another one.
    entries: page.ids.map((row) => ({
      id: objectIdOf(options, { key: view.keyOf(row), uid: view.uidOf(row) }),
      version: view.held(row),
      row,
    })),
    totalCount: page.totalCount(),
  }
}

/** `undefined` where nothing is another. In the tick in which the page was read. */
function difference(
  part: LivePageOptions,
  before: ReadPage | undefined,
  now: ReadPage,
): LivePage | undefined {
  const { view, kind, cluster, list, incarnation } = part
  const steps = sentSteps(before?.entries ?? [], now.entries)
  if (before !== undefined && steps.length === 0 && before.totalCount === now.totalCount) {
    return undefined
  }
  const changes = steps.map(({ entry, ...step }): LivePageChange => {
    const object = entry && { kind, cluster, object: view.object(entry.row) }
    return { ...step, object: object ?? null }
  })
  const { resourceVersion } = view
  const resumeToken = encodeResumeToken({
    cluster,
    incarnation,
    list,
    access: accessFingerprint([part]),
    positions: { [kind.typeName]: resourceVersion },
    isAhead: false,
    rows: rowsText(now.entries.map(({ id }) => markedRow(id))),
  })
  const { totalCount } = now
  const reset = before === undefined
  return { reset, synced: true, totalCount, changes, resumeToken, resourceVersion }
}
