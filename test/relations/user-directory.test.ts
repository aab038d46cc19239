import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { object, ownedBy, RelationCluster } from './relation-cluster.ts'

const wait = { timeout: 60_000, interval: 50 }

describe('a directory of SDL is followed while the gateway runs', () => {
  let directory: string
  let cluster: RelationCluster
  const write = async (file: string, text: string): Promise<void> =>
    writeFile(join(directory, file), text)
  const reasons = (): readonly string[] => cluster.gateway.readiness().reasons

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'informerql-schema-'))
    await write(
      'own.graphql',
      `extend type Pod {
         "Of static pods."
         ownerNode: Node @owner
         settings: ConfigMap @reference(path: "metadata.annotations.settings")
       }
       extend type ConfigMap { settingsOf: PodConnection @reverse(of: "Pod.settings") }`,
    )
    await write('notes.txt', 'no SDL')
    cluster = await RelationCluster.start({ schema: directory })
    cluster.create('here', [
      object('v1', 'ConfigMap', 'one'),
      object('v1', 'ConfigMap', 'two'),
      object('v1', 'Node', 'rel-owner'),
      object(
        'v1',
        'Pod',
        'p',
        { spec: { containers: [] } },
        { annotations: { settings: 'one', other: 'two' }, ...ownedBy('v1', 'Node', 'rel-owner') },
      ),
    ])
    cluster.create('elsewhere', [object('v1', 'ConfigMap', 'one')])
  })
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  })

  it('is served from the start', async () => {
    expect(await cluster.namesAt('here', 'pod p settings')).toBe('one')
    expect(await cluster.namesAt('here', 'configMap one settingsOf')).toEqual(['p'])
    expect(reasons()).toEqual([])
  })

  it('references stay in the namespace of who refers', async () => {
    expect(await cluster.namesAt('elsewhere', 'configMap one settingsOf')).toEqual([])
  })

  it('a namespaced object may have a cluster-scoped owner', async () => {
    expect(await cluster.namesAt('here', 'pod p ownerNode')).toBe('rel-owner')
  })

  it('an edit is served, with indexes made anew of what it changes', async () => {
    await write(
      'own.graphql',
      `extend type Pod { settings: ConfigMap @reference(path: "metadata.annotations.other") }
       extend type ConfigMap { settingsOf: PodConnection @reverse(of: "Pod.settings") }`,
    )
    await expect
      .poll(async () => cluster.namesAt('here', 'configMap two settingsOf'), wait)
      .toEqual(['p'])
    expect(await cluster.namesAt('here', 'configMap one settingsOf')).toEqual([])
    expect(await cluster.namesAt('here', 'pod p settings')).toBe('two')
  })

  it('an edit with errors is told with their places, and what was served stays', async () => {
    await write(
      'own.graphql',
      `extend type Pod {
         settings: ConfigMap @reference(path: "metadata.annotations.other")
         host: Nodde @reference(path: "spec.nodeName")
         spec: Node @reference(path: "spec.nodeName")
       }`,
    )
    const file = join(directory, 'own.graphql')
    await expect
      .poll(reasons, wait)
      .toEqual([
        `${file}:3: Pod.host: there is no type Nodde; the edit is not served`,
        `${file}:4: Pod.spec: the API has a field of this name, which wins; the edit is not served`,
      ])
    expect(cluster.gateway.readiness().ready).toBe(true)
    expect(cluster.log.join('\n')).toContain('there is no type Nodde')
    expect(await cluster.namesAt('here', 'configMap two settingsOf')).toEqual(['p'])
  })

  it('and served when it is right, with a new file beside it', async () => {
    await write('own.graphql', 'extend type Pod { host: Node @reference(path: "spec.nodeName") }')
    await write(
      'widgets.graphql',
      `extend type RelExampleWidget { maker: ConfigMap @reference(path: "spec.maker") }
       extend type ConfigMap { widgets: RelExampleWidgetConnection @reverse(of: "RelExampleWidget.maker") }`,
    )
    await expect
      .poll(async () => cluster.namesAt('here', 'pod p host').catch(String), wait)
      .toBe(null)
    const file = join(directory, 'widgets.graphql')
    await expect
      .poll(reasons, wait)
      .toEqual(
        [1, 2].map(
          (line) => `${file}:${line}: waits for RelExampleWidget, which no cluster serves`,
        ),
      )
    expect(cluster.log).toContain(`${file}:1: waits for RelExampleWidget, which no cluster serves`)
  })

  it('an edit that would make no valid schema is not served either', async () => {
    await write('odd.graphql', 'extend type Pod { __a: Node @reference(path: "spec.nodeName") }')
    const file = join(directory, 'odd.graphql')
    await expect
      .poll(() => reasons()[0], wait)
      .toBe(
        `${file}:1: Pod.__a: names that begin with __ are those of GraphQL itself; the edit is not served`,
      )
    expect(await cluster.namesAt('here', 'pod p host')).toBe(null)
    await rm(file)
    await expect.poll(() => reasons().join(), wait).not.toContain('__a')
  })

  it('a file or the directory that cannot be read is told, and what was served stays', async () => {
    const lost = join(directory, 'lost.graphql')
    await symlink(join(directory, 'nowhere'), lost)
    await expect.poll(() => reasons()[0], wait).toContain(`schema ${lost} cannot be read`)
    expect(await cluster.namesAt('here', 'pod p host')).toBe(null)
    await rm(lost)
    await expect.poll(() => reasons().join(), wait).not.toContain('cannot be read')
    const aside = `${directory}-aside`
    await rename(directory, aside)
    await expect.poll(() => reasons()[0], wait).toContain(`schema ${directory} cannot be read`)
    expect(await cluster.namesAt('here', 'pod p host')).toBe(null)
    await rename(aside, directory)
    await expect.poll(() => reasons().join(), wait).not.toContain('cannot be read')
    expect(await cluster.namesAt('here', 'pod p host')).toBe(null)
  })

  it('what waits for a kind wakes when its CRD appears', async () => {
    await cluster.define(['Widget.rel.example/v1'])
    await expect.poll(reasons, wait).toEqual([])
    cluster.create('here', [object('rel.example/v1', 'Widget', 'w', { spec: { maker: 'one' } })])
    await expect
      .poll(async () => cluster.namesAt('here', 'configMap one widgets'), wait)
      .toEqual(['w'])
  })

  it('an edit that is refused is served when a definition comes that makes it right', async () => {
    const property = (name: string) => ({ properties: { [name]: { type: 'string' } } })
    const spec = (name: string) => ({ Gadget: { type: 'object', ...property(name) } })
    await cluster.define(['Gadget.rel.example/v1'], {}, spec('owner'))
    await expect.poll(() => cluster.gateway.schema.getType('RelExampleGadget'), wait).toBeDefined()
    await write(
      'own.graphql',
      `extend type Pod { gadgetHost: Node @reference(path: "spec.nodeName") }
       extend type RelExampleGadget { maker: ConfigMap @reference(path: "spec.maker") }
       extend type ConfigMap { gadgets: RelExampleGadgetConnection @reverse(of: "RelExampleGadget.maker") }`,
    )
    const refused = `a RelExampleGadget has nothing at spec.maker; the edit is not served`
    await expect.poll(() => reasons().join(), wait).toContain(refused)
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.rel.example'
    await fetch(new URL(path, cluster.simulator.url), { method: 'DELETE' })
    await cluster.define(['Gadget.rel.example/v1'], {}, spec('maker'))
    await expect.poll(reasons, wait).toEqual([])
    cluster.create('here', [object('rel.example/v1', 'Gadget', 'g', { spec: { maker: 'one' } })])
    expect(await cluster.namesAt('here', 'configMap one gadgets')).toEqual(['g'])
    expect(await cluster.namesAt('here', 'pod p gadgetHost')).toBe(null)
    expect(cluster.log.filter((line) => line.includes(refused))).toHaveLength(1)
  })

  it('a start with errors fails, and names them', async () => {
    await write('own.graphql', 'extend type Pod { host: Node @reference(path: "spec.nodename") }')
    await expect(RelationCluster.start({ schema: directory })).rejects.toMatchObject({
      code: 'SCHEMA_SDL',
      message: expect.stringContaining(`${join(directory, 'own.graphql')}:1: Pod.host: a Pod has`),
    })
    const missing = join(directory, 'missing')
    await expect(RelationCluster.start({ schema: missing })).rejects.toMatchObject({
      code: 'SCHEMA_FILE',
      value: missing,
    })
  })
})
