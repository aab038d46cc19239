import { WriteFailure } from '../actions/write-failure.tsx'
import type { Written } from '../actions/write.ts'
import { WrittenChanges } from '../actions/written-changes.tsx'
import controls from '../look/controls.module.css'
import { PlaceLink } from '../look/place-link.tsx'
import { words } from '../words.ts'
import { type Job, linesOf, type Outcome, type Progress } from './apply-run.ts'
import { createWords as say } from './create-words.ts'
import styles from './create.module.css'

/** What has become of each document, or would, with the way on. */
export function OutcomeList({
  progress: { jobs, outcomes, stage },
  hasSeveral,
  tryAgain,
  apply,
  stop,
  goTo,
  back,
}: {
  readonly progress: Progress
  /** Whether there are several clusters. */
  readonly hasSeveral: boolean
  readonly tryAgain: (key: string, force: boolean) => void
  readonly apply: () => void
  readonly stop: () => void
  readonly goTo: (line: number) => void
  readonly back: () => void
}) {
  const all = jobs.map((job) => ({ job, outcome: outcomes.get(job.key) ?? waiting }))
  const meant = all.filter(({ job, outcome: { at } }) =>
    stage === 'over'
      ? at === 'failed' || at === 'left' || (at === 'unknown' && job.document.isNamed)
      : at === 'tried' || at === 'later',
  )
  const title = titles[stage](whereOf(jobs))
  const done = all.filter(({ outcome: { at } }) => !pending.has(at)).length
  const isUnknown = all.some(({ outcome }) => outcome.at === 'unknown')
  return (
    <>
      <h2>{title}</h2>
      <p role="status">
        {stage === 'trying'
          ? say.trying(done, all.length)
          : summaryOf(all.map((one) => one.outcome))}
      </p>
      {stage === 'applying' ? (
        <progress aria-label={say.progress} max={all.length} value={done} />
      ) : null}
      <ul className={styles['outcomes']} aria-label={title}>
        {all.map(({ job, outcome }) => (
          <OutcomeLine
            key={job.key}
            job={job}
            outcome={outcome}
            hasSeveral={hasSeveral}
            isOver={stage !== 'trying' && stage !== 'reviewed'}
            tryAgain={tryAgain}
            goTo={goTo}
          />
        ))}
      </ul>
      {isUnknown ? <p>{say.unknownNext}</p> : null}
      <div className={styles['actions']}>
        {stage === 'applying' ? (
          <button type="button" className={controls['button']} onClick={stop}>
            {say.stop}
          </button>
        ) : stage === 'trying' ? null : (
          <>
            {stage === 'over' && meant.length === 0 ? null : (
              <button
                type="button"
                className={controls['button']}
                data-kind="main"
                disabled={meant.length === 0}
                onClick={apply}
              >
                {labelOf(stage, meant)}
              </button>
            )}
            <button type="button" className={controls['button']} onClick={back}>
              {say.back}
            </button>
          </>
        )}
      </div>
    </>
  )
}

interface Line {
  readonly job: Job
  readonly outcome: Outcome
}

const titles = {
  trying: say.reviewed,
  reviewed: say.reviewed,
  applying: say.applying,
  over: say.over,
} as const

/** Where the objects of some jobs are. */
function whereOf(jobs: readonly Job[]): string {
  const [namespace, ...others] = new Set(jobs.map((job) => job.namespace))
  const clusters = [...new Set(jobs.map(({ cluster }) => cluster))]
  return say.where(clusters, others.length === 0 ? namespace : undefined)
}

/** What the button does, and where. */
function labelOf(stage: Progress['stage'], meant: readonly Line[]): string {
  const where = whereOf(meant.map(({ job }) => job))
  if (stage === 'over') return say.applyRest(meant.length, where)
  const all = (is: (outcome: Outcome) => boolean): boolean =>
    meant.every(({ outcome }) => is(outcome))
  const verb = all((one) => one.at === 'later' || (one.at === 'tried' && isNew(one.written)))
    ? 'Create'
    : all((one) => one.at === 'tried' && isChange(one.written))
      ? 'Change'
      : 'Apply'
  return say.apply(verb, meant.length, where)
}

const waiting: Outcome = { at: 'waiting' }
const pending: ReadonlySet<Outcome['at']> = new Set(['waiting', 'trying', 'applying'])

function OutcomeLine({
  job,
  outcome,
  hasSeveral,
  isOver,
  tryAgain,
  goTo,
}: {
  readonly job: Job
  readonly outcome: Outcome
  readonly hasSeveral: boolean
  readonly isOver: boolean
  readonly tryAgain: (key: string, force: boolean) => void
  readonly goTo: (line: number) => void
}) {
  const { key, document, cluster, namespace, force } = job
  const { kind, name } = document
  const errors = 'errors' in outcome ? outcome.errors : undefined
  const written = 'written' in outcome ? outcome.written : undefined
  const lines = errors === undefined ? [document.line] : linesOf(document, errors)
  return (
    <li data-at={outcome.at}>
      <div className={styles['outcome']}>
        <span className={styles['what']}>
          <span className={styles['dim']}>{kind} </span>
          {namespace === undefined ? null : <span className={styles['dim']}>{namespace}/</span>}
          {outcome.at === 'applied' && outcome.written.object !== null ? (
            <PlaceLink to={{ object: outcome.written.object.nameId }}>{name}</PlaceLink>
          ) : (
            name
          )}
          {hasSeveral ? <span className={styles['dim']}> · {cluster}</span> : null}
        </span>
        <span className={styles['state']}>{stateOf(outcome)}</span>
        {lines.slice(0, 5).map((line) => (
          <button key={line} type="button" className={styles['line']} onClick={() => goTo(line)}>
            {say.line(line)}
          </button>
        ))}
      </div>
      {errors === undefined ? null : (
        <WriteFailure
          errors={errors}
          isDryRun={outcome.at === 'refused'}
          {...(isOver
            ? {}
            : {
                takeOver: () => tryAgain(key, true),
                again: () => tryAgain(key, force),
              })}
        />
      )}
      {written === undefined ||
      (written.changes.length === 0 && written.warnings.length === 0) ? null : (
        <details open={outcome.at === 'tried' && written.warnings.length > 0}>
          <summary>{words.actions.preview.title}</summary>
          <WrittenChanges written={written} />
          {force ? <p className={styles['dim']}>{say.takesOver}</p> : null}
        </details>
      )}
    </li>
  )
}

function isChange(written: Written): boolean {
  return !isNew(written) && written.changes.length > 0
}

function isNew({ changes }: Written): boolean {
  return changes.some(({ path }) => path === '/metadata/name')
}

function stateOf(outcome: Outcome): string {
  const of = say.outcomes
  switch (outcome.at) {
    case 'tried': {
      const { changes } = outcome.written
      if (isNew(outcome.written)) return of.created
      return changes.length === 0 ? of.same : of.changed(changes.length)
    }
    case 'applied': {
      const { changes } = outcome.written
      if (isNew(outcome.written)) return of.isCreated
      return changes.length === 0 ? of.isSame : of.isChanged(changes.length)
    }
    case 'later':
      return of.later(outcome.needs)
    default:
      return of[outcome.at]
  }
}

function summaryOf(outcomes: readonly Outcome[]): string {
  const count = (isSo: (outcome: Outcome) => boolean): number => outcomes.filter(isSo).length
  const at = (name: Outcome['at']): number => count((one) => one.at === name)
  const tried = (isSo: (written: Written) => boolean): number =>
    count((one) => one.at === 'tried' && isSo(one.written))
  const of = say.summary
  const isApplied = outcomes.some(({ at: name }) => applied.has(name))
  const parts: readonly (readonly [number, (count: number) => string])[] = isApplied
    ? [
        [at('failed') + at('refused'), of.failed],
        [at('unknown'), of.unknown],
        [at('left'), of.left],
      ]
    : [
        [tried(isNew), of.created],
        [tried(isChange), of.changed],
        [tried(({ changes }) => changes.length === 0), of.same],
        [at('later'), of.later],
        [at('refused'), of.refused],
      ]
  const texts = parts.flatMap(([number, text]) => (number === 0 ? [] : [text(number)]))
  const all = isApplied ? [of.applied(at('applied'), outcomes.length), ...texts] : texts
  return `${all.join(', ')}.`
}

const applied: ReadonlySet<Outcome['at']> = new Set([
  'applying',
  'applied',
  'failed',
  'unknown',
  'left',
])
