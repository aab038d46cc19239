import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { generatedFiles } from '../../tools/wire-types/generate.ts'

const folder = 'src/kubernetes/wire'
const files = readdirSync(folder)
const textOf = (file: string): string => readFileSync(`${folder}/${file}`, 'utf8')
const typesOf = (text: string): string[] =>
  Array.from(text.matchAll(/^export type (\w+)/gm), ([, name = '']) => name)

describe('the types of objects on the wire', () => {
  it('are what the generator makes of the captured OpenAPI', async () => {
    const generated = await generatedFiles()
    expect(files.map((file) => `${folder}/${file}`).toSorted()).toEqual(
      [...generated.keys()].filter((path) => path.startsWith(folder)).toSorted(),
    )
    for (const [path, text] of generated) {
      expect(readFileSync(path, 'utf8'), `${path}: run npm run generate:wire-types`).toBe(text)
    }
  })

  it('have each a name of its own, and are all in the entrance', () => {
    const entrance = readFileSync('src/kubernetes.ts', 'utf8')
    for (const file of files)
      expect(entrance).toContain(`export type * from './kubernetes/wire/${file}'`)
    const names = files.flatMap((file) => typesOf(textOf(file)))
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })

  it('have the names of the GraphQL schema, but for those that it does not have', () => {
    const schema = new Set(
      readFileSync('test/schema/__snapshots__/types.txt', 'utf8').trim().split('\n'),
    )
    const others = files
      .flatMap((file) => typesOf(textOf(file)))
      .filter((name) => !schema.has(name))
    // Kinds that another version stands for, and parts that are JSON in the schema.
    expect(others.toSorted()).toEqual([
      'CrossVersionObjectReferenceV1',
      'CustomResourceSubresourceStatus',
      'EventsEvent',
      'EventsEventSeries',
      'ExternalDocumentation',
      'HorizontalPodAutoscalerSpecV1',
      'HorizontalPodAutoscalerStatusV1',
      'HorizontalPodAutoscalerV1',
      'JSONSchemaProps',
      'ManagedFieldsEntry',
      'ValidationRule',
    ])
  })
})
