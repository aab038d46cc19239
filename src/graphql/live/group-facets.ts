import { listPage } from '../../query/page/page.ts'
import { PlanRun } from '../plan/plan-run.ts'
import type { FacetArguments } from '../schema/read-arguments.ts'
import type { FramePlan, PageState, SentListChange } from './frame-plan.ts'
import { type GroupContent, type ListReads, liveRead, rowErrors } from './group-content.ts'
import type { RowKeys } from './group-list.ts'

/** The key of the only row. Keys of objects are never empty. */
const facetsKey = ''

/**
 * The counts and sums of a list: one row, which depends on all objects of the list. It is read as a whole, by its
 * indexes, at most once a flush, and sent if it differs from before. Each frame has all of it.
 */
export class GroupFacets implements GroupContent {
  readonly isWhole = true
  readonly #plan: FramePlan
  readonly #facets: FacetArguments
  #sent: { readonly text: string; readonly errors: string } = { text: '', errors: '' }

  constructor(plan: FramePlan, facets: FacetArguments) {
    this.#plan = plan
    this.#facets = facets
  }

  /** Each frame carries the counts, also those that tell of staleness only. */
  get page(): PageState {
    return { totalCount: 0, facets: this.#sent.text }
  }

  get bytes(): number {
    return (this.#sent.text.length + this.#sent.errors.length) * 2
  }

  matching(): readonly string[] {
    return [facetsKey]
  }

  changedMatches(): readonly string[] {
    return [facetsKey]
  }

  keys(): readonly string[] {
    return [facetsKey]
  }

  matched(): readonly string[] {
    return [facetsKey]
  }

  drop(): readonly SentListChange[] {
    return []
  }

  changes([only]: readonly RowKeys[], reads: ListReads): readonly SentListChange[] {
    if (only === undefined || only.keys.length === 0) return []
    const { part, run: options } = reads.of(only.list)
    const run = new PlanRun(options)
    const { condition, list } = only.list.list
    const page = listPage({
      ...liveRead(part, run),
      condition,
      terms: [],
      identity: { list },
      first: 0,
      maxPageSize: 0,
    })
    const read = { part, page, reads: [] }
    const text = this.#plan.facets?.(run, read, this.#facets) ?? ''
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
