import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import {
  MarkedChangesDocument,
  UseOverTimeDocument,
  type UseOverTimeQuery,
  type UseOverTimeValuesFragment,
} from '../gateway/documents.ts'
import { type AnswerError, useAnswer } from '../gateway/gateway.ts'
import { onThemeChange } from '../look/theme.ts'
import type { SeenObject } from '../object/live-object.ts'
import { type Amounts, type ObjectUsage, type Resource, whyUnknown } from '../usage/usage.ts'
import { usageWords } from '../usage/usage-words.ts'
import { chartWords as say } from './chart-words.ts'
import styles from './charts.module.css'
import { type Mark, markedPaths, marksOf } from './marks.ts'

/** How often a chart goes on where nothing is measured that could be followed: by Prometheus alone. */
const everyMs = 30_000
const height = 130
const resources: readonly Resource[] = ['cpu', 'memory']
/** The steps of an axis: round numbers of cores, powers of two of bytes. */
const steps: Readonly<Record<Resource, number[]>> = {
  cpu: Array.from({ length: 8 }, (_, at) => 10 ** (at - 3)).flatMap((one) => [
    one,
    2 * one,
    5 * one,
  ]),
  memory: Array.from({ length: 30 }, (_, at) => 2 ** (at + 20)),
}
const bounds = ['requested', 'limit', 'allocatable'] as const

/** What an object has used over the last hour: two charts with one axis of time, what happened, and the values as a table. */
export function UseCharts({
  object,
  use,
  since: measured,
}: {
  readonly object: SeenObject
  readonly use: ObjectUsage
  /** Another value whenever its use is measured. */
  readonly since: unknown
}) {
  const [at, setAt] = useState<number>()
  const { data, errors, isPending } = useAnswer(
    UseOverTimeDocument,
    { id: object.id },
    { since: measured, ...(use.cpu.used === undefined && { everyMs }) },
  )
  const history = data === undefined ? null : historyIn(data.object)
  const times = useMemo(() => history?.times.map((time) => Date.parse(time)) ?? [], [history])
  const paths = markedPaths[object.kind]
  const [since = ''] = history?.times ?? []
  const asked = { id: object.id, since, paths: paths ?? [] }
  const { data: changed } = useAnswer(MarkedChangesDocument, asked, {
    enabled: paths !== undefined && since !== '',
  })
  const marks = useMemo(
    () => marksOf(object, data, changed?.changes?.nodes ?? [], times[0] ?? Infinity),
    [object, data, changed, times],
  )
  const notes = notesOf(errors)
  if (history === null) {
    const text = isPending ? say.loading : notes
    return <p className={styles['note']}>{text === '' ? say.nothing : text}</p>
  }
  const isEmpty = history.counts.every((count) => count === 0)
  const measuredSince = history.since === null ? undefined : Date.parse(history.since)
  const isOfPods = use.pods !== undefined && object.kind !== 'Node'
  return (
    <div className={styles['charts']}>
      {isEmpty ? <p className={styles['note']}>{say.nothing}</p> : null}
      {isEmpty
        ? null
        : resources.map((resource) => (
            <Chart
              key={resource}
              resource={resource}
              times={times}
              values={history[resource]}
              amounts={use[resource]}
              marks={marks}
              at={at}
              onAt={setAt}
            />
          ))}
      <p className={styles['note']}>
        {[
          history.source === 'PROMETHEUS'
            ? say.source.PROMETHEUS
            : say.source.MEASURED(measuredSince),
          ...(isOfPods ? [say.ofPods] : []),
          notes,
        ].join(' ')}
      </p>
      {marks.length === 0 ? null : (
        <ul className={styles['marks']} aria-label={say.marks}>
          {marks.map(({ atMs, text }) => (
            <li key={`${atMs} ${text}`}>
              <time dateTime={new Date(atMs).toISOString()}>{say.clock(atMs)}</time> {text}
            </li>
          ))}
        </ul>
      )}
      {isEmpty ? null : <Values history={history} times={times} hasPods={isOfPods} />}
    </div>
  )
}

function historyIn(object: UseOverTimeQuery['object']): UseOverTimeValuesFragment | null {
  return object !== null && 'usageHistory' in object ? object.usageHistory : null
}

function notesOf(errors: readonly AnswerError[]): string {
  const [code] = errors.map(({ extensions }) => extensions?.code)
  if (code === 'METRICS_UNREACHABLE') return say.away
  if (code === 'CACHE_FULL') return say.full
  return whyUnknown(errors) ?? ''
}

/** One chart. Its lines have the colours of its legend. */
function Chart({
  resource,
  times,
  values,
  amounts,
  marks,
  at,
  onAt,
}: {
  readonly resource: Resource
  readonly times: readonly number[]
  readonly values: readonly (number | null)[]
  readonly amounts: Amounts
  readonly marks: readonly Mark[]
  /** The position of the pointer, in all charts. */
  readonly at: number | undefined
  readonly onAt: (at: number | undefined) => void
}) {
  const place = useRef<HTMLDivElement>(null)
  const shown = bounds.filter((name) => amounts[name] !== undefined)
  const levels = shown.map((name) => amounts[name] ?? 0)
  const text = usageWords.amounts[resource]
  const key = levels.join()
  useEffect(() => {
    const parent = place.current
    if (parent === null) return
    let plot: uPlot | undefined
    const draw = (): void => {
      plot?.destroy()
      const colorOf = (name: string): string => {
        const mark = parent.parentElement?.querySelector(`[data-line=${name}]`)
        return mark == null ? '' : getComputedStyle(mark).color
      }
      const { color: ink, fontFamily } = getComputedStyle(parent)
      const axis = {
        stroke: ink,
        font: `11px ${fontFamily}`,
        ticks: { show: false },
        grid: { stroke: colorOf('grid'), width: 1 },
      }
      plot = new uPlot(
        {
          width: Math.max(200, parent.clientWidth),
          height,
          legend: { show: false },
          padding: [8, null, null, null],
          cursor: { sync: { key: 'informerql.use' }, drag: { x: false, y: false } },
          scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
          axes: [
            {
              ...axis,
              values: (_, splits) => splits.map((second) => say.clock(second * 1000)),
              size: 24,
            },
            {
              ...axis,
              size: 64,
              space: 32,
              incrs: steps[resource],
              values: (_, splits) => splits.map(text),
            },
          ],
          series: [
            {},
            {
              label: say.lines.used,
              stroke: colorOf('used'),
              fill: colorOf('area'),
              width: 2,
              points: { show: isLonely(values) },
            },
            ...shown.map((name) => ({
              label: say.lines[name],
              stroke: colorOf(name),
              dash: name === 'requested' ? [2, 3] : [8, 4],
              width: 1,
              points: { show: false },
            })),
          ],
          hooks: {
            draw: [(drawn) => drawMarks(drawn, marks, colorOf('mark'))],
            setCursor: [({ cursor }) => onAt(cursor.idx ?? undefined)],
          },
        },
        [
          times.map((time) => time / 1000),
          [...values],
          ...levels.map((level) => times.map(() => level)),
        ],
        parent,
      )
    }
    draw()
    const observer = new ResizeObserver(() =>
      plot?.setSize({ width: Math.max(200, parent.clientWidth), height }),
    )
    observer.observe(parent)
    const stopTheme = onThemeChange(draw)
    return () => {
      observer.disconnect()
      stopTheme()
      plot?.destroy()
    }
  }, [times, values, marks, resource, key, onAt])
  const name = usageWords.resources[resource]
  const pointed = at === undefined ? undefined : times[at]
  const shownAt = pointed === undefined ? values.findLastIndex((value) => value !== null) : at
  const value = values[shownAt ?? -1]
  return (
    <figure className={styles['chart']}>
      <figcaption className={styles['legend']}>
        <strong>{name}</strong>
        <span data-line="used">
          {say.lines.used} {value === undefined || value === null ? say.none : text(value)}
          {pointed === undefined ? null : ` ${say.at(pointed)}`}
        </span>
        {shown.map((line) => (
          <span key={line} data-line={line}>
            {say.lines[line]} {text(amounts[line] ?? 0)}
          </span>
        ))}
        <i data-line="area" />
        <i data-line="grid" />
        <i data-line="mark" />
      </figcaption>
      <div
        ref={place}
        className={styles['plot']}
        role="img"
        aria-label={say.chart(name, times[0] ?? 0, times.at(-1) ?? 0)}
      />
    </figure>
  )
}

/** Whether no two values follow each other, so that there is no line between them. */
function isLonely(values: readonly (number | null)[]): boolean {
  return !values.some((value, at) => value !== null && (values[at + 1] ?? null) !== null)
}

function drawMarks(plot: uPlot, marks: readonly Mark[], color: string): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.strokeStyle = color
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([4 * devicePixelRatio, 2 * devicePixelRatio])
  for (const { atMs } of marks) {
    const x = Math.round(plot.valToPos(atMs / 1000, 'x', true))
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

function Values({
  history: { cpu, memory, counts },
  times,
  hasPods,
}: {
  readonly history: UseOverTimeValuesFragment
  readonly times: readonly number[]
  readonly hasPods: boolean
}) {
  const { resources: names, amounts } = usageWords
  const of = (resource: Resource, value: number | null | undefined): string =>
    value === null || value === undefined ? say.none : amounts[resource](value)
  return (
    <details>
      <summary>{say.table}</summary>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">{say.time}</th>
            <th scope="col">{names.cpu}</th>
            <th scope="col">{names.memory}</th>
            {hasPods ? <th scope="col">{say.pods}</th> : null}
          </tr>
        </thead>
        <tbody>
          {times.flatMap((time, at) =>
            counts[at] === 0
              ? []
              : [
                  <tr key={time}>
                    <th scope="row">{say.clock(time)}</th>
                    <td>{of('cpu', cpu[at])}</td>
                    <td>{of('memory', memory[at])}</td>
                    {hasPods ? <td>{counts[at]}</td> : null}
                  </tr>,
                ],
          )}
        </tbody>
      </table>
    </details>
  )
}
