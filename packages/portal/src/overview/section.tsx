import { type ReactNode, useId } from 'react'
import styles from './overview.module.css'

/** A part of the overview under its heading. */
export function Section({
  title,
  aside,
  children,
}: {
  readonly title: string
  readonly aside?: ReactNode
  readonly children: ReactNode
}) {
  const id = useId()
  return (
    <section className={styles['section']} aria-labelledby={id}>
      <div className={styles['head']}>
        <h2 id={id}>{title}</h2>
        <span className={styles['aside']}>{aside}</span>
      </div>
      {children}
    </section>
  )
}
