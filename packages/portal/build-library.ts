/**
 * Builds the components for other applications into `packages/portal/dist`: ES modules with what is heavy in files of
 * its own, one style sheet, and the types.
 *
 *     node packages/portal/build-library.ts
 */
import { execFile } from 'node:child_process'
import { glob, readFile, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import react from '@vitejs/plugin-react'
import { build, esmExternalRequirePlugin } from 'vite'
import { writeDocuments } from './generate.ts'

const folder = import.meta.dirname
const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url))

// Also where tests build it: React of production and of development do not fit.
process.env['NODE_ENV'] = 'production'
await writeDocuments()
await build({
  root: folder,
  configFile: false,
  logLevel: 'warn',
  plugins: [
    react(),
    // One copy of each in an application: what keeps state that must be shared.
    esmExternalRequirePlugin({ external: [/^(react|react-dom|@informerql\/client)(\/|$)/] }),
  ],
  // The layout's worker is a file beside the modules that name it.
  base: './',
  worker: { format: 'es' },
  define: { 'process.env.NODE_ENV': 'process.env.NODE_ENV' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    license: { fileName: 'licenses.md' },
    target: 'es2022',
    minify: false,
    cssCodeSplit: false,
    lib: {
      entry: 'src/library/index.ts',
      formats: ['es'],
      fileName: 'index',
      cssFileName: 'style',
    },
  },
})
await promisify(execFile)(tsc, ['-p', `${folder}/tsconfig.library.json`])

/** The declarations that others need: those of the entrance, and what they name. */
async function reached(file: string, known: Set<string> = new Set()): Promise<ReadonlySet<string>> {
  if (known.has(file)) return known
  known.add(file)
  const text = await readFile(file, 'utf8')
  for (const [, name = ''] of text.matchAll(/ from '(\.[^']+)\.tsx?'/g)) {
    await reached(resolve(file, '..', `${name}.d.ts`), known)
  }
  return known
}

const types = `${folder}/dist/types`
const needed = await reached(`${types}/library/index.d.ts`)
for await (const name of glob('**/*.d.ts', { cwd: types })) {
  if (!needed.has(`${types}/${name}`)) await rm(`${types}/${name}`)
}
// So that TypeScript finds what `import '@informerql/portal/style.css'` names.
await writeFile(`${folder}/dist/style.d.ts`, 'export {}\n')
