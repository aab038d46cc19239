import { useEffect, useState } from 'react'
import styles from './rows-skeleton.module.css'

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
