import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { customCategories, customKinds, customRows as ownRows } from './custom-rows.ts'
import { operatorKinds, operatorRows } from './operator-rows.ts'
import { RelationCluster } from './relation-cluster.ts'

const customRows = [...ownRows, ...operatorRows]

describe('relations of well-known CRDs sleep until those are installed', () => {
  let cluster: RelationCluster
  beforeAll(async () => {
    cluster = await RelationCluster.start()
  })
  afterAll(async () => cluster[Symbol.asyncDispose]())

  const fieldsOf = (type: string): readonly string[] => {
    const found = cluster.gateway.schema.getType(type)
    return found !== undefined && 'getFields' in found ? Object.keys(found.getFields()) : []
  }

  it('before, nothing speaks of them, and nothing is amiss', () => {
    expect(fieldsOf('Secret')).not.toContain('certificates')
    expect(fieldsOf('Service')).not.toContain('httpRoutes')
    expect(cluster.log.filter((line) => line.includes('.graphql'))).toEqual([])
  })

  it('they wake when the CRDs appear', async () => {
    await cluster.define([...customKinds, ...operatorKinds], customCategories)
    await expect.poll(() => fieldsOf('Secret')).toContain('certificates')
    await expect.poll(() => fieldsOf('AutoscalingK8sIoVerticalPodAutoscaler')).toContain('target')
    for (const [at, { objects }] of customRows.entries()) cluster.create(`custom-${at}`, objects)
  })

  it.each(customRows.map(({ row, expected }, at) => [row, expected, at] as const))(
    'row %s',
    async (_row, expected, at) => {
      const found: Record<string, unknown> = {}
      for (const path of Object.keys(expected)) {
        await expect
          .poll(async () => (found[path] = await cluster.namesAt(`custom-${at}`, path)), {
            timeout: 60_000,
          })
          .toEqual(expected[path])
      }
    },
  )

  it('row 52: a CRD leads to the objects that it defines, and they lead back', async () => {
    const definition = 'customResourceDefinition certificates.cert-manager.io'
    expect(await cluster.namesAt('', `${definition} instances`)).toEqual(['cluster', 'own'])
    const at = customRows.findIndex(({ row }) => row.startsWith('58'))
    expect(await cluster.namesAt(`custom-${at}`, 'certManagerCertificate own definition')).toBe(
      'certificates.cert-manager.io',
    )
    const none = 'customResourceDefinition rollouts.argoproj.io'
    expect(await cluster.namesAt('', `${none} instances`)).toEqual(['planned', 'web'])
  })

  it('rows 56 and 60: back from what names an application or is a part of a composite', async () => {
    const last = customRows.findIndex(({ row }) => row.startsWith('56: what says itself'))
    const { data } = await cluster.ask(`{
      found: argoApplication(namespace: "custom-${last}", name: "rel-idle") {
        trackedObjects(types: ["ConfigMap"]) { types nodes { kind metadata { name } } }
      }
    }`)
    expect(data.found.trackedObjects.nodes).toEqual([
      { kind: 'ConfigMap', metadata: { name: 'labelled' } },
    ])
    const composites = `{
      found: node(name: "rel-managed") {
        composites(types: ["RelExampleXbucket", "RelExampleXqueue"]) {
          types totalCount nodes { metadata { name } ... on RelExampleXbucket { claim { name } } }
        }
      }
    }`
    expect((await cluster.ask(composites)).data.found).toEqual({
      composites: {
        types: ['RelExampleXbucket', 'RelExampleXqueue'],
        totalCount: 1,
        nodes: [{ metadata: { name: 'rel-made' }, claim: null }],
      },
    })
  })

  it('row 62: monitors are filtered by what takes them, as the labels of namespaces change', async () => {
    const untaken = async (): Promise<readonly string[]> => {
      const { data, errors } = await cluster.ask(
        '{ monitoringPodMonitors(where: { prometheuses: { none: { name: { eq: "labelled" } } }, name: { in: ["seen", "unseen"] } }) { nodes { metadata { name } } } }',
      )
      expect(errors).toBeUndefined()
      return data.monitoringPodMonitors.nodes.map(
        ({ metadata }: { metadata: { name: string } }) => metadata.name,
      )
    }
    expect(await untaken()).toEqual(['unseen'])
    const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
    const { metadata } = cluster.simulator.storage.get(namespaces, '', 'rel-unwatched') ?? {}
    cluster.simulator.storage.update(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { ...metadata, name: 'rel-unwatched', labels: { 'rel/watched': 'yes' } },
    })
    await expect.poll(untaken).toEqual([])
  })

  it('row 57: a Kustomization leads to what it has applied, of kinds that are named', async () => {
    const at = customRows.findIndex(({ row }) => row.startsWith('57'))
    const { data, errors } = await cluster.ask(`{
      fluxKustomizeKustomization(namespace: "custom-${at}", name: "shop") {
        objects(types: ["ConfigMap"]) { types totalCount nodes { kind metadata { name } } }
      }
    }`)
    expect(errors).toBeUndefined()
    const { objects } = data.fluxKustomizeKustomization
    expect(objects.nodes).toEqual([{ kind: 'ConfigMap', metadata: { name: 'applied' } }])
    expect(objects.totalCount).toBe(1)
    expect(objects.types).toContain('ConfigMap')
  })
})
