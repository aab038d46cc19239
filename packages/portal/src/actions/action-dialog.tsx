import { Dialog } from '@base-ui/react/dialog'
import { useMutation } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { ManagedBy } from '../delivery/managed-by.tsx'
import { editableOf } from '../edit/editable.ts'
import { useGateway } from '../gateway/gateway.ts'
import controls from '../look/controls.module.css'
import overlay from '../look/overlay.module.css'
import { PlaceLink } from '../look/place-link.tsx'
import { useLiveObject } from '../object/live-object.ts'
import { words } from '../words.ts'
import { ActionInputs, firstInputs, type Inputs, variablesOf } from './action-inputs.tsx'
import type { Action } from './action-list.ts'
import styles from './actions.module.css'
import { ConsequencesView, effectOf, useConsequences } from './consequences.tsx'
import { DrainForm } from './drain-form.tsx'
import { makerOf } from './makers.ts'
import type { ActionTarget } from './target.ts'
import {
  type Preview,
  refusalOf,
  usePreview,
  write,
  type WriteDocument,
  type Written,
} from './write.ts'
import { WriteFailure } from './write-failure.tsx'
import { WrittenChanges } from './written-changes.tsx'

const say = words.actions

interface ActionProps {
  readonly action: Action
  readonly target: ActionTarget
  /** What is filled in already. */
  readonly inputs?: Inputs | undefined
}

/** Says what an action does, asks for what it needs, shows what would change, and does it. */
export function ActionDialog({
  action,
  target,
  inputs,
  onClose,
  finalFocus,
}: ActionProps & {
  readonly onClose: () => void
  readonly finalFocus: RefObject<HTMLElement | null>
}) {
  const { kind, name, namespace, clusterName } = target
  const { document } = action
  const { label, does } = say.of[action.name]
  const maker = ['delete', 'evict'].includes(action.name) ? makerOf(target) : undefined
  return (
    <Dialog.Root open onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Dialog.Portal className="informerql">
        <Dialog.Backdrop className={overlay['backdrop']} />
        <Dialog.Popup
          className={`${overlay['dialog']} ${styles['dialog']}`}
          finalFocus={finalFocus}
        >
          <Dialog.Title className={overlay['dialogTitle']}>
            {say.on(label, kind, name)}
          </Dialog.Title>
          <div>
            <Dialog.Description>
              {does} {action.name === 'suspend' ? say.suspends[kind] : maker && say.remade(maker)}
            </Dialog.Description>
            <p className={styles['dim']}>
              {namespace === null ? clusterName : `${clusterName} / ${namespace}`}
            </p>
          </div>
          {document === undefined ? (
            <>
              <ManagedBy managers={target.managers} effect={effectOf(action.name)} />
              <DrainForm id={target.id} />
            </>
          ) : (
            <ActionForm {...{ action, target, inputs, document, onClose }} />
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function ActionForm({
  action,
  target,
  inputs: filled,
  document,
  onClose,
}: ActionProps & { readonly document: WriteDocument; readonly onClose: () => void }) {
  const { form } = action
  const { id, name } = target
  const gateway = useGateway()
  const { json } = useLiveObject(id).object ?? target
  const [inputs, setInputs] = useState(() => ({ ...firstInputs(form, target), ...filled }))
  const [typedName, setTypedName] = useState('')
  const given = variablesOf(form, inputs)
  const variables = given && { id, ...given }
  // Deletions and evictions change no field, whatever the object is meanwhile.
  const changesFields = form !== 'propagation' && action.name !== 'evict'
  const preview = usePreview(document, variables, changesFields ? editableOf(json) : null)
  const writing = useMutation({
    mutationFn: async () => {
      if (variables === undefined) throw new Error(say.preview.incomplete)
      return await write(gateway, document, { ...variables, dryRun: false })
    },
  })
  const consequences = useConsequences(action.name, target)
  const isNameAsked = consequences.isPrecious && !consequences.isPending
  // Deletions and evictions change no field, and are meant all the same.
  const isIdle =
    form !== undefined && form !== 'propagation' && preview.written?.changes.length === 0
  const isReady =
    preview.written !== undefined &&
    !isIdle &&
    !writing.isPending &&
    !consequences.isPending &&
    (!isNameAsked || typedName === name)
  if (writing.data !== undefined) {
    return <Done action={action} written={writing.data} onClose={onClose} />
  }
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) writing.mutate()
      }}
    >
      {form === undefined ? null : (
        <ActionInputs
          form={form}
          target={target}
          inputs={inputs}
          change={(changed) => {
            writing.reset()
            setInputs((before) => ({ ...before, ...changed }))
          }}
        />
      )}
      <ConsequencesView name={action.name} target={target} consequences={consequences} />
      <PreviewView preview={preview} isIncomplete={variables === undefined} />
      {isNameAsked ? (
        <label className={styles['input']}>
          {say.inputs.confirmName(name)}
          <input
            className={controls['field']}
            value={typedName}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target: { value } }) => setTypedName(value)}
          />
        </label>
      ) : null}
      {writing.error === null ? null : (
        <WriteFailure
          errors={refusalOf(writing.error)}
          again={() => {
            writing.reset()
            preview.again()
          }}
        />
      )}
      <div className={styles['buttons']}>
        <Dialog.Close className={controls['button']}>{say.cancel}</Dialog.Close>
        <button type="submit" className={controls['button']} data-kind="main" disabled={!isReady}>
          {writing.isPending ? say.writing : say.of[action.name].confirm}
        </button>
      </div>
    </form>
  )
}

function PreviewView({
  preview: { written, errors, isPending, again },
  isIncomplete,
}: {
  readonly preview: Preview
  readonly isIncomplete: boolean
}) {
  return (
    <section className={styles['preview']} aria-label={say.preview.title} aria-live="polite">
      <h3>{say.preview.title}</h3>
      {isIncomplete ? <p className={styles['dim']}>{say.preview.incomplete}</p> : null}
      {isPending ? <p className={styles['dim']}>{say.preview.asking}</p> : null}
      {errors === undefined || isIncomplete ? null : (
        <WriteFailure errors={errors} again={again} isDryRun />
      )}
      {written === undefined || isIncomplete ? null : <WrittenChanges written={written} />}
    </section>
  )
}

/** How long a dialog says that all is done before it closes by itself. */
const saidMs = 2_500

/** Says what was done. What has more to say, or leads on, stays. */
function Done({
  action,
  written,
  onClose,
}: {
  readonly action: Action
  readonly written: Written
  readonly onClose: () => void
}) {
  const close = useRef<HTMLButtonElement>(null)
  useEffect(() => close.current?.focus(), [])
  const { object, warnings, behind } = written
  const isAll = warnings.length === 0 && !behind && action.name !== 'runNow'
  const latest = useRef(onClose)
  latest.current = onClose
  useEffect(() => {
    if (!isAll) return
    const timer = setTimeout(() => latest.current(), saidMs)
    return () => clearTimeout(timer)
  }, [isAll])
  return (
    <>
      <div role="status" className={styles['done']}>
        <p>
          {say.of[action.name].done}{' '}
          {action.name === 'runNow' && object !== null ? (
            <PlaceLink to={{ object: object.nameId }}>
              {object.kind} {object.name}
            </PlaceLink>
          ) : null}
        </p>
        {behind ? <p className={styles['dim']}>{say.behind}</p> : null}
        {warnings.map((warning) => (
          <p key={warning}>{warning}</p>
        ))}
      </div>
      <div className={styles['buttons']}>
        <Dialog.Close ref={close} className={controls['button']} data-kind="main">
          {say.close}
        </Dialog.Close>
      </div>
    </>
  )
}
