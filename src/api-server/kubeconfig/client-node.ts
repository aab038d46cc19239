import type { RequestOptions } from 'node:https'
import { CodedError } from '../../lib/coded-error.ts'
import type { ClusterEntry, UserEntry } from './cluster-config.ts'

const name = '@kubernetes/client-node'

/** A kubeconfig needs the package `@kubernetes/client-node`, which is optional and not installed. */
export class MissingPackageError extends CodedError {
  constructor(use: string, cause: unknown) {
    super('MISSING_PACKAGE', `${use} needs the package ${name}, which is not installed`, {
      value: name,
      cause,
      hint: `npm install ${name}`,
    })
  }
}

/** The used part of client-node's `KubeConfig`. */
export interface ClientNodeConfig {
  /** Adds credentials, TLS material and the proxy's agent. */
  applyToHTTPSOptions(options: RequestOptions): Promise<void>
}

/**
 * A cluster and a user in client-node, which is loaded only for credential plugins, identity providers and proxies.
 * `use`: the feature that needs it. Rejects with {@link MissingPackageError} if client-node is not installed.
 */
export async function clientNodeConfig(
  use: string,
  cluster: ClusterEntry,
  user: UserEntry,
): Promise<ClientNodeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node').catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)
    throw isMissing ? new MissingPackageError(use, error) : error
  })
  const config = new KubeConfig()
  // client-node refuses plain HTTP while it checks certificates. Plain HTTP has none to check.
  const isPlain = cluster.server.startsWith('http:')
  config.loadFromClusterAndUser(isPlain ? { ...cluster, skipTLSVerify: true } : cluster, user)
  return config
}
