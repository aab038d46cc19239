import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { shopForTests } from './shop.ts'

const open = shopForTests()

const snippets = Array.from(
  readFileSync('docs/clients.md', 'utf8').matchAll(/```tsx?\n(.*?)```/gs),
  ([, text = '']) => text,
)

/** The snippet in which the text stands. */
const snippetWith = (text: string): string => {
  const found = snippets.find((snippet) => snippet.includes(text))
  if (found === undefined) throw new Error(`no snippet has ${text}`)
  return found
}

it('what docs/clients.md and docs/production.md show for browsers, React, Apollo Client, urql and graphql-ws compiles', async () => {
  const { project, schema } = open()
  await project.write('informerql-apollo.ts', await schema('--for', 'apollo'))
  await project.write('informerql-urql.ts', await schema('--for', 'urql'))
  await project.write('browser.ts', snippetWith('new WebSocketClient'))
  await project.write('hooks.tsx', snippetWith('useLiveCollection<'))
  await project.write(
    'apollo-app.ts',
    `${snippetWith('new ApolloClient')}
     import type { TypedDocumentNode } from '@apollo/client'
     declare const PodList: TypedDocumentNode<object, { namespace?: string; first?: number }>
     declare const PodFrames: TypedDocumentNode<object, { namespace?: string }>
     ${snippetWith('followApolloList(')}`,
  )
  await project.write(
    'urql-app.ts',
    `${snippetWith('liveCache(cacheExchange')}
     import type { Client, TypedDocumentNode } from '@urql/core'
     declare const client: Client
     import type { Client as SocketClient } from 'graphql-ws'
     declare const socket: SocketClient
     declare const PodList: TypedDocumentNode<object, { namespace?: string; first?: number }>
     declare const PodFrames: TypedDocumentNode<object, { namespace?: string }>
     ${snippetWith('followUrqlList(')}`,
  )
  await project.write(
    'relay-app.ts',
    `import type { INetwork, Store } from 'relay-runtime'
     declare const network: INetwork
     declare const store: Store
     ${snippetWith('liveEnvironment({')}`,
  )
  await project.write('errors.ts', snippetWith('gatewayErrors(error)'))
  const [, production = ''] =
    /```ts\n(.*?)```/s.exec(readFileSync('docs/production.md', 'utf8')) ?? []
  await project.write('graphql-ws-app.ts', production)
  expect(await project.compile()).toBe('')
})
