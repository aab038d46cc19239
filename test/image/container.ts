import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { AssembledImage } from './assembled-image.ts'

/** Why nothing can be contained here; `undefined`: it can. */
export const notContainable: string | undefined = ((): string | undefined => {
  try {
    execFileSync('unshare', ['--mount', '--pid', '--fork', 'setpriv', '--reuid=1000', 'true'], {
      stdio: 'ignore',
    })
    return undefined
  } catch {
    return 'this user may make no namespaces, or there is no unshare and setpriv'
  }
})()

/** A command in a container of its own. */
export interface Contained extends AsyncDisposable {
  /** Resolves with what it has printed when that matches; rejects where it ends before. */
  readonly printed: (pattern: RegExp) => Promise<RegExpExecArray>
  /** The exit code. */
  readonly ended: Promise<number | null>
  /** As an engine stops a container: the command is the first process of its namespace. */
  readonly stop: () => void
}

/** Starts a command as a container of the image would, with a folder of configuration. */
export const contain = (
  { dir, workdir, user }: Pick<AssembledImage, 'dir' | 'workdir' | 'user'>,
  config: string,
  command: readonly string[],
): Contained => {
  const root = mkdtempSync(join(tmpdir(), 'informerql-root-'))
  const child: ChildProcess = spawn(
    'unshare',
    [
      '--mount',
      '--pid',
      '--fork',
      resolve('test/image/contained.sh'),
      root,
      dir,
      workdir,
      realpathSync(process.execPath),
      user,
      config,
      ...command,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  let look = (): void => {}
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      look()
    })
  }
  /** To the command itself: who changes users is not killed with its parent. */
  const signalTo = (signal: NodeJS.Signals): void => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
    if (children !== '') process.kill(Number(children), signal)
  }
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    ended,
    stop: () => signalTo('SIGTERM'),
    printed: (pattern) =>
      new Promise((found, lost) => {
        look = () => {
          const match = pattern.exec(output)
          if (match !== null) found(match)
        }
        look()
        void ended.then(() => lost(new Error(`ended without ${String(pattern)}: ${output}`)))
      }),
    [Symbol.asyncDispose]: async () => {
      signalTo('SIGKILL')
      await ended
      rmSync(root, { recursive: true })
    },
  }
}
