/** Plans do not cover an operation, or something that it meets. graphql-js answers it, over the same reads. */
export class NotCoveredError extends Error {
  constructor(what: string) {
    super(`not covered by a plan: ${what}`)
    this.name = 'NotCoveredError'
  }
}
