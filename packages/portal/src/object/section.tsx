import { type ReactNode, useState } from 'react'
import styles from './summary.module.css'

/** A titled part of a view. */
export function Section({
  title,
  count,
  aside,
  children,
}: {
  readonly title: string
  readonly count?: number
  /** At the end of the heading: where more of it is. */
  readonly aside?: ReactNode
  readonly children: ReactNode
}) {
  return (
    <section className={styles['section']}>
      <h2 className={styles['heading']}>
        {title}
        {count === undefined ? null : <span className={styles['count']}>{count}</span>}
      </h2>
      {aside === undefined ? null : <span className={styles['aside']}>{aside}</span>}
      {children}
    </section>
  )
}

/** A part that is folded. What is in it is made, and asked for, once it is opened. */
export function Fold({
  title,
  count,
  children,
}: {
  readonly title: string
  readonly count: number
  readonly children: ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      className={styles['section']}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className={styles['heading']}>
        {title}
        <span className={styles['count']}>{count}</span>
      </summary>
      {isOpen ? children : null}
    </details>
  )
}
