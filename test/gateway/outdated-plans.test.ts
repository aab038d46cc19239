import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from 'informerql/simulator'
import { isInputObjectType } from 'graphql'
import { expect, it } from 'vitest'
import { type CountedServer, startCountedServer } from '../access/counted-server.ts'
import { startSmallWorld } from '../access/small-world.ts'
import { serveGateway } from '../support/gateway.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'
import { created } from './created.ts'

const wait = { timeout: 60_000 }

it('A query never reads an index that has had another definition since it was compiled', async () => {
  await using simulator = await startSimulator()
  const annotations = { former: 'a', present: 'b' }
  const path = '/api/v1/namespaces/default/configmaps'
  await created(simulator, path, { metadata: { name: 'one', annotations } })
  await using counted = await startCountedServer(simulator.url)
  const directory = await mkdtemp(join(tmpdir(), 'informerql-outdated-'))
  const define = (member: string, further = ''): Promise<void> =>
    writeFile(
      join(directory, 'own.graphql'),
      `extend type ConfigMap @index(name: "note", path: "metadata.annotations.${member}") ${further}`,
    )
  await define('former')
  await using gateway = await serveGateway({
    clusters: [{ name: 'one', server: counted.url }],
    schema: directory,
    limits: { syncDeadlineMs: 60_000 },
  })
  const noted = (value: string): string =>
    `configMaps(where: { note: { eq: "${value}" } }) { totalCount }`
  expect(await gateway.data(`{ ${noted('a')} }`)).toEqual({ configMaps: { totalCount: 1 } })

  counted.hold('/api/v1/services')
  const former = gateway.query(`{ services { totalCount } ${noted('b')} }`)
  await expect.poll(counted.held, wait).toBe(1)
  await define('present', '@index(name: "other", path: "metadata.annotations.other")')
  const isServed = (): boolean => {
    const type = gateway.gateway.schema.getType('ConfigMapWhere')
    return isInputObjectType(type) && Object.hasOwn(type.getFields(), 'other')
  }
  await expect.poll(isServed, wait).toBe(true)
  const present = async () => (await gateway.query(`{ ${noted('b')} }`)).data
  await expect.poll(present, wait).toEqual({ configMaps: { totalCount: 1 } })
  counted.release()

  const { data, errors } = await former
  expect(data).toEqual({ services: { totalCount: 0 }, configMaps: null })
  expect(errors).toMatchObject([{ path: ['configMaps'], extensions: { code: 'NOT_SYNCED' } }])
  await rm(directory, { recursive: true, force: true })
})

it('A query never reads an index that was removed and defined anew after it was compiled', async () => {
  let isPaused = false
  const review = Promise.withResolvers<void>()
  const pause = (_path: string, body: string): Promise<void> | undefined => {
    if (!body.includes('"configmaps"')) return undefined
    isPaused = true
    return review.promise
  }
  let counted: CountedServer | undefined
  await using world = await startSmallWorld(async (url) => {
    counted = await startCountedServer(url, pause)
    return counted.url
  })
  const annotations = { former: 'a', present: 'b' }
  await world.make('/api/v1/namespaces/one/configmaps', {
    metadata: { name: 'noted', annotations },
  })
  const directory = await mkdtemp(join(tmpdir(), 'informerql-outdated-'))
  await using files = new AsyncDisposableStack()
  files.defer(() => rm(directory, { recursive: true, force: true }))
  const define = (
    ...indexes: readonly (readonly [name: string, member: string])[]
  ): Promise<void> =>
    writeFile(
      join(directory, 'own.graphql'),
      `extend type ConfigMap ${indexes.map(([name, member]) => `@index(name: "${name}", path: "metadata.annotations.${member}")`).join(' ')}`,
    )
  await define(['note', 'former'])
  await using served = await serveViewers({
    clusters: [world.selection],
    schema: directory,
    limits: { syncDeadlineMs: 60_000 },
  })
  const root = caller('root', 'system:masters')
  const noted = `configMaps(where: { note: { eq: "b" } }) { totalCount }`
  const indexes = (): readonly string[] => {
    const type = served.gateway.schema.getType('ConfigMapWhere')
    return isInputObjectType(type) ? Object.keys(type.getFields()) : []
  }

  counted?.hold('/api/v1/resourcequotas')
  const former = served.query(root, `{ resourceQuotas { totalCount } ${noted} }`)
  await expect.poll(() => isPaused, wait).toBe(true)
  await define(['other', 'other'])
  await expect.poll(indexes, wait).not.toContain('note')
  review.resolve()
  const loaded = async () =>
    (await served.query(root, '{ gatewayClusters { resources { type objects } } }')).data
  await expect.poll(loaded, wait).toMatchObject({
    gatewayClusters: [{ resources: expect.arrayContaining([{ type: 'ConfigMap', objects: 3 }]) }],
  })
  await define(['note', 'present'])
  await expect.poll(indexes, wait).toContain('note')
  const present = async () => (await served.query(root, `{ ${noted} }`)).data
  await expect.poll(present, wait).toEqual({ configMaps: { totalCount: 1 } })
  counted?.release()

  const { data, errors } = await former
  expect(data).toEqual({ resourceQuotas: { totalCount: 0 }, configMaps: null })
  expect(errors).toMatchObject([{ path: ['configMaps'], extensions: { code: 'NOT_SYNCED' } }])
})
