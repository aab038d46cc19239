import { X509Certificate } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import {
  expiryOf,
  readTokenFile,
  tlsMaterial,
  tokenFileOf,
} from '../api-server/kubeconfig/client-certificate.ts'
import type { ClusterConfig } from '../api-server/kubeconfig/cluster-config.ts'
import { fieldsOf } from '../kubernetes/fields.ts'

/** One thing that was looked at. `skipped`: it could not be, because something before it is wrong. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'problem' | 'skipped'
  readonly message: string
  readonly code?: string
  /** The way out. */
  readonly hint?: string
}

export function unexaminedFinding(check: string, message: string): Finding {
  return { check, state: 'skipped', message }
}

/** The tokens, passwords and keys of a configuration, which no message may show. */
export function secretsOf(config: ClusterConfig): readonly string[] {
  const { token, password, keyData } = config.user
  const all = [token, password, keyData, readTokenFile(config)]
  return all.filter((secret) => secret !== undefined && secret.length > 3) as string[]
}

/** What kind of credentials a configuration has, and until when they count. Reads files, and sends nothing. */
export function credentialFindings(config: ClusterConfig): readonly Finding[] {
  const { user, cluster } = config
  const open: readonly Finding[] = cluster.skipTLSVerify
    ? [
        {
          check: 'credentials',
          state: 'warning',
          message: 'insecure-skip-tls-verify: any server at this address gets the credentials',
          hint: 'set certificate-authority in the kubeconfig',
        },
      ]
    : []
  return [...open, ofUser(config, user)]
}

function ofUser(config: ClusterConfig, user: ClusterConfig['user']): Finding {
  const { exec, authProvider } = user
  const { cert } = tlsMaterial(config)
  if (exec !== undefined && exec !== null) return ofPlugin(exec)
  const file = tokenFileOf(authProvider)
  if (file !== undefined) return ofToken(`the token in ${file}`, readTokenFile(config) ?? '')
  if (user.token !== undefined) return ofToken(`a token of user ${user.name}`, user.token)
  if (cert !== undefined) {
    const { validTo, subject } = new X509Certificate(cert)
    const name = subject.replaceAll('\n', ', ')
    return untilThen(`a client certificate of ${name}`, new Date(validTo))
  }
  if (user.username !== undefined) return found(`user name and password of ${user.username}`)
  if (authProvider !== undefined && authProvider !== null) {
    return found(`auth-provider ${String(fieldsOf(authProvider)['name'])}`)
  }
  return found('none: the server sees an anonymous user')
}

function found(message: string): Finding {
  return { check: 'credentials', state: 'ok', message }
}

function ofPlugin(exec: unknown): Finding {
  const { command, installHint } = fieldsOf(exec)
  const name = typeof command === 'string' ? command : ''
  if (isProgram(name)) return found(`the plugin ${name}`)
  return {
    check: 'credentials',
    state: 'problem',
    message: `the plugin ${JSON.stringify(name)} of the kubeconfig is not on this machine`,
    hint:
      typeof installHint === 'string'
        ? installHint
        : 'install it, or give the gateway a kubeconfig with a service account token',
  }
}

/** Whether a command is on the path, or a program at its own path. */
function isProgram(command: string): boolean {
  const folders = command.includes('/') ? [''] : (process.env['PATH'] ?? '').split(delimiter)
  return folders.some((folder) => {
    try {
      accessSync(folder === '' ? command : join(folder, command), constants.X_OK)
      return command !== ''
    } catch {
      return false
    }
  })
}

const dayMs = 86_400_000
const certificateWarningMs = 14 * dayMs
/** Tokens that are renewed live for an hour. */
const tokenWarningMs = 0

function ofToken(what: string, token: string): Finding {
  const endMs = expiryOf(token)
  return endMs === undefined ? found(what) : untilThen(what, new Date(endMs), tokenWarningMs)
}

/** Until when something counts, as a finding about `check`. */
export function untilThen(
  what: string,
  expires: Date,
  warningMs: number = certificateWarningMs,
  check = 'credentials',
): Finding {
  const leftMs = expires.getTime() - Date.now()
  const at = expires.toISOString()
  if (leftMs <= 0) {
    const message = `${what} has expired at ${at}`
    return { check, state: 'problem', message, hint: 'have it renewed' }
  }
  const message = `${what}, until ${at}`
  return leftMs < warningMs
    ? { check, state: 'warning', message, hint: 'have it renewed soon' }
    : { check, state: 'ok', message }
}
