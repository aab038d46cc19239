import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const bin = resolve('node_modules', '.bin')

/** A folder of a front end, from which the packages of this repository are found, and this package itself. */
export interface Project extends AsyncDisposable {
  readonly dir: string
  readonly write: (file: string, text: string) => Promise<void>
  /** Runs a module of it. */
  readonly load: (file: string) => Promise<unknown>
  /** The strict compiler's complaints about it, one a line; empty where there are none. */
  readonly compile: () => Promise<string>
  /** Runs a program of `node_modules` in it; answers with all that it prints. Rejects where it fails. */
  readonly program: (name: string, ...args: readonly string[]) => Promise<string>
  /** What `informerql` prints. */
  readonly informerql: (...args: readonly string[]) => Promise<string>
}

/** A folder inside the repository, since modules are found upwards from it. */
export async function createProject(): Promise<Project> {
  const dir = await mkdtemp(resolve('test', 'clients', '.project-'))
  const started = (command: string, args: readonly string[]) =>
    run(command, args, { cwd: dir, timeout: 60_000, maxBuffer: 64 << 20 })
  const write = (file: string, text: string) => writeFile(join(dir, file), text)
  // `packages/client` exports what is built of these sources.
  const client = join(dir, 'node_modules', '@informerql', 'client')
  await mkdir(client, { recursive: true })
  const entrances = ['', '/react', '/apollo', '/urql', '/relay']
  const files = entrances.map((entrance) => [
    `.${entrance}`,
    `client${entrance.replace('/', '-')}.ts`,
  ])
  const exports = Object.fromEntries(files.map(([entrance, file]) => [entrance, `./${file}`]))
  await writeFile(join(client, 'package.json'), JSON.stringify({ type: 'module', exports }))
  for (const [, file = ''] of files) {
    // Relative: the compiler refuses to rewrite the extension of another path.
    const sources = relative(client, resolve('src', file))
    await writeFile(join(client, file), `export * from ${JSON.stringify(sources)}\n`)
  }
  await write(
    'tsconfig.json',
    JSON.stringify({
      extends: '../../../tsconfig.json',
      // As Vite has it.
      compilerOptions: {
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2024', 'esnext.disposable', 'dom'],
        jsx: 'react-jsx',
        types: [],
        isolatedDeclarations: false,
        declaration: false,
      },
      include: ['*.ts', '*.tsx', 'generated/*.ts'],
    }),
  )
  return {
    dir,
    write,
    load: (file) => import(pathToFileURL(join(dir, file)).href),
    compile: () =>
      started(join(bin, 'tsc'), ['-p', dir]).then(
        () => '',
        (error: { readonly stdout: string }) => error.stdout,
      ),
    async program(name, ...args) {
      const { stdout, stderr } = await started(join(bin, name), args)
      return stdout + stderr
    },
    async informerql(...args) {
      const flags = ['--conditions=informerql-source', resolve('src', 'main.ts')]
      const { stdout } = await started(process.execPath, [...flags, ...args])
      return stdout
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  }
}
