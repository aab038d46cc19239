import { useMemo } from 'react'
import { useGapSentences } from '../look/gaps.ts'
import { Failure } from '../look/notice.tsx'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import controls from '../look/controls.module.css'
import { type ChangeRowFragment as ChangeRow, KnownTimesDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { hasSeveralClusters, useScope } from '../scope.ts'
import { words } from '../words.ts'
import { ChangeLine } from './change-line.tsx'
import styles from './timeline.module.css'
import { type ChangesOf, useChanges } from './use-changes.ts'

const said = words.timeline

/** Events tell of changes themselves; they have a view of their own. */
function withoutEvents(of: ChangesOf): ChangesOf {
  return { ...of, where: { ...of.where, kind: { not: { eq: 'Event' } } } }
}

/** The changes of some objects, live, the newest first. Keep `of` the same while it means the same. */
export function Timeline({
  of,
  isOfOne = false,
  show,
  isGone = false,
  most = Infinity,
}: {
  readonly of: ChangesOf
  /** Whether all are of one object, which goes without saying. */
  readonly isOfOne?: boolean
  /** Shows the object as it was at a change. */
  readonly show?: ((change: ChangeRow) => void) | undefined
  /** Whether the object is no more, so that it is compared with nothing. */
  readonly isGone?: boolean
  /** Shows no more than these. */
  readonly most?: number
}) {
  const shown = useMemo(() => (of.types == null && of.ids == null ? withoutEvents(of) : of), [of])
  const { rows, state, errors, gaps, older } = useChanges(shown)
  const hasCluster = hasSeveralClusters(useScope().scope) && !isOfOne
  const told = gaps.filter(({ code }) => code !== 'NOT_SERVED')
  const sentences = useGapSentences(told, said.what)
  const [error] = errors
  if (error?.extensions?.code === 'NO_ARCHIVE') {
    return <p className={styles['note']}>{said.noArchive}</p>
  }
  const isWhole =
    state === 'live' && older === undefined && (most === Infinity || rows.length === 0)
  return (
    <div className={styles['timeline']}>
      {errors.length > 0 ? <Failure errors={errors} /> : null}
      <div role="status">
        {sentences.map((sentence) => (
          <p key={sentence} className={styles['note']}>
            {sentence}
          </p>
        ))}
      </div>
      {state === 'loading' ? <RowsSkeleton rows={4} /> : null}
      <ol>
        {rows.slice(0, most).map((change) => (
          <ChangeLine
            key={change.id}
            change={change}
            isOfOne={isOfOne}
            hasCluster={hasCluster}
            isGone={isGone}
            show={
              show === undefined || (change.type === 'REMOVED' && !isGone)
                ? undefined
                : () => show(change)
            }
          />
        ))}
      </ol>
      {isWhole ? (
        <Beginning
          of={shown}
          oldest={rows.at(-1)}
          isOfOne={isOfOne}
          hasCluster={hasCluster}
          isSure={told.length === 0}
        />
      ) : null}
      {older === undefined || most < Infinity ? null : (
        <button type="button" className={controls['button']} onClick={older}>
          {said.older}
        </button>
      )}
    </div>
  )
}

const beginning = new Date(0).toISOString()
/** How many times are told in which nothing was seen. */
const mostTimes = 4

/** What is behind the oldest change: since when the archive looks, and when it did not. Nothing is said to be unchanged across such a time. */
function Beginning({
  of,
  oldest,
  isOfOne,
  hasCluster,
  isSure,
}: {
  readonly of: ChangesOf
  readonly oldest: ChangeRow | undefined
  readonly isOfOne: boolean
  readonly hasCluster: boolean
  /** Whether nothing is lacking of the time since the view was opened. */
  readonly isSure: boolean
}) {
  const { kind, statusOnly, ...narrower } = of.where ?? {}
  const variables = { ...of, where: kind == null ? null : { kind }, since: beginning }
  const { data, isPrevious } = useAnswer(KnownTimesDocument, variables)
  const incomplete = data?.changes?.incomplete
  if (incomplete === undefined || isPrevious) return null
  // Before an object was made there was nothing of it to be seen.
  const madeAt = isOfOne && oldest?.type === 'ADDED' ? oldest.time : ''
  const begins = incomplete.filter(({ code }) => code === 'BEFORE_ARCHIVE')
  const lacking = incomplete.filter(
    ({ code }) => code !== 'BEFORE_ARCHIVE' && code !== 'NOT_SERVED',
  )
  const unseen = lacking.filter(({ code, to }) => code === 'ARCHIVE_GAP' && (to ?? 'now') > madeAt)
  const unread = begins.flatMap(({ to, type }) => (to == null ? [type ?? said.unnamed] : []))
  const since = begins
    .flatMap(({ to }) => to ?? [])
    .toSorted()
    .at(-1)
  const sinceTime = since === undefined ? undefined : new Date(since)
  const times = new Set(
    unseen.map(({ cluster, from, to }) =>
      said.unseen(
        hasCluster ? cluster : undefined,
        new Date(from ?? beginning),
        to == null ? undefined : new Date(to),
      ),
    ),
  )
  const isAll = isSure && lacking.length === 0 && unread.length === 0
  const isNarrower = Object.values(narrower).some((one) => one != null)
  const about = isNarrower ? 'such' : statusOnly === false ? 'status' : 'all'
  const sentences = [
    ...(oldest === undefined
      ? [(isAll ? said.none : said.notSeen)(about, sinceTime)]
      : madeAt === '' && sinceTime !== undefined
        ? [said.begins(sinceTime)]
        : []),
    ...[...times].slice(0, mostTimes),
    ...(times.size > mostTimes ? [words.problems.others(times.size - mostTimes)] : []),
    ...(unread.length === 0 ? [] : [said.unread([...new Set(unread)])]),
  ]
  return sentences.map((sentence) => (
    <p key={sentence} className={styles['note']}>
      {sentence}
    </p>
  ))
}
