import { useNavigate, useRouter, useRouterState, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { useCounts } from '../gateway/counts.ts'
import { EntryContext, entryName, forgetEntries } from '../kept-view.ts'
import { isNamespace } from '../object/json.ts'
import {
  namedIn,
  type NamedParams,
  namedParams,
  namedRoute,
  type Place,
  PlaceContext,
  type Scope,
  scopeSearch,
  type ScopeSearch,
  type Target,
} from '../scope.ts'

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

/** Begins with all clusters, if the page is opened at its root, and the user has never chosen some. */
export function useStartAtAll(): void {
  const { all } = useCounts()
  const navigate = useNavigate()
  const isDone = useRef(false)
  const isKnown = all !== undefined
  useEffect(() => {
    if (!isKnown || isDone.current) return
    isDone.current = true
    if (all.length < 2 || location.pathname !== '/' || location.search !== '') return
    void navigate({ to: '/', search: { cluster: '*' }, replace: true })
  }, [isKnown])
}

/** The address of one object's page. */
const objectPage = /^\/(objects|applications)\/./

/** Whether an object is in one of some namespaces, or is such a namespace; so is what is in none, and what is not known by its name. */
function isWithin(
  namespaces: readonly string[],
  params: Partial<NamedParams> | undefined,
): boolean {
  const named = namedIn(params)
  if (named === undefined || namespaces.length === 0) return true
  const { namespace } = isNamespace(named) ? { namespace: named.name } : named
  return namespace === null || namespaces.includes(namespace)
}

/** Keeps the scope's parameters for the next time. */
function remember(search: ScopeSearch): void {
  localStorage.setItem(kept, new URLSearchParams({ ...search }).toString())
}

/** The place of the page's views: its address has the scope, and kinds and objects have their own addresses. */
export function AddressPlace({ children }: { readonly children: ReactNode }) {
  const { cluster, ns } = useSearch({ strict: false }) as ScopeSearch
  const router = useRouter()
  const place = useMemo((): Place => {
    const scope = { cluster, ns }
    const address = (target: Target) => {
      if (target === 'overview') return { to: '/', search: scope }
      if ('object' in target) {
        const { object, id } = target
        const params = namedParams(object)
        return params === undefined
          ? { to: '/objects/$id', params: { id: object }, search: scope }
          : { to: namedRoute, params, search: scope, state: { objectId: id } }
      }
      if ('compare' in target) return { to: '/compare', search: { ...scope, left: target.compare } }
      const { kind: resource, namespace } = target
      return {
        to: '/kinds/$resource',
        params: { resource },
        search: { cluster, ns: namespace ?? ns },
      }
    }
    return {
      scope: scopeOf(scope),
      setScope({ clusters = [], namespaces = [] }) {
        const next = clusters.join(',') || undefined
        const chosen = { cluster: next, ns: namespaces.join(',') || undefined }
        remember(scopeSearch(chosen))
        const isOther = next !== cluster
        // An object is in one cluster and in one namespace, so its page and its inspector are none of another one.
        const isOut = (params: Partial<NamedParams> | undefined): boolean =>
          isOther || !isWithin(namespaces, params)
        const { location, matches } = router.state
        const isLeft =
          objectPage.test(location.pathname) &&
          isOut(matches.at(-1)?.params as Partial<NamedParams> | undefined)
        void router.navigate({
          to: isLeft ? '/' : '.',
          search: (search: Readonly<Record<string, unknown>>) => {
            if (isLeft) return chosen
            const { open } = search
            const isClosed = typeof open === 'string' && isOut(namedParams(open))
            return { ...search, ...(isClosed ? { open: undefined } : {}), ...chosen }
          },
        } as never)
      },
      hrefOf: (target) => router.buildLocation(address(target) as never).href,
      open: (target) => void router.navigate(address(target) as never),
    }
  }, [router, cluster, ns])
  const entry = useRouterState({
    select: ({ location }) => entryName(numberOf(location), location.pathname),
  })
  useEffect(
    () =>
      router.history.subscribe(({ location, action }) => {
        if (action.type === 'PUSH') forgetEntries(numberOf(location))
      }),
    [router],
  )
  return (
    <EntryContext value={entry}>
      <PlaceContext value={place}>{children}</PlaceContext>
    </EntryContext>
  )
}

/** The number of an entry in the browser's history. */
function numberOf({ state }: { readonly state: object }): number {
  return (state as { readonly __TSR_index?: number }).__TSR_index ?? 0
}

function scopeOf({
  cluster,
  ns,
}: { readonly [Name in keyof ScopeSearch]: string | undefined }): Scope {
  return {
    ...(cluster === undefined ? {} : { clusters: cluster.split(',') }),
    ...(ns === undefined ? {} : { namespaces: ns.split(',') }),
  }
}
