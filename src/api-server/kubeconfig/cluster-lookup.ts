/*
 * Finds the cluster of a program as kubectl does: by a given kubeconfig, the files of `KUBECONFIG`, `~/.kube/config`, or
 * the service account of the pod. If there is none, the error lists everything that was tried.
 */

import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { checkTlsMaterial } from './client-certificate.ts'
import {
  type ClusterConfig,
  type ClusterConfigEnvironment,
  ClusterConfigError,
  type ClusterSelection,
} from './cluster-config.ts'
import { type Kubeconfig, mergeKubeconfigs, readKubeconfig, resolveContext } from './kubeconfig.ts'
import { existsSync, readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'

/**
 * Finds a cluster in the first of these that exists: the given kubeconfig, the merged files of `KUBECONFIG`,
 * `~/.kube/config`, the service account of the pod. Reads and checks certificates. Throws {@link ClusterConfigError},
 * which lists everything that was tried; never guesses an address.
 */
export function loadClusterConfig(
  selection: ClusterSelection = {},
  environment: ClusterConfigEnvironment = {
    variables: process.env,
    homeDir: homedir(),
    serviceAccountDir: '/var/run/secrets/kubernetes.io/serviceaccount',
  },
): ClusterConfig {
  const config = findClusterConfig(selection, environment)
  checkTlsMaterial(config)
  return config
}

function findClusterConfig(
  selection: ClusterSelection,
  environment: ClusterConfigEnvironment,
): ClusterConfig {
  const { kubeconfig, tried } = findKubeconfig(selection, environment)
  if (kubeconfig !== undefined) return resolveContext(kubeconfig, selection)
  if (selection.context === undefined) {
    // The token of another cluster must not go to a server of the caller's choice.
    if (selection.server !== undefined) return resolveContext(emptyKubeconfig, selection)
    const inCluster = inClusterConfig(environment)
    if ('config' in inCluster) return inCluster.config
    tried.push(inCluster.missing)
  }
  const wanted = selection.context === undefined ? '' : ` for context "${selection.context}"`
  throw new ClusterConfigError(
    'CLUSTER_NOT_FOUND',
    `no cluster is configured${wanted}; tried: ${tried.join('; ')}`,
    {
      value: selection,
      hint: 'give --kubeconfig FILE or --server URL, or set KUBECONFIG',
    },
  )
}

const emptyKubeconfig: Kubeconfig = mergeKubeconfigs([])

/** The existing files, merged; `undefined` if they are empty. */
function findKubeconfig(
  selection: ClusterSelection,
  { variables, homeDir }: ClusterConfigEnvironment,
): { kubeconfig: Kubeconfig | undefined; tried: string[] } {
  if (selection.kubeconfig !== undefined) {
    const kubeconfig = readKubeconfig(selection.kubeconfig)
    if (kubeconfig !== undefined) return { kubeconfig, tried: [] }
    throw new ClusterConfigError(
      'KUBECONFIG_MISSING',
      `kubeconfig ${selection.kubeconfig} does not exist`,
      { value: selection.kubeconfig, hint: 'check the path given with --kubeconfig' },
    )
  }
  const listed = (variables['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '')
  const isListed = listed.length > 0
  const candidates = isListed ? listed : [join(homeDir, '.kube', 'config')]
  const origin = isListed ? 'KUBECONFIG names ' : ''
  const tried = isListed ? [] : ['KUBECONFIG is not set']
  const found: Kubeconfig[] = []
  for (const file of candidates) {
    const config = readKubeconfig(file)
    const isEmpty =
      config?.currentContext === undefined &&
      [config?.clusters, config?.users, config?.contexts].every((part) => part?.size === 0)
    if (config === undefined) tried.push(`${origin}${file}, which does not exist`)
    else if (isEmpty) tried.push(`${origin}${file}, which is empty`)
    else found.push(config)
  }
  return { kubeconfig: found.length === 0 ? undefined : mergeKubeconfigs(found), tried }
}

/** The cluster of the pod that this process runs in, or the reason why there is none. */
function inClusterConfig({
  variables,
  serviceAccountDir,
}: ClusterConfigEnvironment): { readonly config: ClusterConfig } | { readonly missing: string } {
  const host = variables['KUBERNETES_SERVICE_HOST'] ?? ''
  const port = variables['KUBERNETES_SERVICE_PORT'] ?? ''
  if (host === '' || port === '') {
    return { missing: 'not in a pod (KUBERNETES_SERVICE_HOST and _PORT are not set)' }
  }
  const tokenFile = join(serviceAccountDir, 'token')
  if (!existsSync(tokenFile)) return { missing: `no service account token at ${tokenFile}` }
  const namespaceFile = join(serviceAccountDir, 'namespace')
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
  return {
    config: {
      source: 'in-cluster',
      context: undefined,
      server,
      namespace: existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() : undefined,
      cluster: {
        name: 'in-cluster',
        server,
        caFile: join(serviceAccountDir, 'ca.crt'),
        skipTLSVerify: false,
      },
      user: {
        name: 'service-account',
        authProvider: { name: 'tokenFile', config: { tokenFile } },
      },
      impersonation: {},
    },
  }
}
