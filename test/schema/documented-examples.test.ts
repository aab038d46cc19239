import { validate } from 'graphql'
import { describe, expect, it } from 'vitest'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { createSchema } from '../../src/graphql/schema/create-schema.ts'
import { SdlError } from '../../src/graphql/sdl/sdl-error.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { capturedOpenApi, capturedResources } from './captured-cluster.ts'
import { type Example, examples, isOperation } from './documented-examples.ts'

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
