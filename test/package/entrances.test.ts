import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)
const entrances = [
  'informerql',
  ...[
    'informer',
    'controller',
    'cluster',
    'kubernetes',
    'client',
    'client/react',
    'client/apollo',
    'client/urql',
    'client/relay',
    'simulator',
  ].map((name) => `informerql/${name}`),
]

/** Prints the number of modules that an entrance loads, and those of other packages. */
const counting = (entrance: string): string => `
  import { registerHooks } from 'node:module'
  const urls = new Set()
  registerHooks({ load(url, context, next) { urls.add(url); return next(url, context) } })
  await import('${entrance}')
  const foreign = [...urls].filter((url) => url.includes('/node_modules/'))
  console.log(JSON.stringify({ modules: urls.size, foreign }))
`

const loaded = async (
  entrance: string,
): Promise<{ readonly modules: number; readonly foreign: readonly string[] }> => {
  const args = ['--conditions=informerql-source', '--input-type=module', '-e', counting(entrance)]
  const { stdout } = await run(process.execPath, args)
  return JSON.parse(stdout) as Awaited<ReturnType<typeof loaded>>
}

describe('The entrances', () => {
  it('of the library load no other package, and no more modules than their own', async () => {
    for (const [entrance, most] of [
      ['informerql/informer', 130],
      ['informerql/kubernetes', 10],
      ['informerql/client', 20],
    ] as const) {
      const { foreign, modules } = await loaded(entrance)
      expect(foreign, entrance).toEqual([])
      expect(modules, entrance).toBeLessThan(most)
    }
  })

  it.for([
    ['cluster', 200],
    ['controller', 200],
    ['simulator', 300],
  ] as const)('of the %s loads yaml, and no other package', async ([name, most]) => {
    const { foreign, modules } = await loaded(`informerql/${name}`)
    expect(foreign.filter((url) => !url.includes('/yaml/'))).toEqual([])
    expect(modules).toBeLessThan(most)
  })

  it.for(entrances)('%s says on an old Node which one it needs', async (entrance) => {
    const old = `
      Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.1' } })
      await import('${entrance}')
    `
    const args = ['--conditions=informerql-source', '--input-type=module', '-e', old]
    const failed = await run(process.execPath, args).then(
      () => '',
      (error: { readonly stderr: string }) => error.stderr,
    )
    expect(failed).toContain('informerql needs Node 22.19 or later; this is Node 20.11.1')
  })
})
