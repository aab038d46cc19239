/*
 * The configuration of one connection: how a caller selects a cluster, and what a kubeconfig, a pod's own account or a Secret
 * of a hub resolve to. `ClusterConfigError` tells what is wrong with it, and the way out.
 */

import { CodedError, type ErrorDetails } from '../../lib/coded-error.ts'

/** Selects a cluster. Default: kubectl's current context. */
export interface ClusterSelection {
  /** A kubeconfig file, which must exist. */
  readonly kubeconfig?: string
  readonly context?: string
  /** Replaces the cluster's address. Without the others it needs no kubeconfig. */
  readonly server?: string
}

/** A cluster in the gateway's configuration. */
export interface NamedClusterSelection extends ClusterSelection {
  readonly name: string
  /** Labels of the cluster, in Kubernetes' syntax: `{ region: 'eu', tier: 'production' }`. */
  readonly labels?: Readonly<Record<string, string>>
  /** The namespaces of this cluster to cache, instead of the setting for all clusters. */
  readonly cache?: {
    readonly namespaces?: readonly string[] | undefined
    readonly excludeNamespaces?: readonly string[] | undefined
  }
  /** Where gateways share the clusters: whether each of them holds this one. Default false. */
  readonly everywhere?: boolean
}

/** The places where clusters are searched. */
export interface ClusterConfigEnvironment {
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly homeDir: string
  /** The directory where Kubernetes mounts `token`, `ca.crt` and `namespace` into a pod. */
  readonly serviceAccountDir: string
}

/** A cluster of a kubeconfig. Data are base64, file paths are absolute. */
export interface ClusterEntry {
  readonly name: string
  readonly server: string
  readonly caData?: string
  readonly caFile?: string
  readonly tlsServerName?: string
  readonly skipTLSVerify: boolean
  readonly proxyUrl?: string
}

/** A user of a kubeconfig. Data are base64, file paths are absolute. */
export interface UserEntry {
  readonly name: string
  readonly certData?: string
  readonly certFile?: string
  readonly keyData?: string
  readonly keyFile?: string
  readonly token?: string
  readonly username?: string
  readonly password?: string
  readonly impersonateUser?: string
  /** The text of the kubeconfig, unchecked. */
  readonly exec?: unknown
  readonly authProvider?: unknown
}

/** The address of a cluster and the identity to use there. Contains only secrets that are in the files. */
export interface ClusterConfig {
  /** The origin for messages: file names, `in-cluster` or `--server`. */
  readonly source: string
  /** The context's name; `undefined` outside a kubeconfig. */
  readonly context: string | undefined
  /** `http:` or `https:`, possibly with a path, without a trailing slash. */
  readonly server: string
  /** The context's namespace, kubectl's default. */
  readonly namespace: string | undefined
  readonly cluster: ClusterEntry
  readonly user: UserEntry
  /** Labels of the context, from its extension `informerql`; absent: none. */
  readonly labels?: Readonly<Record<string, string>>
  /** Impersonation headers, in addition to `Impersonate-User`. */
  readonly impersonation: Readonly<Record<string, string | readonly string[]>>
}

/** The problem of a cluster's configuration. */
export type ClusterConfigErrorCode =
  | 'CLUSTER_NOT_FOUND'
  | 'KUBECONFIG_MISSING'
  | 'KUBECONFIG_UNREADABLE'
  | 'KUBECONFIG_INVALID'
  | 'CONTEXT_UNKNOWN'
  | 'CONTEXT_UNSET'
  | 'CLUSTER_UNKNOWN'
  | 'USER_UNKNOWN'
  | 'SERVER_INVALID'
  | 'PROXY_INVALID'
  | 'CREDENTIALS_UNSUPPORTED'
  | 'CREDENTIAL_FILE_UNREADABLE'
  | 'CERTIFICATE_INVALID'
  | 'CLIENT_CERTIFICATE_EXPIRED'
  | 'CLIENT_CERTIFICATE_NOT_YET_VALID'

/** A cluster's configuration is unusable. */
export class ClusterConfigError extends CodedError {
  // oxlint-disable-next-line no-useless-constructor -- narrows the codes
  constructor(code: ClusterConfigErrorCode, message: string, details?: ErrorDetails) {
    super(code, message, details)
  }
}

/**
 * The configuration of an address without credentials, independent of any kubeconfig: a proxy that adds credentials
 * (`kubectl proxy`), or a simulator. Throws {@link ClusterConfigError} unless it is an http or https address.
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

/** The address without a trailing slash. Throws {@link ClusterConfigError}, which calls the address `which`. */
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
