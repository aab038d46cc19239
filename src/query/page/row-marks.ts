import { createHash } from 'node:crypto'

/** A page with more rows says nothing of each of them: its text would be longer than what it is sent with. */
const maxMarked = 500
const hashLength = 16
/** Base64url digits, so 24 bits. */
const markLength = 4

/** A row of a page, and a few bits of its `id`. */
export interface MarkedRow {
  readonly id: string
  readonly mark: string
}

/**
 * Which rows a page has, as a short text: the same ones in the same order have the same. It is a hash of all of them, and behind it a
 * few bits of each, by which {@link rowsOf} finds them again among others.
 */
export function rowsText(rows: readonly MarkedRow[]): string {
  const text = rows.map(({ id }) => id).join('\n')
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, hashLength)
  return rows.length > maxMarked ? hash : hash + rows.map(({ mark }) => mark).join('')
}

/**
 * The rows that a text is of, in their order, where all of them are among these; `undefined` where they are not, or where that cannot
 * be told.
 */
export function rowsOf(
  text: string,
  candidates: Iterable<MarkedRow>,
): readonly MarkedRow[] | undefined {
  // Of two with the same mark one is wrong as often as not, and the hash says so.
  const byMark = new Map(Array.from(candidates, (row) => [row.mark, row]))
  const rows: MarkedRow[] = []
  for (let at = hashLength; at < text.length; at += markLength) {
    const row = byMark.get(text.slice(at, at + markLength))
    if (row === undefined) return undefined
    rows.push(row)
  }
  return rowsText(rows) === text ? rows : undefined
}

/** A row with its mark, where that is not known yet. */
export function markedRow(id: string): MarkedRow {
  return { id, mark: markOf(id) }
}

/** FNV-1a, folded to 24 bits: what finds a row need not keep anybody from making one that is found in its place. */
export function markOf(id: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193)
  }
  const folded = ((hash >>> 24) ^ hash) & 0xffffff
  return Buffer.from([folded >>> 16, (folded >>> 8) & 0xff, folded & 0xff]).toString('base64url')
}
