import { useLivePage } from '@informerql/client/react'
import { useState } from 'react'
import { PodsBelowDocument } from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import { Age } from '../look/age.tsx'
import { useUsage } from '../usage/usage.ts'
import { words } from '../words.ts'
import { troubleOf } from './container-state.ts'
import type { SeenObject } from './live-object.ts'
import { ObjectLink } from './object-link.tsx'
import styles from './pods.module.css'
import { Section } from './section.tsx'
import { groupOf } from './json.ts'

/** The filter of pods by what is above them: by the group and kind of that. */
const filters: Readonly<Record<string, (name: string) => unknown>> = {
  'apps Deployment': (name) => ({ deployment: { is: { name: { eq: name } } } }),
  'apps ReplicaSet': (name) => ({ replicaSet: { is: { name: { eq: name } } } }),
  'apps StatefulSet': (name) => ({ statefulSet: { is: { name: { eq: name } } } }),
  'apps DaemonSet': (name) => ({ daemonSet: { is: { name: { eq: name } } } }),
  'batch Job': (name) => ({ job: { is: { name: { eq: name } } } }),
  'batch CronJob': (name) => ({ cronJob: { is: { name: { eq: name } } } }),
  ' Service': (name) => ({ services: { some: { name: { eq: name } } } }),
  ' PersistentVolumeClaim': (name) => ({
    persistentVolumeClaims: { some: { name: { eq: name } } },
  }),
  ' Node': (name) => ({ nodeName: { eq: name } }),
}

/** How many are shown at first. */
const most = 10

/** The pods of a workload, a Service, a claim or a node: the broken ones first, each with what is wrong. */
export function Pods({ object }: { readonly object: SeenObject }) {
  const { kind, apiVersion, name } = object
  const group = groupOf(apiVersion)
  const filter = filters[`${group} ${kind}`]
  return filter === undefined ? null : <PodList object={object} where={filter(name)} />
}

function PodList({ object, where }: { readonly object: SeenObject; readonly where: unknown }) {
  const { id, kind, namespace, clusterName: cluster } = object
  const [isOpen, setOpen] = useState(false)
  const {
    rows: nodes,
    totalCount = 0,
    status,
    error,
  } = useLivePage({
    client: useGateway().socket,
    query: PodsBelowDocument,
    variables: { cluster, namespaces: namespace === null ? null : [namespace], where },
  })
  const isPart = useUsage(kind, kind === 'Node' ? [id] : []).byId.get(id)?.isPart === true
  const say = words.object.pods
  if (status === 'loading') return null
  if (status === 'failed') {
    return (
      <Section title={say.title}>
        <p className={styles['dim']}>{say.refused(error?.message ?? '')}</p>
      </Section>
    )
  }
  const shown = isOpen ? nodes : nodes.slice(0, most)
  return (
    <Section title={isPart ? say.yours : say.title} count={totalCount}>
      {totalCount === 0 ? (
        <p className={styles['dim']}>{isPart ? say.noneOfYours : say.none}</p>
      ) : null}
      <ul className={styles['pods']}>
        {shown.map((pod) => {
          const isWell = pod.health?.status === 'HEALTHY'
          const trouble = isWell
            ? undefined
            : (troubleOf(pod.json, pod.health?.status) ?? pod.health?.message)
          return (
            <li key={pod.id}>
              <span className={styles['pod']}>
                <ObjectLink object={pod} beside={namespace} />
                <span className={styles['age']}>
                  <Age since={pod.creationTimestamp} />
                </span>
              </span>
              {typeof trouble === 'string' ? (
                <p className={styles['trouble']} title={trouble}>
                  {trouble}
                </p>
              ) : null}
            </li>
          )
        })}
      </ul>
      {nodes.length > shown.length ? (
        <button type="button" className={styles['more']} onClick={() => setOpen(true)}>
          {words.object.more(nodes.length - shown.length)}
        </button>
      ) : null}
      {isOpen && totalCount > nodes.length ? (
        <p className={styles['dim']}>{say.first(nodes.length, totalCount)}</p>
      ) : null}
    </Section>
  )
}
