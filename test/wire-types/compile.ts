import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const compiler = resolve('node_modules/.bin/tsc')
const options = ['--noEmit', '--ignoreConfig', '--strict', '--exactOptionalPropertyTypes']
const modules = ['--module', 'nodenext', '--target', 'es2023', '--allowImportingTsExtensions']
const deadlineMs = 60_000

/** What the TypeScript compiler has to say about a module; `''` where it finds nothing wrong. */
export async function compile(source: string, more: readonly string[] = []): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'informerql-wire-types-'))
  try {
    const file = join(folder, 'objects.mts')
    await writeFile(file, source)
    return await new Promise((done) => {
      execFile(
        process.execPath,
        [compiler, ...options, ...modules, ...more, file],
        { timeout: deadlineMs },
        (error, stdout, stderr) => done(error === null ? '' : `${error.message}${stdout}${stderr}`),
      )
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}
