import type { Fields } from '../gateway/test-cluster.ts'
import {
  ago,
  claim,
  condition,
  failing,
  job,
  pod,
  podSpec,
  type ProblemShape,
  ready,
  type ShapedObject,
  unavailable,
  unready,
  waiting,
  terminated,
  web,
  workload,
} from './shape-parts.ts'

const complete = {
  observedGeneration: 1,
  replicas: 3,
  updatedReplicas: 3,
  readyReplicas: 3,
  availableReplicas: 3,
}

const labels = { app: 'web' }
const service = (name: string, more: Fields = {}): ShapedObject => ({
  is: 'v1 Service',
  name,
  object: { spec: { selector: labels, ports: [{ name: 'http', port: 80 }], ...more } },
})

const ingress = (backend: Fields, more: Fields = {}): ShapedObject => ({
  is: 'networking.k8s.io/v1 Ingress',
  name: 'shop',
  object: {
    spec: {
      rules: [{ http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
      ...more,
    },
  },
})

const route = (ref: Fields): ShapedObject => ({
  is: 'gateway.networking.k8s.io/v1 HTTPRoute',
  name: 'shop',
  object: { spec: { rules: [{ backendRefs: [ref] }] } },
})

/** Asked about nothing that exists, so that it refuses nothing. */
const webhook = (
  kind: string,
  name: string,
  clientConfig: Fields,
  policy: string,
): ShapedObject => ({
  is: `admissionregistration.k8s.io/v1 ${kind}`,
  name,
  object: {
    webhooks: [
      {
        name: 'check.example.com',
        clientConfig,
        failurePolicy: policy,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [
          {
            apiGroups: ['none.example.com'],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['nones'],
          },
        ],
      },
    ],
  },
})

const needing = (more: Fields): readonly ShapedObject[] => {
  const template = { metadata: { labels }, spec: { ...podSpec, ...more } }
  const object = { spec: { ...workload.spec, template } }
  return [{ is: 'apps/v1 Deployment', name: 'web', object, status: complete }]
}

const cronJob = (more: Fields, status: Fields): ShapedObject => ({
  is: 'batch/v1 CronJob',
  name: 'nightly',
  object: {
    spec: {
      schedule: '0 * * * *',
      jobTemplate: { spec: { template: job.spec.template } },
      ...more,
    },
  },
  status,
})

const quota = (used: string): ShapedObject => {
  const hard = { 'requests.memory': '10Gi', pods: '100', secrets: '0' }
  return {
    is: 'v1 ResourceQuota',
    name: 'team',
    object: { spec: { hard } },
    status: { hard, used: { 'requests.memory': used, pods: '20', secrets: '0' } },
  }
}

const certificate = (status: Fields): ShapedObject => ({
  is: 'cert-manager.io/v1 Certificate',
  name: 'shop',
  status: { conditions: [condition('Ready', 'True', 'Ready')], ...status },
})

const day = 24 * 60
const budget = {
  is: 'policy/v1 PodDisruptionBudget',
  name: 'web',
  object: { spec: { minAvailable: 3, selector: { matchLabels: labels } } },
}
const budgetStatus = { observedGeneration: 1, desiredHealthy: 3, expectedPods: 3 }

/** What is wrong between objects, and what more is told, in the order of the documentation. */
export const relatedShapes: readonly ProblemShape[] = [
  {
    wrong: 'A Service selects pods that there are not, and no workload makes',
    rows: [['Service/web', 'NoPods', 'WARNING', 1]],
    objects: [service('web'), pod('other', { phase: 'Running', conditions: ready })],
  },
  {
    wrong: 'An Ingress, a route or a webhook leads to a Service without pods',
    rows: [['Service/web', 'NoPods', 'CRITICAL', 1]],
    objects: [service('web'), ingress({ service: { name: 'web', port: { name: 'http' } } })],
  },
  {
    wrong: 'The pods of a Service crash',
    rows: [['Deployment/web', 'CrashLoopBackOff', 'CRITICAL', 1]],
    objects: [
      service('web'),
      ...web(unavailable),
      failing(
        'a',
        waiting('CrashLoopBackOff'),
        { restartCount: 7, lastState: terminated('Error', 1) },
        'ReplicaSet/web-1',
      ),
    ],
  },
  {
    wrong: 'A Service has pods, and none of them is ready',
    rows: [['Deployment/web', 'ContainersNotReady', 'CRITICAL', 1]],
    objects: [
      service('web'),
      ingress({ service: { name: 'web', port: { name: 'http' } } }),
      ...web(unavailable),
      pod(
        'a',
        { phase: 'Running', conditions: unready },
        {
          owner: 'ReplicaSet/web-1',
          object: { metadata: { labels }, spec: podSpec },
        },
      ),
    ],
    behind: ['Service/web', 'Ingress/shop'],
  },
  {
    wrong: 'A Service selects the pods of a Deployment that is scaled to none',
    rows: [],
    objects: [
      service('web'),
      {
        is: 'apps/v1 Deployment',
        name: 'web',
        object: { spec: { ...workload.spec, replicas: 0 } },
        status: { observedGeneration: 1 },
      },
    ],
  },
  {
    wrong: 'An Ingress leads to a Service that does not exist',
    rows: [['Ingress/shop', 'MissingService', 'CRITICAL', 1]],
    objects: [ingress({ service: { name: 'web', port: { number: 80 } } })],
  },
  {
    wrong: 'An Ingress leads to a port that its Service does not have',
    rows: [['Ingress/shop', 'MissingServicePort', 'CRITICAL', 1]],
    objects: [
      service('web', { selector: undefined }),
      ingress({ service: { name: 'web', port: { number: 8080 } } }),
    ],
  },
  {
    wrong: 'A route of the Gateway API leads to a Service that does not exist',
    rows: [['HTTPRoute/shop', 'MissingService', 'CRITICAL', 1]],
    objects: [route({ name: 'web', port: 80 })],
  },
  {
    wrong: 'An Ingress leads to a Service outside the cluster',
    rows: [],
    objects: [
      service('web', {
        type: 'ExternalName',
        externalName: 'shop.example.com',
        selector: undefined,
        ports: undefined,
      }),
      ingress({ service: { name: 'web', port: { number: 443 } } }),
    ],
  },
  {
    wrong: 'The Service of an admission webhook does not exist',
    rows: [['ValidatingWebhookConfiguration/gone', 'MissingService', 'CRITICAL', 1]],
    objects: [
      webhook(
        'ValidatingWebhookConfiguration',
        'gone',
        { service: { namespace: 'default', name: 'gone' } },
        'Fail',
      ),
    ],
  },
  {
    wrong: 'The Service of a webhook that may fail (`failurePolicy: Ignore`) does not exist',
    rows: [['MutatingWebhookConfiguration/ignored', 'MissingService', 'WARNING', 1]],
    objects: [
      webhook(
        'MutatingWebhookConfiguration',
        'ignored',
        { service: { namespace: 'default', name: 'gone' } },
        'Ignore',
      ),
    ],
  },
  {
    wrong: 'The Service of an admission webhook has no ready pod',
    rows: [['ValidatingWebhookConfiguration/empty', 'NoEndpoints', 'CRITICAL', 1]],
    objects: [
      service('hook', { ports: [{ port: 443 }] }),
      pod(
        'hook',
        { phase: 'Running', conditions: [condition('Ready', 'False', '', ago(0.5))] },
        {
          object: { metadata: { labels }, spec: podSpec },
        },
      ),
      webhook(
        'ValidatingWebhookConfiguration',
        'empty',
        { service: { namespace: 'NS', name: 'hook' } },
        'Fail',
      ),
    ],
  },
  {
    wrong: 'A PodDisruptionBudget allows no disruption although all pods are healthy',
    rows: [['PodDisruptionBudget/web', 'NoDisruptionAllowed', 'WARNING', 1]],
    objects: [{ ...budget, status: { ...budgetStatus, currentHealthy: 3, disruptionsAllowed: 0 } }],
  },
  {
    wrong: 'A PodDisruptionBudget has fewer healthy pods than it asks for',
    rows: [],
    objects: [{ ...budget, status: { ...budgetStatus, currentHealthy: 2, disruptionsAllowed: 0 } }],
  },
  {
    wrong: 'A CronJob has missed its schedule',
    rows: [['CronJob/nightly', 'MissedSchedule', 'WARNING', 1]],
    objects: [cronJob({}, { lastScheduleTime: ago(150), lastSuccessfulTime: ago(149) })],
  },
  {
    wrong: 'A run of a CronJob may begin no more (`startingDeadlineSeconds`)',
    rows: [['CronJob/nightly', 'MissedSchedule', 'WARNING', 1]],
    objects: [
      cronJob(
        { schedule: '*/5 * * * *', startingDeadlineSeconds: 30 },
        { lastScheduleTime: ago(8), lastSuccessfulTime: ago(7.5) },
      ),
    ],
  },
  {
    wrong: 'A run of a CronJob may still begin, within `startingDeadlineSeconds`',
    rows: [],
    objects: [
      cronJob(
        { startingDeadlineSeconds: 20_000 },
        { lastScheduleTime: ago(150), lastSuccessfulTime: ago(149) },
      ),
    ],
  },
  {
    wrong: 'Runs of a CronJob were due while its last one went on, and may begin no more',
    rows: [],
    objects: [
      cronJob(
        { startingDeadlineSeconds: 60, concurrencyPolicy: 'Forbid' },
        { lastScheduleTime: ago(150), lastSuccessfulTime: ago(0.1) },
      ),
    ],
  },
  {
    wrong: 'A CronJob is suspended',
    rows: [],
    objects: [
      cronJob({ suspend: true }, { lastScheduleTime: ago(150), lastSuccessfulTime: ago(149) }),
    ],
  },
  {
    wrong: 'A Job without a deadline has run for more than 12 hours',
    rows: [['Job/import', 'RunsLong', 'WARNING', 1]],
    objects: [
      {
        is: 'batch/v1 Job',
        name: 'import',
        object: job,
        status: { startTime: ago(13 * 60), active: 1 },
      },
    ],
  },
  {
    wrong: 'A ResourceQuota is used up to more than 95 %',
    rows: [['ResourceQuota/team', 'QuotaAlmostFull', 'WARNING', 1]],
    objects: [quota('9984Mi')],
  },
  {
    wrong: 'A ResourceQuota is used up',
    rows: [['ResourceQuota/team', 'QuotaFull', 'CRITICAL', 1]],
    objects: [quota('10Gi')],
  },
  {
    wrong: 'A workload refers to a ConfigMap that does not exist',
    rows: [['Deployment/web', 'MissingConfigMap', 'WARNING', 1]],
    objects: needing({
      volumes: [
        { name: 'a', configMap: { name: 'settings' } },
        { name: 'b', projected: { sources: [{ configMap: { name: 'more' } }] } },
        { name: 'c', configMap: { name: 'perhaps', optional: true } },
      ],
    }),
  },
  {
    wrong: 'A workload refers to a Secret that does not exist',
    rows: [['Deployment/web', 'MissingSecret', 'WARNING', 1]],
    objects: [
      { is: 'v1 Secret', name: 'there' },
      ...needing({
        containers: [
          {
            name: 'main',
            image: 'web:1',
            env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'token', key: 'a' } } }],
            envFrom: [
              { secretRef: { name: 'there' } },
              { secretRef: { name: 'perhaps', optional: true } },
            ],
          },
        ],
      }),
    ],
  },
  {
    wrong: 'A workload refers to a ServiceAccount that does not exist',
    rows: [['Deployment/web', 'MissingServiceAccount', 'WARNING', 1]],
    objects: needing({ serviceAccountName: 'robot' }),
  },
  {
    wrong: 'A workload refers to a PriorityClass that does not exist',
    rows: [['Deployment/web', 'MissingPriorityClass', 'WARNING', 1]],
    objects: needing({ priorityClassName: 'urgent' }),
  },
  {
    wrong: 'A PersistentVolumeClaim names a StorageClass that does not exist',
    rows: [['PersistentVolumeClaim/data', 'MissingStorageClass', 'WARNING', 1]],
    objects: [
      {
        is: 'v1 PersistentVolumeClaim',
        name: 'data',
        object: { spec: { ...claim.spec, storageClassName: 'nope' } },
        status: { phase: 'Pending' },
      },
    ],
    isLate: true,
  },
  {
    wrong: 'The TLS Secret of an Ingress does not exist',
    rows: [['Ingress/shop', 'MissingSecret', 'WARNING', 1]],
    objects: [
      service('web', { selector: undefined }),
      ingress(
        { service: { name: 'web', port: { name: 'http' } } },
        { tls: [{ hosts: ['shop.example.com'], secretName: 'shop-tls' }] },
      ),
    ],
  },
  {
    wrong: 'A certificate has expired, whatever its condition says',
    rows: [['Certificate/shop', 'Expired', 'CRITICAL', 1]],
    objects: [certificate({ notAfter: ago(60), renewalTime: ago(10 * day) })],
  },
  {
    wrong: 'A certificate is in its last days, and has not been renewed',
    rows: [['Certificate/shop', 'ExpiresSoon', 'WARNING', 1]],
    objects: [certificate({ notAfter: ago(-3 * day), renewalTime: ago(27 * day) })],
  },
  {
    wrong: 'A certificate has been issued for long enough',
    rows: [],
    objects: [certificate({ notAfter: ago(-60 * day), renewalTime: ago(-30 * day) })],
  },
  {
    wrong: 'A finalizer holds up a deletion for 10 minutes',
    rows: [['Service/web', 'Terminating', 'WARNING', 1]],
    objects: [
      {
        is: 'v1 Service',
        name: 'web',
        object: {
          metadata: { finalizers: ['example.com/keep'] },
          spec: { ports: [{ port: 80 }] },
        },
        isDeleted: true,
      },
    ],
    isLate: true,
  },
]
