import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createChurn,
  population,
  startSimulatedCluster,
  startSimulator,
} from 'informerql/simulator'
import { ask, type ContractServer, type Fields } from '../contract/contract-server.ts'
import { inconsistencies, stored } from './cluster-invariants.ts'
import { collect, noon, valuesAt } from './collected.ts'

const example = 'examples/scenario'

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'informerql-scenario-'))
})

afterEach(async () => rm(directory, { recursive: true }))

/** Writes a scenario of its own; what it lacks is that of the package. */
async function write(files: Readonly<Record<string, string>>): Promise<string> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  return directory
}

const shop = (rest: string): string => `company: A shop\nteams:\n  - name: shop\n    apps:\n${rest}`

describe('a scenario', () => {
  it('is served by a directory: its teams, its apps, what is broken, and its custom resources', async () => {
    await using cluster = await startSimulatedCluster({
      population: { scenario: example, now: noon },
      churn: { eventsPerSecond: 0 },
    })
    const server: ContractServer = {
      url: cluster.url,
      headers: {},
      expireHistory: async () => undefined,
    }
    const { items: ovens } = (await ask(server, '/apis/crumb.example/v1/ovens')).json
    expect(
      ovens.map(({ metadata, spec }: Fields) => [metadata.namespace, metadata.name, spec.celsius]),
    ).toEqual([
      ['bakery', 'stone-oven', 230],
      ['default', 'spare', 0],
    ])
    const { items: pods } = (await ask(server, '/api/v1/namespaces/bakery/pods')).json
    const apps = pods.map(({ metadata }: Fields) => metadata.labels['app.kubernetes.io/name'])
    expect(new Set(apps)).toEqual(
      new Set(['menu', 'orders', 'recipes', 'stone-oven', 'daily-bread']),
    )
    const stuck = pods.filter((pod: Fields) =>
      valuesAt(pod, 'status.containerStatuses[*].state.waiting.reason').includes(
        'ImagePullBackOff',
      ),
    )
    expect(stuck).toHaveLength(1)
    expect(stuck[0].spec.containers[0].image).toBe('registry.crumb.example/bakery/orders:9.9.9')
  })

  it('fits together and lives as the company of the package does', async () => {
    await using simulator = await startSimulator({
      populate: (storage) => {
        for (const { resource, object } of population({ scenario: example, now: noon }))
          storage.create(resource, object)
      },
    })
    expect(inconsistencies(stored(simulator.storage))).toEqual([])
    let clockMs = noon.getTime()
    const churn = createChurn({ writer: simulator.storage, now: () => (clockMs += 50) })
    for (let step = 0; step < 300; step++) churn.step()
    expect(inconsistencies(stored(simulator.storage))).toEqual([])
  })

  it.each([
    {},
    { scenario: example },
    { cluster: 'prod-eu' },
    { cluster: 'prod-us', kubernetes: '1.33' as const },
    { cluster: 'staging' },
  ])('has objects that an API server takes as they are: %o', async ({ kubernetes, ...options }) => {
    await using simulator = await startSimulator(kubernetes === undefined ? {} : { kubernetes })
    const refused: string[] = []
    for (const { resource, object } of population({ ...options, pods: 60, now: noon })) {
      const { group, version, resource: plural } = resource
      const { namespace, uid: _uid, ...metadata } = object.metadata
      const { selector: _generated, ...jobSpec } = (object['spec'] ?? {}) as { selector?: object }
      // The server gives Jobs their UID, and with it their selector.
      const spec = object.kind === 'Job' ? { spec: jobSpec } : {}
      const answer = await fetch(
        [
          simulator.url,
          group === '' ? '/api/' : `/apis/${group}/`,
          version,
          namespace === undefined ? '' : `/namespaces/${namespace}`,
          `/${plural}`,
        ].join(''),
        {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            ...object,
            ...spec,
            metadata: { ...metadata, namespace, managedFields: undefined },
          }),
        },
      )
      const { message } = (await answer.json()) as { readonly message?: string }
      // The namespaces of the system are there.
      if (!answer.ok && answer.status !== 409) refused.push(message ?? '')
    }
    expect(refused).toEqual([])
  })

  it('may bring plain manifests alone, and manifests that take the place of those of the package', async () => {
    const scenario = await write({
      'scenario.yaml': 'company: Nothing but manifests\n',
      'cluster/settings.yaml': `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { script: 'echo $\${HOME} of \${domain}' }
`,
      'cluster/access.yaml': '',
    })
    const collected = collect({ scenario })
    expect(collected.get('ConfigMap', 'default', 'settings')).toMatchObject({
      data: { script: 'echo ${HOME} of fjordholt.example' },
    })
    expect(collected.all('Pod')).toEqual([])
    expect(collected.all('ClusterRole')).toEqual([])
  })

  it('gives apps of fixed size what they ask for, and no more', async () => {
    const scenario = await write({
      'scenario.yaml': shop('      - { name: till, role: api, replicas: 3 }\n'),
    })
    expect(collect({ scenario, pods: 50 }).all('Pod')).toHaveLength(3)
  })

  it.each([
    ['a key that there is not', shop('      - { name: a, role: api, repilcas: 3 }\n'), /repilcas/],
    ['a role that there is not', shop('      - { name: a, role: wbe }\n'), /wbe/],
    [
      'a value that nobody gives',
      shop('      - { name: a, role: cron }\n'),
      /cron\.yaml.*schedule/,
    ],
    ['what is no YAML', 'company: [', /scenario\.yaml/],
  ])('is refused with the file and %s', async (_what, text, says) => {
    const scenario = await write({ 'scenario.yaml': text })
    expect(() => collect({ scenario })).toThrow(says)
  })

  it('is refused where a manifest is of a kind that nobody defines', async () => {
    const scenario = await write({
      'scenario.yaml': 'company: A shop\n',
      'cluster/widget.yaml': 'apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: a }\n',
    })
    expect(() => collect({ scenario })).toThrow(/widget\.yaml: there is no kind Widget/)
  })

  it('is refused where there is none', () => {
    expect(() => collect({ scenario: join(directory, 'none') })).toThrow(/scenario\.yaml/)
  })
})
