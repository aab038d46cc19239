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

/**
 * Which objects a viewer may look at by their names, besides those of the Scope: `get` without `list`. Only look-ups of single
 * objects ask it, never anything that counts, orders or filters.
 */
export interface NameGate {
  /** Two gates of one identity let the same objects through, at the same time. */
  readonly identity: string
  /** By key: `namespace/name`, or `name`. */
  allows(key: string): boolean
}

/** The Scope of a viewer without bounds. */
export const unrestricted: Scope = { form: 'all' }

/** The Scope of a viewer who may see nothing. */
export const nothingVisible: Scope = { form: 'names', keys: new Set() }

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

/** Whether a Scope holds for the object with this key. */
export function isInScope(scope: Scope, key: string): boolean {
  switch (scope.form) {
    case 'all':
      return true
    case 'namespaces': {
      const slash = key.indexOf('/')
      return slash >= 0 && scope.namespaces.has(key.slice(0, slash))
    }
    case 'names':
      return scope.keys.has(key)
  }
}
