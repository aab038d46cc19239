import { ObjectGrants } from '../access/object-grants.tsx'
import { AccessDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { Failure } from '../look/notice.tsx'
import { words } from '../words.ts'
import styles from './access.module.css'
import type { SeenObject } from './live-object.ts'
import { pluralOf } from './neighbours.ts'
import { Section } from './section.tsx'
import { groupOf } from './json.ts'

const scaled = ['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController']

/** What the user may do with an object and with its kind, as the API server decides. */
export function Access({ object }: { readonly object: SeenObject }) {
  const { id, kind, apiVersion, namespace, clusterName: cluster } = object
  const group = groupOf(apiVersion)
  const { data, errors } = useAnswer(AccessDocument, {
    id,
    // The type in the schema of this gateway, which may have more kinds than the page knows.
    type: object.__typename,
    cluster,
    namespace,
    isPod: kind === 'Pod' && group === '',
    isScaled: scaled.includes(kind),
    isServiceAccount: kind === 'ServiceAccount' && group === '',
  })
  const say = words.object.access
  if (data?.object == null) {
    return errors.length === 0 ? null : (
      <div className={styles['failed']}>
        <Failure title={say.failed} errors={errors} />
      </div>
    )
  }
  const { viewer, object: own, ...ofKind } = data
  return (
    <div className={styles['access']}>
      <p>{viewer === null ? say.nobody : say.you(viewer.username, viewer.groups)}</p>
      <Section title={say.thisObject(kind)}>
        <Answers verbs={say.verbs} answers={own} />
      </Section>
      <Section title={say.thisKind(pluralOf(kind), namespace)}>
        <Answers verbs={say.kindVerbs} answers={ofKind} />
      </Section>
      <ObjectGrants object={object} />
    </div>
  )
}

/** What each verb means in words, and whether the user may. */
function Answers({
  verbs,
  answers,
}: {
  readonly verbs: Readonly<Record<string, string>>
  readonly answers: Readonly<Record<string, unknown>>
}) {
  const say = words.object.access
  return (
    <ul className={styles['answers']}>
      {Object.entries(verbs).flatMap(([verb, text]) => {
        const may = answers[verb]
        if (may === undefined) return []
        const [mark, sentence] =
          may === true
            ? ['✓', say.may(text)]
            : may === false
              ? ['–', say.mayNot(text)]
              : ['?', say.unknown(text)]
        return [
          <li key={verb} data-may={may === true}>
            <span aria-hidden="true">{mark}</span> {sentence}
          </li>,
        ]
      })}
    </ul>
  )
}
