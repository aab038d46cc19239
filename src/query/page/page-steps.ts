/*
 * The steps that turn one page of a live list into the next: removals from the end, the fewest possible moves, insertions
 * from the start, and updates of rows with another version. The rows of the longest run that keeps its order need no move.
 */

/** A row of a page and its version. Rows with equal versions are equal. */
export interface PageEntry {
  readonly id: string
  readonly version: unknown
}

/** A step from one list to another. Each step applies to the list that the steps before it have made. */
export type PageStep =
  | { readonly step: 'REMOVE'; readonly index: number; readonly id: string }
  /** Takes the row at `from` out, then inserts it at `index`. */
  | { readonly step: 'MOVE'; readonly from: number; readonly index: number; readonly id: string }
  | { readonly step: 'INSERT'; readonly index: number; readonly id: string }
  | { readonly step: 'UPDATE'; readonly index: number; readonly id: string }

export function pageSteps(before: readonly PageEntry[], now: readonly PageEntry[]): PageStep[] {
  const steps: PageStep[] = []
  const target = new Map(now.map(({ id }, index) => [id, index]))
  const working = before.map(({ id }) => id)
  for (let index = working.length - 1; index >= 0; index -= 1) {
    const id = working[index] ?? ''
    if (target.has(id)) continue
    working.splice(index, 1)
    steps.push({ step: 'REMOVE', index, id })
  }
  const known = new Set(working)
  const staying = longestRun(working, (id) => target.get(id) ?? 0)
  let previous: string | undefined
  for (const { id } of now) {
    if (!known.has(id)) continue
    if (!staying.has(id)) {
      const from = working.indexOf(id)
      working.splice(from, 1)
      const index = previous === undefined ? 0 : working.indexOf(previous) + 1
      working.splice(index, 0, id)
      steps.push({ step: 'MOVE', from, index, id })
    }
    previous = id
  }
  for (const [index, { id }] of now.entries()) {
    if (!known.has(id)) steps.push({ step: 'INSERT', index, id })
  }
  const versions = new Map(before.map(({ id, version }) => [id, version]))
  for (const [index, { id, version }] of now.entries()) {
    if (known.has(id) && versions.get(id) !== version) steps.push({ step: 'UPDATE', index, id })
  }
  return steps
}

export interface SentStep {
  readonly step: PageStep['step']
  readonly index: number
  /** `null` for all steps but MOVE. */
  readonly from: number | null
  readonly objectId: string
}

/** The steps from one page to another as they are sent, each with the row it shows, if any. */
export function sentSteps<Entry extends PageEntry>(
  before: readonly PageEntry[],
  now: readonly Entry[],
): readonly (SentStep & { readonly entry: Entry | undefined })[] {
  return pageSteps(before, now).map((step) => ({
    step: step.step,
    index: step.index,
    from: step.step === 'MOVE' ? step.from : null,
    objectId: step.id,
    entry: isShown(step) ? now[step.index] : undefined,
  }))
}

export function isShown({ step }: Pick<PageStep, 'step'>): boolean {
  return step === 'INSERT' || step === 'UPDATE'
}

/** Undoes steps: returns the ids of the page before them. */
export function idsBefore(ids: readonly string[], steps: readonly SentStep[]): string[] {
  const before = [...ids]
  for (const { step, index, from, objectId } of steps.toReversed()) {
    if (step === 'REMOVE') before.splice(index, 0, objectId)
    else if (step === 'INSERT') before.splice(index, 1)
    else if (step === 'MOVE') before.splice(from ?? index, 0, ...before.splice(index, 1))
  }
  return before
}

/** The longest increasing subsequence: the rows that need no move. */
function longestRun(list: readonly string[], orderOf: (id: string) => number): ReadonlySet<string> {
  /** The last member of the best run of each length so far, and the predecessor of each member. */
  const ends: string[] = []
  const before = new Map<string, string | undefined>()
  for (const id of list) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (orderOf(ends[middle] ?? '') < orderOf(id)) low = middle + 1
      else high = middle
    }
    before.set(id, ends[low - 1])
    ends[low] = id
  }
  const run = new Set<string>()
  for (let id = ends.at(-1); id !== undefined; id = before.get(id)) run.add(id)
  return run
}
