import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import { type DocumentLimits, parseDocument, validateDocument } from './document-bounds.ts'

/** Every default of {@link OperationDocuments}. */
export const defaultDocumentBytes: number = 64 << 20

/** About what a document takes, besides its characters; a token, with the nodes that it is part of; and an error. */
const bytesPerDocument = 4_000
const bytesPerToken = 250
const bytesPerError = 12_000

interface KeptDocument {
  /** Or why it is none. */
  readonly document: DocumentNode | GraphQLError
  /** With all that has been made of it. */
  readonly bytes: number
}

interface Validation {
  readonly schema: GraphQLSchema
  readonly errors: readonly GraphQLError[]
}

/**
 * Parses and validates the documents of operations, each once, whoever answers it. This is the one cache of documents: what is made of
 * one, such as its plans, is found by its nodes and counts as its bytes. MissingRead the bound those go first that were not asked for
 * the longest, and all of them when the schema changes.
 */
export class OperationDocuments {
  readonly #limits: DocumentLimits
  readonly #kept: LRUCache<string, KeptDocument>
  /** By the schema that each was validated against last. */
  readonly #validated = new WeakMap<DocumentNode, Validation>()
  #schema: GraphQLSchema | undefined

  constructor(limits: DocumentLimits, maxBytes: number = defaultDocumentBytes) {
    this.#limits = limits
    this.#kept = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes })
  }

  /** What is kept takes about so many bytes. */
  get bytes(): number {
    return this.#kept.calculatedSize
  }

  /** Whether a text has been parsed already. */
  has(text: string): boolean {
    return this.#kept.has(text)
  }

  /** Throws the GraphQLError of a text that is no document, or too large a one. */
  parse(text: string): DocumentNode {
    let document = this.#kept.get(text)?.document
    if (document === undefined) {
      document = this.#parsed(text)
      this.#keep(text, document)
    }
    if (document instanceof GraphQLError) throw document
    return document
  }

  /** What is wrong with a document, as far as the first errors tell. */
  validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    const known = this.#validated.get(document)
    if (known?.schema === schema) return known.errors
    if (schema !== this.#schema) {
      // Plans read what was served when they were made.
      this.#kept.clear()
      this.#schema = schema
      this.#keep(textOf(document), document)
    }
    const errors = validateDocument(schema, document, this.#limits)
    this.#validated.set(document, { schema, errors })
    this.grown(document, bytesPerError * errors.length)
    return errors
  }

  /** So many bytes more were made of a document, or less. They count for as long as the document is kept. */
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
    // An error may hold on to all that was parsed.
    const most = Math.min(text.length, this.#limits.maxTokens)
    const { tokenCount = most } = document instanceof GraphQLError ? {} : document
    const bytes = bytesPerDocument + bytesPerToken * tokenCount + 2 * text.length
    this.#kept.set(text, { document, bytes })
  }
}

function textOf({ loc }: DocumentNode): string {
  return loc?.source.body ?? ''
}
