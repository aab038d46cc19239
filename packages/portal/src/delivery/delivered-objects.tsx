import { DestinationClustersDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { Age } from '../look/age.tsx'
import type { SeenObject } from '../object/live-object.ts'
import { RefLink } from '../object/ref-link.tsx'
import { Section } from '../object/section.tsx'
import { words } from '../words.ts'
import {
  type Delivered,
  type DeliveredObject,
  deliveredObjects,
  deliveredOf,
  otherClusterOf,
} from './delivered.ts'
import styles from './delivery.module.css'

const say = words.delivery
/** Each is looked up by its name. */
const most = 60

/** What an Application, Kustomization or HelmRelease says of itself, and the objects that it delivers. */
export function DeliveredObjects({ object }: { readonly object: SeenObject }) {
  const { apiVersion, kind, json, clusterName } = object
  const delivered = deliveredOf(apiVersion, kind, json)
  const other = kind === 'Application' ? otherClusterOf(json) : undefined
  const { data, isPending } = useAnswer(
    DestinationClustersDocument,
    {},
    { enabled: other !== undefined },
  )
  if (delivered === undefined) return null
  const isKnown = data?.gatewayClusters?.some(({ name }) => name === other) === true
  // Those of the same names in this cluster are others.
  const cluster = other === undefined ? clusterName : isKnown ? other : undefined
  const objects = deliveredObjects(json)
  const { drifted = 0 } = delivered
  return (
    <>
      <Section title={say.title}>
        <State delivered={delivered} />
      </Section>
      {objects.length === 0 ? null : (
        <Section title={say.objects} count={objects.length}>
          {other === undefined || other === clusterName || isPending ? null : (
            <p>{isKnown ? say.inCluster(other) : say.elsewhere(other)}</p>
          )}
          {drifted === 0 ? null : <p>{say.drifted(drifted)}</p>}
          <ul className={styles['objects']}>
            {objects.slice(0, most).map((one) => (
              <Entry
                key={`${one.apiVersion} ${one.kind} ${one.namespace} ${one.name}`}
                cluster={cluster}
                object={one}
              />
            ))}
          </ul>
          {objects.length > most ? <p>{say.moreObjects(objects.length - most)}</p> : null}
        </Section>
      )}
    </>
  )
}

function State({
  delivered: { state, revision, source, lastSync },
}: {
  readonly delivered: Delivered
}) {
  const { columns } = say
  const parts = [
    [columns.state, state],
    [columns.revision, revision],
    [columns.source, source],
  ] as const
  return (
    <ul className={styles['facts']}>
      {parts.map(([label, text]) =>
        text === undefined ? null : (
          <li key={label}>
            <span className={styles['dim']}>{label}</span> {text}
          </li>
        ),
      )}
      {lastSync === undefined ? null : (
        <li>
          <span className={styles['dim']}>{columns.lastSync}</span> <Age since={lastSync} />{' '}
          {words.object.ago}
        </li>
      )}
    </ul>
  )
}

function Entry({
  cluster,
  object: { sync, message, ...reference },
}: {
  /** `undefined`: the gateway does not serve it. */
  readonly cluster: string | undefined
  readonly object: DeliveredObject
}) {
  return (
    <li data-drifted={sync === 'OutOfSync'}>
      <span className={styles['dim']}>{reference.kind}</span>
      <span>
        {reference.namespace === undefined ? null : (
          <span className={styles['dim']}>{reference.namespace}/</span>
        )}
        {cluster === undefined ? (
          reference.name
        ) : (
          <RefLink cluster={cluster} reference={reference} />
        )}
      </span>
      <span className={styles['sync']}>{sync}</span>
      {message === undefined ? null : <span className={styles['dim']}>{message}</span>}
    </li>
  )
}
