import type { RowOf } from '@informerql/client'
import type { RecentWarningsSubscription } from '../gateway/documents.ts'
import { Age } from '../look/age.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import { words } from '../words.ts'
import styles from './warnings.module.css'

export type Warning = RowOf<RecentWarningsSubscription>

/** An Event of type Warning: why, what it is about, and when. */
export function WarningLine({
  warning: { reason, message, count, involved, lastTimestamp, eventTime, creationTimestamp },
}: {
  readonly warning: Warning
}) {
  return (
    <li className={styles['warning']}>
      <p className={styles['message']} title={message ?? undefined}>
        {message ?? reason}
      </p>
      <div className={styles['line']}>
        {message === null ? null : <code className={styles['reason']}>{reason}</code>}
        {involved === null ? null : (
          <PlaceLink
            to={{ object: involved.nameId }}
            className={styles['about']}
            title={`${involved.kind} ${involved.namespace ?? ''}/${involved.name}`}
          >
            <span className={styles['kind']}>{involved.kind}</span>{' '}
            {involved.namespace === null ? null : (
              <span className={styles['kind']}>{involved.namespace}/</span>
            )}
            {involved.name}
          </PlaceLink>
        )}
        <span className={styles['when']}>
          {count !== null && count > 1 ? `${words.overview.times(count)} ` : null}
          <Age since={lastTimestamp ?? eventTime ?? creationTimestamp} />
        </span>
      </div>
    </li>
  )
}
