import { isCollection, isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml'
import { CodedError } from '../lib/coded-error.ts'
import type { OptionPath, OptionSource } from './option-source.ts'

/** Reads the text of a YAML file; places are `file:line`. Throws YAML if it is no mapping of options. */
export function yamlSource(file: string, text: string): OptionSource {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false })
  const placeOf = (offset: number): string => `${file}:${lineCounter.linePos(offset).line}`
  const [error] = document.errors
  if (error !== undefined) throw yamlError(placeOf(error.pos[0]), error.message)
  const { contents } = document
  if (contents === null) return { values: {}, placeOf: () => undefined }
  if (!isMap(contents)) {
    throw yamlError(placeOf(contents.range[0]), 'expected a mapping at the top')
  }
  return {
    values: document.toJS({ maxAliasCount: 100 }) as Record<string, unknown>,
    placeOf(path) {
      const offset = offsetOf(contents, path)
      return offset === undefined ? undefined : placeOf(offset)
    },
  }
}

function yamlError(place: string, problem: string): CodedError {
  const hint = 'a configuration is a YAML mapping of options'
  return new CodedError('YAML', `${place}: ${problem}`, { hint })
}

/** The position of an option's key, or of the nearest existing option around it. */
function offsetOf(root: Node, path: OptionPath): number | undefined {
  let node: unknown = root
  let offset: number | undefined
  for (const step of path) {
    if (!isCollection(node)) break
    const key = isMap(node) ? keyNode(node.items, step) : undefined
    const next: unknown = node.get(step, true)
    const begin = startOf(key) ?? startOf(next)
    if (begin === undefined) break
    offset = begin
    node = next
  }
  return offset
}

function keyNode(pairs: readonly { readonly key: unknown }[], name: PropertyKey): unknown {
  return pairs.find(({ key }) => isScalar(key) && key.value === name)?.key
}

function startOf(node: unknown): number | undefined {
  return typeof node === 'object' && node !== null ? (node as Node).range?.[0] : undefined
}
