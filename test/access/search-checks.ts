import { expect } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { type AskedKind, askedKinds, keyOf } from './access-truth.ts'
import type { Checked } from './route-checks.ts'

interface Listed {
  readonly kind: AskedKind
  readonly metadata: Fields
}

const types = askedKinds.map(({ type }) => type)

/** All objects that may be listed. */
const listed = ({ objects, shown }: Checked): readonly Listed[] =>
  askedKinds.flatMap((kind) => {
    const keys = shown.get(kind)?.listed
    const visible = (objects.get(kind) ?? []).filter((one) => keys?.has(keyOf(one)) === true)
    return visible.map(({ metadata }) => ({ kind, metadata }))
  })

/** Words of a search, and the objects that have them. */
const words: Readonly<Record<string, (one: Listed) => boolean>> = {
  'app=shop': ({ metadata }) => metadata.labels?.app === 'shop',
  'app=': ({ metadata }) => metadata.labels?.app !== undefined,
  'ns:red,blue': ({ metadata }) => ['red', 'blue'].includes(metadata.namespace),
  'kind:pod,svc app=shop': ({ kind, metadata }) =>
    ['Pod', 'Service'].includes(kind.type) && metadata.labels?.app === 'shop',
  'first namespace:red': ({ metadata }) =>
    metadata.name.includes('first') && metadata.namespace === 'red',
  'fir st': ({ metadata }) => metadata.name.includes('fir') && metadata.name.includes('st'),
}

/** What is found by several words: exactly what may be listed. */
export const checkSearchWords = async (checked: Checked): Promise<void> => {
  const all = listed(checked)
  for (const [text, isMeant] of Object.entries(words)) {
    const { data, errors } = await checked.ask(
      `query ($text: String!, $types: [String!]) { search(text: $text, types: $types, ${checked.place ?? ''}first: 500) {
        totalCount counts { type count } nodes { object { kind namespace name } } } }`,
      { text, types },
    )
    expect(data?.search, JSON.stringify(errors)).toBeDefined()
    const { nodes, totalCount, counts } = data.search
    const found: readonly string[] = nodes.map(
      ({ object: { kind, namespace, name } }: Fields) => `${kind} ${namespace ?? ''}/${name}`,
    )
    const expected = all
      .filter(isMeant)
      .map(({ kind, metadata: { namespace = '', name } }) => `${kind.type} ${namespace}/${name}`)
    expect(found.toSorted(), `search of ${text}`).toEqual(expected.toSorted())
    expect(totalCount).toBe(expected.length)
    const counted = counts.reduce((sum: number, { count }: Fields) => sum + count, 0)
    expect(counted).toBe(expected.length)
  }
}

/** The terms of an object, as they complete a word, and the beginnings that find them. */
const termsOf = ({
  metadata: { name, namespace, labels = {} },
}: Listed): readonly (readonly [term: string, ...starts: readonly string[]])[] => [
  [`NAME ${name}`, name],
  ...(namespace === undefined ? [] : [[`NAMESPACE namespace:${namespace}`, namespace] as const]),
  ...Object.entries<string>(labels).flatMap(([key, value]) => [
    [`LABEL_KEY ${key}=`, key, key.slice(key.indexOf('/') + 1)] as const,
    ...(value === '' ? [] : [[`LABEL_VALUE ${key}=${value}`, value] as const]),
  ]),
]

/** What completes a word: exactly the terms of what may be listed, and how many have them. */
export const checkCompletions = async (checked: Checked): Promise<void> => {
  const all = listed(checked)
  for (const [before, isMeant] of [
    ['', () => true],
    ['ns:red ', ({ metadata }: Listed) => metadata.namespace === 'red'],
    ['kind:pod ', ({ kind }: Listed) => kind.type === 'Pod'],
  ] as const) {
    for (const start of ['', 's', 'first', 're', 'app', 'of-']) {
      const { data, errors } = await checked.ask(
        `query ($text: String!, $types: [String!]) { complete(text: $text, types: $types, ${checked.place ?? ''}first: 100,
          terms: [NAME, NAMESPACE, LABEL_KEY, LABEL_VALUE, KIND]) { hasMore completions { term insert type count } } }`,
        { text: before + start, types },
      )
      expect(data?.complete, JSON.stringify(errors)).toBeDefined()
      const meant = all.filter(isMeant)
      const expected = new Map<string, number>()
      for (const one of meant) {
        for (const [term, ...starts] of termsOf(one)) {
          if (!starts.some((text) => text.toLowerCase().startsWith(start))) continue
          expected.set(term, (expected.get(term) ?? 0) + 1)
        }
      }
      const told = new Map<string, number>()
      for (const { term, insert, type, count } of data.complete.completions) {
        const ofType = meant.filter(({ kind }) => kind.type === type).length
        expect(ofType, `${term} ${insert}`).toBeGreaterThan(0)
        told.set(`${term} ${insert}`, count)
        // A kind has more names than these objects know.
        if (term === 'KIND') expected.set(`${term} ${insert}`, ofType)
      }
      expect(data.complete.hasMore).toBe(false)
      const about = `completions of ${JSON.stringify(before + start)}`
      expect(Object.fromEntries(told), about).toEqual(Object.fromEntries(expected))
    }
  }
}
