import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { describeAccess, rbac } from '../access/access-cluster.ts'
import { startSimulator } from 'informerql/simulator'
import type { Fields } from '../gateway/test-cluster.ts'
import {
  type GatewayCaller,
  type GraphQLAnswer,
  type ServedGateway,
  serveGateway,
} from '../support/gateway.ts'
import { core, idOf, namespace, populateShop, refused, Reports, serveShop, write } from './shop.ts'

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
/** The value as it is, and in base64. */
const values = /hunter2|aHVudGVyMg/
const door = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'door',
    labels: { a: 'b' },
    annotations: { [lastApplied]: '{"stringData":{"password":"hunter2"}}' },
  },
  data: { password: 'aHVudGVyMg==' },
}

describeAccess('the values of a Secret, where secretData is off,', (cluster, isReal) => {
  let gateway: ServedGateway
  let ann: GatewayCaller
  let id: string
  beforeAll(async () => {
    await populateShop(cluster())
    await cluster().must(`${core}/secrets`, { method: 'POST', body: door })
    const here = `${rbac}/namespaces/${namespace}`
    const apiGroup = 'rbac.authorization.k8s.io'
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['patch'] }]
    await cluster().must(`${here}/roles`, {
      method: 'POST',
      body: { metadata: { name: 'patches' }, rules },
    })
    await cluster().must(`${here}/rolebindings`, {
      method: 'POST',
      body: {
        metadata: { name: 'patches' },
        roleRef: { apiGroup, kind: 'Role', name: 'patches' },
        subjects: [{ apiGroup, kind: 'User', name: 'cleo' }],
      },
    })
    gateway = await serveShop(cluster())
    ann = gateway.as('ann-token')
    id = await idOf(ann, `secret(namespace: "${namespace}", name: "door")`)
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  const unshown = async (mutation: string, variables: Fields = {}): Promise<GraphQLAnswer> => {
    const answer = await write(ann, mutation, variables)
    expect(JSON.stringify(answer)).not.toMatch(values)
    return answer
  }
  const stored = async (): Promise<Fields> => cluster().must(`${core}/secrets/door`)

  it('are in no error: neither the message nor its causes quote what is stored', async () => {
    const before = await stored()
    let failures = 0
    // The simulator stores more than a real API server does.
    for (const dryRun of isReal ? [true, false] : [true]) {
      for (const [type, patch] of [
        ['MERGE', { bogus: 1 }],
        ['STRATEGIC', { bogus: 1 }],
        ['JSON', [{ op: 'add', path: '/bogus', value: 1 }]],
        ['MERGE', { data: 'none' }],
        ['MERGE', { metadata: { labels: { a: 'not a label' } } }],
        ['MERGE', { type: 'kubernetes.io/tls' }],
        ['JSON', [{ op: 'replace', path: '/metadata/name', value: 'other' }]],
        ['JSON', [{ op: 'replace', path: '/none/at/all', value: 1 }]],
      ] as const) {
        const { errors } = await unshown(
          `patch(id: "${id}", type: ${type}, patch: $patch, dryRun: ${dryRun})`,
          { patch },
        )
        failures += errors?.length ?? 0
      }
    }
    expect(failures).toBeGreaterThan(isReal ? 15 : 1)
    expect(await stored()).toEqual(before)
    if (!isReal) return
    const mutation = `patch(id: "${id}", type: MERGE, patch: $patch)`
    expect(await refused(ann, mutation, { patch: { bogus: 1 } })).toMatchObject({
      code: 'INVALID',
      message: expect.stringMatching(/^Secret shop\/door: .*unknown field "bogus"; .*withheld/),
      causes: [{ field: 'patch', reason: 'FieldValueInvalid', message: '' }],
    })
    const warned =
      'patch(id: "$id", type: MERGE, patch: $patch, fieldValidation: WARN, dryRun: true)'
    const { data } = await unshown(warned.replace('$id', id), { patch: { bogus: 1 } })
    expect(data.patch.warnings).toEqual([
      'the API server warns, and its text is withheld, as it may quote values',
    ])
  })

  it('are in no error of the other mutations', async () => {
    const manifest = { ...door, metadata: { name: 'door' } }
    let failures = 0
    for (const mutation of [
      'apply(manifest: $manifest, namespace: "shop", fieldManager: "other", dryRun: true)',
      'create(manifest: $manifest, namespace: "shop")',
    ]) {
      for (const more of [{}, { bogus: 1 }, { data: 'none' }, { type: 'kubernetes.io/tls' }]) {
        const given = { ...manifest, data: { password: 'b3RoZXI=' }, ...more }
        const { errors } = await unshown(mutation, { manifest: given })
        failures += errors?.length ?? 0
      }
    }
    await unshown(`label(id: "${id}", labels: { a: "not a label" }, dryRun: true)`)
    await unshown(`delete(id: "${id}", resourceVersion: "1", dryRun: true)`)
    await unshown(`scale(id: "${id}", replicas: 1, dryRun: true)`)
    expect(failures).toBeGreaterThanOrEqual(4)
  })

  it.each([
    '/data/password',
    '/data',
    '',
    '/metadata',
    '/metadata/annotations',
    `/metadata/annotations/${lastApplied.replace('/', '~1')}`,
    '/metadata/managedFields',
    // The API server ignores what stands before the first slash.
    'metadata/data/password',
    'x/data',
  ])('are not copied, moved or tested by a JSON patch: %j', async (path) => {
    const before = await stored()
    const to = '/metadata/annotations/shown'
    for (const step of [
      { op: 'copy', from: path, path: to },
      { op: 'move', from: path, path: to },
      { op: 'test', path, value: 'aHVudGVyMg==' },
    ]) {
      const patch = [{ op: 'add', path: '/metadata/labels/c', value: 'd' }, step]
      for (const dryRun of [true, false]) {
        const { errors } = await unshown(
          `patch(id: "${id}", type: JSON, patch: $patch, dryRun: ${dryRun})`,
          { patch },
        )
        expect(errors).toMatchObject([
          { extensions: { code: 'UNSUPPORTED', argument: 'patch', value: path, type: 'Secret' } },
        ])
      }
    }
    expect(await stored()).toEqual(before)
  })

  it('are not told by what a dry run would change: a right guess looks like a wrong one', async () => {
    const told = async (mutation: string, variables: Fields): Promise<unknown> => {
      const { data, errors } = await unshown(mutation, variables)
      expect(errors).toBeUndefined()
      return [Object.values(data)[0]].flat()[0]
    }
    for (const type of ['MERGE', 'STRATEGIC', 'JSON']) {
      const patched = async (password: string): Promise<unknown> =>
        told(`patch(id: "${id}", type: ${type}, patch: $patch, dryRun: true)`, {
          patch:
            type === 'JSON'
              ? [{ op: 'replace', path: '/data/password', value: password }]
              : { data: { password } },
        })
      const right = await patched('aHVudGVyMg==')
      expect(right).toMatchObject({ changes: [{ path: '/data/password', masked: true }] })
      expect(await patched('b3RoZXI=')).toEqual(right)
    }
    const applied = async (password: string): Promise<unknown> =>
      told('apply(manifest: $manifest, namespace: "shop", force: true, dryRun: true)', {
        manifest: {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'door' },
          data: { password },
        },
      })
    expect(await applied('b3RoZXI=')).toEqual(await applied('aHVudGVyMg=='))
    const unforced = async (data: Fields): Promise<unknown> => {
      const { errors } = await unshown(
        'apply(manifest: $manifest, namespace: "shop", dryRun: true, fieldManager: "guesser")',
        { manifest: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'door' }, ...data } },
      )
      return errors
    }
    const conflicting = await unforced({ data: { password: 'aHVudGVyMg==' } })
    expect(conflicting).toMatchObject([
      { extensions: { code: 'CONFLICT', conflicts: [{ field: '.data.password' }] } },
    ])
    expect(await unforced({ data: { password: 'b3RoZXI=' } })).toEqual(conflicting)
    expect(await unforced({ stringData: { password: 'hunter2' } })).toEqual(conflicting)
    expect(await unforced({ data: { another: 'b3RoZXI=' } })).toBeUndefined()
    const { metadata, ...contents } = door
    const sealed = { ...contents, immutable: true, metadata: { ...metadata, name: 'sealed' } }
    await cluster().must(`${core}/secrets`, { method: 'POST', body: sealed })
    const lookup = `secret(namespace: "${namespace}", name: "sealed")`
    const sealedId = await vi.waitFor(() => idOf(ann, lookup), { timeout: 60_000 })
    const rewritten = async (password: string): Promise<unknown> => {
      const patch = { data: { password } }
      const made = await unshown(
        `patch(id: "${sealedId}", type: MERGE, patch: $patch, dryRun: true)`,
        { patch },
      )
      return made.errors
    }
    const immutable = await rewritten('aHVudGVyMg==')
    expect(immutable).toMatchObject([{ extensions: { code: 'INVALID' } }])
    expect(await rewritten('b3RoZXI=')).toEqual(immutable)
    const labelled = await told(`label(id: "${id}", labels: { a: "c" }, dryRun: true)`, {})
    expect(labelled).toMatchObject({
      changes: [{ path: '/metadata/labels/a', after: 'c' }],
      object: null,
      preview: {
        kind: 'Secret',
        json: expect.not.objectContaining({ data: expect.anything() }),
      },
    })
    expect(JSON.stringify(labelled)).not.toContain('last-applied-configuration')
  })

  it('are not told by an apply without force: not by their copy, nor of a Secret without managers', async () => {
    const unforced = async (name: string, given: Fields): Promise<Fields> => {
      const { errors } = await unshown(
        'apply(manifest: $manifest, namespace: "shop", dryRun: true, fieldManager: "guesser")',
        {
          manifest: {
            apiVersion: 'v1',
            kind: 'Secret',
            ...given,
            metadata: { ...given.metadata, name },
          },
        },
      )
      return errors
    }
    const copied = (value: string): Fields => ({
      metadata: { annotations: { [lastApplied]: value } },
    })
    const conflicting = await unforced('door', copied(door.metadata.annotations[lastApplied]))
    expect(conflicting).toMatchObject([{ extensions: { code: 'CONFLICT' } }])
    expect(await unforced('door', copied('{}'))).toEqual(conflicting)
    expect(await unforced('door', { metadata: { annotations: { b: 'c' } } })).toBeUndefined()
    const unmanaged = { ...door, metadata: { name: 'unmanaged' } }
    await cluster().must(`${core}/secrets`, { method: 'POST', body: unmanaged })
    const body = { metadata: { managedFields: [{}] } }
    await cluster().must(`${core}/secrets/unmanaged`, { method: 'PATCH', body })
    const right = await unforced('unmanaged', { data: { password: 'aHVudGVyMg==' } })
    expect(right).toMatchObject([
      { extensions: { code: 'CONFLICT', conflicts: [{ field: '.data.password' }] } },
    ])
    expect(await unforced('unmanaged', { data: { password: 'b3RoZXI=' } })).toEqual(right)
  })

  it('are not told by an apply without force of a caller who may not get the Secret', async () => {
    const cleo = gateway.as('cleo-token')
    const applied = (password: string, more = ''): ReturnType<typeof write> => {
      const manifest = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'door' } }
      const mutation = `apply(manifest: $manifest, namespace: "shop", dryRun: true ${more})`
      return write(cleo, mutation, { manifest: { ...manifest, data: { password } } })
    }
    const right = await applied('aHVudGVyMg==')
    expect(right.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', verb: 'get' } }])
    expect(await applied('b3RoZXI=')).toEqual(right)
    const forced = await applied('aHVudGVyMg==', 'force: true')
    expect(forced.errors).toBeUndefined()
    expect(await applied('b3RoZXI=', 'force: true')).toEqual(forced)
  })

  it('stay where steps of a JSON patch only touch what is seen anyway', async () => {
    const patch = [
      { op: 'test', path: '/metadata/labels/a', value: 'b' },
      { op: 'copy', from: '/metadata/labels/a', path: '/metadata/annotations/a' },
      { op: 'add', path: '/data/pin', value: 'MTIzNA==' },
    ]
    const { data, errors } = await unshown(`patch(id: "${id}", type: JSON, patch: $patch)`, {
      patch,
    })
    expect(errors).toBeUndefined()
    expect(data.patch.changes).toMatchObject([
      { path: '/data/pin', after: null, masked: true },
      { path: '/metadata/annotations/a', after: 'b', masked: false },
    ])
    expect((await stored()).data).toEqual({ ...door.data, pin: 'MTIzNA==' })
  })
})

describe('a Secret whose values are served', () => {
  it('is audited as read by each write that shows them', async () => {
    await using simulator = await startSimulator()
    const reports = new Reports()
    await using gateway = await serveGateway({
      clusters: [{ name: 'test', server: simulator.url }],
      allowWrites: true,
      secretData: true,
      audit: reports,
    })
    const create = 'create(manifest: $manifest, namespace: "default")'
    expect((await write(gateway, create, { manifest: door })).errors).toBeUndefined()
    const id = await idOf(gateway, 'secret(namespace: "default", name: "door")')
    const read = async (mutation: string, variables: Fields = {}): Promise<unknown> => {
      const { errors } = await write(gateway, mutation, variables)
      expect(errors).toBeUndefined()
      return reports.operations.at(-1)?.secrets
    }
    const marked = ['test/default/door']
    expect(await read(`delete(id: "${id}", dryRun: true)`)).toEqual(marked)
    const patch = { data: { password: 'b3RoZXI=' } }
    const patched = `patch(id: "${id}", type: MERGE, patch: $patch, dryRun: true)`
    expect(await read(patched, { patch })).toEqual(marked)
    const copied = `patch(id: "${id}", type: JSON, patch: $patch, dryRun: true)`
    const copy = [{ op: 'copy', from: '/data/password', path: '/metadata/annotations/shown' }]
    expect(await read(copied, { patch: copy })).toEqual(marked)
    expect(await read(`label(id: "${id}", labels: { c: "d" })`)).toEqual([])
  })
})
