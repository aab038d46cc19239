/** The requests of a user at a steady rate. */
export interface SteadyUser {
  readonly url: string
  readonly authorization: string
  readonly body: string
  readonly perSecond: number
  /** The time at the start whose requests are not counted. */
  readonly warmUpMs: number
  readonly durationMs: number
}
