import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import type { ClientRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type HeldBehind, resume, type Resumed } from '../gateway/resumed-subscription.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { ascending } from './restarted-gateway.ts'

const path = '/api/v1/namespaces/default/configmaps'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const asked = {
  field: 'configMaps(namespace: "default", labelSelector: "live=1", coalesceMs: 0',
  selection: 'metadata { name uid labels }',
}

describeWithControlPlane('a gateway with an archive that starts again', (plane) => {
  let folder: string
  let gateway: ServedGateway
  let lists: string[] = []
  const noted = (message: unknown): void => {
    const { request } = message as { readonly request: ClientRequest }
    const { pathname, searchParams } = new URL(request.path, 'http://host')
    const isWatch = searchParams.has('watch') && !searchParams.has('sendInitialEvents')
    if (request.method === 'GET' && !isWatch) lists.push(pathname)
  }
  const serve = async (): Promise<ServedGateway> =>
    serveGateway({
      clusters: [{ name: 'one', kubeconfig: plane().kubeconfigPath }],
      archive: {
        url: `file:${join(folder, 'archive.db')}`,
        kinds: ['configMaps', 'namespaces', 'exampleComWidgets'],
      },
    })
  const again = async (meanwhile: () => Promise<unknown> = async () => {}): Promise<void> => {
    await gateway[Symbol.asyncDispose]()
    await meanwhile()
    lists = []
    gateway = await serve()
  }
  const write = async (name: string, labels: Fields): Promise<void> => {
    const { status } = await plane().request(`${path}/${name}`, {
      method: 'PATCH',
      body: { metadata: { labels } },
      contentType: 'application/merge-patch+json',
    })
    if (status !== 404) return
    await plane().request(path, { method: 'POST', body: { metadata: { name, labels } } })
  }
  const remove = (name: string): Promise<unknown> =>
    plane().request(`${path}/${name}`, { method: 'DELETE' })
  const names = async (): Promise<readonly string[]> => {
    const { configMaps } = await gateway.data(
      '{ configMaps(namespace: "default") { nodes { metadata { name } } } }',
    )
    return configMaps.nodes
      .map(({ metadata }: Fields) => metadata.name)
      .filter((name: string) => name !== 'kube-root-ca.crt')
  }
  const shown = ({ held }: Resumed): string =>
    Array.from(held().values(), ({ metadata }) => String(metadata.name))
      .toSorted(ascending)
      .join()
  const stand = async (wanted: string): Promise<HeldBehind> => {
    const live = resume(gateway.connect(), asked)
    await live.until(() => shown(live) === wanted)
    live.leave()
    return live.seen.at(-1) as HeldBehind
  }

  beforeEach(async () => {
    subscribe('http.client.request.start', noted)
    folder = await mkdtemp(join(tmpdir(), 'informerql-archive-'))
    for (const name of ['a', 'b', 'c']) {
      await write(name, { live: '1' })
    }
    gateway = await serve()
  })
  afterEach(async () => {
    unsubscribe('http.client.request.start', noted)
    await gateway[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await remove(name)
    }
  })

  it('sends no list, shows what happened meanwhile, and goes on with subscriptions', async () => {
    expect(await names()).toEqual(['a', 'b', 'c'])
    const stood = await stand('a,b,c')
    await again(async () => {
      await remove('a')
      await write('b', { live: null, other: '1' })
      await write('d', { live: '1' })
      await write('e', { other: '1' })
      await remove('e')
    })
    expect(await names()).toEqual(['b', 'c', 'd'])
    await gateway.data('{ namespaces { nodes { metadata { name } } } }')
    expect(lists).not.toContain('/api/v1/configmaps')
    expect(lists).not.toContain('/api/v1/namespaces')
    const live = resume(gateway.connect(), asked, stood)
    await live.until(() => shown(live) === 'c,d')
    expect(live.seen.map(({ frame }) => frame.reset)).not.toContain(true)
    const changes = live.seen.flatMap(({ frame }) => frame.changes as Fields[])
    expect(changes.map(({ type }) => type).toSorted(ascending)).toEqual([
      'ADDED',
      'REMOVED',
      'REMOVED',
    ])
    live.leave()
  })

  it('lists anew where the API server has forgotten the position', async () => {
    expect(await names()).toEqual(['a', 'b', 'c'])
    const stood = await stand('a,b,c')
    await again(async () => {
      await remove('a')
      await write('d', { live: '1' })
      await plane().compact()
      await plane().killServer()
      await plane().startServer()
    })
    expect(await names()).toEqual(['b', 'c', 'd'])
    const live = resume(gateway.connect(), asked, stood)
    await live.until(() => shown(live) === 'b,c,d')
    live.leave()
  })

  it('lists custom resources anew whose definition has changed meanwhile', async () => {
    const schemaOf = (properties: object): object => ({
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
    })
    const versions = (properties: object): readonly object[] => [
      { name: 'v1', served: true, storage: true, schema: schemaOf(properties) },
    ]
    const kept = { kept: { type: 'string' }, cut: { type: 'string' } }
    await plane().request(definitions, {
      method: 'POST',
      body: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'widgets', kind: 'Widget' },
          versions: versions(kept),
        },
      },
    })
    const widgets = '/apis/example.com/v1/namespaces/default/widgets'
    const body = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'one' },
      spec: { kept: 'a', cut: 'b' },
    }
    await expect
      .poll(async () => (await plane().request(widgets, { method: 'POST', body })).status)
      .toBe(201)
    const specs = async (): Promise<Fields> => {
      const { data } = await gateway.query('{ exampleComWidgets { nodes { json } } }')
      return data?.exampleComWidgets?.nodes?.[0]?.json?.spec
    }
    await expect.poll(specs).toEqual({ kept: 'a', cut: 'b' })
    await again()
    await expect.poll(specs).toEqual({ kept: 'a', cut: 'b' })
    expect(lists).not.toContain('/apis/example.com/v1/widgets')
    await again(async () => {
      await plane().request(`${definitions}/widgets.example.com`, {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body: { spec: { versions: versions({ kept: { type: 'string' } }) } },
      })
      const first = (): Promise<Fields> => plane().request(`${widgets}/one`)
      await expect.poll(async () => (await first()).json().spec).toEqual({ kept: 'a' })
    })
    await expect.poll(specs).toEqual({ kept: 'a' })
    expect(lists).toContain('/apis/example.com/v1/widgets')
    await plane().request(`${definitions}/widgets.example.com`, { method: 'DELETE' })
  })
})
