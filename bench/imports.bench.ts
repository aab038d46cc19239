/**
 * How long it takes to import each entrance of the built package, in a process of its own, and how many modules that loads:
 *
 *     npm run build && npm run bench -- imports [--rounds 5] [--record]
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Figures, interleave } from './support/measured-process.ts'
import { publish } from './support/results.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    record: { type: 'boolean', default: false },
  },
})
const root = new URL('..', import.meta.url)
const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  readonly exports: Readonly<Record<string, { readonly default: string }>>
}

function timed(specifier: string): Figures {
  const script = `
    import { registerHooks } from 'node:module'
    let modules = 0
    registerHooks({ load(url, context, next) { modules += 1; return next(url, context) } })
    const cpu = process.cpuUsage()
    const started = performance.now()
    await import(${JSON.stringify(specifier)})
    const { user, system } = process.cpuUsage(cpu)
    console.log(JSON.stringify({ importMs: performance.now() - started, cpuMs: (user + system) / 1000, modules }))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Figures
}

const entrances = Object.entries(exports).map(([name, { default: file }]) => [
  `informerql${name.slice(1)}`,
  () => Promise.resolve(timed(new URL(file, root).href)),
])
const rows = await interleave(
  {
    ...(Object.fromEntries(entrances) as Record<string, () => Promise<Figures>>),
    '@kubernetes/client-node, for comparison': () =>
      Promise.resolve(timed(import.meta.resolve('@kubernetes/client-node'))),
  },
  Number(options.rounds),
)
publish('imports', [{ title: 'import of each entrance, built', rows }], [], {
  record: options.record,
})
