import { WebSocketClient } from 'informerql/client'

// Vite hands /graphql on to the gateway (vite.config.ts); another one may be named: ?gateway=wss://host/graphql
const gateway =
  new URLSearchParams(location.search).get('gateway') ?? `ws://${location.host}/graphql`
export const client = new WebSocketClient({ url: gateway })
