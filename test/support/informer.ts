import {
  type ApiServer,
  type ApiServerLimits,
  createApiServer,
  type ClusterConfig,
  loadClusterConfig,
} from 'informerql/cluster'
import {
  type ApiResource,
  createSharedInformer,
  type InformerFailure,
  type InformerObserver,
  type KubernetesObject,
  type Unstructured,
  type ListerWatcher,
  type ResourceEventHandler,
  type SharedInformer,
  type SharedInformerOptions,
} from 'informerql/informer'

export const configMaps: ApiResource = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  singular: 'configmap',
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  shortNames: ['cm'],
  subresources: [],
}

/** As good as none. */
export const shortBackoff = { initialMs: 1, factor: 1, maxMs: 1, resetAfterMs: 1000 }

/** Longer than any test: who backs off stays there. */
export const endlessBackoff = {
  initialMs: 3_600_000,
  factor: 1,
  maxMs: 3_600_000,
  resetAfterMs: 1000,
}

const deadlineMs = 60_000

/** Polls until `test` says true. Fails at the deadline, with what was waited for. */
export async function until(test: () => boolean, what: string | (() => string)): Promise<void> {
  const end = performance.now() + deadlineMs
  while (!test()) {
    if (performance.now() > end) {
      throw new Error(`not within ${deadlineMs} ms: ${typeof what === 'string' ? what : what()}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** Nothing of the machine that the tests run on. */
const bareEnvironment = {
  variables: {},
  homeDir: '/nonexistent',
  serviceAccountDir: '/nonexistent',
}

/** A connection to a server. */
export function connect(
  server: string | ClusterConfig,
  limits: Partial<ApiServerLimits> = {},
): ApiServer {
  const config =
    typeof server === 'string' ? loadClusterConfig({ server }, bareEnvironment) : server
  return createApiServer({ name: 'test', config, ...limits })
}

export interface InformerSetting extends Partial<SharedInformerOptions<Unstructured>> {
  /** The server's address, or how to reach it. */
  readonly server: string | ClusterConfig
  /** Given to the informer as it is; `failures` stays empty then. */
  readonly plainObserver?: InformerObserver
  /** Of the connection. */
  readonly limits?: Partial<ApiServerLimits>
}

/** An informer of a test, with a connection of its own. */
export interface TestInformer extends AsyncDisposable {
  readonly informer: SharedInformer<Unstructured>
  /** Everything that its observer was told of. */
  readonly failures: { readonly failure: InformerFailure; readonly error: Error }[]
  /** Starts it; further calls do nothing. */
  run(): void
  /** Stops it and waits until it has ended. */
  stop(): Promise<void>
}

/** An informer over a real connection; of config maps unless another resource is given. It does not run yet. */
export function testInformer({
  server,
  limits,
  plainObserver,
  ...options
}: InformerSetting): TestInformer {
  const config =
    typeof server === 'string' ? loadClusterConfig({ server }, bareEnvironment) : server
  const connection = createApiServer({ name: 'test', config, ...limits })
  const resource = options.resource ?? configMaps
  const { metadataOnly } = options
  const source: ListerWatcher =
    options.source ??
    connection.resource(resource, metadataOnly === undefined ? {} : { metadataOnly })
  const failures: TestInformer['failures'] = []
  const observer: InformerObserver = {
    ...options.observer,
    failed: (failure, error, of) => {
      failures.push({ failure, error })
      options.observer?.failed?.(failure, error, of)
    },
  }
  const informer = createSharedInformer({
    backoff: shortBackoff,
    // So that a machine that stands still for a second changes nothing.
    shortWatchMs: 60_000,
    ...options,
    resource,
    source,
    observer: plainObserver ?? observer,
  })
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    stopping.abort()
    await running
  }
  return {
    informer,
    failures,
    run: () => {
      running ??= informer.run(stopping.signal)
    },
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop()
      await connection[Symbol.asyncDispose]()
    },
  }
}

/** The same, running. */
export function runInformer(setting: InformerSetting): TestInformer {
  const one = testInformer(setting)
  one.run()
  return one
}

/** The same, running and synced. */
export async function syncedInformer(setting: InformerSetting): Promise<TestInformer> {
  const one = runInformer(setting)
  await one.informer.waitForSync({ deadlineMs })
  return one
}

/** `default/a@5`. */
export function shown({ metadata }: KubernetesObject): string {
  const { namespace, name, resourceVersion = '' } = metadata
  return `${namespace === undefined ? name : `${namespace}/${name}`}@${resourceVersion}`
}

/** What a store holds, in its order: `default/a@5`. */
export function held({ store }: SharedInformer): string[] {
  return Array.from(store.ids(), (id) => shown(store.object(id)))
}

/** A handler that writes down what it is told, and keeps what that adds up to. */
export interface FoldingHandler extends ResourceEventHandler {
  /** `ADDED default/a@5`, `INITIAL …`, `MODIFIED default/a@5 -> default/a@6`, `DELETED …`, `VANISHED …`, `RESET`. */
  readonly events: string[]
  readonly objects: Map<string, KubernetesObject>
}

/** `during` is called with each event, after it was written down; what it returns is awaited. */
export function foldingHandler(during?: (event: string) => void | Promise<void>): FoldingHandler {
  const events: string[] = []
  const objects = new Map<string, KubernetesObject>()
  const keyOf = (object: KubernetesObject): string => shown(object).replace(/@.*$/, '')
  const tell = (event: string): void | Promise<void> => {
    events.push(event)
    return during?.(event)
  }
  return {
    events,
    objects,
    onAdd: (object, isInInitialList) => {
      objects.set(keyOf(object), object)
      return tell(`${isInInitialList ? 'INITIAL' : 'ADDED'} ${shown(object)}`)
    },
    onUpdate: (previous, object) => {
      objects.set(keyOf(object), object)
      return tell(`MODIFIED ${shown(previous)} -> ${shown(object)}`)
    },
    onDelete: (object, { finalStateKnown }) => {
      objects.delete(keyOf(object))
      return tell(`${finalStateKnown ? 'DELETED' : 'VANISHED'} ${shown(object)}`)
    },
  }
}
