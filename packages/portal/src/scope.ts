import { createContext, useContext } from 'react'
import { groupOf } from './object/json.ts'

/** Where the views look. */
export interface Scope {
  /** The names of clusters, or `*` alone for all. Absent: the default cluster. */
  readonly clusters?: readonly string[]
  /** Absent: all namespaces. */
  readonly namespaces?: readonly string[]
}

/** The search parameters that every address of the page may have. */
export interface ScopeSearch {
  /** Names, joined by commas; or `*`. */
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

/** Whether a scope has several clusters: their rows need the name of the cluster, and what is missing of it. */
export function hasSeveralClusters({ clusters = [] }: Scope): boolean {
  return clusters.length > 1 || clusters[0] === '*'
}

/** The arguments of an operation for the clusters of a scope. One cluster is `cluster`: its list is live in every way. */
export function clustersOf(scope: Scope): {
  readonly cluster: string | null
  readonly clusters: string[] | null
} {
  const { clusters = [] } = scope
  return hasSeveralClusters(scope)
    ? { cluster: null, clusters: [...clusters] }
    : { cluster: clusters[0] ?? null, clusters: null }
}

/** Those of the gateway's clusters that a scope has. */
export function inScope<Cluster extends { readonly name: string }>(
  all: readonly Cluster[],
  { clusters }: Scope,
): readonly Cluster[] {
  if (clusters === undefined) return all.slice(0, 1)
  return clusters[0] === '*' ? all : all.filter(({ name }) => clusters.includes(name))
}

/** An object by its name. */
export interface NamedObject {
  readonly cluster: string
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string | null
  readonly name: string
}

/** Stands for the namespace of what is in none. */
export const noNamespace = '-'

/** The route of an object by its name: `/objects/prod-eu/Deployment.apps/payments/invoice-worker`. */
export const namedRoute = '/objects/$cluster/$kind/$namespace/$name'

/** Where an object is, as a scope. */
export function scopeOf({
  clusterName,
  namespace,
}: {
  readonly clusterName: string
  readonly namespace: string | null
}): Scope {
  return { clusters: [clusterName], namespaces: namespace === null ? [] : [namespace] }
}

/** The route of a workload's application: `/applications/prod-eu/Deployment.apps/payments/invoice-worker`. */
export const applicationRoute = '/applications/$cluster/$kind/$namespace/$name'

/** The parameters of both. */
export interface NamedParams {
  readonly cluster: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** The cluster of a `nameId` may have slashes. Whatever else has one is no `nameId`, as an `id` has none. */
const nameIdForm = /^(?<cluster>.+)\/(?<kind>[^/]+)\/(?<namespace>[^/]*)\/(?<name>[^/]+)$/s

/** The parameters of an object's address, by its `nameId`; `undefined` for an `id`. */
export function namedParams(nameId: string): NamedParams | undefined {
  const { cluster, kind, namespace, name } = nameIdForm.exec(nameId)?.groups ?? {}
  if (cluster === undefined || kind === undefined || name === undefined) return undefined
  return { cluster, kind, namespace: namespace || noNamespace, name }
}

/** The `nameId` of an object, as the gateway writes it. */
export function nameIdOf({ cluster, apiVersion, kind, namespace, name }: NamedObject): string {
  const group = groupOf(apiVersion)
  return `${cluster}/${group === '' ? kind : `${kind}.${group}`}/${namespace ?? ''}/${name}`
}

/** The path of an object's page: `/objects/prod-eu/Deployment.apps/payments/invoice-worker`, or with its `id`. */
export function objectPath(nameId: string): string {
  const { cluster, kind, namespace, name } = namedParams(nameId) ?? {}
  const parts = cluster === undefined ? [nameId] : [cluster, kind, namespace, name]
  return `/objects/${parts.map((part = '') => encodeURIComponent(part)).join('/')}`
}

/** The object that an address names; `undefined` if it has an `id`. Any version of its group will do. */
export function namedIn({
  cluster,
  kind: ofGroup,
  namespace = noNamespace,
  name,
}: Partial<NamedParams> = {}): NamedObject | undefined {
  if (cluster === undefined || ofGroup === undefined || name === undefined) return undefined
  const [kind = '', ...group] = ofGroup.split('.')
  return {
    cluster,
    apiVersion: group.length === 0 ? 'v1' : `${group.join('.')}/v1`,
    kind,
    namespace: namespace === noNamespace ? null : namespace,
    name,
  }
}

/**
 * What a link leads to: an object by its `nameId` or `id`, what it can be compared with, a kind (`deployments.apps`) of a namespace or of the scope,
 * the overview.
 */
export type Target =
  | 'overview'
  | {
      readonly object: string
      /** Beside a `nameId`: what was of a deleted object is known by its `id`. */
      readonly id?: string
    }
  | { readonly compare: string }
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
