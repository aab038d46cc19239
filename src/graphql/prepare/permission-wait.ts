/**
 * How long an operation asks again for the viewer's access. Known permissions may be dropped at any moment, even while
 * the server asks for others, so one round may not be enough. The wait is bounded as that for a kind.
 */
export class PermissionWait {
  readonly #deadlineMs: number
  #endMs: number | undefined

  /** `deadlineMs`: counted from the first call of {@link isOver}. */
  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs
  }

  /** Whether the wait is over. Call it before each further round. */
  isOver(): boolean {
    const nowMs = performance.now()
    this.#endMs ??= nowMs + this.#deadlineMs
    return nowMs >= this.#endMs
  }
}
