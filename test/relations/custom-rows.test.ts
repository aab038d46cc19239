import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { customCategories, customKinds, customRows } from './custom-rows.ts'
import { RelationCluster } from './relation-cluster.ts'

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
    await cluster.define(customKinds, customCategories)
    await expect.poll(() => fieldsOf('Secret'), { timeout: 30_000 }).toContain('certificates')
    await expect
      .poll(() => fieldsOf('AutoscalingK8sIoVerticalPodAutoscaler'), { timeout: 30_000 })
      .toContain('target')
    for (const [at, { objects }] of customRows.entries()) cluster.create(`custom-${at}`, objects)
  })

  it.each(customRows.map(({ row, expected }, at) => [row, expected, at] as const))(
    'row %s',
    async (_row, expected, at) => {
      const found: Record<string, unknown> = {}
      for (const path of Object.keys(expected)) {
        await expect
          .poll(async () => (found[path] = await cluster.namesAt(`custom-${at}`, path)))
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
    expect(await cluster.namesAt('', `${none} instances`)).toEqual(['web'])
  })

  it('row 57: a Kustomization leads to what it has applied, of kinds that are named', async () => {
    const at = customRows.findIndex(({ row }) => row.startsWith('57'))
    const { data, errors } = await cluster.ask(`{
      fluxKustomizeKustomization(namespace: "custom-${at}", name: "shop") {
        objects(kinds: ["ConfigMap"]) { kinds totalCount nodes { kind metadata { name } } }
      }
    }`)
    expect(errors).toBeUndefined()
    const { objects } = data.fluxKustomizeKustomization
    expect(objects.nodes).toEqual([{ kind: 'ConfigMap', metadata: { name: 'applied' } }])
    expect(objects.totalCount).toBe(1)
    expect(objects.kinds).toContain('ConfigMap')
  })
})
