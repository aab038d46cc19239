import { Backoff } from '../lib/backoff.ts'
import { InvalidOptionError, present, requireDeadline, requireNumber } from '../lib/options.ts'
import type { ControllerOptions } from './controller.ts'
import type { ReflectorOptions } from './reflector/reflector-options.ts'
import { sourceOf, type SourceOptions } from './source.ts'

/** What an informer or a controller of one's own is made from, as callers write it. */
export interface CacheOptions
  extends SourceOptions, Omit<ControllerOptions, 'resource' | 'source'> {}

/** The options as the controller takes them. Throws `InvalidOptionError` and `SourceMismatchError`. */
export function controllerOptionsOf<T extends CacheOptions>(given: T): T & ControllerOptions {
  const options = present(given)
  requireReflectorOptions(options)
  if (options.queueLimit !== Number.POSITIVE_INFINITY) {
    requireNumber('queueLimit', options.queueLimit, 1)
  }
  return { ...options, source: sourceOf(options) }
}

function requireReflectorOptions(options: ReflectorOptions): void {
  const { backoff, initialList, watchTimeoutSeconds: timeout } = options
  requireNumber('pageSize', options.pageSize, 1)
  requireDeadline('maxRetryAfterMs', options.maxRetryAfterMs)
  requireDeadline('watchListSilenceMs', options.watchListSilenceMs)
  requireDeadline('watchListDeadlineMs', options.watchListDeadlineMs)
  requireDeadline('shortWatchMs', options.shortWatchMs)
  requireDeadline('slowListMs', options.slowListMs)
  requireDeadline('suspendGapMs', options.suspendGapMs)
  requireNumber('watchTimeoutSeconds.min', timeout?.min)
  requireNumber('watchTimeoutSeconds.max', timeout?.max, timeout?.min)
  if (initialList !== undefined && initialList !== 'list' && initialList !== 'watchlist') {
    throw new InvalidOptionError('initialList', initialList, "'list' or 'watchlist'")
  }
  if (backoff !== undefined) void new Backoff(backoff)
}
