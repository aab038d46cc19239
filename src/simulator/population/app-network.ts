import { type AppContext, type BackendPod, firstUid } from './app-context.ts'
import { appLabels, partNames, selectorLabels } from './app-labels.ts'
import { endpointSliceItem, endpointsPerSlice } from './endpoint-slice.ts'
import { managers } from './managed-fields.ts'
import { type ObjectParts, type PopulationItem, populationItem } from './population-object.ts'
import { createRandom, hexDigest } from './random.ts'
import { type PopulationResource, resources } from './resources.ts'
import { second } from './duration.ts'

/** The address of the imaginary load balancer that all Ingresses share. */
const loadBalancerAddress = '203.0.113.10'

/** The Services of an app: one with an address, and a headless one beside a StatefulSet. None without a port. */
export function* serviceItems(context: AppContext): Generator<PopulationItem> {
  const { app } = context
  const { port } = app
  if (port === undefined) return
  yield serviceItem(context, app.name, clusterAddress(context), port)
  if (app.workload === 'StatefulSet')
    yield serviceItem(context, partNames(app).headlessService, 'None', port)
}

function serviceItem(
  context: AppContext,
  name: string,
  clusterIP: string,
  port: number,
): PopulationItem {
  const { app } = context
  return populationItem(resources.services, {
    ...partsOf(context, resources.services, name),
    body: {
      spec: {
        clusterIP,
        clusterIPs: [clusterIP],
        internalTrafficPolicy: 'Cluster',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        ports: [
          { name: 'main', port: app.role === 'web' ? 80 : port, protocol: 'TCP', targetPort: port },
          { name: 'metrics', port: 9464, protocol: 'TCP', targetPort: 9464 },
        ],
        selector: selectorLabels(app),
        sessionAffinity: 'None',
        type: 'ClusterIP',
      },
      status: { loadBalancer: {} },
    },
  })
}

/** What reaches the app: its endpoint slices, its Ingress, its NetworkPolicy. Written after the pods. */
export function* trafficItems(
  context: AppContext,
  services: readonly PopulationItem[],
  backends: readonly BackendPod[],
): Generator<PopulationItem> {
  const { app, seed, createdAtMs, zones } = context
  for (const { object } of services) {
    const random = createRandom(`${seed}/slices/${app.namespace}/${object.metadata.name}`)
    for (let from = 0; from === 0 || from < backends.length; from += endpointsPerSlice) {
      const name = `${object.metadata.name}-${random.suffix(5)}`
      yield endpointSliceItem(object, backends.slice(from, from + endpointsPerSlice), zones, {
        name,
        uid: firstUid(seed, resources.endpointSlices, app.namespace, name),
        createdAtMs: createdAtMs + second,
      })
    }
  }
  if (app.host !== undefined) yield ingressItem(context, app.host)
  if (app.team !== 'platform' && services.length > 0) yield networkPolicyItem(context)
}

function ingressItem(context: AppContext, host: string): PopulationItem {
  const { app } = context
  const backend = { service: { name: app.name, port: { name: 'main' } } }
  return populationItem(resources.ingresses, {
    ...partsOf(context, resources.ingresses, app.name),
    annotations: {
      'cert-manager.io/cluster-issuer': 'letsencrypt',
      'nginx.ingress.kubernetes.io/proxy-body-size': '8m',
    },
    statusManager: {
      manager: 'nginx-ingress-controller',
      operation: 'Update',
      subresource: 'status',
    },
    body: {
      spec: {
        ingressClassName: 'nginx',
        rules: [{ host, http: { paths: [{ backend, path: '/', pathType: 'Prefix' }] } }],
        tls: [{ hosts: [host], secretName: `${app.name}-tls` }],
      },
      status: { loadBalancer: { ingress: [{ ip: loadBalancerAddress }] } },
    },
  })
}

function networkPolicyItem(context: AppContext): PopulationItem {
  const { app } = context
  const fromTeam = { namespaceSelector: { matchLabels: { team: app.team } } }
  const fromOutside = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } },
  }
  return populationItem(resources.networkPolicies, {
    ...partsOf(context, resources.networkPolicies, app.name),
    body: {
      spec: {
        ingress: [
          {
            from: app.host === undefined ? [fromTeam] : [fromTeam, fromOutside],
            ports: [{ port: app.port ?? 0, protocol: 'TCP' }],
          },
        ],
        podSelector: { matchLabels: selectorLabels(app) },
        policyTypes: ['Ingress'],
      },
    },
  })
}

/** The TLS Secret that an Ingress names, as cert-manager writes it; without real key material. */
export function* certificateItems(context: AppContext): Generator<PopulationItem> {
  const { app } = context
  if (app.host === undefined) return
  const name = `${app.name}-tls`
  yield populationItem(resources.secrets, {
    ...partsOf(context, resources.secrets, name),
    annotations: { 'cert-manager.io/certificate-name': name },
    manager: { ...managers.deployer, manager: 'cert-manager-certificates-issuing' },
    body: {
      data: {
        'tls.crt': placeholder(`${app.host}/certificate`, 900),
        'tls.key': placeholder(`${app.host}/key`, 240),
      },
      type: 'kubernetes.io/tls',
    },
  })
}

function placeholder(text: string, bytes: number): string {
  return Buffer.from(hexDigest(text, bytes * 2), 'hex').toString('base64')
}

/** An address of 10.96.0.0/12; two apps may share one by chance, which nothing here minds. */
function clusterAddress({ app, seed }: AppContext): string {
  const random = createRandom(`${seed}/address/${app.namespace}/${app.name}`)
  return `10.${random.integer(96, 111)}.${random.integer(0, 255)}.${random.integer(2, 254)}`
}

/** What every object of an app that is written by the deployer has in common. */
export function partsOf(
  { app, seed, createdAtMs }: AppContext,
  resource: PopulationResource,
  name: string,
): Omit<ObjectParts, 'body'> {
  const { namespace } = app
  const uid = firstUid(seed, resource, namespace, name)
  return { name, namespace, uid, createdAtMs, labels: appLabels(app) }
}
