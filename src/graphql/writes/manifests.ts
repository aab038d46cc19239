/*
 * Manifests and patches, as text or as values, and the place that a manifest gives its object (`placeOfDocument`). Each
 * stage has a bound before the next: the text before it is parsed, tokens before they are composed, and values before
 * they are used. YAML takes a hundred times longer than JSON, and its aliases multiply the values that they refer to.
 * Parsing happens in the turns of the user.
 */

import { Composer, type CST, isScalar, Lexer, LineCounter, Parser, type Tags, visit } from 'yaml'
import type { Viewer } from '../../access/viewer.ts'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { fieldsOf, itemsOf, textOf } from '../../kubernetes/fields.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isJsonObject, rawJson } from '../../lib/json.ts'
import { quoted, shortened } from '../../lib/text.ts'
import { ClientError } from '../errors/client-error.ts'
import { inTurns } from '../prepare/user-shares.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { WritePlace } from './write-errors.ts'
import type { WriteLimits } from './write-limits.ts'

type ManifestLimits = Pick<WriteLimits, 'maxBytes' | 'maxWrites'>

/** The aliases of one YAML text. Each is looked up in the whole text. */
const maxAliases = 100
/** The tags and directives of one YAML text. Manifests have none, and each takes as long as forty other tokens. */
const maxTags = 100
/**
 * The tokens of one YAML text: some 3,500 lines. Parsing takes a hundred times longer than for JSON, and a document is
 * composed in one piece. The largest definitions of well-known projects have some 23,000.
 */
const maxYamlTokens = 25_000
/** The tokens that are parsed at once. */
const tokensAtOnce = 200
/** Readers of deeper values would overflow the stack. */
const maxDepth = 100

/**
 * Reads the manifests and patches of one operation. A text that several fields share is parsed once, in the turns of the
 * user.
 */
export class ManifestReader {
  readonly #limits: ManifestLimits
  readonly #viewer: Viewer | undefined
  readonly #parsed = new Map<string, Promise<readonly unknown[]>>()

  constructor(limits: ManifestLimits, viewer: Viewer | undefined) {
    this.#limits = limits
    this.#viewer = viewer
  }

  /**
   * The documents of a manifest: YAML or JSON as text, an object, or a list of them. Empty documents are left out, and a
   * `List` is its items. Rejects with `ClientError` BAD_USER_INPUT for a value that is no manifest, and for a manifest
   * beyond the bounds, which are checked before anything is expanded.
   */
  async documentsOf(manifest: unknown, argument: string): Promise<readonly Unstructured[]> {
    const limits = this.#limits
    const values =
      typeof manifest === 'string' ? await this.#textOf(manifest, argument) : [manifest].flat()
    const documents = values
      .filter((value) => value !== null && value !== undefined)
      .flatMap((value): readonly unknown[] => {
        const { apiVersion, kind, items } = fieldsOf(value)
        const isList = apiVersion === 'v1' && kind === 'List' && Array.isArray(items)
        return isList ? itemsOf(items) : [value]
      })
    if (documents.length === 0) throw unusable(argument, 'it contains no document')
    if (documents.length > limits.maxWrites) throw tooMany(argument, documents.length, limits)
    checkSize(documents, argument, limits)
    return documents.map((value, at) => checkedDocument(value, at, argument))
  }

  /** The value of a patch: an object or a list, also as YAML or JSON text. */
  async patchOf(patch: unknown, argument: string): Promise<object> {
    const [value, ...further] =
      typeof patch === 'string' ? await this.#textOf(patch, argument) : [patch]
    checkSize([value], argument, this.#limits)
    if (typeof value === 'object' && value !== null && further.length === 0) return value
    throw unusable(argument, 'a patch is one object, or for JSON one list of steps')
  }

  #textOf(text: string, argument: string): Promise<readonly unknown[]> {
    return getOrInsert(this.#parsed, text, () =>
      inTurns(parsedText(text, argument, this.#limits), this.#viewer),
    )
  }
}

/** The name of a version (RFC 1035 label). It becomes a part of URLs. */
const isVersion = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** The place that a document gives its object. Throws `ClientError`. */
export function placeOfDocument(
  served: ServedSchema,
  cluster: string,
  { apiVersion, kind: name, metadata }: Unstructured,
  { namespace: given }: { readonly namespace?: string | null | undefined },
): WritePlace & { readonly version: string } {
  const { group, version } = splitApiVersion(apiVersion)
  if (!isVersion.test(version)) {
    const message = `apiVersion: ${quoted(shortened(apiVersion))} is not a group and version`
    const hint = 'write it as in apps/v1; nothing was written'
    const details = { argument: 'manifest', value: shortened(apiVersion), hint, cluster }
    throw new ClientError('BAD_USER_INPUT', message, details)
  }
  const kind = served.kindOf(group, name)
  if (kind === undefined) {
    const message = `the gateway serves no ${name} of ${apiVersion}`
    const hint = 'apply its definition first, and again once the cluster serves it'
    const details = { argument: 'manifest', value: `${apiVersion} ${name}`, hint, cluster }
    throw new ClientError('BAD_USER_INPUT', message, details)
  }
  const title = `${name} ${metadata.name ?? metadata.generateName}`
  const own = metadata.namespace ?? ''
  const asked = given ?? ''
  if (!kind.resource.namespaced)
    return { cluster, kind, namespace: '', name: metadata.name, version }
  if (own !== '' && asked !== '' && own !== asked) {
    const message = `${title} is for namespace ${own}, and the argument says ${asked}`
    throw new ClientError('BAD_USER_INPUT', message, {
      argument: 'namespace',
      value: asked,
      hint: 'leave the argument out, or the namespace of the document',
    })
  }
  const namespace = own === '' ? asked : own
  if (namespace !== '') return { cluster, kind, namespace, name: metadata.name, version }
  throw new ClientError('BAD_USER_INPUT', `${title} names no namespace`, {
    argument: 'namespace',
    type: kind.typeName,
    hint: 'write metadata.namespace, or give `namespace` for all documents without one',
  })
}

/** YAML as kubectl reads it: 1.1, so that `0644` is octal, but neither dates nor sexagesimal numbers. */
const yamlOptions = {
  version: '1.1',
  customTags: (tags: Tags): Tags =>
    tags.filter(
      (tag) =>
        typeof tag === 'string' ||
        (tag.tag !== 'tag:yaml.org,2002:timestamp' && !('format' in tag && tag.format === 'TIME')),
    ),
  intAsBigInt: true,
  logLevel: 'silent',
  // The parser would compare each key of a map with all others.
  uniqueKeys: false,
} as const

function* parsedText(
  text: string,
  argument: string,
  limits: ManifestLimits,
): Generator<void, readonly unknown[]> {
  if (text.length > limits.maxBytes) throw tooLarge(argument, text.length, limits)
  if (/^\s*[[{]/.test(text)) {
    try {
      return [JSON.parse(text) as unknown].flat()
    } catch {
      // YAML may begin with a brace, too.
    }
  }
  // Counts before it parses: each document costs memory and time.
  const starts = text.match(/^---(?:\s|$)/gm)?.length ?? 0
  if (starts > limits.maxWrites + 1) throw tooMany(argument, starts, limits)
  const lines = new LineCounter()
  const values: unknown[] = []
  try {
    const tokens = yield* parsedTokens(text, argument, lines)
    for (const document of new Composer(yamlOptions).compose(tokens)) {
      yield
      const [error] = document.errors
      if (error !== undefined) {
        const { line, col } = lines.linePos(error.pos[0])
        throw new SyntaxError(`${error.message} at line ${line}, column ${col}`)
      }
      visit(document, {
        Map(_, { items }) {
          const known = new Set<string>()
          for (const { key } of items) {
            const name = String(isScalar(key) ? key.value : key)
            if (known.has(name)) throw new SyntaxError(`the key ${quoted(name)} appears twice`)
            known.add(name)
          }
        },
      })
      values.push(exactNumbers(document.toJS({ maxAliasCount: maxAliases }), 0))
    }
  } catch (error) {
    if (error instanceof ClientError) throw error
    const problem = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : ''
    throw unusable(argument, `it is not YAML: ${shortened(problem)}`)
  }
  return values
}

/**
 * Parses a text into documents that are not resolved yet, which takes most of the time. Throws `ClientError` for a text
 * beyond the bounds.
 */
function* parsedTokens(
  text: string,
  argument: string,
  lines: LineCounter,
): Generator<void, readonly CST.Token[]> {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  const parsed: CST.Token[] = []
  let [tokens, aliases, tags] = [0, 0, 0]
  let isText = false
  for (const token of new Lexer().lex(text)) {
    tokens += 1
    if (!isText && token.startsWith('*')) aliases += 1
    if (!isText && (token.startsWith('!') || token.startsWith('%'))) tags += 1
    isText = token === beforeText
    const [count, most, what] =
      aliases > maxAliases
        ? [aliases, maxAliases, 'aliases']
        : tags > maxTags
          ? [tags, maxTags, 'tags and directives']
          : [tokens, maxYamlTokens, 'keys, values and signs']
    if (count > most) {
      const hint = 'send it as JSON, or in several operations; nothing was written'
      const message = `${argument}: its YAML has more than ${most} ${what}`
      throw new ClientError('BAD_USER_INPUT', message, { argument, hint })
    }
    parsed.push(...parser.next(token))
    if (tokens % tokensAtOnce === 0) yield
  }
  parsed.push(...parser.end())
  return parsed
}

/** The mark that the lexer writes before the text of a scalar. */
const beforeText = '\u001f'

/** Integers that a double cannot hold keep their digits. */
function exactNumbers(value: unknown, depth: number): unknown {
  if (depth > maxDepth) throw new RangeError(`nested more than ${maxDepth} deep`)
  if (typeof value === 'bigint') {
    return Number.isSafeInteger(Number(value)) ? Number(value) : rawJson(String(value))
  }
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      // Aliases share their value, which is changed once, in place.
      if (typeof item === 'bigint' || typeof item === 'object')
        value[at] = exactNumbers(item, depth + 1)
    }
    return value
  }
  if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'bigint' || typeof member === 'object') {
        value[name] = exactNumbers(member, depth + 1)
      }
    }
  }
  return value
}

/** Measures values until they exceed the bound: aliases may make them much longer than their text. */
function checkSize(values: readonly unknown[], argument: string, limits: ManifestLimits): void {
  let length = 0
  const add = (characters: number): void => {
    length += characters
    if (length > limits.maxBytes) throw tooLarge(argument, length, limits)
  }
  const measure = (value: unknown, depth: number): void => {
    if (depth > maxDepth) throw unusable(argument, `it is nested more than ${maxDepth} deep`)
    if (typeof value === 'string') add(value.length + 2)
    else if (Array.isArray(value)) {
      add(2 + value.length)
      for (const item of value) measure(item, depth + 1)
    } else if (isJsonObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        add(name.length + 4)
        measure(member, depth + 1)
      }
    } else add(4)
  }
  for (const value of values) measure(value, 0)
}

function checkedDocument(value: unknown, at: number, argument: string): Unstructured {
  const { apiVersion, kind, metadata } = fieldsOf(value)
  const { name, generateName } = fieldsOf(metadata)
  const isNamed = textOf(name) !== undefined || textOf(generateName) !== undefined
  if (textOf(apiVersion) !== undefined && textOf(kind) !== undefined && isNamed) {
    for (const [member, form] of Object.entries(metadataForms)) {
      const given = fieldsOf(metadata)[member] ?? ''
      if (typeof given === 'string' && form.test(given)) continue
      const shown = shortened(JSON.stringify(given))
      const problem = `document ${at + 1} has metadata.${member} ${shown}, which is not valid`
      throw unusable(argument, problem, typeof given === 'string' ? shortened(given) : shown)
    }
    return value as Unstructured
  }
  const missing = [
    ...(textOf(apiVersion) === undefined ? ['apiVersion'] : []),
    ...(textOf(kind) === undefined ? ['kind'] : []),
    ...(isNamed ? [] : ['metadata.name']),
  ]
  throw unusable(argument, `document ${at + 1} has no ${missing.join(', no ')}`)
}

/** A part of a URL. */
const segment = /^(?!\.{1,2}$)[^/%]*$/
/** The members of `metadata` that become parts of URLs, or preconditions. Servers answer 404 or 500 for others. */
const metadataForms = {
  name: segment,
  generateName: segment,
  namespace: segment,
  uid: segment,
  resourceVersion: /^\d*$/,
}

function unusable(argument: string, problem: string, value?: string): ClientError {
  return new ClientError('BAD_USER_INPUT', `${argument}: ${problem}`, {
    argument,
    value,
    hint: 'write objects as kubectl takes them, in YAML or JSON; nothing was written',
  })
}

function tooLarge(argument: string, length: number, { maxBytes }: ManifestLimits): ClientError {
  const message = `${argument} has more than ${maxBytes} characters, its aliases resolved`
  const hint = 'write less in one operation; nothing was written'
  return new ClientError('BAD_USER_INPUT', message, { argument, value: length, hint })
}

function tooMany(argument: string, count: number, { maxWrites }: ManifestLimits): ClientError {
  const message = `${argument} has ${count} documents, and one operation writes at most ${maxWrites}`
  const hint = 'write them in several operations; nothing was written'
  return new ClientError('BAD_USER_INPUT', message, { argument, value: count, hint })
}

/** A name of a manifest in a message. */
export function titleOf({ kind, metadata }: Unstructured): string {
  return `${kind} ${quoted(metadata.name ?? metadata.generateName ?? '')}`
}
