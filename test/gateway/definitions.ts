import { type Fields, must, type TestCluster } from './test-cluster.ts'

/** Where CustomResourceDefinitions are. */
export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** One version of a definition, with these properties of `spec`. */
export const versionOf = (name: string, properties: object, more: object = {}): Fields => ({
  name,
  served: true,
  storage: true,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties },
        status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
  ...more,
})

/** A definition of a namespaced kind. */
export const definitionOf = (
  kind: string,
  group: string,
  versions: readonly Fields[],
  more: object = {},
): Fields => {
  const plural = `${kind.toLowerCase()}s`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind }, versions, ...more },
  }
}

export const define = async (cluster: TestCluster, definition: Fields): Promise<void> => {
  await must(cluster, definitionsPath, { method: 'POST', body: definition })
}

export const redefine = async (
  cluster: TestCluster,
  name: string,
  versions: readonly Fields[],
): Promise<void> => {
  await must(cluster, `${definitionsPath}/${name}`, {
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    body: { spec: { versions } },
  })
}

export const undefine = async (cluster: TestCluster, name: string): Promise<void> => {
  await must(cluster, `${definitionsPath}/${name}`, { method: 'DELETE' })
}
