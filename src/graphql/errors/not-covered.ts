/** An operation, or what one meets, that plans do not cover: graphql-js answers it, over the same reads. */
export class NotCoveredError extends Error {
  constructor(what: string) {
    super(`not covered by a plan: ${what}`)
    this.name = 'NotCoveredError'
  }
}
