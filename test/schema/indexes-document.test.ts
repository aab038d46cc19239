import { expect, it } from 'vitest'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import type { Kind } from '../../src/graphql/model/kind.ts'
import { capturedOpenApi, capturedResources } from './captured-cluster.ts'

const everyKind = new Set(['name', 'namespace', 'creationTimestamp', 'health'])

function indexRows({ typeName, indexes }: Kind): string[] {
  return indexes
    .filter(({ name }) => !everyKind.has(name))
    .map(
      ({ name, paths, type, reduce, searchable }) =>
        `| ${typeName} | \`${name}\` | ${paths.map((path) => `\`${path}\``).join(', ')} | ${type}${reduce === undefined ? '' : `, ${reduce}`}${searchable === true ? ', searchable' : ''} |`,
    )
}

it('docs/indexes.md lists every index of the package', async () => {
  const { kinds } = buildSchemaModel({
    resources: capturedResources,
    openapi: capturedOpenApi,
    sdl: await readPackageSdl(),
    secretContents: true,
  })
  const text = [
    '# Indexes',
    '',
    'What `where` can filter by; where a query can go from each kind is in `relations.md`. Written by a test from `schema/*.graphql`:',
    'change those, then run `npm test -- test/schema/indexes-document.test.ts -u`.',
    '',
    'Every kind has `name`, `namespace` (strings), `creationTimestamp` (a time), `health` (docs/health.md) and `labels`. All filters know `eq`, `in`, `exists`',
    'and `not`; all but those of booleans `lt`, `lte`, `gt` and `gte`; those of strings also `startsWith`, `endsWith` and `contains`.',
    '`orderBy` takes the same names. With `sum` the values at the paths are added up, with `first` the first one counts; else each of them is a value.',
    'What is searchable, `search` looks at besides names and labels (`docs/graph-and-search.md`).',
    '',
    'Printer columns and selectable fields of custom resources are indexes by themselves (`docs/changing-types.md`). More of them',
    'are declared in SDL (`relations.md` says where it stands), as in `schema/*.graphql`, or made by functions, which may compute strings of anything in an object:',
    '',
    '```ts',
    'const gateway = await createGateway({',
    '  clusters,',
    "  indexers: { pods: { byTeam: ({ metadata }) => metadata.annotations?.teams?.split(',') ?? [] } },",
    '})',
    '```',
    '',
    'then `pods(where: { byTeam: { eq: "blue" } }, orderBy: [{ byTeam: ASC }]) { facets(by: "byTeam") { values { value count } } }`.',
    '',
    '| kind | `where` field | path | type |',
    '|---|---|---|---|',
    ...kinds.flatMap(indexRows),
    '',
  ].join('\n')
  await expect(text).toMatchFileSnapshot('../../docs/indexes.md')
})
