export interface ErrorDetails {
  /** The offending value, as given. */
  readonly value?: unknown
  /** What the reader can do about the error, as one sentence. */
  readonly hint?: string | undefined
  readonly cause?: unknown
}

/**
 * The base of every error that this package throws on purpose. `code` is stable and meant for programs; the message
 * names the offending value; `hint` says the way out.
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
