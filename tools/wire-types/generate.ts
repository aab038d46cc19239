/**
 * Writes the types of Kubernetes' objects from the captured OpenAPI, those of the gateway's own SDL, and those of its directives:
 *
 *     npm run generate:wire-types [-- --types]
 *
 * `src/kubernetes/wire/*.ts`, `src/graphql/schema/gateway-types.ts` and `src/graphql/sdl/directive-arguments.ts` are types alone, which
 * nothing needs at run time, so they are not in the repository: builds, `npm run typecheck` and the tests write them first (`--types`). `src/kubernetes/resources.ts` holds values too, so it is in the
 * repository, and only this command without `--types` writes it. `test/wire-types` compares it with what is generated here.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { format, type FormatConfig } from 'oxfmt'
import { directiveTypesFile } from './directive-types.ts'
import { gatewayTypesFile } from './gateway-types.ts'
import { resourcesFile } from './resources-file.ts'
import { wireFiles } from './wire-files.ts'

const root = new URL('../../', import.meta.url)

const resources = 'src/kubernetes/resources.ts'

/** Writes the types alone. A file that says the same already stays as it is, so that its time tells when it changed. */
export async function writeWireTypes(): Promise<void> {
  const files = new Map(await generatedFiles())
  files.delete(resources)
  await writeFiles(files)
}

async function writeFiles(files: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(new URL('src/kubernetes/wire', root), { recursive: true })
  for (const [path, text] of files) {
    const written = await readFile(new URL(path, root), 'utf8').catch(() => undefined)
    if (text !== written) await writeFile(new URL(path, root), text)
  }
}

/** The text of each generated file, by its path within the repository. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const config = await readFile(new URL('.oxfmtrc.json', root), 'utf8')
  const texts = new Map([
    [resources, resourcesFile()],
    ['src/graphql/schema/gateway-types.ts', gatewayTypesFile()],
    ['src/graphql/sdl/directive-arguments.ts', directiveTypesFile()],
  ])
  for (const [name, text] of wireFiles()) texts.set(`src/kubernetes/wire/${name}`, text)
  for (const [path, text] of texts) {
    const { code, errors } = await format(path, text, JSON.parse(config) as FormatConfig)
    const [error] = errors
    if (error !== undefined) throw new Error(`${path}: ${error.message}`)
    texts.set(path, code)
  }
  return texts
}

if (import.meta.main) {
  if (process.argv.includes('--types')) await writeWireTypes()
  else await writeFiles(await generatedFiles())
}
