import { textOf } from '../../kubernetes/fields.ts'
import { isIPv4 } from 'node:net'
import {
  type ClusterConfig,
  ClusterConfigError,
  type ClusterEntry,
  type ClusterSelection,
  requireServer,
  type UserEntry,
} from './cluster-config.ts'
import type { Kubeconfig, KubeconfigEntry } from './kubeconfig-file.ts'

/** Resolves a context to its cluster and user. Throws {@link ClusterConfigError}. */
export function resolveContext(kubeconfig: Kubeconfig, selection: ClusterSelection): ClusterConfig {
  const context = findContext(kubeconfig, selection)
  const clusterName = textOf(context?.body['cluster'])
  const userName = textOf(context?.body['user'])
  const cluster = findEntry(kubeconfig.clusters, clusterName, 'cluster', context)
  const user = findEntry(kubeconfig.users, userName, 'user', context)
  const source = kubeconfig.files.length === 0 ? '--server' : kubeconfig.files.join(', ')
  const server = serverOf(selection.server ?? textOf(cluster?.body['server']), source, cluster)
  const isPrivate =
    server.startsWith('https:') || (selection.server === undefined && isLoopback(server))
  const loaded = loadEntries(cluster, user, { server, source, isPrivate })
  return {
    source,
    context: context?.name,
    server,
    namespace: textOf(context?.body['namespace']),
    ...loaded,
    impersonation: impersonationOf(user?.body ?? {}),
  }
}

function findContext(
  { contexts, currentContext, files }: Kubeconfig,
  selection: ClusterSelection,
): KubeconfigEntry | undefined {
  const name = selection.context ?? currentContext
  const where = files.join(', ')
  const known = [...contexts.keys()].toSorted().join(', ')
  const hint = known === '' ? 'there are no contexts' : `there are: ${known}`
  if (name === undefined) {
    if (selection.server !== undefined) return undefined
    throw new ClusterConfigError('CONTEXT_UNSET', `no current-context is set in ${where}`, {
      hint: `choose one with --context; ${hint}`,
    })
  }
  const context = contexts.get(name)
  if (context !== undefined) return context
  throw new ClusterConfigError('CONTEXT_UNKNOWN', `no context "${name}" in ${where}; ${hint}`, {
    value: name,
    hint,
  })
}

function findEntry(
  entries: ReadonlyMap<string, KubeconfigEntry>,
  name: string | undefined,
  what: 'cluster' | 'user',
  context: KubeconfigEntry | undefined,
): KubeconfigEntry | undefined {
  if (name === undefined) {
    if (what === 'user' || context === undefined) return undefined
    throw new ClusterConfigError(
      'CLUSTER_UNKNOWN',
      `context "${context.name}" in ${context.file} names no cluster`,
      { value: context.name, hint: `add a cluster to the context` },
    )
  }
  const entry = entries.get(name)
  if (entry !== undefined) return entry
  const known = [...entries.keys()].toSorted().join(', ')
  throw new ClusterConfigError(
    what === 'cluster' ? 'CLUSTER_UNKNOWN' : 'USER_UNKNOWN',
    `context "${context?.name}" in ${context?.file} names the ${what} "${name}", which is not there`,
    { value: name, hint: known === '' ? `there are no ${what}s` : `there are: ${known}` },
  )
}

function serverOf(
  server: string | undefined,
  source: string,
  cluster: KubeconfigEntry | undefined,
): string {
  const which = cluster === undefined ? 'the server' : `the server of cluster "${cluster.name}"`
  return requireServer(server, `${which} in ${source}`)
}

/** The two entries, with camel-case names. */
function loadEntries(
  clusterEntry: KubeconfigEntry | undefined,
  userEntry: KubeconfigEntry | undefined,
  { server, source, isPrivate }: { server: string; source: string; isPrivate: boolean },
): { cluster: ClusterEntry; user: UserEntry } {
  const { body = {} } = clusterEntry ?? {}
  const cluster: ClusterEntry = {
    name: clusterEntry?.name ?? 'cluster',
    server,
    skipTLSVerify: body['insecure-skip-tls-verify'] === true,
    ...texts(body, {
      caData: 'certificate-authority-data',
      caFile: 'certificate-authority',
      tlsServerName: 'tls-server-name',
      proxyUrl: 'proxy-url',
    }),
  }
  checkProxy(cluster, source)
  const userBody = isPrivate ? userBodyOf(userEntry) : plainUserBodyOf(userEntry)
  const { exec, 'auth-provider': authProvider } = userBody
  const user: UserEntry = {
    name: userEntry?.name ?? 'anonymous',
    ...(exec === undefined || exec === null ? {} : { exec }),
    ...(authProvider === undefined || authProvider === null ? {} : { authProvider }),
    ...texts(userBody, {
      certData: 'client-certificate-data',
      certFile: 'client-certificate',
      keyData: 'client-key-data',
      keyFile: 'client-key',
      token: 'token',
      username: 'username',
      password: 'password',
      impersonateUser: 'as',
    }),
  }
  return { cluster, user }
}

/** The members that exist, as texts. YAML reads a password of digits as a number. */
function texts<Names extends string>(
  body: Readonly<Record<string, unknown>>,
  names: Readonly<Record<Names, string>>,
): Partial<Record<Names, string>> {
  const found: Record<string, string> = {}
  for (const [name, member] of Object.entries<string>(names)) {
    const value = body[member]
    if (typeof value === 'number' || typeof value === 'boolean') found[name] = String(value)
    else if (typeof value === 'string' && value !== '') found[name] = value
  }
  return found as Partial<Record<Names, string>>
}

function checkProxy({ name, proxyUrl }: ClusterEntry, source: string): void {
  if (
    proxyUrl === undefined ||
    /^(https?|socks(4a?|5h?)?):$/.test(URL.parse(proxyUrl)?.protocol ?? '')
  )
    return
  throw new ClusterConfigError(
    'PROXY_INVALID',
    `the proxy-url of cluster "${name}" in ${source} is ${JSON.stringify(proxyUrl)}`,
    { value: proxyUrl, hint: 'write it as http://HOST:PORT or socks5://HOST:PORT' },
  )
}

/**
 * Whether plain HTTP is as private as the machine. Credentials are sent there if the kubeconfig itself pairs the two
 * (kubectl never does that), but not to an address from the command line, where another user's proxy may listen.
 */
function isLoopback(server: string): boolean {
  const { hostname } = new URL(server)
  return (
    hostname === 'localhost' ||
    hostname === '[::1]' ||
    (isIPv4(hostname) && hostname.startsWith('127.'))
  )
}

/** Like kubectl, sends no credentials over plain HTTP. */
function plainUserBodyOf(entry: KubeconfigEntry | undefined): Readonly<Record<string, unknown>> {
  const as = entry?.body['as']
  return as === undefined ? {} : { as }
}

function userBodyOf(entry: KubeconfigEntry | undefined): Readonly<Record<string, unknown>> {
  const { tokenFile, token, ...body } = entry?.body ?? {}
  const exec = body['exec'] as ExecEntry | null | undefined
  return {
    ...body,
    // As in client-go, a token file takes precedence over a token.
    ...(tokenFile === undefined
      ? { token }
      : { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } }),
    ...(typeof exec === 'object' && exec !== null ? { exec: withExecInfo(exec) } : {}),
  }
}

interface ExecEntry {
  readonly apiVersion?: string
  readonly env?: readonly object[] | null
}

/** client-go's credential plugins expect this variable, which client-node does not set. */
function withExecInfo(exec: ExecEntry): object {
  const info = {
    kind: 'ExecCredential',
    apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1',
    spec: { interactive: false },
  }
  const variable = { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }
  return { ...exec, env: [...(exec.env ?? []), variable] }
}

function impersonationOf(
  body: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string | readonly string[]>> {
  const headers: Record<string, string | readonly string[]> = {}
  const uid = textOf(body['as-uid'])
  if (uid !== undefined) headers['Impersonate-Uid'] = uid
  const groups = textsOf(body['as-groups'])
  if (groups.length > 0) headers['Impersonate-Group'] = groups
  for (const [key, values] of Object.entries(body['as-user-extra'] ?? {})) {
    headers[`Impersonate-Extra-${encodeURIComponent(key)}`] = textsOf(values)
  }
  return headers
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
