import { expect, it, vi } from 'vitest'
import { review, write } from '../../packages/portal/src/edit/apply-edit.ts'
import { editableOf } from '../../packages/portal/src/edit/editable.ts'
import { type Gateway, GatewayError } from '../../packages/portal/src/gateway/gateway.ts'
import type { SeenObject } from '../../packages/portal/src/object/live-object.ts'
import { describeAccess } from '../access/access-cluster.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { apps, populateShop, serveShop } from '../writes/shop.ts'

// The same entrance: the package is made of it.
vi.mock('@informerql/client', () => import('informerql/client'))

describeAccess('an edit of the portal', (cluster) => {
  it('claims what it changes and no more, gives up nothing that an earlier one has set, and removes what others have set when told to', async () => {
    const { must } = cluster()
    await populateShop(cluster())
    await using served = await serveShop(cluster())
    const ann = served.as('ann-token')
    const gateway = {
      ask: async (document: { readonly toString: () => string }, variables: Fields) => {
        const { data, errors = [] } = await ann.query(document.toString(), variables)
        if (errors.length > 0) throw new GatewayError(errors)
        return { data, errors }
      },
    } as unknown as Gateway
    const seen = async (): Promise<SeenObject> => {
      const { deployment } = await ann.data(
        '{ deployment(namespace: "shop", name: "web") { id clusterName apiVersion kind namespace name uid json } }',
      )
      return deployment as SeenObject
    }
    const edit = async (change: (object: Fields) => void, asPatch = false) => {
      const object = await seen()
      const base = editableOf(object.json)
      const edited = structuredClone(base)
      change(edited)
      const given = { object, base, edited, force: true, asPatch }
      const { kept, staying } = await review(gateway, given)
      const { resourceVersion } = (object.json as Fields).metadata
      const { changes } = await write(gateway, given, { kept, dryRun: false, resourceVersion })
      return { changes: changes.map(({ path }) => path), staying: staying.map(({ path }) => path) }
    }
    const labelled = await edit((object) => (object.metadata.labels = { team: 'shop' }))
    expect(labelled).toEqual({ changes: ['/metadata/labels/team'], staying: [] })
    const imaged = await edit((object) => {
      object.spec.template.spec.containers[1].image = 'side:2'
      object.metadata.labels.tier = 'front'
    })
    expect(imaged.changes).toEqual([
      '/metadata/labels/tier',
      '/spec/template/spec/containers/1/image',
    ])
    const removed = await edit((object) => {
      delete object.metadata.labels.tier
      object.spec.template.spec.containers.shift()
    })
    expect(removed).toEqual({
      changes: ['/metadata/labels/tier'],
      staying: ['/spec/template/spec/containers/0'],
    })
    const { metadata, spec } = await must(`${apps}/deployments/web`)
    expect(metadata.labels).toEqual({ team: 'shop' })
    expect(spec.template.spec.containers).toMatchObject([
      { name: 'main', image: 'web:1' },
      { name: 'side', image: 'side:2' },
    ])
    const own = metadata.managedFields.find(
      ({ manager, operation }: Fields) => manager === 'informerql' && operation === 'Apply',
    )
    expect(Object.keys(own.fieldsV1['f:spec'])).toEqual(['f:template'])
    const patched = await edit((object) => object.spec.template.spec.containers.shift(), true)
    expect(patched.changes).toContain('/spec/template/spec/containers/0')
    const after = await must(`${apps}/deployments/web`)
    expect(after.spec.template.spec.containers).toMatchObject([{ name: 'side', image: 'side:2' }])
  })
})
