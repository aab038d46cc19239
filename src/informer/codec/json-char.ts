/** The signs of JSON, as code units of a text or as bytes of UTF-8, in which they are the same. */
export const jsonChar = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  /** What `null`, and no other value, begins with. */
  n: 0x6e,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const
