import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { define, object, RelationCluster, type Written } from './relation-cluster.ts'

const of = (apiVersion: string, kind: string, name: string, spec: object): Written =>
  object(apiVersion, kind, name, { spec })

const named = (name: string, more: object = {}): object => ({ name, ...more })
const solver = { dns01: { cloudflare: { apiTokenSecretRef: named('cloudflare') } } }

const kinds = [
  'Issuer.cert-manager.io/v1',
  'Certificate.cert-manager.io/v1',
  'ClusterIssuer.cert-manager.io/v1*',
  'SecretStore.external-secrets.io/v1',
  'Kustomization.kustomize.toolkit.fluxcd.io/v1',
  'HTTPRoute.gateway.networking.k8s.io/v1',
  'VolumeSnapshot.snapshot.storage.k8s.io/v1',
  'Rollout.argoproj.io/v1alpha1',
  'ServiceMonitor.monitoring.coreos.com/v1',
]

describe('objects of well-known operators are users of what they name', () => {
  let cluster: RelationCluster
  beforeAll(async () => {
    cluster = await RelationCluster.start({}, async (simulator) => define(simulator, kinds))
    const secrets = [
      'tls',
      'cloudflare',
      'approle',
      'aws',
      'sops',
      'vars',
      'pull',
      'scrape',
      'unused',
    ]
    cluster.create('here', [
      ...secrets.map((name) => object('v1', 'Secret', name)),
      object('v1', 'Secret', 'cloudflare', {}, { namespace: 'cert-manager' }),
      object('v1', 'Service', 'backend'),
      object('v1', 'Service', 'stable'),
      object('v1', 'Service', 'unused'),
      object('v1', 'PersistentVolumeClaim', 'data'),
      of('cert-manager.io/v1', 'Issuer', 'acme', { acme: { solvers: [solver] } }),
      of('cert-manager.io/v1', 'Certificate', 'web', { secretName: 'tls' }),
      of('cert-manager.io/v1', 'Issuer', 'vault', {
        vault: { auth: { appRole: { secretRef: named('approle') } } },
      }),
      of('cert-manager.io/v1', 'ClusterIssuer', 'acme', { acme: { solvers: [solver] } }),
      of('external-secrets.io/v1', 'SecretStore', 'aws', {
        provider: { aws: { auth: { secretRef: { accessKeyIDSecretRef: named('aws') } } } },
      }),
      of('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'apps', {
        decryption: { provider: 'sops', secretRef: named('sops') },
        postBuild: { substituteFrom: [{ kind: 'Secret', name: 'vars' }] },
      }),
      of('gateway.networking.k8s.io/v1', 'HTTPRoute', 'web', {
        rules: [{ backendRefs: [named('backend', { port: 80 })] }],
      }),
      of('snapshot.storage.k8s.io/v1', 'VolumeSnapshot', 'nightly', {
        source: { persistentVolumeClaimName: 'data' },
      }),
      of('argoproj.io/v1alpha1', 'Rollout', 'web', {
        strategy: { canary: { stableService: 'stable' } },
        template: { spec: { containers: [], imagePullSecrets: [named('pull')] } },
      }),
      of('monitoring.coreos.com/v1', 'ServiceMonitor', 'web', {
        endpoints: [{ basicAuth: { password: named('scrape', { key: 'password' }) } }],
      }),
    ])
  })
  afterAll(async () => cluster?.[Symbol.asyncDispose]())

  it.each([
    [
      'secret',
      'cloudflare',
      'Issuer acme spec.acme.solvers[0].dns01.cloudflare.apiTokenSecretRef.name',
    ],
    // It would be issued anew: until then, nobody could serve it.
    ['secret', 'tls', 'Certificate web spec.secretName'],
    ['secret', 'approle', 'Issuer vault spec.vault.auth.appRole.secretRef.name'],
    ['secret', 'aws', 'SecretStore aws spec.provider.aws.auth.secretRef.accessKeyIDSecretRef.name'],
    ['secret', 'sops', 'Kustomization apps spec.decryption.secretRef.name'],
    ['secret', 'vars', 'Kustomization apps spec.postBuild.substituteFrom[0].name'],
    ['secret', 'pull', 'Rollout web spec.template.spec.imagePullSecrets[0].name'],
    ['secret', 'scrape', 'ServiceMonitor web spec.endpoints[0].basicAuth.password.name'],
    ['service', 'backend', 'HTTPRoute web spec.rules[0].backendRefs[0].name'],
    ['service', 'stable', 'Rollout web spec.strategy.canary.stableService'],
    [
      'persistentVolumeClaim',
      'data',
      'VolumeSnapshot nightly spec.source.persistentVolumeClaimName',
    ],
  ])('the %s %s has its user', async (lookup, name, user) => {
    expect(await usersOf(lookup, 'here', name)).toEqual([user])
  })

  it('a ClusterIssuer is a user of the Secrets of cert-manager', async () => {
    expect(await usersOf('secret', 'cert-manager', 'cloudflare')).toEqual([
      'ClusterIssuer acme spec.acme.solvers[0].dns01.cloudflare.apiTokenSecretRef.name',
    ])
  })

  it('nothing else is used', async () => {
    const { data } = await cluster.ask(`{
      secrets(namespace: "here", where: { usedBy: { none: {} } }) { nodes { metadata { name } } }
      services(namespace: "here", where: { usedBy: { none: {} } }) { nodes { metadata { name } } }
    }`)
    const unused = { nodes: [{ metadata: { name: 'unused' } }] }
    expect(data).toEqual({ secrets: unused, services: unused })
  })

  async function usersOf(lookup: string, namespace: string, name: string): Promise<string[]> {
    const { data, errors } = await cluster.ask(
      `{ found: ${lookup}(namespace: "${namespace}", name: "${name}") { usedBy { nodes { object { kind name } paths } } } }`,
    )
    expect(errors).toBeUndefined()
    return data.found.usedBy.nodes.map(
      (node: { object: { kind: string; name: string }; paths: string[] }) =>
        `${node.object.kind} ${node.object.name} ${node.paths.join(' ')}`,
    )
  }
})
