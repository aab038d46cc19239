import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly workspaces?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly files?: readonly string[]
  readonly exports?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly needs?: string
  readonly permissions: Readonly<Record<string, string>>
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[]
}

const read = (file: string): string => readFileSync(file, 'utf8')
const manifestOf = (folder: string): Manifest =>
  JSON.parse(read(`${folder}/package.json`)) as Manifest

const root = manifestOf('.')
const published = ['.', ...(root.workspaces ?? [])]
  .map((folder) => ({ folder, manifest: manifestOf(folder) }))
  .filter(({ manifest }) => manifest.private !== true)

describe.for(published)('What is published of $manifest.name', ({ folder, manifest }) => {
  it('has the version of all packages, and provenance', () => {
    expect(manifest).toMatchObject({
      version: root.version,
      publishConfig: { access: 'public', provenance: true },
      license: 'Apache-2.0',
      repository: { url: 'git+https://github.com/informerql/informerql.git' },
    })
    const own = Object.entries(manifest.dependencies ?? {}).filter(([name]) =>
      published.some((one) => one.manifest.name === name),
    )
    for (const [, range] of own) expect(range.replace('^', '')).toBe(root.version)
  })

  it('has LICENSE and NOTICE, and its manifest can be read', () => {
    for (const file of ['LICENSE', 'NOTICE']) expect(read(`${folder}/${file}`)).toBe(read(file))
    expect(manifest.files).toContain('NOTICE')
    expect(manifest.exports).toHaveProperty(['./package.json'])
  })
})

describe('The release workflow', () => {
  const { permissions, jobs } = parse(read('.github/workflows/release.yml')) as {
    readonly permissions: object
    readonly jobs: Readonly<Record<'build' | 'publish', Job>>
  }
  const commandsOf = ({ steps }: Job): string => steps.map(({ run = '' }) => run).join('\n')

  it('publishes every package once, after those that it depends on', () => {
    const [, list = ''] = /for name in (.*); do/.exec(commandsOf(jobs.publish)) ?? []
    const order = list.split(' ')
    expect(order.toSorted()).toEqual(published.map(({ manifest }) => manifest.name).toSorted())
    for (const { manifest } of published) {
      const before = order.slice(0, order.indexOf(manifest.name))
      const needed = Object.keys(manifest.dependencies ?? {}).filter((name) => order.includes(name))
      expect(before).toEqual(expect.arrayContaining(needed))
    }
    expect(commandsOf(jobs.publish)).toContain('--provenance --access public')
  })

  it('runs all checks first, and nothing of the dependencies where it may publish', () => {
    expect(permissions).toEqual({})
    expect(jobs.build.permissions).toEqual({ contents: 'read' })
    expect(commandsOf(jobs.build)).toMatch(/\.ci\/run[^]*tools\/release\.ts --tag/)
    expect(jobs.publish.needs).toBe('build')
    expect(jobs.publish.permissions).toEqual({ contents: 'write', 'id-token': 'write' })
    expect(commandsOf(jobs.publish)).not.toMatch(/npm (ci|install|run|exec)|npx|node /)
  })

  it('names the actions that it uses by commit', () => {
    const uses = Object.values(jobs).flatMap(({ steps }) =>
      steps.flatMap((step) => step.uses ?? []),
    )
    expect(uses.length).toBeGreaterThan(0)
    for (const action of uses) expect(action).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/)
  })

  it('refuses a tag that is not the version of the packages', async () => {
    const args = [resolve('tools', 'release.ts'), '--tag', 'v99.0.0', '--out', '.cache/no-release']
    const failed = await promisify(execFile)(process.execPath, args).then(
      () => '',
      (error: { readonly stderr: string }) => error.stderr,
    )
    expect(failed).toContain(`the tag is v99.0.0, and @informerql/client is ${root.version}`)
  })
})
