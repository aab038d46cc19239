import type { VariableValues } from 'graphql'
import type { Kind } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import type { FollowedList } from '../operation/followed-list.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { KindLeases } from '../prepare/kind-leases.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import { neededKinds } from '../plan/plan-needs.ts'
import type { FramePlan } from './frame-plan.ts'
import type { GroupAccess } from './group-access.ts'

/** What a group is wanted for. */
interface Wanted {
  readonly plan: Pick<FramePlan, 'needs' | 'asked'>
  readonly list: FollowedList
  readonly variables: VariableValues
}

/**
 * The kinds that are read for what is wanted, and those that the list's filter rests on; the followed one first. Throws the
 * GraphQLError of an argument that cannot be coerced.
 */
export function neededBy(
  { plan, list, variables }: Wanted,
  further: readonly RelatedNeed[],
): readonly ClusterKind[] {
  const { cluster } = list.at
  const named = neededKinds({ kinds: plan.needs, asked: plan.asked }, cluster, variables)
  const needs = new Map<
    Kind,
    ClusterKind & { readonly indexes: { readonly needed: Set<string> } }
  >()
  for (const { kind, indexes } of [...named, ...list.needs, ...further]) {
    const known = needs.get(kind)
    const needed = known?.indexes.needed ?? new Set<string>()
    for (const name of indexes?.needed ?? []) needed.add(name)
    if (known === undefined) needs.set(kind, { cluster, kind, indexes: { ...indexes, needed } })
  }
  return [...needs.values()]
}

/** Whether all kinds can be read of which something may be seen; else graphql-js tells which fields that is the error of. */
export function isReadable(prepared: KindLeases, { visible }: GroupAccess): boolean {
  const settled = prepared.settle()
  try {
    for (const at of visible) settled.part(at)
    return true
  } catch (error) {
    // What passes is waited for by those who are members already.
    if (error instanceof ClientError && error.code !== 'CLUSTER_UNREACHABLE') return false
    throw error
  }
}
