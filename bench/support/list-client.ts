import { Agent, get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'

/** What one writes by hand to read lists: GET over kept connections, the whole body as one text. */
export class ListClient {
  readonly #agent: Agent
  readonly #url: string

  constructor(url: string, connections: number) {
    this.#url = url
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  /** Rejects unless the answer is 200. */
  async text(path: string): Promise<string> {
    return (await this.bytes(path)).toString()
  }

  /** Rejects unless the answer is 200. */
  async bytes(path: string): Promise<Buffer> {
    const request = get(this.#url + path, {
      agent: this.#agent,
      headers: { accept: 'application/json' },
    })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    if (response.statusCode !== 200) {
      throw new Error(`${path}: ${response.statusCode} ${body.toString('utf8', 0, 500)}`)
    }
    return body
  }
}

/** All pods in pages of 500 on one connection; `page` is given each page and answers with its continue token. */
export async function readPages(
  client: ListClient,
  page: (bytes: Buffer) => string | undefined,
): Promise<void> {
  let token: string | undefined = ''
  while (token !== undefined) {
    const next: string = token === '' ? '' : `&continue=${encodeURIComponent(token)}`
    // oxlint-disable-next-line no-await-in-loop -- a page names the next one
    token = page(await client.bytes(`/api/v1/pods?limit=500${next}`))
    if (token === '') token = undefined
  }
}
