// Imports internals: what plans know of a field is told to nobody outside.
import { isInterfaceType, isObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { createSchema } from '../../src/graphql/schema/create-schema.ts'
import { type FieldSource, fieldSourceOf } from '../../src/graphql/schema/field-source.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { capturedOpenApi, capturedResources } from '../schema/captured-cluster.ts'

const model = buildSchemaModel({
  resources: capturedResources,
  openapi: capturedOpenApi,
  sdl: await readPackageSdl(),
})
const schema = createSchema(model)

const sourceOf = (type: string, field: string): FieldSource => {
  const found = schema.getType(type)
  const config =
    isObjectType(found) || isInterfaceType(found) ? found.getFields()[field] : undefined
  if (config === undefined) throw new Error(`there is no ${type}.${field}`)
  return fieldSourceOf(config)
}

describe('the source of a field', () => {
  it('is there for every field of the schema', () => {
    for (const [name, type] of Object.entries(schema.getTypeMap())) {
      if (name.startsWith('__') || !(isObjectType(type) || isInterfaceType(type))) continue
      for (const field of Object.values(type.getFields()))
        expect(() => fieldSourceOf(field), `${name}.${field.name}`).not.toThrow()
    }
  })

  it('says which property has the value, and what it looks like', () => {
    expect(sourceOf('Pod', 'spec')).toEqual({
      form: 'property',
      property: 'spec',
      shape: { form: 'object' },
    })
    expect(sourceOf('PodSpec', 'containers')).toEqual({
      form: 'property',
      property: 'containers',
      shape: { form: 'list', items: { form: 'object' } },
    })
    expect(sourceOf('CertificateSigningRequestSpec', 'extra')).toMatchObject({
      shape: {
        form: 'entries',
        value: { form: 'list', items: { form: 'scalar', scalar: 'string' } },
      },
    })
    expect(sourceOf('ObjectMeta', 'label')).toEqual({
      form: 'mapValue',
      property: 'labels',
      argument: 'key',
    })
  })

  it('says what the gateway itself adds', () => {
    expect(sourceOf('Deployment', 'apiVersion')).toEqual({ form: 'constant', value: 'apps/v1' })
    expect(sourceOf('Pod', 'node')).toMatchObject({
      form: 'relation',
      relation: { definition: { name: 'node', to: 'Node' } },
    })
    expect(sourceOf('Pod', 'events')).toMatchObject({ relation: { definition: { from: 'Pod' } } })
    expect(sourceOf('KubernetesObject', 'kind')).toEqual({ form: 'ofRowType' })
    expect(sourceOf('Query', 'pods')).toMatchObject({ form: 'list', kind: { typeName: 'Pod' } })
    expect(sourceOf('PodConnection', 'nodes')).toEqual({ form: 'connection', part: 'nodes' })
    expect(sourceOf('PodChange', 'objectId')).toEqual({ form: 'value' })
  })
})
