import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, constants, readFile, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createAuthenticator, issuerOf } from '../access/authentication/create-authenticator.ts'
import { IssuerKeys } from '../access/authentication/issuer-keys.ts'
import type { Config } from '../config/config.ts'
import { silentLog } from '../gateway/observers.ts'
import {
  DirectorySource,
  type DirectorySourceOptions,
} from '../gateway/sources/directory-source.ts'
import { UserSdl } from '../gateway/user-sdl.ts'
import { CodedError } from '../lib/coded-error.ts'
import { withDeadline } from '../lib/deadline.ts'
import { present } from '../lib/options.ts'
import { certificateOf } from '../server/graphql-server.ts'
import { checkAddress } from '../server/guard/origin-check.ts'
import { TrustedDocuments } from '../server/guard/trusted-documents.ts'
import { portalFolder, PortalFiles } from '../server/http/portal-files.ts'
import { type Finding, unexaminedFinding, untilThen } from './credential-facts.ts'
import { isAuthenticated } from './run-gateway.ts'

/** What an examination finds in order: a sentence, a finding, or nothing to look at. */
type Sound = string | Finding | undefined

interface Examination {
  readonly check: string
  /** Rejects with what would stop `serve`, or keep it from what it is configured for. */
  readonly examine: (config: Config) => Sound | Promise<Sound>
  /** The way out of errors that name none. */
  readonly hint?: string
}

const deadlineMs = 10_000

/**
 * Examines what `serve` needs besides `clusters`, mostly by making it as `serve` does and giving it up at once, so that an
 * error here is the one that `serve` would end with. Writes no file.
 */
export async function examineProgram(config: Config): Promise<readonly Finding[]> {
  const sources = config.clusterSources.map((source): Examination => ({
    check: 'sources',
    examine: () => (source.type === 'directory' ? ofDirectory(source) : ofHub(source)),
  }))
  const found = await Promise.all(
    [...examinations, ...sources].map(async ({ check, examine, hint: way }) => {
      try {
        const examining = Promise.resolve().then(() => examine(config))
        const sound = await withDeadline(`examining ${check}`, examining, deadlineMs)
        return typeof sound === 'string' ? { check, state: 'ok' as const, message: sound } : sound
      } catch (error) {
        const { code, hint = way } = error instanceof CodedError ? error : {}
        const { message } = error as Error
        return { check, state: 'problem' as const, message, ...present({ code, hint }) }
      }
    }),
  )
  return found.filter((finding) => finding !== undefined)
}

const examinations: readonly Examination[] = [
  { check: 'address', examine: ofAddress },
  { check: 'tls', examine: ofCertificate },
  { check: 'authentication', examine: ofAuthentication },
  {
    check: 'documents',
    examine({ server: { trustedDocuments: file } }) {
      if (file === undefined) return undefined
      new TrustedDocuments(file, silentLog)[Symbol.dispose]()
      return `${file} can be read`
    },
  },
  {
    check: 'portal',
    examine({ server: { portal, portalViews } }) {
      if (!portal || portalViews.length === 0) return undefined
      return new PortalFiles(portalFolder, portalViews).isBuilt
        ? 'its views can be read'
        : undefined
    },
  },
  {
    check: 'schema',
    async examine({ schema: directory, schemaFiles: files }) {
      const { length } = await new UserSdl({ files, directory }).read()
      return length === 0 ? undefined : `${length} files of SDL can be read`
    },
  },
  {
    check: 'audit',
    examine: ({ audit: { file } }) => (file === undefined ? undefined : ofAuditFile(file)),
    hint: 'give audit.file a place where the user of this process may write, and has room',
  },
]

function ofAddress(config: Config): Sound {
  const { server, auth } = config
  checkAddress(server, isAuthenticated(config))
  if (auth.mode !== 'none' || !server.insecureNoAuth) return undefined
  return {
    check: 'address',
    state: 'warning',
    message: 'every client that reaches the gateway reads with its credentials',
    hint: 'authenticate callers: --auth token-review, oidc, oidc-login or request-header',
  }
}

async function ofCertificate({ server }: Config): Promise<Sound> {
  using certificate = certificateOf(server, silentLog)
  if (certificate === undefined || server.tlsCert === undefined) return undefined
  const { validTo } = new X509Certificate(await readFile(server.tlsCert))
  return untilThen(server.tlsCert, new Date(validTo), undefined, 'tls')
}

async function ofAuthentication({ auth }: Config): Promise<Sound> {
  if (auth.mode === 'none') return undefined
  createAuthenticator(auth, { reviewToken: () => () => Promise.reject(new Error('not asked')) })
  if (auth.mode !== 'oidc' && auth.mode !== 'oidc-login') return `callers come by ${auth.mode}`
  const { connection } = issuerOf(auth)
  await new IssuerKeys(connection).find()
  return `callers come by ${auth.mode}; ${connection.issuer} says where its keys are`
}

/** Looks at the file or, before it exists, at the folder that it will be made in. */
async function ofAuditFile(file: string): Promise<Sound> {
  if (file === '-') return 'the standard output'
  const whole = resolve(file)
  let place = whole
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place)
  const isFolder = (await stat(place)).isDirectory()
  if (isFolder === (place === whole)) {
    throw new Error(`${place} is ${isFolder ? 'a folder' : 'no folder'}`)
  }
  await access(place, constants.W_OK)
  const { bavail, blocks } = await statfs(place)
  if (bavail === 0 && blocks > 0) throw new Error(`the disk of ${place} is full`)
  return `${file} can be written`
}

async function ofDirectory(options: DirectorySourceOptions): Promise<Sound> {
  const source = new DirectorySource(options)
  for await (const { clusters, problem } of source.follow(new AbortController().signal)) {
    if (problem !== undefined) throw problem
    const named = `${source.name} names ${clusters.length} clusters, which are not examined`
    return unexaminedFinding('sources', named)
  }
  return undefined
}

/** The rights on its Secrets are examined with the hub. */
function ofHub({ type, hub }: { readonly type: string; readonly hub: string }): Sound {
  return unexaminedFinding('sources', `the clusters of ${type} ${hub} are not examined`)
}
