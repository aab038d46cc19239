import type { FieldNode } from 'graphql'
import type { UnionPage, UnionRow } from '../../query/page/union-page.ts'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { answered, fieldType } from './field-errors.ts'
import { NotCoveredError } from '../operation/not-covered.ts'
import { pageInfoWriter, unionPageInfo } from './page-info-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** A page of objects of several kinds. */
interface ReadPage {
  readonly page: UnionPage
  /** The type names of the kinds that were looked into. */
  readonly kinds: readonly string[]
}

/** Writes a row of a page. */
export type UnionRowWriter<P> = (run: PlanRun, read: P, row: UnionRow) => string

/** How a page of objects of several kinds is written. */
interface UnionConnection<P> {
  /** The names of its types. */
  readonly connection: string
  readonly edge: string
  /** Compiles its `nodes`, or the `node` of its edges. */
  readonly row: (nodes: readonly FieldNode[]) => UnionRowWriter<P>
}

type PageMember<P> = (run: PlanRun, read: P) => string

/** Compiles what is written of pages of objects of several kinds. Throws {@link NotCoveredError}. */
export function unionConnectionWriter<P extends ReadPage>(
  written: UnionConnection<P>,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): PageMember<P> {
  const members = membersOf<PageMember<P>>(written.connection, nodes, compiler, (same) =>
    pageMember(written, same, compiler),
  )
  const { place } = compiler
  return (run, read) => {
    const { budget } = run
    budget.spend('bytes', members.names)
    let text = '{'
    for (const { before, write } of members) {
      // The rows may have relations, which read for other places.
      budget.report?.at(place)
      text += before + write(run, read)
    }
    return `${text}}`
  }
}

function pageMember<P extends ReadPage>(
  { connection, edge, row }: UnionConnection<P>,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): PageMember<P> {
  switch (nodes[0]?.name.value) {
    case 'nodes':
      return rowsWriter(row(nodes))
    case 'edges': {
      const members = membersOf<UnionRowWriter<P>>(edge, nodes, compiler, (same) => {
        switch (same[0]?.name.value) {
          case 'cursor':
            return (_run, { page }, one) => JSON.stringify(page.cursorOf(one))
          case 'node':
            return row(same)
          default:
            throw new NotCoveredError(`a field of ${edge}`)
        }
      })
      return rowsWriter((run, read, one) => {
        run.budget.spend('bytes', members.names)
        let text = '{'
        for (const { before, write } of members) text += before + write(run, read, one)
        return `${text}}`
      })
    }
    case 'pageInfo': {
      const write = pageInfoWriter(nodes, compiler)
      return (run, { page }) => write(run, unionPageInfo(page))
    }
    case 'totalCount':
      return (_run, { page }) => String(page.totalCount())
    case 'kinds':
      return (run, { kinds }) => run.paid(JSON.stringify(kinds))
    default:
      throw new NotCoveredError(`a field of ${connection}`)
  }
}

function rowsWriter<P extends ReadPage>(write: UnionRowWriter<P>): PageMember<P> {
  return (run, read) => {
    const { rows } = read.page
    run.budget.spend('rows', rows.length)
    return run.list(rows, (row) => write(run, read, row))
  }
}

interface Member<W> {
  readonly before: string
  readonly write: W
}

/** `names`: how long what is written of their names is, and about what else is no row. */
type Members<W> = readonly Member<W | (() => string)>[] & { readonly names: number }

/** What a part of a page takes besides its name and its rows, about. */
const partLength = 50

function membersOf<W extends (run: PlanRun, ...source: never[]) => string>(
  typeName: string,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
  compile: (nodes: readonly FieldNode[]) => W,
): Members<W> {
  const fields = collectFields(selectionsOf(nodes), new Set([typeName]), compiler.collect)
  const type = compiler.objectType(typeName)
  const members = Array.from(fields, ([key, same], position) => {
    const before = `${position === 0 ? '' : ','}${JSON.stringify(key)}:`
    const name = same[0]?.name.value ?? ''
    if (name === '__typename') return { before, write: (): string => JSON.stringify(typeName) }
    return {
      before,
      write: answered({ key, type: fieldType(type, name), nodes: same }, compile(same)),
    }
  })
  const names = members.reduce((sum, { before }) => sum + before.length, partLength)
  return Object.assign(members, { names })
}
