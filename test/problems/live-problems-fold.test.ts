import { FrameFold } from 'informerql/client'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { created, sent } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { scheduleSeeds, seededRandom } from '../support/random.ts'

const wait = { timeout: 60_000, interval: 50 }
const row = `id cluster kind type reason severity message count ready wanted
  object { kind namespace name } objects(first: 40) { kind namespace name }`
const afterMs = 1_500

const variants = [
  'clusters: ["*"], first: 500',
  'cluster: "one", namespace: "live", first: 500',
  'clusters: ["*"], types: ["Deployment", "Node"], first: 500',
  'clusters: ["*"], orderBy: [{ count: DESC }, { severity: ASC }], first: 3',
  'clusterSelector: "tier=gold", severity: CRITICAL, first: 2',
]

/** Keys of maps are sorted, as those of rows are. */
const sorted = (rows: readonly Fields[]): readonly Fields[] =>
  rows.toSorted((a, b) => (a['id'] < b['id'] ? -1 : 1))

/** By reason: the class of its cause. */
const causes: Readonly<Record<string, string>> = {
  ContainersNotReady: 'ready',
  FailedMount: 'ready',
  MinimumReplicasUnavailable: 'ready',
  NodeStatusUnknown: 'ready',
  Pending: 'ready',
  ProgressDeadlineExceeded: 'ready',
  Unhealthy: 'ready',
  MissingPersistentVolumeClaim: 'schedule',
  NotScheduled: 'schedule',
  Unschedulable: 'schedule',
  MissingSecret: 'config',
  MissingStorageClass: 'volume',
  ProvisioningFailed: 'volume',
  ErrImagePull: 'image',
  ImagePullBackOff: 'image',
  CrashLoopBackOff: 'crash',
  Error: 'crash',
}

/** Folds a subscription to problems, as clients do. */
class Follower {
  readonly fold: FrameFold<Fields> = new FrameFold<Fields>()
  readonly removals: string[] = []
  resets = 0
  last: Fields = {}
  failure: unknown
  /** Of all followers. */
  readonly #ids: Map<string, string>

  constructor(
    gateway: Pick<ServedGateway, 'connect'>,
    args: string,
    ids: Map<string, string> = new Map(),
  ) {
    this.#ids = ids
    gateway.connect().subscribe<Fields>(
      {
        query: `subscription { problems(${args}, coalesceMs: 10) { reset synced totalCount
          counts { severity type kind count } lookedAt notLookedAt complete
          changes { type removal objectId object { ${row} } } } }`,
      },
      {
        next: ({ data, errors }) => {
          if (data == null) this.failure = errors
          else {
            this.#remember(data['problems'].changes)
            this.last = data['problems']
            this.fold.apply(data['problems'])
            if (this.last['reset'] === true) this.resets += 1
            for (const { type, removal } of this.last['changes'])
              if (type === 'REMOVED') this.removals.push(removal)
          }
        },
        error: (error) => {
          this.failure = error
        },
        complete: () => {
          this.failure ??= 'completed'
        },
      },
    )
  }

  /** A row of one object and class of reasons has the same id, in all frames and lists. Names are never used again. */
  #remember(changes: readonly Fields[]): void {
    for (const { object, objectId } of changes) {
      if (object === null) continue
      const { cluster, kind, reason, message } = object
      const { namespace, name } = object.object
      const isOfClaim = kind === 'PersistentVolumeClaim' && reason === 'Pending'
      const cause = isOfClaim ? 'volume' : (causes[reason] ?? reason)
      const place = String(message).startsWith('no Node has')
        ? `${cluster} ${message}`
        : `${cluster} ${kind} ${namespace} ${name} ${cause}`
      const known = this.#ids.get(place) ?? objectId
      this.#ids.set(place, known)
      if (known !== objectId) this.failure = `${place} has the ids ${known} and ${objectId}`
    }
  }

  get shown(): string {
    const { totalCount, counts, lookedAt, notLookedAt } = this.last
    const rows = sorted([...this.fold.objects.values()])
    return JSON.stringify({ totalCount, counts, lookedAt, notLookedAt, rows }, null, 1)
  }
}

/** Breaks and mends objects of all kinds that problems depend on, at random. */
class World {
  readonly #random: () => number
  readonly #simulator: Simulator
  /** By path. */
  readonly #made = new Map<string, Fields>()
  #number = 0

  constructor(simulator: Simulator, random: () => number) {
    this.#simulator = simulator
    this.#random = random
  }

  #pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)] as T
  }

  async #make(path: string, body: Fields): Promise<void> {
    const made = await created(this.#simulator, path, body)
    this.#made.set(`${path}/${made['metadata'].name}`, made)
  }

  #some(part: string): readonly [string, Fields] | undefined {
    const all = [...this.#made].filter(([path]) => path.includes(part))
    return all.length === 0 ? undefined : this.#pick(all)
  }

  async step(): Promise<void> {
    const now = new Date().toISOString()
    const namespace = this.#pick(['live', 'other'])
    const core = `/api/v1/namespaces/${namespace}`
    const apps = `/apis/apps/v1/namespaces/${namespace}`
    const name = `x${(this.#number += 1)}`
    const ownedBy = (some: readonly [string, Fields] | undefined): Fields =>
      some === undefined || !some[0].includes(`/${namespace}/`)
        ? {}
        : {
            ownerReferences: [
              {
                apiVersion: some[1]['apiVersion'],
                kind: some[1]['kind'],
                name: some[1]['metadata'].name,
                uid: some[1]['metadata'].uid,
                controller: true,
              },
            ],
          }
    const labels = { matchLabels: { app: 'a' } }
    const template = {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'main', image: 'a' }] },
    }
    const workload = { replicas: 1, selector: labels, template }
    const status = (path: string, next: Fields): Promise<Fields> =>
      sent(this.#simulator, 'PATCH', `${path}/status`, { status: next })
    const remove = async (part: string): Promise<void> => {
      const some = this.#some(part)
      if (some === undefined) return
      this.#made.delete(some[0])
      await sent(this.#simulator, 'DELETE', some[0])
    }
    const podState = this.#pick([
      'ImagePullBackOff',
      'ErrImagePull',
      'CrashLoopBackOff',
      'fine',
      'unready',
      'unready',
    ])
    const node = this.#some('/nodes/')
    const claimed = this.#some(`${namespace}/persistentvolumeclaims/`)
    const claimName = claimed?.[1]['metadata'].name
    const pod = this.#some('/pods/')
    const steps: readonly (() => Promise<unknown>)[] = [
      () => {
        const envFrom = this.#pick([[], [], [{ secretRef: { name: this.#pick(['a', 'b']) } }]])
        const containers = [{ name: 'main', image: 'a', envFrom }]
        const spec = { ...workload, template: { ...template, spec: { containers } } }
        return this.#make(`${apps}/deployments`, { metadata: { name }, spec })
      },
      async () => {
        const key = this.#pick(['a', 'b'])
        if (this.#made.has(`${core}/secrets/${key}`)) return
        await this.#make(`${core}/secrets`, { metadata: { name: key } })
      },
      () =>
        this.#make(`${core}/services`, {
          metadata: { name },
          spec: { selector: { app: this.#pick(['a', 'b', 'none']) }, ports: [{ port: 80 }] },
        }),
      async () => {
        const to = this.#some(`${namespace}/services/`)?.[1]['metadata'].name ?? 'gone'
        const port = { number: this.#pick([80, 8080]) }
        await this.#make(`/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`, {
          metadata: { name },
          spec: { defaultBackend: { service: { name: to, port } } },
        })
      },
      async () => {
        const app = this.#pick(['a', 'b'])
        if (pod !== undefined)
          await sent(this.#simulator, 'PATCH', pod[0], { metadata: { labels: { app } } })
      },
      () =>
        this.#make(`${apps}/replicasets`, {
          metadata: { name, ...ownedBy(this.#some('/deployments/')) },
          spec: workload,
        }),
      () =>
        this.#make(`${core}/pods`, {
          metadata: { name, ...ownedBy(this.#some('/replicasets/')) },
          spec: {
            ...template.spec,
            ...this.#pick([{}, { nodeSelector: { os: this.#pick(['linux', 'plan9']) } }]),
            ...(claimName && { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] }),
            ...(node && this.#random() < 0.7 && { nodeName: node[1]['metadata'].name }),
          },
        }),
      () => this.#make('/api/v1/nodes', { metadata: { name } }),
      async () =>
        node &&
        (await status(node[0], {
          conditions: [
            {
              type: 'Ready',
              status: this.#pick(['True', 'Unknown', 'True', 'False']),
              reason: 'NodeStatus',
              lastTransitionTime: now,
            },
            { type: 'MemoryPressure', status: this.#pick(['True', 'False']) },
          ],
        })),
      ...Array.from({ length: 6 }, () => async () => {
        const some = this.#some('/pods/')
        if (some === undefined) return
        const isFine = podState === 'fine'
        await status(some[0], {
          phase: 'Running',
          conditions: [
            {
              type: 'Ready',
              status: isFine ? 'True' : 'False',
              reason: 'ContainersNotReady',
              lastTransitionTime: now,
            },
          ],
          containerStatuses:
            isFine || podState === 'unready'
              ? null
              : [
                  {
                    name: 'main',
                    image: 'a',
                    imageID: '',
                    ready: false,
                    restartCount: 2,
                    state: { waiting: { reason: podState } },
                  },
                ],
        })
      }),
      async () => {
        const some = this.#some('/pods/')
        if (some === undefined) return
        const message = this.#pick(['no', 'pod has unbound immediate PersistentVolumeClaims'])
        const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }
        await status(some[0], { phase: 'Pending', conditions: [{ ...unscheduled, message }] })
      },
      async () => {
        if (node === undefined) return
        const os = this.#pick(['linux', null])
        await sent(this.#simulator, 'PATCH', node[0], { metadata: { labels: { os } } })
      },
      async () => {
        const some = this.#some('/replicasets/')
        if (some === undefined) return
        const refused = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }
        const conditions = this.#pick([[refused], []])
        await status(some[0], { replicas: 1, conditions, readyReplicas: this.#pick([0, 1]) })
      },
      async () => {
        const some = this.#some('/persistentvolumeclaims/')
        if (some === undefined) return
        const { namespace: of, name: claim, uid } = some[1]['metadata']
        await this.#make(`/api/v1/namespaces/${of}/events`, {
          metadata: { name },
          type: 'Warning',
          reason: 'ProvisioningFailed',
          message: 'no room',
          count: 3,
          lastTimestamp: now.replace(/\.\d+Z/, 'Z'),
          involvedObject: {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            namespace: of,
            name: claim,
            uid,
          },
        })
      },
      async () => {
        const some = this.#some('/deployments/')
        if (some === undefined) return
        const isLate = this.#random() < 0.5
        await status(some[0], {
          readyReplicas: this.#pick([0, 1]),
          conditions: [
            {
              type: 'Progressing',
              status: isLate ? 'False' : 'True',
              reason: isLate ? 'ProgressDeadlineExceeded' : 'NewReplicaSetAvailable',
              lastTransitionTime: now,
            },
          ],
        })
      },
      async () =>
        pod &&
        (await this.#make(`/api/v1/namespaces/${pod[1]['metadata'].namespace}/events`, {
          metadata: { name },
          type: 'Warning',
          reason: this.#pick(['FailedMount', 'Unhealthy']),
          message: 'again',
          count: this.#pick([1, 2, 5]),
          lastTimestamp: now.replace(/\.\d+Z/, 'Z'),
          involvedObject: {
            apiVersion: 'v1',
            kind: 'Pod',
            namespace: pod[1]['metadata'].namespace,
            name: pod[1]['metadata'].name,
            uid: pod[1]['metadata'].uid,
          },
        })),
      () =>
        this.#make('/apis/storage.k8s.io/v1/storageclasses', {
          metadata: { name },
          provisioner: 'a',
          volumeBindingMode: this.#pick(['WaitForFirstConsumer', 'Immediate']),
        }),
      () =>
        this.#make(`${core}/persistentvolumeclaims`, {
          metadata: { name },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
            storageClassName: this.#some('/storageclasses/')?.[1]['metadata'].name ?? 'none',
          },
        }),
      () => remove('/pods/'),
      () => remove('/services/'),
      () => remove('/ingresses/'),
      () => remove('/secrets/'),
      () => remove('/replicasets/'),
      () => remove('/deployments/'),
      () => remove('/nodes/'),
      () => remove('/storageclasses/'),
      () => remove('/events/'),
      () => remove('/persistentvolumeclaims/'),
    ]
    await this.#pick(steps)()
  }
}

it.each(scheduleSeeds(1))(
  'is what the query answers, whatever happens to owners, nodes, Events and clusters (SEED=%i)',
  async (seed) => {
    const random = seededRandom(seed)
    await using first = await startSimulator({ bookmarkIntervalMs: 0 })
    await using second = await startSimulator({ bookmarkIntervalMs: 0 })
    for (const name of ['live', 'other']) {
      for (const of of [first, second])
        await created(of, '/api/v1/namespaces', { metadata: { name } })
    }
    const clusters = [
      { name: 'one', server: first.url, labels: { tier: 'gold' } },
      { name: 'two', server: second.url, labels: { tier: 'iron' } },
    ]
    await using gateway = await serveGateway({ clusters, limits: { problemAfterMs: afterMs } })
    const asked = async (args: string): Promise<string> => {
      const { problems } = await gateway.data(
        `{ problems(${args}) { totalCount counts { severity type kind count } lookedAt notLookedAt nodes { ${row} } } }`,
      )
      const { totalCount, counts, lookedAt, notLookedAt, nodes } = problems
      return JSON.stringify(
        { totalCount, counts, lookedAt, notLookedAt, rows: sorted(nodes) },
        null,
        1,
      )
    }
    const worlds = [first, second].map((of) => new World(of, random))
    const ids = new Map<string, string>()
    const burst = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) {
        await worlds[Math.floor(random() * worlds.length)]?.step()
      }
    }
    await burst(80)
    const followers = variants.map((args) => new Follower(gateway, args, ids))
    const twin = new Follower(gateway, variants[0] ?? '', ids)
    const isQuiet = async (): Promise<void> => {
      await expect
        .poll(async () => await Promise.all(variants.map((args) => asked(args))), wait)
        .toSatisfy((queried: readonly string[]) =>
          queried.every((one, at) => one === followers[at]?.shown),
        )
    }
    await isQuiet()
    // Those who ask the same share everything.
    expect(gateway.gateway.planned.liveState()).toMatchObject({
      groups: variants.length,
      members: variants.length + 1,
    })
    for (let round = 0; round < 12; round += 1) {
      await burst(25)
      await isQuiet()
    }
    expect(twin.shown).toBe(followers[0]?.shown)
    const [all] = followers
    const ofTwo = [...(all?.fold.objects.values() ?? [])].filter(({ cluster }) => cluster === 'two')
    const before = all?.removals.length ?? 0
    await gateway.gateway.configureClusters(clusters.slice(0, 1))
    await expect
      .poll(
        () => [...(all?.fold.objects.values() ?? [])].some(({ cluster }) => cluster === 'two'),
        wait,
      )
      .toBe(false)
    expect(all?.removals.slice(before).filter((one) => one === 'CLUSTER_REMOVED')).toHaveLength(
      ofTwo.length,
    )
    await burst(20)
    await gateway.gateway.configureClusters(clusters)
    await burst(20)
    await isQuiet()
    expect(followers.map(({ resets, failure }) => [resets, failure])).toEqual(
      variants.map(() => [1, undefined]),
    )
  },
)
