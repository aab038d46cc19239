import { afterAll, beforeAll, expect, it } from 'vitest'
import { define, definitionOf, versionOf } from '../gateway/definitions.ts'
import { describeClusters, type Fields, must } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'

const core = '/api/v1/namespaces/default'
const apps = '/apis/apps/v1/namespaces/default'
const container = { name: 'main', image: 'nginx:1' }
const labels = { app: 'db' }
const selector = { matchLabels: labels }
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const policies = '/apis/admissionregistration.k8s.io/v1'
const claimSpec = {
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
  storageClassName: 'fast',
}

const matchConstraints = {
  resourceRules: [
    {
      apiGroups: ['none.example.com'],
      apiVersions: ['v1'],
      resources: ['none'],
      operations: ['CREATE'],
    },
  ],
}

/** What uses what, as it is made over the API. */
const made: readonly (readonly [path: string, body: Fields])[] = [
  ...['data-db-0', 'data-db-2', 'origin', 'idle'].map(
    (name) => [`${core}/persistentvolumeclaims`, { metadata: { name }, spec: claimSpec }] as const,
  ),
  [
    `${core}/persistentvolumeclaims`,
    {
      metadata: { name: 'clone' },
      spec: { ...claimSpec, dataSource: { kind: 'PersistentVolumeClaim', name: 'origin' } },
    },
  ],
  [
    `${apps}/statefulsets`,
    {
      metadata: { name: 'db' },
      spec: {
        replicas: 1,
        serviceName: 'db',
        selector,
        template: { metadata: { labels }, spec: { containers: [container] } },
        volumeClaimTemplates: [
          { metadata: { name: 'data' }, spec: { ...claimSpec, storageClassName: 'template' } },
        ],
      },
    },
  ],
  [
    '/api/v1/persistentvolumes',
    {
      metadata: { name: 'remote' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        csi: {
          driver: 'csi.example.com',
          volumeHandle: 'v',
          nodeStageSecretRef: { name: 'stage', namespace: 'default' },
        },
      },
    },
  ],
  ...['stage', 'idle'].map((name) => [`${core}/secrets`, { metadata: { name } }] as const),
  [
    `${core}/persistentvolumeclaims`,
    {
      metadata: {
        name: 'annotated',
        annotations: { 'volume.beta.kubernetes.io/storage-class': 'annotated' },
      },
      spec: { accessModes: claimSpec.accessModes, resources: claimSpec.resources },
    },
  ],
  ...['template', 'annotated', 'idle'].map(
    (name) =>
      [
        '/apis/storage.k8s.io/v1/storageclasses',
        { metadata: { name }, provisioner: 'csi.example.com' },
      ] as const,
  ),
  ['/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'safe' }, handler: 'safe' }],
  ...['high', 'counted', 'idle'].map(
    (name) =>
      ['/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value: 1000 }] as const,
  ),
  ...['robot', 'remote', 'idle'].map(
    (name) => [`${core}/serviceaccounts`, { metadata: { name } }] as const,
  ),
  ...(
    [
      ['rolebindings', 'namespaces/default/', ['robot', 'idle:more']],
      ['clusterrolebindings', '', ['remote', '']],
    ] as const
  ).map(
    ([resource, place, names]) =>
      [
        `${rbac}/${place}${resource}`,
        {
          metadata: { name: 'by-user-name' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
          subjects: ['idle', ...names.map((name) => `system:serviceaccount:default:${name}`)].map(
            (name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }),
          ),
        },
      ] as const,
  ),
  [
    `${core}/resourcequotas`,
    {
      metadata: { name: 'by-class' },
      spec: {
        hard: { pods: '10' },
        scopeSelector: {
          matchExpressions: [
            { scopeName: 'PriorityClass', operator: 'In', values: ['none', 'counted'] },
          ],
        },
      },
    },
  ],
  [
    `${apps}/deployments`,
    {
      metadata: { name: 'idle' },
      spec: {
        replicas: 0,
        selector,
        template: {
          metadata: { labels },
          spec: { containers: [container], priorityClassName: 'high', runtimeClassName: 'safe' },
        },
      },
    },
  ],
  ...['hook', 'conversion', 'idle'].map(
    (name) =>
      [`${core}/services`, { metadata: { name }, spec: { ports: [{ port: 443 }] } }] as const,
  ),
  [
    `${policies}/validatingwebhookconfigurations`,
    {
      metadata: { name: 'hooks' },
      webhooks: [
        {
          name: 'hooks.example.com',
          clientConfig: { service: { name: 'hook', namespace: 'default' } },
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          rules: matchConstraints.resourceRules,
        },
      ],
    },
  ],
  [
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      metadata: { name: 'converted.users.example.com' },
      spec: {
        group: 'users.example.com',
        names: { plural: 'converted', kind: 'Converted' },
        scope: 'Namespaced',
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { service: { name: 'conversion', namespace: 'default' } },
          },
        },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    },
  ],
  [
    `${core}/persistentvolumeclaims`,
    { metadata: { name: 'bound' }, spec: { ...claimSpec, volumeName: 'remote' } },
  ],
  [
    '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    {
      metadata: { name: 'scales' },
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'idle' },
      },
    },
  ],
  [
    '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
    { metadata: { name: 'keeps' }, spec: { minAvailable: 1, selector } },
  ],
  [
    `${core}/services`,
    { metadata: { name: 'leads' }, spec: { ports: [{ port: 80 }], selector: labels } },
  ],
  [`${rbac}/namespaces/default/roles`, { metadata: { name: 'local' } }],
  [`${rbac}/clusterroles`, { metadata: { name: 'wide', labels: { part: 'of' } } }],
  [
    `${rbac}/clusterroles`,
    {
      metadata: { name: 'gathers' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'of' } }] },
    },
  ],
  ...(
    [
      ['namespaces/default/rolebindings', 'grants', 'Role', 'local'],
      ['namespaces/default/rolebindings', 'grants-wide', 'ClusterRole', 'wide'],
      ['clusterrolebindings', 'grants-wide', 'ClusterRole', 'wide'],
    ] as const
  ).map(
    ([place, name, kind, role]) =>
      [
        `${rbac}/${place}`,
        {
          metadata: { name },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: role },
        },
      ] as const,
  ),
  ...['named', 'selected', 'other'].map(
    (name) => [`${core}/configmaps`, { metadata: { name, labels: { settings: name } } }] as const,
  ),
  ...[
    ['of-config-maps', { apiVersion: 'v1', kind: 'ConfigMap' }],
    ['of-secrets', { apiVersion: 'v1', kind: 'Secret' }],
  ].map(
    ([name, paramKind]) =>
      [
        `${policies}/validatingadmissionpolicies`,
        {
          metadata: { name },
          spec: { paramKind, matchConstraints, validations: [{ expression: 'true' }] },
        },
      ] as const,
  ),
  ...(
    [
      ['by-name', 'of-config-maps', { name: 'named', namespace: 'default' }],
      ['by-label', 'of-config-maps', { selector: { matchLabels: { settings: 'selected' } } }],
      ['of-another-kind', 'of-secrets', { name: 'other', namespace: 'default' }],
    ] as const
  ).map(
    ([name, policyName, paramRef]) =>
      [
        `${policies}/validatingadmissionpolicybindings`,
        {
          metadata: { name },
          spec: {
            policyName,
            paramRef: { ...paramRef, parameterNotFoundAction: 'Allow' },
            validationActions: ['Deny'],
          },
        },
      ] as const,
  ),
]

describeClusters('what uses an object', (cluster) => {
  let gateway: ServedGateway
  beforeAll(async () => {
    for (const [path, body] of made) await must(cluster(), path, { method: 'POST', body })
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster().selection }] })
  })
  afterAll(async () => gateway?.[Symbol.asyncDispose]())

  const usersOf = async (lookup: string, name: string): Promise<readonly string[]> => {
    const data = await gateway.data(
      `{ found: ${lookup}(${name.replace(/^(?:(.*)\/)?(.*)$/, (_, namespace: string | undefined, own: string) => `${namespace === undefined ? '' : `namespace: "${namespace}", `}name: "${own}"`)}) { usedBy { nodes { object { kind name } paths } } } }`,
    )
    return data.found.usedBy.nodes.map(
      ({ object, paths }: Fields) => `${object.kind} ${object.name} ${paths.join(' ')}`,
    )
  }
  const unused = async (list: string): Promise<readonly string[]> => {
    const data = await gateway.data(
      `{ found: ${list}(where: { usedBy: { none: {} } }, first: 100) { nodes { metadata { name } } } }`,
    )
    return data.found.nodes.map(({ metadata }: Fields) => metadata.name)
  }

  it('counts the claims that a StatefulSet has left behind, and those that others are copied from', async () => {
    const places = 'StatefulSet db spec.volumeClaimTemplates[0].metadata.name'
    expect(await usersOf('persistentVolumeClaim', 'default/data-db-2')).toEqual([places])
    expect(await unused('persistentVolumeClaims')).toEqual(['annotated', 'bound', 'clone', 'idle'])
  })

  it('counts the Secrets of volumes', async () => {
    expect(await usersOf('secret', 'default/stage')).toEqual([
      'PersistentVolume remote spec.csi.nodeStageSecretRef.name',
    ])
    const names = await unused('secrets')
    expect(names).toContain('idle')
    expect(names).not.toContain('stage')
  })

  it('counts the classes that templates name', async () => {
    expect(await usersOf('storageClass', 'template')).toEqual([
      'StatefulSet db spec.volumeClaimTemplates[0].spec.storageClassName',
    ])
    expect(await usersOf('priorityClass', 'high')).toEqual([
      'Deployment idle spec.template.spec.priorityClassName',
    ])
    expect(await usersOf('runtimeClass', 'safe')).toEqual([
      'Deployment idle spec.template.spec.runtimeClassName',
    ])
    expect(await unused('storageClasses')).toEqual(['idle'])
  })

  it('counts the class that a claim names by its old annotation, and leads to it', async () => {
    expect(await usersOf('storageClass', 'annotated')).toEqual([
      'PersistentVolumeClaim annotated metadata.annotations["volume.beta.kubernetes.io/storage-class"]',
    ])
    const { found } = await gateway.data(
      '{ found: persistentVolumeClaim(namespace: "default", name: "annotated") { storageClass { name } } }',
    )
    expect(found).toEqual({ storageClass: { name: 'annotated' } })
  })

  it('counts the priority classes that quotas name', async () => {
    expect(await usersOf('priorityClass', 'counted')).toEqual([
      'ResourceQuota by-class spec.scopeSelector.matchExpressions[0].values[1]',
    ])
    const names = await unused('priorityClasses')
    expect(names).toContain('idle')
    expect(names).not.toContain('counted')
  })

  it('counts the ServiceAccounts that bindings name by their users', async () => {
    expect(await usersOf('serviceAccount', 'default/robot')).toEqual([
      'RoleBinding by-user-name subjects[1].name',
    ])
    expect(await usersOf('serviceAccount', 'default/remote')).toEqual([
      'ClusterRoleBinding by-user-name subjects[1].name',
    ])
    const names = await unused('serviceAccounts')
    expect(names).toContain('idle')
    expect(names).not.toContain('robot')
  })

  it('counts the Services of webhooks and of conversions', async () => {
    expect(await usersOf('service', 'default/hook')).toEqual([
      'ValidatingWebhookConfiguration hooks webhooks[0].clientConfig.service.name',
    ])
    expect(await usersOf('service', 'default/conversion')).toEqual([
      'CustomResourceDefinition converted.users.example.com spec.conversion.webhook.clientConfig.service.name',
    ])
    expect(await unused('services')).toContain('idle')
  })

  it('counts what scales, selects and grants, and claims of volumes', async () => {
    const selecting = ['PodDisruptionBudget keeps spec.selector', 'Service leads spec.selector']
    expect(await usersOf('deployment', 'default/idle')).toEqual([
      'HorizontalPodAutoscaler scales spec.scaleTargetRef.name',
      ...selecting,
    ])
    expect(await usersOf('statefulSet', 'default/db')).toEqual(selecting)
    expect(await usersOf('role', 'default/local')).toEqual(['RoleBinding grants roleRef.name'])
    expect(await usersOf('clusterRole', 'wide')).toEqual([
      'ClusterRole gathers aggregationRule.clusterRoleSelectors[0]',
      'ClusterRoleBinding grants-wide roleRef.name',
      'RoleBinding grants-wide roleRef.name',
    ])
    expect(await usersOf('persistentVolume', 'remote')).toEqual([
      'PersistentVolumeClaim bound spec.volumeName',
    ])
    expect(await usersOf('roleBinding', 'default/grants')).toEqual([])
    expect(await unused('deployments')).toEqual([])
  })

  it('counts the objects of a definition, and loads no other custom kind for that', async () => {
    for (const kind of ['Gadget', 'Gizmo']) {
      const versions = [versionOf('v1', { size: { type: 'integer' } })]
      await define(cluster(), definitionOf(kind, 'users.example.com', versions))
    }
    const path = '/apis/users.example.com/v1/namespaces/default/gadgets'
    const one = {
      apiVersion: 'users.example.com/v1',
      kind: 'Gadget',
      metadata: { name: 'one' },
    }
    const make = () => must(cluster(), path, { method: 'POST', body: one })
    await expect.poll(() => make().then(Boolean, () => false)).toBe(true)
    const users = (name: string) => usersOf('customResourceDefinition', `${name}.users.example.com`)
    await expect.poll(() => users('gadgets')).toEqual(['Gadget one apiVersion kind'])
    const { gatewayClusters } = await gateway.data(
      '{ gatewayClusters { resources { type state } } }',
    )
    const [{ resources }] = gatewayClusters
    const states = Object.fromEntries(resources.map(({ type, state }: Fields) => [type, state]))
    expect(states).toMatchObject({ UsersExampleComGadget: 'SYNCED' })
    expect(states['UsersExampleComGizmo'] ?? 'IDLE').not.toBe('SYNCED')
    expect(await users('gizmos')).toEqual([])
  })

  it('counts the settings of admission policies, by name and by labels, if they are of the kind that the policy names', async () => {
    expect(await usersOf('configMap', 'default/named')).toEqual([
      'ValidatingAdmissionPolicyBinding by-name spec.paramRef.name',
    ])
    expect(await usersOf('configMap', 'default/selected')).toEqual([
      'ValidatingAdmissionPolicyBinding by-label spec.paramRef.selector',
    ])
    const names = await unused('configMaps')
    expect(names).toContain('other')
    expect(names).not.toContain('named')
    expect(names).not.toContain('selected')
  })
})
