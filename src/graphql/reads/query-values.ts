/*
 * The value of `Query`. Its members are the gateway's own fields; lists and look-ups of a kind are elsewhere. The value
 * writer calls them with the coerced arguments and the run, as graphql-js calls the members of a root value. The
 * tables below it say which kinds a member reads, so that they are loaded before the run. A member returns `undefined` if
 * the server must prepare something first; the run is then repeated.
 */

import { splitObjectKey } from '../../kubernetes/object.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { QueryTooCostlyError, type WorkBudget } from '../../query/condition/work-budget.ts'
import { decodeObjectId, readPastId } from '../model/object-id.ts'
import type { ClusterKind, FoundObject } from '../prepare/kind-view.ts'
import { type EntitiesArguments } from '../schema/protocol-fields.ts'
import { printSchemaSdl } from '../schema/print-schema.ts'
import type {
  AccessGrantsArguments,
  CanArguments,
  ChangesArguments,
  CompleteArguments,
  DifferencesArguments,
  GraphArguments,
  KindFieldsArguments,
  KindLogsArguments,
  KubernetesObjectsArguments,
  ObjectArguments,
  ObjectsArguments,
  ObjectByRefArguments,
  PodLogs,
  ProblemsArguments,
  SearchArguments,
  TlsCertificatesArguments,
  ViewerNamespacesArguments,
} from '../schema/gateway-types.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { accessNeeds, readAccessGrants } from './access-grants.ts'
import { StoredObject } from './direct/direct-reads.ts'
import { clusterStates } from './fleet-state.ts'
import { readGraph } from './graph/graph-read.ts'
import { graphKinds } from './graph/graph-request.ts'
import {
  foundByKey,
  identified,
  identityAt,
  objectByRefAt,
  entityOf,
  entityPlaces,
} from './object-read.ts'
import { readKindFields } from './kind-fields.ts'
import { anyKindsPlaces, readAnyKinds } from './over-kinds/kinds-connection.ts'
import { certificateNeeds, readCertificates } from './over-kinds/certificates-read.ts'
import { lastEventNeeds, problemNeeds, readProblems } from './over-kinds/problems-read.ts'
import {
  completionNeeds,
  readCompletions,
  readSearch,
  searchNeeds,
} from './over-kinds/search-read.ts'
import { readChanges, readDifferences } from './past/past-changes.ts'
import { isOfPast, readPastObject } from './past/past-object.ts'
import { canAnywhere, listedNamespaces } from './permissions.ts'
import type { ReadRun } from './read-run.ts'

export const queryValues = {
  /** `null` if the server does not authenticate callers. */
  viewer(_args: unknown, run: ReadRun): object | null {
    const { access } = run.parts
    if (access === undefined) return null
    const { username, groups } = access.viewer
    const namespaces = (args: ViewerNamespacesArguments) => listedNamespaces(run, args)
    return { username, groups, namespaces }
  },
  can: (args: CanArguments, run: ReadRun): boolean | undefined => canAnywhere(run, args),
  accessGrants: (args: AccessGrantsArguments, run: ReadRun): object => readAccessGrants(run, args),
  gatewayClusters: (_args: unknown, run: ReadRun): readonly object[] => clusterStates(run),
  object(args: ObjectArguments, run: ReadRun): StoredObject | undefined {
    const { id, ...when } = args
    return isOfPast(when) ? readPastObject(run, decodeObjectId(id), when) : objectOf(run, id)
  },
  /** An id that fails becomes null with an error; the others have their answers. */
  objects: ({ ids }: ObjectsArguments, run: ReadRun): readonly unknown[] =>
    ids.map((id, at) => orError(() => objectOf(run, id, undefined, `ids[${at}]`))),
  objectByRef(args: ObjectByRefArguments, run: ReadRun): StoredObject | undefined {
    const { at, key } = objectByRefAt(run.served, args)
    if (!isOfPast(args)) return stored(foundByKey(run, at, key))
    const { group, kind } = at.kind.resource
    const identity = { cluster: at.cluster, group, kind, object: splitObjectKey(key) }
    return readPastObject(run, identity, args)
  },
  /** A representation that fails becomes null with an error; the others have their answers. */
  _entities: ({ representations }: EntitiesArguments, run: ReadRun): readonly unknown[] =>
    representations.map((one) => orError(() => stored(entityOf(run.served, one)?.find(run)))),
  /** The schema of a subgraph as SDL, unless introspection is off. */
  _service(_args: unknown, { served, limits }: ReadRun): object {
    return {
      sdl(): string {
        if (limits.introspection) return printSchemaSdl(served.schema)
        throw new CodedError('UNSUPPORTED', '_service shows no SDL here: introspection is off', {
          hint: 'informerql schema --federation prints it; the operator may turn introspection on',
        })
      },
    }
  },
  graph: (args: GraphArguments, run: ReadRun): object => readGraph(run, args),
  kubernetesObjects: (args: KubernetesObjectsArguments, run: ReadRun): object =>
    readAnyKinds(run, args),
  search: (args: SearchArguments, run: ReadRun): object => readSearch(run, args),
  tlsCertificates: (args: TlsCertificatesArguments, run: ReadRun): object =>
    readCertificates(run, args),
  complete: (args: CompleteArguments, run: ReadRun): object => readCompletions(run, args),
  kindFields: (args: KindFieldsArguments, run: ReadRun): readonly object[] | undefined =>
    readKindFields(run, args),
  problems: (args: ProblemsArguments, run: ReadRun): object => readProblems(run, args),
  changes: (args: ChangesArguments, run: ReadRun): object | undefined => readChanges(run, args),
  differences: (args: DifferencesArguments, run: ReadRun): object | undefined =>
    readDifferences(run, args),
  podLogs(args: KindLogsArguments, { direct, budget }: ReadRun): PodLogs | null {
    const logs = direct.logs(args, budget)
    if (logs === undefined) return null
    budget.spend('rows', logs.lines.length)
    return logs
  },
}

type Values = Readonly<Record<string, unknown>>

/**
 * The kinds that a member reads, in a cluster of its arguments or of the object around it, by coordinate. They are loaded
 * before the run that reads the member.
 */
export const memberNeeds: Readonly<
  Record<string, (served: ServedSchema, args: Values, cluster: string) => readonly RelatedNeed[]>
> = {
  'Query.accessGrants': accessNeeds,
  'Query.search': searchNeeds,
  'Query.complete': completionNeeds,
  'Query.tlsCertificates': certificateNeeds,
  'Query.problems': problemNeeds,
  'Problem.lastEvent': lastEventNeeds,
}

export type NamedByArguments = (
  served: ServedSchema,
  args: Values,
  budget: WorkBudget,
  typeName?: string,
) => readonly ClusterKind[]

/**
 * The kinds of the objects that the arguments of a member name, each in its cluster, by the source of the field. Rows of
 * these kinds may need further ones, which the plan adds. Throws as the member does. `budget` bounds the search of one operation.
 * `typeName`: the only type of an `id`.
 */
export const namedByArguments: Readonly<Record<string, NamedByArguments | undefined>> = {
  objectById: (served, { id }, _budget, typeName) => kindsOfIds(served, [id], typeName),
  objectsByIds: (served, { ids }) => kindsOfIds(served, ids as readonly unknown[]),
  objectByRef: (served, args) => [
    objectByRefAt(served, args as unknown as ObjectByRefArguments).at,
  ],
  entities: (served, { representations }) =>
    entityPlaces(served, representations as readonly unknown[]),
  kubernetesObjects: (served, args) =>
    anyKindsPlaces(served, args as unknown as KubernetesObjectsArguments),
  aroundObjects: (served, args, budget) =>
    graphKinds(served, args as unknown as GraphArguments, budget),
}

function kindsOfIds(
  served: ServedSchema,
  ids: readonly unknown[],
  typeName?: string,
): readonly ClusterKind[] {
  return ids.flatMap((given) => {
    const id = String(given)
    return readPastId(id) === undefined ? (identityAt(served, id, typeName)?.at ?? []) : []
  })
}

/** The object with an `id`, which stands at `argument`. Throws as `identified` does, and `ArgumentError` if it has another type than `typeName`. */
export function objectOf(
  run: ReadRun,
  id: string,
  typeName?: string,
  argument?: string,
): StoredObject | undefined {
  const past = readPastId(id)
  const named = identityAt(run.served, past?.id ?? id, typeName)
  if (past !== undefined) return readPastObject(run, decodeObjectId(past.id), past)
  if (named === undefined) return undefined
  const { at, identity } = named
  return stored(identified(run, at, identity, argument))
}

function stored(found: FoundObject | undefined): StoredObject | undefined {
  return found && new StoredObject(found)
}

function orError(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof QueryTooCostlyError || !(error instanceof Error)) throw error
    return error
  }
}
