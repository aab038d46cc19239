import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiServer, createApiServer } from 'informerql/cluster'
import {
  leaderElectionDefaults,
  LeadershipLostError,
  runLeaderElection,
} from 'informerql/controller'
import { InvalidOptionError, resources } from 'informerql/informer'
import type { Lease } from 'informerql/kubernetes'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeContract } from '../contract/contract-server.ts'
import { openApiServer } from '../support/contract-api-server.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { until } from '../support/informer.ts'
import { startAnswerProxy } from './answer-proxy.ts'
import { runCandidate, shortTerms, untilAborted } from './candidates.ts'

const namespace = 'default'
let leases = 0
const newName = (): string => `lease-${++leases}`

describeContract('Leader election', (server) => {
  let apiServer: ApiServer
  beforeAll(async () => {
    apiServer = await openApiServer(server())
  })
  afterAll(async () => apiServer[Symbol.asyncDispose]())

  const client = () => apiServer.client(resources.leases)
  const leaseOf = async (name: string): Promise<Lease> => await client().get({ namespace, name })
  const specOf = async (name: string) => (await leaseOf(name)).spec ?? {}
  const candidate = (
    identity: string,
    name: string,
    more: Partial<Parameters<typeof runCandidate>[0]> = {},
    work?: Parameters<typeof runCandidate>[1],
  ) => runCandidate({ apiServer, namespace, name, identity, ...more }, work)

  it('keeps the lease as client-go does: made, renewed, released', async () => {
    const name = newName()
    await using one = candidate('one', name)
    await one.leads()
    const made = await specOf(name)
    expect(made).toMatchObject({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
    })
    const renewals = one.renewals
    await until(() => one.renewals >= renewals + 2, 'two renewals')
    const renewed = await specOf(name)
    expect(renewed.acquireTime).toBe(made.acquireTime)
    expect(Date.parse(renewed.renewTime ?? '')).toBeGreaterThan(Date.parse(made.renewTime ?? ''))
    expect(await one.stop()).toBeUndefined()
    expect(await specOf(name)).toMatchObject({
      holderIdentity: '',
      leaseDurationSeconds: 1,
      leaseTransitions: 0,
    })
    expect(one.events).toEqual(['new leader one', 'led', 'stopped'])
    expect(one.leading).toEqual([false, true, false])
    expect(one.signal?.aborted).toBe(true)
    expect(one.term?.lost.aborted).toBe(false)
  })

  it('a leader that stops holds the lease until its work has ended, and then hands it over', async () => {
    const name = newName()
    const finish = Promise.withResolvers<void>()
    await using one = candidate('one', name, {}, () => finish.promise)
    await one.leads()
    await using two = candidate('two', name)
    const stopped = one.stop()
    const renewals = one.renewals
    await until(() => one.renewals >= renewals + 3, 'renewals after the stop')
    expect(two.term).toBeUndefined()
    finish.resolve()
    expect(await stopped).toBeUndefined()
    await two.leads()
    expect([one.term?.transitions, two.term?.transitions]).toEqual([0, 1])
    expect((await specOf(name)).leaseTransitions).toBe(1)
    expect(two.events).toEqual(['new leader one', 'new leader two', 'led'])
  })

  it('a lease that is not released is free when it has run out by the clock of the rival', async () => {
    const name = newName()
    await using one = candidate('one', name, { ...shortTerms, releaseOnStop: false })
    await one.leads()
    await until(() => one.renewals > 0, 'a renewal')
    await one.stop()
    expect((await specOf(name)).holderIdentity).toBe('one')
    const beganAtMs = performance.now()
    await using two = candidate('two', name)
    await two.leads()
    expect(two.startedAtMs - beganAtMs).toBeGreaterThanOrEqual(shortTerms.leaseDurationMs)
  })

  it.each(['2001-01-01T00:00:00.000000Z', '2101-01-01T00:00:00.000000Z'])(
    'the times in a lease do not count: %s',
    async (time) => {
      const name = newName()
      const spec = {
        holderIdentity: 'somebody',
        leaseDurationSeconds: 2,
        acquireTime: time,
        renewTime: time,
        leaseTransitions: 7,
      }
      await client().create({ metadata: { namespace, name }, spec })
      const beganAtMs = performance.now()
      await using one = candidate('one', name)
      await one.leads()
      expect(one.startedAtMs - beganAtMs).toBeGreaterThanOrEqual(2000)
      expect(one.term?.transitions).toBe(8)
      expect(one.events).toEqual(['new leader somebody', 'new leader one', 'led'])
    },
  )

  it('a leader whose lease another process takes ends its work and rejects', async () => {
    const name = newName()
    await using one = candidate('one', name)
    await one.leads()
    const { spec } = await leaseOf(name)
    await client().patch({ namespace, name }, { merge: { spec: { ...spec, holderIdentity: 'x' } } })
    const error = await one.ended
    expect(error).toBeInstanceOf(LeadershipLostError)
    expect(error).toMatchObject({ reason: 'taken', workEnded: true, code: 'LEADERSHIP_LOST' })
    expect([one.signal?.reason, one.term?.lost.reason]).toMatchObject([
      { reason: 'taken' },
      { reason: 'taken' },
    ])
    expect(one.term?.remainingMs()).toBe(0)
    expect((await specOf(name)).holderIdentity).toBe('x')
    expect(one.events.slice(-3)).toEqual(['slow path', 'new leader x', 'stopped'])
  })

  it('a leader whose lease is deleted ends its work and rejects', async () => {
    const name = newName()
    await using one = candidate('one', name)
    await one.leads()
    await client().delete({ namespace, name })
    expect(await one.ended).toMatchObject({ reason: 'deleted', workEnded: true })
    await expect(leaseOf(name)).rejects.toMatchObject({ httpStatus: 404 })
  })

  it('a lease that somebody annotates stays the leader’s, and keeps the annotation', async () => {
    const name = newName()
    await using one = candidate('one', name)
    await one.leads()
    const annotations = { note: 'kept' }
    await client().patch({ namespace, name }, { merge: { metadata: { annotations } } })
    await until(() => one.events.includes('slow path'), 'the slow path')
    const { renewals } = one
    await until(() => one.renewals > renewals, 'a renewal')
    expect(await one.stop()).toBeUndefined()
    const { metadata, spec } = await leaseOf(name)
    expect([metadata.annotations, spec?.holderIdentity]).toEqual([annotations, ''])
  })

  it('a second process with the same identity does not lead beside the first', async () => {
    const name = newName()
    await using one = candidate('same', name)
    await one.leads()
    await using other = candidate('same', name)
    await until(() => other.events.length > 0, 'the other has seen the lease')
    const { renewals } = one
    await until(() => one.renewals > renewals + 5, 'renewals')
    expect(other.term).toBeUndefined()
    await one.stop()
    await other.leads()
  })

  it('work that fails gives the lease up, and its error is the election’s', async () => {
    const name = newName()
    const failure = new Error('out of paper')
    await using one = candidate('one', name, {}, () => Promise.reject(failure))
    expect(await one.ended).toBe(failure)
    expect((await specOf(name)).holderIdentity).toBe('')
    expect(one.events).toEqual(['new leader one', 'led', 'stopped'])
  })

  it('work that rejects because it was told to end has ended well', async () => {
    await using one = candidate('one', newName(), {}, async (signal) => {
      await sleep(60_000, undefined, { signal })
    })
    await one.leads()
    expect(await one.stop()).toBeUndefined()
  })

  it('work that does not end after the stop loses the lease', async () => {
    const name = newName()
    const never = Promise.withResolvers<void>()
    await using one = candidate(
      'one',
      name,
      { ...shortTerms, stopDeadlineMs: 50 },
      () => never.promise,
    )
    await one.leads()
    await using two = candidate('two', name)
    const error = await one.stop()
    expect(error).toMatchObject({ reason: 'stuck', workEnded: false })
    expect((error as LeadershipLostError).hint).toContain('end the process')
    expect(one.term?.lost.aborted).toBe(true)
    await two.leads()
  })

  it('of ten candidates one leads at a time, and each has its turn', async () => {
    const name = newName()
    const leading = new Set<string>()
    const most: number[] = []
    const running = new Map(
      Array.from({ length: 10 }, (_, at) => {
        const identity = `candidate-${at}`
        const one = candidate(identity, name, {}, async (signal, term) => {
          leading.add(identity)
          most.push(leading.size)
          await untilAborted(signal, term)
          leading.delete(identity)
        })
        return [identity, one]
      }),
    )
    const transitions: number[] = []
    while (running.size > 0) {
      await until(() => leading.size > 0, 'a leader')
      const [leader = ''] = leading
      const one = running.get(leader)
      running.delete(leader)
      transitions.push(one?.term?.transitions ?? -1)
      await one?.stop()
    }
    expect(Math.max(...most)).toBe(1)
    expect(transitions).toEqual(Array.from({ length: 10 }, (_, at) => at))
  })
})

describe('A leader that the server does not answer', () => {
  it('ends its work before the lease runs out; then a rival leads', async () => {
    await using simulator = await startSimulator()
    await using proxy = await startCutProxy(Number(new URL(simulator.url).port))
    await using away = createApiServer({ server: `http://127.0.0.1:${proxy.port}` })
    await using near = createApiServer({ server: simulator.url })
    let endedAtMs = 0
    await using one = runCandidate(
      { apiServer: away, namespace, name: 'a', identity: 'one', ...shortTerms },
      async (signal, term) => {
        await untilAborted(signal, term)
        endedAtMs = performance.now()
      },
    )
    await one.leads()
    await using two = runCandidate({
      apiServer: near,
      namespace,
      name: 'a',
      identity: 'two',
      ...shortTerms,
    })
    await until(() => one.renewals > 2, 'renewals')
    proxy.hang()
    const error = await one.ended
    expect(error).toMatchObject({ reason: 'expired', workEnded: true })
    expect((error as Error).cause).toMatchObject({ code: 'CONNECTION_TIMEOUT' })
    await two.leads()
    expect(two.startedAtMs).toBeGreaterThan(endedAtMs)
    expect(one.events).toContain('failed renew')
    proxy.flow()
  })

  it('is told that its work still runs when the lease runs out', async () => {
    await using simulator = await startSimulator()
    await using apiServer = createApiServer({ server: simulator.url })
    const finish = Promise.withResolvers<void>()
    await using one = runCandidate(
      { apiServer, namespace, name: 'a', identity: 'one', ...shortTerms },
      () => finish.promise,
    )
    await one.leads()
    simulator.faults.inject({ fault: { type: 'cut' } })
    expect(await one.ended).toMatchObject({ reason: 'expired', workEnded: false })
    expect(one.term?.remainingMs()).toBeLessThan(1)
    expect(one.leading.at(-1)).toBe(false)
    expect(one.term?.lost.aborted).toBe(true)
    finish.resolve()
    simulator.faults.inject({ fault: { type: 'mend' } })
  })

  it('goes on where it answers again in time', async () => {
    await using simulator = await startSimulator()
    await using apiServer = createApiServer({ server: simulator.url })
    await using one = runCandidate({ apiServer, namespace, name: 'a', identity: 'one' })
    await one.leads()
    simulator.faults.inject({
      fault: { type: 'status', code: 503 },
      match: { resource: 'leases' },
      times: 3,
    })
    await until(() => one.events.filter((event) => event === 'failed renew').length === 3, 'failed')
    const { renewals } = one
    await until(() => one.renewals > renewals, 'a renewal')
    expect(await one.stop()).toBeUndefined()
  })

  it.each(['POST', 'PUT'])('keeps the lease when the answer to a %s is lost', async (method) => {
    await using simulator = await startSimulator()
    await using proxy = await startAnswerProxy(simulator.url)
    await using apiServer = createApiServer({ server: proxy.url })
    if (method === 'POST') proxy.lose(method)
    await using one = runCandidate({ apiServer, namespace, name: 'a', identity: 'one' })
    await one.leads()
    if (method === 'PUT') proxy.lose(method)
    const step = method === 'POST' ? 'acquire' : 'renew'
    await until(() => one.events.includes(`failed ${step}`), 'the lost answer')
    const { renewals } = one
    await until(() => one.renewals > renewals, 'a renewal')
    expect(one.term?.transitions).toBe(0)
    expect(await one.stop()).toBeUndefined()
  })

  it('counts its lease from when a renewal was sent, not from its answer', async () => {
    await using simulator = await startSimulator()
    await using proxy = await startAnswerProxy(simulator.url)
    await using apiServer = createApiServer({ server: proxy.url })
    proxy.delayMs = 400
    await using one = runCandidate({ apiServer, namespace, name: 'a', identity: 'one' })
    await until(() => one.remainingMs.length > 2, 'renewals')
    expect(Math.max(...one.remainingMs)).toBeLessThanOrEqual(
      leaderElectionDefaults.leaseDurationMs - proxy.delayMs + 1,
    )
    expect(await one.stop()).toBeUndefined()
  })

  it('stops before it has led, and leaves no lease held', async () => {
    await using simulator = await startSimulator()
    await using apiServer = createApiServer({ server: simulator.url })
    simulator.faults.inject({ fault: { type: 'cut' } })
    await using one = runCandidate({ apiServer, namespace, name: 'a', identity: 'one' })
    await until(() => one.events.includes('failed acquire'), 'a failed attempt')
    expect(await one.stop()).toBeUndefined()
    expect(one.events.every((event) => event === 'failed acquire')).toBe(true)
  })
})

describe('The options of a leader election', () => {
  const apiServer = createApiServer({ server: 'http://127.0.0.1:1' })
  const given = { apiServer, namespace, name: 'a' }
  const callbacks = { onStartedLeading: untilAborted }

  it.each([
    [{ leaseDurationMs: 10_000 }, 'renewDeadlineMs', /less than leaseDurationMs, which is 10000/],
    [{ leaseDurationMs: 15_500 }, 'leaseDurationMs', /whole seconds/],
    [{ renewDeadlineMs: 2400 }, 'renewDeadlineMs', /more than 1.2 times retryPeriodMs/],
    [{ retryPeriodMs: 0 }, 'retryPeriodMs', /at least 1/],
    [{ leaseDurationMs: Number.POSITIVE_INFINITY }, 'leaseDurationMs', /whole seconds/],
    [{ leaseDurationMs: 3_000_000_000 }, 'leaseDurationMs', /at most/],
    [{ name: '' }, 'name', /name of the lease/],
    [{ name: 'Bad Name' }, 'name', /lower case letters/],
    [{ namespace: '' }, 'namespace', /namespace of the lease/],
    [{ namespace: 'a.b' }, 'namespace', /lower case letters/],
    [{ identity: '' }, 'identity', /no other process/],
    [{ leaseDuration: 15 }, 'leaseDuration', /leaseDurationMs/],
  ])('%j is refused', async (option, name, hint) => {
    const stopped = AbortSignal.abort()
    const error: unknown = await runLeaderElection(
      { ...given, ...option },
      callbacks,
      stopped,
    ).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(InvalidOptionError)
    expect((error as InvalidOptionError).option).toBe(name)
    expect((error as InvalidOptionError).hint).toMatch(hint)
  })

  it('are client-go’s unless given', () => {
    expect(leaderElectionDefaults).toMatchObject({
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
    })
  })
})
