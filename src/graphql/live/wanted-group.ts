import type { DocumentNode, VariableValues } from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import type { Kind } from '../model/kind.ts'
import { type FollowedList, listToFollow, objectToFollow, pageToFollow } from './followed-list.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { neededKinds } from '../plan/plan-needs.ts'
import type { LookupSubscriptionArguments } from '../schema/read-arguments.ts'
import type { FramePlan } from './frame-plan.ts'
import type { MissingRead } from './group-access.ts'

/** A subscription that is about to begin. */
export interface Joining {
  readonly served: ServedSchema
  readonly document: DocumentNode
  readonly plan: FramePlan
  readonly variables: VariableValues
  /** A hash of what the variables ask for. */
  readonly asked: string
  /** The kinds that the operation names by a schema. */
  readonly supporting: (served: ServedSchema) => readonly ClusterKind[]
  /** Whether frames say how their rows were read. */
  readonly explains: boolean
  /** Who asks; absent where everything may be seen. */
  readonly viewer?: Viewer | undefined
}

/** The group that a subscription wants. */
export interface WantedGroup extends Joining {
  readonly list: FollowedList
  readonly coalesceMs: number
}

/** What a subscription follows. Throws `ArgumentError` and `ClientError`. */
export function followedBy(
  { served, plan: { form, kind } }: Pick<Joining, 'served' | 'plan'>,
  args: object,
  maxPageSize: number,
): FollowedList {
  switch (form) {
    case 'listFrames':
      return listToFollow(served, kind, args)
    case 'lookupFrames':
      return objectToFollow(served, kind, args as LookupSubscriptionArguments)
    case 'livePages':
      return pageToFollow(served, kind, args, maxPageSize)
  }
}

/**
 * The kinds that a group reads, and those that its list's filter rests on; the followed one first. Throws the GraphQLError of an argument
 * that cannot be coerced.
 */
export function neededBy(
  { plan, list, variables }: Pick<WantedGroup, 'plan' | 'list' | 'variables'>,
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

/**
 * What the rows of subscriptions that ask the same have turned out to read, besides what their plan says: the kinds of owners, for
 * one, are known when the first row leads there. It only grows. A group that lacks some of it is followed by one that has all.
 */
export class DiscoveredKinds {
  /** Kinds whose lists have to be reviewed for all namespaces, as relations lead to them from anywhere. */
  readonly wide: Set<Kind> = new Set<Kind>()
  /** The groups and newcomers that use it. */
  users = 0
  readonly #further = new Map<Kind, Set<string>>()
  #leadsBack = false
  #needsViewer = false

  /** The kinds that objects have named, with the indexes that they are read by. */
  get further(): readonly RelatedNeed[] {
    return Array.from(this.#further, ([kind, needed]) => ({ kind, indexes: { needed } }))
  }

  /** Whether rows have led to objects of the followed kind that the list does not have. */
  get leadsBack(): boolean {
    return this.#leadsBack
  }

  /** Whether rows have turned out to depend on who the viewer is. */
  get needsViewer(): boolean {
    return this.#needsViewer
  }

  /** A short text, the same for what reads the same. */
  get text(): string {
    const kinds = this.further.map(({ kind, indexes: { needed = [] } }) =>
      [kind.typeName, ...needed].join(' '),
    )
    const wide = Array.from(this.wide, ({ typeName }) => `wide ${typeName}`)
    return [...kinds, ...wide, ...(this.#leadsBack ? ['back'] : [])].toSorted().join()
  }

  add({ at, form }: MissingRead): void {
    switch (form) {
      case 'place':
        this.wide.add(at.kind)
        return
      case 'own':
        this.#leadsBack = true
        return
      case 'viewer':
        this.#needsViewer = true
        return
      case 'kind': {
        let needed = this.#further.get(at.kind)
        if (needed === undefined) this.#further.set(at.kind, (needed = new Set()))
        for (const name of at.indexes?.needed ?? []) needed.add(name)
        return
      }
      case 'name':
      // It is known of one viewer.
    }
  }
}
