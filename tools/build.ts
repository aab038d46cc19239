/**
 * Builds `informerql` on top of `@informerql/controller`, which has to be built before:
 *
 *     node tools/build.ts [--out FOLDER] [--controller FOLDER]
 *
 * A module that the controller package has is not built twice, since classes must be the same in a program that uses both:
 * the modules here import it from there, and an entrance of both packages exports what that package exports.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { glob, readFile, rm, writeFile } from 'node:fs/promises'
import { join, posix, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'dist') },
    controller: { type: 'string', default: join(root, 'packages', 'controller', 'dist') },
  },
})
const out = resolve(values.out)
const shared = resolve(values.controller)
const controller = '@informerql/controller'
if (!existsSync(shared)) throw new Error(`${shared} is missing: build ${controller} first`)

const tsc = join(root, 'node_modules', '.bin', 'tsc')
execFileSync(tsc, ['-p', join(root, 'tsconfig.build.json'), '--outDir', out], { stdio: 'inherit' })

/** Of imports and exports, in modules and in declarations, where TypeScript keeps the `.ts`. */
const specifier = /(\b(?:from|import)\s*\(?\s*)(['"])(\.[^'"]+)\.[jt]s\2/g

for await (const source of glob('**/*.ts', { cwd: join(root, 'src') })) {
  const name = posix.normalize(source.replaceAll('\\', '/')).replace(/\.ts$/, '')
  const isShared = existsSync(join(shared, `${name}.js`))
  for (const file of [`${name}.js`, `${name}.d.ts`]) {
    const path = join(out, file)
    if (!isShared) {
      const text = await readFile(path, 'utf8')
      await writeFile(path, text.replaceAll(specifier, fromController(name)))
    } else if (name.includes('/')) {
      await rm(path)
    } else {
      const entrance = name === 'controller' ? controller : `${controller}/${name}`
      await writeFile(path, `export * from '${entrance}'\n`)
    }
  }
}

/** Replaces a relative import of the module by one of the controller package, if that has it. */
function fromController(importer: string) {
  return (all: string, before: string, quote: string, path: string): string => {
    const target = posix.join(posix.dirname(importer), path)
    if (!existsSync(join(shared, `${target}.js`))) return all
    return `${before}${quote}${controller}/internal/${target}${quote}`
  }
}
