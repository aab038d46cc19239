import { afterAll, beforeAll, expect, it } from 'vitest'
import { ask, describeContract, type Fields } from '../contract/contract-server.ts'
import { defineGears, definitions, gears, version } from '../contract/custom-definition.ts'
import { serveGateway, type ServedGateway } from '../support/gateway.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'

describeContract('The health of a definition', (server) => {
  const group = 'health.example.com'
  const stack = new AsyncDisposableStack()
  let gateway: ServedGateway
  beforeAll(async () => {
    const kubeconfig = stack.use(await writeKubeconfig(server()))
    await defineGears(server(), group, [version('v1', {})])
    const clusters = [{ name: 'one', kubeconfig: kubeconfig.path }]
    gateway = stack.use(await serveGateway({ clusters }))
  })
  afterAll(async () => stack[Symbol.asyncDispose]())

  const define = async (plural: string, names: object, of = group, more: object = {}) => {
    const body = gears(of, [version('v1', {})], { names: { plural, ...names } })
    body.metadata = { name: `${plural}.${of}`, ...more }
    const answer = await ask(server(), definitions, { method: 'POST', body })
    expect(answer.status).toBe(201)
  }
  const health = async (name: string): Promise<Fields> =>
    (
      await gateway.data(
        `{ customResourceDefinition(name: "${name}") { health { status reason message } } }`,
      )
    ).customResourceDefinition?.health
  const wait = { timeout: 60_000 }

  it('is healthy once its kind is served', async () => {
    await expect
      .poll(async () => health(`gears.${group}`), wait)
      .toMatchObject({ status: 'HEALTHY' })
  })

  it.each([
    ['cogs', { kind: 'Gear' }, 'ListKindConflict', '"GearList" is already in use'],
    ['wheels', { kind: 'Wheel', shortNames: ['gear'] }, 'ShortNamesConflict', '"gear" is'],
    ['axles', { kind: 'Axle', singular: 'gears' }, 'SingularConflict', '"gears" is'],
  ])('is degraded where another one has its names: %s', async (plural, names, reason, message) => {
    await define(plural, names)
    await expect
      .poll(async () => health(`${plural}.${group}`), wait)
      .toMatchObject({
        status: 'DEGRADED',
        reason,
        message: expect.stringContaining(message),
      })
  })

  it('is degraded in a group of Kubernetes that nobody has approved', async () => {
    const annotations = { 'api-approved.kubernetes.io': 'unapproved, for a test' }
    await define('cranks', { kind: 'Crank' }, 'health.k8s.io', { annotations })
    await expect
      .poll(async () => health('cranks.health.k8s.io'), wait)
      .toMatchObject({ status: 'DEGRADED', reason: 'UnapprovedAnnotation' })
  })

  it('is found by a filter, and changes when the names are free', async () => {
    const degraded = async (): Promise<readonly string[]> => {
      const { customResourceDefinitions } = await gateway.data(
        `{ customResourceDefinitions(where: { health: { eq: DEGRADED }, group: { eq: "${group}" } }) { nodes { metadata { name } } } }`,
      )
      return customResourceDefinitions.nodes.map(({ metadata }: Fields) => metadata.name)
    }
    expect(await degraded()).toEqual(['axles', 'cogs', 'wheels'].map((one) => `${one}.${group}`))
    await ask(server(), `${definitions}/gears.${group}`, { method: 'DELETE' })
    await expect
      .poll(async () => health(`axles.${group}`), wait)
      .toMatchObject({ status: 'HEALTHY' })
    // What is free now is the singular of one and the short name of the other: whoever is looked at first has it.
    await expect.poll(degraded, wait).toHaveLength(1)
    expect([`cogs.${group}`, `wheels.${group}`]).toEqual(
      expect.arrayContaining([...(await degraded())]),
    )
  })
})
