import { readdir, readFile } from 'node:fs/promises'
import { type DocumentNode, Kind, parse } from 'graphql'

/** GraphQL that a guide shows. */
export interface Example {
  readonly file: string
  readonly line: number
  readonly text: string
  readonly document: DocumentNode
}

/** Its GraphQL is a router's: `test/federation/federation-document.test.ts` holds it to what the router tests run. */
const routers = 'federation.md'
const guides = (await readdir('docs')).filter((name) => name.endsWith('.md') && name !== routers)
const files = ['README.md', 'packages/client/README.md', ...guides.map((name) => `docs/${name}`)]
/** A block of its own, or what a program asks for. */
const shown = /```graphql\n(.*?)```|\bquery: `([^`]*)`/gs

/** All of them. */
export const examples: readonly Example[] = (
  await Promise.all(
    files.map(async (file) => {
      const guide = await readFile(file, 'utf8')
      return Array.from(guide.matchAll(shown), ({ 1: block, 2: asked = '', index }) => {
        const text = block ?? asked
        const line = guide.slice(0, index).split('\n').length
        return { file, line, text, document: parse(text) }
      })
    }),
  )
).flat()

/** Whether it asks for something; else it declares something. */
export const isOperation = ({ document }: Example): boolean =>
  document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION)
