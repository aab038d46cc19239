/**
 * What the built packages weigh, installed from their tarballs into empty projects as a user would, and how long it takes
 * to import each of their entrances, in a process of its own, and how many modules that loads:
 *
 *     npm run build && npm run bench -- imports [--rounds 5] [--record]
 *
 * npm fetches the dependencies. Sizes do not depend on the machine.
 */
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Figures, interleave } from './support/measured-process.ts'
import { publish } from './support/results.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    record: { type: 'boolean', default: false },
  },
})
const root = fileURLToPath(new URL('..', import.meta.url))
const temporary = mkdtempSync(join(tmpdir(), 'informerql-imports-'))
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))

interface Tarball {
  readonly file: string
  readonly size: number
  readonly unpackedSize: number
}

/** Packs a built package. */
function packed(folder: string): Tarball {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', temporary]
  const said = execFileSync('npm', args, { cwd: join(root, folder), encoding: 'utf8' })
  const [tarball] = Object.values(JSON.parse(said) as Record<string, TarballSaid>)
  if (tarball === undefined) throw new Error(`npm pack said ${said}`)
  return { ...tarball, file: join(temporary, tarball.filename) }
}

interface TarballSaid extends Tarball {
  readonly filename: string
}

/** Installs packages into an empty project; returns its folder. */
function installed(name: string, packages: readonly string[]): string {
  const project = join(temporary, name)
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--silent']
  execFileSync('npm', ['install', ...quiet, ...packages], { cwd: project })
  return project
}

/** The packages below a project's `node_modules`, and the room that their files take on the disk. */
function weight(project: string): Figures {
  const files = readdirSync(join(project, 'node_modules'), { recursive: true, encoding: 'utf8' })
  const bytes = files
    .map((file) => statSync(join(project, 'node_modules', file)))
    .filter((stats) => stats.isFile())
    .reduce((sum, { blocks }) => sum + blocks * 512, 0)
  const lock = readFileSync(join(project, 'node_modules', '.package-lock.json'), 'utf8')
  const { packages } = JSON.parse(lock) as { readonly packages: object }
  return { packages: Object.keys(packages).length, onDiskMB: bytes / 1e6, files: files.length }
}

/** Imports modules in a new process of a project. */
function timed(project: string, specifiers: readonly string[]): Figures {
  const script = `
    import { registerHooks } from 'node:module'
    let modules = 0
    registerHooks({ load(url, context, next) { modules += 1; return next(url, context) } })
    const cpu = process.cpuUsage()
    const started = performance.now()
    for (const specifier of ${JSON.stringify(specifiers)}) await import(specifier)
    const { user, system } = process.cpuUsage(cpu)
    console.log(JSON.stringify({ importMs: performance.now() - started, cpuMs: (user + system) / 1000, modules }))`
  const args = ['--input-type=module', '-e', script]
  return JSON.parse(
    execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' }),
  ) as Figures
}

function entrancesOf(folder: string): readonly string[] {
  const { name, exports } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  ) as {
    readonly name: string
    readonly exports: Readonly<Record<string, unknown>>
  }
  return Object.entries(exports)
    .filter(([path, target]) => typeof target === 'object' && !path.includes('*'))
    .map(([path]) => name + path.slice(1))
}

const [controller, gateway] = [packed('packages/controller'), packed('.')]
const clientNode = '@kubernetes/client-node'
const forController = installed('controller', [controller.file])
const forGateway = installed('gateway', [controller.file, gateway.file, 'react'])
const forClientNode = installed('client-node', [clientNode])
const ofTarball = ({ size, unpackedSize }: Tarball): Figures => ({
  tarballMB: size / 1e6,
  unpackedMB: unpackedSize / 1e6,
})
const sizes = {
  '@informerql/controller': { ...ofTarball(controller), ...weight(forController) },
  informerql: {
    ...ofTarball(gateway),
    ...weight(installed('informerql', [controller.file, gateway.file])),
  },
  [`${clientNode}, for comparison`]: weight(forClientNode),
}

const contenders: Record<string, () => Promise<Figures>> = {}
const contender = (name: string, project: string, specifiers: readonly string[]): void => {
  contenders[name] = () => Promise.resolve(timed(project, specifiers))
}
for (const name of entrancesOf('packages/controller')) contender(name, forController, [name])
const program = ['cluster', 'informer'].map((name) => `@informerql/controller/${name}`)
contender('a program with informers: cluster and informer', forController, program)
for (const name of entrancesOf('.')) contender(name, forGateway, [name])
contender(`${clientNode}, for comparison`, forClientNode, [clientNode])

publish(
  'imports',
  [
    { title: 'size, installed from tarballs into an empty project', rows: sizes },
    {
      title: 'import of each entrance',
      rows: await interleave(contenders, Number(options.rounds)),
    },
  ],
  [],
  { record: options.record },
)
