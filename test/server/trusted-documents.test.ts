import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { preset } from '@graphql-codegen/client-preset'
import { codegen } from '@graphql-codegen/core'
import { buildASTSchema, parse } from 'graphql'
import { type Client, createClient } from 'graphql-ws'
import type { GraphQLServer, ServerObserver } from 'informerql'
import { afterAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { post, serve, smallApi, until } from './small-api.ts'

const folder = mkdtempSync(join(tmpdir(), 'informerql-trusted-'))
const clients: Client[] = []
afterAll(() => rmSync(folder, { recursive: true }))

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

let files = 0
const manifest = (content: unknown): string => {
  const file = join(folder, `${(files += 1)}.json`)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const hello = 'query Hello($name: String) { hello(name: $name) }'
const square = 'query Square { square(of: 3) }'
const answer = { data: { hello: 'hello Ann' } }
const variables = { name: 'Ann' }

const trusting = (file: string, errors: string[] = []): Promise<GraphQLServer> =>
  serve(
    smallApi(),
    { trustedDocuments: file },
    { log: { warn: () => {}, error: (message) => void errors.push(message) } },
  )

/** What one operation is answered by WebSocket, whatever its payload has in it. */
const byWebSocket = async (server: GraphQLServer, payload: object): Promise<unknown> => {
  const url = server.url.replace('http', 'ws')
  const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 })
  clients.push(client)
  const { promise, resolve } = Promise.withResolvers<unknown>()
  client.subscribe(
    { query: '', ...payload },
    { next: resolve, error: (errors) => resolve({ errors }), complete: () => {} },
  )
  const answered = await promise
  await client.dispose()
  return answered
}

const byBoth = async (server: GraphQLServer, payload: object): Promise<readonly unknown[]> => [
  await (await post(server.url, payload)).json(),
  await byWebSocket(server, payload),
]

const refused = { errors: [{ extensions: { code: 'UNTRUSTED_DOCUMENT' } }] }

describe('of trusted documents', () => {
  it.each([
    ['graphql-codegen or Relay', { [hashOf(hello)]: hello }, hashOf(hello)],
    [
      'Apollo',
      {
        format: 'apollo-persisted-query-manifest',
        version: 1,
        operations: [{ id: hashOf(hello), name: 'Hello', type: 'query', body: hello }],
      },
      hashOf(hello),
    ],
    ['ids with the name of their algorithm', { [`sha256:${hashOf(hello)}`]: hello }, hashOf(hello)],
    ['ids of any kind', { 'hello-1': hello }, 'hello-1'],
  ])(
    'those by %s run, named in any way or written out, on both transports',
    async (_, content, id) => {
      await using server = await trusting(manifest(content))
      for (const payload of [
        { documentId: id },
        { documentId: `sha256:${id}` },
        { doc_id: id },
        { id },
        { query: hello },
        { extensions: { persistedQuery: { version: 1, sha256Hash: id } } },
      ]) {
        expect(await byBoth(server, { ...payload, variables })).toEqual([answer, answer])
      }
      const search = new URLSearchParams({ documentId: id, variables: JSON.stringify(variables) })
      const got = await fetch(`${server.url}?${search}`, {
        headers: { 'graphql-require-preflight': '1' },
      })
      expect(await got.json()).toEqual(answer)
    },
  )

  it('no others run, on no transport', async () => {
    await using server = await trusting(manifest({ [hashOf(hello)]: hello }))
    const id = hashOf(hello)
    for (const payload of [
      { query: square },
      { query: `${hello} ` },
      { query: '{ __schema { types { name } } }' },
      { documentId: hashOf(square) },
      { documentId: id, query: square },
      { documentId: {} },
      { extensions: { persistedQuery: { version: 1, sha256Hash: hashOf(square) } }, query: square },
    ]) {
      const [http, socket] = await byBoth(server, payload)
      expect(http).toMatchObject(refused)
      expect(socket).toMatchObject(refused)
      const events = await post(server.url, payload, { accept: 'text/event-stream' })
      expect(await events.text()).toMatch(/"code":"UNTRUSTED_DOCUMENT".*\n\nevent: complete/s)
    }
  })

  it('one that is not run is told to the observer, by every transport', async () => {
    const trusted = manifest({ [hashOf(hello)]: hello })
    const rejected: object[] = []
    const observer: ServerObserver = {
      refused() {},
      rejected: (document) => void rejected.push(document),
    }
    {
      await using server = await serve(smallApi(), { trustedDocuments: trusted }, { observer })
      await byBoth(server, { query: square })
      await byBoth(server, { documentId: hashOf(square) })
      const events = await post(server.url, { query: square }, { accept: 'text/event-stream' })
      expect(await events.text()).toContain('"UNTRUSTED_DOCUMENT"')
    }
    const entry = { codes: ['UNTRUSTED_DOCUMENT'] }
    const named = { ...entry, length: 0, hash: hashOf(square) }
    const sent = { ...entry, length: square.length, hash: hashOf(square) }
    expect(rejected).toMatchObject([sent, sent, named, named, sent])
  })

  it('what graphql-codegen writes is taken as it is', async () => {
    const schema = parse('type Query { hello(name: String): String square(of: Int!): Int }')
    const config = {
      baseOutputDir: 'gql/',
      schema,
      schemaAst: buildASTSchema(schema),
      documents: [{ location: 'a.ts', rawSDL: hello, document: parse(hello) }],
      config: {},
      presetConfig: { persistedDocuments: true, fragmentMasking: false },
      pluginMap: {},
      plugins: [],
    }
    const outputs = await preset.buildGeneratesSection(config)
    const written = outputs.find(({ filename }) => filename.endsWith('persisted-documents.json'))
    if (written === undefined) throw new Error('no manifest was written')
    // The others fill what this one prints.
    let text = ''
    for (const one of outputs) {
      const output = await codegen(one)
      if (one === written) text = output
    }
    const [id = ''] = Object.keys(JSON.parse(text) as object)
    await using server = await trusting(manifest(text))
    expect(await byBoth(server, { documentId: id, variables })).toEqual([answer, answer])
  })

  it('a file that changes is read again; one that cannot be used changes nothing', async () => {
    const file = manifest({ a: hello })
    const errors: string[] = []
    await using server = await trusting(file, errors)
    writeFileSync(file, 'nothing')
    await until(() => errors.length > 0)
    expect(await byBoth(server, { documentId: 'a', variables })).toEqual([answer, answer])
    writeFileSync(file, JSON.stringify({ b: square }))
    await expect
      .poll(async () => byWebSocket(server, { documentId: 'b' }))
      .toEqual({ data: { square: 9 } })
    expect(await byWebSocket(server, { documentId: 'a' })).toMatchObject(refused)
  })

  it.each([
    ['is not there', '/nowhere/documents.json', /no such file/],
    ['is no JSON', manifest('{'), /JSON/],
    ['is a list', manifest('[]'), /not an object of documents/],
    ['has a document that is none', manifest({ a: 1 }), /the document of "a" is not a string/],
    ['has one that is not GraphQL', manifest({ a: '{' }), /the document of "a": Syntax Error/],
    [
      'is Apollo’s, and broken',
      manifest({ format: 'apollo-persisted-query-manifest', operations: [null] }),
      /is not a string/,
    ],
  ])('a file that %s fails the start', async (_, file, message) => {
    await expect(trusting(file)).rejects.toThrow(message)
  })
})
