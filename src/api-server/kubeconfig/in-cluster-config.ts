import { existsSync, readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { ClusterConfig, ClusterConfigEnvironment } from './cluster-config.ts'

/** The cluster whose pod this runs in, or why there is none. */
export function inClusterConfig({
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
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
  return {
    config: {
      source: 'in-cluster',
      context: undefined,
      server,
      namespace: readNamespace(join(serviceAccountDir, 'namespace')),
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

function readNamespace(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}
