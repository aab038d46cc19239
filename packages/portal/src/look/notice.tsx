import { Fragment, type ReactNode } from 'react'
import type { AnswerError } from '../gateway/gateway.ts'
import { words } from '../words.ts'
import controls from './controls.module.css'
import styles from './notice.module.css'

/** Said in the place of a view that has nothing to show: why, and what to do next. `isView`: it is all that is shown. */
export function Notice({
  title,
  children,
  role,
  isView = false,
}: {
  readonly isView?: boolean
  readonly title: string
  readonly children?: ReactNode
  readonly role?: 'alert' | 'status'
}) {
  return (
    <div className={`${styles['notice']} ${isView ? styles['view'] : ''}`} role={role}>
      {isView ? <h1>{title}</h1> : <p className={styles['title']}>{title}</p>}
      {children}
    </div>
  )
}

/** What went wrong, with its code for searching, the gateway's hint, and another try. */
export function Failure({
  errors,
  again,
  title = words.frame.failure.title,
  isView = false,
}: {
  readonly isView?: boolean
  readonly errors: readonly AnswerError[]
  readonly again?: () => void
  readonly title?: string
}) {
  const isForbidden = errors.every(({ extensions }) => extensions?.code === 'FORBIDDEN')
  return (
    <Notice
      title={isForbidden ? words.frame.failure.forbidden : title}
      role="alert"
      isView={isView}
    >
      {errors.map(({ message, extensions }) => (
        <Fragment key={message}>
          <p>
            {message}{' '}
            {extensions?.code === undefined ? null : (
              <code className={styles['code']}>{extensions.code}</code>
            )}
          </p>
          {extensions?.hint === undefined ? null : (
            <p>{words.frame.failure.hint(extensions.hint)}</p>
          )}
        </Fragment>
      ))}
      {again === undefined || isForbidden ? null : (
        <button type="button" className={controls['button']} onClick={again}>
          {words.frame.failure.again}
        </button>
      )}
    </Notice>
  )
}
