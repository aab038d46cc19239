/*
 * The writers of root fields: of `Query`, `Mutation` and the subscriptions of extensions. Each says which kinds its
 * arguments mean in a request, so that these are loaded before the run. Lists and look-ups read a kind. All other fields
 * are members of `QueryValues`, or results of writes, which the value writer writes.
 */

import { getNullableType, isObjectType } from 'graphql'
import { objectKey } from '../../kubernetes/object.ts'
import type { Kind } from '../model/kind.ts'
import { type ClusterKind, clusterNamed } from '../prepare/kind-view.ts'
import { anyKindsPlaces } from '../reads/over-kinds/any-kinds-list.ts'
import { entityPlaces } from '../reads/entity-read.ts'
import { graphKinds } from '../reads/graph/graph-request.ts'
import { type ListRequest, listRequest, readList } from '../reads/list-read.ts'
import { namedList } from '../reads/typed-arguments.ts'
import { foundByKey, identityAt, objectByRefAt } from '../reads/object-read.ts'
import { objectOf, queryValues } from '../reads/query-values.ts'
import type {
  GraphArguments,
  KindLookupArguments,
  KubernetesObjectsArguments,
  ObjectByRefArguments,
  ObjectListArguments,
} from '../schema/gateway-types.ts'
import type { ExtensionField } from '../schema/field-source.ts'
import { kindNamed } from '../served/named-kinds.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { compiledByKind } from './any-row-writer.ts'
import { neededIn, neededKinds, type PlanField, type RootWriter } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { extensionWriter, memberWriter, valueWriter } from './value-writer.ts'

/** Compiles a field of `Query`. Throws the GraphQLError of a constant argument. */
export function rootWriter(field: PlanField): RootWriter {
  const ofSchema = schemaFields.get(field.name)
  if (ofSchema !== undefined) return { ...valueRoot(field), ofSchema }
  const { source } = field
  switch (source.form) {
    case 'list':
      return listRoot(source.kind, field)
    case 'lookup':
      return lookupRoot(source.kind, field)
    case 'objectList':
      return objectListRoot(field)
    case 'objectById':
    case 'objectsByIds':
    case 'objectByRef':
    case 'entities':
    case 'kubernetesObjects':
      return placedRoot(source.form, field)
    case 'aroundObjects':
      return graphRoot(field)
    case 'write':
      return writeRoot(field)
    case 'extension':
      return field.parent === field.compiler.served.schema.getMutationType()
        ? writeRoot(field)
        : extensionRoot(source.field, field)
    case 'extensionEvents':
      return extensionRoot(source.field, field)
    case 'clusterFrames':
      return valueRoot(field)
    case 'value':
      return valueRoot(field)
    default:
      throw field.notCovered()
  }
}

/** The fields that depend on the schema alone: on the whole of it, or on one type. */
const schemaFields: ReadonlyMap<string, 'whole' | 'type'> = new Map([
  ['__schema', 'whole'],
  ['__type', 'type'],
  ['_service', 'whole'],
])

/** Compiles a field that is a member of {@link queryValues}. */
function valueRoot(field: PlanField): RootWriter {
  const write = memberWriter(field)
  return { write: (run) => write(run, queryValues) }
}

/** Compiles a field that a program adds to `Query`, or to `Subscription`, which each event answers. */
function extensionRoot(extension: ExtensionField, field: PlanField): RootWriter {
  const write = extensionWriter(extension, field)
  return { write: (run) => write(run, run.extensions.of(run.event, undefined)) }
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
    run.errors.beside(read.failures, nodes)
    return write(run, read)
  }
}

type Values = Readonly<Record<string, unknown>>

function lookupRoot(kind: Kind, { compiler, args, selections }: PlanField): RootWriter {
  const write = compiler.row(kind, selections)
  const at = (served: ServedSchema, { cluster }: Partial<KindLookupArguments>): ClusterKind => ({
    cluster: clusterNamed(served, cluster),
    kind,
  })
  return {
    further(served, given: Partial<KindLookupArguments>) {
      return kind.uncached || given.live === true ? [] : [at(served, given)]
    },
    write(run) {
      const asked = run.argumentsOf(args) as unknown as KindLookupArguments
      const found = foundByKey(run, at(run.served, asked), objectKey(asked), asked.live === true)
      return found === undefined ? 'null' : write(run, found.part, found.id)
    },
  }
}

/** Compiles `objectList`: the list of each kind that a request names. */
function objectListRoot(field: PlanField): RootWriter {
  const { args } = field
  const listOf = compiledByKind(field, (kind) => listPageWriter(kind, field))
  /** By the coerced arguments: each run of a request has the same object. */
  const lists = new WeakMap<Values, { readonly kind: Kind; readonly request: ListRequest }>()
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
        const { served, limits } = run
        const { kind, typed } = namedList(served, asked as unknown as ObjectListArguments, limits)
        lists.set(asked, (list = { kind, request: listRequest(served, kind, typed) }))
      }
      return listOf(list.kind).compiled(run, list.request)
    },
  }
}

/** Finds the kinds that the arguments of a member of {@link queryValues} name. Throws as the member does. */
const placesOf = {
  objectById: (served, { id }, typeName) => placeOfId(served, id, typeName),
  objectsByIds: (served, { ids }) =>
    (ids as readonly string[]).flatMap((id) => placeOfId(served, id)),
  objectByRef: (served, values) => [
    objectByRefAt(served, values as unknown as ObjectByRefArguments).at,
  ],
  entities: (served, { representations }) =>
    entityPlaces(served, representations as readonly unknown[]),
  kubernetesObjects: (served, values) =>
    anyKindsPlaces(served, values as unknown as KubernetesObjectsArguments),
} satisfies Record<
  string,
  (served: ServedSchema, values: Values, typeName?: string) => readonly ClusterKind[]
>

function placeOfId(served: ServedSchema, id: unknown, typeName?: string): readonly ClusterKind[] {
  const named = identityAt(served, String(id), typeName)
  return named === undefined ? [] : [named.at]
}

/**
 * Compiles a member of {@link queryValues} whose arguments name the kinds of its objects. Each request determines the kinds to
 * read. The fields by which Relay fetches objects of one type are `object(id:)` for that type.
 */
function placedRoot(form: keyof typeof placesOf, field: PlanField): RootWriter {
  const type = getNullableType(field.type)
  const typeName = form === 'objectById' && isObjectType(type) ? type.name : undefined
  const { compiled, rowNeeds } = field.compiler.ofNamedKinds(() =>
    typeName === undefined ? valueRoot(field) : fetchedRoot(typeName, field),
  )
  return {
    ...compiled,
    further(served, values, variables) {
      const places = new Map<string, ClusterKind>()
      for (const at of placesOf[form](served, values, typeName)) {
        places.set(`${at.cluster}/${at.kind.typeName}`, at)
      }
      return Array.from(places.values(), (at) => {
        const { cluster, kind, isOptional = false } = at
        const needed = rowNeeds.flatMap((needs) => neededKinds(needs(kind), cluster, variables))
        const rows = needed.map((need) => (isOptional ? { ...need, isOptional } : need))
        return kind.uncached ? rows : [at, ...rows]
      }).flat()
    },
  }
}

function fetchedRoot(typeName: string, field: PlanField): RootWriter {
  const write = valueWriter(field)
  return {
    write(run) {
      const { id } = run.argumentsOf(field.args)
      return write(run, objectOf(run, String(id), typeName))
    },
  }
}

/** Compiles `graph`, a member of {@link queryValues}. It may contain objects of other clusters than the default one. */
function graphRoot(field: PlanField): RootWriter {
  const { compiled, needs } = field.compiler.apart(() => valueRoot(field))
  return {
    ...compiled,
    further(served, values, variables) {
      const kinds = graphKinds(served, values as unknown as GraphArguments)
      const clusters = new Set(kinds.map(({ cluster }) => cluster))
      const rows = Array.from(clusters, (cluster) => neededKinds(needs, cluster, variables))
      return [...kinds, ...rows.flat()]
    },
  }
}
