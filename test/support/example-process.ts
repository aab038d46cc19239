import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ContractServer } from '../contract/contract-server.ts'
import { writeKubeconfig } from './kubeconfig.ts'

/** An example of `examples/` as a process, and everything it has printed. */
export interface ExampleProcess extends AsyncDisposable {
  readonly lines: readonly string[]
  /** Resolves when a line that contains the text has been printed; rejects where the process ends before. */
  printed(text: string): Promise<void>
  readonly signal: (signal: NodeJS.Signals) => void
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  /** SIGINT, unless another signal is given; answers with the exit code. */
  interrupt(signal?: 'SIGINT' | 'SIGTERM'): Promise<number | null>
  /** Stops the process as it is, until {@link resume}. */
  suspend(): void
  resume(): void
}

/** Starts an example as a user of the server: by `--server`, or by a kubeconfig where there are credentials. */
export async function startExample(
  name: string,
  server: ContractServer,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<ExampleProcess> {
  const kubeconfig = await writeKubeconfig(server)
  const place = server.ca === undefined ? ['--server', server.url] : []
  const example = run(name, [...args, ...place], { ...env, KUBECONFIG: kubeconfig.path })
  return {
    ...example,
    [Symbol.asyncDispose]: async () => {
      await example[Symbol.asyncDispose]()
      await kubeconfig[Symbol.asyncDispose]()
    },
  }
}

/** Starts an example that is a client of a gateway. */
export function startClientExample(name: string, url: string): ExampleProcess {
  return run(name, [url], {})
}

function run(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): ExampleProcess {
  const source = ['--conditions=informerql-source', `examples/${name}.ts`, ...args]
  return startProgram(process.execPath, source, { env: { ...process.env, ...env } })
}

/** Starts any program of Node's in the same way; it ends after a minute, or after `timeout` milliseconds. */
export function startProgram(
  node: string,
  args: readonly string[],
  {
    stdout = 'pipe',
    ...options
  }: {
    readonly env?: NodeJS.ProcessEnv
    readonly cwd?: string
    readonly timeout?: number
    /** A descriptor whose output is not read here. */
    readonly stdout?: number | 'pipe'
  },
): ExampleProcess {
  const child: ChildProcess = spawn(node, args, {
    // Also where a test gives up before it has a process to dispose of.
    timeout: 60_000,
    ...options,
    stdio: ['ignore', stdout, 'pipe'],
    killSignal: 'SIGKILL',
  })
  const lines: string[] = []
  const waiting = new Set<() => void>()
  const ended = once(child, 'close').then(() => child.exitCode)
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      for (const look of waiting) look()
    })
  }
  return {
    lines,
    ended,
    printed: (text) => {
      const found = Promise.withResolvers<void>()
      const look = () => {
        if (lines.some((line) => line.includes(text))) found.resolve()
      }
      waiting.add(look)
      look()
      const early = ended.then(() => found.reject(new Error(`ended early:\n${lines.join('\n')}`)))
      return Promise.race([found.promise, early]).finally(() => waiting.delete(look))
    },
    signal: (signal) => void child.kill(signal),
    interrupt: async (signal = 'SIGINT') => {
      child.kill(signal)
      return await ended
    },
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
