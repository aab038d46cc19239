/*
 * The options of the gateway as a configuration has them. Numbers and their bounds stand beside the parts that they
 * are for; here they get their schema. `gatewayOptionsOf` turns a checked configuration into the options of
 * `createGateway`.
 */

import { z } from 'zod'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import {
  archiveDefaults,
  type ArchiveOptions,
  archivePlace,
  maskedField,
} from '../archive/archive-options.ts'
import type { CachedNamespaces } from '../cache/account-namespaces.ts'
import { type CacheLimits, cacheOptions } from '../cache/cache-bounds.ts'
import { isPrometheusUrl, type PrometheusOptions } from '../cache/prometheus.ts'
import type { ClusterSourceOptions } from '../gateway/fleet.ts'
import type { GatewayOptions } from '../gateway/gateway.ts'
import { isAddress, type ShareOptions } from '../gateway/sharing.ts'
import type { SchemaOptions } from '../gateway/serve-schema.ts'
import { defaultPreloadDeadlineMs } from '../gateway/preload.ts'
import { commandLineOf } from '../gateway/sources/exec-commands.ts'
import { defaultLiveLimits, type LiveLimits, liveOptions } from '../graphql/live/live-limits.ts'
import { type LogLimits, logOptions } from '../graphql/logs/log-limits.ts'
import { groupAliasHint, isGroupAlias } from '../graphql/naming/kind-name.ts'
import type { DocumentLimits } from '../graphql/documents/operation-documents.ts'
import {
  defaultCommonKinds,
  defaultProblemKinds,
  defaultOperationLimits,
  type OperationLimits,
  operationOptions,
} from '../graphql/served/served-schema.ts'
import { type WriteLimits, writeOptions } from '../graphql/writes/write-limits.ts'
import type { CodedError } from '../lib/coded-error.ts'
import { type NumberOption, type NumberOptions, present, withDefaults } from '../lib/options.ts'
import { labelsProblem, parseLabelSelector } from '../kubernetes/label-selector.ts'
import { problemRuleNames } from '../kubernetes/problems/problem-fact.ts'
import { type WorkLimits, workOptions } from '../query/condition/work-budget.ts'

/** The options of `createGateway` that a configuration has under the same name, with the same meaning. */
type SameOptions = Omit<SchemaOptions, 'indexers' | 'allowWrites'> &
  Pick<
    GatewayOptions,
    'clusters' | 'clusterSources' | 'preload' | 'preloadDeadlineMs' | 'schemaFiles'
  >

type OperationConfig = Pick<
  OperationLimits,
  | 'operationDeadlineMs'
  | 'syncDeadlineMs'
  | 'silenceMs'
  | 'liveDeadlineMs'
  | 'maxPageSize'
  | 'maxPathRows'
  | 'problemAfterMs'
>

/**
 * The options of the gateway, without those of its server: those of `createGateway` under their own names, the limits of an operation,
 * and the parts.
 */
export interface GatewayConfig extends Required<SameOptions>, OperationConfig {
  /** Whether introspection is allowed. Absent: only on loopback without authentication. */
  readonly introspection?: boolean | undefined
  /** A directory of such files. The gateway serves edits while it runs. */
  readonly schema: string | undefined
  /**
   * Whether there are mutations, which write with the caller's own credentials. Absent: only in the demo. See
   * docs/writes.md.
   */
  readonly allowWrites?: boolean | undefined
  /** Bounds of documents: see `DocumentLimits`. */
  readonly documents: Omit<DocumentLimits, 'introspection'>
  /** Bounds of the work of one operation: see `WorkLimits`. */
  readonly work: WorkLimits
  /** Bounds of the caches: see `CacheLimits`. */
  readonly cache: CacheLimits & CachedNamespaces
  /** Bounds of subscriptions: see `LiveLimits` and `OperationLimits`. */
  readonly live: LiveConfig
  /** Bounds of the logs of pods: see `LogLimits`. */
  readonly logs: LogLimits
  /** Bounds of writes: see `WriteLimits`. */
  readonly writes: WriteLimits
  readonly archive: ArchiveConfig
  /** Where the use of CPU and memory until now is read: see docs/usage.md. */
  readonly metrics: MetricsConfig
  /** Shares the clusters with other gateways: see docs/scale.md. */
  readonly share: ShareOptions
}

/** Where measurements are kept: see docs/usage.md. */
export interface MetricsConfig {
  /** A Prometheus, or what has its API. Absent: `usageHistory` knows what the gateway has measured itself. */
  readonly prometheus?: PrometheusOptions | undefined
}

/** What the caches saw, kept: see docs/archive.md. */
export interface ArchiveConfig {
  /**
   * `file:PATH`: SQLite. `postgres://…`. `memory:`: SQLite in memory, at most 64 MiB, gone with the process. `none`: no
   * archive. Absent: none, in the demo `memory:`.
   */
  readonly url?: string | undefined
  /** How long changes are kept. */
  readonly keep: number
  /** The largest size. The oldest changes go first. */
  readonly maxBytes: number
  /**
   * List fields (`pods`). Their kinds are loaded at the start and kept. Absent: those of `commonKinds` and `problemKinds`.
   */
  readonly kinds?: readonly string[] | undefined
  /** Fields whose values are not kept, by kind: `Pod:/spec/volumes/*`. A `*` is any step. */
  readonly masked: readonly string[]
  /** Whether the gateway is ready only while the archive can be written. */
  readonly required: boolean
}

/** A list of names of namespaces: RFC 1123 labels. */
const namespaces = z.array(
  z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, {
    error: 'a namespace has lower-case letters, digits and - in its name',
  }),
)

const cachedNamespaces = {
  namespaces: namespaces.min(1).optional(),
  excludeNamespaces: namespaces.optional(),
}

const labels = z.record(z.string(), z.string()).superRefine((given, context) => {
  const problem = labelsProblem(given)
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
})

const cluster = z
  .strictObject({
    name: z.string().min(1).optional(),
    kubeconfig: z.string().min(1).optional(),
    context: z.string().min(1).optional(),
    server: z.url({ protocol: /^https?$/ }).optional(),
    labels: labels.optional(),
    cache: z.strictObject(cachedNamespaces).optional(),
    everywhere: z.boolean().optional(),
  })
  .transform((given) => ({ ...given, name: given.name ?? given.context ?? 'default' }))

const named = {
  prefix: z.string().optional(),
  labels: labels.optional(),
}

const hub = {
  hub: z.string().min(1),
  namespaces: z.array(z.string().min(1)).min(1).optional(),
  labelSelector: readBy(parseLabelSelector).optional(),
  execCommands: z
    .array(
      z.string().refine((line) => commandLineOf(line) !== undefined, {
        error:
          'names no program: write a command line such as "aws eks get-token --cluster-name *"',
      }),
    )
    .optional(),
  ...named,
}

const clusterSource = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('directory'),
    path: z.string().min(1),
    contexts: z.enum(['current', 'all']).optional(),
    ...named,
  }),
  z.strictObject({ type: z.literal('argocd'), ...hub }),
  z.strictObject({ type: z.literal('cluster-api'), ...hub }),
])

const clusters = z
  .array(cluster)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, {
    error: 'two clusters have the same name; give each a name',
  })

function whole({ byDefault, least, most = Infinity }: NumberOption): z.ZodType<number> {
  return z.int().min(least).max(most).default(byDefault)
}

function numbers<T>(options: NumberOptions<T>): Readonly<Record<keyof T, z.ZodType<number>>> {
  const entries = Object.entries<NumberOption>(options)
  const shape = Object.fromEntries(entries.map(([name, option]) => [name, whole(option)]))
  return shape as Record<keyof T, z.ZodType<number>>
}

/** The schema of a part: numbers with their bounds, and others. */
export function limitsSchema<T>(
  options: NumberOptions<T>,
  others: Readonly<Record<string, z.ZodType>> = {},
): z.ZodType<T> {
  return z.strictObject({ ...numbers(options), ...others }) as unknown as z.ZodType<T>
}

export type LiveConfig = LiveLimits &
  Pick<OperationLimits, 'coalesceMs' | 'maxFrameObjects' | 'maxFrameBytes'>

const { maxTokens, maxDepth, maxFields, maxAliases, maxDirectives } = operationOptions
const { coalesceMs, maxFrameObjects, maxFrameBytes } = operationOptions
const { operationDeadlineMs, syncDeadlineMs, silenceMs, liveDeadlineMs } = operationOptions
const { maxPageSize, maxPathRows, problemAfterMs } = operationOptions
const frameOptions = { coalesceMs, maxFrameObjects, maxFrameBytes }

type GatewayPart =
  | 'documents'
  | 'work'
  | 'writes'
  | 'cache'
  | 'live'
  | 'logs'
  | 'archive'
  | 'metrics'
  | 'share'

/** Checks a text by a function that throws. */
function readBy(read: (text: string) => unknown): z.ZodType<string> {
  return z.string().superRefine((text, context) => {
    try {
      read(text)
    } catch (error) {
      const { message, hint } = error as CodedError
      context.addIssue({
        code: 'custom',
        message: hint === undefined ? message : `${message}; ${hint}`,
      })
    }
  })
}

const noArchive = 'none'

const archiveSchema: z.ZodType<ArchiveConfig> = z.strictObject({
  url: readBy((url) => url === noArchive || archivePlace(url)).optional(),
  keep: whole({ byDefault: archiveDefaults.keepMs, least: 60_000 }),
  maxBytes: whole({ byDefault: archiveDefaults.maxBytes, least: 1 << 20 }),
  kinds: z.array(z.string().min(1)).optional(),
  masked: z.array(readBy(maskedField)).default([]),
  required: z.boolean().default(false),
})

const labelName = z.string().regex(/^[a-zA-Z_]\w*$/, {
  error: 'a label of Prometheus has letters, digits and _ in its name',
})

const metricsSchema: z.ZodType<MetricsConfig> = z.strictObject({
  prometheus: z
    .strictObject({
      url: z.string().refine(isPrometheusUrl, {
        error:
          'an address has http:// or https://, no user and no query: http://prometheus.monitoring:9090',
      }),
      clusterLabel: labelName.optional(),
      nodeLabel: labelName.optional(),
      tokenFile: z.string().min(1).optional(),
      headers: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
})

/** The schemas of the options that stand in a part of their own. */
export const gatewayParts: { readonly [Part in GatewayPart]: z.ZodType<GatewayConfig[Part]> } = {
  documents: limitsSchema<GatewayConfig['documents']>({
    maxTokens,
    maxDepth,
    maxFields,
    maxAliases,
    maxDirectives,
  }),
  work: limitsSchema(workOptions),
  writes: limitsSchema(writeOptions),
  cache: limitsSchema<CacheLimits>(cacheOptions, cachedNamespaces),
  live: limitsSchema<LiveConfig>({ ...frameOptions, ...liveOptions }),
  logs: limitsSchema(logOptions),
  archive: archiveSchema,
  metrics: metricsSchema,
  share: z.strictObject({
    address: z
      .string()
      .refine(isAddress, {
        error: 'an address has http:// or https:// and no path: http://10.0.0.7:4000',
      })
      .optional(),
    caFile: z.string().min(1).optional(),
    certFile: z.string().min(1).optional(),
    keyFile: z.string().min(1).optional(),
  }),
}

const names = z.array(z.string())

const schemaParts = z.strictObject({
  groups: names.optional(),
  kinds: names.optional(),
  fields: z
    .array(
      z.string().regex(/^(?:\*|\w+)\.\w+$/, {
        error: 'a field is written like PodSpec.volumes, or *.events',
      }),
    )
    .optional(),
})

/** The options of {@link GatewayConfig} at the top level of a configuration, with their defaults. */
export const gatewayConfigShape: {
  readonly [option in Exclude<keyof GatewayConfig, GatewayPart>]: z.ZodType<GatewayConfig[option]>
} = {
  // Without undefined properties, as JSON and YAML have none.
  clusters: (clusters as z.ZodType<readonly NamedClusterSelection[]>).prefault([
    { name: 'default' },
  ]),
  clusterSources: (
    z.array(clusterSource) as unknown as z.ZodType<readonly ClusterSourceOptions[]>
  ).prefault([]),
  preload: z.array(z.string().min(1)).default([]),
  preloadDeadlineMs: whole({ byDefault: defaultPreloadDeadlineMs, least: 0, most: 3_600_000 }),
  commonKinds: z.array(z.string().min(1)).default([...defaultCommonKinds]),
  problemKinds: z.array(z.string().min(1)).default([...defaultProblemKinds]),
  problemRules: z.strictObject({ off: z.array(z.enum(problemRuleNames)).default([]) }).prefault({}),
  ...numbers({ operationDeadlineMs, syncDeadlineMs, silenceMs, liveDeadlineMs }),
  ...numbers({ maxPageSize, maxPathRows, problemAfterMs }),
  introspection: z.boolean().optional(),
  schemaFiles: z.array(z.string().min(1)).default([]),
  schema: z.string().min(1).optional(),
  aliases: z
    .record(z.string(), z.string().refine(isGroupAlias, { error: groupAliasHint }))
    .default({}),
  uncached: z.array(z.string().min(1)).default([]),
  profile: z
    .strictObject({
      include: schemaParts.optional(),
      exclude: schemaParts.optional(),
      descriptions: z.boolean().optional(),
    })
    .default({}),
  relay: z.boolean().default(false),
  federation: z.boolean().default(false),
  secretData: z.boolean().default(false),
  allowWrites: z.boolean().optional(),
  inferReferences: z.boolean().default(false),
}

/** The options of `createGateway` for a configuration, without its archive: not every command writes one. */
export function gatewayOptionsOf(config: GatewayConfig): GatewayOptions {
  const { introspection = true, documents, live, cache, writes, logs, metrics } = config
  const same = Object.keys(gatewayConfigShape)
    .filter((name) => name !== 'introspection' && !Object.hasOwn(operationOptions, name))
    .map((name) => [name, config[name as keyof GatewayConfig]])
  return {
    ...(present(Object.fromEntries(same)) as Required<SameOptions>),
    cache,
    writes,
    logs,
    ...present({ prometheus: metrics.prometheus }),
    live: withDefaults(defaultLiveLimits, live),
    limits: withDefaults(defaultOperationLimits, {
      ...config,
      ...documents,
      ...live,
      introspection,
    }),
  }
}

/** The option `archive` of `createGateway`; `undefined`: none is kept. */
export function archiveOptionsOf({
  url,
  keep,
  kinds,
  ...same
}: ArchiveConfig): ArchiveOptions | undefined {
  if (url === undefined || url === noArchive) return undefined
  return { url, keepMs: keep, ...same, ...present({ kinds }) }
}
