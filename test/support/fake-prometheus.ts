import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What it is asked. */
interface Asked {
  readonly query: string
  readonly start: number
  readonly end: number
  readonly step: number
  readonly authorization: string | undefined
  readonly path: string
}

/** One series, whatever is asked. */
interface Series {
  readonly metric: Readonly<Record<string, string>>
  /** In cores; as many GiB of memory. A function of the step, 0 to 59. */
  readonly cpu: number | ((step: number) => number)
}

/** A server that speaks the part of Prometheus's API that is used.  */
export class FakePrometheus implements AsyncDisposable {
  readonly asked: Asked[] = []
  /** By metric: the labels of each series, and its value. */
  readonly series: Series[] = []
  behaviour: 'answers' | 'fails' | 'floods' | 'nonsense' = 'answers'
  readonly #server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString())
      const [start, end, step] = ['start', 'end', 'step'].map((name) => Number(form.get(name)))
      const query = form.get('query') ?? ''
      const { authorization } = request.headers
      this.asked.push({
        query,
        start: start ?? 0,
        end: end ?? 0,
        step: step ?? 0,
        authorization,
        path: request.url ?? '',
      })
      if (this.behaviour === 'fails') return void response.writeHead(503).end('away')
      if (this.behaviour === 'nonsense') return void response.end('<html>')
      if (this.behaviour === 'floods') return void response.end('x'.repeat(17 << 20))
      const factor = query.includes('memory') ? 2 ** 30 : 1
      const result = this.series.map(({ metric, cpu }) => ({
        metric,
        values: Array.from({ length: 60 }, (_, at) => [
          (start ?? 0) + at * (step ?? 60),
          String((typeof cpu === 'number' ? cpu : cpu(at)) * factor),
        ]),
      }))
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } }))
    })
  })

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => void this.#server.close(resolve))
  }
}
