import { expect, it } from 'vitest'
import { makerOf } from '../../packages/portal/src/actions/makers.ts'

const ofA = (kind: string, apiVersion = 'apps/v1') => ({
  ownerReferences: [{ apiVersion, kind, name: 'one', controller: true }],
})

const pod = (metadata: object, phase = 'Running') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  json: { metadata, status: { phase } },
})

it.each([
  ['ReplicaSet', 'apps/v1'],
  ['StatefulSet', 'apps/v1'],
  ['DaemonSet', 'apps/v1'],
  ['ReplicationController', 'v1'],
  ['Job', 'batch/v1'],
  ['Node', 'v1'],
])('A %s makes a pod that runs again', (kind, apiVersion) => {
  expect(makerOf(pod(ofA(kind, apiVersion)))).toEqual({ kind, name: 'one' })
})

it.each([
  ['a finished pod of a Job', pod(ofA('Job', 'batch/v1'), 'Succeeded')],
  ['a failed pod of a Job, which has retried it', pod(ofA('Job', 'batch/v1'), 'Failed')],
  ['an evicted pod of a ReplicaSet, which has replaced it', pod(ofA('ReplicaSet'), 'Failed')],
  ['a pod of its own', pod({})],
  ['a pod of something unknown', pod(ofA('Workflow', 'argoproj.io/v1alpha1'))],
  ['a ReplicaSet of another group', pod(ofA('ReplicaSet', 'example.com/v1'))],
  [
    'a Job of a CronJob',
    { apiVersion: 'batch/v1', kind: 'Job', json: { metadata: ofA('CronJob', 'batch/v1') } },
  ],
  [
    'the ReplicaSet of an earlier revision',
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      json: { metadata: ofA('Deployment'), spec: { replicas: 0 } },
    },
  ],
])('Nothing makes %s again', (_, object) => {
  expect(makerOf(object)).toBeUndefined()
})

it('A Deployment makes its ReplicaSet again, and a StatefulSet a pod that has failed', () => {
  expect(
    makerOf({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      json: { metadata: ofA('Deployment'), spec: { replicas: 2 } },
    }),
  ).toEqual({ kind: 'Deployment', name: 'one' })
  expect(makerOf(pod(ofA('StatefulSet'), 'Failed'))).toEqual({ kind: 'StatefulSet', name: 'one' })
})
