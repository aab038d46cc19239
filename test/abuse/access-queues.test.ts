import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CountedServer, startCountedServer } from '../access/counted-server.ts'
import { kubeconfigText } from '../gateway/test-cluster.ts'
import { rawRequest } from '../server/raw-request.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { company } from '../support/company.ts'

const users = ['gateway', 'mallory', 'zoe', 'ann', 'ben']
const tokenOf = (user: string): string => `token-of-${user}`
const never = new Promise<never>(() => {})

/** 800 questions that have nothing in common. */
const manyQuestions = `{ ${Array.from({ length: 800 }, (_, at) => `c${at}: can(verb: "get", resource: "r${at}")`).join(' ')} }`
/** 500 questions, each of which may be answered by one about its namespace, and all by one about all. */
const manyNames = `{ ${Array.from({ length: 500 }, (_, at) => `c${at}: can(verb: "get", resource: "pods", namespace: "n${at}", name: "p")`).join(' ')} }`
const can = (resource: string, alias = 'can'): string =>
  `${alias}: can(verb: "get", resource: "${resource}")`

describe('what one caller has asked of the API server keeps nobody else waiting:', () => {
  let gateway: ServedGateway
  let cluster: CountedServer
  const resources: AsyncDisposable[] = []
  const stop = new AbortController()
  /** The users that reviews were about, and the tokens of TokenReviews, in the order of their arrival. */
  const seen: string[] = []
  /** What was asked about them: what is asked while RBAC changes is asked again. */
  const questions = new Set<string>()
  const countOf = (name: string): number => seen.filter((one) => one === name).length
  let kubeconfig: string
  const serve = (maxReviewsPerOperation: number): Promise<ServedGateway> => {
    const access = {
      maxReviewsInFlight: 2,
      maxReviewsWaiting: 600,
      maxDecisions: 300,
      maxReviewsPerOperation,
      reviewDeadlineMs: 60_000,
      allowMs: 3_600_000,
      denyMs: 3_600_000,
    }
    const auth = { mode: 'token-review', knownMs: 100, deadlineMs: 4_000 } as const
    return serveGateway({ clusters: [{ name: 'one', kubeconfig }], access }, {}, { auth })
  }

  beforeAll(async () => {
    const simulator = await startSimulator({
      authorization: 'rbac',
      users: users.map((user) => ({
        user,
        token: tokenOf(user),
        groups: user === 'gateway' ? ['system:masters'] : [],
      })),
    })
    cluster = await startCountedServer(simulator.url, (path, body) => {
      const { spec } = JSON.parse(body)
      if (path.endsWith('/tokenreviews')) {
        seen.push(spec.token)
        return spec.token.startsWith('made-up') ? never : undefined
      }
      seen.push(spec.user)
      questions.add(body)
      if (spec.resourceAttributes.resource === 'held') return never
      return spec.user === 'mallory' ? sleep(5) : undefined
    })
    const folder = await mkdtemp(join(tmpdir(), 'informerql-queues-'))
    kubeconfig = join(folder, 'config.json')
    await writeFile(kubeconfig, kubeconfigText(cluster.url, tokenOf('gateway')))
    gateway = await serve(900)
    resources.push(gateway, cluster, simulator, {
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
    })
    for (const user of ['ann', 'mallory'])
      await gateway.as(tokenOf(user)).data(`{ ${can('nodes')} }`)
  })
  afterAll(async () => {
    stop.abort()
    for (const one of resources) await one[Symbol.asyncDispose]()
  })

  it('who has asked for more access reviews than one operation may need is refused further ones whole, for a while', async () => {
    // So few that the slowest machine reviews them faster than the user may ask again.
    await using strict = await serve(90)
    const zoe = strict.as(tokenOf('zoe'))
    let asked = 0
    const next = async () => {
      const all = Array.from({ length: 30 }, () => can(`z${(asked += 1)}`, `c${asked}`))
      // A review that is asked for first makes no difference.
      return zoe.query(`{ pod(namespace: "z${asked}", name: "p") { kind } ${all.join(' ')} }`)
    }
    let known = 0
    let before = 0
    /** Asks until it is refused. */
    const refused = async () => {
      for (;;) {
        before = countOf('zoe')
        const answer = await next()
        if (answer.errors?.[0]?.extensions.code === 'TOO_MANY_OPERATIONS') return answer
        known = asked
      }
    }
    const answer = await refused()
    expect(answer).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'TOO_MANY_OPERATIONS', retryAfterMs: expect.any(Number) } }],
    })
    expect(answer.errors).toHaveLength(1)
    expect(countOf('zoe') - before).toBeLessThan(10)
    // What is known is answered, and so are others. What was reviewed just after RBAC was first listed is reviewed once more.
    const askKnown = async () => {
      const { errors } = await zoe.query(`{ ${can(`z${known}`)} }`)
      if (errors !== undefined) await refused()
      return errors
    }
    await expect.poll(askKnown).toBeUndefined()
    await strict.as(tokenOf('ann')).data(`{ ${can('limitranges')} }`)
    await expect.poll(async () => (await zoe.query(`{ ${can('later')} }`)).errors).toBeUndefined()
  })

  it('an operation sends no more access reviews than one operation may', async () => {
    questions.clear()
    const { errors } = await gateway.as(tokenOf('mallory')).query(manyNames)
    expect(errors?.[0]?.extensions.code).toBe('RBAC_BUDGET_EXCEEDED')
    expect(questions.size).toBeLessThanOrEqual(900)
  })

  it('a thousand access reviews of one user let those of others pass, and do not forget what is known of them', async () => {
    const ann = gateway.as(tokenOf('ann'))
    await ann.data(`{ ${can('pods')} }`)
    const before = countOf('mallory')
    const all = gateway.as(tokenOf('mallory')).query(manyQuestions)
    await expect.poll(() => countOf('mallory') - before).toBeGreaterThan(0)
    await ann.data(`{ ${can('services')} }`)
    expect(countOf('mallory') - before).toBeLessThan(400)
    // More of them than may wait.
    expect((await all).errors?.[0]?.extensions.code).toBe('CLUSTER_UNREACHABLE')
    const known = countOf('ann')
    await ann.data(`{ ${can('pods')} }`)
    await ann.data(`{ ${can('services')} }`)
    expect(countOf('ann')).toBe(known)
  })

  it('an access review waits for no other that is asked for in the same moment', async () => {
    const { host, port } = new URL(gateway.url)
    const post = (query: string): string => {
      const body = JSON.stringify({ query })
      const headers = `host: ${host}\r\ncontent-type: application/json\r\nauthorization: Bearer ${tokenOf('ann')}`
      return `POST /graphql HTTP/1.1\r\n${headers}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    }
    // In one packet.
    const [head = '', body = ''] = post(`{ ${can('jobs')} }`).split('\r\n\r\n')
    const both = body + post(`{ ${can('held')} }`)
    const answer = await rawRequest(Number(port), head.split('\r\n'), both)
    expect(answer.status).toBe(200)
    answer.socket.destroy()
  })

  it.runIf(process.platform === 'linux')(
    'tokens that are made up keep nobody out who is known, or who comes from elsewhere',
    async () => {
      let made = 0
      const attack = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          const authorization = `Bearer made-up-${(made += 1)}`
          const headers = { 'content-type': 'application/json', authorization }
          const body = JSON.stringify({ query: '{ __typename }' })
          const sent = { method: 'POST', headers, body, signal: stop.signal }
          await fetch(gateway.url, sent).then(
            (response) => response.text(),
            () => {},
          )
        }
      }
      const attacks = Array.from({ length: 300 }, attack)
      await expect
        .poll(() => seen.filter((one) => one.startsWith('made-up')).length)
        .toBeGreaterThan(60)
      const before = countOf(tokenOf('ann'))
      const ann = gateway.as(tokenOf('ann'))
      while (countOf(tokenOf('ann')) < before + 3) await ann.data('{ __typename }')

      const newcomer = request(gateway.url, {
        method: 'POST',
        localAddress: '127.0.0.2',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${tokenOf('ben')}` },
      })
      newcomer.end(JSON.stringify({ query: '{ __typename }' }))
      const [response] = await once(newcomer, 'response')
      response.resume()
      expect(response.statusCode).toBe(200)
      stop.abort()
      await Promise.all(attacks)
    },
  )
})

it('a page of 500 rows may ask whether each may be updated, patched and deleted, row by row', async () => {
  const apiGroup = 'rbac.authorization.k8s.io'
  await using simulator = await startSimulator({
    authorization: 'rbac',
    users: ['gateway', 'ann'].map((user) => ({
      user,
      token: tokenOf(user),
      groups: user === 'gateway' ? ['system:masters'] : [],
    })),
    populate: company({ seed: 'page', pods: 500, now: new Date('2026-01-15T12:00:00Z') }),
  })
  const create = async (path: string, body: object): Promise<void> => {
    const authorization = `Bearer ${tokenOf('gateway')}`
    const headers = { 'content-type': 'application/json', authorization }
    const url = `${simulator.url}/apis/${apiGroup}/v1/${path}`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(response.status).toBe(201)
  }
  const metadata = { name: 'reader' }
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }]
  await create('clusterroles', { metadata, rules })
  const roleRef = { apiGroup, kind: 'ClusterRole', name: 'reader' }
  const subjects = [{ apiGroup, kind: 'User', name: 'ann' }]
  await create('clusterrolebindings', { metadata, roleRef, subjects })
  const folder = await mkdtemp(join(tmpdir(), 'informerql-page-'))
  const kubeconfig = join(folder, 'config.json')
  await writeFile(kubeconfig, kubeconfigText(simulator.url, tokenOf('gateway')))
  await using gateway = await serveGateway(
    { clusters: [{ name: 'one', kubeconfig }] },
    {},
    { auth: { mode: 'token-review' } },
  )
  await rm(folder, { recursive: true })
  const verbs = ['update', 'patch', 'delete']
    .map((verb) => `${verb}: can(verb: "${verb}")`)
    .join(' ')
  const page = `{ pods(first: 500) { nodes { ${verbs} } } }`
  for (let reload = 0; reload < 3; reload += 1) {
    const { pods } = await gateway.as(tokenOf('ann')).data(page)
    expect(pods.nodes.length).toBeGreaterThan(400)
    expect(pods.nodes[0]).toEqual({ update: false, patch: false, delete: false })
  }
})
