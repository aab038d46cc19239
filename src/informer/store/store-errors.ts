import { CodedError } from '../../lib/coded-error.ts'

/** A read through an index that the store does not have. There is never a silent scan instead. */
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

/** `addIndexers` with a name that the store has already. */
export class DuplicateIndexError extends CodedError {
  constructor(resource: string, index: string) {
    super('DUPLICATE_INDEX', `${resource} already has an index ${JSON.stringify(index)}`, {
      value: index,
      hint: 'choose another name: an index cannot be replaced while it is in use',
    })
  }
}

/** An index function that threw, or gave more values than an index keeps of one object. The object is stored and readable, but not found through this index. */
export class IndexFunctionError extends CodedError {
  /** The object's key. */
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

/** A wait for a resource version whose order the server does not promise. */
export class IncomparableResourceVersionError extends CodedError {
  constructor(resource: string, wanted: string) {
    super('UNSUPPORTED', `${resource}: ${JSON.stringify(wanted)} cannot be ordered`, {
      value: wanted,
      hint: 'resource versions have an order from Kubernetes 1.35 on; for older servers, opt in to comparing them',
    })
  }
}
