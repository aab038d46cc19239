/*
 * Questions to the archive, on behalf of one caller. The archive answers one after the other in its worker, so the callers
 * take turns (`FairSlots`), and each question has a deadline. The archive compares managers, names and paths with whole values
 * only. What else a `where` may say is tested here, on some pages of changes: a page that is reached by this bound may be
 * short, and says where it goes on.
 */

import type {
  ArchivedChange,
  ArchiveReads,
  ChangesPage,
  ChangesQuestion,
  DifferencesQuestion,
  KeptKind,
  PastObject,
  PastQuestion,
} from '../../../archive/archive-calls.ts'
import { FairSlots, NoSlotError } from '../../../lib/concurrency.ts'
import { CodedError } from '../../../lib/coded-error.ts'
import { withDeadline } from '../../../lib/deadline.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { ServedSchema } from '../../served/served-schema.ts'

export interface SearchedChanges extends ChangesQuestion {
  /** What the archive does not test: compiled by `past/change-filter.ts`, under a text that says what it tests. */
  readonly test?: ChangeTest | undefined
}

/** A test of changes. Equal texts test the same. */
export class ChangeTest {
  readonly text: string
  readonly accepts: (change: ArchivedChange) => boolean

  constructor(text: string, accepts: (change: ArchivedChange) => boolean) {
    this.text = text
    this.accepts = accepts
  }

  toJSON(): string {
    return this.text
  }
}

/** The questions, and what answers each. */
export interface ArchiveQuestions {
  readonly kinds: { readonly asked: null; readonly answer: readonly KeptKind[] }
  readonly changes: { readonly asked: SearchedChanges; readonly answer: ChangesPage }
  /** The same for several questions: one page each. */
  readonly changesOfEach: {
    readonly asked: readonly SearchedChanges[]
    readonly answer: readonly ChangesPage[]
  }
  readonly objectAt: { readonly asked: PastQuestion; readonly answer: PastObject }
  readonly differences: { readonly asked: DifferencesQuestion; readonly answer: ChangesPage }
}

export type ArchiveAsk = {
  readonly [Q in keyof ArchiveQuestions]: {
    readonly question: Q
    readonly asked: ArchiveQuestions[Q]['asked']
  }
}[keyof ArchiveQuestions]

export type ArchiveAnswer = ArchiveQuestions[keyof ArchiveQuestions]['answer']

interface ArchiveCaller {
  /** Callers with the same lane take one turn together. */
  readonly lane: string
  readonly deadlineMs: number
}

/** The questions that the worker has at once: it goes on with one while the answer of another is on its way. */
const maxAtOnce = 2
const maxWaiting = 1_000

const slots = new WeakMap<ArchiveReads, FairSlots>()

/** The archive of a gateway. Throws NO_ARCHIVE. */
export function archiveOf({ archive }: Pick<ServedSchema, 'archive'>): ArchiveReads {
  if (archive !== undefined) return archive
  const hint = 'its operator can set `archive: { url: "file:PATH" }`, or --archive file:PATH'
  throw new ClientError('NO_ARCHIVE', 'this gateway keeps no archive, so it knows no past', {
    hint,
  })
}

/** Resolves with the answer, or with the error of the fields that asked. Never rejects. */
export async function askArchive(
  archive: ArchiveReads,
  ask: ArchiveAsk,
  { lane, deadlineMs }: ArchiveCaller,
): Promise<ArchiveAnswer | Error> {
  const turns = getOrInsert(
    slots,
    archive,
    () => new FairSlots({ most: maxAtOnce, mostWaiting: maxWaiting, maxWaitMs: deadlineMs }),
  )
  const inTurn: InTurn = (work) => turns.run(lane, work)
  try {
    const late = new ClientError(
      'DEADLINE_EXCEEDED',
      `the archive did not answer within ${deadlineMs} ms`,
      { value: deadlineMs, hint: 'ask for a shorter time, or for fewer objects' },
    )
    const answering = answerOf(archive, ask, inTurn)
    return await withDeadline('the archive', answering, deadlineMs, undefined, () => late)
  } catch (error) {
    return shownError(error)
  }
}

/** Does one call of the archive when it is the caller's turn. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>

async function answerOf(
  archive: ArchiveReads,
  { question, asked }: ArchiveAsk,
  inTurn: InTurn,
): Promise<ArchiveAnswer> {
  switch (question) {
    case 'kinds':
      return await inTurn(() => archive.kinds())
    case 'changes':
      return await foundChanges(archive, asked, inTurn)
    case 'changesOfEach':
      return await Promise.all(asked.map((one) => foundChanges(archive, one, inTurn)))
    case 'objectAt':
      return await inTurn(() => archive.objectAt(asked))
    case 'differences':
      return await inTurn(() => archive.differences(asked))
  }
}

/** The changes of one page of a search, and the most pages of it. */
const searchedAtOnce = 500
const maxPages = 10

/** One page. A question looks at a bounded number of rows, so an empty page may not be the end. */
async function foundChanges(
  archive: ArchiveReads,
  { test, ...question }: SearchedChanges,
  inTurn: InTurn,
): Promise<ChangesPage> {
  const { following, limit } = question
  const found: ArchivedChange[] = []
  let from = following ?? question.before
  let gaps: ChangesPage['gaps'] = []
  for (let read = 0; read < maxPages; read += 1) {
    const place = following === undefined ? { before: from } : { following: from }
    const asked = {
      ...question,
      ...(from !== undefined && (place as { readonly before: string })),
      ...(test !== undefined && { limit: searchedAtOnce }),
    }
    const page = await inTurn(() => archive.changes(asked))
    if (read === 0) ({ gaps } = page)
    for (const [at, change] of page.changes.entries()) {
      if (test?.accepts(change) !== false) found.push(change)
      const isLast = at === page.changes.length - 1
      if (found.length < limit || isLast) continue
      return { changes: found, hasMore: true, gaps, end: change.id }
    }
    from = page.end ?? from
    const isDone = test === undefined ? found.length > 0 : found.length >= limit
    if (!page.hasMore || isDone) return { changes: found, hasMore: page.hasMore, gaps, end: from }
  }
  return { changes: found, hasMore: true, gaps, end: from }
}

/** What a caller sees of a failure. Others are those of the gateway. */
function shownError(error: unknown): Error {
  if (error instanceof NoSlotError) {
    const message = 'the archive has too many questions to answer'
    return new ClientError('TOO_MANY_OPERATIONS', message, { retryAfterMs: 1_000, cause: error })
  }
  if (error instanceof CodedError && error.code.startsWith('ARCHIVE_')) {
    const hint = "try again in a moment; the gateway's log says why"
    const details = { hint, retryAfterMs: 1_000, cause: error }
    return new ClientError('ARCHIVE_UNREACHABLE', 'the archive does not answer', details)
  }
  return error instanceof Error ? error : new Error(String(error))
}
