import { isConflict } from 'informerql/cluster'
import { resources } from 'informerql/informer'
import { expect, it } from 'vitest'
import { failureOf } from '../api-server/local-server.ts'
import { describeContract, newNamespace } from '../contract/contract-server.ts'
import { openApiServer } from '../support/contract-api-server.ts'

describeContract('A server-side apply', (server) => {
  it('applies: fields have owners, and those of others are a conflict unless forced', async () => {
    const namespace = await newNamespace(server())
    await using apiServer = await openApiServer(server())
    const client = apiServer.client(resources.configMaps, { fieldManager: 'tests' })
    const metadata = { namespace, name: 'a' }
    const made = await client.apply({ metadata, data: { mine: '1', gone: 'soon' } })
    expect(made.data).toEqual({ mine: '1', gone: 'soon' })
    await client.apply({ metadata, data: { theirs: '2' } }, { fieldManager: 'others' })
    const conflict = await failureOf(client.apply({ metadata, data: { theirs: '3' } }))
    expect(isConflict(conflict)).toBe(true)
    const forced = await client.apply({ metadata, data: { theirs: '3' } }, { force: true })
    expect(forced.data).toEqual({ theirs: '3' })
  })
})
