import { useEffect, useState } from 'react'
import { FindObjectsDocument, type FindObjectsQuery } from '../gateway/documents.ts'
import { type AnswerError, useAnswer } from '../gateway/gateway.ts'
import type { Kind } from '../gateway/kinds.ts'
import { useScope } from '../scope.ts'
import type { Entry } from './entries.ts'
import { fitOf } from './fit.ts'

/** How long the page waits for the next letter before it asks. */
const debounceMs = 60
/** Shorter texts are in nearly every name. */
const leastLength = 2

/** The objects that a text finds. */
export interface FoundObjects {
  readonly entries: readonly Entry[]
  /** How many more there are. */
  readonly more: number
  /** The types that may have more and were not looked into. */
  readonly notLookedAt: readonly string[]
  readonly errors: readonly AnswerError[]
  /** Whether the answer to this text is still on its way. */
  readonly isPending: boolean
}

/** A text as it was a moment ago: it follows when no letter came for that long. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => {
      setSettled(text)
    }, debounceMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** `pod web` looks for `web` in pods: the first word may be a kind, as kubectl takes it. */
function question(text: string, kinds: readonly Kind[]): { text: string; types: string[] | null } {
  const [word = '', ...rest] = text.split(/\s+/)
  const wanted = word.toLowerCase()
  const named = kinds.filter(({ kind, resource }) =>
    [kind.toLowerCase(), resource].includes(wanted),
  )
  const others = rest.join(' ')
  return named.length === 0 || others.length === 0
    ? { text, types: null }
    : { text: others, types: named.map(({ type }) => type) }
}

/** Kinds that people look for before others, and the number that are shown. */
const firstKinds = [
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'CronJob',
  'Pod',
  'Service',
  'Ingress',
]
const most = 12

type Found = NonNullable<FindObjectsQuery['search']>['nodes'][number]

/** The best first: names before labels, the whole name before its beginning, then what people run, and what is broken. */
function byWorth(text: string): (a: Found, b: Found) => number {
  const ranks = ({ object: { kind, name, object }, matched }: Found): readonly number[] => {
    const place = firstKinds.indexOf(kind)
    return [
      matched === 'name' ? (fitOf(text, name) ?? 4) : 5,
      place < 0 ? firstKinds.length : place,
      object?.health.status === 'DEGRADED' ? 0 : 1,
    ]
  }
  return (a, b) => {
    const of = ranks(b)
    return ranks(a).reduce((order, rank, index) => order || rank - (of[index] ?? 0), 0)
  }
}

/** The objects of the scope whose name, label or searchable index has the text. Those of the text before stay until the answer is there. */
export function useFoundObjects(typed: string, kinds: readonly Kind[]): FoundObjects {
  const { cluster, namespaces } = useScope().scope
  const settled = useSettled(typed)
  const { text, types } = question(settled, kinds)
  const isAsked = text.length >= leastLength
  const { data, errors, isPending, isPrevious } = useAnswer(
    FindObjectsDocument,
    { text, types, cluster: cluster ?? null, namespaces: namespaces?.slice() ?? null },
    { enabled: isAsked },
  )
  const isLate = isAsked && (isPending || isPrevious || settled !== typed)
  const search = isAsked && typed !== '' ? data?.search : undefined
  const nodes = search?.nodes ?? []
  const shown = nodes
    // Until the answer is there, only those of the one before that still fit.
    .filter(
      ({ value }) =>
        !isLate || value.toLowerCase().includes(question(typed, kinds).text.toLowerCase()),
    )
    .toSorted(byWorth(text))
    .slice(0, most)
  return {
    entries: shown.map(({ object: { id, kind, namespace, name, object }, matched, value }) => ({
      key: `object ${id}`,
      icon: 'object' as const,
      title: name,
      detail: namespace ?? undefined,
      tag: kind,
      because: matched === 'name' ? undefined : `${matched}: ${value}`,
      status: object?.health.status,
      href: `/objects/${encodeURIComponent(id)}`,
    })),
    more: isLate ? 0 : Math.max(0, (search?.totalCount ?? 0) - shown.length),
    notLookedAt: search?.notLookedAt ?? [],
    errors: isAsked ? errors : [],
    isPending: isLate,
  }
}
