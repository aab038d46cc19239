/**
 * A caller's own bearer token on its way to the API server that it is for, as long as one operation lasts. It is private, so
 * that nothing that writes objects down writes it.
 */
export class CallerToken {
  readonly #token: string
  /** The cluster whose API server it is for, and nobody else's; absent: the default one. */
  readonly cluster: string | undefined

  constructor(token: string, cluster: string | undefined) {
    this.#token = token
    this.cluster = cluster
  }

  /** The token itself, to be sent to its cluster. */
  reveal(): string {
    return this.#token
  }
}
