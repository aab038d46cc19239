import { createHash } from 'node:crypto'

/** Longer pages have no marks: their text would be longer than the message that carries it. */
const maxMarked = 500
const hashLength = 16
/** Base64url digits: 24 bits. */
const markLength = 4

/** A row of a page, and a few bits of the hash of its `id`. */
export interface MarkedRow {
  readonly id: string
  readonly mark: string
}

/**
 * Describes the rows of a page as a short text: a hash of all ids in order, followed by a few bits of each id, by which
 * {@link rowsOf} finds the rows again.
 */
export function rowsText(rows: readonly MarkedRow[]): string {
  const text = rows.map(({ id }) => id).join('\n')
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, hashLength)
  return rows.length > maxMarked ? hash : hash + rows.map(({ mark }) => mark).join('')
}

/**
 * The rows that a text describes, in order, if `candidates` include all of them; else, or if the text has no marks,
 * `undefined`.
 */
export function rowsOf(
  text: string,
  candidates: Iterable<MarkedRow>,
): readonly MarkedRow[] | undefined {
  // If two candidates have the same mark, the wrong one may be chosen; the hash detects that.
  const byMark = new Map(Array.from(candidates, (row) => [row.mark, row]))
  const rows: MarkedRow[] = []
  for (let at = hashLength; at < text.length; at += markLength) {
    const row = byMark.get(text.slice(at, at + markLength))
    if (row === undefined) return undefined
    rows.push(row)
  }
  return rowsText(rows) === text ? rows : undefined
}

export function markedRow(id: string): MarkedRow {
  return { id, mark: markOf(id) }
}

/** FNV-1a, folded to 24 bits. Collisions are harmless: the hash detects them. */
export function markOf(id: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193)
  }
  const folded = ((hash >>> 24) ^ hash) & 0xffffff
  return Buffer.from([folded >>> 16, (folded >>> 8) & 0xff, folded & 0xff]).toString('base64url')
}
