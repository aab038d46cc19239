import { Menu } from '@base-ui/react/menu'
import { useLiveCollection } from '@informerql/client/react'
import { useContext, useEffect, useState } from 'react'
import { ActionsMenu } from '../actions/actions-menu.tsx'
import { deliveredOf } from '../delivery/delivered.ts'
import { ManagedBy } from '../delivery/managed-by.tsx'
import { kubectlOfObject } from '../export/kubectl.ts'
import { FollowNameDocument } from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import { Age } from '../look/age.tsx'
import controls from '../look/controls.module.css'
import { SaidCut } from '../look/gaps.ts'
import { Health } from '../look/health.tsx'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import { rolloutOf } from '../look/rollout.ts'
import { PlaceLink } from '../look/place-link.tsx'
import { usePlace } from '../scope.ts'
import { words } from '../words.ts'
import { troubleOf } from './container-state.ts'
import { groupOf, numberAt, textAt, textsAt } from './json.ts'
import type { LiveObject, SeenObject } from './live-object.ts'
import styles from './object-header.module.css'
import { ViewMenu } from '../frame/view-menu.tsx'
import { FollowObjectDocument } from '../gateway/documents.ts'
import { timeOfDay } from '../look/times.ts'

/** The name of an object, where it belongs, how it is and why, and what has become of it. */
export function ObjectHeader({
  object,
  live,
  onClose,
}: {
  readonly object: SeenObject
  readonly live: LiveObject
  readonly onClose?: () => void
}) {
  const { id, nameId, kind, name, health, creationTimestamp } = object
  const sentence = sentenceOf(object)
  const rollout = live.gone === undefined ? rolloutOf(object) : undefined
  // Beside a list, the list is what the page is about.
  const Heading = onClose === undefined ? 'h1' : 'h2'
  return (
    <header className={styles['header']} data-gone={live.gone !== undefined}>
      <Path object={object} />
      <div className={styles['title']}>
        <Heading className={styles['name']} title={`${kind} ${name}`}>
          <span className={styles['kind']}>{kind}</span> {name}
        </Heading>
        <ActionsMenu
          acted={object}
          isGone={live.gone !== undefined}
          isSmall={onClose !== undefined}
        />
        <Copy object={object} />
        {onClose === undefined ? null : (
          <>
            <PlaceLink
              to={{ object: nameId, id }}
              className={controls['icon']}
              title={words.object.open}
              aria-label={words.object.open}
            >
              <span aria-hidden="true">↗</span>
            </PlaceLink>
            <button
              type="button"
              className={controls['icon']}
              onClick={onClose}
              title={words.object.close}
              aria-label={words.object.close}
            >
              <Icon name="close" />
            </button>
          </>
        )}
      </div>
      <div className={styles['health']}>
        <Health status={health?.status} word={rollout && words.rollout.of(rollout)} />
        {sentence === undefined ? null : <span className={styles['sentence']}>{sentence}</span>}
        {typeof health?.reason === 'string' && health.reason !== words.health[health.status] && (
          <code className={styles['reason']}>{health.reason}</code>
        )}
        <span className={styles['age']}>
          {words.object.age} <Age since={creationTimestamp} />
        </span>
        <PlaceLink to={{ compare: nameId }}>{words.object.compare}</PlaceLink>
        <ViewMenu document={FollowObjectDocument} variables={{ id: object.id }} />
      </div>
      <ManagedBy managers={object.managedBy} />
      <State object={object} live={live} />
    </header>
  )
}

/** Why an object is as it is, for people. */
function sentenceOf({ apiVersion, kind, json, health }: SeenObject): string | undefined {
  const message = health?.message ?? undefined
  if (kind === 'Pod') return troubleOf(json, health?.status) ?? message
  if (kind === 'Application' && textAt(json, 'status', 'sync', 'status') === 'OutOfSync') {
    const { drifted = 0, missing = 0 } = deliveredOf(apiVersion, kind, json) ?? {}
    return [message, words.delivery.outOfSync(drifted, missing)].filter(Boolean).join(' ')
  }
  const counted = podCountOf(kind, json)
  if (counted === undefined) return message
  // Both would count the same pods.
  if (message === undefined || health?.reason === 'NotReady') return counted
  // The reason comes first: the pods that are ready may be those of an earlier revision.
  return words.object.reasonAndCount(message, counted)
}

/** `2 of 3 pods are ready.` for what makes pods. */
function podCountOf(kind: string, json: unknown): string | undefined {
  const isSet = kind === 'DaemonSet'
  if (!isSet && !['Deployment', 'StatefulSet', 'ReplicaSet'].includes(kind)) return undefined
  const wanted = isSet
    ? (numberAt(json, 'status', 'desiredNumberScheduled') ?? 0)
    : (numberAt(json, 'spec', 'replicas') ?? 1)
  const ready = numberAt(json, 'status', isSet ? 'numberReady' : 'readyReplicas') ?? 0
  return words.object.podsReady(ready, wanted)
}

/** Cluster, namespace and owners, the farthest first. */
function Path({ object }: { readonly object: SeenObject }) {
  const { clusterName, namespace, ownerChain } = object
  return (
    <nav aria-label={words.object.path}>
      <ol className={styles['path']}>
        <li>{clusterName}</li>
        {namespace === null ? null : (
          <li>
            <PlaceLink to={{ kind: 'pods', namespace }} title={words.object.podsIn(namespace)}>
              {namespace}
            </PlaceLink>
          </li>
        )}
        {(ownerChain ?? []).toReversed().map((owner) => (
          <li key={owner.id}>
            <PlaceLink to={{ object: owner.nameId }} title={`${owner.kind} ${owner.name}`}>
              <span className={styles['ownerKind']}>{owner.kind}</span> {owner.name}
            </PlaceLink>
          </li>
        ))}
      </ol>
    </nav>
  )
}

function Copy({ object }: { readonly object: SeenObject }) {
  const { hrefOf } = usePlace()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const { name, namespace, apiVersion, kind, nameId } = object
  const group = groupOf(apiVersion)
  const typeName = `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}`
  const texts = [
    [words.object.copyName, name],
    [words.object.copyCommand, kubectlOfObject(typeName, { namespace, name })],
    [words.object.copyAddress, new URL(hrefOf({ object: nameId }), location.href).href],
  ] as const
  return (
    <Menu.Root>
      <Menu.Trigger className={controls['button']}>
        {isCopied ? words.object.copied : words.object.copy}
      </Menu.Trigger>
      <Menu.Portal className="informerql">
        <Menu.Positioner align="end" sideOffset={4} className={overlay['positioner']}>
          <Menu.Popup className={overlay['popup']}>
            {texts.map(([label, text]) => (
              <Menu.Item
                key={label}
                className={overlay['item']}
                onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
              >
                {label}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

/** What has become of the object: deleted, out of sight, on its way out, or perhaps out of date. */
function State({ object, live }: { readonly object: SeenObject; readonly live: LiveObject }) {
  const { gone, staleSince } = live
  const isCutSaid = useContext(SaidCut).has(object.clusterName)
  if (gone !== undefined) {
    const time = timeOfDay(gone.at)
    return (
      <p className={styles['state']} role="status">
        {gone.how === 'DELETED' ? words.object.deletedAt(time) : words.object.hiddenAt(time)}
        {gone.how === 'DELETED' ? <Successor object={object} /> : null}
      </p>
    )
  }
  const since = textAt(object.json, 'metadata', 'deletionTimestamp')
  if (since !== undefined) {
    return (
      <p className={styles['state']} role="status">
        {words.object.terminating(textsAt(object.json, 'metadata', 'finalizers'))}{' '}
        <Age since={since} />
      </p>
    )
  }
  if (staleSince === null || isCutSaid) return null
  return (
    <p className={styles['state']} role="status">
      {words.object.stale(timeOfDay(new Date(staleSince)))}
    </p>
  )
}

/** Offers the object that has the name of a deleted one, as soon as there is one. */
function Successor({ object }: { readonly object: SeenObject }) {
  const { clusterName: cluster, apiVersion, kind, namespace, name } = object
  const { rows } = useLiveCollection({
    client: useGateway().socket,
    query: FollowNameDocument,
    variables: { cluster, apiVersion, kind, namespace, name },
  })
  const next = rows.find(({ id }) => id !== object.id)
  if (next === undefined) return null
  return (
    <>
      {' '}
      {words.object.recreated}{' '}
      <PlaceLink to={{ object: next.nameId, id: next.id }}>{words.object.openNew}</PlaceLink>
    </>
  )
}
