import type { Kind } from '../model/kind.ts'
import {
  facetsOf,
  pageInfoOf,
  paidEdges,
  paidRows,
  resumeTokenOf,
  sumsOf,
} from '../reads/connection-read.ts'
import { pageGaps, pageStaleSince, type ReadPage, resourceVersionOf } from '../reads/read-page.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import type { FacetArguments, SumArguments } from '../schema/read-arguments.ts'
import { type PlainWriter, plainWriter, writtenMembers } from './plain-writer.ts'
import type { PlanField, RowWriter } from './plan-compiler.ts'
import { leastLengthOf, type PlanRun } from './plan-run.ts'
import { staleInRow, valueWriter } from './value-writer.ts'

/**
 * Compiles the pages of a list of a kind. Its rows are written from their bare ids, without an object for each: this is
 * what most answers consist of. A page of several kinds is the value of a connection instead (`reads/connection.ts`).
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
        run.list(paidRows(run.budget, page), (id, at) => write(run, page.partAt(at), id))
    }
    return member.name === 'edges' ? edgesWriter(member, rowOf) : partWriter(member)
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
    return run.list(rows, (id, at) => run.object(members, read, id, at), leastLength)
  }
}

type Part = (run: PlanRun, read: ReadPage, args: FacetArguments & SumArguments) => unknown

/** What a connection of one kind tells besides its rows. */
const parts: Readonly<Record<string, Part>> = {
  pageInfo: (_run, { page }) => pageInfoOf(page),
  totalCount: (_run, { page }) => page.totalCount(),
  type: (_run, { kind }) => kind.typeName,
  resourceVersion: (_run, read) => resourceVersionOf(read),
  resumeToken: resumeTokenOf,
  staleSince: pageStaleSince,
  incomplete: pageGaps,
  facets: facetsOf,
  sum: sumsOf,
}

function partWriter(field: PlanField): PlainWriter<ReadPage> | undefined {
  const { name, args } = field
  const part = parts[name]
  if (part === undefined) return undefined
  const write = valueWriter(field)
  return (
    staleInRow(field) ??
    ((run, read) =>
      write(
        run,
        part(run, read, run.argumentsOf(args) as unknown as FacetArguments & SumArguments),
      ))
  )
}
