import { lazy, Suspense } from 'react'
import { isHelmSecret } from '../delivery/delivered.ts'
import { DeliveredObjects } from '../delivery/delivered-objects.tsx'
import { Age, isAhead } from '../look/age.tsx'
import { UsageBars } from '../usage/usage-bars.tsx'
import { words } from '../words.ts'
import { CertificateParts } from './certificate-parts.tsx'
import { Conditions } from './conditions.tsx'
import { Container } from './container.tsx'
import { containersOf } from './container-state.ts'
import { type Fact, factsOf } from './facts.ts'
import { ConfigMapData, SecretData } from './held-data.tsx'
import { membersAt } from './json.ts'
import { LastLines } from './last-lines.tsx'
import type { SeenObject } from './live-object.ts'
import { NamespaceParts } from './namespace-parts.tsx'
import { NodeParts } from './node-parts.tsx'
import type { ObjectTab } from './object-tabs.ts'
import { Pods } from './pods.tsx'
import { PortForward } from '../shell/port-forward.tsx'
import { RefLink } from './ref-link.tsx'
import { Fold, Section } from './section.tsx'
import styles from './summary.module.css'
import { Volumes } from './volumes.tsx'

// Brings the writer of YAML.
const HelmRelease = lazy(async () => ({
  default: (await import('../delivery/helm-release.tsx')).HelmRelease,
}))

/** What matters of an object: its facts, what its kind has besides, its containers, its conditions, its labels. */
export function Summary({
  object,
  onTab,
  openLogs,
}: {
  readonly object: SeenObject
  readonly onTab: (tab: ObjectTab) => void
  readonly openLogs: (view: string | undefined) => void
}) {
  const { json } = object
  const containers = containersOf(json)
  const facts = factsOf(object)
  return (
    <div className={styles['summary']}>
      {facts.length === 0 ? null : (
        <dl className={styles['facts']}>
          {facts.map((fact) => (
            <FactEntry key={fact.label} fact={fact} cluster={object.clusterName} />
          ))}
        </dl>
      )}
      <UsageBars object={object} />
      <DeliveredObjects object={object} />
      {isHelmSecret(object.kind, json) ? (
        <Suspense fallback={null}>
          <HelmRelease object={object} />
        </Suspense>
      ) : null}
      <Pods object={object} />
      <OfKind object={object} onTab={onTab} />
      <CertificateParts object={object} />
      {containers.length === 0 ? null : (
        <Section title={words.object.container.title} count={containers.length}>
          <ul className={styles['containers']}>
            {containers.map((container) => (
              <Container key={container.name} container={container} object={object} />
            ))}
          </ul>
        </Section>
      )}
      <Volumes object={object} />
      {object.kind === 'Pod' && object.apiVersion === 'v1' ? (
        <LastLines object={object} openLogs={openLogs} />
      ) : null}
      <PortForward object={object} />
      <Conditions json={json} />
      <Members title={words.object.labels} members={membersAt(json, 'metadata', 'labels')} />
      <Members
        title={words.object.annotations}
        members={membersAt(json, 'metadata', 'annotations')}
      />
    </div>
  )
}

/** What only this kind has. */
function OfKind({
  object,
  onTab,
}: {
  readonly object: SeenObject
  readonly onTab: (tab: ObjectTab) => void
}) {
  if (object.apiVersion !== 'v1') return null
  switch (object.kind) {
    case 'Namespace':
      return <NamespaceParts object={object} openEvents={() => onTab('events')} />
    case 'Node':
      return <NodeParts object={object} />
    case 'ConfigMap':
      return <ConfigMapData object={object} />
    case 'Secret':
      return <SecretData object={object} />
    default:
      return null
  }
}

function FactEntry({ fact, cluster }: { readonly fact: Fact; readonly cluster: string }) {
  const { label, value, since, ref, isBad = false } = fact
  return (
    <div className={styles['fact']}>
      <dt>{label}</dt>
      <dd data-bad={isBad} title={value}>
        {ref === undefined ? value : <RefLink cluster={cluster} reference={ref} />}
        {since === undefined ? null : (
          <span className={value.trim() === '' ? undefined : styles['dim']}>
            {value.trim() === '' ? null : ', '}
            <Age since={since} />
            {isAhead(Date.parse(since), Date.now()) ? null : ` ${words.object.ago}`}
          </span>
        )}
      </dd>
    </div>
  )
}

/** Labels or annotations, folded if they are many. */
function Members({
  title,
  members,
}: {
  readonly title: string
  readonly members: readonly (readonly [string, string])[]
}) {
  if (members.length === 0) return null
  return (
    <Fold title={title} count={members.length}>
      <dl className={styles['members']}>
        {members.map(([name, value]) => (
          <div key={name} className={styles['member']}>
            <dt title={name}>{name}</dt>
            <dd title={value}>{value}</dd>
          </div>
        ))}
      </dl>
    </Fold>
  )
}
