import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watchTurns } from './longest-turn.ts'

/** A process that serves while a benchmark runs. */
export interface Service extends AsyncDisposable {
  readonly url: string
  /** The URLs of a service that serves several. */
  readonly urls: readonly string[]
  /** Its CPU time so far, milliseconds. */
  cpuMs(): Promise<number>
  /** The same, and what it has in memory. */
  usage(): Promise<Usage>
  /** The CPU time of the longest turn of its event loop during a work, milliseconds. */
  longestTurnMs(during: () => Promise<unknown>): Promise<number>
}

export interface Usage {
  readonly cpuMs: number
  readonly rssBytes: number
}

/** What a parent asks. */
type Question = 'cpu' | 'watch turns' | 'longest turn'

interface Message {
  readonly url?: string
  readonly urls?: readonly string[]
  readonly cpuMs?: number
  readonly rssBytes?: number
  readonly turnMs?: number
}

const startDeadlineMs = 300_000
const answerDeadlineMs = 10_000

/** Starts a script of `bench/process` that ends in {@link serveParent}; resolves when it serves. */
export async function startService(
  script: string,
  args: readonly (string | number)[],
): Promise<Service> {
  const child = spawn(process.execPath, [script, ...args.map(String)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const exited = once(child, 'exit')
  const message = async (deadlineMs: number): Promise<Message> => {
    const signal = AbortSignal.timeout(deadlineMs)
    const gone = exited.then(() => {
      throw new Error(`${script} ended with ${child.exitCode}`)
    })
    const [answer] = await Promise.race([once(child, 'message', { signal }), gone])
    return answer as Message
  }
  const asked = (question: Question): Promise<Message> => {
    const answer = message(answerDeadlineMs)
    child.send(question)
    return answer
  }
  const { url = '', urls = [url] } = await message(startDeadlineMs)
  return {
    url,
    urls,
    async cpuMs() {
      return (await asked('cpu')).cpuMs ?? 0
    },
    async usage() {
      const { cpuMs = 0, rssBytes = 0 } = await asked('cpu')
      return { cpuMs, rssBytes }
    },
    async longestTurnMs(during) {
      await asked('watch turns')
      await during()
      return (await asked('longest turn')).turnMs ?? 0
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.disconnect()
      const timer = setTimeout(() => child.kill('SIGKILL'), answerDeadlineMs)
      await exited
      clearTimeout(timer)
    },
  }
}

/** The service's side: tells where it serves and answers the parent's questions; resolves when the parent is gone. */
export async function serveParent(served: {
  readonly url: string
  readonly urls?: readonly string[]
}): Promise<void> {
  let longestTurn: (() => number) | undefined
  const answers: Readonly<Record<Question, () => Message>> = {
    cpu() {
      const { user, system } = process.cpuUsage()
      return { cpuMs: (user + system) / 1000, rssBytes: process.memoryUsage().rss }
    },
    'watch turns'() {
      longestTurn = watchTurns()
      return {}
    },
    'longest turn': () => ({ turnMs: longestTurn?.() ?? 0 }),
  }
  process.on('message', (question: Question) => process.send?.(answers[question]()))
  process.send?.(served satisfies Message)
  await once(process, 'disconnect')
}
