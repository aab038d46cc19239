import { describe, expect, it } from 'vitest'
import {
  ask,
  type ContractAnswer,
  describeContract,
  watch,
  type Fields,
} from './contract-server.ts'

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.stable.example.com' },
  spec: {
    group: 'stable.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.color' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  color: { type: 'string' },
                  size: { type: 'integer', format: 'int64' },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const version = '/apis/stable.example.com/v1'
const widgets = `${version}/namespaces/default/widgets`

const isEstablished = (status: Fields): boolean =>
  status?.conditions?.some((one: Fields) => one.type === 'Established' && one.status === 'True') ===
  true

describeContract('A custom resource', (server) => {
  const eventually = async (
    path: string,
    holds: (answer: ContractAnswer) => boolean,
  ): Promise<ContractAnswer> => {
    await expect.poll(async () => ask(server(), path)).toSatisfy(holds)
    return ask(server(), path)
  }

  describe('from its definition to its end', () => {
    it('is accepted', async () => {
      const answer = await ask(server(), definitions, { method: 'POST', body: definition })
      expect(answer.status).toBe(201)
      const path = `${definitions}/widgets.stable.example.com`
      const {
        json: { status },
      } = await eventually(path, ({ json }) => isEstablished(json.status))
      expect(status).toMatchObject({
        conditions: [
          { type: 'NamesAccepted', status: 'True' },
          { type: 'Established', status: 'True' },
        ],
        acceptedNames: {
          plural: 'widgets',
          kind: 'Widget',
          listKind: 'WidgetList',
          singular: 'widget',
        },
        storedVersions: ['v1'],
      })
    })

    it('stands in discovery and OpenAPI', async () => {
      const { json: list } = await eventually(version, ({ status }) => status === 200)
      expect(list).toMatchObject({ kind: 'APIResourceList', groupVersion: 'stable.example.com/v1' })
      expect(list.resources[0]).toMatchObject({
        name: 'widgets',
        kind: 'Widget',
        shortNames: ['wd'],
      })
      expect(list.resources[0].verbs).toContain('watch')
      await eventually('/apis', ({ text }) => text.includes('stable.example.com'))
      const { json: document } = await eventually(
        `/openapi/v3${version}`,
        ({ status }) => status === 200,
      )
      const schema = document.components.schemas['com.example.stable.v1.Widget']
      expect(schema.properties.spec.properties.size).toEqual({ type: 'integer', format: 'int64' })
      expect(schema['x-kubernetes-group-version-kind']).toEqual([
        { group: 'stable.example.com', kind: 'Widget', version: 'v1' },
      ])
      expect(document.components.schemas).toHaveProperty(
        'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
      )
    })

    it('is written, listed, selected and watched as any other', async () => {
      const body = {
        apiVersion: 'stable.example.com/v1',
        kind: 'Widget',
        metadata: { name: 'a' },
        spec: { color: 'red' },
        status: { lost: true },
      }
      const { json: created } = await ask(server(), widgets, { method: 'POST', body })
      expect(created.status).toBeUndefined()
      expect(created.metadata.generation).toBe(1)
      const at = `${widgets}?watch=1&resourceVersion=${created.metadata.resourceVersion}`
      await using stream = await watch(server(), at)
      const patched = await ask(server(), `${widgets}/a/status`, {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body: { status: { ready: true } },
      })
      expect(patched.json).toMatchObject({ status: { ready: true }, metadata: { generation: 1 } })
      expect(await stream.next()).toEqual({ type: 'MODIFIED', object: patched.json })
      const { json: list } = await ask(server(), `${widgets}?fieldSelector=spec.color%3Dred`)
      expect(list).toMatchObject({ kind: 'WidgetList', apiVersion: 'stable.example.com/v1' })
      // Unlike those of built-in kinds, items name their kind.
      expect(list.items).toEqual([patched.json])
      const { json: none } = await ask(server(), `${widgets}?fieldSelector=spec.color%3Dblue`)
      expect(none.items).toEqual([])
    })

    it('is gone with its definition, and so are its watches, after the last event', async () => {
      const { json: list } = await ask(server(), widgets)
      const at = `${widgets}?watch=1&resourceVersion=${list.metadata.resourceVersion}`
      await using stream = await watch(server(), at)
      const answer = await ask(server(), `${definitions}/widgets.stable.example.com`, {
        method: 'DELETE',
      })
      expect(answer.status).toBe(200)
      await eventually(widgets, ({ status }) => status === 404)
      const events = await stream.rest()
      expect(events.map(({ type, object }) => [type, object.metadata?.name])).toEqual([
        ['DELETED', 'a'],
      ])
      await eventually('/apis', ({ text }) => !text.includes('stable.example.com'))
    })
  })
})
