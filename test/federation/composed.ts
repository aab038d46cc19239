import { composeServices } from '@theguild/federation-composition'
import { parse } from 'graphql'
import {
  type ExampleProcess,
  startClientExample,
  startProgram,
} from '../support/example-process.ts'

/** A subgraph that answers. */
export interface Subgraph {
  readonly name: string
  readonly url: string
  readonly sdl: string
}

/** Asks a subgraph for its SDL, as tools of composition do. */
export const subgraphAt = async (
  name: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Subgraph> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: '{ _service { sdl } }' }),
  })
  const { data, errors } = (await response.json()) as {
    readonly data?: { readonly _service: { readonly sdl: string } }
    readonly errors?: unknown
  }
  if (data === undefined) throw new Error(`${name} shows no SDL: ${JSON.stringify(errors)}`)
  return { name, url, sdl: data._service.sdl }
}

/** The supergraph of some subgraphs. Throws an error with what keeps them from being one. */
export const compose = (subgraphs: readonly Subgraph[]): string => {
  const { errors, supergraphSdl } = composeServices(
    subgraphs.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) })),
  )
  if (supergraphSdl === undefined) {
    throw new Error((errors ?? []).map(({ message }) => message).join('\n'))
  }
  return supergraphSdl
}

/** The example of a second subgraph. */
export const startCatalog = async (): Promise<Subgraph & AsyncDisposable> => {
  const catalog = startClientExample('catalog-subgraph', '0')
  const url = await addressOf(catalog, 'answers at')
  const subgraph = await subgraphAt('catalog', url)
  return { ...subgraph, [Symbol.asyncDispose]: () => catalog[Symbol.asyncDispose]() }
}

/** Hive Gateway over a supergraph, of `.cache/hive-gateway`. */
export const startRouter = async (
  folder: string,
  supergraph: string,
): Promise<{ readonly url: string } & AsyncDisposable> => {
  const router = startProgram(process.execPath, ['server.js', supergraph], {
    cwd: folder,
    timeout: 120_000,
  })
  const url = await addressOf(router, 'http://')
  return { url, [Symbol.asyncDispose]: () => router[Symbol.asyncDispose]() }
}

const addressOf = async (program: ExampleProcess, text: string): Promise<string> => {
  await program.printed(text)
  const [url = ''] = /http:\S+/.exec(program.lines.join('\n')) ?? []
  return url
}
