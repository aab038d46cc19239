/** What an app is for; decides its pods' shape and what stands around them. */
export type AppRole = 'web' | 'api' | 'worker' | 'database' | 'cache' | 'queue' | 'agent' | 'cron'

/** What is wrong with an app on purpose. */
export type Fault = 'CrashLoopBackOff' | 'ImagePullBackOff' | 'Unschedulable' | 'FailedJob'

/** One app of a team, the same in each of the team's environments. */
export interface CatalogApp {
  readonly name: string
  readonly role: AppRole
  /** Deployments only: how many of the pods it gets, relative to the others. */
  readonly weight?: number
  /** StatefulSets and fixed Deployments: how many pods. */
  readonly replicas?: number
  /** The repository of its image below the company's registry. */
  readonly image?: string
  readonly autoscaled?: boolean
  /** Where it does not follow from the role. */
  readonly port?: number
  /** The public host name below the company's domain. */
  readonly host?: string
  readonly schedule?: string
  /** In the production environment only. */
  readonly fault?: Fault
}

/** A team and what it runs. */
export interface CatalogTeam {
  readonly name: string
  readonly apps: readonly CatalogApp[]
}

/** The imaginary company: an online shop for furniture. */
export const company = {
  name: 'Fjordholt',
  domain: 'fjordholt.example',
  registry: 'registry.fjordholt.example',
} as const

/** The teams whose apps earn the money. */
export const teams: readonly CatalogTeam[] = [
  {
    name: 'storefront',
    apps: [
      { name: 'shop-web', role: 'web', weight: 5, autoscaled: true, host: 'www' },
      { name: 'cart-api', role: 'api', weight: 4 },
      { name: 'catalog-api', role: 'api', weight: 5, autoscaled: true, host: 'catalog' },
      { name: 'cart-cache', role: 'cache', replicas: 2 },
      { name: 'sitemap-builder', role: 'cron', schedule: '15 3 * * *' },
    ],
  },
  {
    name: 'payments',
    apps: [
      { name: 'checkout-api', role: 'api', weight: 4, autoscaled: true, host: 'checkout' },
      { name: 'card-gateway', role: 'api', weight: 3 },
      { name: 'invoice-worker', role: 'worker', replicas: 3, fault: 'CrashLoopBackOff' },
      { name: 'ledger-db', role: 'database', replicas: 3 },
      { name: 'ledger-reconcile', role: 'cron', schedule: '*/30 * * * *', fault: 'FailedJob' },
    ],
  },
  {
    name: 'search',
    apps: [
      { name: 'search-api', role: 'api', weight: 4, autoscaled: true },
      { name: 'suggest-api', role: 'api', weight: 2 },
      { name: 'index-worker', role: 'worker', weight: 2 },
      { name: 'search-index', role: 'database', replicas: 3 },
    ],
  },
  {
    name: 'identity',
    apps: [
      { name: 'login-web', role: 'web', weight: 2, host: 'login' },
      { name: 'auth-api', role: 'api', weight: 3, autoscaled: true },
      { name: 'session-cache', role: 'cache', replicas: 2 },
      { name: 'token-cleaner', role: 'cron', schedule: '0 * * * *' },
    ],
  },
  {
    name: 'logistics',
    apps: [
      { name: 'tracking-web', role: 'web', weight: 2, host: 'tracking' },
      { name: 'shipping-api', role: 'api', weight: 3 },
      { name: 'route-planner', role: 'worker', replicas: 3, fault: 'Unschedulable' },
      { name: 'label-printer', role: 'worker', weight: 1 },
      { name: 'parcel-db', role: 'database', replicas: 2 },
    ],
  },
  {
    name: 'messaging',
    apps: [
      { name: 'mail-worker', role: 'worker', weight: 2 },
      { name: 'push-api', role: 'api', weight: 2 },
      { name: 'sms-worker', role: 'worker', replicas: 2, fault: 'ImagePullBackOff' },
      { name: 'outbox-queue', role: 'queue', replicas: 3 },
    ],
  },
  {
    name: 'insights',
    apps: [
      { name: 'event-collector', role: 'api', weight: 3, autoscaled: true, host: 'collect' },
      { name: 'reports-web', role: 'web', weight: 1, host: 'reports' },
      { name: 'warehouse-loader', role: 'worker', weight: 2 },
      { name: 'reports-nightly', role: 'cron', schedule: '30 1 * * *' },
    ],
  },
]

/** What the platform team runs for everybody: namespace and apps. */
export const platform: readonly CatalogTeam[] = [
  {
    name: 'kube-system',
    apps: [
      { name: 'kube-proxy', role: 'agent', image: 'registry.k8s.io/kube-proxy:v1.36.3' },
      {
        name: 'coredns',
        role: 'api',
        replicas: 2,
        image: 'registry.k8s.io/coredns/coredns:v1.14.1',
        port: 53,
      },
      {
        name: 'metrics-server',
        role: 'api',
        replicas: 1,
        image: 'registry.k8s.io/metrics-server/metrics-server:v0.8.1',
        port: 10250,
      },
    ],
  },
  {
    name: 'ingress-nginx',
    apps: [
      {
        name: 'ingress-nginx-controller',
        role: 'api',
        replicas: 2,
        image: 'registry.k8s.io/ingress-nginx/controller:v1.14.3',
        port: 8443,
      },
    ],
  },
  {
    name: 'observability',
    apps: [
      { name: 'log-agent', role: 'agent', image: 'cr.fluentbit.io/fluent/fluent-bit:4.2.2' },
      {
        name: 'prometheus',
        role: 'database',
        replicas: 1,
        image: 'quay.io/prometheus/prometheus:v3.9.1',
        port: 9090,
      },
      {
        name: 'alertmanager',
        role: 'database',
        replicas: 1,
        image: 'quay.io/prometheus/alertmanager:v0.31.0',
        port: 9093,
      },
    ],
  },
]
