/** What somebody asks for at a steady rate. */
export interface SteadyUser {
  readonly url: string
  readonly authorization: string
  readonly body: string
  readonly perSecond: number
  /** What is asked for so long is not counted. */
  readonly warmUpMs: number
  readonly durationMs: number
}
