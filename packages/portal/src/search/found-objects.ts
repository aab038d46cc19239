import { useEffect, useState } from 'react'
import { FindObjectsDocument } from '../gateway/documents.ts'
import { type AnswerError, useAnswer } from '../gateway/gateway.ts'
import { useCounts } from '../gateway/counts.ts'
import type { Kind } from '../gateway/kinds.ts'
import { objectPath, useScope } from '../scope.ts'
import { gapSentences } from '../look/gaps.ts'
import { words } from '../words.ts'
import type { Entry } from './entries.ts'

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
  /** What is missing of clusters, as sentences. */
  readonly gaps: readonly string[]
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

interface Question {
  readonly text: string
  readonly types: string[] | null
  /** The cluster that the text names. */
  readonly cluster: string | undefined
}

/** `pod web prod-us` looks for `web` in pods of `prod-us`: the first word may be a kind, as kubectl takes it, and the last one a cluster. */
function question(
  typed: string,
  kinds: readonly Kind[],
  clusters: readonly string[],
  only?: readonly string[],
): Question {
  const parts = typed.split(/\s+/)
  const cluster = parts.length < 2 ? undefined : clusters.find((name) => name === parts.at(-1))
  const text = (cluster === undefined ? parts : parts.slice(0, -1)).join(' ')
  const [word = '', ...rest] = text.split(' ')
  const wanted = word.toLowerCase()
  const named = kinds.filter(({ kind, resource, shortNames }) =>
    [kind.toLowerCase(), resource, ...shortNames].includes(wanted),
  )
  const others = rest.join(' ')
  const wide = only === undefined ? null : typesOf(kinds.filter(({ kind }) => only.includes(kind)))
  return named.length === 0 || others.length === 0
    ? { text, types: wide, cluster }
    : { text: others, types: typesOf(named), cluster }
}

const typesOf = (kinds: readonly Kind[]): string[] => kinds.map(({ type }) => type)

/** The number that are shown. */
const most = 12

/** Whether a result of the text before may also be one of this: its name or the value that was found has each plain word. */
function stillFits(text: string, name: string, value: string): boolean {
  const parts = text.toLowerCase().split(/\s+/)
  const found = `${name} ${value}`.toLowerCase()
  return parts.every((word) => /["=:]/.test(word) || found.includes(word))
}

/**
 * The objects of all clusters whose name, label or searchable index has the text, those of the clusters in scope first; in
 * the namespaces in scope. Those of the text before stay until the answer is there. `only`: of kinds of these names.
 */
export function useFoundObjects(
  typed: string,
  kinds: readonly Kind[],
  only?: readonly string[],
): FoundObjects {
  const { namespaces } = useScope().scope
  const { all = [], clusters: inScope } = useCounts()
  const hasSeveral = all.length > 1
  const names = hasSeveral ? all.map(({ name }) => name) : []
  const isNear = (cluster: string | undefined): boolean =>
    inScope.some(({ name }) => name === cluster)
  const settled = useSettled(typed)
  const { text, types, cluster } = question(settled, kinds, names, only)
  const isAsked = text.length >= leastLength
  const { data, errors, isPending, isPrevious } = useAnswer(
    FindObjectsDocument,
    {
      text,
      types,
      clusters: hasSeveral ? [cluster ?? '*'] : null,
      namespaces: namespaces?.slice() ?? null,
    },
    { enabled: isAsked },
  )
  const isLate = isAsked && (isPending || isPrevious || settled !== typed)
  const search = isAsked && typed !== '' ? data?.search : undefined
  const nodes = search?.nodes ?? []
  const shown = nodes
    // Until the answer is there, only those of the one before that still fit.
    .filter(
      ({ object: { name }, value }) =>
        !isLate || stillFits(question(typed, kinds, names).text, name, value),
    )
    .toSorted(
      (one, other) =>
        Number(isNear(other.object.object?.clusterName)) -
        Number(isNear(one.object.object?.clusterName)),
    )
    .slice(0, most)
  return {
    entries: shown.map(
      ({ object: { id, nameId, kind, namespace, name, object }, matched, value }) => ({
        key: `object ${nameId}`,
        icon: 'object' as const,
        title: name,
        detail: detailOf(namespace, hasSeveral ? object?.clusterName : undefined),
        tag: kind,
        because: matched === 'name' ? undefined : `${matched}: ${value}`,
        status: object?.health?.status,
        id,
        href: objectPath(nameId),
      }),
    ),
    more: isLate ? 0 : Math.max(0, (search?.totalCount ?? 0) - shown.length),
    notLookedAt: search?.notLookedAt ?? [],
    // Of several clusters, one that is missing is no error of the others.
    gaps: gapSentences(
      (search?.incomplete ?? []).filter(({ code }) => code !== 'NOT_SERVED'),
      words.search.objects.toLowerCase(),
    ),
    errors: isAsked && search == null ? errors : [],
    isPending: isLate,
  }
}

function detailOf(...parts: readonly (string | null | undefined)[]): string | undefined {
  return parts.filter((part) => part != null).join(' · ') || undefined
}
