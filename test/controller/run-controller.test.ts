import { createApiServer } from 'informerql/cluster'
import {
  createControllerMetrics,
  defineController,
  type ReconcileReport,
  ReconcileStuckError,
  runController,
  runControllers,
  type RunOptions,
  TerminalError,
} from 'informerql/controller'
import {
  createSharedInformerFactory,
  generationChanged,
  objectKey,
  objectPredicate,
  resources,
  setControllerReference,
} from 'informerql/informer'
import { expect, it } from 'vitest'
import { failureOf } from '../api-server/local-server.ts'
import {
  ask,
  type ContractServer,
  describeContract,
  newConfigMap,
  newNamespace,
} from '../contract/contract-server.ts'
import { openApiServer } from '../support/contract-api-server.ts'
import { startProgram } from '../support/example-process.ts'
import { until } from '../support/informer.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'

const log = { info() {}, warn() {}, error() {} }
const { configMaps, secrets, serviceAccounts } = resources

/** What a run needs in a test: a connection and its end. */
async function setting(server: ContractServer) {
  const apiServer = await openApiServer(server)
  const stop = new AbortController()
  const ends: Promise<unknown>[] = []
  return {
    apiServer,
    stop,
    options: { apiServer, log, signal: stop.signal } satisfies RunOptions,
    namespace: await newNamespace(server),
    /** Starts something that ends with the stop. */
    start: (run: Promise<void>) => {
      // One that fails early is seen at the end.
      run.catch(() => {})
      ends.push(run)
    },
    end: async () => {
      stop.abort()
      await Promise.all(ends)
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await Promise.allSettled(ends)
      await apiServer[Symbol.asyncDispose]()
    },
  }
}

const limited = { token: 'limited-token', user: 'limited', uid: 'limited', groups: [] }

const body = (server: () => ContractServer): void => {
  it('types the objects of each resource that owns and watches name', async () => {
    // The compiler checks it; nothing runs.
    const controller = defineController({
      for: { resource: configMaps, predicates: [generationChanged] },
      owns: [
        resources.deployments,
        {
          resource: resources.services,
          predicates: [{ onAdd: (service) => service.spec?.clusterIP !== 'None' }],
        },
      ],
      watches: [
        { resource: resources.pods, map: (pod) => [pod.spec?.nodeName ?? ''] },
        {
          resource: resources.nodes,
          map: (node, { lister }) =>
            lister(resources.pods)
              .list()
              .filter((pod) => pod.spec?.nodeName === node.metadata.name)
              .map(({ metadata }) => objectKey(metadata)),
        },
      ],
      reads: [
        serviceAccounts,
        {
          resource: resources.persistentVolumeClaims,
          informer: { indexers: { byVolume: ({ spec }) => [spec?.volumeName ?? ''] } },
        },
      ],
      reconcile: ({ namespace }, { object, client }) => {
        void client(resources.pods).get({ namespace, name: object?.data?.['a'] ?? '' })
      },
    })
    expect(controller.name).toBe('configmap')
  })

  it('reconciles what there is, what changes, what it owns and what it maps', async () => {
    await using test = await setting(server())
    const { apiServer, namespace, options } = test
    const at = { informer: { namespace } }
    await newConfigMap(server(), namespace, 'early', { labels: { parent: 'yes' } })
    test.start(
      runController({
        ...options,
        name: 'copier',
        for: {
          resource: configMaps,
          informer: {
            ...at.informer,
            labelSelector: 'parent',
            indexers: { byAccount: ({ data }) => (data?.['account'] ? [data['account']] : []) },
          },
        },
        owns: [{ resource: secrets, ...at }],
        watches: [
          {
            resource: serviceAccounts,
            ...at,
            map: ({ metadata }, { indexer }) =>
              indexer(configMaps).indexKeys('byAccount', metadata.name),
          },
        ],
        async reconcile({ name }, { object, client, lister }) {
          if (object === undefined) return
          const account = lister(serviceAccounts).namespaced(namespace)
          const team = account.find(object.data?.['account'] ?? '')?.metadata.labels?.['team']
          const stringData = { a: object.data?.['a'] ?? '', team: team ?? '' }
          const secret = { apiVersion: 'v1', kind: 'Secret', stringData } as const
          await client(secrets).apply(
            setControllerReference(object, { ...secret, metadata: { namespace, name } }),
            { force: true },
          )
        },
      }),
    )
    const dataOf = async (name: string) => {
      const found = await apiServer
        .client(secrets)
        .get({ namespace, name })
        .catch(() => undefined)
      const texts = Object.entries(found?.data ?? {}).map(([key, value]) => [key, atob(value)])
      return Object.fromEntries(texts) as Record<string, string>
    }
    await expect.poll(() => dataOf('early')).toEqual({ a: '1', team: '' })
    await newConfigMap(server(), namespace, 'late', {
      labels: { parent: 'yes' },
      data: { a: '2', account: 'robot' },
    })
    await expect.poll(() => dataOf('late')).toMatchObject({ a: '2', team: '' })
    const client = apiServer.client(configMaps)
    await client.patch({ namespace, name: 'early' }, { merge: { data: { a: '3' } } })
    await expect.poll(() => dataOf('early')).toMatchObject({ a: '3' })
    await apiServer.client(secrets).delete({ namespace, name: 'early' })
    await expect.poll(() => dataOf('early')).toMatchObject({ a: '3' })
    const labels = { team: 'red' }
    await apiServer
      .client(serviceAccounts)
      .create({ metadata: { namespace, name: 'robot', labels } })
    await expect.poll(() => dataOf('late')).toMatchObject({ team: 'red' })
    expect(await apiServer.client(secrets).get({ namespace, name: 'late' })).toMatchObject({
      metadata: { managedFields: [{ manager: 'copier', operation: 'Apply' }] },
    })
    await test.end()
  })

  it('tries again until it succeeds, but not after a TerminalError', async () => {
    await using test = await setting(server())
    const { namespace } = test
    await newConfigMap(server(), namespace, 'hard')
    await newConfigMap(server(), namespace, 'wrong')
    const reports: ReconcileReport[] = []
    test.start(
      runController({
        ...test.options,
        observer: { reconciled: (report) => void reports.push(report) },
        for: {
          resource: configMaps,
          informer: { namespace },
          predicates: [objectPredicate(({ metadata }) => metadata.name !== 'kube-root-ca.crt')],
        },
        reconcile({ name }, { attempt }) {
          if (name === 'wrong') throw new TerminalError('no way')
          if (attempt < 4) throw new Error('not yet')
          return { requeueAfterMs: 600_000 }
        },
      }),
    )
    await until(() => reports.length === 5, 'all attempts')
    await test.end()
    const of = (name: string) =>
      reports
        .filter(({ key }) => key === `${namespace}/${name}`)
        .map(({ outcome, attempt }) => `${attempt} ${outcome}`)
    expect(of('hard')).toEqual(['1 error', '2 error', '3 error', '4 requeue'])
    expect(of('wrong')).toEqual(['1 terminal'])
  })

  it('names the kind that is not served, and the right that is missing', async () => {
    await using test = await setting(server())
    const unserved = { group: 'examples.test', version: 'v1', resource: 'things', kind: 'Thing' }
    const missing = { ...unserved, namespaced: true }
    const reconcile = () => {}
    const run = runController({ ...test.options, for: missing, reconcile, syncDeadlineMs: 1000 })
    expect(await failureOf(run)).toMatchObject({
      code: 'SOURCES_NOT_SYNCED',
      problems: [{ reason: 'NOT_SERVED', verb: 'list' }],
      hint: expect.stringContaining('CustomResourceDefinition things.examples.test'),
    })

    await using nobody = createApiServer({ server: 'http://127.0.0.1:1' })
    const lonely = { ...test.options, apiServer: nobody, for: configMaps, reconcile }
    expect(await failureOf(runController({ ...lonely, syncDeadlineMs: 100 }))).toMatchObject({
      problems: [{ reason: 'NOT_SYNCED', verb: 'list' }],
      message: expect.stringContaining('127.0.0.1:1'),
    })

    const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${test.namespace}`
    await ask(server(), `${roles}/roles`, {
      method: 'POST',
      body: {
        metadata: { name: 'lists' },
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
      },
    })
    await ask(server(), `${roles}/rolebindings`, {
      method: 'POST',
      body: {
        metadata: { name: 'lists' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'lists' },
        subjects: [{ kind: 'User', name: 'limited', apiGroup: 'rbac.authorization.k8s.io' }],
      },
    })
    await using apiServer = await openApiServer({
      ...server(),
      headers: { authorization: `Bearer ${limited.token}` },
    })
    const refused = runController({
      ...test.options,
      apiServer,
      for: { resource: configMaps, informer: { namespace: test.namespace } },
      reconcile,
      syncDeadlineMs: 1500,
    })
    expect(await failureOf(refused)).toMatchObject({
      problems: [{ reason: 'FORBIDDEN', verb: 'watch' }],
      hint: expect.stringContaining('"resources":["configmaps"],"verbs":["get","list","watch"]'),
    })
  })

  it('runs several controllers on one cache, and shows their health and metrics', async () => {
    await using test = await setting(server())
    const { namespace } = test
    await newConfigMap(server(), namespace, 'one')
    const source = { resource: configMaps, informer: { namespace } }
    const seen = new Set<string>()
    const controllers = ['a', 'b'].map((name) =>
      defineController({
        name,
        for: source,
        reconcile: ({ name: object }) => void seen.add(`${name} ${object}`),
      }),
    )
    const twice = { ...test.options, controllers: controllers.slice(1).concat(controllers) }
    expect(await failureOf(runControllers(twice))).toMatchObject({ code: 'DUPLICATE_CONTROLLER' })
    const informers = createSharedInformerFactory({ apiServer: test.apiServer })
    const listening = Promise.withResolvers<number>()
    const ready = Promise.withResolvers<boolean>()
    const observer = { listening: listening.resolve, ready: ready.resolve }
    const health = { port: 0, host: '127.0.0.1' }
    test.start(runControllers({ ...test.options, controllers, informers, health, observer }))
    const url = `http://127.0.0.1:${await listening.promise}`
    expect(await ready.promise).toBe(true)
    await until(() => seen.has('a one') && seen.has('b one'), 'both')
    expect([...informers.informers()]).toHaveLength(1)
    const text = async (path: string) => {
      const answer = await fetch(url + path)
      return `${answer.status} ${await answer.text()}`
    }
    expect(await text('/healthz')).toBe('200 ok\n')
    expect(await text('/readyz')).toBe('200 ok\n')
    const metrics = await text('/metrics')
    expect(metrics).toMatch(
      /^controller_runtime_reconcile_total\{controller="a",result="success"\} [12]$/m,
    )
    expect(metrics).toMatch(/^workqueue_depth\{name="b"\} 0$/m)
    expect(metrics).toMatch(
      /^controller_runtime_reconcile_time_seconds_bucket\{controller="a",le="\+Inf"\} [12]$/m,
    )
    await test.end()
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed')
    await informers.shutdown()
  })

  it('lets running reconciles end at the stop, and aborts those that take too long', async () => {
    await using test = await setting(server())
    const { namespace, options } = test
    await newConfigMap(server(), namespace, 'one')
    const source = {
      resource: configMaps,
      informer: { namespace, fieldSelector: 'metadata.name=one' },
    }
    const began = Promise.withResolvers<AbortSignal>()
    const goOn = Promise.withResolvers<void>()
    const run = runController({
      ...options,
      for: source,
      reconcile: async (_, { signal }) => {
        began.resolve(signal)
        await goOn.promise
        signal.throwIfAborted()
      },
    })
    const signal = await began.promise
    test.stop.abort()
    expect(
      await Promise.race([run, new Promise((resolve) => setTimeout(resolve, 50, 'runs'))]),
    ).toBe('runs')
    expect(signal.aborted).toBe(false)
    goOn.resolve()
    await run

    const again = new AbortController()
    const started = Promise.withResolvers<AbortSignal>()
    const stuck = runController({
      ...options,
      signal: again.signal,
      drainDeadlineMs: 10,
      stopDeadlineMs: 10,
      for: source,
      reconcile: (_, context) => {
        started.resolve(context.signal)
        return new Promise<void>(() => {})
      },
    })
    const itsSignal = await started.promise
    again.abort()
    expect(await failureOf(stuck)).toBeInstanceOf(ReconcileStuckError)
    expect(itsSignal.aborted).toBe(true)
  })

  it('reconciles as the leader only, and gives the lease up after its last reconcile', async () => {
    await using test = await setting(server())
    const { namespace, options } = test
    await newConfigMap(server(), namespace, 'one')
    const goOn = Promise.withResolvers<void>()
    const heard: string[] = []
    const listening = new Map<string, number>()
    const run = (identity: string, signal: AbortSignal) =>
      runController({
        ...options,
        signal,
        leaderElection: { namespace, name: 'lease', identity, retryPeriodMs: 100 },
        health: { port: 0, host: '127.0.0.1' },
        observer: {
          listening: (port) => void listening.set(identity, port),
          ready: (isLeading) => void heard.push(`${identity} ready ${isLeading}`),
        },
        for: {
          resource: configMaps,
          informer: { namespace, fieldSelector: 'metadata.name=one' },
        },
        reconcile: async () => {
          heard.push(`${identity} reconciles`)
          await goOn.promise
          heard.push(`${identity} has ended`)
        },
      })
    const first = new AbortController()
    const running = run('a', first.signal)
    await until(() => heard.includes('a reconciles'), 'the first leader')
    test.start(run('b', test.stop.signal))
    await until(() => heard.includes('b ready false'), 'the second process')
    const readyOf = async (identity: string) =>
      (await fetch(`http://127.0.0.1:${listening.get(identity)}/readyz`)).status
    expect([await readyOf('a'), await readyOf('b')]).toEqual([200, 200])
    first.abort()
    await expect.poll(() => readyOf('a')).toBe(503)
    goOn.resolve()
    await running
    await until(() => heard.includes('b has ended'), 'the next leader')
    expect(heard).toEqual([
      'a ready false',
      'a ready true',
      'a reconciles',
      'b ready false',
      'a has ended',
      'b ready true',
      'b reconciles',
      'b has ended',
    ])
    await test.end()
  })

  it('sends nothing for what a reconcile has left running once the run is over', async () => {
    await using test = await setting(server())
    const { apiServer, namespace, options } = test
    await newConfigMap(server(), namespace, 'one', { data: { a: '1' } })
    const at = { namespace, name: 'one' }
    const began = Promise.withResolvers<void>()
    let failure: Promise<unknown> | undefined
    const over = Promise.withResolvers<void>()
    const run = runController({
      ...options,
      for: { resource: configMaps, informer: { namespace, fieldSelector: 'metadata.name=one' } },
      reconcile(_, { client }) {
        const write = async () => client(configMaps).patch(at, { merge: { data: { a: '2' } } })
        failure = failureOf(over.promise.then(write))
        began.resolve()
      },
    })
    test.start(run)
    await began.promise
    test.stop.abort()
    await run
    over.resolve()
    expect(await failure).toMatchObject({ message: 'the controller has ended' })
    expect((await apiServer.client(configMaps).get(at)).data).toEqual({ a: '1' })
  })

  it('ends with an error when another process takes the lease', async () => {
    await using test = await setting(server())
    const { apiServer, namespace, options } = test
    await newConfigMap(server(), namespace, 'one')
    const began = Promise.withResolvers<AbortSignal>()
    const run = runController({
      ...options,
      leaderElection: { namespace, name: 'lease', retryPeriodMs: 100 },
      for: {
        resource: configMaps,
        informer: { namespace, fieldSelector: 'metadata.name=one' },
      },
      reconcile: async (_, { signal }) => {
        began.resolve(signal)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    })
    const signal = await began.promise
    const merge = { spec: { holderIdentity: 'thief' } }
    await apiServer.client(resources.leases).patch({ namespace, name: 'lease' }, { merge })
    expect(await failureOf(run)).toMatchObject({ code: 'LEADERSHIP_LOST', reason: 'taken' })
    expect(signal.aborted).toBe(true)
  })

  it('reports a reconcile that goes on after its deadline', async () => {
    await using test = await setting(server())
    const { namespace, options } = test
    await newConfigMap(server(), namespace, 'one')
    const reported = Promise.withResolvers<ReconcileStuckError>()
    const goOn = Promise.withResolvers<void>()
    const metrics = createControllerMetrics()
    test.start(
      runController({
        ...options,
        metrics,
        observer: { stuck: (_, error) => reported.resolve(error) },
        for: {
          resource: configMaps,
          informer: { namespace, fieldSelector: 'metadata.name=one' },
        },
        reconcileDeadlineMs: 10,
        stopDeadlineMs: 10,
        reconcile: () => goOn.promise,
      }),
    )
    expect((await reported.promise).keys).toEqual([`${namespace}/one`])
    expect(metrics.text()).toContain(
      'controller_runtime_stuck_reconciles_total{controller="configmap"} 1',
    )
    goOn.resolve()
    await test.end()
  })

  it('ends the process at the second signal, whatever the reconcile does', async () => {
    await using test = await setting(server())
    await newConfigMap(server(), test.namespace, 'one')
    await using kubeconfig = await writeKubeconfig(server())
    const program = `
      import { runController } from 'informerql/controller'
      import { resources } from 'informerql/informer'
      await runController({
        for: { resource: resources.configMaps, informer: { namespace: '${test.namespace}' } },
        reconcile: () => new Promise(() => console.log('reconciles')),
      })`
    const flags = ['--conditions=informerql-source', '--input-type=module', '-e', program]
    const env = { ...process.env, KUBECONFIG: kubeconfig.path }
    await using controller = startProgram(process.execPath, flags, { env })
    await controller.printed('reconciles')
    const ended = controller.interrupt('SIGTERM')
    await controller.printed('a second signal ends the process at once')
    void controller.interrupt('SIGTERM')
    expect(await ended).toBe(143)
  })

  it('reconciles a change before what is left of the initial list', async () => {
    await using test = await setting(server())
    const { apiServer, namespace, options } = test
    const names = Array.from({ length: 8 }, (_, at) => `map-${at}`)
    const labels = { app: 'ordered' }
    await Promise.all(
      names.map(async (name) => newConfigMap(server(), namespace, name, { labels })),
    )
    const order: string[] = []
    const began = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const added: string[] = []
    test.start(
      runController({
        ...options,
        concurrency: 1,
        observer: { added: (_, key) => void added.push(key) },
        for: { resource: configMaps, informer: { namespace, labelSelector: 'app=ordered' } },
        reconcile: async ({ name }, { object }) => {
          order.push(`${name} ${object?.data?.['a']}`)
          began.resolve()
          await goOn.promise
        },
      }),
    )
    await began.promise
    await until(() => added.length === names.length, 'the initial list')
    const last = `map-${names.length - 1}`
    const client = apiServer.client(configMaps)
    await client.patch({ namespace, name: last }, { merge: { data: { a: '2' } } })
    const metadata = { namespace, name: 'new', labels }
    await client.create({ metadata, data: { a: '1' } })
    // Events come in order.
    await until(() => added.includes(`${namespace}/new`), 'the new one')
    goOn.resolve()
    await until(() => order.length === names.length + 1, 'all')
    expect(order.slice(1, 3)).toEqual([`${last} 2`, 'new 1'])
    await test.end()
  })

  it('logs what a map returns that is no key, and goes on', async () => {
    await using test = await setting(server())
    const { apiServer, namespace, options } = test
    const logged: unknown[] = []
    const keys: string[] = []
    test.start(
      runController({
        ...options,
        log: { ...log, error: (_, details) => void logged.push(details) },
        for: { resource: configMaps, informer: { namespace, labelSelector: 'mine' } },
        watches: [
          {
            resource: secrets,
            informer: { namespace },
            map: ({ metadata: { labels } }) => [labels?.['for'] as string],
          },
        ],
        reconcile: ({ key }) => void keys.push(key),
      }),
    )
    const create = async (name: string, labels = {}) =>
      apiServer.client(secrets).create({ metadata: { namespace, name, labels } })
    await create('a')
    const message = expect.stringContaining('returns undefined, which is no key of a ConfigMap')
    const cause = { code: 'INVALID_OPTION', hint: expect.stringContaining('"namespace/name"') }
    await expect.poll(() => logged).toMatchObject([{ error: { message, cause } }])
    await create('b', { for: 'without-namespace' })
    await newConfigMap(server(), namespace, 'one', { labels: { mine: '' } })
    await expect.poll(() => keys).toEqual([`${namespace}/one`])
    await test.end()
  })

  it('refuses options that make no sense, and reads of what it does not cache', async () => {
    await using test = await setting(server())
    const { namespace, options } = test
    const reconcile = () => {}
    const wrong = [
      { ...options, for: configMaps, reconcile, concurency: 3 },
      { ...options, for: configMaps, reconcile, concurrency: 0 },
      { ...options, for: configMaps, reconcile, name: 'a b' },
      { ...options, for: configMaps, reconcile, leaderElection: { namespace } },
      { ...options, for: configMaps, reconcile, leaderElection: { name: 'a' } },
      { ...options, for: configMaps, reconcile, watches: [secrets] },
      { ...options, for: configMaps, reconcile, owns: [{ resource: secrets, map: () => [] }] },
      {
        ...options,
        for: configMaps,
        reconcile,
        owns: [{ resource: configMaps, informer: { namespace } }],
      },
    ]
    const failures = await Promise.all(
      wrong.map(async (one) => ((await failureOf(runController(one as never))) as Error).message),
    )
    expect(failures).toEqual([
      'a controller has no option concurency',
      'concurrency is 0',
      'name is "a b"',
      'name is undefined',
      'namespace is ""',
      'watches[0].map is undefined',
      'owns[0].map is () => []',
      'configmap has two caches of configmaps',
    ])
    const failure = Promise.withResolvers<unknown>()
    test.start(
      runController({
        ...options,
        observer: { reconciled: ({ error }) => failure.resolve(error) },
        for: { resource: configMaps, informer: { namespace } },
        reconcile: (_, { lister }) => void lister(secrets).list(),
      }),
    )
    await newConfigMap(server(), namespace, 'one')
    expect(await failure.promise).toMatchObject({ code: 'NOT_CACHED', value: 'secrets' })
    await test.end()
  })
}

describeContract('runController', body, { tokens: [limited] })
