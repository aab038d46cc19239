import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { object, RelationCluster } from './relation-cluster.ts'

const admission = 'admissionregistration.k8s.io/v1'
const kinds = ['Validating', 'Mutating'] as const

describe.each(kinds)('what bindings of %s admission policies choose', (prefix) => {
  let cluster: RelationCluster
  const [policy, binding] = [`${prefix}AdmissionPolicy`, `${prefix}AdmissionPolicyBinding`]
  const bound = (name: string, paramRef: object) =>
    object(admission, binding, name, { spec: { policyName: 'limits', paramRef } })
  const bindings = { group: 'admissionregistration.k8s.io', version: 'v1', resource: '' }
  beforeAll(async () => {
    cluster = await RelationCluster.start({ limits: { work: { rows: 1_500 } } })
    cluster.create('here', [
      object(admission, policy, 'limits', {
        spec: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } },
      }),
      object('v1', 'ConfigMap', 'one', {}, { labels: { tier: 'gold', zone: 'a' } }),
      object('v1', 'ConfigMap', 'bare'),
      bound('by-name', { name: 'one', namespace: 'here' }),
      bound('by-labels', { selector: { matchLabels: { tier: 'gold', zone: 'a' } } }),
      bound('by-other-labels', { selector: { matchLabels: { tier: 'gold', zone: 'b' } } }),
      bound('by-absence', {
        selector: { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] },
      }),
      // What a way back by trying all would have to pay for.
      ...Array.from({ length: 500 }, (_, at) =>
        bound(`other-${at}`, { name: `other-${at}`, namespace: 'here' }),
      ),
    ])
  })
  afterAll(async () => cluster[Symbol.asyncDispose]())

  const choosing = async (name: string) =>
    cluster.namesAt('here', `configMap ${name} admissionPolicyBindings`)

  it('is found from the chosen by its name and labels, however many choose others', async () => {
    expect(await choosing('one')).toEqual(['by-labels', 'by-name'])
    expect(await choosing('bare')).toEqual(['by-absence'])
  })

  it('is what they choose now', async () => {
    const resource = { ...bindings, resource: `${binding.toLowerCase()}s` }
    const { metadata } = cluster.simulator.storage.get(resource, '', 'by-name') ?? {}
    cluster.simulator.storage.update(resource, {
      apiVersion: admission,
      kind: binding,
      metadata: { ...metadata, name: 'by-name' },
      spec: { policyName: 'limits', paramRef: { name: 'bare', namespace: 'here' } },
    })
    await expect.poll(async () => choosing('bare')).toEqual(['by-absence', 'by-name'])
    expect(await choosing('one')).toEqual(['by-labels'])
  })
})
