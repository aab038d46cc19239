import {
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql'
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { wellKnownResources } from '../relations/well-known-resources.ts'
import {
  capturedOpenApi,
  capturedResources,
  type OpenApiDocument,
  type OpenApiSchema,
} from './captured-cluster.ts'
import { builtIns, schemaOf } from './served-schema.ts'

/** A schema in which everything has a description, as a server tells it: what has none in GraphQL then is the gateway's own. */
function described(schema: OpenApiSchema): OpenApiSchema {
  const { properties = {}, items, additionalProperties } = schema
  return {
    ...schema,
    description: 'Of the API.',
    ...(schema.properties === undefined ? {} : { properties: mapped(properties, described) }),
    ...(items === undefined ? {} : { items: described(items) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: described(additionalProperties) }
      : {}),
  }
}

const mapped = <T>(of: Readonly<Record<string, T>>, by: (part: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(of).map(([name, part]) => [name, by(part)]))

const describedDocument = (document: OpenApiDocument): OpenApiDocument => ({
  ...document,
  components: {
    ...document.components,
    schemas: mapped(document.components?.schemas ?? {}, described),
  },
})

async function servedSchema(): Promise<GraphQLSchema> {
  const resources = [...capturedResources, ...wellKnownResources]
  const openapi = mapped(capturedOpenApi, describedDocument)
  return (await schemaOf({ resources, openapi }, { secretData: true })).schema
}

interface Named {
  readonly name: string
  readonly description?: string | null | undefined
}

/** Everything of a type that a reader may ask about, by its name in full. */
function partsOf(type: GraphQLNamedType): readonly (readonly [name: string, part: Named])[] {
  const own = (part: Named): readonly [string, Named] => [`${type.name}.${part.name}`, part]
  if (isEnumType(type)) return type.getValues().map(own)
  if (isInputObjectType(type)) return Object.values(type.getFields()).map(own)
  if (!isObjectType(type) && !isInterfaceType(type)) return []
  return Object.values(type.getFields()).flatMap((field) => [
    own(field),
    ...field.args.map((part) => [`${type.name}.${field.name}(${part.name}:)`, part] as const),
  ])
}

describe("everything that is the gateway's own says what it is", async () => {
  const schema = await servedSchema()
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))

  it('types, fields, arguments, and the values of enumerations', () => {
    const silent = types
      .flatMap((type) => [[type.name, type] as const, ...partsOf(type)])
      .filter(([, { description }]) => (description ?? '').trim() === '')
      .map(([name]) => name)
    expect(silent).toEqual([])
  })

  it('in sentences', () => {
    const others = types
      .flatMap((type) => [[type.name, type] as const, ...partsOf(type)])
      .filter(([, { description }]) => !/[.:?)`…]$/.test((description ?? '').trim()))
      .map(([name, { description }]) => `${name}: ${description}`)
    expect(others).toEqual([])
  })

  it('in words for people, not in those of declarations', () => {
    const clumsy = types
      .flatMap((type) => [[type.name, type] as const, ...partsOf(type)])
      .filter(([, { description }]) =>
        /The index of|whose relation|leads here|a function of the gateway/.test(description ?? ''),
      )
      .map(([name, { description }]) => `${name}: ${description}`)
    expect(clumsy).toEqual([])
  })

  it('the schema as a whole', () => {
    expect(schema.description).toMatch(/^The objects of Kubernetes clusters .*\.$/)
  })

  it('directives', () => {
    const silent = schema.getDirectives().filter(({ description }) => !description)
    expect(silent.map(({ name }) => name)).toEqual([])
  })
})

describe('what a generated description says', async () => {
  const sdl = `
    extend type Pod
      @index(name: "team", path: "metadata.labels[\\"team\\"]", description: "The team that is on call.")
      @index(name: "hostName", path: ["spec.hostname", "spec.subdomain"])
      @index(name: "anyName", path: ["spec.hostname", "spec.subdomain"], reduce: FIRST)
  `
  const { schema } = await schemaOf(builtIns, {
    sdl,
    indexers: { pods: { byOwner: () => [] } },
  })
  const textsOf = (typeName: string): Readonly<Record<string, string>> => {
    const type = schema.getType(typeName)
    const fields = isObjectType(type) || isInputObjectType(type) ? type.getFields() : {}
    return Object.fromEntries(
      Object.values<Named>(fields).map(({ name, description }) => [name, description ?? '']),
    )
  }

  it.each(['PodWhere', 'PodOrder'])('%s: what the values of an index are', (name) => {
    expect(textsOf(name)).toMatchObject({
      nodeName: '`spec.nodeName` of the object.',
      team: 'The team that is on call.',
      hostName: '`spec.hostname`, `spec.subdomain` of the object.',
      anyName: 'The first of `spec.hostname`, `spec.subdomain` of the object.',
      byOwner: 'What the function `byOwner` of the gateway computes.',
      health: 'The `status` of `health`, in the order of `HealthStatus`: the worst first.',
    })
  })

  it('the restarts of a pod and those of its containers are not the same', () => {
    const { restarts, containerRestarts } = textsOf('PodWhere')
    expect(restarts).toMatch(/RESTARTS that kubectl shows/)
    expect(containerRestarts).toMatch(/each container/)
  })

  it.each([
    [
      'Pod',
      'disruptionBudgets',
      'Every PodDisruptionBudget whose `spec.selector` selects this Pod by its labels.',
    ],
    ['PriorityClass', 'pods', 'Every Pod whose `spec.priorityClassName` names this PriorityClass.'],
    ['Role', 'roleBindings', 'Every RoleBinding whose `roleRef` refers to this Role.'],
    ['Endpoints', 'service', 'The Service with the same name; null if there is none.'],
    ['Namespace', 'pods', 'Every Pod in the namespace.'],
  ])('%s.%s: which objects a relation read backwards has', (type, field, text) => {
    expect(textsOf(type)[field]).toBe(text)
    expect(textsOf(`${type}Where`)[field]).toBe(text)
  })
})

describe('fields of Kubernetes that people meet first', async () => {
  const file = new URL('../../schema/descriptions.yaml', import.meta.url)
  const texts = parse(await readFile(file, 'utf8')) as Record<string, Record<string, string>>
  const apis = { resources: capturedResources, openapi: capturedOpenApi }
  const { schema: silent } = await schemaOf(apis)
  const fieldsOf = (schema: GraphQLSchema, name: string) => {
    const type = schema.getType(name)
    return isObjectType(type) ? type.getFields() : {}
  }

  it('say what they are where the API server does not', () => {
    const shown = mapped(texts, (fields) => ({ ...fields }))
    for (const [name, fields] of Object.entries(shown)) {
      if (name.startsWith('*')) continue
      for (const field of Object.keys(fields))
        fields[field] = fieldsOf(silent, name)[field]?.description ?? 'not in the schema'
    }
    expect(shown).toEqual(texts)
    expect(fieldsOf(silent, 'PodCondition')['reason']?.description).toBe(
      texts['*Condition']?.['reason'],
    )
  })

  it("keep the API server's own words where there are some", async () => {
    const { schema } = await schemaOf({
      resources: capturedResources,
      openapi: mapped(capturedOpenApi, describedDocument),
    })
    expect(fieldsOf(schema, 'PodSpec')['containers']?.description).toBe('Of the API.')
  })
})
