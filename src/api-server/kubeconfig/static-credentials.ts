import { readFileSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import type { ClusterConfig, UserEntry } from './cluster-config.ts'

/** Whether credentials have to be asked for: of a plugin, or of an identity provider. */
export function needsAuthenticator({ exec, authProvider }: UserEntry): boolean {
  if (exec !== undefined && exec !== null) return true
  return (
    authProvider !== undefined && authProvider !== null && tokenFileOf(authProvider) === undefined
  )
}

/** What a configuration itself holds, or names files of: TLS material, a token, a name with its password. */
export function staticCredentials({ cluster, user }: ClusterConfig): RequestOptions {
  const token = user.token ?? readToken(user.authProvider)
  const headers: Record<string, string> = {}
  if (user.impersonateUser !== undefined) headers['Impersonate-User'] = user.impersonateUser
  if (token !== undefined && token !== '') headers['Authorization'] = `Bearer ${token}`
  const ca = material(cluster.caFile, cluster.caData)
  const cert = material(user.certFile, user.certData)
  const key = material(user.keyFile, user.keyData)
  const hasServername = cluster.tlsServerName !== undefined && cluster.tlsServerName !== ''
  return {
    headers,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(cluster.skipTLSVerify ? { rejectUnauthorized: false } : {}),
    ...(hasServername ? { servername: cluster.tlsServerName } : {}),
    ...(user.username === undefined || user.username === ''
      ? {}
      : { auth: `${user.username}:${user.password ?? ''}` }),
  }
}

function readToken(authProvider: unknown): string | undefined {
  const file = tokenFileOf(authProvider)
  return file === undefined ? undefined : readFileSync(file, 'utf8').trim()
}

function tokenFileOf(authProvider: unknown): string | undefined {
  const { config } = (authProvider ?? {}) as { config?: { tokenFile?: string } | null }
  return config?.tokenFile
}

function material(file: string | undefined, data: string | undefined): Buffer | undefined {
  if (file !== undefined && file !== '') return readFileSync(file)
  return data === undefined || data === '' ? undefined : Buffer.from(data, 'base64')
}
