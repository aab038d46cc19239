import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clusterRows } from './cluster-rows.ts'
import { networkRows } from './network-rows.ts'
import { RelationCluster } from './relation-cluster.ts'
import { workloadRows } from './workload-rows.ts'

const rows = [...workloadRows, ...networkRows, ...clusterRows]

describe('relations of built-in kinds, by plans and by graphql-js', () => {
  let cluster: RelationCluster
  beforeAll(async () => {
    cluster = await RelationCluster.start()
    for (const [at, { objects }] of rows.entries()) cluster.create(`row-${at}`, objects)
  })
  afterAll(async () => cluster[Symbol.asyncDispose]())

  it.each(rows.map(({ row, expected }, at) => [row, expected, at] as const))(
    'row %s',
    async (_row, expected, at) => {
      const found: Record<string, unknown> = {}
      for (const path of Object.keys(expected)) {
        found[path] = await cluster.namesAt(`row-${at}`, path)
      }
      expect(found).toEqual(expected)
    },
  )
})
