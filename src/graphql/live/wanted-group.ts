import type { DocumentNode, VariableValues } from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import type { Kind } from '../model/kind.ts'
import { neededKinds } from '../plan/plan-needs.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { FollowedList } from './followed-list.ts'
import type { FramePlan } from './frame-plan.ts'
import type { MissingRead } from './group-access.ts'

/** A subscription that is about to start. */
export interface Joining {
  readonly served: ServedSchema
  readonly document: DocumentNode
  readonly plan: FramePlan
  readonly variables: VariableValues
  /** A hash of the variables that decide the rows. */
  readonly asked: string
  /** See `supportingKinds`. */
  readonly supporting: (served: ServedSchema) => ReadonlyMap<string, string>
  /** Whether frames explain how their rows were read. */
  readonly explains: boolean
  /** Absent without access control: the subscriber may see everything. */
  readonly viewer?: Viewer | undefined
}

/** The group that a subscription wants. */
export interface WantedGroup extends Joining {
  readonly list: FollowedList
  readonly coalesceMs: number
  /** A text that is equal for subscriptions with the same plan, variables and cluster. */
  readonly operation: string
}

/**
 * The kinds that a group reads, with their indexes; the followed kind first. Throws the GraphQLError of an invalid
 * argument.
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

/** The number of viewers per operation whose kinds by name are kept. */
const maxNamed = 1_000

/**
 * The reads of one operation that its plan does not name, such as the kinds of owners: they become known when a row
 * leads to them. It only grows. A group that lacks some of it is replaced by a group that has all.
 */
export class DiscoveredKinds {
  /** Kinds whose lists need a review for all namespaces, because relations lead to them from anywhere. */
  readonly wide: Set<Kind> = new Set<Kind>()
  /** Whether rows have led to objects of the followed kind outside the list. */
  leadsBack = false
  /** Whether rows have turned out to depend on the viewer's identity. */
  needsViewer = false
  /** The number of groups and new members that use it. */
  users = 0
  readonly #further = new Map<Kind, Set<string>>()
  readonly #named = new Map<string, ReadonlySet<Kind>>()

  /** The kinds that objects refer to, with the indexes for these reads. */
  get further(): readonly RelatedNeed[] {
    return Array.from(this.#further, ([kind, needed]) => ({ kind, indexes: { needed } }))
  }

  /** A text that is equal for equal reads. */
  get text(): string {
    const kinds = Array.from(this.#further, ([{ typeName }, needed]) =>
      [typeName, ...needed].join(' '),
    )
    const wide = Array.from(this.wide, ({ typeName }) => `wide ${typeName}`)
    return [...kinds, ...wide, ...(this.leadsBack ? ['back'] : [])].toSorted().join()
  }

  /** The kinds of which a viewer may see single objects by name. */
  namedBy(identity: string | undefined): ReadonlySet<Kind> {
    return this.#named.get(identity ?? '') ?? noKinds
  }

  /** Records that a viewer may see objects of these kinds by name. */
  nameKinds(identity: string, kinds: Iterable<Kind>): void {
    const known = this.namedBy(identity)
    this.#named.delete(identity)
    this.#named.set(identity, new Set([...known, ...kinds]))
    const [oldest = ''] = this.#named.keys()
    if (this.#named.size > maxNamed) this.#named.delete(oldest)
  }

  /** Records a read that a group lacked. `viewer`: the identity of the group's only viewer. */
  add({ at, form }: MissingRead, viewer: string | undefined): void {
    switch (form) {
      case 'place':
        this.wide.add(at.kind)
        return
      case 'own':
        this.leadsBack = true
        return
      case 'viewer':
        this.needsViewer = true
        return
      case 'name':
        if (viewer !== undefined) this.nameKinds(viewer, [at.kind])
        return
      case 'kind': {
        let needed = this.#further.get(at.kind)
        if (needed === undefined) this.#further.set(at.kind, (needed = new Set()))
        for (const name of at.indexes?.needed ?? []) needed.add(name)
      }
    }
  }
}

const noKinds: ReadonlySet<Kind> = new Set()
