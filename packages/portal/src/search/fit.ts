/** What a text may fit. */
interface Titled {
  readonly title: string
  /** Other words that find it. */
  readonly also?: readonly string[]
}

/** How well a title fits that has a text in the middle of a word. */
export const partFit = 3
/** How well a title fits that only has the letters of a text in their order. */
export const looseFit = 4

/**
 * How well a text fits a title, the best being 0; undefined if it does not. A beginning is better than the beginning of a
 * later word, and that is better than any other part; last come letters that only appear in this order in a single word,
 * from its first one (`dply`).
 */
export function fitOf(text: string, title: string): number | undefined {
  const wanted = text.toLowerCase()
  const whole = title.toLowerCase()
  if (whole === wanted) return 0
  if (whole.startsWith(wanted)) return 1
  const place = whole.indexOf(wanted)
  if (place > 0) return /[a-z0-9]/.test(whole[place - 1] ?? '') ? partFit : 2
  // Two letters in order are in nearly every title, and any three in nearly every long one.
  if (wanted.length < 3 || whole[0] !== wanted[0] || whole.includes(' ')) return undefined
  let from = 0
  for (const letter of wanted) {
    from = whole.indexOf(letter, from) + 1
    if (from === 0) return undefined
  }
  return looseFit
}

/** How well a text fits the best of an entry's words. */
export function fitOfEntry(text: string, { title, also = [] }: Titled): number | undefined {
  const fits = [title, ...also].flatMap((word) => fitOf(text, word) ?? [])
  return fits.length === 0 ? undefined : Math.min(...fits)
}

/** The entries that a text fits, the best first; those that only have its letters, where no other fits. */
export function fitting<Own extends Titled>(
  text: string,
  entries: readonly Own[],
  most: number,
): readonly Own[] {
  const found = entries.flatMap((entry) => {
    const fit = fitOfEntry(text, entry)
    return fit === undefined ? [] : [{ entry, fit }]
  })
  const isLoose = found.every(({ fit }) => fit === looseFit)
  return found
    .filter(({ fit }) => isLoose || fit < looseFit)
    .toSorted((a, b) => a.fit - b.fit || a.entry.title.length - b.entry.title.length)
    .slice(0, most)
    .map(({ entry }) => entry)
}
