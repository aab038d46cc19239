import type { HealthStatus } from '../look/health.tsx'
import { words } from '../words.ts'
import { pageWords } from './page-words.ts'
import { flagAt, listAt, membersAt, numberAt, textAt, valueAt } from './json.ts'

/** One container of a pod or of a pod template. */
export interface ContainerState {
  readonly name: string
  readonly image: string
  readonly role: 'container' | 'init' | 'sidecar' | 'ephemeral'
  /** How it is: `plain` for a template, which has no state. */
  readonly tone: 'good' | 'moving' | 'bad' | 'done' | 'plain'
  /** What it does now, as a sentence without the container's name. */
  readonly sentence: string | undefined
  /** The API's own word for it: `CrashLoopBackOff`. */
  readonly reason: string | undefined
  /** Since when. */
  readonly since: string | undefined
  readonly restarts: number
  /** How it ended last, and when. */
  readonly lastExit: { readonly sentence: string; readonly at: string | undefined } | undefined
  readonly requests: string | undefined
  readonly limits: string | undefined
  readonly ports: string | undefined
  /** The container as the spec has it. */
  readonly given: unknown
}

type Said = Pick<ContainerState, 'tone' | 'sentence' | 'reason' | 'since'>

/** A container that runs for less than this has crashed at its start. */
const startMs = 10_000

/** The containers of a Pod with their states; of an object with a pod template, without. */
export function containersOf(json: unknown): readonly ContainerState[] {
  const pod = podSpecOf(json)
  if (pod === undefined) return []
  const isPod = textAt(json, 'kind') === 'Pod'
  const states = [
    'initContainerStatuses',
    'containerStatuses',
    'ephemeralContainerStatuses',
  ].flatMap((name) => listAt(json, 'status', name))
  const places = [
    ['initContainers', 'init'],
    ['containers', 'container'],
    ['ephemeralContainers', 'ephemeral'],
  ] as const
  return places.flatMap(([place, role]) =>
    listAt(pod, place).map((container): ContainerState => {
      const name = textAt(container, 'name') ?? ''
      const status = states.find((one) => textAt(one, 'name') === name)
      const isSidecar = role === 'init' && textAt(container, 'restartPolicy') === 'Always'
      const restarts = numberAt(status, 'restartCount') ?? 0
      return {
        name,
        image: textAt(container, 'image') ?? '',
        role: isSidecar ? 'sidecar' : role,
        ...(isPod ? stateOf(json, container, status) : untold),
        restarts,
        lastExit: lastExitOf(container, status),
        requests: resources(container, 'requests'),
        limits: resources(container, 'limits'),
        ports: portsOf(container),
        given: container,
      }
    }),
  )
}

/** A container that runs again after it has failed. */
export interface RestartedContainer {
  readonly name: string
  readonly startedAt: string
  /** How the run before ended: `exit code 1`. */
  readonly exit: string
}

/** The container of a pod that was restarted last, of those that run again after a failure. */
export function restartedOf(pod: unknown): RestartedContainer | undefined {
  const containers = ['containers', 'initContainers'].flatMap((name) => listAt(pod, 'spec', name))
  const statuses = ['containerStatuses', 'initContainerStatuses']
  const restarted = statuses
    .flatMap((name) => listAt(pod, 'status', name))
    .flatMap((status): readonly RestartedContainer[] => {
      const startedAt = textAt(status, 'state', 'running', 'startedAt')
      const last = valueAt(status, 'lastState', 'terminated')
      const isFine = last === undefined || numberAt(last, 'exitCode') === 0
      if (startedAt === undefined || isFine) return []
      const name = textAt(status, 'name') ?? ''
      const container = containers.find((one) => textAt(one, 'name') === name)
      return [{ name, startedAt, exit: exitOf(container, last) }]
    })
  return restarted.toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))[0]
}

/** What is wrong with a pod, or what it waits for, as one sentence: of the container that says most. */
export function troubleOf(json: unknown, status: HealthStatus | undefined): string | undefined {
  const containers = containersOf(json)
  const isComing = status === 'PROGRESSING' || status === 'DEGRADED'
  const telling =
    containers.find(({ tone }) => tone === 'bad') ??
    containers.find(({ tone, since }) => isComing && tone === 'moving' && since !== undefined)
  if (telling?.sentence === undefined) return undefined
  return containers.length === 1
    ? words.object.container.it(telling.sentence)
    : words.object.container.named(telling.name, telling.sentence)
}

const untold: Said = { tone: 'plain', sentence: undefined, reason: undefined, since: undefined }

/** The spec of the pods that an object is or makes. */
export function podSpecOf(json: unknown): unknown {
  const kind = textAt(json, 'kind')
  if (kind === 'Pod') return valueAt(json, 'spec')
  if (kind === 'CronJob') return valueAt(json, 'spec', 'jobTemplate', 'spec', 'template', 'spec')
  if (kind === 'PodTemplate') return valueAt(json, 'template', 'spec')
  return valueAt(json, 'spec', 'template', 'spec')
}

function stateOf(pod: unknown, container: unknown, status: unknown): Said {
  const { container: say } = words.object
  const waiting = valueAt(status, 'state', 'waiting')
  const running = valueAt(status, 'state', 'running')
  const ended = valueAt(status, 'state', 'terminated')
  if (running !== undefined) {
    const since = textAt(running, 'startedAt')
    if (flagAt(status, 'ready'))
      return { tone: 'good', sentence: say.ready, reason: undefined, since }
    const again = recovery(pod, container, status)
    return { tone: 'moving', sentence: again ?? say.notReady, reason: undefined, since }
  }
  if (ended !== undefined) {
    const since = textAt(ended, 'finishedAt')
    const reason = textAt(ended, 'reason')
    return numberAt(ended, 'exitCode') === 0
      ? { tone: 'done', sentence: say.done, reason, since }
      : { tone: 'bad', sentence: say.ended(exitOf(container, ended)), reason, since }
  }
  const reason = textAt(waiting, 'reason')
  const message = textAt(waiting, 'message')
  const waits = { reason, since: undefined }
  switch (reason) {
    case undefined:
    case 'ContainerCreating':
    case 'PodInitializing':
      return {
        tone: 'moving',
        sentence: waiting === undefined ? say.notStarted : say.starts,
        ...waits,
      }
    case 'CrashLoopBackOff':
      return { tone: 'bad', sentence: crash(pod, container, status), ...waits }
    case 'ImagePullBackOff':
    case 'ErrImagePull':
    case 'InvalidImageName':
    case 'ErrImageNeverPull': {
      const image = textAt(container, 'image') ?? ''
      const isAbsent = /not ?found|manifest unknown/i.test(message ?? '')
      return {
        tone: 'bad',
        sentence: isAbsent ? say.noImage(image) : say.imagePull(image),
        ...waits,
      }
    }
    case 'CreateContainerConfigError':
    case 'CreateContainerError':
      return { tone: 'bad', sentence: say.cannotStart(message ?? reason), ...waits }
    default:
      return { tone: 'bad', sentence: say.waits(message ?? reason), ...waits }
  }
}

/** `crashes at start: exit code 1, 14 times in 40 minutes`. */
function crash(pod: unknown, container: unknown, status: unknown): string {
  const { container: say, times } = words.object
  const last = valueAt(status, 'lastState', 'terminated')
  if (last === undefined) return say.crashes(times(numberAt(status, 'restartCount') ?? 0))
  const ranMs = timeAt(last, 'finishedAt') - timeAt(last, 'startedAt')
  const exit = exitOf(container, last)
  const often = oftenOf(pod, status)
  return ranMs >= startMs ? say.crashesAfter(ranMs, exit, often) : say.crashesAtStart(exit, often)
}

/** `has started again …`, of a container that has failed before. */
function recovery(pod: unknown, container: unknown, status: unknown): string | undefined {
  const last = valueAt(status, 'lastState', 'terminated')
  if (last === undefined || numberAt(last, 'exitCode') === 0) return undefined
  return words.object.container.recovers(exitOf(container, last), oftenOf(pod, status))
}

/** How often a container has ended, and in which time: `14 times in 40 minutes`. */
function oftenOf(pod: unknown, status: unknown): string {
  const count = numberAt(status, 'restartCount') ?? 0
  const last = valueAt(status, 'lastState', 'terminated')
  const spanMs = timeAt(last, 'finishedAt') - timeAt(valueAt(pod, 'status'), 'startTime')
  return Number.isNaN(spanMs) ? words.object.times(count) : words.object.timesIn(count, spanMs)
}

/** A time in milliseconds; NaN if there is none. */
function timeAt(value: unknown, name: string): number {
  return Date.parse(textAt(value, name) ?? '')
}

/** `exit code 137, killed for its memory (limit 512Mi)`. */
function exitOf(container: unknown, ended: unknown): string {
  const { container: say } = words.object
  const code = numberAt(ended, 'exitCode')
  const signal = numberAt(ended, 'signal')
  if (textAt(ended, 'reason') === 'OOMKilled') {
    return say.outOfMemory(textAt(container, 'resources', 'limits', 'memory'))
  }
  return signal === undefined || signal === 0 ? say.exitCode(code ?? 0) : say.signal(signal)
}

function lastExitOf(container: unknown, status: unknown): ContainerState['lastExit'] {
  const last = valueAt(status, 'lastState', 'terminated')
  if (last === undefined) return undefined
  const reason = textAt(last, 'reason')
  const exit = exitOf(container, last)
  const sentence = pageWords.lastState(exit, reason, numberAt(last, 'exitCode'))
  return { sentence, at: textAt(last, 'finishedAt') }
}

function resources(container: unknown, which: 'requests' | 'limits'): string | undefined {
  const given = membersAt(container, 'resources', which)
  return given.length === 0
    ? undefined
    : given.map(([name, value]) => `${name} ${value}`).join(', ')
}

function portsOf(container: unknown): string | undefined {
  const ports = listAt(container, 'ports').map((port) => {
    const protocol = textAt(port, 'protocol') ?? 'TCP'
    const name = textAt(port, 'name')
    const number = numberAt(port, 'containerPort') ?? ''
    return `${name === undefined ? '' : `${name} `}${number}${protocol === 'TCP' ? '' : `/${protocol}`}`
  })
  return ports.length === 0 ? undefined : ports.join(', ')
}
