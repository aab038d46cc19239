import { buildSchema, validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { buildSchemaModel, type SchemaModel } from '../../src/graphql/model/schema-model.ts'
import type { SchemaProfile } from '../../src/graphql/model/schema-profile.ts'
import { createSchema } from '../../src/graphql/schema/create-schema.ts'
import { printSchemaSdl } from '../../src/graphql/schema/print-schema.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { capturedOpenApi, capturedResources, resourceOf } from './captured-cluster.ts'

const sdl = await readPackageSdl()

const build = (profile: SchemaProfile, mine = ''): SchemaModel =>
  buildSchemaModel({
    resources: [
      ...capturedResources,
      resourceOf('a.example.com', 'Widget'),
      resourceOf('b.example.com', 'Widget'),
    ],
    openapi: capturedOpenApi,
    sdl: [...sdl, { file: 'mine.graphql', text: mine }],
    profile,
  })
const kinds = (profile: SchemaProfile): readonly string[] =>
  build(profile).kinds.map(({ typeName }) => typeName)
const printed = (profile: SchemaProfile): string => {
  const schema = createSchema(build(profile))
  expect(validateSchema(schema)).toEqual([])
  const text = printSchemaSdl(schema)
  expect(printSchemaSdl(buildSchema(text)).length).toBeGreaterThan(0)
  return text
}

describe('a profile of the schema', () => {
  it('has the kinds and groups that it includes', () => {
    expect(kinds({ include: { kinds: ['Pod', 'Node'] } })).toEqual(['Node', 'Pod'])
    expect(kinds({ include: { groups: ['batch'], kinds: ['Pod'] } })).toEqual([
      'CronJob',
      'Job',
      'Pod',
    ])
    expect(kinds({ include: { groups: ['*.example.com'] } })).toEqual([
      'AExampleComWidget',
      'BExampleComWidget',
    ])
  })

  it('lacks those that it excludes', () => {
    const all = kinds({})
    expect(kinds({ exclude: { kinds: ['Pod'] } })).toEqual(all.filter((name) => name !== 'Pod'))
    expect(kinds({ include: { groups: ['batch'] }, exclude: { kinds: ['CronJob'] } })).toEqual([
      'Job',
    ])
    expect(kinds({ include: { kinds: ['Job'] }, exclude: { groups: ['batch'] } })).toEqual(['Job'])
    expect(kinds({ exclude: { groups: ['*.example.com'] } })).toHaveLength(all.length - 2)
  })

  it('says what it names that is not there', () => {
    const { problems } = build({
      include: { groups: ['apps', 'app', '*.example.com'], kinds: ['Pod', 'Pood'] },
      exclude: { kinds: ['Nope'] },
    })
    expect(problems.map(({ code, value }) => [code, value])).toEqual([
      ['SCHEMA_PROFILE', 'app'],
      ['SCHEMA_PROFILE', 'Pood'],
      ['SCHEMA_PROFILE', 'Nope'],
    ])
  })

  it('passes over what is declared of kinds that it lacks', () => {
    const mine = `
      extend type Node @index(name: "arch", path: "status.nodeInfo.architecture")
      extend type Pod { host: Node @reference(path: "spec.nodeName") }
    `
    expect(build({ include: { kinds: ['Pod'] } }, mine).problems).toEqual([])
    expect(
      build({ include: { kinds: ['Pod'] } }, 'extend type Nope @index(name: "a", path: "b")')
        .problems,
    ).toHaveLength(1)
  })

  it('has the fields that it includes, and lacks those that it excludes', () => {
    const text = printed({
      include: { kinds: ['Pod', 'Node'], fields: ['PodSpec.nodeName', 'PodSpec.containers'] },
      exclude: {
        fields: [
          '*.events',
          'KubernetesObject.owned',
          'Container.livenessProbe',
          'Pod.status',
          'Query.objects',
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
      'objects(',
    ])
      expect(text).not.toContain(gone)
    expect(text).toContain('type NodeStatus {')
  })

  it('makes JSON of a type that it leaves no field of', () => {
    const excluded = ['ip', 'hostnames'].map((field) => `HostAlias.${field}`)
    const text = printed({ include: { kinds: ['Pod'] }, exclude: { fields: excluded } })
    expect(text).toContain('hostAliases: [JSON]')
  })

  it('gives tens of kilobytes to who needs a few kinds', () => {
    const all = printed({}).length
    const few = printed({
      include: { kinds: ['Pod', 'Deployment', 'Service', 'Node', 'Namespace', 'Event'] },
      exclude: { fields: ['PodSpec.volumes', 'PodSpec.affinity', 'Deployment.spec'] },
      descriptions: false,
    }).length
    console.log(
      `schema as SDL: ${Math.round(all / 1024)} KB whole, ${Math.round(few / 1024)} KB of a profile`,
    )
    expect(few).toBeLessThan(64 * 1024)
  })

  it('leaves the descriptions of other schemas alone', () => {
    const without = printed({ include: { kinds: ['Pod'] }, descriptions: false })
    expect(without).not.toContain('The number of objects from the beginning')
    expect(without).not.toContain('The direction of an order')
    const whole = printed({ include: { kinds: ['Pod'] } })
    expect(whole).toContain('The number of objects from the beginning')
    expect(whole).toContain('The direction of an order')
    expect(whole).toContain('Conditions on the value of one label')
  })
})

describe('fields that are never null without an error', () => {
  const text = printed({ include: { kinds: ['Pod'], groups: ['rbac.authorization.k8s.io'] } })
  const typeOf = (name: string): string =>
    new RegExp(`^type ${name} \\{[^}]*\\}`, 'm').exec(text)?.[0] ?? ''

  it('carry @semanticNonNull in the printed schema', () => {
    expect(text).toContain('directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION')
    expect(typeOf('Container')).toMatch(/\n {2}name: String @semanticNonNull/)
    expect(typeOf('Container')).not.toMatch(/\n {2}image: String @semanticNonNull/)
  })

  it('are no lists, maps and times of Kubernetes itself, whose Go writes empty ones as null', () => {
    expect(typeOf('PodSpec')).toMatch(/\n {2}containers: \[Container\]\n/)
    expect(typeOf('ContainerStatus')).toMatch(/\n {2}restartCount: Int @semanticNonNull/)
  })
})
