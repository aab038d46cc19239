import { Age } from '../look/age.tsx'
import { words } from '../words.ts'
import { Conditions } from './conditions.tsx'
import { type ContainerState, containersOf } from './container-state.ts'
import { type Fact, factsOf } from './facts.ts'
import { membersAt } from './json.ts'
import type { SeenObject } from './live-object.ts'
import { Pods } from './pods.tsx'
import { RefLink } from './ref-link.tsx'
import { Section } from './section.tsx'
import styles from './summary.module.css'

/** What matters of an object: its facts, its containers, its conditions, its labels. */
export function Summary({ object }: { readonly object: SeenObject }) {
  const { json } = object
  const containers = containersOf(json)
  return (
    <div className={styles['summary']}>
      <dl className={styles['facts']}>
        {factsOf(object).map((fact) => (
          <FactEntry key={fact.label} fact={fact} cluster={object.clusterName} />
        ))}
      </dl>
      <Pods object={object} />
      {containers.length === 0 ? null : (
        <Section title={words.object.container.title} count={containers.length}>
          <ul className={styles['containers']}>
            {containers.map((container) => (
              <Container key={container.name} container={container} />
            ))}
          </ul>
        </Section>
      )}
      <Conditions json={json} />
      <Members title={words.object.labels} members={membersAt(json, 'metadata', 'labels')} />
      <Members
        title={words.object.annotations}
        members={membersAt(json, 'metadata', 'annotations')}
      />
    </div>
  )
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
            <Age since={since} /> {words.object.ago}
          </span>
        )}
      </dd>
    </div>
  )
}

const shapes: Readonly<Record<ContainerState['tone'], string>> = {
  good: '●',
  moving: '◐',
  bad: '▲',
  done: '✓',
  plain: '',
}

function Container({ container }: { readonly container: ContainerState }) {
  const { name, image, role, tone, sentence, reason, since, restarts, lastExit } = container
  const { container: say } = words.object
  const sizes = [
    [say.requests, container.requests],
    [say.limits, container.limits],
    [say.ports, container.ports],
  ] as const
  return (
    <li className={styles['container']} data-tone={tone}>
      <p className={styles['containerName']}>
        <span aria-hidden="true" className={styles['shape']}>
          {shapes[tone]}
        </span>
        <strong>{name}</strong>
        {say.roles[role] === '' ? null : <span className={styles['role']}>{say.roles[role]}</span>}
        <code className={styles['image']} title={image}>
          {image}
        </code>
      </p>
      {sentence === undefined ? null : (
        <p className={styles['sentence']}>
          {sentence}
          {since === undefined ? null : (
            <>
              , <Age since={since} />
            </>
          )}
          {restarts === 0 || reason === 'CrashLoopBackOff' ? null : `, ${say.restarts(restarts)}`}
          {reason === undefined ? null : <code className={styles['dim']}> {reason}</code>}
        </p>
      )}
      {lastExit === undefined || reason === 'CrashLoopBackOff' ? null : (
        <p className={styles['dim']}>
          {say.lastExit} {lastExit.sentence}
          {lastExit.at === undefined ? null : (
            <>
              , <Age since={lastExit.at} /> {words.object.ago}
            </>
          )}
        </p>
      )}
      <p className={styles['dim']}>
        {sizes
          .flatMap(([label, text]) => (text === undefined ? [] : [`${label}: ${text}`]))
          .join(' · ')}
      </p>
    </li>
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
    <details className={styles['section']}>
      <summary className={styles['heading']}>
        {title}
        <span className={styles['count']}>{members.length}</span>
      </summary>
      <dl className={styles['members']}>
        {members.map(([name, value]) => (
          <div key={name} className={styles['member']}>
            <dt title={name}>{name}</dt>
            <dd title={value}>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
