import {
  type FieldNode,
  getNullableType,
  type GraphQLOutputType,
  isObjectType,
  type VariableValues,
} from 'graphql'
import { objectKey } from '../../kubernetes/object.ts'
import { decodeObjectId, type ObjectIdentity } from '../model/object-id.ts'
import { clusterNamed } from '../served/cluster-argument.ts'
import type { ClusterKind, FoundObject } from '../prepare/kind-view.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { ObjectByRefArguments } from '../schema/read-arguments.ts'
import { RowsByKind } from './any-row-writer.ts'
import { selectionsOf } from './collected-fields.ts'
import type { FieldArguments } from './field-arguments.ts'
import { foundByKey, identified, kindOfIdentity, resolveObjectRef } from '../reads/object-read.ts'
import { ofAnotherKind } from '../schema/relay-fields.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import { neededKinds } from './plan-needs.ts'
import type { PlanRun } from './plan-run.ts'
import type { RootWriter } from './writers.ts'

type Values = Readonly<Record<string, unknown>>

/** Compiles `object(id:)`, and the fields by which Relay fetches objects of one type. */
export function objectByIdWriter(
  args: FieldArguments,
  { nodes, type }: { readonly nodes: readonly FieldNode[]; readonly type: GraphQLOutputType },
  compiler: PlanCompiler,
): RootWriter {
  const of = getNullableType(type)
  const meant = (served: ServedSchema, values: Values): readonly IdentityAt[] => {
    const id = String(values['id'])
    const { group, kind } = decodeObjectId(id)
    const isOther = isObjectType(of) && served.kindOf(group, kind)?.typeName !== of.name
    if (isOther) throw ofAnotherKind(id, of.name)
    const found = identityAt(served, id)
    return found === undefined ? [] : [found]
  }
  return rootWriter(args, nodes, compiler, {
    kinds: (served, values) => meant(served, values).map(({ at }) => at),
    write(run, written) {
      const [found] = meant(run.served, run.argumentsOf(args))
      return written(found && identified(run, found.at, found.identity))
    },
  })
}

/** Compiles `objects(ids:)`. An id that fails becomes null with an error; the others have their answers. */
export function objectsByIdsWriter(
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RootWriter {
  return rootWriter(args, nodes, compiler, {
    kinds: (served, { ids }) =>
      (ids as readonly string[]).flatMap((id) => identityAt(served, id)?.at ?? []),
    write(run, written) {
      const { ids } = run.argumentsOf(args) as { readonly ids: readonly string[] }
      return run.list(ids, (id) =>
        run.errors.item(nodes, () => {
          const found = identityAt(run.served, id)
          return written(found && identified(run, found.at, found.identity))
        }),
      )
    },
  })
}

/** Compiles `objectByRef`. */
export function objectByRefWriter(
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RootWriter {
  return rootWriter(args, nodes, compiler, {
    kinds: (served, values) => [keyMeant(served, values).at],
    write(run, written) {
      const { at, key } = keyMeant(run.served, run.argumentsOf(args))
      return written(foundByKey(run, at, key))
    },
  })
}

/** Throws `ClientError`. */
function keyMeant(
  served: ServedSchema,
  values: Values,
): { readonly at: ClusterKind; readonly key: string } {
  const asked = values as unknown as ObjectByRefArguments
  const { kind, cluster, ...object } = resolveObjectRef(served, asked)
  return { at: { cluster: clusterNamed(served, cluster), kind }, key: objectKey(object) }
}

interface IdentityAt {
  readonly identity: ObjectIdentity
  readonly at: ClusterKind
}

/** Decodes an `id`. Returns `undefined` if the server does not serve its kind. Throws `ObjectIdError`. */
function identityAt(served: ServedSchema, id: string): IdentityAt | undefined {
  const identity = decodeObjectId(id)
  const at = kindOfIdentity(served, identity)
  return at && { identity, at }
}

interface ObjectRoot {
  /** The kinds of the objects that the arguments name. */
  kinds(served: ServedSchema, values: Values): readonly ClusterKind[]
  write(run: PlanRun, written: (found: FoundObject | undefined) => string): string
}

/** Compiles a field whose arguments name objects. Each request determines the kinds to read. */
function rootWriter(
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
  root: ObjectRoot,
): RootWriter {
  const rows = new RowsByKind(selectionsOf(nodes), compiler)
  const { place } = compiler
  return {
    args,
    needs: compiler.takeNeeds(),
    further(served, values, variables: VariableValues) {
      const places = new Map<string, ClusterKind>()
      for (const at of root.kinds(served, values)) {
        places.set(`${at.cluster}/${at.kind.typeName}`, at)
      }
      return [...places.values()].flatMap((at) => [
        ...(at.kind.uncached ? [] : [at]),
        ...neededKinds(rows.needs(at.kind), at.cluster, variables),
      ])
    },
    write(run) {
      run.budget.report?.at(place)
      return root.write(run, (found) => {
        if (found === undefined) return 'null'
        run.budget.spend('rows', 1)
        return rows.write(run, found.part, found.id)
      })
    },
  }
}
