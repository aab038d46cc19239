import { type GraphQLInterfaceType, isObjectType, printSchema, validateSchema } from 'graphql'
import type { GatewayOptions } from 'informerql'
import { describe, expect, it } from 'vitest'
import { resourceOf } from './captured-cluster.ts'
import { schemaOf, type ServedSchema, withBuiltIns } from './served-schema.ts'

type SchemaProfile = NonNullable<GatewayOptions['profile']>

const widgets = ['a', 'b'].map((name) => resourceOf(`${name}.example.com`, 'Widget'))
const build = async (profile: SchemaProfile, sdl = ''): Promise<ServedSchema> =>
  schemaOf(withBuiltIns({ resources: widgets, openapi: {} }), { sdl, profile })
const kinds = async (profile: SchemaProfile): Promise<readonly string[]> => {
  const { schema } = await build(profile)
  const types = schema.getPossibleTypes(schema.getType('KubernetesObject') as GraphQLInterfaceType)
  return types.map(({ name }) => name).toSorted()
}
const printed = async (profile: SchemaProfile): Promise<string> => {
  const { schema } = await build(profile)
  expect(validateSchema(schema)).toEqual([])
  return printSchema(schema)
}

describe('a profile of the schema', () => {
  it('has the kinds and groups that it includes', async () => {
    expect(await kinds({ include: { kinds: ['Pod', 'Node'] } })).toEqual(['Node', 'Pod'])
    expect(await kinds({ include: { groups: ['batch'], kinds: ['Pod'] } })).toEqual([
      'CronJob',
      'Job',
      'Pod',
    ])
    expect(await kinds({ include: { groups: ['*.example.com'] } })).toEqual([
      'AExampleComWidget',
      'BExampleComWidget',
    ])
  })

  it('lacks those that it excludes', async () => {
    const all = await kinds({})
    expect(await kinds({ exclude: { kinds: ['Pod'] } })).toEqual(
      all.filter((name) => name !== 'Pod'),
    )
    expect(
      await kinds({ include: { groups: ['batch'] }, exclude: { kinds: ['CronJob'] } }),
    ).toEqual(['Job'])
    expect(await kinds({ include: { kinds: ['Job'] }, exclude: { groups: ['batch'] } })).toEqual([
      'Job',
    ])
    expect(await kinds({ exclude: { groups: ['*.example.com'] } })).toHaveLength(all.length - 2)
  })

  it('says what it names that is not there', async () => {
    const { problems } = await build({
      include: { groups: ['apps', 'app', '*.example.com'], kinds: ['Pod', 'Pood'] },
      exclude: { kinds: ['Nope'] },
    })
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('app'),
      expect.stringContaining('Pood'),
      expect.stringContaining('Nope'),
    ])
  })

  it('passes over what is declared of kinds that it lacks', async () => {
    const mine = `
      extend type Node @index(name: "arch", path: "status.nodeInfo.architecture")
      extend type Pod { host: Node @reference(path: "spec.nodeName") }
    `
    expect((await build({ include: { kinds: ['Pod'] } }, mine)).problems).toEqual([])
    await expect(
      build({ include: { kinds: ['Pod'] } }, 'extend type Nope @index(name: "a", path: "b")'),
    ).rejects.toMatchObject({ code: 'SCHEMA_SDL' })
  })

  it('has the fields that it includes, and lacks those that it excludes', async () => {
    const text = await printed({
      include: { kinds: ['Pod', 'Node'], fields: ['PodSpec.nodeName', 'PodSpec.containers'] },
      exclude: {
        fields: [
          '*.events',
          'KubernetesObject.owned',
          'Container.livenessProbe',
          'Pod.status',
          'Query.objects',
          'Subscription.objects',
        ],
      },
    })
    expect(text).toContain('type PodSpec {')
    expect(/type PodSpec \{[^}]*\}/.exec(text)?.[0]).not.toContain('volumes')
    for (const gone of [
      'type Volume ',
      'events',
      'owned(',
      'livenessProbe',
      'type PodStatus',
      'objects(id',
    ])
      expect(text).not.toContain(gone)
    expect(text).toContain('type NodeStatus {')
  })

  it('makes JSON of a type that it leaves no field of', async () => {
    const excluded = ['ip', 'hostnames'].map((field) => `HostAlias.${field}`)
    const text = await printed({ include: { kinds: ['Pod'] }, exclude: { fields: excluded } })
    expect(text).toContain('hostAliases: [JSON]')
  })

  it('gives tens of kilobytes to who needs a few kinds', async () => {
    const all = (await printed({})).length
    const few = (
      await printed({
        include: { kinds: ['Pod', 'Deployment', 'Service', 'Node', 'Namespace', 'Event'] },
        exclude: { fields: ['PodSpec.volumes', 'PodSpec.affinity', 'Deployment.spec'] },
        descriptions: false,
      })
    ).length
    console.log(
      `schema as SDL: ${Math.round(all / 1024)} KB whole, ${Math.round(few / 1024)} KB of a profile`,
    )
    expect(few).toBeLessThan(68 * 1024)
  })

  it('leaves the descriptions of other schemas alone', async () => {
    const without = await printed({ include: { kinds: ['Pod'] }, descriptions: false })
    expect(without).not.toContain('The number of objects from the beginning')
    expect(without).not.toContain('The direction of an order')
    expect(without).not.toContain('as a typed API')
    const whole = await printed({ include: { kinds: ['Pod'] } })
    expect(whole).toContain('The number of objects from the beginning')
    expect(whole).toContain('The direction of an order')
    expect(whole).toContain('as a typed API')
    expect(whole).toContain('Conditions on the value of one label')
  })
})

describe('fields that are never null without an error', async () => {
  const { schema } = await build({
    include: { kinds: ['Pod'], groups: ['rbac.authorization.k8s.io'] },
  })
  const isPromised = (name: string, field: string): boolean => {
    const type = schema.getType(name)
    const { extensions } = (isObjectType(type) ? type.getFields()[field] : undefined) ?? {}
    return (extensions?.['semanticNonNull'] as readonly number[] | undefined)?.includes(0) === true
  }

  it('say so, for those who print the schema', () => {
    expect(schema.getDirective('semanticNonNull')).toBeDefined()
    expect(isPromised('Container', 'name')).toBe(true)
    expect(isPromised('Container', 'image')).toBe(false)
  })

  it('are no lists, maps and times of Kubernetes itself, whose Go writes empty ones as null', () => {
    expect(isPromised('PodSpec', 'containers')).toBe(false)
    expect(isPromised('ContainerStatus', 'restartCount')).toBe(true)
  })
})
