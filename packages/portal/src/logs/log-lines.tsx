import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { words } from '../words.ts'
import type { LogRow } from './live-logs.ts'
import { columnsOf, fieldsOf, restOf, uniqueEnds } from './log-line.ts'
import { shownTime } from './log-times.ts'
import styles from './logs-tab.module.css'

const lineHeight = 18
const mostColumns = 8
/** The newest lines say which columns there are. */
const sampledLines = 200
const say = words.object.logs

/** How the lines are shown: the short names of their pods, and the columns of their fields. */
interface Form {
  /** The unique end of each pod's name; `undefined` where there is one pod only. */
  readonly pods: ReadonlyMap<string, string> | undefined
  readonly hasContainers: boolean
  /** The fields that have a column; `undefined`: lines are text. */
  readonly columns: readonly string[] | undefined
  readonly today: string
}

/** The lines of some logs. The end stays in view, until the user scrolls up. `none`: what is said without lines. */
export function LogLines({
  rows,
  isWrapped,
  hasColumns,
  none,
}: {
  readonly rows: readonly LogRow[]
  readonly isWrapped: boolean
  readonly hasColumns: boolean
  readonly none: string | undefined
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 20,
  })
  const last = rows.at(-1)?.key
  useLayoutEffect(() => {
    const { current } = scroller
    if (isAtEnd && current !== null) current.scrollTop = current.scrollHeight
  })
  const form = useForm(rows, hasColumns)
  return (
    <div className={styles['frame']}>
      <div
        ref={scroller}
        role="log"
        aria-label={say.title}
        aria-live="off"
        tabIndex={0}
        className={styles['lines']}
        data-wrap={isWrapped}
        data-columns={form.columns !== undefined || undefined}
        style={{ '--fields': form.columns?.length ?? 0 } as CSSProperties}
        onScroll={({ currentTarget }) => {
          const { scrollTop, clientHeight, scrollHeight } = currentTarget
          setAtEnd(scrollTop + clientHeight >= scrollHeight - lineHeight)
        }}
      >
        {form.columns === undefined ? null : <Heads form={form} columns={form.columns} />}
        <div className={styles['body']} style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start, key }) => {
            const row = rows[index]
            return row === undefined ? null : (
              <div
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                className={styles['line']}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Line row={row} form={form} />
              </div>
            )
          })}
        </div>
        {rows.length === 0 && none !== undefined ? <p className={styles['none']}>{none}</p> : null}
      </div>
      {isAtEnd || last === undefined ? null : (
        <button type="button" className={styles['end']} onClick={() => setAtEnd(true)}>
          {say.toEnd}
        </button>
      )}
    </div>
  )
}

function useForm(rows: readonly LogRow[], hasColumns: boolean): Form {
  const names = [...new Set(rows.map(({ pod }) => pod))].toSorted().join('\n')
  const hasContainers = new Set(rows.map(({ container }) => container)).size > 1
  const sampled = hasColumns
    ? columnsOf(
        rows.slice(-sampledLines).flatMap(({ text }) => fieldsOf(text) ?? []),
        mostColumns,
      ).join('\n')
    : ''
  return useMemo(() => {
    const pods = names.split('\n')
    return {
      pods: pods.length > 1 ? uniqueEnds(pods) : undefined,
      hasContainers,
      columns: hasColumns ? sampled.split('\n').filter((name) => name !== '') : undefined,
      today: new Date().toDateString(),
    }
  }, [names, hasContainers, hasColumns, sampled])
}

/** The names of the columns. */
function Heads({ form, columns }: { readonly form: Form; readonly columns: readonly string[] }) {
  const { pods, hasContainers } = form
  return (
    <div className={`${styles['line']} ${styles['heads']}`}>
      <span className={styles['time']}>{say.time}</span>
      {pods === undefined && !hasContainers ? null : (
        <span className={styles['pod']}>{pods === undefined ? say.container : say.pod}</span>
      )}
      {columns.map((name) => (
        <span key={name} className={styles['field']} title={name}>
          {name}
        </span>
      ))}
      <span className={styles['rest']}>{columns.length === 0 ? say.message : say.rest}</span>
    </div>
  )
}

function Line({ row, form }: { readonly row: LogRow; readonly form: Form }) {
  const { time, pod, container, text, truncated, level } = row
  const { pods, hasContainers, columns, today } = form
  const place = [pods?.get(pod), hasContainers ? container : undefined].filter(
    (part) => part !== undefined,
  )
  const fields = columns === undefined ? undefined : fieldsOf(text)
  return (
    <>
      {time == null ? null : (
        <time dateTime={time} title={time} className={styles['time']}>
          {shownTime(time, today)}
        </time>
      )}
      {place.length === 0 ? null : (
        <span className={styles['pod']} title={`${pod} ${container}`}>
          {place.join(' ')}
        </span>
      )}
      {columns === undefined || fields === undefined ? (
        <span className={styles['text']} data-level={level}>
          {text}
          {truncated ? ' …' : ''}
        </span>
      ) : (
        <>
          {columns.map((name) => (
            <span
              key={name}
              className={styles['field']}
              data-level={level}
              title={fields.get(name)}
            >
              {fields.get(name)}
            </span>
          ))}
          <span className={styles['rest']}>{restOf(fields, columns)}</span>
        </>
      )}
    </>
  )
}
