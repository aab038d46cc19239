import { useEffect, useId } from 'react'
import { pageState } from '../page-state.ts'
import { GatewayError } from './gateway.ts'
import { pageGateway } from './page-gateway.ts'

/** The connection to the gateway, and the gateway's to its clusters. */
export interface Line {
  /**
   * `live`: what is shown is up to date. `catchingUp`: the connection was lost a moment ago, or the gateway has not read
   * the newest state of what is shown for some seconds. `offline`: the gateway cannot be reached. Of clusters that cannot be
   * reached, `useCutClusters` says so.
   */
  readonly state: 'live' | 'catchingUp' | 'offline'
  /** Since when it is not live. */
  readonly since: Date | undefined
}

/** How long a lost connection may take to come back before the page calls itself offline: less is not worth a word. */
const patienceMs = 1_500
/** How long what is shown may be behind its cluster: a watch that begins anew is not worth a word either. */
const stalePatienceMs = 5_000

const { answers, socket } = pageGateway
let line: Line = { state: 'live', since: undefined }
/** When the WebSocket was lost, and when the gateway did not answer a query. */
let lost: Date | undefined
let unanswered: Date | undefined
/** What the views that are shown know to be out of date, by the view. */
const stale = new Map<string, string>()
const shown = pageState()
let patience: ReturnType<typeof setTimeout> | undefined

function conclude(): void {
  clearTimeout(patience)
  const gone = [lost, unanswered].filter((time) => time !== undefined)
  const isGone = gone.length > 0
  const since = isGone
    ? gone.reduce((a, b) => (a < b ? a : b))
    : stale.size > 0
      ? new Date([...stale.values()].toSorted()[0] ?? '')
      : undefined
  const waited = since === undefined ? 0 : Date.now() - since.getTime()
  const leftMs = (isGone ? patienceMs : stalePatienceMs) - waited
  if (since !== undefined && leftMs > 0) patience = setTimeout(conclude, leftMs)
  const state =
    since === undefined || (!isGone && leftMs > 0)
      ? 'live'
      : isGone && leftMs <= 0
        ? 'offline'
        : 'catchingUp'
  if (state === line.state && since?.getTime() === line.since?.getTime()) return
  line = { state, since }
  shown.changed()
}

socket.on('connected', () => {
  const wasLost = lost !== undefined
  lost = undefined
  unanswered = undefined
  conclude()
  // Queries may have failed, or have been answered before the connection was lost.
  if (wasLost) void answers.invalidateQueries()
})
socket.on('closed', () => {
  lost ??= new Date()
  conclude()
})
answers.getQueryCache().subscribe((event) => {
  if (event.type !== 'updated') return
  const { action } = event
  if (action.type === 'success' && action.manual !== true) {
    unanswered = undefined
    // Nothing is live, so no WebSocket will say that the gateway is back.
    if (socket.isIdle) lost = undefined
    else if (lost !== undefined) socket.reconnect()
    conclude()
  } else if (action.type === 'error' || action.type === 'failed') {
    const { error } = action
    if (!(error instanceof GatewayError) || error.code !== 'UNREACHABLE') return
    unanswered ??= new Date()
    conclude()
  }
})
// Without these a connection that is dead looks live until the next ping has no answer.
for (const event of ['online', 'offline']) addEventListener(event, () => socket.reconnect())
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') socket.reconnect()
})

/** The state of the line. */
export function useLine(): Line {
  return shown.useState(() => line)
}

/** Tells the line since when what a view shows is out of date: the `staleSince` of its rows. */
export function useStale(since: string | null | undefined): void {
  const view = useId()
  useEffect(() => {
    if (since === null || since === undefined) return
    stale.set(view, since)
    conclude()
    return () => {
      stale.delete(view)
      conclude()
    }
  }, [view, since])
}
