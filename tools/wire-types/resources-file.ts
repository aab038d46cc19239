import { lowerCamelCase } from '../../src/lib/letter-case.ts'
import { pluralOf } from '../../src/kubernetes/plural-name.ts'
import { type CapturedKind, capturedKinds } from './captured-kinds.ts'
import { header } from './wire-files.ts'
import { fileOf, nameOfKind } from './wire-names.ts'

/** The unformatted text of `src/kubernetes/resources.ts`: each kind that can be watched, by its plural name. */
export function resourcesFile(): string {
  const kinds = capturedKinds
    .filter(({ watchable }) => watchable)
    .map((kind) => ({ kind, name: nameOfResource(kind) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const imports = Map.groupBy(kinds, ({ kind }) => fileOf(kind.definition))
  const importLines = Array.from(imports, ([file, of]) => {
    const types = of.map(({ kind }) => nameOfKind(kind)).toSorted()
    return `import type { ${types.join(', ')} } from './wire/${file}'`
  })
  return `${header}
import type { Resource } from './api-resource.ts'
${importLines.toSorted().join('\n')}

/** The resources of a built-in kind, with the types of their objects. */
export interface BuiltInResources {
${kinds.map(({ kind, name }) => `readonly ${name}: Resource<${nameOfKind(kind)}>`).join('\n')}
}

/**
 * The resources that Kubernetes 1.36 serves, under the plural names of their types: \`resources.configMaps\` is a
 * \`Resource<ConfigMap>\`. A server may serve more or fewer; \`discover\` tells.
 */
export const resources: BuiltInResources = {
${kinds.map(({ kind, name }) => `${name}: ${resourceText(kind)},`).join('\n')}
}
`
}

/** `configMaps` of ConfigMap and `configmaps`, `horizontalPodAutoscalersV1` of a version that is not preferred. */
function nameOfResource(kind: CapturedKind): string {
  const name = nameOfKind(kind)
  const at = name.lastIndexOf(kind.kind) + kind.kind.length
  const plain = lowerCamelCase(name.slice(0, at))
  return `${pluralOf(plain, kind.kind, kind.resource)}${name.slice(at)}`
}

function resourceText({ apiVersion, kind, resource, namespaced }: CapturedKind): string {
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  return `{ group: '${group}', version: '${version}', resource: '${resource}', kind: '${kind}', namespaced: ${namespaced} }`
}
