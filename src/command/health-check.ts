/**
 * A program of its own, for the HEALTHCHECK of an image: exits with 0 where the gateway of this machine says that it lives. It is told
 * nothing of the gateway's flags, so it asks without TLS first and then with TLS, at the port that `INFORMERQL_SERVER_PORT` names, or
 * 4000. Imports next to nothing, since it is started every few seconds.
 */
import { get, type RequestOptions } from 'node:http'
import { get as getByTls } from 'node:https'

const port = Number(process.env['INFORMERQL_SERVER_PORT'] ?? 4000)
const deadlineMs = 1_000

/** The certificate is for other names than loopback's; nothing is sent to it, and what it answers is believed by nobody else. */
const options = { host: '127.0.0.1', port, path: '/livez', rejectUnauthorized: false }

const lives = async (ask: typeof get | typeof getByTls): Promise<boolean> =>
  new Promise((resolve) => {
    const asked: RequestOptions = { ...options, signal: AbortSignal.timeout(deadlineMs) }
    ask(asked, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on('error', () => resolve(false))
  })

const isAlive = (await lives(get)) || (await lives(getByTls))
// Whatever socket is still open must not keep it.
process.exit(isAlive ? 0 : 1)
