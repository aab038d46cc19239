import { useEffect, useMemo, useRef, useState } from 'react'
import { FieldChanges, fieldName } from '../actions/field-changes.tsx'
import { fieldsIn, isOwnConflict, refusalOf } from '../actions/write.ts'
import { WriteFailure } from '../actions/write-failure.tsx'
import { WrittenChanges } from '../actions/written-changes.tsx'
import { ManagedBy } from '../delivery/managed-by.tsx'
import { type AnswerError, useGateway } from '../gateway/gateway.ts'
import controls from '../look/controls.module.css'
import type { SeenObject } from '../object/live-object.ts'
import yamlStyles from '../object/yaml-tab.module.css'
import { words } from '../words.ts'
import { type Edit, type Review, review, write } from './apply-edit.ts'
import { differences, editableOf, versionOf } from './editable.ts'
import { editedText, meanwhile, parsed, type Problem, rebased } from './edited-text.ts'
import { TextEditor } from './text-editor.ts'
import { type Draft, draftOf, keepDraft } from './draft.ts'
import styles from './yaml-edit.module.css'

const say = words.edit

/** Where an edit is on its way from the text to the object. */
type Stage =
  | { readonly at: 'text' }
  | { readonly at: 'trying' }
  | {
      readonly at: 'reviewed' | 'applying'
      readonly edit: Edit
      readonly review: Review
      readonly isMoved: boolean
    }
  | {
      readonly at: 'refused'
      readonly errors: readonly AnswerError[]
      readonly isDryRun: boolean
      readonly edit: Edit
    }

/** How often an apply is repeated because only the status of the object has moved, and how long each waits for that state. */
const maxTries = 5
const moveMs = 3_000

/**
 * Edits an object as YAML: the text, the trial with its differences, and the write. `onEnd` is called with what was done,
 * or without if nothing was.
 */
export function YamlEdit({
  object,
  onEnd,
}: {
  readonly object: SeenObject
  readonly onEnd: (done?: string) => void
}) {
  const gateway = useGateway()
  const latest = useRef(object)
  latest.current = object
  const [draft] = useState((): Draft | undefined => draftOf(object.id))
  const [base, setBase] = useState(() => draft?.base ?? editableOf(object.json))
  const [text, setText] = useState(() => draft?.text ?? editedText(object.json))
  const [stage, setStage] = useState<Stage>({ at: 'text' })
  const [problem, setProblem] = useState<Problem>()
  const place = useRef<HTMLDivElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const editor = useRef<TextEditor>(null)
  const submit = useRef(() => {})
  const read = useMemo(() => parsed(text, say.several, say.empty), [text])
  const edited = 'value' in read ? read.value : undefined
  const live = editableOf(object.json)
  const changed = meanwhile(base, live, edited)
  const isChanged = edited === undefined || differences(base, edited).length > 0

  useEffect(() => {
    if (place.current === null) return
    editor.current = new TextEditor(place.current, text, {
      label: say.label,
      changed: setText,
      submit: () => submit.current(),
    })
    editor.current.view.focus()
    return () => editor.current?.view.destroy()
    // The editor is made once.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [])
  useEffect(() => {
    keepDraft(object.id, isChanged ? { base, text } : undefined)
  }, [object.id, base, text, isChanged])
  useEffect(() => {
    // What was reviewed or refused was another text.
    setStage({ at: 'text' })
    setProblem(undefined)
    editor.current?.mark([])
  }, [text])
  useEffect(() => {
    if (stage.at === 'reviewed' || stage.at === 'refused') panel.current?.focus()
  }, [stage.at])

  const tried = async (edit: Edit, isMoved = false): Promise<void> => {
    setStage({ at: 'trying' })
    try {
      setStage({ at: 'reviewed', edit, review: await review(gateway, edit), isMoved })
    } catch (error) {
      // What this page has set by an action is another manager's for an apply, and no reason to ask.
      if (!edit.force && isOwnConflict(refusalOf(error as Error)))
        await tried({ ...edit, force: true })
      else refuse(edit, error, true)
    }
  }
  const refuse = (edit: Edit, error: unknown, isDryRun = false): void => {
    const errors = refusalOf(error as Error)
    if ('lineOf' in read) {
      const causes = fieldsIn(errors)
      editor.current?.mark(causes.flatMap((field) => read.lineOf(field) ?? []))
    }
    setStage({ at: 'refused', errors, isDryRun, edit })
  }
  const look = ({ force = false, asPatch = false } = {}): void => {
    const wrong = 'problem' in read ? read.problem : problemOf(base, read.value, isChanged)
    setProblem(wrong)
    if (wrong !== undefined || edited === undefined) {
      if (wrong?.line !== undefined) editor.current?.mark([wrong.line])
      return
    }
    void tried({ object: latest.current, base, edited, force, asPatch })
  }
  submit.current = look
  const apply = async (edit: Edit, seen: Review): Promise<void> => {
    setStage({ at: 'applying', edit, review: seen, isMoved: false })
    try {
      for (let tries = 1; ; tries += 1) {
        const resourceVersion = versionOf(latest.current.json)
        if (differences(editableOf(edit.object.json), editableOf(latest.current.json)).length > 0) {
          await tried({ ...edit, object: latest.current }, true)
          return
        }
        try {
          const done = await write(gateway, edit, {
            kept: seen.kept,
            dryRun: false,
            resourceVersion,
          })
          keepDraft(object.id, undefined)
          // The next edit begins with what this one has stored.
          if (!done.behind) await until(() => versionOf(latest.current.json) !== resourceVersion)
          onEnd([say.applied(done.changes.length), ...(done.behind ? [say.behind] : [])].join(' '))
          return
        } catch (error) {
          const hasMoved = isMove(refusalOf(error as Error))
          if (!hasMoved || tries === maxTries) throw error
          // Only its status may have moved: the newer state is on its way.
          await until(() => versionOf(latest.current.json) !== resourceVersion)
        }
      }
    } catch (error) {
      refuse(edit, error)
    }
  }
  const isBusy = stage.at === 'trying' || stage.at === 'applying'
  return (
    <div className={styles['edit']}>
      <div className={styles['bar']}>
        <span>{say.hint}</span>
        <ManagedBy managers={object.managedBy} />
        <span className={styles['right']}>
          <button
            type="button"
            className={controls['button']}
            data-kind={stage.at === 'text' ? 'main' : undefined}
            disabled={isBusy}
            onClick={() => look()}
          >
            {say.review}
          </button>
          <button
            type="button"
            className={controls['button']}
            onClick={() => {
              if (isChanged && !confirm(say.discard)) return
              keepDraft(object.id, undefined)
              onEnd()
            }}
          >
            {say.cancel}
          </button>
        </span>
        {draft === undefined || !isChanged ? null : <p className={styles['note']}>{say.kept}</p>}
        {changed.theirs.length === 0 ? null : (
          <div className={styles['note']} role="status">
            <p>
              {say.meanwhile(changed.theirs.length)}{' '}
              {changed.both.length === 0
                ? null
                : say.both(changed.both.map(({ path }) => fieldName(path)))}
            </p>
            <details>
              <summary>{say.showMeanwhile}</summary>
              <FieldChanges changes={changed.theirs} />
            </details>
            {edited === undefined ? null : (
              <button
                type="button"
                className={controls['button']}
                onClick={() => {
                  setBase(live)
                  editor.current?.replace(rebased(base, live, edited))
                }}
              >
                {say.rebase}
              </button>
            )}
          </div>
        )}
      </div>
      <div ref={place} className={`${yamlStyles['text']} ${styles['text']}`} />
      {stage.at === 'text' && problem === undefined ? null : (
        <section ref={panel} tabIndex={-1} className={styles['panel']} aria-label={say.reviewed}>
          {problem === undefined ? null : (
            <p role="alert" className={styles['refused']}>
              {say.problem(problem.message, problem.line)}
            </p>
          )}
          {stage.at === 'trying' ? <p role="status">{say.trying}</p> : null}
          {stage.at === 'refused' ? (
            <>
              <WriteFailure
                errors={stage.errors}
                isDryRun={stage.isDryRun}
                takeOver={() => look({ ...stage.edit, force: true })}
                {...(isAboutText(stage.errors) ? {} : { again: () => look(stage.edit) })}
              />
              <Places
                fields={fieldsIn(stage.errors)}
                lineOf={'lineOf' in read ? read.lineOf : () => undefined}
                goTo={(line) => editor.current?.goTo(line)}
              />
            </>
          ) : null}
          {stage.at === 'reviewed' || stage.at === 'applying' ? (
            <Reviewed
              stage={stage}
              apply={() => void apply(stage.edit, stage.review)}
              remove={() => look({ asPatch: true })}
              back={() => {
                setStage({ at: 'text' })
                editor.current?.view.focus()
              }}
            />
          ) : null}
        </section>
      )}
    </div>
  )
}

function Reviewed({
  stage: { at, edit, review: seen, isMoved },
  apply,
  remove,
  back,
}: {
  readonly stage: Extract<Stage, { readonly review: Review }>
  readonly apply: () => void
  readonly remove: () => void
  readonly back: () => void
}) {
  const { written, staying } = seen
  return (
    <>
      <h2>{say.reviewed}</h2>
      {isMoved ? <p role="status">{say.moved}</p> : null}
      <WrittenChanges written={written} />
      {staying.length === 0 ? null : (
        <div className={styles['refused']}>
          <p className={styles['title']}>{say.staying}</p>
          <ul>
            {staying.map(({ path }) => (
              <li key={path}>
                <code>{fieldName(path)}</code>
              </li>
            ))}
          </ul>
          <div className={styles['actions']}>
            <button type="button" className={controls['button']} onClick={remove}>
              {say.remove}
            </button>
          </div>
        </div>
      )}
      {edit.force || edit.asPatch ? <p>{say.takesOver}</p> : null}
      <div className={styles['actions']}>
        <button
          type="button"
          className={controls['button']}
          data-kind="main"
          disabled={at === 'applying' || written.changes.length === 0}
          onClick={apply}
        >
          {at === 'applying' ? say.applying : say.apply}
        </button>
        <button type="button" className={controls['button']} onClick={back}>
          {say.back}
        </button>
      </div>
    </>
  )
}

/** Leads to the lines of the text that an error is about. */
function Places({
  fields,
  lineOf,
  goTo,
}: {
  readonly fields: readonly string[]
  readonly lineOf: (field: string) => number | undefined
  readonly goTo: (line: number) => void
}) {
  const lines = new Set(fields.flatMap((field) => lineOf(field) ?? []))
  if (lines.size === 0) return null
  return (
    <div className={styles['actions']}>
      {Array.from(lines, (line) => (
        <button
          key={line}
          type="button"
          className={controls['quiet']}
          onClick={() => {
            goTo(line)
          }}
        >
          {say.line(line)}
        </button>
      ))}
    </div>
  )
}

/** Whether only another text helps. */
function isAboutText(errors: readonly AnswerError[]): boolean {
  return errors.some(({ extensions }) => ['CONFLICT', 'INVALID'].includes(extensions?.code ?? ''))
}

const identity = [
  ['apiVersion'],
  ['kind'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
] as const

/** Why a text cannot be tried, although it can be read. */
function problemOf(base: unknown, edited: unknown, isChanged: boolean): Problem | undefined {
  const other = differences(base, edited).find(({ place: at }) =>
    identity.some((one) => one.join('/') === at.join('/')),
  )
  if (other !== undefined) return { message: say.identity(fieldName(other.path)), line: undefined }
  return isChanged ? undefined : { message: say.same, line: undefined }
}

function isMove(errors: readonly AnswerError[]): boolean {
  return errors.some(
    ({ extensions }) =>
      extensions?.code === 'PRECONDITION_FAILED' &&
      extensions['precondition'] === 'resourceVersion',
  )
}

async function until(isSo: () => boolean): Promise<void> {
  const endsAt = Date.now() + moveMs
  while (!isSo() && Date.now() < endsAt) await new Promise((resolve) => setTimeout(resolve, 50))
}
