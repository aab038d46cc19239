/*
 * `informerql doctor`: examines what `serve` would need with the same options, without serving. First what is on this
 * machine, then each cluster by `cluster-examination.ts`, all at once. Checks only read.
 */

import { version as nodeVersion } from 'node:process'
import { packageVersion } from '../gateway/package-version.ts'
import { boundedParallel } from '../lib/concurrency.ts'
import { DeadlineError, withDeadline } from '../lib/deadline.ts'
import {
  ClusterExamination,
  type Finding,
  unexaminedFinding,
  untilThen,
} from './cluster-examination.ts'
import { existsSync } from 'node:fs'
import { access, constants, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { examineArchive } from '../archive/examine-archive.ts'
import { createAuthenticator, issuerOf } from '../access/authentication/create-authenticator.ts'
import { IssuerKeys } from '../access/authentication/issuer.ts'
import type { Config } from '../config/config.ts'
import { archiveOptionsOf } from '../config/gateway-config.ts'
import { silentLog } from '../gateway/observers.ts'
import {
  DirectorySource,
  type DirectorySourceOptions,
} from '../gateway/sources/directory-source.ts'
import { UserSdl } from '../gateway/user-sdl.ts'
import { CodedError } from '../lib/coded-error.ts'
import { present } from '../lib/options.ts'
import { counted } from '../lib/text.ts'
import { certificateOf } from '../server/graphql-server.ts'
import { checkAddress } from '../server/guard/request-guard.ts'
import { TrustedDocuments } from '../server/guard/trusted-documents.ts'
import { portalFolder, PortalFiles } from '../server/http/portal-files.ts'
import { isAuthenticated } from './run-gateway.ts'

/** What is known of one cluster, or, in `program`, of the gateway itself. */
interface Examined {
  readonly name: string
  readonly findings: readonly Finding[]
}

/** The report of `informerql doctor --json`. */
export interface DoctorReport {
  readonly informerql: string
  readonly node: string
  readonly program: readonly Finding[]
  readonly clusters: readonly Examined[]
  readonly problems: number
  readonly warnings: number
}

const mostClusters = 8
/** For all steps of one cluster, its dry start included. */
const clusterDeadlineMs = 90_000

/**
 * Examines what the gateway needs: its configuration, and of each cluster the way to it, the credentials, the clock,
 * the versions, the rights, and a start. The signal ends it early.
 */
export async function examine(config: Config, signal: AbortSignal): Promise<DoctorReport> {
  const examining = examineProgram(config)
  const clusters = await boundedParallel(config.clusters, mostClusters, async (cluster) => {
    const examination = new ClusterExamination(cluster, config)
    const running = examination.run()
    const what = `examining ${cluster.name}`
    await withDeadline(what, running, clusterDeadlineMs, signal).catch((error: unknown) => {
      const isLate = error instanceof DeadlineError
      examination.stop(isLate ? error : new Error(`the examination ended: ${String(error)}`))
    })
    return { name: cluster.name, findings: examination.findings }
  })
  const program = await examining
  const all = [...program, ...clusters.flatMap(({ findings }) => findings)]
  const count = (state: Finding['state']): number =>
    all.filter((finding) => finding.state === state).length
  return {
    informerql: packageVersion(),
    node: nodeVersion,
    program,
    clusters,
    problems: count('problem'),
    warnings: count('warning'),
  }
}

const widthOfState = 8
const widthOfCheck = 15

/** The report for people: a line for each finding, and the way out below. */
export function reportText(report: DoctorReport): string {
  const { informerql, node, program, clusters, problems, warnings } = report
  const parts = [
    { name: `informerql ${informerql}, Node ${node}`, findings: program },
    ...clusters,
  ].map(({ name, findings }) => [name, ...findings.flatMap(linesOf), ''].join('\n'))
  const sum = `${counted(clusters.length, 'cluster')}: ${counted(problems, 'problem')}, ${counted(warnings, 'warning')}`
  return `${parts.join('\n')}\n${sum}\n`
}

function linesOf({ check, state, message, hint }: Finding): readonly string[] {
  const ahead = `  ${state.padEnd(widthOfState)} ${check.padEnd(widthOfCheck)} `
  const line = ahead + oneLine(message)
  return hint === undefined ? [line] : [line, `${' '.repeat(ahead.length)}→ ${oneLine(hint)}`]
}

/** API servers and plugins write the messages: no control character of theirs reaches the terminal. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/\p{Cc}/gu, '\u{FFFD}')
}

/** What an examination finds in order: a sentence, a finding, or nothing to look at. */
type Sound = string | Finding | undefined

interface Examination {
  readonly check: string
  /** Rejects with what would stop `serve`, or keep it from what it is configured for. */
  readonly look: (config: Config) => Sound | Promise<Sound>
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
    look: () => {
      if (source.type === 'directory') return ofDirectory(source)
      // The rights on its Secrets are examined with the hub.
      const { type, hub } = source
      return unexaminedFinding('sources', `the clusters of ${type} ${hub} are not examined`)
    },
  }))
  const found = await Promise.all(
    [...examinations, ...sources].map(async ({ check, look, hint: way }) => {
      try {
        const examining = Promise.resolve().then(() => look(config))
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
  { check: 'address', look: ofAddress },
  { check: 'tls', look: ofCertificate },
  { check: 'authentication', look: ofAuthentication },
  {
    check: 'documents',
    look({ server: { trustedDocuments: file } }) {
      if (file === undefined) return undefined
      new TrustedDocuments(file, silentLog)[Symbol.dispose]()
      return `${file} can be read`
    },
  },
  {
    check: 'portal',
    look({ server: { portal, portalViews } }) {
      if (!portal || portalViews.length === 0) return undefined
      return new PortalFiles(portalFolder, portalViews).isBuilt
        ? 'its views can be read'
        : undefined
    },
  },
  {
    check: 'schema',
    async look({ schema: directory, schemaFiles: files }) {
      const { length } = await new UserSdl({ files, directory }).read()
      return length === 0 ? undefined : `${length} files of SDL can be read`
    },
  },
  {
    check: 'audit',
    look: ({ audit: { file } }) => (file === undefined ? undefined : ofAuditFile(file)),
    hint: 'give audit.file a place where the user of this process may write, and has room',
  },
  {
    check: 'archive',
    look(config) {
      const archive = archiveOptionsOf(config.archive)
      return archive === undefined ? undefined : examineArchive(archive)
    },
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

function ofCertificate({ server }: Config): Sound {
  using certificate = certificateOf(server, silentLog)
  if (certificate?.endMs === undefined || server.tlsCert === undefined) return undefined
  return untilThen(server.tlsCert, new Date(certificate.endMs), undefined, 'tls')
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
    throw new Error(`${place} is ${isFolder ? 'a folder' : 'not a folder'}`)
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
