/*
 * Reads the Secrets in which Argo CD and Cluster API describe clusters, and makes connections from them. Errors quote only
 * addresses and names of a Secret, since they are logged and shown. A Secret may name a credential plugin only if the
 * operator allows its command line, and may not name files of the gateway.
 */

import {
  type ClusterConfig,
  ClusterConfigError,
} from '../../api-server/kubeconfig/cluster-config.ts'
import {
  type Kubeconfig,
  parseKubeconfig,
  resolveContext,
} from '../../api-server/kubeconfig/kubeconfig.ts'
import { type Fields, fieldsOf, textOf } from '../../kubernetes/fields.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { present } from '../../lib/options.ts'
import { isAllowed } from './exec-commands.ts'

export interface ClusterSecret extends KubernetesObject {
  /** Values in Base64, by key. */
  readonly data?: Readonly<Record<string, string>>
}

export interface SecretLayout {
  /** Selects the Secrets of clusters, and no others if possible. */
  readonly labelSelector: string
  /** The namespace of the Secrets by default; `undefined`: every namespace. */
  readonly namespace: string | undefined
  /** Whether a selected Secret describes a cluster. */
  readonly isCluster: (secret: ClusterSecret) => boolean
  /** The keys to keep of a Secret. */
  readonly keys: readonly string[]
  readonly nameOf: (secret: ClusterSecret) => string
  /** The namespaces that the account in the Secret sees; `undefined`: all. */
  readonly namespacesOf?: (secret: ClusterSecret) => readonly string[] | undefined
  /**
   * The connection. `undefined`: the Secret describes the hub itself. Throws {@link ClusterConfigError}, whose text quotes
   * only addresses and names of the Secret.
   */
  readonly configOf: (secret: ClusterSecret, options: SecretOptions) => ClusterConfig | undefined
}

interface SecretOptions {
  /** The command lines of credential plugins that a Secret may name. */
  readonly execCommands: readonly string[]
}

const clusterNameLabel = 'cluster.x-k8s.io/cluster-name'
/** The address by which Argo CD names the cluster that it runs in. */
const inCluster = /^https:\/\/kubernetes\.default\.svc(?::443)?\/?$/
/** The program with which Argo CD gets tokens from AWS. */
const awsCommand = 'argocd-k8s-auth'

export const secretLayouts: Readonly<Record<'argocd' | 'cluster-api', SecretLayout>> = {
  // https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/#clusters
  argocd: {
    labelSelector: 'argocd.argoproj.io/secret-type=cluster',
    namespace: 'argocd',
    isCluster: () => true,
    keys: ['name', 'server', 'config', 'namespaces'],
    nameOf: (secret) => valueOf(secret, 'name') ?? secret.metadata.name,
    namespacesOf: argoNamespaces,
    configOf: argoConfig,
  },
  // https://cluster-api.sigs.k8s.io/reference/api/labels-and-annotations and util/secret of Cluster API.
  'cluster-api': {
    labelSelector: clusterNameLabel,
    namespace: undefined,
    isCluster: ({ metadata: { name, labels } }) =>
      name === `${labels?.[clusterNameLabel]}-kubeconfig`,
    keys: ['value'],
    nameOf: ({ metadata: { name, labels } }) => labels?.[clusterNameLabel] ?? name,
    configOf: clusterApiConfig,
  },
}

function argoConfig(secret: ClusterSecret, options: SecretOptions): ClusterConfig | undefined {
  const source = sourceOf(secret)
  const server = valueOf(secret, 'server')
  if (server !== undefined && inCluster.test(server)) return undefined
  let given: Fields
  try {
    given = fieldsOf(JSON.parse(valueOf(secret, 'config') ?? '{}'))
  } catch {
    // The parser's error would quote the Secret.
    throw invalid(source, 'its "config" is not JSON')
  }
  const tls = fieldsOf(given['tlsClientConfig'])
  const cluster = {
    server,
    'insecure-skip-tls-verify': tls['insecure'],
    'certificate-authority-data': tls['caData'],
    'tls-server-name': tls['serverName'],
    'proxy-url': given['proxyUrl'],
  }
  const user = {
    token: given['bearerToken'],
    username: given['username'],
    password: given['password'],
    'client-certificate-data': tls['certData'],
    'client-key-data': tls['keyData'],
    exec: argoExec(given),
  }
  const entry = (body: Fields) => new Map([['cluster', { name: 'cluster', body, file: source }]])
  const kubeconfig: Kubeconfig = {
    files: [source],
    clusters: entry(present(cluster)),
    users: entry(present(user)),
    contexts: entry({ cluster: 'cluster', user: 'cluster' }),
    currentContext: 'cluster',
  }
  return checked(resolveContext(kubeconfig, {}), options)
}

/** The key `namespaces`, names separated by commas. Absent or empty: Argo CD manages the whole cluster. */
function argoNamespaces(secret: ClusterSecret): readonly string[] | undefined {
  const names = (valueOf(secret, 'namespaces') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.length === 0 ? undefined : [...new Set(names)].toSorted()
}

/** Argo CD's credential plugin in the form of a kubeconfig. */
function argoExec(given: Fields): Fields | undefined {
  const aws = fieldsOf(given['awsAuthConfig'])
  const eks = textOf(aws['clusterName'])
  if (eks !== undefined) {
    const [role, profile] = [textOf(aws['roleARN']), textOf(aws['profile'])]
    return {
      command: awsCommand,
      args: [
        'aws',
        '--cluster-name',
        eks,
        ...(role === undefined ? [] : ['--role-arn', role]),
        ...(profile === undefined ? [] : ['--profile', profile]),
      ],
      apiVersion: 'client.authentication.k8s.io/v1beta1',
    }
  }
  const exec = given['execProviderConfig']
  if (exec === undefined || exec === null) return undefined
  const { env, ...rest } = fieldsOf(exec)
  const variables = Object.entries(fieldsOf(env)).map(([name, value]) => ({ name, value }))
  return { ...rest, env: variables }
}

function clusterApiConfig(secret: ClusterSecret, options: SecretOptions): ClusterConfig {
  const source = sourceOf(secret)
  const text = valueOf(secret, 'value')
  if (text === undefined) throw invalid(source, 'it has no key "value"')
  let kubeconfig: Kubeconfig
  try {
    kubeconfig = parseKubeconfig(text, source)
  } catch {
    // The parser's error would quote the Secret.
    throw invalid(source, 'its "value" is not a kubeconfig')
  }
  return checked(resolveContext(kubeconfig, {}), options)
}

/**
 * Refuses a configuration by which an author of Secrets could read files of the gateway or run programs: paths, and
 * plugins with arguments and variables that the gateway's configuration does not allow.
 */
function checked(config: ClusterConfig, { execCommands }: SecretOptions): ClusterConfig {
  const { cluster, user, source } = config
  const names = ['caFile', 'certFile', 'keyFile'] as const
  const files = names.filter((name) => ({ ...cluster, ...user })[name] !== undefined)
  if (files.length > 0 || hasOf(user.authProvider)) {
    const what = hasOf(user.authProvider) ? 'an authentication provider or a token file' : 'files'
    throw unsupported(source, `it names ${what}`, 'write the credentials into the Secret')
  }
  if (!hasOf(user.exec)) return config
  const exec = fieldsOf(user.exec)
  if (isAllowed(exec, execCommands)) return config
  const command = JSON.stringify(textOf(exec['command']) ?? '')
  const hint = `write the whole command line of ${command} into execCommands of the source, and install it beside the gateway; or use a token`
  throw unsupported(
    source,
    `its credentials come from the program ${command}, called in a way that execCommands does not allow`,
    hint,
  )
}

function hasOf(value: unknown): boolean {
  return value !== undefined && value !== null
}

function unsupported(source: string, problem: string, hint: string): ClusterConfigError {
  return new ClusterConfigError('CREDENTIALS_UNSUPPORTED', `${source}: ${problem}`, { hint })
}

function invalid(source: string, problem: string): ClusterConfigError {
  return new ClusterConfigError('KUBECONFIG_INVALID', `${source}: ${problem}`, {
    hint: 'correct the Secret: the gateway reads it again when it changes',
  })
}

function sourceOf({ metadata: { namespace, name } }: ClusterSecret): string {
  return `Secret ${namespace ?? ''}/${name}`
}

function valueOf({ data }: ClusterSecret, key: string): string | undefined {
  const value = data?.[key]
  if (typeof value !== 'string') return undefined
  const text = Buffer.from(value, 'base64').toString('utf8').trim()
  return text === '' ? undefined : text
}
