import type { FieldChangePartsFragment } from '../gateway/documents.ts'
import { words } from '../words.ts'
import styles from './field-changes.module.css'

/** A field that differs: of `changes` of a write, or as the page compares two states itself. */
export type FieldDifference = Pick<FieldChangePartsFragment, 'path' | 'before' | 'after'> &
  Partial<Pick<FieldChangePartsFragment, 'manager' | 'masked'>>

/** The fields that a write changes, with their values before and after, and the manager that owned each. */
export function FieldChanges({
  changes,
  sides = [words.actions.changes.before, words.actions.changes.after],
}: {
  readonly changes: readonly FieldDifference[]
  /** What the values are called, for screen readers. */
  readonly sides?: readonly [string, string]
}) {
  const say = words.actions.changes
  if (changes.length === 0) return <p>{say.none}</p>
  return (
    <ul className={styles['changes']} aria-label={say.title}>
      {changes.map(({ path, before, after, manager, masked = false }) => (
        <li key={path}>
          <p>
            <code className={styles['path']}>{fieldName(path)}</code>
            {manager == null ? null : (
              <span className={styles['manager']}>{say.manager(manager)}</span>
            )}
          </p>
          {masked ? (
            <p className={styles['manager']}>{say.masked}</p>
          ) : (
            <div className={styles['values']}>
              <Value value={before} says={sides[0]} kind="del" />
              <span aria-hidden="true">→</span>
              <Value value={after} says={sides[1]} kind="ins" />
            </div>
          )}
        </li>
      ))}
    </ul>
  )
}

/** A path (RFC 6901) as people write fields: `spec.containers[0].image`. */
export function fieldName(path: string): string {
  const steps = path.split('/').slice(1)
  const name = steps.reduce((text, step) => {
    const member = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (/^\d+$/.test(member)) return `${text}[${member}]`
    if (/[./\s]/.test(member)) return `${text}[${JSON.stringify(member)}]`
    return text === '' ? member : `${text}.${member}`
  }, '')
  return name === '' ? words.actions.changes.whole : name
}

function Value({
  value,
  says,
  kind: Kind,
}: {
  readonly value: unknown
  readonly says: string
  readonly kind: 'del' | 'ins'
}) {
  const isNone = value === null || value === undefined
  const text = isNone ? words.actions.changes.nothing : valueText(value)
  return (
    <Kind className={styles['value']} data-none={isNone}>
      <span className="visually-hidden">{says} </span>
      {text.includes('\n') ? <pre>{text}</pre> : <code>{text}</code>}
    </Kind>
  )
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
