import type { GraphQLSchema } from 'graphql'
import { CodedError } from '../../lib/coded-error.ts'
import { QueryTooCostlyError } from '../../query/condition/work-budget.ts'
import type { FoundObject } from '../prepare/kind-view.ts'
import type { EntitiesArguments } from '../schema/federation-fields.ts'
import { printSchemaSdl } from '../schema/print-schema.ts'
import type {
  CanArguments,
  CompleteArguments,
  GraphArguments,
  KindLogsArguments,
  KubernetesObjectsArguments,
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

/**
 * The value of `Query` in one run: its members are the gateway's own fields, lists and look-ups of a kind aside. The
 * value writer reads them. Of some, the root writer (`placesOf`) or the value writer (`memberNeeds`) names the kinds that they
 * need first. `undefined` stands for what the server has to ask first; the run is repeated.
 */
export class QueryValues {
  readonly #run: ReadRun

  constructor(run: ReadRun) {
    this.#run = run
  }

  /** `null` if the server does not authenticate callers. */
  get viewer(): object | null {
    const run = this.#run
    const { access } = run.parts
    if (access === undefined) return null
    const { username, groups } = access.viewer
    const namespaces = (args: ViewerNamespacesArguments) => listedNamespaces(run, args)
    return { username, groups, namespaces }
  }

  can(args: CanArguments): boolean | undefined {
    return canAnywhere(this.#run, args)
  }

  gatewayClusters(): readonly object[] {
    return clusterStates(this.#run)
  }

  object({ id }: { readonly id: string }): StoredObject | undefined {
    return this.objectOf(id)
  }

  /** As {@link object}. Throws `ArgumentError` for the `id` of an object of another type than `typeName`. */
  objectOf(id: string, typeName?: string): StoredObject | undefined {
    const named = identityAt(this.#run.served, id, typeName)
    return stored(named && identified(this.#run, named.at, named.identity))
  }

  /** An id that fails becomes null with an error; the others have their answers. */
  objects({ ids }: { readonly ids: readonly string[] }): readonly unknown[] {
    return ids.map((id) => orError(() => this.objectOf(id)))
  }

  objectByRef(args: ObjectByRefArguments): StoredObject | undefined {
    const { at, key } = objectByRefAt(this.#run.served, args)
    return stored(foundByKey(this.#run, at, key))
  }

  /** A representation that fails becomes null with an error; the others have their answers. */
  _entities({ representations }: EntitiesArguments): readonly unknown[] {
    const run = this.#run
    return representations.map((one) => orError(() => stored(entityOf(run.served, one)?.find(run))))
  }

  /** The schema of a subgraph as SDL, unless introspection is off. */
  _service(): object {
    const { served, limits } = this.#run
    return { sdl: () => sdlOf(served.schema, limits.introspection) }
  }

  graph(args: GraphArguments): object {
    return readGraph(this.#run, args)
  }

  kubernetesObjects(args: KubernetesObjectsArguments): object {
    return readAnyKinds(this.#run, args)
  }

  search(args: SearchArguments): object {
    return readSearch(this.#run, args)
  }

  complete(args: CompleteArguments): object {
    return readCompletions(this.#run, args)
  }

  problems(args: ProblemsArguments): object {
    return readProblems(this.#run, args)
  }

  podLogs(args: KindLogsArguments): PodLogs | null {
    const { direct, budget } = this.#run
    const logs = direct.logs(args, budget)
    if (logs === undefined) return null
    budget.spend('rows', logs.lines.length)
    return logs
  }
}

function stored(found: FoundObject | undefined): StoredObject | undefined {
  return found && new StoredObject(found)
}

/** An item of a list, or the error that it fails with. */
function orError(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof QueryTooCostlyError || !(error instanceof Error)) throw error
    return error
  }
}

function sdlOf(schema: GraphQLSchema, isShown: boolean): string {
  if (!isShown) {
    throw new CodedError('UNSUPPORTED', '_service shows no SDL here: introspection is off', {
      hint: 'informerql schema --federation prints it; the operator may turn introspection on',
    })
  }
  return printSchemaSdl(schema)
}
