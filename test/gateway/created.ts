import type { Simulator } from 'informerql/simulator'
import type { Fields } from './test-cluster.ts'

/** Sends one request to a simulated API server, which has to succeed. */
export const sent = async (
  { url }: Simulator,
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: Fields,
): Promise<Fields> => {
  const patch = 'application/merge-patch+json'
  const response = await fetch(new URL(path, url), {
    method,
    headers: {
      'content-type': method === 'PATCH' ? patch : 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

/** Creates an object; returns it as the server has it. */
export const created = (simulator: Simulator, path: string, body: Fields): Promise<Fields> =>
  sent(simulator, 'POST', path, body)
