/*
 * Reads kubeconfigs and resolves a context to a cluster and a user, as client-go does. It merges several files, resolves
 * relative paths from their file, and lets no credentials go over plain HTTP. Errors name the file and the entry.
 */

import { readFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { dirname, isAbsolute, join } from 'node:path'
import { parseDocument } from 'yaml'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../kubernetes/fields.ts'
import { labelsProblem } from '../../kubernetes/label-selector.ts'
import { isRecord } from '../../lib/json.ts'
import { present } from '../../lib/options.ts'
import {
  type ClusterConfig,
  ClusterConfigError,
  type ClusterEntry,
  type ClusterSelection,
  requireServer,
  type UserEntry,
} from './cluster-config.ts'

/** An entry of a kubeconfig's lists: its name, and its body with absolute paths. */
export interface KubeconfigEntry {
  readonly name: string
  readonly body: Fields
  /** The file that contains it. */
  readonly file: string
}

/** The contents of one or several merged kubeconfig files. */
export interface Kubeconfig {
  readonly files: readonly string[]
  readonly clusters: ReadonlyMap<string, KubeconfigEntry>
  readonly users: ReadonlyMap<string, KubeconfigEntry>
  readonly contexts: ReadonlyMap<string, KubeconfigEntry>
  readonly currentContext: string | undefined
}

/** The fields whose paths client-go resolves relative to their file. */
const pathFields: readonly string[] = [
  'certificate-authority',
  'client-certificate',
  'client-key',
  'tokenFile',
]

/** Reads a file; `undefined` if it does not exist. Throws {@link ClusterConfigError}, with the line if known. */
export function readKubeconfig(file: string): Kubeconfig | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ClusterConfigError(
      'KUBECONFIG_UNREADABLE',
      `kubeconfig ${file} cannot be read: ${(error as Error).message}`,
      { value: file, cause: error, hint: 'make the file readable for the user of this process' },
    )
  }
  return parseKubeconfig(text, file)
}

/** Merges like kubectl: the first file wins for entries with the same name, and for the current context. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merge = (part: 'clusters' | 'users' | 'contexts') =>
    new Map(configs.toReversed().flatMap((config) => [...config[part]]))
  return {
    files: configs.flatMap(({ files }) => files),
    clusters: merge('clusters'),
    users: merge('users'),
    contexts: merge('contexts'),
    currentContext: configs.find(({ currentContext }) => currentContext !== undefined)
      ?.currentContext,
  }
}

/** Parses the text of a kubeconfig; `file` is its name in messages. Throws {@link ClusterConfigError}. */
export function parseKubeconfig(text: string, file: string): Kubeconfig {
  const document = parseDocument(text, { prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) {
    const line = text.slice(0, error.pos[0]).split('\n').length
    throw invalid(file, `line ${line}: ${error.message}`, error)
  }
  const root: unknown = document.toJS() ?? {}
  if (!isRecord(root)) throw invalid(file, 'it is not a mapping')
  return {
    files: [file],
    clusters: entriesOf(root, 'clusters', 'cluster', file),
    users: entriesOf(root, 'users', 'user', file),
    contexts: entriesOf(root, 'contexts', 'context', file),
    currentContext: textOf(root['current-context']),
  }
}

function entriesOf(
  root: Fields,
  list: string,
  member: string,
  file: string,
): Map<string, KubeconfigEntry> {
  const values = root[list] ?? []
  if (!Array.isArray(values)) throw invalid(file, `${list} is not a list`)
  const entries = new Map<string, KubeconfigEntry>()
  for (const [position, value] of (values as unknown[]).entries()) {
    const entry = fieldsOf(value)
    const name = textOf(entry['name'])
    if (name === undefined) throw invalid(file, `${list}[${position}] has no name`)
    const body = entry[member] ?? {}
    if (!isRecord(body)) throw invalid(file, `${list}[${position}].${member} is not a mapping`)
    if (!entries.has(name)) entries.set(name, { name, file, body: withAbsolutePaths(body, file) })
  }
  return entries
}

function withAbsolutePaths(body: Fields, file: string): Fields {
  const absolute: Record<string, unknown> = { ...body }
  const directory = dirname(file)
  for (const field of pathFields) {
    const path = body[field]
    if (typeof path === 'string' && path !== '' && !isAbsolute(path)) {
      absolute[field] = join(directory, path)
    }
  }
  const exec = body['exec']
  if (isRecord(exec) && typeof exec['command'] === 'string') {
    const { command } = exec
    // A bare name is searched in PATH; only a path is relative to the file.
    const isPath = /[/\\]/.test(command) && !isAbsolute(command)
    absolute['exec'] = { ...exec, command: isPath ? join(directory, command) : command }
  }
  return absolute
}

function invalid(file: string, problem: string, cause?: unknown): ClusterConfigError {
  return new ClusterConfigError('KUBECONFIG_INVALID', `kubeconfig ${file}: ${problem}`, {
    value: file,
    cause,
    hint: 'kubectl config view --kubeconfig FILE shows what kubectl makes of it',
  })
}

/** Resolves a context to its cluster and user. Throws {@link ClusterConfigError}. */
export function resolveContext(kubeconfig: Kubeconfig, selection: ClusterSelection): ClusterConfig {
  const context = findContext(kubeconfig, selection)
  const clusterName = textOf(context?.body['cluster'])
  const userName = textOf(context?.body['user'])
  const cluster = findEntry(kubeconfig.clusters, clusterName, 'cluster', context)
  const user = findEntry(kubeconfig.users, userName, 'user', context)
  const source = kubeconfig.files.length === 0 ? '--server' : kubeconfig.files.join(', ')
  const which = cluster === undefined ? 'the server' : `the server of cluster "${cluster.name}"`
  const address = selection.server ?? textOf(cluster?.body['server'])
  const server = requireServer(address, `${which} in ${source}`)
  const { hostname } = new URL(server)
  const isLoopback =
    hostname === 'localhost' ||
    hostname === '[::1]' ||
    (isIPv4(hostname) && hostname.startsWith('127.'))
  // Plain HTTP within the machine is as private as the machine. Credentials go there if the kubeconfig itself pairs the
  // two (kubectl never does that), but not to an address from the command line, where another user's proxy may listen.
  const isPrivate = server.startsWith('https:') || (selection.server === undefined && isLoopback)
  // `extensions: [{ name: informerql, extension: { labels: … } }]`, as kubectl keeps extensions of other programs.
  const extensions = itemsOf(context?.body['extensions'])
  const own = extensions.find(({ name }) => name === 'informerql')
  const labels = fieldsOf(fieldsOf(own?.['extension'])['labels'])
  const problem = labelsProblem(labels)
  if (problem !== undefined) {
    throw invalid(context?.file ?? '', `the labels of context "${context?.name}": ${problem}`)
  }
  const impersonation: Record<string, string | readonly string[]> = {}
  const uid = textOf(user?.body['as-uid'])
  if (uid !== undefined) impersonation['Impersonate-Uid'] = uid
  const groups = textsOf(user?.body['as-groups'])
  if (groups.length > 0) impersonation['Impersonate-Group'] = groups
  for (const [key, values] of Object.entries(user?.body['as-user-extra'] ?? {})) {
    impersonation[`Impersonate-Extra-${encodeURIComponent(key)}`] = textsOf(values)
  }
  return {
    source,
    context: context?.name,
    server,
    namespace: textOf(context?.body['namespace']),
    cluster: clusterOf(cluster, server, source),
    user: userOf(user, isPrivate),
    ...(own === undefined ? {} : { labels: labels as Readonly<Record<string, string>> }),
    impersonation,
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

function clusterOf(
  entry: KubeconfigEntry | undefined,
  server: string,
  source: string,
): ClusterEntry {
  const { name = 'cluster', body = {} } = entry ?? {}
  const cluster: ClusterEntry = {
    name,
    server,
    skipTLSVerify: body['insecure-skip-tls-verify'] === true,
    ...texts(body, {
      caData: 'certificate-authority-data',
      caFile: 'certificate-authority',
      tlsServerName: 'tls-server-name',
      proxyUrl: 'proxy-url',
    }),
  }
  const { proxyUrl } = cluster
  const protocol = URL.parse(proxyUrl ?? '')?.protocol ?? ''
  if (proxyUrl === undefined || /^(https?|socks(4a?|5h?)?):$/.test(protocol)) return cluster
  throw new ClusterConfigError(
    'PROXY_INVALID',
    `the proxy-url of cluster "${name}" in ${source} is ${JSON.stringify(proxyUrl)}`,
    { value: proxyUrl, hint: 'write it as http://HOST:PORT or socks5://HOST:PORT' },
  )
}

/** The user of an entry. Like kubectl, drops credentials for plain HTTP. */
function userOf(entry: KubeconfigEntry | undefined, isPrivate: boolean): UserEntry {
  const { name = 'anonymous', body = {} } = entry ?? {}
  const impersonation = { impersonateUser: 'as' }
  if (!isPrivate) return { name, ...texts(body, impersonation) }
  const { tokenFile, exec, 'auth-provider': authProvider } = body
  // client-go's credential plugins expect this variable, which client-node does not set.
  const info = {
    kind: 'ExecCredential',
    apiVersion: fieldsOf(exec)['apiVersion'] ?? 'client.authentication.k8s.io/v1',
    spec: { interactive: false },
  }
  const variable = { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }
  return {
    name,
    ...present({
      exec: isRecord(exec)
        ? { ...exec, env: [...itemsOf(exec['env']), variable] }
        : (exec ?? undefined),
      authProvider:
        tokenFile === undefined
          ? (authProvider ?? undefined)
          : { name: 'tokenFile', config: { tokenFile } },
    }),
    // As in client-go, a token file has precedence over a token.
    ...texts(tokenFile === undefined ? body : { ...body, token: undefined }, {
      certData: 'client-certificate-data',
      certFile: 'client-certificate',
      keyData: 'client-key-data',
      keyFile: 'client-key',
      username: 'username',
      password: 'password',
      token: 'token',
      ...impersonation,
    }),
  }
}

/** The members that exist, as texts. YAML reads a password of digits as a number. */
function texts<Names extends string>(
  body: Fields,
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

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
