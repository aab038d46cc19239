/** A value that `JSON.stringify` writes as the given JSON text: a number of more digits than a double holds. */
export const rawJson = (text: string): object =>
  (JSON as unknown as { rawJSON(json: string): object }).rawJSON(text)
