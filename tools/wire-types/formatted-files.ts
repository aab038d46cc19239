import { readFileSync } from 'node:fs'
import { format, type FormatConfig } from 'oxfmt'
import { wireFiles } from './wire-files.ts'

const config = new URL('../../.oxfmtrc.json', import.meta.url)

/** The text of each file as it stands in `src/kubernetes/wire`, by its name. */
export async function formattedFiles(): Promise<ReadonlyMap<string, string>> {
  const options = JSON.parse(readFileSync(config, 'utf8')) as FormatConfig
  const files = await Promise.all(
    [...wireFiles()].map(async ([name, text]): Promise<[string, string]> => {
      const { code, errors } = await format(name, text, options)
      const [error] = errors
      if (error !== undefined) throw new Error(`${name}: ${error.message}`)
      return [name, code]
    }),
  )
  return new Map(files)
}
