/**
 * How long it is asked again what a viewer may see. What is known of permissions may be dropped at any moment, also while others
 * are asked for, so that one answer need not be the last; but for no longer than a kind is waited for.
 */
export class PermissionWait {
  readonly #deadlineMs: number
  #endMs: number | undefined

  /** `deadlineMs`: counted from the first time that it is asked again. */
  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs
  }

  /** To be asked before it is asked again: whether that has gone on for too long. */
  isOver(): boolean {
    const nowMs = performance.now()
    this.#endMs ??= nowMs + this.#deadlineMs
    return nowMs >= this.#endMs
  }
}
