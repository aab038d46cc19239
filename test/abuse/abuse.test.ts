import { getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import {
  type AnsweredError,
  firstAnswer,
  type GraphQLAnswer,
  type ServedGateway,
  serveGateway,
} from '../support/gateway.ts'
import {
  type CostlyOperation,
  costlyQueries,
  costlySubscriptions,
  largeMistakes,
} from './costly-operations.ts'
import { company } from '../support/company.ts'

const maxErrorsLength = 10_000

/** How an answer was refused, as far as it is promised. */
const refusalOf = ({ errors = [], data }: GraphQLAnswer): object => ({
  error: errors[0],
  isWhole: errors.length === 1 && (data ?? null) === null,
  isSmall: JSON.stringify(errors).length < maxErrorsLength,
})

/** What the first error says, without how much was done: that depends on the texts that are kept already. */
function withoutAmount({ errors }: GraphQLAnswer): object | undefined {
  const { value, ...extensions } = errors?.[0]?.extensions ?? {}
  if (typeof value !== 'object' || value === null) return { ...extensions, value }
  const { amount: _, ...rest } = value as { readonly amount?: number }
  return { ...extensions, value: rest }
}

/** The promised error, and small: what is not refused of the answer are nulls. */
function refusal({ error }: CostlyOperation): object {
  const { code, work, argument, message = /./ } = error
  return {
    error: {
      message: expect.stringMatching(message),
      extensions: {
        code,
        ...(work === undefined ? {} : { value: { work } }),
        ...(argument === undefined ? {} : { argument }),
      },
    },
    // What is too costly ends the operation, with one error and no data.
    ...(code === 'QUERY_TOO_COSTLY' ? { isWhole: true } : {}),
    isSmall: true,
  }
}

describe('what costs too much is refused, by HTTP and by WebSocket, while others are answered:', () => {
  let cluster: TestCluster
  let gateway: ServedGateway
  /** Asks for one pod, which has to be answered. */
  let neighbour: () => Promise<void>

  beforeAll(async () => {
    const now = new Date('2026-01-15T12:00:00Z')
    cluster = await startSimulatedCluster({
      populate: company({ seed: 'abuse', pods: 1_500, now }),
    })
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
    const { pods } = await gateway.data(
      '{ pods(first: 1) { nodes { metadata { namespace name } } } nodes { totalCount } }',
    )
    const { metadata } = pods.nodes[0]
    const query = `query ($namespace: String!, $name: String!) { pod(namespace: $namespace, name: $name) { metadata { name } } }`
    neighbour = async () => {
      const { pod } = await gateway.data(query, metadata)
      if (pod.metadata.name !== metadata.name) throw new Error('another pod was answered')
    }
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  it.each(costlyQueries)('$title', async (costly) => {
    const { query, variables } = costly
    const [byHttp, byWebSocket] = await Promise.all([
      gateway.query(query, variables),
      firstAnswer(gateway.connect(), query, variables),
      neighbour(),
    ])
    expect([byHttp, byWebSocket].map(refusalOf)).toMatchObject([refusal(costly), refusal(costly)])
    const [told, same] = [byHttp, byWebSocket].map(withoutAmount)
    expect(same).toEqual(told)
  })

  it.each(largeMistakes)('$title of 120 KB, which is not sent back', async (large) => {
    const { query, variables } = large
    const [byHttp, byWebSocket] = await Promise.all([
      gateway.query(query, variables),
      firstAnswer(gateway.connect(), query, variables),
      neighbour(),
    ])
    expect([byHttp, byWebSocket].map(refusalOf)).toMatchObject([refusal(large), refusal(large)])
  })

  it.each(costlySubscriptions)('a subscription $title, which ends with it', async (costly) => {
    const { query, variables = {} } = costly
    const answers: GraphQLAnswer[] = []
    await Promise.all([
      new Promise<void>((resolve) => {
        gateway.connect().subscribe(
          { query, variables },
          {
            next: (answer) => answers.push(answer as GraphQLAnswer),
            error: (errors) => {
              answers.push({ errors: errors as AnsweredError[] })
              resolve()
            },
            complete: resolve,
          },
        )
      }),
      neighbour(),
    ])
    expect(answers.map(refusalOf)).toMatchObject([refusal(costly)])
  })

  it('but not the whole schema, which every tool asks for', async () => {
    const [byHttp, byWebSocket] = await Promise.all([
      gateway.query(getIntrospectionQuery()),
      firstAnswer(gateway.connect(), getIntrospectionQuery()),
    ])
    expect(byHttp.errors).toBeUndefined()
    expect(byHttp.data).toEqual(byWebSocket.data)
    expect(byHttp.data.__schema.types.length).toBeGreaterThan(100)
  })

  it('a hundred subscriptions of 60 alternatives each cost less than that, and all begin', async () => {
    const or = Array.from({ length: 60 }, (_, at) => ({ name: { startsWith: `no-such-${at}` } }))
    const client = gateway.connect()
    const query = 'subscription ($where: PodWhere) { pods(where: $where) { synced } }'
    const first = async (): Promise<GraphQLAnswer> => firstAnswer(client, query, { where: { or } })
    const answers = await Promise.all([...Array.from({ length: 100 }, first), neighbour()])
    expect(answers.slice(0, 100)).toEqual(
      Array.from({ length: 100 }, () => ({ data: { pods: { synced: true } } })),
    )
  })
})
