/**
 * Builds `@informerql/controller` from the entrances that its tsconfig.json names, with the data that the simulator reads:
 *
 *     node packages/controller/build.ts [--out FOLDER]
 */
import { execFileSync } from 'node:child_process'
import { cp, glob, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { writeWireTypes } from '../../tools/wire-types/generate.ts'

const { values } = parseArgs({
  options: { out: { type: 'string', default: import.meta.dirname } },
})
const out = resolve(values.out)
const root = resolve(import.meta.dirname, '..', '..')
const tsc = join(root, 'node_modules', '.bin', 'tsc')

// What the source no longer has must not be published.
for (const name of ['dist', 'schema', 'scenario']) {
  await rm(join(out, name), { recursive: true, force: true })
}
const compile = (project: string, into: string): void => {
  const args = ['-p', join(import.meta.dirname, project), '--outDir', into]
  execFileSync(tsc, args, { stdio: 'inherit' })
}
await writeWireTypes()
compile('tsconfig.json', join(out, 'dist'))
await cp(join(root, 'schema', 'captured'), join(out, 'schema', 'captured'), { recursive: true })
await cp(join(root, 'scenario'), join(out, 'scenario'), { recursive: true })

// The examples are written for users of `informerql`; the entrances here are the same.
compile('tsconfig.examples.json', join(out, 'dist', 'examples'))
for await (const name of glob('*.js', { cwd: join(out, 'dist', 'examples') })) {
  const file = join(out, 'dist', 'examples', name)
  const text = await readFile(file, 'utf8')
  const own = text
    .replaceAll("from 'informerql/controller'", "from '@informerql/controller'")
    .replaceAll("from 'informerql/", "from '@informerql/controller/")
  await writeFile(
    file,
    own.replaceAll('node_modules/informerql/', 'node_modules/@informerql/controller/'),
  )
}
