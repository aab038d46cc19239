import { useLiveCollection, useLivePage } from '@informerql/client/react'
import { useContext, useState } from 'react'
import { FollowOwnedUidsDocument, ObjectEventsDocument } from '../gateway/documents.ts'
import { errorsOf, useGateway } from '../gateway/gateway.ts'
import { Age } from '../look/age.tsx'
import { SaidCut } from '../look/gaps.ts'
import { Failure, Notice } from '../look/notice.tsx'
import { words } from '../words.ts'
import styles from './events.module.css'
import { isNamespace, numberAt, textAt } from './json.ts'
import type { SeenObject } from './live-object.ts'
import { timeOfDay } from '../look/times.ts'

/** The Events about an object, and about what it owns, the newest first. */
export function Events({ object }: { readonly object: SeenObject }) {
  const { id, uid } = object
  const [isWide, setWide] = useState(true)
  const { rows, status } = useLiveCollection({
    client: useGateway().socket,
    query: FollowOwnedUidsDocument,
    variables: { id },
  })
  if (status === 'loading' && rows.length === 0) return null
  const below = (rows[0]?.owned?.nodes ?? []).flatMap((one) => [
    one.uid,
    ...(one.owned?.nodes ?? []).map((further) => further.uid),
  ])
  const uids = isWide ? [uid, ...below.toSorted()] : [uid]
  return (
    <div className={styles['events']}>
      {below.length === 0 ? null : (
        <label className={styles['choice']}>
          <input
            type="checkbox"
            checked={isWide}
            onChange={({ target }) => setWide(target.checked)}
          />
          {words.object.events.wide}
        </label>
      )}
      <EventList object={object} uids={uids} />
    </div>
  )
}

function EventList({
  object: { uid, kind, apiVersion, name, namespace, clusterName: cluster },
  uids,
}: {
  readonly object: SeenObject
  readonly uids: readonly string[]
}) {
  const byUid = { involvedUid: { in: uids } }
  // A kubelet gives the name of its node in place of the UID.
  const byName = { involvedKind: { eq: kind }, involvedName: { eq: name } }
  // Those about all that is in it.
  const isOfNamespace = isNamespace({ kind, apiVersion })
  const page = useLivePage({
    client: useGateway().socket,
    query: ObjectEventsDocument,
    variables: {
      cluster,
      namespaces: isOfNamespace ? [name] : namespace === null ? null : [namespace],
      where: isOfNamespace ? {} : kind === 'Node' ? { or: [byUid, byName] } : byUid,
    },
  })
  // The events of before stay while the list of objects that they are about changes.
  const [kept, setKept] = useState(page)
  if (page.status !== 'loading' && kept !== page) setKept(page)
  const { rows, totalCount = 0, status, error, staleSince } = kept
  const isCutSaid = useContext(SaidCut).has(cluster)
  const say = words.object.events
  if (status === 'failed' && error !== undefined) {
    return <Failure title={say.failed} errors={errorsOf(error)} />
  }
  if (status === 'loading') return null
  if (rows.length === 0) {
    return (
      <Notice title={say.none}>
        <p>{say.kept}</p>
      </Notice>
    )
  }
  return (
    <>
      {staleSince === null || isCutSaid ? null : (
        <p className={styles['dim']}>{words.object.stale(timeOfDay(new Date(staleSince)))}</p>
      )}
      <ol className={styles['list']}>
        {rows.map(({ id, json }) => {
          const event = eventOf(id, json)
          return <EventEntry key={id} event={event} isOwn={event.uid === uid} />
        })}
      </ol>
      {totalCount > rows.length ? (
        <p className={styles['dim']}>{say.more(rows.length, totalCount)}</p>
      ) : null}
    </>
  )
}

interface SeenEvent {
  readonly id: string
  readonly isWarning: boolean
  readonly reason: string
  readonly message: string
  readonly count: number
  readonly first: string | undefined
  readonly last: string | undefined
  readonly source: string | undefined
  readonly about: string
  readonly uid: string | undefined
}

/** An Event of either API, old or new. */
function eventOf(id: string, json: unknown): SeenEvent {
  const created = textAt(json, 'metadata', 'creationTimestamp')
  const first = textAt(json, 'firstTimestamp') ?? textAt(json, 'eventTime') ?? created
  return {
    id,
    isWarning: textAt(json, 'type') === 'Warning',
    reason: textAt(json, 'reason') ?? '',
    message: textAt(json, 'message') ?? '',
    count: numberAt(json, 'series', 'count') ?? numberAt(json, 'count') ?? 1,
    first,
    last: textAt(json, 'series', 'lastObservedTime') ?? textAt(json, 'lastTimestamp') ?? first,
    source: textAt(json, 'reportingComponent') ?? textAt(json, 'source', 'component'),
    about: `${textAt(json, 'involvedObject', 'kind') ?? ''} ${textAt(json, 'involvedObject', 'name') ?? ''}`,
    uid: textAt(json, 'involvedObject', 'uid'),
  }
}

function EventEntry({ event, isOwn }: { readonly event: SeenEvent; readonly isOwn: boolean }) {
  const { isWarning, reason, message, count, first, last, source, about } = event
  const say = words.object.events
  return (
    <li className={styles['event']} data-warning={isWarning}>
      <span className={styles['when']}>
        <Age since={last} />
      </span>
      <div className={styles['what']}>
        <p className={styles['message']}>
          {isWarning ? (
            <span className={styles['mark']} role="img" aria-label={say.warning}>
              ▲{' '}
            </span>
          ) : null}
          {message === '' ? reason : message}
        </p>
        <p className={styles['dim']}>
          {message === '' ? null : (
            <>
              <code>{reason}</code>
              {isOwn && count === 1 && source === undefined ? null : ' · '}
            </>
          )}
          {isOwn ? null : `${about} · `}
          {count === 1 ? null : (
            <>
              {words.object.times(count)}, {say.first} <Age since={first} /> {words.object.ago}
              {source === undefined ? null : ' · '}
            </>
          )}
          {source}
        </p>
      </div>
    </li>
  )
}
