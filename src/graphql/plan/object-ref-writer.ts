import type { ObjectRefField } from '../model/kind.ts'
import { referenced } from '../reads/object-read.ts'
import { ObjectRefRead, ownerChainOf, ownersOf } from '../reads/owner-read.ts'
import { idOfObjectRef } from '../schema/object-ref.ts'
import type { ObjectRef } from '../schema/read-context.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { type PlainWriter, plainMembers } from './plain-writer.ts'
import type { PlanField, RowWriter } from './plan-compiler.ts'
import { refusedBeside } from './plan-run.ts'
import { listText, objectText } from './value-run.ts'

/** Compiles an `ObjectRef`. Throws `NotCoveredError`. */
export function objectRefWriter(field: PlanField): PlainWriter<ObjectRef> {
  const members = plainMembers<ObjectRef>(field, (member) => {
    const { name } = member
    switch (name) {
      case 'id':
        return (_run, ref) => JSON.stringify(idOfObjectRef(ref))
      case 'apiVersion':
      case 'kind':
      case 'namespace':
      case 'name':
        return (_run, ref) => JSON.stringify(ref[name])
      case 'object': {
        const write = anyRowWriter(member)
        const refused = refusedBeside(member)
        return (run, ref) => {
          const found = referenced(run, ref, refused)
          return found === undefined ? 'null' : write(run, found.part, found.id)
        }
      }
      default:
        return undefined
    }
  })
  return (run, ref) => {
    run.budget.spend('fields', members.length)
    return objectText(run, members, ref)
  }
}

/** Compiles `owners`. */
export function ownersWriter(field: PlanField): RowWriter {
  const write = anyRowWriter(field)
  const refused = refusedBeside(field)
  return (run, part, id) =>
    listText(run, ownersOf(run, part, id, refused), (owner) => write(run, owner.part, owner.id))
}

/** Compiles `ownerChain`. */
export function ownerChainWriter(field: PlanField): RowWriter {
  const write = objectRefWriter(field)
  const refused = refusedBeside(field)
  return (run, part, id) => {
    return listText(run, ownerChainOf(run, part, id, refused), (ref) => write(run, ref))
  }
}

/** Compiles `rootOwner`. */
export function rootOwnerWriter(field: PlanField): RowWriter {
  const write = objectRefWriter(field)
  const refused = refusedBeside(field)
  return (run, part, id) => {
    const root = ownerChainOf(run, part, id, refused).at(-1)
    return root === undefined ? 'null' : write(run, root)
  }
}

/** Compiles a field that refers to objects of any kind, such as `Event.involved`. */
export function objectRefsWriter(refers: ObjectRefField, field: PlanField): RowWriter {
  const write = objectRefWriter(field)
  const { kindAt, many } = refers
  const read = new ObjectRefRead(refers, kindAt && field.compiler.relation(kindAt.relation))
  const refused = refusedBeside(field)
  return (run, part, id) => {
    const refs = read.refs(run, part, id, refused)
    if (many) return listText(run, refs, (ref) => write(run, ref))
    const [first] = refs
    return first === undefined ? 'null' : write(run, first)
  }
}
