import { expect } from 'vitest'
import { listed, matchesText, NotFollowedError } from './plain-relations.ts'
import { idOf, type Json, type Plain, type PlainWorld, valuesAt } from './plain-world.ts'

/** An object that a search finds. */
export interface PlainHit {
  readonly row: Plain
  /** Where its words are, each with its value; of labels, namespaces and kinds, the label, `namespace` or `kind`. */
  readonly places: readonly { readonly matched: string; readonly value: string }[]
  /** Better hits come first: that of the word that matches worst. */
  readonly rank: number
}

/** Expects a search, with as many results as it has, to find what has all its words, and the better ones first. */
export function expectSearch(
  world: PlainWorld,
  args: Json,
  { totalCount, nodes, counts }: Json,
): void {
  const about = JSON.stringify(args)
  const hits = plainHits(world, args)
  const byId = new Map(hits.map((hit) => [idOf(world.cluster, hit.row), hit]))
  const types = [...Map.groupBy(hits, ({ row }) => row.kind.type)]
  const expected = types.map(([type, { length: count }]) => ({ type, count }))
  expect(totalCount, about).toBe(hits.length)
  expect(new Set(counts), about).toEqual(new Set(expected))
  expect(new Set(nodes.map((one: Json) => one.object.id)).size, about).toBe(nodes.length)
  let last = 0
  for (const { matched, value, object } of nodes) {
    const { places, rank } = byId.get(object.id) ?? { places: [], rank: -1 }
    expect(places, about).toContainEqual({ matched, value })
    expect(rank, `the order of ${about}`).toBeGreaterThanOrEqual(last)
    last = rank
  }
}

/** The objects that have all words of a text, as docs/graph-and-search.md has them. In no order. */
export function plainHits(world: PlainWorld, args: Json): readonly PlainHit[] {
  const { text, types, namespace, namespaces } = args
  const words: readonly string[] = String(text).split(/\s+/).filter(Boolean)
  if (words.length === 0 || text.includes('"')) throw new NotFollowedError(text)
  const those = (form: RegExp): readonly string[] =>
    words.flatMap((word) => form.exec(word)?.[1]?.split(',') ?? [])
  const kinds = those(/^kind:(.+)$/).flatMap((name) => world.kindsCalled(name))
  const places = those(/^(?:ns|namespace):(.+)$/)
  const labels = words.filter((word) => /^[^:]+=/.test(word))
  const texts = words.filter((word) => !/^(?:kind|ns|namespace):|=/.test(word))
  const looked = kinds.length > 0 ? kinds : world.kinds
  const rows = looked
    .filter(({ type }) => (types ? types.includes(type) : kinds.length > 0 || type !== 'Event'))
    .flatMap(({ type }) => world.of(type))
  return rows.flatMap((row): readonly PlainHit[] => {
    const { metadata } = row.object
    if (namespace && metadata.namespace !== namespace) return []
    if (namespaces && !namespaces.includes(metadata.namespace)) return []
    if (places.length > 0 && !places.includes(metadata.namespace)) return []
    // `team=` has any value.
    if (!labels.every((one) => matchesText(one.replace(/=$/, ''), metadata.labels))) return []
    const found = texts.map((word) =>
      searched(world, row).filter(({ value }) => value.toLowerCase().includes(word.toLowerCase())),
    )
    if (found.some(({ length }) => length === 0)) return []
    const terms = [
      ...Object.entries(metadata.labels ?? {}).map(([key, value]) => labelPlace(key, value)),
      { matched: 'namespace', value: String(metadata.namespace) },
      { matched: 'kind', value: row.kind.kind },
    ]
    const ranks = found.map((all, at) =>
      Math.min(...all.map((one) => rankOf(texts[at] ?? '', one))),
    )
    const rank = Math.max(0, ...ranks)
    return [{ row, places: texts.length === 0 ? terms : found.flat(), rank }]
  })
}

/** What words are looked for in: the name, the values of labels, and searchable indexes. */
function searched(world: PlainWorld, { kind, object }: Plain): PlainHit['places'] {
  const { name, labels = {} } = object.metadata
  const indexes = (world.declared.get(kind.type)?.directives ?? []).filter(
    (one) => one.name === 'index' && one.args.searchable === true,
  )
  return [
    { matched: 'name', value: name },
    ...Object.entries(labels).map(([key, value]) => labelPlace(key, value)),
    ...indexes.flatMap(({ args }) =>
      listed(args.path)
        .flatMap((path) => valuesAt(path, object))
        .map((value) => ({ matched: args.name, value: String(value) })),
    ),
  ]
}

function labelPlace(key: string, value: unknown): PlainHit['places'][number] {
  return { matched: `labels[${JSON.stringify(key)}]`, value: String(value) }
}

/** Names before anything else; in both, whole values before beginnings, and beginnings before other parts. */
function rankOf(word: string, { matched, value }: PlainHit['places'][number]): number {
  const [text, part] = [value.toLowerCase(), word.toLowerCase()]
  const at = text === part ? 0 : text.startsWith(part) ? 1 : 2
  return (matched === 'name' ? 0 : 3) + at
}
