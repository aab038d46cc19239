import { Age } from '../look/age.tsx'
import { words } from '../words.ts'
import { listAt, textAt } from './json.ts'
import { Section } from './section.tsx'
import styles from './summary.module.css'

/** Conditions of which False is good. */
const isGoodIfFalse =
  /limited|pressure|unavailable|failure|failed|degraded|stalled|dangling|disruptiontarget|lost|deadlock|suspended|resizing|pending|conflict/i

/** The conditions of an object as a timeline, the last change first. */
export function Conditions({ json }: { readonly json: unknown }) {
  const conditions = listAt(json, 'status', 'conditions')
    .map((condition) => ({
      type: textAt(condition, 'type') ?? '',
      status: textAt(condition, 'status') ?? '',
      reason: textAt(condition, 'reason'),
      message: textAt(condition, 'message'),
      since: textAt(condition, 'lastTransitionTime'),
    }))
    .toSorted((a, b) => (b.since ?? '').localeCompare(a.since ?? ''))
  if (conditions.length === 0) return null
  return (
    <Section title={words.object.conditions} count={conditions.length}>
      <ol className={styles['timeline']}>
        {conditions.map(({ type, status, reason, message, since }) => {
          const isGood = (status === 'True') !== isGoodIfFalse.test(type)
          return (
            <li key={type} data-good={status === 'Unknown' ? 'unknown' : isGood}>
              <p>
                <strong>{type}</strong> {words.object.conditionStatus(status)}
                {reason === undefined ? null : <code className={styles['dim']}> {reason}</code>}
                {since === undefined ? null : (
                  <span className={styles['when']}>
                    <Age since={since} />
                  </span>
                )}
              </p>
              {message === undefined ? null : <p className={styles['message']}>{message}</p>}
            </li>
          )
        })}
      </ol>
    </Section>
  )
}
