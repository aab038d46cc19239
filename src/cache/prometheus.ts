/*
 * Reads what pods and nodes used from a Prometheus, by its HTTP API. The queries are fixed. Their labels are names of objects
 * that the caller may read, escaped, and no text of a caller. An answer counts only for the objects that were asked about. The
 * cluster is a part of the address or a label, so that objects of one cluster are never taken for those of another.
 *
 * Callers take turns, and each question has a deadline. After a failure, questions fail at once for a while.
 */

import { readFile } from 'node:fs/promises'
import { FairSlots, NoSlotError } from '../lib/concurrency.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import { readUpTo } from '../lib/read-body.ts'
import { fieldsOf, textOf } from '../kubernetes/fields.ts'
import { objectKey, splitObjectKey } from '../kubernetes/object.ts'
import { Series } from './usage-series.ts'

/** A Prometheus, or what has its API, with the metrics of cAdvisor as the kubelet serves them. */
export interface PrometheusOptions {
  /** `http://prometheus.monitoring:9090`. Of several clusters with one each: `{cluster}` stands for the name of the cluster. */
  readonly url: string
  /** The label whose value is the name of the cluster. Needed for several clusters if `url` does not name the cluster. */
  readonly clusterLabel?: string | undefined
  /** The label with the name of the node; `node` if absent. */
  readonly nodeLabel?: string | undefined
  /** A file with a bearer token, read again for each question. */
  readonly tokenFile?: string | undefined
  /** Further headers: `X-Scope-OrgID`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Whether a text can be {@link PrometheusOptions.url}. */
export function isPrometheusUrl(url: string): boolean {
  return /^https?:\/\/[^?#@]+$/.test(url) && URL.canParse(url.replaceAll('{cluster}', 'x'))
}

/** Whether a Prometheus tells the objects of one cluster from those of another. */
export function tellsClusters({ url, clusterLabel }: PrometheusOptions): boolean {
  return clusterLabel !== undefined || url.includes('{cluster}')
}

/** Objects whose use is asked for: all pods, or all nodes. */
export interface UsageQuestion {
  readonly resource: 'pods' | 'nodes'
  /** When each object was created, epoch time, by key. What was before is of another object of its name. */
  readonly objects: Readonly<Record<string, number>>
  readonly lastMs: number
}

/** Prometheus did not answer, or not as it should. */
export class PrometheusError extends Error {
  override readonly name = 'PrometheusError'
}

/** The most objects of one question. */
export const maxAskedObjects = 500
const maxAnswerBytes = 16 << 20
const maxAtOnce = 4
const maxWaiting = 1_000
/** For one question, and for its turn. */
const deadlineMs = 5_000
const restMs = 5_000
const stepMs = 60_000
/** The shortest time over which a rate is taken: some scrapes. */
const minRateSeconds = 300

/** The Prometheus of a gateway, for all its clusters. */
export class Prometheus {
  readonly #options: PrometheusOptions
  readonly #shared: Shared
  readonly #clusters = new Map<string, ClusterPrometheus>()

  /** `failed`: receives why it does not answer. */
  constructor(options: PrometheusOptions, failed: Shared['failed']) {
    this.#options = options
    const limits = { most: maxAtOnce, mostWaiting: maxWaiting, maxWaitMs: deadlineMs }
    this.#shared = { turns: new FairSlots(limits), failed }
  }

  /** `undefined` if it could take objects of another cluster for those of this one. `isOnly`: whether there are no others. */
  of(cluster: string, isOnly: boolean): ClusterPrometheus | undefined {
    if (!isOnly && !tellsClusters(this.#options)) return undefined
    return getOrInsert(
      this.#clusters,
      cluster,
      () => new ClusterPrometheus(cluster, this.#options, this.#shared),
    )
  }
}

interface Shared {
  readonly turns: FairSlots
  readonly failed: (cluster: string, reason: string) => void
}

export class ClusterPrometheus {
  readonly #cluster: string
  readonly #options: PrometheusOptions
  readonly #turns: FairSlots
  readonly #failed: Shared['failed']
  #failure: { readonly error: PrometheusError; readonly untilMs: number } | undefined

  constructor(cluster: string, options: PrometheusOptions, { turns, failed }: Shared) {
    this.#cluster = cluster
    this.#options = options
    this.#turns = turns
    this.#failed = failed
  }

  /** The use of the objects together. `lane`: questions of one lane take turns with others. Rejects with {@link PrometheusError}. */
  async usage(question: UsageQuestion, lane: string): Promise<Series> {
    this.#checkRest()
    try {
      return await this.#turns.run(lane, () => this.#asked(question))
    } catch (cause) {
      if (!(cause instanceof NoSlotError)) throw cause
      throw new PrometheusError('Prometheus has too many questions to answer', { cause })
    }
  }

  async #asked(question: UsageQuestion): Promise<Series> {
    this.#checkRest()
    try {
      return await this.#usage(question)
    } catch (cause) {
      const isShown = cause instanceof PrometheusError
      const error = isShown ? cause : new PrometheusError('Prometheus does not answer', { cause })
      this.#failure = { error, untilMs: performance.now() + restMs }
      const { message, cause: inner } = cause as Error
      this.#failed(this.#cluster, inner instanceof Error ? inner.message : message)
      throw error
    }
  }

  /** Throws the last failure for a while. */
  #checkRest(): void {
    if (this.#failure === undefined || performance.now() >= this.#failure.untilMs) return
    throw this.#failure.error
  }

  async #usage(question: UsageQuestion): Promise<Series> {
    const series = new Series(question.lastMs, stepMs, Date.now())
    const signal = AbortSignal.timeout(deadlineMs)
    const selected = selectorOf(question, this.#options, this.#cluster)
    const by = question.resource === 'pods' ? 'namespace,pod' : nodeLabelOf(this.#options)
    const rate = `[${Math.max(minRateSeconds, series.stepMs / 1_000)}s]`
    const [cpu, memory] = await Promise.all([
      this.#ask(
        `sum by (${by}) (rate(container_cpu_usage_seconds_total${selected}${rate}))`,
        series,
        signal,
      ),
      this.#ask(`sum by (${by}) (container_memory_working_set_bytes${selected})`, series, signal),
    ])
    this.#read(question, series, cpu, (at, value) => series.add(at, value, Number.NaN, 0))
    this.#read(question, series, memory, (at, value) => series.add(at, Number.NaN, value, 1))
    return series
  }

  #read(
    { resource, objects }: UsageQuestion,
    { timesMs, stepMs: step }: Series,
    result: readonly unknown[],
    add: (at: number, value: number) => void,
  ): void {
    const [firstMs = 0] = timesMs
    for (const one of result) {
      const { metric, values } = fieldsOf(one)
      const labels = fieldsOf(metric)
      const name = textOf(labels[resource === 'pods' ? 'pod' : nodeLabelOf(this.#options)]) ?? ''
      const key = objectKey(
        resource === 'pods' ? { namespace: textOf(labels['namespace']) ?? '', name } : { name },
      )
      const fromMs = Object.hasOwn(objects, key) ? objects[key] : undefined
      if (fromMs === undefined || !Array.isArray(values)) continue
      for (const sample of values as readonly unknown[]) {
        const [seconds, value] = Array.isArray(sample) ? (sample as readonly unknown[]) : []
        const timeMs = Number(seconds) * 1_000
        const number = Number(value)
        if (timeMs >= fromMs && Number.isFinite(number))
          add(Math.round((timeMs - firstMs) / step), number)
      }
    }
  }

  async #ask(query: string, series: Series, signal: AbortSignal): Promise<readonly unknown[]> {
    const { url, tokenFile, headers } = this.#options
    const base = url.replaceAll('{cluster}', encodeURIComponent(this.#cluster)).replace(/\/$/, '')
    const token = tokenFile === undefined ? undefined : (await readFile(tokenFile, 'utf8')).trim()
    const response = await fetch(`${base}/api/v1/query_range`, {
      method: 'POST',
      body: new URLSearchParams({
        query,
        start: String((series.timesMs[0] ?? 0) / 1_000),
        end: String((series.timesMs.at(-1) ?? 0) / 1_000),
        step: String(series.stepMs / 1_000),
        timeout: `${deadlineMs / 1_000}s`,
      }),
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      redirect: 'error',
      signal,
    })
    const body = await readUpTo(maxAnswerBytes, (response.body ?? []) as AsyncIterable<Buffer>)
    if (body.length > maxAnswerBytes) {
      throw new PrometheusError('the answer of Prometheus is too large')
    }
    if (!response.ok) throw new PrometheusError(`Prometheus answers ${response.status}`)
    let answer: unknown
    try {
      answer = JSON.parse(body.toString())
    } catch (cause) {
      throw new PrometheusError('the answer of Prometheus is not JSON', { cause })
    }
    const { status, data } = fieldsOf(answer)
    const { result } = fieldsOf(data)
    if (status !== 'success' || !Array.isArray(result)) {
      throw new PrometheusError('the answer of Prometheus has no series')
    }
    return result as readonly unknown[]
  }
}

/** Selects exactly the series of the objects. */
function selectorOf(
  { resource, objects }: UsageQuestion,
  options: PrometheusOptions,
  cluster: string,
): string {
  const { clusterLabel } = options
  const names = Object.keys(objects).map(splitObjectKey)
  const anyOf = (values: readonly string[]): string =>
    quoted([...new Set(values)].map(escapedPattern).join('|'))
  const matchers = [
    ...(clusterLabel === undefined ? [] : [`${clusterLabel}=${quoted(cluster)}`]),
    ...(resource === 'pods'
      ? [
          `namespace=~${anyOf(names.map(({ namespace }) => namespace))}`,
          `pod=~${anyOf(names.map(({ name }) => name))}`,
          'container!=""',
          'container!="POD"',
        ]
      : [`${nodeLabelOf(options)}=~${anyOf(names.map(({ name }) => name))}`, 'id="/"']),
  ]
  return `{${matchers.join(',')}}`
}

function nodeLabelOf({ nodeLabel = 'node' }: PrometheusOptions): string {
  return nodeLabel
}

/** A text that matches only itself, in a regular expression of RE2. Prometheus anchors them. */
function escapedPattern(text: string): string {
  return text.replaceAll(/[^\w-]/g, (character) => `\\${character}`)
}

/** A string of PromQL. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`).replaceAll('\n', '\\n')}"`
}
