import { ClusterConfigError } from './cluster-config-error.ts'
import type { ClusterConfig } from './cluster-config.ts'

/**
 * This address and no credentials, whatever kubeconfig there may be: a proxy that adds its own (`kubectl proxy`), or a
 * simulator. Throws {@link ClusterConfigError} for anything but an http or https address.
 */
export function serverConfig(address: string): ClusterConfig {
  const server = requireServer(address, 'the server')
  return {
    source: server,
    context: undefined,
    server,
    namespace: undefined,
    cluster: { name: 'cluster', server, skipTLSVerify: false },
    user: { name: 'anonymous' },
    impersonation: {},
  }
}

/** The address without a slash at its end. Throws {@link ClusterConfigError}; `which` names it there. */
export function requireServer(address: string | undefined, which: string): string {
  const server = address?.replace(/\/+$/, '') ?? ''
  const url = URL.parse(server)
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) return server
  throw new ClusterConfigError(
    'SERVER_INVALID',
    `${which} is ${JSON.stringify(address ?? null)}, not an http or https address`,
    { value: address, hint: 'write it as https://HOST:PORT' },
  )
}
