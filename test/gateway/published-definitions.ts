import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import type { Fields } from './test-cluster.ts'

const run = promisify(execFile)
const modules = join(import.meta.dirname, '../cluster/definitions')
const folders: Readonly<Record<string, string>> = {
  'sigs.k8s.io/gateway-api': 'config/crd/experimental',
}

/** The definitions in the Go modules of `test/cluster/definitions`, or why they cannot be had. */
export type PublishedDefinitions =
  | { readonly definitions: readonly Fields[] }
  | { readonly missing: string }

/** Reads them from Go's module cache, which is filled from the module proxy where it is empty. */
export const publishedDefinitions = async (): Promise<PublishedDefinitions> => {
  const definitions: Fields[] = []
  try {
    for (const [module, folder] of Object.entries(folders)) {
      const { stdout } = await run('go', ['mod', 'download', '-json', module], {
        cwd: modules,
        env: { ...process.env, GOWORK: 'off', PATH: `${process.env['PATH']}:/usr/local/go/bin` },
        timeout: 60_000,
      })
      const { Dir: root } = JSON.parse(stdout) as { readonly Dir: string }
      for (const file of await readdir(join(root, folder))) {
        const text = await readFile(join(root, folder, file), 'utf8')
        const documents = parseAllDocuments(text).map((document) => document.toJS())
        definitions.push(...documents.filter((one) => one?.kind === 'CustomResourceDefinition'))
      }
    }
  } catch (error) {
    return { missing: `their Go modules cannot be read: ${(error as Error).message}` }
  }
  return { definitions }
}
