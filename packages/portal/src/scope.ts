import { createContext, useContext } from 'react'

/** Where the views look. */
export interface Scope {
  /** Absent: the default cluster. */
  readonly cluster?: string
  /** Absent: all namespaces. */
  readonly namespaces?: readonly string[]
}

/** The search parameters that every address of the page may have. */
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

/** What a link leads to: an object by its `id`, a kind (`deployments.apps`) of a namespace or of the scope, the overview. */
export type Target =
  | 'overview'
  | { readonly object: string }
  | { readonly kind: string; readonly namespace?: string }

/** Where a view stands: the scope it looks at, and the way to other views. */
export interface Place {
  readonly scope: Scope
  readonly setScope: (scope: Scope) => void
  /** The address of another view. */
  readonly hrefOf: (target: Target) => string
  /** Goes to another view. */
  readonly open: (target: Target) => void
}

/** Gives the views below it their place. That of the portal's page is its address: `frame/address-place.tsx`. */
export const PlaceContext = createContext<Place | undefined>(undefined)

/** The place of a view. */
export function usePlace(): Place {
  const place = useContext(PlaceContext)
  if (place === undefined) throw new Error('no place: put the view into <PortalProvider>')
  return place
}

/** The scope of a view, and a function that changes it. */
export function useScope(): Pick<Place, 'scope' | 'setScope'> {
  return usePlace()
}
