import { getNullableType, isObjectType } from 'graphql'
import { objectKey } from '../../kubernetes/object.ts'
import type { Kind } from '../model/kind.ts'
import { decodeObjectId, type ObjectIdentity } from '../model/object-id.ts'
import type { ClusterKind, FoundObject } from '../prepare/kind-view.ts'
import { anyKindsPlaces } from '../reads/over-kinds/any-kinds-list.ts'
import { entityOf, entityPlaces } from '../reads/entity-read.ts'
import { type ListRequest, type NamedList, namedList, readList } from '../reads/list-read.ts'
import { foundByKey, identified, kindOfIdentity, resolveObjectRef } from '../reads/object-read.ts'
import { QueryValues } from '../reads/query-values.ts'
import type {
  KubernetesObjectsArguments,
  LookupArguments,
  ObjectByRefArguments,
  ObjectListArguments,
} from '../schema/read-arguments.ts'
import type { ExtensionField } from '../schema/field-source.ts'
import type { EntitiesArguments } from '../schema/federation-fields.ts'
import { ofAnotherKind } from '../schema/relay-fields.ts'
import { clusterNamed } from '../served/cluster-argument.ts'
import { kindNamed } from '../served/named-kinds.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { compiledByKind, rowsByKind } from './any-row-writer.ts'
import { graphWriter } from './graph-writer.ts'
import { neededIn, neededKinds, type PlanField, type RootWriter } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { listText } from './value-run.ts'
import { extensionWriter, memberWriter, valueWriter } from './value-writer.ts'

/** Compiles a field of `Query`. Throws `NotCoveredError`, and the GraphQLError of a constant argument. */
export function rootWriter(field: PlanField): RootWriter {
  if (field.name === '__schema' || field.name === '__type') return schemaRoot(field)
  const { source } = field
  switch (source.form) {
    case 'list':
      return listRoot(source.kind, field)
    case 'lookup':
      return lookupRoot(source.kind, field)
    case 'objectById':
      return objectById(field)
    case 'objectsByIds':
      return objectsByIds(field)
    case 'entities':
      return entities(field)
    case 'objectByRef':
      return objectByRef(field)
    case 'objectList':
      return objectListRoot(field)
    case 'kubernetesObjects':
      return anyKindsRoot(field)
    case 'aroundObjects':
      return graphWriter(field)
    case 'write':
      return writeRoot(field)
    case 'extension':
      return isMutation(field) ? writeRoot(field) : extensionRoot(source.field, field)
    case 'extensionEvents':
      return extensionRoot(source.field, field)
    case 'clusterFrames':
      return valueRoot(field)
    case 'value':
      return field.name === '_service' ? schemaRoot(field) : valueRoot(field)
    default:
      throw field.notCovered()
  }
}

/** Compiles a field that is a member of {@link QueryValues}. */
function valueRoot(field: PlanField): RootWriter {
  const write = memberWriter(field)
  return { write: (run) => write(run, new QueryValues(run)) }
}

/** Compiles a field that a program adds to `Query`, or to `Subscription`, as each event answers it. */
function extensionRoot(extension: ExtensionField, field: PlanField): RootWriter {
  const write = extensionWriter(extension, field)
  return { write: (run) => write(run, run.extensions.of(run.event, undefined)) }
}

/** Compiles a field that only tells of the schema: of introspection, or `_service`. */
function schemaRoot(field: PlanField): RootWriter {
  const write = memberWriter(field)
  const ofSchema = field.name === '__type' ? 'type' : 'whole'
  return { ofSchema, write: (run) => write(run, undefined) }
}

function isMutation({ parent, compiler }: PlanField): boolean {
  return parent === compiler.served.schema.getMutationType()
}

/** Compiles a field of `Mutation`. Its write was made before the answer is read. */
function writeRoot(field: PlanField): RootWriter {
  const { key } = field
  const write = valueWriter(field)
  return { write: (run) => write(run, run.writes?.result(key)) }
}

function listRoot(kind: Kind, field: PlanField): RootWriter {
  const write = listPageWriter(kind, field)
  return { write: (run) => write(run, run.requestOf(field.args, kind)) }
}

/** Compiles the list of a kind, in the clusters that the arguments of a request name. */
function listPageWriter(
  kind: Kind,
  field: PlanField,
): (run: PlanRun, request: ListRequest) => string {
  const { compiler, nodes } = field
  const write = compiler.list(kind, field)
  return (run, request) => {
    const read = readList(run, kind, request)
    if (read === undefined) return 'null'
    run.errors.beside(read.failures, nodes)
    return write(run, read)
  }
}

function lookupRoot(kind: Kind, { compiler, args, selections }: PlanField): RootWriter {
  const write = compiler.row(kind, selections)
  const at = (served: ServedSchema, { cluster }: Partial<LookupArguments>): ClusterKind => ({
    cluster: clusterNamed(served, cluster),
    kind,
  })
  return {
    further(served, given: Partial<LookupArguments>) {
      return kind.uncached || given.live === true ? [] : [at(served, given)]
    },
    write(run) {
      const asked = run.argumentsOf(args) as unknown as LookupArguments
      const found = foundByKey(run, at(run.served, asked), objectKey(asked), asked.live === true)
      return found === undefined ? 'null' : write(run, found.part, found.id)
    },
  }
}

type Values = Readonly<Record<string, unknown>>

/** Compiles `object(id:)`, and the fields by which Relay fetches objects of one type. */
function objectById(field: PlanField): RootWriter {
  const type = getNullableType(field.type)
  const meant = (served: ServedSchema, values: Values): readonly IdentityAt[] => {
    const id = String(values['id'])
    const { group, kind } = decodeObjectId(id)
    const isOther = isObjectType(type) && served.kindOf(group, kind)?.typeName !== type.name
    if (isOther) throw ofAnotherKind(id, type.name)
    const found = identityAt(served, id)
    return found === undefined ? [] : [found]
  }
  return objectRoot(field, {
    kinds: (served, values) => meant(served, values).map(({ at }) => at),
    write(run, written) {
      const [found] = meant(run.served, run.argumentsOf(field.args))
      return written(found && identified(run, found.at, found.identity))
    },
  })
}

/** Compiles `objects(ids:)`. An id that fails becomes null with an error; the others have their answers. */
function objectsByIds(field: PlanField): RootWriter {
  return objectRoot(field, {
    kinds: (served, { ids }) =>
      (ids as readonly string[]).flatMap((id) => identityAt(served, id)?.at ?? []),
    write(run, written) {
      const { ids } = run.argumentsOf(field.args) as { readonly ids: readonly string[] }
      return listText(run, ids, (id) =>
        run.errors.item(field.nodes, () => {
          const found = identityAt(run.served, id)
          return written(found && identified(run, found.at, found.identity))
        }),
      )
    },
  })
}

/** Compiles `_entities`. A representation that fails becomes null with an error; the others have their answers. */
function entities(field: PlanField): RootWriter {
  return objectRoot(field, {
    kinds: (served, { representations }) =>
      entityPlaces(served, representations as readonly unknown[]),
    write(run, written) {
      const { representations } = run.argumentsOf(field.args) as unknown as EntitiesArguments
      return listText(run, representations, (one) =>
        run.errors.item(field.nodes, () => written(entityOf(run.served, one)?.find(run))),
      )
    },
  })
}

/** Compiles `objectByRef`. */
function objectByRef(field: PlanField): RootWriter {
  return objectRoot(field, {
    kinds: (served, values) => [keyMeant(served, values).at],
    write(run, written) {
      const { at, key } = keyMeant(run.served, run.argumentsOf(field.args))
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

/** Compiles `objectList`: the list of each kind that a request names. */
function objectListRoot(field: PlanField): RootWriter {
  const { args } = field
  const listOf = compiledByKind(field, (kind) => listPageWriter(kind, field))
  /** By the coerced arguments, which are the same object in each run of a request. */
  const lists = new WeakMap<Values, NamedList>()
  return {
    further(served, values, variables) {
      const asked = values as unknown as ObjectListArguments
      // The field reports unknown kinds when the plan writes it.
      const kind = kindNamed(served, asked, { introspection: false })
      return neededIn(served, asked, listOf(kind).needs, variables)
    },
    write(run) {
      const asked = run.argumentsOf(args)
      let list = lists.get(asked)
      if (list === undefined) {
        lists.set(asked, (list = namedList(run, asked as unknown as ObjectListArguments)))
      }
      return listOf(list.kind).compiled(run, list.request)
    },
  }
}

/** Compiles `kubernetesObjects`: a member of {@link QueryValues} whose arguments name the kinds. */
function anyKindsRoot(field: PlanField): RootWriter {
  const { compiled, rowNeeds } = field.compiler.ofNamedKinds(() => valueRoot(field))
  return {
    ...compiled,
    further(served, values, variables) {
      const places = anyKindsPlaces(served, values as unknown as KubernetesObjectsArguments)
      return places.flatMap((at) => [
        at,
        ...rowNeeds
          .flatMap((needs) => neededKinds(needs(at.kind), at.cluster, variables))
          .map((need) => ({ ...need, isOptional: true })),
      ])
    },
  }
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
function objectRoot(field: PlanField, root: ObjectRoot): RootWriter {
  const rows = rowsByKind(field)
  return {
    further(served, values, variables) {
      const places = new Map<string, ClusterKind>()
      for (const at of root.kinds(served, values)) {
        places.set(`${at.cluster}/${at.kind.typeName}`, at)
      }
      return [...places.values()].flatMap((at) => [
        ...(at.kind.uncached ? [] : [at]),
        ...neededKinds(rows.needs(at.kind), at.cluster, variables),
      ])
    },
    write: (run) =>
      root.write(run, (found) =>
        found === undefined ? 'null' : rows.write(run, found.part, found.id),
      ),
  }
}
