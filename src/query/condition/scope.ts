import { type Condition, everything, hasKey, hasValue } from './condition.ts'

/**
 * What a viewer may see of one kind. Every read applies it in the same way, as one more condition, before sorting,
 * paging, counting and following relations. Namespaces never cover cluster-scoped objects.
 */
export type Scope =
  | { readonly form: 'all' }
  | { readonly form: 'namespaces'; readonly namespaces: ReadonlySet<string> }
  /** Single objects by key: `namespace/name`, or `name`. */
  | { readonly form: 'names'; readonly keys: ReadonlySet<string> }

/** The Scope of a viewer without bounds. */
export const unrestricted: Scope = { form: 'all' }

/** A Scope as a condition. */
export function scopeCondition(scope: Scope): Condition {
  switch (scope.form) {
    case 'all':
      return everything
    case 'namespaces':
      return hasValue('namespace', [...scope.namespaces])
    case 'names':
      return hasKey([...scope.keys])
  }
}
