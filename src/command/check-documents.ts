import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  checkDocuments,
  type ClientDocument,
  type DocumentBreak,
  DocumentCheckError,
} from '../graphql/documents/document-breaks.ts'
import { readTrustedDocuments } from '../server/guard/trusted-documents.ts'

/** What `schema --check` checks, and how it reports. */
export interface CheckOptions {
  /** A directory with `.graphql` and `.gql` files, one such file, or a manifest of trusted documents. */
  readonly check: string
  /** A file with the schema that the documents were written for. */
  readonly against?: string | undefined
  readonly json?: boolean | undefined
}

/**
 * Checks documents against a schema, and prints the breaks. Resolves to whether there is none. Rejects with
 * {@link DocumentCheckError} and TRUSTED_DOCUMENTS. Reads its files before it asks for the schema.
 */
export async function printBreaks(
  schema: () => Promise<string>,
  { check, against, json = false }: CheckOptions,
  print: (text: string) => void,
): Promise<boolean> {
  const documents = documentsAt(check)
  const before = against === undefined ? undefined : readText(against)
  const breaks = await checkDocuments({ documents, schema: await schema(), against: before })
  print(
    json
      ? `${JSON.stringify({ documents: documents.length, breaks }, null, 2)}\n`
      : textOf(breaks, documents.length),
  )
  return breaks.length === 0
}

function textOf(breaks: readonly DocumentBreak[], checked: number): string {
  const lines = breaks.map(({ file, line, column, coordinate, message, hint }) => {
    const what = coordinate === null ? '' : `${coordinate}: `
    return `${file}:${line}:${column}: ${what}${message}\n  ${hint}\n`
  })
  const broken = new Set(breaks.map(({ file }) => file)).size
  const all = counted(checked, 'document')
  const total =
    breaks.length === 0
      ? `the schema serves ${all}`
      : `${counted(breaks.length, 'break')} in ${broken} of ${all}`
  return `${lines.join('')}${total}\n`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** The documents of a directory, a file or a manifest. Throws {@link DocumentCheckError}. */
function documentsAt(path: string): readonly ClientDocument[] {
  if (path.endsWith('.json')) {
    return Array.from(readTrustedDocuments(path), ([id, text]) => ({ file: `${path}#${id}`, text }))
  }
  const hint = 'name a directory of .graphql files, one of them, or a manifest of trusted documents'
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const files = isDirectory
    ? globSync('**/*.{graphql,gql}', { cwd: path, exclude: ['**/node_modules/**'] })
        .toSorted()
        .map((file) => join(path, file))
    : [path]
  if (files.length === 0) throw new DocumentCheckError(`${path} has no documents`, { hint })
  return files.map((file) => ({ file, text: readText(file) }))
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new DocumentCheckError(`${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'name a file that is there',
      cause,
    })
  }
}
