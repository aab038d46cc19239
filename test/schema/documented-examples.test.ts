import { readdir, readFile } from 'node:fs/promises'
import { type DocumentNode, Kind, parse, validate } from 'graphql'
import { describe, expect, it } from 'vitest'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { createSchema } from '../../src/graphql/schema/create-schema.ts'
import { SdlError } from '../../src/graphql/sdl/sdl-error.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { capturedOpenApi, capturedResources } from './captured-cluster.ts'

interface Example {
  readonly file: string
  readonly line: number
  readonly text: string
  readonly document: DocumentNode
}

const guides = (await readdir('docs')).filter((name) => name.endsWith('.md'))
const files = ['README.md', 'packages/client/README.md', ...guides.map((name) => `docs/${name}`)]
/** A block of its own, or what a program asks for. */
const shown = /```graphql\n(.*?)```|\bquery: `([^`]*)`/gs

const examples: readonly Example[] = (
  await Promise.all(
    files.map(async (file) => {
      const guide = await readFile(file, 'utf8')
      return Array.from(guide.matchAll(shown), ({ 1: block, 2: asked = '', index }) => {
        const text = block ?? asked
        const line = guide.slice(0, index).split('\n').length
        return { file, line, text, document: parse(text) }
      })
    }),
  )
).flat()

const isOperation = ({ document }: Example): boolean =>
  document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION)
const isDeclaration = ({ document }: Example): boolean =>
  document.definitions.some(({ kind }) => kind.endsWith('Extension'))

const isKnown = (error: Error): boolean =>
  error instanceof SdlError && error.problem === 'duplicate-relation'

const cluster = { resources: capturedResources, openapi: capturedOpenApi }
const packageSdl = await readPackageSdl()

describe('what the guides show as GraphQL', () => {
  const schema = createSchema(buildSchemaModel({ ...cluster, sdl: packageSdl }))

  it.each(examples.filter(isOperation))('$file:$line can be asked', ({ document }) => {
    expect(validate(schema, document)).toEqual([])
  })

  it.each(examples.filter(isDeclaration))('$file:$line can be declared', ({ file, text }) => {
    const own = { file, text, optional: true }
    const { problems } = buildSchemaModel({ ...cluster, sdl: [...packageSdl, own] })
    // Guides show lines of the package, too.
    const others = problems.filter((error) => !isKnown(error))
    expect(others).toEqual([])
  })
})
