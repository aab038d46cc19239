import type { FieldNode } from 'graphql'
import { testsPerCursor } from '../../query/page/cursor.ts'
import type { UnionPage, UnionRow } from '../../query/page/union-page.ts'
import { selectionsOf } from './collected-fields.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import { pageInfoOf, pageInfoWriter } from './page-info-writer.ts'
import { writtenMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** A page of objects of several kinds. */
interface ReadPage {
  readonly page: UnionPage
  /** The type names of the kinds that the read covers. */
  readonly kinds: readonly string[]
  /** The type names of the kinds left out because they are not loaded, if the read is limited to loaded kinds. */
  readonly notLookedAt?: () => readonly string[]
}

/** Writes a row of a page. */
export type UnionRowWriter<P> = (run: PlanRun, read: P, row: UnionRow) => string

/** The types and rows of a page of objects of several kinds. */
interface UnionConnection<P> {
  /** The type names of the connection and its edges. */
  readonly connection: string
  readonly edge: string
  /** Compiles the `nodes`, or the `node` of the edges. */
  readonly row: (nodes: readonly FieldNode[]) => UnionRowWriter<P>
}

type PageMember<P> = (run: PlanRun, read: P) => string

/** Compiles pages of objects of several kinds. Throws {@link NotCoveredError}. */
export function unionConnectionWriter<P extends ReadPage>(
  written: UnionConnection<P>,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): PageMember<P> {
  const type = compiler.objectType(written.connection)
  const members = writtenMembers(type, selectionsOf(nodes), compiler, (name, same) => {
    const write = pageMember(written, name, same, compiler)
    return (run: PlanRun, read: P): string => {
      // Relations in earlier rows may have moved the report to another place.
      run.budget.report?.at(place)
      return write(run, read)
    }
  })
  const { place } = compiler
  return (run, read) => run.object(members, read)
}

function pageMember<P extends ReadPage>(
  { connection, edge, row }: UnionConnection<P>,
  name: string,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): PageMember<P> {
  switch (name) {
    case 'nodes':
      return rowsWriter(row(nodes))
    case 'edges': {
      const type = compiler.objectType(edge)
      let cursors = 0
      const compile = (member: string, same: readonly FieldNode[]): UnionRowWriter<P> => {
        switch (member) {
          case 'cursor':
            cursors += 1
            return (_run, { page }, one) => JSON.stringify(page.cursorOf(one))
          case 'node':
            return row(same)
          default:
            throw new NotCoveredError(`${edge}.${member}`)
        }
      }
      const members = writtenMembers(type, selectionsOf(nodes), compiler, compile)
      const write = rowsWriter<P>((run, read, one) => run.object(members, read, one))
      return (run, read) => {
        run.budget.foresee('tests', testsPerCursor * cursors * read.page.rows.length)
        return write(run, read)
      }
    }
    case 'pageInfo': {
      const write = pageInfoWriter(nodes, compiler)
      return (run, { page }) => write(run, pageInfoOf(page.rows, page))
    }
    case 'totalCount':
      return (_run, { page }) => String(page.totalCount())
    case 'kinds':
      return (_run, { kinds }) => JSON.stringify(kinds)
    case 'notLookedAt':
      return (_run, { notLookedAt }) => JSON.stringify(notLookedAt?.())
    default:
      throw new NotCoveredError(`${connection}.${name}`)
  }
}

function rowsWriter<P extends ReadPage>(write: UnionRowWriter<P>): PageMember<P> {
  return (run, read) => {
    const { rows } = read.page
    run.budget.spend('rows', rows.length)
    return run.list(rows, (row) => write(run, read, row))
  }
}
