import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProgram } from '../support/example-process.ts'
import { consumer } from './consumer.ts'
import { installController, nodes, type Project } from './packed-package.ts'

const entrances = ['', '/informer', '/cluster', '/kubernetes', '/simulator'].map(
  (name) => `@informerql/controller${name}`,
)
const program = consumer.replaceAll("'informerql/", "'@informerql/controller/")

describe('@informerql/controller, installed from its tarball', () => {
  let project: Project
  beforeAll(async () => {
    project = await installController()
  }, 300_000)
  afterAll(() => project[Symbol.asyncDispose]())

  it('has one dependency, and client-node where a user wants it', async () => {
    const installed = join(project.dir, 'node_modules', '@informerql', 'controller')
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
      readonly dependencies: object
      readonly version: string
    }
    expect(Object.keys(manifest.dependencies)).toEqual(['yaml'])
    expect(manifest).toMatchObject({
      peerDependenciesMeta: { '@kubernetes/client-node': { optional: true } },
    })
    const root = JSON.parse(await readFile('package.json', 'utf8')) as {
      readonly version: string
      readonly dependencies: Readonly<Record<string, string>>
    }
    // Modules of `informerql` import its internal ones.
    expect(root.dependencies['@informerql/controller']).toBe(manifest.version)
    expect(root.version).toBe(manifest.version)
  })

  it('has the rooms that controllers need, and no other', async () => {
    const installed = join(project.dir, 'node_modules', '@informerql', 'controller')
    expect((await readdir(installed)).toSorted()).toEqual(
      ['LICENSE', 'NOTICE', 'README.md', 'dist', 'package.json', 'scenario', 'schema'].toSorted(),
    )
    const rooms = await readdir(join(installed, 'dist'), { withFileTypes: true })
    const allowed = ['api-server', 'controller', 'informer', 'kubernetes', 'lib', 'simulator']
    expect([...allowed, 'examples']).toEqual(
      expect.arrayContaining(rooms.filter((one) => one.isDirectory()).map(({ name }) => name)),
    )
  })

  it('compiles without skipLibCheck, with every entrance and a program of a user', async () => {
    const imports = entrances.map((entrance, at) => `import * as all${at} from '${entrance}'`)
    const uses = entrances.map((_, at) => `console.log(all${at})`)
    await project.write('entrances.ts', [...imports, ...uses].join('\n'))
    await project.write('consumer.ts', program)
    expect(await project.compile()).toBe('')
  })

  it('runs: informers, writes and workers against the simulator that it has', async () => {
    await project.write('consumer.ts', program)
    await project.write(
      'simulated.js',
      `import { population, startSimulatedFleet, startSimulator } from '@informerql/controller/simulator'
       console.log(population({ pods: 10 })[Symbol.iterator]().next().done)
       await using fleet = await startSimulatedFleet({ population: { pods: 10 } })
       console.log(fleet.clusters.length > 0)
       await using simulator = await startSimulator()
       process.argv[2] = simulator.url
       await import('./consumer.ts')`,
    )
    const { stdout } = await project.node('simulated.js')
    expect(stdout.trim().split('\n')).toEqual([
      'false',
      'true',
      'default/a',
      'reconciled default/a',
    ])
    // The compiler would not take its import.
    await project.write('simulated.ts', '')
  })

  it('writes types of custom resources that compile', async () => {
    const main = 'node_modules/@informerql/controller/dist/controller/main.js'
    const crd = resolve('examples/scenario/cluster/ovens.yaml')
    await project.write(
      'types.js',
      `import { execFileSync } from 'node:child_process'
       execFileSync(process.execPath, ['${main}', 'types', '--crd', ${JSON.stringify(crd)}, '--out', 'ovens.ts'])`,
    )
    await project.node('types.js')
    await project.write(
      'oven-controller.ts',
      `import { createApiServer } from '@informerql/controller/cluster'
       import { type Oven, ovens } from './ovens.js'
       const client = createApiServer({ server: 'http://127.0.0.1:1' }).client(ovens)
       export const read = async (): Promise<Oven> => await client.get({ namespace: 'a', name: 'a' })`,
    )
    expect(await project.compile()).toBe('')
  })

  it('says what to install where a kubeconfig needs client-node', async () => {
    const server = 'http://127.0.0.1:1'
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'a-plugin' }
    const kubeconfig = {
      clusters: [
        { name: 'direct', cluster: { server } },
        { name: 'proxied', cluster: { server, 'proxy-url': 'http://me:secret@127.0.0.1:1' } },
      ],
      users: [
        { name: 'by-plugin', user: { exec } },
        { name: 'by-token', user: { token: 'a' } },
      ],
      contexts: [
        { name: 'plugin', context: { cluster: 'direct', user: 'by-plugin' } },
        { name: 'proxy', context: { cluster: 'proxied', user: 'by-token' } },
      ],
    }
    await project.write('config.json', JSON.stringify(kubeconfig))
    await project.write(
      'plugin.js',
      `import { createApiServer, loadClusterConfig, MissingPackageError } from '@informerql/controller/cluster'
       import { resources } from '@informerql/controller/kubernetes'
       for (const context of ['plugin', 'proxy']) {
         const config = loadClusterConfig({ kubeconfig: 'config.json', context })
         await using apiServer = createApiServer({ config })
         const error = await apiServer.client(resources.pods).get({ namespace: 'a', name: 'a' }).catch((e) => e)
         const missing = error instanceof MissingPackageError ? error : error.cause
         console.log(error.code, missing instanceof MissingPackageError, error.hint, '|', error.message)
       }`,
    )
    const { stdout } = await project.node('plugin.js')
    const [plugin = '', proxy = ''] = stdout.trim().split('\n')
    expect(plugin).toMatch(
      /^CREDENTIALS true npm install @kubernetes\/client-node \| no credentials for user "by-plugin".*its plugin needs the package @kubernetes\/client-node, which is not installed$/,
    )
    expect(proxy).toMatch(
      /^MISSING_PACKAGE true npm install .* \| the proxy of http:\/\/127.0.0.1:1 needs the package/,
    )
    expect(stdout).not.toContain('secret')
  })

  describe.for(nodes)('on %s', ([, node]) => {
    it.for([
      ['pod-watcher', '0 pods; 0 addresses', 'SIGTERM'],
      ['resync', 'synced, 0 nodes', 'SIGTERM'],
      ['controller', 'default: 0 pods', 'SIGINT'],
    ] as const)(
      'runs %s, until it is stopped',
      { skip: !existsSync(node) },
      async ([name, line, signal]) => {
        await using simulator = await startSimulator()
        const file = `node_modules/@informerql/controller/dist/examples/${name}.js`
        const args = [file, '--server', simulator.url]
        await using example = startProgram(node, args, { cwd: project.dir })
        await example.printed(line)
        expect(await example.interrupt(signal), example.lines.join('\n')).toBe(0)
      },
    )
  })
})
