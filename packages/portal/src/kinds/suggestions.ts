import { useEffect, useMemo, useState } from 'react'
import type { Kind } from '../gateway/kinds.ts'
import { TableFacetsDocument, TableLabelsDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { words } from '../words.ts'
import {
  type Condition,
  type FilterIndex,
  indexOf,
  quoted,
  tokenOf,
  type Token,
} from './filter-text.ts'
import type { ListArguments } from './use-live-rows.ts'

/** A way to go on with a token. */
export interface Suggestion {
  /** What stands in the field when it is taken. */
  readonly text: string
  readonly label: string
  /** How many objects have the value, or what the index is. */
  readonly detail: string
  /** Whether the token is complete with it. */
  readonly isComplete: boolean
}

/** What suggestions depend on: the list without the token that is typed. */
export type SuggestedList = Pick<
  ListArguments,
  'group' | 'kind' | 'cluster' | 'clusters' | 'namespaces' | 'where'
>

const most = 50
/** The gateway counts so many objects of a term. */
const mostCounted = 1_000
/** The user types: the gateway is asked when they pause. */
const pauseMs = 120

/** Ways to go on with `draft`, counted by the gateway while the user types. */
export function useSuggestions(
  kind: Kind,
  list: SuggestedList,
  draft: string,
  isOpen: boolean,
): readonly Suggestion[] {
  const asked = usePaused(draft)
  const wanted = useMemo(() => wantedOf(tokenOf(asked), kind.indexes), [asked, kind])
  const facets = useAnswer(
    TableFacetsDocument,
    {
      ...list,
      where: both(list.where, wanted?.where) ?? null,
      by: wanted?.facet === undefined ? [] : [wanted.facet],
      top: most,
    },
    { enabled: isOpen && wanted?.facet !== undefined },
  )
  const labels = useAnswer(
    TableLabelsDocument,
    {
      // In quotes, it is text whatever it contains.
      text: JSON.stringify(wanted?.isLabelKey === true ? wanted.typed : ''),
      types: [kind.type],
      cluster: list.cluster ?? null,
      clusters: list.clusters ?? null,
      namespaces: list.namespaces ?? null,
    },
    { enabled: isOpen && wanted?.isLabelKey === true },
  )
  return useMemo(() => {
    if (!isOpen) return []
    const token = tokenOf(draft)
    if (token.name === undefined) return indexSuggestions(token, kind.indexes)
    const now = wantedOf(token, kind.indexes)
    if (now === undefined) return []
    if (now.isLabelKey) {
      return labelSuggestions(token, labels.data?.complete?.completions ?? [])
    }
    const counted = now.facet === wanted?.facet ? facets.data?.objectList?.facets?.[0] : undefined
    return valueSuggestions(token, now, counted?.by === now.facet ? (counted?.values ?? []) : [])
  }, [isOpen, draft, kind, labels.data, facets.data, wanted])
}

function usePaused(text: string): string {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}

/** What the values of a token are asked by. */
interface Wanted {
  /** The facet with the values; absent while the key of a label is typed. */
  readonly facet?: string
  /** The part of the token before the value that is typed: `phase:Running,`. */
  readonly before: string
  /** The beginning of the value. */
  readonly typed: string
  /** Narrows the values to those with what is typed. */
  readonly where?: Condition
  readonly values?: readonly string[]
  readonly isLabelKey: boolean
}

function wantedOf(token: Token, indexes: readonly FilterIndex[]): Wanted | undefined {
  const { name, value, negated } = token
  if (name === undefined) return undefined
  const head = `${negated ? '-' : ''}${name}:`
  if (name === 'label' || name === 'labels') {
    const [, key, sign, rest] = /^([^=!]+)(!?=)(.*)$/su.exec(value) ?? []
    if (key === undefined || rest === undefined) {
      return { before: head, typed: value, isLabelKey: true }
    }
    const [done, typed] = lastPart(rest)
    const before = `${head}${key}${sign}${done}`
    return { facet: `labels[${JSON.stringify(key)}]`, before, typed, isLabelKey: false }
  }
  const index = indexOf(name, indexes)
  if (index === undefined) return undefined
  const [done, typed] = lastPart(value)
  const isTyped = typed !== '' && index.form === 'STRING' && (index.values ?? []).length === 0
  return {
    facet: index.name,
    before: head + done,
    typed,
    isLabelKey: false,
    ...(isTyped ? { where: { [index.name]: { contains: typed.replaceAll(/["*]/gu, '') } } } : {}),
    ...(index.values === undefined || index.values === null ? {} : { values: index.values }),
  }
}

/** The values before the last comma, and the last value. */
function lastPart(value: string): readonly [done: string, typed: string] {
  const comma = value.startsWith('"') ? -1 : value.lastIndexOf(',')
  return [value.slice(0, comma + 1), value.slice(comma + 1)]
}

/** Indexes whose names have the text, those that begin with it first. */
function indexSuggestions(
  { value, negated }: Token,
  indexes: readonly FilterIndex[],
): readonly Suggestion[] {
  const wanted = value.toLowerCase()
  const named = [
    ...indexes.map(({ name, form }) => ({ name, detail: words.filter.forms[form] })),
    { name: 'label', detail: words.filter.label },
    { name: 'age', detail: words.filter.age },
  ]
  const place = (name: string): number => name.toLowerCase().indexOf(wanted)
  return named
    .filter(({ name }) => place(name) >= 0)
    .toSorted((one, other) => place(one.name) - place(other.name))
    .map(({ name, detail }) => ({
      text: `${negated ? '-' : ''}${name}:`,
      label: `${name}:`,
      detail,
      isComplete: false,
    }))
}

function labelSuggestions(
  { value, negated, name }: Token,
  keys: readonly { readonly text: string; readonly count: number }[],
): readonly Suggestion[] {
  return keys
    .filter(({ text }) => text.toLowerCase().includes(value.toLowerCase()))
    .map(({ text, count }) => ({
      text: `${negated ? '-' : ''}${name ?? 'label'}:${text}=`,
      label: `${text}=`,
      detail: count < mostCounted ? count.toLocaleString() : `${mostCounted.toLocaleString()}+`,
      isComplete: false,
    }))
}

function valueSuggestions(
  token: Token,
  { before, typed, values }: Wanted,
  counted: readonly { readonly value: unknown; readonly count: number }[],
): readonly Suggestion[] {
  const plain = typed.replaceAll(/["*]/gu, '').toLowerCase()
  const known = counted.map(({ value, count }) => ({
    value: typeof value === 'string' ? value : JSON.stringify(value),
    detail: count.toLocaleString(),
  }))
  // Values that no object has now may be followed all the same.
  const others = (values ?? [])
    .filter((value) => !known.some((one) => one.value === value))
    .map((value) => ({ value, detail: '0' }))
  return [...known, ...others]
    .filter(({ value }) => value.toLowerCase().includes(plain))
    .map(({ value, detail }) => {
      const shown = token.name === 'health' ? value.toLowerCase() : value
      return { text: before + quoted(shown), label: shown, detail, isComplete: true }
    })
    .slice(0, most)
}

function both(one: unknown, other: Condition | undefined): unknown {
  if (one === undefined || one === null) return other
  return other === undefined ? one : { and: [one, other] }
}
