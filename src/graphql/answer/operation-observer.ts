import { createHash } from 'node:crypto'
import type { DocumentNode, GraphQLError } from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'

/** An operation that was answered: what an audit log and metrics want to know of it. Never holds values of variables. */
export interface OperationReport {
  readonly operation: 'query' | 'subscription'
  readonly document: DocumentNode
  /** As the document has it; absent where it has none. */
  readonly operationName: string | undefined
  /** Who asked; absent where nobody is asked who they are. */
  readonly viewer: Viewer | undefined
  /** Whether a plan has answered, or graphql-js. */
  readonly by: 'plan' | 'graphql-js'
  /** The kinds that its text names, found when they are asked for. */
  readonly kinds: () => readonly ClusterKind[]
  /** The codes of the errors that were told, each once; none: it is whole. */
  readonly codes: readonly string[]
  /** The Secrets whose data were read, `cluster/namespace/name`; absent or empty: none. */
  readonly secrets?: readonly string[]
  /** Objects that were answered, of a subscription in all its frames. */
  readonly rows: number
  /** Of a subscription: until it had begun, or until it ended. */
  readonly durationMs: number
}

/** A document that was not executed: it is no GraphQL, too large, or not of this schema. Never holds its text. */
export interface RefusedDocument {
  /** Who sent it; absent where nobody is asked who they are. */
  readonly viewer: Viewer | undefined
  /** In UTF-16 units. */
  readonly length: number
  /** SHA-256 of its text, in hexadecimal digits; absent where it is long. */
  readonly hash: string | undefined
  /** The codes of its errors, each once. */
  readonly codes: readonly string[]
}

/** Told of operations. Must not throw. */
export interface OperationObserver {
  /** A query has been answered; a subscription has begun, or was refused. */
  answered(report: OperationReport): void
  /** A document was refused before anything of it was executed. */
  rejected?(document: RefusedDocument): void
  /** A subscription has ended that had begun. */
  ended?(report: OperationReport): void
}

const hashes = new WeakMap<DocumentNode, string>()

/** SHA-256 of a document's text, in hexadecimal digits: as clients name it that send hashes. */
export function documentHash(document: DocumentNode): string {
  let hash = hashes.get(document)
  if (hash === undefined) {
    hash = textHash(document.loc?.source.body ?? '')
    hashes.set(document, hash)
  }
  return hash
}

/** Longer texts are not worth their hash: nobody sends them twice. */
const maxHashedLength = 65_536

/** What may be told of a document that was refused. */
export function refusedDocument(
  text: string,
  errors: readonly GraphQLError[],
  viewer: Viewer | undefined,
): RefusedDocument {
  const codes = errors.map(({ extensions: { code } }) =>
    typeof code === 'string' ? code : 'BAD_USER_INPUT',
  )
  const hash = text.length > maxHashedLength ? undefined : textHash(text)
  return { viewer, length: text.length, hash, codes: [...new Set(codes)] }
}

function textHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
