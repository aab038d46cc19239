import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from '@tanstack/react-router'
import { AddressPlace } from './frame/address-place.tsx'
import { Frame } from './frame/frame.tsx'
import { NotFound } from './frame/not-found.tsx'
import { ViewError } from './frame/view-error.tsx'
import type { TableView } from './kinds/table-view.ts'
import type { ChangeFilter } from './timeline/changes-page.tsx'
import type { ProblemFilter } from './problems/use-problems.ts'
import { applicationRoute, namedRoute, scopeSearch, type ScopeSearch } from './scope.ts'

const root = createRootRoute({
  component: () => (
    <AddressPlace>
      <Frame />
    </AddressPlace>
  ),
  notFoundComponent: NotFound,
  validateSearch: (search): ScopeSearch => scopeSearch(search),
  // The scope goes along to every view.
  search: { middlewares: [retainSearchParams<ScopeSearch>(['cluster', 'ns'])] },
})

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./overview/overview.tsx'), 'Overview'),
})

/** The parameters of a table's address. */
export interface TableSearch extends ScopeSearch, TableView {}

const strings = <Name extends string>(
  search: Readonly<Record<string, unknown>>,
  ...names: readonly Name[]
): { readonly [N in Name]?: string } =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = search[name]
      return typeof value === 'string' && value !== '' ? [[name, value]] : []
    }),
  ) as { readonly [N in Name]?: string }

const kind = createRoute({
  getParentRoute: () => root,
  // `pods`, `deployments.apps`: the resource and its group.
  path: '/kinds/$resource',
  validateSearch: (search: Readonly<Record<string, unknown>>): TableSearch => ({
    ...scopeSearch(search),
    ...strings(search, 'q', 'sort', 'cols', 'picked', 'open', 'tab', 'logs', 'history'),
  }),
  component: lazyRouteComponent(() => import('./kinds/kind-page.tsx'), 'KindPage'),
})

/** The parameters of an object's address. */
export interface ObjectSearch extends ScopeSearch {
  readonly tab?: string | undefined
  /** What the user has made of its logs. */
  readonly logs?: string | undefined
  /** What the user has made of its history. */
  readonly history?: string | undefined
}

/** Both addresses of an object have one page, which stays when one becomes the other. */
const objectPage = createRoute({
  getParentRoute: () => root,
  id: 'object',
  validateSearch: (search: Readonly<Record<string, unknown>>): ObjectSearch => ({
    ...scopeSearch(search),
    ...strings(search, 'tab', 'logs', 'history'),
  }),
  component: lazyRouteComponent(() => import('./object/object-page.tsx'), 'ObjectPage'),
})

const objectById = createRoute({ getParentRoute: () => objectPage, path: '/objects/$id' })

const objectByName = createRoute({
  getParentRoute: () => objectPage,
  path: namedRoute,
})

/** What has no namespace, by its `nameId`: the router takes `//` for `/`. */
const objectOfNoNamespace = createRoute({
  getParentRoute: () => objectPage,
  path: '/objects/$cluster/$kind/$name',
})

/** The parameters of the page of problems. */
export interface ProblemSearch extends ScopeSearch, ProblemFilter {}

const problems = createRoute({
  getParentRoute: () => root,
  path: '/problems',
  validateSearch: (search: Readonly<Record<string, unknown>>): ProblemSearch => {
    const { severity, order } = search
    return {
      ...scopeSearch(search),
      ...strings(search, 'type'),
      ...(severity === 'CRITICAL' || severity === 'WARNING' ? { severity } : {}),
      ...(order === 'newest' ? { order } : {}),
    }
  },
  component: lazyRouteComponent(() => import('./problems/problems.tsx'), 'Problems'),
})

/** The parameters of the page of changes. */
export interface ChangeSearch extends ScopeSearch, ChangeFilter {}

const changes = createRoute({
  getParentRoute: () => root,
  path: '/changes',
  validateSearch: (search: Readonly<Record<string, unknown>>): ChangeSearch => ({
    ...scopeSearch(search),
    ...strings(search, 'type', 'name', 'manager', 'path'),
    ...(search['without'] === 'status' ? { without: 'status' } : {}),
  }),
  component: lazyRouteComponent(() => import('./timeline/changes-page.tsx'), 'ChangesPage'),
})

/** The parameters of the page of who may do what. */
export interface AccessSearch extends ScopeSearch {
  readonly verb?: string
  /** The name of a type. */
  readonly type?: string
  /** A kind of subject and its name: `USER:ann`. */
  readonly who?: string
}

const access = createRoute({
  getParentRoute: () => root,
  path: '/access',
  validateSearch: (search: Readonly<Record<string, unknown>>): AccessSearch => ({
    ...scopeSearch(search),
    ...strings(search, 'verb', 'type', 'who'),
  }),
  component: lazyRouteComponent(() => import('./access/access-page.tsx'), 'AccessPage'),
})

const certificates = createRoute({
  getParentRoute: () => root,
  path: '/certificates',
  component: lazyRouteComponent(
    () => import('./certificates/certificates-page.tsx'),
    'CertificatesPage',
  ),
})

const applications = createRoute({
  getParentRoute: () => root,
  path: '/applications',
  component: lazyRouteComponent(() => import('./application/applications.tsx'), 'Applications'),
})

const application = createRoute({
  getParentRoute: () => root,
  id: 'application',
  component: lazyRouteComponent(() => import('./application/application.tsx'), 'Application'),
})

const applicationById = createRoute({
  getParentRoute: () => application,
  path: '/applications/$id',
})

const applicationByName = createRoute({
  getParentRoute: () => application,
  path: applicationRoute,
})

/** The parameters of a comparison: the `nameId`s of both objects, or their `id`s. */
export interface CompareSearch extends ScopeSearch {
  readonly left?: string
  readonly right?: string
}

const compare = createRoute({
  getParentRoute: () => root,
  path: '/compare',
  validateSearch: (search: Readonly<Record<string, unknown>>): CompareSearch => ({
    ...scopeSearch(search),
    ...strings(search, 'left', 'right'),
  }),
  component: lazyRouteComponent(() => import('./compare/compare-page.tsx'), 'ComparePage'),
})

/** The parameters of the page that creates objects. */
export interface CreateSearch extends ScopeSearch {
  /** The kind to begin with: `deployments.apps`. */
  readonly kind?: string
}

const create = createRoute({
  getParentRoute: () => root,
  path: '/create',
  validateSearch: (search: Readonly<Record<string, unknown>>): CreateSearch => ({
    ...scopeSearch(search),
    ...strings(search, 'kind'),
  }),
  component: lazyRouteComponent(() => import('./create/create-page.tsx'), 'CreatePage'),
})

const delivery = createRoute({
  getParentRoute: () => root,
  path: '/delivery',
  component: lazyRouteComponent(() => import('./delivery/delivery.tsx'), 'Delivery'),
})

const ownView = createRoute({
  getParentRoute: () => root,
  path: '/views/$name',
  component: lazyRouteComponent(() => import('./own-views/own-view-page.tsx'), 'OwnViewPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    overview,
    problems,
    changes,
    kind,
    objectPage.addChildren([objectById, objectByName, objectOfNoNamespace]),
    applications,
    application.addChildren([applicationById, applicationByName]),
    compare,
    create,
    delivery,
    access,
    certificates,
    ownView,
  ]),
  // Parameters are plain texts: `?ns=shop,web`.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined)
    const text = new URLSearchParams(given as [string, string][]).toString()
    return text === '' ? '' : `?${text}`
  },
  defaultPreload: 'intent',
  defaultErrorComponent: ViewError,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
