import { expect, it } from 'vitest'
import type { StoreView } from '../../src/informer/store/store-view.ts'
import type { Kind } from '../../src/graphql/model/kind.ts'
import type { KindView } from '../../src/graphql/prepare/kind-view.ts'
import { accessFingerprint } from '../../src/graphql/prepare/access-fingerprint.ts'
import { type Scope, unrestricted } from '../../src/query/condition/scope.ts'

const part = (resource: string, scope: Scope, viewer?: string): KindView => ({
  cluster: 'one',
  incarnation: '',
  kind: {
    resource: { group: '', version: 'v1', resource, kind: resource, namespaced: true },
  } as unknown as Kind,
  view: {} as StoreView,
  scope,
  byName: viewer === undefined ? undefined : { identity: viewer, allows: () => false },
})

const namespaces = (...names: string[]): Scope => ({
  form: 'namespaces',
  namespaces: new Set(names),
})

it('is the same for whoever may see everything', () => {
  expect(accessFingerprint([part('pods', unrestricted)])).toBe('')
  expect(accessFingerprint([part('pods', unrestricted), part('nodes', unrestricted)])).toBe('')
})

it('is the same for the same namespaces of the same kinds, in whatever order', () => {
  const [pods, nodes] = [part('pods', namespaces('a', 'b')), part('services', namespaces('a'))]
  const same = [part('services', namespaces('a')), part('pods', namespaces('b', 'a'))]
  expect(accessFingerprint([pods, nodes])).toBe(accessFingerprint(same))
})

it('is another for other namespaces, other kinds, and somebody else’s look-ups by name', () => {
  const all = [
    [part('pods', namespaces('a'))],
    [part('pods', namespaces('a', 'b'))],
    [part('services', namespaces('a'))],
    [part('pods', namespaces('a'), 'alice')],
    [part('pods', namespaces('a'), 'bob')],
    [part('pods', unrestricted), part('services', namespaces('a', 'b'))],
  ].map((parts) => accessFingerprint(parts))
  expect(new Set([...all, '']).size).toBe(all.length + 1)
})
