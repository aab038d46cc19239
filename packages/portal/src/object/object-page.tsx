import { useLocation, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useRef, useState } from 'react'
import { usePageCluster } from '../frame/page-cluster.ts'
import type { ObjectSearch } from '../router.tsx'
import { namedIn, namedParams, namedRoute, nameIdOf } from '../scope.ts'
import type { SeenObject } from './live-object.ts'
import { useObjectId } from './object-id.ts'
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
  const [seen, setSeen] = useState<{ readonly nameId: string; readonly id: string }>()
  const named = namedIn(params)
  const address = named === undefined ? (params.id ?? '') : nameIdOf(named)
  const entered = useRef({ address, objectId })
  if (entered.current.address !== address) entered.current = { address, objectId }
  // A link of the page to what has the same name: to the new object, from the deleted one.
  const isLed = entered.current.objectId !== objectId
  const known = isLed ? objectId : seen?.nameId === address ? seen.id : undefined
  const { id, live } = useObjectId(address, known)
  const isById = named === undefined
  const onSeen = useCallback(
    (object: SeenObject): void => {
      if (!isById) return
      setSeen(object)
      void navigate({
        to: namedRoute,
        params: namedParams(object.nameId),
        search: (search: object) => search,
        // What was of a deleted object is known by its id.
        state: { objectId: object.id },
        replace: true,
      } as never)
    },
    [isById, navigate],
  )
  usePageCluster(named?.cluster)
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
      onSeen={onSeen}
      isPage
    />
  )
}
