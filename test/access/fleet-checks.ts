import { expect } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import type { GraphQLAnswer } from '../support/gateway.ts'
import { askedKinds } from './access-truth.ts'

const types = JSON.stringify(askedKinds.map(({ type }) => type))
const object = '{ id kind namespace name }'
const looked = 'notLookedAt incomplete { cluster type code }'

const texts = ['first', 'app=shop', 'ns:red fir', 'kind:pod,svc app=']
const beginnings = ['', 's', 'ns:red ', 'kind:pod fi', 'app']

/** Fields of several kinds, whose answers over clusters are those of the clusters, added up. */
const fields = (place: string): string =>
  [
    `problems: problems(${place}, first: 100) {
      totalCount lookedAt ${looked} counts { severity type kind count }
      nodes {
        id cluster kind type severity reason message since count object ${object}
        objects(first: 100) ${object} lastEvent { reason message count lastSeen }
      } }`,
    ...[types, '["*"]'].map(
      (kinds, at) => `objects${at}: kubernetesObjects(kinds: ${kinds}, ${place}, first: 500) {
        totalCount types ${looked} counts { type count } nodes { id } }`,
    ),
    ...texts.flatMap((text, at) =>
      [types, 'null'].map(
        (named, form) => `search${at}${form}: search(
          text: "${text}", types: ${named}, ${place}, first: 500
        ) {
          totalCount types ${looked} counts { type count }
          nodes { object ${object} matched value } }`,
      ),
    ),
    ...beginnings.map(
      (text, at) => `complete${at}: complete(
          text: "${text}", types: ${types}, ${place}, first: 100,
          terms: [NAME, NAMESPACE, LABEL_KEY, LABEL_VALUE, KIND]
        ) { types ${looked} completions { term text insert count } }`,
    ),
  ].join('\n')

interface FleetChecked {
  readonly clusters: readonly string[]
  readonly ask: (query: string) => Promise<GraphQLAnswer>
}

/** Each field over all clusters has exactly what it has of each cluster alone. */
export const checkFleet = async ({ clusters, ask }: FleetChecked): Promise<void> => {
  const alone: Fields[] = []
  for (const name of clusters) alone.push((await ask(`{ ${fields(`cluster: "${name}"`)} }`)).data)
  const { data, errors } = await ask(`{ ${fields('clusters: ["*"]')} }`)
  expect(data, JSON.stringify(errors)).toBeDefined()
  for (const [field, found] of Object.entries<Fields>(data)) {
    const parts = alone.map((one) => one[field])
    const all = (member: string): Fields[] => parts.flatMap((part) => part[member] as Fields[])
    for (const list of ['nodes', 'incomplete']) {
      if (found[list] === undefined) continue
      expect(sorted(found[list]), `${list} of ${field}`).toEqual(sorted(all(list)))
    }
    for (const list of ['types', 'lookedAt', 'notLookedAt']) {
      if (found[list] === undefined) continue
      expect(found[list], `${list} of ${field}`).toEqual([...new Set(sorted(all(list)))])
    }
    for (const list of ['counts', 'completions']) {
      if (found[list] === undefined) continue
      expect(added(found[list]), `${list} of ${field}`).toEqual(added(all(list)))
    }
    if (found['totalCount'] !== undefined) {
      const sum = parts.reduce((total, part) => total + Number(part['totalCount']), 0)
      expect(found['totalCount'], field).toBe(sum)
    }
  }
}

const sorted = (all: readonly unknown[]): readonly unknown[] =>
  all.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

/** Counts by what they count. */
const added = (all: readonly Fields[]): Readonly<Record<string, number>> => {
  const counts = new Map<string, number>()
  for (const { count, ...counted } of all) {
    const key = JSON.stringify(counted)
    counts.set(key, (counts.get(key) ?? 0) + Number(count))
  }
  return Object.fromEntries(counts)
}
