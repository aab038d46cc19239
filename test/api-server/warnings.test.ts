import type { ServerResponse } from 'node:http'
import { createApiServer } from 'informerql/cluster'
import { resources } from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { startLocalServer } from './local-server.ts'

const at = { namespace: 'default', name: 'a' }
const answerWith = (warnings: readonly string[]) => (_: unknown, response: ServerResponse) => {
  response.setHeader('Warning', [...warnings])
  response.end('{}')
}

/** What an observer hears of the `Warning` headers of two equal answers. */
async function heardOf(...warnings: string[]): Promise<string[]> {
  await using server = await startLocalServer(answerWith(warnings))
  const heard: string[] = []
  await using apiServer = createApiServer({
    server: server.url,
    observer: { warned: (text) => void heard.push(text) },
  })
  for (let times = 0; times < 2; times += 1) await apiServer.client(resources.pods).get(at)
  return heard
}

describe('The warnings of an API server', () => {
  it('are read from several headers, and from several values of one', async () => {
    expect(await heardOf('299 - "one"', '299 - "two, really", 299 kube-apiserver "three"')).toEqual(
      ['one', 'two, really', 'three'],
    )
  })

  it('are quoted strings: with escaped quotes and a date after them', async () => {
    expect(
      await heardOf(
        String.raw`299 - "unknown field \"spec.colour\", 299 - \\"`,
        '299 - "old" "Wed, 21 Oct 2026 07:28:00 GMT", 299 - "new"',
      ),
    ).toEqual([String.raw`unknown field "spec.colour", 299 - \ `.trim(), 'old', 'new'])
  })

  it('are not those of caches and proxies, nor malformed ones', async () => {
    expect(
      await heardOf('110 proxy "response is stale"', '299 - unquoted', '299 - ""', '299 - "good"'),
    ).toEqual(['good'])
  })

  it('are bounded in length', async () => {
    const [text = ''] = await heardOf(`299 - "${'x'.repeat(10_000)}"`)
    expect(text.length).toBe(4_096)
  })

  it('are reported once, whichever credentials the connection lends itself', async () => {
    await using server = await startLocalServer(answerWith(['299 - "old"']))
    const heard: string[] = []
    await using apiServer = createApiServer({
      server: server.url,
      observer: { warned: (text) => void heard.push(text) },
    })
    for (const token of ['a', 'b']) {
      await using caller = apiServer.as(token)
      await caller.client(resources.pods).get(at)
    }
    expect(heard).toEqual(['old'])
  })
})
