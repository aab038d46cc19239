import type { ReactNode } from 'react'
import styles from './page-head.module.css'

/** The head of a page: its name, what is said beside it, and at the right end what can be done. */
export function PageHead({
  title,
  beside,
  children,
}: {
  readonly title: string
  readonly beside?: ReactNode
  /** What can be done. */
  readonly children?: ReactNode
}) {
  return (
    <header className={styles['head']}>
      <h1>{title}</h1>
      {beside}
      <div className={styles['tools']}>{children}</div>
    </header>
  )
}
