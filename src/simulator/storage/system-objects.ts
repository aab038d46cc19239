import type { Storage } from './storage.ts'

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

/** The namespaces that every cluster has, where they are not there yet. */
export function addSystemObjects(storage: Storage): void {
  const resource = { group: '', version: 'v1', resource: 'namespaces' }
  for (const name of namespaces) {
    if (storage.get(resource, '', name) !== undefined) continue
    storage.create(resource, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
  }
}
