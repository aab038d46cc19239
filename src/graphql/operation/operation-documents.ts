import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql'
import { type DocumentLimits, parseDocument, validateDocument } from './document-bounds.ts'
import { documentCache } from './document-cache.ts'

/** Parses and validates the documents of operations, each once, whoever answers it. */
export class OperationDocuments {
  readonly #limits: DocumentLimits
  readonly #parsed = documentCache<DocumentNode>()
  /** By the schema that each was validated against last. */
  readonly #validated = new WeakMap<DocumentNode, Validation>()

  constructor(limits: DocumentLimits) {
    this.#limits = limits
  }

  /** Throws the GraphQLError of a text that is no document, or too large a one. */
  parse(text: string): DocumentNode {
    let document = this.#parsed.get(text)
    if (document === undefined) {
      document = parseDocument(text, this.#limits)
      this.#parsed.set(text, document)
    }
    return document
  }

  /** What is wrong with a document, as far as the first errors tell. */
  validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    const known = this.#validated.get(document)
    if (known?.schema === schema) return known.errors
    const errors = validateDocument(schema, document, this.#limits)
    this.#validated.set(document, { schema, errors })
    return errors
  }
}

interface Validation {
  readonly schema: GraphQLSchema
  readonly errors: readonly GraphQLError[]
}
