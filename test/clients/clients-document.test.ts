// Imports internals: the compiler keeps the list of error codes complete.
import { readFileSync } from 'node:fs'
import { isEnumType, isScalarType } from 'graphql'
import type { GatewayErrorCode } from 'informerql/client'
import { describe, expect, it } from 'vitest'
import type { ClientErrorCode } from '../../src/graphql/errors/client-error.ts'
import { resourceOf } from '../schema/captured-cluster.ts'
import { builtIns, schemaOf } from '../schema/served-schema.ts'

/** The compiler keeps it equal to the codes of the gateway and of its client. */
const errorCodes = {
  UNAUTHENTICATED: true,
  IDENTITY_UNAVAILABLE: true,
  AUDIT_UNAVAILABLE: true,
  TOKEN_NEEDED: true,
  FORBIDDEN: true,
  NOT_FOUND: true,
  ALREADY_EXISTS: true,
  CONFLICT: true,
  INVALID: true,
  PRECONDITION_FAILED: true,
  ADMISSION_DENIED: true,
  DISRUPTION_BUDGET: true,
  TOO_MANY_WRITES: true,
  OUTCOME_UNKNOWN: true,
  BAD_USER_INPUT: true,
  NOT_SYNCED: true,
  CLUSTER_UNREACHABLE: true,
  CLUSTER_UNAUTHORIZED: true,
  NODE_UNREACHABLE: true,
  CACHE_FULL: true,
  NAMESPACE_NOT_CACHED: true,
  QUERY_TOO_COSTLY: true,
  RBAC_BUDGET_EXCEEDED: true,
  TOO_MANY_OPERATIONS: true,
  NO_ARCHIVE: true,
  BEFORE_ARCHIVE: true,
  ARCHIVE_GAP: true,
  NOT_ARCHIVED: true,
  ARCHIVE_UNREACHABLE: true,
  METRICS_UNREACHABLE: true,
  DEADLINE_EXCEEDED: true,
  UNTRUSTED_DOCUMENT: true,
  UNSUPPORTED: true,
  PERSISTED_QUERY_NOT_FOUND: true,
  SCHEMA_CHANGED: true,
  INTERNAL: true,
} satisfies Record<ClientErrorCode, true> & Record<GatewayErrorCode, true>

const text = readFileSync('docs/clients.md', 'utf8')

/** The rows of the first table of a section, cell by cell, without the marks of code. */
const tableOf = (section: string): readonly (readonly string[])[] => {
  const [, rest = ''] = text.split(`\n## ${section}\n`)
  const [body = ''] = rest.split('\n## ')
  const rows = body.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

const sorted = (names: Iterable<string | undefined>): readonly (string | undefined)[] =>
  [...names].toSorted((a = '', b = '') => a.localeCompare(b))

describe('docs/clients.md', () => {
  it('lists every error code, as does the schema, with what it means', async () => {
    const { schema } = await schemaOf(builtIns)
    const type = schema.getType('ErrorCode')
    const values = isEnumType(type) ? type.getValues() : []
    // The code of a gap is no error.
    const codes = sorted([...Object.keys(errorCodes), 'NOT_SERVED'])
    expect(sorted(values.map(({ name }) => name))).toEqual(codes)
    expect(values.filter(({ description }) => !description)).toEqual([])
    expect(sorted(tableOf('Errors').map(([code]) => code))).toEqual(codes)
  })

  it('lists every scalar of the schema', async () => {
    const { schema } = await schemaOf(builtIns)
    const builtIn = new Set(['Boolean', 'Float', 'ID', 'Int', 'String'])
    const scalars = Object.values(schema.getTypeMap())
      .filter((type) => isScalarType(type) && !builtIn.has(type.name))
      .map(({ name }) => name)
    expect(sorted(tableOf('Scalars').map(([name]) => name))).toEqual(sorted(scalars))
  })

  it('gives the type of every scalar to graphql-codegen, gql.tada, Relay and genqlient', () => {
    const names = sorted(tableOf('Scalars').map(([name]) => name))
    const genqlient = readFileSync('examples/go-backend/genqlient.yaml', 'utf8')
    const lists = [
      ...[/ scalars: \{\n(.*?)\n {8}\},/s, /\n {2}scalars: \{\n(.*?)\n {2}\}/s].map((list) =>
        list.exec(text),
      ),
      /"customScalarTypes": \{\n(.*?)\n {2}\}/s.exec(text),
      /bindings:\n(.*)/s.exec(genqlient),
    ]
    for (const list of lists) {
      const named = Array.from((list?.[1] ?? '').matchAll(/^ *"?(\w+)"?:/gm), ([, name]) => name)
      expect(sorted(named)).toEqual(names)
    }
  })

  it('says what stands before the names of well-known groups', async () => {
    const rows = tableOf('Names of custom resources')
    expect(rows.length).toBeGreaterThan(20)
    const resources = rows.map(([group = ''], at) => resourceOf(group, `Kind${at}`))
    const { schema } = await schemaOf({ resources, openapi: {} })
    for (const [at, [group, prefix]] of rows.entries())
      expect(schema.getType(`${prefix}Kind${at}`), group).toBeDefined()
  })
})
