import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { describeSmallWorld, gets, reads } from './small-world.ts'

/** Reads pods, and what owns them by name alone. */
const dora = caller('dora')
/** Reads pods alone. */
const erik = caller('erik')

const getsOf = (group: string, resource: string, name: string): Fields => ({
  ...gets(resource, name),
  apiGroups: [group],
})
const codes = (errors: readonly { readonly extensions: { readonly code: string } }[] = []) =>
  errors.map(({ extensions }) => extensions.code)

describeSmallWorld('A relation to one object that the row names', (world) => {
  let served: ViewedGateway
  beforeAll(async () => {
    const { make, allow, allowEverywhere } = world()
    const claim = await make('/api/v1/namespaces/one/persistentvolumeclaims', {
      metadata: { name: 'disk' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        volumeName: 'disk',
      },
    })
    await make('/api/v1/persistentvolumes', {
      metadata: { name: 'disk' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        hostPath: { path: '/disk' },
        claimRef: { namespace: 'one', name: 'disk', uid: claim.metadata.uid },
      },
    })
    await allow('one', 'dora', 'dora', [
      reads('', 'pods'),
      gets('persistentvolumeclaims', 'disk'),
      getsOf('apps', 'replicasets', 'shop-1'),
      getsOf('apps', 'deployments', 'shop'),
    ])
    await allow('one', 'erik', 'erik', [reads('', 'pods')])
    await allowEverywhere('dora', 'dora', [reads('', 'persistentvolumes')])
    served = await serveViewers({ clusters: [world().selection] })
  })
  afterAll(async () => served[Symbol.asyncDispose]())

  const name = '{ metadata { name } }'
  const owners = `replicaSet ${name} deployment ${name} controller { object { kind } } workload { object { kind } }`

  it.each(['query', 'explained'] as const)(
    'needs the right to get it by its name, by %s',
    async (way) => {
      const query = `{ pods(namespace: "one") { nodes { ${owners} } } }`
      const { data, errors } = await served[way](dora, query)
      expect(errors).toBeUndefined()
      expect(data.pods.nodes).toEqual([
        {
          replicaSet: { metadata: { name: 'shop-1' } },
          deployment: { metadata: { name: 'shop' } },
          controller: { object: { kind: 'ReplicaSet' } },
          workload: { object: { kind: 'Deployment' } },
        },
      ])
      const refused = await served[way](
        erik,
        `{ pods(namespace: "one") { nodes { replicaSet ${name} } } }`,
      )
      expect(codes(refused.errors)).toEqual(['FORBIDDEN'])
    },
  )

  it('is found by the name that stands beside its UID', async () => {
    const query = `{ persistentVolume(name: "disk") { claim ${name} } }`
    const { data, errors } = await served.query(dora, query)
    expect(errors).toBeUndefined()
    expect(data.persistentVolume).toEqual({ claim: { metadata: { name: 'disk' } } })
  })

  it('is followed in a live list', async () => {
    const rows: Fields[] = []
    const refusals: string[] = []
    const leave = served.connect(dora).subscribe<Fields>(
      {
        query: `subscription { pods(namespace: "one", coalesceMs: 5) { changes { object {
          replicaSet { metadata { name annotation(key: "touched") } } } } } }`,
      },
      {
        next: ({ data, errors }) => {
          refusals.push(...codes(errors as never))
          rows.push(...(data?.['pods'].changes ?? []))
        },
        error: (error) => refusals.push(JSON.stringify(error)),
        complete: () => {},
      },
    )
    const touched = () => rows.at(-1)?.object.replicaSet.metadata
    await expect.poll(touched).toEqual({ name: 'shop-1', annotation: null })
    await world().patch('/apis/apps/v1/namespaces/one/replicasets/shop-1', {
      metadata: { annotations: { touched: 'yes' } },
    })
    await expect.poll(touched).toEqual({ name: 'shop-1', annotation: 'yes' })
    expect(refusals).toEqual([])
    leave()
  })
})
