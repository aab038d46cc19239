import type { Scope } from '../query/condition/scope.ts'

/** Why a cache covers some namespaces only. */
export type CoverageCause =
  /** The gateway's account may not list the resource in all namespaces. */
  | 'account'
  /** `cache.namespaces` names them. */
  | 'configured'
  /** `cache.excludeNamespaces` leaves some out. */
  | 'excluded'

/** The namespaces that the cache of one resource covers. A cache that covers all of them has none. */
export interface Coverage {
  readonly cause: CoverageCause
  /** The covered namespaces; `undefined`: all but the excluded ones. */
  readonly namespaces: ReadonlySet<string> | undefined
  readonly excluded: ReadonlySet<string>
  /** The covered namespaces whose first list is still to come. */
  readonly loading: ReadonlySet<string>
  /** Configured namespaces that the gateway's account may not list. */
  readonly refused: ReadonlySet<string>
}

export function covers({ namespaces, excluded }: Coverage, namespace: string): boolean {
  return namespaces === undefined ? !excluded.has(namespace) : namespaces.has(namespace)
}

/** The part of a viewer's scope that a cache covers. */
export function coveredScope(scope: Scope, coverage: Coverage | undefined): Scope {
  if (coverage === undefined || scope.form === 'names') return scope
  const { namespaces, excluded } = coverage
  if (scope.form === 'namespaces') {
    const within = [...scope.namespaces].filter((name) => covers(coverage, name))
    return within.length === scope.namespaces.size
      ? scope
      : { form: 'namespaces', namespaces: new Set(within) }
  }
  if (namespaces !== undefined) return { form: 'namespaces', namespaces }
  const left = scope.form === 'except' ? scope.namespaces : none
  return { form: 'except', namespaces: new Set([...left, ...excluded]) }
}

const none: readonly string[] = []
