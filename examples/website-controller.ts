/**
 * A controller as one would run it: a Website owns a Deployment and a Service that serve the pages of a ConfigMap. Its host is listed in a
 * directory that all websites share, until its finalizer takes it off. `examples/website.yaml` has the kind, the rights and a Deployment of
 * the controller; `bench/controller-runtime/` is the same controller in Go.
 *
 *     kubectl apply -f examples/website.yaml
 *     npm exec -- node --conditions=informerql-source examples/website-controller.ts
 */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  type ConditionUpdate,
  findCondition,
  type ReconcileContext,
  type ReconcileRequest,
  runController,
  setCondition,
} from 'informerql/controller'
import {
  dropFinalizer,
  ensureFinalizer,
  isBeingDeleted,
  type KubernetesObject,
  objectKey,
  type Resource,
  resources,
  setControllerReference,
} from 'informerql/informer'
import type { Condition, ConfigMap, Deployment, Service } from 'informerql/kubernetes'

interface Website extends KubernetesObject {
  readonly spec: {
    readonly host: string
    /** The name of the ConfigMap with the pages. */
    readonly content: string
    readonly replicas?: number
  }
  readonly status?: {
    readonly url?: string
    readonly readyReplicas?: number
    readonly conditions?: readonly Condition[]
  }
}
const websites: Resource<Website> = {
  group: 'example.com',
  version: 'v1',
  resource: 'websites',
  kind: 'Website',
  namespaced: true,
}

type Context = ReconcileContext<Website>
const { configMaps, deployments, services } = resources
const finalizer = 'example.com/directory'
const home = process.env['NAMESPACE'] ?? 'default'

async function reconcile({ namespace }: ReconcileRequest, context: Context): Promise<void> {
  const { object: website, client, lister } = context
  if (website === undefined) return
  if (isBeingDeleted(website)) {
    await list(website, context, {})
    return await dropFinalizer(client(websites), website, finalizer)
  }
  await ensureFinalizer(client(websites), website, finalizer)
  const { content, host, replicas = 1 } = website.spec
  const pages = lister(configMaps).namespaced(namespace).find(content)
  if (pages === undefined) {
    const message = `there is no ConfigMap ${content}`
    return await report(website, context, { status: 'False', reason: 'ContentMissing', message }, 0)
  }
  const { status } = await client(deployments).apply(deploymentOf(website, pages), { force: true })
  await client(services).apply(serviceOf(website), { force: true })
  await list(website, context, { [host]: `${namespace}.${website.metadata.name}` })
  const readyReplicas = status?.readyReplicas ?? 0
  const condition =
    readyReplicas < replicas
      ? ({ status: 'False', reason: 'Deploying', message: 'waiting for pods' } as const)
      : ({ status: 'True', reason: 'Published', message: 'all pods serve the pages' } as const)
  await report(website, context, condition, readyReplicas)
}

/** The Deployment. A change of the pages replaces its pods. */
function deploymentOf(website: Website, pages: ConfigMap): Deployment {
  const { namespace = '', name } = website.metadata
  const hash = createHash('sha256')
    .update(JSON.stringify(pages.data ?? {}))
    .digest('hex')
  const matchLabels = { 'example.com/website': name }
  const volumeMounts = [{ name: 'pages', mountPath: '/usr/share/nginx/html' }]
  return setControllerReference<Deployment>(website, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: {
      replicas: website.spec.replicas ?? 1,
      selector: { matchLabels },
      template: {
        metadata: { labels: matchLabels, annotations: { 'example.com/content': hash } },
        spec: {
          containers: [{ name: 'web', image: 'nginx:1.29', volumeMounts }],
          volumes: [{ name: 'pages', configMap: { name: pages.metadata.name } }],
        },
      },
    },
  })
}

function serviceOf(website: Website): Service {
  const { namespace = '', name } = website.metadata
  return setControllerReference<Service>(website, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name },
    spec: { selector: { 'example.com/website': name }, ports: [{ port: 80 }] },
  })
}

/** Sets what the directory, which all websites share, says of this one. */
async function list(website: Website, { client }: Context, data: ConfigMap['data']): Promise<void> {
  const directory = { metadata: { namespace: home, name: 'website-directory' }, data }
  const fieldManager = `website-${website.metadata.uid}`
  await client(configMaps).apply(directory, { fieldManager, force: true })
}

/** Writes the status, and an event when the condition changes. */
async function report(
  { metadata, spec, status: before }: Website,
  { client, event }: Context,
  update: Omit<ConditionUpdate, 'type'>,
  readyReplicas: number,
): Promise<void> {
  const ready = { ...update, type: 'Ready', observedGeneration: metadata.generation ?? 0 }
  const { conditions } = setCondition(before?.conditions, ready)
  const status = { url: `http://${spec.host}`, readyReplicas, conditions }
  if (isDeepStrictEqual(before, status)) return
  await client(websites).status.patch(metadata, { merge: { status } })
  const { reason, message } = update
  if (findCondition(before?.conditions, 'Ready')?.reason === reason) return
  const type = reason === 'ContentMissing' ? 'Warning' : 'Normal'
  event({ type, reason, action: 'Reconcile', ...(message && { note: message }) })
}

const byContent = ({ metadata, spec }: Website) => [`${metadata.namespace}/${spec.content}`]

// region plumbing
await runController({
  // endregion
  for: { resource: websites, informer: { indexers: { byContent } } },
  owns: [deployments, services],
  watches: [
    {
      resource: configMaps,
      map: ({ metadata }, { indexer }) =>
        indexer(websites).indexKeys('byContent', objectKey(metadata)),
    },
  ],
  // region plumbing
  reconcile,
  leaderElection: { namespace: home, name: 'website-controller' },
  health: { port: Number(process.env['PORT'] ?? 8080) },
})
// endregion
