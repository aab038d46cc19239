import { Dialog } from '@base-ui/react/dialog'
import { useState } from 'react'
import { useGateway } from '../gateway/gateway.ts'
import controls from '../look/controls.module.css'
import { words } from '../words.ts'
import styles from './actions.module.css'
import { type DrainProgress, DrainRun, drainsOf, useDrainRun, useDryDrain } from './drain-run.ts'
import { WriteFailure } from './write-failure.tsx'

const say = words.actions.drain

type DrainedPod = DrainProgress['pods'][number]

/** Shows which pods a drain would evict, begins it, and shows how it goes on; or shows one that this page has begun. */
export function DrainForm({ id }: { readonly id: string }) {
  const gateway = useGateway()
  const [run, setRun] = useState(() => {
    const known = drainsOf(gateway).get(id)
    return known?.getSnapshot().isOver === true ? undefined : known
  })
  if (run !== undefined) return <DrainView run={run} />
  return (
    <DrainPreview
      id={id}
      begin={(options) => {
        const begun = new DrainRun(gateway, { id, ...options, dryRun: false })
        drainsOf(gateway).set(id, begun)
        setRun(begun)
      }}
    />
  )
}

interface Options {
  readonly force: boolean
  readonly deleteEmptyDirData: boolean
}

function DrainPreview({
  id,
  begin,
}: {
  readonly id: string
  readonly begin: (options: Options) => void
}) {
  const [options, setOptions] = useState<Options>({ force: false, deleteEmptyDirData: false })
  const { progress, errors, isOver } = useDryDrain({ id, ...options })
  const isReady = isOver && progress !== undefined && progress.state !== 'REFUSED'
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) begin(options)
      }}
    >
      {(['force', 'deleteEmptyDirData'] as const).map((name) => (
        <label key={name} className={styles['check']}>
          <input
            type="checkbox"
            checked={options[name]}
            onChange={({ target: { checked } }) =>
              setOptions((before) => ({ ...before, [name]: checked }))
            }
          />
          {say[name]}
        </label>
      ))}
      <section
        className={styles['preview']}
        aria-label={words.actions.preview.title}
        aria-live="polite"
      >
        <h3>{words.actions.preview.title}</h3>
        {errors === undefined ? null : <WriteFailure errors={errors} isDryRun />}
        {isOver ? null : <p className={styles['dim']}>{words.actions.preview.asking}</p>}
        {isOver && progress !== undefined ? (
          <>
            {progress.state === 'REFUSED' ? (
              <p>{say.refused}</p>
            ) : (
              <p>{say.would(progress.total)}</p>
            )}
            <Losses pods={progress.pods} />
            <Pods pods={progress.pods} states={say.wouldBe} />
          </>
        ) : null}
      </section>
      <div className={styles['buttons']}>
        <Dialog.Close className={controls['button']}>{words.actions.cancel}</Dialog.Close>
        <button type="submit" className={controls['button']} data-kind="main" disabled={!isReady}>
          {words.actions.of.drain.confirm}
        </button>
      </div>
    </form>
  )
}

function DrainView({ run }: { readonly run: DrainRun }) {
  const { progress, errors, isOver, isCut } = useDrainRun(run)
  const isStopped = isOver && progress?.state === 'EVICTING'
  return (
    <div className={styles['form']}>
      {errors === undefined ? null : <WriteFailure errors={errors} />}
      {progress === undefined ? null : (
        <section className={styles['preview']} aria-label={say.title}>
          <p role="status">
            {isStopped ? say.stopped : isCut ? say.cut : say.states[progress.state]}{' '}
            {progress.state === 'FAILED' ? progress.message : null}
          </p>
          <label className={styles['progress']}>
            {say.gone(progress.gone, progress.total)}
            <progress value={progress.gone} max={Math.max(1, progress.total)} />
          </label>
          <Pods pods={progress.pods} states={say.is} />
        </section>
      )}
      {isOver ? null : <p className={styles['dim']}>{say.goesOn}</p>}
      <div className={styles['buttons']}>
        {isOver ? null : (
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

/** What the evictions lose, by what it is. */
function Losses({ pods }: { readonly pods: readonly DrainedPod[] }) {
  const leaving = pods.filter(({ state }) => state !== 'SKIPPED')
  const losses = (['POD', 'EMPTY_DIR_DATA'] as const)
    .map((loss) => ({ loss, count: leaving.filter((pod) => pod.losses.includes(loss)).length }))
    .filter(({ count }) => count > 0)
  if (losses.length === 0) return leaving.length === 0 ? null : <p>{say.losesNothing}</p>
  return (
    <ul className={styles['losses']}>
      {losses.map(({ loss, count }) => (
        <li key={loss}>{say.loses[loss](count)}</li>
      ))}
      {losses.some(({ loss }) => loss === 'POD') ? null : <li>{say.remade}</li>}
    </ul>
  )
}

/** The order in which pods are shown: what needs attention first. */
const order = ['FAILED', 'REFUSED', 'BLOCKED', 'TERMINATING', 'PENDING', 'GONE', 'SKIPPED'] as const

function Pods({
  pods,
  states,
}: {
  readonly pods: readonly DrainedPod[]
  readonly states: Readonly<Record<DrainedPod['state'], string>>
}) {
  const sorted = pods.toSorted(
    (one, other) => order.indexOf(one.state) - order.indexOf(other.state),
  )
  return (
    <ul className={styles['pods']} aria-label={say.pods} tabIndex={0}>
      {sorted.map(({ namespace, name, state, reason }) => (
        <li key={`${namespace}/${name}`} data-state={state}>
          <span>
            <span className={styles['dim']}>{namespace} /</span> {name}
          </span>
          <span className={styles['dim']}>
            {states[state]}
            {reason === null ? null : `: ${reason}`}
          </span>
        </li>
      ))}
    </ul>
  )
}
