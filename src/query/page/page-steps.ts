/** One thing on a page: who it is, and which version of it. Two with the same version are the same. */
export interface PageEntry {
  readonly id: string
  readonly version: unknown
}

/** What is to be done to a list, in order, so that it becomes another one. Positions are those at the moment. */
export type PageStep =
  | { readonly step: 'REMOVE'; readonly index: number; readonly id: string }
  /** What stands at `from` is taken out and then put at `index`. */
  | { readonly step: 'MOVE'; readonly from: number; readonly index: number; readonly id: string }
  | { readonly step: 'INSERT'; readonly index: number; readonly id: string }
  | { readonly step: 'UPDATE'; readonly index: number; readonly id: string }

/**
 * The steps from one page to another: removals from the end on, as few moves as there can be, insertions from the beginning on, and
 * updates of what is there in another version.
 */
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

/** A step as it is told. */
export interface SentStep {
  readonly step: PageStep['step']
  readonly index: number
  /** `null` of all steps but MOVE. */
  readonly from: number | null
  readonly objectId: string
}

/** The steps from one page to another as they are told, each with the entry that is shown with it, where one is. */
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

/** Whether an entry is shown with a step. */
export function isShown({ step }: Pick<PageStep, 'step'>): boolean {
  return step === 'INSERT' || step === 'UPDATE'
}

/** The page that steps have led from, given what they have led to: the ids of its rows. */
export function idsBefore(ids: readonly string[], steps: readonly SentStep[]): string[] {
  const before = [...ids]
  for (const { step, index, from, objectId } of steps.toReversed()) {
    if (step === 'REMOVE') before.splice(index, 0, objectId)
    else if (step === 'INSERT') before.splice(index, 1)
    else if (step === 'MOVE') before.splice(from ?? index, 0, ...before.splice(index, 1))
  }
  return before
}

/** The most members of a list that are in order already: the longest increasing subsequence. */
function longestRun(list: readonly string[], orderOf: (id: string) => number): ReadonlySet<string> {
  /** The last member, so far, of the best run of each length, and for each member the one before it. */
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
