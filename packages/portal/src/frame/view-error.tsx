import { type ErrorComponentProps, useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { GatewayError } from '../gateway/gateway.ts'
import controls from '../look/controls.module.css'
import { Failure, Notice } from '../look/notice.tsx'
import { words } from '../words.ts'
import { useShownAs } from './view-title.ts'
import { views } from './views.ts'

const reloaded = 'informerql.reloaded'
/** How often a view that could not be loaded looks whether the gateway is back. */
const backMs = 2_000

/** Errors of files of the page that could not be loaded. */
const ofFiles = new WeakSet<Error>()

/** Notes which errors are of files of the page. */
export function followMissingFiles(): void {
  addEventListener('vite:preloadError', ({ payload }) => {
    // In other words than the browser's, at which the router would reload the page.
    payload.message = words.frame.failure.file(payload.message)
    ofFiles.add(payload)
  })
}

/** Shown in the place of a view that has failed; the frame goes on. */
export function ViewError({ error, reset }: ErrorComponentProps) {
  const { pathname } = useLocation()
  useShownAs(words.frame.viewFailed(nameOf(pathname)))
  if (error instanceof GatewayError) return <Failure errors={error.errors} again={reset} isView />
  if (error instanceof Error && ofFiles.has(error)) return <MissingFile error={error} />
  return <FailedView error={error} again={reset} />
}

/** The name of a view, by its address: of a kind and of an object its own. */
function nameOf(pathname: string): string {
  const [last = ''] = pathname.split('/').slice(-1)
  return views.find(({ href }) => href === pathname)?.title ?? decodeURIComponent(last)
}

/**
 * A file of the view could not be loaded. Either the gateway is away, and the page waits for it; or it was updated, and the
 * page that is open names files of the one before. Then it loads the page anew, at most once in ten seconds, so that a
 * gateway without these files is not asked for ever.
 */
function MissingFile({ error }: { readonly error: Error }) {
  const [state, setState] = useState<'asking' | 'away' | 'gone'>('asking')
  useEffect(() => {
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      const { signal } = leaving
      const isThere = await fetch('/livez', { signal, cache: 'no-store' }).then(
        ({ ok }) => ok,
        () => false,
      )
      if (signal.aborted) return
      if (!isThere) {
        setState('away')
        timer = setTimeout(() => void look(), backMs)
      } else if (!reloadNow()) setState('gone')
    }
    void look()
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [])
  if (state === 'asking') return null
  if (state === 'gone') return <FailedView error={error} again={() => location.reload()} />
  return (
    <Notice title={words.frame.failure.away} role="alert" isView>
      <p>{words.frame.failure.awayNext}</p>
    </Notice>
  )
}

/** Reloads the page, unless it has just done so. */
function reloadNow(): boolean {
  const last = Number(sessionStorage.getItem(reloaded) ?? 0)
  if (Date.now() - last < 10_000) return false
  sessionStorage.setItem(reloaded, String(Date.now()))
  location.reload()
  return true
}

function FailedView({ error, again }: { readonly error: unknown; readonly again: () => void }) {
  const said = words.frame.failure
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return (
    <Notice title={said.view} role="alert" isView>
      <p>{said.viewNext}</p>
      <p>
        <code>
          {name}: {message}
        </code>
      </p>
      <button type="button" className={controls['button']} onClick={again}>
        {said.again}
      </button>
    </Notice>
  )
}
