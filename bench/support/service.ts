import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A process that serves while a benchmark runs. */
export interface Service extends AsyncDisposable {
  readonly url: string
  /** Its CPU time so far, milliseconds. */
  cpuMs(): Promise<number>
}

interface Message {
  readonly url?: string
  readonly cpuMs?: number
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
  const { url = '' } = await message(startDeadlineMs)
  return {
    url,
    async cpuMs() {
      const answer = message(answerDeadlineMs)
      child.send('cpu')
      return (await answer).cpuMs ?? 0
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
export async function serveParent({ url }: { readonly url: string }): Promise<void> {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuMs: (user + system) / 1000 } satisfies Message)
  })
  process.send?.({ url } satisfies Message)
  await once(process, 'disconnect')
}
