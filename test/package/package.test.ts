import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProgram } from '../support/example-process.ts'
import { consumer } from './consumer.ts'
import { installPackage, nodes, type Project } from './packed-package.ts'

const shared = ['controller', 'informer', 'cluster', 'kubernetes', 'simulator']
const entrances = ['informerql', ...[...shared, 'client'].map((name) => `informerql/${name}`)]

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

  it('has no module of @informerql/controller a second time', async () => {
    const controller = join(project.dir, 'node_modules', '@informerql', 'controller')
    const theirs = new Set(await readdir(controller, { recursive: true }))
    const twice = project.files.filter((file) => /^dist\/.*\.js$/.test(file) && theirs.has(file))
    expect(twice.filter((file) => !file.startsWith('dist/examples/')).toSorted()).toEqual(
      shared.map((name) => `dist/${name}.js`).toSorted(),
    )
    expect(project.files.filter((file) => /captured|scenario/.test(file))).toEqual(
      project.files.filter((file) => /^(docs|examples)\//.test(file) && /scenario/.test(file)),
    )
  })

  it('gives the same classes and functions by the entrances of both packages', async () => {
    await project.write(
      'same.js',
      `import { CodedError } from 'informerql'
       for (const name of ${JSON.stringify(shared)}) {
         const one = await import('informerql/' + name)
         const other = await import('@informerql/controller' + (name === 'controller' ? '' : '/' + name))
         const names = Object.keys(one)
         const differing = names.filter((key) => one[key] !== other[key])
         console.log(name, names.length === Object.keys(other).length && differing.length === 0)
         if (name === 'informer') console.log('CodedError', one.CodedError === CodedError)
       }`,
    )
    expect((await project.node('same.js')).stdout.trim().split('\n')).toEqual(
      shared.flatMap((name) =>
        name === 'informer' ? [`${name} true`, 'CodedError true'] : [`${name} true`],
      ),
    )
  })

  it('reads the informers of a controller that the other package has made', async () => {
    await project.write(
      'shared.js',
      `import { createGateway } from 'informerql'
       import { createApiServer } from '@informerql/controller/cluster'
       import { createSharedInformerFactory, resources } from '@informerql/controller/informer'
       import { startSimulator } from '@informerql/controller/simulator'
       await using followed = await startSimulator()
       // Has no such object: what the gateway answers is of the controller's informer.
       await using empty = await startSimulator()
       await using apiServer = createApiServer({ server: followed.url })
       await using factory = createSharedInformerFactory({ apiServer })
       factory.informer(resources.configMaps)
       factory.start()
       await factory.waitForCacheSync({ deadlineMs: 10_000 })
       await apiServer.client(resources.configMaps).create({ metadata: { namespace: 'default', name: 'mine' } })
       await using gateway = await createGateway({
         clusters: [{ name: 'a', server: empty.url }],
         informers: factory,
       })
       const query = '{ configMaps(namespace: "default") { nodes { metadata { name } } } }'
       for (let at = 0; at < 100; at += 1) {
         const { data, errors } = await gateway.execute({ query })
         const names = data?.configMaps.nodes.map(({ metadata }) => metadata.name) ?? errors
         if (names.includes('mine') || at === 99) console.log(JSON.stringify(names))
         if (names.includes('mine')) break
         await new Promise((resolve) => setTimeout(resolve, 100))
       }`,
    )
    expect((await project.node('shared.js')).stdout).toBe('["mine"]\n')
  })

  it('keeps an archive, in a worker thread of its own, without a word about experiments', async () => {
    await project.write(
      'archive.js',
      `import { createGateway } from 'informerql'
       import { startSimulator } from '@informerql/controller/simulator'
       await using simulator = await startSimulator()
       const archive = { url: 'file:kept/archive.db', kinds: ['namespaces'] }
       const clusters = [{ name: 'a', server: simulator.url }]
       for (let run = 0; run < 2; run += 1) {
         await using gateway = await createGateway({ clusters, archive })
         const { data, errors } = await gateway.execute({ query: '{ namespaces { totalCount } }' })
         console.log(JSON.stringify(data ?? errors))
       }`,
    )
    const { stdout, stderr } = await project.node('archive.js')
    expect(stderr).toBe('')
    const [first, second] = stdout.trim().split('\n')
    expect(first).toMatch(/totalCount/)
    expect(second).toBe(first)
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(join(project.dir, 'kept', 'archive.db'), { readOnly: true })
    expect(database.prepare('SELECT resource, objects > 0 AS some FROM kinds').all()).toEqual([
      { resource: 'namespaces', some: 1 },
    ])
    database.close()
  })

  it('lets others read its manifest and its schema', async () => {
    await project.write(
      'files.js',
      `import manifest from 'informerql/package.json' with { type: 'json' }
       import controller from '@informerql/controller/package.json' with { type: 'json' }
       import { readFileSync } from 'node:fs'
       const schema = readFileSync(new URL(import.meta.resolve('informerql/schema/directives.graphql')), 'utf8')
       console.log(manifest.version === controller.version, schema.includes('directive @'))`,
    )
    expect((await project.node('files.js')).stdout).toBe('true true\n')
  })

  it('has the portal built, with compressed copies and its operations', async () => {
    const portal = project.files.filter((file) => file.startsWith('dist/portal/'))
    expect(portal).toEqual(
      expect.arrayContaining(['dist/portal/index.html', 'dist/portal/documents.json']),
    )
    const scripts = portal.filter((file) => file.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(0)
    for (const script of scripts) expect(portal).toContain(`${script}.br`)
    expect(portal).toContain('dist/portal/licenses.md')
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
