/**
 * Builds the page into `dist/portal/` of the repository: the files that a gateway serves at `/`, each with a Brotli copy, and
 * `documents.json`, the page's operations by their hashes, for gateways with trusted documents.
 *
 *     node packages/portal/build.ts [--if-needed]
 *
 * `--if-needed`: only if a source is newer than the page.
 */
import { createHash } from 'node:crypto'
import { glob, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import type { build } from 'vite'

const folder = import.meta.dirname
const target = fileURLToPath(new URL('../../dist/portal', import.meta.url))
const compress = promisify(brotliCompress)

async function newest(pattern: string, cwd: string): Promise<number> {
  const files = await Array.fromAsync(glob(pattern, { cwd }))
  const times = await Promise.all(files.map(async (file) => (await stat(`${cwd}/${file}`)).mtimeMs))
  return Math.max(0, ...times)
}

async function isBuilt(): Promise<boolean> {
  const built = await stat(`${target}/index.html`).catch(() => undefined)
  if (built === undefined) return false
  const changed = await Promise.all([
    newest('{src/**/*,*.ts,index.html,package.json}', folder),
    newest('src/{client/*,client*.ts}', `${folder}/../..`),
  ])
  return Math.max(...changed) < built.mtimeMs
}

/** The operations of the page by their hashes. */
async function documents(): Promise<Readonly<Record<string, string>>> {
  const written = (await import('./src/gateway/documents.ts')) as Readonly<Record<string, unknown>>
  const texts = Object.entries(written).filter(([name]) => name.endsWith('Document'))
  return Object.fromEntries(
    texts.map(([, document]) => [
      createHash('sha256').update(String(document)).digest('hex'),
      String(document),
    ]),
  )
}

/** Builds the page into a folder. */
async function buildInto(into: string, vite: typeof build): Promise<void> {
  await vite({
    root: folder,
    configFile: `${folder}/vite.config.ts`,
    logLevel: 'warn',
    // The licences of the libraries that are in it ask for their text.
    build: { outDir: into, emptyOutDir: true, license: { fileName: 'licenses.md' } },
  })
  await writeFile(`${into}/documents.json`, JSON.stringify(await documents()))
  for await (const file of glob('assets/*.{js,css,svg}', { cwd: into })) {
    const text = await readFile(`${into}/${file}`)
    const quality = {
      [constants.BROTLI_PARAM_QUALITY]: 9,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    }
    await writeFile(`${into}/${file}.br`, await compress(text, { params: quality }))
  }
}

async function buildPage(vite: typeof build): Promise<void> {
  await (await import('./generate.ts')).writeDocuments()
  // A gateway that starts meanwhile reads a whole page, the one before or this one.
  const next = `${target}-${process.pid}`
  try {
    await buildInto(next, vite)
    await rm(target, { recursive: true, force: true })
    await rename(next, target)
  } finally {
    await rm(next, { recursive: true, force: true })
  }
}

// The tests, which build the page too, run with another value: it would be React's development build.
process.env['NODE_ENV'] = 'production'
const ifNeeded = process.argv.includes('--if-needed')
if (!ifNeeded || !(await isBuilt())) {
  const vite = await import('vite').catch(() => undefined)
  if (vite === undefined) {
    // As after `npm ci --omit=dev`. A gateway runs without the page.
    console.error('the portal is not built: `npm ci` with development dependencies installs vite')
    process.exitCode = ifNeeded ? 0 : 1
  } else await buildPage(vite.build)
}
