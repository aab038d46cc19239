import { expect, it } from 'vitest'
import { managersOf } from '../../packages/portal/src/object/managed-by.ts'

const web = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' }
const managed = (
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>> = {},
) => managersOf(web, { labels, annotations })

const tracking = 'argocd.argoproj.io/tracking-id'
const argo = {
  tool: 'Argo CD',
  owner: { group: 'argoproj.io', kind: 'Application' },
}
const release = {
  'meta.helm.sh/release-name': 'web',
  'meta.helm.sh/release-namespace': 'shop',
}

it('an object that says nothing has no manager', () => {
  expect(managed({ 'app.kubernetes.io/instance': 'web' })).toEqual([])
  expect(managersOf(web, undefined)).toEqual([])
})

it('Argo CD tracks by its annotation, in its own namespace or another one', () => {
  expect(managed({}, { [tracking]: 'shop:apps/Deployment:shop/web' })).toEqual([
    { ...argo, name: 'shop' },
  ])
  expect(managed({}, { [tracking]: 'team_shop:apps/Deployment:shop/web' })).toEqual([
    { ...argo, namespace: 'team', name: 'shop' },
  ])
})

it('a copy of another object is not managed by what manages that one', () => {
  for (const other of [
    'apps/Deployment:shop/api',
    'apps/ReplicaSet:shop/web',
    '/Deployment:shop/web',
  ]) {
    expect(managed({}, { [tracking]: `shop:${other}` })).toEqual([])
  }
  expect(managed({}, { [tracking]: 'nonsense' })).toEqual([])
})

it('Argo CD tracks by its label, too', () => {
  expect(managed({ 'argocd.argoproj.io/instance': 'shop' })).toEqual([{ ...argo, name: 'shop' }])
})

it('Flux says the place of what manages, and covers the release of Helm that it makes', () => {
  const group = 'helm.toolkit.fluxcd.io'
  const labels = { [`${group}/name`]: 'web', [`${group}/namespace`]: 'flux' }
  expect(managed(labels, release)).toEqual([
    {
      tool: 'Flux',
      owner: { group, kind: 'HelmRelease' },
      namespace: 'flux',
      name: 'web',
    },
  ])
})

it('a release of Helm says its namespace', () => {
  expect(managed({}, release)).toEqual([{ tool: 'Helm', namespace: 'shop', name: 'web' }])
})

it('what a controller makes has copies of the labels, and no manager', () => {
  const ownerReferences = [{ kind: 'ReplicaSet', name: 'web-1', controller: true }]
  expect(managersOf(web, { annotations: release, ownerReferences })).toEqual([])
})
