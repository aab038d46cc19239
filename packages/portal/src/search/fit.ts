/** What a text may fit. */
interface Titled {
  readonly title: string
  /** Other words that find it. */
  readonly also?: readonly string[]
}

/**
 * How well a text fits a title, the best being 0; undefined if it does not. A beginning is better than the beginning of a
 * later word, and that is better than any other part; last come letters that only appear in this order (`dply`).
 */
export function fitOf(text: string, title: string): number | undefined {
  const wanted = text.toLowerCase()
  const whole = title.toLowerCase()
  if (whole === wanted) return 0
  if (whole.startsWith(wanted)) return 1
  const place = whole.indexOf(wanted)
  if (place > 0) return /[a-z0-9]/.test(whole[place - 1] ?? '') ? 3 : 2
  let from = 0
  for (const letter of wanted) {
    from = whole.indexOf(letter, from) + 1
    if (from === 0) return undefined
  }
  // Two letters in order are in nearly every title.
  return wanted.length > 2 ? 4 : undefined
}

/** How well a text fits the best of an entry's words. */
export function fitOfEntry(text: string, { title, also = [] }: Titled): number | undefined {
  const fits = [title, ...also].flatMap((word) => fitOf(text, word) ?? [])
  return fits.length === 0 ? undefined : Math.min(...fits)
}

/** The entries that a text fits, the best first. */
export function fitting<Own extends Titled>(
  text: string,
  entries: readonly Own[],
  most: number,
): readonly Own[] {
  return entries
    .flatMap((entry) => {
      const fit = fitOfEntry(text, entry)
      return fit === undefined ? [] : [{ entry, fit }]
    })
    .toSorted((a, b) => a.fit - b.fit || a.entry.title.length - b.entry.title.length)
    .slice(0, most)
    .map(({ entry }) => entry)
}
