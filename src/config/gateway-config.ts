import { z } from 'zod'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import type { GatewayOptions } from '../gateway/gateway.ts'
import { type CacheLimits, defaultCacheLimits } from '../cache/cache-bounds.ts'
import type { DocumentLimits } from '../graphql/documents/document-bounds.ts'
import { defaultOperationLimits } from '../graphql/served/served-schema.ts'
import { defaultWorkLimits, type WorkLimits } from '../query/condition/work-budget.ts'
import type { SchemaProfile } from '../graphql/model/schema-profile.ts'
import type { GroupAliases } from '../graphql/naming/api-groups.ts'
import type { LiveConfig } from './live-config.ts'

/** What an operator configures of the gateway itself, beside its server. */
export interface GatewayConfig {
  /** The first one is the default. */
  readonly clusters: readonly NamedClusterSelection[]
  /** List fields (`pods`) whose informers start with the gateway. */
  readonly preload: readonly string[]
  /** How long an operation may take until it is answered, or until its subscription has begun. */
  readonly operationDeadlineMs: number
  /** How long an operation waits for the first sync of its kinds. */
  readonly syncDeadlineMs: number
  /** How long a read of the API server may take, where no cache serves. */
  readonly liveDeadlineMs: number
  /** Largest `first`. */
  readonly maxPageSize: number
  /** Rows that the page sizes of lists within lists may multiply to. */
  readonly maxPathRows: number
  /** Whether the schema is told to those who ask for it. Absent: only while bound to loopback and nobody is asked who they are. */
  readonly introspection?: boolean | undefined
  /** What a document may be like: see `DocumentLimits`. */
  readonly documents: Omit<DocumentLimits, 'introspection'>
  /** What one operation may cost: see `WorkLimits`. */
  readonly work: WorkLimits
  /** How much is held in memory, and for how long: see `CacheLimits`. */
  readonly cache: CacheLimits
  /** How subscriptions are answered: see `LiveLimits` and `OperationLimits`. */
  readonly live: LiveConfig
  /** Files of SDL with further indexes and relations. */
  readonly schemaFiles: readonly string[]
  /** A directory of such files. */
  readonly schema: string | undefined
  /** Prefixes of API groups in names, by group. */
  readonly aliases: GroupAliases
  /** Kinds that are never cached but read live: `apps/Deployment`, `Secret`. */
  readonly uncached: readonly string[]
  /** Which part of what the clusters serve becomes the schema. */
  readonly profile: SchemaProfile
  /** Whether fields of custom kinds that are called `…Ref` become relations. */
  readonly inferReferences: boolean
  /** Whether the schema has `fetch__Pod(id:)` and `@fetchable`, for Relay. */
  readonly relay: boolean
  /** Whether Secrets have `data` and `type`, read live as whoever asks. */
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

/** Checks what documents may be like. */
export const documentLimitsSchema: z.ZodType<GatewayConfig['documents']> = z.strictObject({
  maxTokens: z.int().min(100).max(1_000_000).default(maxTokens),
  // More than this would end the stack.
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

/** The options of {@link GatewayConfig} that stand at the top of a configuration, with their defaults. */
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

/** What `createGateway` takes, from what was configured. */
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
