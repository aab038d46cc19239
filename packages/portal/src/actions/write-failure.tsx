import type { ReactNode } from 'react'
import type { AnswerError } from '../gateway/gateway.ts'
import controls from '../look/controls.module.css'
import { words } from '../words.ts'
import styles from './actions.module.css'

const say = words.actions.failure

/** Why a write was refused, and the way out. */
export function WriteFailure({
  errors,
  isDryRun = false,
  again,
  takeOver,
}: {
  readonly errors: readonly AnswerError[]
  readonly isDryRun?: boolean
  /** Looks again at what would change. */
  readonly again?: () => void
  /** Writes all the same where others have set the fields. */
  readonly takeOver?: () => void
}) {
  const [error = { message: say.title }] = errors
  const { title, details, next } = toldOf(error, isDryRun)
  const isConflict = error.extensions?.code === 'CONFLICT'
  return (
    <div className={styles['failure']} role="alert">
      <p className={styles['failureTitle']}>
        {title} <code>{error.extensions?.code}</code>
      </p>
      {details}
      {next === undefined ? null : <p>{next}</p>}
      <div className={styles['failureNext']}>
        {isConflict && takeOver !== undefined ? (
          <button type="button" className={controls['button']} onClick={takeOver}>
            {words.actions.takeOver}
          </button>
        ) : null}
        {again === undefined ? null : (
          <button type="button" className={controls['button']} onClick={again}>
            {words.actions.look}
          </button>
        )}
      </div>
    </div>
  )
}

interface Told {
  readonly title: string
  readonly details?: ReactNode
  readonly next?: string | undefined
}

/** An error in words, by its code and its facts: see docs/writes.md. */
function toldOf({ message, extensions = {} }: AnswerError, isDryRun: boolean): Told {
  const { code, hint } = extensions
  switch (code) {
    case 'CONFLICT': {
      const conflicts = causesIn(extensions['conflicts'])
      const managers = Map.groupBy(conflicts, ({ manager }) => manager)
      const texts = Array.from(managers, ([manager, fields]) =>
        say.conflict(
          manager,
          fields.map(({ field }) => field.replace(/^\./, '')),
        ),
      )
      return { title: say.CONFLICT, details: <Causes texts={texts} />, next: say.conflictNext }
    }
    case 'INVALID': {
      const causes = causesIn(extensions['causes'])
      const texts = causes.map(({ field, message: text }) => `${field}: ${text}`)
      return {
        title: say.INVALID,
        details: texts.length === 0 ? <p>{message}</p> : <Causes texts={texts} />,
        next: hint,
      }
    }
    case 'FORBIDDEN': {
      const { verb, resource, subresource } = extensions
      if (typeof verb !== 'string' || typeof resource !== 'string') break
      const full =
        typeof subresource === 'string' && subresource !== ''
          ? `${resource}/${subresource}`
          : resource
      return { title: say.FORBIDDEN(verb, full), next: hint }
    }
    case 'PRECONDITION_FAILED':
      return extensions['precondition'] === 'uid'
        ? { title: say.uid, next: say.uidNext }
        : { title: say.resourceVersion, next: say.resourceVersionNext }
    case 'ADMISSION_DENIED': {
      const { by, name, message: why = message } = (extensions['admission'] ?? {}) as Admission
      const title =
        by === 'POLICY' || by === 'WEBHOOK' ? say.admission[by](name ?? '') : say.admission.PLUGIN
      return { title, details: <p>{why}</p>, next: hint }
    }
    case 'DISRUPTION_BUDGET':
      return { title: say.DISRUPTION_BUDGET, details: <p>{message}</p>, next: hint }
    case 'OUTCOME_UNKNOWN':
      return { title: say.OUTCOME_UNKNOWN, details: <p>{message}</p>, next: hint }
    case undefined:
      // There was no answer, or none of the gateway.
      if (isDryRun) break
      return { title: say.OUTCOME_UNKNOWN, details: <p>{message}</p>, next: say.outcomeNext }
    default:
  }
  return { title: say.title, details: <p>{message}</p>, next: hint }
}

interface Admission {
  readonly by?: 'WEBHOOK' | 'POLICY' | 'PLUGIN'
  readonly name?: string | null
  readonly message?: string
}

function Causes({ texts }: { readonly texts: readonly string[] }) {
  return (
    <ul>
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  )
}

interface Cause {
  readonly field: string
  readonly message: string
  /** Of a conflict. */
  readonly manager: string
}

function causesIn(value: unknown): readonly Cause[] {
  return Array.isArray(value) ? (value as readonly Cause[]) : []
}
