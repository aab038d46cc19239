/*
 * The processes that `pods/exec` starts in a simulated container: a toy shell with a dozen commands, enough to open, use
 * and end one. `startProcess` runs a command as a kubelet does. With a terminal, `Typing` makes lines of what is typed, as
 * the terminal driver of a kernel does: echo, erasing, ctrl-c and ctrl-d. Output waits for its reader, so that `yes` runs
 * no faster than it is read.
 */

import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { itemsOf, textOf } from '../../kubernetes/fields.ts'
import type { Unstructured } from '../../kubernetes/object.ts'

export interface ProcessOptions {
  readonly pod: Unstructured
  readonly container: string
  readonly command: readonly string[]
  readonly tty: boolean
  /** Takes output; resolves when there is room for more. */
  readonly write: (stream: 'stdout' | 'stderr', text: string) => Promise<void>
}

/** A running process of a container. */
export interface ContainerProcess {
  /** Resolves with the exit code; `undefined` if the container has no such program. */
  readonly exited: Promise<number | undefined>
  input(bytes: Buffer): void
  endInput(): void
  resize(columns: number, rows: number): void
  /** Ends it, as the end of its container does. */
  kill(): void
}

/** The most characters of a line, and the most lines that wait, as a kernel bounds what is typed ahead. */
const maxLineLength = 4_096
const maxLines = 1_000
const killed = 137
const interrupted = 130

export function startProcess(options: ProcessOptions): ContainerProcess {
  const { command, tty, write } = options
  const kill = new AbortController()
  const out: Out = (text, stream = 'stdout') =>
    write(tty ? 'stdout' : stream, tty ? text.replaceAll('\n', '\r\n') : text)
  const typing = new Typing(tty, (text) => void write('stdout', text))
  const shell = new ToyShell(options, typing, out, kill.signal)
  const { promise: ended, resolve: end } = Promise.withResolvers<number>()
  kill.signal.addEventListener('abort', () => end(killed), { once: true })
  const run = isProgram(command[0] ?? '') ? shell.run(command) : Promise.resolve(undefined)
  const exited = Promise.race([run, ended])
  return {
    exited,
    input: (bytes) => typing.type(bytes.toString()),
    endInput: () => typing.end(),
    resize: (columns, rows) => shell.resize(columns, rows),
    kill: () => kill.abort(),
  }
}

type Out = (text: string, stream?: 'stdout' | 'stderr') => Promise<void>

/** What is typed, as lines. */
class Typing {
  readonly #tty: boolean
  readonly #echo: (text: string) => void
  readonly #lines: (string | undefined)[] = []
  #line = ''
  #isEscape = false
  #wake: (() => void) | undefined
  /** Called for ctrl-c. */
  onInterrupt: () => void = () => {}

  constructor(tty: boolean, echo: (text: string) => void) {
    this.#tty = tty
    this.#echo = tty ? echo : () => {}
  }

  type(text: string): void {
    for (const one of text) this.#key(one)
  }

  end(): void {
    if (this.#line !== '') this.#push(this.#line)
    this.#line = ''
    this.#push(undefined)
  }

  /** The next line, without its end; `undefined` at the end of the input. Rejects when the signal aborts. */
  async line(signal: AbortSignal): Promise<string | undefined> {
    while (this.#lines.length === 0) {
      signal.throwIfAborted()
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise
    }
    signal.throwIfAborted()
    const [line] = this.#lines
    // The end stays the end.
    if (line !== undefined || this.#tty) this.#lines.shift()
    return line
  }

  #key(key: string): void {
    if (!this.#tty) {
      if (key === '\n') this.#take()
      else this.#add(key)
      return
    }
    if (this.#isEscape) {
      // The keys of the cursor and the like do nothing.
      if (/[A-Za-z~]/.test(key)) this.#isEscape = false
      return
    }
    switch (key) {
      case '\u001B':
        this.#isEscape = true
        return
      case '\u0003':
        this.#line = ''
        this.#lines.length = 0
        this.#echo('^C\r\n')
        this.onInterrupt()
        return
      case '\u0004':
        if (this.#line === '') this.#push(undefined)
        return
      case '\r':
      case '\n':
        this.#echo('\r\n')
        this.#take()
        return
      case '\u007F':
      case '\b':
        if (this.#line === '') return
        this.#line = this.#line.slice(0, -1)
        this.#echo('\b \b')
        return
      default:
        if (key < ' ') return
        this.#echo(key)
        this.#add(key)
    }
  }

  #add(key: string): void {
    if (this.#line.length < maxLineLength) this.#line += key
  }

  #take(): void {
    this.#push(this.#line)
    this.#line = ''
  }

  #push(line: string | undefined): void {
    if (this.#lines.length < maxLines) this.#lines.push(line)
    this.#wake?.()
  }
}

/** What a command gets. */
interface Call {
  readonly args: readonly string[]
  readonly out: Out
  readonly signal: AbortSignal
  readonly shell: ToyShell
}

class ToyShell {
  readonly environment: ReadonlyMap<string, string>
  readonly files: ReadonlyMap<string, string>
  readonly typing: Typing
  readonly tty: boolean
  /** Of the container's first process. */
  readonly program: string
  folder = '/'
  columns = 80
  rows = 24
  lastCode = 0
  /** Set by `exit`. */
  exitCode: number | undefined
  readonly #out: Out
  readonly #killed: AbortSignal

  constructor(
    { pod, container, tty }: ProcessOptions,
    typing: Typing,
    out: Out,
    isKilled: AbortSignal,
  ) {
    this.typing = typing
    this.tty = tty
    this.#out = out
    this.#killed = isKilled
    const { spec } = pod as Unstructured & { readonly spec?: Record<string, unknown> }
    const all = ['containers', 'initContainers', 'ephemeralContainers'].flatMap((list) => [
      ...itemsOf(spec?.[list]),
    ])
    const own = all.find(({ name }) => name === container) ?? {}
    const { name, namespace = '' } = pod.metadata
    const image = textOf(own['image']) ?? container
    const started = [own['command'], own['args']].flat().filter((part) => typeof part === 'string')
    this.program = started.join(' ') || `/${image.replace(/[:@].*$/, '').replace(/^.*\//, '')}`
    this.environment = new Map([
      ['PATH', '/usr/local/bin:/usr/bin:/bin'],
      ['HOME', '/root'],
      ['HOSTNAME', name],
      ['TERM', 'xterm'],
      ['KUBERNETES_SERVICE_HOST', '10.96.0.1'],
      ['KUBERNETES_SERVICE_PORT', '443'],
      ...itemsOf(own['env']).flatMap(({ name: key, value }): [string, string][] =>
        typeof key === 'string' && typeof value === 'string' ? [[key, value]] : [],
      ),
    ])
    this.files = new Map([
      ['/etc/hostname', `${name}\n`],
      ['/etc/hosts', `127.0.0.1\tlocalhost\n${podIp(pod)}\t${name}\n`],
      ['/etc/os-release', `NAME="Simulated Linux"\nID=simulated\nIMAGE="${image}"\n`],
      ['/etc/resolv.conf', `search ${namespace}.svc.cluster.local svc.cluster.local\n`],
      ['/var/run/secrets/kubernetes.io/serviceaccount/namespace', namespace],
    ])
  }

  resize(columns: number, rows: number): void {
    this.columns = columns
    this.rows = rows
  }

  /** Runs a program with its arguments, to its exit code. */
  async run(argv: readonly string[]): Promise<number> {
    const [program = '', ...args] = argv
    const name = program.replace(/^.*\//, '')
    const interrupt = new AbortController()
    const signal = AbortSignal.any([interrupt.signal, this.#killed])
    const before = this.typing.onInterrupt
    this.typing.onInterrupt = () => interrupt.abort()
    try {
      const call = { args, out: this.#out, signal, shell: this }
      const command = Object.hasOwn(commands, name) ? commands[name] : undefined
      if (command !== undefined) return await command(call)
      await this.#out(`sh: ${program}: not found\n`, 'stderr')
      return 127
    } catch (error) {
      if (!signal.aborted) throw error
      return interrupted
    } finally {
      this.typing.onInterrupt = before
    }
  }

  /** Runs commands that are separated by `;` and `&&`. */
  async script(text: string): Promise<number> {
    for (const one of text.split(/;|\n/)) {
      for (const part of one.split('&&')) {
        const words = wordsIn(part, (name) =>
          name === '?' ? String(this.lastCode) : (this.environment.get(name) ?? ''),
        )
        if (words.length === 0) continue
        this.lastCode = await this.run(words)
        if (this.exitCode !== undefined) return this.exitCode
        if (this.lastCode !== 0) break
      }
    }
    return this.lastCode
  }

  /** Reads and runs lines until `exit` or the end of the input. */
  async interact(): Promise<number> {
    for (;;) {
      const interrupt = new AbortController()
      this.typing.onInterrupt = () => interrupt.abort()
      const signal = AbortSignal.any([interrupt.signal, this.#killed])
      if (this.tty) await this.#out(`${this.folder} # `)
      let line: string | undefined
      try {
        line = await this.typing.line(signal)
      } catch {
        if (this.#killed.aborted) return killed
        continue
      }
      if (line === undefined) {
        if (this.tty) void this.#out('\n')
        return this.lastCode
      }
      await this.script(line)
      if (this.exitCode !== undefined) return this.exitCode
    }
  }

  /** The absolute path of a path. */
  path(given: string): string {
    const all = `${given.startsWith('/') ? '' : this.folder}/${given}`.split('/')
    const steps: string[] = []
    for (const step of all) {
      if (step === '..') steps.pop()
      else if (step !== '' && step !== '.') steps.push(step)
    }
    return `/${steps.join('/')}`
  }

  /** The names in a folder; `undefined` if there is none. */
  namesIn(folder: string): readonly string[] | undefined {
    const prefix = folder === '/' ? '/' : `${folder}/`
    const inside = [...this.files.keys(), ...folders].filter((file) => file.startsWith(prefix))
    if (inside.length === 0 && !folders.includes(folder)) return undefined
    const names = inside.map((file) => file.slice(prefix.length).split('/', 1)[0] ?? '')
    return [...new Set(names)].filter(Boolean).toSorted()
  }
}

const folders = ['/', '/bin', '/etc', '/proc', '/root', '/tmp', '/usr', '/var']

function podIp(pod: Unstructured): string {
  const { status } = pod as Unstructured & { readonly status?: { readonly podIP?: string } }
  return status?.podIP ?? '127.0.0.1'
}

/** The words of a command, with quotes and variables. */
function wordsIn(text: string, variable: (name: string) => string): readonly string[] {
  const part = /'([^']*)'|"([^"]*)"|([^\s'"]+)/g
  const filled = (plain: string): string =>
    plain.replaceAll(/\$(\w+|\?)|\$\{(\w+)\}/g, (_, one?: string, other?: string) =>
      variable(one ?? other ?? ''),
    )
  const words: string[] = []
  let end = -1
  for (const match of text.matchAll(part)) {
    const [whole, single, double, plain] = match
    const word = single ?? filled(double ?? plain ?? '')
    if (match.index === end) words.push((words.pop() ?? '') + word)
    else words.push(word)
    end = match.index + whole.length
  }
  return words
}

const done = async (written: Promise<void>): Promise<number> => {
  await written
  return 0
}

const commands: Readonly<Record<string, (call: Call) => Promise<number>>> = {
  sh: shellCommand,
  bash: shellCommand,
  echo({ args, out }) {
    const [first, ...rest] = args
    return done(out(first === '-n' ? rest.join(' ') : `${args.join(' ')}\n`))
  },
  async ls({ args, out, shell }) {
    const given = args.filter((one) => !one.startsWith('-'))
    for (const one of given.length === 0 ? ['.'] : given) {
      const path = shell.path(one)
      const names = shell.files.has(path) ? [one] : shell.namesIn(path)
      if (names === undefined) {
        await out(`ls: ${one}: No such file or directory\n`, 'stderr')
        return 1
      }
      await out(names.map((name) => `${name}\n`).join(''))
    }
    return 0
  },
  async cat({ args, out, shell, signal }) {
    if (args.length === 0) {
      for (;;) {
        const line = await shell.typing.line(signal)
        if (line === undefined) return 0
        await out(`${line}\n`)
      }
    }
    for (const one of args) {
      const text = shell.files.get(shell.path(one))
      if (text === undefined) {
        await out(`cat: can't open '${one}': No such file or directory\n`, 'stderr')
        return 1
      }
      await out(text)
    }
    return 0
  },
  env: ({ out, shell }) =>
    done(out([...shell.environment].map(([name, value]) => `${name}=${value}\n`).join(''))),
  ps({ out, shell }) {
    const rows = [`1 root ${shell.program}`, '17 root sh', '23 root ps']
    return done(out(`PID USER COMMAND\n${rows.map((row) => `${row}\n`).join('')}`))
  },
  pwd: ({ out, shell }) => done(out(`${shell.folder}\n`)),
  async cd({ args, out, shell }) {
    const path = shell.path(args[0] ?? '/root')
    if (shell.namesIn(path) === undefined) {
      await out(`sh: cd: can't cd to ${args[0]}: No such file or directory\n`, 'stderr')
      return 2
    }
    shell.folder = path
    return 0
  },
  hostname: ({ out, shell }) => done(out(`${shell.environment.get('HOSTNAME') ?? ''}\n`)),
  whoami: ({ out }) => done(out('root\n')),
  date: ({ out }) => done(out(`${new Date().toISOString()}\n`)),
  async sleep({ args, signal }) {
    await sleep(Math.min(Number(args[0]) * 1_000 || 0, 2 ** 31 - 1), undefined, { signal })
    return 0
  },
  stty: ({ args, out, shell }) =>
    args[0] === 'size' && shell.tty
      ? done(out(`${shell.rows} ${shell.columns}\n`))
      : out('stty: standard input: Inappropriate ioctl for device\n', 'stderr').then(() => 1),
  tty: ({ out, shell }) =>
    out(shell.tty ? '/dev/pts/0\n' : 'not a tty\n').then(() => (shell.tty ? 0 : 1)),
  clear: ({ out }) => done(out('\u001B[H\u001B[2J')),
  true: () => Promise.resolve(0),
  false: () => Promise.resolve(1),
  async yes({ args, out, signal }) {
    const text = `${args.join(' ') || 'y'}\n`.repeat(1_000)
    for (;;) {
      signal.throwIfAborted()
      await out(text)
      await setImmediate()
    }
  },
  exit({ args, shell }) {
    shell.exitCode = args.length === 0 ? shell.lastCode : (Number(args[0]) || 0) & 255
    return Promise.resolve(shell.exitCode)
  },
  help: ({ out }) => done(out(`${Object.keys(commands).toSorted().join(' ')}\n`)),
}

function shellCommand({ args, shell }: Call): Promise<number> {
  const [option, script = ''] = args
  return option === '-c' ? shell.script(script) : shell.interact()
}

/** Whether a container has a program. A kubelet refuses to start another one. */
function isProgram(program: string): boolean {
  return Object.hasOwn(commands, program.replace(/^(?:\/usr)?(?:\/local)?\/bin\//, ''))
}
