/**
 * Makes urql's Graphcache match fragments on `KubernetesObject` for kinds that it does not know. The exchange stands around
 * the cache: operations on their way in lose the condition, which is always true, and get it back on their way out.
 */

/** An exchange of urql, as far as it is known here. */
type UrqlExchange = (input: never) => (operations: never) => unknown

/**
 * Lets fragments on `KubernetesObject` match objects of every kind in urql's Graphcache:
 * `withNewerKinds(cacheExchange({ keys, possibleTypes }))`. By itself, Graphcache knows the kinds of the day on which
 * `possibleTypes` was written, and leaves these fragments out of objects of newer kinds. What is sent to the gateway stays
 * the same, so the hashes of trusted documents do.
 *
 * Every object on which GraphQL allows such a fragment is a `KubernetesObject`, so the condition is always true. The
 * cache gets documents without it; what it forwards, and what it answers, gets it back.
 */
export function withNewerKinds<Cache extends UrqlExchange>(cache: Cache): Cache {
  const exchange = cache as unknown as Exchange
  const wrapped: Exchange = (input) => {
    const answer = exchange({
      ...input,
      forward: (operations) =>
        mapped(input.forward(mapped(operations, restored)), (result) => ({
          ...result,
          operation: loosened(result.operation),
        })),
    })
    return (operations) =>
      mapped(answer(mapped(operations, loosened)), (result) => ({
        ...result,
        operation: restored(result.operation),
      }))
  }
  return wrapped as unknown as Cache
}

export type Exchange = (input: {
  readonly client: object
  readonly forward: Answering
}) => Answering
type Answering = (operations: Source<Operation>) => Source<Result>

interface Operation {
  readonly key: number
  readonly kind: string
  readonly query: Document
}

export interface Result {
  readonly operation: Operation
  readonly data?: unknown
  readonly hasNext?: boolean
}

/** A document as urql keys it: documents with the same key are the same to urql. */
interface Document extends Node {
  readonly __key: number
}

/** A node of a document. */
interface Node {
  readonly typeCondition?: { readonly name: { readonly value: string } } | undefined
  /** The condition that was left out. */
  readonly leftOut?: Node['typeCondition']
  readonly definitions?: readonly Node[]
  readonly selectionSet?: { readonly selections: readonly Node[] } | undefined
}

/** A stream of urql (wonka's protocol): an end, a start with a function to pull by, or a value. */
export type Source<T> = (sink: (signal: Signal<T>) => void) => void
type Signal<T> =
  | 0
  | { readonly tag: 0; readonly 0: (pull: 0 | 1) => void }
  | { readonly tag: 1; readonly 0: T }

export function mapped<T>(source: Source<T>, change: (value: T) => T): Source<T> {
  return (sink) =>
    source((signal) =>
      sink(signal === 0 || signal.tag === 0 ? signal : { tag: 1, 0: change(signal[0]) }),
    )
}

const looseDocuments = new WeakMap<Document, Document>()
const originals = new WeakMap<Document, Document>()

/** The operation without conditions on `KubernetesObject`. */
function loosened<T extends Operation>(operation: T): T {
  const { query } = operation
  let loose = looseDocuments.get(query)
  if (loose === undefined) {
    loose = changed(query, (node) => {
      const { typeCondition: leftOut } = node
      const isAlways = leftOut?.name.value === 'KubernetesObject'
      return isAlways ? { ...node, typeCondition: undefined, leftOut } : node
    })
    // The keys of urql are whole numbers: no other exchange has this one.
    if (loose !== query) loose = keyed(loose, query.__key + 0.5)
    looseDocuments.set(query, loose).set(loose, loose)
    originals.set(loose, query)
  }
  return loose === query ? operation : { ...operation, query: loose }
}

/** The operation with its conditions again, also after the cache has added `__typename` to it. */
function restored<T extends Operation>(operation: T): T {
  const { query } = operation
  let original = originals.get(query)
  if (original === undefined) {
    original = changed(query, (node) => {
      const { leftOut, ...rest } = node
      return leftOut === undefined ? node : ({ ...rest, typeCondition: leftOut } as typeof node)
    })
    if (original !== query) original = keyed(original, Math.floor(query.__key))
    originals.set(query, original)
  }
  return original === query ? operation : { ...operation, query: original }
}

function keyed(document: Document, key: number): Document {
  return Object.defineProperty({ ...document }, '__key', { value: key, enumerable: false })
}

/** The node with the change of each node in it; the same node where nothing changes. */
function changed<T extends Node>(node: T, change: <N extends Node>(node: N) => N): T {
  const own = change(node)
  const { definitions, selectionSet } = own
  const parts = definitions ?? selectionSet?.selections ?? []
  const after = parts.map((part) => changed(part, change))
  if (after.every((part, at) => part === parts[at])) return own
  return definitions === undefined
    ? { ...own, selectionSet: { ...selectionSet, selections: after } }
    : { ...own, definitions: after }
}
