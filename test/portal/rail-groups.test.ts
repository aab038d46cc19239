import { describe, expect, it } from 'vitest'
import { railSections } from '../../packages/portal/src/frame/rail-groups.ts'

const kind = (path: string, name: string) => {
  const [resource = '', ...group] = path.split('.')
  return { path, title: `${name}s`, type: name, kind: name, resource, group: group.join('.') }
}
const kinds = [
  kind('pods', 'Pod'),
  kind('deployments.apps', 'Deployment'),
  kind('replicasets.apps', 'ReplicaSet'),
  kind('controllerrevisions.apps', 'ControllerRevision'),
  kind('nodes', 'Node'),
  kind('leases.coordination.k8s.io', 'Lease'),
  kind('widgets.stable.example.com', 'Widget'),
]
const count = (objects: number | null) => ({ objects, health: {} })

describe('the rail', () => {
  const sections = railSections(
    kinds,
    new Map([
      ['Pod', count(3)],
      ['ReplicaSet', count(2)],
      ['ControllerRevision', count(0)],
      ['Widget', count(1)],
    ]),
  )
  const shown = sections.map(({ name, kinds: own, quiet }) => [
    name,
    own.map((one) => one.kind),
    quiet.map((one) => one.kind),
  ])

  it('has the kinds by groups, custom ones under their API group, and folds away what is empty or not read yet', () => {
    expect(shown).toEqual([
      ['workloads', ['Pod', 'Deployment', 'ReplicaSet'], ['ControllerRevision']],
      ['nodes', ['Node'], []],
      ['cluster', [], ['Lease']],
      ['stable.example.com', ['Widget'], []],
    ])
  })
})
