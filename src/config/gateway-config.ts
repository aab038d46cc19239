import { z } from 'zod'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import { type CacheLimits, defaultCacheLimits } from '../cache/cache-bounds.ts'
import type { GatewayOptions } from '../gateway/gateway.ts'
import { defaultLiveLimits, type LiveLimits } from '../graphql/live/live-limits.ts'
import type { SchemaProfile } from '../graphql/model/schema-profile.ts'
import type { GroupAliases } from '../graphql/naming/api-groups.ts'
import type { DocumentLimits } from '../graphql/documents/document-bounds.ts'
import { defaultOperationLimits, type OperationLimits } from '../graphql/served/served-schema.ts'
import { defaultWorkLimits, type WorkLimits } from '../query/condition/work-budget.ts'

/** The options of the gateway, without those of its server. */
export interface GatewayConfig {
  /** The first cluster is the default. */
  readonly clusters: readonly NamedClusterSelection[]
  /** List fields (`pods`) whose informers start with the gateway. */
  readonly preload: readonly string[]
  /** How long an operation may take until its answer, or until its subscription starts. */
  readonly operationDeadlineMs: number
  /** How long an operation waits for the first sync of its kinds. */
  readonly syncDeadlineMs: number
  /** How long a live read of the API server may take. */
  readonly liveDeadlineMs: number
  /** Largest `first`. */
  readonly maxPageSize: number
  /** The largest product of the page sizes of nested lists, in rows. */
  readonly maxPathRows: number
  /** Whether introspection is allowed. Absent: only on loopback without authentication. */
  readonly introspection?: boolean | undefined
  /** Bounds of documents: see `DocumentLimits`. */
  readonly documents: Omit<DocumentLimits, 'introspection'>
  /** Bounds of the work of one operation: see `WorkLimits`. */
  readonly work: WorkLimits
  /** Bounds of the caches: see `CacheLimits`. */
  readonly cache: CacheLimits
  /** Bounds of subscriptions: see `LiveLimits` and `OperationLimits`. */
  readonly live: LiveConfig
  /** Files of SDL with further indexes and relations. */
  readonly schemaFiles: readonly string[]
  /** A directory of such files. The gateway serves edits while it runs. */
  readonly schema: string | undefined
  /** Prefixes of API groups in names, by group. */
  readonly aliases: GroupAliases
  /** Kinds that are read live instead of cached: `apps/Deployment`, `Secret`. */
  readonly uncached: readonly string[]
  /** The part of the clusters' API that becomes the schema. */
  readonly profile: SchemaProfile
  /** Whether fields of custom kinds with names in `…Ref` become relations. */
  readonly inferReferences: boolean
  /** Whether the schema has `fetch__Pod(id:)` and `@fetchable`, for Relay. */
  readonly relay: boolean
  /** Whether Secrets have `data` and `type`, read live with the caller's token. */
  readonly secretData: boolean
}

const cluster = z
  .strictObject({
    name: z.string().min(1).optional(),
    kubeconfig: z.string().min(1).optional(),
    context: z.string().min(1).optional(),
    server: z.url({ protocol: /^https?$/ }).optional(),
  })
  .transform((given) => ({ ...given, name: given.name ?? given.context ?? 'default' }))

const clusters = z
  .array(cluster)
  .min(1)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, {
    error: 'two clusters have the same name; give each a name',
  })

const amount = (byDefault: number): z.ZodType<number> =>
  z.int().min(1_000).max(10_000_000_000).default(byDefault)

/** Checks {@link WorkLimits}. */
export const workLimitsSchema: z.ZodType<WorkLimits> = z.strictObject({
  examined: amount(defaultWorkLimits.examined),
  tests: amount(defaultWorkLimits.tests),
  rows: amount(defaultWorkLimits.rows),
  fields: amount(defaultWorkLimits.fields),
  bytes: amount(defaultWorkLimits.bytes),
})

const { maxTokens, maxDepth, maxFields, maxAliases, maxDirectives } = defaultOperationLimits

/** Checks the bounds of documents. */
export const documentLimitsSchema: z.ZodType<GatewayConfig['documents']> = z.strictObject({
  maxTokens: z.int().min(100).max(1_000_000).default(maxTokens),
  // A deeper document would overflow the stack.
  maxDepth: z.int().min(1).max(64).default(maxDepth),
  maxFields: z.int().min(1).max(1_000_000).default(maxFields),
  maxAliases: z.int().min(0).max(1_000_000).default(maxAliases),
  maxDirectives: z.int().min(0).max(1_000_000).default(maxDirectives),
})

/** Checks {@link CacheLimits}. */
export const cacheLimitsSchema: z.ZodType<CacheLimits> = z.strictObject({
  maxInformers: z.int().min(1).max(100_000).default(defaultCacheLimits.maxInformers),
  maxHeldBytes: z.int().min(1_048_576).default(defaultCacheLimits.maxHeldBytes),
  maxRecentChanges: z.int().min(0).max(10_000_000).default(defaultCacheLimits.maxRecentChanges),
  maxRecentBytes: z.int().min(0).default(defaultCacheLimits.maxRecentBytes),
  idleStopMs: z.int().min(1_000).max(2_147_483_647).default(defaultCacheLimits.idleStopMs),
})

/** The options of subscriptions. */
export type LiveConfig = LiveLimits &
  Pick<OperationLimits, 'coalesceMs' | 'maxFrameObjects' | 'maxFrameBytes'>

/** Checks {@link LiveConfig}, and holds all its defaults. */
export const liveConfigSchema: z.ZodType<LiveConfig> = z.strictObject({
  coalesceMs: z.int().min(0).max(60_000).default(defaultOperationLimits.coalesceMs),
  maxFrameObjects: z.int().min(1).max(100_000).default(defaultOperationLimits.maxFrameObjects),
  maxFrameBytes: z
    .int()
    .min(1_024)
    .max(1_073_741_824)
    .default(defaultOperationLimits.maxFrameBytes),
  maxFrames: z.int().min(1).max(1_000_000).default(defaultLiveLimits.maxFrames),
  maxBytes: z.int().min(65_536).max(1_099_511_627_776).default(defaultLiveLimits.maxBytes),
  maxHeldBytes: z.int().min(0).max(1_099_511_627_776).default(defaultLiveLimits.maxHeldBytes),
  maxHeldBytesPerUser: z
    .int()
    .min(0)
    .max(1_099_511_627_776)
    .default(defaultLiveLimits.maxHeldBytesPerUser),
})

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
  readonly [
    option in Exclude<keyof GatewayConfig, 'work' | 'cache' | 'documents' | 'live'>
  ]: z.ZodType<GatewayConfig[option]>
} = {
  // Without undefined properties, as JSON and YAML have none.
  clusters: (clusters as z.ZodType<readonly NamedClusterSelection[]>).prefault([
    { name: 'default' },
  ]),
  preload: z.array(z.string().min(1)).default([]),
  operationDeadlineMs: z
    .int()
    .min(1)
    .max(600_000)
    .default(defaultOperationLimits.operationDeadlineMs),
  introspection: z.boolean().optional(),
  syncDeadlineMs: z.int().min(1).max(600_000).default(defaultOperationLimits.syncDeadlineMs),
  liveDeadlineMs: z.int().min(1).max(600_000).default(defaultOperationLimits.liveDeadlineMs),
  maxPageSize: z.int().min(1).max(5_000).default(defaultOperationLimits.maxPageSize),
  maxPathRows: z.int().min(1).max(1_000_000_000).default(defaultOperationLimits.maxPathRows),
  schemaFiles: z.array(z.string().min(1)).default([]),
  schema: z.string().min(1).optional(),
  aliases: z.record(z.string(), z.string()).default({}),
  uncached: z.array(z.string().min(1)).default([]),
  profile: z
    .strictObject({
      include: schemaParts.optional(),
      exclude: schemaParts.optional(),
      descriptions: z.boolean().optional(),
    })
    .default({}),
  relay: z.boolean().default(false),
  secretData: z.boolean().default(false),
  inferReferences: z.boolean().default(false),
}

/** The options of `createGateway` for a configuration. */
export function gatewayOptionsOf(config: GatewayConfig): GatewayOptions {
  const { clusters: selections, preload, schemaFiles, aliases, uncached, profile, relay } = config
  const schema = config.schema === undefined ? {} : { schema: config.schema }
  const { operationDeadlineMs, syncDeadlineMs, liveDeadlineMs, maxPageSize, maxPathRows } = config
  const { introspection = true, documents, work, cache } = config
  const { coalesceMs, maxFrameObjects, maxFrameBytes, ...live } = config.live
  return {
    clusters: selections,
    preload,
    schemaFiles,
    ...schema,
    inferReferences: config.inferReferences,
    aliases,
    uncached,
    cache,
    live,
    profile,
    relay,
    secretData: config.secretData,
    limits: {
      operationDeadlineMs,
      syncDeadlineMs,
      liveDeadlineMs,
      maxPageSize,
      maxPathRows,
      work,
      coalesceMs,
      maxFrameObjects,
      maxFrameBytes,
      ...documents,
      introspection,
    },
  }
}
