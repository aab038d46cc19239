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
  const used = new Set(kinds.map(({ kind }) => fileOf(kind.definition)))
  const files = [...used].toSorted((a, b) => (a < b ? -1 : 1))
  const imports = files.map((file) => `import type * as ${moduleOf(file)} from './wire/${file}'`)
  return `${header}
import { type Resource, splitApiVersion } from './api-resource.ts'
${imports.join('\n')}

/** The resources of a built-in kind, with the types of their objects. */
export interface BuiltInResources {
${kinds.map(({ kind, name }) => `readonly ${name}: Resource<${typeOf(kind)}>`).join('\n')}
}

/** \`apiVersion\`, kind, plural, and whether it is cluster-scoped. */
const table: Readonly<Record<keyof BuiltInResources, string>> = {
${kinds.map(({ kind, name }) => `${name}: '${resourceText(kind)}',`).join('\n')}
}

/**
 * The resources that Kubernetes 1.36 serves, under the plural names of their types: \`resources.configMaps\` is a
 * \`Resource<ConfigMap>\`. A server may serve more or fewer; \`discover\` tells.
 */
export const resources: BuiltInResources = Object.fromEntries(
  Object.entries(table).map(([name, text]) => {
    const [apiVersion = '', kind = '', resource = '', scope] = text.split(' ')
    const namespaced = scope !== 'cluster'
    return [name, { ...splitApiVersion(apiVersion), resource, kind, namespaced } satisfies Resource]
  }),
) as unknown as BuiltInResources
`
}

/** `configMaps` of ConfigMap and `configmaps`, `horizontalPodAutoscalersV1` of a version that is not preferred. */
function nameOfResource(kind: CapturedKind): string {
  const name = nameOfKind(kind)
  const at = name.lastIndexOf(kind.kind) + kind.kind.length
  const plain = lowerCamelCase(name.slice(0, at))
  return `${pluralOf(plain, kind.kind, kind.resource)}${name.slice(at)}`
}

/** `appsV1` of `apps-v1.ts`. */
const moduleOf = (file: string): string => file.slice(0, -'.ts'.length).replace('-v', 'V')

const typeOf = (kind: CapturedKind): string =>
  `${moduleOf(fileOf(kind.definition))}.${nameOfKind(kind)}`

function resourceText({ apiVersion, kind, resource, namespaced }: CapturedKind): string {
  return `${apiVersion} ${kind} ${resource}${namespaced ? '' : ' cluster'}`
}
