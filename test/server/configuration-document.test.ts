// Imports internals: the guide lists what flags and defaults are declared as.
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { commandFlags } from '../../src/command/command-flags.ts'
import { loadConfig, variableOptions } from '../../src/config/config.ts'
import { valueAt, variableNameOf } from '../../src/config/option-source.ts'

const document = 'docs/configuration.md'
const heading = '## All options'

/** Where the options of each part are declared, each with a comment that says what it is. */
const declaredIn: Readonly<Record<string, readonly string[]>> = {
  '': [
    'src/config/gateway-config.ts',
    'src/config/config.ts',
    'src/gateway/gateway.ts',
    'src/gateway/fleet.ts',
    'src/gateway/serve-schema.ts',
    'src/graphql/served/served-schema.ts',
  ],
  documents: ['src/graphql/documents/operation-documents.ts'],
  work: ['src/query/condition/work-budget.ts'],
  cache: ['src/cache/cache-bounds.ts', 'src/cache/account-namespaces.ts'],
  writes: ['src/graphql/writes/write-limits.ts'],
  logs: ['src/graphql/logs/log-limits.ts'],
  live: ['src/graphql/live/live-limits.ts', 'src/graphql/served/served-schema.ts'],
  server: ['src/server/server-options.ts', 'src/server/user-limits.ts'],
  auth: ['src/access/authentication/authentication-options.ts'],
  share: ['src/gateway/sharing.ts'],
  archive: ['src/config/gateway-config.ts'],
  metrics: ['src/config/gateway-config.ts', 'src/cache/prometheus.ts'],
  audit: ['src/config/config.ts'],
  exec: ['src/server/exec/exec-options.ts', 'src/config/config.ts'],
  simulator: ['src/config/config.ts'],
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*\*?\s*/g, ' ').trim()

/** The comment above a property, or its line in a list, of the first file that has one. */
function meaningOf(path: readonly string[]): string | undefined {
  const [part, name = ''] = path.length === 1 ? ['', path[0]] : path
  for (const file of declaredIn[part ?? ''] ?? []) {
    const source = readFileSync(file, 'utf8')
    const [, listed] = new RegExp(`\\n \\* - \`${name}\`: (.*)`).exec(source) ?? []
    if (listed !== undefined) return listed
    const at = new RegExp(`\\n  readonly ${name}\\??:`).exec(source)?.index
    if (at === undefined) continue
    const comment = /.*\/\*\*((?:[^*]|\*(?!\/))*)\*\/$/s.exec(source.slice(0, at))?.[1]
    if (comment !== undefined) return oneLine(comment)
  }
  return undefined
}

const flagsOf = (path: readonly string[]): readonly string[] => [
  ...new Set(
    Object.values(commandFlags)
      .flat()
      .filter((flag) => flag.path.join('.') === path.join('.'))
      .map(({ flags }) => `\`${flags}\``),
  ),
]

/** Options whose defaults follow from the memory of the process. */
const ofMemory = new Set([
  'cache.maxHeldBytes',
  'cache.maxRecentBytes',
  'live.maxHeldBytes',
  'logs.maxHeldBytes',
  'logs.maxHeldBytesPerUser',
  'writes.maxHeldBytes',
  'writes.maxHeldBytesPerUser',
  'live.maxHeldBytesPerUser',
  'server.maxUnsentBytes',
  'server.maxUnsentBytesPerUser',
])

function shown(value: unknown): string {
  if (value === undefined) return ''
  return `\`${value === Infinity ? 'none' : JSON.stringify(value)}\``
}

it('docs/configuration.md lists every option, with its default, its flag and what it means', async () => {
  const defaults = loadConfig({ variables: {}, flags: [] })
  const rows = variableOptions().map(({ path }) => {
    const meaning = meaningOf(path)
    expect(meaning, path.join('.')).toBeTruthy()
    const cells = [
      `\`${path.join('.')}\``,
      ofMemory.has(path.join('.')) ? 'by memory' : shown(valueAt(defaults, path)),
      flagsOf(path).join(', '),
      meaning ?? '',
    ]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  })
  const [prose = ''] = (await readFile(document, 'utf8')).split(heading)
  const text = [
    `${prose.trimEnd()}\n`,
    heading,
    '',
    'Written by a test from the declarations: change those, then run `npx vitest run test/server/configuration-document.test.ts -u`.',
    '',
    '| option | default | flag | what it is |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
  await expect(text).toMatchFileSnapshot(`../../${document}`)
})

// Options of commands alone.
const ofCommands = ['INFORMERQL_CONFIG', 'INFORMERQL_TOKEN']

it('every variable that the guides name is one of an option', () => {
  const known = new Set(variableOptions().map(({ path }) => variableNameOf('INFORMERQL_', path)))
  const guides = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)]
  const named = guides
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) => readFileSync(name, 'utf8').match(/\bINFORMERQL_[A-Z_]*[A-Z]\b/g) ?? [])
  expect(named.filter((name) => !known.has(name) && !ofCommands.includes(name))).toEqual([])
})

it('the file that the guide shows can be used', async () => {
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(await readFile(document, 'utf8')) ?? []
  const dir = await mkdtemp(join(tmpdir(), 'informerql-config-'))
  try {
    const file = join(dir, 'informerql.yaml')
    await writeFile(file, yaml)
    const { clusters, server } = loadConfig({ file, variables: {}, flags: [] })
    expect(clusters.map(({ name }) => name)).toEqual(['production', 'staging'])
    expect(server.metricsPort).toBe(9090)
  } finally {
    await rm(dir, { recursive: true })
  }
})
