import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FleetAnswers, FleetQuestion } from './fleet-question.ts'

/** Fifty informers in a process of their own, so that what is measured there is theirs. */
export interface Fleet extends AsyncDisposable {
  ask<Q extends FleetQuestion>(question: Q): Promise<FleetAnswers[Q]>
}

interface Message {
  readonly answer?: unknown
  readonly error?: string
}

const startDeadlineMs = 90_000
const answerDeadlineMs = 60_000

/** Starts them as the user of a kubeconfig; resolves once they have synced. One question at a time. */
export async function startFleet(kubeconfig: string): Promise<Fleet> {
  const script = fileURLToPath(new URL('process/fleet.ts', import.meta.url))
  const child = fork(script, [kubeconfig], {
    execArgv: ['--expose-gc', '--conditions=informerql-source'],
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const next = async (deadlineMs: number): Promise<unknown> => {
    const answered = once(child, 'message', { signal: AbortSignal.timeout(deadlineMs) })
    const gone = exited.then(() => {
      throw new Error(`the fleet ended with ${child.exitCode}`)
    })
    const [message] = (await Promise.race([answered, gone])) as [Message]
    if (message.error !== undefined) throw new Error(message.error)
    return message.answer
  }
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  try {
    await next(startDeadlineMs)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    ask: async <Q extends FleetQuestion>(question: Q) => {
      const answer = next(answerDeadlineMs)
      child.send(question)
      return (await answer) as FleetAnswers[Q]
    },
    [Symbol.asyncDispose]: stop,
  }
}
