import type { ErrorComponentProps } from '@tanstack/react-router'
import { GatewayError } from '../gateway/gateway.ts'
import controls from '../look/controls.module.css'
import { Failure, Notice } from '../look/notice.tsx'
import { words } from '../words.ts'

const reloaded = 'informerql.reloaded'

/**
 * Reloads the page if a part of it is gone: the gateway was updated, and the page that is open names files of the one
 * before. At most once in ten seconds, so that a gateway without these files is not asked for ever.
 */
export function reloadAfterUpdate(): void {
  addEventListener('vite:preloadError', (event) => {
    // In other words than the browser's, at which the router would reload the page as well.
    event.payload.message = words.frame.failure.file(event.payload.message)
    const last = Number(sessionStorage.getItem(reloaded) ?? 0)
    if (Date.now() - last < 10_000) return
    sessionStorage.setItem(reloaded, String(Date.now()))
    location.reload()
  })
}

/** Shown in the place of a view that has failed; the frame goes on. */
export function ViewError({ error, reset }: ErrorComponentProps) {
  if (error instanceof GatewayError) return <Failure errors={error.errors} again={reset} isView />
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
      <button type="button" className={controls['button']} onClick={reset}>
        {said.again}
      </button>
    </Notice>
  )
}
