import { validate } from 'graphql'
import { describe, expect, it } from 'vitest'
import { type Example, examples, isOperation } from './documented-examples.ts'
import { builtIns, schemaOf } from './served-schema.ts'

const isDeclaration = ({ document }: Example): boolean =>
  document.definitions.some(({ kind }) => kind.endsWith('Extension'))

describe('what the guides show as GraphQL', async () => {
  const { schema } = await schemaOf(builtIns, { allowWrites: true })

  it.each(examples.filter(isOperation))('$file:$line can be asked', ({ document }) => {
    expect(validate(schema, document)).toEqual([])
  })

  it.each(examples.filter(isDeclaration))('$file:$line can be declared', async ({ text }) => {
    const problem: unknown = await schemaOf(builtIns, { sdl: text }).then(
      ({ problems }) => problems[0],
      (error: unknown) => error,
    )
    // Guides show lines of the package, too.
    const expected = { problem: 'duplicate-relation' }
    expect(problem ?? expected).toMatchObject(expected)
  })
})
