/** Runs one benchmark: `npm run bench -- NAME [options]`, where NAME is that of a file `NAME.bench.ts`. */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

const suffix = '.bench.ts'
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(suffix))
  .map((file) => file.slice(0, -suffix.length))

const [name = '', ...args] = process.argv.slice(2)
if (names.includes(name)) {
  const script = `${import.meta.dirname}/${name}${suffix}`
  const { status } = spawnSync(process.execPath, ['--expose-gc', script, ...args], {
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} else {
  console.error(`no benchmark ${JSON.stringify(name)}; there are: ${names.join(', ')}`)
  process.exitCode = 2
}
