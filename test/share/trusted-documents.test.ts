import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GraphQLAnswer, serveGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { sharedBetween } from './settled-holders.ts'
import { freePort, SharedGateways, type SharingGateway } from './shared-gateways.ts'

const all = '{ pods(clusters: ["*"]) { totalCount incomplete { code } } }'
const holders = '{ gatewayClusters { name holder } }'

describe('gateways that share clusters and know only trusted documents', needsPostgres, () => {
  const stack = new AsyncDisposableStack()
  let shared: SharedGateways
  let here: SharingGateway
  let there: SharingGateway

  const serve = async (trustedDocuments: string): Promise<SharingGateway> => {
    const port = await freePort()
    const address = `http://127.0.0.1:${port}`
    const options = { ...shared.options, share: { address } }
    return { ...(await serveGateway(options, { port, trustedDocuments })), address }
  }

  beforeAll(async () => {
    shared = stack.use(await SharedGateways.start(5))
    const folder = await mkdtemp(join(tmpdir(), 'informerql-trusted-'))
    stack.defer(async () => rm(folder, { recursive: true }))
    const file = join(folder, 'documents.json')
    await writeFile(file, JSON.stringify({ all, holders }))
    here = stack.use(await serve(file))
    there = stack.use((await sharedBetween(here, () => serve(file))).there)
  }, 240_000)

  afterAll(async () => {
    await stack.disposeAsync()
  })

  it('ask each other what they have made of one', async () => {
    const whole = { pods: { totalCount: 5, incomplete: [] } }
    const count = async (): Promise<GraphQLAnswer> => await here.query(all)
    await expect.poll(count, { timeout: 60_000, interval: 200 }).toEqual({ data: whole })
  })

  it('refuse other documents of everyone who only says to be a gateway', async () => {
    const ask = async (proof: string): Promise<GraphQLAnswer> => {
      const response = await fetch(there.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'informerql-forwarded': here.address,
          'informerql-proof': proof,
        },
        body: JSON.stringify({ query: '{ __typename }' }),
      })
      return (await response.json()) as GraphQLAnswer
    }
    for (const proof of ['', 'x', '0'.repeat(64)]) {
      expect(await ask(proof)).toMatchObject({
        errors: [{ extensions: { code: 'UNTRUSTED_DOCUMENT' } }],
      })
    }
  })
})
