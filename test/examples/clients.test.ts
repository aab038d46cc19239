import { describe, expect, it } from 'vitest'
import { startClientExample } from '../support/example-process.ts'
import { podNames, shopForTests } from '../clients/shop.ts'

describe('The examples of clients', () => {
  const open = shopForTests()

  it('live-pods follows the pods by graphql-ws', async () => {
    const { gateway, addPod, deletePod } = open()
    await using example = startClientExample('live-pods', gateway.url.replace('http', 'ws'))
    await example.printed(`live  Pending ${podNames.length}`)
    await addPod('web-h')
    await example.printed(`live  Pending ${podNames.length + 1}`)
    expect(example.lines).toHaveLength(2)
    await deletePod('web-h')
  })

  it.for(['live-apollo', 'live-urql'])('%s keeps a list right', async (name) => {
    const { gateway, addPod, deletePod } = open()
    await using example = startClientExample(name, gateway.url)
    await example.printed(`pods: ${podNames.join(' ')}`)
    await addPod('web-h')
    await example.printed(`pods: ${podNames.join(' ')} web-h`)
    const before = example.lines.length
    await deletePod('web-h')
    await expect.poll(() => example.lines.slice(before)).toContain(`pods: ${podNames.join(' ')}`)
  })
})
