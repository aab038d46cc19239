import { Dialog } from '@base-ui/react/dialog'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { ActionInputs, firstInputs, type Inputs, variablesOf } from '../actions/action-inputs.tsx'
import type { Action, ActionName } from '../actions/action-list.ts'
import styles from '../actions/actions.module.css'
import { effectOf } from '../actions/consequences.tsx'
import { GoneWith } from '../actions/gone-with.tsx'
import type { ActionTarget } from '../actions/target.ts'
import type { WriteDocument } from '../actions/write.ts'
import { useGateway } from '../gateway/gateway.ts'
import controls from '../look/controls.module.css'
import overlay from '../look/overlay.module.css'
import { isNamespace } from '../object/json.ts'
import { words } from '../words.ts'
import { type BulkJob, bulkJobsOf, useBulkRun } from './bulk-jobs.ts'
import { type BulkObject, useBulkObjects } from './bulk-objects.ts'
import { type BulkProgress, BulkRun } from './bulk-run.ts'
import { BulkTable, changesNothing } from './bulk-table.tsx'
import { type Rollout, rolloutOf, useWorkloads } from './use-rollouts.ts'

const say = words.bulk

/** An action on many objects that the user has chosen, and that has not begun. */
export interface BulkTask {
  readonly action: Action
  /** The plural of the kind: `Deployments`. */
  readonly kindTitle: string
  readonly ids: readonly string[]
}

/** Shows what an action would do with many objects, does it, and shows how that goes on; or shows a job that goes on. */
export function BulkDialog({
  of,
  held,
  onClose,
  finalFocus,
}: {
  readonly of: BulkTask | BulkJob
  /** The objects of the selection that are still there. */
  readonly held: ReadonlySet<string> | undefined
  readonly onClose: () => void
  readonly finalFocus: RefObject<HTMLElement | null>
}) {
  const jobs = bulkJobsOf(useGateway())
  const [begun, setBegun] = useState<BulkJob>()
  const job = 'run' in of ? of : begun
  const { action, kindTitle } = of
  const { label, does } = words.actions.of[action.name]
  const number = job === undefined && 'ids' in of ? of.ids.length : (job?.objects.size ?? 0)
  const close = (): void => {
    // What is over has been seen.
    if (job?.run.getSnapshot().isOver === true) jobs.keep(undefined)
    onClose()
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => (isOpen ? undefined : close())}>
      <Dialog.Portal className="informerql">
        <Dialog.Backdrop className={overlay['backdrop']} />
        <Dialog.Popup
          className={`${overlay['dialog']} ${styles['dialog']}`}
          finalFocus={finalFocus}
        >
          <Dialog.Title className={overlay['dialogTitle']}>
            {say.on(label, number, kindTitle)}
          </Dialog.Title>
          <Dialog.Description>{does}</Dialog.Description>
          {job === undefined && 'ids' in of && action.document !== undefined ? (
            <BulkForm
              task={of}
              held={held}
              document={action.document}
              begin={(next) => {
                setBegun(next)
                jobs.keep(next)
              }}
            />
          ) : null}
          {job === undefined ? null : <JobView job={job} />}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function BulkForm({
  task: { action, kindTitle, ids },
  held,
  document,
  begin,
}: {
  readonly task: BulkTask
  readonly held: ReadonlySet<string> | undefined
  readonly document: WriteDocument
  readonly begin: (job: BulkJob) => void
}) {
  const { form, name } = action
  const gateway = useGateway()
  const { objects, read, isOver, failure } = useBulkObjects(ids, name)
  const [inputs, setInputs] = useState<Inputs>(() =>
    form === 'propagation' ? { propagation: 'BACKGROUND' } : {},
  )
  const [dry, setDry] = useState<BulkRun>()
  const given = variablesOf(form, inputs)
  // What becomes of owned objects is no part of what the API server tries.
  const isAsked = form !== undefined && form !== 'propagation'
  const isRead = isOver && failure === undefined
  const gone = ids.filter((id) => held?.has(id) === false || (isRead && !objects.has(id))).length
  const isReady = isOver && objects.size > 0 && given !== undefined
  const tryIt = (): void => {
    setDry(
      new BulkRun(gateway, {
        document,
        variables: given ?? {},
        ids: [...objects.keys()],
        dryRun: true,
      }),
    )
  }
  useEffect(() => {
    if (!isAsked && isReady) tryIt()
    // Once all objects are known.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [isAsked, isReady])
  useEffect(() => () => dry?.stop(), [dry])
  const [first] = objects.values()
  const frame = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (isAsked) frame.current?.querySelector('input')?.focus()
  }, [isAsked, first === undefined])
  return (
    <form
      ref={frame}
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault()
        if (isAsked && isReady && dry === undefined) tryIt()
      }}
    >
      {isOver ? null : <p className={styles['dim']}>{say.reading(read, ids.length)}</p>}
      {failure === undefined ? null : <p role="alert">{failure}</p>}
      {gone === 0 ? null : <p role="status">{say.gone(gone)}</p>}
      {form === undefined || first === undefined ? null : (
        <Fields
          action={action}
          first={first}
          inputs={inputs}
          change={(changed) => {
            setInputs((before) => ({ ...before, ...changed }))
            if (isAsked) setDry(undefined)
          }}
        />
      )}
      {isOver ? <Sums name={name} objects={objects} /> : null}
      {dry === undefined ? (
        <>
          {isAsked && given === undefined ? (
            <p className={styles['dim']}>{say.incomplete}</p>
          ) : null}
          <div className={styles['buttons']}>
            <Dialog.Close className={controls['button']}>{words.actions.cancel}</Dialog.Close>
            {isAsked ? (
              <button
                type="submit"
                className={controls['button']}
                data-kind="main"
                disabled={!isReady}
              >
                {say.try}
              </button>
            ) : null}
          </div>
        </>
      ) : (
        <DryRunView
          action={action}
          objects={objects}
          held={held}
          dry={dry}
          confirm={(chosen) =>
            begin({
              action,
              kindTitle,
              objects: new Map([...objects].filter(([id]) => chosen.has(id))),
              run: new BulkRun(gateway, {
                document,
                variables: given ?? {},
                ids: [...chosen],
                dryRun: false,
              }),
            })
          }
        />
      )}
    </form>
  )
}

/** The fields of the action, with those of the first object as suggestions. */
function Fields({
  action: { form },
  first,
  inputs,
  change,
}: {
  readonly action: Action
  readonly first: BulkObject
  readonly inputs: Inputs
  readonly change: (changed: Inputs) => void
}) {
  const json = { metadata: first.metadata }
  const target: ActionTarget = { ...first, json, managers: [], may: () => null }
  const isEmpty = Object.keys(inputs).length === 0
  useEffect(() => {
    if (isEmpty && form === 'replicas') change(firstInputs(form, target))
    // At first.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [])
  return form === undefined ? null : (
    <ActionInputs form={form} target={target} inputs={inputs} change={change} />
  )
}

/** How many objects have which consequences. */
function Sums({
  name,
  objects,
}: {
  readonly name: ActionName
  readonly objects: ReadonlyMap<string, BulkObject>
}) {
  const sentences = useMemo(() => sumsOf(name, [...objects.values()]), [name, objects])
  const gone = name === 'delete' ? namespacesOf([...objects.values()]) : undefined
  if (sentences.length === 0) return null
  return (
    <section
      className={styles['consequences']}
      aria-label={words.actions.consequences.title}
      aria-live="polite"
    >
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {gone === undefined ? null : <GoneWith {...gone} />}
    </section>
  )
}

/** The names of namespaces, if that is what all objects are, in one cluster. */
function namespacesOf(objects: readonly BulkObject[]) {
  const [first] = objects
  const isOne = objects.every((one) => isNamespace(one) && one.clusterName === first?.clusterName)
  return first === undefined || !isOne
    ? undefined
    : { cluster: first.clusterName, namespaces: objects.map(({ name }) => name) }
}

/** What runs pods until it is deleted: a Job may have ended. */
const running = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController']

function sumsOf(name: ActionName, objects: readonly BulkObject[]): readonly string[] {
  const number = (is: (object: BulkObject) => boolean): number => objects.filter(is).length
  const [first] = objects
  const ofKind = name === 'delete' && first && words.actions.consequences.ofKind[first.kind]
  const used = number(({ users = 0 }) => users > 0)
  const unknown = number(({ users }) => users === undefined)
  const scaled = number(({ autoscalers }) => autoscalers.length > 0)
  const remade = number(({ maker }) => maker !== undefined)
  const pods =
    name === 'delete'
      ? objects.reduce(
          (sum, { kind, replicas = 0 }) => sum + (running.includes(kind) ? replicas : 0),
          0,
        )
      : 0
  const losing = number(({ losesData }) => losesData)
  const managed = Map.groupBy(
    objects.flatMap(({ manager }) => (manager === undefined ? [] : [manager])),
    ({ tool, reversal }) => `${tool} ${words.delivery.effect(effectOf(name), reversal)}`,
  )
  const { sum } = say
  return [
    ...(ofKind ? [ofKind] : []),
    ...(used > 0 ? [sum.used(used)] : []),
    ...(unknown > 0 ? [sum.unknown(unknown)] : []),
    ...(scaled > 0 ? [sum.scaled(scaled)] : []),
    ...(remade > 0 ? [sum.remade(remade, objects.length)] : []),
    ...(pods > 0 ? [sum.pods(pods)] : []),
    ...(losing > 0 ? [sum.emptyDir(losing)] : []),
    ...[...managed.values()].flatMap(([one, ...others]) => {
      if (one === undefined) return []
      const { tool, reversal } = one
      const sentence = reversal === null ? sum.saidToBeOf : sum.managed
      const effect = words.delivery.effect(effectOf(name), reversal)
      return sentence(words.delivery.tools[tool], 1 + others.length, objects.length, effect)
    }),
  ]
}

function DryRunView({
  action: { name },
  objects,
  held,
  dry,
  confirm,
}: {
  readonly action: Action
  readonly objects: ReadonlyMap<string, BulkObject>
  readonly held: ReadonlySet<string> | undefined
  readonly dry: BulkRun
  readonly confirm: (ids: ReadonlySet<string>) => void
}) {
  const progress = useBulkRun(dry, false)
  const [typed, setTyped] = useState('')
  const { isOver, counts, outcomes } = progress
  const changing = useMemo(
    () =>
      isOver
        ? [...outcomes].flatMap(([id, outcome]) =>
            outcome.state === 'done' && !changesNothing(outcome.written) ? [id] : [],
          )
        : [],
    [isOver, outcomes, counts],
  )
  const same = counts.done - changing.length
  const chosen = new Set(changing.filter((id) => held?.has(id) !== false))
  const isTyped = name !== 'delete' || typed.trim() === String(chosen.size)
  const { label } = words.actions.of[name]
  return (
    <>
      <section className={styles['preview']} aria-label={words.actions.preview.title}>
        {isOver ? (
          <div role="status">
            <p>{say.dry.changes(chosen.size, outcomes.size)}</p>
            {counts.failed > 0 ? <p>{say.dry.refused(counts.failed)}</p> : null}
            {same > 0 ? <p>{say.dry.same(same)}</p> : null}
            {counts.waiting > 0 ? <p>{say.dry.untried(counts.waiting)}</p> : null}
          </div>
        ) : (
          <Running progress={progress} says={say.dry.running} />
        )}
        <Cut progress={progress} />
        <BulkTable name={name} objects={objects} progress={progress} isDryRun />
      </section>
      {isOver && name === 'delete' && chosen.size > 0 ? (
        <label className={styles['input']}>
          {say.confirmCount(chosen.size)}
          <input
            className={controls['field']}
            value={typed}
            inputMode="numeric"
            autoComplete="off"
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
      ) : null}
      <div className={styles['buttons']}>
        <Dialog.Close className={controls['button']}>{words.actions.cancel}</Dialog.Close>
        {isOver && (counts.failed > 0 || counts.waiting > 0) ? (
          <Again progress={progress} run={dry} />
        ) : null}
        {isOver ? (
          <button
            type="button"
            className={controls['button']}
            data-kind="main"
            disabled={chosen.size === 0 || !isTyped}
            onClick={() => confirm(chosen)}
          >
            {say.confirm(label, chosen.size)}
          </button>
        ) : (
          <button type="button" className={controls['button']} onClick={dry.stop}>
            {say.stopTrying}
          </button>
        )}
      </div>
    </>
  )
}

function JobView({ job: { action, objects, run } }: { readonly job: BulkJob }) {
  const progress = useBulkRun(run, true)
  const { isOver, counts, outcomes } = progress
  const isRestart = action.name === 'restart'
  const workloads = useWorkloads(objects, isRestart)
  const has = (state: Rollout): number =>
    [...outcomes].filter(([id, outcome]) => rolloutOf(outcome, workloads.get(id)) === state).length
  return (
    <div className={styles['form']}>
      <section className={styles['preview']} aria-label={words.actions.drain.title}>
        {isOver ? (
          <div role="status">
            <p>{(isRestart ? say.restart.begun : say.run.done)(counts.done)}</p>
            {isRestart ? (
              <p>{say.restart.rollouts(has('out'), counts.done, has('stuck'))}</p>
            ) : null}
            {counts.failed > 0 ? <p>{say.run.failed(counts.failed)}</p> : null}
            {counts.waiting > 0 ? <p>{say.run.waiting(counts.waiting)}</p> : null}
          </div>
        ) : (
          <Running progress={progress} says={isRestart ? say.restart.running : say.run.running} />
        )}
        <Cut progress={progress} />
        <BulkTable
          name={action.name}
          objects={objects}
          progress={progress}
          workloads={workloads}
          isDryRun={false}
        />
      </section>
      {isOver ? null : <p className={styles['dim']}>{say.run.goesOn}</p>}
      <div className={styles['buttons']}>
        {isOver ? (
          counts.failed + counts.waiting > 0 && <Again progress={progress} run={run} />
        ) : (
          <button type="button" className={controls['button']} onClick={run.stop}>
            {say.stop}
          </button>
        )}
        <Dialog.Close className={controls['button']} data-kind="main">
          {words.actions.close}
        </Dialog.Close>
      </div>
    </div>
  )
}

/** Tries those again that failed, and goes on with those that wait. */
function Again({
  progress: { counts },
  run,
}: {
  readonly progress: BulkProgress
  readonly run: BulkRun
}) {
  return (
    <button type="button" className={controls['button']} onClick={run.again}>
      {counts.waiting > 0 ? say.goOn(counts.failed + counts.waiting) : say.retry(counts.failed)}
    </button>
  )
}

function Running({
  progress: { counts, outcomes, perMinute },
  says,
}: {
  readonly progress: BulkProgress
  readonly says: (through: number, all: number) => string
}) {
  const through = counts.done + counts.failed
  return (
    <>
      <label className={styles['progress']}>
        {says(through, outcomes.size)}
        <progress value={through} max={outcomes.size} />
      </label>
      {perMinute === undefined ? null : (
        <p role="status">{say.pace(perMinute, outcomes.size - through)}</p>
      )}
    </>
  )
}

function Cut({ progress: { isOver, cut } }: { readonly progress: BulkProgress }) {
  return isOver && cut !== undefined ? <p role="alert">{say.cut[cut]}</p> : null
}
