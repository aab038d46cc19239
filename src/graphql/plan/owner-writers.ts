import type { FieldNode } from 'graphql'
import type { ObjectId } from '../../informer/store/store-view.ts'
import { type OwnerReference, splitObjectKey } from '../../kubernetes/object.ts'
import type { ObjectRefField } from '../model/kind.ts'
import type { KindView } from '../prepare/kind-view.ts'
import {
  endsChain,
  nearestOwner,
  objectRefOfKind,
  objectRefsOf,
  type ReferenceOrigin,
  topmostBuiltIn,
} from '../schema/object-ref.ts'
import type { ObjectRef } from '../schema/read-context.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { selectionsOf } from './collected-fields.ts'
import { ownersOf, referenced } from '../reads/object-read.ts'
import { objectRefWriter } from './object-ref-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { valueReader } from './value-reader.ts'
import type { RowWriter } from './writers.ts'

const readOwners = valueReader('metadata.ownerReferences[*]')

/** Reads the owner references of an object without decoding the rest. */
function ownerReferencesOf(run: PlanRun, part: KindView, id: ObjectId): readonly OwnerReference[] {
  return readOwners(run, part, id) as readonly OwnerReference[]
}

function originOf({ cluster, view }: KindView, id: ObjectId): ReferenceOrigin {
  const { namespace } = splitObjectKey(view.keyOf(id))
  return { cluster, namespace: namespace === '' ? undefined : namespace }
}

/** Compiles `owners`, which the server finds by UID. */
export function ownersWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): RowWriter {
  const write = anyRowWriter(selectionsOf(nodes), compiler)
  const { place } = compiler
  return (run, part, id) => {
    run.budget.report?.at(place)
    const { cluster, namespace = '' } = originOf(part, id)
    const origin = { cluster, namespace }
    const owners = ownersOf(run, origin, ownerReferencesOf(run, part, id))
    return run.list(owners, (owner) => write(run, owner.part, owner.id))
  }
}

/** Compiles `ownerChain`. */
export function ownerChainWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): RowWriter {
  const write = objectRefWriter(nodes, compiler)
  const { place } = compiler
  return (run, part, id) => {
    run.budget.report?.at(place)
    return run.list(chainOf(run, part, id), (ref) => write(run, ref))
  }
}

/** Compiles `rootOwner`. */
export function rootOwnerWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): RowWriter {
  const write = objectRefWriter(nodes, compiler)
  const { place } = compiler
  return (run, part, id) => {
    run.budget.report?.at(place)
    const root = chainOf(run, part, id).at(-1)
    return root === undefined ? 'null' : write(run, root)
  }
}

function chainOf(run: PlanRun, from: KindView, start: ObjectId): readonly ObjectRef[] {
  const chain: ObjectRef[] = []
  let at: ReturnType<typeof referenced> = { part: from, id: start }
  while (at !== undefined) {
    const { part, id } = at
    const owners = ownerReferencesOf(run, part, id)
    const owner = nearestOwner(owners, originOf(part, id), run.served.kindOf)
    if (owner === undefined || endsChain(chain, owner)) break
    chain.push(owner)
    at = referenced(run, owner)
  }
  return chain
}

/** Compiles a field that refers to objects of any kind, such as `Event.involved`. */
export function objectRefsWriter(
  { paths, many, isTopmost, kindAt }: ObjectRefField,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RowWriter {
  const write = objectRefWriter(nodes, compiler)
  const readers = paths.map(valueReader)
  const valuesOf = (run: PlanRun, part: KindView, id: ObjectId): readonly unknown[] =>
    readers.flatMap((read) => read(run, part, id))
  if (kindAt !== undefined) {
    const relation = compiler.relation(kindAt.relation)
    const readKind = valueReader(kindAt.path)
    const { place } = compiler
    return (run, part, id) => {
      run.budget.report?.at(place)
      const other = relation.one(run, part, id)
      const [kind] = other === undefined ? [] : readKind(run, other.part, other.id)
      const origin = originOf(part, id)
      const ref = objectRefOfKind(valuesOf(run, part, id), kind, origin, run.served.kindOf)
      return ref === null ? 'null' : write(run, ref)
    }
  }
  if (isTopmost === true) {
    const { place } = compiler
    return (run, part, id) => {
      run.budget.report?.at(place)
      const top = topmostBuiltIn(chainOf(run, part, id))
      return top === null ? 'null' : write(run, top)
    }
  }
  return (run, part, id) => {
    const refs = objectRefsOf(valuesOf(run, part, id), originOf(part, id), run.served.kindOf)
    if (many) return run.list(refs, (ref) => write(run, ref))
    const [first] = refs
    return first === undefined ? 'null' : write(run, first)
  }
}
