/*
 * The logs of containers. Nothing is stored: a run of a container follows from the status of its pod, and each line of
 * the run from its number and time. So a log can be read from anywhere, and reads the same each time.
 */

import type { Unstructured } from '../../kubernetes/object.ts'
import type { ContainerStatus, Pod } from '../../kubernetes/wire/core-v1.ts'
import { badRequest } from '../api/status-refusal.ts'

export interface LogLine {
  readonly atMs: number
  /** The digits of its time after the milliseconds. */
  readonly nanos: number
  readonly text: string
}

/** The annotation of a pod that says how many lines its containers write in a second. */
const linesPerSecondAnnotation = 'simulator/log-lines-per-second'

/** A kubelet keeps some files of a container, and drops the oldest. */
const mostLines = 20_000
const startStepMs = 40
const endStepMs = 4
/** A container that fails sooner than this fails at its start. */
const failsAtStartMs = 30_000

/**
 * The log of one run of a container. Nothing of it is stored: each line follows from the run, its number and the time.
 * Lines are numbered from the start of the run.
 */
export class ContainerLog {
  readonly #voice: LogVoice
  readonly #everyMs: number
  readonly #seed: number
  readonly #startedAtMs: number
  readonly #starting: readonly string[]
  readonly #isQuiet: boolean
  #ending: readonly string[] = []
  #finishedAtMs: number | undefined

  constructor(pod: Unstructured, container: string, run: ContainerRun) {
    this.#voice = voiceOf(pod, container)
    const told = Number(pod.metadata.annotations?.[linesPerSecondAnnotation])
    const usualMs = busyRoles.has(this.#voice.role) ? 800 : 3_000
    this.#everyMs = told > 0 ? 1_000 / told : usualMs
    this.#seed = seedOf(run.id)
    this.#startedAtMs = run.startedAtMs
    const at = { atMs: run.startedAtMs, seed: this.#seed }
    this.#starting = startingTexts(this.#voice, at, run.isInit)
    const { finishedAtMs, exitCode } = run
    const isShort = finishedAtMs !== undefined && finishedAtMs - run.startedAtMs < failsAtStartMs
    this.#isQuiet = run.isInit || run.isFailing || (isShort && exitCode !== 0)
    if (finishedAtMs !== undefined) this.finish(finishedAtMs, exitCode)
  }

  /** The run has ended: the last lines say why, if it has failed. */
  finish(finishedAtMs: number, exitCode: number | undefined): void {
    this.#finishedAtMs = Math.max(finishedAtMs, this.#baseMs())
    const failed = exitCode !== undefined && exitCode !== 0
    const at = { atMs: this.#finishedAtMs, seed: this.#seed }
    this.#ending = failed ? failingTexts(this.#voice, at) : []
  }

  /** The number of lines that are written at a time. */
  count(nowMs: number): number {
    const finishedAtMs = this.#finishedAtMs
    if (finishedAtMs !== undefined && nowMs >= finishedAtMs) {
      return this.#starting.length + this.#running(finishedAtMs) + this.#ending.length
    }
    const started = Math.floor((nowMs - this.#startedAtMs) / startStepMs) + 1
    if (started < this.#starting.length) return Math.max(0, started)
    return this.#starting.length + this.#running(nowMs)
  }

  /** The number of the first line that is still kept. */
  first(nowMs: number): number {
    return Math.max(0, this.count(nowMs) - mostLines)
  }

  /** The number of the first line of a time or later. */
  from(sinceMs: number, nowMs: number): number {
    let low = this.first(nowMs)
    let high = this.count(nowMs)
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.line(middle).atMs < sinceMs) low = middle + 1
      else high = middle
    }
    return low
  }

  line(number: number): LogLine {
    const atMs = this.#timeOf(number)
    const seed = this.#seedOf(number)
    const nanos = pick({ seed }, 20, 1_000_000)
    const { length } = this.#starting
    const end = this.#finishedAtMs
    const ending =
      end === undefined ? undefined : this.#ending[number - length - this.#running(end)]
    const { role, container, app } = this.#voice
    const write = container === app ? (writers[role] ?? jsonJob) : accessLine
    const text = this.#starting[number] ?? ending ?? write(this.#voice, { atMs, seed })
    return { atMs, nanos, text }
  }

  /** When the next line is due; `Infinity` if none is to come while the container runs on. */
  nextMs(number: number): number {
    return this.#isQuiet && number >= this.#starting.length ? Infinity : this.#timeOf(number)
  }

  /** The time from which on the container does its work. */
  #baseMs(): number {
    return this.#startedAtMs + this.#starting.length * startStepMs
  }

  #running(untilMs: number): number {
    const afterMs = untilMs - this.#baseMs()
    if (this.#isQuiet || afterMs < 0) return 0
    const whole = Math.floor(afterMs / this.#everyMs)
    return whole + (this.#runningMs(whole) <= untilMs ? 1 : 0)
  }

  #runningMs(at: number): number {
    const jitter = pick({ seed: this.#seedOf(this.#starting.length + at) }, 21, 1_000) / 1_000
    return Math.floor(this.#baseMs() + (at + jitter) * this.#everyMs)
  }

  #timeOf(number: number): number {
    const at = number - this.#starting.length
    if (at < 0) return this.#startedAtMs + number * startStepMs
    const finishedAtMs = this.#finishedAtMs
    if (finishedAtMs === undefined) return this.#runningMs(at)
    const left = this.#running(finishedAtMs) + this.#ending.length - at
    return left > this.#ending.length ? this.#runningMs(at) : finishedAtMs - left * endStepMs
  }

  #seedOf(number: number): number {
    return Math.imul(this.#seed ^ number, 0x9e3779b1) >>> 0
  }
}

function voiceOf({ metadata, ...pod }: Unstructured, container: string): LogVoice {
  const labels = metadata.labels ?? {}
  const app = labels['app.kubernetes.io/name'] ?? labels['app'] ?? container
  const { initContainers = [], containers = [] } = pod['spec'] as {
    readonly containers?: readonly { readonly name: string; readonly image?: string }[]
    readonly initContainers?: readonly { readonly name: string; readonly image?: string }[]
  }
  const image = [...containers, ...initContainers].find(({ name }) => name === container)?.image
  const [, tag = 'latest'] = /:([^:/@]+)(?:@|$)/.exec(image ?? '') ?? []
  const isMain = containers[0]?.name === container
  return {
    app,
    container: isMain ? app : container,
    role: labels['app.kubernetes.io/component'] ?? '',
    version: tag,
  }
}

const busyRoles: ReadonlySet<string> = new Set(['web', 'api', 'ingress'])

/** What the text of a line depends on. */
interface LogVoice {
  readonly app: string
  /** The container; its app's name, unless it is a helper of the app. */
  readonly container: string
  /** What the app is for: the label `app.kubernetes.io/component`. */
  readonly role: string
  /** The tag of its image. */
  readonly version: string
}

/** One line: its time, and a number from which everything random of it follows. */
interface LineSeed {
  readonly atMs: number
  /** 32 bits. */
  readonly seed: number
}

type Writer = (voice: LogVoice, line: LineSeed) => string

/** The first lines of a container; all of one that prepares its pod and is done. */
function startingTexts(voice: LogVoice, seed: LineSeed, isInit: boolean): readonly string[] {
  const { app, version, role } = voice
  if (isInit) {
    return [
      `waiting for the database of ${app}`,
      `the database answers after ${pick(seed, 4, 900)} ms`,
      'done: nothing to migrate',
    ]
  }
  if (plainRoles.has(role)) return [`${app} ${version} starting`, 'ready to accept connections']
  return [
    json(seed, 'info', `starting ${app} ${version}`, { config: '/etc/app/config.yaml' }),
    json(seed, 'info', 'connected to the database', { pool: 10 }),
  ]
}

/** The last lines of a container that fails: why. */
function failingTexts({ app, version, role }: LogVoice, seed: LineSeed): readonly string[] {
  if (role === 'cron') {
    return [
      json(seed, 'error', `${app} has found 3 accounts that do not balance`, {
        accounts: [pick(seed, 1, 9_000), pick(seed, 2, 9_000), pick(seed, 3, 9_000)],
      }),
      json(seed, 'fatal', 'giving up: 3 accounts do not balance', { exitCode: 2 }),
    ]
  }
  return [
    json(seed, 'info', 'reading /etc/app/config.yaml', { version }),
    json(seed, 'error', `invalid configuration: queue.dsn is required since ${version}`, {
      file: '/etc/app/config.yaml',
      key: 'queue.dsn',
    }),
    json(seed, 'fatal', `cannot start ${app} ${version}: queue.dsn is not set`, {
      error: 'ConfigError: queue.dsn is not set',
      exitCode: 1,
    }),
  ]
}

const plainRoles: ReadonlySet<string> = new Set(['database', 'cache', 'queue'])

const writers: Readonly<Record<string, Writer>> = {
  web: jsonRequest,
  api: jsonRequest,
  worker: jsonJob,
  cron: jsonJob,
  database: (_voice, line) =>
    `${spaced(line)} UTC [${pick(line, 1, 90)}] LOG:  checkpoint complete: wrote ${pick(line, 2, 400)} buffers (${pick(line, 3, 9)}.${pick(line, 4, 9)}%)`,
  cache: (_voice, line) =>
    `1:M ${spaced(line)} * ${pick(line, 1, 500)} changes in 300 seconds. Saving...`,
  queue: (_voice, line) =>
    `${spaced(line)} [info] <0.${pick(line, 1, 999)}.0> accepting AMQP connection (10.4.${pick(line, 2, 255)}.${pick(line, 3, 255)}:${40_000 + pick(line, 4, 9_999)})`,
  controller: klog,
  agent: klog,
  'node-agent': klog,
  ingress: accessLine,
}

const paths = ['/', '/sofas', '/chairs/1204', '/cart', '/checkout', '/search?q=lamp', '/healthz']
const methods = ['GET', 'GET', 'GET', 'POST', 'PUT']
const jobs = ['invoice.render', 'mail.send', 'stock.sync', 'refund.settle', 'report.build']

function statusOf(line: LineSeed): number {
  const which = pick(line, 9, 100)
  if (which < 94) return 200
  if (which < 98) return 404
  return 500
}

function accessLine(_voice: LogVoice, line: LineSeed): string {
  const at = new Date(line.atMs).toUTCString()
  const [, day = '', month = '', year = '', time = ''] = at.split(' ')
  return `10.4.${pick(line, 1, 255)}.${pick(line, 2, 255)} - - [${day}/${month}/${year}:${time} +0000] "${choose(line, 3, methods)} ${choose(line, 4, paths)} HTTP/1.1" ${statusOf(line)} ${pick(line, 5, 20_000)} "-" "Mozilla/5.0" ${pick(line, 6, 90)}ms`
}

function jsonRequest(_voice: LogVoice, line: LineSeed): string {
  const status = statusOf(line)
  return json(line, status === 500 ? 'error' : 'info', 'request', {
    method: choose(line, 3, methods),
    path: choose(line, 4, paths),
    status,
    durationMs: pick(line, 6, 240),
    traceId: line.seed.toString(16).padStart(8, '0'),
  })
}

function jsonJob(_voice: LogVoice, line: LineSeed): string {
  const isSlow = pick(line, 9, 100) > 96
  return json(line, isSlow ? 'warn' : 'info', isSlow ? 'job was slow' : 'job done', {
    job: choose(line, 3, jobs),
    id: pick(line, 4, 1_000_000),
    durationMs: isSlow ? 2_000 + pick(line, 6, 8_000) : pick(line, 6, 400),
  })
}

function klog(_voice: LogVoice, line: LineSeed): string {
  const [date = '', time = ''] = spaced(line).split(' ')
  return `I${date.slice(5).replace('-', '')} ${time}000       1 controller.go:${100 + pick(line, 1, 90)}] "Reconciled" generation=${pick(line, 2, 40)} duration="${pick(line, 3, 90)}ms"`
}

function json({ atMs }: LineSeed, level: string, msg: string, more: object): string {
  return JSON.stringify({ ts: new Date(atMs).toISOString(), level, msg, ...more })
}

/** `2026-11-23 14:02:11.123`. */
function spaced({ atMs }: LineSeed): string {
  return new Date(atMs).toISOString().replace('T', ' ').replace('Z', '')
}

/** A number from 0 to `below`, not included; another one for each `place` of a line. */
function pick({ seed }: Pick<LineSeed, 'seed'>, place: number, below: number): number {
  let word = Math.imul(seed ^ Math.imul(place + 1, 0x9e3779b1), 0x85ebca6b)
  word ^= word >>> 15
  word = Math.imul(word, 0xc2b2ae35)
  return ((word ^ (word >>> 16)) >>> 0) % below
}

function choose(line: LineSeed, place: number, from: readonly string[]): string {
  return from[pick(line, place, from.length)] ?? ''
}

/** 32 bits of a text. */
function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return hash >>> 0
}

/** One run of a container, from its start to its end. */
export interface ContainerRun {
  /** Another one for each run. */
  readonly id: string
  readonly startedAtMs: number
  /** `undefined` while it runs. */
  readonly finishedAtMs: number | undefined
  /** `undefined` while it runs. */
  readonly exitCode: number | undefined
  readonly isInit: boolean
  /** Whether it does not become ready after a restart: it crashes again and again. */
  readonly isFailing: boolean
}

/**
 * The container that a request for a log or a process means: the named one, or the only one of `containers`. Throws 400
 * in the words of a kube-apiserver (`pkg/registry/core/pod/strategy.go`).
 */
export function containerOf(pod: Unstructured, name: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = (pod as Pod).spec ?? {}
  const all = [...initContainers, ...containers, ...ephemeralContainers].map((one) => one.name)
  const { name: podName } = pod.metadata
  if (name !== '') {
    if (all.includes(name)) return name
    throw badRequest(`container ${name} is not valid for pod ${podName}`)
  }
  const [only, ...others] = containers
  if (only !== undefined && others.length === 0) return only.name
  const choice = only === undefined ? '' : `, choose one of: [${all.join(' ')}]`
  throw badRequest(`a container name must be specified for pod ${podName}${choice}`)
}

/**
 * The run whose log a kubelet sends: of a container that waits for its restart, the last one. Throws 400 in the words
 * of a kubelet (`pkg/kubelet/kubelet_pods.go`, `validateContainerLogStatus`).
 */
export function runOf(pod: Unstructured, container: string, previous: boolean): ContainerRun {
  const at = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)}`
  const { status, isInit } = containerStatusOf(pod, container)
  if (status === undefined) throw badRequest(`${at} is not available`)
  const { running, terminated, waiting } = status.state ?? {}
  const last = status.lastState?.terminated
  const ended = (exit: NonNullable<typeof last>, run: number): ContainerRun => ({
    id: exit.containerID ?? `${pod.metadata.uid ?? ''}/${container}/${run}`,
    startedAtMs: Date.parse(exit.startedAt ?? ''),
    finishedAtMs: Date.parse(exit.finishedAt ?? ''),
    exitCode: exit.exitCode,
    isInit,
    isFailing: false,
  })
  const { restartCount, ready } = status
  if (previous) {
    if (last === undefined) throw badRequest(`previous terminated ${at} not found`)
    return ended(last, restartCount - 1)
  }
  if (running !== undefined) {
    return {
      id: status.containerID ?? `${pod.metadata.uid ?? ''}/${container}/${restartCount}`,
      startedAtMs: Date.parse(running.startedAt ?? ''),
      finishedAtMs: undefined,
      exitCode: undefined,
      isInit,
      isFailing: restartCount > 0 && !ready,
    }
  }
  if (terminated !== undefined) return ended(terminated, restartCount)
  if (last !== undefined) return ended(last, restartCount - 1)
  if (waiting === undefined) throw badRequest(`${at} is waiting to start - no logs yet`)
  throw badRequest(`${at} is waiting to start: ${reasons[waiting.reason ?? ''] ?? waiting.reason}`)
}

function containerStatusOf(
  pod: Unstructured | undefined,
  container: string,
): { readonly status: ContainerStatus | undefined; readonly isInit: boolean } {
  const { containerStatuses: main = [], initContainerStatuses: init = [] } =
    (pod as Pod | undefined)?.status ?? {}
  const status = [...main, ...init].find(({ name }) => name === container)
  return { status, isInit: status !== undefined && init.includes(status) }
}

const reasons: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
}

/** How a run has ended, as the pod says now; `undefined` while it runs. */
export function endOf(
  pod: Unstructured | undefined,
  container: string,
  { id }: ContainerRun,
): Pick<ContainerRun, 'finishedAtMs' | 'exitCode'> | undefined {
  const { status } = containerStatusOf(pod, container)
  if (status?.state?.running !== undefined && status.containerID === id) return undefined
  const exits = [status?.state?.terminated, status?.lastState?.terminated]
  const exit = exits.find((one) => one?.containerID === id)
  return {
    finishedAtMs: Date.parse(exit?.finishedAt ?? '') || Date.now(),
    exitCode: exit?.exitCode,
  }
}
