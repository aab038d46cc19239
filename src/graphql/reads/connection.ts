import type { PageOf } from '../../query/page/page.ts'
import type { ClusterGap, PageInfo } from '../schema/read-context.ts'
import { pageInfoOf, paidRows } from './connection-read.ts'
import type { PlacesRead } from './places.ts'
import type { ReadRun } from './read-run.ts'

/** A page of what was read of several kinds, and how often each kind has it. */
export interface ConnectionRead<R> extends PlacesRead<unknown> {
  readonly page: PageOf<R>
  readonly counts?: () => readonly object[]
}

/**
 * A page of several kinds as the value of a connection: its members are the fields of the connection's type, so the
 * value writer writes it as it stands. Each part is computed when a field asks for it, within the tick that read the page:
 * every `nodes` and every `edges` of a document pays for its rows, and a cursor is made only where it is selected.
 *
 * Of a list of one kind, `plan/plan.ts` writes the rows from their bare ids (`ReadPage`).
 */
export class Connection<R, T> {
  readonly #run: ReadRun
  readonly #read: ConnectionRead<R>
  readonly #valueOf: (row: R, at: number) => T

  /** `valueOf`: the value of a row at its position on the page. */
  constructor(run: ReadRun, read: ConnectionRead<R>, valueOf: (row: R, at: number) => T) {
    this.#run = run
    this.#read = read
    this.#valueOf = valueOf
  }

  nodes(): readonly T[] {
    return this.#rows().map(this.#valueOf)
  }

  edges(): readonly { readonly cursor: string; readonly node: T }[] {
    const { page } = this.#read
    return this.#rows().map((row, at) => ({
      get cursor() {
        return page.cursorAt(at)
      },
      node: this.#valueOf(row, at),
    }))
  }

  #rows(): readonly R[] {
    return paidRows(this.#run.budget, this.#read.page)
  }

  pageInfo(): PageInfo {
    return pageInfoOf(this.#read.page)
  }

  totalCount(): number {
    return this.#read.page.totalCount()
  }

  counts(): readonly object[] | undefined {
    return this.#read.counts?.()
  }

  staleSince(): string | null {
    return this.#read.staleSince()
  }

  incomplete(): readonly ClusterGap[] {
    return this.#read.incomplete()
  }

  get types(): readonly string[] {
    return this.#read.types
  }

  /** The name of `types` among problems. */
  get lookedAt(): readonly string[] {
    return this.#read.types
  }

  complete(): boolean {
    return this.#read.complete()
  }

  notLookedAt(): readonly string[] {
    return this.#read.notLookedAt()
  }

  /** The errors beside the answer. */
  get failures(): readonly Error[] {
    return this.#read.failures
  }
}
