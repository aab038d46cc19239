/*
 * The state that is served at one time: the schema, its kinds, the clusters and their caches. An operation keeps the
 * state that it began with. Below it: the kinds that are read without being named, and the limits of operations with
 * their defaults.
 */

import { defaultsOf, type NumberOptions } from '../../lib/options.ts'
import { type GraphQLSchema, isObjectType } from 'graphql'
import type { ArchiveReads } from '../../archive/archive-calls.ts'
import type { ClusterAccess } from '../../access/cluster-access.ts'
import type { ClusterCache, IndexTexts } from '../../cache/cluster-cache.ts'
import type { ProblemRuleName } from '../../kubernetes/problems/problem-fact.ts'
import { defaultWorkLimits, type WorkLimits } from '../../query/condition/work-budget.ts'
import type { Definitions } from '../model/definitions.ts'
import type { Kind } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import type { DocumentLimits } from '../documents/operation-documents.ts'
import type { SchemaRelations } from './schema-relations.ts'

/** A cluster as the fleet describes it. Its values are current, even in an older schema. */
export interface ServedCluster {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Where it comes from: `configuration`, `directory prod.yaml`, `argocd hub/argocd/prod`. */
  readonly source: string
  /** Whether it is one of the configuration. Only such a cluster may review tokens and receive those of callers. */
  readonly isConfigured: boolean
  readonly state: 'CONNECTED' | 'UNREACHABLE' | 'UNAUTHORIZED' | 'MISCONFIGURED'
  readonly since: Date
  /** Why it is not connected; of a connected one, why its source cannot be followed. */
  readonly problem: Error | undefined
  /**
   * The address of the gateway that holds the cluster. Absent: this one. `null`: none does at present. While this gateway
   * loads a cluster to take it over, the one that holds it until then.
   */
  readonly holder?: string | null | undefined
}

/** Reports changes of the clusters. */
export interface FleetChanges {
  /** The address of this gateway, where gateways share the clusters. */
  readonly address: string | undefined
  /**
   * Calls `listener` after clusters have come, gone, or changed their state, labels or source, once for all changes of
   * one moment. The served schema shows them by then. Returns a function that removes the listener.
   */
  onChanged(listener: () => void): () => void
}

/** The schema that is served at one time, its kinds and relations, and the caches behind them. */
export interface ServedSchema {
  readonly schema: GraphQLSchema
  /** By type name. */
  readonly kinds: ReadonlyMap<string, Kind>
  /** A kind by API group and kind, in any version, as in owner references and object ids. */
  readonly kindOf: (group: string, kind: string) => Kind | undefined
  readonly relations: SchemaRelations
  /** What the OpenAPI documents of the clusters say. */
  readonly definitions: Definitions
  /** The definitions of the indexes of each kind. Plans compiled for this schema read no other ones. */
  readonly indexTexts: ReadonlyMap<Kind, IndexTexts>
  /** The kinds that fields of any kind load by themselves: see {@link defaultCommonKinds}. */
  readonly commonKinds: ReadonlySet<Kind>
  /** The kinds that `problems` looks at by itself: see {@link defaultProblemKinds}. */
  readonly problemKinds: ReadonlySet<Kind>
  /** The rules of `problems` that are switched off. */
  readonly problemRulesOff: ReadonlySet<ProblemRuleName>
  readonly isExtended: boolean
  /** By name; the first one is the default. */
  readonly clusters: ReadonlyMap<string, ClusterCache>
  /** How the fleet describes the clusters, by name. */
  readonly members: ReadonlyMap<string, ServedCluster>
  readonly fleet: FleetChanges
  /** Of the clusters that this gateway holds. */
  readonly access: ReadonlyMap<string, ClusterAccess>
  /** What was; absent if the gateway keeps no archive. */
  readonly archive?: ArchiveReads | undefined
  /** All clusters, in an operation that is about some of them: see {@link restrictedTo}. Absent: it is about all. */
  readonly whole?: ReadonlyMap<string, ClusterCache>
}

/**
 * What is served, as if there were only these clusters; arguments may still name the others, which then have no part in the
 * answer. Cursors and tokens are the same text as without the restriction. Throws `ClientError` for an unknown cluster: whoever
 * restricts an operation counts on an answer about each of them.
 */
export function restrictedTo(served: ServedSchema, names: readonly string[]): ServedSchema {
  const { clusters, members, access } = served
  const unknown = names.find((name) => !clusters.has(name))
  if (unknown !== undefined) {
    const message = `this gateway knows no cluster ${JSON.stringify(unknown)}`
    const hint = 'try again in a moment: it may not have heard of the cluster yet'
    const details = { argument: 'extensions.clusters', value: unknown, cluster: unknown, hint }
    throw new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs: 1_000 })
  }
  const meant = new Set(names)
  const among = <T>(all: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
    new Map([...all].filter(([name]) => meant.has(name)))
  return {
    ...served,
    clusters: among(clusters),
    members: among(members),
    access: among(access),
    whole: clusters,
  }
}

/** The error of an operation that needs a cluster which its restriction leaves out. */
export function leftOut(cluster: string): ClientError {
  const message = `the request leaves out cluster ${cluster}, by extensions.clusters`
  const hint = 'name the cluster there as well'
  return new ClientError('CLUSTER_UNREACHABLE', message, { cluster, hint })
}

/** Whether the gateway serves mutations of its own: writes to clusters. */
export function servesWrites({ schema }: Pick<ServedSchema, 'schema'>): boolean {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {})
  return fields.some((field) => fieldSourceOf(field).form === 'write')
}

/** Whether the gateway serves what Secrets hold. */
export function servesSecretData({ schema }: Pick<ServedSchema, 'schema'>): boolean {
  const secret = schema.getType('Secret')
  const fields = isObjectType(secret) ? Object.values(secret.getFields()) : []
  return fields.some((field) => fieldSourceOf(field).form === 'secretContents')
}

/**
 * The list fields of the kinds that `search`, `graph`, `owned` and relations by a label load by themselves, so that
 * their answers do not depend on what other requests have loaded.
 */
export const defaultCommonKinds: readonly string[] = [
  'pods',
  'deployments',
  'replicaSets',
  'statefulSets',
  'daemonSets',
  'jobs',
  'cronJobs',
  'services',
  'ingresses',
  'configMaps',
  'persistentVolumeClaims',
  'serviceAccounts',
  'namespaces',
  'nodes',
  'horizontalPodAutoscalers',
]

/**
 * The kinds that `problems` looks at by itself: list fields, and `*.GROUP` for all kinds of an API group and its
 * subgroups. Those that others refer to are among them, so that a reference to none is found.
 */
export const defaultProblemKinds: readonly string[] = [
  'pods',
  'deployments',
  'replicaSets',
  'statefulSets',
  'daemonSets',
  'jobs',
  'cronJobs',
  'nodes',
  'namespaces',
  'services',
  'ingresses',
  'ingressClasses',
  'configMaps',
  'secrets',
  'serviceAccounts',
  'priorityClasses',
  'persistentVolumeClaims',
  'persistentVolumes',
  'storageClasses',
  'horizontalPodAutoscalers',
  'podDisruptionBudgets',
  'resourceQuotas',
  'validatingWebhookConfigurations',
  'mutatingWebhookConfigurations',
  'apiServices',
  'customResourceDefinitions',
  'events',
  'certManagerCertificates',
  'certManagerIssuers',
  'certManagerClusterIssuers',
  'externalSecretsExternalSecrets',
  '*.toolkit.fluxcd.io',
  '*.gateway.networking.k8s.io',
]

/** The limits of operations. Every bound is here. */
export interface OperationLimits extends DocumentLimits {
  /** How long an operation may take until it is answered, or until its subscription has begun, whatever it waits for. */
  readonly operationDeadlineMs: number
  /** How long an operation waits for the first sync of its kinds. */
  readonly syncDeadlineMs: number
  /**
   * How long an operation over several clusters waits for one that sends nothing, once another one has answered; but 3 times as long
   * as that one took, if that is longer.
   */
  readonly silenceMs: number
  /** How long a read of the API server may take, where no cache serves. */
  readonly liveDeadlineMs: number
  /** Largest `first`. */
  readonly maxPageSize: number
  /** How long ongoing work may go on until `problems` has it, and how long what is over counts there. */
  readonly problemAfterMs: number
  /** Rows that the page sizes along one path, each list within the one before, may multiply to. */
  readonly maxPathRows: number
  /** What one operation, or one frame of a subscription, may cost; what is not given is the default. */
  readonly work: Partial<WorkLimits>
  /** Objects in one frame of a snapshot. */
  readonly maxFrameObjects: number
  /** Characters of one frame; one object may be more. */
  readonly maxFrameBytes: number
  /** How long changes are gathered before they are sent, unless the subscriber says otherwise. */
  readonly coalesceMs: number
}

export const operationOptions: NumberOptions<Omit<OperationLimits, 'work' | 'introspection'>> = {
  operationDeadlineMs: { byDefault: 30_000, least: 1, most: 600_000 },
  syncDeadlineMs: { byDefault: 10_000, least: 1, most: 600_000 },
  silenceMs: { byDefault: 1_000, least: 1, most: 600_000 },
  liveDeadlineMs: { byDefault: 10_000, least: 1, most: 600_000 },
  maxPageSize: { byDefault: 500, least: 1, most: 5_000 },
  maxPathRows: { byDefault: 20_000, least: 1, most: 1_000_000_000 },
  problemAfterMs: { byDefault: 600_000, least: 0, most: 86_400_000 },
  maxTokens: { byDefault: 10_000, least: 100, most: 1_000_000 },
  // A deeper document would overflow the stack.
  maxDepth: { byDefault: 64, least: 1, most: 64 },
  maxFields: { byDefault: 10_000, least: 1, most: 1_000_000 },
  maxAliases: { byDefault: 1_000, least: 0, most: 1_000_000 },
  maxDirectives: { byDefault: 200, least: 0, most: 1_000_000 },
  coalesceMs: { byDefault: 100, least: 0, most: 60_000 },
  maxFrameObjects: { byDefault: 500, least: 1, most: 100_000 },
  maxFrameBytes: { byDefault: 1 << 20, least: 1_024, most: 1_073_741_824 },
}

export const defaultOperationLimits: OperationLimits = {
  ...defaultsOf(operationOptions),
  work: defaultWorkLimits,
  introspection: true,
}
