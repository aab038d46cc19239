import { useLine } from '../gateway/line.ts'
import { words } from '../words.ts'
import styles from './top-bar.module.css'

/** The scope, the search, the state of the line, the theme, and who the user is. */
export function TopBar() {
  const { state, since } = useLine()
  const text =
    state === 'offline'
      ? words.frame.line.offline(since?.toLocaleTimeString() ?? '')
      : words.frame.line[state]
  return (
    <header className={styles['bar']}>
      <output className={styles['line']} data-state={state}>
        {text}
      </output>
    </header>
  )
}
