import type { QueryOperation } from './query-load.ts'

/** The text of an answer, which is not compressed on its way. Rejects if it has errors, or if it `fails` but has none. */
export async function askGraphQL(
  url: string,
  operation: QueryOperation | undefined,
  fails = false,
): Promise<string> {
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(operation) })
  const text = await response.text()
  if (!response.ok || text.includes('"errors"') !== fails) throw new Error(text.slice(0, 500))
  return text
}
