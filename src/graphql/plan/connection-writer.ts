import type { Kind } from '../model/kind.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import { paidEdges, paidRows, type ReadPage } from '../reads/connection-read.ts'
import { type PlainWriter, plainWriter, writtenMembers } from './plain-writer.ts'
import type { PlanField, RowWriter } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { leastLengthOf, listText, objectText } from './value-run.ts'
import { memberWriter } from './value-writer.ts'

/**
 * Compiles the pages of a list of a kind. A page is the value of its connection, but for its rows: they are written from
 * their bare ids, without an object for each, as most answers consist of them. Pages of several kinds are values with
 * their rows (`reads/over-kinds/kinds-connection.ts`).
 */
export function listWriter(kind: Kind, field: PlanField): PlainWriter<ReadPage> {
  const { compiler, args } = field
  compiler.reads(kind)
  compiler.filters(kind, args)
  const rowOf = ({ selections }: PlanField): RowWriter => compiler.row(kind, selections)
  return plainWriter<ReadPage>(field, (member) => {
    if (member.name === 'nodes') {
      const write = rowOf(member)
      return (run, { page }) =>
        listText(run, paidRows(run.budget, page), (id, at) => write(run, page.partAt(at), id))
    }
    return member.name === 'edges' ? edgesWriter(member, rowOf) : memberWriter(member)
  })
}

function edgesWriter(
  { objectType, selections, compiler }: PlanField,
  rowOf: (field: PlanField) => RowWriter,
): PlainWriter<ReadPage> {
  type MemberWriter = (run: PlanRun, read: ReadPage, id: ObjectId, at: number) => string
  let cursors = 0
  const members = writtenMembers(objectType, selections, compiler, (field): MemberWriter => {
    if (field.name === 'node') {
      const write = rowOf(field)
      return (run, { page }, id, at) => write(run, page.partAt(at), id)
    }
    if (field.name !== 'cursor') throw field.notCovered()
    cursors += 1
    return (_run, { page }, _id, at) => JSON.stringify(page.cursorAt(at))
  })
  const leastLength = leastLengthOf(members)
  return (run, read) => {
    const rows = paidEdges(run.budget, read.page, cursors)
    return listText(run, rows, (id, at) => objectText(run, members, read, id, at), leastLength)
  }
}
