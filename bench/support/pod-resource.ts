import type { ApiResource } from '../../src/kubernetes/api-resource.ts'

/** Pods, as discovery describes them. */
export const pods: ApiResource = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  singular: 'pod',
  namespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  shortNames: ['po'],
  subresources: ['status'],
}
