/** Which cluster is meant. Without any of them: kubectl's current context. */
export interface ClusterSelection {
  /** A kubeconfig file; must exist. */
  readonly kubeconfig?: string
  readonly context?: string
  /** Instead of the cluster's own address; alone it needs no kubeconfig. */
  readonly server?: string
}

/** A cluster of the gateway's configuration. */
export interface NamedClusterSelection extends ClusterSelection {
  readonly name: string
}

/** Where clusters are looked for. */
export interface ClusterConfigEnvironment {
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly homeDir: string
  /** Where Kubernetes mounts `token`, `ca.crt` and `namespace` into a pod. */
  readonly serviceAccountDir: string
}

/** A cluster of a kubeconfig: data are base64, files are absolute. */
export interface ClusterEntry {
  readonly name: string
  readonly server: string
  readonly caData?: string
  readonly caFile?: string
  readonly tlsServerName?: string
  readonly skipTLSVerify: boolean
  readonly proxyUrl?: string
}

/** A user of a kubeconfig: data are base64, files are absolute. */
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
  /** As it stands in the kubeconfig. */
  readonly exec?: unknown
  readonly authProvider?: unknown
}

/** The address of one cluster, and who to be there. Holds no secret that the files do not. */
export interface ClusterConfig {
  /** Where it comes from, for messages: file names, `in-cluster` or `--server`. */
  readonly source: string
  /** The context's name; `undefined` outside a kubeconfig. */
  readonly context: string | undefined
  /** `http:` or `https:`, perhaps with a path, without a slash at its end. */
  readonly server: string
  /** The context's namespace, for those who want kubectl's default. */
  readonly namespace: string | undefined
  readonly cluster: ClusterEntry
  readonly user: UserEntry
  /** Headers beyond `Impersonate-User`. */
  readonly impersonation: Readonly<Record<string, string | readonly string[]>>
}
