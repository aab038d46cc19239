import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { GatewayMetrics } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { type Kubeconfig, writeKubeconfig } from '../support/kubeconfig.ts'
import { onPath, Prometheus } from './prometheus.ts'

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly annotations: Readonly<Record<string, string>>
}
interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

const alertsFile = resolve('deploy/monitoring/alerts.yaml')
const readAlerts = async (): Promise<readonly Alert[]> => {
  const { groups } = parse(await readFile(alertsFile, 'utf8')) as {
    groups: readonly { rules: readonly Alert[] }[]
  }
  return groups.flatMap(({ rules }) => rules)
}
const readQueries = async (): Promise<readonly (readonly [title: string, query: string])[]> => {
  const text = await readFile('deploy/monitoring/dashboard.json', 'utf8')
  const { panels } = JSON.parse(text) as { panels: readonly Panel[] }
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [title, expr] as const),
  )
}
/** As Grafana puts values in the place of its variables. */
const filledIn = (query: string): string =>
  query
    .replaceAll('$job', 'informerql')
    .replaceAll('$cluster', '.*')
    .replaceAll('$__rate_interval', '1m')

const prometheus = onPath('prometheus')
const promtool = onPath('promtool')
const why =
  prometheus === undefined || promtool === undefined ? ', skipped: no prometheus on the path' : ''

describe.skipIf(why !== '')(`Prometheus over a loaded gateway${why}`, () => {
  const ann = { token: 'of-ann', user: 'ann', groups: ['system:masters'] }
  let simulator: Simulator
  let kubeconfig: Kubeconfig
  let gateway: ServedGateway
  let running: Prometheus
  const leave: (() => void)[] = []

  beforeAll(async () => {
    simulator = await startSimulator({ users: [{ token: 'own', user: 'gateway' }, ann] })
    const headers = { authorization: 'Bearer own' }
    kubeconfig = await writeKubeconfig({ url: simulator.url, headers })
    const metrics = new GatewayMetrics({ process: true })
    gateway = await serveGateway(
      { clusters: [{ name: 'one', kubeconfig: kubeconfig.path }], allowWrites: true, metrics },
      { metricsOnApiPort: true },
      { auth: { mode: 'token-review' }, metrics, observer: metrics.server },
    )
    running = await Prometheus.start(prometheus ?? '', new URL(gateway.url).host, alertsFile)
    const caller = gateway.as(ann.token)
    const client = caller.connect()
    const query = 'subscription { configMaps { synced changes { type } } }'
    await new Promise<void>((begun) => {
      const sink = { next: () => begun(), error: () => {}, complete: () => {} }
      leave.push(client.subscribe({ query }, sink))
    })
    const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: default }\n'
    const apply = 'mutation ($manifest: JSON!) { apply(manifest: $manifest) { object { id } } }'
    await caller.query(apply, { manifest })
    await caller.unplanned('{ pods { totalCount } }')
    await caller.query('{ pods { totalCount nodes { metadata { name } } } }')
    await caller.query('{ pods(first: -1) { totalCount } }')
    await gateway.as('of-nobody').query('{ pods { totalCount } }')
    simulator.faults.inject({ fault: { type: 'status', code: 500 }, times: 2 })
    simulator.faults.inject({ fault: { type: 'end-watches' } })
  })
  afterAll(async () => {
    for (const end of leave) end()
    await running[Symbol.asyncDispose]()
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
    await kubeconfig[Symbol.asyncDispose]()
  })

  it('answers each query of the dashboard with data, but for what has not happened', async () => {
    const notHappened = ['Sign-ins a second', 'Slow readers cut off, a second']
    const silent = async (): Promise<readonly string[]> => {
      const queries = await readQueries()
      const counts = await Promise.all(
        queries.map(async ([title, query]) => ({
          title,
          samples: (await running.query(filledIn(query))).length,
        })),
      )
      return counts.flatMap(({ title, samples }) => (samples === 0 ? [title] : []))
    }
    await expect.poll(silent, { timeout: 60_000, interval: 1_000 }).toEqual(notHappened)
  })

  it('evaluates each alert, and none of them fires', async () => {
    const alerts = await readAlerts()
    const { stdout } = await promisify(execFile)(promtool ?? '', ['check', 'rules', alertsFile])
    expect(stdout).toContain(`SUCCESS: ${alerts.length} rules found`)
    const rules = await running.rules()
    expect(rules.map(({ name }) => name)).toEqual(alerts.map(({ alert }) => alert))
    expect(rules.filter(({ lastError = '' }) => lastError !== '')).toEqual([])
    expect(await running.query('ALERTS{alertstate="firing"}')).toEqual([])
  })
})

describe('deploy/monitoring and docs/troubleshooting.md', () => {
  it('use metrics that exist', async () => {
    const text = await new GatewayMetrics({ process: true }).text()
    const names = new Set(
      Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = '', type]) =>
        type === 'histogram' ? [name, `${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ).flat(),
    )
    const alerts = await readAlerts()
    const queries = [...alerts.map(({ expr }) => expr), ...(await readQueries()).map(([, q]) => q)]
    for (const query of queries) {
      for (const [name] of query.matchAll(/\b(informerql|reflector|nodejs|process)_\w+/g)) {
        expect(names, query).toContain(name)
      }
    }
  })

  it('have a section for each code of an error', async () => {
    const guide = await readFile('docs/troubleshooting.md', 'utf8')
    const source = await readFile('src/graphql/errors/client-error.ts', 'utf8')
    const union = /type ClientErrorCode =(.*?)\n\n/s.exec(source)?.[1] ?? ''
    const codes = Array.from(union.matchAll(/'(\w+)'/g), ([, code = '']) => code)
    expect(codes).toContain('INTERNAL')
    for (const code of codes) expect(guide).toContain(`\n### ${code}\n`)
  })

  it('name close codes of WebSockets that docs/subscriptions.md has', async () => {
    const guide = await readFile('docs/troubleshooting.md', 'utf8')
    const closings = await readFile('docs/subscriptions.md', 'utf8')
    const section = /\n### A live list has stopped.*?\n### /s.exec(guide)?.[0] ?? ''
    const codes = section.match(/\b[14]\d{3}\b/g) ?? []
    expect(codes).toContain('1012')
    for (const code of codes) expect(closings).toContain(`\n| ${code} `)
  })

  it('have a section for each alert', async () => {
    const guide = await readFile('docs/troubleshooting.md', 'utf8')
    for (const { alert, annotations } of await readAlerts()) {
      expect(guide).toContain(`\n### ${alert}\n`)
      expect(annotations['runbook_url']).toMatch(
        new RegExp(`/docs/troubleshooting\\.md#${alert.toLowerCase()}$`),
      )
    }
  })
})
