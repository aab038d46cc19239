import { useLiveCollection } from '@informerql/client/react'
import { useParams } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { ActionsMenu } from '../actions/actions-menu.tsx'
import { ApplicationDocument } from '../gateway/documents.ts'
import { usePageCluster } from '../frame/page-cluster.ts'
import { useViewTitle } from '../frame/view-title.ts'
import { useGateway } from '../gateway/gateway.ts'
import { Age } from '../look/age.tsx'
import { Health } from '../look/health.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import { namedIn, nameIdOf, scopeOf } from '../scope.ts'
import { words } from '../words.ts'
import styles from './application.module.css'
import {
  type AnyObject,
  isWorkload,
  type Revision,
  revisionsOf,
  rolloutOf,
  type Workload,
} from './revisions.ts'
import { ViewMenu } from '../frame/view-menu.tsx'
import { PageHead } from '../look/page-head.tsx'

const ObjectGraph = lazy(async () => {
  const { ObjectGraph: component } = await import('../graph/object-graph.tsx')
  return { default: component }
})

const text = words.application

/** `/applications/CLUSTER/Deployment.apps/NAMESPACE/NAME`: a workload with all that belongs to it, live: its rollout, pods, ways in, and what it uses. */
export function Application() {
  const params = useParams({ strict: false })
  const named = namedIn(params)
  const { id = '' } = named === undefined ? params : { id: nameIdOf(named) }
  const { socket } = useGateway()
  const { rows, status, error } = useLiveCollection({
    client: socket,
    query: ApplicationDocument,
    variables: { id },
  })
  const object: AnyObject | undefined = rows[0]
  useViewTitle(
    object?.name ?? text.title,
    object === undefined ? { clusters: [] } : scopeOf(object),
  )
  usePageCluster(object?.clusterName)
  if (object === undefined) {
    return (
      <section className={styles['application']}>
        <h1>{text.title}</h1>
        <p role="status">{error?.message ?? (status === 'live' ? text.gone : words.loading)}</p>
      </section>
    )
  }
  if (!isWorkload(object)) {
    return (
      <section className={styles['application']}>
        <h1>{object.name}</h1>
        <p>
          {text.noWorkload(object.kind)}{' '}
          <PlaceLink to={{ object: object.nameId }}>{text.openObject}</PlaceLink>
        </p>
      </section>
    )
  }
  return <LiveApplication workload={object} />
}

function LiveApplication({ workload }: { readonly workload: Workload }) {
  const { id, nameId, kind, name, namespace, health, creationTimestamp } = workload
  return (
    <article className={styles['application']}>
      <header className={styles['header']}>
        <p className={styles['dim']}>
          {kind} · {namespace}
        </p>
        <PageHead title={name}>
          <ActionsMenu acted={workload} />
          <ViewMenu document={ApplicationDocument} variables={{ id }} />
        </PageHead>
        <p className={styles['health']}>
          <Health status={health?.status} />
          <span>
            {health?.message} {typeof health?.reason === 'string' && <code>{health.reason}</code>}
          </span>
        </p>
        <p className={styles['dim']}>
          <Age since={creationTimestamp} /> ·{' '}
          <PlaceLink to={{ object: nameId }}>{text.openObject}</PlaceLink>
        </p>
      </header>
      <div className={styles['columns']}>
        <div>
          <RolloutView workload={workload} />
          <Events workload={workload} />
        </div>
        <div>
          <WaysIn workload={workload} />
          <Uses workload={workload} />
          <Guards workload={workload} />
        </div>
      </div>
      <h2>{words.graph.title}</h2>
      <div className={styles['graph']}>
        <Suspense fallback={<p>{words.loading}</p>}>
          <ObjectGraph roots={[id]} />
        </Suspense>
      </div>
    </article>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={styles['part']} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function RolloutView({ workload }: { readonly workload: Workload }) {
  const rollout = rolloutOf(workload)
  const revisions = revisionsOf(workload)
  const total = workload.pods?.totalCount ?? 0
  const shown = workload.pods?.nodes.length ?? 0
  return (
    <Part title={text.pods}>
      {rollout !== undefined && (
        <>
          <p role="status">{text.rollout(rollout)}</p>
          {rollout.isGoing && (
            <progress
              className={styles['progress']}
              aria-label={text.progress}
              value={Math.min(rollout.updated, rollout.ready)}
              max={Math.max(1, rollout.desired)}
            />
          )}
        </>
      )}
      {revisions.map((revision) => (
        <RevisionView key={revision.hash} revision={revision} />
      ))}
      {total === 0 && <p className={styles['dim']}>{text.noPods}</p>}
      {shown < total && <p className={styles['dim']}>{text.morePods(shown, total)}</p>}
    </Part>
  )
}

function RevisionView({ revision }: { readonly revision: Revision }) {
  const { number, hash, isCurrent, images, pods, nameId, desired } = revision
  const ready = pods.filter(({ health }) => health?.status === 'HEALTHY').length
  const title = number === undefined ? hash : text.revision(number)
  return (
    <section className={styles['revision']} aria-label={title} data-current={isCurrent}>
      {title !== '' && (
        <h3>
          {nameId === undefined ? title : <PlaceLink to={{ object: nameId }}>{title}</PlaceLink>}{' '}
          <span className={styles['dim']}>
            {isCurrent ? text.current : text.old} ·{' '}
            {text.healthyPods(ready, desired ?? pods.length)}
          </span>
        </h3>
      )}
      <p className={styles['images']} title={images.join('\n')}>
        {images.join(', ')}
      </p>
      <ul className={styles['rows']}>
        {pods.map((pod) => (
          <li key={pod.id} className={styles['row']}>
            <Health status={pod.health?.status} bare />
            <PlaceLink to={{ object: pod.nameId }} className={styles['name']} title={pod.name}>
              {pod.name}
            </PlaceLink>
            <span className={styles['dim']}>{pod.spec?.nodeName}</span>
            <span className={styles['dim']}>
              <Age since={pod.creationTimestamp} />
            </span>
            {pod.health?.status !== 'HEALTHY' && (
              <span className={styles['reason']}>{pod.health?.message ?? pod.health?.reason}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function WaysIn({ workload: { services } }: { readonly workload: Workload }) {
  const nodes = services?.nodes ?? []
  return (
    <Part title={text.waysIn}>
      {nodes.length === 0 && <p className={styles['dim']}>{text.noServices}</p>}
      <ul className={styles['rows']}>
        {nodes.map(({ id, nameId, name, spec, ingresses }) => (
          <li key={id}>
            <ObjectLink kind="Service" nameId={nameId} name={name} />{' '}
            <span className={styles['dim']}>
              {spec?.type} {spec?.ports?.map((port) => port?.port).join(', ')}
            </span>
            <ul className={styles['nested']}>
              {ingresses?.nodes.map((ingress) => (
                <li key={ingress.id}>
                  <ObjectLink kind="Ingress" nameId={ingress.nameId} name={ingress.name} />{' '}
                  <span className={styles['dim']}>
                    {ingress.spec?.rules?.map((rule) => rule?.host ?? '*').join(', ')}
                  </span>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </Part>
  )
}

function Uses({ workload }: { readonly workload: Workload }) {
  const { configMaps, secrets, persistentVolumeClaims, serviceAccount } = workload
  const kinds = [
    ['ConfigMap', configMaps?.nodes],
    ['Secret', secrets?.nodes],
    ['PersistentVolumeClaim', persistentVolumeClaims?.nodes],
    ['ServiceAccount', serviceAccount === null ? [] : [serviceAccount]],
  ] as const
  return (
    <Part title={text.uses}>
      <Objects kinds={kinds} none={text.usesNothing} />
    </Part>
  )
}

function Guards({ workload }: { readonly workload: Workload }) {
  const { disruptionBudgets, networkPolicies } = workload
  const autoscaler = 'autoscaler' in workload ? workload.autoscaler : null
  const kinds = [
    ['HorizontalPodAutoscaler', autoscaler === null ? [] : [autoscaler]],
    ['PodDisruptionBudget', disruptionBudgets?.nodes],
    ['NetworkPolicy', networkPolicies?.nodes],
  ] as const
  return (
    <Part title={text.guards}>
      <Objects kinds={kinds} none={text.noGuards} />
    </Part>
  )
}

function Objects({
  kinds,
  none,
}: {
  readonly kinds: readonly (readonly [
    kind: string,
    objects: readonly { readonly nameId: string; readonly name: string }[] | undefined,
  ])[]
  readonly none: string
}) {
  const objects = kinds.flatMap(([kind, of = []]) => of.map((one) => ({ kind, ...one })))
  if (objects.length === 0) return <p className={styles['dim']}>{none}</p>
  return (
    <ul className={styles['rows']}>
      {objects.map(({ kind, nameId, name }) => (
        <li key={nameId}>
          <ObjectLink kind={kind} nameId={nameId} name={name} />
        </li>
      ))}
    </ul>
  )
}

function ObjectLink({
  kind,
  nameId,
  name,
}: {
  readonly kind: string
  readonly nameId: string
  readonly name: string
}) {
  return (
    <>
      <span className={styles['dim']}>{kind}</span>{' '}
      <PlaceLink to={{ object: nameId }} className={styles['link']}>
        {name}
      </PlaceLink>
    </>
  )
}

function Events({ workload: { podEvents } }: { readonly workload: Workload }) {
  const events = (podEvents?.nodes ?? []).toReversed()
  return (
    <Part title={text.events}>
      {events.length === 0 && <p className={styles['dim']}>{text.noEvents}</p>}
      <ul className={styles['rows']}>
        {events.map((event) => (
          <li key={event.id} className={styles['event']} data-type={event.type}>
            <span className={styles['dim']}>
              <Age
                since={event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime}
              />
            </span>
            <span>
              {event.message ?? event.reason}{' '}
              <span className={styles['dim']}>
                <code>{event.reason}</code> {(event.count ?? 1) > 1 && `×${event.count} `}
                {event.involvedObject?.name}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </Part>
  )
}
