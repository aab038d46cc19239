import type { QueryOperation } from './query-load.ts'

/** The text of an answer, which is not compressed on its way. Rejects where it has errors. */
export async function askGraphQL(
  url: string,
  operation: QueryOperation | undefined,
): Promise<string> {
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(operation) })
  const text = await response.text()
  if (!response.ok || text.includes('"errors"')) throw new Error(text.slice(0, 500))
  return text
}
