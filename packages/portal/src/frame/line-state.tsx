import { useSyncExternalStore } from 'react'
import { useCutClusters } from '../gateway/counts.ts'
import { useLine } from '../gateway/line.ts'
import { spanOf } from '../look/age.tsx'
import { words } from '../words.ts'
import styles from './line-state.module.css'

const said = words.frame.line

/** The time since, in seconds, while it is shown. */
function useSpan(since: Date | undefined): string {
  return useSyncExternalStore(
    (listener) => {
      const clock = setInterval(listener, 1_000)
      return () => clearInterval(clock)
    },
    () => (since === undefined ? '' : spanOf(Date.now() - since.getTime())),
  )
}

/** The state of the line, as a dot and a word. Screen readers hear that it changes, not each second of it. */
export function LineState() {
  const { state: ofLine, since = new Date() } = useLine()
  const hasCut = useCutClusters().length > 0
  // What is stale is stale by the cut, which has a row of its own.
  const state = ofLine !== 'offline' && hasCut ? 'cut' : ofLine
  const span = useSpan(state === 'catchingUp' ? since : undefined)
  const [text, title] = {
    live: [said.live, said.liveTitle],
    cut: [said.cut, said.cutTitle],
    catchingUp: [said.catchingUp(span), said.catchingUpTitle(since)],
    offline: [said.offline(since), said.offlineTitle],
  }[state]
  return (
    <output
      className={styles['line']}
      data-state={state}
      title={title}
      aria-live={state === 'catchingUp' ? 'off' : 'polite'}
    >
      <span aria-hidden="true" className={styles['dot']} />
      <span className={styles['text']}>{text}</span>
    </output>
  )
}
