import type { StoreReads } from '../schema/read-context.ts'
import { readGraph } from './graph-reader.ts'
import { graphRequest } from './graph-request.ts'
import { graphSource } from './graph-source.ts'
import { type SearchOptions, searchSource } from './search-source.ts'

/** Reads over all kinds at once: what is around objects, and what holds a text. */
export function explorations(options: SearchOptions): Pick<StoreReads, 'graph' | 'search'> {
  return {
    graph: (args) => graphSource(readGraph(options, graphRequest(options.served, args))),
    search: (args) => searchSource(options, args),
  }
}
