/*
 * What `informerql doctor` finds out about one cluster, in the order in which a start would fail: the address and the
 * network, TLS and credentials, the version, the clock, the kinds, the rights of the account, a schema and a first
 * list. A failure ends the checks that depend on it. Each finding says what to do about it.
 */

import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect } from 'node:net'
import { accountMay, type Post } from '../api-server/account-review.ts'
import { apiServerDefaults } from '../api-server/api-server.ts'
import { discover, resourcesByPreference } from '../api-server/discovery/discovery.ts'
import { readServerVersion } from '../api-server/discovery/server-features.ts'
import type {
  ClusterConfig,
  NamedClusterSelection,
} from '../api-server/kubeconfig/cluster-config.ts'
import { loadClusterConfig } from '../api-server/kubeconfig/cluster-lookup.ts'
import { requestJson } from '../api-server/transport/json-request.ts'
import { Transport } from '../api-server/transport/transport.ts'
import type { Config } from '../config/config.ts'
import { gatewayOptionsOf } from '../config/gateway-config.ts'
import { createGateway } from '../gateway/gateway.ts'
import {
  isKindOfProfile,
  type NamedResource,
  selectResources,
} from '../graphql/model/schema-profile.ts'
import { secretLayouts } from '../gateway/sources/hub-secrets.ts'
import { groupResourceOf, isBuiltInGroup, resourcePath } from '../kubernetes/api-resource.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import { CodedError } from '../lib/coded-error.ts'
import { boundedParallel } from '../lib/concurrency.ts'
import { withDeadline } from '../lib/deadline.ts'
import { nearestName, present } from '../lib/options.ts'
import { hostOf } from '../lib/url-host.ts'
import { X509Certificate } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import {
  expiryOf,
  readTokenFile,
  tlsMaterial,
  tokenFileOf,
} from '../api-server/kubeconfig/client-certificate.ts'
import { fieldsOf } from '../kubernetes/fields.ts'

const stepDeadlineMs = 10_000
/** A plugin may ask a person, or an identity provider that is far away. */
const credentialsDeadlineMs = 20_000
const startDeadlineMs = 45_000
const mostReviews = 8
const maxAnswerBytes = 16 << 20
/** A `Date` header has whole seconds. Tokens and certificates tolerate a little more. */
const clockWarningMs = 5_000
const clockProblemMs = 60_000
const slowMs = 500
/** The first version that serves OpenAPI v3 as stable. */
const leastMinor = 27
/** How many kinds it reads of. */
const mostStarted = 3
const mostNamed = 12
/** Who grants the right to read kinds, by what they are. */
const rightsHints = {
  builtIn: 'a ClusterRole with get, list and watch of these: deploy/kubernetes.yaml has one',
  custom: 'rbac.customGroups of the chart grants groups of custom resources (docs/production.md)',
  secrets:
    'rbac.secrets of the chart grants them, with their data, as RBAC knows no metadata alone; or leave them out: profile.exclude.kinds: [Secret]',
}

function rightsHintOf({ resource: { group, resource } }: NamedResource): keyof typeof rightsHints {
  if (group === '' && resource === 'secrets') return 'secrets'
  return isBuiltInGroup(group) ? 'builtIn' : 'custom'
}

const hubHint = 'rbac.clusterSecretNamespaces of the chart grants them by a Role (docs/fleet.md)'
const metadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

interface ListedOne {
  readonly items?: readonly unknown[]
  /** `remainingItemCount` is absent where nothing remains, and with a selector. */
  readonly metadata?: { readonly remainingItemCount?: number }
}

/** The examination of one cluster: step by step, until one makes the next ones pointless. */
export class ClusterExamination {
  readonly #selection: NamedClusterSelection
  readonly #options: Config
  readonly #stop = new AbortController()
  #findings: readonly Finding[] = []
  /** The tokens, passwords and keys of the configuration, which no message may show. */
  #secrets: readonly string[] = []

  constructor(selection: NamedClusterSelection, options: Config) {
    this.#selection = selection
    this.#options = options
  }

  /** What has been found so far. No message contains a token or a password of the configuration. */
  get findings(): readonly Finding[] {
    return this.#findings
  }

  /** Ends it with a reason, which becomes a problem. */
  stop(reason: Error): void {
    this.#add('examination', 'problem', reason)
    this.#stop.abort(reason)
  }

  async run(): Promise<void> {
    let config: ClusterConfig
    try {
      config = loadClusterConfig(this.#selection)
    } catch (error) {
      this.#add('configuration', 'problem', error)
      return
    }
    const { token, password, keyData } = config.user
    const secrets = [token, password, keyData, readTokenFile(config)]
    this.#secrets = secrets.filter((one) => one !== undefined && one.length > 3) as string[]
    const context = config.context === undefined ? '' : `, context ${config.context}`
    // Without its user, password and query.
    const { origin, pathname } = new URL(config.server)
    const address = pathname === '/' ? origin : origin + pathname
    this.#add('configuration', 'ok', `${config.source}${context}: ${address}`)
    for (const finding of credentialFindings(config)) this.#push(finding)
    let clockMs: number | undefined
    const transport = new Transport(
      config,
      {
        ...apiServerDefaults,
        connectDeadlineMs: stepDeadlineMs / 2,
        responseDeadlineMs: stepDeadlineMs,
        credentialsDeadlineMs,
      },
      {
        answered: (_, { date }) => {
          const at = Date.parse(date ?? '')
          clockMs = Number.isNaN(at) ? undefined : at - Date.now()
        },
        received() {},
        failed() {},
      },
    )
    try {
      if (!(await this.#reach(config, transport))) return
      this.#clock(clockMs)
      const kinds = await this.#kinds(transport)
      if (kinds === undefined) return
      await this.#rights(transport, kinds)
      await this.#hubRights(transport)
      await this.#accessRights(transport)
      await this.#start(transport, kinds)
    } finally {
      await transport.close()
    }
  }

  async #reach({ server, cluster }: ClusterConfig, transport: Transport): Promise<boolean> {
    if (cluster.proxyUrl === undefined) {
      const { hostname, port } = hostOf(new URL(server))
      try {
        this.#add('reach', 'ok', await connected(hostname, port))
      } catch (error) {
        this.#add('reach', 'problem', error, reachHint)
        return false
      }
    }
    try {
      const startedMs = performance.now()
      const answer = await this.#get(transport, '/version')
      const firstMs = performance.now() - startedMs
      const version = readServerVersion(answer)
      const againMs = performance.now()
      await this.#get(transport, '/version')
      const nextMs = Math.round(performance.now() - againMs)
      const text = `answers in ${Math.round(firstMs)} ms, and in ${nextMs} ms on an open connection`
      this.#add('reach', nextMs > slowMs ? 'warning' : 'ok', text)
      if (version === undefined) {
        this.#add('versions', 'problem', 'the answer has no version: this is not Kubernetes')
        return false
      }
      const { gitVersion, major, minor } = version
      const isOld = major === 1 && minor < leastMinor
      const old = `${gitVersion} is older than 1.${leastMinor}, which serves the API's types (OpenAPI v3)`
      this.#add('versions', isOld ? 'problem' : 'ok', isOld ? old : `Kubernetes ${gitVersion}`)
      return true
    } catch (error) {
      const code = error instanceof CodedError ? error.code : ''
      const isOfCredentials = code === 'CREDENTIALS' || code === 'API_STATUS'
      this.#add(isOfCredentials ? 'credentials' : 'reach', 'problem', error)
      return false
    }
  }

  #clock(skewMs: number | undefined): void {
    if (skewMs === undefined) {
      this.#push(unexaminedFinding('clock', 'the server sends no Date'))
      return
    }
    const off = Math.abs(skewMs)
    const seconds = Math.round(off / 1_000)
    const text = `the server's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`
    const hint = 'tokens and certificates are refused by a wrong clock: let both follow NTP'
    if (off > clockProblemMs) this.#add('clock', 'problem', text, hint)
    else if (off > clockWarningMs) this.#add('clock', 'warning', text, hint)
    else this.#add('clock', 'ok', `agrees with this machine's`)
  }

  /** The kinds that the schema would have; `undefined` if the server does not say what it serves. */
  async #kinds(transport: Transport): Promise<readonly NamedResource[] | undefined> {
    const { aliases, profile } = this.#options
    try {
      const found = await discover((path, accept) => this.#get(transport, path, accept))
      for (const { error } of found.failures) this.#add('versions', 'warning', error)
      const resources = resourcesByPreference(found)
      const { named } = selectResources(resources, { aliases, versions: {} })
      return named.filter((one) => isKindOfProfile(profile, one))
    } catch (error) {
      this.#add('rights', 'problem', error)
      return undefined
    }
  }

  /** What the account may list and watch, of the kinds of the profile. */
  async #rights(transport: Transport, kinds: readonly NamedResource[]): Promise<void> {
    const namespaces = this.#namespaces
    const denied: NamedResource[] = []
    try {
      await boundedParallel(kinds, mostReviews, async (kind) => {
        const { group, resource, namespaced, verbs = [] } = kind.resource
        const places = namespaced ? namespaces : [undefined]
        for (const verb of ['list', 'watch'].filter((one) => verbs.includes(one))) {
          for (const namespace of places) {
            if (await this.#may(transport, { group, resource, verb, namespace })) continue
            denied.push(kind)
            return
          }
        }
      })
    } catch (error) {
      this.#add('rights', 'warning', error, 'without selfsubjectaccessreviews, rights are unknown')
      return
    }
    const where = namespaces[0] === undefined ? '' : ` in ${namespaces.join(', ')}`
    const allowed = kinds.length - denied.length
    if (allowed === 0) {
      const text = `the account may list and watch none of ${kinds.length} kinds${where}`
      this.#add('rights', 'problem', text, rightsHints.builtIn)
      return
    }
    this.#add('rights', 'ok', `lists and watches ${allowed} of ${kinds.length} kinds${where}`)
    const { preload } = this.#options
    const needed = denied.filter(({ names }) => preload.includes(names.listField))
    const [first] = needed
    if (first !== undefined) {
      const text = `may not read what preload names: ${namesOf(needed)}`
      this.#add('rights', 'problem', text, rightsHints[rightsHintOf(first)])
    }
    for (const [of, hint] of Object.entries(rightsHints)) {
      const some = denied.filter((kind) => rightsHintOf(kind) === of)
      if (some.length === 0) continue
      this.#add('rights', 'warning', `may not list or watch ${namesOf(some)}`, hint)
    }
  }

  /** Whether the account may read the Secrets that name further clusters, if this cluster is a hub. */
  async #hubRights(transport: Transport): Promise<void> {
    for (const source of this.#options.clusterSources) {
      if (source.type === 'directory' || source.hub !== this.#selection.name) continue
      const { namespaces = [secretLayouts[source.type].namespace] } = source
      for (const namespace of namespaces) {
        const place = namespace === undefined ? '' : ` in namespace ${namespace}`
        const secrets = { group: '', resource: 'secrets', namespace }
        try {
          const listed = await this.#may(transport, { ...secrets, verb: 'list' })
          const may = listed && (await this.#may(transport, { ...secrets, verb: 'watch' }))
          const text = `${may ? 'lists and watches' : 'may not list and watch'} the Secrets of ${source.type}${place}`
          this.#add('sources', may ? 'ok' : 'problem', text, may ? undefined : hubHint)
        } catch (error) {
          this.#add('sources', 'warning', error)
        }
      }
    }
  }

  /** What the account needs for callers: to know who they are, and what they may see. */
  async #accessRights(transport: Transport): Promise<void> {
    const { auth, clusters } = this.#options
    if (auth.mode === 'none') return
    const isReviewer = this.#selection.name === (auth.cluster ?? clusters[0]?.name)
    const reviewsTokens =
      auth.mode === 'token-review' ||
      (auth.mode === 'oidc-login' && auth.login?.bearerTokens === 'token-review')
    const needs = [
      { group: 'authorization.k8s.io', resource: 'subjectaccessreviews', isNeeded: true },
      {
        group: 'authentication.k8s.io',
        resource: 'tokenreviews',
        isNeeded: isReviewer && reviewsTokens,
      },
    ]
    for (const { isNeeded, ...what } of needs) {
      if (!isNeeded) continue
      const may = await this.#may(transport, { ...what, verb: 'create' }).catch(() => undefined)
      if (may === undefined) continue
      const text = may ? `creates ${what.resource}` : `may not create ${what.resource}`
      const hint = 'bind the account to the ClusterRole system:auth-delegator'
      this.#add('access', may ? 'ok' : 'problem', text, may ? undefined : hint)
    }
    const rbac = { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' }
    const follows = await this.#may(transport, { ...rbac, verb: 'watch' }).catch(() => undefined)
    if (follows === false) {
      const text = 'may not watch roles and bindings: changes of permissions take effect later'
      const hint = 'a ClusterRole with list and watch of rbac.authorization.k8s.io (docs/access.md)'
      this.#add('access', 'warning', text, hint)
    }
  }

  /** Makes the schema, as `serve` would, and reads one object of a few kinds. */
  async #start(transport: Transport, kinds: readonly NamedResource[]): Promise<void> {
    const { preload, commonKinds } = this.#options
    const wanted = preload.length > 0 ? preload : commonKinds
    const served = new Set(kinds.map(({ names }) => names.listField))
    for (const field of preload.filter((one) => !served.has(one))) {
      const text = `preload has ${field}, which is the list field of no kind that this cluster serves`
      const nearest = nearestName(field, [...served])
      const way = nearest === undefined ? 'serve its CRD, or leave it out' : `give ${nearest}`
      this.#add('start', 'warning', text, way)
    }
    const read = wanted
      .flatMap((field) => kinds.find(({ names }) => names.listField === field) ?? [])
      .slice(0, mostStarted)
    const options = {
      ...gatewayOptionsOf(this.#options),
      clusters: [this.#selection],
      clusterSources: [],
      preload: [],
      signal: this.#stop.signal,
    }
    const startedMs = performance.now()
    const starting = async (): Promise<void> => {
      await using gateway = await createGateway(options)
      const types = Object.keys(gateway.schema.getTypeMap()).length
      const took = Math.round(performance.now() - startedMs)
      const { reasons } = gateway.readiness()
      this.#add('start', 'ok', `made a schema of ${types} types in ${took} ms`)
      for (const reason of reasons) this.#add('start', 'warning', reason)
    }
    await withDeadline('a dry start', starting(), startDeadlineMs, this.#stop.signal).catch(
      (error: unknown) => this.#add('start', 'problem', error),
    )
    for (const kind of read) await this.#read(transport, kind)
  }

  /** Counts the objects of a kind from the metadata of one in each place: it runs beside a gateway, in what that has left. */
  async #read(transport: Transport, { resource, names }: NamedResource): Promise<void> {
    const startedMs = performance.now()
    try {
      let count = 0
      for (const namespace of resource.namespaced ? this.#namespaces : [undefined]) {
        const path = `${resourcePath(resource, present({ namespace }))}?limit=1`
        const list = await this.#get(transport, path, metadataList)
        const { items, metadata } = list as ListedOne
        count += (items?.length ?? 0) + (metadata?.remainingItemCount ?? 0)
      }
      const took = Math.round(performance.now() - startedMs)
      this.#add(
        'start',
        'ok',
        `listed ${names.listField}: ${count} objects, the first in ${took} ms`,
      )
    } catch (error) {
      const isRefused = error instanceof ApiStatusError && error.httpStatus === 403
      this.#add('start', isRefused ? 'warning' : 'problem', error)
    }
  }

  /** The namespaces that the caches are for; `undefined`: all. */
  get #namespaces(): readonly (string | undefined)[] {
    const cached = this.#selection.cache?.namespaces ?? this.#options.cache.namespaces
    return cached?.slice(0, mostNamed) ?? [undefined]
  }

  #may(transport: Transport, attributes: Parameters<typeof accountMay>[1]): Promise<boolean> {
    const post: Post = (path, body) =>
      requestJson(transport, 'POST', path, { body, ...this.#bounds })
    return accountMay(post, attributes)
  }

  #get(transport: Transport, path: string, accept = 'application/json'): Promise<unknown> {
    return requestJson(transport, 'GET', path, { accept, ...this.#bounds })
  }

  get #bounds(): { deadlineMs: number; maxBytes: number; signal: AbortSignal } {
    const deadlineMs = stepDeadlineMs + credentialsDeadlineMs
    return { deadlineMs, maxBytes: maxAnswerBytes, signal: this.#stop.signal }
  }

  #add(check: string, state: Finding['state'], what: unknown, way?: string): void {
    const message = what instanceof Error ? what.message : String(what)
    const { code, hint = way } = what instanceof CodedError ? what : {}
    this.#push({ check, state, message, ...present({ code, hint }) })
  }

  #push(finding: Finding): void {
    if (this.#stop.signal.aborted) return
    const without = (text: string): string =>
      this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text)
    const { message, hint } = finding
    const shown = { ...finding, message: without(message) }
    this.#findings = [
      ...this.#findings,
      hint === undefined ? shown : { ...shown, hint: without(hint) },
    ]
  }
}

const reachHint =
  'check the address and the DNS of this machine, its network policies and firewalls'

/** Looks the host up and opens a connection: `10.0.0.1:6443 in 3 ms`. */
async function connected(host: string, port: number): Promise<string> {
  const startedMs = performance.now()
  const { address } = await withDeadline(`looking up ${host}`, lookup(host), stepDeadlineMs)
  const foundMs = performance.now()
  const socket = connect({ host: address, port })
  try {
    await withDeadline(
      `connecting to ${address}, port ${port},`,
      once(socket, 'connect'),
      stepDeadlineMs,
    )
  } finally {
    socket.on('error', () => {})
    socket.destroy()
  }
  const [name, tcp] = [foundMs - startedMs, performance.now() - foundMs].map(Math.round)
  const found = address === host ? '' : `${host} is ${address}, found in ${name} ms; `
  return `${found}port ${port} is open, in ${tcp} ms`
}

function namesOf(kinds: readonly NamedResource[]): string {
  const names = kinds.map(({ resource }) => groupResourceOf(resource)).toSorted()
  const more = names.length > mostNamed ? `, and ${names.length - mostNamed} more` : ''
  return names.slice(0, mostNamed).join(', ') + more
}

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

/** What kind of credentials a configuration has, and until when they count. Reads files, and sends nothing. */
function credentialFindings(config: ClusterConfig): readonly Finding[] {
  const open: Finding = {
    check: 'credentials',
    state: 'warning',
    message: 'insecure-skip-tls-verify: any server at this address gets the credentials',
    hint: 'set certificate-authority in the kubeconfig',
  }
  return [...(config.cluster.skipTLSVerify ? [open] : []), ofUser(config)]
}

function ofUser(config: ClusterConfig): Finding {
  const { user } = config
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
  if (user.username !== undefined) return sound(`user name and password of ${user.username}`)
  if (authProvider !== undefined && authProvider !== null) {
    return sound(`auth-provider ${String(fieldsOf(authProvider)['name'])}`)
  }
  return sound('none: the server sees an anonymous user')
}

function sound(message: string): Finding {
  return { check: 'credentials', state: 'ok', message }
}

function ofPlugin(exec: unknown): Finding {
  const { command, installHint } = fieldsOf(exec)
  const name = typeof command === 'string' ? command : ''
  // On the path, or a program at its own path.
  const folders = name.includes('/') ? [''] : (process.env['PATH'] ?? '').split(delimiter)
  const isProgram = folders.some((folder) => {
    try {
      accessSync(folder === '' ? name : join(folder, name), constants.X_OK)
      return name !== ''
    } catch {
      return false
    }
  })
  if (isProgram) return sound(`the plugin ${name}`)
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

const dayMs = 86_400_000
const certificateWarningMs = 14 * dayMs
/** Tokens that are renewed live for an hour. */
const tokenWarningMs = 0

function ofToken(what: string, token: string): Finding {
  const endMs = expiryOf(token)
  return endMs === undefined ? sound(what) : untilThen(what, new Date(endMs), tokenWarningMs)
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
