import { namesOfKind } from '../../src/graphql/naming/kind-name.ts'
import { ownerOfBareKind } from '../../src/graphql/naming/bare-kinds.ts'
import { nestedTypeName, splitDefinitionName } from '../../src/graphql/naming/nested-name.ts'
import { capitalised } from '../../src/lib/letter-case.ts'
import type { Definitions } from '../../src/graphql/model/definitions.ts'
import { TypeNames } from '../../src/graphql/schema/open-api-types.ts'
import type { CapturedKind } from './captured-kinds.ts'

/** The names of the types, which are those of the GraphQL schema. */
export class WireNames {
  readonly #nested: TypeNames

  constructor(definitions: Definitions, kinds: readonly CapturedKind[]) {
    this.#nested = new TypeNames(
      definitions,
      {},
      kinds.map((kind) => ({ typeName: nameOfKind(kind), structures: undefined })),
    )
  }

  /** The name of a nested type. */
  nested(definition: string): string {
    return this.#nested.nameOfDefinition(definition, { group: '' })
  }
}

/**
 * The name of a kind. A kind that has its name from another group carries the first label of its own (`EventsEvent`),
 * one in a version that the server does not prefer its version (`HorizontalPodAutoscalerV1`).
 */
export function nameOfKind({
  kind,
  apiVersion,
  definition,
  resource,
  preferred,
}: CapturedKind): string {
  const { label, version } = splitDefinitionName(definition)
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : []
  const name =
    ownerOfBareKind(kind) === label
      ? namesOfKind({ group, kind, resource }).typeName
      : nestedTypeName(label, kind, [])
  return preferred ? name : `${name}${capitalised(version)}`
}

/** The file of a definition's type: `core-v1.ts`. */
export function fileOf(definition: string): string {
  const { label, version } = splitDefinitionName(definition)
  return `${label}-${version}.ts`
}
