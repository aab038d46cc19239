import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shopForTests } from '../clients/shop.ts'

const run = promisify(execFile)
const tsc = resolve('node_modules', '.bin', 'tsc')

/** A front end without this repository's modules, in a browser's world. */
const app = `
import { type LiveCollection, liveCollection, type TypedDocument, WebSocketClient } from '@informerql/client'
import { useLiveCollection, useLivePage } from '@informerql/client/react'

interface Result {
  readonly pods: {
    readonly changes: readonly { readonly object: { readonly metadata: { readonly name: string } } | null }[]
  } | null
}
declare const document: TypedDocument<Result, { readonly namespace: string; readonly resumeFrom?: string | null }>
const client = new WebSocketClient({ url: \`wss://\${location.host}/graphql\`, connectionParams: { authorization: 'Bearer a' } })
export const pods = liveCollection({ client, query: document, variables: { namespace: 'shop' } })
export const typed: LiveCollection<{ readonly metadata: { readonly name: string } }> = pods
export const names = (): string[] => pods.getSnapshot().rows.map(({ metadata }) => metadata.name)
// @ts-expect-error: the variables are those of the document
liveCollection({ client, query: document, variables: { name: 'shop' } })
export function useNames(namespace: string): string[] {
  const { rows } = useLiveCollection({
    client,
    query: document,
    variables: { namespace },
    compare: (a, b) => a.metadata.name.localeCompare(b.metadata.name),
  })
  return rows.map(({ metadata }) => metadata.name)
}
export function useFirst(namespace: string): string | undefined {
  const { rows, totalCount = 0 } = useLivePage({ client, query: document, variables: { namespace } })
  return totalCount === 0 ? undefined : rows[0]?.metadata.name
}
// @ts-expect-error: the variables are those of the document
useLiveCollection({ client, query: document, variables: { name: 'shop' } })
`

const program = `
import { liveCollection, WebSocketClient } from '@informerql/client'
const pods = liveCollection({
  client: new WebSocketClient({ url: process.argv[2] }),
  query: 'subscription { pods { reset synced changes { type objectId object { metadata { name } } } } }',
})
await pods.synced
console.log(pods.getSnapshot().rows.map(({ metadata }) => metadata.name).join())
pods.close()
`

describe('@informerql/client, installed from its tarball', () => {
  const open = shopForTests()
  let dir = ''
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'informerql-client-'))
    const source = join(dir, 'source')
    await cp(resolve('packages', 'client'), source, { recursive: true })
    await run(tsc, ['-p', resolve('packages', 'client'), '--outDir', join(source, 'dist')])
    const npm = ['pack', '--ignore-scripts', '--silent', '--pack-destination', dir]
    const { stdout } = await run('npm', npm, { cwd: source })
    const installed = join(dir, 'node_modules', '@informerql', 'client')
    await mkdir(installed, { recursive: true })
    const tarball = join(dir, stdout.trim().split('\n').at(-1) ?? '')
    await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
    await writeFile(join(dir, 'package.json'), '{ "type": "module" }')
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  it('has no dependencies but, as it is used, React and the clients whose caches it follows', async () => {
    const installed = join(dir, 'node_modules', '@informerql', 'client')
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as object
    expect(Object.keys(manifest).filter((key) => /dependencies$/i.test(key))).toEqual([
      'peerDependencies',
    ])
    expect(manifest).toMatchObject({
      peerDependencies: {
        '@apollo/client': '>=4',
        '@urql/core': '>=5',
        '@urql/exchange-graphcache': '>=7',
        react: '>=18',
        'relay-runtime': '>=18',
      },
      peerDependenciesMeta: {
        '@apollo/client': { optional: true },
        '@urql/core': { optional: true },
        '@urql/exchange-graphcache': { optional: true },
        react: { optional: true },
        'relay-runtime': { optional: true },
      },
    })
    expect((await readdir(installed)).toSorted()).toEqual([
      'LICENSE',
      'NOTICE',
      'README.md',
      'dist',
      'package.json',
    ])
    const root = JSON.parse(await readFile('package.json', 'utf8')) as { readonly version: string }
    expect(manifest).toMatchObject({ version: root.version })
  })

  it('types rows and variables by a document, without skipLibCheck', async () => {
    await writeFile(join(dir, 'app.ts'), app)
    await writeFile(
      join(dir, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          target: 'esnext',
          module: 'esnext',
          moduleResolution: 'bundler',
          // As Vite's templates have it.
          lib: ['es2022', 'dom'],
          types: [],
          strict: true,
          skipLibCheck: false,
          noEmit: true,
        },
        files: ['app.ts'],
      }),
    )
    const said = await run(tsc, ['-p', dir]).then(
      () => '',
      (error: { readonly stdout: string }) => error.stdout,
    )
    expect(said).toBe('')
  })

  it('follows a gateway in a program without any other package', async () => {
    await writeFile(join(dir, 'program.js'), program)
    const url = open().gateway.url.replace('http', 'ws')
    const { stdout } = await run(process.execPath, ['program.js', url], {
      cwd: dir,
      timeout: 60_000,
    })
    expect(stdout.trim().split(',')).toContain('web-a')
  })
})
