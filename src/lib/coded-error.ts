/** What an error carries besides its message. */
export interface ErrorDetails {
  /** The offending value, as given. */
  readonly value?: unknown
  /** What the reader can do about it, as one sentence. */
  readonly hint?: string
  readonly cause?: unknown
}

/**
 * The base of every error that this package throws on purpose: a stable `code` for programs, a message that names
 * the offending value, and a `hint` that says the way out.
 */
export class CodedError extends Error {
  readonly code: string
  readonly value: unknown
  readonly hint: string | undefined

  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = new.target.name
    this.code = code
    this.value = details.value
    this.hint = details.hint
  }
}
