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

const kept = 'informerql.scope'

/**
 * Begins with the scope that the user chose last, if the page is opened at its root. Any other address says itself where
 * it looks: it may be a link that somebody sent.
 */
export function restoreScope(): void {
  if (location.pathname !== '/' || location.search !== '') return
  const search = localStorage.getItem(kept) ?? ''
  if (search !== '') history.replaceState(null, '', `/?${search}`)
}

/** Keeps the scope's parameters for the next time. */
function remember(search: ScopeSearch): void {
  localStorage.setItem(kept, new URLSearchParams({ ...search }).toString())
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
    setScope({ cluster: next, namespaces = [] }) {
      const names = namespaces.join(',')
      remember(scopeSearch({ cluster: next, ns: names }))
      void navigate({
        to: '.',
        search: (search: Readonly<Record<string, unknown>>) => ({
          ...search,
          cluster: next,
          ns: names === '' ? undefined : names,
        }),
      } as never)
    },
  }
}
