import { describe, expect, it, vi } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import {
  type AccessCluster,
  administrator,
  populate,
  startSimulated,
  users,
} from './access-cluster.ts'
import { hasHeard } from './followed-rbac.ts'
import { RandomRbac } from './random-rbac.ts'

/** Seeds from `SEED` on; each has some worlds of rights over the same past. */
const seeds = Number(process.env['PAST_SEEDS'] ?? 1)
const worldsEach = 2

const wait = { timeout: 60_000, interval: 20 }
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

interface PastKind {
  readonly type: string
  readonly group: string
  readonly resource: string
  readonly path: string
  readonly namespaced: boolean
}

const kindOf = (type: string, resource: string, group = '', namespaced = true): PastKind => ({
  type,
  group,
  resource,
  path: group === '' ? '/api/v1' : `/apis/${group}/v1`,
  namespaced,
})
const kinds: readonly PastKind[] = [
  kindOf('ConfigMap', 'configmaps'),
  kindOf('Pod', 'pods'),
  kindOf('Service', 'services'),
  kindOf('ReplicaSet', 'replicasets', 'apps'),
  kindOf('Widget', 'widgets', 'example.com'),
  kindOf('Node', 'nodes', '', false),
  kindOf('Namespace', 'namespaces', '', false),
]
const byType = new Map(kinds.map((kind) => [kind.type, kind]))

const definition: Fields = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
}

/** Changes as the answers have them. */
const selection = `nodes { id time type manager repeats resourceVersion object { id type: kind namespace name }
  fields(first: 200) { path } } pageInfo { hasNextPage endCursor } incomplete { code type }`

const nameOf = ({ type, namespace, name }: Fields): string => `${type} ${namespace ?? ''}/${name}`

/** What has happened to whom, by the requests that made it happen. */
class RandomPast {
  readonly done: { readonly type: string; readonly object: string }[] = []
  readonly #cluster: AccessCluster
  readonly #random: () => number
  readonly #present = new Map<
    string,
    { readonly kind: PastKind; readonly namespace: string; readonly name: string }
  >()
  #count = 0

  constructor(cluster: AccessCluster, random: () => number) {
    this.#cluster = cluster
    this.#random = random
  }

  async step(): Promise<void> {
    const roll = this.#random()
    const present = [...this.#present.entries()]
    if (present.length < 4 || roll < 0.4) await this.#make()
    else {
      const [at, { kind, namespace, name }] = this.#one(present)
      const path = `${this.#pathOf(kind, namespace)}/${name}`
      if (roll < 0.75) {
        const labels = { [this.#one(['a', 'b', 'c'])]: String((this.#count += 1)) }
        await this.#cluster.must(path, { method: 'PATCH', body: { metadata: { labels } } })
        this.#did('MODIFIED', kind, namespace, name)
      } else {
        await this.#cluster.must(`${path}?gracePeriodSeconds=0`, { method: 'DELETE' })
        this.#present.delete(at)
        this.#did('REMOVED', kind, namespace, name)
      }
    }
  }

  /** One more change of each kind, with which all before it are seen. */
  async mark(name: string): Promise<void> {
    for (const kind of kinds) await this.#create(kind, 'red', name)
  }

  /** The definition of Widget goes, with its objects. */
  async removeDefinition(): Promise<void> {
    await this.#cluster.must(`${definitions}/widgets.example.com`, { method: 'DELETE' })
  }

  async #make(): Promise<void> {
    const kind = this.#one(kinds)
    const namespace = this.#one(['red', 'green', 'blue'])
    const name = this.#one(['first', 'second', 'shop', 'big', 'third'])
    if (this.#present.has(`${kind.type} ${kind.namespaced ? namespace : ''}/${name}`)) return
    await this.#create(kind, namespace, name)
  }

  async #create(kind: PastKind, namespace: string, name: string): Promise<void> {
    const containers = [{ name: 'main', image: 'shop:1' }]
    const labels = { app: name }
    const specs: Fields = {
      Pod: { nodeName: 'big', containers },
      Service: { ports: [{ port: 80 }] },
      ReplicaSet: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
      Widget: { size: 1 },
    }
    const body = {
      apiVersion: kind.group === '' ? 'v1' : `${kind.group}/v1`,
      kind: kind.type,
      metadata: { name },
      spec: specs[kind.type],
    }
    const { status } = await this.#cluster.ask(this.#pathOf(kind, namespace), {
      method: 'POST',
      body,
    })
    // It is one of those that were there before.
    if (status === 409) return
    const place = kind.namespaced ? namespace : ''
    this.#present.set(`${kind.type} ${place}/${name}`, { kind, namespace, name })
    this.#did('ADDED', kind, namespace, name)
  }

  #did(type: string, { type: of, namespaced }: PastKind, namespace: string, name: string): void {
    this.done.push({
      type,
      object: nameOf({ type: of, namespace: namespaced ? namespace : '', name }),
    })
  }

  #pathOf({ path, resource, namespaced }: PastKind, namespace: string): string {
    return namespaced ? `${path}/namespaces/${namespace}/${resource}` : `${path}/${resource}`
  }

  #one<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)] as T
  }
}

type User = (typeof users)[number]

/** What RBAC says, question by question, asked of the API server itself. */
class Rights {
  readonly #cluster: AccessCluster
  readonly #user: User
  readonly #known = new Map<string, Promise<boolean>>()

  constructor(cluster: AccessCluster, user: User) {
    this.#cluster = cluster
    this.#user = user
  }

  async list({ type, namespace }: Fields): Promise<boolean> {
    const { group, resource } = byType.get(type) as PastKind
    return (
      (await this.#may({ group, resource, verb: 'list' })) ||
      ((namespace ?? '') !== '' && (await this.#may({ group, resource, verb: 'list', namespace })))
    )
  }

  async look(object: Fields): Promise<boolean> {
    const { group, resource } = byType.get(object['type']) as PastKind
    const { name } = object
    const namespace = object['namespace'] ?? ''
    return (
      (await this.list(object)) ||
      this.#may({ group, resource, verb: 'get', name, ...(namespace !== '' && { namespace }) })
    )
  }

  #may(resourceAttributes: Fields): Promise<boolean> {
    const key = JSON.stringify(resourceAttributes)
    const known = this.#known.get(key) ?? this.#review(resourceAttributes)
    this.#known.set(key, known)
    return known
  }

  async #review(resourceAttributes: Fields): Promise<boolean> {
    const { username, groups } = this.#user
    const body = { spec: { user: username, groups, resourceAttributes } }
    const { status } = await this.#cluster.must(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      { method: 'POST', body },
    )
    return status.allowed === true
  }
}

const only = async <T>(
  all: readonly T[],
  may: (one: T) => Promise<boolean>,
): Promise<readonly T[]> => {
  const kept: T[] = []
  for (const one of all) if (await may(one)) kept.push(one)
  return kept
}

describe('The past of random worlds, as each of their users may see it today', () => {
  it.each(Array.from({ length: seeds }, (_, at) => runSeed + at))(
    'shows and counts what they may list, and nothing else, SEED=%i',
    { timeout: 180_000 },
    async (seed) => {
      const random = seededRandom(seed)
      const one = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
      await using cluster = await startSimulated()
      await populate(cluster)
      await cluster.must(definitions, { method: 'POST', body: definition })
      await using served = await serveViewers({
        clusters: [cluster.selection()],
        archive: {
          url: 'memory:',
          kinds: [
            'configMaps',
            'pods',
            'services',
            'replicaSets',
            'exampleComWidgets',
            'nodes',
            'namespaces',
          ],
        },
      })
      const root = async (query: string, variables: Fields = {}): Promise<Fields> => {
        const { data, errors } = await served.query(administrator, query, variables)
        if (errors !== undefined) throw new Error(JSON.stringify(errors))
        return data
      }
      const beginsAt = await begun(root)
      const past = new RandomPast(cluster, random)
      for (let step = 0; step < 30; step += 1) await past.step()
      const middle = new Date().toISOString()
      for (let step = 0; step < 30; step += 1) await past.step()
      await past.mark('the-mark')
      await vi.waitFor(async () => {
        const { changes } = await root(
          '{ changes(where: { name: { eq: "the-mark" } }) { nodes { id } } }',
        )
        expect(changes.nodes).toHaveLength(kinds.length)
      }, wait)
      await past.removeDefinition()
      await vi.waitFor(async () => {
        const { __type: type } = await root('{ __type(name: "ExampleComWidget") { name } }')
        expect(type).toBeNull()
      }, wait)

      const { changes: whole } = await root(`{ changes(first: 500) { ${selection} } }`)
      const all: readonly Fields[] = whole.nodes
      expectDone(all, past.done)
      const objects = [...new Map(all.map(({ object }) => [object.id, object])).values()]
      const rbac = new RandomRbac(cluster, random, {
        groups: ['example.com'],
        resources: ['widgets'],
      })
      for (let world = 1; world <= worldsEach; world += 1) {
        await hasHeard(served, await rbac.replace())
        for (const user of users) {
          const rights = new Rights(cluster, user)
          // A machine that is busy may not review in time.
          const ask = async (query: string, variables: Fields = {}): Promise<Fields> => {
            const answer = (await served.query(user, query, variables)) as Fields
            const isLate = (answer['errors'] ?? []).some(
              ({ extensions }: Fields) => extensions.code === 'CLUSTER_UNREACHABLE',
            )
            return isLate ? ask(query, variables) : answer
          }
          try {
            await checkUser({ ask, root, rights, all, objects, one, times: [beginsAt, middle] })
            await checkSubscription(served, user, rights, all)
          } catch (error) {
            throw new Error(`world ${world} of SEED=${seed}, ${user.username}`, { cause: error })
          }
        }
      }
    },
  )
})

/** Waits until the archive has begun with every kind. Returns a time behind it. */
async function begun(root: (query: string) => Promise<Fields>): Promise<string> {
  await vi.waitFor(async () => {
    const types = JSON.stringify(
      kinds.map(({ type }) => (type === 'Widget' ? 'ExampleComWidget' : type)),
    )
    const { changes } = await root(
      `{ changes(types: ${types}, where: { name: { eq: "nothing" } }) { incomplete { type code to } } }`,
    )
    expect(changes.incomplete).toHaveLength(kinds.length)
    for (const { to } of changes.incomplete) expect(to).not.toBeNull()
  }, wait)
  return new Date().toISOString()
}

/** That the archive tells of each object what has happened to it, in this order. */
function expectDone(all: readonly Fields[], done: RandomPast['done']): void {
  const told = (rows: readonly { readonly type: string; readonly object: string }[]): Fields => {
    const byObject: Record<string, string[]> = {}
    for (const { type, object } of rows) (byObject[object] ??= []).push(type)
    return byObject
  }
  const archived = all
    .toReversed()
    .flatMap(({ type, repeats, object }) =>
      Array.from({ length: repeats }, () => ({ type, object: nameOf(object) })),
    )
  const wanted = told(done)
  const found = told(archived)
  for (const object of Object.keys(wanted)) {
    // Others write the rest, too.
    if (!/^(?:ConfigMap|Service|Widget) /.test(object)) continue
    // With its definition, each Widget goes too.
    const before = found[object]?.slice(0, wanted[object].length)
    const isGone = object.startsWith('Widget') && wanted[object].at(-1) !== 'REMOVED'
    expect({ [object]: isGone ? before : found[object] }).toEqual({ [object]: wanted[object] })
  }
}

interface Checked {
  readonly ask: (query: string, variables?: Fields) => Promise<Fields>
  readonly root: (query: string, variables?: Fields) => Promise<Fields>
  readonly rights: Rights
  /** The changes as the administrator is told them, newest first. */
  readonly all: readonly Fields[]
  readonly objects: readonly Fields[]
  readonly one: <T>(all: readonly T[]) => T
  readonly times: readonly string[]
}

async function checkUser(checked: Checked): Promise<void> {
  await checkFilters(checked)
  await checkPages(checked)
  await checkDifferences(checked)
  await checkObjects(checked)
  await checkProblems(checked)
}

const idsOf = (nodes: readonly Fields[]): readonly string[] => nodes.map(({ id }) => id)

/** No error, and nothing incomplete, but for kinds that are named and may not be listed. */
const expectRefused = ({ errors = [] }: Fields): void => {
  for (const { extensions } of errors) expect(extensions).toMatchObject({ code: 'FORBIDDEN' })
}

async function checkFilters({ ask, rights, all, one, times }: Checked): Promise<void> {
  const listed = await only(all, ({ object }) => rights.list(object))
  const allowed = new Set(listed.map(({ object }) => object.id))
  const folded = new Set(all.filter((row) => row['repeats'] > 1).map(({ object }) => object.id))
  const labels = ['/metadata/labels/a', '/metadata/labels', '/spec']
  const type = one([...kinds].filter((kind) => kind.type !== 'Widget' || all.length > 0))
  const [name, path, namespace] = [
    one(['first', 'shop', 'big']),
    one(labels),
    one(['red', 'blue', 'none']),
  ]
  const change = one(['ADDED', 'MODIFIED', 'REMOVED'])
  const [time = ''] = times.slice(-1)
  const isAt = ({ path: at }: Fields): boolean => at === path || at.startsWith(`${path}/`)
  const filters: readonly (readonly [string, (change: Fields) => boolean])[] = [
    ['', () => true],
    [`types: ["${type.type}"]`, ({ object }) => object.type === type.type],
    [`namespace: "${namespace}"`, ({ object }) => object.namespace === namespace],
    [`namespaces: ["red", "gone"]`, ({ object }) => object.namespace === 'red'],
    [`since: "${time}"`, (row) => row['time'] >= time],
    [`until: "${time}"`, (row) => row['time'] < time],
    [`where: { name: { eq: "${name}" } }`, ({ object }) => object.name === name],
    [`where: { name: { not: { eq: "${name}" } } }`, ({ object }) => object.name !== name],
    [`where: { type: { eq: ${change} } }`, (row) => row['type'] === change],
    [`where: { path: { eq: "${path}" } }`, ({ fields }) => fields.some(isAt)],
    [`where: { manager: { exists: false } }`, ({ manager }) => manager === null],
  ]
  for (const [filter, matches] of filters) {
    const answer = await ask(`{ changes(first: 500, ${filter}) { ${selection} } }`)
    expectRefused(answer)
    const nodes: readonly Fields[] = answer['data'].changes?.nodes ?? []
    for (const { object } of nodes) expect(allowed).toContain(object.id)
    // Of repeated changes, each filter has other ones together: the newest one stands for them.
    const isSingle = ({ object }: Fields): boolean => !folded.has(object.id)
    const found = nodes.filter(isSingle)
    const wanted = listed.filter((row) => isSingle(row) && matches(row))
    expect({ filter, counts: countsOf(found) }).toEqual({ filter, counts: countsOf(wanted) })
    const shown = new Set(idsOf(found))
    const ids = idsOf(wanted).filter((id) => shown.has(id))
    expect({ filter, ids: idsOf(found) }).toEqual({ filter, ids })
  }
}

/** How often there was each type of change of each object. */
function countsOf(rows: readonly Fields[]): Fields {
  const byObject: Record<string, number> = {}
  for (const { object, type, repeats } of rows) {
    byObject[`${type} ${object.id}`] = (byObject[`${type} ${object.id}`] ?? 0) + repeats
  }
  return byObject
}

async function checkPages({ ask, rights, all, one }: Checked): Promise<void> {
  const listed = await only(all, ({ object }) => rights.list(object))
  const first = one([1, 2, 7])
  const found: Fields[] = []
  for (let after: string | null = null; ;) {
    const { data } = await ask(
      `query ($after: String) { changes(first: ${first}, after: $after) { ${selection} } }`,
      { after },
    )
    const { nodes, pageInfo } = data.changes
    found.push(...nodes)
    // A page that says that there is more has as much as it was asked for, whatever others may see between.
    if (pageInfo.hasNextPage) expect(nodes).toHaveLength(first)
    if (!pageInfo.hasNextPage) break
    after = pageInfo.endCursor
  }
  expect(countsOf(found)).toEqual(countsOf(listed))
}

async function checkDifferences({ ask, root, rights, times }: Checked): Promise<void> {
  for (const from of times) {
    const query = `query ($from: DateTime!) { differences(first: 500, from: $from) { ${selection} } }`
    const { differences: whole } = await root(query, { from })
    const answer = await ask(query, { from })
    expectRefused(answer)
    const listed = await only(whole.nodes as readonly Fields[], ({ object }) => rights.list(object))
    expect(idsOf(answer['data'].differences.nodes)).toEqual(idsOf(listed))
  }
}

/** Single objects: by id and by name, present or gone. */
async function checkObjects({
  ask,
  root,
  rights,
  all,
  objects,
  one,
  times: [, at],
}: Checked): Promise<void> {
  const query = `query ($id: ID!, $named: ID!, $at: DateTime, $version: String) {
    changes(ids: [$id], first: 500) { ${selection} }
    around: changes(around: $id, first: 500, depth: 2) { ${selection} }
    named: changes(ids: [$named], first: 500) { ${selection} }
    now: object(id: $id) { id history(first: 500) { ${selection} } }
    atTime: object(id: $id, at: $at) { id json }
    version: object(id: $id, atVersion: $version) { id json }
    byName: object(id: $named, at: $at) { id json } }`
  const some = Array.from({ length: 10 }, () => one(objects))
  for (const object of new Set(some)) {
    const { id, type, namespace, name } = object
    const group = byType.get(type)?.group ?? ''
    const named = `test/${type}${group === '' ? '' : `.${group}`}/${namespace ?? ''}/${name}`
    const own = all.filter((change) => change['object'].id === id)
    const variables = { id, named, at, version: own.at(-1)?.['resourceVersion'] }
    const { data, errors: told = [] } = await ask(query, variables)
    // The present object may be another one by now.
    const errors = told.filter(({ path }: Fields) => path[0] !== 'now')
    const where = { object: nameOf(object) }
    if (await rights.look(object)) {
      const known = await only(all, async (change) => nameOf(change['object']) === nameOf(object))
      expect({ ...where, ids: idsOf(data.changes.nodes) }).toEqual({ ...where, ids: idsOf(own) })
      expect({ ...where, ids: idsOf(data.named.nodes) }).toEqual({ ...where, ids: idsOf(known) })
      if (data.now !== null) expect(idsOf(data.now.history.nodes)).toEqual(idsOf(own))
      if (type !== 'Widget') {
        const whole = await root(
          'query ($id: ID!, $named: ID!, $at: DateTime) { atTime: object(id: $id, at: $at) { id json } byName: object(id: $named, at: $at) { id json } }',
          variables,
        )
        expect({ atTime: data.atTime, byName: data.byName }).toEqual(whole)
        expect(errors).toEqual([])
      }
    } else {
      const nothing = { changes: [], around: [], named: [] }
      const nodes = {
        changes: data.changes.nodes,
        around: data.around.nodes,
        named: data.named.nodes,
      }
      expect({ ...where, ...nodes }).toEqual({ ...where, ...nothing })
      expect(errors).toEqual([])
      const { changes, around, now, atTime, version, byName } = data
      expect({ ...where, now, atTime, version, byName }).toEqual({
        ...where,
        now: null,
        atTime: null,
        version: null,
        byName: null,
      })
      for (const { incomplete, pageInfo } of [changes, around, data.named]) {
        expect({ incomplete, more: pageInfo.hasNextPage }).toEqual({ incomplete: [], more: false })
      }
    }
    for (const change of data.around.nodes as readonly Fields[]) {
      const { object: near } = change
      expect({ ...where, near: nameOf(near), may: await rights.look(near) }).toMatchObject({
        may: true,
      })
    }
  }
}

async function checkProblems({ ask, rights, all }: Checked): Promise<void> {
  const { data } = await ask(
    '{ problems(first: 50) { nodes { changesBefore(first: 50) { id } } } }',
  )
  const listed = new Set(idsOf(await only(all, ({ object }) => rights.list(object))))
  for (const { changesBefore } of data.problems?.nodes ?? []) {
    for (const { id } of changesBefore ?? []) expect(listed).toContain(id)
  }
}

async function checkSubscription(
  served: ViewedGateway,
  user: User,
  rights: Rights,
  all: readonly Fields[],
): Promise<void> {
  const listed = await only(all, ({ object }) => rights.list(object))
  const frames: Fields[] = []
  const client = served.connect(user)
  const leave = client.subscribe(
    { query: `subscription { changes(first: 500, coalesceMs: 0) { reset changes { id } } }` },
    {
      next: ({ data }) => void (data && frames.push(data['changes'] as Fields)),
      error: () => {},
      complete: () => {},
    },
  )
  try {
    await vi.waitFor(() => expect(frames.length).toBeGreaterThan(0), wait)
    expect({ reset: frames[0]?.['reset'], ids: idsOf(frames[0]?.['changes']) }).toEqual({
      reset: true,
      ids: idsOf(listed),
    })
  } finally {
    leave()
    await client.dispose()
  }
}
