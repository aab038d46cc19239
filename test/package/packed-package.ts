import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const modules = resolve('node_modules')

/** A project of its own into which the packed tarball has been installed, with nothing else but its dependencies. */
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

/** Builds and packs this package, and installs it into an empty project. */
export async function installPackage(): Promise<Project> {
  const dir = await mkdtemp(join(tmpdir(), 'informerql-package-'))
  const source = join(dir, 'source')
  const project = join(dir, 'project')
  await mkdir(source)
  await mkdir(join(project, 'node_modules'), { recursive: true })
  for (const name of [
    'package.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'docs',
    'examples',
    'schema',
  ]) {
    await cp(name, join(source, name), { recursive: true })
  }
  const tsc = join(modules, '.bin', 'tsc')
  await run(tsc, ['-p', 'tsconfig.build.json', '--outDir', join(source, 'dist')])
  const examples = join(source, 'dist', 'examples')
  await run(tsc, ['-p', 'tsconfig.examples.json', '--outDir', examples])
  // Built before the tests.
  await cp('dist/portal', join(source, 'dist', 'portal'), { recursive: true })
  const npm = ['pack', '--ignore-scripts', '--silent', '--pack-destination', dir]
  const { stdout } = await run('npm', npm, { cwd: source })
  const tarball = join(dir, stdout.trim().split('\n').at(-1) ?? '')
  const installed = join(project, 'node_modules', 'informerql')
  await mkdir(installed)
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  await linkDependencies(join(project, 'node_modules'))
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
    files: await readdir(installed, { recursive: true }),
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

/** As npm would install them: here they are links, so that no network is needed. */
async function linkDependencies(target: string): Promise<void> {
  const names = (await readdir(modules)).filter(
    (name) => !name.startsWith('.') && name !== 'informerql',
  )
  for (const name of names) {
    const scoped = name.startsWith('@') ? await readdir(join(modules, name)) : ['']
    for (const part of scoped) {
      const path = join(target, name, part)
      await mkdir(dirname(path), { recursive: true })
      await symlink(join(modules, name, part), path)
    }
  }
}
