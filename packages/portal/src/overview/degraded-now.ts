import { livePage, type LivePage, type LivePageSnapshot } from '@informerql/client'
import { useMemo, useRef, useSyncExternalStore } from 'react'
import { DegradedObjectsDocument, type DegradedObjectsSubscription } from '../gateway/documents.ts'
import { socket } from '../gateway/gateway.ts'
import { useCounts } from '../gateway/counts.ts'
import { type Kind, useKinds } from '../gateway/kinds.ts'
import { type Scope, useScope } from '../scope.ts'
import type { DegradedObject } from './problems.ts'

type Page = LivePage<DegradedObject>

/** The degraded objects of a kind, live. */
export interface DegradedOfKind {
  readonly kind: Kind
  readonly page: LivePageSnapshot<DegradedObject>
}

/** Always followed, as these are what people run. Others are followed once the counts say that one is degraded. */
const workloads: ReadonlySet<string> = new Set([
  'nodes',
  'pods',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'cronjobs.batch',
  'persistentvolumeclaims',
])

function pageOf({ kind, group }: Kind, { cluster, namespaces }: Scope): Page {
  return livePage<DegradedObjectsSubscription, object, DegradedObject>({
    client: socket,
    query: DegradedObjectsDocument,
    variables: {
      kind,
      group,
      cluster: cluster ?? null,
      namespaces: namespaces?.slice() ?? null,
      where: { health: { eq: 'DEGRADED' } },
    },
  })
}

/** What is degraded in the scope now, by kind, live. */
export function useDegradedNow(): readonly DegradedOfKind[] {
  const { scope } = useScope()
  const { kinds } = useKinds()
  const { byType } = useCounts()
  const followed = kinds.filter(
    ({ path, type, namespaced }) =>
      (workloads.has(path) || (byType.get(type)?.health.DEGRADED ?? 0) > 0) &&
      // What is in no namespace is not in some of them.
      (namespaced || scope.namespaces === undefined),
  )
  const place = JSON.stringify(scope)
  // A page that is followed already is kept when another kind joins.
  const pages = useRef(new Map<string, Page>())
  const store = useMemo(() => {
    const all = followed.map((kind) => {
      const key = `${kind.path} ${place}`
      const page = pages.current.get(key) ?? pageOf(kind, scope)
      pages.current.set(key, page)
      return { kind, page }
    })
    let last: readonly DegradedOfKind[] = []
    return {
      subscribe: (listener: () => void) => {
        const leave = all.map(({ page }) => page.subscribe(listener))
        return () => {
          for (const one of leave) one()
        }
      },
      // The same array until a page has changed.
      snapshot: () => {
        const next = all.map(({ kind, page }) => ({ kind, page: page.getSnapshot() }))
        const isSame =
          next.length === last.length && next.every(({ page }, index) => page === last[index]?.page)
        if (!isSame) last = next
        return last
      },
    }
  }, [place, followed.map(({ path }) => path).join(' ')])
  return useSyncExternalStore(store.subscribe, store.snapshot)
}
