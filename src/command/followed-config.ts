import { unwatchFile, watchFile } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config/config.ts'
import type { GatewayLog } from '../gateway/observers.ts'

/** A configuration file that is followed. */
export interface FollowedConfig {
  readonly file: string
  /** Reads and checks the current configuration. Throws `ConfigError`. */
  readonly load: () => Config
}

export interface FollowConfigOptions extends FollowedConfig {
  /** The configuration at the start. */
  readonly config: Config
  /** Applies the clusters, the only part that can change while the gateway runs. */
  readonly clusters: (clusters: Config['clusters']) => Promise<void>
  readonly log: GatewayLog
  readonly signal: AbortSignal
}

/** Polls the file instead of listening to events: a mounted ConfigMap is a link whose target changes. */
const intervalMs = 2_000

/**
 * Applies the clusters of the file after each change, until the signal aborts. Logs an invalid configuration and keeps
 * the previous one. Logs changes of other options, which need a restart.
 */
export function followConfig(options: FollowConfigOptions): void {
  const { file, load, clusters, log, signal } = options
  let { config } = options
  const read = (): void => {
    let next: Config
    try {
      next = load()
    } catch (error) {
      log.error(`${file} has changed and is invalid: ${(error as Error).message}`)
      return
    }
    const others = (Object.keys(next) as (keyof Config)[]).filter(
      (option) => option !== 'clusters' && !isDeepStrictEqual(next[option], config[option]),
    )
    if (others.length > 0) {
      log.warn(`${file}: ${others.join(', ')} changed; restart to apply`)
    }
    if (!isDeepStrictEqual(next.clusters, config.clusters)) {
      log.info(`${file}: serving ${next.clusters.map(({ name }) => name).join(', ')} from now on`)
      void clusters(next.clusters)
    }
    config = next
  }
  watchFile(file, { interval: intervalMs, persistent: false }, read)
  signal.addEventListener('abort', () => unwatchFile(file, read), { once: true })
}
