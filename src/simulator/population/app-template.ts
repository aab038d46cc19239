import { appLabels, partNames, pullSecret, selectorLabels } from './app-labels.ts'
import type { AppPlan } from './company-plan.ts'
import type { Container, PodTemplate } from './pod-spec.ts'
import { hexDigest } from './random.ts'

/** `spec.template` of an app's workload, defaults filled in as the API server does. */
export function appTemplate(app: AppPlan, image: string = app.image): PodTemplate {
  const { serviceAccount } = partNames(app)
  const version = image.slice(image.lastIndexOf(':') + 1)
  const main = mainContainer(app, image)
  const priority = priorityOf(app)
  return {
    metadata: {
      labels: { ...appLabels(app), 'app.kubernetes.io/version': version },
      annotations: {
        'checksum/config': hexDigest(`${app.namespace}/${app.name}/config/${version}`, 64),
        'prometheus.io/port': '9464',
        'prometheus.io/scrape': 'true',
      },
    },
    spec: {
      ...(app.role === 'api' && app.host !== undefined
        ? { initContainers: [migration(app, image)] }
        : {}),
      containers: app.role === 'web' && !app.autoscaled ? [main, proxy()] : [main],
      dnsPolicy: 'ClusterFirst',
      ...(app.team === 'platform' ? {} : { imagePullSecrets: [{ name: pullSecret }] }),
      ...(usesHostNetwork(app) ? { hostNetwork: true } : {}),
      ...(priority === undefined ? {} : { priorityClassName: priority }),
      restartPolicy: app.workload === 'CronJob' ? 'Never' : 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {
        fsGroup: 65532,
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      serviceAccount,
      serviceAccountName: serviceAccount,
      terminationGracePeriodSeconds: 30,
      ...placementOf(app),
      volumes: volumesOf(app),
    },
  }
}

/** Whether the app's pods share the network of their nodes, as agents of the cluster itself do. */
export function usesHostNetwork(app: AppPlan): boolean {
  return app.workload === 'DaemonSet' && app.namespace === 'kube-system'
}

function priorityOf(app: AppPlan): string | undefined {
  if (app.workload === 'DaemonSet') return 'system-node-critical'
  if (app.namespace === 'kube-system') return 'system-cluster-critical'
  if (app.role === 'web' || app.host !== undefined) return 'customer-facing'
  return app.workload === 'CronJob' ? 'background' : undefined
}

function placementOf(app: AppPlan): Record<string, unknown> {
  if (app.workload === 'DaemonSet') return { tolerations: [{ operator: 'Exists' }] }
  if (app.workload === 'CronJob') return {}
  const labelSelector = { matchLabels: selectorLabels(app) }
  const spread = {
    labelSelector,
    maxSkew: 1,
    topologyKey: 'topology.kubernetes.io/zone',
    whenUnsatisfiable: 'ScheduleAnyway',
  }
  const apart = {
    podAffinityTerm: { labelSelector, topologyKey: 'kubernetes.io/hostname' },
    weight: 100,
  }
  return {
    affinity: {
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [apart] },
    },
    ...(app.host === undefined ? {} : { topologySpreadConstraints: [spread] }),
  }
}

function volumesOf(app: AppPlan): NonNullable<PodTemplate['spec']['volumes']> {
  const { configMap, secret } = partNames(app)
  return [
    { name: 'config', configMap: { defaultMode: 420, name: configMap } },
    { name: 'credentials', secret: { defaultMode: 420, secretName: secret } },
    { name: 'tmp', emptyDir: {} },
  ]
}

const termination = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
} as const

const hardened = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
} as const

function mainContainer(app: AppPlan, image: string): Container {
  const { port } = app
  const { configMap, secret } = partNames(app)
  return {
    name: app.name,
    image,
    imagePullPolicy: 'IfNotPresent',
    args: ['--config=/etc/app/config.yaml', '--log-format=json'],
    env: environmentOf(app),
    envFrom: [{ configMapRef: { name: configMap } }],
    ...(app.role !== 'web' ? {} : { lifecycle: { preStop: { sleep: { seconds: 5 } } } }),
    ...(port === undefined ? {} : probes()),
    ports: [
      ...(port === undefined ? [] : [{ containerPort: port, name: 'main', protocol: 'TCP' }]),
      {
        containerPort: 9464,
        ...(usesHostNetwork(app) ? { hostPort: 9464 } : {}),
        name: 'metrics',
        protocol: 'TCP',
      },
    ],
    resources: resourcesOf(app),
    securityContext: hardened,
    ...termination,
    volumeMounts: [
      { mountPath: '/etc/app', name: 'config', readOnly: true },
      { mountPath: `/etc/${secret}`, name: 'credentials', readOnly: true },
      ...(app.workload === 'StatefulSet' ? [{ mountPath: '/var/lib/data', name: 'data' }] : []),
      { mountPath: '/tmp', name: 'tmp' },
    ],
  }
}

function environmentOf(app: AppPlan): readonly object[] {
  const { configMap, secret } = partNames(app)
  return [
    field('POD_NAME', 'metadata.name'),
    field('NODE_NAME', 'spec.nodeName'),
    { name: 'LOG_LEVEL', valueFrom: { configMapKeyRef: { key: 'log-level', name: configMap } } },
    { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { key: 'database-url', name: secret } } },
    { name: 'API_TOKEN', valueFrom: { secretKeyRef: { key: 'api-token', name: secret } } },
    { name: 'OTEL_SERVICE_NAME', value: app.name },
  ]
}

function probes(): Record<string, object> {
  return {
    livenessProbe: probe('/healthz', 10, 3),
    readinessProbe: probe('/readyz', 5, 2),
  }
}

function resourcesOf(app: AppPlan): Container['resources'] {
  if (app.fault === 'Unschedulable') return sized('48', '96Gi')
  switch (app.role) {
    case 'database':
      return sized('1', '4Gi')
    case 'cache':
    case 'queue':
      return sized('500m', '1Gi')
    case 'agent':
      return { requests: { cpu: '50m', memory: '64Mi' } }
    case 'worker':
      return { limits: { memory: '768Mi' }, requests: { cpu: '200m', memory: '512Mi' } }
    case 'web':
    case 'api':
    case 'cron':
      return { limits: { memory: '512Mi' }, requests: { cpu: '100m', memory: '256Mi' } }
  }
}

function sized(cpu: string, memory: string): Container['resources'] {
  return { limits: { cpu, memory }, requests: { cpu, memory } }
}

function migration(app: AppPlan, image: string): Container {
  const { configMap } = partNames(app)
  return {
    name: 'migrate',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: ['migrate', '--wait'],
    envFrom: [{ configMapRef: { name: configMap } }],
    resources: { limits: { memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    securityContext: hardened,
    ...termination,
    volumeMounts: [{ mountPath: '/tmp', name: 'tmp' }],
  }
}

function proxy(): Container {
  return {
    name: 'assets',
    image: 'docker.io/library/nginx:1.29.4-alpine',
    imagePullPolicy: 'IfNotPresent',
    ports: [{ containerPort: 8443, name: 'assets', protocol: 'TCP' }],
    resources: { limits: { memory: '128Mi' }, requests: { cpu: '50m', memory: '64Mi' } },
    securityContext: hardened,
    ...termination,
    volumeMounts: [
      { mountPath: '/tmp', name: 'tmp' },
      { mountPath: '/usr/share/nginx/html', name: 'tmp', readOnly: true },
    ],
  }
}

function field(name: string, fieldPath: string): object {
  return { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } }
}

function probe(path: string, periodSeconds: number, failureThreshold: number): object {
  return {
    failureThreshold,
    httpGet: { path, port: 'metrics', scheme: 'HTTP' },
    periodSeconds,
    successThreshold: 1,
    timeoutSeconds: 2,
  }
}
