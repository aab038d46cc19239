import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { define, object, RelationCluster } from './relation-cluster.ts'

const string = { type: 'string' }
const objectOf = (properties: object): object => ({ type: 'object', properties })
const named = objectOf({ name: string })
const ofAnyKind = objectOf({ apiVersion: string, kind: string, name: string })

describe('row 63: references of custom kinds are inferred where that is asked for', () => {
  let cluster: RelationCluster
  beforeAll(async () => {
    cluster = await RelationCluster.start({ inferReferences: true })
    await cluster.define(
      ['Backup.rel.example/v1', 'Store.rel.example/v1'],
      {},
      {
        Store: objectOf({ secretKeyRef: named }),
        Backup: objectOf({
          storeRef: named,
          targetRef: ofAnyKind,
          hooks: {
            type: 'array',
            items: objectOf({ configMapRef: objectOf({ name: string, namespace: string }) }),
          },
          strangeRef: named,
          colourRef: string,
          credentials: objectOf({ secretRef: named }),
          encryption: objectOf({ secretRef: named }),
          // Its name and its longer name are taken.
          archive: objectOf({ encryption: objectOf({ secretRef: named }) }),
        }),
      },
    )
  })
  afterAll(async () => cluster[Symbol.asyncDispose]())

  it('the kinds appear, with what is inferred of them', async () => {
    await expect.poll(() => cluster.gateway.schema.getType('RelExampleBackup')).toBeDefined()
    await expect.poll(() => cluster.gateway.schema.getType('RelExampleStore')).toBeDefined()
    cluster.create('here', [
      object('v1', 'Secret', 'key'),
      object('v1', 'Secret', 'other'),
      object('v1', 'Secret', 'archive'),
      object('v1', 'Secret', 'unused'),
      object('v1', 'ConfigMap', 'hook'),
      object('v1', 'ConfigMap', 'far', {}, { namespace: 'rel-elsewhere' }),
      object('apps/v1', 'StatefulSet', 'db'),
      object('apps/v1', 'StatefulSet', 'idle'),
      object('rel.example/v1', 'Store', 'cold', { spec: { secretKeyRef: { name: 'key' } } }),
      object('rel.example/v1', 'Backup', 'nightly', {
        spec: {
          storeRef: { name: 'cold' },
          targetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' },
          hooks: [
            { configMapRef: { name: 'hook' } },
            { configMapRef: { name: 'far', namespace: 'rel-elsewhere' } },
          ],
          strangeRef: { name: 'x' },
          colourRef: 'blue',
          credentials: { secretRef: { name: 'key' } },
          encryption: { secretRef: { name: 'other' } },
          archive: { encryption: { secretRef: { name: 'archive' } } },
        },
      }),
    ])
  })

  it.each([
    ['relExampleBackup nightly storeRef', 'cold'],
    ['relExampleBackup nightly targetRef', 'db'],
    ['relExampleBackup nightly configMapRef', ['far', 'hook']],
    ['relExampleBackup nightly secretRef', 'key'],
    ['relExampleBackup nightly encryptionSecretRef', 'other'],
    ['relExampleStore cold secretKeyRef', 'key'],
  ])('%s', async (path, expected) => {
    expect(await cluster.namesAt('here', path)).toEqual(expected)
  })

  it('they count as users, those without a field as well', async () => {
    const { data, errors } = await cluster.ask(`{
      used: secrets(namespace: "here", where: { usedBy: { some: { types: ["RelExampleBackup", "RelExampleStore"] } } }) {
        nodes { metadata { name } usedBy(types: ["RelExampleBackup"]) { nodes { paths } } }
      }
      unused: secrets(namespace: "here", where: { usedBy: { none: {} } }) { nodes { metadata { name } } }
    }`)
    expect(errors).toBeUndefined()
    const paths = (path: string): object => ({ nodes: [{ paths: [path] }] })
    expect(data.used.nodes).toEqual([
      {
        metadata: { name: 'archive' },
        usedBy: paths('spec.archive.encryption.secretRef.name'),
      },
      { metadata: { name: 'key' }, usedBy: paths('spec.credentials.secretRef.name') },
      { metadata: { name: 'other' }, usedBy: paths('spec.encryption.secretRef.name') },
    ])
    expect(data.unused.nodes).toEqual([{ metadata: { name: 'unused' } }])
  })

  it('what names no kind is no reference', () => {
    const type = cluster.gateway.schema.getType('RelExampleBackup')
    const fields = type !== undefined && 'getFields' in type ? Object.keys(type.getFields()) : []
    expect(fields).toContain('storeRef')
    expect(fields).not.toContain('strangeRef')
    expect(fields).not.toContain('colourRef')
  })

  it.each([
    ['statefulSet', 'db', ['nightly']],
    ['statefulSet', 'idle', []],
    ['secret', 'key', ['cold', 'nightly']],
    ['relExampleStore', 'cold', ['nightly']],
  ])('%s %s is referenced by %s', async (lookup, name, expected) => {
    const { data, errors } = await cluster.ask(`{
      found: ${lookup}(namespace: "here", name: "${name}") {
        referencedBy(types: ["RelExampleBackup", "RelExampleStore"]) { nodes { metadata { name } } }
      }
    }`)
    expect(errors).toBeUndefined()
    const { nodes } = data.found.referencedBy
    const names = nodes.map((node: { metadata: { name: string } }) => node.metadata.name)
    expect(names.toSorted()).toEqual(expected)
  })
})

describe('inferred users that the profile leaves out of the schema', () => {
  const kinds = ['Widget.left.example/v1', 'Holder.left.example/v1', 'Pointer.left.example/v1']
  const specs = {
    Widget: objectOf({ secretRef: named }),
    Holder: objectOf({ widgetRef: named, configMapRef: named }),
    Pointer: objectOf({ targetRef: ofAnyKind }),
  }
  const none = (list: string): string =>
    `{ ${list}(namespace: "here", where: { usedBy: { none: {} } }) { totalCount } }`
  const started = async (exclude: readonly string[]): Promise<RelationCluster> => {
    const profile = { exclude: { kinds: exclude } }
    const cluster = await RelationCluster.start(
      { inferReferences: true, profile },
      async (simulator) => define(simulator, kinds, {}, specs),
    )
    cluster.create('here', [
      object('v1', 'Secret', 'held'),
      object('v1', 'ConfigMap', 'free'),
      object('left.example/v1', 'Widget', 'w', { spec: { secretRef: { name: 'held' } } }),
    ])
    return cluster
  }

  it('never lets an object that they may use pass for unused', async () => {
    await using cluster = await started(['LeftExampleWidget'])
    const field = '{ secret(namespace: "here", name: "held") { usedBy { totalCount } } }'
    for (const query of [none('secrets'), field]) {
      const { errors } = await cluster.ask(query)
      expect(errors).toMatchObject([
        { extensions: { code: 'UNSUPPORTED', type: 'LeftExampleWidget' } },
      ])
    }
    const limited = await cluster.ask(
      '{ secrets(namespace: "here", where: { usedBy: { none: { types: ["Pod"] } } }) { totalCount } }',
    )
    expect(limited).toEqual({ data: { secrets: { totalCount: 1 } } })
    // They do not use ConfigMaps.
    expect(await cluster.ask(none('configMaps'))).toEqual({
      data: { configMaps: { totalCount: 1 } },
    })
  })

  it('counts those that may refer to any kind as users of every kind', async () => {
    await using cluster = await started(['LeftExamplePointer'])
    for (const list of ['secrets', 'configMaps']) {
      const { errors } = await cluster.ask(none(list))
      expect(errors).toMatchObject([
        { extensions: { code: 'UNSUPPORTED', type: 'LeftExamplePointer' } },
      ])
    }
  })
})

describe('a member whose name ends with a kind and `Ref` is a reference to it', () => {
  const keyed = objectOf({ name: string, key: string })
  const members = {
    tokenSecretRef: keyed,
    passwordSecretKeyRef: named,
    authSecretReference: named,
    clientIDSecretRef: named,
    caSecretKeySelector: keyed,
    settingsConfigMapRefs: { type: 'array', items: named },
    signingKeyRef: named,
    mapRef: named,
    // Names that end with a kind, but with no word that does.
    nosecretRef: named,
    // Names of no object: a label selector, and two kinds with names of one length.
    someSecretSelector: named,
    podKeyRef: named,
    secretNameRef: named,
  }
  const taken = (name: string): object => ({ name })
  let cluster: RelationCluster
  beforeAll(async () => {
    const kinds = ['Login.end.example/v1', 'Key.end.example/v1', 'Map.end.example/v1']
    cluster = await RelationCluster.start({ inferReferences: true }, async (simulator) =>
      define(simulator, kinds, {}, { Login: objectOf(members) }),
    )
    const secrets = ['token', 'password', 'auth', 'client', 'ca', 'unused']
    cluster.create('here', [
      ...secrets.map((name) => object('v1', 'Secret', name)),
      object('v1', 'ConfigMap', 'settings'),
      object('v1', 'Pod', 'unused'),
      object('end.example/v1', 'Key', 'signing'),
      object('end.example/v1', 'Key', 'unused'),
      object('end.example/v1', 'Map', 'world'),
      object('end.example/v1', 'Login', 'web', {
        spec: {
          tokenSecretRef: taken('token'),
          passwordSecretKeyRef: taken('password'),
          authSecretReference: taken('auth'),
          clientIDSecretRef: taken('client'),
          caSecretKeySelector: taken('ca'),
          settingsConfigMapRefs: [taken('settings')],
          signingKeyRef: taken('signing'),
          mapRef: taken('world'),
          nosecretRef: taken('unused'),
          someSecretSelector: taken('unused'),
          podKeyRef: taken('unused'),
          secretNameRef: taken('unused'),
        },
      }),
    ])
  })
  afterAll(async () => cluster[Symbol.asyncDispose]())

  it.each([
    ['tokenSecretRef', 'token'],
    ['passwordSecretKeyRef', 'password'],
    ['authSecretReference', 'auth'],
    ['clientIDSecretRef', 'client'],
    ['caSecretKeySelector', 'ca'],
    ['settingsConfigMapRefs', ['settings']],
    ['signingKeyRef', 'signing'],
    ['mapRef', 'world'],
  ])('%s', async (field, expected) => {
    expect(await cluster.namesAt('here', `endExampleLogin web ${field}`)).toEqual(expected)
  })

  it.each(['nosecretRef', 'someSecretSelector', 'podKeyRef', 'secretNameRef'])(
    'but not %s',
    (field) => {
      const type = cluster.gateway.schema.getType('EndExampleLogin')
      const fields = type !== undefined && 'getFields' in type ? Object.keys(type.getFields()) : []
      expect(fields).toContain('tokenSecretRef')
      expect(fields).not.toContain(field)
    },
  )

  it('so what it names counts as used', async () => {
    const { data, errors } = await cluster.ask(
      '{ secrets(namespace: "here", where: { usedBy: { none: {} } }) { nodes { name } } }',
    )
    expect(errors).toBeUndefined()
    expect(data.secrets.nodes).toEqual([{ name: 'unused' }])
  })
})
