import { useLocation } from '@tanstack/react-router'
import { hasToken } from '../gateway/credentials.ts'
import { pageGateway } from '../gateway/page-gateway.ts'
import { signOut, useSession } from '../gateway/session.ts'
import { useCounts } from '../gateway/counts.ts'
import { useKinds, type Kind } from '../gateway/kinds.ts'
import { usePinned } from '../frame/pinned.ts'
import { usePinThisView } from '../frame/rail.tsx'
import { useViews } from '../frame/views.ts'
import { useTakesWrites } from '../actions/writable.ts'
import { useTheme } from '../look/theme.ts'
import { hasSeveralClusters, useScope } from '../scope.ts'
import { words } from '../words.ts'
import type { Entry } from './entries.ts'

const said = words.search

/** What the search offers without asking the gateway. */
export interface OwnEntries {
  readonly kinds: readonly Kind[]
  readonly ofKinds: readonly Entry[]
  /** Where there are several. */
  readonly clusters: readonly Entry[]
  readonly views: readonly Entry[]
  readonly actions: readonly Entry[]
}

/** The kinds, the views and the actions of the page. */
export function useOwnEntries({ openKeys }: { readonly openKeys: () => void }): OwnEntries {
  const { kinds } = useKinds()
  const { all = [] } = useCounts()
  const { setScope } = useScope()
  const [pinned] = usePinned()
  const views = useViews()
  const takesWrites = useTakesWrites()
  return {
    kinds,
    ofKinds: kinds.map(({ path, title, kind, resource, shortNames, group }) => ({
      key: `kind ${path}`,
      icon: 'kind',
      title,
      detail: group,
      also: [kind, resource, ...shortNames],
      href: `/kinds/${path}`,
    })),
    clusters: (all.length < 2 ? [] : all).map(({ name, state }): Entry => ({
      key: `cluster ${name}`,
      icon: 'cluster',
      title: name,
      detail: words.overview.clusterStates[state],
      also: [`cluster ${name}`],
      run: () => setScope({ clusters: [name] }),
    })),
    views: [
      ...views.map((view): Entry => ({ key: `view ${view.href}`, ...view })),
      ...(takesWrites
        ? [
            {
              key: 'view create',
              icon: 'action',
              title: words.frame.create,
              detail: said.create,
              also: ['apply', 'new', 'yaml', 'manifest'],
              href: '/create',
            } as const,
          ]
        : []),
      ...pinned.map(({ title, href }): Entry => ({
        key: `pin ${href}`,
        icon: 'pin',
        title,
        href,
      })),
    ],
    actions: useActions(openKeys),
  }
}

function useActions(openKeys: () => void): readonly Entry[] {
  const [theme, setTheme] = useTheme()
  const { scope, setScope } = useScope()
  const { isPinned, toggle } = usePinThisView()
  const { href } = useLocation()
  const isSignedIn = useSession().state === 'in' || hasToken()
  return [
    action(said.copyAddress, () => void navigator.clipboard.writeText(location.origin + href)),
    action(isPinned ? said.unpin : said.pin, toggle),
    ...(hasSeveralClusters(scope)
      ? []
      : [action(said.allClusters, () => setScope({ ...scope, clusters: ['*'] }))]),
    ...(scope.namespaces === undefined
      ? []
      : [action(said.allNamespaces, () => setScope({ ...scope, namespaces: [] }))]),
    ...(['light', 'dark', 'system'] as const)
      .filter((other) => other !== theme)
      .map((other) => action(said.themes[other], () => setTheme(other))),
    action(said.showKeys, openKeys),
    action(said.graphiql, () => window.open(pageGateway.url)),
    ...(isSignedIn ? [action(said.signOut, () => void signOut())] : []),
  ]
}

function action(title: string, run: () => void): Entry {
  return { key: `action ${title}`, icon: 'action', title, run }
}
