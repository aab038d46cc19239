import { type Fields, inParallel } from '../gateway/test-cluster.ts'
import type { AccessCluster, users } from './access-cluster.ts'

/** A kind that is asked for. */
export interface AskedKind {
  readonly type: string
  readonly list: string
  readonly lookup: string
  readonly resource: string
  readonly group: string
  readonly path: string
  readonly namespaced: boolean
}

const core = (type: string, list: string, lookup: string, namespaced = true): AskedKind => ({
  type,
  list,
  lookup,
  resource: list.toLowerCase(),
  group: '',
  path: '/api/v1',
  namespaced,
})

export const askedKinds: readonly AskedKind[] = [
  core('Pod', 'pods', 'pod'),
  core('Service', 'services', 'service'),
  core('ConfigMap', 'configMaps', 'configMap'),
  core('Event', 'events', 'event'),
  {
    ...core('ReplicaSet', 'replicaSets', 'replicaSet'),
    group: 'apps',
    path: '/apis/apps/v1',
  },
  core('Node', 'nodes', 'node', false),
  core('Namespace', 'namespaces', 'namespace', false),
]

export const keyOf = ({ metadata }: Fields): string =>
  metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`

const objectPath = ({ path, resource }: AskedKind, { metadata }: Fields): string =>
  metadata.namespace === undefined
    ? `${path}/${resource}/${metadata.name}`
    : `${path}/namespaces/${metadata.namespace}/${resource}/${metadata.name}`

/** All objects that there are, as the administrator lists them. */
export const everything = async ({
  must,
}: AccessCluster): Promise<ReadonlyMap<AskedKind, readonly Fields[]>> => {
  const objects = new Map<AskedKind, readonly Fields[]>()
  for (const kind of askedKinds) {
    objects.set(kind, (await must(`${kind.path}/${kind.resource}`)).items)
  }
  return objects
}

/** What the raw API shows of a kind. */
export interface Shown {
  /** `undefined`: the list is forbidden everywhere. */
  readonly listed: ReadonlySet<string> | undefined
  /** The namespaces whose lists are not forbidden; all of them where the list of the cluster is not. */
  readonly namespaces: ReadonlySet<string>
  readonly got: ReadonlySet<string>
}

/** What the raw API shows somebody, request by request, with their own token. */
export const shownTo = async (
  { ask }: AccessCluster,
  { token }: (typeof users)[number],
  objects: ReadonlyMap<AskedKind, readonly Fields[]>,
): Promise<ReadonlyMap<AskedKind, Shown>> => {
  const allNamespaces = [...objects].flatMap(([{ type }, all]) =>
    type === 'Namespace' ? all.map(({ metadata }) => metadata.name as string) : [],
  )
  const shows = async (path: string): Promise<boolean> => {
    const { status, json } = await ask(path, { token })
    if (status === 200 || status === 403) return status === 200
    throw new Error(`${path}: ${status} ${JSON.stringify(json)}`)
  }
  const shown = new Map<AskedKind, Shown>()
  await inParallel(askedKinds, async (kind) => {
    const all = objects.get(kind) ?? []
    const isListed = await shows(`${kind.path}/${kind.resource}?limit=1`)
    const namespaces = new Set(isListed ? allNamespaces : [])
    if (kind.namespaced && !isListed) {
      await inParallel(allNamespaces, async (namespace) => {
        const path = `${kind.path}/namespaces/${namespace}/${kind.resource}?limit=1`
        if (await shows(path)) namespaces.add(namespace)
      })
    }
    const inList = all.filter((one) => isListed || namespaces.has(one.metadata.namespace))
    const got = new Set(inList.map(keyOf))
    await inParallel(all, async (object) => {
      if (await shows(objectPath(kind, object))) got.add(keyOf(object))
    })
    const isForbidden = !isListed && namespaces.size === 0
    shown.set(kind, {
      listed: isForbidden ? undefined : new Set(inList.map(keyOf)),
      namespaces,
      got,
    })
  })
  return shown
}
