import { useKeys } from '../frame/keys.ts'
import { words } from '../words.ts'
import { tabNamed } from './object-tabs.ts'
import { Absent, ObjectView } from './object-view.tsx'
import styles from './object.module.css'
import { useObjectId } from './object-id.ts'

/** An object beside the list that it was chosen in. The tab stays when another object is chosen. Escape closes. */
export function Inspector({
  object,
  id: known,
  tab,
  logs,
  history,
  change,
  onClose,
}: {
  /** Its `nameId`, or its `id`. */
  readonly object: string
  /** Its `id`, where it is known. */
  readonly id: string | undefined
  readonly tab: string | undefined
  readonly logs: string | undefined
  readonly history: string | undefined
  readonly change: (changed: {
    readonly tab?: string | undefined
    readonly logs?: string | undefined
    readonly history?: string | undefined
  }) => void
  readonly onClose: () => void
}) {
  useKeys([{ keys: 'Escape', does: words.object.close, run: onClose }])
  const { id, live } = useObjectId(object, known)
  return (
    <aside className={styles['inspector']} aria-label={words.object.inspector}>
      {id === undefined ? (
        <Absent live={live} isPage={false} isNamed />
      ) : (
        <ObjectView
          key={id}
          id={id}
          tab={tabNamed(tab)}
          onTab={(next) => change({ tab: next === 'summary' ? undefined : next })}
          logs={{ view: logs, onView: (view) => change({ logs: view }) }}
          history={{ view: history, onView: (view) => change({ history: view }) }}
          onClose={onClose}
        />
      )}
    </aside>
  )
}
