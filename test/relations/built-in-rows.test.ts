import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bindingRows } from './binding-rows.ts'
import { clusterRows } from './cluster-rows.ts'
import { networkRows } from './network-rows.ts'
import type { GraphQLAnswer } from '../support/gateway.ts'
import type { Fields } from './random-cluster.ts'
import { object, ownedBy, RelationCluster } from './relation-cluster.ts'
import { workloadRows } from './workload-rows.ts'

const rows = [...workloadRows, ...networkRows, ...clusterRows, ...bindingRows]

describe('relations of built-in kinds', () => {
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

  it('row 55: the objects of an application lead to each other by their label', async () => {
    const labelled = (kind: string, name: string, labels: object, metadata: object = {}) =>
      object('v1', kind, name, {}, { labels, ...metadata })
    const [instance, partOf] = ['app.kubernetes.io/instance', 'app.kubernetes.io/part-of']
    cluster.create('apps', [
      labelled('ConfigMap', 'one', { [instance]: 'shop', [partOf]: 'suite' }),
      labelled('Secret', 'two', { [instance]: 'shop' }),
      labelled('ConfigMap', 'three', { [instance]: 'other', [partOf]: 'suite' }),
      labelled('ConfigMap', 'four', {}),
      labelled('ConfigMap', 'one', { [instance]: 'shop' }, { namespace: 'other-apps' }),
      labelled('PersistentVolume', 'rel-five', { [instance]: 'shop' }),
    ])
    const kinds = '(types: ["ConfigMap", "Secret", "PersistentVolume"])'
    const part = `${kinds} { totalCount nodes { kind metadata { namespace name } } }`
    const ask = (lookup: string): Promise<GraphQLAnswer> =>
      cluster.ask(`{ found: ${lookup} { instanceObjects${part} partOfObjects${part} } }`)
    const namesOf = ({ totalCount, nodes }: Fields): readonly string[] => {
      expect(totalCount).toBe(nodes.length)
      return nodes.map(
        ({ kind, metadata: { namespace, name } }: Fields) => `${kind} ${namespace ?? ''}/${name}`,
      )
    }
    const one = (await ask('configMap(namespace: "apps", name: "one")')).data.found
    expect(namesOf(one.instanceObjects)).toEqual([
      'ConfigMap apps/one',
      'PersistentVolume /rel-five',
      'Secret apps/two',
    ])
    expect(namesOf(one.partOfObjects)).toEqual(['ConfigMap apps/one', 'ConfigMap apps/three'])
    const four = (await ask('configMap(namespace: "apps", name: "four")')).data.found
    expect(namesOf(four.instanceObjects)).toEqual([])
    const five = (await ask('persistentVolume(name: "rel-five")')).data.found
    expect(namesOf(five.instanceObjects)).toContain('ConfigMap other-apps/one')
    expect(namesOf(five.instanceObjects)).toHaveLength(4)
  })

  it('row 45: groups and users are found by their names', async () => {
    const { data } = await cluster.ask(`{
      groups: clusterRoleBindings(where: { subjectGroup: { eq: "developers" } }) { nodes { metadata { name } } }
      users: clusterRoleBindings(where: { subjectUser: { eq: "jane" } }) { nodes { metadata { name } } }
      mistaken: clusterRoleBindings(where: { subjectUser: { eq: "developers" } }) { totalCount }
    }`)
    const found = [{ metadata: { name: 'rel-people' } }]
    expect(data).toEqual({
      groups: { nodes: found },
      users: { nodes: found },
      mistaken: { totalCount: 0 },
    })
  })

  it('row 50: parameters are read as the kind that the policy says', async () => {
    const { data } = await cluster.ask(`{
      validatingAdmissionPolicyBinding(name: "rel-limited") {
        params { apiVersion kind namespace name object { kind } }
      }
    }`)
    const at = rows.findIndex(({ row }) => row.startsWith('50'))
    expect(data.validatingAdmissionPolicyBinding.params).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      namespace: `row-${at}`,
      name: 'limits',
      object: { kind: 'ConfigMap' },
    })
  })

  it('the events of pods are in the order in which they were seen, the newest last', async () => {
    const minute = (at: number): string => `2026-01-01T10:0${at}:00Z`
    const event = (name: string, at: number, type: string, pod: string) =>
      object('v1', 'Event', name, {
        involvedObject: { kind: 'Pod', namespace: 'events', name: pod },
        type,
        lastTimestamp: minute(at),
      })
    const owner = ownedBy('apps/v1', 'StatefulSet', 'db')
    cluster.create('events', [
      object('apps/v1', 'StatefulSet', 'db'),
      ...['db-0', 'db-1'].map((name) =>
        object('v1', 'Pod', name, { spec: { containers: [] } }, owner),
      ),
      object('v1', 'Pod', 'other', { spec: { containers: [] } }),
      event('z', 1, 'Warning', 'db-0'),
      event('y', 4, 'Warning', 'db-1'),
      event('x', 2, 'Normal', 'db-1'),
      event('w', 3, 'Warning', 'db-0'),
      event('v', 5, 'Warning', 'other'),
    ])
    const { data, errors } = await cluster.ask(`{
      statefulSet(namespace: "events", name: "db") {
        all: podEvents { nodes { metadata { name } } }
        last: podEvents(last: 2, where: { type: { eq: "Warning" } }) { totalCount nodes { metadata { name } } }
      }
    }`)
    expect(errors).toBeUndefined()
    const { all, last } = data.statefulSet
    const names = (nodes: Fields): string =>
      nodes.map(({ metadata }: Fields) => metadata.name).join('')
    expect(names(all.nodes)).toBe('zxwy')
    expect([last.totalCount, names(last.nodes)]).toEqual([3, 'wy'])
  })
})
