import type { VariableValues } from 'graphql'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { FieldArguments } from './field-arguments.ts'

/** A field whose arguments may name further kinds, depending on the request's variables or the cluster. */
export interface AskedKinds {
  readonly args: FieldArguments
  needs(values: Readonly<Record<string, unknown>>, cluster: string): readonly RelatedNeed[]
}

/** The kinds that a part of a plan reads in the cluster of its root field. */
export interface PlanNeeds {
  readonly kinds: readonly RelatedNeed[]
  readonly asked: readonly AskedKinds[]
}

/** The kinds that a request needs from a cluster. Throws the GraphQLError of an argument that cannot be coerced. */
export function neededKinds(
  { kinds, asked }: PlanNeeds,
  cluster: string,
  variables: VariableValues,
): readonly ClusterKind[] {
  const further = asked.flatMap((one) => one.needs(one.args.coerce(variables), cluster))
  return [...kinds, ...further].map((need) => ({ cluster, ...need }))
}
