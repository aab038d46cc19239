import { type ReactNode, useEffect, useId, useState } from 'react'
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

/** The place of rows that are on their way. Drawn after 300 ms: what comes sooner needs no picture of waiting. */
export function RowsSkeleton({ rows = 3 }: { readonly rows?: number }) {
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      setDrawn(true)
    }, 300)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className={styles['skeleton']} aria-hidden="true" style={{ opacity: isDrawn ? 1 : 0 }}>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} style={{ width: `${88 - ((index * 23) % 40)}%` }} />
      ))}
    </div>
  )
}
