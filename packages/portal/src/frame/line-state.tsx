import { useSyncExternalStore } from 'react'
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
  const { state, since = new Date() } = useLine()
  const span = useSpan(state === 'catchingUp' ? since : undefined)
  const title =
    state === 'live'
      ? said.liveTitle
      : state === 'offline'
        ? said.offlineTitle
        : said.catchingUpTitle(since)
  const text =
    state === 'live' ? said.live : state === 'offline' ? said.offline(since) : said.catchingUp(span)
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
