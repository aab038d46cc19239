import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** One SDL file, or a string in place of a file. */
export interface SdlSource {
  /** The path that errors name. */
  readonly file: string
  readonly text: string
  /** Whether unserved types are passed over. By default they are errors. */
  readonly optional?: boolean
}

/** The folder of the package's own SDL. */
export const packageSchemaDirectory: URL = new URL('../../../schema/', import.meta.url)

let packageSdl: Promise<readonly SdlSource[]> | undefined

/** The package's own SDL: `schema/*.graphql`, in the order of the file names. It is read once in a process. */
export function readPackageSdl(): Promise<readonly SdlSource[]> {
  packageSdl ??= (async () => {
    const names = await readdir(fileURLToPath(packageSchemaDirectory))
    const files = names.filter((name) => name.endsWith('.graphql')).toSorted()
    return Promise.all(
      files.map(async (name) => ({
        file: `schema/${name}`,
        text: await readFile(new URL(name, packageSchemaDirectory), 'utf8'),
        optional: true,
      })),
    )
  })()
  return packageSdl
}
