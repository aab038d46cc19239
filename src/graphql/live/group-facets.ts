import { listPage } from '../../query/page/page.ts'
import { PlanRun } from '../plan/plan-run.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { FacetArguments } from '../schema/read-arguments.ts'
import type { FollowedList } from './followed-list.ts'
import type { FramePlan, PageState, SentListChange } from './frame-plan.ts'
import { type GroupContent, liveRead, RowDependencies, rowErrors } from './group-content.ts'
import type { GroupRun } from './group-reading.ts'

/** The key of the only row. Keys of objects are never empty. */
const facetsKey = ''

/**
 * The counts and sums of a list: one row, which depends on all objects of the list. It is read as a whole, by its
 * indexes, at most once a flush, and sent if it differs from before. Each frame has all of it.
 */
export class GroupFacets implements GroupContent {
  readonly isWhole = true
  readonly dependencies: RowDependencies = new RowDependencies()
  readonly #plan: FramePlan
  readonly #list: FollowedList
  readonly #facets: FacetArguments
  #sent: { readonly text: string; readonly errors: string } = { text: '', errors: '' }

  constructor(plan: FramePlan, list: FollowedList, facets: FacetArguments) {
    this.#plan = plan
    this.#list = list
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

  changes(keys: Iterable<string>, part: KindView, options: GroupRun): readonly SentListChange[] {
    if ([...keys].length === 0) return []
    const run = new PlanRun(options)
    const { condition, list } = this.#list
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
    options.check()
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
