import type { ReactNode } from 'react'
import styles from './summary.module.css'

/** A titled part of a view. */
export function Section({
  title,
  count,
  children,
}: {
  readonly title: string
  readonly count?: number
  readonly children: ReactNode
}) {
  return (
    <section className={styles['section']}>
      <h2 className={styles['heading']}>
        {title}
        {count === undefined ? null : <span className={styles['count']}>{count}</span>}
      </h2>
      {children}
    </section>
  )
}
