import { readFileSync } from 'node:fs'
import * as controller from 'informerql/controller'
import { createApiServer } from 'informerql/cluster'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { startProgram } from '../support/example-process.ts'

const document = readFileSync('docs/controller-parts.md', 'utf8')
const snippets = Array.from(document.matchAll(/```ts\n(.*?)```/gs), ([, text = '']) => text)

/** The first snippet, and the others after what they leave to the reader. */
const [election = '', ...others] = snippets
const prelude = `
  import { createApiServer } from 'informerql/cluster'
  const apiServer = createApiServer({ server: process.argv[1] ?? '' })
  const widgets = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true }
  const orders = apiServer.client(widgets)
  const order = await orders.get({ namespace: 'shop', name: 'order' })
`
const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

function run(source: string, url: string) {
  const flags = ['--conditions=informerql-source', '--input-type=module-typescript']
  return startProgram(process.execPath, [...flags, '-e', source, url], {})
}

/** A simulator with the namespace of the document. */
async function startShop(): Promise<Simulator> {
  const simulator = await startSimulator()
  simulator.storage.create(
    { group: '', version: 'v1', resource: 'namespaces' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  )
  return simulator
}

describe('docs/controller-parts.md', () => {
  it('shows an election that runs, and ends with SIGTERM', async () => {
    await using simulator = await startShop()
    const source = election.replace(
      'config: loadClusterConfig()',
      'config: loadClusterConfig({ server: process.argv[1] })',
    )
    await using program = run(source, simulator.url)
    await program.printed('the leader is ')
    await program.printed('leads, term 0')
    expect(await program.interrupt('SIGTERM'), program.lines.join('\n')).toBe(0)
    await using apiServer = createApiServer({ server: simulator.url })
    const path = '/apis/coordination.k8s.io/v1/namespaces/shop/leases/order-controller'
    expect(await apiServer.request('GET', path)).toMatchObject({ spec: { holderIdentity: '' } })
  })

  it('shows events, conditions and finalizers that are written', async () => {
    await using simulator = await startShop()
    await using apiServer = createApiServer({ server: simulator.url })
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await apiServer.request('POST', definitions, { body: widgetDefinition })
    const widgets = '/apis/example.com/v1/namespaces/shop/widgets'
    const metadata = { name: 'order', namespace: 'shop', annotations: { note: 'kept' } }
    const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata }
    await expect
      .poll(() => apiServer.request('POST', widgets, { body }).catch(String))
      .toMatchObject({ kind: 'Widget' })
    for (const snippet of others) {
      await using program = run(`${prelude}${snippet}\nconsole.log('ended')`, simulator.url)
      await program.printed('ended')
      expect(program.lines.filter((line) => /error/i.test(line))).toEqual([])
    }
    expect(await apiServer.request('GET', `${widgets}/order`)).toMatchObject({
      metadata: { finalizers: ['shop.example.com/refund'], annotations: { note: 'kept' } },
      status: { conditions: [{ type: 'Ready', status: 'False', reason: 'OutOfStock' }] },
    })
    const events = '/apis/events.k8s.io/v1/namespaces/shop/events'
    expect(await apiServer.request('GET', events)).toMatchObject({
      items: [{ reason: 'OutOfStock', regarding: { kind: 'Widget', name: 'order' } }],
    })
  })

  it('has every default, as it is', () => {
    for (const [, name = '', table = ''] of document.matchAll(
      /^### .*`(\w+Defaults)`\n\n((?:\|.*\n)+)/gm,
    )) {
      const shown = Array.from(table.matchAll(/^\| `(\w+)` +\| `([^`]+)`/gm), (row) => row.slice(1))
      const defaults: object = controller[name as 'eventRecorderDefaults']
      const expected = Object.entries(defaults).map(([key, value]) => [key, String(value)])
      expect(shown, name).toEqual(expected)
    }
  })
})
