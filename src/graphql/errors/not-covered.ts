/** A subscription cannot have a field, or a field lacks a writer, which is a fault of the gateway. */
export class NotCoveredError extends Error {
  constructor(what: string) {
    super(`not covered by a plan: ${what}`)
    this.name = 'NotCoveredError'
  }
}
