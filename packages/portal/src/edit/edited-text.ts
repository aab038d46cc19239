import { type Document, isNode, LineCounter, parseAllDocuments, type Tags } from 'yaml'
import { type Difference, editableOf, overlap, differences } from './editable.ts'
import { yamlOf } from '../object/yaml-text.ts'
import { valueAt } from '../object/json.ts'

type Members = Readonly<Record<string, unknown>>

/** A problem, and the line that it is about, from 1; `undefined`: none of the text. */
export interface Problem {
  readonly message: string
  readonly line: number | undefined
}

/** What a text says, or why it says nothing that can be applied. */
export type Parsed =
  | { readonly value: Members; readonly lineOf: (field: string) => number | undefined }
  | { readonly problem: Problem }

/** Reads a text as kubectl does: YAML 1.1, so that `0644` is octal, but neither dates nor sexagesimal numbers. */
const options = {
  version: '1.1',
  customTags: (tags: Tags) =>
    tags.filter(
      (tag) =>
        typeof tag === 'string' ||
        (tag.tag !== 'tag:yaml.org,2002:timestamp' && !('format' in tag && tag.format === 'TIME')),
    ),
} as const

/** Aliases may multiply a text. */
const maxAliasCount = 100

export function parsed(text: string, several: string, empty: string): Parsed {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { ...options, lineCounter: lines })
  const [document, second] = Array.isArray(documents) ? (documents as Document[]) : []
  const at = (offset: number): number => lines.linePos(offset).line
  if (document === undefined) return { problem: { message: empty, line: undefined } }
  const [error] = document.errors
  if (error !== undefined) {
    const [message = ''] = error.message.split(' at line ')
    return { problem: { message, line: at(error.pos[0]) } }
  }
  if (second !== undefined) {
    return { problem: { message: several, line: at(second.range?.[0] ?? 0) } }
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount })
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { problem: { message: empty, line: 1 } }
    }
    return { value: value as Members, lineOf: (field) => lineOf(document, field, at) }
  } catch (cause) {
    return { problem: { message: (cause as Error).message, line: undefined } }
  }
}

/** The line of a field as API servers name it: `spec.containers[0].image`; that of the nearest one around it, if it is not there. */
function lineOf(
  document: Document,
  field: string,
  at: (offset: number) => number,
): number | undefined {
  let line: number | undefined
  const steps: (string | number)[] = []
  for (const [, name, index] of field.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    steps.push(index === undefined ? (name ?? '') : Number(index))
    const node = document.getIn(steps, true)
    if (!isNode(node) || node.range == null) break
    line = at(node.range[0])
  }
  return line
}

/** What has become of an object while its text was edited. */
export interface Meanwhile {
  /** What others have changed. */
  readonly theirs: readonly Difference[]
  /** Of these, what the text changes as well. */
  readonly both: readonly Difference[]
}

export function meanwhile(base: unknown, live: unknown, edited: unknown): Meanwhile {
  const theirs = differences(base, live)
  if (theirs.length === 0 || edited === undefined) return { theirs, both: [] }
  const mine = differences(base, edited)
  const both = theirs.filter(({ place }) => mine.some((one) => overlap(one.place, place)))
  return { theirs, both }
}

/** The text of an edit on top of what others have changed: `edited` wins where both have changed the same. */
export function rebased(base: unknown, live: unknown, edited: unknown): string {
  return yamlOf(merged(base, live, edited))
}

function merged(base: unknown, live: unknown, edited: unknown): unknown {
  if (isMembers(live) && isMembers(edited)) {
    const names = new Set([...Object.keys(edited), ...Object.keys(live)])
    const all: Record<string, unknown> = {}
    for (const name of names) {
      const was = valueAt(base, name)
      const isMine = differences(was, edited[name]).length > 0
      const isTheirs = differences(was, live[name]).length > 0
      const value =
        isMine && isTheirs ? merged(was, live[name], edited[name]) : (isMine ? edited : live)[name]
      if (value !== undefined) all[name] = value
    }
    return all
  }
  const lists = [base, live, edited]
  if (lists.every((list) => Array.isArray(list) && list.length === (live as unknown[]).length)) {
    const [was, now, mine] = lists as readonly unknown[][]
    return (mine ?? []).map((item, at) => merged(was?.[at], now?.[at], item))
  }
  return differences(base, edited).length > 0 ? edited : live
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The text of an object's editable part. */
export function editedText(json: unknown): string {
  return yamlOf(editableOf(json))
}
