import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { GatewayMetrics } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { type Kubeconfig, writeKubeconfig } from '../support/kubeconfig.ts'
import { helm, rendered, scrapedJob } from '../support/helm.ts'
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
    const target = new URL(gateway.url).host
    const chart = { serviceMonitor: { enabled: true }, nameOverride: 'catalogue' }
    const job = helm === undefined ? 'informerql' : scrapedJob(await rendered(chart))
    running = await Prometheus.start(prometheus ?? '', { target, job, rules: alertsFile })
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

  it('has data for each job that an alert names, scraped under the name that the chart gives', async () => {
    const selectors = (await readAlerts()).flatMap(
      ({ expr }) => expr.match(/\w+\{[^}]*\bjob="[^}]*\}/g) ?? [],
    )
    expect(selectors).toContain('up{job="informerql"}')
    for (const selector of selectors) {
      await expect.poll(async () => (await running.query(selector)).length).toBe(1)
    }
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

describe.skipIf(promtool === undefined)(`the alerts${why}`, () => {
  /** The alerts that fire after ten minutes of these series, each with a label of it that says what it is about. */
  const firing = async (series: Readonly<Record<string, string>>): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-alerts-'))
    try {
      const input = Object.entries(series).map(([name, values]) => ({ series: name, values }))
      const silent = (await readAlerts()).map(({ alert }) => ({
        alertname: alert,
        eval_time: '10m',
      }))
      const tests = [{ interval: '1m', input_series: input, alert_rule_test: silent }]
      const file = join(folder, 'test.json')
      await writeFile(file, JSON.stringify({ rule_files: [alertsFile], tests }))
      const run = promisify(execFile)(promtool ?? '', ['test', 'rules', file])
      return await run.then(
        () => '',
        ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
      )
    } finally {
      await rm(folder, { recursive: true })
    }
  }
  const codeOf = (code: string): string =>
    `informerql_operation_duration_seconds_count{job="informerql", operation="query", code="${code}"}`
  const credential = (kind: string): string =>
    `informerql_credentials_expire_seconds{job="informerql", cluster="one", credential="${kind}"}`

  it.each([
    ['InformerqlCacheFull', codeOf('CACHE_FULL'), '0+1x10'],
    ['InformerqlAuditFailing', 'informerql_audit_failures_total{instance="a"}', '0 0 0 0 0 0+60x5'],
    ['InformerqlArchiveFailing', 'informerql_archive_lag_seconds{instance="a"}', '0 0 30+60x8'],
    [
      'InformerqlArchiveFailing',
      'informerql_archive_dropped_changes_total{instance="a"}',
      '0 0 0 0 0 0+60x5',
    ],
    ['InformerqlClusterNotHeld', 'informerql_share_clusters{state="none"}', '0 0 0 0 0 0+1x5'],
    ['InformerqlCredentialsExpiring', credential('client-certificate'), '500000-60x10'],
    ['InformerqlCredentialsExpiring', credential('token-file'), '200-60x10'],
  ])('%s fires', async (alert, series, values) => {
    const told = await firing({ [series]: values })
    expect(told).toContain(`alertname: ${alert}`)
    expect(told.match(/alertname: /g)).toHaveLength(1)
  })

  it('stay silent in good times', async () => {
    const good = {
      [codeOf('CACHE_FULL')]: '3x10',
      informerql_audit_failures_total: '3x10',
      // One died, and was followed within 15 seconds.
      'informerql_share_clusters{state="none"}': '0 0 4 0x7',
      [credential('client-certificate')]: '700000-60x10',
      // The kubelet writes a token of an hour anew when a fifth of it is left.
      [credential('token-file')]: '1300-60x10',
    }
    expect(await firing(good)).toBe('')
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
    const source = await readFile('schema/gateway/shared.graphql', 'utf8')
    const values = /enum ErrorCode \{(.*?)\n\}/s.exec(source)?.[1] ?? ''
    // Nothing fails with this one: it is a gap.
    const codes = Array.from(values.matchAll(/^ {2}([A-Z_]+)$/gm), ([, code = '']) => code).filter(
      (code) => code !== 'NOT_SERVED',
    )
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
