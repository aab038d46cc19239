/*
 * The sources of a configuration: a YAML file, environment variables and flags. Each is nested plain objects, and tells the
 * place of an option, so that a problem with its value names the line, the variable or the flag that set it. Later sources
 * win over earlier ones.
 */

import { isRecord } from '../lib/json.ts'
import { parse, isCollection, isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml'
import { CodedError } from '../lib/coded-error.ts'

/** The path of a value: `['clusters', 0, 'context']`. */
export type OptionPath = readonly PropertyKey[]

export interface OptionSource {
  /** The options as nested plain objects. */
  readonly values: Readonly<Record<string, unknown>>
  /** The place of an option, or of the nearest part around it, for messages; `undefined` if the source has neither. */
  placeOf(path: OptionPath): string | undefined
}

export interface GivenOption {
  readonly path: readonly string[]
  readonly value: unknown
  /** `--port` */
  readonly place: string
}

/** A source of single options. Of several values for one option, the last one wins. */
export function givenSource(options: readonly GivenOption[]): OptionSource {
  const trees = options.map(({ path, value }) =>
    path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value),
  )
  return {
    values: (trees as Record<string, unknown>[]).reduce(merged, {}),
    placeOf: (path) =>
      options.find((option) => option.path.every((name, at) => path[at] === name))?.place,
  }
}

/** Merges the options of several sources. Later sources win. Lists are replaced as a whole. */
export function mergeOptions(sources: readonly OptionSource[]): Readonly<Record<string, unknown>> {
  return sources.map(({ values }) => values).reduce(merged, {})
}

/** The place of the option that wins. */
export function placeOfOption(
  sources: readonly OptionSource[],
  path: OptionPath,
): string | undefined {
  for (const source of sources.toReversed()) {
    const place = source.placeOf(path)
    if (place !== undefined) return place
  }
  return undefined
}

export function valueAt(values: unknown, path: OptionPath): unknown {
  let value = values
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<PropertyKey, unknown>)[step]
  }
  return value
}

function merged(
  below: Readonly<Record<string, unknown>>,
  above: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const all = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) {
    const before = all.get(key)
    all.set(key, isRecord(before) && isRecord(value) ? merged(before, value) : value)
  }
  return Object.fromEntries(all)
}

/** An option that an environment variable or a flag can set. */
export interface NamedOption {
  /** `['server', 'maxBodyBytes']`, whose variable is `PREFIX_SERVER_MAX_BODY_BYTES`. */
  readonly path: readonly string[]
  /** Text is used as it is, a list may be separated by commas, and other values are YAML. */
  readonly type: 'text' | 'list' | 'other'
}

/**
 * Reads options from environment variables with a prefix that ends in `_`. `unknown` has the variables that name no
 * option.
 */
export function variableSource(
  prefix: string,
  options: readonly NamedOption[],
  variables: Readonly<Record<string, string | undefined>>,
): OptionSource & { readonly unknown: readonly string[] } {
  const byName = new Map(options.map((option) => [variableNameOf(prefix, option.path), option]))
  const given: GivenOption[] = []
  const unknown: string[] = []
  for (const [name, text] of Object.entries(variables)) {
    if (!name.startsWith(prefix) || text === undefined || text === '') continue
    if (isServiceLink(name, text)) continue
    const option = byName.get(name)
    if (option === undefined) unknown.push(name)
    else given.push({ path: option.path, value: valueOf(text, option.type), place: name })
  }
  return { ...givenSource(given), unknown }
}

/** The variable of an option: `PREFIX_SERVER_MAX_BODY_BYTES`. */
export function variableNameOf(prefix: string, path: readonly string[]): string {
  const words = path.map((name) => name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase())
  return prefix + words.join('_')
}

/** Whether a variable is a service link, which Kubernetes adds to pods: `X_PORT=tcp://10.0.0.1:80`. */
function isServiceLink(name: string, text: string): boolean {
  return (
    /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name) ||
    /_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text))
  )
}

function valueOf(text: string, type: NamedOption['type']): unknown {
  if (type === 'text') return text
  let value: unknown
  try {
    value = parse(text)
  } catch {
    return text
  }
  return type === 'list' && typeof value !== 'object'
    ? text.split(',').map((part) => part.trim())
    : value
}

/** Reads the text of a YAML file; places are `file:line`. Throws YAML if it is no mapping of options. */
export function yamlSource(file: string, text: string): OptionSource {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false })
  const placeOf = (offset: number): string => `${file}:${lineCounter.linePos(offset).line}`
  const [error] = document.errors
  const yamlError = (at: number, problem: string): CodedError => {
    const hint = 'a configuration is a YAML mapping of options'
    return new CodedError('YAML', `${placeOf(at)}: ${problem}`, { hint })
  }
  if (error !== undefined) throw yamlError(error.pos[0], error.message)
  const { contents } = document
  if (contents === null) return { values: {}, placeOf: () => undefined }
  if (!isMap(contents)) throw yamlError(contents.range[0], 'expected a mapping at the top')
  return {
    values: document.toJS({ maxAliasCount: 100 }) as Record<string, unknown>,
    placeOf(path) {
      const offset = offsetOf(contents, path)
      return offset === undefined ? undefined : placeOf(offset)
    },
  }
}

/** The position of an option's key, or of the nearest existing option around it. */
function offsetOf(root: Node, path: OptionPath): number | undefined {
  let node: unknown = root
  let offset: number | undefined
  for (const step of path) {
    if (!isCollection(node)) break
    const pair = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && key.value === step)
      : undefined
    const next: unknown = node.get(step, true)
    const begin = ((pair?.key ?? next) as Node | undefined)?.range?.[0]
    if (begin === undefined) break
    offset = begin
    node = next
  }
  return offset
}
