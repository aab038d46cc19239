import { DestinationClustersDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { Age } from '../look/age.tsx'
import type { SeenObject } from '../object/live-object.ts'
import { quoted } from '../export/kubectl.ts'
import { OtherWay } from '../object/held-data.tsx'
import { NamedLink, useNamed } from '../object/ref-link.tsx'
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
  const { apiVersion, kind, json, clusterName, namespace, name } = object
  const delivered = deliveredOf(apiVersion, kind, json)
  const other = kind === 'Application' ? otherClusterOf(json) : undefined
  const { data, isPending } = useAnswer(
    DestinationClustersDocument,
    {},
    { enabled: other !== undefined },
  )
  if (delivered === undefined) return null
  const isKnown = data?.gatewayClusters?.some((one) => one.name === other) === true
  // Those of the same names in this cluster are others.
  const cluster = other === undefined ? clusterName : isKnown ? other : undefined
  const objects = deliveredObjects(json)
  const { drifted = 0, missing = 0 } = delivered
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
          {drifted === 0 ? null : <p>{say.drifted(drifted, missing)}</p>}
          <ul className={styles['objects']}>
            {objects.slice(0, most).map((one) => (
              <Entry
                key={`${one.apiVersion} ${one.kind} ${one.namespace} ${one.name}`}
                cluster={cluster}
                object={one}
              />
            ))}
          </ul>
          {drifted === 0 ? null : (
            <OtherWay text={say.fields} command={diffCommand(namespace, name)} />
          )}
          {objects.length > most ? <p>{say.moreObjects(objects.length - most)}</p> : null}
        </Section>
      )}
    </>
  )
}

/** Outside of the namespace that is usually that of Argo CD itself, an Application is named with its own. */
function diffCommand(namespace: string | null, name: string): string {
  return `argocd app diff ${quoted(namespace === 'argocd' || namespace === null ? name : `${namespace}/${name}`)}`
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
  object: { sync, lack, message, ...reference },
}: {
  /** `undefined`: the gateway does not serve it. */
  readonly cluster: string | undefined
  readonly object: DeliveredObject
}) {
  const nameId = useNamed(cluster, reference)
  const isOut = sync === 'OutOfSync'
  // Argo CD 3 does not write the health of objects into its Application.
  const how = lack ?? (nameId === null && isOut ? 'missing' : undefined)
  return (
    <li data-drifted={isOut}>
      <span className={styles['dim']}>{reference.kind}</span>
      <span>
        {reference.namespace === undefined ? null : (
          <span className={styles['dim']}>{reference.namespace}/</span>
        )}
        <NamedLink nameId={nameId} name={reference.name} />
      </span>
      <span className={styles['sync']}>
        {sync}
        {how === undefined ? null : `: ${say[how]}`}
      </span>
      {message === undefined ? null : <span className={styles['dim']}>{message}</span>}
    </li>
  )
}
