// Imports internals: how many relations a schema has is in the model alone.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { capturedOpenApi, capturedResources } from '../schema/captured-cluster.ts'
import { define, object, RelationCluster } from '../relations/relation-cluster.ts'

const text = { type: 'string' }
const anyRef = { type: 'object', properties: { apiGroup: text, kind: text, name: text } }
const members = ['firstRef', 'secondRef', 'thirdRef', 'fourthRef', 'fifthRef']
const spec = {
  type: 'object',
  properties: Object.fromEntries(members.map((name) => [name, anyRef])),
}

describe('a kind with several inferred references to any kind', () => {
  let cluster: RelationCluster
  beforeAll(async () => {
    cluster = await RelationCluster.start({ inferReferences: true }, async (simulator) =>
      define(simulator, ['Pointer.any.example/v1'], {}, { Pointer: spec }),
    )
    const to = (kind: string, name: string): object => ({ kind, name })
    cluster.create('here', [
      object('v1', 'ConfigMap', 'shared'),
      object('v1', 'ConfigMap', 'other'),
      object('v1', 'Secret', 'shared'),
      object('any.example/v1', 'Pointer', 'one', {
        spec: {
          firstRef: to('ConfigMap', 'shared'),
          fourthRef: to('ConfigMap', 'shared'),
          fifthRef: to('Secret', 'shared'),
        },
      }),
    ])
  })
  afterAll(async () => cluster?.[Symbol.asyncDispose]())

  it('is one user of an object that it names twice, with both places', async () => {
    const fields = `usedBy { nodes { object { name } paths } }
      referencedBy(types: ["AnyExamplePointer"]) { totalCount nodes { name } }`
    const { data, errors } = await cluster.ask(`{
      shared: configMap(namespace: "here", name: "shared") { ${fields} }
      other: configMap(namespace: "here", name: "other") { ${fields} }
      secret(namespace: "here", name: "shared") { ${fields} }
      pointer: anyExamplePointer(namespace: "here", name: "one") { fourthRef { kind name object { name } } }
    }`)
    expect(errors).toBeUndefined()
    const by = (...paths: string[]): object => ({
      usedBy: { nodes: [{ object: { name: 'one' }, paths }] },
      referencedBy: { totalCount: 1, nodes: [{ name: 'one' }] },
    })
    expect(data).toEqual({
      shared: by('spec.firstRef.name', 'spec.fourthRef.name'),
      other: { usedBy: { nodes: [] }, referencedBy: { totalCount: 0, nodes: [] } },
      secret: by('spec.fifthRef.name'),
      pointer: { fourthRef: { kind: 'ConfigMap', name: 'shared', object: { name: 'shared' } } },
    })
  })

  it('adds one relation to each kind, however many references it has', async () => {
    const sdl = await readPackageSdl()
    const relationsOf = (fields: readonly string[]): number => {
      const file = 'own.graphql'
      const declared = `extend type Pod { ${fields.map((name) => `${name}: ObjectRef @objectRef(path: "metadata.ownerReferences[${name}]")`).join(' ')} }`
      const sources = fields.length === 0 ? sdl : [...sdl, { file, text: declared, optional: true }]
      const model = buildSchemaModel({
        resources: capturedResources,
        openapi: capturedOpenApi,
        sdl: sources,
      })
      return model.relations.length
    }
    const none = relationsOf([])
    const one = relationsOf(['first'])
    expect(one).toBeGreaterThan(none)
    expect(relationsOf(['first', 'second', 'third'])).toBe(one)
  })
})
