/*
 * `informerql serve`, and what `demo` shares with it: makes the metrics, the audit log, the gateway and its server, in
 * the order in which they are disposed of backwards. The server listens before the gateway starts, so that probes are
 * answered meanwhile.
 */

import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { type Config, ConfigError, EmptyConfigFileError } from '../config/config.ts'
import { archiveOptionsOf, gatewayOptionsOf } from '../config/gateway-config.ts'
import { openGateway } from '../gateway/gateway.ts'
import { GatewayMetrics } from '../gateway/metrics/gateway-metrics.ts'
import { type GatewayLog, serverObserverOf } from '../gateway/observers.ts'
import { GatewayTraces } from '../gateway/traces.ts'
import { changesOf, stateOf } from '../lib/file-follower.ts'
import { present } from '../lib/options.ts'
import { heldSdl } from '../graphql/schema/print-schema.ts'
import { type GraphQLServer, startGraphQLServer } from '../server/graphql-server.ts'
import { checkAddress, isLoopback } from '../server/guard/request-guard.ts'
import { portalFolder } from '../server/http/portal-files.ts'
import type { Routes } from '../server/operation-options.ts'
import { AuditLog } from './audit-log.ts'
import { exampleOperations } from './example-operations.ts'

export interface CommandContext {
  readonly config: Config
  /** The configuration file, if any, and how to read and check it again: `load` throws `ConfigError`. */
  readonly followed?: { readonly file: string; readonly load: () => Config }
  readonly log: GatewayLog
  /** Aborts when the process should stop. */
  readonly signal: AbortSignal
  /** Writes to the terminal. */
  readonly print: (text: string) => void
  /** Whether all clusters are simulated in this process. */
  readonly isSimulated?: boolean
}

/** `serve`: a gateway to the configured clusters, until the signal aborts. */
export async function serve(context: CommandContext): Promise<void> {
  await runGateway(context, ({ url, portalUrl }) => {
    const { config, log, print } = context
    // With `auto`, scripts and people read the address from the standard output.
    const tell = (text: string): void =>
      config.logFormat === 'json' ? log.info(text) : print(`${text}\n`)
    tell(`informerql answers at ${url}`)
    if (portalUrl !== undefined) tell(`the portal is at ${portalUrl}`)
  })
}

/**
 * Runs a gateway to the configured clusters, and calls `announce` when it listens. Returns after the signal has
 * aborted. `routes` are further paths of its server.
 */
export async function runGateway(
  context: CommandContext,
  announce: (server: Pick<GraphQLServer, 'url' | 'portalUrl'>) => void,
  routes: Routes = {},
): Promise<void> {
  const { config, log, signal } = context
  // Checks early, before slow work. The server checks again.
  const { mode, login } = config.auth
  const asksWho = isAuthenticated(config)
  checkAddress(config.server, asksWho)
  checkExec(context, asksWho)
  const { introspection = isLoopback(config.server.host) && !asksWho } = config
  const archive = archiveOptionsOf(config.archive)
  const { share } = config
  const options = {
    ...gatewayOptionsOf({ ...config, introspection }),
    ...present({ archive }),
    ...(share.address === undefined ? {} : { share }),
  }
  const metrics =
    config.server.metricsPort !== undefined || config.server.metricsOnApiPort
      ? new GatewayMetrics({ process: true })
      : undefined
  // Disposed of after the gateway, so that it records everything.
  const { file, required } = config.audit
  const failed = (): void => metrics?.server.auditFailed()
  await using audit =
    file === undefined ? null : await AuditLog.open({ file, required, log, failed })
  const traces = new GatewayTraces()
  const { allow, ...bounds } = config.exec
  const observed = {
    traces,
    ...(metrics === undefined ? {} : { metrics }),
    ...(audit === null ? {} : { audit }),
  }
  await using gateway = await openGateway({ ...options, ...observed, log, signal })
  // Disposed of before the gateway that it uses. It answers probes while the gateway starts, however long that takes.
  await using server = await startGraphQLServer({
    server: config.server,
    plugins: [gateway.plugin],
    planned: gateway.planned,
    authenticator: gateway.authenticator(config.auth),
    metrics,
    traces,
    ...(audit === null ? {} : { refusal: audit.refusal }),
    observer: serverObserverOf([metrics?.server, audit ?? undefined]),
    readiness: gateway.readiness,
    isStarted: () => gateway.isStarted,
    sdl: introspection ? () => heldSdl(gateway.schema) : undefined,
    exampleOperations,
    ...(allow === true && { exec: { ...bounds, shells: gateway.shells } }),
    portalFolder,
    routes,
    log,
  })
  try {
    await gateway.start()
  } catch (error) {
    if (!signal.aborted) throw error
    log.info(`stopping on ${String(signal.reason)}`)
    return
  }
  void followConfig(context, gateway.configureClusters)
  if (asksWho && config.server.tlsCert === undefined && !isLoopback(config.server.host)) {
    log.warn('credentials arrive unencrypted, unless only a proxy with TLS reaches this port', {
      hint: 'give server.tlsCert and server.tlsKey',
    })
  }
  if (mode === 'oidc-login' && login?.required === true && login.sessionSecretFile === undefined) {
    log.warn('sessions end when the gateway stops, and no other replica takes them', {
      hint: 'give auth.login.sessionSecretFile',
    })
  }
  if (options.allowWrites === true && !asksWho && !isLoopback(config.server.host)) {
    log.warn("everyone who reaches this port may write, with the gateway's own credentials", {
      hint: 'authenticate callers (--auth), or leave out --allow-writes',
    })
  }
  announce(server)
  if (server.metricsUrl !== undefined) log.info(`metrics are at ${server.metricsUrl}`)
  await aborted(signal)
  log.info(`stopping on ${String(signal.reason)}`)
  // SIGINT comes from a terminal, where no load balancer needs time, and no other gateway.
  if (signal.reason !== 'SIGTERM') return
  await gateway.leave()
  await server.drain()
}

/**
 * Throws `ConfigError` if everyone who reaches the port could run commands with the gateway's own credentials. Simulated
 * containers run none.
 */
function checkExec({ config, isSimulated = false }: CommandContext, asksWho: boolean): void {
  if (config.exec.allow !== true || isSimulated || asksWho || isLoopback(config.server.host)) return
  const problem =
    "exec.allow: everyone who reaches this port could run commands in containers, with the gateway's own credentials"
  throw new ConfigError([problem], 'authenticate callers (--auth), or leave out --allow-exec')
}

/** Whether callers have to say who they are. */
export function isAuthenticated({ auth: { mode, login } }: Config): boolean {
  return mode !== 'none' && !(mode === 'oidc-login' && login?.required === false)
}

/**
 * Applies the clusters of the file after each change, the only part that can change while the gateway runs. Logs an
 * invalid configuration and keeps the previous one. Keeps it as well while the file is empty: it may be being written.
 * Logs changes of other options, which need a restart.
 */
async function followConfig(
  { config: first, followed, log, signal }: CommandContext,
  apply: (clusters: Config['clusters']) => Promise<void>,
): Promise<void> {
  if (followed === undefined) return
  const { file, load } = followed
  let config = first
  const look = (): string => stateOf(file)
  for await (const _ of changesOf(look, signal, { seen: look(), isBackground: true })) {
    let next: Config
    try {
      next = load()
    } catch (error) {
      if (error instanceof EmptyConfigFileError) {
        log.warn(`${error.message}; the previous configuration stays`)
      } else log.error(`${file} has changed and is invalid: ${(error as Error).message}`)
      continue
    }
    const others = (Object.keys(next) as (keyof Config)[]).filter(
      (option) => option !== 'clusters' && !isDeepStrictEqual(next[option], config[option]),
    )
    if (others.length > 0) {
      log.warn(`${file}: ${others.join(', ')} changed; restart to apply`)
    }
    if (!isDeepStrictEqual(next.clusters, config.clusters)) {
      log.info(`${file}: serving ${next.clusters.map(({ name }) => name).join(', ')} from now on`)
      void apply(next.clusters)
    }
    config = next
  }
}

export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}
