/**
 * The characters of some values, ignoring case. A text with another character is in none of them, which spares a search most
 * of the values: IP addresses have no letters, and hashes no vowels. It only grows.
 */
export class CharacterSet {
  /** 1 for each ASCII character, in lower case, that a value has. */
  readonly #bits = new Uint8Array(128)
  #hasOthers = false
  #hasUpperCase = false

  constructor(values: Iterable<string>) {
    for (const value of values) this.add(value)
  }

  /** Whether all values are in lower case. */
  get isLowerCase(): boolean {
    return !this.#hasUpperCase
  }

  add(value: string): void {
    for (let at = 0; at < value.length; at++) {
      const code = value.charCodeAt(at)
      if (code >= 128) {
        this.#hasOthers = true
        this.#hasUpperCase = true
      } else if (code >= 65 && code <= 90) {
        this.#bits[code + 32] = 1
        this.#hasUpperCase = true
      } else this.#bits[code] = 1
    }
  }

  /** Whether a value may contain a text, which is in lower case. */
  mayContain(text: string): boolean {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      // The lower case of a character beyond ASCII may be in ASCII, and the other way round.
      if (code >= 128 ? !this.#hasOthers : this.#bits[code] !== 1 && !this.#hasOthers) return false
    }
    return true
  }
}
