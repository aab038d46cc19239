import {
  execute,
  getIntrospectionQuery,
  getNamedType,
  GraphQLObjectType,
  type GraphQLSchema,
  isCompositeType,
  parse,
  validate,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operatorDefinition } from '../support/operator-definitions.ts'
import { must, startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway, type Variables } from '../support/gateway.ts'
import { neverTooCostly } from './random-operation.ts'
import { runSeed, seededRandom } from '../support/random.ts'

let cluster: TestCluster
let gateway: ServedGateway
/** Of a part of the schema, so that many documents can be compared. */
let small: ServedGateway

beforeAll(async () => {
  cluster = await startSimulatedCluster()
  gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }], relay: true })
  small = await serveGateway({
    clusters: [{ name: 'one', ...cluster.selection }],
    profile: { include: { kinds: ['Pod', 'Node', 'ConfigMap'] } },
    limits: { work: neverTooCostly },
  })
})
afterAll(async () => {
  await small[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** What graphql-js answers by itself: the schema is all that introspection reads. */
async function executed(by: ServedGateway, query: string, variableValues: Variables = {}) {
  const { schema } = by.gateway
  return JSON.stringify(await execute({ schema, document: parse(query), variableValues }))
}

/** Whether both answer the same text. A failed `toBe` would print both. */
async function isSame(by: ServedGateway, query: string, variables: Variables = {}) {
  return (await by.queryText(query, variables)) === (await executed(by, query, variables))
}

describe('introspection', () => {
  it('answers the standard query byte for byte as graphql-js does, with all of its options', async () => {
    const names = [
      'descriptions',
      'specifiedByUrl',
      'directiveIsRepeatable',
      'schemaDescription',
      'inputValueDeprecation',
      'experimentalDirectiveDeprecation',
      'oneOf',
    ] as const
    for (let bits = 0; bits < 1 << names.length; bits += 1) {
      const given = names.map((name, at) => [name, ((bits >> at) & 1) === 1] as const)
      const query = getIntrospectionQuery(Object.fromEntries(given))
      expect(await isSame(small, query), JSON.stringify(given)).toBe(true)
    }
    expect(await isSame(gateway, getIntrospectionQuery())).toBe(true)
  }, 240_000)

  it(`answers random documents byte for byte as graphql-js does, seed ${runSeed}`, async () => {
    const { schema } = small.gateway
    const random = new RandomIntrospection(schema, seededRandom(runSeed))
    for (let at = 0; at < 300; at += 1) {
      const variables = { all: at % 2 === 0, name: random.typeName(), no: at % 3 === 0 }
      const query = random.next()
      // There is a limit to lists of types within each other.
      if (validate(schema, parse(query)).length > 0) continue
      expect(await isSame(small, query, variables), query).toBe(true)
    }
  }, 240_000)

  it('beside lists is part of their plan', async () => {
    const query = `query ($name: String!) {
      pods(first: 2) { nodes { name } totalCount }
      __typename
      type: __type(name: $name) { name kind fields { name type { name ofType { name } } } }
      none: __type(name: "NoSuchType") { name }
    }`
    const [{ data }, alone] = await Promise.all([
      gateway.query(query, { name: 'PodStatus' }),
      executed(gateway, query.replace(/pods.*/, ''), { name: 'PodStatus' }),
    ])
    const { pods, ...rest } = data
    expect({ data: rest }).toEqual(JSON.parse(alone))
    expect({ pods }).toEqual(await gateway.data('{ pods(first: 2) { nodes { name } totalCount } }'))
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-informerql-explain': '1' },
      body: JSON.stringify({ query, variables: { name: 'Pod' } }),
    })
    expect((await response.json()).extensions.explain.answeredBy).toBe('plan')
  })

  it('is the same for a program that runs it in its process', async () => {
    const query =
      '{ __type(name: "Pod") { fields { name description } } __schema { queryType { name } } }'
    const expected = JSON.parse(await executed(gateway, query))
    expect(await gateway.gateway.execute({ query })).toEqual(expected)
  })

  it('that reads the schema over and over, or types within types, is refused by its price', async () => {
    const times = (count: number, write: (at: number) => string): string =>
      Array.from({ length: count }, (_, at) => write(at)).join(' ')
    const within = times(30, (at) => `f${at}: fields { type { fields { name type { name } } } }`)
    const over = times(40, (at) => `s${at}: __schema { types { fields { name } } }`)
    for (const query of [`{ __schema { types { ${within} } } }`, `{ ${over} }`]) {
      const { data, errors = [] } = await gateway.query(query)
      expect(data === null, query).toBe(true)
      expect(errors, query).toMatchObject([{ extensions: { code: 'QUERY_TOO_COSTLY' } }])
    }
  })

  it('of a schema with several hundred custom kinds is answered', async () => {
    await using large = await startSimulatedCluster()
    for (let number = 0; number < 300; number += 1) {
      await must(large, definitionsPath, { method: 'POST', body: operatorDefinition(number) })
    }
    await using served = await serveGateway({ clusters: [{ name: 'one', ...large.selection }] })
    const query = getIntrospectionQuery()
    const text = await served.queryText(query)
    expect(text.slice(0, 30)).toBe('{"data":{"__schema":{"queryTyp')
    expect(text).toContain('"Group37OperatorsExampleComOperand299Spec"')
    expect((await served.queryText(query)) === text).toBe(true)
  }, 240_000)
})

/** Makes documents of everything that introspection offers, each valid, with the variables `all`, `name` and `no`. */
class RandomIntrospection {
  readonly #schema: GraphQLSchema
  readonly #random: () => number
  #aliases = 0

  constructor(schema: GraphQLSchema, random: () => number) {
    this.#schema = schema
    this.#random = random
  }

  typeName(): string {
    return this.#pick(Object.keys(this.#schema.getTypeMap()))
  }

  next(): string {
    this.#aliases = 0
    const type = this.#object('__Type')
    const roots = [
      () => `__type(name: $name) ${this.#selection(type, 3)}`,
      () =>
        `t${(this.#aliases += 1)}: __type(name: "${this.typeName()}") ${this.#selection(type, 4)}`,
      () => `__schema ${this.#selection(this.#object('__Schema'), 2)}`,
      () => '__typename',
    ]
    const [first, second] = [this.#pick(roots)(), this.#pick(roots.slice(1))()]
    return `query ($all: Boolean!, $name: String!, $no: Boolean!) { ${first} ${second}
      used: __type(name: $name) { fields(includeDeprecated: $all) { name } name @skip(if: $no) } ...F }
      fragment F on Query { f: __type(name: "Pod") ${this.#selection(type, 2)} }`
  }

  #object(name: string): GraphQLObjectType {
    const type = this.#schema.getType(name)
    if (type instanceof GraphQLObjectType) return type
    throw new TypeError(name)
  }

  #selection(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields()).filter(
      (field) => depth > 0 || !isCompositeType(getNamedType(field.type)),
    )
    const parts = Array.from({ length: 1 + Math.floor(this.#random() * 4) }, () => {
      const field = this.#pick(fields)
      const named = getNamedType(field.type)
      const args =
        field.args.length === 0
          ? ''
          : this.#pick(['', '(includeDeprecated: $all)', '(includeDeprecated: true)'])
      const inner =
        named instanceof GraphQLObjectType ? ` ${this.#selection(named, depth - 1)}` : ''
      // An alias of its own: the same key must not have other arguments.
      const text = `a${(this.#aliases += 1)}: ${field.name}${args}`
      const flag = this.#pick(['', '', '', ' @skip(if: $no)', ' @include(if: $all)'])
      const whole = `${text}${flag}${inner}`
      return this.#pick([
        whole,
        whole,
        `... on ${type.name} { ${whole} }`,
        `... { __typename ${whole} }`,
      ])
    })
    return `{ ${parts.join(' ')} }`
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T
  }
}
