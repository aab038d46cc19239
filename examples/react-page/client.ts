import { WebSocketClient } from '@informerql/client'

// Vite hands /graphql on to the gateway (vite.config.ts); another one may be named: ?gateway=wss://host/graphql
const gateway =
  new URLSearchParams(location.search).get('gateway') ?? `ws://${location.host}/graphql`

/** Where the gateway asks who its callers are: a page has its token from its own sign-in. */
function credentials(): { readonly authorization?: string } {
  const token = sessionStorage.getItem('token')
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

export const client = new WebSocketClient({ url: gateway, connectionParams: credentials })

/** Sends a query or a mutation. Rejects with the message of its first error. */
export async function send<Data>(
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<Data> {
  const response = await fetch(gateway.replace(/^ws/, 'http'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credentials() },
    body: JSON.stringify({ query, variables }),
  })
  const { data, errors } = (await response.json()) as {
    readonly data?: Data
    readonly errors?: readonly { readonly message: string }[]
  }
  const [error] = errors ?? []
  if (error !== undefined || data === undefined) throw new Error(error?.message ?? 'no answer')
  return data
}
