import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { checkTlsMaterial } from './client-certificate.ts'
import { ClusterConfigError } from './cluster-config-error.ts'
import type { ClusterConfig, ClusterConfigEnvironment, ClusterSelection } from './cluster-config.ts'
import { inClusterConfig } from './in-cluster-config.ts'
import { resolveContext } from './kubeconfig-context.ts'
import { mergeKubeconfigs, readKubeconfig, type Kubeconfig } from './kubeconfig-file.ts'

/** The environment of this process. */
function processEnvironment(): ClusterConfigEnvironment {
  return {
    variables: process.env,
    homeDir: homedir(),
    serviceAccountDir: '/var/run/secrets/kubernetes.io/serviceaccount',
  }
}

/**
 * Finds a cluster as kubectl does: the given kubeconfig; else the files of `KUBECONFIG`, merged; else
 * `~/.kube/config`; else the service account of the pod that this runs in. Throws {@link ClusterConfigError}, which
 * says all that was tried; never guesses an address. Certificates are read and checked, too.
 */
export function loadClusterConfig(
  selection: ClusterSelection = {},
  environment: ClusterConfigEnvironment = processEnvironment(),
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
    // A server of the caller's choice must not be sent the token of another cluster.
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

/** The merged files that there are; `undefined` when there is nothing in them. */
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
    if (config === undefined) tried.push(`${origin}${file}, which does not exist`)
    else if (isEmpty(config)) tried.push(`${origin}${file}, which is empty`)
    else found.push(config)
  }
  return { kubeconfig: found.length === 0 ? undefined : mergeKubeconfigs(found), tried }
}

function isEmpty({ clusters, users, contexts, currentContext }: Kubeconfig): boolean {
  const entries = clusters.size + users.size + contexts.size
  return entries === 0 && currentContext === undefined
}
