/*
 * The only cache of documents. It keeps each parsed text, or the error of a text that is no document, and the result of
 * its validation. Anything made from a document, such as its plans, is keyed by its nodes and counts as its bytes, so one
 * bound holds for all. Over the limit, the least recently used documents go first. A new schema empties the cache.
 */

import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import { heapShare } from '../../lib/process-memory.ts'
import { type DocumentLimits, parseDocument, validateDocument } from './document-bounds.ts'

/** Every default of {@link OperationDocuments}. */
export const defaultDocumentBytes: number = heapShare('documents', 64 << 20)

/** Estimated memory of a document besides its characters; of a token with its nodes; and of an error. */
const bytesPerDocument = 4_000
const bytesPerToken = 250
const bytesPerError = 12_000

interface KeptDocument {
  /** The document, or its error. */
  readonly document: DocumentNode | GraphQLError
  /** Includes everything made from the document. */
  readonly bytes: number
}

interface Validation {
  readonly schema: GraphQLSchema
  readonly errors: readonly GraphQLError[]
}

/** Parses and validates the documents of operations, each once. */
export class OperationDocuments {
  readonly #limits: DocumentLimits
  readonly #kept: LRUCache<string, KeptDocument>
  /** The result for the schema that each document was validated against last. */
  readonly #validated = new WeakMap<DocumentNode, Validation>()
  #schema: GraphQLSchema | undefined

  constructor(limits: DocumentLimits, maxBytes: number = defaultDocumentBytes) {
    this.#limits = limits
    this.#kept = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes })
  }

  get bytes(): number {
    return this.#kept.calculatedSize
  }

  has(text: string): boolean {
    return this.#kept.has(text)
  }

  /** Throws a GraphQLError for a text that is too large or no document. */
  parse(text: string): DocumentNode {
    let document = this.#kept.get(text)?.document
    if (document === undefined) {
      document = this.#parsed(text)
      this.#keep(text, document)
    }
    if (document instanceof GraphQLError) throw document
    return document
  }

  validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    const known = this.#validated.get(document)
    if (known?.schema === schema) return known.errors
    if (schema !== this.#schema) {
      // Plans belong to the schema that they were compiled for.
      this.#kept.clear()
      this.#schema = schema
      this.#keep(textOf(document), document)
    }
    const errors = validateDocument(schema, document, this.#limits)
    this.#validated.set(document, { schema, errors })
    this.grown(document, bytesPerError * errors.length)
    return errors
  }

  /** Adds to the size of a document, or subtracts from it, while the cache holds the document. */
  grown(document: DocumentNode, bytes: number): void {
    const text = textOf(document)
    const known = this.#kept.peek(text)
    if (known?.document !== document) return
    this.#kept.set(text, { document, bytes: Math.max(1, known.bytes + bytes) })
  }

  #parsed(text: string): DocumentNode | GraphQLError {
    try {
      return parseDocument(text, this.#limits)
    } catch (error) {
      if (error instanceof GraphQLError) return error
      throw error
    }
  }

  #keep(text: string, document: DocumentNode | GraphQLError): void {
    // An error may keep all parsed nodes in memory.
    const most = Math.min(text.length, this.#limits.maxTokens)
    const { tokenCount = most } = document instanceof GraphQLError ? {} : document
    const bytes = bytesPerDocument + bytesPerToken * tokenCount + 2 * text.length
    this.#kept.set(text, { document, bytes })
  }
}

function textOf({ loc }: DocumentNode): string {
  return loc?.source.body ?? ''
}
