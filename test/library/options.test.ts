import { once } from 'node:events'
import {
  createGateway,
  type GatewayOptions,
  type GraphQLServerOptions,
  startGraphQLServer,
} from 'informerql'
import { createApiServer, retryOnConflict } from 'informerql/cluster'
import {
  bucketRateLimiter,
  createController,
  createDynamicInformerFactory,
  createSharedInformer,
  DeadlineError,
  createSharedInformerFactory,
  createWorkQueue,
  InformerStoppedError,
  InvalidOptionError,
  itemExponentialFailureRateLimiter,
  type Resource,
  resources,
  runWorkers,
  type SharedInformerOptions,
  SourceMismatchError,
} from 'informerql/informer'
import { startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../api-server/local-server.ts'
import { ScriptedServer } from '../informer/scripted-server.ts'
import { connect } from '../support/informer.ts'

const deadlineMs = 20_000
const { configMaps, deployments, pods } = resources

const from = () => ({
  apiServer: createApiServer({ server: 'http://127.0.0.1:1' }),
  resource: configMaps,
})

function thrownBy(create: () => unknown): unknown {
  try {
    create()
  } catch (error) {
    return error
  }
  return undefined
}

/** Options as a caller writes them whose own are optional: every one is there, as undefined. */
const undefinedOptions = {
  tweakListOptions: undefined,
  observer: undefined,
  queueLimit: undefined,
  pageSize: undefined,
  initialList: undefined,
  backoff: undefined,
  maxRetryAfterMs: undefined,
  watchTimeoutSeconds: undefined,
  watchListSilenceMs: undefined,
  shortWatchMs: undefined,
  slowListMs: undefined,
  suspendGapMs: undefined,
  namespace: undefined,
  labelSelector: undefined,
  fieldSelector: undefined,
  indexers: undefined,
  transform: undefined,
  metadataOnly: undefined,
  resyncPeriodMs: undefined,
  detectMutations: undefined,
  resourceVersionsComparable: undefined,
  handlerStopDeadlineMs: undefined,
} as unknown as Partial<SharedInformerOptions>

describe('An option that is undefined', () => {
  it('is absent: the informer lists, watches and tells as without it', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    await using factory = createSharedInformerFactory({ apiServer })
    const informer = factory.informer(configMaps, undefinedOptions)
    expect(factory.informer(configMaps)).toBe(informer)
    informer.addEventHandler({}, {
      bufferLimit: undefined,
      overflow: undefined,
      resyncPeriodMs: undefined,
    } as object)
    factory.start()
    const watch = await server.sync('10', [])
    expect(Number(watch.query['timeoutSeconds'])).toBeGreaterThanOrEqual(300)
    await informer.waitForSync({ deadlineMs })
  })

  it('is absent in a work queue and its workers, too', async () => {
    const queue = createWorkQueue({ rateLimiter: undefined, pending: undefined } as object)
    bucketRateLimiter({ qps: undefined, burst: undefined } as object)
    queue.add('a')
    const stop = new AbortController()
    const done: string[] = []
    const { abandoned } = await runWorkers(
      queue,
      1,
      (key) => {
        done.push(key)
        stop.abort()
      },
      stop.signal,
      { drainDeadlineMs: undefined, stopDeadlineMs: undefined, maxRetries: undefined } as object,
    )
    expect([done, abandoned]).toEqual([['a'], []])
  })

  it('is absent where a connection is made', () => {
    const limits = { maxFrameBytes: undefined, requestDeadlineMs: undefined } as object
    expect(createApiServer({ server: 'http://127.0.0.1:1', ...limits }).name).toBe(
      'http://127.0.0.1:1',
    )
  })

  it('is filled in where a back-off is given in part: the informer tries again', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    const backoff = { initialMs: 1, maxMs: undefined } as object
    await using factory = createSharedInformerFactory({
      apiServer,
      backoff,
      observer: { failed() {} },
    })
    const informer = factory.informer(configMaps)
    factory.start()
    const list = await server.next('list')
    list.refuse(500)
    await server.sync('10', [])
    await informer.waitForSync({ deadlineMs })
    expect(informer.hasSynced()).toBe(true)
  })
})

describe('An option that is not known', () => {
  it.each<[string, (typo: object) => unknown, object, string]>([
    [
      'an informer',
      (typo) => createSharedInformer({ ...from(), ...typo }),
      { labelselector: 'a=b' },
      'labelSelector',
    ],
    [
      'an informer',
      (typo) => createSharedInformer({ ...from(), ...typo }),
      { backoff: { initial: 1 } },
      'backoff.initialMs',
    ],
    [
      'an informer',
      (typo) =>
        createSharedInformerFactory({ apiServer: from().apiServer }).informer(configMaps, typo),
      { resync: 1 },
      'resyncPeriodMs',
    ],
    [
      'an informer factory',
      (typo) => createSharedInformerFactory({ apiServer: from().apiServer, ...typo }),
      { nameSpace: 'a' },
      'namespace',
    ],
    [
      'a dynamic factory',
      (typo) => createDynamicInformerFactory({ apiServer: from().apiServer, ...typo }),
      { discoverEvery: 1 },
      'discoverEveryMs',
    ],
    [
      'a controller',
      (typo) => createController({ ...from(), knownObjects: 'none', process() {}, ...typo }),
      { queuelimit: 1 },
      'queueLimit',
    ],
    [
      'a listener',
      (typo) => createSharedInformer(from()).addEventHandler({}, typo),
      { bufferlimit: 5 },
      'bufferLimit',
    ],
    ['a work queue', (typo) => createWorkQueue(typo), { ratelimiter: {} }, 'rateLimiter'],
    [
      'a rate limiter',
      (typo) => itemExponentialFailureRateLimiter(typo),
      { baseDelay: 5 },
      'baseDelayMs',
    ],
    [
      'an API server',
      (typo) => createApiServer({ server: 'http://127.0.0.1:1', ...typo }),
      { requestDeadline: 5 },
      'requestDeadlineMs',
    ],
    [
      'a client',
      (typo) => from().apiServer.client(configMaps, typo),
      { fieldmanager: 'a' },
      'fieldManager',
    ],
  ])('of %s is refused with the nearest name', (_, create, typo, nearest) => {
    const error = thrownBy(() => create(typo))
    expect(error).toMatchObject({ code: 'INVALID_OPTION', hint: `give ${nearest}` })
    expect((error as Error).message).toMatch(/ has no option /)
  })

  it('of a wait, a write, a retry, workers, a simulator or a gateway is refused with the nearest name', async () => {
    const informer = createSharedInformer(from())
    const { signal } = new AbortController()
    const held = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'a', name: 'a' },
    } as const
    const refused: [Promise<unknown>, string][] = [
      [informer.waitForSync({ deadline: 5 } as object), 'deadlineMs'],
      [
        from()
          .apiServer.client(configMaps)
          .update(held, { precondition: {} } as object),
        'preconditions',
      ],
      [
        from()
          .apiServer.client(configMaps)
          .delete(held.metadata, { dryrun: true } as object),
        'dryRun',
      ],
      [startSimulator({ historyEvent: 5 } as object), 'historyEvents'],
      [
        startGraphQLServer({ queries: {} } as object as GraphQLServerOptions),
        'one of server, plugins, ',
      ],
      [
        startGraphQLServer({ server: { maxbodybytes: 1 } } as object as GraphQLServerOptions),
        'server.maxBodyBytes',
      ],
      [retryOnConflict(async () => {}, { attemps: 3 } as object), 'attempts'],
      [
        runWorkers(createWorkQueue(), 1, () => {}, signal, { maxretries: 1 } as object),
        'maxRetries',
      ],
      [
        createGateway({
          clusters: [{ name: 'a' }],
          preloads: ['pods'],
        } as object as GatewayOptions),
        'preload',
      ],
      [
        createGateway({ clusters: [{ name: 'a', kubeConfig: 'x' } as object as { name: string }] }),
        'clusters[0].kubeconfig',
      ],
      [
        createGateway({ clusters: [{ name: 'a', labels: { 'not a key': 'x' } }] }),
        'labels in Kubernetes',
      ],
      [
        createGateway({ clusters: [{ name: 'a' }], limits: { maxPagesize: 1 } as object }),
        'limits.maxPageSize',
      ],
    ]
    for (const [promise, nearest] of refused) {
      expect(await failureOf(promise)).toMatchObject({
        code: 'INVALID_OPTION',
        hint: expect.stringContaining(`give ${nearest}`),
      })
    }
  })

  it('and is near to none is told which there are', () => {
    const error = thrownBy(() => createWorkQueue({ zzzzzzzzz: 1 } as object))
    expect(error).toMatchObject({ hint: 'give one of rateLimiter, pending, observer, identify' })
  })
})

describe('An option of another type', () => {
  it.each<[string, object]>([
    ['requestDeadlineMs', { requestDeadlineMs: '5s' }],
    ['gzip', { gzip: 'yes' }],
    ['userAgent', { userAgent: 5 }],
    ['maxFrameBytes', { maxFrameBytes: '8MiB' }],
  ])('is refused: %s of a connection', (option, given) => {
    const error = thrownBy(() => createApiServer({ server: 'http://127.0.0.1:1', ...given }))
    expect(error).toMatchObject({ code: 'INVALID_OPTION', option })
  })

  it.each<[string, object]>([
    ['labelSelector', { labelSelector: { app: 'a' } }],
    ['indexers', { indexers: [] }],
    ['transform', { transform: 'upper' }],
    ['metadataOnly', { metadataOnly: 'true' }],
  ])('is refused: %s of an informer', (option, given) => {
    const error = thrownBy(() => createSharedInformer({ ...from(), ...given }))
    expect(error).toMatchObject({ code: 'INVALID_OPTION', option })
  })
})

describe('What is missing is told', () => {
  it('where a gateway is given no clusters', async () => {
    for (const given of [{}, { clusters: [] }] as object[]) {
      expect(await failureOf(createGateway(given as GatewayOptions))).toMatchObject({
        code: 'INVALID_OPTION',
        option: 'clusters',
        hint: "give at least one cluster, such as [{ name: 'prod', context: 'prod' }]",
      })
    }
  })

  it('where an informer or a client is given no resource', () => {
    const { apiServer } = from()
    const none = undefined as unknown as Resource
    const noKind = { group: '', version: 'v1', resource: 'pods' } as Resource
    for (const create of [
      () => createSharedInformerFactory({ apiServer }).informer(none),
      () => createSharedInformerFactory({ apiServer }).informer(noKind),
      () => createSharedInformer({ apiServer, resource: none }),
      () => apiServer.client(none),
      () => apiServer.resource(none),
    ]) {
      expect(thrownBy(create)).toMatchObject({
        code: 'INVALID_OPTION',
        option: 'resource',
        hint: expect.stringContaining('resources.pods'),
      })
    }
    expect(
      thrownBy(() => createSharedInformer(undefined as unknown as SharedInformerOptions)),
    ).toMatchObject({
      message: 'the options of an informer are undefined',
    })
  })
})

describe('A deadline', () => {
  it('of Infinity, or none, is none', async () => {
    await using simulator = await startSimulator()
    await using apiServer = connect(simulator.url)
    await using factory = createSharedInformerFactory({ apiServer })
    const informer = factory.informer(configMaps)
    const waits = [
      informer.waitForSync(),
      informer.waitForSync({ deadlineMs: Number.POSITIVE_INFINITY }),
      informer.waitForSync({ deadlineMs: 2 ** 40 }),
      factory.waitForCacheSync(),
      factory.waitForCacheSync({ deadlineMs: Number.POSITIVE_INFINITY }),
    ]
    await expect(informer.waitForSync({ deadlineMs: 1 })).rejects.toThrow(DeadlineError)
    factory.start()
    await Promise.all(waits)
    expect(informer.hasSynced()).toBe(true)
  })

  it('of Infinity does not abort a reconcile, nor cut a drain short', async () => {
    const queue = createWorkQueue()
    queue.add('a')
    const stop = new AbortController()
    const noLimit = Number.POSITIVE_INFINITY
    let aborted: boolean | undefined
    await runWorkers(
      queue,
      1,
      async (_, signal) => {
        stop.abort()
        // Longer than the shortest deadline.
        await once(AbortSignal.timeout(1), 'abort')
        aborted = signal.aborted
      },
      stop.signal,
      { reconcileDeadlineMs: noLimit, drainDeadlineMs: noLimit, stopDeadlineMs: noLimit },
    )
    expect(aborted).toBe(false)
  })

  it.for([Number.NaN, -1])('of %d is refused', async (wrong) => {
    await using apiServer = connect('http://127.0.0.1:1')
    const factory = createSharedInformerFactory({ apiServer })
    const informer = factory.informer(configMaps)
    const queue = createWorkQueue()
    const { signal } = new AbortController()
    const run = (options: object) => runWorkers(queue, 1, () => {}, signal, options)
    for (const refused of [
      informer.waitForSync({ deadlineMs: wrong }),
      factory.settleCacheSync({ deadlineMs: wrong }),
      informer.store.waitForResourceVersion('5' as never, { deadlineMs: wrong }),
      queue.shutDownWithDrain({ deadlineMs: wrong }),
      run({ reconcileDeadlineMs: wrong }),
      run({ drainDeadlineMs: wrong }),
      run({ stopDeadlineMs: wrong }),
    ]) {
      expect(await failureOf(refused)).toBeInstanceOf(InvalidOptionError)
    }
    const options = (more: object) => () =>
      createSharedInformer({ apiServer, resource: configMaps, ...more })
    for (const create of [
      options({ resyncPeriodMs: wrong }),
      options({ handlerStopDeadlineMs: wrong }),
      options({ pageSize: wrong }),
      options({ queueLimit: wrong }),
      options({ slowListMs: wrong }),
      options({ backoff: { initialMs: wrong } }),
      options({ watchTimeoutSeconds: { min: wrong, max: 5 } }),
      options({ initialList: 'all' }),
      () => informer.listen({ bufferLimit: wrong }),
      () => createApiServer({ server: 'http://127.0.0.1:1', connectDeadlineMs: wrong }),
    ]) {
      expect(create, String(create)).toThrow(InvalidOptionError)
    }
  })
})

describe('The resource of an informer', () => {
  it('is named once: a source of another one is refused', async () => {
    await using apiServer = connect('http://127.0.0.1:1')
    const source = apiServer.resource(deployments)
    const create = () => createSharedInformer({ resource: pods, source })
    expect(create).toThrow(SourceMismatchError)
    expect(create).toThrow(/of pods .* of deployments\.apps/)
    const process = () => {}
    expect(() =>
      createController({ resource: pods, source, knownObjects: 'none', process }),
    ).toThrow(SourceMismatchError)
    const informer = createSharedInformer({ resource: pods, source: apiServer.resource(pods) })
    expect(informer.resource).toBe(pods)
  })

  it('is not half of it: metadata only and whole objects do not mix', async () => {
    await using apiServer = connect('http://127.0.0.1:1')
    const partial = apiServer.resource(pods, { metadataOnly: true })
    expect(() => createSharedInformer({ resource: pods, source: partial })).toThrow(
      SourceMismatchError,
    )
    const whole = apiServer.resource(pods)
    expect(() =>
      createSharedInformer({ resource: pods, source: whole, metadataOnly: true }),
    ).toThrow(SourceMismatchError)
  })

  it('comes from one place: apiServer or source, and not neither', async () => {
    await using apiServer = connect('http://127.0.0.1:1')
    const source = apiServer.resource(pods)
    expect(() => createSharedInformer({ resource: pods, apiServer, source })).toThrow(
      InvalidOptionError,
    )
    expect(() => createSharedInformer({ resource: pods })).toThrow(InvalidOptionError)
    expect(() => createSharedInformerFactory({})).toThrow(InvalidOptionError)
  })

  it('needs known objects for its raw deltas, or the word that there are none', async () => {
    await using apiServer = connect('http://127.0.0.1:1')
    const options = { resource: pods, apiServer, process: () => {} }
    // @ts-expect-error -- what has vanished could not be told
    expect(() => createController(options)).toThrow(InvalidOptionError)
  })
})

describe('A wait for a sync', () => {
  it('says what the last failure was', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    await using factory = createSharedInformerFactory({ apiServer, observer: { failed: () => {} } })
    const informer = factory.informer(configMaps)
    factory.start()
    const list = await server.next('list')
    list.refuse(403)
    const error = await failureOf(informer.waitForSync({ deadlineMs: 500 }))
    expect(error).toBeInstanceOf(DeadlineError)
    expect(error).toMatchObject({ cause: { httpStatus: 403 } })
  })

  it('says of an informer that was not started how to start it', async () => {
    await using apiServer = connect('http://127.0.0.1:1')
    const informer = createSharedInformer({ apiServer, resource: configMaps })
    const error = await failureOf(informer.waitForSync({ deadlineMs: 1 }))
    expect(error).toMatchObject({ code: 'DEADLINE' })
    expect((error as DeadlineError).hint).toContain('run(signal)')
  })

  it('ends at once when the informer is stopped, or has been', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    const factory = createSharedInformerFactory({ apiServer })
    const running = factory.informer(configMaps)
    factory.start()
    const never = factory.informer(pods)
    const waits = [running.waitForSync(), never.waitForSync()].map(failureOf)
    await server.next('list')
    await factory.shutdown()
    for (const error of [
      ...(await Promise.all(waits)),
      await failureOf(running.waitForSync()),
      await failureOf(running.waitForSync({ deadlineMs })),
    ]) {
      expect(error).toBeInstanceOf(InformerStoppedError)
    }
  })
})
