import type { FieldNode } from 'graphql'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { everything, hasValue } from '../../query/condition/condition.ts'
import type { Kind, PolymorphicRelationField } from '../model/kind.ts'
import { choosingNeeds } from '../reads/chosen-objects.ts'
import { polymorphicParts } from '../reads/polymorphic-read.ts'
import { knownKinds, kindsServedBy, namedKinds } from '../reads/named-kinds.ts'
import { ownedKindsOf, relatedOwnedKinds } from '../reads/owned-read.ts'
import type { RelatedNeed } from '../reads/schema-relations.ts'
import type { OwnedArguments } from '../schema/read-arguments.ts'
import type { FieldArguments } from './field-arguments.ts'
import { polymorphicConnectionWriter } from './polymorphic-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { RowWriter } from './writers.ts'

/** Compiles `owned`: what an object owns of the kinds that it is known to own, of those in memory and of those that are named. */
export function ownedWriter(
  owner: Kind,
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RowWriter {
  const { served } = compiler
  compiler.asks({
    args,
    needs({ kinds }, cluster) {
      return [...relatedOwnedKinds(served, owner, cluster), ...knownKinds(served, kinds)].map(
        (kind): RelatedNeed => ({ kind, indexes: {} }),
      )
    },
  })
  const write = polymorphicConnectionWriter(nodes, compiler)
  const { place } = compiler
  return (run, { cluster, view }, id) => {
    run.budget.report?.at(place)
    const asked: OwnedArguments = run.argumentsOf(args)
    const { namespace } = splitObjectKey(view.keyOf(id))
    const places = run.once(args, `${cluster}/${namespace}`, () => {
      const named = namedKinds(run.served, asked.kinds)
      const of = { cluster, owner, named, namespace }
      return ownedKindsOf({ served: run.served, parts: run.parts, ...of })
    })
    const uid = view.uidOf(id)
    const condition = hasValue('ownerUid', uid === '' ? [] : [uid])
    const { failures, notLookedAt } = places
    const reads = places.parts.map(({ kind }) => kind)
    run.followed?.({ reads, condition, isSaid: false, owner: uid })
    const parts = places.parts.map((part) => ({ ...part, condition }))
    return write(
      run,
      { cluster, list: `${cluster}/owned/${uid}`, parts, failures, notLookedAt },
      asked,
    )
  }
}

/** Compiles a relation to objects of several kinds: of those in memory, of those that are named, and of the one that is meant. */
export function polymorphicRelationWriter(
  from: Kind,
  field: PolymorphicRelationField,
  { args, nodes }: { readonly args: FieldArguments; readonly nodes: readonly FieldNode[] },
  compiler: PlanCompiler,
): RowWriter {
  const { relations } = compiler.served
  compiler.asks({
    args,
    needs({ kinds }) {
      const named = knownKinds(compiler.served, kinds)
      const needs =
        field.sameLabel === undefined
          ? field.relations
              .filter(({ definition }) => named.some(({ typeName }) => typeName === definition.to))
              .flatMap((one) => [...(relations.byField.get(one)?.needs.values() ?? [])])
          : named.map((kind): RelatedNeed => ({ kind, indexes: {} }))
      return [...needs, ...choosingNeeds(field, relations)].filter(({ kind }) => !kind.uncached)
    },
  })
  const write = polymorphicConnectionWriter(nodes, compiler)
  const { place } = compiler
  return (run, { cluster, view }, id) => {
    const { budget, parts, served } = run
    budget.report?.at(place)
    const asked: OwnedArguments = run.argumentsOf(args)
    const { named, kinds } = run.once(args, cluster, () => ({
      named: namedKinds(served, asked.kinds),
      kinds: kindsServedBy(served, cluster),
    }))
    const origin = { view, id, budget }
    const { kindOf } = served
    const found = polymorphicParts(field, {
      relations,
      kinds,
      kindOf,
      parts,
      cluster,
      named,
      origin,
    })
    const object = view.uidOf(id) || view.keyOf(id)
    run.followed?.({ reads: found.reads, condition: everything, isSaid: false })
    return write(
      run,
      { ...found, cluster, list: `${cluster}/${from.typeName}.${field.name}/${object}` },
      asked,
    )
  }
}
