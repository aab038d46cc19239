import { Health } from '../look/health.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import type { Neighbour } from './neighbours.ts'
import styles from './related.module.css'

/** An object in a list: its health, its name, why it is not healthy, and its namespace if it is another one. */
export function ObjectLink({
  object: { nameId, name, namespace, health },
  beside,
}: {
  readonly object: Neighbour
  /** The namespace that goes without saying. */
  readonly beside: string | null
}) {
  const reason = health?.status === 'HEALTHY' ? null : (health?.reason ?? null)
  return (
    <span className={styles['object']} data-status={health?.status}>
      <Health status={health?.status} bare />
      <PlaceLink to={{ object: nameId }} title={name}>
        {namespace === null || namespace === beside ? null : (
          <span className={styles['dim']}>{namespace}/</span>
        )}
        {name}
      </PlaceLink>
      {reason === null ? null : <code className={styles['reason']}>{reason}</code>}
    </span>
  )
}
