import {
  execute,
  type ExecutionResult,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  parse,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { expect } from 'vitest'

/**
 * What graphql-js makes of an answer: the document is executed once more, over the answer itself, whose members are read
 * by response keys. Merged selections, fragments, `@skip` and `@include`, the order of the fields, the types of leaves and
 * the places of nulls are then graphql-js's. What the values should be is the business of {@link PlainValues}.
 */
const typeKey = 'itsType'

interface Answered {
  readonly data?: unknown
  readonly errors?: readonly { readonly message: string; readonly path?: readonly PropertyKey[] }[]
}

/** The document with the type of each object whose type it leaves open. */
export function withTypes(schema: GraphQLSchema, query: string): string {
  const types = new TypeInfo(schema)
  const added = visit(
    parse(query),
    visitWithTypeInfo(types, {
      SelectionSet: (node) => {
        if (!isAbstractType(types.getParentType())) return undefined
        const selection = {
          kind: Kind.FIELD,
          alias: { kind: Kind.NAME, value: typeKey },
          name: { kind: Kind.NAME, value: '__typename' },
        } as const
        return { ...node, selections: [...node.selections, selection] }
      },
    }),
  )
  return print(added)
}

/** Expects an answer to a document of {@link withTypes} to be as graphql-js writes it, and each error to stand at a null. */
export function expectShape(
  schema: GraphQLSchema,
  query: string,
  variables: Readonly<Record<string, unknown>>,
  { data, errors = [] }: Answered,
): void {
  const about = `${query} ${JSON.stringify(variables)}`
  if (data === undefined) {
    expect(errors.length, about).toBeGreaterThan(0)
    return
  }
  for (const { path = [], message } of errors) {
    const at = path.reduce(
      (value: unknown, key) => (value as Record<PropertyKey, unknown> | null)?.[key],
      data,
    )
    expect(at ?? null, `${message}, ${path.join('.')} of ${about}`).toBeNull()
  }
  if (data === null) return
  const made = execute({
    schema,
    document: parse(query),
    rootValue: data,
    variableValues: variables,
    fieldResolver: (source, _args, _context, { path }) => source[path.key],
    typeResolver: (value) => (value as Readonly<Record<string, string>>)[typeKey],
  }) as ExecutionResult
  expect(made.errors, about).toBeUndefined()
  if (JSON.stringify(made.data) !== JSON.stringify(data)) expect(data, about).toEqual(made.data)
  expect(JSON.stringify(made.data) === JSON.stringify(data), `the order in ${about}`).toBe(true)
}
