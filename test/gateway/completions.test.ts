import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { company } from '../support/company.ts'
import type { Fields } from './test-cluster.ts'

let cluster: Simulator
let gateway: ServedGateway
let objects: readonly Labelled[]

/** In the order of results. */
const paths: Readonly<Record<string, string>> = {
  Deployment: '/apis/apps/v1/deployments',
  Service: '/api/v1/services',
  ConfigMap: '/api/v1/configmaps',
  Node: '/api/v1/nodes',
  ReplicaSet: '/apis/apps/v1/replicasets',
  Pod: '/api/v1/pods',
}
const types = Object.keys(paths)

interface Labelled {
  readonly type: string
  readonly namespace: string | undefined
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

const listed = async (): Promise<readonly Labelled[]> => {
  const lists = await Promise.all(
    Object.entries(paths).map(async ([type, path]) => {
      const { items }: Fields = await (await fetch(`${cluster.url}${path}`)).json()
      return items.map(({ metadata: { namespace, name, labels = {} } }: Fields) => {
        return { type, namespace, name, labels }
      })
    }),
  )
  return lists.flat()
}

beforeAll(async () => {
  cluster = await startSimulator({
    bookmarkIntervalMs: 0,
    populate: company({ pods: 250, seed: 'completions' }),
  })
  gateway = await serveGateway({ clusters: [{ name: 'test', server: cluster.url }] })
  const path = `${cluster.url}/api/v1/namespaces/default/configmaps`
  await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      metadata: { name: 'mixed', labels: { 'example.com/Tier': 'Front', empty: '' } },
    }),
  })
  objects = await listed()
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const query = `query ($text: String!, $terms: [CompletionTerm!], $types: [String!], $namespaces: [String!], $first: Int) {
  complete(text: $text, terms: $terms, types: $types, namespaces: $namespaces, first: $first) {
    completions { term text insert type count } from hasMore types complete notLookedAt staleSince } }`

const complete = async (variables: object, from: ServedGateway = gateway): Promise<Fields> =>
  (await from.data(query, { types, first: 100, ...variables })).complete

const texts = ({ completions }: Fields): readonly string[] =>
  completions.map(({ text }: Fields) => text)

const inserts = ({ completions }: Fields): readonly string[] =>
  completions.map(({ insert }: Fields) => insert)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const sorted = (all: Iterable<string>): readonly string[] => [...new Set(all)].toSorted(compare)

const startsWith = (text: string, start: string): boolean =>
  text.toLowerCase().startsWith(start.toLowerCase())

const labelsOf = (all: readonly Labelled[]): readonly (readonly [key: string, value: string])[] =>
  all.flatMap(({ labels }) => Object.entries(labels))

/** How many objects have a label. */
const having = (key: string, value?: string): number =>
  objects.filter(({ labels }) =>
    value === undefined ? labels[key] !== undefined : labels[key] === value,
  ).length

describe('complete', () => {
  it.each(['c', 'ca', 'CART', 'kube', 'no-such-name'])(
    'finds the names that begin with a word, workloads before their parts: %s',
    async (word) => {
      const found = await complete({ text: word, terms: ['NAME'] })
      const expected = new Map<string, string>()
      for (const type of types) {
        const ofType = objects.filter((one) => one.type === type && startsWith(one.name, word))
        for (const name of sorted(ofType.map(({ name: own }) => own))) {
          if (!expected.has(name)) expected.set(name, type)
        }
      }
      expect(
        found.completions.map(({ text, insert, type, term }: Fields) => [text, insert, type, term]),
      ).toEqual([...expected].slice(0, 100).map(([name, type]) => [name, name, type, 'NAME']))
      expect(found.hasMore).toBe(expected.size > 100)
      for (const { text, count } of found.completions) {
        expect(count).toBe(objects.filter(({ name }) => name === text).length)
      }
    },
  )

  it('finds namespaces, and keeps how the word is written', async () => {
    const namespaces = sorted(objects.flatMap(({ namespace }) => namespace ?? []))
    const [first = ''] = namespaces
    const start = first.slice(0, 2)
    const fitting = namespaces.filter((one) => startsWith(one, start))
    const found = await complete({ text: start, terms: ['NAMESPACE'] })
    expect(inserts(found)).toEqual(fitting.map((one) => `namespace:${one}`))
    for (const { text, count } of found.completions) {
      expect(count).toBe(objects.filter(({ namespace }) => namespace === text).length)
    }
    for (const head of ['ns:', 'namespace:', 'ns:shop,']) {
      const behind = await complete({ text: `cart ${head}${start}` })
      expect(inserts(behind)).toEqual(fitting.map((one) => head + one))
      expect(behind.from).toBe('cart '.length)
      expect(inserts(await complete({ text: head }))).toEqual(namespaces.map((one) => head + one))
    }
  })

  it('finds keys of labels, by their beginning and by that of their name behind the domain', async () => {
    const keys = sorted(labelsOf(objects).map(([key]) => key))
    const all = await complete({ text: '', terms: ['LABEL_KEY'] })
    expect([...texts(all)].toSorted(compare)).toEqual(keys)
    for (const { text, insert, count } of all.completions) {
      expect(insert).toBe(`${text}=`)
      expect(count).toBe(having(text))
    }
    expect(texts(await complete({ text: 'app', terms: ['LABEL_KEY'] }))).toEqual(
      keys.filter((key) => key.startsWith('app')),
    )
    expect(texts(await complete({ text: 'tier', terms: ['LABEL_KEY'] }))).toContain(
      'example.com/Tier',
    )
  })

  it('finds the values of a label behind its key, and of any label without one', async () => {
    const all = labelsOf(objects)
    for (const key of sorted(all.map(([own]) => own))) {
      const values = sorted(all.flatMap(([own, value]) => (own === key ? value : [])))
      const found = await complete({ text: `${key}=` })
      const shown = values.filter((value) => value !== '')
      const folded = shown.toSorted((a, b) => compare(a.toLowerCase(), b.toLowerCase()))
      expect(texts(found)).toEqual(folded.slice(0, 100))
      for (const { text, insert, term, count } of found.completions) {
        expect([insert, term, count]).toEqual([`${key}=${text}`, 'LABEL_VALUE', having(key, text)])
      }
      const [value = ''] = shown
      const start = value.slice(0, 2)
      const narrowed = await complete({ text: `x ${key}!=${start}` })
      expect(inserts(narrowed)).toEqual(
        folded
          .filter((one) => startsWith(one, start))
          .slice(0, 100)
          .map((one) => `${key}!=${one}`),
      )
    }
    const found = await complete({ text: 'fr', terms: ['LABEL_VALUE'] })
    const fitting = all.filter(([, value]) => startsWith(value, 'fr'))
    expect([...inserts(found)].toSorted(compare)).toEqual(
      sorted(fitting.map(([key, value]) => `${key}=${value}`)),
    )
    expect(inserts(found)).toContain('example.com/Tier=Front')
  })

  it('finds kinds by any of their names', async () => {
    const kindsFor = async (text: string) => inserts(await complete({ text, terms: ['KIND'] }))
    expect(await kindsFor('dep')).toEqual(['kind:Deployment'])
    expect(await kindsFor('svc')).toEqual(['kind:Service'])
    expect(await kindsFor('kind:po')).toEqual(['kind:Pod'])
    expect(await kindsFor('kind:svc,po')).toEqual(['kind:svc,Pod'])
    const { completions } = await complete({ text: 'kind:pod' })
    const pods = objects.filter(({ type }) => type === 'Pod').length
    expect(completions).toEqual([
      { term: 'KIND', text: 'Pod', insert: 'kind:Pod', type: 'Pod', count: pods },
    ])
  })

  it('offers every term that fits, and shares their number evenly', async () => {
    const found = await complete({ text: 'c', first: 8 })
    const byTerm = Object.groupBy<string, Fields>(found.completions, ({ term }) => term)
    expect(found.completions).toHaveLength(8)
    expect(found.hasMore).toBe(true)
    for (const term of ['NAME', 'LABEL_VALUE']) {
      expect(byTerm[term]?.length).toBeGreaterThanOrEqual(2)
    }
    const order = ['NAME', 'NAMESPACE', 'LABEL_KEY', 'LABEL_VALUE', 'KIND']
    const places = found.completions.map(({ term }: Fields) => order.indexOf(term))
    expect(places).toEqual(places.toSorted((a: number, b: number) => a - b))
    const empty = await complete({ text: '', first: 100 })
    const terms = new Set(empty.completions.map(({ term }: Fields) => term))
    expect(terms).toEqual(new Set(['NAMESPACE', 'LABEL_KEY', 'KIND']))
    expect((await complete({ text: 'c', first: 0 })).completions).toEqual([])
  })

  it('stays in the kinds and namespaces that the words before and the arguments name', async () => {
    const pods = objects.filter(({ type }) => type === 'Pod')
    const keys = sorted(labelsOf(pods).map(([key]) => key))
    const found = await complete({ text: 'kind:pod ', terms: ['LABEL_KEY'], types: null })
    expect([...texts(found)].toSorted(compare)).toEqual(keys)
    expect(found.types).toEqual(['Pod'])
    const namespace = pods[0]?.namespace ?? ''
    const inside = objects.filter((one) => one.namespace === namespace)
    for (const given of [
      { text: `ns:${namespace} `, terms: ['NAME'] },
      { text: '', terms: ['NAME'], namespaces: [namespace] },
    ]) {
      const names = texts(await complete(given))
      expect(names.length).toBeGreaterThan(0)
      expect(sorted(names)).toEqual(sorted(inside.map(({ name }) => name)).slice(0, 100))
    }
    const elsewhere = { text: `ns:${namespace} `, terms: ['NAME'], namespaces: ['not-there'] }
    expect(texts(await complete(elsewhere))).toEqual([])
  })

  it('follows the objects', async () => {
    const path = `${cluster.url}/api/v1/namespaces/default/configmaps`
    const key = 'appears.example.com/once'
    const found = async () => [
      ...texts(await complete({ text: 'appears', terms: ['NAME', 'LABEL_KEY'] })),
      ...texts(await complete({ text: `${key}=` })),
    ]
    expect(await found()).toEqual([])
    await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'appears-now', labels: { [key]: 'Here' } } }),
    })
    await expect.poll(found).toEqual(['appears-now', key, 'Here'])
    await fetch(`${path}/appears-now`, { method: 'DELETE' })
    await expect.poll(found).toEqual([])
  })

  it('inserts words that find what they say', async () => {
    const text = 'e'
    const { completions } = await complete({ text: `a ${text}`, first: 40 })
    for (const { insert, count, term } of completions) {
      const { search } = await gateway.data(
        'query ($text: String!, $types: [String!]) { search(text: $text, types: $types) { totalCount } }',
        { text: insert, types },
      )
      // A name may be a part of others.
      const isFound = term === 'NAME' ? search.totalCount >= count : search.totalCount === count
      expect([insert, isFound]).toEqual([insert, true])
    }
  })

  it('says what it did not look into, and starts no kinds but the common ones', async () => {
    await using other = await serveGateway({
      clusters: [{ name: 'test', server: cluster.url }],
      commonKinds: [],
    })
    const nothing = await complete({ text: 'a', types: null }, other)
    expect(nothing).toMatchObject({ completions: [], types: [], complete: false })
    expect(nothing.notLookedAt).toContain('Pod')
    const named = await complete({ text: 'kind:pod c', types: null }, other)
    expect(named).toMatchObject({ types: ['Pod'], complete: true, notLookedAt: [] })
    expect(named.completions.length).toBeGreaterThan(0)
  })

  it.each([
    ['text: "kind:nothing a"', 'text'],
    ['text: "a/b/c=d a"', 'text'],
    [`text: "${'x'.repeat(300)}"`, 'text'],
    ['text: "a", types: ["Pods"]', 'types[0]'],
    ['text: "a", first: 101', 'first'],
    ['text: "a", first: -1', 'first'],
    ['text: "a", cluster: "elsewhere"', 'cluster'],
  ])('%s is refused, naming the argument', async (args, argument) => {
    const { errors } = await gateway.query(`{ complete(${args}) { from } }`)
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument })
  })

  it('is paid for term by term', async () => {
    await using poor = await serveGateway({
      clusters: [{ name: 'test', server: cluster.url }],
      limits: { work: { tests: 100 } },
    })
    const { errors } = await poor.query('{ complete(text: "c", types: ["Pod"]) { from } }')
    expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COSTLY' } }])
  })
})
