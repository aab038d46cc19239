import { useSyncExternalStore } from 'react'
import { socket } from './gateway.ts'

/** The connection to the gateway: whether it holds, and since when it does not. */
export interface Line {
  readonly state: 'idle' | 'live' | 'offline'
  /** When the connection was lost. */
  readonly since: Date | undefined
}

let line: Line = { state: 'idle', since: undefined }
const listeners = new Set<() => void>()

function becomes(next: Line): void {
  line = next
  for (const listener of listeners) listener()
}

socket.on('connected', () => becomes({ state: 'live', since: undefined }))
socket.on('closed', () => {
  if (line.state !== 'offline') becomes({ state: 'offline', since: new Date() })
})

/** The state of the page's WebSocket. It is `idle` while nothing is live. */
export function useLine(): Line {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => line,
  )
}
