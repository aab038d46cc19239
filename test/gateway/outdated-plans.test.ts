import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from 'informerql/simulator'
import { isInputObjectType } from 'graphql'
import { expect, it } from 'vitest'
import { startCountedServer } from '../access/counted-server.ts'
import { serveGateway } from '../support/gateway.ts'
import { created } from './created.ts'

const wait = { timeout: 20_000 }

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
