import { useNavigate, useSearch } from '@tanstack/react-router'

/** Where the page looks: part of every address. */
export interface Scope {
  /** Absent: the default cluster. */
  readonly cluster?: string
  /** Absent: all namespaces. */
  readonly namespaces?: readonly string[]
}

/** The search parameters that every address may have. */
export interface ScopeSearch {
  readonly cluster?: string
  /** Names, joined by commas. */
  readonly ns?: string
}

/** Reads the scope's parameters. */
export function scopeSearch(search: Readonly<Record<string, unknown>>): ScopeSearch {
  const { cluster, ns } = search
  return {
    ...(typeof cluster === 'string' && cluster !== '' ? { cluster } : {}),
    ...(typeof ns === 'string' && ns !== '' ? { ns } : {}),
  }
}

/** The scope of the current address, and a function that changes it. */
export function useScope(): {
  readonly scope: Scope
  readonly setScope: (scope: Scope) => void
} {
  const { cluster, ns } = useSearch({ strict: false }) as ScopeSearch
  const navigate = useNavigate()
  return {
    scope: {
      ...(cluster === undefined ? {} : { cluster }),
      ...(ns === undefined ? {} : { namespaces: ns.split(',') }),
    },
    setScope({ cluster: next, namespaces }) {
      void navigate({
        to: '.',
        search: (search: Readonly<Record<string, unknown>>) => ({
          ...search,
          cluster: next,
          ns:
            namespaces === undefined || namespaces.length === 0 ? undefined : namespaces.join(','),
        }),
      } as never)
    },
  }
}
