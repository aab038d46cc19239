import type { Unstructured } from '../../kubernetes/object.ts'
import type { Schema } from '../api/schema.ts'

/** The resource of CustomResourceDefinitions. */
export const definitionResource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
} as const

/** The `spec.names` and `status.acceptedNames` of a definition. */
export interface DefinitionNames {
  readonly plural: string
  readonly singular?: string
  readonly kind: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

export interface DefinitionVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: Schema }
  readonly subresources?: {
    readonly status?: object
    readonly scale?: {
      readonly specReplicasPath: string
      readonly statusReplicasPath: string
      readonly labelSelectorPath?: string
    }
  }
  readonly additionalPrinterColumns?: readonly {
    readonly name?: string
    readonly type?: string
    readonly format?: string
    readonly description?: string
    readonly priority?: number
    readonly jsonPath?: string
  }[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

/** The parts of a CustomResourceDefinition's `spec` that the simulator reads. */
export interface DefinitionSpec {
  readonly group: string
  /** `Namespaced` or `Cluster`. */
  readonly scope: string
  readonly names: DefinitionNames
  readonly versions: readonly DefinitionVersion[]
  readonly conversion?: { readonly strategy?: string; readonly webhook?: object }
  readonly preserveUnknownFields?: boolean
}

export interface DefinitionCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly lastTransitionTime: string
  readonly reason: string
  readonly message: string
}

export interface DefinitionStatus {
  readonly conditions?: readonly DefinitionCondition[] | null
  readonly acceptedNames?: Partial<DefinitionNames>
  readonly storedVersions?: readonly string[]
}

export const specOf = (definition: Unstructured): DefinitionSpec =>
  definition['spec'] as DefinitionSpec

export const statusOf = (definition: Unstructured): DefinitionStatus => definition['status'] ?? {}

/** Fills in the singular and the list kind from the kind. */
export function completeNames(
  names: DefinitionNames,
): Required<Pick<DefinitionNames, 'plural' | 'singular' | 'kind' | 'listKind'>> & DefinitionNames {
  const { kind = '', plural = '' } = names as Partial<DefinitionNames>
  const { singular = '', listKind = '' } = names
  return {
    ...names,
    plural,
    kind,
    singular: singular === '' ? kind.toLowerCase() : singular,
    listKind: listKind === '' && kind !== '' ? `${kind}List` : listKind,
  }
}

const versionName = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/

/** Orders versions by priority: stable before beta before alpha, newer before older, other names last and by name. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)]
  const at = left.findIndex((part, index) => part !== right[index])
  return at < 0 ? a.localeCompare(b) : (right[at] ?? 0) - (left[at] ?? 0)
}

function rankOf(version: string): readonly number[] {
  const [, major, stage, minor = 0] = versionName.exec(version) ?? []
  if (major === undefined) return [0, 0, 0]
  return [stage === undefined ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor)]
}
