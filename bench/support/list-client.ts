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

  /**
   * The body as one text, put together as it comes: a page-sized Buffer for each answer would set off a full collection
   * of garbage each time. Rejects unless the answer is 200.
   */
  async text(path: string): Promise<string> {
    const response = await this.#get(path)
    response.setEncoding('utf8')
    let text = ''
    for await (const part of response) text += part as string
    return checked(path, response, text)
  }

  /** Reads the answer and keeps only its first and last thousand bytes. Rejects unless it is 200. */
  async ends(path: string): Promise<string> {
    const response = await this.#get(path)
    let head = ''
    let tail = ''
    for await (const part of response) {
      const chunk = part as Buffer
      if (head === '') head = chunk.toString('latin1', 0, 1000)
      tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 1000))).slice(-1000)
    }
    return checked(path, response, head + tail)
  }

  async #get(path: string): Promise<IncomingMessage> {
    const headers = { accept: 'application/json' }
    const request = get(this.#url + path, { agent: this.#agent, headers })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return response
  }
}

function checked(path: string, { statusCode }: IncomingMessage, text: string): string {
  if (statusCode === 200) return text
  throw new Error(`${path}: ${statusCode} ${text.slice(0, 500)}`)
}

/** All pods in pages of 500, one after the other; `read` gets a page's path and answers with its continue token. */
export async function readPages(
  read: (path: string) => Promise<string | undefined>,
): Promise<void> {
  let token: string | undefined = ''
  while (token !== undefined) {
    const next: string = token === '' ? '' : `&continue=${encodeURIComponent(token)}`
    token = await read(`/api/v1/pods?limit=500${next}`)
    if (token === '') token = undefined
  }
}
