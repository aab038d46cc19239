/** One field that differs between two states, as a reader sees it. */
export interface FieldDifference {
  /** RFC 6901; `''` is the whole object. */
  readonly path: string
  /** `null`: absent, or masked. */
  readonly before: unknown
  readonly after: unknown
  /** Whether the values are withheld. */
  readonly masked: boolean
}
