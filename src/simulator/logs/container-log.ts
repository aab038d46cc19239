import type { Unstructured } from '../../kubernetes/object.ts'
import type { ContainerRun } from './container-run.ts'
import {
  failingTexts,
  type LogVoice,
  pick,
  preparingTexts,
  runningText,
  seedOf,
  startingTexts,
} from './log-text.ts'

export interface LogLine {
  readonly atMs: number
  /** The digits of its time after the milliseconds. */
  readonly nanos: number
  readonly text: string
}

/** The annotation of a pod that says how many lines its containers write in a second. */
export const linesPerSecondAnnotation = 'simulator/log-lines-per-second'

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
    this.#everyMs = everyMsOf(pod, this.#voice)
    this.#seed = seedOf(run.id)
    this.#startedAtMs = run.startedAtMs
    const at = { atMs: run.startedAtMs, seed: this.#seed }
    this.#starting = run.isInit ? preparingTexts(this.#voice, at) : startingTexts(this.#voice, at)
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
    return { atMs, nanos, text: this.#textOf(number, { atMs, seed }) }
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

  #textOf(number: number, line: { readonly atMs: number; readonly seed: number }): string {
    const starting = this.#starting[number]
    if (starting !== undefined) return starting
    if (this.#finishedAtMs === undefined) return runningText(this.#voice, line)
    const ending = number - this.#starting.length - this.#running(this.#finishedAtMs)
    return this.#ending[ending] ?? runningText(this.#voice, line)
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

function everyMsOf({ metadata }: Unstructured, { role }: LogVoice): number {
  const told = Number(metadata.annotations?.[linesPerSecondAnnotation])
  if (told > 0) return 1_000 / told
  return busyRoles.has(role) ? 800 : 3_000
}
