import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useGateway } from '../gateway/gateway.ts'
import { Failure } from '../look/notice.tsx'
import { listAt, textAt } from '../object/json.ts'
import type { SeenObject } from '../object/live-object.ts'
import { words } from '../words.ts'
import { LiveLogs, type LogsSnapshot, type LogStream } from './live-logs.ts'
import { LogLines } from './log-lines.tsx'
import { zoneName } from './log-times.ts'
import styles from './logs-tab.module.css'
import {
  levelChoices,
  type LogsView,
  logsViewOf,
  sinceChoices,
  textOfLogsView,
} from './logs-view.ts'

/** The user types: what is not finished is not asked for. */
const typingMs = 300
const say = words.object.logs

/** The logs of a pod, or of all pods of a workload, as they come. `view`: what the user has made of them, as text. */
export function LogsTab({
  object,
  view: viewText,
  onView,
}: {
  readonly object: SeenObject
  readonly view: string | undefined
  readonly onView: (view: string | undefined) => void
}) {
  const view = useMemo(() => logsViewOf(viewText), [viewText])
  const change = (changed: Partial<LogsView>): void => {
    onView(textOfLogsView({ ...view, ...changed }))
  }
  const [isHeld, setHeld] = useState(false)
  const { socket } = useGateway()
  const { id, name } = object
  const { container, previous, contains, since, level } = view
  const logs = useMemo(
    () => new LiveLogs(socket, id, { container, previous, contains, since, level }),
    [socket, id, container, previous, contains, since, level],
  )
  const snapshot = useSyncExternalStore(logs.subscribe, logs.getSnapshot)
  useEffect(() => logs.hold(isHeld), [logs, isHeld])
  const { rows, hidden } = snapshot
  const download = (): void => {
    const lines = rows.map((row) => `${row.time ?? ''} ${row.pod} ${row.container} ${row.text}\n`)
    save(`${name}.log`, lines)
  }
  return (
    <div className={styles['logs']}>
      <div className={styles['bar']}>
        <select
          aria-label={say.container}
          value={container}
          onChange={({ target }) => change({ container: target.value })}
        >
          <option value="">{say.all}</option>
          {containersOf(object).map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <select
          aria-label={say.level}
          value={level}
          onChange={({ target }) => change({ level: target.value as LogsView['level'] })}
        >
          {levelChoices.map((one) => (
            <option key={one} value={one}>
              {say.levels[one]}
            </option>
          ))}
        </select>
        <select
          aria-label={say.since}
          value={since}
          onChange={({ target }) => change({ since: target.value })}
        >
          {sinceChoices.map((one) => (
            <option key={one} value={one}>
              {say.spans[one]}
            </option>
          ))}
        </select>
        <Contains text={contains} change={(text) => change({ contains: text })} />
        <Choice label={say.previous} isOn={previous} set={(isOn) => change({ previous: isOn })} />
        <Choice label={say.wrap} isOn={view.wrap} set={(isOn) => change({ wrap: isOn })} />
        <Choice
          label={say.columns}
          title={say.columnsTitle}
          isOn={view.columns}
          set={(isOn) => change({ columns: isOn })}
        />
        <span className={styles['right']}>
          <button type="button" aria-pressed={isHeld} onClick={() => setHeld(!isHeld)}>
            {isHeld ? say.goOn(snapshot.waiting) : say.hold}
          </button>
          <button type="button" onClick={() => logs.clear()}>
            {say.clear}
          </button>
          <button type="button" disabled={rows.length === 0} onClick={download}>
            {say.download}
          </button>
        </span>
      </div>
      <Streams snapshot={snapshot} />
      {snapshot.status === 'failed' ? (
        <Failure title={say.failed} errors={snapshot.errors} />
      ) : (
        <LogLines
          rows={rows}
          isWrapped={view.wrap}
          hasColumns={view.columns}
          none={
            snapshot.status === 'loading'
              ? undefined
              : hidden === 0
                ? say.none
                : say.noneOfLevel(hidden)
          }
        />
      )}
    </div>
  )
}

function Choice({
  label,
  title,
  isOn,
  set,
}: {
  readonly label: string
  readonly title?: string
  readonly isOn: boolean
  readonly set: (isOn: boolean) => void
}) {
  return (
    <label title={title}>
      <input type="checkbox" checked={isOn} onChange={({ target }) => set(target.checked)} />
      {label}
    </label>
  )
}

/** The text that lines must have. It counts when it has not changed for some time. */
function Contains({
  text,
  change,
}: {
  readonly text: string
  readonly change: (text: string) => void
}) {
  const [typed, type] = useState(text)
  const [before, setBefore] = useState(text)
  // The address has changed: the user went back.
  if (before !== text) {
    setBefore(text)
    type(text)
  }
  useEffect(() => {
    if (typed === text) return
    const timer = setTimeout(() => change(typed), typingMs)
    return () => clearTimeout(timer)
    // `change` is another function with each rendering.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [typed, text])
  return (
    <input
      type="search"
      aria-label={say.contains}
      placeholder={say.contains}
      value={typed}
      onChange={({ target }) => type(target.value)}
    />
  )
}

/** Saves lines as a file of the user. */
function save(name: string, lines: readonly string[]): void {
  const href = URL.createObjectURL(new Blob([...lines], { type: 'text/plain' }))
  const link = Object.assign(document.createElement('a'), { href, download: name })
  link.click()
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
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

/** How many containers are followed, and why the others are not; and the zone of the times. */
function Streams({ snapshot }: { readonly snapshot: LogsSnapshot }) {
  const { streams, status, skipped, notFollowed, isCut } = snapshot
  const streaming = streams.filter(({ state }) => state === 'STREAMING').length
  const others = streams.filter(({ state }) => state === 'FAILED' || state === 'WAITING')
  return (
    <div className={styles['streams']}>
      <output>
        {status === 'loading' ? say.loading : say.streaming(streaming, streams.length)}
        {status === 'ended' ? ` ${say.ended}` : ''}
      </output>
      <span>{say.zone(zoneName())}</span>
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
  return `${pod} ${container}: ${say.states[state]}${why === '' ? '' : ` (${why})`}`
}
