import { Backoff, sleep } from '../../lib/backoff.ts'
import type { Scope } from '../../query/condition/scope.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import {
  forbiddenList,
  type KindNeed,
  tooManyNamespaces,
  type ViewerAccess,
} from '../prepare/viewer-access.ts'

/** What one subscriber may list and watch, as that changes while the subscription lives. */
export interface LiveScope {
  /**
   * What may be seen from now on; as long as nobody knows, it waits: nothing is to be sent meanwhile. Rejects with the
   * `ClientError` that ends the subscription, FORBIDDEN where that is nothing any more, and with the signal's reason.
   */
  now(signal: AbortSignal): Promise<Scope>
  /** Resolves when {@link now} may be another than when this was called, or the signal is aborted. */
  changed(signal: AbortSignal): Promise<void>
}

/** What a viewer may list and watch of a kind, followed from permission to permission. */
export function liveScope(
  access: ViewerAccess,
  at: ClusterKind,
  within: readonly string[] | undefined,
): LiveScope {
  const list = { within, watch: true }
  const need: KindNeed = { ...at, list }
  let scope: Scope | undefined
  return {
    async now(signal) {
      access.begin()
      const backoff = new Backoff({ initialMs: 500, maxMs: 10_000 })
      while (true) {
        signal.throwIfAborted()
        const known = access.list(at, list)
        switch (known.state) {
          case 'allowed':
            scope = known.scope
            return scope
          case 'forbidden':
            throw forbiddenList(at, true)
          case 'tooMany':
            throw tooManyNamespaces(at, known.most)
          // It is not in memory at present: what was seen of it is not taken back for that.
          case 'some':
            // oxlint-disable-next-line no-await-in-loop -- it waits for it
            await sleep(backoff.nextMs(), signal)
            break
          case 'unknown':
            // oxlint-disable-next-line no-await-in-loop -- what one answer leaves open is asked next
            await access.ask(need).catch((error: unknown) => pause(error, backoff, signal))
        }
      }
    },
    changed(signal) {
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          leave()
          signal.removeEventListener('abort', done)
          resolve()
        }
        const leave = access.onChange(at.cluster, done)
        // Of what webhooks decide nothing is heard: their answers grow old, which may be sooner than one that is asked for now.
        const restMs = scope === undefined ? 0 : scopeUntilMs(access, at, scope) - performance.now()
        const longestMs = Math.max(access.longestMs(at.cluster), leastMs)
        const timer = setTimeout(done, Math.min(Math.max(restMs, leastMs), longestMs))
        timer.unref()
        signal.addEventListener('abort', done, { once: true })
        if (signal.aborted) done()
      })
    },
  }
}

/** So long at least passes before it is asked again. */
const leastMs = 1_000

function scopeUntilMs(access: ViewerAccess, at: ClusterKind, scope: Scope): number {
  const places = scope.form === 'namespaces' ? scope.namespaces : ['']
  return access.allowedUntilMs(at, places, ['list', 'watch'])
}

/** A cluster that cannot be asked for a while is asked again, while nothing is sent; that it may not be asked lasts. */
async function pause(error: unknown, backoff: Backoff, signal: AbortSignal): Promise<void> {
  if (!(error instanceof ClientError) || error.code !== 'CLUSTER_UNREACHABLE') throw error
  await sleep(backoff.nextMs(), signal)
}

/** Whether two Scopes are the same. */
export function isSameScope(a: Scope, b: Scope): boolean {
  if (a === b) return true
  const [first, second] = [membersOf(a), membersOf(b)]
  if (a.form !== b.form || first.size !== second.size) return false
  for (const member of first) if (!second.has(member)) return false
  return true
}

function membersOf(scope: Scope): ReadonlySet<string> {
  switch (scope.form) {
    case 'all':
      return none
    case 'namespaces':
      return scope.namespaces
    case 'names':
      return scope.keys
  }
}

const none: ReadonlySet<string> = new Set()
