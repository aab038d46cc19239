/**
 * Writes `src/gateway/documents.ts`: the operations of all `src/**\/*.graphql`, typed by the schema of the built-in kinds. The
 * file is not in the repository. The builds of the page and of the library write it first, and so does `npm run typecheck`.
 *
 *     npm run generate --workspace @informerql/portal
 *
 * `build.ts` writes their hashes, so that a gateway with trusted documents runs them.
 */
import { glob, readFile, writeFile } from 'node:fs/promises'
import { preset } from '@graphql-codegen/client-preset'
import { codegen } from '@graphql-codegen/core'
import {
  buildASTSchema,
  type DocumentNode,
  getNamedType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql'
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

const target = `${folder}/src/gateway/documents.ts`

/** Writes the file unless it says the same already, so that its time tells when the operations changed. */
export async function writeDocuments(): Promise<void> {
  const text = await generatedDocuments()
  const written = await readFile(target, 'utf8').catch(() => undefined)
  if (text !== written) await writeFile(target, text)
}

/** The text of the file. Rejects if an operation does not fit the schema. */
export async function generatedDocuments(): Promise<string> {
  const names: string[] = []
  for await (const name of glob('src/**/*.graphql', { cwd: folder })) names.push(name)
  const documents = await Promise.all(
    names.toSorted().map(async (location) => {
      const rawSDL = await readFile(`${folder}/${location}`, 'utf8')
      return { location, rawSDL, document: parse(rawSDL) }
    }),
  )
  const sdl = parse(await builtInSchema())
  const served = buildASTSchema(sdl)
  for (const { location, document } of documents) {
    // A fragment may be for the operations of another file.
    const errors = validate(served, withFragmentsOf(document, documents))
    if (errors.length > 0) throw new Error(`${location}: ${errors.join('\n')}`)
  }
  const schema = withFewKinds(sdl, kindsNamed(documents, served))
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
      skipDocumentsValidation: true,
    },
    presetConfig: { fragmentMasking: false },
    plugins: [],
    pluginMap: {},
  })
  const file = files.find(({ filename }) => filename.endsWith('/graphql.ts'))
  if (file === undefined) throw new Error('graphql-codegen writes no graphql.ts')
  const [types = '', ...rest] = (await codegen(file)).split(/(?=^export class )/m)
  const text = [withoutTwins(types), ...rest].join('')
  return `// Written by \`npm run generate\`. Change the .graphql files instead.\n${text}`
}

interface Operations {
  readonly document: DocumentNode
}

/** A document with those fragments of all documents that it spreads. */
function withFragmentsOf(document: DocumentNode, all: readonly Operations[]): DocumentNode {
  const fragments = all
    .flatMap((other) => other.document.definitions)
    .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
  const definitions = new Set(document.definitions)
  for (const definition of definitions) {
    visit(definition, {
      FragmentSpread: ({ name }) => {
        const fragment = fragments.find((one) => one.name.value === name.value)
        if (fragment !== undefined) definitions.add(fragment)
      },
    })
  }
  return { ...document, definitions: [...definitions] }
}

/** The object types that operations select by name. */
function kindsNamed(documents: readonly Operations[], schema: GraphQLSchema): ReadonlySet<string> {
  const named = new Set<string>()
  for (const { document } of documents) {
    const types = new TypeInfo(schema)
    visit(
      document,
      visitWithTypeInfo(types, {
        SelectionSet: () => {
          const parent = getNamedType(types.getParentType())
          if (isObjectType(parent)) named.add(parent.name)
        },
      }),
    )
  }
  return named
}

/**
 * The schema with only these kinds, and for each interface a stand-in for all others: otherwise the type of what a field of `KubernetesObject`
 * answers would repeat the same fields for each kind.
 */
function withFewKinds(sdl: DocumentNode, kinds: ReadonlySet<string>): DocumentNode {
  const standIns = sdl.definitions.flatMap((type) =>
    type.kind === Kind.INTERFACE_TYPE_DEFINITION
      ? [
          {
            ...type,
            kind: Kind.OBJECT_TYPE_DEFINITION,
            name: { kind: Kind.NAME, value: `Other${type.name.value}` },
            interfaces: [
              ...(type.interfaces ?? []),
              { kind: Kind.NAMED_TYPE, name: type.name } as const,
            ],
          } as const,
        ]
      : [],
  )
  const definitions = sdl.definitions.map((type) =>
    type.kind === Kind.OBJECT_TYPE_DEFINITION && !kinds.has(type.name.value)
      ? { ...type, interfaces: [] }
      : type,
  )
  return { ...sdl, definitions: [...definitions, ...standIns] }
}

/** Types whose unions have each member once: codegen repeats what is the same for several kinds. */
function withoutTwins(types: string): string {
  const members: string[] = []
  const places = new Map<string, string>()
  const place = (member: string): string => {
    const key = member.replaceAll(/\s+/g, ' ')
    const known = places.get(key) ?? `\u{E000}${members.push(member) - 1}\u{E001}`
    places.set(key, known)
    return known
  }
  // From the innermost members outwards, so that equal ones have equal places.
  let text = types
  for (let before = ''; before !== text;) {
    before = text
    text = text
      .replaceAll(/\{[^{}]*\}/g, place)
      .replaceAll(/(?:\|\s*\u{E000}\d+\u{E001}\s*){2,}/gu, (union) =>
        [...new Set(union.match(/\u{E000}\d+\u{E001}/gu))].map((one) => `| ${one} `).join(''),
      )
  }
  while (text.includes('\u{E000}')) {
    text = text.replaceAll(
      /\u{E000}(\d+)\u{E001}/gu,
      (_place, index: string) => members[Number(index)] ?? '',
    )
  }
  return text
}

if (import.meta.main) await writeDocuments()
