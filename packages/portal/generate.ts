/**
 * Writes `src/gateway/documents.ts`: the operations of all `src/**\/*.graphql`, typed by the schema of the built-in kinds.
 *
 *     npm run generate --workspace @informerql/portal
 *
 * `build.ts` writes their hashes, so that a gateway with trusted documents runs them.
 */
import { glob, readFile, writeFile } from 'node:fs/promises'
import { preset } from '@graphql-codegen/client-preset'
import { codegen } from '@graphql-codegen/core'
import { buildASTSchema, parse } from 'graphql'
import { builtInSchema } from './built-in-schema.ts'

const folder = import.meta.dirname
const scalars = {
  DateTime: 'string',
  Int64: { input: 'number | string', output: 'number' },
  IntOrString: 'number | string',
  JSON: 'unknown',
  Quantity: 'number | string',
  QuantityMap: 'Record<string, number | string>',
  StringMap: 'Record<string, string>',
}

/** The text of `src/gateway/documents.ts`. */
export async function generatedDocuments(): Promise<string> {
  const names: string[] = []
  for await (const name of glob('src/**/*.graphql', { cwd: folder })) names.push(name)
  const documents = await Promise.all(
    names.toSorted().map(async (location) => {
      const rawSDL = await readFile(`${folder}/${location}`, 'utf8')
      return { location, rawSDL, document: parse(rawSDL) }
    }),
  )
  const schema = parse(await builtInSchema())
  const files = await preset.buildGeneratesSection({
    baseOutputDir: 'generated/',
    schema,
    schemaAst: buildASTSchema(schema),
    documents,
    config: {
      scalars,
      strictScalars: true,
      useTypeImports: true,
      documentMode: 'string',
      enumType: 'string-literal',
    },
    presetConfig: { fragmentMasking: false },
    plugins: [],
    pluginMap: {},
  })
  const file = files.find(({ filename }) => filename.endsWith('/graphql.ts'))
  if (file === undefined) throw new Error('graphql-codegen writes no graphql.ts')
  return `// Written by \`npm run generate\`. Change the .graphql files instead.\n${await codegen(file)}`
}

if (import.meta.main) {
  await writeFile(`${folder}/src/gateway/documents.ts`, await generatedDocuments())
}
