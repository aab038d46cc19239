import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal'
import { addTypenameSelectionDocumentTransform, preset } from '@graphql-codegen/client-preset'
import { codegen } from '@graphql-codegen/core'
import { buildASTSchema, introspectionFromSchema, parse } from 'graphql'
import type { Project } from './project.ts'

/** As docs/clients.md has them. */
const scalars = {
  DateTime: 'string',
  Int64: { input: 'number | string', output: 'number' },
  IntOrString: 'number | string',
  JSON: 'unknown',
  Quantity: 'number | string',
  QuantityMap: 'Record<string, number | string>',
  StringMap: 'Record<string, string>',
}

export interface Generated {
  /** A folder of the project. */
  readonly folder: string
  readonly sdl: string
  readonly operations: readonly string[]
  /** Further options of the preset's plugins. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Whether to write `persisted-documents.json`, and `__typename` into the documents. */
  readonly persistedDocuments?: boolean
}

/** Writes what graphql-codegen makes of operations; answers with its size in characters. */
export async function generate(
  project: Project,
  { folder, sdl, operations, config = {}, persistedDocuments = false }: Generated,
): Promise<number> {
  await mkdir(join(project.dir, folder), { recursive: true })
  const schema = parse(sdl)
  const given = operations.map((rawSDL, at) => ({
    rawSDL,
    document: parse(rawSDL),
    location: `${at}.ts`,
  }))
  const { transform } = addTypenameSelectionDocumentTransform
  const files = await preset.buildGeneratesSection({
    baseOutputDir: `${folder}/`,
    schema,
    schemaAst: buildASTSchema(schema),
    documents: persistedDocuments
      ? await transform({ documents: given, schema, config: {} })
      : given,
    config: { scalars, strictScalars: true, useTypeImports: true, ...config },
    presetConfig: { fragmentMasking: false, persistedDocuments },
    plugins: [],
    pluginMap: {},
  })
  const texts = await Promise.all(
    files.map(async (file) => {
      const text = await codegen(file)
      await project.write(file.filename, text)
      return text
    }),
  )
  return texts.join('').length
}

/** The start of a module that writes operations as `graphql(…)` of gql.tada. */
export const tadaStart = `
  import { initGraphQLTada, type ResultOf, type VariablesOf } from 'gql.tada'
  import type { introspection } from './graphql-env.d.ts'
  const graphql = initGraphQLTada<{
    introspection: introspection
    scalars: {
      DateTime: string
      Int64: number
      IntOrString: number | string
      JSON: unknown
      Quantity: number | string
      QuantityMap: Record<string, number | string>
      StringMap: Record<string, string>
    }
  }>()
`

/** Writes `graphql-env.d.ts`, as the command of gql.tada does; answers with its size in characters. */
export async function generateTada(project: Project, sdl: string): Promise<number> {
  const introspection = introspectionFromSchema(buildASTSchema(parse(sdl)), { descriptions: false })
  const text = outputIntrospectionFile(minifyIntrospection(introspection), {
    fileType: '.d.ts',
    shouldPreprocess: true,
  })
  await project.write('graphql-env.d.ts', text)
  return text.length
}
