// Imports internals: which relation leads to many is in the model alone.
import { describe, expect, it } from 'vitest'
import { lowerCamelCase } from '../../src/lib/letter-case.ts'
import { pluralOf } from '../../src/kubernetes/plural-name.ts'
import type { Kind } from '../../src/graphql/model/kind.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { wellKnownResources } from '../relations/well-known-resources.ts'
import { capturedOpenApi, capturedResources } from '../schema/captured-cluster.ts'

const { kinds, problems } = buildSchemaModel({
  resources: [...capturedResources, ...wellKnownResources],
  openapi: capturedOpenApi,
  sdl: await readPackageSdl(),
  secretContents: true,
})
const kindOf = new Map(kinds.map((kind) => [kind.typeName, kind]))

/** Relations that say what they are for instead of where they lead: the words of Kubernetes, or of those who ask. */
const roles = new Set([
  'aggregatedBy',
  'autoscaler',
  'bindings',
  'claim',
  'clones',
  'definition',
  'dependents',
  'disruptionBudgets',
  'helmRelease',
  'metrics',
  'namespaceObject',
  'policy',
  'snapshots',
  'tokens',
])

/** What one object is called in the API, though the word is a plural. */
const pluralWords = new Set(['params', 'parameters'])

/** What a field that leads to a kind ends with: its name without its group, and in the plural where there may be many. */
function wordOf({ resource }: Kind, many: boolean): string {
  const { kind, resource: plural } = resource
  const singular = lowerCamelCase(kind)
  return many ? pluralOf(singular, kind, plural) : singular
}

function endsWithWord(name: string, word: string): boolean {
  return name === word || name.toLowerCase().endsWith(word.toLowerCase())
}

describe('the fields of relations', () => {
  it('hide nothing that the API has', () => {
    expect(problems).toEqual([])
  })

  it('are called after the kind that they lead to, in the plural where there may be many', () => {
    const others = kinds.flatMap(({ typeName, relations }) =>
      relations.flatMap(({ definition: { name, to }, many }) => {
        const target = kindOf.get(to)
        if (target === undefined || roles.has(name) || name === target.listField) return []
        const word = wordOf(target, many)
        return endsWithWord(name, word) ? [] : [`${typeName}.${name}: not …${word}`]
      }),
    )
    expect(others).toEqual([])
  })

  it('to objects of any kind are plurals where there may be many, and else singular', () => {
    const isPlural = (name: string): boolean => /[^s]s$/.test(name) && !pluralWords.has(name)
    const others = kinds.flatMap(({ typeName, objectRefs, polymorphic }) =>
      [...objectRefs, ...polymorphic.map(({ name }) => ({ name, many: true }))]
        .filter(({ name, many }) => isPlural(name) !== many)
        .map(({ name }) => `${typeName}.${name}`),
    )
    expect(others).toEqual([])
  })

  it('are called the same on every kind, whatever is known of one', () => {
    const targets = new Map<string, Set<string>>()
    for (const { relations } of kinds) {
      for (const { definition, many } of relations) {
        const known = targets.get(definition.name) ?? new Set()
        targets.set(definition.name, known.add(many ? 'many' : 'one'))
      }
    }
    const both = [...targets].filter(([, known]) => known.size > 1).map(([name]) => name)
    expect(both).toEqual([])
  })
})
