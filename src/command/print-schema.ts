/*
 * `informerql schema`: prints the schema of a running gateway, of clusters or of the built-in kinds, as SDL or as a
 * module for Apollo or urql; or checks the documents of clients against it (`--check`).
 */

import {
  buildSchema,
  type GraphQLSchema,
  getNamedType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  isInterfaceType,
  isObjectType,
  type DocumentNode,
  print as printDocument,
} from 'graphql'
import type { Config } from '../config/config.ts'
import { gatewayOptionsOf } from '../config/gateway-config.ts'
import { createGateway } from '../gateway/gateway.ts'
import type { GatewayLog } from '../gateway/observers.ts'
import { CodedError } from '../lib/coded-error.ts'
import { counted } from '../lib/text.ts'
import { printSchemaSdl } from '../graphql/schema/print-schema.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  checkDocuments,
  type ClientDocument,
  type DocumentBreak,
  DocumentCheckError,
} from '../graphql/documents/document-breaks.ts'
import { readTrustedDocuments } from '../server/guard/trusted-documents.ts'

export type SchemaClient = 'apollo' | 'urql' | 'relay'

const writers: Readonly<Record<SchemaClient, (schema: GraphQLSchema) => string>> = {
  apollo: apolloModule,
  urql: urqlModule,
  relay: printSchemaSdl,
}

/** The schema of a gateway to the configured clusters: as SDL, or in the form that a client needs. */
export async function printSchemaOf(
  config: Config,
  log: GatewayLog,
  client?: SchemaClient,
): Promise<string> {
  const relay = config.relay || client === 'relay'
  await using gateway = await createGateway({ ...gatewayOptionsOf({ ...config, relay }), log })
  return (client === undefined ? printSchemaSdl : writers[client])(gateway.schema)
}

/** A gateway that is already served. */
export interface ServedGateway {
  /** `https://gateway.example/graphql` */
  readonly url: string
  /** A bearer token. */
  readonly token?: string | undefined
}

/** The schema that a gateway serves. Rejects with SCHEMA_REFUSED. */
export async function printSchemaFrom(
  { url, token }: ServedGateway,
  client?: SchemaClient,
): Promise<string> {
  const place = `${url.replace(/\/$/, '')}/schema`
  const headers = {
    'graphql-require-preflight': '1',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const response = await fetch(place, {
    headers,
    redirect: 'error',
    signal: AbortSignal.timeout(schemaDeadlineMs),
  }).catch((cause: unknown) => {
    const { cause: reason } = cause as { readonly cause?: { readonly message?: unknown } }
    // The Fetch standard names ports that clients must not connect to, since other protocols use them.
    if (reason?.message === 'bad port') {
      const problem = `clients and browsers refuse port ${new URL(place).port}, which belongs to another protocol`
      throw schemaRefused(place, problem, 'serve the gateway on another port, such as 4000', cause)
    }
    throw schemaRefused(
      place,
      'no answer',
      'name the URL of the API: --gateway https://HOST/graphql',
      cause,
    )
  })
  const sdl = await response.text()
  if (!response.ok) {
    const hint =
      response.status === 404
        ? 'the gateway shows its schema where introspection is on (--introspection)'
        : 'give a token that the gateway accepts: --token, or INFORMERQL_TOKEN'
    throw schemaRefused(place, `${response.status} ${sdl.trim().slice(0, 500)}`, hint)
  }
  if (client === 'relay' && !sdl.includes('directive @fetchable')) {
    const problem = 'this gateway does not support refetching by Relay'
    throw schemaRefused(place, problem, 'start it with --relay (relay: true), or leave out --for')
  }
  if (client === undefined || client === 'relay') return sdl
  return writers[client](buildSchema(sdl, { noLocation: true, assumeValidSDL: true }))
}

const schemaDeadlineMs = 60_000

function schemaRefused(place: string, problem: string, hint: string, cause?: unknown): CodedError {
  return new CodedError('SCHEMA_REFUSED', `${place}: ${problem}`, { value: place, hint, cause })
}

export async function printBuiltInSchema(
  config: Config,
  log: GatewayLog,
  client?: SchemaClient,
): Promise<string> {
  await using simulator = await startSimulator()
  const clusters = [{ name: 'built-in', server: simulator.url }]
  // Drops messages about the simulated cluster.
  return await printSchemaOf({ ...config, clusters }, { ...log, info() {} }, client)
}

/**
 * A TypeScript module with the `possibleTypes` and `typePolicies` of Apollo Client's InMemoryCache. They key objects by
 * `id`, merge the parts of an object, keep lists as pages, and replace each frame by the next.
 */
export function apolloModule(schema: GraphQLSchema): string {
  const policies = cachedTypes(schema).map((type) => `  ${type.name}: ${policyOf(type)},`)
  const query = listFields(schema.getQueryType())
  const streams = Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).toSorted()
  return `${[
    '// Written by `informerql schema --for apollo`. Run it again when the schema changes.',
    "import type { TypePolicies } from '@apollo/client'",
    "import { connectionPages as pages } from '@informerql/client'",
    '',
    'export const possibleTypes: Record<string, string[]> = {',
    ...possibleTypes(schema, newerType),
    `  ${newerType}: ['[A-Z].*'],`,
    '}',
    '',
    '/** A type that is newer than this file: a kind, if it has an `id`, or a part of one. */',
    "const newer = { keyFields: ({ id }: Record<string, unknown>) => (typeof id === 'string' ? ['id'] : false), merge: true } as const",
    '/** A part of an object. The fields that several queries read are merged. An `id` in it is not a cache key. */',
    'const value = { keyFields: false, merge: true } as const',
    '/** A new result replaces the old one as a whole. */',
    'const whole = { merge: false } as const',
    '/** The cache keeps only the latest frame, for all arguments together: clients apply each frame on arrival. */',
    'const frames = { keyArgs: false, merge: false } as const',
    '',
    'export const typePolicies: TypePolicies = {',
    ...rootOf('Query', query, 'pages'),
    ...rootOf('Subscription', streams, 'frames'),
    ...policies,
    `  ${newerType}: newer,`,
    '}',
  ].join('\n')}\n`
}

/** The type of all types that a schema does not have: Apollo Client takes its subtypes by a pattern. */
const newerType = '_NewerType'

function rootOf(name: string, fields: readonly string[], policy: string): readonly string[] {
  if (fields.length === 0) return []
  return [
    `  ${name}: {`,
    '    fields: {',
    ...fields.map((field) => `      ${field}: ${policy},`),
    '    },',
    '  },',
  ]
}

function policyOf({ cached, lists }: CachedType): string {
  if (cached === 'value') return 'value'
  if (cached === 'page' || cached === 'frame') return 'whole'
  const fields = lists.map((list) => `${list}: pages`).join(', ')
  const rest = lists.length === 0 ? '' : `, fields: { ${fields} }`
  return `{ keyFields: ['${cached}']${rest} }`
}

/**
 * A TypeScript module with the `keys` of urql's normalised cache: objects are keyed by `id`, other values are parts of
 * their object. It also has `possibleTypes`, for fragments on the interface; `withNewerKinds` of `@informerql/client` makes
 * them match objects of newer kinds, too.
 */
export function urqlModule(schema: GraphQLSchema): string {
  return `${[
    '// Written by `informerql schema --for urql`. Run it again when the schema changes.',
    "import type { KeyingConfig } from '@urql/exchange-graphcache'",
    '',
    '/** A part of the object that it is read from. */',
    'const part = (): null => null',
    "const byId: KeyingConfig[string] = ({ id }) => (typeof id === 'string' ? id : null)",
    "const byName: KeyingConfig[string] = ({ name }) => (typeof name === 'string' ? name : null)",
    '',
    'const known: KeyingConfig = {',
    ...cachedTypes(schema).map(({ name, cached }) => {
      const key = cached === 'id' ? 'byId' : cached === 'name' ? 'byName' : 'part'
      return `  ${name}: ${key},`
    }),
    '}',
    '/** A type that is newer than this file is a kind, if it has an `id`, or a part of one. */',
    'export const keys: KeyingConfig = new Proxy(known, {',
    '  get: (_, type: string) => known[type] ?? byId,',
    '})',
    '',
    'export const possibleTypes: Record<string, string[]> = {',
    ...possibleTypes(schema),
    '}',
  ].join('\n')}\n`
}

/**
 * How a normalising cache stores the objects of a type: by their `id` or `name`, others as a part of their parent.
 * Fields of a `value` may be merged, those of a `frame` or `page` may not.
 */
type CachedForm = 'id' | 'name' | 'value' | 'page' | 'frame'

interface CachedType {
  readonly name: string
  readonly cached: CachedForm
  /** Fields that are paged lists. */
  readonly lists: readonly string[]
}

function cachedTypes(schema: GraphQLSchema): readonly CachedType[] {
  const roots: readonly unknown[] = [schema.getQueryType(), schema.getSubscriptionType()]
  return Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .filter((type) => !type.name.startsWith('__') && !roots.includes(type))
    .map((type) => {
      const cached = cachedForm(type)
      // The pages in an edge are parts of its connection.
      const lists = cached === 'id' || cached === 'name' ? listFields(type) : []
      return { name: type.name, cached, lists }
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The lines with the possible types of `KubernetesObject`, and further ones. */
function possibleTypes(schema: GraphQLSchema, ...further: readonly string[]): readonly string[] {
  const type = schema.getType('KubernetesObject')
  const types = isInterfaceType(type) ? schema.getPossibleTypes(type) : []
  const names = [...types.map(({ name }) => name).toSorted(), ...further]
  return ['  KubernetesObject: [', ...names.map((name) => `    '${name}',`), '  ],']
}

/** The fields of a type that are paged lists. */
function listFields(
  type: GraphQLObjectType | GraphQLInterfaceType | null | undefined,
): readonly string[] {
  return Object.values(type?.getFields() ?? {})
    .filter(({ type: answered }) => {
      const named = getNamedType(answered)
      return isObjectType(named) && cachedForm(named) === 'page'
    })
    .map(({ name }) => name)
    .toSorted()
}

/** The form of a type by its fields. The gateway's own types have fields that types of Kubernetes do not have together. */
function cachedForm(type: GraphQLObjectType | GraphQLInterfaceType): CachedForm {
  const kind = 'KubernetesObject'
  const isKind = type.name === kind || type.getInterfaces().some(({ name }) => name === kind)
  if (isKind) return 'id'
  const fields = type.getFields()
  const has = (...names: readonly string[]): boolean => names.every((name) => name in fields)
  if (type.name === 'GatewayCluster') return 'name'
  if (has('nodes', 'pageInfo') || has('cursor', 'node') || has('hasNextPage', 'endCursor'))
    return 'page'
  if (
    has('reset', 'synced', 'changes') ||
    has('type', 'objectId', 'removal') ||
    has('step', 'objectId')
  )
    return 'frame'
  return 'value'
}

/** What `schema --check` checks, and how it reports. */
export interface CheckOptions {
  /**
   * A directory with `.graphql` files, sources with tagged documents, or what graphql-codegen writes; one such file; or a
   * manifest of trusted documents.
   */
  readonly check: string
  /** A file with the schema that the documents were written for. */
  readonly against?: string | undefined
  readonly json?: boolean | undefined
}

/**
 * Checks documents against a schema, and prints the breaks. Resolves to whether there is none. Rejects with
 * {@link DocumentCheckError} and TRUSTED_DOCUMENTS. Reads its files before it asks for the schema.
 */
export async function printBreaks(
  schema: () => Promise<string>,
  { check, against, json = false }: CheckOptions,
  print: (text: string) => void,
): Promise<boolean> {
  const documents = documentsAt(check)
  const before = against === undefined ? undefined : readText(against)
  const breaks = await checkDocuments({ documents, schema: await schema(), against: before })
  print(
    json
      ? `${JSON.stringify({ documents: documents.length, breaks }, null, 2)}\n`
      : textOf(breaks, documents.length),
  )
  return breaks.length === 0
}

function textOf(breaks: readonly DocumentBreak[], checked: number): string {
  const lines = breaks.map(({ file, line, column, coordinate, message, hint }) => {
    const what = coordinate === null ? '' : `${coordinate}: `
    return `${file}:${line}:${column}: ${what}${message}\n  ${hint}\n`
  })
  const broken = new Set(breaks.map(({ file }) => file)).size
  const all = counted(checked, 'document')
  const total =
    breaks.length === 0
      ? `the schema serves ${all}`
      : `${counted(breaks.length, 'break')} in ${broken} of ${all}`
  return `${lines.join('')}${total}\n`
}

/** The documents of a directory, a file or a manifest. Throws {@link DocumentCheckError}. */
function documentsAt(path: string): readonly ClientDocument[] {
  if (path.endsWith('.json')) {
    return Array.from(readTrustedDocuments(path), ([id, text]) => ({ file: `${path}#${id}`, text }))
  }
  const hint =
    'name .graphql files, sources with documents in gql`…` or graphql(`…`), a directory of these, or a manifest of trusted documents'
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const found = `**/*.{graphql,gql,${sourceTypes.join(',')}}`
  const files = isDirectory
    ? globSync(found, { cwd: path, exclude: ['**/node_modules/**'] })
        .toSorted()
        .map((file) => join(path, file))
    : [path]
  const documents = files.flatMap((file) => {
    const text = readText(file)
    if (!sourceTypes.some((type) => file.endsWith(`.${type}`))) return [{ file, text }]
    const document = documentIn(text)
    return document.trim() === '' ? [] : [{ file, text: document }]
  })
  if (documents.length === 0) throw new DocumentCheckError(`${path} has no documents`, { hint })
  return documents
}

/** The files that may have documents in tagged templates, by the ends of their names. */
const sourceTypes = ['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs', 'vue', 'svelte']

/** What stands before a document: ``gql` ``, `graphql(`, codegen's `new TypedDocumentString(`, or a comment. */
const tag =
  /\b(?:gql|graphql)\s*(?=`)|\b(?:gql|graphql|TypedDocumentString)\s*\(\s*(?:\/\*\s*GraphQL\s*\*\/\s*)?(?=[`'"])|\/\*\s*GraphQL\s*\*\/\s*(?=[`'"])/g
/** A document as graphql-codegen writes it: as the value that graphql-js parses it to. */
const parsedDocument = /\{"kind":"Document",.*\}(?= as unknown as )/g

/**
 * The documents in the text of a source. Everything else is blank, so that they stand in the same lines and columns. What
 * a template takes in by `${…}` is left out: it is a fragment, whose own template is read as well.
 */
function documentIn(source: string): string {
  const isComment = /(?<![:\w])\/\/.*|\/\*(?!\s*GraphQL\s*\*)[^]*?\*\//g
  const text = source.replaceAll(isComment, blank)
  const parts: (readonly [start: number, text: string])[] = []
  for (const { index, 0: found } of text.matchAll(parsedDocument)) {
    const document = printDocument(JSON.parse(found) as DocumentNode)
    parts.push([index, document.replaceAll(/\s+/g, ' ')])
  }
  for (const { index, 0: found } of text.matchAll(tag)) {
    const start = index + found.length + 1
    const quote = text[start - 1]
    let end = start
    let document = ''
    while (end < text.length && text[end] !== quote) {
      const [skipped = ''] =
        /^(?:\\[^]|\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})/.exec(text.slice(end, end + 4_000)) ?? []
      document += skipped === '' ? text[end] : blank(skipped)
      end += Math.max(1, skipped.length)
    }
    parts.push([start, document])
  }
  let document = ''
  for (const [start, part] of parts.toSorted(([a], [b]) => a - b)) {
    if (start < document.length) continue
    document += blank(text.slice(document.length, start)) + part
  }
  return document
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ')
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new DocumentCheckError(`${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'name an existing file',
      cause,
    })
  }
}
