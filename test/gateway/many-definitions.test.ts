import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { type DefinedShape, definedShapes } from './definition-shapes.ts'
import { definitionsPath } from './definitions.ts'
import { publishedDefinitions, type PublishedDefinitions } from './published-definitions.ts'
import { type Fields, inParallel, type RawRequest } from './test-cluster.ts'

const wait = { timeout: 90_000, interval: 250 }

/** Numbers as their digits, so that none is rounded. */
const parseDigits = (text: string): Fields =>
  (JSON.parse as (text: string, reviver: unknown) => Fields)(
    text,
    (_key: string, value: unknown, { source }: { readonly source?: string }) =>
      typeof value === 'number' ? `digits ${source}` : value,
  )

const isConnection = ({ name }: GraphQLObjectType): boolean => name.endsWith('Connection')
const isRow = (type: GraphQLObjectType): boolean => type.getInterfaces().length > 0

/** All fields of a type down to a depth; of other objects their ids. */
const fieldsOf = (type: GraphQLObjectType, depth: number): string => {
  const selected = Object.values(type.getFields()).flatMap(
    (field) => selectionOf(field, depth - 1) ?? [],
  )
  return `{ __typename ${selected.join(' ')} }`
}

const selectionOf = (field: GraphQLField<unknown, unknown>, depth: number): string | undefined => {
  if (field.args.some(isRequiredArgument)) return undefined
  const type = getNamedType(field.type)
  if (isLeafType(type)) return field.name
  if (isAbstractType(type)) return `${field.name} { id }`
  if (!isObjectType(type)) return undefined
  // The past needs an archive.
  if (type.name === 'ChangeConnection') return undefined
  if (isConnection(type)) return `${field.name} { totalCount nodes { __typename } }`
  if (isRow(type)) return `${field.name} { id }`
  return depth <= 0 ? undefined : `${field.name} ${fieldsOf(type, depth)}`
}

/** The name in JSON of a field: what GraphQL does not allow in names is written as code points, `_x2D_`. */
const jsonNameOf = (field: string): string =>
  field.replace(/_x([0-9A-F]+)_/g, (_, code: string) => String.fromCodePoint(parseInt(code, 16)))

interface ListField {
  readonly name: string
  readonly description: string
  readonly node: GraphQLObjectType
}

const listFields = (gateway: ServedGateway): readonly ListField[] =>
  Object.values(gateway.gateway.schema.getQueryType()?.getFields() ?? {}).flatMap((field) => {
    const type = getNamedType(field.type)
    if (!isObjectType(type) || !isConnection(type)) return []
    // A search is no list of a kind, nor is the past.
    if (field.args.some(isRequiredArgument) || field.name === 'changes') return []
    const nodes = type.getFields()['nodes']
    const node = nodes === undefined ? undefined : getNamedType(nodes.type)
    return isObjectType(node)
      ? [{ name: field.name, description: field.description ?? '', node }]
      : []
  })

/** Where typed fields say something else than the raw object, whose digits are kept. */
const differences = (answer: Fields, raw: Fields, path: string): readonly string[] => {
  if (Array.isArray(answer) && Array.isArray(raw)) {
    if (answer.length !== raw.length) return [`${path}: ${answer.length} instead of ${raw.length}`]
    return answer.flatMap((item, at) => differences(item, raw[at], `${path}[${at}]`))
  }
  if (Array.isArray(answer) && raw !== null && typeof raw === 'object') {
    const keys = answer.map(({ key }) => key as string)
    return [
      ...(keys.toSorted().join() === Object.keys(raw).toSorted().join()
        ? []
        : [`${path}: ${keys.join()}`]),
      ...answer.flatMap(({ key, value }) => differences(value, raw[key], `${path}.${key}`)),
    ]
  }
  if (answer?.__typename === undefined) {
    const same = JSON.stringify(sorted(answer)) === JSON.stringify(sorted(raw ?? null))
    return same ? [] : [`${path}: ${JSON.stringify(answer)} instead of ${JSON.stringify(raw)}`]
  }
  return Object.entries(answer)
    .filter(([field]) => field !== '__typename')
    .flatMap(([field, value]) => {
      const name = jsonNameOf(field)
      return differences(value as Fields, raw?.[name], `${path}.${name}`)
    })
}

const sorted = (value: Fields): Fields => {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner as Fields)]),
  )
}

describeWithControlPlane('many custom resource definitions at once', (plane) => {
  let gateway: ServedGateway
  let published: PublishedDefinitions
  let definitions: readonly Fields[]

  const send = async (path: string, options?: RawRequest): Promise<string> => {
    const { status, text } = await plane().request(path, options)
    if (status >= 300) throw new Error(`${path}: ${status} ${text.slice(0, 2_000)}`)
    return text
  }

  const pathOf = ({ group, version, definition }: DefinedShape): string => {
    const { scope, names } = definition.spec
    const namespace = scope === 'Cluster' ? '' : '/namespaces/default'
    return `/apis/${group}/${version}${namespace}/${names.plural}`
  }

  const listOf = ({ spec }: Fields): ListField | undefined => {
    const { group, names } = spec
    const description = `Lists ${names.plural} of ${group}/`
    return listFields(gateway).find((one) => one.description.startsWith(description))
  }

  const without = (): readonly string[] =>
    definitions.filter((one) => listOf(one) === undefined).map(({ metadata }) => metadata.name)

  beforeAll(async () => {
    gateway = await serveGateway({
      clusters: [{ name: 'one', kubeconfig: plane().kubeconfigPath }],
      // Every kind is loaded at once, by a server that is busy with their definitions.
      limits: { syncDeadlineMs: 60_000, operationDeadlineMs: 120_000 },
    })
    published = await publishedDefinitions()
    definitions = [
      ...definedShapes.map(({ definition }) => definition),
      ...('definitions' in published ? published.definitions : []),
    ]
    const refused: string[] = []
    const define = (body: Fields): Promise<unknown> =>
      send(definitionsPath, { method: 'POST', body }).catch((error: unknown) =>
        refused.push(String(error)),
      )
    await inParallel(definitions, define, 4)
    if (refused.length > 0) throw new Error(refused.join('\n'))
    await inParallel(definedShapes, async (one) => {
      const apiVersion = `${one.group}/${one.version}`
      const body = { apiVersion, kind: one.kind, metadata: { name: 'sample' }, ...one.content }
      await vi.waitFor(() => send(pathOf(one), { method: 'POST', body }), wait)
    })
    await vi.waitFor(() => {
      if (without().length > 0) throw new Error(`no types: ${without().join(', ')}`)
    }, wait)
  }, 240_000)
  afterAll(async () => gateway[Symbol.asyncDispose]())

  it('are at least 40, and all of them are types within seconds', () => {
    expect(definitions.length).toBeGreaterThanOrEqual(40)
  })

  it('with those that published Go modules bring', ({ skip }) => {
    if ('missing' in published) skip(published.missing)
    expect(published).toHaveProperty('definitions')
  })

  it('one that is too large costs its own types alone, with a message', async () => {
    await expect
      .poll(() => gateway.log.filter((line) => line.includes('has the common fields only')), wait)
      .toEqual([expect.stringMatching(/^Huge of shapes.example.com\/v1 .* more than 20000 parts/)])
  })

  it.for(definedShapes.map((one) => [`${one.kind}.${one.group}`, one] as const))(
    '%s is read as it is, by its fields and by json',
    async ([, one]) => {
      const raw = parseDigits(await send(`${pathOf(one)}/sample`))
      const list = listOf(one.definition)
      const native = Object.keys(one.content).filter((name) => list?.node.getFields()[name])
      const selection = native.map((name) => {
        const field = list?.node.getFields()[name]
        return field === undefined ? '' : (selectionOf(field, 30) ?? '')
      })
      const text = await gateway.queryText(`{
        list: ${list?.name ?? ''} { nodes { json ${selection.join(' ')} } }
      }`)
      const { data, errors } = parseDigits(text)
      expect(errors).toBeUndefined()
      const [{ json, ...typed }] = data.list.nodes
      // managedFields are not kept.
      const { managedFields: _, ...metadata } = raw.metadata
      expect(sorted(json)).toEqual(sorted({ ...raw, metadata }))
      const own = native.filter((name) => !injected.has(name))
      expect(own.flatMap((name) => differences(typed[name], raw[name], name))).toEqual([])
    },
  )

  it('every kind of the schema can be asked for three levels deep', async () => {
    const failures: string[] = []
    await inParallel(
      listFields(gateway),
      async ({ name, node }) => {
        const query = `{ ${name}(first: 5) { totalCount nodes ${fieldsOf(node, 3)} } }`
        const { errors = [] } = await gateway.query(query)
        // What cannot be watched is read live: it has all but relations, which need a cache.
        const expected = name === 'componentStatuses' ? 'UNSUPPORTED' : undefined
        const unexpected = errors.filter(({ extensions }) => extensions?.code !== expected)
        if (unexpected.length > 0) failures.push(`${name}: ${JSON.stringify(unexpected)}`)
      },
      4,
    )
    expect(failures).toEqual([])
  })
})

/** Fields that the gateway has of every object, which win over those of a kind: those are in `json`. */
const injected: ReadonlySet<string> = new Set([
  'id',
  'events',
  'json',
  'owners',
  'name',
  'namespace',
  'namespaceObject',
  'uid',
  'creationTimestamp',
  'labels',
  'cluster',
])
