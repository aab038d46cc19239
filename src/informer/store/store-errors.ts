import { CodedError } from '../../lib/coded-error.ts'

/** A read names an index that the store does not have. The store never scans instead. */
export class UnknownIndexError extends CodedError {
  /** `pods`, `deployments.apps`. */
  readonly resource: string
  readonly index: string

  constructor(resource: string, index: string, known: readonly string[]) {
    super('UNKNOWN_INDEX', `${resource} has no index ${JSON.stringify(index)}`, {
      value: index,
      hint: `declare it with addIndexers; it has ${known.join(', ')}`,
    })
    this.resource = resource
    this.index = index
  }
}

/** `addIndexers` names an index that the store already has. */
export class DuplicateIndexError extends CodedError {
  constructor(resource: string, index: string) {
    super('DUPLICATE_INDEX', `${resource} already has an index ${JSON.stringify(index)}`, {
      value: index,
      hint: 'choose another name: an index cannot be replaced while it is in use',
    })
  }
}

/**
 * An index function threw, or returned more values than an index keeps per object. The object is stored and readable,
 * but not found through this index.
 */
export class IndexFunctionError extends CodedError {
  readonly key: string

  constructor(resource: string, index: string, key: string, cause: unknown) {
    super(
      'INDEX_FUNCTION',
      `the function of index ${JSON.stringify(index)} failed for ${resource} ${key}: ${String(cause)}`,
      { value: index, hint: 'an index function must accept every object of its kind', cause },
    )
    this.key = key
  }
}

/** A caller waits for a resource version, but the server promises no order of versions. */
export class IncomparableResourceVersionError extends CodedError {
  constructor(resource: string, wanted: string) {
    super('UNSUPPORTED', `${resource}: ${JSON.stringify(wanted)} cannot be ordered`, {
      value: wanted,
      hint: 'resource versions have an order since Kubernetes 1.35; for older servers, opt in to comparing them',
    })
  }
}
