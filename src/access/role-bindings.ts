import type { Change } from '../informer/store/change.ts'
import type { Indexers, StoreView } from '../informer/store/store-view.ts'
import { splitObjectKey, type Unstructured } from '../kubernetes/object.ts'
import {
  bindingSubject,
  boundSubjects,
  changeForAll,
  type RbacChange,
  roleSubject,
} from './rbac-change.ts'

/** The index of bindings by the role that they name, as `roleSubject` has it. */
const byRole = 'role'

/** What a store of bindings needs for {@link concernedByRole}. */
export const bindingIndexers: Indexers<Unstructured> = { [byRole]: roleOf }

/** Bindings of one role that are looked at to tell whom it concerns; of more, it is taken to concern everybody. */
const maxBindingsOfRole = 1_000

/** Whom a change of a binding may concern: its subjects before and after. */
export function concernedByBinding(change: Change): readonly RbacChange[] {
  const { type, key, previous, object } = change
  const { namespace, name } = splitObjectKey(key)
  if (type === 'MODIFIED' && previous === undefined) return [changeForAll(namespace)]
  const states = previous === undefined ? [object] : [previous, object]
  return [
    { namespace: '', subjects: [bindingSubject(namespace, name)] },
    ...states.map((state) => boundBy(state)),
  ]
}

/**
 * Whom a change of a role may concern: those whom bindings give it to now; what these were before, they themselves tell or have
 * told. `stores`: those of both kinds of bindings, among others; `namespace`: `''` for a ClusterRole.
 */
export function concernedByRole(
  stores: readonly StoreView[],
  { namespace, name }: { readonly namespace: string; readonly name: string },
): readonly RbacChange[] {
  const role = roleSubject(namespace === '' ? 'ClusterRole' : 'Role', namespace, name)
  const given: RbacChange[] = [{ namespace: '', subjects: [role] }]
  for (const store of stores) {
    const ids = store.hasIndex(byRole) ? store.index(byRole).posting(role) : undefined
    if (ids === undefined) continue
    if (ids.size > maxBindingsOfRole) return [changeForAll(namespace)]
    for (const id of ids) given.push(boundBy(store.object(id)))
  }
  return given
}

function roleOf({ metadata, roleRef }: Unstructured): readonly string[] {
  const { kind, name } = (roleRef ?? {}) as Readonly<Record<string, unknown>>
  if (typeof kind !== 'string' || typeof name !== 'string') return []
  return [roleSubject(kind, metadata.namespace ?? '', name)]
}

function boundBy(binding: Unstructured | Change['object']): RbacChange {
  const { namespace = '' } = binding.metadata
  const { subjects } = binding as Unstructured
  return { namespace, subjects: boundSubjects(subjects, namespace) ?? 'everybody' }
}
