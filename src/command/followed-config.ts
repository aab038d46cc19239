import { unwatchFile, watchFile } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config/config.ts'
import type { GatewayLog } from '../gateway/gateway-log.ts'

/** A configuration file that is read again when it changes. */
export interface FollowedConfig {
  readonly file: string
  /** Reads and checks the configuration as it is now. Throws `ConfigError`. */
  readonly load: () => Config
}

export interface FollowConfigOptions extends FollowedConfig {
  /** As it was at the start. */
  readonly config: Config
  /** Applies the one part that can change while the gateway runs. */
  readonly clusters: (clusters: Config['clusters']) => Promise<void>
  readonly log: GatewayLog
  readonly signal: AbortSignal
}

/** Asked for by its state rather than by the events of its folder: a mounted ConfigMap is a link that is put elsewhere. */
const intervalMs = 2_000

/**
 * Applies the clusters of the file whenever it has changed, until the signal is aborted. One that cannot be used is logged and
 * changes nothing; of other options it is logged that they need a restart.
 */
export function followConfig(options: FollowConfigOptions): void {
  const { file, load, clusters, log, signal } = options
  let { config } = options
  const read = (): void => {
    let next: Config
    try {
      next = load()
    } catch (error) {
      log.error(`${file} has changed and cannot be used: ${(error as Error).message}`)
      return
    }
    const others = (Object.keys(next) as (keyof Config)[]).filter(
      (option) => option !== 'clusters' && !isDeepStrictEqual(next[option], config[option]),
    )
    if (others.length > 0) {
      log.warn(`${file}: ${others.join(', ')} changed, which needs a restart`)
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
