/*
 * The documents of a text, each read once: what is typed changes one of them. A line that begins with `---` ends a document
 * wherever it stands, also in a block of text, so the text is cut before it is parsed.
 */

import { parsed, type Problem } from '../edit/edited-text.ts'
import { listAt, textAt } from '../object/json.ts'
import { createWords as say } from './create-words.ts'

type Members = Readonly<Record<string, unknown>>

/** One object of a text. */
export interface ManifestDocument {
  /** Its place among all, from 1. */
  readonly number: number
  /** The first line of it, from 1. */
  readonly line: number
  readonly value: Members
  /** What is sent: its value, or its text where a number has more digits than the page can hold. */
  readonly manifest: unknown
  readonly apiVersion: string
  readonly kind: string
  /** Its name, or the beginning of it where the API server finds one. */
  readonly name: string
  readonly isNamed: boolean
  readonly namespace: string | undefined
  /** The line of a field as API servers name it: `spec.containers[0].image`. */
  readonly lineOf: (field: string) => number | undefined
}

/** What a text says, and what is wrong with it. */
export interface Reading {
  readonly documents: readonly ManifestDocument[]
  readonly problems: readonly Problem[]
}

/** The largest text that the page takes, and the largest document that a gateway takes. */
export const maxCharacters = 5_000_000
const maxDocumentCharacters = 1 << 20
/** How long documents are read before the page may paint. */
const sliceMs = 20

/** Reads texts, and keeps what the last one was made of. */
export class ManifestReader {
  #known: ReadonlyMap<string, Reading> = new Map()

  /** Reads a text. Pauses, so that the page can paint; `undefined` if the signal is aborted meanwhile. */
  async read(text: string, signal: AbortSignal): Promise<Reading | undefined> {
    if (text.length > maxCharacters) {
      return { documents: [], problems: [{ message: say.tooLong, line: undefined }] }
    }
    const found = new Map<string, Reading>()
    const documents: ManifestDocument[] = []
    const problems: Problem[] = []
    let pauseAt = performance.now() + sliceMs
    for (const { part, before } of partsOf(text)) {
      if (performance.now() > pauseAt) {
        await new Promise((resolve) => setTimeout(resolve))
        if (signal.aborted) return undefined
        pauseAt = performance.now() + sliceMs
      }
      const own = found.get(part) ?? this.#known.get(part) ?? readPart(part)
      found.set(part, own)
      const down = (line: number | undefined): number | undefined =>
        line === undefined ? undefined : line + before
      for (const one of own.documents) {
        const lineOf = (field: string): number | undefined => down(one.lineOf(field))
        documents.push({
          ...one,
          number: documents.length + 1,
          line: one.line + before,
          lineOf,
        })
      }
      for (const { message, line } of own.problems) {
        problems.push({ message, line: down(line) })
      }
    }
    this.#known = found
    return { documents, problems }
  }
}

/** The texts of the documents, with the number of lines before each. */
function* partsOf(text: string): Generator<{ readonly part: string; readonly before: number }> {
  let begin = 0
  let before = 0
  for (const { index } of text.matchAll(/^---(?=\s|$)/gm)) {
    if (index === begin) continue
    const part = text.slice(begin, index)
    yield { part, before }
    before += part.split('\n').length - 1
    begin = index
  }
  yield { part: text.slice(begin), before }
}

function readPart(part: string): Reading {
  const begin = part.split('\n').findIndex((line) => /^(?!---(?:\s|$))\s*[^\s#]/.test(line))
  const isEmpty = begin === -1 && !/^---[ \t]+[^\s#]/.test(part)
  if (isEmpty) return { documents: [], problems: [] }
  const first = Math.max(begin, 0) + 1
  const problem = (message: string, line: number | undefined = first): Reading => ({
    documents: [],
    problems: [{ message, line }],
  })
  if (part.length > maxDocumentCharacters) return problem(say.documentTooLong)
  const read = parsed(part, say.several, say.noObject)
  if ('problem' in read)
    return problem(read.problem.message, Math.max(read.problem.line ?? 0, first))
  const { value, lineOf } = read
  const isList = value['apiVersion'] === 'v1' && value['kind'] === 'List'
  const items = isList ? listAt(value, 'items') : [value]
  // A double does not hold each number of so many digits.
  const isExact = isList || !/(?<![\w."'-])-?\d{16,}(?![\w."'-])/.test(part)
  const readings = items.map((item, at) => {
    const prefix = isList ? `items[${at}]` : ''
    const line = isList ? (lineOf(prefix) ?? first) : first
    return readObject(item, {
      manifest: isExact ? item : part,
      line,
      lineOf: (field) => lineOf(prefix === '' ? field : `${prefix}.${field}`),
    })
  })
  return {
    documents: readings.flatMap(({ documents }) => documents),
    problems: readings.flatMap(({ problems }) => problems),
  }
}

function readObject(
  value: unknown,
  place: Pick<ManifestDocument, 'manifest' | 'line' | 'lineOf'>,
): Reading {
  const apiVersion = textAt(value, 'apiVersion')
  const kind = textAt(value, 'kind')
  const given = textAt(value, 'metadata', 'name')
  const name = given ?? textAt(value, 'metadata', 'generateName')
  if (apiVersion === undefined || kind === undefined || name === undefined) {
    const missing = [
      ...(apiVersion === undefined ? ['apiVersion'] : []),
      ...(kind === undefined ? ['kind'] : []),
      ...(name === undefined ? ['metadata.name'] : []),
    ]
    return { documents: [], problems: [{ message: say.lacks(missing), line: place.line }] }
  }
  const one: ManifestDocument = {
    ...place,
    number: 0,
    value: value as Members,
    apiVersion,
    kind,
    name,
    isNamed: given !== undefined,
    namespace: textAt(value, 'metadata', 'namespace'),
  }
  return { documents: [one], problems: [] }
}

/** Whether a document makes the namespace of a name. */
export function makesNamespace({ kind, name }: ManifestDocument, namespace: string): boolean {
  return kind === 'Namespace' && name === namespace
}

/** The document among these that defines the kind of a document. */
export function definitionOf(
  { apiVersion, kind }: Pick<ManifestDocument, 'apiVersion' | 'kind'>,
  documents: readonly ManifestDocument[],
): ManifestDocument | undefined {
  return documents.find(
    ({ kind: of, value }) =>
      of === 'CustomResourceDefinition' &&
      textAt(value, 'spec', 'names', 'kind') === kind &&
      textAt(value, 'spec', 'group') === apiVersion.split('/')[0],
  )
}
