/** Something to do that takes the name of an object: an action, or a tab of its page. */
export interface Deed {
  readonly label: string
  /** Other words that name it. */
  readonly also: readonly string[]
}

/** Shorter words are the beginning of too many. */
const leastLetters = 3

/** A deed that a text begins with, as `scale` in `scale invoice`, and the rest of the text: the name of an object. */
export interface NamedDeed<Own extends Deed> {
  readonly deed: Own
  readonly name: string
}

/** The deeds that a text begins with and that have a name after them, those that are written out first. */
export function deedsIn<Own extends Deed>(
  text: string,
  deeds: readonly Own[],
): readonly NamedDeed<Own>[] {
  const lower = text.toLowerCase()
  const first = lower.split(/\s/u, 1)[0] ?? ''
  const found = deeds.flatMap((deed) => {
    const phrases = [deed.label, ...deed.also].map((phrase) => phrase.toLowerCase())
    // `roll ba` is on its way to `roll back`.
    if (phrases.some((phrase) => phrase.startsWith(lower))) return []
    const whole = phrases.filter((phrase) => lower.startsWith(`${phrase} `))
    const isBegun =
      first.length >= leastLetters &&
      first.length < lower.length &&
      phrases.some((phrase) => !phrase.includes(' ') && phrase.startsWith(first))
    if (whole.length === 0 && !isBegun) return []
    const length = Math.max(0, ...whole.map((phrase) => phrase.length)) || first.length
    return [{ deed, name: text.slice(length).trim(), isWhole: whole.length > 0 }]
  })
  const isWritten = found.some(({ isWhole }) => isWhole)
  return found.filter(({ name, isWhole }) => name !== '' && isWhole === isWritten)
}
