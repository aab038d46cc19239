import type { FieldNode } from 'graphql'
import { searchNeeds, searchSource } from '../reads/search-read.ts'
import type { SearchArguments } from '../schema/read-arguments.ts'
import type { SearchCount, SearchResultSource, SearchSource } from '../schema/read-context.ts'
import type { FieldArguments } from './field-arguments.ts'
import { objectRefWriter } from './object-ref-writer.ts'
import { pageInfoWriter } from './page-info-writer.ts'
import { type PlainWriter, plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { RootWriter } from './writers.ts'

type SearchEdge = ReturnType<SearchSource['edges']>[number]

/** Compiles `Query.search`. Throws {@link NotCoveredError}. */
export function searchWriter(
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RootWriter {
  const { place, served } = compiler
  compiler.asks({ args, needs: (values) => searchNeeds(served, values) })
  const write = plainWriter<SearchSource>('SearchResultConnection', nodes, compiler, (name, same) =>
    pageMember(name, same, compiler),
  )
  return {
    args,
    needs: compiler.takeNeeds(),
    write(run) {
      run.budget.report?.at(place)
      const found = searchSource(run, run.argumentsOf(args) as unknown as SearchArguments)
      run.errors.beside(found.failures, nodes)
      return write(run, found)
    },
  }
}

function pageMember(
  name: string,
  same: readonly FieldNode[],
  compiler: PlanCompiler,
): PlainWriter<SearchSource> | undefined {
  switch (name) {
    case 'nodes': {
      const one = resultWriter(same, compiler)
      return (run, found) => run.list(found.rows(), (row) => one(run, row))
    }
    case 'edges': {
      const one = plainWriter<SearchEdge>('SearchResultEdge', same, compiler, edgeMember)
      return (run, found) => run.list(found.edges(), (edge) => one(run, edge))
    }
    case 'pageInfo': {
      const pageInfo = pageInfoWriter(same, compiler)
      return (run, found) => pageInfo(run, found.pageInfo())
    }
    case 'totalCount':
      return (_run, found) => String(found.totalCount())
    case 'counts': {
      const one = plainWriter<SearchCount>('SearchCount', same, compiler, countMember)
      return (run, found) => run.list(found.counts(), (count) => one(run, count))
    }
    case 'kinds':
      return (_run, found) => JSON.stringify(found.kinds())
    default:
      return undefined
  }
  function edgeMember(
    member: string,
    nodes: readonly FieldNode[],
  ): PlainWriter<SearchEdge> | undefined {
    switch (member) {
      case 'cursor':
        return (_run, found) => JSON.stringify(found.cursor)
      case 'node': {
        const node = resultWriter(nodes, compiler)
        return (run, found) => node(run, found.node)
      }
      default:
        return undefined
    }
  }
}

const countMember = valueMembers<SearchCount>(['kind', 'count'])

function resultWriter(
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): PlainWriter<SearchResultSource> {
  return plainWriter<SearchResultSource>('SearchResult', nodes, compiler, (name, same) => {
    switch (name) {
      case 'object': {
        const object = objectRefWriter(same, compiler)
        return (run, found) => object(run, found.object)
      }
      case 'matched':
      case 'value':
        return (_run, found) => JSON.stringify(found[name])
      default:
        return undefined
    }
  })
}
