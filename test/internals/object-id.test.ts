// Imports internals: ids are opaque outside.
import { describe, expect, it } from 'vitest'
import {
  decodeObjectId,
  encodeObjectId,
  type ObjectIdentity,
  ObjectIdError,
} from '../../src/graphql/model/object-id.ts'

const uid = '6f8c1a52-9a39-4e0b-8d4a-c2f3a1f2b9aa'

const foreign = (text: string): string => Buffer.from(text).toString('base64url')

describe('object ids', () => {
  it.each<ObjectIdentity>([
    { cluster: 'prod', group: 'apps', kind: 'Deployment', object: { uid } },
    { cluster: 'arn:aws:eks:eu/zürich', group: '', kind: 'Pod', object: { uid } },
    {
      cluster: 'prod',
      group: 'metrics.k8s.io',
      kind: 'PodMetrics',
      object: { namespace: 'shop', name: 'web' },
    },
    {
      cluster: 'prod',
      group: 'metrics.k8s.io',
      kind: 'NodeMetrics',
      object: { namespace: '', name: 'node-1' },
    },
  ])('say what they were made of: %j', (identity) => {
    const id = encodeObjectId(identity)
    expect(id).toMatch(/^[\w-]+$/)
    expect(decodeObjectId(id)).toEqual(identity)
  })

  const good = encodeObjectId({ cluster: 'c', group: '', kind: 'Pod', object: { uid } })
  it.each([
    '',
    'nonsense',
    `${good}=`,
    `${good}!`,
    foreign(`2\0c\0\0Pod\0${uid}`),
    foreign('1\0c\0\0Pod\0'),
    foreign('1\0c\0\0\0uid'),
    foreign('1\0c\0\0Pod\0ns\0'),
    foreign('1\0c\0\0Pod\0ns\0name\0more'),
  ])('refuse %j', (id) => {
    expect(() => decodeObjectId(id)).toThrow(ObjectIdError)
  })
})
