/** What is written of one object is longer than whoever asked for it can use. */
export class AnswerTooLongError extends Error {
  /** How long it was when that was noticed, UTF-16 units. */
  readonly length: number

  constructor(length: number) {
    super(`what is selected of an object is longer than ${length} characters`)
    this.length = length
  }
}

/** How long the text that is being written may become; one is written at a time. */
let room = Number.POSITIVE_INFINITY

/** Does a work all of whose texts have at most so many UTF-16 units. */
export function withinRoom<T>(units: number, write: () => T): T {
  const before = room
  room = units
  try {
    return write()
  } finally {
    room = before
  }
}

/**
 * To be asked while a text grows, with its length. Throws {@link AnswerTooLongError}: a selection may name a large part of a large
 * object a thousand times, and that has to end before it is written, not when it is.
 */
export function checkRoom(units: number): void {
  if (units > room) throw new AnswerTooLongError(units)
}
