/*
 * What can be typed at the cursor. The place is read from the indentation of the lines above: a text that is being written
 * is seldom whole enough for a parser.
 */

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import { indentService } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { createWords as say } from './create-words.ts'
import { type FieldsOf, type KindField, type KindFields, ofServer } from './kind-fields.ts'

/** Where the cursor is in a document. */
export interface CursorPlace {
  readonly apiVersion: string | undefined
  readonly kind: string | undefined
  /** The place of the map around the cursor: `spec.containers[*]`. */
  readonly path: string
  /** The field whose value is typed; absent: the name of a field is. */
  readonly field?: string
  /** The names that the map has already. */
  readonly taken: ReadonlySet<string>
  /** The column where names of the map begin. */
  readonly column: number
}

const keyLine = /^(\s*)((?:-\s+)*)([^\s:#'"[\]{}-][^\s:#]*|"[^"]*"|'[^']*')\s*:(?:\s|$)/

/** The place of the cursor at the end of `line`, the last one of `above`; `below` are the lines after it. */
export function placeOfCursor(
  above: readonly string[],
  below: readonly string[] = [],
): CursorPlace | undefined {
  const last = above.at(-1) ?? ''
  const begin = above.findLastIndex((line) => /^---(?:\s|$)/.test(line)) + 1
  const end = below.findIndex((line) => /^---(?:\s|$)/.test(line))
  const lines = above.slice(begin, -1)
  const rest = end === -1 ? below : below.slice(0, end)
  const typed = /^(\s*)((?:-\s+)*)([\w./-]*)$/.exec(last)
  const valued = keyLine.exec(last)
  const [, indent = '', dashes = ''] = typed ?? valued ?? []
  if (typed === null && valued === null) return undefined
  const column = indent.length + dashes.length
  const taken = new Set<string>()
  const steps: string[] = []
  let limit = column
  /** Above the first item: its list is in a key that may stand in the same column. */
  let isOfItem = dashes !== ''
  let isOwnMap = dashes === ''
  if (isOfItem) {
    steps.unshift('[*]')
    limit = indent.length
  }
  for (const line of lines.toReversed()) {
    if (/^\s*(?:#|$)/.test(line)) continue
    const [, spaces = '', marks = '', name = ''] = keyLine.exec(line) ?? []
    const from = /^\s*/.exec(line)?.[0].length ?? 0
    if (name === '') {
      // A list of values, or a text: nothing of it is around the cursor, unless it is further to the left.
      if (from < limit && !line.trimStart().startsWith('-')) return undefined
      continue
    }
    const key = name.replaceAll(/^["']|["']$/g, '')
    const at = spaces.length + marks.length
    if (isOfItem) {
      if (marks !== '' || at > limit) continue
      steps.unshift(key)
      limit = at
      isOfItem = false
      isOwnMap = false
      continue
    }
    if (at === limit) {
      if (isOwnMap) taken.add(key)
    } else if (at < limit) {
      steps.unshift(key)
      limit = at
      isOwnMap = false
    } else continue
    if (marks !== '') {
      steps.unshift('[*]')
      limit = spaces.length
      isOfItem = true
      isOwnMap = false
    }
  }
  for (const line of rest) {
    if (/^\s*(?:#|$)/.test(line)) continue
    const [, spaces = '', marks = '', name = ''] = keyLine.exec(line) ?? []
    const from = /^\s*/.exec(line)?.[0].length ?? 0
    if (from < column) break
    if (marks === '' && spaces.length === column && name !== '') taken.add(name)
  }
  const all = [...above.slice(begin), ...rest]
  const top = (field: string): string | undefined =>
    all.flatMap((line) => new RegExp(`^${field}:\\s+["']?([\\w./-]+)`).exec(line)?.[1] ?? []).at(0)
  const path = steps.reduce(
    (text, step) => (step === '[*]' || text === '' ? `${text}${step}` : `${text}.${step}`),
    '',
  )
  const found = { apiVersion: top('apiVersion'), kind: top('kind'), path, taken, column }
  const field = valued?.[3]
  return field === undefined ? found : { ...found, field }
}

/** A kind that can be written. */
export interface WritableKind {
  readonly apiVersion: string
  readonly kind: string
}

/** Completes the names and values of fields as one types, by what the gateway knows of the kind. */
export function completions(
  fields: KindFields,
  given: () => Pick<FieldsOf, 'cluster' | 'namespace'> & {
    readonly kinds: readonly WritableKind[]
  },
): Extension {
  const source = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const { state, pos, explicit } = context
    const line = state.doc.lineAt(pos)
    const word = context.matchBefore(/[\w./-]*$/)
    const before = line.text.slice(0, pos - line.from)
    const text = (from: number, to: number): string[] => state.doc.sliceString(from, to).split('\n')
    const place = placeOfCursor(
      [...text(0, line.from).slice(0, -1), before],
      text(Math.min(line.to + 1, state.doc.length), state.doc.length),
    )
    if (
      place === undefined ||
      word === null ||
      (!explicit && word.text === '' && !/:\s$/.test(before))
    )
      return null
    const { kinds, ...where } = given()
    const { apiVersion, kind, path, field, taken, column } = place
    const options =
      path === '' && (field === 'kind' || field === 'apiVersion')
        ? ofKinds(kinds, place)
        : apiVersion === undefined || kind === undefined
          ? ofObject.filter(({ label }) => field === undefined && path === '' && !taken.has(label))
          : optionsAt((await fields.at({ apiVersion, kind, ...where }, [path])).get(path) ?? [], {
              field,
              taken,
              column,
            })
    return options.length === 0 ? null : { from: word.from, options, validFor: /^[\w./-]*$/ }
  }
  return [autocompletion({ override: [source], icons: false }), indents]
}

/** A new line begins where the fields of the one above do, or those within it. */
const indents = indentService.of(({ state }, at) => {
  const line = state.doc.lineAt(Math.max(0, at - 1))
  const [whole, spaces = '', marks = ''] = keyLine.exec(line.text) ?? []
  if (whole === undefined) return undefined
  const isOpen = line.text.trimEnd() === whole.trimEnd()
  return spaces.length + marks.length + (isOpen ? 2 : 0)
})

/** What every object has, before its kind is known. */
const ofObject: readonly Completion[] = [
  { label: 'apiVersion', apply: 'apiVersion: ', detail: 'string' },
  { label: 'kind', apply: 'kind: ', detail: 'string' },
  { label: 'metadata', apply: 'metadata:\n  name: ', detail: 'Object' },
]

function ofKinds(
  kinds: readonly WritableKind[],
  { field, apiVersion, kind }: CursorPlace,
): readonly Completion[] {
  const isKind = field === 'kind'
  const fitting = kinds.filter((one) =>
    isKind
      ? apiVersion === undefined || one.apiVersion === apiVersion
      : kind === undefined || one.kind === kind,
  )
  const names = new Map(
    (fitting.length === 0 ? kinds : fitting).map((one) =>
      isKind ? [one.kind, one.apiVersion] : [one.apiVersion, kind === undefined ? '' : kind],
    ),
  )
  return Array.from(names, ([label, detail]) => ({ label, detail }))
}

function optionsAt(
  described: readonly KindField[],
  {
    field,
    taken,
    column,
  }: Pick<CursorPlace, 'taken' | 'column'> & { readonly field: string | undefined },
): readonly Completion[] {
  if (field !== undefined) {
    const { values, type } = described.find(({ name }) => name === field) ?? {}
    const all = values ?? (type === 'boolean' ? ['true', 'false'] : [])
    return all.map((label) => ({ label }))
  }
  return described
    .filter(({ name, path }) => !taken.has(name) && !ofServer.has(path))
    .map(({ name, type, required, description }): Completion => ({
      label: name,
      apply: name + afterName(type, ' '.repeat(column)),
      detail: required ? `${type}, ${say.required}` : type,
      boost: required ? 1 : 0,
      ...(description === null ? {} : { info: description }),
    }))
}

/** What follows the name of a field, up to where its value is typed. */
function afterName(type: string, indent: string): string {
  if (type.startsWith('[]')) return `:\n${indent}  - `
  return type === 'Object' || type.startsWith('map') ? `:\n${indent}  ` : ': '
}
