/*
 * The value of `Query`. Its members are the gateway's own fields; lists and look-ups of a kind are elsewhere. The value
 * writer calls them with the coerced arguments and the run, as graphql-js calls the members of a root value. The root
 * writer (`placesOf`) or the value writer (`memberNeeds`) names the kinds that a member needs. A member returns
 * `undefined` if the server must prepare something first; the run is then repeated.
 */

import { CodedError } from '../../lib/coded-error.ts'
import { QueryTooCostlyError } from '../../query/condition/work-budget.ts'
import type { FoundObject } from '../prepare/kind-view.ts'
import { type EntitiesArguments } from '../schema/protocol-fields.ts'
import { printSchemaSdl } from '../schema/print-schema.ts'
import type {
  CanArguments,
  CompleteArguments,
  GraphArguments,
  KindLogsArguments,
  KubernetesObjectsArguments,
  ObjectArguments,
  ObjectsArguments,
  ObjectByRefArguments,
  PodLogs,
  ProblemsArguments,
  SearchArguments,
  ViewerNamespacesArguments,
} from '../schema/gateway-types.ts'
import { StoredObject } from './direct/direct-reads.ts'
import { entityOf } from './entity-read.ts'
import { clusterStates } from './fleet-state.ts'
import { readGraph } from './graph/graph-read.ts'
import { foundByKey, identified, identityAt, objectByRefAt } from './object-read.ts'
import { readAnyKinds } from './over-kinds/any-kinds-list.ts'
import { readProblems } from './over-kinds/problems-read.ts'
import { readCompletions, readSearch } from './over-kinds/search-read.ts'
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
  gatewayClusters: (_args: unknown, run: ReadRun): readonly object[] => clusterStates(run),
  object: ({ id }: ObjectArguments, run: ReadRun): StoredObject | undefined => objectOf(run, id),
  /** An id that fails becomes null with an error; the others have their answers. */
  objects: ({ ids }: ObjectsArguments, run: ReadRun): readonly unknown[] =>
    ids.map((id) => orError(() => objectOf(run, id))),
  objectByRef(args: ObjectByRefArguments, run: ReadRun): StoredObject | undefined {
    const { at, key } = objectByRefAt(run.served, args)
    return stored(foundByKey(run, at, key))
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
  complete: (args: CompleteArguments, run: ReadRun): object => readCompletions(run, args),
  problems: (args: ProblemsArguments, run: ReadRun): object => readProblems(run, args),
  podLogs(args: KindLogsArguments, { direct, budget }: ReadRun): PodLogs | null {
    const logs = direct.logs(args, budget)
    if (logs === undefined) return null
    budget.spend('rows', logs.lines.length)
    return logs
  },
}

/** The object with an `id`. Throws `ArgumentError` if it has another type than `typeName`. */
export function objectOf(run: ReadRun, id: string, typeName?: string): StoredObject | undefined {
  const named = identityAt(run.served, id, typeName)
  return stored(named && identified(run, named.at, named.identity))
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
