import { Link } from '@tanstack/react-router'
import { words } from '../words.ts'
import styles from './rail.module.css'

/** The way to every view: overview, applications, and the kinds by group. */
export function Rail() {
  return (
    <nav className={styles['rail']} aria-label={words.frame.kinds}>
      <Link to="/" className={styles['entry']} activeOptions={{ exact: true }}>
        {words.frame.overview}
      </Link>
      <Link to="/applications" className={styles['entry']}>
        {words.frame.applications}
      </Link>
    </nav>
  )
}
