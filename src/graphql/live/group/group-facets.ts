import { TimeShare } from '../../../lib/event-loop.ts'
import { listPage } from '../../../query/page/page.ts'
import { PlanRun } from '../../plan/plan-run.ts'
import type { CountedList } from '../../reads/connection-read.ts'
import type { FacetArguments } from '../../schema/read-arguments.ts'
import type { FramePlan, PageState, SentListChange } from '../frame-plan.ts'
import { type GroupContent, type ListReads, rowErrors } from './group-content.ts'
import type { GroupList, RowKeys } from './group-list.ts'

/** The key of the only row. Keys of objects are never empty. */
const facetsKey = ''

/**
 * The counts and sums of a list: one row, which depends on all objects of the list. It is read as a whole, by its
 * indexes, at most once a flush, and sent if it differs from before. Each frame has all of it.
 */
export class GroupFacets implements GroupContent {
  readonly bytesPerObject: number = 0
  readonly whole: TimeShare = new TimeShare(1 / 20)
  readonly #plan: FramePlan
  readonly #facets: FacetArguments
  readonly #lists: Set<GroupList>
  readonly #isPlural: boolean
  #sent: { readonly text: string; readonly errors: string } = { text: '', errors: '' }

  /** `isPlural`: there may be several lists. */
  constructor(
    plan: FramePlan,
    facets: FacetArguments,
    lists: readonly GroupList[],
    isPlural: boolean,
  ) {
    this.#plan = plan
    this.#facets = facets
    this.#lists = new Set(lists)
    this.#isPlural = isPlural
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

  follow(lists: readonly GroupList[]): void {
    for (const list of lists) this.#lists.add(list)
  }

  drop(lists: readonly GroupList[]): readonly SentListChange[] {
    for (const list of lists) this.#lists.delete(list)
    // The next counts are without them.
    return []
  }

  changes(rows: readonly RowKeys[], reads: ListReads): readonly SentListChange[] {
    const due = rows.find(({ keys }) => keys.length > 0)
    if (due === undefined) return []
    const options = reads.of(due.list).run
    const run = new PlanRun(options)
    const text = this.#plan.facets?.(run, this.#counted(run, reads), this.#facets) ?? ''
    const errors = rowErrors(run, options.unexpected)
    reads.check()
    if (text === this.#sent.text && errors === this.#sent.errors) return []
    this.#sent = { text, errors }
    return this.all()
  }

  /** The lists that can be read. What is missing of several is a gap of the frame. */
  #counted(run: PlanRun, reads: ListReads): CountedList {
    const parts = [...this.#lists]
      .filter(({ isFollowing }) => !this.#isPlural || isFollowing)
      .map((one) => {
        const { part, run: own } = reads.of(one)
        const { condition } = one.list
        // What the members may see of related objects is decided in their own cluster.
        const related = new PlanRun(own).related(part.cluster)
        return { ...part, name: part.cluster, condition, related }
      })
    const page = listPage({
      parts,
      budget: run.budget,
      identity: { list: 'facets' },
      first: 0,
      maxPageSize: 0,
    })
    return { kind: this.#plan.kind, page }
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
