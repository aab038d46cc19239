import { useState } from 'react'
import {
  HelmObjectsDocument,
  HelmSecretsDocument,
  TypedDocumentString,
} from '../gateway/documents.ts'
import { quoted } from '../export/kubectl.ts'
import { type AnswerError, errorsOf, useAnswer, useGateway } from '../gateway/gateway.ts'
import { useLivePage } from '@informerql/client/react'
import { Age } from '../look/age.tsx'
import controls from '../look/controls.module.css'
import { Failure } from '../look/notice.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import { OtherWay, useSecretsServed } from '../object/held-data.tsx'
import { textAt } from '../object/json.ts'
import type { SeenObject } from '../object/live-object.ts'
import { ObjectLink } from '../object/object-link.tsx'
import { Section } from '../object/section.tsx'
import { yamlOf } from '../object/yaml-text.ts'
import { words } from '../words.ts'
import { helmReleasesOf, type ReleaseContent, releaseContent } from './delivered.ts'
import styles from './delivery.module.css'

const say = words.delivery

/** A release of Helm, on the page of a Secret that keeps one of its revisions. */
export function HelmRelease({ object }: { readonly object: SeenObject }) {
  return (
    <>
      <Revisions object={object} />
      <Installed id={object.id} />
      <Values object={object} />
    </>
  )
}

function Values({ object }: { readonly object: SeenObject }) {
  const isServed = useSecretsServed(object.clusterName)
  if (isServed === undefined) return null
  if (isServed) return <ReadValues key={object.id} object={object} />
  const { clusterName, namespace, json } = object
  const [release, revision] = ['name', 'version'].map((label) =>
    quoted(textAt(json, 'metadata', 'labels', label) ?? ''),
  )
  const place = `--kube-context ${quoted(clusterName)} -n ${quoted(namespace ?? '')}`
  const command = `helm ${place} get values ${release} --revision ${revision}`
  return (
    <Section title={say.values}>
      <OtherWay text={say.valuesNotRead} command={command} />
    </Section>
  )
}

function Revisions({
  object: { id, json, clusterName, namespace },
}: {
  readonly object: SeenObject
}) {
  const name = textAt(json, 'metadata', 'labels', 'name') ?? ''
  const { rows } = useLivePage({
    client: useGateway().socket,
    query: HelmSecretsDocument,
    variables: {
      cluster: clusterName,
      clusters: null,
      namespaces: namespace === null ? null : [namespace],
      where: {
        labels: [
          { key: 'owner', eq: 'helm' },
          { key: 'name', eq: name },
        ],
      },
    },
  })
  const [release] = helmReleasesOf(rows)
  if (release === undefined) return null
  return (
    <Section title={`${say.tools.HELM} ${say.release} ${name}`} count={release.revisions.length}>
      <ul className={styles['objects']}>
        {release.revisions.map(({ id: other, nameId, number, status, at }) => (
          <li key={other} data-drifted={status === 'failed'}>
            {other === id ? (
              <strong>{say.revision(number)}</strong>
            ) : (
              <PlaceLink to={{ object: nameId }}>{say.revision(number)}</PlaceLink>
            )}
            <span className={styles['sync']}>{status}</span>
            <span className={styles['dim']}>
              <Age since={at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Installed({ id }: { readonly id: string }) {
  const { data } = useAnswer(HelmObjectsDocument, { id })
  const found = data?.object ?? {}
  const objects = 'helmObjects' in found ? found.helmObjects : null
  if (objects === null || objects.nodes.length === 0) return null
  const chart = objects.nodes.find(({ labels }) => labels?.['helm.sh/chart'] !== undefined)
  const { nodes, totalCount } = objects
  return (
    <Section title={say.installed} count={totalCount}>
      {chart === undefined ? null : (
        <p>
          <span className={styles['dim']}>{say.chart}</span> {chart.labels?.['helm.sh/chart']}
        </p>
      )}
      <ul className={styles['objects']}>
        {nodes.map((one) => (
          <li key={one.id}>
            <span className={styles['dim']}>{one.kind}</span>
            <ObjectLink object={one} beside={null} />
          </li>
        ))}
      </ul>
      {totalCount > nodes.length ? <p>{say.moreObjects(totalCount - nodes.length)}</p> : null}
    </Section>
  )
}

/** Not among the documents that are checked: `data` exists where the gateway serves it only. */
const secretData = new TypedDocumentString<
  { readonly object: { readonly data?: unknown } | null },
  { readonly id: string }
>('query HelmValues($id: ID!) { object(id: $id) { ... on Secret { data } } }')

/**
 * The chart and the values of a revision. They are in the data of the Secret, which the gateway reads with the rights of
 * the caller; so they are asked for by a click.
 */
function ReadValues({ object: { id } }: { readonly object: SeenObject }) {
  const gateway = useGateway()
  const [state, setState] = useState<
    | { readonly content: ReleaseContent }
    | { readonly errors: readonly AnswerError[] }
    | 'reading'
    | undefined
  >()
  const read = async (): Promise<void> => {
    setState('reading')
    try {
      const { data, errors } = await gateway.ask(secretData, { id })
      const text = textAt(data.object?.data, 'release')
      if (text === undefined) setState({ errors })
      else setState({ content: await releaseContent(text) })
    } catch (error) {
      setState({ errors: errorsOf(error as Error) })
    }
  }
  if (state === undefined || state === 'reading') {
    return (
      <Section title={say.values}>
        <button
          type="button"
          className={controls['button']}
          disabled={state === 'reading'}
          onClick={() => void read()}
        >
          {state === 'reading' ? say.reading : say.showValues}
        </button>
      </Section>
    )
  }
  return (
    <Section title={say.values}>
      {'errors' in state ? <NotShown errors={state.errors} /> : <Content content={state.content} />}
    </Section>
  )
}

function NotShown({ errors }: { readonly errors: readonly AnswerError[] }) {
  const isForbidden = errors.some(({ extensions }) => extensions?.code === 'FORBIDDEN')
  if (isForbidden) return <p>{say.valuesRefused}</p>
  return <Failure title={say.failed} errors={errors} />
}

function Content({
  content: { chart, appVersion, description, values },
}: {
  readonly content: ReleaseContent
}) {
  const hasValues = typeof values === 'object' && values !== null && Object.keys(values).length > 0
  return (
    <>
      <p>
        <span className={styles['dim']}>{say.chart}</span> {chart}{' '}
        <span className={styles['dim']}>
          {appVersion} {description}
        </span>
      </p>
      {hasValues ? (
        <pre className={styles['values']} tabIndex={0}>
          {yamlOf(values)}
        </pre>
      ) : (
        <p>{say.noValues}</p>
      )}
    </>
  )
}
