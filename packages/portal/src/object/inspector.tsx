import { useEffect, useState } from 'react'
import { words } from '../words.ts'
import { type ObjectTab, ObjectView } from './object-view.tsx'
import styles from './object.module.css'

/** An object beside the list that it was chosen in. The tab stays when another object is chosen. Escape closes. */
export function Inspector({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const [tab, setTab] = useState<ObjectTab>('summary')
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented) onClose()
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [onClose])
  return (
    <aside className={styles['inspector']} aria-label={words.object.inspector}>
      <ObjectView key={id} id={id} tab={tab} onTab={setTab} onClose={onClose} />
    </aside>
  )
}
