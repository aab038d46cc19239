/*
 * The configuration of the command: a YAML file, environment variables and flags, merged and checked by one schema.
 * Durations and sizes may be written with units, paths are relative to the file, and what options say together is
 * checked last. All problems are reported at once, each with the place that set the option.
 */

import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import {
  type AuthenticationOptions,
  authenticationOptionsSchema,
} from '../access/authentication/authentication-options.ts'
import { tellsClusters } from '../cache/prometheus.ts'
import { CodedError } from '../lib/coded-error.ts'
import { parseDurationMs } from '../lib/duration.ts'
import { isRecord } from '../lib/json.ts'
import { nearestName } from '../lib/options.ts'
import { parseQuantity } from '../kubernetes/decimal.ts'
import { isLoopback } from '../server/guard/request-guard.ts'
import { execLimits, type ExecLimits, type ExecOptions } from '../server/exec/exec-options.ts'
import { type ServerOptions, serverOptionsSchema, webOrigin } from '../server/server-options.ts'
import {
  type GatewayConfig,
  gatewayConfigShape,
  gatewayParts,
  limitsSchema,
} from './gateway-config.ts'
import {
  type GivenOption,
  givenSource,
  mergeOptions,
  type OptionPath,
  type OptionSource,
  placeOfOption,
  valueAt,
  type NamedOption,
  variableSource,
  yamlSource,
} from './option-source.ts'

/** Options of the simulator, for `demo` and `simulate`. */
export interface SimulatorConfig {
  /** The directory of a scenario (docs/simulator.md). Absent: the company that comes with the package. */
  readonly scenario?: string | undefined
  /**
   * The number of pods, of all clusters together; the rest grows with it. Absent: the number of the scenario, in that of
   * the package 250 for one cluster and 700 for its fleet.
   */
  readonly pods?: number | undefined
  /** The same seed gives the same cluster and the same changes. */
  readonly seed: string
  /** Writes per second; 0 for none. */
  readonly eventsPerSecond: number
}

export interface AuditConfig {
  /** A file to append to, or `-` for the standard output. Absent: no audit log. */
  readonly file?: string | undefined
  /**
   * Whether the gateway refuses to start without the file, and to answer while lines cannot be written (AUDIT_UNAVAILABLE).
   */
  readonly required: boolean
}

/** Shells in containers, and their bounds: see `ExecOptions`. */
export interface ExecConfig extends ExecOptions {
  /**
   * Whether `/exec` opens shells in containers, with the caller's own credentials. Absent: only in the demo. See
   * docs/exec.md.
   */
  readonly allow?: boolean | undefined
}

export interface Config extends GatewayConfig {
  readonly server: ServerOptions
  readonly auth: AuthenticationOptions
  readonly audit: AuditConfig
  /** Shells in containers: see docs/exec.md. */
  readonly exec: ExecConfig
  readonly simulator: SimulatorConfig
  /** The least severe level to log. */
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** `json`: one object per line. `text`: lines for people. `auto`: text on a terminal, JSON otherwise. */
  readonly logFormat: 'auto' | 'json' | 'text'
}

/** The sources of a configuration. Later sources override earlier ones. */
export interface ConfigSources {
  /** The YAML file. Absent: the file that the variable INFORMERQL_CONFIG names, if any. */
  readonly file?: string | undefined
  /** Whether an empty file is an {@link EmptyConfigFileError}. Absent: it sets no options. */
  readonly refuseEmptyFile?: boolean
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly flags: readonly GivenOption[]
}

/** Invalid options: a line for each, with its source, name and value. */
export class ConfigError extends CodedError {
  constructor(problems: readonly string[], hint?: string) {
    super('CONFIG', problems.join('\n'), { value: problems, hint })
  }
}

/** The configuration file is empty, as it is for a moment while it is being written. */
export class EmptyConfigFileError extends ConfigError {
  constructor(file: string) {
    super([`${file} is empty`])
  }
}

const variablePrefix = 'INFORMERQL_'
/** Stands for the standard output in place of a file. */
const standardOutput = '-'
const fileVariable = 'INFORMERQL_CONFIG'

const simulatorSchema: z.ZodType<SimulatorConfig> = z.strictObject({
  scenario: z.string().min(1).optional(),
  pods: z.int().min(0).max(3_000_000).optional(),
  seed: z.string().min(1).default('informerql'),
  eventsPerSecond: z.number().min(0).max(10_000).default(5),
})

const auditSchema: z.ZodType<AuditConfig> = z.strictObject({
  file: z.string().min(1).optional(),
  required: z.boolean().default(true),
})

const execSchema = limitsSchema<ExecLimits>(execLimits, {
  allow: z.boolean().optional(),
  allowedOrigins: z.array(webOrigin).default([]),
}) as unknown as z.ZodType<ExecConfig>

/** The option schemas of the parts, by name. Options of the gateway itself are at the top level. */
const parts = {
  documents: part(gatewayParts.documents),
  work: part(gatewayParts.work),
  writes: part(gatewayParts.writes),
  cache: part(gatewayParts.cache),
  live: part(gatewayParts.live),
  logs: part(gatewayParts.logs),
  archive: part(gatewayParts.archive),
  metrics: part(gatewayParts.metrics),
  share: part(gatewayParts.share),
  server: part(serverOptionsSchema),
  auth: part(authenticationOptionsSchema),
  audit: part(auditSchema),
  exec: part(execSchema),
  simulator: part(simulatorSchema),
}
const topLevel = {
  ...gatewayConfigShape,
  logLevel: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  logFormat: z.enum(['auto', 'json', 'text']).default('auto'),
}

const configSchema = z.strictObject({ ...topLevel, ...parts }) satisfies z.ZodType<Config>

/** A part that may be absent: then all its options are. */
function part<T>(schema: z.ZodType<T>): z.ZodPrefault<z.ZodType<T>> {
  return schema.prefault({} as T)
}

export function configFileOf({
  file,
  variables,
}: Pick<ConfigSources, 'file' | 'variables'>): string | undefined {
  const named = variables[fileVariable]
  return file ?? (named === '' ? undefined : named)
}

/** Reads and checks a configuration. Throws {@link ConfigError} with all invalid options. */
export function loadConfig({
  file: named,
  refuseEmptyFile = false,
  variables,
  flags,
}: ConfigSources): Config {
  const { [fileVariable]: _named, ...others } = variables
  const file = configFileOf({ file: named, variables })
  const environment = variableSource(variablePrefix, variableOptions(), others)
  const sources = [
    ...(file === undefined ? [] : [fileSource(file, refuseEmptyFile)]),
    environment,
    givenSource(flags),
  ]
  const given = mergeOptions(sources)
  // With sources of clusters, no cluster is looked for as kubectl does unless it is named.
  const { clusters, clusterSources } = given
  const isOfSources = Array.isArray(clusterSources) && clusterSources.length > 0
  const merged = clusters === undefined && isOfSources ? { ...given, clusters: [] } : given
  const result = configSchema.safeParse(withoutUnits(configSchema, merged))
  // `--kubeconfig`, `--context` and `--server` name other clusters than a file that has some: neither can be meant to win.
  const flag = flags.find(({ path }) => path[0] === 'clusters')
  const naming = sources.filter(({ values }) => Object.hasOwn(values, 'clusters'))
  const isTwice = flag !== undefined && naming.length > 1
  const before = placeOfOption(naming.slice(0, -1), ['clusters']) ?? ''
  const twice = `${flag?.place}: ${before} already names clusters; give one or the other`
  const problems = [
    ...environment.unknown.map((name) => `${name}: there is no such option`),
    ...(isTwice ? [twice] : []),
    ...(result.success ? [] : result.error.issues.flatMap((issue) => problemsOf(issue, sources))),
  ]
  if (result.success) problems.push(...problemsBetween(result.data))
  if (result.success && problems.length === 0) return result.data
  throw new ConfigError(problems)
}

function problemsBetween(config: Config): readonly string[] {
  const { auth, server, clusters, clusterSources, share, archive, metrics } = config
  const names = clusters.map(({ name }) => name)
  const noCluster = clusters.length === 0 && clusterSources.length === 0
  const unknown = (option: string, name: string): readonly string[] => {
    if (names.includes(name)) return []
    const nearest = nearestName(name, names) ?? `one of ${names.join(', ')}`
    const way = names.length === 0 ? '' : `; give ${nearest}`
    return [`${option} = ${JSON.stringify(name)}: there is no such cluster${way}`]
  }
  const unknownOf = (option: string, given: readonly string[] = []): readonly string[] =>
    given.flatMap((name, at) => (name === '*' ? [] : unknown(`${option}[${at}]`, name)))
  const unknownHubs = clusterSources.flatMap((source, at) =>
    source.type === 'directory' ? [] : unknown(`clusterSources[${at}].hub`, source.hub),
  )
  // The clusters of sources are known later.
  const areAllNamed = clusterSources.length === 0
  const unknownClusters = [
    ...(auth.cluster !== undefined && areAllNamed ? unknown('auth.cluster', auth.cluster) : []),
    ...unknownOf('auth.tokenClusters', auth.tokenClusters),
    ...(areAllNamed ? unknownOf('auth.systemIdentityClusters', auth.systemIdentityClusters) : []),
  ]
  const isUnaddressed =
    auth.mode === 'oidc-login' && server.publicUrl === undefined && !isLoopback(server.host)
  const untrusting = auth.mode === 'request-header' && server.tlsClientCa === undefined
  const isSessionless =
    share.address !== undefined &&
    auth.mode === 'oidc-login' &&
    auth.login?.sessionSecretFile === undefined
  const isSharedByNone = share.address !== undefined && !/^postgres(ql)?:/.test(archive.url ?? '')
  const { prometheus } = metrics
  const areMany = clusters.length > 1 || clusterSources.length > 0
  const isAmbiguous = areMany && prometheus !== undefined && !tellsClusters(prometheus)
  const byCluster = 'needs the label that names the cluster, or {cluster} in metrics.prometheus.url'
  const byPostgres = 'only by a Postgres that all of them reach: postgres://…'
  const reviewing = clusters.findIndex(({ name }) => name === (auth.cluster ?? names[0]))
  const areReviewed = share.address !== undefined && auth.mode === 'token-review'
  const isReviewedByOne = areReviewed && reviewing >= 0 && clusters[reviewing]?.everywhere !== true
  const byAll = 'must be true: each gateway reviews tokens by this cluster (auth.mode token-review)'
  const address = 'needs the address at which browsers see the gateway'
  const trust = 'trusts only callers with a certificate of this CA'
  return [
    ...(noCluster ? ['clusters = []: there must be at least one, or a source of clusters'] : []),
    ...unknownHubs,
    ...unknownClusters,
    ...(isSharedByNone
      ? [`archive.url: gateways share clusters (share.address) ${byPostgres}`]
      : []),
    ...(isAmbiguous
      ? [`metrics.prometheus.clusterLabel: with several clusters it ${byCluster}`]
      : []),
    ...(isReviewedByOne ? [`clusters[${reviewing}].everywhere ${byAll}`] : []),
    ...(isUnaddressed ? [`server.publicUrl: auth.mode oidc-login ${address}`] : []),
    ...(isSessionless
      ? [
          "auth.login.sessionSecretFile: gateways that share clusters must read each other's sessions",
        ]
      : []),
    ...(untrusting ? [`server.tlsClientCa: auth.mode request-header ${trust}`] : []),
  ]
}

function fileSource(file: string, refuseEmpty: boolean): OptionSource {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const problem = `--config ${file}: ${(error as Error).message}`
    throw new ConfigError([problem], 'name a readable YAML file')
  }
  if (refuseEmpty && text.trim() === '') throw new EmptyConfigFileError(file)
  const source = yamlSource(file, text)
  const values = pathOptions.reduce<unknown>(
    (all, option) => withPathBeside(dirname(file), all, option.split('.')),
    source.values,
  )
  return { ...source, values: values as OptionSource['values'] }
}

/** The options that are paths; `*` stands for each item of a list. */
const pathOptions = [
  'schema',
  'schemaFiles.*',
  'clusters.*.kubeconfig',
  'clusterSources.*.path',
  'server.trustedDocuments',
  'server.tlsCert',
  'server.tlsKey',
  'server.tlsClientCa',
  'auth.oidc.caFile',
  'auth.login.clientSecretFile',
  'auth.login.sessionSecretFile',
  'audit.file',
  'archive.url',
  'metrics.prometheus.tokenFile',
  'simulator.scenario',
]

/** Resolves the path of an option against a folder. Leaves values of the wrong type for the check. */
function withPathBeside(folder: string, value: unknown, [step, ...rest]: string[]): unknown {
  if (step === undefined) {
    if (typeof value !== 'string' || value === standardOutput) return value
    const [, scheme = '', path = value] = /^(\w+:)(.*)$/.exec(value) ?? []
    // Of addresses, those of files have a path.
    if (scheme === '') return resolve(folder, path)
    return scheme === 'file:' ? scheme + resolve(folder, path) : value
  }
  if (step === '*') {
    return Array.isArray(value) ? value.map((one) => withPathBeside(folder, one, rest)) : value
  }
  return isRecord(value) && Object.hasOwn(value, step)
    ? { ...value, [step]: withPathBeside(folder, value[step], rest) }
    : value
}

/** Addresses that may have a password: errors leave it out. */
const withPassword: ReadonlySet<string> = new Set(['archive.url', 'metrics.prometheus.url'])

function problemsOf(issue: z.core.$ZodIssue, sources: readonly OptionSource[]): readonly string[] {
  const { path } = issue
  if (issue.code === 'unrecognized_keys') {
    const [of] = path
    const shape = of === undefined ? configSchema.shape : shapeOf(parts[of as keyof typeof parts])
    const names = path.length > 1 ? '' : Object.keys(shape).join(', ')
    const known = names === '' ? '' : `; known here: ${names}`
    return issue.keys.map((key) => {
      const name = nameOf([...path, key])
      return `${placed([...path, key], sources)}${name}: there is no such option${known}`
    })
  }
  const value = valueAt(mergeOptions(sources), path)
  const shown =
    value === undefined || withPassword.has(nameOf(path)) ? '' : ` = ${JSON.stringify(value)}`
  const reason = issue.message.replace(/^Invalid input: /, '')
  const unit = issue.code === 'invalid_type' ? (unitOf(path.at(-1))?.expected ?? '') : ''
  return [`${placed(path, sources)}${nameOf(path)}${shown}: ${reason}${unit}`]
}

function placed(path: OptionPath, sources: readonly OptionSource[]): string {
  const place = placeOfOption(sources, path)
  return place === undefined ? '' : `${place}: `
}

/** `clusters[0].context` */
function nameOf(path: OptionPath): string {
  return path
    .map((step, at) =>
      typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${String(step)}`,
    )
    .join('')
}

/** How an option may be written besides its number, by its name. */
function unitOf(name: unknown): Unit | undefined {
  return units.find(({ names }) => names.test(String(name)))
}

interface Unit {
  readonly names: RegExp
  readonly expected: string
  /** `undefined` for text in another form. */
  readonly read: (text: string) => number | undefined
}

const units: readonly Unit[] = [
  {
    names: /(?:Ms|^keep)$/,
    expected: ' of milliseconds, or a duration such as 30s, 5m or 1h30m',
    read: parseDurationMs,
  },
  {
    names: /[bB]ytes(PerUser)?$/,
    expected: ' of bytes, or a size such as 500Mi or 2Gi',
    read(text) {
      const size = parseQuantity(text)
      return size && size.sign * Number(`0.${size.digits || 0}e${size.exponent}`)
    },
  },
]

/** The options with durations and sizes as numbers. Leaves all other values for the check. */
function withoutUnits(schema: unknown, given: unknown): unknown {
  if (!isRecord(given)) return given
  const shape = shapeOf(schema)
  const entries = Object.entries(given).map(([name, value]) => {
    if (typeof value !== 'string') return [name, withoutUnits(shape[name], value)]
    const unit = Object.hasOwn(shape, name) ? unitOf(name) : undefined
    return [name, unit?.read(value) ?? value]
  })
  return Object.fromEntries(entries)
}

/** All options that variables can set: all except those within lists. */
export function variableOptions(): readonly NamedOption[] {
  const ofParts = Object.entries(parts).flatMap(([name, schema]) =>
    Object.entries(shapeOf(schema)).map(([option, type]) => ({
      path: [name, option],
      type: typeOf(type),
    })),
  )
  const ofTop = Object.entries(topLevel).map(([name, type]) => ({
    path: [name],
    type: typeOf(type),
  }))
  return [...ofParts, ...ofTop]
}

/** The options of an object, with their schemas; none of other values. */
function shapeOf(schema: unknown): Readonly<Record<string, unknown>> {
  const inner = unwrapped(schema)
  return inner instanceof z.ZodObject ? inner.shape : {}
}

function typeOf(schema: unknown): NamedOption['type'] {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodString) return 'text'
  return inner instanceof z.ZodArray ? 'list' : 'other'
}

function unwrapped(schema: unknown): unknown {
  let inner = schema
  while (
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodOptional
  ) {
    inner = inner.unwrap()
  }
  return inner
}
