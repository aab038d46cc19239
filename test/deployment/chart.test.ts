import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { serveGateway } from '../support/gateway.ts'
import { helm, type Manifest, rendered, scrapedJob } from '../support/helm.ts'

const why = helm === undefined ? ': skipped, no helm (test/cluster/helm/build.sh builds one)' : ''

const everything = {
  replicas: 3,
  image: {
    repository: 'registry.example.com/informerql',
    tag: '1',
    pullSecrets: [{ name: 'registry' }],
  },
  config: {
    auth: {
      mode: 'oidc-login',
      oidc: { issuer: 'https://id.example.com', usernameClaim: 'email' },
      login: { clientId: 'informerql' },
    },
    server: { publicUrl: 'https://portal.example.com', allowedHosts: ['portal.example.com'] },
    clusters: [{ name: 'default' }],
    clusterSources: [{ type: 'argocd', hub: 'default', namespaces: ['default'] }],
    profile: { include: { groups: ['', 'apps', '*.k8s.io'], kinds: ['CronJob'] } },
  },
  schema: {
    'teams.graphql': 'extend type Pod @index(name: "team", path: "metadata.labels[\\"team\\"]")',
  },
  tls: { existingSecret: 'informerql-tls' },
  login: { existingSecret: 'informerql-login' },
  rbac: {
    customGroups: ['stable.example.com'],
    secrets: true,
    clusterSecretNamespaces: ['default'],
  },
  serviceAccount: { annotations: { 'example.com/role': 'reader' } },
  service: { type: 'LoadBalancer', port: 8443, annotations: { 'example.com/internal': 'true' } },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  podDisruptionBudget: { maxUnavailable: '25%' },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: { matchLabels: { ingress: 'true' } } }],
    metricsFrom: [{ namespaceSelector: {} }],
    egress: [{ ports: [{ port: 443 }, { port: 53, protocol: 'UDP' }] }],
  },
  autoscaling: { enabled: true },
  podAnnotations: { 'example.com/a': 'b' },
  podLabels: { team: 'platform' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'gateway', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  priorityClassName: 'system-cluster-critical',
  extraEnv: [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=1200' }],
  extraEnvFrom: [{ secretRef: { name: 'variables' } }],
  extraVolumes: [{ name: 'kubeconfigs', secret: { secretName: 'kubeconfigs' } }],
  extraVolumeMounts: [{ name: 'kubeconfigs', mountPath: '/etc/kubeconfigs' }],
}

const guide = readFileSync('docs/production.md', 'utf8')

/** The blocks of YAML in the guide that begin so. */
const blocks = (begin: string): readonly string[] =>
  [...guide.matchAll(/```yaml\n(.*?)```/gs)]
    .map(([, text = '']) => text)
    .filter((text) => text.startsWith(begin))

const ofGuide = Object.fromEntries(
  blocks('# values.yaml\n').map((text, at) => [
    `values of the guide, ${at + 1}`,
    parse(text) as object,
  ]),
)

/** The sets of values that are tried on a real API server. */
const sets: Readonly<Record<string, object>> = {
  ...ofGuide,
  'no values': {},
  'everything on': everything,
  'clusters shared out': {
    ...everything,
    share: { enabled: true, caKey: 'ca.crt' },
    archive: { existingSecret: 'archive' },
  },
  'an archive in Postgres': { archive: { existingSecret: 'archive' } },
  'an archive on a volume each': {
    archive: { volumeSize: '5Gi', storageClassName: 'fast' },
    autoscaling: { enabled: true },
  },
  'what others make': {
    rbac: { create: false },
    serviceAccount: { create: false, name: 'default' },
    podDisruptionBudget: { enabled: false },
  },
}

const one = (manifests: readonly Manifest[], kind: string, name = 'informerql'): Manifest => {
  const found = manifests.find(
    (manifest) => manifest.kind === kind && manifest.metadata.name === name,
  )
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  return found
}

/** What the reader role may read: `apps/deployments`. */
const readable = (manifests: readonly Manifest[]): readonly string[] =>
  (one(manifests, 'ClusterRole', 'informerql-reader').rules ?? []).flatMap(
    ({ apiGroups, resources }) =>
      apiGroups.flatMap((group) => resources.map((resource) => `${group}/${resource}`)),
  )

const configOf = (manifests: readonly Manifest[]): string =>
  one(manifests, 'ConfigMap').data?.['informerql.yaml'] ?? ''

it('the chart has the version of the package', async () => {
  const { version } = parse(await readFile('package.json', 'utf8'))
  expect(parse(await readFile('deploy/chart/Chart.yaml', 'utf8'))).toMatchObject({
    version,
    appVersion: version,
  })
})

it('the chart knows the built-in kinds by the names and resources that the gateway gives them', async () => {
  await using simulator = await startSimulator({ metrics: true })
  await using gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
  const { gatewayClusters } = await gateway.data(
    '{ gatewayClusters { resources { type group resource } } }',
  )
  const kinds: Record<string, Record<string, string>> = {}
  for (const { type, group, resource } of gatewayClusters[0].resources) {
    ;(kinds[group] ??= {})[type] = resource
  }
  const sorted = (record: Record<string, unknown>): object =>
    Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const all = sorted(
    Object.fromEntries(Object.entries(kinds).map(([group, of]) => [group, sorted(of)])),
  )
  await expect(`${JSON.stringify(all, null, 2)}\n`).toMatchFileSnapshot(
    '../../deploy/chart/files/kinds.json',
  )
})

describe.skipIf(helm === undefined)(`the chart${why}`, () => {
  it('is what deploy/kubernetes.yaml is rendered from: deploy/render.sh', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-chart-'))
    const file = join(folder, 'kubernetes.yaml')
    await promisify(execFile)('deploy/render.sh', [file], {
      env: { ...process.env, HELM: resolve(helm ?? '') },
    })
    expect(await readFile('deploy/kubernetes.yaml', 'utf8')).toBe(await readFile(file, 'utf8'))
    await rm(folder, { recursive: true })
  })

  it('has no fault that `helm lint` finds', async () => {
    const { stdout } = await promisify(execFile)(helm ?? '', [
      'lint',
      'deploy/chart',
      '--strict',
      '--kube-version',
      '1.36.3',
    ])
    expect(stdout).toContain('0 chart(s) failed')
  })

  it.each([
    [{ replicas: -1 }, '/replicas'],
    [{ replica: 2 }, "'replica'"],
    [{ image: { pullPolicy: 'Sometimes' } }, '/image/pullPolicy'],
    [{ tls: { existingSecrt: 'a' } }, "'existingSecrt'"],
    [{ resources: { limits: { memory: '2Gb' } } }, '/resources/limits/memory'],
    [{ config: { auth: { mode: 'basic' } } }, '/config/auth/mode'],
    [{ config: { server: { port: 80 } } }, '/config/server/port'],
    [{ config: { server: { drainDelayMs: '5 s' } } }, '/config/server/drainDelayMs'],
    [{ config: { server: { tlsKey: 'a' } } }, '/config/server/tlsKey'],
    [{ config: { profile: { include: { kind: ['Pod'] } } } }, "'kind'"],
    [{ rbac: { customGroups: ['*.example.com'] } }, '/rbac/customGroups/0'],
    [{ schema: { 'a.txt': '' } }, 'a.txt'],
    [{ share: { enabled: true } }, 'archive.existingSecret'],
    [{ config: { share: { address: 'http://a' } } }, '/config/share/address'],
  ])('refuses %j, and names what is wrong', async (values, named) => {
    await expect(rendered(values)).rejects.toThrow(named)
  })

  it('lets the account read what the profile serves, and nothing else', async () => {
    const kinds = await rendered({
      config: { profile: { include: { kinds: ['Pod', 'Deployment'] } } },
    })
    expect(readable(kinds)).toEqual(['/pods', 'apps/deployments', 'metrics.k8s.io/pods'])
    const groups = await rendered({
      config: {
        profile: {
          include: { groups: ['apps', 'batch'], kinds: ['Node'] },
          exclude: { kinds: ['CronJob'] },
        },
      },
      rbac: { customGroups: ['stable.example.com'] },
    })
    expect(readable(groups)).toEqual([
      '/nodes',
      'batch/jobs',
      'metrics.k8s.io/nodes',
      'apps/*',
      'stable.example.com/*',
    ])
    expect(readable(await rendered({}))).not.toContain('/secrets')
    expect(readable(await rendered({ rbac: { secrets: true } }))).toContain('/secrets')
    const custom = { config: { profile: { include: { kinds: ['CertManagerCertificate'] } } } }
    await expect(rendered(custom)).rejects.toThrow(/CertManagerCertificate .* rbac\.customGroups/)
  })

  it('gives Node a heap by the limit of the container, from which the bounds follow, unless extraEnv or config say otherwise', async () => {
    const nodeOptions = async (values: object): Promise<unknown> => {
      const manifests = await rendered(values)
      const [container] = one(manifests, 'Deployment').spec.template.spec.containers
      // The flags of the image would overrule the variable.
      expect(container.command).toEqual(['node', 'dist/main.js'])
      const { cache, live } = parse(configOf(manifests))
      expect([cache, live]).toEqual([undefined, undefined])
      const named = (container.env ?? []).filter(
        ({ name }: { name: string }) => name === 'NODE_OPTIONS',
      )
      return named.map(({ value }: { value: string }) => value)
    }
    const limits = (memory: string | number): object => ({ resources: { limits: { memory } } })
    const heap = (mebibytes: number) => [
      `--max-old-space-size=${mebibytes} --max-semi-space-size=16`,
    ]
    expect(await nodeOptions(limits('2Gi'))).toEqual(heap(1_228))
    expect(await nodeOptions(limits('512Mi'))).toEqual(heap(307))
    expect(await nodeOptions(limits('1.5G'))).toEqual(heap(858))
    expect(await nodeOptions(limits(1_000_000_000))).toEqual(heap(572))
    const extraEnv = [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=999' }]
    expect(await nodeOptions({ ...limits('2Gi'), extraEnv })).toEqual(['--max-old-space-size=999'])
  })

  it('scrapes metrics as the job that the alerts select, whatever the release is called', async () => {
    const alerts = await readFile('deploy/monitoring/alerts.yaml', 'utf8')
    const jobs = new Set([...alerts.matchAll(/\bjob="([^"]*)"/g)].map(([, job]) => job))
    for (const nameOverride of [undefined, 'catalogue']) {
      const values = { serviceMonitor: { enabled: true }, nameOverride }
      expect([scrapedJob(await rendered(values))]).toEqual([...jobs])
    }
  })

  it('keeps the archive in the Postgres of a Secret, or on a volume of each gateway', async () => {
    const inPostgres = await rendered({ archive: { existingSecret: 'kept', urlKey: 'address' } })
    expect(one(inPostgres, 'Deployment').spec.template.spec.containers[0].env).toContainEqual({
      name: 'INFORMERQL_ARCHIVE_URL',
      valueFrom: { secretKeyRef: { name: 'kept', key: 'address' } },
    })
    const onVolumes = await rendered({ archive: { volumeSize: '5Gi' }, replicas: 3 })
    const { spec } = one(onVolumes, 'StatefulSet')
    expect(spec.replicas).toBe(3)
    const [claim] = spec.volumeClaimTemplates
    expect(claim.spec.resources.requests.storage).toBe('5Gi')
    const { mountPath } = spec.template.spec.containers[0].volumeMounts.find(
      ({ name }: { name: string }) => name === claim.metadata.name,
    )
    const { archive } = parse(configOf(onVolumes)) as { archive: { url: string } }
    expect(archive.url.startsWith(`file:${mountPath}/`)).toBe(true)
    await expect(
      rendered({ archive: { existingSecret: 'kept', volumeSize: '5Gi' } }),
    ).rejects.toThrow('not both')
  })

  it('gives gateways that share clusters a lasting address each, at which the others reach them', async () => {
    const manifests = await rendered({
      replicas: 3,
      archive: { existingSecret: 'kept' },
      share: { enabled: true, caKey: 'ca.crt' },
      tls: { existingSecret: 'informerql-tls' },
      networkPolicy: { enabled: true, from: [{ namespaceSelector: {} }], egress: [{}] },
    })
    const { spec } = one(manifests, 'StatefulSet')
    expect(spec.replicas).toBe(3)
    const [{ env, ports }] = spec.template.spec.containers
    const variables = Object.fromEntries(
      env.map(({ name, ...of }: { name: string }) => [name, of]),
    ) as Record<string, { value?: string; valueFrom?: object }>
    expect(variables['POD_NAME']?.valueFrom).toEqual({ fieldRef: { fieldPath: 'metadata.name' } })
    const address = variables['INFORMERQL_SHARE_ADDRESS']?.value?.replace(
      '$(POD_NAME)',
      'informerql-0',
    )
    const { hostname, port, protocol } = new URL(address ?? '')
    const [pod, service, namespace] = hostname.split('.')
    expect([pod, namespace, protocol]).toEqual(['informerql-0', 'informerql', 'https:'])
    expect(service).toBe(spec.serviceName)
    const peers = one(manifests, 'Service', service)
    expect(peers.spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true })
    expect(ports).toContainEqual({ name: 'https', containerPort: Number(port) })
    expect(parse(configOf(manifests)).share).toEqual({ caFile: '/etc/informerql/tls/ca.crt' })
    const policy = one(manifests, 'NetworkPolicy').spec
    const own = { podSelector: { matchLabels: spec.selector.matchLabels } }
    expect(policy.ingress[0]).toEqual({
      ports: [{ port: 'https' }],
      from: [{ namespaceSelector: {} }, own],
    })
    expect(policy.egress).toContainEqual({ ports: [{ port: 'https' }], to: [own] })
  })

  it('gives pods as long to end as a stop may take', async () => {
    const graceOf = async (server: object): Promise<unknown> => {
      const manifests = await rendered({ config: { server } })
      return one(manifests, 'Deployment').spec.template.spec.terminationGracePeriodSeconds
    }
    expect(await graceOf({})).toBe(30)
    expect(await graceOf({ drainDelayMs: 0, drainSpreadMs: 60_000, stopDeadlineMs: 1_500 })).toBe(
      67,
    )
    expect(
      await graceOf({ drainDelayMs: '500ms', drainSpreadMs: '1m30s', stopDeadlineMs: '1.5s' }),
    ).toBe(97)
  })

  it('replaces pods when the configuration changes, except for the clusters, which the gateway follows', async () => {
    const annotationsOf = async (config: object): Promise<string> => {
      const { template } = one(await rendered({ config }), 'Deployment').spec
      return template.metadata.annotations['checksum/config']
    }
    const before = await annotationsOf({})
    expect(await annotationsOf({ clusters: [{ name: 'one' }] })).toBe(before)
    expect(await annotationsOf({ preload: ['pods'] })).not.toBe(before)
  })

  it('makes a configuration that the gateway takes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-chart-'))
    const file = join(folder, 'informerql.yaml')
    const config = configOf(await rendered(everything)).replace(/^schema: .*$/m, '')
    await writeFile(file, config)
    const program = ['src/main.ts', 'schema', '--config', file]
    const { stdout } = await promisify(execFile)(process.execPath, program, { maxBuffer: 1 << 26 })
    expect(stdout).toContain('type CronJob implements')
    expect(parse(config).auth.login).toEqual({
      clientId: 'informerql',
      clientSecretFile: '/etc/informerql/login/client-secret',
      sessionSecretFile: '/etc/informerql/login/session-secrets',
    })
    await rm(folder, { recursive: true })
  })
})

const namespaced = (api: string, plural: string) => `${api}/namespaces/informerql/${plural}`

const collections: Readonly<Record<string, string>> = {
  ServiceAccount: namespaced('/api/v1', 'serviceaccounts'),
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  Role: namespaced('/apis/rbac.authorization.k8s.io/v1', 'roles'),
  RoleBinding: namespaced('/apis/rbac.authorization.k8s.io/v1', 'rolebindings'),
  ConfigMap: namespaced('/api/v1', 'configmaps'),
  Deployment: namespaced('/apis/apps/v1', 'deployments'),
  StatefulSet: namespaced('/apis/apps/v1', 'statefulsets'),
  Service: namespaced('/api/v1', 'services'),
  PodDisruptionBudget: namespaced('/apis/policy/v1', 'poddisruptionbudgets'),
  HorizontalPodAutoscaler: namespaced('/apis/autoscaling/v2', 'horizontalpodautoscalers'),
  NetworkPolicy: namespaced('/apis/networking.k8s.io/v1', 'networkpolicies'),
  ServiceMonitor: namespaced('/apis/monitoring.coreos.com/v1', 'servicemonitors'),
}

/** As the Prometheus operator defines it, without its schema. */
const serviceMonitors = {
  metadata: { name: 'servicemonitors.monitoring.coreos.com' },
  spec: {
    group: 'monitoring.coreos.com',
    names: { kind: 'ServiceMonitor', plural: 'servicemonitors' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

describe.skipIf(helm === undefined)(`the chart${why}`, () => {
  describeWithControlPlane('the chart', (plane) => {
    it('is accepted by a server-side dry run with strict validation, whatever the values', async () => {
      const create = async (
        path: string,
        body: object,
      ): Promise<{ status: number; text: string }> =>
        plane().request(path, { method: 'POST', body })
      const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' }
      await create('/api/v1/namespaces', { metadata: { name: 'informerql', labels: restricted } })
      // The guide's hub has the Secrets of its clusters there.
      await create('/api/v1/namespaces', { metadata: { name: 'argocd' } })
      await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', serviceMonitors)
      const monitors = collections['ServiceMonitor'] ?? ''
      await expect.poll(async () => (await plane().request(monitors)).status).toBe(200)
      const seen = new Set<string>()
      for (const [name, values] of Object.entries(sets)) {
        for (const manifest of await rendered(values)) {
          seen.add(manifest.kind)
          const { namespace = 'informerql' } = manifest.metadata
          const collection = collections[manifest.kind]?.replace('/informerql/', `/${namespace}/`)
          const path = `${collection}?dryRun=All&fieldValidation=Strict`
          const { status, text } = await create(path, manifest)
          expect(status, `${name}: ${manifest.kind}: ${text}`).toBe(201)
        }
      }
      expect([...seen].toSorted()).toEqual(Object.keys(collections).toSorted())
      expect(Object.keys(ofGuide)).toHaveLength(4)
    })

    it('fits the Ingress of the guide', async () => {
      const [ingress = ''] = blocks('apiVersion: networking.k8s.io/v1\nkind: Ingress\n')
      const path = namespaced('/apis/networking.k8s.io/v1', 'ingresses')
      const manifest = parse(ingress)
      const query = '?dryRun=All&fieldValidation=Strict'
      const { status, text } = await plane().request(path + query, {
        method: 'POST',
        body: manifest,
      })
      expect(status, text).toBe(201)
      const { service } = manifest.spec.rules[0].http.paths[0].backend
      const manifests = await rendered({ tls: { existingSecret: 'informerql-tls' } })
      expect(one(manifests, 'Service', service.name).spec.ports).toMatchObject([service.port])
    })
  })
})
