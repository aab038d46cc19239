import { type ExecutionArgs, type ExecutionResult, getOperationAST } from 'graphql'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { OperationObserver, OperationReport } from './operation-observer.ts'

/** Collects the report of one operation while the server answers it. */
export class OperationRecord {
  readonly #observer: OperationObserver
  readonly #args: ExecutionArgs
  readonly #startedMs = performance.now()
  #kinds: () => readonly ClusterKind[] = () => []
  #by: OperationReport['by'] = 'graphql-js'
  #rows = 0
  #codes = new Set<string>()
  readonly #secrets = new Set<string>()

  constructor(observer: OperationObserver, args: ExecutionArgs) {
    this.#observer = observer
    this.#args = args
  }

  /** Sets the kinds that the operation reads. */
  reads(kinds: () => readonly ClusterKind[]): void {
    this.#kinds = kinds
  }

  /** Notes a Secret whose data was read: `cluster/namespace/name`. */
  readSecret(secret: string): void {
    this.#secrets.add(secret)
  }

  /** Notes that a plan answered. */
  planned(): void {
    this.#by = 'plan'
  }

  /** Notes the rows of an answer. */
  spent(budget: WorkBudget): void {
    this.#rows += budget.spent('rows')
  }

  /** Reports the operation to the observer. */
  answered({ errors = [] }: Pick<ExecutionResult, 'errors'>): void {
    for (const { extensions } of errors) this.#codes.add(String(extensions['code']))
    this.#observer.answered(this.#report())
  }

  #report(): OperationReport {
    const { document, operationName, contextValue } = this.#args
    const node = getOperationAST(document, operationName)
    return {
      operation: 'query',
      document,
      operationName: node?.name?.value,
      viewer: (contextValue as { readonly viewer?: Viewer } | undefined)?.viewer,
      by: this.#by,
      kinds: this.#kinds,
      codes: [...this.#codes],
      secrets: [...this.#secrets],
      rows: this.#rows,
      durationMs: performance.now() - this.#startedMs,
    }
  }
}
