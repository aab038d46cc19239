// Imports internals: paths of the SDL of the package are followed through the model.
import { validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { parsePath } from '../../src/query/index/path.ts'
import { definitionNameOf } from '../../src/kubernetes/open-api.ts'
import { createSchema } from '../../src/graphql/schema/create-schema.ts'
import { printSchemaSdl } from '../../src/graphql/schema/print-schema.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { relationDirectives } from '../../src/query/relation/relations.ts'
import { fieldDirectives } from '../../src/graphql/sdl/sdl-document.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import {
  capturedOpenApi,
  capturedResources,
  type OpenApiSchema,
} from '../schema/captured-cluster.ts'

const sdl = await readPackageSdl()
const options = { resources: capturedResources, openapi: capturedOpenApi }

it('the schema prints as SDL in an order of its own', () => {
  const text = printSchemaSdl(createSchema(buildSchemaModel({ ...options, sdl })))
  expect(text).toContain('type Pod implements KubernetesObject {')
  expect(text).toBe(
    printSchemaSdl(
      createSchema(
        buildSchemaModel({
          ...options,
          resources: capturedResources.toReversed(),
          sdl: sdl.toReversed(),
          versions: { 'horizontalpodautoscalers.autoscaling': 'v2' },
        }),
      ),
    ),
  )
})

describe('the indexes and relations that come with the package', () => {
  const strict = buildSchemaModel({
    ...options,
    sdl: sdl.map((source) => ({ ...source, optional: false })),
    secretContents: true,
  })

  it('are all right for a cluster that serves every built-in kind', () => {
    expect(strict.problems).toEqual([])
    expect(strict.relations.filter(({ form }) => form !== 'events').length).toBeGreaterThan(12)
  })

  it('are of directives that a form of relation reads, or that lead to any kind', () => {
    const ofAnyKind = ['objectRef', 'sameLabel', 'chooses', 'chosenBy']
    const defined = fieldDirectives.map(({ name }) => name)
    expect(new Set([...relationDirectives.keys(), ...ofAnyKind])).toEqual(new Set(defined))
  })

  it('are passed over where a cluster does not serve their kinds', () => {
    const few = buildSchemaModel({
      ...options,
      resources: capturedResources.filter(({ kind }) => kind === 'Pod' || kind === 'Deployment'),
      sdl,
    })
    expect(few.problems).toEqual([])
    expect(few.relations.map(({ from, name }) => `${from}.${name}`)).toEqual([])
    expect(validateSchema(createSchema(few))).toEqual([])
  })

  it('take paths of a type that the cluster does not serve', () => {
    const few = buildSchemaModel({
      ...options,
      resources: capturedResources.filter(({ kind }) => ['ConfigMap', 'Deployment'].includes(kind)),
      sdl,
    })
    expect(few.problems).toEqual([])
    expect(few.relations.map(({ from, name }) => `${from}.${name}`)).toContain(
      'Deployment.configMaps',
    )
  })

  it('have paths that lead to something', () => {
    const paths = strict.kinds.flatMap((kind) => [
      ...kind.indexes
        // Secrets hold metadata only, and measurements are objects of their own.
        .filter(({ measured }) => !kind.metadataOnly && measured === undefined)
        .flatMap(({ paths: all }) => all.map((path) => ({ kind, path }))),
      ...kind.relations.flatMap(({ definition }) =>
        definition.form === 'reference'
          ? [...definition.paths, ...(definition.namespacePaths ?? [])].map((path) => ({
              kind,
              path,
            }))
          : definition.form === 'selects'
            ? [{ kind, path: definition.path }]
            : [],
      ),
    ])
    const lost = paths.filter(({ kind, path }) => {
      const scope = strict.definitions.scopeOf(kind.resource)
      let at: OpenApiSchema | undefined = strict.definitions.schemaOf(kind.resource)
      for (const step of parsePath(path).steps) {
        const definition: string | undefined = at === undefined ? undefined : definitionNameOf(at)
        if (definition !== undefined) at = scope.find(definition)
        const values: OpenApiSchema | undefined =
          typeof at?.additionalProperties === 'object' ? at.additionalProperties : undefined
        at = step.form === 'field' ? (at?.properties?.[step.name] ?? values) : (at?.items ?? values)
      }
      return at === undefined
    })
    expect(lost.map(({ kind, path }) => `${kind.typeName} ${path}`)).toEqual([])
  })
})
