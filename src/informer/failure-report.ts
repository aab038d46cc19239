import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { InformerFailure, InformerObserver } from './informer-observer.ts'

/**
 * Counts the failures of one informer and tells its observer. Where nobody observes them, the first of each kind is a
 * warning of the process: what goes wrong is heard.
 */
export class FailureReport {
  readonly #resource: ApiResource
  readonly #observer: InformerObserver
  readonly #counts = new Map<InformerFailure, number>()

  constructor(resource: ApiResource, observer: InformerObserver) {
    this.#resource = resource
    this.#observer = observer
  }

  get counts(): ReadonlyMap<InformerFailure, number> {
    return this.#counts
  }

  readonly failed = (failure: InformerFailure, error: Error): void => {
    const count = (this.#counts.get(failure) ?? 0) + 1
    this.#counts.set(failure, count)
    if (this.#observer.failed !== undefined) this.#observer.failed(failure, error, this.#resource)
    else if (count === 1) this.#warn(failure, error)
  }

  #warn(failure: InformerFailure, error: Error): void {
    const hint = error instanceof CodedError && error.hint !== undefined ? ` (${error.hint})` : ''
    process.emitWarning(`informer of ${groupResourceOf(this.#resource)}: ${error.message}${hint}`, {
      type: 'InformerWarning',
      code: `INFORMER_${failure.toUpperCase()}`,
      detail:
        `The first failure of the kind "${failure}"; further ones are counted in informer.failures. ` +
        'Give the informer an observer to hear of each.',
    })
  }
}
