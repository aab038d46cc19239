import {
  getNamedType,
  getNullableType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isListType,
  isObjectType,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  operatorDefinition,
  operatorNames,
  operatorObject,
} from '../support/operator-definitions.ts'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { must, startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import { seededRandom } from '../support/random.ts'

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

type Json = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** Selects what some objects have, of a type. */
function selectionOf(of: GraphQLOutputType, values: readonly unknown[]): string {
  const type = getNamedType(of)
  if (!isObjectType(type)) return ''
  const objects = values.flat(3).filter(isRecord)
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const held = objects.flatMap((object) =>
      Object.hasOwn(object, field.name) ? [object[field.name]] : [],
    )
    return held.length === 0 ? [] : [`${field.name}${selectionOf(field.type, held)}`]
  })
  return ` { __typename ${fields.join(' ')} }`
}

/** What the API answers for a value. */
function answered(of: GraphQLOutputType, value: unknown, among: unknown): unknown {
  if (value === undefined) return null
  const type = getNullableType(of)
  if (isListType(type)) {
    const asked = (among as readonly unknown[]).flat()
    return (value as readonly unknown[]).map((item) => answered(type.ofType, item, asked))
  }
  if (!isObjectType(type)) return value
  const fields = type.getFields()
  const all = [among].flat(3) as readonly Json[]
  const names = Object.keys(fields).filter((name) => all.some((one) => Object.hasOwn(one, name)))
  return {
    __typename: type.name,
    ...Object.fromEntries(
      names.map((name) => {
        const held = all.flatMap((one) => (Object.hasOwn(one, name) ? [one[name]] : []))
        const field = fields[name]
        if (field === undefined) throw new Error(`there is no ${type.name}.${name}`)
        return [name, answered(field.type, (value as Json)[name], held)]
      }),
    ),
  }
}

/** The kinds of 21 projects, and of each so many objects. */
const numbers = Array.from({ length: 248 }, (_, number) => number)
const perKind = 1
/** Of these, one whose specification is 28 pod templates. */
const workflow = 1

let cluster: TestCluster
let gateway: ServedGateway
const objects = new Map<number, readonly Json[]>()

async function write(number: number, into: Pick<TestCluster, 'request'>): Promise<readonly Json[]> {
  const { group, plural } = operatorNames(number)
  const random = seededRandom(number + 1)
  const made: Json[] = []
  for (let at = 0; at < perKind; at += 1) {
    const body = operatorObject(number, { name: `o${at}`, namespace: 'default' }, random)
    const path = `/apis/${group}/v1/namespaces/default/${plural}`
    const { metadata } = await must(into, path, { method: 'POST', body })
    const status = { ...body, metadata }
    await must(into, `${path}/${metadata.name}/status`, { method: 'PUT', body: status })
    made.push(body)
  }
  return made
}

const typeNameOf = (number: number): string => {
  const { group, kind } = operatorNames(number)
  const words = group.split('.').map((label) => label.charAt(0).toUpperCase() + label.slice(1))
  return `${words.join('')}${kind}`
}

const listOf = (number: number): string => {
  const typeName = typeNameOf(number)
  return `${typeName.charAt(0).toLowerCase()}${typeName.slice(1)}s`
}

function fieldOf(
  schema: GraphQLSchema,
  number: number,
  name: 'spec' | 'status',
): GraphQLOutputType {
  const type = schema.getType(typeNameOf(number))
  const field = isObjectType(type) ? type.getFields()[name] : undefined
  if (field === undefined) throw new Error(`the kind ${number} has no ${name}`)
  return field.type
}

beforeAll(async () => {
  cluster = await startSimulatedCluster()
  for (const number of numbers) {
    await must(cluster, definitionsPath, { method: 'POST', body: operatorDefinition(number) })
    objects.set(number, await write(number, cluster))
  }
  gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
}, 120_000)
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

/** Expects each object of a definition as it was written, and returns their number. */
async function expectValues(
  { gateway: { schema }, query: ask }: ServedGateway,
  number: number,
  all: readonly Json[],
): Promise<number> {
  const types = {
    spec: fieldOf(schema, number, 'spec'),
    status: fieldOf(schema, number, 'status'),
  }
  const list = listOf(number)
  // One object a document: those of all would be too large for one.
  for (const { metadata, spec, status } of all) {
    const { name } = metadata as { readonly name: string }
    const fields = `spec${selectionOf(types.spec, [spec])} status${selectionOf(types.status, [status])}`
    const query = `{ ${list}(namespace: "default", where: { name: { eq: "${name}" } }) { nodes { ${fields} } } }`
    const { data, errors } = await ask(query)
    expect(errors, query).toBeUndefined()
    const node = {
      spec: answered(types.spec, spec, [spec]),
      status: answered(types.status, status, [status]),
    }
    expect(data).toEqual({ [list]: { nodes: [node] } })
  }
  return all.length
}

describe('objects of definitions whose structures repeat', () => {
  it.each(Array.from({ length: 8 }, (_, at) => at * 31))(
    'are answered value by value as they are: 31 definitions from %s',
    async (first) => {
      let compared = 0
      for (const number of numbers.slice(first, first + 31))
        compared += await expectValues(gateway, number, objects.get(number) ?? [])
      expect(compared).toBe(31 * perKind)
    },
    120_000,
  )
})

describeWithControlPlane(
  'a workflow of pod templates, which has more than 20,000 parts',
  (plane) => {
    it('has all its fields, and its objects are answered value by value as they are', async () => {
      await must(plane(), definitionsPath, { method: 'POST', body: operatorDefinition(workflow) })
      const { group, plural } = operatorNames(workflow)
      const path = `/apis/${group}/v1/namespaces/default/${plural}`
      const isServed = async (): Promise<number> => (await plane().request(path)).status
      await expect.poll(isServed).toBe(200)
      const written = await write(workflow, plane())
      await using real = await serveGateway({
        clusters: [{ name: 'one', kubeconfig: plane().kubeconfigPath }],
      })
      await expect
        .poll(() => real.gateway.schema.getType(`${typeNameOf(workflow)}Spec`))
        .toBeDefined()
      expect(await expectValues(real, workflow, written)).toBe(perKind)
    }, 120_000)
  },
  { isShared: true },
)

describe('a type that nothing has named yet', () => {
  const named = (number: number, text: string): string =>
    text.replaceAll('KIND', typeNameOf(number))

  it.each([
    [
      'by the filter of a variable',
      3,
      'query ($where: KINDWhere) { LIST(where: $where) { totalCount } }',
    ],
    [
      'by a fragment on its kind',
      5,
      '{ object(id: "x") { ... on KIND { spec { selector { __typename } } } } }',
    ],
    [
      'by a fragment on a nested type',
      10,
      '{ LIST { nodes { spec { ... on KINDSpec { forProvider { __typename } } } } } }',
    ],
  ] as const)('can be named %s', async (_, number, text) => {
    await using fresh = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
    const query = named(number, text).replace('LIST', listOf(number))
    const { errors = [] } = await fresh.query(query)
    // The id is none; nothing else is wrong.
    expect(errors.filter(({ path }) => path === undefined)).toEqual([])
  })

  it('is there for introspection by its name', async () => {
    await using fresh = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
    const name = `${typeNameOf(2)}SpecForProvider`
    const { data } = await fresh.query(`{ __type(name: "${name}") { name } }`)
    expect(data).toEqual({ __type: { name } })
  })

  it('is unknown if there is none, however its name begins', async () => {
    const { errors } = await gateway.query(
      named(3, '{ object(id: "x") { ... on KINDNothing { id } } }'),
    )
    expect(errors).toMatchObject([{ message: expect.stringMatching(/^Unknown type/) }])
  })
})

describe('a definition that changes while its kind is served', () => {
  it('names the type of another shortest path, and a fragment on the former one is told so', async () => {
    const { group, plural } = operatorNames(5)
    const name = `${plural}.${group}`
    const kind = typeNameOf(5)
    const list = listOf(5)
    const query = `{ ${list} { nodes { spec { selector { ... on ${kind}SpecNamespaceSelector { __typename } } } } } }`
    expect((await gateway.query(query)).errors).toBeUndefined()
    const body = operatorDefinition(5, {
      spec: (spec) => ({
        ...spec,
        properties: { ...spec.properties, chosen: spec.properties?.['selector'] ?? {} },
      }),
    })
    await must(cluster, `${definitionsPath}/${name}`, {
      method: 'PATCH',
      body,
      contentType: 'application/merge-patch+json',
    })
    await expect
      .poll(async () => (await gateway.query(query)).errors?.[0])
      .toMatchObject({
        message: expect.stringContaining(`${kind}SpecNamespaceSelector`),
        extensions: { hint: expect.stringContaining(`${kind}SpecNamespaceSelector was removed`) },
      })
    const other = query.replace('SpecNamespaceSelector', 'SpecChosen')
    expect((await gateway.query(other)).errors).toBeUndefined()
  }, 60_000)
})
