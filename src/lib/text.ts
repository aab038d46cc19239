/** How many characters of the caller's input an error repeats. */
export const maxEchoLength = 200

/**
 * Shortens a long text for an error message: keeps its beginning and its end and says how many characters are missing.
 * The result has at most `maxLength` characters, so a text that is shortened twice stays the same.
 */
export function shortened(text: string, maxLength: number = maxEchoLength): string {
  if (text.length <= maxLength) return text
  const kept = maxLength - ` … ${text.length} characters … `.length
  const tail = Math.floor(kept / 4)
  const cut = ` … ${text.length - kept} characters … `
  // A cut may split a surrogate pair.
  return `${text.slice(0, kept - tail).toWellFormed()}${cut}${text.slice(-tail).toWellFormed()}`
}

/** Quotes a text for an error message. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text))
}

/** `1 problem`, `2 problems`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/**
 * Copies a text into its smallest representation. V8 stores a text with any character beyond Latin-1 at two bytes per
 * character, and a slice of it, or a text concatenated from it, inherits that.
 */
export function compactText(text: string): string {
  return Buffer.from(text).toString()
}
