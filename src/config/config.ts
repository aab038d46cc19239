import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import {
  type AuthenticationOptions,
  authenticationOptionsSchema,
} from '../access/authentication/authentication-options.ts'
import type { CacheLimits } from '../cache/cache-bounds.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { WorkLimits } from '../query/condition/work-budget.ts'
import { type ServerOptions, serverOptionsSchema } from '../server/server-options.ts'
import {
  cacheLimitsSchema,
  documentLimitsSchema,
  type GatewayConfig,
  gatewayConfigShape,
  type LiveConfig,
  liveConfigSchema,
  workLimitsSchema,
} from './gateway-config.ts'
import {
  mergeOptions,
  type OptionPath,
  type OptionSource,
  placeOfOption,
  valueAt,
} from './option-source.ts'
import { type VariableOption, variableSource } from './variable-source.ts'
import { yamlSource } from './yaml-source.ts'

/** Options of the simulator, for `demo` and `simulate`. */
export interface SimulatorConfig {
  /** The directory of a scenario (docs/simulator.md). Absent: the company that comes with the package. */
  readonly scenario?: string | undefined
  /**
   * The number of pods; the rest of the cluster grows with it. Absent: the number of the scenario, 250 in that of the
   * package.
   */
  readonly pods?: number | undefined
  /** The same seed gives the same cluster and the same changes. */
  readonly seed: string
  /** Writes per second; 0 for none. */
  readonly eventsPerSecond: number
}

/** Options of the audit log. */
export interface AuditConfig {
  /** A file to append to, or `-` for the standard output. Absent: no audit log. */
  readonly file?: string | undefined
}

/** All options. */
export interface Config extends GatewayConfig {
  readonly server: ServerOptions
  readonly auth: AuthenticationOptions
  readonly audit: AuditConfig
  readonly simulator: SimulatorConfig
  /** The least severe level to log. */
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
}

/** The sources of a configuration. Later sources override earlier ones. */
export interface ConfigSources {
  /** A YAML file. */
  readonly file?: string | undefined
  readonly variables: Readonly<Record<string, string | undefined>>
  /** The options of the command line, with their flags. */
  readonly flags: readonly FlagOption[]
}

export interface FlagOption {
  /** `--port` */
  readonly flag: string
  readonly path: readonly string[]
  readonly value: unknown
}

/** Invalid options: a line for each, with its source, name and value. */
export class ConfigError extends CodedError {
  constructor(problems: readonly string[], hint?: string) {
    super('CONFIG', problems.join('\n'), {
      value: problems,
      ...(hint === undefined ? {} : { hint }),
    })
  }
}

const variablePrefix = 'INFORMERQL_'
/** Stands for the standard output in place of a file. */
const standardOutput = '-'
/** The variable that names the configuration file. */
const fileVariable = 'INFORMERQL_CONFIG'

const simulatorSchema: z.ZodType<SimulatorConfig> = z.strictObject({
  scenario: z.string().min(1).optional(),
  pods: z.int().min(0).max(3_000_000).optional(),
  seed: z.string().min(1).default('informerql'),
  eventsPerSecond: z.number().min(0).max(10_000).default(5),
})

const auditSchema: z.ZodType<AuditConfig> = z.strictObject({ file: z.string().min(1).optional() })

/** The option schemas of the parts, by name. Options of the gateway itself are at the top level. */
const parts = {
  documents: documentLimitsSchema,
  work: workLimitsSchema,
  cache: cacheLimitsSchema,
  live: liveConfigSchema,
  server: serverOptionsSchema,
  auth: authenticationOptionsSchema,
  audit: auditSchema,
  simulator: simulatorSchema,
}
const topLevel = {
  ...gatewayConfigShape,
  logLevel: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
}

const configSchema = z.strictObject({
  ...topLevel,
  documents: parts.documents.prefault({} as Config['documents']),
  work: parts.work.prefault({} as WorkLimits),
  cache: parts.cache.prefault({} as CacheLimits),
  live: parts.live.prefault({} as LiveConfig),
  server: parts.server.prefault({} as ServerOptions),
  audit: parts.audit.prefault({}),
  auth: parts.auth.prefault({} as AuthenticationOptions),
  simulator: parts.simulator.prefault({} as SimulatorConfig),
}) satisfies z.ZodType<Config>

/** The configuration file; `undefined` if none is given. */
export function configFileOf({
  file,
  variables,
}: Pick<ConfigSources, 'file' | 'variables'>): string | undefined {
  const named = variables[fileVariable]
  return file ?? (named === '' ? undefined : named)
}

/** Reads and checks a configuration. Throws {@link ConfigError} with all invalid options. */
export function loadConfig({ file: given, variables, flags }: ConfigSources): Config {
  const { [fileVariable]: _named, ...others } = variables
  const file = configFileOf({ file: given, variables })
  const environment = variableSource(variablePrefix, variableOptions(), others)
  const sources = [
    ...(file === undefined ? [] : [fileSource(file)]),
    environment,
    flagSource(flags),
  ]
  const result = configSchema.safeParse(mergeOptions(sources))
  const problems = [
    ...environment.unknown.map((name) => `${name}: there is no such option`),
    ...(result.success ? [] : result.error.issues.flatMap((issue) => problemsOf(issue, sources))),
  ]
  if (result.success) problems.push(...problemsBetween(result.data))
  if (result.success && problems.length === 0) return result.data
  throw new ConfigError(problems)
}

/** The problems of valid options in combination. */
function problemsBetween({ auth, server }: Config): readonly string[] {
  if (auth.mode !== 'request-header' || server.tlsClientCa !== undefined) return []
  return [
    'server.tlsClientCa: auth.mode request-header trusts only callers with a certificate of this CA',
  ]
}

function fileSource(file: string): OptionSource {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(
      [`--config ${file}: ${(error as Error).message}`],
      'name a YAML file that can be read',
    )
  }
  const source = yamlSource(file, text)
  return { ...source, values: withPathsBeside(dirname(file), source.values) }
}

/** Resolves the paths in a configuration against its folder. Leaves values of the wrong type for the check. */
function withPathsBeside(
  folder: string,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const beside = (path: unknown): unknown =>
    typeof path === 'string' ? resolve(folder, path) : path
  const { schemaFiles, schema, clusters, server, auth, audit, simulator } = values
  return {
    ...values,
    ...withFilesBeside(
      'server',
      server,
      ['trustedDocuments', 'tlsCert', 'tlsKey', 'tlsClientCa'],
      beside,
    ),
    ...withAuthFilesBeside(auth, beside),
    ...withFilesBeside('audit', audit, ['file'], (path) =>
      path === standardOutput ? path : beside(path),
    ),
    ...withFilesBeside('simulator', simulator, ['scenario'], beside),
    ...(typeof schema === 'string' ? { schema: beside(schema) } : {}),
    ...(Array.isArray(schemaFiles) ? { schemaFiles: schemaFiles.map(beside) } : {}),
    ...(Array.isArray(clusters)
      ? {
          clusters: clusters.map((one: unknown) =>
            typeof one === 'object' && one !== null && 'kubeconfig' in one
              ? { ...one, kubeconfig: beside(one.kubeconfig) }
              : one,
          ),
        }
      : {}),
  }
}

/** A part of the configuration with resolved paths. */
function withFilesBeside(
  part: string,
  given: unknown,
  names: readonly string[],
  beside: (path: unknown) => unknown,
): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return {}
  const values = given as Readonly<Record<string, unknown>>
  const files = names.filter((name) => name in values).map((name) => [name, beside(values[name])])
  return { [part]: { ...values, ...(Object.fromEntries(files) as object) } }
}

function withAuthFilesBeside(
  auth: unknown,
  beside: (path: unknown) => unknown,
): Readonly<Record<string, unknown>> {
  if (typeof auth !== 'object' || auth === null || !('oidc' in auth)) return {}
  return { auth: { ...auth, ...withFilesBeside('oidc', auth.oidc, ['caFile'], beside) } }
}

function flagSource(flags: readonly FlagOption[]): OptionSource {
  const trees = flags.map(({ path, value }) =>
    path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value),
  )
  const values = mergeOptions(
    trees.map((tree) => ({ values: tree as Record<string, unknown>, placeOf: () => undefined })),
  )
  return {
    values,
    placeOf: (path) =>
      flags.find((option) => option.path.every((name, at) => path[at] === name))?.flag,
  }
}

function problemsOf(issue: z.core.$ZodIssue, sources: readonly OptionSource[]): readonly string[] {
  const { path } = issue
  if (issue.code === 'unrecognized_keys') {
    const known = knownOptions(path)
    return issue.keys.map((key) => {
      const name = nameOf([...path, key])
      return `${placed([...path, key], sources)}${name}: there is no such option${known}`
    })
  }
  const value = valueAt(mergeOptions(sources), path)
  const shown = value === undefined ? '' : ` = ${JSON.stringify(value)}`
  const reason = issue.message.replace(/^Invalid input: /, '')
  return [`${placed(path, sources)}${nameOf(path)}${shown}: ${reason}`]
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

function knownOptions(path: OptionPath): string {
  const [part] = path
  if (path.length > 1) return ''
  const schema =
    part === undefined ? configSchema : Object.entries(parts).find(([name]) => name === part)?.[1]
  return schema instanceof z.ZodObject
    ? `; known here: ${Object.keys(schema.shape).join(', ')}`
    : ''
}

/** All options that variables can set: all except those within lists. */
export function variableOptions(): readonly VariableOption[] {
  const ofParts = Object.entries(parts).flatMap(([part, schema]) =>
    schema instanceof z.ZodObject
      ? Object.entries(schema.shape).map(([name, option]) => ({
          path: [part, name],
          type: typeOf(option),
        }))
      : [],
  )
  const ofTop = Object.entries(topLevel).map(([name, option]) => ({
    path: [name],
    type: typeOf(option),
  }))
  return [...ofParts, ...ofTop]
}

function typeOf(option: unknown): VariableOption['type'] {
  let inner = option
  while (
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodOptional
  ) {
    inner = inner.unwrap()
  }
  if (inner instanceof z.ZodString) return 'text'
  return inner instanceof z.ZodArray ? 'list' : 'other'
}
