// Imports internals: the guide shows files of configuration.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { gatewayOptionsOf } from '../../src/config/gateway-config.ts'
import { kubeconfigText } from '../gateway/test-cluster.ts'
import { created } from '../gateway/created.ts'
import { serveGateway } from '../support/gateway.ts'

const yamlBlocks = async (): Promise<readonly string[]> =>
  Array.from(
    (await readFile('docs/fleet.md', 'utf8')).matchAll(/```yaml\n(.*?)```/gs),
    ([, text = '']) => text,
  )

const base64 = (text: string): string => Buffer.from(text).toString('base64')

it('the configuration of docs/fleet.md serves clusters of every source', async () => {
  const [configuration = '', contexts = '', execution = ''] = await yamlBlocks()
  await using simulator = await startSimulator()
  const dir = await mkdtemp(join(tmpdir(), 'informerql-fleet-'))
  try {
    const kubeconfig = kubeconfigText(simulator.url, 'token')
    await mkdir(join(dir, 'clusters'))
    await writeFile(join(dir, 'hub.yaml'), kubeconfig)
    await writeFile(join(dir, 'clusters', 'dev.yaml'), kubeconfig)
    for (const name of ['argocd', 'teams']) {
      await created(simulator, '/api/v1/namespaces', { metadata: { name } })
    }
    await created(simulator, '/api/v1/namespaces/argocd/secrets', {
      metadata: { name: 'prod', labels: { 'argocd.argoproj.io/secret-type': 'cluster' } },
      data: { server: base64(simulator.url), config: base64('{}') },
    })
    await created(simulator, '/api/v1/namespaces/teams/secrets', {
      metadata: { name: 'a-kubeconfig', labels: { 'cluster.x-k8s.io/cluster-name': 'a' } },
      data: { value: base64(kubeconfig) },
    })
    const file = join(dir, 'informerql.yaml')
    await writeFile(file, configuration)
    const config = loadConfig({ file, variables: {}, flags: [] })
    await using gateway = await serveGateway(gatewayOptionsOf(config))
    const { gatewayClusters } = await gateway.data(
      '{ gatewayClusters { name source state labels } }',
    )
    expect(gatewayClusters).toEqual([
      { name: 'hub', source: 'configuration', state: 'CONNECTED', labels: { region: 'eu' } },
      {
        name: 'capi-a',
        source: 'cluster-api hub/teams/a-kubeconfig',
        state: 'CONNECTED',
        labels: { 'cluster.x-k8s.io/cluster-name': 'a' },
      },
      {
        name: 'dev',
        source: 'directory dev.yaml',
        state: 'CONNECTED',
        labels: { stage: 'dev' },
      },
      {
        name: 'prod',
        source: 'argocd hub/argocd/prod',
        state: 'CONNECTED',
        labels: { 'argocd.argoproj.io/secret-type': 'cluster' },
      },
    ])
    await writeFile(file, `clusters: [{ name: hub }]\n${execution}`)
    expect(loadConfig({ file, variables: {}, flags: [] }).clusterSources).toMatchObject([
      { execCommands: expect.arrayContaining(['argocd-k8s-auth aws --cluster-name *']) },
    ])
    await writeFile(
      join(dir, 'hub.yaml'),
      `clusters: [{ name: prod-eu, cluster: { server: "${simulator.url}" } }]\nusers: [{ name: gateway, user: {} }]\ncurrent-context: prod-eu\n${contexts}`,
    )
    await rm(join(dir, 'clusters', 'dev.yaml'))
    const sources = [{ type: 'directory', path: dir, contexts: 'all' }] as const
    await using labelled = await serveGateway({ clusters: [], clusterSources: sources })
    const answer = await labelled.data('{ gatewayClusters { name labels } }')
    expect(answer.gatewayClusters).toContainEqual({ name: 'prod-eu', labels: { region: 'eu' } })
  } finally {
    await rm(dir, { recursive: true })
  }
})

it('the configuration of namespaces in docs/fleet.md is valid', async () => {
  const text = (await yamlBlocks()).find((block) => block.includes('excludeNamespaces')) ?? ''
  const dir = await mkdtemp(join(tmpdir(), 'informerql-fleet-'))
  try {
    const file = join(dir, 'informerql.yaml')
    await writeFile(file, text)
    const { cache, clusters } = gatewayOptionsOf(loadConfig({ file, variables: {}, flags: [] }))
    expect(cache?.excludeNamespaces).toEqual(['kube-system'])
    expect(clusters[0]?.cache).toEqual({ namespaces: ['shop', 'payments', 'checkout'] })
    await writeFile(file, 'cache: { namespaces: [Shop] }')
    expect(() => loadConfig({ file, variables: {}, flags: [] })).toThrow(/lower-case letters/)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})
