import { useState } from 'react'
import { words } from '../words.ts'
import styles from './actions.module.css'
import { FieldChanges } from './field-changes.tsx'
import type { Written } from './write.ts'

const say = words.actions.preview

/** How many changes are shown at first. */
const shownAtFirst = 12

/** What a write changes or would change, and what the API server warns of. */
export function WrittenChanges({ written }: { readonly written: Written }) {
  const [isAll, setAll] = useState(false)
  const { changes, warnings, object, preview } = written
  const kind = (preview ?? object)?.kind
  const isRemoved = changes.some(({ path, after }) => path === '' && after === null)
  const isCreated = kind !== undefined && changes.some(({ path }) => path === '/metadata/name')
  // Of a new object, each field is one that differs.
  const shown = isAll ? changes : changes.slice(0, isCreated ? 0 : shownAtFirst)
  return (
    <>
      {warnings.length === 0 ? null : (
        <div className={styles['warnings']}>
          <p>{say.warnings}</p>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </div>
      )}
      {isCreated ? <p>{say.created(kind)}</p> : null}
      {isRemoved ? <p>{say.removed}</p> : null}
      {isRemoved || (isCreated && !isAll) ? null : <FieldChanges changes={shown} />}
      {shown.length === changes.length || isRemoved ? null : (
        <button type="button" className={styles['more']} onClick={() => setAll(true)}>
          {say.more(changes.length - shown.length)}
        </button>
      )}
    </>
  )
}
