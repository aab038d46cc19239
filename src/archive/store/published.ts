/*
 * What the holders of clusters publish for the gateways that share the database: of each cluster a row with its state and
 * the hash of its API, and of all clusters together the texts that APIs are made of, each once. A text may be written long
 * before a row refers to it, so one that nothing refers to is kept for a while.
 */

import type { ApiDocument, PublishedCluster, PublishedRow } from '../archive-calls.ts'
import { packedText, unpackedText } from './bodies.ts'
import { places, type SqlValue, type Statements, type Transaction } from './engine.ts'
import { now } from './holders.ts'

/** Writes the rows of clusters that this process holds. A row without an API keeps the one that it had. */
export async function publish(
  statements: Transaction,
  clusters: readonly PublishedCluster[],
): Promise<void> {
  await statements.ordered('apis')
  await statements.rows(
    `INSERT INTO apis (cluster, api, state, written)
     SELECT cluster, api, state, (SELECT GREATEST(${now}, MAX(written) + 1) FROM apis)
     FROM json_to_recordset(CAST($1 AS JSON)) AS given (cluster TEXT, api TEXT, state TEXT)
     ON CONFLICT (cluster) DO UPDATE SET
       api = COALESCE(excluded.api, apis.api), state = excluded.state, written = excluded.written`,
    [JSON.stringify(clusters)],
  )
}

/** The rows that were written after one of them; -1: all. */
export async function publishedAfter(
  statements: Statements,
  written: number,
): Promise<readonly PublishedRow[]> {
  const rows = await statements.rows('SELECT * FROM apis WHERE written > $1 ORDER BY written', [
    written,
  ])
  return rows.map((row) => ({
    cluster: String(row['cluster']),
    api: row['api'] === null ? undefined : String(row['api']),
    state: String(row['state']),
    written: Number(row['written']),
  }))
}

/** Those of the hashes that have no text. The others stay for a while, whether or not a row refers to them. */
export async function lackedDocuments(
  statements: Statements,
  hashes: readonly string[],
): Promise<readonly string[]> {
  await statements.rows(
    `UPDATE api_documents SET written = ${now}
     WHERE written < ${now} - ${unusedMs / 2} AND hash IN (${places(hashes, 1)})`,
    hashes,
  )
  const found = await statements.rows(
    `SELECT hash FROM api_documents WHERE hash IN (${places(hashes, 1)})`,
    hashes,
  )
  const known = new Set<SqlValue | undefined>(found.map(({ hash }) => hash))
  return hashes.filter((hash) => !known.has(hash))
}

export async function keepDocument(
  statements: Statements,
  { hash, parts, text }: ApiDocument,
): Promise<void> {
  await statements.rows(
    `INSERT INTO api_documents (hash, written, parts, body) VALUES ($1, ${now}, $2, $3)
     ON CONFLICT (hash) DO NOTHING`,
    [hash, parts.join(' '), packedText(text, undefined)],
  )
}

/** The texts of those hashes that have one. */
export async function documentsOf(
  statements: Statements,
  hashes: readonly string[],
): Promise<readonly ApiDocument[]> {
  const rows = await statements.rows(
    `SELECT * FROM api_documents WHERE hash IN (${places(hashes, 1)})`,
    hashes,
  )
  return rows.map((row) => ({
    hash: String(row['hash']),
    parts: String(row['parts']).split(' ').filter(Boolean),
    text: unpackedText(row['body'] as Uint8Array, undefined),
  }))
}

/** How long a text is kept to which nothing refers. */
const unusedMs = 3_600_000

/** Forgets texts that are not used. */
export async function forgetDocuments(statements: Transaction): Promise<void> {
  await statements.rows(
    `DELETE FROM api_documents WHERE written < ${now} - ${unusedMs} AND hash NOT IN (
       SELECT api FROM apis WHERE api IS NOT NULL
       UNION SELECT unnest(string_to_array(parts, ' ')) FROM api_documents
         WHERE hash IN (SELECT api FROM apis))`,
  )
}
