import { useEffect, useRef } from 'react'
import { type Revision, useRevisions } from '../actions/revisions.ts'
import { wantAction } from '../actions/wanted-action.ts'
import { useTakesWrites } from '../actions/writable.ts'
import { differences } from '../edit/editable.ts'
import { Age } from '../look/age.tsx'
import { numberAt, textAt } from '../object/json.ts'
import type { SeenObject } from '../object/live-object.ts'
import { words } from '../words.ts'
import { FieldChanges } from './change-line.tsx'
import styles from './timeline.module.css'

const said = words.timeline.revisions
const shownRevisions = 4
const shownFields = 4

/** The revisions of a workload, each with what it has changed of the one before, and the way back to it. */
export function Revisions({ object }: { readonly object: SeenObject }) {
  const { id } = object
  const { revisions, errors, isPending, again } = useRevisions(id)
  const version = versionOf(object)
  const asked = useRef(version)
  useEffect(() => {
    if (asked.current === version) return
    asked.current = version
    again()
    // `again` is another function with each rendering.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [version])
  const [error] = errors
  if (isPending) return null
  if (revisions.length === 0) {
    return error === undefined ? null : (
      <p className={styles['note']}>{words.actions.inputs.revisions.failed(error.message)}</p>
    )
  }
  const lines = revisions.map((revision, at) => (
    <RevisionLine
      key={revision.number}
      id={id}
      revision={revision}
      before={revisions[at + 1]}
      isCurrent={at === 0}
    />
  ))
  return (
    <section className={styles['timeline']} aria-label={said.title}>
      <h2 className={styles['heading']}>{said.title}</h2>
      <ol>{lines.slice(0, shownRevisions)}</ol>
      {lines.length <= shownRevisions ? null : (
        <details>
          <summary>{words.problems.others(lines.length - shownRevisions)}</summary>
          <ol>{lines.slice(shownRevisions)}</ol>
        </details>
      )}
    </section>
  )
}

/** Another text when the workload may have another revision. */
function versionOf({ json }: SeenObject): string {
  return [
    numberAt(json, 'metadata', 'generation'),
    textAt(json, 'metadata', 'annotations', 'deployment.kubernetes.io/revision'),
    textAt(json, 'status', 'updateRevision'),
  ].join()
}

function RevisionLine({
  id,
  revision: { number, since, images, cause, by, template },
  before,
  isCurrent,
}: {
  readonly id: string
  readonly revision: Revision
  readonly before: Revision | undefined
  readonly isCurrent: boolean
}) {
  const takesWrites = useTakesWrites()
  const fields = before === undefined ? [] : differences(before.template, template)
  return (
    <li className={styles['change']}>
      <span className={styles['when']}>
        <Age since={since} />
      </span>
      <div className={styles['what']}>
        <p className={styles['line']}>
          <b>{words.actions.inputs.revisions.one(number)}</b>
          {isCurrent ? <em>{words.actions.inputs.revisions.current}</em> : null}
          <code>{images.join(' ')}</code>
          <span className={styles['dim']}>{by === undefined ? null : words.timeline.by(by)}</span>
          {isCurrent || !takesWrites ? null : (
            <button
              type="button"
              className={styles['compare']}
              onClick={() => wantAction(id, 'rollBack', { toRevision: String(number) })}
            >
              {said.rollBack(number)}
            </button>
          )}
        </p>
        {cause === undefined ? null : <p className={styles['dim']}>{cause}</p>}
        {before === undefined ? (
          <p className={styles['dim']}>{said.oldest}</p>
        ) : fields.length === 0 ? (
          <p className={styles['dim']}>{said.same}</p>
        ) : (
          <FieldChanges fields={fields} count={fields.length} most={shownFields} />
        )}
      </div>
    </li>
  )
}
