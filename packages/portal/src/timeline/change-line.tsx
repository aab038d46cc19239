import type { ChangeRowFragment as ChangeRow } from '../gateway/documents.ts'
import { Age } from '../look/age.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import { words } from '../words.ts'
import styles from './timeline.module.css'
import { dayAndTime } from '../look/times.ts'

const said = words.timeline
const shownFields = 4

/** One change: when, of what, by whom, and the fields before and after. */
export function ChangeLine({
  change,
  isOfOne = false,
  hasCluster = false,
  fields = shownFields,
  show,
  isGone = false,
}: {
  readonly change: ChangeRow
  /** Whether the object goes without saying. */
  readonly isOfOne?: boolean
  /** Whether the name of the cluster does not go without saying. */
  readonly hasCluster?: boolean
  /** How many fields are shown. */
  readonly fields?: number
  /** Shows the object as it was. Absent: it cannot be shown. */
  readonly show?: (() => void) | undefined
  /** Whether it is shown beside nothing: the object is no more. */
  readonly isGone?: boolean
}) {
  const { type, time, after, cluster, manager, repeats, object } = change
  const { id, nameId, kind, namespace, name } = object
  return (
    <li className={styles['change']} data-type={type}>
      <span className={styles['when']}>
        <Age since={time} />
      </span>
      <div className={styles['what']}>
        <p className={styles['line']}>
          <span className={styles['type']}>{said.types[type]}</span>
          {isOfOne ? null : (
            <PlaceLink to={{ object: nameId, id }} className={styles['name']}>
              <span className={styles['dim']}>{kind} </span>
              {namespace === null ? null : <span className={styles['dim']}>{namespace}/</span>}
              {name}
            </PlaceLink>
          )}
          {hasCluster ? <span className={styles['dim']}>{cluster}</span> : null}
          <span className={styles['dim']}>
            {manager === null ? null : said.by(manager)}
            {repeats > 1 ? ` ${words.overview.times(repeats)}` : null}
          </span>
          {show === undefined ? null : (
            <button type="button" className={styles['compare']} onClick={show}>
              {isGone ? said.show[type === 'REMOVED' ? 'last' : 'before'] : said.compare}
            </button>
          )}
        </p>
        {after === null ? null : (
          <p className={styles['dim']}>{said.late(dayAndTime(new Date(after)))}</p>
        )}
        {type === 'ADDED' ? null : (
          <FieldChanges fields={change.fields} count={change.fieldCount} most={fields} />
        )}
      </div>
    </li>
  )
}

interface FieldChange {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
  readonly masked?: boolean
}

/** Fields before and after, those of the specification first. */
export function FieldChanges({
  fields,
  count,
  most,
}: {
  readonly fields: readonly FieldChange[]
  /** Of all fields. */
  readonly count: number
  /** How many are shown. */
  readonly most: number
}) {
  const sorted = fields.toSorted((one, other) => weightOf(one) - weightOf(other))
  const hidden = sorted.slice(most)
  const unread = count - fields.length
  const others =
    unread > 0 ? <li className={styles['dim']}>{words.problems.others(unread)}</li> : null
  if (sorted.length === 0) return null
  return (
    <ul className={styles['fields']}>
      {sorted.slice(0, most).map((field) => (
        <Field key={field.path} field={field} />
      ))}
      {hidden.length === 0 ? null : (
        <li>
          <details>
            <summary>{words.problems.others(count - most)}</summary>
            <ul>
              {hidden.map((field) => (
                <Field key={field.path} field={field} />
              ))}
              {others}
            </ul>
          </details>
        </li>
      )}
      {hidden.length === 0 ? others : null}
    </ul>
  )
}

function Field({ field: { path, before, after, masked } }: { readonly field: FieldChange }) {
  return (
    <li>
      <code title={path}>{shortPath(path)}</code>{' '}
      {masked === true ? (
        <span className={styles['dim']}>{said.masked}</span>
      ) : (
        <>
          <Value value={before} as="del" /> → <Value value={after} as="ins" />
        </>
      )}
    </li>
  )
}

/** What was asked for comes before what was found, and that before labels. */
function weightOf({ path }: FieldChange): number {
  if (path.startsWith('/metadata')) return 2
  return path.startsWith('/status') ? 1 : 0
}

/** The end of a path, without the steps that all of a kind have: `containers/0/image`. */
function shortPath(path: string): string {
  const steps = path.split('/').slice(1)
  const short = steps.slice(-3).join('/').replaceAll('~1', '/').replaceAll('~0', '~')
  return steps.length > 3 ? `…/${short}` : short
}

const longest = 80

/** A value, without most of a hash; the whole is its title. */
function Value({ value, as: Kind }: { readonly value: unknown; readonly as: 'del' | 'ins' }) {
  if (value === null || value === undefined) return <Kind>–</Kind>
  const whole = typeof value === 'string' ? value : JSON.stringify(value)
  const text = whole.replaceAll(/\w{40,}/g, (hash) => `${hash.slice(0, 12)}…`)
  const shown = text.length > longest ? `${text.slice(0, longest)}…` : text
  return <Kind title={shown === whole ? undefined : whole}>{shown}</Kind>
}
