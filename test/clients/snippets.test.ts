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

/** What the snippets leave to the reader: the operations of their app. */
const operations = `
  interface Pod { id: string }
  declare const variables: { namespace?: string }
`

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
     import { foldConnection, type Frame, FrameFold, goneObjects, PageFold, type PageFrame } from '@informerql/client'
     ${operations}
     interface PodPage { pods: { nodes: readonly Pod[]; pageInfo: { hasNextPage: boolean } } }
     type Variables = { namespace?: string; first?: number }
     declare const PodList: TypedDocumentNode<PodPage, Variables>
     declare const PodFrames: TypedDocumentNode<{ pods: Frame<Pod> }, Variables>
     declare const PodPageFrames: TypedDocumentNode<{ podsPage: PageFrame<Pod> }, Variables>
     ${snippetWith('cache.evict')}
     ${snippetWith('livePods.apply')}`,
  )
  await project.write('urql-app.ts', snippetWith('cacheExchange({'))
  await project.write('errors.ts', snippetWith('gatewayErrors(error)'))
  const [, production = ''] =
    /```ts\n(.*?)```/s.exec(readFileSync('docs/production.md', 'utf8')) ?? []
  await project.write('graphql-ws-app.ts', production)
  expect(await project.compile()).toBe('')
})
