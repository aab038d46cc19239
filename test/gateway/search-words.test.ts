import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { company } from '../support/company.ts'
import type { Fields } from './test-cluster.ts'

let cluster: Simulator
let gateway: ServedGateway
let objects: readonly Found[]

/** In the order of equally good results. */
const paths: Readonly<Record<string, string>> = {
  Deployment: '/apis/apps/v1/deployments',
  StatefulSet: '/apis/apps/v1/statefulsets',
  Job: '/apis/batch/v1/jobs',
  Service: '/api/v1/services',
  ConfigMap: '/api/v1/configmaps',
  ReplicaSet: '/apis/apps/v1/replicasets',
  Pod: '/api/v1/pods',
}
const types = Object.keys(paths)

/** An object, and what may be found in it: its name, then labels and searchable values. */
interface Found {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly others: readonly string[]
}

beforeAll(async () => {
  cluster = await startSimulator({
    bookmarkIntervalMs: 0,
    populate: company({ pods: 250, seed: 'words' }),
  })
  gateway = await serveGateway({ clusters: [{ name: 'test', server: cluster.url }] })
  objects = (
    await Promise.all(
      Object.entries(paths).map(async ([kind, path]) => {
        const { items }: Fields = await (await fetch(`${cluster.url}${path}`)).json()
        return items.map(({ metadata, spec, status }: Fields): Found => {
          const { namespace, name, labels = {} } = metadata
          const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
          const others = [
            ...(kind === 'Pod' ? (status.podIPs ?? []).map(({ ip }: Fields) => ip) : []),
            ...(kind === 'Pod' ? containers.map(({ image }: Fields) => image) : []),
            ...(kind === 'Service' ? (spec.clusterIPs ?? []) : []),
          ]
          return { kind, namespace, name, labels, others }
        })
      }),
    )
  ).flat()
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const fields = `nodes { object { kind namespace name } matched value } totalCount types counts { type count }
  pageInfo { hasNextPage endCursor }`

const search = async (variables: object): Promise<Fields> => {
  const { search: found } = await gateway.data(
    `query ($text: String!, $types: [String!], $namespaces: [String!], $first: Int, $after: String) {
      search(text: $text, types: $types, namespaces: $namespaces, first: $first, after: $after) { ${fields} } }`,
    { types, first: 500, ...variables },
  )
  return found
}

const told = ({ nodes }: Fields): readonly string[] =>
  nodes.map(({ object: { kind, namespace, name } }: Fields) => `${kind} ${namespace}/${name}`)

const rankOf = (text: string, { name, labels, others }: Found): number => {
  const quality = (value: string): number => {
    const at = value.toLowerCase().indexOf(text)
    return at < 0 ? 9 : at > 0 ? 2 : value.length === text.length ? 0 : 1
  }
  const best = Math.min(...[...Object.values(labels), ...others].map(quality), 9)
  return quality(name) < 9 ? quality(name) : best + 3
}

/** All of some texts, in the order that is promised: by the worst word, all words, the kind, namespace and name. */
const expected = (
  texts: readonly string[],
  isMeant: (one: Found) => boolean = () => true,
): readonly string[] => {
  const ranked = objects.filter(isMeant).flatMap((one) => {
    const ranks = texts.map((text) => rankOf(text, one))
    const worst = Math.max(0, ...ranks)
    return worst > 5 ? [] : [{ ...one, worst, sum: ranks.reduce((sum, rank) => sum + rank, 0) }]
  })
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
  return ranked
    .toSorted(
      (a, b) =>
        a.worst - b.worst ||
        a.sum - b.sum ||
        types.indexOf(a.kind) - types.indexOf(b.kind) ||
        compare(a.namespace, b.namespace) ||
        compare(a.name, b.name),
    )
    .map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`)
}

/** A label that some objects have and others do not. */
const aLabel = (): readonly [key: string, value: string] => {
  const counts = new Map<string, number>()
  for (const { labels } of objects) {
    for (const [key, value] of Object.entries(labels)) {
      const word = `${key}=${value}`
      counts.set(word, (counts.get(word) ?? 0) + 1)
    }
  }
  const [word = ''] = [...counts].find(([, count]) => count > 5 && count < 100) ?? []
  const [key = '', value = ''] = word.split('=')
  return [key, value]
}

describe('several words of a search', () => {
  it.each([
    ['cart api', ['cart', 'api']],
    ['API  cart', ['api', 'cart']],
    ['api api', ['api']],
    ['e a o', ['e', 'a', 'o']],
    ['"cart-api"', ['cart-api']],
    ['"cart', ['cart']],
    ['web 10.', ['web', '10.']],
    ['api nothing-like-it', ['api', 'nothing-like-it']],
  ] as const)('must all match, the best first: %s', async (text, texts) => {
    const all = expected(texts)
    const found = await search({ text })
    expect(told(found)).toEqual(all.slice(0, 500))
    expect(found.totalCount).toBe(all.length)
  })

  it('name the kind as kubectl does, or as the schema', async () => {
    const ofKinds = async (text: string, given: object = {}) =>
      (await search({ text, ...given })).types
    for (const name of ['pod', 'Pod', 'pods', 'po']) {
      expect(await ofKinds(`kind:${name} api`, { types: null })).toEqual(['Pod'])
    }
    expect(await ofKinds('kind:deployments.apps,svc', { types: null })).toEqual([
      'Deployment',
      'Service',
    ])
    expect(await ofKinds('kind:deploy kind:svc', { types: null })).toEqual([
      'Deployment',
      'Service',
    ])
    expect(await ofKinds('kind:pod,svc', { types: ['Pod'] })).toEqual(['Pod'])
    const found = await search({ text: 'kind:pod,deploy cart' })
    const isMeant = ({ kind }: Found) => kind === 'Pod' || kind === 'Deployment'
    expect(told(found)).toEqual(expected(['cart'], isMeant))
  })

  it('name namespaces, of which one must fit', async () => {
    const [first = '', second = ''] = new Set(objects.map(({ namespace }) => namespace))
    for (const word of [`namespace:${first}`, `ns:${first}`]) {
      const found = await search({ text: `${word} a` })
      expect(told(found)).toEqual(expected(['a'], ({ namespace }) => namespace === first))
    }
    const both = await search({ text: `ns:${first},${second} a` })
    const isIn = ({ namespace }: Found) => namespace === first || namespace === second
    expect(told(both)).toEqual(expected(['a'], isIn).slice(0, 500))
    const none = await search({ text: `ns:${first} a`, namespaces: [second] })
    expect(none.totalCount).toBe(0)
  })

  it('name labels, as kubectl does', async () => {
    const [key, value] = aLabel()
    const has = ({ labels }: Found) => labels[key] === value
    expect(told(await search({ text: `${key}=${value}` }))).toEqual(expected([], has))
    expect(told(await search({ text: `a ${key}=${value}` }))).toEqual(expected(['a'], has))
    expect(told(await search({ text: `${key}=` }))).toEqual(
      expected([], ({ labels }) => labels[key] !== undefined).slice(0, 500),
    )
    expect(told(await search({ text: `${key}!=${value} api` }))).toEqual(
      expected(['api'], (one) => !has(one)).slice(0, 500),
    )
    expect((await search({ text: `${key}=""` })).totalCount).toBe(0)
  })

  it('say by which value the word that is hardest to see was found, and else by which label, namespace or kind', async () => {
    const firstOf = async (text: string): Promise<Fields> =>
      (await search({ text, first: 1 })).nodes[0]
    const [key, value] = aLabel()
    const [pod] = objects.filter(({ kind, others }) => kind === 'Pod' && others.length > 1)
    const [ip = ''] = pod?.others ?? []
    expect(await firstOf(`kind:pod ${pod?.name} ${ip}`)).toMatchObject({
      matched: 'podIP',
      value: ip,
    })
    expect(await firstOf(`${key}=${value}`)).toMatchObject({
      matched: `labels[${JSON.stringify(key)}]`,
      value,
    })
    expect(await firstOf('kind:pod')).toMatchObject({ matched: 'kind', value: 'Pod' })
    expect(await firstOf(`ns:${pod?.namespace}`)).toMatchObject({
      matched: 'namespace',
      value: pod?.namespace,
    })
  })

  it.each(['kind:pod', 'kind:pod,deploy a', 'a e', 'cart api'])(
    'are paged by cursors: %s',
    async (text) => {
      const whole = await search({ text })
      const pages: string[] = []
      let after: string | undefined
      let page: Fields
      do {
        page = await search({ text, first: 23, after })
        pages.push(...told(page))
        after = page.pageInfo.endCursor
      } while (page.pageInfo.hasNextPage)
      expect(pages.slice(0, 500)).toEqual(told(whole))
      expect(pages).toHaveLength(whole.totalCount)
    },
  )

  it.each([
    ['kind:pdos', 'there is no kind "pdos"', 'there is kind:Pod'],
    ['kind:', 'does not name a kind', ''],
    ['a kind:,pod', 'does not name a kind', ''],
    ['ns: a', 'does not name a namespace', ''],
    ['""', 'without content', ''],
    ['a/b/c=d', 'is not a label key', 'quote it'],
    ['app=a:b', 'is not a label value', 'quote it'],
    ['1 2 3 4 5 6 7 8 9', 'more than 8 words', ''],
  ])('that mean nothing are refused with the way out: %s', async (text, problem, hint) => {
    const { errors } = await gateway.query(
      'query ($text: String!) { search(text: $text) { totalCount } }',
      {
        text,
      },
    )
    const [error] = errors ?? []
    expect(error?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'text' })
    expect(`${error?.message}`).toContain(problem)
    expect(`${error?.extensions['hint']}`).toContain(hint)
  })

  it('with a cursor of other words are refused', async () => {
    const { pageInfo } = await search({ text: 'a e', first: 1 })
    const { errors } = await gateway.query(
      'query ($after: String, $types: [String!]) { search(text: "a", types: $types, after: $after) { totalCount } }',
      { after: pageInfo.endCursor, types },
    )
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'after' })
  })
})
