import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'

const folders = [
  process.env['KUBEBUILDER_ASSETS'],
  '.cache/cluster/bin',
  ...(process.env['PATH'] ?? '').split(delimiter),
]

/** The helm of this machine, if there is one: test/cluster/helm/build.sh builds it. */
export const helm: string | undefined = folders
  .flatMap((folder) => (folder === undefined || folder === '' ? [] : [join(folder, 'helm')]))
  .find((file) => existsSync(file))

/**
 * The job that the Prometheus operator gives to what a ServiceMonitor of the chart selects: the value of its `jobLabel` on
 * the Service, or the name of the Service.
 */
export function scrapedJob(manifests: readonly Manifest[]): string {
  const { spec } = manifests.find(({ kind }) => kind === 'ServiceMonitor') ?? {}
  const wanted: Readonly<Record<string, string>> = spec.selector.matchLabels
  const service = manifests.find(
    ({ kind, metadata: { labels = {} } }) =>
      kind === 'Service' && Object.entries(wanted).every(([name, value]) => labels[name] === value),
  )
  if (service === undefined) throw new Error('the ServiceMonitor selects no Service')
  const { name, labels = {} } = service.metadata
  return labels[spec.jobLabel] ?? name
}

/** A manifest of the chart. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly data?: Readonly<Record<string, string>>
  // oxlint-disable-next-line typescript/no-explicit-any -- read by the names that its kind gives
  readonly spec?: any
  readonly rules?: readonly {
    readonly apiGroups: readonly string[]
    readonly resources: readonly string[]
    readonly verbs: readonly string[]
  }[]
}

/** What the chart makes of values, in the namespace `informerql`. Rejects with what helm prints. */
export async function rendered(values: object): Promise<readonly Manifest[]> {
  const folder = await mkdtemp(join(tmpdir(), 'informerql-chart-'))
  try {
    const file = join(folder, 'values.json')
    await writeFile(file, JSON.stringify(values))
    const args = ['template', 'informerql', 'deploy/chart', '--kube-version', '1.36.3']
    const { stdout } = await promisify(execFile)(
      helm ?? 'helm',
      [...args, '--namespace', 'informerql', '--values', file],
      { maxBuffer: 1 << 24 },
    )
    return parseAllDocuments(stdout).flatMap((document) => {
      const manifest = document.toJS() as Manifest | null
      return manifest === null ? [] : [manifest]
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}
