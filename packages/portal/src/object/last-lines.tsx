import { LastLinesDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import type { SeenObject } from './live-object.ts'
import { pageWords } from './page-words.ts'
import { listAt, textAt } from './json.ts'
import { Section } from './section.tsx'
import styles from './summary.module.css'

const tailLines = 8
const everyMs = 10_000

/** The last lines that a pod has written. */
export function LastLines({
  object: { id, json },
  openLogs,
}: {
  readonly object: SeenObject
  readonly openLogs: () => void
}) {
  const hasStarted = textAt(json, 'status', 'startTime') !== undefined
  const { data, errors, isPending } = useAnswer(
    LastLinesDocument,
    { ids: [id], tailLines },
    { enabled: hasStarted, everyMs },
  )
  if (!hasStarted || isPending) return null
  const say = pageWords.lines
  const logs = data?.podLogs
  const hasSeveral = listAt(json, 'spec', 'containers').length > 1
  const lines = (logs?.lines ?? [])
    .toSorted((one, other) => ((one.time ?? '') < (other.time ?? '') ? -1 : 1))
    .slice(-tailLines)
  const why =
    errors[0]?.message ??
    logs?.streams?.find(({ state }) => state === 'FAILED')?.message ??
    undefined
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
          {lines.map(({ container, time, text }, position) => (
            <li key={`${time} ${position}`} title={text}>
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
