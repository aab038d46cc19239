// Imports internals: the paths that the guide lists are in the model alone.
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import type { Kind } from '../../src/graphql/model/kind.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import type { RelationDefinition } from '../../src/query/relation/relations.ts'
import { capturedOpenApi, capturedResources } from '../schema/captured-cluster.ts'
import { wellKnownResources } from './well-known-resources.ts'

const heading = '## All relations'

function how(definition: RelationDefinition): string {
  const code = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(', ')
  switch (definition.form) {
    case 'reference': {
      const { paths, names } = definition
      return `named at ${code([...paths, ...(names?.templates ?? [])])}`
    }
    case 'numbered':
      return `named ${code(definition.names.templates)}`
    case 'uid':
      return `UID at ${code(definition.paths)}`
    case 'reverse':
      return `reverse of ${definition.of}`
    case 'selects':
      return `selector at ${code([definition.path])}`
    case 'same':
      return `says ${code(definition.texts)}, as ${code(definition.as)}`
    case 'owned':
    case 'owner':
      return [definition.form, ...(definition.through ?? []).map((type) => `by ${type}`)].join(' ')
    case 'through':
      return definition.steps.join(', then ')
    case 'events':
      return 'events'
    case 'chooser':
      return `chosen by ${definition.field}`
  }
}

function rowsOf(kind: Kind, isOfEveryKind: (name: string) => boolean): readonly string[] {
  const { typeName } = kind
  return [
    ...kind.relations.flatMap(({ definition, many }) =>
      isOfEveryKind(definition.name) || definition.name === 'namespaceObject'
        ? []
        : [
            `| ${typeName} | \`${definition.name}\` | ${definition.to}${many ? ', many' : ''} | ${how(definition)} |`,
          ],
    ),
    ...kind.objectRefs.map(
      ({ name, many, paths }) =>
        `| ${typeName} | \`${name}\` | any kind${many ? ', many' : ''} | reference at ${paths.map((path) => `\`${path}\``).join(', ')} |`,
    ),
    ...kind.polymorphic
      .filter(({ name }) => !isOfEveryKind(name))
      .map(
        ({ name, sameLabel, chosen }) =>
          `| ${typeName} | \`${name}\` | several kinds, many | ${chosen === undefined ? '' : `chosen at \`${chosen.path.text}\``}${sameLabel === undefined ? (chosen === undefined ? 'reverse' : '') : `the same label \`${sameLabel}\``} |`,
      ),
  ]
}

it('docs/relations.md lists every relation of the package', async () => {
  const { kinds, problems } = buildSchemaModel({
    resources: [...capturedResources, ...wellKnownResources],
    openapi: capturedOpenApi,
    sdl: await readPackageSdl(),
    secretContents: true,
  })
  expect(problems).toEqual([])
  const counts = new Map<string, number>()
  for (const { relations, polymorphic } of kinds) {
    const names = [
      ...relations.map(({ definition }) => definition.name),
      ...polymorphic.map((one) => one.name),
    ]
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const isOfEveryKind = (name: string): boolean => (counts.get(name) ?? 0) > kinds.length * 0.9
  const general = [...counts.keys()].filter(isOfEveryKind).toSorted()
  const ofNamespace = kinds.find(({ typeName }) => typeName === 'Namespace')
  expect(ofNamespace?.relations.length).toBeGreaterThan(20)
  const file = new URL('../../docs/relations.md', import.meta.url)
  const [prose = ''] = (await readFile(file, 'utf8')).split(heading)
  const text = [
    `${prose.trimEnd()}\n`,
    heading,
    '',
    'Written by a test from `schema/*.graphql`: change those, then run `npx vitest run test/relations/relations-document.test.ts -u`.',
    '',
    'Every kind has `owners`, `ownerChain`, `owned` and `events`, every namespaced kind `namespaceObject`, and a Namespace the list of',
    'each namespaced kind (`pods`, `resourceQuotas`). Kinds of a CRD have `definition`, and their CRD `instances`.',
    `Every kind has, where those that they lead to are served: ${general.map((name) => `\`${name}\``).join(', ')}.`,
    '',
    '| kind | field | leads to | how |',
    '|---|---|---|---|',
    ...kinds.filter((kind) => kind !== ofNamespace).flatMap((kind) => rowsOf(kind, isOfEveryKind)),
    '',
  ].join('\n')
  await expect(text).toMatchFileSnapshot('../../docs/relations.md')
})
