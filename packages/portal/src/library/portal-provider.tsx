import { CSPProvider } from '@base-ui/react/csp-provider'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { Gateway } from '../gateway/gateway.ts'
import { GatewayProvider } from '../gateway/gateway-provider.tsx'
import { pageNonce } from '../look/page-nonce.ts'
import { objectPath, type Place, PlaceContext, type Scope, type Target } from '../scope.ts'

/** Which gateway the components ask, where they look, and where their links lead. */
export interface PortalProviderProps {
  /** The address of the gateway's GraphQL: `https://gateway.example.com/graphql`. Default: `/graphql` of the page's origin. */
  readonly url?: string
  /** The bearer token, if the gateway asks who its callers are. It is called for each query and each connection. */
  readonly token?: () => string | undefined
  /** The gateway does not take the token any more: make `token` give another one. */
  readonly onRefused?: () => void
  /** The clusters to look at, by their names; `['*']` for all. Default: the gateway's first. */
  readonly clusters?: readonly string[]
  /** The namespaces to look at. Default: all. */
  readonly namespaces?: readonly string[]
  /** The address of what a component links to. Default: that of the gateway's own portal. */
  readonly hrefOf?: (target: Target) => string
  /** Goes to what a component links to, by the application's router. Default: the browser loads the address. */
  readonly open?: (target: Target) => void
  readonly children: ReactNode
}

/** Stands above the components of the portal, once in a page or once for each gateway. */
export function PortalProvider(props: PortalProviderProps) {
  const { url = '/graphql', clusters, namespaces, children } = props
  const latest = useRef(props)
  latest.current = props
  const gateway = useMemo(
    () =>
      new Gateway({
        url,
        credentials() {
          const token = latest.current.token?.()
          return token === undefined ? {} : { authorization: `Bearer ${token}` }
        },
        onRefused: () => latest.current.onRefused?.(),
      }),
    [url],
  )
  const nonce = useMemo(pageNonce, [])
  const given = JSON.stringify([clusters, namespaces])
  const [chosen, choose] = useState<{ readonly given: string; readonly scope: Scope }>()
  const place = useMemo((): Place => {
    const scope: Scope = {
      ...(clusters === undefined ? {} : { clusters }),
      ...(namespaces === undefined ? {} : { namespaces }),
    }
    const hrefOf = (target: Target): string =>
      latest.current.hrefOf?.(target) ??
      new URL(addressOf(target), new URL(url, location.href)).href
    return {
      // What the user chooses counts until the application says something else.
      scope: chosen?.given === given ? chosen.scope : scope,
      setScope: (next) => choose({ given, scope: next }),
      hrefOf,
      open(target) {
        if (latest.current.open === undefined) location.assign(hrefOf(target))
        else latest.current.open(target)
      },
    }
  }, [url, given, chosen])
  return (
    <CSPProvider nonce={nonce}>
      <GatewayProvider gateway={gateway}>
        <PlaceContext value={place}>{children}</PlaceContext>
      </GatewayProvider>
    </CSPProvider>
  )
}

/** The address of a target in the gateway's own portal. */
function addressOf(target: Target): string {
  if (target === 'overview') return '/'
  if ('object' in target) return objectPath(target.object)
  if ('compare' in target) return `/compare?${new URLSearchParams({ left: target.compare })}`
  const { kind, namespace } = target
  const search = namespace === undefined ? '' : `?${new URLSearchParams({ ns: namespace })}`
  return `/kinds/${encodeURIComponent(kind)}${search}`
}
