// Imports internals: the paths that the guide lists are in the model alone.
import { expect, it } from 'vitest'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import type { Kind } from '../../src/graphql/model/kind.ts'
import { capturedOpenApi, capturedResources } from './captured-cluster.ts'

const everyKind = new Set(['name', 'namespace', 'creationTimestamp', 'health', 'changed'])

function indexRows({ typeName, indexes }: Kind): string[] {
  return indexes
    .filter(({ name }) => !everyKind.has(name))
    .map(
      ({ name, paths, type, values, reduce, searchable, description = '' }) =>
        `| ${typeName} | \`${name}\` | ${paths.map((path) => `\`${path}\``).join(', ')} | ${type}${reduce === undefined ? '' : `, ${reduce}`}${searchable === true ? ', searchable' : ''}${values === undefined ? '' : `: ${values.join(', ')}`} | ${description} |`,
    )
}

const { kinds } = buildSchemaModel({
  resources: capturedResources,
  openapi: capturedOpenApi,
  sdl: await readPackageSdl(),
  secretContents: true,
})

it('every index of the package says what it is, unless it is the one value at its path', () => {
  const silent = kinds.flatMap(({ typeName, indexes }) =>
    indexes
      .filter(({ paths, reduce }) => reduce !== undefined || paths.length !== 1)
      .filter(({ description }) => description === undefined)
      .map(({ name }) => `${typeName}.${name}`),
  )
  expect(silent).toEqual([])
})

it('docs/indexes.md lists every index of the package', async () => {
  const text = [
    '# Indexes',
    '',
    'The indexes that `where` can filter by. `relations.md` lists the relations of each kind. Written by a test from `schema/*.graphql`:',
    'change those, then run `npm test -- test/schema/indexes-document.test.ts -u`.',
    '',
    'Every kind has `name`, `namespace` (strings), `creationTimestamp` (a time), `health` (docs/health.md), `changed` (the latest time that the object tells of itself) and `labels`. All filters have `eq`, `in`, `exists`',
    'and `not`; all except booleans and `health` have `lt`, `lte`, `gt` and `gte`; strings also have `startsWith`, `endsWith` and `contains`.',
    'If the API has a closed set of values, the table lists them: `eq` and `in` refuse any other value.',
    '`orderBy` takes the same names. `sum` adds up the values at the paths, `first` takes the first one, `podTotal` is what the scheduler counts of a pod ([capacity.md](capacity.md));',
    'otherwise each is a value of its own. Indexes of numbers and quantities with one value for each object can be added up: `facets(sum:)` and `sum(of:)`.',
    '`search` looks at searchable indexes besides names and labels (`docs/graph-and-search.md`).',
    '',
    'Printer columns and selectable fields of custom resources become indexes (`docs/changing-types.md`). You can declare more',
    'in SDL, as in `schema/*.graphql` (`relations.md` says where to put it), with a `description` for `where`, `orderBy` and the catalogue:',
    '',
    '```graphql',
    'extend type Pod @index(name: "team", path: "metadata.labels[\\"team\\"]", description: "The team that is on call.")',
    '```',
    '',
    'Functions may compute strings from anything in an object:',
    '',
    '```ts',
    'const gateway = await createGateway({',
    '  clusters,',
    "  indexers: { pods: { byTeam: ({ metadata }) => metadata.annotations?.teams?.split(',') ?? [] } },",
    '})',
    '```',
    '',
    'Then ask `pods(where: { byTeam: { eq: "blue" } }, orderBy: [{ byTeam: ASC }]) { facets(by: "byTeam") { values { value count } } }`.',
    '',
    '| kind | `where` field | path | type | meaning, where the name does not say it |',
    '|---|---|---|---|---|',
    ...kinds.flatMap(indexRows),
    '',
  ].join('\n')
  await expect(text).toMatchFileSnapshot('../../docs/indexes.md')
})
