import { expect, it } from 'vitest'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import type { Kind } from '../../src/graphql/model/kind.ts'
import { capturedOpenApi, capturedResources } from './captured-cluster.ts'

const everyKind = new Set(['name', 'namespace', 'creationTimestamp'])

function indexRows({ typeName, indexes }: Kind): string[] {
  return indexes
    .filter(({ name }) => !everyKind.has(name))
    .map(
      ({ name, path, type, ordered }) =>
        `| ${typeName} | \`${name}\` | \`${path}\` | ${type}${ordered ? ', ordered' : ''} |`,
    )
}

function relationRows({ typeName, relations }: Kind): string[] {
  return relations.map(
    ({ definition, many }) =>
      `| ${typeName} | \`${definition.name}\` | ${definition.to}${many ? ', many' : ''} | ${definition.form} |`,
  )
}

it('docs/indexes.md lists every index and relation of the package', async () => {
  const { kinds } = buildSchemaModel({
    resources: capturedResources,
    openapi: capturedOpenApi,
    sdl: await readPackageSdl(),
  })
  const text = [
    '# Indexes and relations',
    '',
    'What `where` can filter by, and where a query can go from each kind. Written by a test from `schema/*.graphql`:',
    'change those, then run `npm test -- -u test/schema/indexes-document.test.ts`.',
    '',
    '## Indexes',
    '',
    'Every kind has `name`, `namespace` (ordered strings) and `creationTimestamp` (ordered times). Ordered indexes know `lt`, `lte`,',
    '`gt` and `gte` besides `eq`, `in`, `exists` and `not`; ordered strings also `startsWith`.',
    '',
    '| kind | `where` field | path | type |',
    '|---|---|---|---|',
    ...kinds.flatMap(indexRows),
    '',
    '## Relations',
    '',
    'Every kind has `owners`, `owned` and `events`.',
    '',
    '| kind | field | leads to | how |',
    '|---|---|---|---|',
    ...kinds.flatMap(relationRows),
    '',
  ].join('\n')
  await expect(text).toMatchFileSnapshot('../../docs/indexes.md')
})
