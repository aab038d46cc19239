import { ConfigMapValuesDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { Age } from '../look/age.tsx'
import { usageWords } from '../usage/usage-words.ts'
import { useUsage } from '../usage/usage.ts'
import { words } from '../words.ts'
import type { ContainerState } from './container-state.ts'
import { membersAt } from './json.ts'
import type { SeenObject } from './live-object.ts'
import { pageWords } from './page-words.ts'
import { type EnvEntry, envOf, type EnvSource, probesOf } from './pod-config.ts'
import { RefLink } from './ref-link.tsx'
import { Fold } from './section.tsx'
import styles from './summary.module.css'

const shapes: Readonly<Record<ContainerState['tone'], string>> = {
  good: '●',
  moving: '◐',
  bad: '▲',
  done: '✓',
  plain: '',
}

/** A container: how it is, how it ended last, what it may use, its probes, and where its environment comes from. */
export function Container({
  container,
  object,
}: {
  readonly container: ContainerState
  readonly object: SeenObject
}) {
  const { name, image, role, tone, sentence, reason, since, restarts, lastExit } = container
  const { container: say } = words.object
  const uses = useUsage('Pod', object.kind === 'Pod' ? [object.id] : [])
    .byId.get(object.id)
    ?.containers.get(name)
  const used = (['cpu', 'memory'] as const).flatMap((resource) => {
    const amount = uses?.[resource]
    return amount === undefined ? [] : [`${resource} ${usageWords.amounts[resource](amount)}`]
  })
  const sizes = [
    [usageWords.uses, used.length === 0 ? undefined : used.join(', ')],
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
      {lastExit === undefined ? null : (
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
      <Probes given={container.given} />
      <Environment given={container.given} object={object} />
    </li>
  )
}

function Probes({ given }: { readonly given: unknown }) {
  const probes = probesOf(given)
  if (probes.length === 0) return null
  return (
    <Fold title={pageWords.probes.title} count={probes.length}>
      <dl className={styles['members']}>
        {probes.map(({ name, asks, when }) => (
          <div key={name} className={styles['member']}>
            <dt>{name}</dt>
            <dd data-whole>
              {asks} <span className={styles['dim']}>{when}</span>
            </dd>
          </div>
        ))}
      </dl>
    </Fold>
  )
}

function Environment({ given, object }: { readonly given: unknown; readonly object: SeenObject }) {
  const entries = envOf(given)
  if (entries.length === 0) return null
  return (
    <Fold title={pageWords.env.title} count={entries.length}>
      <dl className={styles['members']}>
        {entries.map((entry, position) => (
          <Variable key={`${position} ${entry.name}`} entry={entry} object={object} />
        ))}
      </dl>
    </Fold>
  )
}

function Variable({
  entry: { name, value, source },
  object,
}: {
  readonly entry: EnvEntry
  readonly object: SeenObject
}) {
  const say = pageWords.env
  const isAll = source !== undefined && source.form !== 'said' && source.key === undefined
  return (
    <div className={styles['member']}>
      <dt title={name}>{isAll ? (name === '' ? say.any : say.prefix(name)) : name}</dt>
      <dd data-whole>
        {value === undefined ? null : value === '' ? (
          <span className={styles['dim']}>{say.unset}</span>
        ) : (
          value
        )}
        {source === undefined ? null : source.form === 'said' ? (
          <span className={styles['dim']}>{source.text}</span>
        ) : (
          <FromObject source={source} object={object} />
        )}
      </dd>
    </div>
  )
}

/** What a ConfigMap gives, with its name; of a Secret the name alone. */
function FromObject({
  source: { form, name, key, isOptional },
  object: { clusterName: cluster, namespace },
}: {
  readonly source: Exclude<EnvSource, { readonly form: 'said' }>
  readonly object: SeenObject
}) {
  const say = pageWords.env
  const isConfigMap = form === 'configMap'
  const given = useAnswer(
    ConfigMapValuesDocument,
    { cluster, namespace, name },
    { enabled: isConfigMap },
  )
  // What a ConfigMap of the same name holds is nothing of a Secret.
  const configMap = isConfigMap ? given.data?.objectByRef : undefined
  const values = membersAt(configMap?.json)
  const shown = key === undefined ? values : values.filter(([one]) => one === key)
  const kind = isConfigMap ? 'ConfigMap' : 'Secret'
  const said = isConfigMap
    ? key === undefined
      ? say.allOfConfigMap
      : say.configMap(key)
    : key === undefined
      ? say.allOfSecret
      : say.secret(key)
  const isMissing = isConfigMap && !given.isPending && configMap === null
  const hasNoKey = configMap != null && key !== undefined && shown.length === 0
  return (
    <>
      {shown.map(([one, value]) => (
        <span key={one} className={styles['given']}>
          {key === undefined ? `${one}=${value}` : value}
        </span>
      ))}
      <span className={styles['dim']}>
        {said}{' '}
        <RefLink
          cluster={cluster}
          reference={{
            apiVersion: 'v1',
            kind,
            name,
            ...(namespace === null ? {} : { namespace }),
          }}
        />
        {isOptional ? say.optional : null}
      </span>
      {isMissing || hasNoKey ? (
        <span className={isOptional ? styles['dim'] : styles['wrong']}>
          {' '}
          {isMissing ? say.noConfigMap : say.noKey}
        </span>
      ) : null}
      {given.errors.slice(0, 1).map(({ message }) => (
        <span key={message} className={styles['dim']}>
          {' '}
          {message}
        </span>
      ))}
    </>
  )
}
