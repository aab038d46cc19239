// Imports internals: a gateway stops at the first declaration that is wrong.
import { describe, expect, it } from 'vitest'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { capturedOpenApi, capturedResources } from '../schema/captured-cluster.ts'

const packageSdl = await readPackageSdl()

const problemsOf = (text: string) =>
  buildSchemaModel({
    resources: capturedResources,
    openapi: capturedOpenApi,
    sdl: [...packageSdl, { file: 'mine.graphql', text, optional: false }],
  }).problems

describe('paths of what an object chooses, and of the kind that another one says', () => {
  it.each([
    ['bad-path', 'spec..x', 'node.spec', '@chooses(path: "spec..x")', 'spec.containers'],
    ['bad-path', 'spec', 'node.spec[', '@chooses(kindAt: "node.spec[")', 'spec.containers'],
    ['bad-path', 'spec.volumes[*]', 'node.spec', '@chooses(path: "spec.volumes[*]")', '[*]'],
    ['unknown-field', 'spec.ref', 'node.spec', '@chooses: a Pod has nothing at spec.ref', 'schema'],
    ['unknown-field', 'spec', 'node.specc', '@chooses: a Node has nothing at specc', 'schema'],
  ])('are told once as %s: %s, %s', (problem, path, kindAt, message, wayOut) => {
    const found = problemsOf(`
      extend type Pod { a: KubernetesObjectConnection @chooses(path: "${path}", kindAt: "${kindAt}") }
      extend type Node { b: KubernetesObjectConnection @chosenBy(of: "Pod.a") }
    `)
    expect(found).toMatchObject([{ code: 'SCHEMA_SDL', problem, line: 2 }])
    expect(found[0]?.message).toContain(`Pod.a: ${message}`)
    expect(found[0]?.hint).toContain(wayOut)
  })

  it.each([
    ['bad-path', 'node.spec..a', '@objectRef(kindAt: "node.spec..a")'],
    ['unknown-field', 'node.specc', 'a Node has nothing at specc'],
  ])('are told of references as %s: %s', (problem, kindAt, message) => {
    const found = problemsOf(
      `extend type Pod { a: ObjectRef @objectRef(path: "spec", kindAt: "${kindAt}") }`,
    )
    expect(found).toMatchObject([{ code: 'SCHEMA_SDL', problem, line: 1 }])
    expect(found[0]?.message).toContain(`Pod.a: ${message}`)
  })
})

describe('the type of an index', () => {
  it.each([
    ['spec.hostNetwork', 'INT', 'STRING or BOOLEAN'],
    ['spec.hostname', 'BOOLEAN', 'STRING or INT or DATE_TIME or QUANTITY'],
    ['spec.priority', 'DATE_TIME', 'STRING or INT or QUANTITY'],
    ['metadata.creationTimestamp', 'INT', 'STRING or DATE_TIME'],
  ])('is refused where what stands at %s is never %s', (path, type, fitting) => {
    const found = problemsOf(`extend type Pod @index(name: "a", path: "${path}", type: ${type})`)
    expect(found).toMatchObject([{ problem: 'field-type', hint: `write type: ${fitting}` }])
    expect(found[0]?.message).toContain(`index a of Pod: the value at ${path} is never`)
  })

  it.each(['INT', 'QUANTITY', 'DATE_TIME'])('may be %s of what is written as text', (type) => {
    const path = 'metadata.labels.rank'
    expect(problemsOf(`extend type Pod @index(name: "a", path: "${path}", type: ${type})`)).toEqual(
      [],
    )
  })
})
