import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useGateway } from '../gateway/gateway.ts'
import { Age } from '../look/age.tsx'
import { LiveLogs } from '../logs/live-logs.ts'
import { logsViewOf, textOfLogsView } from '../logs/logs-view.ts'
import { type RestartedContainer, restartedOf } from './container-state.ts'
import type { SeenObject } from './live-object.ts'
import { pageWords } from './page-words.ts'
import { listAt, textAt } from './json.ts'
import { Section } from './section.tsx'
import { words } from '../words.ts'
import styles from './summary.module.css'
import { timeOfDay } from '../look/times.ts'

interface LastLinesProps {
  readonly object: SeenObject
  /** `view`: what is shown here, where it is not what the tab shows by itself. */
  readonly openLogs: (view: string | undefined) => void
}

const tailLines = 8
const all = logsViewOf()
/** A run that is younger than this has not said yet why the one before has ended. */
const youngMs = 60_000
/** How long the lines of a run may take to come. */
const waitMs = 2_000

/** The last lines that a pod has written, as it writes them; of a container that has just been restarted, those of the run before. */
export function LastLines(props: LastLinesProps) {
  const hasStarted = textAt(props.object.json, 'status', 'startTime') !== undefined
  return hasStarted ? <FollowedLines {...props} /> : null
}

/** Whether the run before the restart is shown: by itself, until the user chooses. */
function useRunBefore(restarted: RestartedContainer | undefined) {
  const { startedAt } = restarted ?? {}
  const isYoung = useMemo(() => Date.now() - Date.parse(startedAt ?? '') < youngMs, [startedAt])
  const [chosen, setChosen] = useState<{ of: string | undefined; is: boolean }>()
  const now = chosen?.of === startedAt ? chosen : undefined
  return {
    isBefore: restarted !== undefined && (now?.is ?? isYoung),
    isOpen: restarted !== undefined && now === undefined,
    choose: (is: boolean) => setChosen({ of: startedAt, is }),
  }
}

function FollowedLines({ object: { id, json }, openLogs }: LastLinesProps) {
  const { socket } = useGateway()
  const restarted = restartedOf(json)
  const { isBefore, isOpen, choose } = useRunBefore(restarted)
  const of = isBefore ? (restarted?.name ?? '') : ''
  const shown = useMemo(() => ({ ...all, container: of, previous: isBefore }), [of, isBefore])
  const logs = useMemo(
    () => new LiveLogs(socket, id, shown, { tailLines, mostRows: tailLines }),
    [socket, id, shown],
  )
  const {
    rows: lines,
    streams,
    status,
    errors,
  } = useSyncExternalStore(logs.subscribe, logs.getSnapshot)
  const isEmpty = isOpen && status !== 'loading' && lines.length === 0
  useEffect(() => {
    // The other run may have lines.
    const timer = isEmpty ? setTimeout(() => choose(!isBefore), waitMs) : undefined
    return () => clearTimeout(timer)
  }, [isEmpty, isBefore])
  if (status === 'loading') return null
  const say = pageWords.lines
  const hasSeveral = listAt(json, 'spec', 'containers').length > 1
  const { startedAt = '', exit = '' } = restarted ?? {}
  const why =
    errors[0]?.message ?? streams.find(({ state }) => state === 'FAILED')?.message ?? undefined
  return (
    <Section
      title={say.title}
      aside={
        <button
          type="button"
          className={styles['link']}
          onClick={() => openLogs(textOfLogsView(shown))}
        >
          {say.all}
        </button>
      }
    >
      {restarted === undefined ? null : (
        <p className={styles['dim']}>
          <label>
            <input
              type="checkbox"
              checked={isBefore}
              onChange={({ target }) => choose(target.checked)}
            />{' '}
            {say.before(hasSeveral ? restarted.name : undefined)}
          </label>{' '}
          {isBefore ? say.ended(exit) : say.present} <Age since={startedAt} /> {words.object.ago}
        </p>
      )}
      {lines.length === 0 ? (
        <p className={styles['dim']}>
          {why === undefined ? say.none : pageWords.refused(say.title, why)}
        </p>
      ) : (
        <ol className={styles['lines']} aria-label={say.label}>
          {lines.map(({ key, container, time, text }) => (
            <li key={key} title={text}>
              <time className={styles['dim']} dateTime={time ?? undefined}>
                {time == null ? null : timeOfDay(new Date(time))}
              </time>{' '}
              {hasSeveral ? <span className={styles['dim']}>{container} </span> : null}
              {text}
            </li>
          ))}
        </ol>
      )}
    </Section>
  )
}
