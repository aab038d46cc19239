/** So much of what somebody sent stands in an error. */
export const maxEchoLength = 200

/**
 * A text for an error: whole where it is short, else its beginning and its end, with what is missing between them. So an
 * error never sends back more than a bound of what was sent.
 */
export function shortened(text: string, maxLength: number = maxEchoLength): string {
  if (text.length <= maxLength) return text
  const tail = Math.floor(maxLength / 4)
  const head = maxLength - tail
  const cut = ` … ${text.length - maxLength} characters … `
  return `${wellFormed(text.slice(0, head))}${cut}${wellFormed(text.slice(-tail))}`
}

/** A text in quotes, for an error. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text))
}

/** A cut may have gone through a pair of surrogates. */
function wellFormed(text: string): string {
  return text.toWellFormed()
}
