import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const admin = caller('admin', 'system:masters')
/** Reads ConfigMaps of `one`, and no managers. */
const ann = caller('ann')

const tracking = 'argocd.argoproj.io/tracking-id'
const flux = (group: string, name: string) => ({
  [`${group}/name`]: name,
  [`${group}/namespace`]: 'two',
})
const release = { 'meta.helm.sh/release-name': 'web', 'meta.helm.sh/release-namespace': 'two' }
const helmGroup = 'helm.toolkit.fluxcd.io'

/** ConfigMaps of `one` by name, as tools mark them. */
const marked: Readonly<Record<string, object>> = {
  listed: { labels: { 'app.kubernetes.io/instance': 'lister' } },
  unlisted: { labels: { 'app.kubernetes.io/instance': 'lister' } },
  plain: { labels: { 'app.kubernetes.io/instance': 'web' } },
  tracked: { annotations: { [tracking]: 'shop:/ConfigMap:one/tracked' } },
  far: { annotations: { [tracking]: 'two_shop:/ConfigMap:one/far' } },
  copied: { annotations: { [tracking]: 'shop:/ConfigMap:one/tracked' } },
  nonsense: { annotations: { [tracking]: 'nonsense' } },
  labelled: { labels: { 'argocd.argoproj.io/instance': 'twin' } },
  applied: { labels: flux('kustomize.toolkit.fluxcd.io', 'apps') },
  installed: { labels: flux(helmGroup, 'web'), annotations: release },
  released: { annotations: release },
  owned: {
    annotations: release,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'x', controller: true }],
  },
}

let world: SmallWorld
let served: ViewedGateway

beforeAll(async () => {
  world = await startSmallWorld()
  await world.allow('one', 'ann', 'ann', [reads('', 'configmaps')])
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const any = versionOf('v1', { syncPolicy: open, suspend: { type: 'boolean' } })
  const listed = { version: 'v1', kind: 'ConfigMap', namespace: 'one', name: 'listed' }
  const kinds = [
    ['Application', 'argoproj.io', 'two/shop', { syncPolicy: { automated: { selfHeal: true } } }],
    ['Application', 'argoproj.io', 'one/twin', {}],
    ['Application', 'argoproj.io', 'two/twin', {}],
    ['Application', 'argoproj.io', 'two/lister', {}, { resources: [listed] }],
    ['Kustomization', 'kustomize.toolkit.fluxcd.io', 'two/apps', {}],
    ['HelmRelease', helmGroup, 'two/web', { suspend: true }],
  ] as const
  const groups = new Map(kinds.map(([kind, group]) => [group, kind]))
  for (const [group, kind] of groups) {
    await world.make(definitionsPath, definitionOf(kind, group, [any]))
  }
  for (const [kind, group, place, spec, status] of kinds) {
    const [namespace, name] = place.split('/')
    const path = `/apis/${group}/v1/namespaces/${namespace}/${kind.toLowerCase()}s`
    await world.make(path, { metadata: { name }, spec, ...(status && { status }) })
  }
  for (const [name, metadata] of Object.entries(marked)) {
    await world.make('/api/v1/namespaces/one/configmaps', { metadata: { name, ...metadata } })
  }
  for (const [revision, status] of ['superseded', 'deployed'].entries()) {
    const name = `sh.helm.release.v1.web.v${revision + 1}`
    const labels = { owner: 'helm', name: 'web', status, version: String(revision + 1) }
    await world.make('/api/v1/namespaces/two/secrets', { metadata: { name, labels } })
  }
  served = await serveViewers({ clusters: [world.selection] })
})

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

interface Managed {
  readonly namespace: string
  readonly name: string
  readonly managedBy: readonly { readonly name: string }[]
}

const fields = 'managedBy { tool kind namespace name reversal object { kind namespace name } }'
const all = `{ configMaps(namespace: "one") { nodes { name ${fields} } } }`

const managersBy = async (who: typeof admin, query = all) => {
  const { data, errors } = await served.query(who, query)
  expect(errors).toBeUndefined()
  const list = data.configMaps ?? data.objectList
  return new Map<string, unknown>(
    list.nodes
      .filter(({ name }: { readonly name: string }) => Object.hasOwn(marked, name))
      .map(({ name, managedBy }: { readonly name: string; readonly managedBy: unknown }) => [
        name,
        managedBy,
      ]),
  )
}

const application = (name: string, namespace: string | null = null) => ({
  tool: 'ARGO_CD',
  kind: 'Application',
  namespace,
  name,
})
const shop = { kind: 'Application', namespace: 'two', name: 'shop' }
const known: Readonly<Record<string, readonly object[]>> = {
  plain: [],
  listed: [
    {
      ...application('lister'),
      reversal: 'WHEN_SYNCED',
      object: { kind: 'Application', namespace: 'two', name: 'lister' },
    },
  ],
  unlisted: [],
  tracked: [{ ...application('shop'), reversal: 'AT_ONCE', object: shop }],
  far: [{ ...application('shop', 'two'), reversal: 'AT_ONCE', object: shop }],
  copied: [],
  nonsense: [],
  // Two Applications have the name.
  labelled: [{ ...application('twin'), reversal: null, object: null }],
  applied: [
    {
      tool: 'FLUX',
      kind: 'Kustomization',
      namespace: 'two',
      name: 'apps',
      reversal: 'IN_TURN',
      object: { kind: 'Kustomization', namespace: 'two', name: 'apps' },
    },
  ],
  // It has made the release of Helm.
  installed: [
    {
      tool: 'FLUX',
      kind: 'HelmRelease',
      namespace: 'two',
      name: 'web',
      reversal: 'WHEN_RESUMED',
      object: { kind: 'HelmRelease', namespace: 'two', name: 'web' },
    },
  ],
  released: [
    {
      tool: 'HELM',
      kind: null,
      namespace: 'two',
      name: 'web',
      reversal: 'WHEN_UPGRADED',
      object: { kind: 'Secret', namespace: 'two', name: 'sh.helm.release.v1.web.v2' },
    },
  ],
  owned: [],
}

describe('What manages an object', () => {
  it('is named by its labels and annotations, and led to', async () => {
    expect(Object.fromEntries(await managersBy(admin))).toEqual(known)
    const typed = `{ objectList(kind: "ConfigMap", namespaces: ["one"]) { nodes { name ${fields} } } }`
    expect(Object.fromEntries(await managersBy(admin, typed))).toEqual(known)
  })

  it('is named to who may read the object, and led to for those only who may read it, too', async () => {
    const seen = await managersBy(ann)
    const [released] = known['released'] ?? []
    expect(seen.get('tracked')).toEqual([{ ...application('shop'), reversal: null, object: null }])
    expect(seen.get('far')).toEqual([
      { ...application('shop', 'two'), reversal: null, object: null },
    ])
    expect(seen.get('released')).toEqual([{ ...released, object: null }])
    // No one reads more by the object of a manager than by its own look-up.
    const deep = await served.query(
      ann,
      '{ configMaps(namespace: "one") { nodes { managedBy { object { object { json } } } } } }',
    )
    expect(JSON.stringify(deep.data)).not.toContain('selfHeal')
  })

  it('is never the object itself', async () => {
    const selves = [
      ['two', 'root', 'root', []],
      ['two', 'rooted', 'two_rooted', []],
      ['two', 'child', 'root', ['root']],
      ['one', 'rooted', 'two_rooted', ['rooted']],
    ] as const
    for (const [namespace, name, by] of selves) {
      const path = `/apis/argoproj.io/v1/namespaces/${namespace}/applications`
      const id = `${by}:argoproj.io/Application:${namespace}/${name}`
      await world.make(path, { metadata: { name, annotations: { [tracking]: id } }, spec: {} })
    }
    const query = `{ objectList(group: "argoproj.io", kind: "Application") {
      nodes { namespace name managedBy { name } } } }`
    await expect
      .poll(async () => {
        const { data } = await served.query(admin, query)
        const managed = new Map(
          data.objectList.nodes.map(({ namespace, name, managedBy }: Managed) => [
            `${namespace}/${name}`,
            managedBy.map((one) => one.name),
          ]),
        )
        return selves.map(([namespace, name]) => managed.get(`${namespace}/${name}`))
      })
      .toEqual(selves.map(([, , , names]) => names))
  })

  it('is told of objects that are read from the API server, too', async () => {
    const { data, errors } = await served.query(
      admin,
      `{ configMap(namespace: "one", name: "tracked", live: true) { ${fields} } }`,
    )
    expect(errors).toBeUndefined()
    expect(data.configMap.managedBy).toEqual(known['tracked'])
  })

  it('follows the labels in a subscription, and the manager', async () => {
    const asked = served.connect(admin).iterate({
      query: `subscription { configMap(namespace: "one", name: "tracked", coalesceMs: 0) { changes { object { ${fields} } } } }`,
    })
    const frames = asked[Symbol.asyncIterator]()
    const next = async (): Promise<unknown> => {
      for (;;) {
        const { value } = await frames.next()
        const [change] = value.data.configMap.changes
        if (change !== undefined) return change.object.managedBy
      }
    }
    expect(await next()).toEqual(known['tracked'])
    const path = '/apis/argoproj.io/v1/namespaces/two/applications/shop'
    await world.patch(path, { spec: { syncPolicy: { automated: { selfHeal: false } } } })
    expect(await next()).toMatchObject([{ reversal: 'WHEN_SOURCE_CHANGES' }])
    await world.patch(path, { spec: { syncPolicy: { automated: null } } })
    expect(await next()).toMatchObject([{ reversal: 'WHEN_SYNCED' }])
    await world.patch('/api/v1/namespaces/one/configmaps/tracked', {
      metadata: { annotations: { [tracking]: null } },
    })
    expect(await next()).toEqual([])
    await frames.return?.()
    expect(served.log.filter((line) => line.includes('unexpectedly'))).toEqual([])
  })
})

it('A manager is decoded, and paid for, once for all rows that it manages', async () => {
  const examined = async (query: string): Promise<number> => {
    const { errors, extensions } = await served.explained(admin, query)
    expect(errors).toBeUndefined()
    const explained = extensions.explain.fields as readonly { readonly examined: number }[]
    return explained.reduce((sum, one) => sum + one.examined, 0)
  }
  const names = JSON.stringify(['tracked', 'far'])
  const rows = (selected: string): string =>
    `{ configMaps(namespace: "one", where: { name: { in: ${names} } }) { nodes { ${selected} } } }`
  const without = await examined(rows('name'))
  const reversals = rows('name a: managedBy { reversal } b: managedBy { reversal }')
  const more = (await examined(reversals)) - without
  expect(more).toBeGreaterThanOrEqual(20)
  expect(more).toBeLessThan(40)
})
