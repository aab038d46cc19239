import { expect } from 'vitest'
import type { GraphQLAnswer, Variables } from '../support/gateway.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type AskedKind, askedKinds, keyOf, type Shown } from './access-truth.ts'

/** One user, in one world, by one way. */
export interface Checked {
  /** The argument that names the cluster, before others. Default: the only one. */
  readonly place?: string
  readonly ask: (query: string, variables?: Variables) => Promise<GraphQLAnswer>
  readonly objects: ReadonlyMap<AskedKind, readonly Fields[]>
  readonly shown: ReadonlyMap<AskedKind, Shown>
  /** `id`s by kind and key, as the administrator knows them. */
  readonly ids: ReadonlyMap<AskedKind, ReadonlyMap<string, string>>
}

const kindOf = (type: string): AskedKind => {
  const kind = askedKinds.find((one) => one.type === type)
  if (kind === undefined) throw new Error(type)
  return kind
}

const shownOf = ({ shown }: Checked, type: string): Shown => shown.get(kindOf(type)) as Shown

const placeArguments = ({ metadata: { namespace, name } }: Fields): string =>
  `${namespace === undefined ? '' : `namespace: "${namespace}", `}name: "${name}"`

const keys = (nodes: readonly Fields[]): readonly string[] =>
  nodes
    .map((node) =>
      keyOf({ metadata: { ...node.metadata, namespace: node.metadata.namespace ?? undefined } }),
    )
    .toSorted()

const name = '{ metadata { namespace name } }'

/** The codes of the errors at a field. */
const codesAt = ({ errors = [] }: GraphQLAnswer, path: string): readonly string[] =>
  errors.flatMap((error) => (error.path?.join('.') === path ? [error.extensions.code] : []))

const expectList = (
  answer: GraphQLAnswer,
  field: string,
  expected: ReadonlySet<string> | undefined,
): void => {
  const list = answer.data[field]
  if (expected === undefined) {
    expect([list, codesAt(answer, field)], field).toEqual([null, ['FORBIDDEN']])
    return
  }
  expect(keys(list?.nodes ?? []), `${field} ${JSON.stringify(answer.errors)}`).toEqual(
    [...expected].toSorted(),
  )
  expect(list.totalCount, field).toBe(expected.size)
  const facets: Fields[] = list.facets ?? []
  for (const { values } of facets) {
    const counted = values.reduce((sum: number, { count }: Fields) => sum + count, 0)
    expect(counted, `facets of ${field}`).toBe(expected.size)
  }
}

/** Whole lists, with counts and facets. */
export const checkLists = async (checked: Checked): Promise<void> => {
  const fields = askedKinds.flatMap(({ type, group, list }) => {
    const wanted = `totalCount nodes ${name} facets(by: ["name"], top: 1000) { values { count } }`
    return [
      `${list}(first: 500) { ${wanted} }`,
      `any${type}: objectList(group: "${group}", kind: "${type}", first: 500) { ${wanted} }`,
    ]
  })
  const answer = await checked.ask(`{ ${fields.join(' ')} }`)
  for (const kind of askedKinds) {
    expectList(answer, kind.list, checked.shown.get(kind)?.listed)
    expectList(answer, `any${kind.type}`, checked.shown.get(kind)?.listed)
  }
}

/** Lists of one namespace, and of two. */
export const checkNamespaces = async (checked: Checked): Promise<void> => {
  const namespaced = askedKinds.filter((kind) => kind.namespaced)
  const fields = namespaced.flatMap(({ type, list }) =>
    ['red', 'green'].map(
      (namespace) =>
        `${type}_${namespace}: ${list}(namespace: "${namespace}", first: 500) { totalCount nodes ${name} }`,
    ),
  )
  const both = `both: pods(where: { namespace: { in: ["red", "green"] } }) { totalCount nodes ${name} }`
  const answer = await checked.ask(`{ ${fields.join(' ')} ${both} }`)
  const within = (kind: AskedKind, wanted: readonly string[]): ReadonlySet<string> | undefined => {
    const { namespaces } = checked.shown.get(kind) as Shown
    if (!wanted.some((one) => namespaces.has(one))) return undefined
    const inside = (checked.objects.get(kind) ?? []).filter(
      ({ metadata }) => wanted.includes(metadata.namespace) && namespaces.has(metadata.namespace),
    )
    return new Set(inside.map(keyOf))
  }
  for (const kind of namespaced) {
    for (const namespace of ['red', 'green']) {
      expectList(answer, `${kind.type}_${namespace}`, within(kind, [namespace]))
    }
  }
  expectList(answer, 'both', within(kindOf('Pod'), ['red', 'green']))
}

/** Single objects, by each of the ways to one. What may not be seen is as what is not there. */
export const checkObjects = async (checked: Checked): Promise<void> => {
  for (const kind of askedKinds) {
    const { lookup, type, group } = kind
    const { got } = checked.shown.get(kind) as Shown
    const all = checked.objects.get(kind) ?? []
    const version = group === '' ? 'v1' : `${group}/v1`
    const fields = all.flatMap((object, at) => {
      const place = placeArguments(object)
      const id = checked.ids.get(kind)?.get(keyOf(object))
      return [
        `look${at}: ${lookup}(${place}) ${name}`,
        `ref${at}: objectByRef(apiVersion: "${version}", kind: "${type}", ${place}) ${name}`,
        `object${at}: object(id: "${id}") ${name}`,
      ]
    })
    const ids = [...(checked.ids.get(kind)?.values() ?? [])]
    const answer = await checked.ask(
      `query ($ids: [ID!]!) { ${fields.join(' ')} objects(ids: $ids) ${name} }`,
      { ids },
    )
    const expected = [...got].toSorted()
    expect(answer.errors, type).toBeUndefined()
    const { objects, ...single } = answer.data
    const found = (prefix: string): readonly string[] =>
      keys(
        Object.entries(single).flatMap(([field, object]) =>
          field.startsWith(prefix) && object !== null ? [object as Fields] : [],
        ),
      )
    for (const prefix of ['look', 'ref', 'object'])
      expect(found(prefix), `${prefix} of ${type}`).toEqual(expected)
    expect(keys(objects.filter((one: Fields) => one !== null)), `objects of ${type}`).toEqual(
      expected,
    )
  }
}

/** Relations both ways, owners, what is owned, events. */
export const checkRelations = async (checked: Checked): Promise<void> => {
  const answer = await checked.ask(`{
    pods(first: 50) { nodes {
      metadata { namespace name }
      node ${name} namespaceObject ${name} owners ${name}
      services { nodes ${name} } events { totalCount }
    } }
    big: node(name: "big") { pods { totalCount } }
    red: namespace(name: "red") { pods { totalCount } }
    set: replicaSet(namespace: "red", name: "shop") { owned(types: ["Pod"]) { totalCount } pods { totalCount } }
  }`)
  expect(answer.data, JSON.stringify(answer.errors)).toBeDefined()
  const pods = checked.objects.get(kindOf('Pod')) ?? []
  const [nodes, namespaces, sets] = ['Node', 'Namespace', 'ReplicaSet'].map((type) =>
    shownOf(checked, type),
  )
  const [services, events, listed] = ['Service', 'Event', 'Pod'].map((type) =>
    shownOf(checked, type),
  )
  const refusedOnes = { node: new Set<boolean>(), namespaceObject: new Set<boolean>() }
  for (const seen of answer.data.pods?.nodes ?? []) {
    const { namespace } = seen.metadata
    const pod = pods.find((one) => keyOf(one) === `${namespace}/${seen.metadata.name}`)
    const to = (shown: Shown | undefined, key: string) =>
      shown?.got.has(key) === true ? key.split('/').at(-1) : undefined
    expect(seen.node?.metadata.name, 'Pod.node').toBe(to(nodes, pod.spec.nodeName))
    expect(seen.namespaceObject?.metadata.name, 'Pod.namespaceObject').toBe(
      to(namespaces, namespace),
    )
    refusedOnes.node.add(seen.node === null)
    refusedOnes.namespaceObject.add(seen.namespaceObject === null)
    expect(seen.owners[0]?.metadata.name, 'Pod.owners').toBe(to(sets, `${namespace}/shop`))
    // Of errors that say the same of many rows only the first ones are told.
    const expectRefused = (field: 'services' | 'events'): void => {
      expect(seen[field], field).toBeNull()
      const refused = (answer.errors ?? []).filter(({ path = [] }) => path.at(-1) === field)
      expect(new Set(refused.map(({ extensions }) => extensions.code))).toEqual(
        new Set(['FORBIDDEN']),
      )
    }
    if (services?.namespaces.has(namespace) === true) {
      expect(keys(seen.services?.nodes ?? []), 'Pod.services').toEqual([`${namespace}/shop`])
    } else expectRefused('services')
    if (events?.namespaces.has(namespace) === true)
      expect(seen.events.totalCount, 'Pod.events').toBe(1)
    else expectRefused('events')
  }
  // All of these exist: those that are missing are refused, by one error of each field.
  for (const [field, refused] of Object.entries(refusedOnes)) {
    const told = (answer.errors ?? []).filter(
      ({ path = [] }) => path[0] === 'pods' && path.length === 4 && path[3] === field,
    )
    const expected = refused.has(true) ? ['FORBIDDEN'] : []
    expect(
      told.map(({ extensions }) => extensions.code),
      `errors of ${field}`,
    ).toEqual(expected)
  }
  const seenPods = pods.filter((one) => listed?.listed?.has(keyOf(one)) === true)
  const expectPods = (
    field: string,
    parent: boolean,
    expected: readonly Fields[] | undefined,
  ): void => {
    const seen = answer.data[field]
    if (!parent) expect(seen, field).toBeNull()
    else if (expected === undefined)
      expect([seen.pods, codesAt(answer, `${field}.pods`)]).toEqual([null, ['FORBIDDEN']])
    else
      expect(seen.pods?.totalCount, `${field}.pods ${JSON.stringify(answer.errors)}`).toBe(
        expected.length,
      )
  }
  const isForbidden = listed?.listed === undefined
  expectPods(
    'big',
    nodes?.got.has('big') === true,
    isForbidden ? undefined : seenPods.filter(({ spec }) => spec.nodeName === 'big'),
  )
  const red = pods.filter(({ metadata }) => metadata.namespace === 'red')
  const ofRed = listed?.namespaces.has('red') === true ? red : undefined
  expectPods('red', namespaces?.got.has('red') === true, ofRed)
  const isSetSeen = sets?.got.has('red/shop') === true
  expectPods('set', isSetSeen, ofRed)
  if (isSetSeen)
    expect(answer.data.set.owned.totalCount, 'ReplicaSet.owned').toBe(ofRed?.length ?? 0)
}

/** What the caches are said to hold. */
export const checkStates = async (checked: Checked): Promise<void> => {
  const answer = await checked.ask('{ gatewayClusters { resources { type objects } } }')
  const told = new Map<string, number>(
    answer.data.gatewayClusters[0].resources.map((one: Fields) => [one.type, one.objects]),
  )
  for (const kind of askedKinds) {
    const { listed } = checked.shown.get(kind) as Shown
    expect([kind.type, told.get(kind.type)]).toEqual([kind.type, listed?.size])
  }
}

/** What permissions as data say. */
export const checkCan = async (checked: Checked): Promise<void> => {
  const fields = askedKinds.map(
    ({ type, namespaced }) =>
      `${type}: can(verb: "list", type: "${type}"${namespaced ? ', namespace: "red"' : ''})`,
  )
  const answer = await checked.ask(`{ ${fields.join(' ')} }`)
  for (const kind of askedKinds) {
    const { listed, namespaces } = checked.shown.get(kind) as Shown
    const expected = kind.namespaced ? namespaces.has('red') : listed !== undefined
    expect(answer.data[kind.type], `can list ${kind.type}`).toBe(expected)
  }
}

/** The namespaces that a picker offers. */
export const checkPickers = async (checked: Checked): Promise<void> => {
  const namespaced = askedKinds.filter((kind) => kind.namespaced)
  const fields = namespaced.map(({ type }) => `${type}: namespaces(type: "${type}")`)
  const { data, errors } = await checked.ask(`{ viewer { ${fields.join(' ')} } }`)
  expect(errors).toBeUndefined()
  const all = (checked.objects.get(kindOf('Namespace')) ?? []).map(keyOf)
  for (const kind of namespaced) {
    const { namespaces } = checked.shown.get(kind) as Shown
    const offered: readonly string[] = data.viewer[kind.type] ?? all.toSorted()
    expect(offered, `namespaces of ${kind.type}`).toEqual([...namespaces].toSorted())
  }
}

/** What is found wherever it stands, and what stands around an object: never more than may be seen. */
export const checkExploring = async (checked: Checked): Promise<void> => {
  const types = askedKinds.map(({ type }) => `"${type}"`).join(', ')
  const object = 'object { kind namespace name }'
  const { data, errors } = await checked.ask(
    `{ search(text: "first", types: [${types}], first: 100) { totalCount nodes { ${object} } } }`,
  )
  expect(data, JSON.stringify(errors)).toBeDefined()
  const found: readonly Fields[] = (data.search?.nodes ?? []).map(({ object: one }: Fields) => ({
    kind: one.kind,
    metadata: { namespace: one.namespace, name: one.name },
  }))
  const namesOf = (kind: AskedKind): readonly string[] =>
    keys(found.filter((one) => one.kind === kind.type))
  for (const kind of askedKinds) {
    const { listed = new Set<string>() } = checked.shown.get(kind) as Shown
    const named = [...listed].filter((key) => key.includes('first')).toSorted()
    expect(namesOf(kind), `search of ${kind.type}`).toEqual(named)
  }
  for (const id of [...(checked.ids.get(kindOf('Pod'))?.values() ?? [])].slice(0, 2)) {
    const around = await checked.ask(
      `{ graph(roots: ["${id}"]) { nodes { kind namespace name } } }`,
    )
    expect(around.data, JSON.stringify(around.errors)).toBeDefined()
    for (const { kind, namespace, name: own } of around.data?.graph?.nodes ?? []) {
      const asked = askedKinds.find(({ type }) => type === kind)
      const key = namespace === null ? own : `${namespace}/${own}`
      if (asked !== undefined) expect([...(checked.shown.get(asked) as Shown).got]).toContain(key)
    }
  }
}

/** What is wrong: each pod has a problem, the second ones that of the small node. */
export const checkProblems = async (checked: Checked): Promise<void> => {
  const named = '{ kind namespace name }'
  const { data, errors } = await checked.ask(`{ problems(${checked.place ?? ''}first: 100) {
    totalCount lookedAt notLookedAt counts { count }
    nodes {
      kind reason count object ${named} objects(first: 100) ${named}
      lastEvent { reason message count }
    } } }`)
  expect(data?.problems, JSON.stringify(errors)).toBeDefined()
  const { nodes, totalCount, counts, lookedAt, notLookedAt } = data.problems
  expect(totalCount).toBe(nodes.length)
  expect(counts.reduce((sum: number, { count }: Fields) => sum + count, 0)).toBe(nodes.length)
  const pods = shownOf(checked, 'Pod').listed ?? new Set<string>()
  const isNodeShown = shownOf(checked, 'Node').listed?.has('small') === true
  const isDown = (key: string): boolean => isNodeShown && key.endsWith('/second')
  const expected: string[] = []
  const namespaces = new Set([...pods].map((key) => key.split('/')[0] ?? ''))
  for (const namespace of namespaces) {
    for (const [pod, reason] of [
      ['first', 'Unschedulable'],
      ['second', 'NodeStatusUnknown'],
    ] as const) {
      const key = `${namespace}/${pod}`
      if (pods.has(key) && !isDown(key))
        expected.push(`ReplicaSet ${namespace}/shop ${reason}: ${key}`)
    }
  }
  const down = [...pods].filter(isDown)
  if (isNodeShown) expected.push(`Node small NotReady: ${down.length > 0 ? listed(down) : 'small'}`)
  const found = nodes.map(
    (row: Fields) =>
      `${row.kind} ${nameOf(row.object)} ${row.reason}: ${listed(row.objects.map(nameOf))}`,
  )
  expect(found.toSorted()).toEqual(expected.toSorted())
  const { listed: events = new Set<string>() } = shownOf(checked, 'Event')
  for (const { count, object, objects, lastEvent } of nodes) {
    expect(objects).toHaveLength(count)
    const about = [object, ...objects].map(nameOf)
    const told = [...events].flatMap((key) => {
      const [namespace = ''] = key.split('/')
      return about.includes(key.replace('/of-', '/')) ? [`Seen in ${namespace}`] : []
    })
    if (told.length === 0) expect(lastEvent).toBeNull()
    else expect(told).toContain(lastEvent?.message)
  }
  for (const [type, places] of [
    ['Pod', pods.size],
    ['Node', isNodeShown ? 1 : 0],
  ] as const) {
    expect([...lookedAt, ...notLookedAt]).toContain(type)
    if (places > 0) expect(lookedAt).toContain(type)
  }
}

/** One list of several kinds, by their names and by `*`. */
export const checkAnyKinds = async (checked: Checked): Promise<void> => {
  const types = askedKinds.map(({ type }) => type)
  for (const kinds of [types, ['*']]) {
    const { data, errors } = await checked.ask(
      `query ($kinds: [String!]!) { kubernetesObjects(kinds: $kinds, ${checked.place ?? ''}first: 500) {
        totalCount types notLookedAt incomplete { type code } counts { type count }
        nodes { kind ${name.slice(1, -1)} } } }`,
      { kinds },
    )
    expect(data?.kubernetesObjects, JSON.stringify(errors)).toBeDefined()
    const { nodes, totalCount, counts, incomplete, notLookedAt } = data.kubernetesObjects
    expect(totalCount).toBe(nodes.length)
    const counted = new Map(counts.map(({ type, count }: Fields) => [type, count]))
    for (const kind of askedKinds) {
      const { type } = kind
      if (kinds.includes('*') && type === 'Event') continue
      const { listed: keysShown } = checked.shown.get(kind) as Shown
      const found = nodes.filter((one: Fields) => one.kind === type)
      expect(keys(found), `${type} of ${kinds.join()}`).toEqual([...(keysShown ?? [])].toSorted())
      expect(counted.get(type) ?? 0).toBe(found.length)
      if (keysShown !== undefined) continue
      expect(notLookedAt).toContain(type)
      const gaps = incomplete.filter((gap: Fields) => gap.type === type)
      expect(gaps).toEqual(kinds.includes('*') ? [] : [{ type, code: 'FORBIDDEN' }])
    }
  }
}

const listed = (all: readonly string[]): string => all.toSorted().join()

const nameOf = ({ namespace, name: own }: Fields): string =>
  namespace === null ? own : `${namespace}/${own}`
