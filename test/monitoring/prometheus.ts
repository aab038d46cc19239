import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A program on the path; `undefined` if there is none. */
export function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [time: number, value: string]
}

/** A genuine Prometheus that scrapes one target every second. */
export class Prometheus implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly url: string

  private constructor(child: ChildProcess, folder: string, url: string) {
    this.#child = child
    this.#folder = folder
    this.url = url
  }

  static async start(
    program: string,
    {
      target,
      job,
      rules,
    }: { readonly target: string; readonly job: string; readonly rules?: string },
  ): Promise<Prometheus> {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-prometheus-'))
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: rules === undefined ? [] : [rules],
      scrape_configs: [{ job_name: job, static_configs: [{ targets: [target] }] }],
    }
    const file = join(folder, 'prometheus.yml')
    await writeFile(file, JSON.stringify(config))
    const options = [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
    ]
    const child = spawn(program, options, { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    const address = await new Promise<string>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString()
        const found = /"Listening on" address=(\S+)/.exec(said)?.[1]
        if (found !== undefined) resolve(found)
      })
      child.once('exit', () => reject(new Error(`prometheus has ended: ${said}`)))
    })
    return new Prometheus(child, folder, `http://${address}`)
  }

  /** The samples of a query now. Rejects for one that is not valid. */
  async query(query: string): Promise<readonly Sample[]> {
    const { result } = (await this.#ask('query', { query })) as { result: readonly Sample[] }
    return result
  }

  /** The alerts that Prometheus has loaded, with what keeps it from evaluating them. */
  async rules(): Promise<readonly { readonly name: string; readonly lastError?: string }[]> {
    const { groups } = (await this.#ask('rules', {})) as {
      groups: readonly { rules: readonly { name: string; lastError?: string }[] }[]
    }
    return groups.flatMap(({ rules }) => rules)
  }

  async #ask(path: string, parameters: Readonly<Record<string, string>>): Promise<unknown> {
    const search = new URLSearchParams(parameters)
    const response = await fetch(`${this.url}/api/v1/${path}?${search.toString()}`)
    const answer = (await response.json()) as { readonly data?: unknown; readonly error?: string }
    if (answer.error !== undefined) throw new Error(`${parameters['query']}: ${answer.error}`)
    return answer.data
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
    await rm(this.#folder, { recursive: true })
  }
}
