import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useGateway } from '../gateway/gateway.ts'
import { Failure } from '../look/notice.tsx'
import { listAt, textAt } from '../object/json.ts'
import type { SeenObject } from '../object/live-object.ts'
import { words } from '../words.ts'
import { LiveLogs, type LogRow, type LogsSnapshot, type LogStream } from './live-logs.ts'
import styles from './logs-tab.module.css'

const lineHeight = 18
/** The user types: what is not finished is not asked for. */
const typingMs = 300

/** The logs of a pod, or of all pods of a workload, as they come. */
export function LogsTab({ object }: { readonly object: SeenObject }) {
  const [container, setContainer] = useState<string>()
  const [previous, setPrevious] = useState(false)
  const [isWrapped, setWrapped] = useState(true)
  const [isHeld, setHeld] = useState(false)
  const [text, setText] = useState('')
  const contains = useSettled(text, typingMs)
  const { socket } = useGateway()
  const { id } = object
  const logs = useMemo(
    () => new LiveLogs(socket, id, { container, previous, contains }),
    [socket, id, container, previous, contains],
  )
  const snapshot = useSyncExternalStore(logs.subscribe, logs.getSnapshot)
  useEffect(() => logs.hold(isHeld), [logs, isHeld])
  const say = words.object.logs
  return (
    <div className={styles['logs']}>
      <div className={styles['bar']}>
        <select
          aria-label={say.container}
          value={container ?? ''}
          onChange={({ target }) => setContainer(target.value === '' ? undefined : target.value)}
        >
          <option value="">{say.all}</option>
          {containersOf(object).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <input
          type="search"
          aria-label={say.contains}
          placeholder={say.contains}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <label>
          <input
            type="checkbox"
            checked={previous}
            onChange={({ target }) => setPrevious(target.checked)}
          />
          {say.previous}
        </label>
        <label>
          <input
            type="checkbox"
            checked={isWrapped}
            onChange={({ target }) => setWrapped(target.checked)}
          />
          {say.wrap}
        </label>
        <span className={styles['right']}>
          <button type="button" aria-pressed={isHeld} onClick={() => setHeld(!isHeld)}>
            {isHeld ? say.goOn(snapshot.waiting) : say.hold}
          </button>
          <button type="button" onClick={() => logs.clear()}>
            {say.clear}
          </button>
        </span>
      </div>
      <Streams snapshot={snapshot} />
      {snapshot.status === 'failed' ? (
        <Failure title={say.failed} errors={snapshot.errors} />
      ) : (
        <Lines snapshot={snapshot} isWrapped={isWrapped} />
      )}
    </div>
  )
}

/** A value that has not changed for some time. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

/** The containers of a pod, or of the pods that a workload makes. */
function containersOf({ json, kind }: SeenObject): readonly string[] {
  const template = ['spec', 'template', 'spec']
  const at =
    kind === 'Pod' ? ['spec'] : kind === 'CronJob' ? ['spec', 'jobTemplate', ...template] : template
  return ['initContainers', 'containers'].flatMap((list) =>
    listAt(json, ...at, list).flatMap((container) => textAt(container, 'name') ?? []),
  )
}

/** How many containers are followed, and why the others are not. */
function Streams({ snapshot }: { readonly snapshot: LogsSnapshot }) {
  const { streams, status, skipped, notFollowed, isCut } = snapshot
  const say = words.object.logs
  const streaming = streams.filter(({ state }) => state === 'STREAMING').length
  const others = streams.filter(({ state }) => state === 'FAILED' || state === 'WAITING')
  return (
    <div className={styles['streams']}>
      <output>
        {status === 'loading' ? say.loading : say.streaming(streaming, streams.length)}
        {status === 'ended' ? ` ${say.ended}` : ''}
      </output>
      {notFollowed > 0 ? <span>{say.notFollowed(notFollowed)}</span> : null}
      {skipped > 0 ? <span>{say.skipped(skipped)}</span> : null}
      {isCut ? <span>{say.cut}</span> : null}
      {others.length === 0 ? null : (
        <details>
          <summary>{say.others(others.length)}</summary>
          <ul>
            {others.slice(0, 50).map((stream) => (
              <li key={`${stream.pod}/${stream.container}`}>{sentenceOf(stream)}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}

function sentenceOf({ pod, container, state, reason, message }: LogStream): string {
  const why = [reason, message].filter((one) => one != null).join(': ')
  return `${pod} ${container}: ${words.object.logs.states[state]}${why === '' ? '' : ` (${why})`}`
}

function Lines({
  snapshot: { rows, status },
  isWrapped,
}: {
  readonly snapshot: LogsSnapshot
  readonly isWrapped: boolean
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
  // The end stays in view, until the user scrolls up.
  useLayoutEffect(() => {
    const { current } = scroller
    if (isAtEnd && current !== null) current.scrollTop = current.scrollHeight
  })
  const say = words.object.logs
  const hasPods = new Set(rows.map(({ pod }) => pod)).size > 1
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
        onScroll={({ currentTarget }) => {
          const { scrollTop, clientHeight, scrollHeight } = currentTarget
          setAtEnd(scrollTop + clientHeight >= scrollHeight - lineHeight)
        }}
      >
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
                <Line row={row} hasPods={hasPods} />
              </div>
            )
          })}
        </div>
        {rows.length === 0 && status !== 'loading' ? (
          <p className={styles['none']}>{say.none}</p>
        ) : null}
      </div>
      {isAtEnd || last === undefined ? null : (
        <button type="button" className={styles['end']} onClick={() => setAtEnd(true)}>
          {say.toEnd}
        </button>
      )}
    </div>
  )
}

const levels = /"level":"(error|fatal|warn)|\b(ERROR|FATAL|WARN)/

function Line({ row, hasPods }: { readonly row: LogRow; readonly hasPods: boolean }) {
  const { time, pod, container, text, truncated } = row
  const [, json, plain] = levels.exec(text.slice(0, 300)) ?? []
  const level = (json ?? plain?.toLowerCase())?.replace('fatal', 'error')
  return (
    <>
      {time == null ? null : (
        <time dateTime={time} title={time}>
          {time.slice(11, 23)}
        </time>
      )}
      {hasPods ? (
        <span className={styles['pod']} title={`${pod} ${container}`}>
          {pod}
        </span>
      ) : null}
      <span className={styles['text']} data-level={level}>
        {text}
        {truncated ? ' …' : ''}
      </span>
    </>
  )
}
