/** Whether the gateway can answer. */
export interface Readiness {
  readonly ready: boolean
  /** What it waits for, or what is wrong; a line each. */
  readonly reasons: readonly string[]
}
