import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createApiServer } from 'informerql/cluster'
import * as controller from 'informerql/controller'
import { resources } from 'informerql/informer'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'

const guide = readFileSync('docs/controllers.md', 'utf8')

/** The programs of the guide, by the file names that a reader would give them. */
const files = new Map(
  Array.from(guide.matchAll(/```ts\n(.*?)```/gs), ([, text = '']) => [nameOf(text), text] as const),
)

function nameOf(snippet: string): string {
  const names = {
    'quota.ts': "name: 'quota'",
    'restarter.ts': "name: 'restarter'",
    'several.ts': 'controllers: [restarter, nodes]',
    'report.ts': 'function report(',
    'order.ts': 'interface Order extends',
    'controller-test.ts': 'startSimulator()',
    'webhook.ts': 'AdmissionReview',
  }
  const found = Object.entries(names).find(([, text]) => snippet.includes(text))
  if (found === undefined) throw new Error(`a snippet without a name:\n${snippet}`)
  return found[0]
}

let dir = ''

/** Runs one of the programs, changed to fit the test. */
function start(file: string, env: Readonly<Record<string, string>> = {}): ExampleProcess {
  const args = ['--conditions=informerql-source', join(dir, file)]
  return startProgram(process.execPath, args, { env: { ...process.env, ...env } })
}

beforeAll(async () => {
  dir = await mkdtemp(resolve('test', 'controller', '.project-'))
  for (const [file, text] of files) {
    const source = text
      .replaceAll("'@informerql/controller'", "'informerql/controller'")
      .replaceAll("'@informerql/controller/", "'informerql/")
    await writeFile(join(dir, file), source)
  }
  const options = { isolatedDeclarations: false, declaration: false }
  const project = { extends: '../../../tsconfig.json', compilerOptions: options, include: ['*.ts'] }
  await writeFile(join(dir, 'tsconfig.json'), JSON.stringify(project))
})
afterAll(async () => rm(dir, { recursive: true, force: true }))

describe('docs/controllers.md', () => {
  it('begins with the same controller as the README of the package', () => {
    const readme = readFileSync('packages/controller/README.md', 'utf8')
    expect(readme).toContain(files.get('quota.ts'))
  })

  it('has programs that compile', async () => {
    expect(files.size).toBe(7)
    const tsc = join('node_modules', '.bin', 'tsc')
    const { stdout } = await promisify(execFile)(tsc, ['-p', dir]).catch(
      (error: unknown) => error as { stdout: string },
    )
    expect(stdout).toBe('')
  })

  it('has a first controller that runs', async () => {
    await using simulator = await startSimulator()
    await using apiServer = createApiServer({ server: simulator.url })
    const kubeconfig = join(dir, 'kubeconfig')
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'test', cluster: { server: simulator.url } }],
        users: [{ name: 'test', user: {} }],
        contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
        'current-context': 'test',
      }),
    )
    await using program = start('quota.ts', { KUBECONFIG: kubeconfig })
    await program.printed('started controller=quota')
    const labels = { size: 'large' }
    await apiServer.client(resources.namespaces).create({ metadata: { name: 'shop', labels } })
    await program.printed('applied controller=quota key=shop size=large')
    const quotas = apiServer.client(resources.resourceQuotas)
    const quota = { namespace: 'shop', name: 'size' }
    expect(await quotas.get(quota)).toMatchObject({ spec: { hard: { pods: '100' } } })
    await quotas.delete(quota)
    await expect.poll(() => quotas.get(quota).catch(String)).toMatchObject({ metadata: quota })
    expect(await program.interrupt(), program.lines.join('\n')).toBe(0)
  })

  it('has a test that passes', async () => {
    await using program = start('controller-test.ts')
    await program.printed('passed')
    expect(program.lines).toContain('passed')
  })

  it('has a webhook that answers', async () => {
    const source = readFileSync(join(dir, 'webhook.ts'), 'utf8')
    // The same without TLS, at any port.
    const plain = source
      .replace("'node:https'", "'node:http'")
      .replace(/const tls = .*/, 'const tls = () => ({})')
      .replace('listen(8443)', 'listen(0, () => console.log(`port ${server.address().port}`))')
      .replaceAll(' as { request: { uid: string; object: Order } }', '')
    await writeFile(join(dir, 'plain-webhook.js'), plain.replace(/import type .*/, ''))
    await using program = start('plain-webhook.js')
    await program.printed('port ')
    const url = `http://127.0.0.1:${program.lines.at(-1)?.split(' ')[1]}`
    const review = async (body: unknown) =>
      (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).json()
    const reviewOf = (count: number) => ({ request: { uid: 'u', object: { spec: { count } } } })
    expect(await review(reviewOf(1))).toMatchObject({ response: { uid: 'u', allowed: true } })
    expect(await review(reviewOf(0))).toMatchObject({
      response: { uid: 'u', allowed: false, status: { code: 422 } },
    })
    expect((await fetch(url, { method: 'POST', body: '{' })).status).toBe(400)
  })

  it('has the rights of the manifest', () => {
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(guide) ?? []
    const [shown] = parseAllDocuments(yaml).map((document) => document.toJS())
    const rules = parseAllDocuments(readFileSync('examples/website.yaml', 'utf8'))
      .map((document) => document.toJS())
      .flatMap((object) => object.rules ?? [])
    expect(rules).toEqual(expect.arrayContaining(shown.rules))
  })

  it('has every default and every metric, as it is', () => {
    for (const [, name = '', table = ''] of guide.matchAll(
      /^### .*`(\w+Defaults)`\n\n((?:\|.*\n)+)/gm,
    )) {
      const shown = Array.from(table.matchAll(/^\| `(\w+)` +\| `([^`]+)`/gm), (row) => row.slice(1))
      const defaults: object = controller[name as 'runDefaults']
      expect(shown, name).toEqual(
        Object.entries(defaults).map(([key, value]) => [key, String(value)]),
      )
    }
    const metrics = controller.createControllerMetrics()
    metrics.leading?.(true)
    const names = Array.from(metrics.text().matchAll(/^# TYPE (\w+)/gm), ([, name = '']) => name)
    const shown = Array.from(
      guide.matchAll(/`((?:controller_runtime|controller_events|workqueue|leader_election)_\w+)`/g),
      ([, name]) => name,
    )
    expect(new Set(shown)).toEqual(new Set(names))
  })
})
