import type { IconName } from '../look/icons.tsx'
import { useOwnViews } from '../own-views/own-views.ts'
import { words } from '../words.ts'

/** A view of the page: its place in the rail and in the search. */
export interface View {
  readonly href: string
  readonly icon: IconName
  readonly title: string
  /** Other words that find it. */
  readonly also?: readonly string[]
}

export const views: readonly View[] = [
  { href: '/', icon: 'overview', title: words.frame.overview },
  { href: '/problems', icon: 'problems', title: words.frame.problems },
  {
    href: '/changes',
    icon: 'recent',
    title: words.timeline.title,
    also: ['history', 'timeline'],
  },
  { href: '/applications', icon: 'applications', title: words.frame.applications },
  {
    href: '/delivery',
    icon: 'delivery',
    title: words.delivery.title,
    also: ['argo', 'flux', 'helm'],
  },
  {
    href: '/certificates',
    icon: 'certificates',
    title: words.certificates.title,
    also: ['tls', 'expiry'],
  },
  {
    href: '/access',
    icon: 'access',
    title: words.access.title,
    also: ['access', 'rbac', 'who can'],
  },
]

/** The views of the page and those of its host, in the order of the rail. */
export function useViews(): readonly View[] {
  const own = useOwnViews() ?? []
  return [
    ...views,
    ...own.map(({ name, title }): View => ({ href: `/views/${name}`, icon: 'object', title })),
  ]
}
