import type { ObjectId } from '../../informer/store/store-view.ts'
import type { PageOf } from '../../query/page/page.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import { pageInfoOf, paidEdges, paidRows, type ReadPage } from '../reads/connection-read.ts'
import { type PlainWriter, plainWriter, writtenMembers } from './plain-writer.ts'
import type { PlanField } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { leastLengthOf, listText, objectText } from './value-run.ts'
import { memberWriter, valueWriter } from './value-writer.ts'

/** Compiles the `nodes` of a connection, or the `node` of edges: one row, which is at a position of the page. */
export type CompileRow<P, R> = (
  field: PlanField,
) => (run: PlanRun, read: P, row: R, at: number) => string

/**
 * Compiles a connection: its rows by `compileRow`, and its other fields as members of what was read. Throws
 * `NotCoveredError`.
 */
export function connectionWriter<P extends { readonly page: PageOf<R> }, R>(
  field: PlanField,
  compileRow: CompileRow<P, R>,
): PlainWriter<P> {
  return plainWriter<P>(field, (part) => {
    switch (part.name) {
      case 'nodes': {
        const write = compileRow(part)
        return (run, read) => {
          const rows = paidRows(run.budget, read.page)
          return listText(run, rows, (row, at) => write(run, read, row, at))
        }
      }
      case 'edges':
        return edgesWriter(part, compileRow)
      case 'pageInfo': {
        const write = valueWriter(part)
        return (run, { page }) => write(run, pageInfoOf(page))
      }
      case 'totalCount':
        return (_run, { page }) => String(page.totalCount())
      case 'staleSince':
        return staleSinceWriter(part)
      default:
        return memberWriter(part)
    }
  })
}

function edgesWriter<P extends { readonly page: PageOf<R> }, R>(
  { objectType, selections, compiler }: PlanField,
  compileRow: CompileRow<P, R>,
): PlainWriter<P> {
  type MemberWriter = (run: PlanRun, read: P, row: R, at: number) => string
  let cursors = 0
  const members = writtenMembers(objectType, selections, compiler, (field): MemberWriter => {
    if (field.name === 'node') return compileRow(field)
    if (field.name !== 'cursor') throw field.notCovered()
    cursors += 1
    return (_run, { page }, _row, at) => JSON.stringify(page.cursorAt(at))
  })
  const leastLength = leastLengthOf(members)
  return (run, read) => {
    const rows = paidEdges(run.budget, read.page, cursors)
    return listText(run, rows, (row, at) => objectText(run, members, read, row, at), leastLength)
  }
}

/** Compiles the pages of a list of a kind. */
export function listWriter(kind: Kind, field: PlanField): PlainWriter<ReadPage> {
  const { compiler, args } = field
  compiler.reads(kind)
  compiler.filters(kind, args)
  return connectionWriter<ReadPage, ObjectId>(field, ({ selections }) => {
    const write = compiler.row(kind, selections)
    return (run, { page }, id, at) => write(run, page.partAt(at), id)
  })
}

/** Compiles `staleSince` of a page. A row of a subscription does not change with it, so it fails there. */
function staleSinceWriter(field: PlanField): PlainWriter<unknown> {
  if (!field.compiler.scope.isLive) return memberWriter(field)
  return () => {
    const message = 'the rows of a subscription do not follow staleSince'
    const hint = 'select staleSince of the frame: it is about all kinds that the subscription reads'
    throw new ClientError('UNSUPPORTED', message, { hint })
  }
}
