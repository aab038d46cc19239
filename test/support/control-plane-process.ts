import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A server process of a control plane that did not do what was asked of it; the message ends with its last log lines. */
export class ControlPlaneError extends Error {
  readonly code = 'CONTROL_PLANE_FAILED'
}

/** One running server. */
export interface ServerProcess {
  readonly pid: number
  /** False from the moment the process has exited, whoever ended it. */
  readonly running: () => boolean
  /** SIGKILL, then waits until the process is gone. Harmless when it already is. */
  readonly kill: () => Promise<void>
  /** Polls until the probe says true. A probe that throws counts as false. Fails at the deadline, or once the process has exited. */
  readonly ready: (probe: () => Promise<boolean>, timeoutMs: number) => Promise<void>
}

const logTailOf = (logPath: string): string => readFileSync(logPath, 'utf8').slice(-3000)

const killDeadlineMs = 10_000
const probePauseMs = 25

const killAndWait = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(killDeadlineMs) })
  child.kill('SIGKILL')
  await exited
}

/** Starts a server with its output appended to a log file, so that a busy test process never holds it up. */
export const startServerProcess = async (
  command: string,
  args: readonly string[],
  logPath: string,
): Promise<ServerProcess> => {
  const log = openSync(logPath, 'a')
  const child = spawn(command, args, { stdio: ['ignore', log, log], env: {} })
  closeSync(log)
  await once(child, 'spawn')
  const running = (): boolean => child.exitCode === null && child.signalCode === null

  const ready = async (probe: () => Promise<boolean>, timeoutMs: number): Promise<void> => {
    const deadline = performance.now() + timeoutMs
    while (running() && performance.now() < deadline) {
      if (await probe().catch(() => false)) return
      await sleep(probePauseMs)
    }
    const what = running() ? `was not ready within ${timeoutMs} ms` : 'exited before it was ready'
    throw new ControlPlaneError(`${command} ${what}\n${logTailOf(logPath)}`)
  }
  return { pid: child.pid ?? 0, running, kill: async () => killAndWait(child), ready }
}

/** Ends what a test process leaves behind when it dies without cleaning up. */
export interface Guard {
  /** Replaces the set of processes to end. */
  readonly watch: (processes: readonly ServerProcess[]) => void
  /** The owner cleaned up: the guard ends and touches nothing. */
  readonly dismiss: () => Promise<void>
}

const guardScript = `
pids=
while read -r line; do pids=$line; done
[ -z "$pids" ] || kill -9 $pids 2>/dev/null
rm -rf -- "$1"
`

/**
 * A shell that reads its standard input until the other end closes, which the kernel does however the owner dies, then
 * kills the processes last named to it and removes the folder. It is a session of its own, so Ctrl-C does not reach it.
 */
export const startGuard = (dir: string): Guard => {
  const shell = spawn('/bin/sh', ['-c', guardScript, 'guard', dir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  // Somebody ended the guard: the tests are none the worse for it.
  shell.stdin.on('error', () => {})
  return {
    watch: (processes) => {
      const pids = processes.filter(({ running }) => running()).map(({ pid }) => pid)
      shell.stdin.write(`${pids.join(' ')}\n`)
    },
    dismiss: async () => killAndWait(shell),
  }
}

const portIsFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

/**
 * A loopback port that nobody listens on, from below the range that systems use for outgoing connections: a server
 * that is killed and started again must find its port still free.
 */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = 18_000 + Math.floor(Math.random() * 14_000)
    if (await portIsFree(port)) return port
  }
  throw new ControlPlaneError('no free loopback port in 100 attempts')
}
