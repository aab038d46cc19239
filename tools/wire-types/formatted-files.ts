import { readFileSync } from 'node:fs'
import { format, type FormatConfig } from 'oxfmt'
import { resourcesFile } from './resources-file.ts'
import { wireFiles } from './wire-files.ts'

const config = new URL('../../.oxfmtrc.json', import.meta.url)

/** The text of each file as it stands in `src/kubernetes/wire`, by its name. */
export async function formattedFiles(): Promise<ReadonlyMap<string, string>> {
  const files = [...wireFiles()].map(async ([name, text]): Promise<[string, string]> => [
    name,
    await formatted(name, text),
  ])
  return new Map(await Promise.all(files))
}

/** The text of `src/kubernetes/resources.ts`. */
export async function formattedResources(): Promise<string> {
  return await formatted('resources.ts', resourcesFile())
}

async function formatted(name: string, text: string): Promise<string> {
  const options = JSON.parse(readFileSync(config, 'utf8')) as FormatConfig
  const { code, errors } = await format(name, text, options)
  const [error] = errors
  if (error !== undefined) throw new Error(`${name}: ${error.message}`)
  return code
}
