import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** One name of an entrance, and the file that declares it. */
interface PublicName {
  readonly name: string
  readonly isType: boolean
  /** Its name where it is declared. */
  readonly declaredAs: string
  readonly file: string
}

const declaration = (name: string): RegExp =>
  new RegExp(
    String.raw`^export (?:declare |abstract |async )*(?:function\*?|class|interface|type|const) (${name})\b`,
    'gm',
  )

/** What `export type * from` exports. */
async function everyTypeOf(file: string): Promise<PublicName[]> {
  const source = await readFile(file, 'utf8')
  return Array.from(source.matchAll(declaration(String.raw`\w+`)), ([, name = '']) => ({
    name,
    isType: true,
    declaredAs: name,
    file,
  }))
}

/** Every name that an entrance exports; it has nothing but `export … from`. */
async function exportsOf(entrance: string): Promise<PublicName[]> {
  const source = (await readFile(entrance, 'utf8')).replaceAll(/\/\*\*.*?\*\//gs, '')
  const statements = source.matchAll(/export (type )?(\*|\{([^}]*)\}) from '([^']+)'/g)
  const found = await Promise.all(
    Array.from(statements, async ([, typeOnly, what, list = '', path = '']) => {
      const file = join(dirname(entrance), path)
      if (what === '*') return everyTypeOf(file)
      const names = list.split(',').map((one) => one.trim())
      return names
        .filter((one) => one !== '')
        .map((one) => {
          const [declaredAs = '', name = declaredAs] = one.replace(/^type /, '').split(' as ')
          const isType = typeOnly !== undefined || one.startsWith('type ')
          return { name, isType, declaredAs, file }
        })
    }),
  )
  // What says which Node it needs comes first.
  expect(source.trimStart().startsWith("import './lib/node-version.ts'\n"), entrance).toBe(true)
  const rest = source
    .replace("import './lib/node-version.ts'", '')
    .replaceAll(/export (type )?(\*|\{[^}]*\}) from '[^']+'/g, '')
    .trim()
  expect(rest, `${entrance} has more than exports`).toBe('')
  return found.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Whether a comment that begins with two stars stands right before the declaration. */
async function isDocumented({ declaredAs, file }: PublicName): Promise<boolean> {
  const source = await readFile(file, 'utf8')
  const [match] = source.matchAll(declaration(declaredAs))
  if (match === undefined) throw new Error(`${file} does not declare ${declaredAs}`)
  const before = source.slice(0, match.index).trimEnd()
  return before.endsWith('*/') && before.lastIndexOf('/**') > before.lastIndexOf('\n\n')
}

const entrances: readonly (readonly [string, string, () => Promise<object>])[] = [
  ['informerql', 'src/index.ts', () => import('informerql')],
  ['informerql/informer', 'src/informer.ts', () => import('informerql/informer')],
  ['informerql/controller', 'src/controller.ts', () => import('informerql/controller')],
  ['informerql/cluster', 'src/cluster.ts', () => import('informerql/cluster')],
  ['informerql/kubernetes', 'src/kubernetes.ts', () => import('informerql/kubernetes')],
  ['informerql/client', 'src/client.ts', () => import('informerql/client')],
  ['informerql/client/react', 'src/client-react.ts', () => import('informerql/client/react')],
  ['informerql/client/apollo', 'src/client-apollo.ts', () => import('informerql/client/apollo')],
  ['informerql/client/urql', 'src/client-urql.ts', () => import('informerql/client/urql')],
  ['informerql/client/relay', 'src/client-relay.ts', () => import('informerql/client/relay')],
  ['informerql/simulator', 'src/simulator.ts', () => import('informerql/simulator')],
]

describe('The public entrances', () => {
  it.for(entrances)('%s exports these names and no others', async ([name, file, load]) => {
    const names = await exportsOf(file)
    const values = names.filter(({ isType }) => !isType).map((one) => one.name)
    const types = names.filter(({ isType }) => isType).map((one) => one.name)
    expect(values).toEqual(Object.keys(await load()).toSorted((a, b) => (a < b ? -1 : 1)))
    expect(new Set([...values, ...types]).size).toBe(names.length)
    const lines = [
      `${name}: change this file knowingly, and CHANGELOG.md with it.`,
      '',
      'values',
      ...values.map((one) => `  ${one}`),
      '',
      'types',
      ...types.map((one) => `  ${one}`),
    ]
    const snapshot = name.replaceAll('/', '-')
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`./__snapshots__/${snapshot}.txt`)
  })

  it.for(entrances)('%s has a doc comment on every name', async ([, file]) => {
    // The parts of objects have no comments: those of the OpenAPI documents are the Kubernetes authors'.
    const names = (await exportsOf(file)).filter((one) => !one.file.includes('/wire/'))
    const documented = await Promise.all(names.map(isDocumented))
    const bare = names.filter((_, at) => documented[at] !== true)
    expect(bare.map((one) => `${one.file}: ${one.name}`)).toEqual([])
  })
})
