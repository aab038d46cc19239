/** What the text of a line depends on. */
export interface LogVoice {
  readonly app: string
  /** The container; its app's name, unless it is a helper of the app. */
  readonly container: string
  /** What the app is for: the label `app.kubernetes.io/component`. */
  readonly role: string
  /** The tag of its image. */
  readonly version: string
}

/** One line: its time, and a number from which everything random of it follows. */
export interface LineSeed {
  readonly atMs: number
  /** 32 bits. */
  readonly seed: number
}

type Writer = (voice: LogVoice, line: LineSeed) => string

/** The text of a line while a container runs. The same seed gives the same text. */
export function runningText(voice: LogVoice, line: LineSeed): string {
  const isHelper = voice.container !== voice.app
  const write = isHelper ? accessLine : (writers[voice.role] ?? jsonJob)
  return write(voice, line)
}

/** The first lines of a container. */
export function startingTexts({ app, version, role }: LogVoice, seed: LineSeed): readonly string[] {
  if (plainRoles.has(role)) return [`${app} ${version} starting`, 'ready to accept connections']
  return [
    json(seed, 'info', `starting ${app} ${version}`, { config: '/etc/app/config.yaml' }),
    json(seed, 'info', 'connected to the database', { pool: 10 }),
  ]
}

/** The last lines of a container that fails: why. */
export function failingTexts({ app, version, role }: LogVoice, seed: LineSeed): readonly string[] {
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

/** The lines of a container that prepares its pod and is done. */
export function preparingTexts({ app }: LogVoice, seed: LineSeed): readonly string[] {
  return [
    `waiting for the database of ${app}`,
    `the database answers after ${pick(seed, 4, 900)} ms`,
    'done: nothing to migrate',
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

/** The access log of a web server. */
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
export function pick({ seed }: Pick<LineSeed, 'seed'>, place: number, below: number): number {
  let word = Math.imul(seed ^ Math.imul(place + 1, 0x9e3779b1), 0x85ebca6b)
  word ^= word >>> 15
  word = Math.imul(word, 0xc2b2ae35)
  return ((word ^ (word >>> 16)) >>> 0) % below
}

function choose(line: LineSeed, place: number, from: readonly string[]): string {
  return from[pick(line, place, from.length)] ?? ''
}

/** 32 bits of a text. */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return hash >>> 0
}
