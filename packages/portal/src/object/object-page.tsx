import { useLiveCollection } from '@informerql/client/react'
import { useLocation, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { usePageCluster } from '../frame/page-cluster.ts'
import { FollowNameDocument } from '../gateway/documents.ts'
import { errorsOf, useGateway } from '../gateway/gateway.ts'
import type { ObjectSearch } from '../router.tsx'
import { type NamedObject, namedIn, namedParams, namedRoute } from '../scope.ts'
import type { SeenObject } from './live-object.ts'
import { type ObjectTab, tabNamed } from './object-tabs.ts'
import { Absent, ObjectView } from './object-view.tsx'

/**
 * The page of one object: `/objects/CLUSTER/Deployment.apps/NAMESPACE/NAME?tab=events`. `/objects/ID` becomes that when the
 * object is known, so that a link leads to the object that has its name by then.
 */
export function ObjectPage() {
  const params = useParams({ strict: false })
  const { tab, logs, history } = useSearch({ strict: false }) as ObjectSearch
  const { objectId } = useLocation().state as { readonly objectId?: string }
  const navigate = useNavigate()
  const [known, setKnown] = useState<{ readonly address: string; readonly id: string }>()
  const named = namedIn(params)
  const address = named && addressOf(named)
  const id = named === undefined ? params.id : known?.address === address ? known?.id : undefined
  const { cluster, apiVersion = '', kind = '', namespace = null, name = '' } = named ?? {}
  const found = useLiveCollection({
    client: useGateway().socket,
    query: FollowNameDocument,
    variables: { cluster, apiVersion, kind, namespace, name },
    enabled: id === undefined,
  })
  const foundId = found.rows[0]?.id
  useEffect(() => {
    // Once: when the object is made anew while it is shown, its page offers the new one.
    if (address !== undefined && foundId !== undefined) setKnown({ address, id: foundId })
  }, [address, foundId])
  const isById = named === undefined
  const seen = useCallback(
    (object: SeenObject): void => {
      if (!isById) return
      const next = { ...object, cluster: object.clusterName }
      setKnown({ address: addressOf(next), id: object.id })
      void navigate({
        to: namedRoute,
        params: namedParams(next),
        search: (search: object) => search,
        // What was of a deleted object is known by its id.
        state: { objectId: object.id },
        replace: true,
      } as never)
    },
    [isById, navigate],
  )
  usePageCluster(cluster)
  const change = (changed: Pick<ObjectSearch, 'tab' | 'logs' | 'history'>): void => {
    void navigate({
      to: '.',
      search: (search: object) => ({ ...search, ...changed }),
      state: true,
      replace: true,
    } as never)
  }
  const show = (next: ObjectTab): void => {
    change({ tab: next === 'summary' ? undefined : next })
  }
  if (id === undefined) {
    const { status, error } = found
    const state = status === 'live' ? 'missing' : status === 'failed' ? 'refused' : 'loading'
    // An object that was found a moment ago is known with the next rendering.
    const isFound = foundId !== undefined
    const live = { state: isFound ? 'loading' : state, errors: errorsOf(error) } as const
    return (
      <Absent {...(objectId === undefined ? {} : { id: objectId })} live={live} isPage isNamed />
    )
  }
  return (
    <ObjectView
      key={id}
      id={id}
      tab={tabNamed(tab)}
      onTab={show}
      logs={{ view: logs, onView: (view) => change({ logs: view }) }}
      history={{ view: history, onView: (view) => change({ history: view }) }}
      onSeen={seen}
      isPage
    />
  )
}

/** A text for each address. */
function addressOf(named: NamedObject): string {
  return JSON.stringify(namedParams(named))
}
