import { useMemo, useSyncExternalStore } from 'react'
import { useGateway } from '../gateway/gateway.ts'
import { LiveLogs } from '../logs/live-logs.ts'
import type { SeenObject } from './live-object.ts'
import { pageWords } from './page-words.ts'
import { listAt, textAt } from './json.ts'
import { Section } from './section.tsx'
import styles from './summary.module.css'

interface LastLinesProps {
  readonly object: SeenObject
  readonly openLogs: () => void
}

const tailLines = 8
const all = { container: '', previous: false, contains: '', since: '', level: '' } as const

/** The last lines that a pod has written, as it writes them. */
export function LastLines(props: LastLinesProps) {
  const hasStarted = textAt(props.object.json, 'status', 'startTime') !== undefined
  return hasStarted ? <FollowedLines {...props} /> : null
}

function FollowedLines({ object: { id, json }, openLogs }: LastLinesProps) {
  const { socket } = useGateway()
  const logs = useMemo(
    () => new LiveLogs(socket, id, all, { tailLines, mostRows: tailLines }),
    [socket, id],
  )
  const {
    rows: lines,
    streams,
    status,
    errors,
  } = useSyncExternalStore(logs.subscribe, logs.getSnapshot)
  if (status === 'loading') return null
  const say = pageWords.lines
  const hasSeveral = listAt(json, 'spec', 'containers').length > 1
  const why =
    errors[0]?.message ?? streams.find(({ state }) => state === 'FAILED')?.message ?? undefined
  return (
    <Section
      title={say.title}
      aside={
        <button type="button" className={styles['link']} onClick={openLogs}>
          {say.all}
        </button>
      }
    >
      {lines.length === 0 ? (
        <p className={styles['dim']}>
          {why === undefined ? say.none : pageWords.refused(say.title, why)}
        </p>
      ) : (
        <ol className={styles['lines']} aria-label={say.label}>
          {lines.map(({ key, container, time, text }) => (
            <li key={key} title={text}>
              <time className={styles['dim']} dateTime={time ?? undefined}>
                {time == null ? null : new Date(time).toLocaleTimeString()}
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
