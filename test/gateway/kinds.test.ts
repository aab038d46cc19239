import { isDeepStrictEqual } from 'node:util'
import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AnsweredError, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { manifests } from './manifests.ts'
import { describeClusters, type Fields, listAll, must, type TestCluster } from './test-cluster.ts'

const isConnection = (type: GraphQLObjectType): boolean => type.name.endsWith('Connection')

/** A field with everything below it down to a depth, as text; `undefined` where nothing of it can be asked for. */
const selectionOf = (field: GraphQLField<unknown, unknown>, depth: number): string | undefined => {
  if (field.args.some(isRequiredArgument)) return undefined
  const type = getNamedType(field.type)
  if (isLeafType(type)) return field.name
  if (isAbstractType(type)) return `${field.name} { id kind metadata { name } }`
  if (!isObjectType(type)) return undefined
  // The past needs an archive.
  if (type.name === 'ChangeConnection') return undefined
  if (isConnection(type)) {
    const hasFirst = field.args.some(({ name }) => name === 'first')
    return `${field.name}${hasFirst ? '(first: 1)' : ''} { totalCount nodes { __typename } }`
  }
  return depth === 0 ? undefined : `${field.name} ${fieldsOf(type, depth - 1)}`
}

const fieldsOf = (type: GraphQLObjectType, depth: number): string => {
  const fields = Object.values(type.getFields()).flatMap((field) => selectionOf(field, depth) ?? [])
  return `{ __typename ${fields.join(' ')} }`
}

/** The list fields of the schema, each with the type of its nodes. */
const listFields = (gateway: ServedGateway): readonly (readonly [string, GraphQLObjectType])[] =>
  Object.values(gateway.gateway.schema.getQueryType()?.getFields() ?? {}).flatMap((field) => {
    const type = getNamedType(field.type)
    if (!isObjectType(type) || !isConnection(type)) return []
    // Neither a search nor `problems` is a list of a kind.
    if (field.args.some(isRequiredArgument)) return []
    const nodes = type.getFields()['nodes']
    const node = nodes === undefined ? undefined : getNamedType(nodes.type)
    const isOfObjects =
      isObjectType(node) && node.getInterfaces().some(({ name }) => name === 'KubernetesObject')
    return isOfObjects ? [[field.name, node] as const] : []
  })

interface KindAnswer {
  readonly field: string
  readonly errors: readonly AnsweredError[]
  readonly totalCount: number
  readonly nodes: readonly Fields[]
}

const ask = async (
  gateway: ServedGateway,
  field: string,
  type: GraphQLObjectType,
): Promise<KindAnswer> => {
  // All fields of an object, its relations and its cluster included, are hundreds: a page of 500 of them is more than one answer may have.
  const query = `query ($after: String) {
    ${field}(first: 40, after: $after) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes ${fieldsOf(type, 2)}
    }
  }`
  const nodes: Fields[] = []
  let after: string | undefined
  while (true) {
    const { data, errors = [] } = await gateway.query(query, { after })
    const page: Fields = data?.[field]
    nodes.push(...(page?.nodes ?? []))
    const isLast = page?.pageInfo?.hasNextPage !== true
    if (errors.length > 0 || isLast)
      return { field, errors, totalCount: page?.totalCount ?? -1, nodes }
    after = page.pageInfo.endCursor
  }
}

interface ServedResource {
  readonly path: string
  readonly apiVersion: string
  readonly kind: string
}

/** What can be listed, in the server's preferred versions, as raw discovery says. */
const discover = async (cluster: TestCluster): Promise<readonly ServedResource[]> => {
  const { groups } = await must(cluster, '/apis')
  const versions = groups.map((group: Fields) => group.preferredVersion.groupVersion)
  const resources: ServedResource[] = []
  for (const apiVersion of ['v1', ...versions]) {
    const path = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    const found = await must(cluster, path)
    for (const { name, kind, verbs } of found.resources) {
      if (name.includes('/') || !verbs.includes('list')) continue
      resources.push({ path: `${path}/${name}`, apiVersion, kind })
    }
  }
  return resources
}

const keyOf = ({ metadata }: Fields): string => `${metadata.namespace ?? ''}/${metadata.name}`

const namesOf = (objects: readonly Fields[]): readonly string[] =>
  objects.map(keyOf).toSorted((a, b) => (a < b ? -1 : 1))

/**
 * Where an answer tells something else than the raw object, among the fields that both have. Maps of objects are lists of
 * entries in the schema; they are not compared.
 */
const differences = (answer: Fields, raw: Fields, path: string): readonly string[] => {
  if (Array.isArray(answer)) {
    if (!Array.isArray(raw)) return []
    if (answer.length !== raw.length) return [`${path}: ${answer.length} items`]
    return answer.flatMap((item, at) => differences(item, raw[at], `${path}[${at}]`))
  }
  // What was asked for with its fields tells its type; everything else is a leaf, and whole.
  if (answer?.__typename === undefined)
    return isDeepStrictEqual(answer, raw) ? [] : [`${path}: ${JSON.stringify(answer)}`]
  return Object.keys(answer)
    .filter((field) => Object.hasOwn(raw, field))
    .flatMap((field) => differences(answer[field], raw[field], `${path}.${field}`))
}

describeClusters('every built-in kind', (cluster) => {
  let gateway: ServedGateway
  let answers: readonly KindAnswer[]

  beforeAll(async () => {
    for (const [path, object] of manifests) {
      await must(cluster(), path, { method: 'POST', body: object })
    }
    gateway = await serveGateway({
      clusters: [{ name: 'one', ...cluster().selection }],
      // Longer documents than anybody writes.
      limits: { maxTokens: 20_000, maxFields: 20_000 },
    })
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  it('answers with its own fields to depth 2, without an error', async () => {
    const asked: KindAnswer[] = []
    // One after the other, as each asks for all others by `owned`.
    for (const [field, type] of listFields(gateway)) asked.push(await ask(gateway, field, type))
    answers = asked
    const all = answers.flatMap(({ field, errors }) => errors.map((error) => ({ field, error })))
    // Nothing measures the usage here, which says so.
    const isUsage = ({ error }: (typeof all)[number]) =>
      error.path?.some((step) => String(step).startsWith('usage')) === true
    const told = all.filter((one) => !isUsage(one))
    expect(all.filter(isUsage).map(({ error }) => error.extensions.code)).toContain('NOT_FOUND')
    // What cannot be watched is read live: it has all but relations, which need a cache.
    const [live, cached] = [true, false].map((isLive) =>
      told.filter(({ field }) => (field === 'componentStatuses') === isLive),
    )
    expect(cached).toEqual([])
    expect(live?.filter(({ error }) => error.extensions.code !== 'UNSUPPORTED')).toEqual([])
    expect(answers.filter(({ totalCount, nodes }) => totalCount !== nodes.length)).toEqual([])
  })

  it('is there: all that the server lists, with the objects that it lists', async () => {
    const resources = await discover(cluster())
    expect(resources.length).toBeGreaterThan(50)
    // Core Events stand for those of events.k8s.io.
    const served = resources.filter(({ apiVersion }) => !apiVersion.startsWith('events.k8s.io/'))
    expect(answers).toHaveLength(served.length)
    const empty: string[] = []
    const compared = new Set<string>()
    for (const { path, apiVersion, kind } of served) {
      const listed = await listAll(cluster(), path)
      const answer = answers.find(
        ({ nodes }) => nodes[0]?.apiVersion === apiVersion && nodes[0]?.kind === kind,
      )
      if (listed.length === 0) empty.push(kind)
      expect([path, namesOf(answer?.nodes ?? [])]).toEqual([path, namesOf(listed)])
      const rawByKey = new Map(listed.map((object) => [keyOf(object), object]))
      for (const node of answer?.nodes ?? []) {
        const raw = rawByKey.get(keyOf(node))
        // Leases may have been renewed since.
        if (raw.metadata.resourceVersion !== node.metadata.resourceVersion) continue
        compared.add(kind)
        expect(differences(node, raw, `${kind} ${keyOf(node)}`)).toEqual([])
      }
    }
    expect(compared.size).toBeGreaterThan(50)
    expect(empty.length, `kinds without an object: ${empty.join(', ')}`).toBeLessThan(8)
  })

  it('keeps the contents of Secrets to itself', async () => {
    const text = await gateway.queryText('{ secrets { nodes { metadata { name } json } } }')
    expect(text).toContain('"sample"')
    expect(text).not.toContain(Buffer.from('not to be seen').toString('base64'))
    expect(text).not.toContain('stringData')
    const { errors } = await gateway.query('{ secrets { nodes { data } } }')
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
  })
})
