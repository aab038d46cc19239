/**
 * Calls back when whoever else was waiting has had a turn. One `setImmediate` is not enough for that: asked for while a socket
 * is read, it is called before the event loop looks at any other socket, so that two long works would be one.
 */
export function inNextTurn(call: () => void): void {
  setImmediate(() => setImmediate(call))
}

/** Resolves as {@link inNextTurn} calls back. */
export function nextTurn(): Promise<void> {
  return new Promise(inNextTurn)
}
