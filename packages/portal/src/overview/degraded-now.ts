import { livePage, type LivePage, type LivePageSnapshot } from '@informerql/client'
import { useMemo, useRef, useSyncExternalStore } from 'react'
import { DegradedObjectsDocument, type DegradedObjectsSubscription } from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import { useCounts } from '../gateway/counts.ts'
import { type Kind, useKinds } from '../gateway/kinds.ts'
import { type Scope, useScope } from '../scope.ts'
import type { DegradedObject } from './problems.ts'

type Page = LivePage<DegradedObject>
type FollowedKind = Pick<Kind, 'path' | 'title' | 'group' | 'kind' | 'namespaced'>

/** The degraded objects of a kind, live. */
export interface DegradedOfKind {
  readonly kind: FollowedKind
  readonly page: LivePageSnapshot<DegradedObject>
}

const core = (kind: string, path: string, title: string, namespaced = true): FollowedKind => {
  const [, group = ''] = /\.(.*)/.exec(path) ?? []
  return { kind, group, path, title, namespaced }
}

/** What people run: always followed, without waiting for what the cluster says of its kinds. */
const workloads: readonly FollowedKind[] = [
  core('Pod', 'pods', 'Pods'),
  core('Deployment', 'deployments.apps', 'Deployments'),
  core('StatefulSet', 'statefulsets.apps', 'StatefulSets'),
  core('DaemonSet', 'daemonsets.apps', 'DaemonSets'),
  core('Job', 'jobs.batch', 'Jobs'),
  core('CronJob', 'cronjobs.batch', 'CronJobs'),
  core('PersistentVolumeClaim', 'persistentvolumeclaims', 'PersistentVolumeClaims'),
  core('Node', 'nodes', 'Nodes', false),
]
const workloadPaths = new Set(workloads.map(({ path }) => path))

/** The workloads, and every other kind of which the counts say that an object is degraded. */
function useFollowedKinds(): readonly FollowedKind[] {
  const { namespaces } = useScope().scope
  const { kinds } = useKinds()
  const { byType } = useCounts()
  const others = kinds.filter(
    ({ path, type }) => !workloadPaths.has(path) && (byType.get(type)?.health.DEGRADED ?? 0) > 0,
  )
  // What is in no namespace is not in some of them.
  return [...workloads, ...others].filter(
    ({ namespaced }) => namespaced || namespaces === undefined,
  )
}

/** A node that is silent takes its pods with it: one line for the node, none for each of its pods. */
function badFor(kind: string): readonly string[] {
  return kind === 'Node' ? ['DEGRADED', 'UNKNOWN'] : ['DEGRADED']
}

function pageOf({ kind, group }: FollowedKind, { cluster, namespaces }: Scope): Page {
  return livePage<DegradedObjectsSubscription, object, DegradedObject>({
    client: useGateway().socket,
    query: DegradedObjectsDocument,
    variables: {
      kind,
      group,
      cluster: cluster ?? null,
      namespaces: namespaces ?? null,
      where: { health: { in: badFor(kind) } },
    },
  })
}

/** What is degraded in the scope now, by kind, live. */
export function useDegradedNow(): readonly DegradedOfKind[] {
  const { scope } = useScope()
  const followed = useFollowedKinds()
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
