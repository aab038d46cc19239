import type { RowOf } from '@informerql/client'
import { useLiveCollection } from '@informerql/client/react'
import { clustersOf, hasSeveralClusters, useScope } from '../scope.ts'
import {
  FrameNamespacesDocument,
  FrameViewerDocument,
  type FrameNamespacesSubscription,
} from './documents.ts'
import { useAnswer, useGateway } from './gateway.ts'
import { useStale } from './line.ts'

/** Who the user is, and where they may look. */
export interface Viewer {
  /** Absent: the gateway does not ask who its users are, or has not answered yet. */
  readonly user: { readonly name: string; readonly groups: readonly string[] } | undefined
  /** The only namespaces where the user may list anything; absent: they may in all, or several clusters are in scope. */
  readonly limitedTo: readonly string[] | undefined
  readonly isPending: boolean
}

/** How often the page asks for rights that no subscription follows; never where nobody is asked who they are. */
export const rightsMs = (answer: { readonly viewer: object | null } | undefined): number | false =>
  answer?.viewer == null ? false : 300_000

/** The user, by what the gateway says. */
export function useViewer(): Viewer {
  const { scope } = useScope()
  const { data, isPending } = useAnswer(
    FrameViewerDocument,
    { cluster: clustersOf(scope).cluster },
    { everyMs: rightsMs },
  )
  const viewer = data?.viewer ?? undefined
  return {
    user: viewer && { name: viewer.username, groups: viewer.groups },
    limitedTo: hasSeveralClusters(scope) ? undefined : (viewer?.namespaces ?? undefined),
    isPending,
  }
}

type Row = RowOf<FrameNamespacesSubscription>

const byName = (a: Row, b: Row): number => a.name.localeCompare(b.name)

/** The namespaces that the user may choose from, live. */
export function useNamespaces(): {
  readonly names: readonly string[]
  readonly isPending: boolean
} {
  const { scope } = useScope()
  const { limitedTo } = useViewer()
  const { rows, status, staleSince } = useLiveCollection<FrameNamespacesSubscription, object, Row>({
    client: useGateway().socket,
    query: FrameNamespacesDocument,
    variables: clustersOf(scope),
    compare: byName,
  })
  useStale(staleSince)
  // Who may not list namespaces is told by name where they may list anything.
  return limitedTo === undefined
    ? { names: [...new Set(rows.map(({ name }) => name))], isPending: status === 'loading' }
    : { names: limitedTo, isPending: false }
}
