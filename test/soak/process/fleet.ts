/**
 * The process of a soak: fifty informers over one connection, until its parent goes. Argument: the kubeconfig's path. It
 * answers `FleetQuestion`s.
 */
import { createApiServer, loadClusterConfig } from 'informerql/cluster'
import {
  createSharedInformerFactory,
  type KubernetesObject,
  type SharedInformer,
} from 'informerql/informer'
import { type FleetMember, fleetMembers } from '../fleet-member.ts'
import type { FleetAnswers, FleetQuestion } from '../fleet-question.ts'

const [kubeconfig = ''] = process.argv.slice(2)
const connection = createApiServer({ name: 'soak', config: loadClusterConfig({ kubeconfig }) })
const { resources } = await connection.discover()
let failures = 0
let events = 0

const factory = createSharedInformerFactory({
  source: (resource, options) => connection.resource(resource, options),
  backoff: { initialMs: 200, factor: 2, maxMs: 2000, resetAfterMs: 120_000 },
  observer: { failed: () => failures++ },
})

interface Running {
  readonly member: FleetMember
  readonly informer: SharedInformer
  readonly view: Map<string, string>
}

const keyOf = ({ metadata }: KubernetesObject): string =>
  metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`

const start = (member: FleetMember): Running => {
  const { kind, selection, metadataOnly, initialList } = member
  const resource = resources.find(
    ({ group, version, resource: plural }) =>
      group === kind.group && version === kind.version && plural === kind.resource,
  )
  if (resource === undefined) throw new Error(`the server has no ${kind.resource}`)
  const informer = factory.informer(resource, { ...selection, metadataOnly, initialList })
  const view = new Map<string, string>()
  const keep = (object: KubernetesObject): void => {
    events += 1
    view.set(keyOf(object), object.metadata.resourceVersion ?? '')
  }
  informer.addEventHandler({
    onAdd: keep,
    onUpdate: (_, object) => keep(object),
    onDelete: (deleted) => {
      events += 1
      view.delete(keyOf(deleted))
    },
  })
  return { member, informer, view }
}

const fleet = fleetMembers.map(start)
factory.start()
await factory.waitForCacheSync({ deadlineMs: 60_000 })

/** So that what the last answer was made of does not count. */
const collect = async (): Promise<void> => {
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    globalThis.gc?.()
  }
}

const answers: { readonly [Q in FleetQuestion]: () => Promise<FleetAnswers[Q]> } = {
  stores: async () =>
    fleet.map(({ member, informer, view }) => ({
      name: member.name,
      state: informer.state,
      lastError: informer.lastError === undefined ? undefined : String(informer.lastError),
      store: Array.from(informer.store.ids(), (id) => {
        const object = informer.store.object(id)
        return `${keyOf(object)}@${object.metadata.resourceVersion}`
      }),
      view: Array.from(view, ([key, version]) => `${key}@${version}`),
    })),
  memory: async () => {
    await collect()
    const { heapUsed, external, rss } = process.memoryUsage()
    const active = process.getActiveResourcesInfo()
    return {
      liveBytes: heapUsed + external,
      rssBytes: rss,
      objects: fleet.reduce((sum, { informer }) => sum + informer.store.size, 0),
      events,
      sockets: active.filter((type) => type.startsWith('TCP') || type.startsWith('TLS')).length,
      timers: active.filter((type) => type === 'Timeout').length,
      failures,
    }
  },
  user: async () => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const review = (await connection.request('POST', path, { body })) as {
      readonly status: { readonly userInfo: { readonly username: string } }
    }
    return review.status.userInfo.username
  },
}

process.on('message', (question: FleetQuestion) => {
  answers[question]().then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.once('disconnect', () => process.exit())
process.send?.({ answer: 'synced' })
