import { readFileSync } from 'node:fs'

let version: string | undefined

export function packageVersion(): string {
  version ??= read()
  return version
}

function read(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
