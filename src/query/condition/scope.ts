/**
 * What a viewer may see of one kind. Every read applies it as one more condition, before it sorts, pages, counts or
 * follows relations. Namespaces never cover cluster-scoped objects.
 */
export type Scope =
  | { readonly form: 'all' }
  | { readonly form: 'namespaces'; readonly namespaces: ReadonlySet<string> }
  /** All namespaces but these. */
  | { readonly form: 'except'; readonly namespaces: ReadonlySet<string> }
  /** Single objects by key: `namespace/name`, or `name`. */
  | { readonly form: 'names'; readonly keys: ReadonlySet<string> }

/**
 * Further objects that a viewer may look up by name: `get` without `list`. Only look-ups of single objects use it;
 * counts, orders and filters never do.
 */
export interface NameGate {
  /** Two gates with the same identity allow the same objects at the same time. */
  readonly identity: string
  /** Takes a key: `namespace/name`, or `name`. */
  allows(key: string): boolean
}

export const unrestricted: Scope = { form: 'all' }

export const nothingVisible: Scope = { form: 'names', keys: new Set() }

export function isInScope(scope: Scope, key: string): boolean {
  switch (scope.form) {
    case 'all':
      return true
    case 'namespaces': {
      const slash = key.indexOf('/')
      return slash >= 0 && scope.namespaces.has(key.slice(0, slash))
    }
    case 'except': {
      const slash = key.indexOf('/')
      return slash < 0 || !scope.namespaces.has(key.slice(0, slash))
    }
    case 'names':
      return scope.keys.has(key)
  }
}
