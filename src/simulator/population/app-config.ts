import type { AppContext } from './app-context.ts'
import { partNames } from './app-labels.ts'
import { partsOf } from './app-network.ts'
import { type PopulationItem, populationItem } from './population-object.ts'
import { hexDigest } from './random.ts'
import { resources } from './resources.ts'

/** What an app's pods refer to: ConfigMap, Secret, ServiceAccount, and what that account may do. */
export function* configItems(context: AppContext): Generator<PopulationItem> {
  const { app } = context
  const names = partNames(app)
  yield populationItem(resources.configMaps, {
    ...partsOf(context, resources.configMaps, names.configMap),
    body: {
      data: {
        'config.yaml': configText(context),
        'log-level': app.environment === 'staging' ? 'debug' : 'info',
      },
    },
  })
  yield populationItem(resources.secrets, {
    ...partsOf(context, resources.secrets, names.secret),
    body: {
      data: {
        'api-token': base64(hexDigest(`${app.namespace}/${app.name}/token`, 32)),
        'database-url': base64(`postgres://app@db.${app.namespace}.svc:5432/app`),
      },
      type: 'Opaque',
    },
  })
  yield populationItem(resources.serviceAccounts, {
    ...partsOf(context, resources.serviceAccounts, names.serviceAccount),
    body: {},
  })
  yield populationItem(resources.roles, {
    ...partsOf(context, resources.roles, app.name),
    body: {
      rules: [
        {
          apiGroups: [''],
          resourceNames: [names.configMap],
          resources: ['configmaps'],
          verbs: ['get', 'watch'],
        },
        {
          apiGroups: ['coordination.k8s.io'],
          resources: ['leases'],
          verbs: ['get', 'create', 'update'],
        },
      ],
    },
  })
  yield populationItem(resources.roleBindings, {
    ...partsOf(context, resources.roleBindings, app.name),
    body: {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: app.name },
      subjects: [{ kind: 'ServiceAccount', name: names.serviceAccount, namespace: app.namespace }],
    },
  })
}

function configText({ app }: AppContext): string {
  return [
    `service: ${app.name}`,
    `team: ${app.team}`,
    `environment: ${app.environment}`,
    'server:',
    '  shutdownTimeoutSeconds: 20',
    '  maxRequestBytes: 8388608',
    'telemetry:',
    '  metricsPort: 9464',
    `  traceRatio: ${app.environment === 'staging' ? '1.0' : '0.05'}`,
    '',
  ].join('\n')
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
